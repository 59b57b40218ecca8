"""Reads verdicts that stand on spans: evaluations, annotations and rewards."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from transforms.readers.otlp_events import Event
from transforms.readers.otlp_flat import gather
from transforms.readers.otlp_kinds import KNOWN_KEYS
from transforms.readers.values import mapping, number, text
from transforms.records import Feedback, Span

VERDICT = "gen_ai.evaluation.result"
ANNOTATIONS = (("annotations", "annotation"), ("evaluations", "evaluation"))
WIDER = ("", "trace.", "session.")
"""What verdicts are about: the span, or more than it."""

ANNOTATORS = {"human": "human", "llm": "llm", "code": "code"}
REWARD = "agentlightning.reward"

Link = tuple[str, str]


def read_feedback(
    span: Span, said: dict[str, Any], metadata: dict[str, Any], events: list[Event], links: list[Link]
) -> Iterator[Feedback]:
    """Verdicts on a span, those of its events first; one on a root is about the whole trace."""
    for name, event, time in events:
        if name == VERDICT:
            yield read_evaluation(event, span.position, span.trace_id, _about(span), time)
    yield from _annotations(span, said, links)
    yield from _rewards(span, said)
    given = said.get("reward", metadata.get("reward"))
    reward = number(given) if span.kind == "agent" else None
    if reward is not None:
        yield Feedback(span.position, span.trace_id, "reward", span_id=_about(span), score=reward, annotator="env",
                       created_ns=span.ended_ns)  # fmt: skip


def read_evaluation(event: dict[str, Any], position: int, trace_id: str, span_id: str, time: int | None) -> Feedback:
    """A verdict by OpenTelemetry's conventions, from the attributes of an event."""
    return Feedback(
        position,
        trace_id,
        text(event.get("gen_ai.evaluation.name")),
        span_id=span_id,
        score=number(event.get("gen_ai.evaluation.score.value")),
        label=text(event.get("gen_ai.evaluation.score.label")),
        comment=text(event.get("gen_ai.evaluation.explanation")),
        annotator="code",
        created_ns=time,
    )


def _annotations(span: Span, said: dict[str, Any], links: list[Link]) -> Iterator[Feedback]:
    """OpenInference's; the span of an evaluator that links to one other span carries verdicts on that one."""
    if not any(map(_is_verdict, said)):
        return
    trace_id, about = span.trace_id, _about(span)
    if span.kind == "evaluator" and len(links) == 1 and any(links[0]):
        trace_id, about = links[0]
    for scope in WIDER:
        for plural, single in ANNOTATIONS:
            for item in gather(said, scope + plural, set()):
                given = mapping(mapping(item).get(single))
                if given.get("name"):
                    yield Feedback(
                        span.position,
                        trace_id,
                        text(given["name"]),
                        span_id="" if scope else about,
                        score=number(given.get("score")),
                        label=text(given.get("label")),
                        comment=text(given.get("explanation")),
                        annotator=ANNOTATORS.get(text(given.get("annotator_kind")).lower(), "unknown"),
                        created_ns=span.ended_ns,
                    )


def _reward_key(item: dict[str, Any]) -> str:
    """A reward's name; Agent Lightning calls the one without a name `primary`."""
    name = text(item.get("name"))
    return "reward" if name in ("", "primary") else name


def _rewards(span: Span, said: dict[str, Any]) -> Iterator[Feedback]:
    """Agent Lightning's, on a span of their own that may name the one they are about."""
    if not any(map(_is_reward, said)):
        return
    matches = [mapping(item) for item in gather(said, "agentlightning.link", set())]
    about = next((text(link.get("value_match")) for link in matches if link.get("key_match") == "span_id"), "")
    for item in map(mapping, gather(said, REWARD, set())):
        score = number(item.get("value"))
        if score is not None:
            yield Feedback(span.position, span.trace_id, _reward_key(item), span_id=about,
                           score=score, annotator="env", created_ns=span.ended_ns)  # fmt: skip


@lru_cache(KNOWN_KEYS)
def _is_verdict(key: str) -> bool:
    return "annotations." in key or "evaluations." in key


@lru_cache(KNOWN_KEYS)
def _is_reward(key: str) -> bool:
    return key.startswith(REWARD)


def _about(span: Span) -> str:
    return span.span_id if span.parent_span_id else ""
