"""Runs a verifier over a day's subjects: verdicts with their evidence; what failed or was altered is NULL."""

from __future__ import annotations

import hashlib
import importlib
import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from transforms.rewards.code_checks import Ran, passes_tests
from transforms.rewards.math_checks import same_mathematics
from transforms.rewards.sql_checks import same_rows
from transforms.rewards.subjects import WHOLE, Subject
from transforms.rewards.text_checks import fits_schema, grounded, matches, shaped
from transforms.rewards.tool_calls import WORST, fitting, toolrl, written
from transforms.rewards.verifier_spec import (
    AnyVerifier,
    Citation,
    Code,
    Format,
    Function,
    JsonSchema,
    Math,
    Regex,
    Sql,
    ToolCalls,
)

HASH_DIGITS = 32

_COLUMNS: dict[str, pl.DataType | type[pl.DataType]] = {
    "rollout_id": pl.String, "trajectory_id": pl.String, "step": pl.Int64, "value": pl.Float64, "verdict": pl.String,
    "evidence": pl.List(pl.String), "evidence_hash": pl.String, "duration": pl.Float64,
}  # fmt: skip
VERDICTS = pl.Schema(_COLUMNS)


@dataclass(frozen=True)
class Reference:
    """What is right, and whether cleaning touched it."""

    value: Any
    altered: bool = False


References = Mapping[str, Reference]
"""What is right, by the task's id as exported or by `task_id`."""

Known = Mapping[tuple[str, int, str], tuple[float | None, str, float | None]]
"""Verdicts of an earlier run, by trajectory, step and evidence: (value, verdict, seconds)."""


def verify(
    check: AnyVerifier, rollouts: Iterable[Sequence[Subject]], references: References, known: Known | None = None
) -> pl.DataFrame:
    """VERDICTS: one row a rollout, and one a step where the verifier judges steps, the whole being their mean.

    `known` verdicts are taken over where the evidence is the same: a program need not run again.
    """
    by_step = getattr(check, "on", "trajectory") == "steps"
    groups = [group for group in rollouts if group]
    judged = [one for group in groups for one in (group[:-1] if by_step else group[-1:])]
    given = [_reference(check, one, references) for one in judged]
    told = _judge(check, judged, given, known or {})
    rows = [_row(one, *verdict) for one, verdict in zip(judged, told, strict=True)]
    frame = pl.DataFrame(rows, schema=VERDICTS, orient="row")
    return pl.concat([frame, _whole(frame, groups)]) if by_step else frame


def _reference(check: AnyVerifier, one: Subject, references: References) -> Reference | None:
    if check.reference is not None:
        return Reference(check.reference)
    return references.get(one.task or "") or references.get(one.task_id)


_Told = tuple[float | None, str, str, float | None]
"""Value, verdict, hash of the evidence, seconds."""


def _judge(
    check: AnyVerifier, judged: Sequence[Subject], given: Sequence[Reference | None], known: Known
) -> list[_Told]:
    told: list[_Told | None] = []
    waiting: list[tuple[int, str, Any]] = []
    for one, reference in zip(judged, given, strict=True):
        text = _text(check, one)
        marks = _hash(check, one, text, reference)
        if (before := known.get((one.trajectory_id, one.step, marks))) is not None:
            told.append((before[0], before[1], marks, before[2]))
        elif (reason := _why_not(check, one, text, reference)) is not None:
            told.append((None, reason, marks, None))
        elif isinstance(check, Math):
            waiting.append((len(told), marks, (str(reference.value) if reference else "", text)))
            told.append(None)
        else:
            told.append(_timed(check, one, text or "", reference, marks))
    for (place, marks, _), (value, seconds) in zip(
        waiting, same_mathematics([pair for _, _, pair in waiting]), strict=True
    ):
        told[place] = (value, "error" if value is None else "ok", marks, seconds)
    return [verdict for verdict in told if verdict is not None]


def _text(check: AnyVerifier, one: Subject) -> str | None:
    """What is judged: the action's text, or an argument of the last call of a tool; None where there is none."""
    if check.tool is None:
        return one.text if one.text.strip() else None
    for call in reversed(one.calls):
        if call.name == check.tool:
            arguments = call.parsed
            value = arguments.get(check.argument) if isinstance(arguments, dict) else None
            return value if isinstance(value, str) else json.dumps(value) if value is not None else None
    return None


def _why_not(check: AnyVerifier, one: Subject, text: str | None, reference: Reference | None) -> str | None:
    """Why nothing can be told: `altered` by cleaning, or something is `missing`."""
    on_calls = isinstance(check, ToolCalls) or check.tool is not None
    retrieves = isinstance(check, Citation | Function)
    touched = one.calls_altered if on_calls else one.altered
    if touched or (retrieves and one.retrieved_altered) or (reference is not None and reference.altered):
        return "altered"
    if isinstance(check, Function) and one.calls_altered:
        return "altered"
    wants_reference = check.needs_reference or check.references is not None
    if (wants_reference and reference is None) or (text is None and not isinstance(check, ToolCalls | Function)):
        return "missing"
    return None


def _timed(check: AnyVerifier, one: Subject, text: str, reference: Reference | None, marks: str) -> _Told:
    started = time.perf_counter()
    try:
        ran = _run(check, one, text, reference.value if reference else None)
    except Exception:  # noqa: BLE001 - a user's function, a schema of a trace: whatever it is, the verdict is an error
        ran = Ran("error")
    seconds = time.perf_counter() - started
    seen = hashlib.sha256((marks + ran.seen).encode()).hexdigest()[:HASH_DIGITS] if ran.verdict == "flaky" else marks
    if ran.verdict == "ok" and ran.value is None:
        return None, "missing", seen, seconds
    return ran.value, ran.verdict, seen, seconds


def _run(check: AnyVerifier, one: Subject, text: str, reference: Any) -> Ran:
    value: float | None
    match check:
        case Code():
            return passes_tests(check, text, reference)
        case Sql():
            return same_rows(check, text, reference)
        case ToolCalls():
            value = _calls(one, reference)
        case JsonSchema():
            value = fits_schema(check, text)
        case Regex():
            value = matches(check, text, reference)
        case Citation():
            value = grounded(check, text, one.retrieved)
        case Format():
            value = shaped(check, text)
        case Function():
            value = _number(_function(check.function)(one, reference))
        case Math():
            [(value, _)] = same_mathematics([(str(reference), text)])
    return Ran("ok", value)


def _calls(one: Subject, reference: Any) -> float | None:
    if reference is None:
        return fitting(one.calls, one.tools)
    try:
        return toolrl(reference, written(one.calls))
    except ValueError:
        return WORST


def _function(name: str) -> Callable[[Subject, Any], Any]:
    module, _, function = name.partition(":")
    found: Callable[[Subject, Any], Any] = getattr(importlib.import_module(module), function)
    return found


def _number(value: Any) -> float | None:
    number = None if value is None else float(value)
    if number is not None and not abs(number) < float("inf"):
        raise ValueError("not a finite number")
    return number


def _hash(check: AnyVerifier, one: Subject, text: str | None, reference: Reference | None) -> str:
    """Hash of all that the verdict rests on."""
    rests_on: list[Any] = [text, reference.value if reference else None, reference.altered if reference else None]
    rests_on += [one.altered, one.calls_altered, one.retrieved_altered]
    if isinstance(check, ToolCalls | Function):
        rests_on += [[(call.name, call.arguments) for call in one.calls], one.tools]
    if isinstance(check, Citation | Function):
        rests_on.append(one.retrieved)
    text = json.dumps(rests_on, sort_keys=True, default=str)
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:HASH_DIGITS]


def _row(one: Subject, value: float | None, verdict: str, marks: str, seconds: float | None) -> tuple[Any, ...]:
    return one.rollout_id, one.trajectory_id, one.step, value, verdict, list(one.evidence), marks, seconds


def _whole(steps: pl.DataFrame, groups: Sequence[Sequence[Subject]]) -> pl.DataFrame:
    """The mean over steps that have a value; without one, why there is none."""
    order = ["altered", "error", "flaky", "no_sandbox", "missing"]
    known = steps.group_by("rollout_id", maintain_order=True).agg(
        pl.col("value").mean(),
        pl.when(pl.col("value").is_not_null().any()).then(pl.lit("ok")).otherwise(
            pl.col("verdict").sort_by(pl.col("verdict").replace_strict({n: i for i, n in enumerate(order)}, default=9))
            .first()
        ).alias("verdict"),
        pl.col("evidence").explode(empty_as_null=False),
        pl.col("evidence_hash").str.join("").alias("evidence_hash"),
        pl.col("duration").sum(),
    ).with_columns(
        pl.col("evidence_hash").map_elements(
            lambda text: hashlib.sha256(text.encode()).hexdigest()[:HASH_DIGITS], return_dtype=pl.String
        )
    )  # fmt: skip
    roots = {group[-1].rollout_id: group[-1].trajectory_id for group in groups}
    names = pl.DataFrame({"rollout_id": list(roots), "trajectory_id": list(roots.values())}, schema_overrides={
        "rollout_id": pl.String, "trajectory_id": pl.String})  # fmt: skip
    return known.join(names, on="rollout_id").with_columns(step=pl.lit(WHOLE, pl.Int64)).select(list(VERDICTS))
