"""Token ids and log-probabilities are read where they can be what was said, and are left out where they cannot."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import Any

import pytest

from transforms.readers.exports import Tally, read_export
from transforms.readers.tokens import ID, PROMPT_UNVERIFIED, UNVERIFIED, unpacked
from transforms.readers.tokens import LIKELY as LIKELIHOOD
from transforms.records import Reject, Span

CORPUS, SAMPLES = os.environ.get("TRACEMILL_CORPUS", ""), os.environ.get("TRACEMILL_SAMPLES", "")
IDS, LIKELY = [9, 40, 1033, 2], [-0.5, -0.25, 0.0, -3.0]
LOGPROBS = {"content": [{"token": token, "bytes": [*token.encode()], "logprob": likely}
                        for token, likely in zip(["Yes", ",", " 네", "!"], LIKELY, strict=True)]}  # fmt: skip


def read(document: dict[str, Any]) -> list[Span]:
    records = list(read_export(io.BytesIO(json.dumps(document).encode()), Tally()))
    assert not [record for record in records if isinstance(record, Reject)]
    return [record for record in records if isinstance(record, Span) and record.kind == "llm"]


def told(span: Span) -> tuple[list[int], list[int], list[float]]:
    prompt, output = (unpacked(packed, ID).tolist() for packed in (span.prompt_token_ids, span.output_token_ids))
    return prompt, output, unpacked(span.output_logprobs, LIKELIHOOD).tolist()


def event(message: dict[str, Any] | None = None, usage: tuple[int, int] = (3, 4), **choice: Any) -> dict[str, Any]:
    """A request through Agent Lightning's gateway, as vLLM answers it."""
    said = {"message": message or {"role": "assistant", "content": "Yes, 네!"}, "finish_reason": "stop"}
    answer = {
        "id": "r", "model": "m", "prompt_token_ids": [5, 6, 7], "choices": [said | {"token_ids": IDS} | choice],
        "usage": {"prompt_tokens": usage[0], "completion_tokens": usage[1]},
    }  # fmt: skip
    asked = {"messages": [{"role": "user", "content": "Is it?"}], "model": "m"}
    return {"event_type": "model_request", "rollout_id": "a", "attempt_id": "0", "timestamp": 1796014908.5,
            "data": {"request": asked, "response": answer, "status": "ok"}}  # fmt: skip


def test_ids_of_an_engine_are_read_with_their_log_probabilities() -> None:
    (span,) = read(event(logprobs=LOGPROBS))
    assert told(span) == ([5, 6, 7], IDS, LIKELY)
    assert span.flags == []
    (span,) = read(event())
    assert told(span) == ([5, 6, 7], IDS, [])


def test_log_probabilities_of_a_provider_are_read_without_ids() -> None:
    run = {
        "id": "10000000-0000-4000-8000-000000000001", "trace_id": "10000000-0000-4000-8000-000000000001",
        "run_type": "llm", "name": "m", "status": "success", "start_time": "2026-11-30T00:00:00",
        "end_time": "2026-11-30T00:00:01", "inputs": {"messages": [{"role": "user", "content": "Is it?"}]},
    }  # fmt: skip
    said = {"role": "assistant", "content": "Yes, 네!"}
    (span,) = read(run | {"outputs": {"choices": [{"message": said, "logprobs": LOGPROBS}]}})
    assert told(span) == ([], [], LIKELY)
    wrote = {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "AIMessage"],
             "kwargs": {"content": "Yes, 네!", "type": "ai", "response_metadata": {"logprobs": LOGPROBS}}}  # fmt: skip
    (span,) = read(run | {"outputs": {"generations": [[{"text": "Yes, 네!", "message": wrote}]]}})
    assert told(span) == ([], [], LIKELY)


@pytest.mark.parametrize("as_text", [False, True])
def test_ids_in_attributes_of_a_span_are_read_and_are_no_attributes(as_text: bool) -> None:
    def value(listed: list[Any]) -> dict[str, Any]:
        if as_text:
            return {"stringValue": json.dumps(listed)}
        kind = "intValue" if isinstance(listed[0], int) else "doubleValue"
        return {"arrayValue": {"values": [{kind: one} for one in listed]}}

    asked, answered = ([{"role": role, "parts": [{"type": "text", "content": said}]}]
                       for role, said in (("user", "Is it?"), ("assistant", "Yes, 네!")))  # fmt: skip
    said = {
        "gen_ai.operation.name": {"stringValue": "chat"}, "gen_ai.input.messages": {"stringValue": json.dumps(asked)},
        "gen_ai.output.messages": {"stringValue": json.dumps(answered)}, "gen_ai.usage.input_tokens": {"intValue": 3},
        "gen_ai.usage.output_tokens": {"intValue": 4}, "prompt_token_ids": value([5, 6, 7]),
        "response_token_ids": value(IDS), "logprobs.content": value(LIKELY),
    }  # fmt: skip
    span = {"traceId": "a" * 32, "spanId": "b" * 16, "startTimeUnixNano": "1", "endTimeUnixNano": "2",
            "attributes": [{"key": key, "value": one} for key, one in said.items()]}  # fmt: skip
    (read_span,) = read({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]})
    assert told(read_span) == ([5, 6, 7], IDS, LIKELY)
    assert read_span.attributes == {}


@pytest.mark.parametrize(
    "wrong",
    [
        event(token_ids=[*IDS, 3], logprobs=LOGPROBS),
        event(token_ids=[9, -1, 1033, 2]),
        event(token_ids=[9, 1 << 20, 1033, 2]),
        event(token_ids=[9, 4.0, 1033, 2]),
        event(token_ids=[9, True, 1033, 2]),
        event(token_ids=["9", "40", "1033", "2"]),
        event(usage=(3, 5)),
        event(logprobs={"content": [{**one, "logprob": 0.5} for one in LOGPROBS["content"]]}),
        event(logprobs={"content": [{**one, "logprob": None} for one in LOGPROBS["content"]]}),
        event({"role": "assistant", "content": "No, never."}, logprobs=LOGPROBS),
        event({"role": "assistant", "content": "Yes", "tool_calls": [{"id": "c", "function": {"name": "look"}}]},
              logprobs=LOGPROBS),
        event(token_ids=IDS * 40, usage=(3, 160)),
    ],
)  # fmt: skip
def test_what_cannot_be_what_was_said_is_left_out_and_told(wrong: dict[str, Any]) -> None:
    (span,) = read(wrong)
    assert told(span) == ([], [], [])
    assert UNVERIFIED in span.flags
    assert span.content_state == "full"


def test_of_hidden_reasoning_no_ids_are_read() -> None:
    hidden = event()
    hidden["data"]["response"]["usage"]["completion_tokens_details"] = {"reasoning_tokens": 2}
    (span,) = read(hidden)
    assert (told(span), span.flags) == (([], [], []), [UNVERIFIED])


def test_of_several_answers_no_ids_are_read() -> None:
    two = event()
    two["data"]["response"]["choices"] *= 2
    (span,) = read(two)
    assert told(span) == ([], [], [])


def test_ids_of_a_prompt_of_another_length_are_left_out_alone() -> None:
    (span,) = read(event(usage=(30, 4)))
    assert (told(span), span.flags) == (([], IDS, []), [PROMPT_UNVERIFIED])


def test_ids_of_more_than_was_shown_are_left_out() -> None:
    long = event(usage=(400, 4))
    long["data"]["response"]["prompt_token_ids"] = [5] * 400
    (span,) = read(long)
    assert (told(span), span.flags) == (([], IDS, []), [PROMPT_UNVERIFIED])


def test_empty_lists_are_no_ids() -> None:
    (span,) = read(event(token_ids=[]))
    assert (told(span), span.flags) == (([], [], []), [])


def test_a_rollout_of_nemo_gym_brings_ids_turn_by_turn() -> None:
    turns: list[dict[str, Any]] = [
        {"type": "function_call", "call_id": "c", "name": "look", "arguments": "{}", "prompt_token_ids": [5],
         "generation_token_ids": [6, 7], "generation_log_probs": [-1.0, -2.0]},
        {"type": "function_call_output", "call_id": "c", "output": "found"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "done"}],
         "prompt_token_ids": [5, 6, 7, 8], "generation_token_ids": [9], "generation_log_probs": [-3.0]},
    ]  # fmt: skip
    rollout = {"responses_create_params": {"input": "go"}, "response": {"output": turns}, "reward": 1.0}
    assert [told(span) for span in read(rollout)] == [([5], [6, 7], [-1.0, -2.0]), ([5, 6, 7, 8], [9], [-3.0])]
    for turn in turns:
        turn["generation_token_ids"] = []
    assert [told(span) for span in read(rollout)] == [([], [], [])] * 2


def test_a_step_of_atif_brings_ids() -> None:
    metrics = {"prompt_tokens": 2, "completion_tokens": 2, "prompt_token_ids": [1, 2], "completion_token_ids": [3, 4],
               "logprobs": [-0.1, -0.2]}  # fmt: skip
    steps = [{"step_id": 1, "source": "user", "message": "go"},
             {"step_id": 2, "source": "agent", "message": "done", "metrics": metrics}]  # fmt: skip
    (span,) = read({"schema_version": "ATIF-v1.6", "session_id": "s", "agent": {"name": "a"}, "steps": steps})
    assert told(span) == ([1, 2], [3, 4], [-0.1, -0.2])


def counted(path: Path) -> tuple[int, int, int]:
    """Calls with ids, with log-probabilities, and with some that were left out."""
    with path.open("rb") as stream:
        spans = [record for record in read_export(stream, Tally()) if isinstance(record, Span)]
    return (
        sum(bool(span.output_token_ids) for span in spans), sum(bool(span.output_logprobs) for span in spans),
        sum(UNVERIFIED in span.flags for span in spans),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("export", "calls"),
    [
        ("agentlightning-1.0.2-gateway/export/events.jsonl.gz", (51, 51, 2)),
        ("agentlightning-1.0.2-gateway/export/events.triplet.jsonl.gz", (0, 0, 53)),
        ("langsmith-0.15.1-wrap-openai/export/runs.list_runs.dict.jsonl.gz", (0, 2, 1)),
        ("langsmith-0.15.1-langchain-openai/export/runs.list_runs.dict.jsonl.gz", (0, 2, 1)),
        ("openinference-instrumentation-openai-0.1.66/export/traces.jsonl.gz", (0, 2, 1)),
        ("openinference-instrumentation-langchain-0.1.80/export/traces.pb.gz", (0, 2, 1)),
        ("mlflow-3.17.2-openai/export/traces.to_json.jsonl.gz", (0, 2, 1)),
        ("arize-phoenix-20.26.1/export/spans.get_spans_dataframe.parquet", (0, 2, 1)),
    ],
)
def test_captures_give_the_tokens_that_they_hold(export: str, calls: tuple[int, int, int]) -> None:
    if not CORPUS:
        pytest.skip("TRACEMILL_CORPUS does not name a folder of captures")
    assert counted(Path(CORPUS) / export) == calls


@pytest.mark.parametrize(
    ("sample", "calls"),
    [
        ("nemo_gym/competitive_coding_challenges.example_rollouts.jsonl", (5, 5, 0)),
        ("atif/phoenix_fixtures/harbor_terminus2_summarization.json", (6, 6, 1)),
    ],
)
def test_samples_give_the_tokens_that_they_hold(sample: str, calls: tuple[int, int, int]) -> None:
    if not SAMPLES:
        pytest.skip("TRACEMILL_SAMPLES does not name a folder of samples")
    assert counted(Path(SAMPLES) / sample) == calls
