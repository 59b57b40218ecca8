"""Agent traces as production makes them: every model call repeats its whole history.

    python -m benchmarks.ingest.generate --dialect langsmith --megabytes 500 --seed 7 runs.jsonl

Six applications with system prompts of 2 to 6 kB and 5 to 10 tools; 2 to 40 calls a trajectory (12 on average, gamma);
tool results of 0.2 to 8 kB (log-uniform) as JSON, log lines or prose; 3 % of the calls fail and are tried again. The
same seed gives the same bytes. Traces follow each other in waves of eight, so that a reader cannot count on a trace
being in one piece.
"""

from __future__ import annotations

import argparse
import json
import random
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

WAVE = 8  # trajectories that are written at the same time
SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "ar", "en", "ol")]
START_NS = 1_793_491_200_000_000_000  # 2026-11-01

Message = dict[str, Any]


@dataclass(frozen=True)
class Application:
    """What all trajectories of one product share."""

    name: str
    system: str
    tools: list[dict[str, Any]]


@dataclass(frozen=True)
class Call:
    """One model call of a trajectory, before any dialect."""

    application: Application
    trace: int
    number: int
    prompt: list[Message]
    answer: Message | None  # none: the call failed
    at_ns: int


def main() -> None:
    """Write one file of about the size asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dialect", choices=sorted(DIALECTS), default="langsmith")
    parser.add_argument("--megabytes", type=float, default=500.0, help="of uncompressed JSON lines")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    print(f"{write(options.out, options.dialect, options.megabytes, options.seed):,} calls")


def write(out: Path, dialect: str, megabytes: float, seed: int) -> int:
    """Write `out` as JSON lines of `dialect`; return how many calls it holds."""
    written = calls = 0
    with out.open("wb") as stream:
        for call in trajectories(random.Random(seed)):
            line = json.dumps(DIALECTS[dialect](call), separators=(",", ":")).encode() + b"\n"
            stream.write(line)
            written, calls = written + len(line), calls + 1
            if written >= megabytes * 1e6:
                return calls
    raise AssertionError("trajectories never end")


def trajectories(chance: random.Random) -> Iterator[Call]:
    """Calls without end, those of `WAVE` trajectories mixed."""
    applications = [_application(chance, number) for number in range(6)]
    trace = 0
    while True:
        wave = [_trajectory(chance, chance.choice(applications), trace + n) for n in range(WAVE)]
        trace += WAVE
        while wave:
            running = chance.choice(wave)
            call = next(running, None)
            if call is None:
                wave.remove(running)
            else:
                yield call


def _trajectory(chance: random.Random, application: Application, trace: int) -> Iterator[Call]:
    talk: list[Message] = [{"role": "system", "content": application.system}]
    talk.append({"role": "user", "content": _prose(chance, 40)})
    length = max(2, min(40, round(chance.gammavariate(2.0, 6.0))))
    for number in range(length):
        at_ns = START_NS + trace * 60_000_000_000 + number * 1_500_000_000
        if chance.random() < 0.03:
            yield Call(application, trace, number * 2, list(talk), None, at_ns)
        answer = _answer(chance, application, trace, number, last=number == length - 1)
        yield Call(application, trace, number * 2 + 1, list(talk), answer, at_ns + 500_000_000)
        talk.append(answer)
        for called in answer.get("tool_calls", ()):
            talk.append({"role": "tool", "tool_call_id": called["id"], "content": _result(chance)})


def _answer(chance: random.Random, application: Application, trace: int, number: int, last: bool) -> Message:
    if last:
        return {"role": "assistant", "content": _prose(chance, 60)}
    tool = chance.choice(application.tools)["function"]["name"]
    arguments = json.dumps({"query": _prose(chance, 6), "limit": chance.randrange(1, 50)})
    called = {
        "id": f"call_{trace:06d}{number:03d}",
        "type": "function",
        "function": {"name": tool, "arguments": arguments},
    }
    return {"role": "assistant", "content": _prose(chance, 12), "tool_calls": [called]}


def _application(chance: random.Random, number: int) -> Application:
    tools = []
    for index in range(chance.randint(5, 10)):
        fields = {_word(chance): {"type": "string", "description": _prose(chance, 10)} for _ in range(3)}
        schema = {"type": "object", "properties": fields}
        function = {"name": f"{_word(chance)}_{index}", "description": _prose(chance, 20), "parameters": schema}
        tools.append({"type": "function", "function": function})
    return Application(f"agent_{number}", _prose(chance, chance.randint(350, 1000)), tools)


def _result(chance: random.Random) -> str:
    size = int(200 * 40 ** chance.random())
    kind = chance.randrange(3)
    if kind == 0:
        rows = [
            {"id": chance.randrange(10**6), "name": _word(chance), "note": _prose(chance, 8)}
            for _ in range(size // 90 + 1)
        ]
        return json.dumps({"rows": rows, "total": len(rows)})
    if kind == 1:
        return "\n".join(
            f"2026-11-01T10:00:{n % 60:02d}Z INFO {_word(chance)} {_prose(chance, 8)}" for n in range(size // 80 + 1)
        )
    return _prose(chance, size // 6 + 1)


def _prose(chance: random.Random, words: int) -> str:
    return " ".join(_word(chance) for _ in range(words))


def _word(chance: random.Random) -> str:
    return "".join(chance.choices(SYLLABLES, k=chance.randint(1, 4)))


def _uuid(trace: int, number: int) -> str:
    return str(uuid.UUID(int=(trace << 64) | 0x4000_8000_0000_0000_0000 | number))


def _langsmith(call: Call) -> dict[str, Any]:
    """A run of `wrap_openai`, as `Client.list_runs` gives it."""
    run, trace = _uuid(call.trace, call.number + 1), _uuid(call.trace, 0)
    choice = {
        "index": 0,
        "finish_reason": "tool_calls" if (call.answer or {}).get("tool_calls") else "stop",
        "message": call.answer,
    }
    usage = {"input_tokens": sum(len(m["content"]) for m in call.prompt) // 4, "output_tokens": 50}
    at = datetime.fromtimestamp(call.at_ns // 1_000_000_000, UTC).isoformat(timespec="microseconds")
    return {
        "id": run, "name": "ChatOpenAI", "start_time": at, "end_time": at, "run_type": "llm", "trace_id": trace,
        "parent_run_id": trace, "parent_run_ids": [trace], "session_id": _uuid(0, 7), "tags": [call.application.name],
        "dotted_order": f"20261101T000000000000Z{trace}.{_ordered(call.at_ns)}{run}",
        "status": "success" if call.answer else "error", "error": None if call.answer else "RateLimitError: try again",
        "inputs": {"messages": call.prompt, "model": "gpt-4o-mini", "tools": call.application.tools},
        "outputs": {"id": f"chatcmpl-{run}", "object": "chat.completion", "choices": [choice]} if call.answer else None,
        "extra": {"metadata": {"lc_agent_name": call.application.name, "usage_metadata": usage}},
        "prompt_tokens": usage["input_tokens"], "completion_tokens": usage["output_tokens"],
    }  # fmt: skip


def _ordered(at_ns: int) -> str:
    """A time as LangSmith writes it in front of an id."""
    return datetime.fromtimestamp(at_ns // 1_000_000_000, UTC).strftime("%Y%m%dT%H%M%S000000Z")


def _otlp(call: Call, attributes: dict[str, Any]) -> dict[str, Any]:
    """A request of one span, as the Collector's file exporter writes it."""
    values = [{"key": key, "value": _any_value(value)} for key, value in attributes.items()]
    span = {
        "traceId": f"{call.trace + 1:032x}", "spanId": f"{(call.trace << 12) + call.number + 2:016x}",
        "parentSpanId": f"{(call.trace << 12) + 1:016x}", "name": "chat gpt-4o-mini", "kind": 3,
        "startTimeUnixNano": str(call.at_ns), "endTimeUnixNano": str(call.at_ns + 400_000_000), "attributes": values,
        "status": {} if call.answer else {"code": 2, "message": "RateLimitError"},
    }  # fmt: skip
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": call.application.name}}]}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": {"name": "bench"}, "spans": [span]}]}]}


def _any_value(value: object) -> dict[str, Any]:
    return {"intValue": str(value)} if isinstance(value, int) else {"stringValue": str(value)}


def _otlp_genai(call: Call) -> dict[str, Any]:
    tools = call.application.tools
    attributes = {
        "gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": "gpt-4o-mini",
        "gen_ai.agent.name": call.application.name,
        "gen_ai.input.messages": json.dumps([_parts(message) for message in call.prompt]),
        "gen_ai.tool.definitions": json.dumps([{"type": "function"} | tool["function"] for tool in tools]),
        "gen_ai.usage.input_tokens": sum(len(message["content"]) for message in call.prompt) // 4,
    }  # fmt: skip
    if call.answer:
        attributes["gen_ai.output.messages"] = json.dumps([_parts(call.answer) | {"finish_reason": "stop"}])
    return _otlp(call, attributes)


def _parts(message: Message) -> dict[str, Any]:
    if message["role"] == "tool":
        part = {"type": "tool_call_response", "id": message["tool_call_id"], "response": message["content"]}
        return {"role": "tool", "parts": [part]}
    parts: list[dict[str, Any]] = [{"type": "text", "content": message["content"]}]
    for called in message.get("tool_calls", ()):
        function = called["function"]
        arguments = json.loads(function["arguments"])
        parts.append({"type": "tool_call", "id": called["id"], "name": function["name"], "arguments": arguments})
    return {"role": message["role"], "parts": parts}


def _openinference(call: Call) -> dict[str, Any]:
    attributes: dict[str, Any] = {"openinference.span.kind": "LLM", "llm.model_name": "gpt-4o-mini"}
    attributes |= {f"llm.tools.{n}.tool.json_schema": json.dumps(tool) for n, tool in enumerate(call.application.tools)}
    for index, message in enumerate(call.prompt):
        attributes |= _flat(f"llm.input_messages.{index}.message", message)
    if call.answer:
        attributes |= _flat("llm.output_messages.0.message", call.answer)
    return _otlp(call, attributes)


def _flat(prefix: str, message: Message) -> dict[str, Any]:
    flat = {f"{prefix}.{name}": message[name] for name in ("role", "content", "tool_call_id") if name in message}
    for index, called in enumerate(message.get("tool_calls", ())):
        at = f"{prefix}.tool_calls.{index}.tool_call"
        flat |= {f"{at}.id": called["id"], f"{at}.function.name": called["function"]["name"]}
        flat[f"{at}.function.arguments"] = called["function"]["arguments"]
    return flat


DIALECTS: dict[str, Callable[[Call], dict[str, Any]]] = {
    "langsmith": _langsmith,
    "otlp_genai": _otlp_genai,
    "openinference": _openinference,
}


if __name__ == "__main__":
    main()
