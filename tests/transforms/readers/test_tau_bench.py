"""What becomes of tau-bench results."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import Any

import pytest

from transforms.readers.exports import Tally, read_export
from transforms.records import Feedback, Message, Span, ToolCall

SAMPLES = os.environ.get("TRACEMILL_SAMPLES", "")
CALL = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"id": 7}'}}
CHAT = [
    {"role": "system", "content": "Policy."},
    {"role": "user", "content": "My flight?"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "name": "find", "content": "on time"},
    {"role": "assistant", "content": "On time."},
]


def trial(task: int, number: int, reward: Any = 1.0, **more: Any) -> dict[str, Any]:
    hidden = {"task": {"instruction": "You are secret-instruction.", "actions": []}}
    return {"task_id": task, "trial": number, "reward": reward, "info": hidden, "traj": CHAT} | more


def read(*trials: dict[str, Any], dataset: str = "airline") -> list[Any]:
    return list(read_export(io.BytesIO(json.dumps(trials).encode()), Tally(), dataset))


def test_a_trial_is_an_agent_its_calls_and_its_reward() -> None:
    agent, first, second, reward = read(trial(3, 1))
    assert (agent.kind, agent.sequence, agent.parent_sequence) == ("agent", "000000", "")
    for span in (first, second):
        assert (span.kind, span.parent_sequence, span.content_state) == ("llm", agent.sequence, "full")
        assert (span.dataset, span.task, span.trial, span.tools) == ("airline", "3", 1, [])
    assert first.output == [Message("assistant", tool_calls=(ToolCall("c1", "find", '{"id": 7}'),))]
    assert first.prompt == [Message("system", "Policy."), Message("user", "My flight?")]
    tool = Message("tool", "on time", tool_call_id="c1", name="find")
    assert second.prompt == [*first.prompt, *first.output, tool]
    assert first.sequence < second.sequence
    assert (reward.key, reward.score, reward.annotator) == ("reward", 1.0, "env")
    assert {record.trace_identity for record in (agent, first, second, reward)} == {agent.trace_identity}


def test_what_tools_answered_to_the_last_call_is_a_span_of_theirs() -> None:
    other = CALL | {"id": "c2"}
    ended = [*CHAT[:2], CHAT[2] | {"tool_calls": [CALL, other]}, CHAT[3], CHAT[3] | {"tool_call_id": "c2"}]
    agent, call, *tools, _ = read(trial(3, 1, traj=ended))
    for tool, name in zip(tools, ("c1", "c2"), strict=True):
        assert (tool.kind, tool.tool_call_id, tool.tool_name) == ("tool", name, "find")
        assert (tool.tool_arguments, tool.tool_result) == ('{"id": 7}', "on time")
        assert (tool.parent_sequence, tool.trace_identity) == (agent.sequence, call.trace_identity)
    assert len({span.sequence for span in (agent, call, *tools)}) == 4
    stray = [*CHAT[:4], {"role": "tool", "tool_call_id": "c9", "content": "?"}, {"role": "user", "content": "Bye."}]
    assert [span.tool_call_id for span in read(trial(3, 1, traj=stray))[2:-1]] == ["c1"]


def test_the_hidden_instruction_is_nowhere() -> None:
    for record in read(trial(3, 1)):
        shown = [getattr(record, name) for name in record.__slots__]
        assert "secret-instruction" not in repr(shown) + repr(
            [message.content for message in getattr(record, "prompt", [])]
        )


def test_trials_are_told_apart_and_the_same_trial_is_the_same_again() -> None:
    identities = [
        records[0].trace_identity
        for records in (
            read(trial(1, 0)), read(trial(1, 1)), read(trial(2, 0)), read(trial(1, 0), dataset="retail"),
            read(trial(1, 0, traj=CHAT[:-1])), read(trial(1, 0, reward=0.0)),
        )
    ]  # fmt: skip
    assert len(set(identities)) == 6
    assert read(trial(1, 0))[0].trace_identity == identities[0]


@pytest.mark.parametrize("reward", [None, "high", float("nan")])
def test_a_missing_reward_is_not_zero(reward: Any) -> None:
    assert not [record for record in read(trial(1, 0, reward)) if isinstance(record, Feedback)]


def test_a_trial_that_crashed_has_no_reward() -> None:
    records = read(trial(1, 0, 0.0, traj=[], info={"error": "out of memory", "traceback": "..."}))
    assert [(record.kind, record.status, record.error) for record in records] == [("agent", "error", "out of memory")]


def test_a_trial_of_another_shape_is_a_reject_and_takes_no_other_with_it() -> None:
    records = read(trial(1, 0, traj="gone"), trial(1, 1))
    assert records[0].reason == "unreadable_tau_bench"
    assert len([record for record in records if isinstance(record, Span)]) == 3


def test_the_published_airline_results_read_in_full() -> None:
    if not SAMPLES:
        pytest.skip("TRACEMILL_SAMPLES does not name a folder with tau_bench/gpt-4o-airline.json")
    with (Path(SAMPLES) / "tau_bench" / "gpt-4o-airline.json").open("rb") as stream:
        records = list(read_export(stream, Tally(), "gpt-4o-airline"))
    spans = [record for record in records if isinstance(record, Span)]
    rewards = [record.score for record in records if isinstance(record, Feedback)]
    assert (len(rewards), rewards.count(1.0)) == (200, 84)
    assert [span.kind for span in spans].count("agent") == 200
    assert [span.kind for span in spans].count("llm") == 2_454
    assert sum(len(span.output[0].tool_calls) for span in spans if span.output) == 1_164
