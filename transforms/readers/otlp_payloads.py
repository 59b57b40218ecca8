"""Reads spans that hold what went into a model or tool, and what came out, as JSON of somebody else's making."""

from __future__ import annotations

from typing import Any

from transforms.readers.decoding import decode
from transforms.readers.nested import opened
from transforms.readers.otlp_conventions import roles_in_text
from transforms.readers.responses import is_items
from transforms.readers.values import listing, mapping, text

PAYLOADS = (
    ("otlp_langfuse", "langfuse.observation.input", "langfuse.observation.output"),
    ("otlp_mlflow", "mlflow.spanInputs", "mlflow.spanOutputs"),
    ("otlp_langsmith", "gen_ai.prompt", "gen_ai.completion"),
    ("otlp_logfire", "request_data", "response_data"),
    ("otlp_openinference", "input.value", "output.value"),
    ("otlp_traceloop", "traceloop.entity.input", "traceloop.entity.output"),
)
"""Dialect, and the attributes of what went in and what came out; the first pair that is there counts."""

ENCODED = frozenset({"otlp_mlflow", "otlp_traceloop", "otlp_langsmith"})
"""Dialects that encode text as JSON, too."""


def read_run(said: dict[str, Any], odd: set[str]) -> tuple[str, dict[str, Any]]:
    """The dialect, and a call as a run of LangSmith, whose payloads are the same; empty where there is none."""
    for dialect, asked, answered in PAYLOADS:
        if said.get(asked) is None and said.get(answered) is None:
            continue
        inputs, outputs = _structured(said.get(asked), odd), _structured(said.get(answered), odd)
        if dialect == "otlp_langsmith":
            odd |= roles_in_text(inputs)
        return dialect, {"inputs": _inputs(inputs), "outputs": _outputs(outputs)}
    return "", {}


def read_tool_run(said: dict[str, Any], odd: set[str]) -> tuple[str, dict[str, Any]]:
    """The same for a tool's span; arguments and results that are text stay as they are."""
    for dialect, asked, answered in PAYLOADS:
        if said.get(asked) is None and said.get(answered) is None:
            continue
        given, result = said.get(asked), said.get(answered)
        if dialect in ENCODED:
            given, result = opened(given, set()), _once(result)
        return dialect, {"inputs": arguments_of(given), "outputs": result_of(result)}
    return "", {}


def arguments_of(value: Any) -> Any:
    """Arguments of a call, out of what decorators and LangChain put around them."""
    found = _structured(value, set()) if isinstance(value, str) and WRAPPED & _keys(value) else value
    if not isinstance(found, dict):
        return value
    if found.keys() <= {"args", "kwargs"} and not found.get("args"):
        return found.get("kwargs", {})
    if "input_str" in found:
        return found["inputs"] if isinstance(found.get("inputs"), dict) else {"input": found["input_str"]}
    return found


def result_of(value: Any) -> Any:
    """What a tool gave back, out of a message or an object that holds nothing else."""
    if not (isinstance(value, str) and value.startswith(MESSAGES)):
        return value
    found = _structured(value, set())
    if value.startswith(CONTENT) and "tool_call_id" not in mapping(found):
        return value
    if isinstance(found, list):
        return found if all(mapping(part).keys() == {"text"} for part in found) else value
    if isinstance(mapping(found).get("output"), dict):
        return {"output": found["output"]}
    return value if found is None else found


WRAPPED = frozenset({"input_str", "kwargs"})
CONTENT = ('{"content":', '{"content" :')
MESSAGES = (*CONTENT, '{"output": {', '{"output":{', '{"type": "tool"', '{"type":"tool"', '{"lc":', '[{"text":')


def _keys(value: str) -> set[str]:
    return {key for key in WRAPPED if f'"{key}"' in value[:LOOKED_AT]}


LOOKED_AT = 256
"""Characters in which a wrapper shows itself."""


def _once(value: Any) -> Any:
    """A text that was encoded as JSON, as it was; objects stay text, since a tool gives back text."""
    if not isinstance(value, str) or not value.startswith('"'):
        return value
    try:
        found = decode(value, set())
    except ValueError:
        return value
    return found if isinstance(found, str) else value


def _structured(value: Any, odd: set[str]) -> Any:
    """An object or list that came as JSON text; any other text is what was said."""
    if isinstance(value, str) and value.lstrip().startswith(("{", "[", '"')):
        return opened(value, odd)
    return value


def _inputs(value: Any) -> Any:
    if isinstance(value, list):
        return {"messages": value}
    if isinstance(value, str):
        return {"prompt": value}
    fields = mapping(value)
    if isinstance(fields.get("inputs"), dict):
        return fields["inputs"]
    if fields.keys() <= {"args", "kwargs"} and isinstance(fields.get("kwargs"), dict):
        return fields["kwargs"]
    return {"messages": [fields]} if "role" in fields else fields


def _outputs(value: Any) -> Any:
    if isinstance(value, list):
        return {"output": value} if is_items(value) else {"messages": value}
    fields = mapping(value)
    if isinstance(fields.get("outputs"), dict | list):
        return _outputs(fields["outputs"])
    if "combined_chunk_content" in fields and not listing(fields.get("choices")) and "message" not in fields:
        return {"role": "assistant", "content": text(fields["combined_chunk_content"])}
    return value
