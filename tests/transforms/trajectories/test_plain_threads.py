"""Threading all traces at once gives what threading them one by one gives, and is what ordinary traces get."""

import json
from datetime import timedelta
from random import Random

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from transforms.contexts import link_rows
from transforms.trajectories.plain_messages import SAID, Messages
from transforms.trajectories.plain_threads import COLUMNS, plain_threads
from transforms.trajectories.threads import build_threads, looked_up_in, threads_one_by_one
from warehouse.schemas import SPANS

TABLES = ("trajectories", "steps", "tool_calls", "left_out")


def _linked(day):
    """The day's spans as cleaning links them: their prompts as what they add to an earlier one."""
    rows = [row | {"prompt": row["prompt_suffix"]} for row in day.spans]
    for row in rows:
        row["started_at"] = row["started_at"] and int(row["started_at"].timestamp() * 1e6) * 1000
    return SPANS.frame(list(link_rows(rows)))


def _both(spans, day):
    messages = day.frames()[1]
    once = build_threads(spans, messages, day.identity, day.day)
    one_by_one = threads_one_by_one(spans, messages, day.identity, day.day)
    for name in TABLES:
        assert getattr(once, name).to_dicts() == getattr(one_by_one, name).to_dicts(), name
    return once


def _others(spans, day):
    """Traces that are threaded one by one."""
    said = Messages.of(day.frames()[1].select(SAID))
    found = plain_threads(spans.select(COLUMNS), said, looked_up_in(spans.lazy()), day.identity, day.day)
    return sorted(found[1])


class _Agent:
    """Writes a trace down that does at random what agents and their exports do."""

    def __init__(self, day, chance, trace):
        self.day, self.chance, self.trace = day, chance, trace
        self.number = 0
        self.talks = [[day.say("system", f"Be {chance.choice('ab')}."), day.say("user", f"u{chance.randrange(3)}")]]
        self.spans = [None]
        self.options = {
            "conversation_id": chance.choice([None] * 6 + ["c"]), "dataset": chance.choice([None, "d", "e"]),
            "task": chance.choice([None, None, "7"]), "trial": chance.choice([None, 2]),
        }  # fmt: skip
        self.ids, self.agents = chance.random() < 0.8, chance.random() < 0.5

    def maybe(self, share):
        return self.chance.random() < share

    def next_id(self):
        self.number += 1
        return f"{self.trace}-{self.chance.randrange(16):x}-{self.number}"

    def span(self, kind, **columns):
        name = self.next_id()
        parent = self.chance.choice([*self.spans[-3:], self.spans[0]]) if self.maybe(0.9) else "never arrived"
        agent = self.chance.choice([None, "a", "b"]) if kind == "agent" and self.agents else None
        at = float(self.number) if self.maybe(0.9) else float(self.number - 1)
        self.day.span(self.trace, name, kind, **{"at": at, "parent_span_id": parent, "agent": agent}
                      | self.options | columns)  # fmt: skip
        if kind in ("agent", "chain", "evaluator") or self.maybe(0.1):
            self.spans.append(name)

    def call(self, prompt, output, **columns):
        self.span("llm", **{
            "prompt_suffix": prompt, "prompt_length": len(prompt), "output": [output] if output else [], "model": "m",
            "content_state": "full", "tools": self.chance.choice(["[]"] * 8 + [None]), "input_tokens": 3,
            "output_tokens": self.chance.choice([2] * 9 + [None]), "finish_reason": self.chance.choice(["stop"] * 6 + [
                "length", "error"]), "response_id": self.next_id() if self.maybe(0.5) else None,
        } | columns)  # fmt: skip

    def step(self):
        talk = self.chance.choice([self.talks[-1]] * 6 + self.talks)
        if self.maybe(0.08):
            talk = [self.day.say("system", f"Be {self.number}."), *talk[1:]]
        if self.maybe(0.1):
            self.call(talk, None, status="error", error_type="RateLimitError")
        calls = [
            (f"{self.trace}{self.number}{n}" if self.ids else "", self.chance.choice(["check", "find"]), '{"a": 1}')
            for n in range(self.chance.choice([0, 1, 1, 2]))
        ]
        if self.maybe(0.03) and calls:
            calls = [calls[0]] * 2
        answer = self.day.say("assistant", f"x{self.number if self.maybe(0.9) else ''}", calls)
        response = self.next_id() if self.maybe(0.5) else None
        self.call(talk, answer, response_id=response)
        if self.maybe(0.05):
            self.call(talk, answer, response_id=response)
        told = []
        for call_id, name, arguments in calls:
            text = self.chance.choice(["fine", "Error: no", '{"error": "x"}', '{"a": 1}', "오류"])
            if self.maybe(0.8):
                known = call_id if self.maybe(0.95) else self.chance.choice(["", "else"])
                self.span("tool", tool_call_id=known or None, tool_name=name, tool_arguments=arguments,
                          tool_result=text, status=self.chance.choice(["ok"] * 5 + ["error"]))  # fmt: skip
            if self.maybe(0.9):
                told.append(self.day.say("tool", text, answers=call_id if self.maybe(0.95) else ""))
        if self.maybe(0.1):
            self.chance.shuffle(told)
        talk = [*talk, answer, *told]
        self.talks.append([*talk, self.day.say("user", f"v{self.number}")] if self.maybe(0.3) or not told else talk)

    def run(self):
        if self.maybe(0.7):
            self.span("agent")
        for _ in range(self.chance.randint(1, 7)):
            if self.maybe(0.15):
                self.span(self.chance.choice(["chain", "chain", "agent", "evaluator", "tool"]))
            self.step()
        if self.maybe(0.1):
            self.call(self.talks[-1], None, status="error")


@settings(deadline=None, max_examples=150)
@given(st.integers(0, 2**32))
def test_traces_at_once_are_what_they_are_one_by_one(traffic, seed):
    day, chance = traffic(), Random(seed)
    for number in range(chance.randint(1, 5)):
        _Agent(day, chance, f"t{number}").run()
    for message in list(day.messages):
        if chance.random() < 0.02:
            del day.messages[message]
        elif chance.random() < 0.02:
            day.messages[message]["media"] = json.dumps([{"modality": "image"}])
    for span in day.spans:
        if chance.random() < 0.02:
            span |= chance.choice([{"started_at": None}, {"status": "pending"}, {"content_state": "truncated"}])
    if any(span["started_at"] is None for span in day.spans):
        for span in day.spans:
            span["started_at"] = None
    spans = _linked(day)
    _both(spans, day)
    later = spans.sample(fraction=0.2, seed=seed % 1000).with_columns(day=pl.lit(day.day + timedelta(days=1)))
    _both(pl.concat([spans, later]).sample(fraction=1, shuffle=True, seed=1), day)


def _retry(day):
    talk = [day.say("user", "u")]
    day.call("t", "failed", talk, None, status="error")
    talk = day.call("t", "one", talk, day.say("assistant", "a"))
    day.call("t", "two", [*talk, day.say("user", "v")], day.say("assistant", "b"))


def _edit(day):
    thread = day.call("t", "one", [day.say("system", "Monday"), day.say("user", "u")], day.say("assistant", "a"))
    thread = [day.say("system", "Tuesday"), *thread[1:], day.say("user", "v")]
    thread = day.call("t", "two", thread, day.say("assistant", "b"))
    day.call("t", "three", [*thread, day.say("user", "w")], day.say("assistant", "c"))


def _other_tools(day):
    thread = day.call("t", "one", [day.say("user", "u")], day.say("assistant", "a"))
    day.call("t", "two", [*thread, day.say("user", "v")], day.say("assistant", "b"), tools="[]")


def _aside(day):
    thread = day.call("t", "one", [day.say("user", "u")], day.say("assistant", "a"))
    day.call("t", "title", [day.say("system", "Name this talk.")], day.say("assistant", "A talk"))
    day.call("t", "two", [*thread, day.say("user", "v")], day.say("assistant", "b"))


def _copies(day):
    user, answer = day.say("user", "u"), day.say("assistant", "a")
    day.call("t", "wrapper", [user], answer, at=0)
    thread = day.call("t", "real", [user], answer, at=0.1, parent_span_id="wrapper", response_id="r")
    day.call("t", "copy", [user], answer, at=0.2, response_id="r")
    day.call("t", "two", [*thread, day.say("user", "v")], day.say("assistant", "b"))


def _orphans(day):
    thread = day.run("t", tools=("check",))
    day.call("t", "more", [*thread, day.say("user", "v")], day.say("assistant", "b"), parent_span_id="never arrived")


def _last_asks(day):
    day.call("t", "one", [day.say("user", "u")], day.say("assistant", "", [("c", "check", "{}")]))
    day.span("t", "tool", "tool", tool_call_id="c", tool_name="check", tool_result="ValueError: none")


def _answered_long_ago(day):
    """A prompt that was written anew shows what an older call was answered, and an action after it."""
    user, asked = day.say("user", "u"), day.say("assistant", "", [("c", "check", "{}")])
    day.call("t", "one", [day.say("system", "Monday"), user], asked)
    told = [asked, day.say("tool", "fine", answers="c"), day.say("assistant", "a"), day.say("user", "v")]
    day.call("t", "two", [day.say("system", "Tuesday"), user, *told], day.say("assistant", "b"))


EVERY_DAY = [_retry, _edit, _other_tools, _aside, _copies, _orphans, _last_asks, _answered_long_ago]


@pytest.mark.parametrize("trace", EVERY_DAY)
def test_what_happens_every_day_needs_no_second_look(traffic, trace):
    day = traffic()
    trace(day)
    spans = _linked(day)
    assert _others(spans, day) == []
    assert _both(spans, day).steps.height


def test_several_agents_days_and_traces_of_a_talk_and_wrong_clocks_get_a_second_look(traffic):
    day = traffic()
    user, asked = day.say("user", "u"), day.say("assistant", "", [("c1", "research", "{}")])
    day.span("agents", "boss", "agent", agent="boss")
    day.call("agents", "one", [user], asked, parent_span_id="boss")
    day.span("agents", "tool", "tool", parent_span_id="boss", tool_call_id="c1", tool_name="research")
    day.call("agents", "sub", [user], day.say("assistant", "found"), parent_span_id="tool")
    thread = day.call("talk1", "1", [user], day.say("assistant", "a"), conversation_id="c")
    day.call("talk2", "2", [*thread, day.say("user", "v")], day.say("assistant", "b"), conversation_id="c")
    day.run("days")
    day.spans[-1]["day"] += timedelta(days=1)
    day.run("plain")
    late = day.call("times", "one", [user], day.say("assistant", "a"), at=9)
    day.call("times", "two", [*late, day.say("user", "v")], day.say("assistant", "b"), at=8)
    spans = _linked(day)
    assert _others(spans, day) == ["agents", "days", "talk1", "talk2", "times"]
    assert _both(spans, day).trajectories.height == 6


def test_a_long_trajectory_is_told_in_as_many_ids_as_it_has_messages(traffic):
    """Rows of a call hold what is new in it, so that 200 calls take what 200 calls of short trajectories take."""
    sizes = {}
    for calls in (20, 200):
        day = traffic()
        day.run("t", tools=("check",) * calls)
        spans = _linked(day)
        steps = _both(spans, day).steps
        assert steps["observed"].list.len().sum() + steps.height == 2 * calls + 3
        assert spans["prompt_suffix"].list.len().sum() == calls + 2
        sizes[calls] = steps.drop("tools").estimated_size()
    assert sizes[200] < 11 * sizes[20]
