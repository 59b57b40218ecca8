"""Whatever a document of any dialect holds: no exception, neighbours kept, accounted for, and no text in a reason."""

from __future__ import annotations

import io
import json
import re
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from json_places import changed, places

from transforms.readers.exports import Tally, detect, read_export
from transforms.records import Record, Reject, Span

REASON = re.compile(r"[a-z0-9_]{3,30}")
TIME = "2026-11-30T05:04:00.25Z"
CHAT = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"}]
CALL = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"id": 7}'}}
SAID = {"role": "assistant", "content": None, "tool_calls": [CALL]}
ANSWER = {
    "id": "chatcmpl-1",
    "model": "m",
    "choices": [{"finish_reason": "tool_calls", "message": SAID}],
    "usage": {"prompt_tokens": 4, "completion_tokens": 3},
}
HEX, SPAN_HEX = "4a1b2c3d4e5f60718293a4b5c6d7e8f9", "a1b2c3d4e5f60718"
GENAI = {
    "gen_ai.operation.name": "chat",
    "gen_ai.request.model": "m",
    "gen_ai.input.messages": '[{"role":"user","parts":[{"type":"text","content":"hi"}]}]',
    "gen_ai.output.messages": '[{"role":"assistant","parts":[{"type":"text","content":"ho"}]}]',
}
RUN_ID = "01a22ac9-1d22-7309-8407-2c1e4c3f424f"
RUN = {
    "id": RUN_ID,
    "trace_id": RUN_ID,
    "name": "m",
    "inputs": {"messages": CHAT},
    "outputs": ANSWER,
    "start_time": TIME,
    "end_time": TIME,
}
OBSERVATION = {
    "id": "o1",
    "traceId": "t1",
    "type": "GENERATION",
    "name": "m",
    "parentObservationId": None,
    "startTime": TIME,
    "endTime": TIME,
    "input": json.dumps(CHAT),
    "output": SAID,
    "metadata": "{}",
    "usageDetails": {"input": 4, "output": 3},
    "level": "DEFAULT",
}
SCORE = {"id": "s1", "traceId": "t1", "name": "mood", "value": 1, "stringValue": "glad", "dataType": "CATEGORICAL"}
SIMULATION = {
    "id": "sim",
    "task_id": "5",
    "trial": 0,
    "termination_reason": "user_stop",
    "start_time": TIME,
    "messages": [*CHAT, {**SAID, "usage": {"prompt_tokens": 4}}, {"role": "tool", "id": "c1", "content": "on"}],
    "reward_info": {"reward": 1.0, "reward_breakdown": {"DB": 1.0}},
}
STEPS = [
    {"step_id": 1, "source": "user", "message": "hi", "timestamp": TIME},
    {
        "step_id": 2,
        "source": "agent",
        "message": "",
        "metrics": {"prompt_tokens": 4},
        "tool_calls": [{"tool_call_id": "c1", "function_name": "find", "arguments": {"id": 7}}],
        "observation": {"results": [{"source_call_id": "c1", "content": "on"}]},
    },
]

SEEDS: dict[str, dict[str, Any]] = {
    "langsmith_v2": {
        **RUN,
        "run_type": "LLM",
        "status": "SUCCESS",
        "project_id": "p",
        "parent_run_ids": [],
        "metadata": {"ls_provider": "openai"},
    },
    "langsmith_bulk": {
        **RUN,
        "run_type": "llm",
        "inputs": json.dumps(RUN["inputs"]),
        "outputs": json.dumps(ANSWER),
        "extra": "{}",
        "trace_tier": "longlived",
    },
    "langsmith_cli": {
        "run_id": RUN_ID,
        "trace_id": RUN_ID,
        "run_type": "llm",
        "name": "m",
        "inputs": {"messages": CHAT},
        "outputs": ANSWER,
        "token_usage": {"prompt_tokens": 4},
    },
    "langsmith_batch": {
        "post": [{**RUN, "run_type": "llm", "outputs": {}, "end_time": None}],
        "patch": [{"id": RUN_ID, "trace_id": RUN_ID, "outputs": ANSWER, "end_time": TIME}],
    },
    "langsmith_fetch": {
        "trace_id": RUN_ID,
        "messages": [*CHAT, SAID],
        "metadata": {"start_time": TIME},
        "feedback": [{"id": "f", "key": "k", "score": 1}],
    },
    "langfuse": {
        "trace": {"id": "t1", "sessionId": "s", "scores": [SCORE], "metadata": {"task_id": "9"}},
        "observations": [OBSERVATION, {**OBSERVATION, "id": "o2", "type": "TOOL", "input": {"q": 1}}],
    },
    "langfuse_row": OBSERVATION,
    "langfuse_trace": {
        "id": "t1",
        "timestamp": TIME,
        "name": "n",
        "user_id": "u",
        "session_id": "s",
        "tags": ["x"],
        "metadata": '{"task_id": "9"}',
    },
    "langfuse_score": SCORE,
    "mlflow": {
        "info": {
            "trace_id": "tr-" + HEX,
            "tags": {"task_id": "9"},
            "assessments": [{"assessment_name": "ok", "feedback": {"value": True}, "source": {"source_type": "HUMAN"}}],
        },
        "data": {
            "spans": [
                {
                    "trace_id": "ShssPU5fYHGCk6S1xtfo+Q==",
                    "span_id": "obLD1OX2Bxg=",
                    "name": "m",
                    "start_time_unix_nano": 1_796_014_930_576_527_902,
                    "status": {"code": "STATUS_CODE_OK"},
                    "attributes": {
                        "mlflow.spanType": '"CHAT_MODEL"',
                        "mlflow.spanOutputs": json.dumps(ANSWER),
                        "mlflow.spanInputs": json.dumps({"messages": CHAT}),
                    },
                }
            ]
        },
    },
    "phoenix": {
        "context": {"trace_id": HEX, "span_id": SPAN_HEX},
        "span_kind": "LLM",
        "name": "m",
        "start_time": TIME,
        "status_code": "OK",
        "attributes": {"llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.content": "hi"},
    },
    "phoenix_row": {
        "context.trace_id": HEX,
        "context.span_id": SPAN_HEX,
        "span_kind": "LLM",
        "name": "m",
        "attributes.llm.input_messages": [{"message.role": "user", "message.content": "hi"}],
        "attributes.metadata": {"task_id": "9"},
    },
    "phoenix_annotation": {"span_id": SPAN_HEX, "name": "ok", "annotator_kind": "HUMAN", "result": {"score": 1}},
    "openai_agents": {
        "object": "trace.span",
        "id": "span_1",
        "trace_id": "trace_" + HEX,
        "started_at": TIME,
        "span_data": {"type": "generation", "input": CHAT, "output": [SAID], "usage": {"input_tokens": 4}},
    },
    "agent_lightning": {
        "rollout_id": "r",
        "attempt_id": "a",
        "sequence_id": 1,
        "trace_id": HEX,
        "span_id": SPAN_HEX,
        "name": "agentlightning.annotation",
        "attributes": {"agentlightning.reward.0.value": 1.0},
    },
    "lightning_rollout": {
        "rollout": {"rollout_id": "r", "input": {"task_id": "9"}, "status": {"state": "succeeded"}},
        "attempts": ["0"],
    },
    "lightning_event": {
        "event_type": "model_request",
        "rollout_id": "r",
        "attempt_id": "0",
        "timestamp": 1796014908.5,
        "data": {"request": {"messages": CHAT}, "response": ANSWER, "status": "ok"},
    },
    "jaeger": {
        "traceID": HEX,
        "processes": {"p1": {"serviceName": "s", "tags": []}},
        "spans": [
            {
                "traceID": HEX,
                "spanID": SPAN_HEX,
                "operationName": "chat m",
                "startTime": 1_770_000_000_001_000,
                "duration": 5,
                "processID": "p1",
                "tags": [{"key": key, "value": said} for key, said in GENAI.items()],
                "logs": [{"timestamp": 1_770_000_000_001_000, "fields": [{"key": "event", "value": "e"}]}],
            }
        ],
    },
    "otlp_span": {
        "trace_id": HEX,
        "span_id": SPAN_HEX,
        "start_time_unix_nano": 1_796_014_930_576_527_902,
        "name": "m",
        "attributes": [{"key": "gen_ai.operation.name", "value": {"string_value": "chat", "int_value": None}}],
    },
    "otel_console": {
        "name": "m",
        "context": {"trace_id": "0x" + HEX, "span_id": "0x" + SPAN_HEX},
        "kind": "SpanKind.CLIENT",
        "start_time": TIME,
        "end_time": TIME,
        "status": {"status_code": "UNSET"},
        "attributes": GENAI,
        "resource": {"attributes": {"service.name": "s"}},
    },
    "otel_javascript": {
        "spanContext": {"traceId": HEX, "spanId": SPAN_HEX},
        "name": "m",
        "startTime": [1770131992, 242],
        "endTime": [1770131994, 0],
        "status": {"code": 0},
        "attributes": GENAI,
        "events": [],
    },
    "atif": {
        "schema_version": "ATIF-v1.7",
        "session_id": "s",
        "agent": {"name": "a", "model_name": "m"},
        "steps": STEPS,
        "subagent_trajectories": [{"trajectory_id": "b", "agent": {"name": "c"}, "steps": STEPS}],
    },
    "tau2_bench": {"info": {"environment_info": {"domain_name": "retail"}}, "tasks": [], "simulations": [SIMULATION]},
    "tau2_simulation": SIMULATION,
    "nemo_gym": {
        "responses_create_params": {"input": CHAT, "tools": []},
        "reward": 0.5,
        "_ng_task_index": 1,
        "response": {
            "model": "m",
            "status": "completed",
            "output": [
                {"type": "function_call", "call_id": "c1", "name": "find", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "c1", "output": "on"},
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "on"}]},
            ],
        },
    },
    "swe_agent": {
        "history": [{**CHAT[0], "agent": "main"}, {**CHAT[1], "is_demo": True}, {**SAID, "thought": "t"}],
        "trajectory": [],
        "info": {"exit_status": "submitted"},
    },
    "chat": {"messages": [*CHAT, SAID], "tools": [{"type": "function", "function": {"name": "find"}}]},
}
NEIGHBOUR = json.dumps({**RUN, "run_type": "tool"}).encode()

leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4)
)


def read(data: bytes) -> tuple[list[Record], Tally]:
    tally = Tally()
    records = list(read_export(io.BytesIO(data), tally, "d"))
    for record in records:
        json.dumps(msgspec.to_builtins(record), ensure_ascii=False, allow_nan=False).encode()  # can be written out
        if isinstance(record, Reject):
            assert REASON.fullmatch(record.reason)
    assert tally.rejects == sum(isinstance(record, Reject) for record in records)
    positions = [record.position for record in records]
    assert positions == sorted(positions)
    assert len({record.position for record in records if not isinstance(record, Reject)}) == tally.records
    return records, tally


@pytest.mark.parametrize("dialect", SEEDS)
def test_a_document_tells_its_dialect_and_is_read(dialect: str) -> None:
    assert detect(SEEDS[dialect]) == dialect
    records, tally = read(json.dumps(SEEDS[dialect]).encode())
    assert records
    assert (tally.records, tally.rejects, tally.blanks, len(tally.dialects)) == (1, 0, 0, 1)
    told = {name for record in records if isinstance(record, Span) for name in record.flags}
    assert not told & {"unknown_part", "unknown_role"}


@pytest.mark.parametrize("dialect", SEEDS)
def test_a_document_with_a_key_less_is_read_or_refused(dialect: str) -> None:
    for place in places(SEEDS[dialect]):
        if isinstance(place[-1], str):
            document = json.loads(json.dumps(SEEDS[dialect]))
            inner = document
            for key in place[:-1]:
                inner = inner[key]
            del inner[place[-1]]
            _, tally = read(json.dumps(document).encode())
            assert tally.records + tally.rejects + tally.blanks >= 1


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_a_document_with_a_value_changed_anywhere_keeps_its_neighbours(data: st.DataObject) -> None:
    seed = SEEDS[data.draw(st.sampled_from(sorted(SEEDS)))]
    document = changed(seed, data.draw(st.sampled_from(places(seed))), data.draw(values))
    records, tally = read(b"\n".join([NEIGHBOUR, json.dumps(document).encode(), NEIGHBOUR]))
    assert {0, 2} <= {record.position for record in records if isinstance(record, Span)}
    assert {record.position for record in records} | ({1} if tally.blanks else set()) == {0, 1, 2}


@given(st.dictionaries(st.sampled_from(sorted({key for seed in SEEDS.values() for key in seed})), values, max_size=9))
@settings(max_examples=120, deadline=None)
def test_any_mixture_of_keys_is_accounted_for(document: dict[str, Any]) -> None:
    _, tally = read(json.dumps(document).encode() + b"\n" + NEIGHBOUR)
    assert tally.records + tally.blanks + min(tally.rejects, 1) >= 2


@pytest.mark.parametrize("dialect", SEEDS)
def test_a_page_of_an_api_gives_what_it_lists_and_a_broken_item_takes_no_other_with_it(dialect: str) -> None:
    alone, _ = read(json.dumps(SEEDS[dialect]).encode())
    page = {"data": [7, SEEDS[dialect], 7, SEEDS[dialect]], "next_cursor": None}
    records, tally = read(json.dumps(page).encode())
    assert (tally.records, tally.rejects) == (1, 1)
    assert len(records) == 2 * len(alone) + 1


@pytest.mark.parametrize("dialect", SEEDS)
def test_what_is_nested_too_deeply_is_refused_or_left_out(dialect: str) -> None:
    deep: Any = 1
    for _ in range(195):
        deep = [deep]
    for place in places(SEEDS[dialect]):
        read(json.dumps(changed(SEEDS[dialect], place, deep)).encode())


def test_reasons_never_hold_text_of_the_input() -> None:
    secret = "hunter2secret"
    documents = [changed(seed, place, secret) for seed in SEEDS.values() for place in places(seed) if len(place) == 1]
    documents += [changed(seed, place, {secret: secret}) for seed in SEEDS.values() for place in places(seed)]
    records, _ = read(b"\n".join(json.dumps(document).encode() for document in documents))
    assert not any(secret in record.reason for record in records if isinstance(record, Reject))
