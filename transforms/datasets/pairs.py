"""Preference pairs: a better and a worse continuation of one prefix, out of attempts at one task."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, takewhile

import polars as pl

from transforms.datasets.conversations import conversations, with_bodies
from transforms.datasets.cut import outcomes_differ
from transforms.datasets.release_spec import PairSpec, ReleaseSpec
from transforms.rewards.spec import SAME
from warehouse.schemas import PREFERENCE_PAIRS

# Attempts at a task of which each is compared with each: production repeats some tasks ten thousandfold.
MAX_SIDE = 64


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """A trajectory as one side of a pair may be: `said` holds a hash of each message's content, ids left aside."""

    trajectory_id: str
    task_id: str
    split: str
    reward: float | None
    mean: float | None
    gated: bool
    tools: str | None
    message_ids: list[bytes]
    said: list[int]
    sizes: list[int]
    positions: list[int]

    def actions(self, shared: int) -> list[int]:
        """What the model said after the first `shared` messages."""
        return [self.said[position] for position in self.positions if position >= shared]

    def length(self, shared: int) -> int:
        """Characters of action after the first `shared` messages."""
        return sum(self.sizes[position] for position in self.positions if position >= shared)


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """Two sides and the number of messages that they share."""

    chosen: Side
    rejected: Side
    shared: int

    @property
    def rule(self) -> str:
        return "gate" if self.rejected.gated else "outcome"

    @property
    def gap(self) -> int:
        return self.chosen.length(self.shared) - self.rejected.length(self.shared)

    @property
    def ratio(self) -> float:
        """How much longer the longer side's actions are."""
        lengths = self.chosen.length(self.shared), self.rejected.length(self.shared)
        return (max(lengths) + 1) / (min(lengths) + 1)

    @property
    def content(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """What both sides say, prefix included."""
        return tuple(self.chosen.said), tuple(self.rejected.said)

    @property
    def rank(self) -> tuple[int, float, str, str]:
        """Best evidence first: the longer shared prefix, then the closer lengths."""
        return -self.shared, self.ratio, self.chosen.trajectory_id, self.rejected.trajectory_id


def mine_pairs(
    release: str, cut: pl.DataFrame, steps: pl.DataFrame, messages: pl.DataFrame, spec: ReleaseSpec
) -> pl.DataFrame:
    """PREFERENCE_PAIRS of attempts at one task, by their roots' threads of one segment and the same tools.

    `outcome`: rewards at least `min_margin` apart. `gate`: the worse one broke a hard rule, the better one broke
    none and got at least the mean of its group. The prompt is the longest common prefix of message ids, cut back
    so that both sides keep an action of their own. Sides whose actions say the same are no pair, since the
    environment alone tells them apart. At most `max_per_task`, best evidence first, none twice by content.
    """
    segments = _roots(cut, steps, messages)
    chosen = [pair for sides in _by_task(segments) for pair in _best(sides, spec.pairs)]
    if not chosen:
        return PREFERENCE_PAIRS.empty()
    return PREFERENCE_PAIRS.enforce(_table(release, chosen, segments))


def _roots(cut: pl.DataFrame, steps: pl.DataFrame, messages: pl.DataFrame) -> pl.DataFrame:
    kept = cut.filter(pl.col("dropped").is_null() & (pl.col("trajectory_id") == pl.col("rollout_id")))
    kept = kept.filter(outcomes_differ().over("task_id"))
    own = ["trajectory_id", "revision"]
    segments = conversations(steps.join(kept.select(own), on=own, how="semi"))
    single = segments.filter(pl.len().over("trajectory_id") == 1)
    mean = pl.col("reward").mean().over("task_id").alias("mean")
    known = kept.select("trajectory_id", "task_id", "split", "reward", mean, "gated")
    return with_bodies(single, messages).join(known, on="trajectory_id").sort("task_id", "trajectory_id")


def _by_task(segments: pl.DataFrame) -> Iterator[list[Side]]:
    calls = pl.element().struct.field("tool_calls").list.eval(
        pl.concat_str(pl.element().struct.field("function").struct.field("name", "arguments"), separator="\x1f")
    ).list.join("\x1e")  # fmt: skip
    texts = [pl.element().struct.field(name).fill_null("") for name in ("reasoning_content", "content")]
    text = pl.concat_str(*texts, calls.fill_null(""), separator="\x1d")
    marks = text.str.count_matches("[\x1d-\x1f]")
    sized = segments.with_columns(
        pl.col("messages").list.eval(pl.struct(pl.element().struct.field("role"), text).hash(seed=0)).alias("said"),
        pl.col("messages").list.eval((text.str.len_chars() - marks).cast(pl.Int64)).alias("sizes"),
    )
    columns = (
        "trajectory_id",
        "task_id",
        "split",
        "reward",
        "mean",
        "gated",
        "tools",
        "message_ids",
        "said",
        "sizes",
        "positions",
    )
    for task in sized.select(columns).partition_by("task_id", maintain_order=True):
        yield [Side(*row) for row in task.iter_rows()]


def _best(sides: list[Side], spec: PairSpec) -> list[Pair]:
    """The best pairs of one task."""
    found: list[Pair] = []
    seen: set[tuple[tuple[int, ...], tuple[int, ...]]] = set()
    for pair in sorted(_candidates(sides, spec), key=lambda pair: pair.rank):
        if pair.content not in seen and pair.content[::-1] not in seen:
            seen.add(pair.content)
            found.append(pair)
        if len(found) == spec.max_per_task:
            break
    return found


def _candidates(sides: list[Side], spec: PairSpec) -> Iterator[Pair]:
    rewarded = [side for side in sides if not side.gated and side.reward is not None]
    better = sorted(rewarded, key=lambda side: (-(side.reward or 0.0), side.trajectory_id))[:MAX_SIDE]
    worse = sorted(sides, key=lambda side: (not side.gated, side.reward or 0.0, side.trajectory_id))[:MAX_SIDE]
    for chosen in better:
        for rejected in worse:
            if not _is_better(chosen, rejected, spec.min_margin) or chosen.tools != rejected.tools:
                continue
            shared = _shared(chosen, rejected)
            pair = Pair(chosen, rejected, shared)
            if chosen.actions(shared) != rejected.actions(shared) and (
                spec.max_length_ratio is None or pair.ratio <= spec.max_length_ratio
            ):
                yield pair


def _is_better(chosen: Side, rejected: Side, margin: float) -> bool:
    if chosen.reward is None or chosen.mean is None:
        return False
    if rejected.gated:
        return chosen.reward >= chosen.mean - SAME
    return rejected.reward is not None and chosen.reward - rejected.reward >= margin - SAME


def _shared(one: Side, other: Side) -> int:
    """Messages in common from the start, at most up to the last action of either."""
    most = min(one.positions[-1], other.positions[-1])
    both = zip(one.message_ids, other.message_ids, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], islice(both, most)))


def _table(release: str, pairs: list[Pair], segments: pl.DataFrame) -> pl.DataFrame:
    rows = pl.DataFrame(
        [
            {
                "release": release,
                "pair_id": _pair_id(pair),
                "task_id": pair.chosen.task_id,
                "split": pair.chosen.split,
                "rule": pair.rule,
                "shared_messages": pair.shared,
                "chosen_trajectory_id": pair.chosen.trajectory_id,
                "rejected_trajectory_id": pair.rejected.trajectory_id,
                "chosen_reward": pair.chosen.reward,
                "rejected_reward": pair.rejected.reward,
                "length_gap": pair.gap,
            }
            for pair in pairs
        ],
        schema_overrides={"chosen_reward": pl.Float64, "rejected_reward": pl.Float64},
    )
    for side in ("chosen", "rejected"):
        rows = rows.join(_side(segments, side), on=f"{side}_trajectory_id").with_columns(*_after_prefix(side))
    roles = pl.col("prompt").list.eval(pl.element().struct.field("role") == "user")
    rows = rows.with_columns(pl.col("chosen_messages").list.head("shared_messages").alias("prompt")).with_columns(
        roles.list.any().alias("shares_user_turn"),
        (pl.col("chosen_reward") - pl.col("rejected_reward")).alias("margin"),
        pl.col("chosen_tools").alias("tools"),
        pl.col("chosen_models").list.set_union("rejected_models").list.drop_nulls().list.sort().alias("models"),
    )
    return rows.select(list(PREFERENCE_PAIRS.columns))


def _side(segments: pl.DataFrame, side: str) -> pl.DataFrame:
    columns = ("trajectory_id", "messages", "positions", "span_ids", "finish_reasons", "models", "tools")
    return segments.select(pl.col(column).alias(f"{side}_{column}") for column in columns)


def _after_prefix(side: str) -> list[pl.Expr]:
    """What comes after the shared prefix: messages, the actions' positions in them, and their spans."""
    inside = pl.col(f"{side}_positions") - pl.col("shared_messages")
    before = inside.list.eval(pl.element() < 0).list.sum()
    return [
        pl.col(f"{side}_messages").list.slice("shared_messages").alias(side),
        inside.list.slice(before).alias(f"{side}_actions"),
        pl.col(f"{side}_span_ids").list.slice(before),
        pl.col(f"{side}_finish_reasons").list.slice(before),
    ]


def _pair_id(pair: Pair) -> str:
    parts = "/".join((pair.chosen.trajectory_id, pair.rejected.trajectory_id, pair.rule))
    return hashlib.sha256(parts.encode()).hexdigest()[:32]
