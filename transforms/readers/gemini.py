"""Puts requests and answers of Google's Gemini API into the shapes that `messages` reads."""

from __future__ import annotations

from typing import Any

from transforms.readers.values import listing, mapping

TYPES = frozenset({"STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"})


def is_request(fields: dict[str, Any]) -> bool:
    """Whether an object is a request to the API."""
    return "contents" in fields and not {"messages", "input"} & fields.keys()


def is_answer(fields: dict[str, Any]) -> bool:
    """Whether an object is an answer, or a candidate out of one."""
    return "parts" in mapping(_candidate(fields).get("content"))


def prompt(request: dict[str, Any]) -> list[dict[str, Any]]:
    """Messages of a request, the instructions in front."""
    told = _instructions(request)
    contents = request["contents"]
    spoken = contents if isinstance(contents, list) else [contents]
    system = [{**_message(told), "role": "system"}] if told else []
    return [*system, *map(_message, spoken)]


def instructions(request: dict[str, Any]) -> Any:
    """What a request tells the model beside its contents, as content of a message; nothing where it does not."""
    told = _message(_instructions(request))
    return told.get("parts") or told.get("content")


def _instructions(request: dict[str, Any]) -> Any:
    holders = (mapping(request.get("config")), request)
    names = ("system_instruction", "systemInstruction")
    return next((held[name] for held in holders for name in names if held.get(name)), None)


def tools(request: dict[str, Any]) -> list[Any]:
    """Functions that a request offers."""
    offered = mapping(request.get("config")).get("tools") or request.get("tools")
    return [
        {**function, "parameters": _schema(function["parameters"])} if "parameters" in function else function
        for tool in map(mapping, listing(offered))
        for function in map(mapping, listing(tool.get("function_declarations") or tool.get("functionDeclarations")))
    ]


def output(answer: dict[str, Any]) -> dict[str, Any]:
    """The message of an answer, with the reason why it ended."""
    candidate = _candidate(answer)
    reason = candidate.get("finish_reason") or candidate.get("finishReason")
    return {**_message(candidate.get("content")), "role": "assistant", "finish_reason": reason}


def _schema(value: Any) -> Any:
    """A schema in JSON Schema's words: Google's has its types in capitals."""
    if isinstance(value, list):
        return [_schema(item) for item in value]
    if not isinstance(value, dict):
        return value
    shaped = {key: _schema(item) for key, item in value.items()}
    if isinstance(value.get("type"), str) and value["type"] in TYPES:
        shaped["type"] = value["type"].lower()
    return shaped


def _candidate(answer: dict[str, Any]) -> dict[str, Any]:
    return mapping(next(iter(listing(answer.get("candidates"))), None)) or answer


def _message(content: Any) -> dict[str, Any]:
    fields = mapping(content)
    if not isinstance(fields.get("parts"), list):
        return {"role": "user", "content": content}
    return {"role": fields.get("role") or "user", "parts": fields["parts"]}
