"""Presidio's own public evaluation set (presidio-research, synth_dataset_v2.json) with Presidio out of the box beside.

    python -m benchmarks.privacy.research [synth_dataset_v2.json] [--misses 50]

1,500 sentences. Recall: a labelled span counts when a found span of the same kind overlaps it; precision: a found span
counts when a labelled span of its kind overlaps it, and, loosely, when any labelled span does. Both ways use the same
model for names. The file is given, or looked for below TRACEMILL_SAMPLES.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.privacy.cleaners import KEY, stock_engine
from benchmarks.privacy.tau_bench import sample
from transforms.privacy.deidentifier import Deidentifier
from transforms.privacy.policy import PrivacyPolicy

SAME = {
    "LOCATION": "STREET_ADDRESS", "GPE": "STREET_ADDRESS", "DATE_OF_BIRTH": "DATE_TIME", "URL": "DOMAIN_NAME",
}  # fmt: skip
KINDS = (
    "PERSON",
    "PHONE_NUMBER",
    "CREDIT_CARD",
    "EMAIL_ADDRESS",
    "IBAN_CODE",
    "US_SSN",
    "IP_ADDRESS",
    "STREET_ADDRESS",
)
BETTER = ("PERSON", "PHONE_NUMBER", "CREDIT_CARD")


@dataclass(frozen=True)
class Span:
    """A span of one kind."""

    start: int
    end: int
    kind: str

    def meets(self, other: Span) -> bool:
        return self.start < other.end and other.start < self.end


Finder = Callable[[str], list[Span]]


def main() -> None:
    """Print a table a kind; exit 1 where names, phones or cards are found worse than by Presidio as it comes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path)
    parser.add_argument(
        "--misses", type=int, default=0, help="list so many names that were missed or found for nothing"
    )
    options = parser.parse_args()
    rows = json.loads((options.file or sample("synth_dataset_v2.json")).read_text("utf-8"))
    gold = [
        [Span(one["start_position"], one["end_position"], same(one["entity_type"])) for one in row["spans"]]
        for row in rows
    ]
    texts = [row["full_text"] for row in rows]
    found: dict[str, list[list[Span]]] = {}
    for name, finder in (("tracemill", ours()), ("stock", stock())):
        before = time.process_time()
        found[name] = [finder(text) for text in texts]
        print(f"{name}: {time.process_time() - before:.1f} CPU s", file=sys.stderr)
    _tell_misses(texts, gold, found["tracemill"], options.misses)
    print(f"{'kind':16}{'labelled':>9}{'recall':>9}{'stock':>8}{'precision':>11}{'stock':>8}{'loosely':>9}{'stock':>8}")
    fine = True
    for kind in KINDS:
        mine, theirs = (figures(kind, gold, found[name]) for name in ("tracemill", "stock"))
        print(
            f"{kind:16}{mine[3]:9.0f}{mine[0]:9.3f}{theirs[0]:8.3f}{mine[1]:11.3f}{theirs[1]:8.3f}{mine[2]:9.3f}{theirs[2]:8.3f}"
        )
        if kind in BETTER:
            fine &= mine[0] >= theirs[0] and (kind != "PERSON" or mine[1] >= theirs[1])
    sys.exit(0 if fine else 1)


def ours() -> Finder:
    """Each sentence a trace of its own, with the default policy."""
    cleaner = Deidentifier(PrivacyPolicy(), KEY)

    def find(text: str) -> list[Span]:
        cleaner.learn(text, text)
        found = cleaner.clean(text, [text]).findings
        return [Span(one.start, one.start + one.length, same(one.entity)) for one in found]

    return find


def stock() -> Finder:
    """Presidio's default registry; of the kinds that are not labelled nothing counts."""
    engine = stock_engine()
    return lambda text: [Span(one.start, one.end, same(one.entity_type)) for one in engine.analyze(text, "en")]


def same(kind: str) -> str:
    """One name for what the set and the two ways call differently."""
    return SAME.get(kind, kind)


def figures(kind: str, gold: list[list[Span]], found: list[list[Span]]) -> tuple[float, float, float, float]:
    """Recall, precision, loose precision, and the number of labelled spans of a kind."""
    labelled = caught = given = right = loosely = 0
    for labels, spans in zip(gold, found, strict=True):
        own = [span for span in spans if span.kind == kind]
        wanted = [label for label in labels if label.kind == kind]
        labelled += len(wanted)
        caught += sum(any(span.meets(label) for span in own) for label in wanted)
        given += len(own)
        right += sum(any(span.meets(label) for label in wanted) for span in own)
        loosely += sum(any(span.meets(label) for label in labels) for span in own)
    return caught / max(labelled, 1), right / max(given, 1), loosely / max(given, 1), labelled


def _tell_misses(texts: list[str], gold: list[list[Span]], found: list[list[Span]], most: int) -> None:
    lines: list[Any] = []
    for text, labels, spans in zip(texts, gold, found, strict=True):
        names = [span for span in spans if span.kind == "PERSON"]
        wanted = [label for label in labels if label.kind == "PERSON"]
        lines += [("missed", text[x.start : x.end], text[:160]) for x in wanted if not any(x.meets(y) for y in names)]
        lines += [("nobody", text[x.start : x.end], text[:160]) for x in names if not any(x.meets(y) for y in wanted)]
    for line in lines[:most]:
        print("  ", *map(repr, line))


if __name__ == "__main__":
    main()
