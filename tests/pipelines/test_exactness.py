"""What an export says is what the lake holds, to the character: what typed frames and inferred schemas get wrong.

Readers that hand JSON to a frame infer its types from the first rows: keys that come later vanish, 1.0 becomes 1, "1"
and 1 become one, an object becomes text, a tab or a backslash is unescaped once more. Nothing of it may happen here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date
from typing import Any

import polars as pl
import pytest
from mills import day_of

from assets.mill import Mill
from warehouse.schemas import MESSAGES, SPANS

DAY = date(2026, 11, 30)
PADDING = 30_000
"""Lines before the ones that hold what no sample of the beginning shows."""

TRACE = "%08x-0000-4000-8000-000000000000"
SAID = 'tab\there, back\\slash, \\n and \\t as two characters each, \U0001f600, 한국어, quote " and \u2028 end'
MIXED = ['"1"', "1", "1.0", "true", "null", '"true"', '"null"', '"1.0"', '{"a": 1.0}', '[1, "1", 1.0, null]', "-0.0",
         "0.1", "1e-7", str(2**53 + 1), str(2**70), '""', "{}", "[]"]  # fmt: skip
LATE = '{"late": {"deep": [{"er": {"key": "found", "one": 1.0, "gone": null}}]}}'
ARGUMENTS = '{"x": 1.0, "big": 1180591620717411303424, "far": 1e400, "path": "C:\\\\new\\ttab", "x": 2,  "y":[ ]}'


def run(number: int, kind: str, inputs: str, outputs: str, metadata: str = "{}") -> str:
    trace = TRACE % number
    root = TRACE % max(number, PADDING - 1)
    return (
        f'{{"id": "{trace}", "trace_id": "{root}", "name": "work", "run_type": "{kind}", "status": "success", '
        f'"dotted_order": "20261130T000000{number % 10**6:06d}Z{trace}", "start_time": "2026-11-30T00:00:00+00:00", '
        f'"end_time": "2026-11-30T00:00:01+00:00", "extra": {{"metadata": {metadata}}}, '
        f'"inputs": {inputs}, "outputs": {outputs}}}\n'
    )


def call(number: int, said: str, arguments: str = "{}", metadata: str = "{}", tools: str = "[]") -> str:
    asked = json.dumps(arguments)
    message = f'{{"role": "assistant", "content": null, "tool_calls": [{{"id": "call_{number}", "type": "function", "function": {{"name": "work", "arguments": {asked}}}}}]}}'  # noqa: E501
    inputs = f'{{"messages": [{{"role": "user", "content": {said}}}], "tools": {tools}}}'
    return run(number, "llm", inputs, f'{{"choices": [{{"message": {message}}}]}}', metadata)


def lines() -> Iterator[str]:
    tools = (
        '[{"type": "function", "function": {"name": "work", "parameters": {"type": "object", "properties": '
        '{"x": {"type": "number", "default": 1.0, "maximum": 1180591620717411303424}}}}}]'
    )
    for number in range(PADDING - 1_000):
        yield f'{{"resourceMetrics": [{number}]}}\n'  # holds nothing by design, and is quickly read
    for number in range(1_000):
        yield run(number, "chain", "{}", "{}")
    yield call(PADDING, json.dumps(SAID), ARGUMENTS, LATE, tools)
    yield call(PADDING + 1, r'"pair \ud83d\ude00, half \ud83d, nul \u0000 end"', "{}", '{"far": 1e400, "near": 1.5}')
    yield run(PADDING + 2, "tool", LATE, '{"output": {"rows": [[1.0, "1", 1, null, true, {}]], "text": "a\\tb\\\\c"}}')
    for number, value in enumerate(MIXED):
        yield run(PADDING + 10 + number, "chain", "{}", "{}", f'{{"value": {value}}}')


@pytest.fixture(scope="module")
def mill(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mill]:
    """A lake with one day of the crafted export."""
    export = "".join(lines())
    with day_of(tmp_path_factory.mktemp("exact"), export, DAY) as mill:
        yield mill


def compact(written: str) -> str:
    """The same JSON without blanks, as the lake writes what it holds of objects."""
    return json.dumps(json.loads(written), ensure_ascii=False, separators=(",", ":"))


def span(mill: Mill, number: int) -> dict[str, Any]:
    (row,) = mill.lake.scan(SPANS).filter(pl.col("span_id") == TRACE % number).collect().to_dicts()
    return row


def prompt_of(mill: Mill, number: int) -> str:
    row = span(mill, number)
    messages = mill.lake.scan(MESSAGES).filter(pl.col("message_id") == row["prompt_suffix"][0]).collect()
    return str(messages["content"][0])


def test_text_is_kept_to_the_character(mill: Mill) -> None:
    assert prompt_of(mill, PADDING) == SAID


def test_arguments_are_the_text_that_the_model_wrote(mill: Mill) -> None:
    row = span(mill, PADDING)
    messages = mill.lake.scan(MESSAGES).filter(pl.col("message_id") == row["output"][0]).collect()
    (written,) = json.loads(messages["tool_calls"][0])
    assert written == {"id": f"call_{PADDING}", "name": "work", "arguments": ARGUMENTS}


def test_keys_that_come_after_thirty_thousand_lines_are_there(mill: Mill) -> None:
    assert span(mill, PADDING)["attributes"] == compact(LATE)
    assert span(mill, PADDING + 2)["tool_arguments"] == LATE


def test_a_column_of_many_types_keeps_each(mill: Mill) -> None:
    for number, value in enumerate(MIXED):
        assert span(mill, PADDING + 10 + number)["attributes"] == compact(f'{{"value": {value}}}'), value


def test_schemas_of_tools_keep_their_numbers(mill: Mill) -> None:
    (tool,) = json.loads(span(mill, PADDING)["tools"])
    assert json.dumps(tool["function"]["parameters"]["properties"]["x"]) == (
        '{"type": "number", "default": 1.0, "maximum": 1180591620717411303424}'
    )


def test_a_result_that_is_an_object_is_its_json(mill: Mill) -> None:
    assert span(mill, PADDING + 2)["tool_result"] == ('{"rows":[[1.0,"1",1,null,true,{}]],"text":"a\\tb\\\\c"}')


def test_what_no_value_can_hold_is_told_by_flags(mill: Mill) -> None:
    assert prompt_of(mill, PADDING + 1) == "pair \U0001f600, half \ufffd, nul  end"
    row = span(mill, PADDING + 1)
    assert row["attributes"] == '{"far":null,"near":1.5}'
    assert row["flags"] == ["lone_surrogates", "nonfinite", "nul_characters"]
    assert span(mill, PADDING)["flags"] == []


def test_every_line_is_a_row(mill: Mill) -> None:
    assert mill.lake.scan(SPANS).select(pl.len()).collect().item() == 1_000 + 3 + len(MIXED)
