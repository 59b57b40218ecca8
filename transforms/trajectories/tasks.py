"""Which task a rollout is an attempt at: the export's own id, else the masked prompt and the tools."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from transforms.identity import Identity, framed
from transforms.privacy.coined import ENDINGS, is_coined
from transforms.privacy.words import words

# What may be a coined name, so that not every word has to be looked up.
_MAYBE_COINED = re.compile(rf"\b[^\W\d_]+(?:{'|'.join(ENDINGS)})\b|[가-힣]+")
_ENDS_LIKE_COINED = re.compile(rf"[{''.join({ending[-1] for ending in ENDINGS})}](?<={'|'.join(ENDINGS)})\b|[가-힣]")
MONTHS = words("jan feb mar apr may jun jul aug sep oct nov dec")
_MONTH = rf"(?:{'|'.join(MONTHS)})[a-z]*\.?"
_DIGIT = re.compile(r"\d").search


def _holds(sign: str) -> Callable[[str], bool]:
    return lambda text: sign in text


def _holds_month(text: str) -> bool:
    return any(month in text for month in MONTHS) and _DIGIT(text) is not None


# What is masked, each with what a text must hold for it to be there: looking for that is ten times as quick.
_MASKS: tuple[tuple[Callable[[str], object], re.Pattern[str]], ...] = (
    (_holds("["), re.compile(r"\[[a-z0-9_]+_[0-9a-f]{12}\]")),  # surrogates that are tags
    (_holds("@"), re.compile(r"[\w.+-]+@[\w.-]+")),  # e-mail addresses
    (_holds("-"), re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")),
    (_holds_month, re.compile(rf"\b{_MONTH}\s+(?=\d)|(?<=\d)\s+{_MONTH}(?!\w)")),
    (_holds("day"), re.compile(r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b")),
    (_DIGIT, re.compile(r"\b[^\W\d]*\d\w*")),  # numbers, and words that hold one
    (_holds("#"), re.compile(r"#(?:[\s.,:/+()#-]*#)+")),
)


@dataclass(frozen=True, slots=True)
class Task:
    """The group of a rollout."""

    task_id: str
    family: str
    rule: str


@lru_cache(maxsize=1024)
def mask(text: str) -> str:
    """`masked`, remembered: system messages recur in every rollout."""
    return masked(text)


def masked(text: str) -> str:
    """`text` without what differs between two attempts at one kind of task.

    Case, spacing, numbers, dates, uuids, e-mail addresses and surrogates become one sign each, so that
    two prompts from one template are equal.
    """
    text = text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()
    if _ENDS_LIKE_COINED.search(text):
        text = _MAYBE_COINED.sub(lambda word: "#" if is_coined(word.group()) else word.group(), text)
    for needed, pattern in _MASKS:
        if needed(text):
            text = pattern.sub("#", text)
    return " ".join(text.split())


def identify(
    identity: Identity,
    explicit: tuple[str, str, str] | None,
    system: str,
    first_user: str,
    tools: str | None,
) -> Task:
    """The task of a rollout. `explicit` is (source, dataset, task); texts are cleaned ones."""
    told, names = framed(mask(system)), framed(*tool_names(tools))
    return framed_task(identity, explicit, told, framed(mask(first_user)), names)


_FAMILY, _PROMPT = framed("task_family"), framed("task_prompt")


def framed_task(
    identity: Identity, explicit: tuple[str, str, str] | None, system: bytes, user: bytes, names: bytes
) -> Task:
    """The task of a rollout whose masked texts and names of tools are framed already."""
    family = identity.framed_digest(_FAMILY, user, names).hex()
    if explicit is not None:
        return Task(identity.text("task", *explicit), family, "explicit")
    return Task(identity.framed_digest(_PROMPT, system, user, names).hex(), family, "prompt")


def tool_names(tools: str | None) -> list[str]:
    """Sorted names out of a JSON list of tools in OpenAI's shape."""
    offered = json.loads(tools) if tools else []
    named = (tool.get("function") or tool for tool in offered if isinstance(tool, dict))
    return sorted({str(tool["name"]) for tool in named if isinstance(tool, dict) and tool.get("name")})
