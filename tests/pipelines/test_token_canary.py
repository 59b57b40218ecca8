"""Token ids are text: decoded, those in the lake hold nobody."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from mills import day_of

from assets.mill import Mill
from transforms.tokens import prompt_token_ids
from warehouse.schemas import SPANS

DAY = date(2026, 11, 30)
PERSONAL = "jane.doe@mail.test"
FIRST = 100
"""Id of the first byte: the tokenizer of this test knows bytes only."""


def encode(text: str) -> list[int]:
    return [FIRST + byte for byte in text.encode()]


def decode(ids: list[int] | None) -> str:
    return bytes(one - FIRST for one in ids or []).decode("utf-8", "replace")


def event(number: int, asked: str, answer: str) -> dict[str, Any]:
    prompt, output = encode(asked), encode(answer)
    choice = {"message": {"role": "assistant", "content": answer}, "finish_reason": "stop", "token_ids": output,
              "logprobs": {"content": [{"token": letter, "logprob": -0.5} for letter in answer]}}  # fmt: skip
    response = {"id": f"r{number}", "model": "m", "prompt_token_ids": prompt, "choices": [choice],
                "usage": {"prompt_tokens": len(prompt), "completion_tokens": len(output)}}  # fmt: skip
    request = {"messages": [{"role": "user", "content": asked}]}
    return {"event_type": "model_request", "rollout_id": f"task{number}", "attempt_id": "0", "timestamp": 1796014908.5,
            "data": {"request": request, "response": response, "status": "ok"}}  # fmt: skip


def span(name: str, operation: str, said: dict[str, Any]) -> dict[str, Any]:
    attributes = {"gen_ai.operation.name": operation, **said}
    listed = [{"key": key, "value": {"stringValue": value if isinstance(value, str) else json.dumps(value)}}
              for key, value in attributes.items()]  # fmt: skip
    one = {"traceId": name * 32, "spanId": name * 16, "name": operation, "startTimeUnixNano": "1796014908000000000",
           "endTimeUnixNano": "1796014909000000000", "attributes": listed}  # fmt: skip
    return {"resourceSpans": [{"scopeSpans": [{"spans": [one]}]}]}


def run(number: int, kind: str, ids: list[int]) -> dict[str, Any]:
    """A run of LangSmith with ids in its metadata, where nothing reads them."""
    own = f"{number:08x}-0000-4000-8000-000000000000"
    metadata = {"engine": {"choices": [{"token_ids": ids}], "text": json.dumps({"prompt_token_ids": ids})}}
    return {"id": own, "trace_id": own, "run_type": kind, "name": "work", "status": "success", "inputs": {},
            "outputs": {}, "start_time": "2026-11-30T00:00:00", "end_time": "2026-11-30T00:00:01",
            "extra": {"metadata": metadata}}  # fmt: skip


def documents() -> Iterator[dict[str, Any]]:
    yield event(1, "Who has the blue bag?", "Nobody has it.")
    yield event(2, f"Write to {PERSONAL} please", "Done, it is sent.")
    yield event(3, "Whom shall I write to?", f"Write to {PERSONAL} please")
    told = encode(f"as {PERSONAL} said")
    parts = [{"role": "user", "parts": [{"type": "text", "content": f"as {PERSONAL} said"}]}]
    answered = [{"role": "assistant", "parts": [{"type": "text", "content": "yes"}]}]
    yield span("b", "chat", {"gen_ai.input.messages": parts, "gen_ai.output.messages": answered,
                             "prompt_token_ids": told, "response_token_ids": encode("yes"),
                             "logprobs.content": [-0.1, -0.1, -0.1]})  # fmt: skip
    yield span("c", "invoke_agent", {"response_token_ids": told, "llm.hosted_vllm.choices": [{"token_ids": told}]})
    yield run(1, "chain", told)
    yield run(2, "tool", told)


@pytest.fixture(scope="module")
def mill(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mill]:
    """A lake with one day of calls whose engine logged ids."""
    export = "".join(json.dumps(document) + "\n" for document in documents())
    with day_of(tmp_path_factory.mktemp("tokens"), export, DAY) as mill:
        yield mill


def test_calls_keep_their_tokens_unless_anything_in_them_was_replaced(mill: Mill) -> None:
    spans = mill.lake.scan(SPANS).filter(pl.col("kind") == "llm").sort("trace_id").collect()
    kept = spans.filter(pl.col("token_state") == "kept")
    assert [decode(ids) for ids in kept["output_token_ids"].to_list()] == ["Nobody has it."]
    assert [decode(ids) for ids in prompt_token_ids(spans).values()] == ["Who has the blue bag?"]
    assert sorted(spans["token_state"]) == ["altered", "altered", "altered", "kept"]


def test_no_ids_in_the_home_are_those_of_a_person(mill: Mill) -> None:
    files = list(Path(mill.home.root).rglob("*.parquet"))
    assert files
    spelled = [json.dumps(encode(PERSONAL[:6]))[1:-1], json.dumps(encode(PERSONAL[:6]), separators=(",", ":"))[1:-1]]
    lists = 0
    for path in files:
        frame = pl.read_parquet(path)
        for column in frame:
            text = str(column.to_list())
            assert PERSONAL not in text
            assert not any(digits in text for digits in spelled), column.name
            if isinstance(column.dtype, pl.List) and column.dtype.inner.is_integer():
                lists += column.drop_nulls().len()
                assert PERSONAL not in "".join(map(decode, column.to_list()))
    assert lists
