"""A lake of clean spans and messages, made directly in the schema: what threading has to work on.

Traces as a LangGraph agent leaves them: an agent's span, a chain's span around each model call, tool spans beside it.
A fifth of the calls ask for two tools at once; 3 % of the calls fail and are tried again; 0.5 % of the model spans
come a second time under another id, and 0.5 % of the traces arrive on two days; of 0.5 % of the chains the span never
arrived. Ids are random, so that rows stand in no order. The same seed gives the same tables.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from itertools import islice
from typing import Any

import polars as pl

from transforms.contexts import link_rows
from transforms.payloads import to_json
from warehouse.schemas import MESSAGES, SPANS

Row = dict[str, Any]

DAY, BEFORE = date(2026, 11, 30), date(2026, 11, 29)
START = datetime(2026, 11, 30, tzinfo=UTC)
CHUNK = 500  # traces that become columns at a time
FAILED, TWICE, AGAIN, LOST, PARALLEL = 0.03, 0.005, 0.005, 0.005, 0.2
APPLICATIONS = 6


def tables(spans: int, calls: int, seed: int = 7) -> dict[date, tuple[pl.DataFrame, pl.DataFrame]]:
    """About `spans` spans of traces with `calls` model calls each, and their messages, by day of arrival."""
    world = _World(random.Random(seed), calls)
    traces = world.traces()
    made: dict[date, tuple[list[pl.DataFrame], list[pl.DataFrame]]] = {DAY: ([], []), BEFORE: ([], [])}
    count = 0
    while count < spans:
        rows: dict[date, tuple[list[Row], list[Row]]] = {DAY: ([], []), BEFORE: ([], [])}
        for trace, messages in islice(traces, max(1, min(CHUNK, (spans - count) // (3 * calls)))):
            count += len(trace)
            days = (DAY, BEFORE) if world.chance.random() < AGAIN else (DAY,)
            for day in days:
                rows[day][0].extend(link_rows(span | {"day": day} for span in trace))
                rows[day][1].extend(message | {"day": day} for message in messages)
        for day, (of_spans, of_messages) in rows.items():
            made[day][0].append(SPANS.part(of_spans))
            made[day][1].append(MESSAGES.part(of_messages))
    return {
        day: (SPANS.enforce(pl.concat(one)), MESSAGES.enforce(pl.concat(other).unique("message_id", keep="first")))
        for day, (one, other) in made.items()
    }


class _World:
    """Everything that is drawn by chance."""

    def __init__(self, chance: random.Random, calls: int) -> None:
        self.chance, self.calls = chance, calls
        self._prose = " ".join(self._word() for _ in range(60_000))
        self._systems = [self._message("system", self._text(3000)) for _ in range(APPLICATIONS)]
        self._tools = [to_json([self._tool(n) for n in range(7)]) for _ in range(APPLICATIONS)]

    def traces(self) -> Iterator[tuple[list[Row], list[Row]]]:
        """Spans with whole prompts, and messages, of one trace after the other."""
        number = 0
        while True:
            number += 1
            yield self._trace(number)

    def _trace(self, number: int) -> tuple[list[Row], list[Row]]:
        application = self.chance.randrange(APPLICATIONS)
        trace, root = self._uuid(), self._uuid()
        at = START + timedelta(milliseconds=self.chance.randrange(80_000_000))
        spans = [self._span(trace, root, None, "agent", "graph", at, agent=f"agent_{application}")]
        talk = [self._systems[application], self._message("user", self._text(250))]
        said = list(talk)
        for call in range(self.calls):
            at += timedelta(milliseconds=self.chance.randrange(800, 3000))
            chain = self._uuid()
            if self.chance.random() >= LOST:
                spans.append(self._span(trace, chain, root, "chain", "model", at))
            asked = self._asked(number, call, application) if call < self.calls - 1 else []
            answer = self._message("assistant", self._text(90), tool_calls=to_json(asked) if asked else None)
            said.append(answer)
            attempts = [None, answer] if self.chance.random() < FAILED else [answer]
            for output in attempts:
                at += timedelta(milliseconds=7)
                spans.append(self._call(trace, chain, at, talk, output, self._tools[application]))
            if self.chance.random() < TWICE:
                spans.append(spans[-1] | {"span_id": self._uuid(), "started_at": at + timedelta(milliseconds=3)})
            talk.append(answer)
            for tool in asked:
                result = self._message("tool", self._result(), tool_call_id=tool["id"])
                said.append(result)
                talk.append(result)
                spans.append(self._span(
                    trace, self._uuid(), root, "tool", tool["name"], at, tool_call_id=tool["id"],
                    tool_name=tool["name"], tool_arguments=tool["arguments"], tool_result=result["content"],
                ))  # fmt: skip
        return spans, said

    def _asked(self, number: int, call: int, application: int) -> list[dict[str, str]]:
        return [
            {
                "id": f"call_{number:07d}{call:03d}{place}",
                "name": f"tool_{application}_{self.chance.randrange(7)}",
                "arguments": json.dumps({"query": self._text(40), "limit": self.chance.randrange(50)}),
            }
            for place in range(1 + (self.chance.random() < PARALLEL))
        ]

    def _call(self, trace: str, chain: str, at: datetime, talk: list[Row], output: Row | None, tools: str) -> Row:
        span = self._span(
            trace, self._uuid(), chain, "llm", "ChatOpenAI", at, prompt=[message["message_id"] for message in talk],
            status="error", error_type="RateLimitError", model="gpt-4o-mini", provider="openai", tools=tools,
            input_tokens=150 * len(talk), content_state="full",
        )  # fmt: skip
        return span | {
            "status": "ok", "error_type": None, "response_id": f"chatcmpl-{span['span_id'][:8]}", "output_tokens": 30,
            "output": [output["message_id"]], "finish_reason": "tool_calls" if output["tool_calls"] else "stop",
        } if output else span  # fmt: skip

    def _span(self, trace: str, span: str, parent: str | None, kind: str, name: str, at: datetime, **told: Any) -> Row:
        return {
            "trace_id": trace, "span_id": span, "parent_span_id": parent, "file_id": "f" * 64, "position": 0,
            "source": "langsmith", "dialect": "langsmith", "dataset": "production", "kind": kind, "name": name,
            "started_at": at,
            "sequence": f"{at:%Y%m%dT%H%M%S%f}Z{span}", "ended_at": at + timedelta(milliseconds=600), "status": "ok",
            "attributes": "{}", "prompt": [], "output": [], "content_state": "absent", "flags": [], "altered": False,
        } | told  # fmt: skip

    def _message(self, role: str, content: str, **told: Any) -> Row:
        return {"message_id": self.chance.randbytes(16), "role": role, "content": content, "altered": False} | told

    def _tool(self, number: int) -> dict[str, Any]:
        schema = {"type": "object", "properties": {"query": {"type": "string", "description": self._text(200)}}}
        return {"type": "function", "function": {"name": f"tool_{number}", "parameters": schema}}

    def _result(self) -> str:
        text = self._text(int(100 * 8 ** self.chance.random()))
        return json.dumps({"rows": text}) if self.chance.random() < 0.5 else text

    def _text(self, length: int) -> str:
        start = self.chance.randrange(len(self._prose) - length)
        return self._prose[start : start + length]

    def _word(self) -> str:
        return "".join(self.chance.choices("abdefgiklmnoprstuvz", k=self.chance.randint(2, 8)))

    def _uuid(self) -> str:
        digits = f"{self.chance.getrandbits(128):032x}"
        return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
