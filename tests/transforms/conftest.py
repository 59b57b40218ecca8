"""A small world of agents: spans and messages as cleaning leaves them, written down by hand."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any

import polars as pl
import pytest

from transforms.credit.outcome import outcome
from transforms.datasets.cut import cut
from transforms.datasets.exported_twice import same_runs
from transforms.datasets.pairs import mine_pairs
from transforms.datasets.persons import first_user_texts, persons
from transforms.datasets.release_spec import ReleaseSpec
from transforms.datasets.rollouts import build_rollouts
from transforms.identity import Identity, extend
from transforms.records import Message, ToolCall
from transforms.rewards.compose import score
from transforms.rewards.gates import apply_gates
from transforms.rewards.spec import GateSpec, RewardSpec
from transforms.trajectories.threads import Threads, build_threads
from warehouse.schemas import FEEDBACK, MESSAGES, SPANS

DAY = date(2026, 11, 30)
START = datetime(2026, 11, 30, 12, tzinfo=UTC)
TOOLS = json.dumps([{"type": "function", "function": {"name": name}} for name in ("check", "refund")])


@dataclass
class Traffic:
    """Spans, messages and feedback of one arrival day; `frames` are the tables."""

    day: date = DAY
    identity: Identity = field(default_factory=lambda: Identity(b"key"))
    spans: list[dict[str, Any]] = field(default_factory=list)
    messages: dict[bytes, dict[str, Any]] = field(default_factory=dict)
    feedback: list[dict[str, Any]] = field(default_factory=list)

    def say(self, role: str, text: str = "", calls: Sequence[tuple[str, str, str]] = (), answers: str = "") -> bytes:
        """A message; `calls` are (id, name, arguments). Returns its id."""
        message = Message(role, text, tool_calls=tuple(ToolCall(*call) for call in calls), tool_call_id=answers)
        message_id = self.identity.message(message)
        self.messages[message_id] = {
            "day": self.day,
            "message_id": message_id,
            "role": role,
            "content": text,
            "tool_calls": json.dumps([dict(zip(("id", "name", "arguments"), c, strict=True)) for c in calls])
            if calls
            else None,
            "tool_call_id": answers or None,
            "altered": False,
        }
        return message_id

    def span(self, trace: str, span: str, kind: str, at: float | None = None, **columns: Any) -> None:
        """A span of any kind; `at` is its start in seconds, by default after all before it."""
        start = START + timedelta(seconds=len(self.spans) if at is None else at)
        self.spans.append({
            "day": self.day, "trace_id": trace, "span_id": span, "file_id": "f", "position": len(self.spans),
            "source": "otlp", "dialect": "otlp_genai", "sequence": str(len(self.spans)), "kind": kind, "name": span,
            "started_at": start, "ended_at": start + timedelta(seconds=0.5), "status": "ok", "attributes": "{}",
            "base_length": 0, "prompt_suffix": [], "prompt_length": 0, "output": [], "content_state": "absent",
            "flags": [], "altered": False,
        } | columns)  # fmt: skip

    def call(self, trace: str, span: str, prompt: Sequence[bytes], output: bytes | None, **columns: Any) -> list[bytes]:
        """A model call. Returns the prompt followed by what it produced."""
        context = b"\0" * 16
        for message in prompt:
            context = extend(context, message)
        known = {
            "prompt_suffix": list(prompt),
            "prompt_length": len(prompt),
            "output": [output] if output else [],
            "context_id": context,
            "result_id": extend(context, output) if output else None,
            "content_state": "full",
            "model": "m",
            "finish_reason": "stop",
            "tools": TOOLS,
            "input_tokens": 10,
            "output_tokens": 2,
        }
        self.span(trace, span, "llm", **known | columns)
        return [*prompt, *([output] if output else [])]

    def run(
        self, trace: str, tools: Sequence[str] = ("check", "refund"), user: str = "", **columns: Any
    ) -> list[bytes]:
        """A whole rollout in one trace: an agent's span, one call a tool, and an answer. Returns all messages."""
        self.span(trace, f"{trace}-agent", "agent", agent="support", **columns)
        child = {"parent_span_id": f"{trace}-agent"}
        thread = [
            self.say("system", "Be kind."),
            self.say("user", user or "My bag is torn, I want my money back please"),
        ]
        for number, tool in enumerate(tools):
            call_id = f"{trace}-{number}"
            asked = self.say("assistant", "", [(call_id, tool, '{"order": 7}')])
            thread = self.call(trace, f"{trace}-{number}", thread, asked, finish_reason="tool_calls", **child)
            self.span(trace, f"{trace}-{number}-tool", "tool", tool_call_id=call_id, tool_name=tool, **child)
            thread = [*thread, self.say("tool", "done", answers=call_id)]
        return self.call(trace, f"{trace}-end", thread, self.say("assistant", f"Done, {trace}."), **child)

    def judge(self, trace: str, score: float | None, key: str = "reward", **columns: Any) -> None:
        """A verdict on a trace."""
        known = {"day": self.day, "feedback_id": f"fb{len(self.feedback)}", "trace_id": trace, "key": key}
        self.feedback.append(known | {"score": score, "annotator": "human"} | columns)

    def frames(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        return SPANS.frame(self.spans), MESSAGES.frame(list(self.messages.values()))

    def verdicts(self) -> pl.DataFrame:
        return FEEDBACK.frame(self.feedback)

    def threads(self) -> Threads:
        return build_threads(*self.frames(), self.identity, self.day)


@dataclass(frozen=True)
class Release:
    """All tables of a release out of one day's traffic."""

    threads: Threads
    rewards: pl.DataFrame
    gates: pl.DataFrame
    cut: pl.DataFrame
    credit: pl.DataFrame
    pairs: pl.DataFrame
    rollouts: pl.DataFrame


def cut_release(day: Traffic, gates: dict[str, Any] | None = None, shuffle: int | None = None, **spec: Any) -> Release:
    """The release of `day`; `shuffle` seeds another order of every input's rows."""

    def mixed(frame: pl.DataFrame) -> pl.DataFrame:
        return frame if shuffle is None else frame.sample(fraction=1, shuffle=True, seed=shuffle)

    (spans, said), threads = day.frames(), day.threads()
    messages = mixed(said)
    trajectories, steps, calls = map(mixed, (threads.trajectories, threads.steps, threads.tool_calls))
    rules = GateSpec.model_validate({"rules": gates or {}})
    broken = mixed(apply_gates(trajectories, steps, calls, rules, mixed(day.verdicts()), messages))
    rewards = mixed(score(trajectories, steps, mixed(day.verdicts()), broken, RewardSpec()))
    wanted = ReleaseSpec.model_validate({"split": {"max_component_share": 1}} | spec)
    about = first_user_texts(threads.steps, messages), persons(threads.steps, messages)
    ran = same_runs(trajectories, steps, mixed(spans))
    chosen = cut("r", trajectories, rewards, broken, *about, wanted, ran)
    credit = outcome("r", mixed(chosen), steps, wanted)
    return Release(
        threads, rewards, broken, chosen, credit,
        mine_pairs("r", mixed(chosen), steps, messages, wanted),
        build_rollouts("r", mixed(chosen), mixed(credit), steps, messages),
    )  # fmt: skip


@pytest.fixture(scope="session")
def release() -> Callable[..., Release]:
    """Cuts a release of a day."""
    return cut_release


@pytest.fixture(scope="session")
def traffic() -> Callable[..., Traffic]:
    """Makes an empty day."""
    return Traffic
