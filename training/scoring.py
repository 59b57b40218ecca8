"""Log-probs of logged actions under a local causal model, for the methods of credit that need them.

A model reads each rewarded trajectory again as it was served, with what `hindsight` adds. What was scored is kept in
the lake by hashes of the model's files, tokenizer and template, and of the tokens: a second run loads no model.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import polars as pl

from training.hindsight import Segment, final_state, texts_hash, told
from training.launch import Refused, device, load_tokenizer, offline
from training.progress import progress
from training.release import messages as as_messages
from training.release import tools as as_tools
from training.score_store import Scorer
from transforms.credit.assign import Scored
from transforms.credit.rows import rewarded
from transforms.credit.scores import SCORES
from transforms.credit.spec import IgpoCredit, ScoredMethod
from transforms.datasets.conversations import conversations, with_bodies

SEGMENTS = 64
"""Segments that are scored, and kept, at a time: what a killed run loses at most."""

PLAIN = Path(__file__).with_name("plain.jinja")
"""Template of models that come without one."""


def score(
    spec: ScoredMethod, cut: pl.DataFrame, trajectories: pl.DataFrame, steps: pl.DataFrame, messages: pl.DataFrame,
    model: Path, store: Path, key: bytes = b"",
) -> Scored:  # fmt: skip
    """SCORES of the steps of every rewarded trajectory, and the hashes they rest on.

    `cut`, `trajectories`, `steps`, `messages` are the tables of a release; `store` holds what was scored before,
    by hashes under the tenant's `key`.
    What cannot be rendered, or is too long, has no score. Raises Refused for a model or answers that cannot be used.
    """
    offline()
    answers = read_answers(Path(spec.answers)) if isinstance(spec, IgpoCredit) else {}
    tokenizer = scoring_tokenizer(model)
    hashes = scored_by(model, tokenizer, spec)
    scorer = Scorer(model, tokenizer, store / store_key(hashes), key)
    found: list[tuple[Any, ...]] = []
    segments = [*segments_of(cut, trajectories, steps, messages, answers)]
    if answers and not any(segment.answer for segment in segments):
        raise Refused(f"{spec.answers}: no answer is of a task of this release")  # type: ignore[union-attr]
    batches = [segments[start : start + SEGMENTS] for start in range(0, len(segments), SEGMENTS)]
    for batch in progress(batches, "hindsight"):
        found += scorer.scores([(segment, one) for segment in batch for one in told(segment, spec)])
    frame = pl.DataFrame(found, schema=SCORES, orient="row").sort("trajectory_id", "step", "context")
    return Scored(frame, hashes)


def scored_by(model: Path, tokenizer: Any, spec: ScoredMethod) -> dict[str, str]:
    """Hashes of the model's files, of what turns text into tokens, and of what is told."""
    from training.reference import template_hash, tokenizer_hash

    hashes = {
        "model": _folder_hash(model, "config.json", "*.safetensors", "*.bin"),
        "template": template_hash(tokenizer), "tokenizer": tokenizer_hash(tokenizer),
        "device": device(), "told": texts_hash(),
    }  # fmt: skip
    return hashes | ({"answers": _file_hash(Path(spec.answers))} if isinstance(spec, IgpoCredit) else {})


def store_key(hashes: dict[str, str]) -> str:
    """Folder of what one model scored; what it was told is in the tokens."""
    named = "\n".join(hashes[name] for name in ("model", "template", "tokenizer", "device"))
    return hashlib.sha256(named.encode()).hexdigest()[:32]


def scoring_input(spec: ScoredMethod, model: Path) -> str:
    """Hash of all files that scores rest on, asked for without loading any. Raises Refused where there is none."""
    answers = _file_hash(Path(spec.answers)) if isinstance(spec, IgpoCredit) else ""
    return hashlib.sha256(f"{_folder_hash(model, '*')} {answers} {texts_hash()}".encode()).hexdigest()


def _folder_hash(model: Path, *patterns: str) -> str:
    if not (model / "config.json").is_file():
        raise Refused(f"{model}: no model there (config.json is missing)")
    files = sorted(file for pattern in patterns for file in model.glob(pattern) if file.is_file())
    return hashlib.sha256("\n".join(f"{file.name} {_file_hash(file)}" for file in files).encode()).hexdigest()


def _file_hash(file: Path) -> str:
    try:
        facts = file.stat()
    except OSError as error:
        raise Refused(f"{file} cannot be read ({error.strerror})") from None
    return _hash_of(file.resolve(), facts.st_size, facts.st_mtime_ns)


@lru_cache(maxsize=256)  # a run asks several times, and weights are gigabytes
def _hash_of(file: Path, size: int, changed: int) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def scoring_tokenizer(model: Path) -> Any:
    """A model's tokenizer; one without a chat template gets a plain one. Raises Refused."""
    tokenizer = load_tokenizer(model)
    if not tokenizer.chat_template:
        tokenizer.chat_template = PLAIN.read_text()
    return tokenizer


def read_answers(file: Path) -> dict[str, str]:
    """Right answers by task, out of JSON lines of {task, answer}. Raises Refused with the line that is not right."""
    answers = {}
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise Refused(f"{file}: answers cannot be read ({type(error).__name__})") from None
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            answers[str(row["task"])] = str(row["answer"])
        except (ValueError, KeyError, TypeError):
            raise Refused(f'{file}, line {number}: not {{"task": …, "answer": …}}') from None
    if not answers:
        raise Refused(f"{file}: no answers in it")
    return answers


def segments_of(
    cut: pl.DataFrame, trajectories: pl.DataFrame, steps: pl.DataFrame, messages: pl.DataFrame, answers: dict[str, str]
) -> Iterator[Segment]:
    """The segments of every rewarded trajectory, in order."""
    own = ["trajectory_id", "revision"]
    due = rewarded(cut).select(*own, "task_id").join(trajectories.select(*own, "task"), on=own, how="left")
    shown = with_bodies(conversations(steps.join(due, on=own, how="semi")), messages)
    records = shown.join(due, on="trajectory_id").sort("trajectory_id", "segment")
    for _, parts in records.group_by("trajectory_id", maintain_order=True):
        made = [as_messages(record["messages"]) for record in parts.select("messages").iter_rows(named=True)]
        final = final_state(made[-1])
        for talk, record in zip(made, parts.drop("messages").iter_rows(named=True), strict=True):
            answer = answers.get(record["task"] or "", answers.get(record["task_id"]))
            yield Segment(record["trajectory_id"], talk, record["positions"], record["steps"],
                          record["finish_reasons"], as_tools(record["tools"]), final, answer)  # fmt: skip
