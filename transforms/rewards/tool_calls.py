"""Whether an agent called the right tools rightly: against what was right, or against what was offered."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import jsonschema

from transforms.rewards.subjects import Call

WORST, BEST = -3.0, 3.0

Written = Mapping[str, Any]
"""A call as {name, parameters}."""


def toolrl(gold: Sequence[Written], predicted: Sequence[Written]) -> float:
    """R_correct of ToolRL (arXiv 2504.13958): -3 to 3, 6·S/S_max - 3; 0 where no call was wanted.

    S is the overlap of the names, and for each call wanted the best unused call of its name: the overlap of the
    parameters' names and the number of equal values.
    """
    if not gold:
        return 0.0
    if list(gold) == list(predicted):
        return BEST
    most = 1.0 + sum(1.0 + len(call["parameters"]) for call in gold)
    unused = list(predicted)
    total = _overlap([call["name"] for call in gold], [call["name"] for call in predicted])
    for call in gold:
        same = [(_alike(call, other), -place) for place, other in enumerate(unused) if other["name"] == call["name"]]
        if same:
            score, place = max(same)
            total += score
            unused.pop(-place)
    return (BEST - WORST) * total / most + WORST


def _alike(gold: Written, other: Written) -> float:
    wanted, given = gold["parameters"], other["parameters"]
    equal = sum(1 for name, value in wanted.items() if name in given and given[name] == value)
    return _overlap(list(wanted), list(given)) + equal


def _overlap(one: Sequence[str], other: Sequence[str]) -> float:
    """Jaccard's index of two multisets; equal ones, empty ones too, have 1."""
    if Counter(one) == Counter(other):
        return 1.0
    both = sum((Counter(one) & Counter(other)).values())
    return both / (len(one) + len(other) - both)


def written(calls: Sequence[Call]) -> list[dict[str, Any]]:
    """Calls as ToolRL compares them. Raises ValueError where arguments are no JSON object."""
    parsed = [(call.name, call.parsed) for call in calls]
    if any(not isinstance(arguments, dict) for _, arguments in parsed):
        raise ValueError("arguments are no JSON object")
    return [{"name": name, "parameters": arguments} for name, arguments in parsed]


def fitting(calls: Sequence[Call], offered: str | None) -> float | None:
    """The share of calls whose tool was offered and whose arguments fit its schema; None where nothing was."""
    tools = json.loads(offered) if offered else []
    known = {tool["function"]["name"]: tool["function"] for tool in tools if isinstance(tool.get("function"), dict)}
    if not calls or not known:
        return None
    return sum(_fits(call, known) for call in calls) / len(calls)


def _fits(call: Call, known: Mapping[str, Mapping[str, Any]]) -> bool:
    if call.name not in known or not isinstance(call.parsed, dict):
        return False
    schema = known[call.name].get("parameters") or {}
    try:
        return bool(jsonschema.validators.validator_for(schema)(schema).is_valid(call.parsed))
    except Exception as error:  # noqa: BLE001 - of whatever kind: the schema came with the trace
        raise ValueError(f"the tool's schema cannot be used ({type(error).__name__})") from None
