"""What becomes of chats that were recorded whole: rollouts with rewards, trajectories, plain chats."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from transforms.readers.exports import Tally, read_export
from transforms.records import Feedback, Message, Record, Span, ToolCall

CHAT = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Where is it?"}]
CALL = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"id": 7}'}}
SAID = {"role": "assistant", "content": None, "tool_calls": [CALL]}
FOUND = {"role": "tool", "tool_call_id": "c1", "content": "here"}
TOLD = {"role": "assistant", "content": "It is here."}
ASKED = [Message("system", "Be brief."), Message("user", "Where is it?")]
CALLED = Message("assistant", tool_calls=(ToolCall("c1", "find", '{"id": 7}'),))
ANSWERED = Message("tool", "here", tool_call_id="c1")
ENDED = Message("assistant", "It is here.")


def read(*documents: Any, dataset: str = "shop") -> list[Record]:
    return list(read_export(io.BytesIO("\n".join(map(json.dumps, documents)).encode()), Tally(), dataset))


def parts(*documents: Any, dataset: str = "shop") -> tuple[list[Span], list[Span], list[Feedback]]:
    """Roots, calls and verdicts."""
    records = read(*documents, dataset=dataset)
    spans = [record for record in records if isinstance(record, Span)]
    verdicts = [record for record in records if isinstance(record, Feedback)]
    assert len(spans) + len(verdicts) == len(records)
    assert len({(span.trace_identity, span.sequence) for span in spans}) == len(spans)
    return [s for s in spans if s.kind == "agent"], [s for s in spans if s.kind == "llm"], verdicts


def talked(calls: list[Span]) -> None:
    """The two calls of the chat, each with all that was said before."""
    assert [span.prompt for span in calls] == [ASKED, [*ASKED, CALLED, ANSWERED]]
    assert [span.output for span in calls] == [[CALLED], [ENDED]]
    assert {(span.content_state, span.parent_sequence) for span in calls} == {("full", "000000")}


# tau2-bench
SIMULATION: dict[str, Any] = {
    "id": "sim-1", "task_id": "98", "trial": 1, "termination_reason": "user_stop", "duration": 7.5, "seed": 3,
    "start_time": "2026-11-30T05:04:03.250", "end_time": "2026-11-30T05:04:10.750",
    "messages": [
        CHAT[0], {**CHAT[1], "turn_idx": 0},
        {"role": "assistant", "content": None, "usage": {"prompt_tokens": 12, "completion_tokens": 5},
         "tool_calls": [{"id": "c1", "name": "find", "arguments": {"id": 7}, "requestor": "assistant"}]},
        {"role": "tool", "id": "c1", "content": "here", "requestor": "assistant", "error": False},
        {"role": "user", "content": None,
         "tool_calls": [{"id": "u1", "name": "look", "arguments": {}, "requestor": "user"}]},
        {"role": "tool", "id": "u1", "content": "secret-screen", "requestor": "user"},
        TOLD,
    ],
    "reward_info": {"reward": 0.0, "reward_breakdown": {"DB": 1.0, "COMMUNICATE": 0.0}, "info": {"note": "x"}},
}  # fmt: skip
INFO = {
    "environment_info": {"domain_name": "retail", "policy": "long", "tool_defs": None},
    "agent_info": {"llm": "m-1"},
}


def test_what_a_user_does_with_tools_is_not_the_agents_doing_nor_shown_to_it() -> None:
    (root,), calls, verdicts = parts(
        {"info": INFO, "tasks": [{"user_scenario": "secret"}], "simulations": [SIMULATION]}
    )
    talked(calls)
    assert (root.dataset, root.task, root.trial, calls[0].model) == ("retail", "98", 1, "m-1")
    assert (calls[0].input_tokens, root.attributes) == (12, {"termination_reason": "user_stop"})
    assert {(v.key, v.score, v.annotator) for v in verdicts} == {
        ("reward", 0.0, "env"), ("reward.db", 1.0, "env"), ("reward.communicate", 0.0, "env")
    }  # fmt: skip
    assert "secret" not in repr([(span.prompt, span.output, span.attributes, span.tools) for span in [root, *calls]])


RAW = {"finish_reason": "stop", "message": {"role": "assistant", "reasoning_content": "Hm."}}


@pytest.mark.parametrize(
    "raw",
    [
        RAW,
        {"id": "msg_1", "model": "m-1-0", "stop_reason": "end_turn", "thinking_blocks": [
            {"type": "thinking", "thinking": "Hm."}],
         "usage": {"input_tokens": 4, "cache_read_input_tokens": 8, "output_tokens": 5}},
    ],
)  # fmt: skip
def test_the_raw_answer_of_a_simulation_tells_what_the_message_leaves_out(raw: dict[str, Any]) -> None:
    said = {**TOLD, "usage": {"prompt_tokens": 12, "completion_tokens": 5}, "raw_data": raw}
    _, (span,), _ = parts({"info": INFO, "tasks": [], "simulations": [{**SIMULATION, "messages": [*CHAT, said]}]})
    assert span.output == [Message("assistant", "It is here.", "Hm.")]
    assert (span.finish_reason, span.input_tokens, span.output_tokens) == ("stop", 12, 5)
    assert (span.model, span.response_id) == (("m-1-0", "msg_1") if "id" in raw else ("m-1", ""))
    assert span.content_state == "full"


@pytest.mark.parametrize(("more", "state"), [({"context_truncation": {"messages_dropped": 2}}, "truncated"),
                                             ({"is_audio": True, "content": "AAAA"}, "unparsed")])  # fmt: skip
def test_simulations_that_cut_the_context_or_were_spoken_are_not_full(more: dict[str, Any], state: str) -> None:
    _, (span,), _ = parts({**SIMULATION, "messages": [*CHAT, {**TOLD, **more}]})
    assert span.content_state == state
    assert "AAAA" not in repr(span.output)


def test_a_greeting_that_no_model_said_is_prompt() -> None:
    hello = {"role": "assistant", "content": "Hi!", "usage": None, "raw_data": None, "cost": 0.0}
    _, (span,), _ = parts({**SIMULATION, "messages": [CHAT[0], hello, CHAT[1], TOLD]})
    assert span.prompt == [ASKED[0], Message("assistant", "Hi!"), ASKED[1]]


def test_calls_whose_policy_is_not_in_the_chat_are_truncated() -> None:
    _, calls, _ = parts({**SIMULATION, "messages": SIMULATION["messages"][1:]})
    assert {(span.content_state, *span.flags) for span in calls} == {("truncated", "system_unknown")}


def test_a_simulation_by_itself_is_scoped_by_its_file_and_a_spoken_one_has_no_calls() -> None:
    (root,), calls, _ = parts(SIMULATION, dataset="airline")
    assert (root.dataset, len(calls)) == ("airline", 2)
    (root,), calls, _ = parts({**SIMULATION, "messages": None, "ticks": [{"tick_id": 0}], "reward_info": None})
    assert (root.content_state, calls) == ("unparsed", [])


def test_a_simulation_that_was_not_numbered_has_no_trial() -> None:
    unnumbered = {key: value for key, value in SIMULATION.items() if key != "trial"}
    (root,), _, _ = parts({"info": INFO, "tasks": [], "simulations": [unnumbered]})
    assert (root.task, root.trial) == ("98", None)


def test_results_without_their_simulations_hold_nothing() -> None:
    tally = Tally()
    document = json.dumps({"info": INFO, "tasks": []}).encode()
    assert list(read_export(io.BytesIO(document), tally)) == []
    assert (tally.records, tally.rejects, tally.blanks) == (0, 0, 1)


# NeMo Gym
GYM: dict[str, Any] = {
    "responses_create_params": {"input": CHAT, "temperature": 0.5, "tools": [
        {"type": "function", "name": "find", "parameters": {"type": "object"}, "strict": True}]},
    "response": {"model": "m-1", "status": "completed", "usage": {"input_tokens": 40, "output_tokens": 9}, "output": [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}], "encrypted_content": None},
        {"type": "function_call", "call_id": "c1", "name": "find", "arguments": '{"id": 7}', "id": "fc_1"},
        {"type": "function_call_output", "call_id": "c1", "output": "here"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "It is here."}],
         "prompt_token_ids": [], "generation_token_ids": [], "generation_log_probs": []}]},
    "reward": -2.5, "_ng_task_index": 4, "_ng_rollout_index": 1, "agent_ref": {"name": "simple"},
}  # fmt: skip


def test_a_rollout_of_nemo_gym_is_its_calls_and_its_reward() -> None:
    (root,), calls, (verdict,) = parts(GYM)
    assert calls[0].output[0].reasoning == "hm"
    calls[0].output[0].reasoning = calls[1].prompt[2].reasoning = ""
    talked(calls)
    assert (root.dataset, root.task, root.trial, root.agent) == ("shop", "4", 1, "simple")
    assert [span.finish_reason for span in calls] == ["tool_calls", "stop"]
    assert [tool["function"]["name"] for tool in calls[0].tools] == ["find"]
    assert (calls[0].input_tokens, calls[0].parameters) == (None, {"temperature": 0.5})  # counts are of both calls
    assert (verdict.key, verdict.score, verdict.annotator) == ("reward", -2.5, "env")


def test_a_rollout_without_an_index_is_known_by_its_instance_or_its_prompt() -> None:
    bare = {key: value for key, value in GYM.items() if not key.startswith("_ng")}
    assert parts(bare)[0][0].task == ""
    assert parts({**bare, "instance_id": "i-1"})[0][0].task == "i-1"


def test_parts_of_a_reward_are_feedback_of_their_own() -> None:
    _, _, verdicts = parts({**GYM, "reward_components": {"format": 1, "note": "x"}})
    assert {(verdict.key, verdict.score) for verdict in verdicts} == {("reward", -2.5), ("reward.format", 1.0)}


@pytest.mark.parametrize(
    ("more", "flag"),
    [({"mask_sample": True}, "masked"), ({"responses_create_params": {"input": []}}, "prompt_unknown")],
)
def test_rollouts_not_to_be_learnt_from_are_never_full(more: dict[str, Any], flag: str) -> None:
    _, calls, _ = parts({**GYM, **more})
    assert {span.content_state for span in calls} == {"truncated"}
    assert all(flag in span.flags for span in calls)


def test_answers_in_a_request_are_prompt() -> None:
    earlier = [*CHAT, {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hm."}]},
               {"role": "user", "content": "Well?"}]  # fmt: skip
    _, calls, _ = parts({**GYM, "responses_create_params": {"input": earlier}})
    assert [len(span.prompt) for span in calls] == [4, 6]


# ATIF
STEPS: list[dict[str, Any]] = [
    {"step_id": 1, "source": "system", "message": "Be brief."},
    {"step_id": 2, "source": "user", "message": "Where is it?", "timestamp": "2026-11-30T05:04:03.25Z"},
    {"step_id": 3, "source": "agent", "message": "", "timestamp": "2026-11-30T05:04:04Z", "model_name": "m-2",
     "tool_calls": [{"tool_call_id": "c1", "function_name": "find", "arguments": {"id": 7}}],
     "observation": {"results": [{"content": "here"}]},
     "metrics": {"prompt_tokens": 12, "completion_tokens": 5, "cached_tokens": 8, "prompt_token_ids": [1]}},
    {"step_id": 4, "source": "agent", "message": "It is here."},
]  # fmt: skip
ATIF: dict[str, Any] = {"schema_version": "ATIF-v1.6", "session_id": "s-1", "steps": STEPS,
                        "agent": {"name": "coder", "model_name": "m-1", "tool_definitions": []}}  # fmt: skip


def test_a_trajectory_is_its_calls() -> None:
    (root,), calls, _ = parts(ATIF)
    talked(calls)
    assert (root.agent, root.trace_identity, [span.model for span in calls]) == (
        "coder", ("atif", "s-1", ""), ["m-2", "m-1"]
    )  # fmt: skip
    assert (calls[0].input_tokens, calls[0].output_tokens, calls[0].cache_read_tokens) == (12, 5, 8)


def test_copied_context_is_prompt_and_never_a_call() -> None:
    copied = [{**step, "is_copied_context": True} for step in STEPS[:3]]
    (root,), calls, _ = parts({**ATIF, "steps": [*copied, STEPS[3]]})
    assert [span.output for span in calls] == [[ENDED]]
    assert calls[0].prompt == [*ASKED, CALLED, ANSWERED]
    assert root.flags == ["copied_context"]


def test_a_step_without_a_call_of_a_model_is_none() -> None:
    _, calls, _ = parts({**ATIF, "steps": [*STEPS[:2], {**STEPS[2], "llm_call_count": 0}, STEPS[3]]})
    assert [span.output for span in calls] == [[ENDED]]


def test_after_a_system_rewrote_the_context_calls_are_truncated() -> None:
    folded = {"source": "system", "message": "Summarised.", "observation": {"results": [
        {"content": None, "subagent_trajectory_ref": [{"trajectory_id": "x"}]}]}}  # fmt: skip
    _, calls, _ = parts({**ATIF, "steps": [*STEPS[:3], folded, STEPS[3]]})
    assert [span.content_state for span in calls] == ["full", "truncated"]
    assert calls[1].flags == ["context_rewritten"]
    said = {"source": "system", "message": "Mind the gap."}
    _, calls, _ = parts({**ATIF, "steps": [*STEPS[:3], said, STEPS[3]]})
    assert [span.content_state for span in calls] == ["full", "full"]


@pytest.mark.parametrize("boundary", ["replace", "truncate"])
def test_a_step_that_says_how_it_managed_the_context_is_believed(boundary: str) -> None:
    step = {"source": "system", "message": "Folded.", "extra": {"context_management": {"boundary": boundary}}}
    _, calls, _ = parts({**ATIF, "steps": [*STEPS[:3], step, STEPS[3]]})
    assert [span.content_state for span in calls] == ["full", "truncated"]
    added = {"source": "system", "message": "More.", "observation": {"results": [{"content": "It is a key."}]},
             "extra": {"context_management": {"type": "injection", "boundary": "append"}}}  # fmt: skip
    _, calls, _ = parts({**ATIF, "steps": [*STEPS[:3], added, STEPS[3]]})
    assert [span.content_state for span in calls] == ["full", "full"]
    assert calls[1].prompt[-1] == Message("user", "It is a key.")


def test_a_step_of_several_calls_is_never_full_and_its_counts_are_of_none() -> None:
    several = {**STEPS[2], "llm_call_count": 3}
    _, calls, _ = parts({**ATIF, "steps": [*STEPS[:2], several, STEPS[3]]})
    assert [(span.content_state, span.input_tokens) for span in calls] == [("truncated", None)] * 2


def test_metrics_beside_the_schema_are_read() -> None:
    metrics = {"prompt_tokens": 9, "extra": {"reasoning_tokens": 4, "finish_reason": "length"}}
    _, (*_, span), _ = parts(
        {**ATIF, "steps": [*STEPS[:3], {**STEPS[3], "metrics": metrics, "reasoning_effort": "low"}]}
    )
    assert (span.reasoning_tokens, span.finish_reason, span.parameters) == (4, "length", {"reasoning_effort": "low"})


def test_sub_agents_in_a_trajectory_are_agents_below_it() -> None:
    inner = {"trajectory_id": "child", "agent": {"name": "reader"}, "steps": STEPS}
    roots, calls, _ = parts({**ATIF, "subagent_trajectories": [inner]})
    assert [(root.agent, root.sequence, root.parent_sequence) for root in roots] == [
        ("coder", "000000", ""), ("reader", "001.000000", "000000")
    ]  # fmt: skip
    assert [span.parent_sequence for span in calls] == ["000000"] * 2 + ["001.000000"] * 2


def test_sub_agents_of_sub_agents_are_agents_below_them() -> None:
    leaf = {"trajectory_id": "leaf", "agent": {"name": "finder"}, "steps": STEPS}
    inner = {"trajectory_id": "child", "agent": {"name": "reader"}, "steps": STEPS, "subagent_trajectories": [leaf]}
    roots, _, _ = parts({**ATIF, "subagent_trajectories": [inner]})
    assert [(root.agent, root.sequence, root.parent_sequence) for root in roots][1:] == [
        ("reader", "001.000000", "000000"), ("finder", "001.001.000000", "001.000000")
    ]  # fmt: skip


def test_agents_of_a_session_without_ids_of_their_own_are_traces_of_their_own() -> None:
    other = {**ATIF, "agent": {"name": "reader"}}
    roots, _, _ = parts(ATIF, other)
    assert roots[0].trace_identity == ("atif", "s-1", "")
    assert (roots[1].trace_identity[:3], len(roots[1].trace_identity)) == (("atif", "s-1", ""), 4)
    assert [root.conversation_id for root in roots] == ["s-1", "s-1"]
    grown = read({**ATIF, "steps": STEPS[:3]}, ATIF)
    assert {record.trace_identity for record in grown if isinstance(record, Span)} == {("atif", "s-1", "")}
    named = {**ATIF, "trajectory_id": "t-1"}
    assert parts(ATIF, named)[0][1].trace_identity == ("atif", "s-1", "t-1")


def test_results_without_content_among_others_answer_their_calls() -> None:
    calls = [{"tool_call_id": name, "function_name": "find", "arguments": {}} for name in ("c1", "c2", "c3")]
    results: list[dict[str, Any]] = [
        {"content": None, "subagent_trajectory_ref": [{"trajectory_id": "x"}]}, {"content": "two"}, {"content": None}
    ]  # fmt: skip
    expected = [Message("tool", tool_call_id="c1"), Message("tool", "two", tool_call_id="c2"),
                Message("tool", tool_call_id="c3")]  # fmt: skip
    for given in (results, [{**one, "source_call_id": f"c{number}"} for number, one in enumerate(results, start=1)]):
        step = {**STEPS[2], "tool_calls": calls, "observation": {"results": given}}
        _, (_, last), _ = parts({**ATIF, "steps": [*STEPS[:2], step, STEPS[3]]})
        assert last.prompt[-3:] == expected
    twice = [{"source_call_id": "c1", "content": None}, {"source_call_id": "c1", "content": "here"}]
    step = {**STEPS[2], "observation": {"results": twice}}
    _, (_, last), _ = parts({**ATIF, "steps": [*STEPS[:2], step, STEPS[3]]})
    assert last.prompt[-1:] == [ANSWERED]


def test_observations_without_a_call_are_the_users_turn() -> None:
    steps = [
        STEPS[1],
        {"source": "agent", "message": "ls", "observation": {"results": [{"content": "a.txt"}]}},
        STEPS[3],
    ]
    _, calls, _ = parts({**ATIF, "steps": steps})
    assert calls[1].prompt[-1] == Message("user", "a.txt")


# SWE-agent
def test_demonstrations_are_prompt_and_never_a_call() -> None:
    demo = [{**TOLD, "is_demo": True, "agent": "main"}]
    found = {"role": "tool", "content": "here", "tool_call_ids": ["c1"], "message_type": "observation"}
    history = [{**CHAT[0], "agent": "main"}, *demo, {**CHAT[1], "agent": "main"}, {**SAID, "thought": "t"}, found, TOLD]
    run = {"environment": "main", "trajectory": [], "history": history, "info": {"exit_status": "submitted"}}
    (root,), calls, verdicts = parts(run, dataset="repo-7")
    assert [span.output for span in calls] == [[CALLED], [ENDED]]
    assert calls[0].prompt == [ASKED[0], ENDED, ASKED[1]]
    assert calls[1].prompt[-1] == ANSWERED
    assert (root.task, root.attributes, verdicts) == ("repo-7", {"exit_status": "submitted"}, [])
    assert parts({"history": history})[0][0].task == "shop"
    config = json.dumps({"problem_statement": {"id": "issue-1"}})
    assert parts({**run, "replay_config": config})[0][0].task == "issue-1"


def test_each_attempt_of_an_agent_that_tries_again_is_read_once() -> None:
    first = {"trajectory": [], "history": [{**CHAT[1], "agent": "main"}, TOLD], "info": {"review": {"accept": 3.5}}}
    second = {**first, "history": [*first["history"], CHAT[1], TOLD], "info": {"review": {"accept": False}}}
    chosen = {**first, "info": {**first["info"], "best_attempt_idx": 0}}
    roots, calls, verdicts = parts({"attempts": [first, second], **chosen}, dataset="repo-7")
    assert [root.task for root in roots] == ["repo-7", "repo-7"]
    assert [len(span.prompt) for span in calls] == [1, 1, 3]
    assert [(one.key, one.score, one.annotator) for one in verdicts] == [("review", 3.5, "llm"), ("review", 0.0, "llm")]
    alone, _, _ = parts(first, dataset="repo-7")
    assert alone[0].trace_identity == roots[0].trace_identity
    begun, _, _ = parts({"attempts": [first]}, dataset="repo-7")
    assert begun[0].trace_identity == roots[0].trace_identity


# plain chats
@pytest.mark.parametrize(
    "chat",
    [
        {"messages": [*CHAT, SAID, FOUND, TOLD]},
        {"messages": json.dumps([*CHAT, SAID, FOUND, TOLD])},
        {"trajectory": [*CHAT, SAID, FOUND, TOLD]},
        {"conversations": [
            {"from": "system", "value": "Be brief."}, {"from": "human", "value": "Where is it?"},
            {"from": "gpt", "tool_calls": [CALL]}, {"from": "tool", "value": "here", "tool_call_id": "c1"},
            {"from": "gpt", "value": "It is here."}]},
        {"system": "Be brief.", "messages": [CHAT[1], SAID, FOUND, TOLD]},
        {"trajectory": [{"role": "system", "system_prompt": "Be brief.", "text": None},
                        {"role": "user", "text": "Where is it?"}, SAID, FOUND, {"role": "ai", "text": "It is here."}],
         "instance_id": "i-1"},
    ],
)  # fmt: skip
def test_a_plain_chat_is_its_calls(chat: dict[str, Any]) -> None:
    (root,), calls, _ = parts(chat)
    talked(calls)
    assert (root.dataset, root.task) == ("shop", chat.get("instance_id", ""))


def test_a_plain_chat_brings_its_tools_and_its_verdict() -> None:
    tools = [{"type": "function", "function": {"name": "find", "parameters": {"type": "object"}}}]
    for given in (tools, json.dumps(tools)):
        _, calls, (verdict,) = parts(
            {"messages": [*CHAT, TOLD], "tools": given, "instance_id": "i-1", "resolved": False}
        )
        assert calls[0].tools == tools
        assert (verdict.key, verdict.score, verdict.annotator) == ("resolved", 0.0, "env")


def test_messages_that_are_not_to_be_learnt_are_prompt() -> None:
    _, calls, _ = parts({"messages": [*CHAT, {**TOLD, "weight": 0}, CHAT[1], {**TOLD, "weight": 1}]})
    assert [len(span.prompt) for span in calls] == [4]


def test_a_chat_with_parts_nobody_knows_is_unparsed_from_there_on() -> None:
    odd = {"role": "user", "content": [{"type": "hologram", "data": "x"}]}
    _, calls, _ = parts({"messages": [*CHAT, TOLD, odd, TOLD]})
    assert [span.content_state for span in calls] == ["full", "unparsed"]


def test_the_same_chat_is_the_same_trace_again_and_another_is_not() -> None:
    chats = [{"messages": [*CHAT, TOLD]}, {"messages": [*CHAT, TOLD]}, {"messages": [*CHAT, SAID]}]
    first, again, other = (parts(chat)[0][0].trace_identity for chat in chats)
    assert first == again != other


@pytest.mark.parametrize("name", ["query", "messages"])
def test_a_run_that_left_out_old_observations_is_read_as_it_was_shown(name: str) -> None:
    told = [{"role": "system", "content": "Be brief.", "agent": "main"}, CHAT[1], SAID, FOUND, TOLD]
    elided = {**FOUND, "content": "(1 line omitted)"}
    cached = [{**told[0], "content": [{"type": "text", "text": "Be brief.", "cache_control": {}}]}, told[1]]
    for first in (told[:2], cached):
        steps = [{name: first}, {name: [*told[:3], elided]}]
        _, calls, _ = parts({"trajectory": steps, "history": told, "info": {}})
        assert calls[0].prompt == ASKED
        assert calls[1].prompt == [*ASKED, CALLED, Message("tool", "(1 line omitted)", tool_call_id="c1")]
        assert {span.content_state for span in calls} == {"full"}
