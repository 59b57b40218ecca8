"""Real agent traces of the public tau-bench airline task: how many known values of its users are covered.

    python -m benchmarks.privacy.tau_bench [gpt-4o-airline.json] [--stock] [--no-model]

Known are the names, e-mail addresses, street lines, birthdays, postal codes and ids that the traces' own tool results
give for users and passengers. Each occurrence in any message counts, by word borders and, for names, by case.
The file is given, or looked for below TRACEMILL_SAMPLES.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.privacy.cleaners import Cleaner, Ours, Stock
from benchmarks.privacy.reading import readable
from transforms.privacy.policy import PrivacyPolicy

FIELDS = {
    "first_name": "name", "last_name": "name", "email": "e-mail", "address1": "street", "address2": "street",
    "dob": "birthday", "zip": "zip", "user_id": "user id",
}  # fmt: skip
NO_LEAK = ("e-mail", "user id", "name")
TARGET = 0.999
STOCK_TRACES = 50


def main() -> None:
    """Print occurrences and covered ones by kind; exit 1 where the target is missed or a trajectory leaks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path)
    parser.add_argument(
        "--stock", action="store_true", help=f"Presidio on the first {STOCK_TRACES} trajectories beside"
    )
    parser.add_argument("--no-model", action="store_true", help="without the model for names")
    options = parser.parse_args()
    trajectories = load(options.file or sample("gpt-4o-airline.json"))
    ours = Ours(PrivacyPolicy(model=None) if options.no_model else None)
    fine = tell("tracemill", ours, trajectories)
    if options.stock:
        tell(
            "tracemill, the same trajectories as Presidio", Ours(ours.deidentifier.policy), trajectories[:STOCK_TRACES]
        )
        tell("Presidio out of the box", Stock(), trajectories[:STOCK_TRACES])
    sys.exit(0 if fine else 1)


def sample(name: str) -> Path:
    """A file of the public samples. Raises SystemExit where there is none."""
    root = os.environ.get("TRACEMILL_SAMPLES", "")
    found = sorted(Path(root).rglob(name)) if root else []
    if not found:
        raise SystemExit(f"{name} is needed: give its path, or set TRACEMILL_SAMPLES to a folder that holds it")
    return found[0]


def load(path: Path) -> list[list[Any]]:
    """The messages of each trajectory."""
    return [trial["traj"] for trial in json.loads(path.read_text("utf-8"))]


def tell(title: str, cleaner: Cleaner, trajectories: list[list[Any]]) -> bool:
    """Print one way's figures; whether they meet the targets."""
    known, covered, leaking = Counter[str](), Counter[str](), Counter[str]()
    before = time.process_time()
    for messages in trajectories:
        values = gold(messages)
        left_kinds = set()
        for message, cleaned in zip(messages, cleaner(messages), strict=True):
            after = readable(cleaned.value)
            for (kind, value), count in occurrences(values, readable(message)).items():
                left = occurrences({(kind, value)}, after)[kind, value]
                known[kind] += count
                covered[kind] += max(count - left, 0)
                if left:
                    left_kinds.add(kind)
                    if title == "tracemill":
                        print(f"  missed: {kind} {value!r}, {left} of {count} in a {message['role']} message")
        leaking.update(left_kinds)
    share = covered.total() / known.total()
    spent = time.process_time() - before
    print(f"\n{title}: {len(trajectories)} trajectories, {spent:.1f} CPU s, {share:.4%} of {known.total()} covered")
    for kind in known:
        share_of_kind = covered[kind] / known[kind]
        print(f"  {kind:10}{known[kind]:7} known {share_of_kind:9.4f} covered {leaking[kind]:5} trajectories leak one")
    return share >= TARGET and not any(leaking[kind] for kind in NO_LEAK)


def gold(messages: list[Any]) -> set[tuple[str, str]]:
    """What tool results and calls say about people, as (kind, value)."""
    found: set[tuple[str, str]] = set()
    for message in messages:
        calls = [call["function"]["arguments"] for call in message.get("tool_calls") or []]
        for text in [message.get("content") if message["role"] == "tool" else "", *calls]:
            try:
                found.update(fields(json.loads(text or "null")))
            except ValueError:
                continue
    return found


def fields(value: Any) -> Iterator[tuple[str, str]]:
    """The personal fields of a JSON value at any depth; a person's two names also as one.

    What is left of a birthday is the first of January of its year, so that those born then stay as they are.
    """
    if isinstance(value, dict):
        if isinstance(value.get("first_name"), str) and isinstance(value.get("last_name"), str):
            yield "name", f"{value['first_name']} {value['last_name']}"
        for key, item in value.items():
            if isinstance(item, str) and key in FIELDS and item and not (key == "dob" and item.endswith("-01-01")):
                yield FIELDS[key], item
            yield from fields(item)
    elif isinstance(value, list):
        for item in value:
            yield from fields(item)


def occurrences(values: set[tuple[str, str]], text: str) -> Counter[tuple[str, str]]:
    """How often each value stands in a text by itself; a short or common name counts in its field or as a full name."""
    found: Counter[tuple[str, str]] = Counter()
    for kind, value in values:
        if value in text:
            found[kind, value] = len(re.findall(rf"(?<![^\W_]){re.escape(value)}(?![^\W_])", text))
    return +found


if __name__ == "__main__":
    main()
