"""Reads what LangSmith runs of models and tools hold: payloads of wrappers, LangChain and traced functions."""

from __future__ import annotations

import ast
import json
import warnings
from typing import Any

from transforms.readers import gemini
from transforms.readers.calls import content_state, finish_reason, read_parameters, read_tools, read_usage
from transforms.readers.decoding import decode
from transforms.readers.messages import is_pair, plain, read_message, with_system
from transforms.readers.parts import result_text
from transforms.readers.responses import is_items, join_fragments, read_items
from transforms.readers.seen import Seen
from transforms.readers.tokens import fill_from_answer
from transforms.readers.values import first_text, json_text, listing, mapping, text
from transforms.records import Message, Span

ENDS = ("stop_reason", "finish_reason", "stopReason", "finishReason", "done_reason")
"""Where answers and their metadata say why they end."""

LONGEST_REPR = 100_000
"""Characters of a Python literal that are evaluated at most."""


def fill_call(span: Span, fields: dict[str, Any], seen: Seen) -> None:
    """Prompt, output, tools and counts of a model's run."""
    inputs, outputs = fields.get("inputs"), fields.get("outputs")
    extra = mapping(fields.get("extra"))
    metadata, request = metadata_of(fields), mapping(extra.get("invocation_params"))
    asked = mapping(inputs)
    odd: set[str] = set()
    span.prompt = read_prompt(inputs, odd, seen)
    span.output = _known_output(outputs, odd, seen) or read_output(outputs, odd)
    if span.status == "error" and not any(message.content or message.tool_calls for message in span.output):
        span.output = []  # LangChain writes an empty message where the provider refused
    answer = _answer(outputs)
    said = mapping(answer.get("response_metadata"))
    result = mapping(outputs)
    of_all = mapping(result.get("llm_output") or result.get("llmOutput"))
    config = mapping(asked.get("config") or asked.get("model_parameters"))  # Gemini's, LiteLLM's
    span.provider = first_text(metadata, "ls_provider") or first_text(said, "model_provider")
    span.model = (
        first_text(result, "model") or first_text(said, "model_name", "model")
        or first_text(of_all, "model_name", "model") or first_text(asked, "model")
        or first_text(request, "model", "model_name") or first_text(metadata, "ls_model_name")
    )  # fmt: skip
    span.response_id = _response_id(result, said, answer)
    span.tools = seen.tools(
        asked.get("tools") or request.get("tools") or request.get("functions") or asked.get("functions")
        or mapping(asked.get("toolConfig")).get("tools") or config.get("tools")
    )  # fmt: skip
    if "config" in asked or "contents" in asked:
        span.tools = read_tools(gemini.tools(asked)) or span.tools
    hinted = {
        name.removeprefix("ls_"): metadata[name] for name in metadata.keys() & {"ls_temperature", "ls_max_tokens"}
    }
    span.parameters = read_parameters(asked, config, request, mapping(metadata.get("ls_invocation_params")), hinted)
    span.finish_reason = _finish(result, said, span.output)
    usage = read_usage(
        result.get("usage_metadata"), answer.get("usage_metadata"), result.get("usage"), of_all.get("token_usage"),
        of_all.get("tokenUsage"), said.get("token_usage"), said.get("tokenUsage"), said.get("usage"),
        metadata.get("usage_metadata"), result,
        {"input_tokens": fields.get("prompt_tokens") or None, "output_tokens": fields.get("completion_tokens") or None},
    )  # fmt: skip
    span.input_tokens, span.output_tokens = usage.input, usage.output
    span.cache_read_tokens, span.reasoning_tokens = usage.cache_read, usage.reasoning
    unread = result.get("output", outputs) if span.prompt else inputs
    if not inputs and mapping(fields.get("inputs_s3_urls")):
        odd.add("payload_elsewhere")
    span.content_state = content_state(span, odd, lambda: bool(unread))
    span.flags += sorted(odd)
    fill_from_answer(span, result, said)


def metadata_of(fields: dict[str, Any]) -> dict[str, Any]:
    """What users and frameworks attached to a run."""
    return mapping(mapping(fields.get("extra")).get("metadata") or fields.get("metadata"))


def fill_tool(span: Span, fields: dict[str, Any]) -> None:
    """Arguments and result of a tool's run, and the call it answers."""
    extra = mapping(fields.get("extra"))
    inputs, outputs = fields.get("inputs"), fields.get("outputs")
    odd: set[str] = set()
    result = mapping(outputs).get("output") if mapping(outputs).keys() == {"output"} else outputs
    shaped = plain(_of_command(result)) if isinstance(result, dict) else {}
    is_message = "tool_call_id" in shaped or shaped.get("type") == "tool"
    span.tool_name = first_text(shaped, "name") if is_message and not span.name else span.name
    span.tool_call_id = (
        first_text(extra, "tool_call_id") or first_text(mapping(extra.get("metadata")), "tool_call_id")
        or first_text(shaped, "tool_call_id")
    )  # fmt: skip
    span.tool_arguments = _arguments(inputs)
    span.tool_result = result_text(shaped.get("content") if is_message else (result or None), odd)
    if is_message and shaped.get("status") == "error":
        span.status = "error"
    span.content_state = "redacted" if "redacted" in odd else ("full" if inputs or outputs else "absent")


def _of_command(result: dict[str, Any]) -> dict[str, Any]:
    """The answer in a command of LangGraph, which updates the state with it; any other result as it is."""
    said = mapping(result.get("update")).get("messages")
    return next((item for item in listing(said) if "tool_call_id" in plain(mapping(item))), result)


def read_prompt(inputs: Any, odd: set[str], seen: Seen) -> list[Message]:
    """Messages that a model was shown, from the inputs of its run."""
    fields = mapping(inputs)
    if "messages" in fields:
        said = _first_batch(fields["messages"], odd)
    elif "input" in fields:
        said = fields["input"]
        odd.update({"history_elsewhere"} if fields.get("previous_response_id") else ())
    elif "prompts" in fields:
        said = _first_batch([[prompt] for prompt in listing(fields["prompts"])], odd)
    else:
        said = gemini.prompt(fields) if gemini.is_request(fields) else fields.get("prompt") or []
    messages = read_items(said, odd) if seen.of_responses(said) else seen.read(said, odd)
    instructions = fields.get("instructions") or fields.get("system")
    if not instructions and "config" in fields:
        instructions = gemini.instructions(fields)
    return with_system(messages, instructions, odd)


def read_output(outputs: Any, odd: set[str]) -> list[Message]:
    """Messages that a model produced, from the outputs of its run; the first is the one that counts."""
    if isinstance(outputs, str | list):
        return read_message(outputs, odd, "assistant") if outputs else []
    fields = mapping(outputs)
    if "generations" in fields:
        return _generations(listing(fields["generations"]), odd)
    if "choices" in fields:
        return [message for choice in listing(fields["choices"]) for message in _choice(mapping(choice), odd)]
    if is_items(fields.get("output")):
        return read_items(fields["output"], odd)
    if gemini.is_answer(fields):
        return read_message(gemini.output(fields), odd, "assistant")
    if "role" in fields or "lc" in fields or (fields.get("content") is not None and "output" not in fields):
        return read_message(fields, odd, "assistant")
    if isinstance(fields.get("messages"), list) and fields.get("message") is None:
        return join_fragments(read_output(fields["messages"], odd))  # one answer, written piece by piece
    for name in ("message", "messages", "output"):
        if fields.get(name) is not None:
            return read_output(fields[name], odd)
    return []


def _first_batch(messages: Any, odd: set[str]) -> Any:
    """LangChain's list of prompts is one prompt, unless somebody calls a model in batches."""
    batches = listing(messages)
    if not batches or not all(isinstance(batch, list) for batch in batches) or all(map(is_pair, batches)):
        return messages
    if len(batches) > 1:
        odd.add("batch")
    return batches[0]


def _generations(batches: list[Any], odd: set[str]) -> list[Message]:
    candidates = listing(batches[0]) if batches and isinstance(batches[0], list) else batches
    messages: list[Message] = []
    for candidate in map(mapping, candidates):
        if isinstance(candidate.get("message"), dict):
            messages += read_message(candidate["message"], odd, "assistant")
        elif isinstance(candidate.get("text"), str):
            messages.append(Message("assistant", candidate["text"]))
    return messages


def _known_output(outputs: Any, odd: set[str], seen: Seen) -> list[Message]:
    """The only message of a completion, read together with its echo in the next prompt; nothing for other outputs."""
    choices = listing(mapping(outputs).get("choices"))
    said = mapping(choices[0]).get("message") if len(choices) == 1 else None
    is_known = isinstance(said, dict) and said.get("role") == "assistant" and "generations" not in outputs
    return seen.read([said], odd) if is_known else []


def _choice(choice: dict[str, Any], odd: set[str]) -> list[Message]:
    said = choice.get("message") or choice.get("delta")
    if said is None and isinstance(choice.get("text"), str):
        return [Message("assistant", choice["text"])]
    return read_message(said, odd, "assistant")


def _answer(outputs: Any) -> dict[str, Any]:
    """Fields of the first message produced, where LangChain keeps counts and reasons."""
    fields = mapping(outputs)
    batch = (listing(fields.get("generations"))[:1] or [None])[0]
    first = mapping((batch[:1] or [None])[0] if isinstance(batch, list) else batch)
    message = first.get("message") or fields.get("message") or fields.get("output") or fields
    info = mapping(first.get("generation_info") or first.get("generationInfo"))
    answer = plain(message) if isinstance(message, dict) else {}
    return {**answer, "response_metadata": {**info, **mapping(answer.get("response_metadata"))}}


def _response_id(result: dict[str, Any], said: dict[str, Any], answer: dict[str, Any]) -> str:
    named = first_text(result, "id") or first_text(said, "id") or first_text(answer, "id")
    return "" if named.startswith(("lc_run-", "run-")) else named


def _finish(result: dict[str, Any], said: dict[str, Any], output: list[Message]) -> str:
    choices = listing(result.get("choices") or result.get("candidates"))
    reason = ""
    for told in (mapping(choices[0]) if choices else {}, result, said):
        for name in ENDS:
            if not reason and (ended := told.get(name)):
                reason = finish_reason(ended)
    if not reason and (status := result.get("status") or said.get("status")):
        details = mapping(result.get("incomplete_details") or said.get("incomplete_details"))
        reason = finish_reason(details.get("reason")) or finish_reason(status)
    return "tool_calls" if reason == "stop" and output and output[0].tool_calls else reason


def _arguments(inputs: Any) -> str:
    """Arguments as JSON text; old LangChain writes the dictionary as Python does."""
    only = inputs["input"] if isinstance(inputs, dict) and inputs.keys() == {"input"} else None
    if isinstance(only, str) and only.lstrip().startswith("{") and len(only) <= LONGEST_REPR:
        try:
            return only if isinstance(json.loads(only), dict) else json_text(inputs)
        except RecursionError:
            return only
        except ValueError:
            return as_json(only)
    return text(inputs) if inputs is not None else ""


def as_json(written: str) -> str:
    """JSON of what Python wrote, else the text itself. Escapes may stand for what no JSON of ours holds."""
    try:
        with warnings.catch_warnings(action="ignore"):  # Python would quote an escape that it does not know
            value = ast.literal_eval(written)
        return json_text(decode(json.dumps(value), set()))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return written
