"""Which task a rollout is an attempt at: the export's own id, else the masked prompt and the tools."""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from transforms.identity import Identity
from transforms.privacy.coined import ENDINGS, is_coined

# What may be a coined name, so that not every word has to be looked up.
_MAYBE_COINED = re.compile(rf"\b[^\W\d_]+(?:{'|'.join(ENDINGS)})\b|[가-힣]+")
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_MASKS = (
    (re.compile(r"\[[a-z0-9_]+_[0-9a-f]{12}\]"), "#"),  # surrogates that are tags
    (re.compile(r"[\w.+-]+@[\w.-]+"), "#"),  # e-mail addresses
    (re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"), "#"),
    (re.compile(rf"\b{_MONTH}\s+(?=\d)|(?<=\d)\s+{_MONTH}(?!\w)"), "#"),
    (re.compile(r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b"), "#"),
    (re.compile(r"\b\w*\d\w*\b"), "#"),  # numbers, and words that hold one
    (re.compile(r"#(?:[\s.,:/+()#-]*#)+"), "#"),
)


@dataclass(frozen=True, slots=True)
class Task:
    """The group of a rollout."""

    task_id: str
    family: str
    rule: str


@lru_cache(maxsize=1024)  # system messages recur in every rollout
def mask(text: str) -> str:
    """`text` without what differs between two attempts at one kind of task.

    Case, spacing, numbers, dates, uuids, e-mail addresses and surrogates become one sign each, so that
    two prompts from one template are equal.
    """
    text = unicodedata.normalize("NFKC", text).casefold()
    text = _MAYBE_COINED.sub(lambda word: "#" if is_coined(word.group()) else word.group(), text)
    for pattern, sign in _MASKS:
        text = pattern.sub(sign, text)
    return " ".join(text.split())


def identify(
    identity: Identity,
    explicit: tuple[str, str, str] | None,
    system: str,
    first_user: str,
    tools: str | None,
) -> Task:
    """The task of a rollout. `explicit` is (source, dataset, task); texts are cleaned ones."""
    names, user = tool_names(tools), mask(first_user)
    family = identity.text("task_family", user, *names)
    if explicit is not None:
        return Task(identity.text("task", *explicit), family, "explicit")
    return Task(identity.text("task_prompt", mask(system), user, *names), family, "prompt")


def tool_names(tools: str | None) -> list[str]:
    """Sorted names out of a JSON list of tools in OpenAI's shape."""
    offered = json.loads(tools) if tools else []
    named = (tool.get("function") or tool for tool in offered if isinstance(tool, dict))
    return sorted({str(tool["name"]) for tool in named if isinstance(tool, dict) and tool.get("name")})
