"""Tables of a release: the cut, credit, and what trainers read."""

import polars as pl

from warehouse.schemas.table import Column, Table

TOOL_CALL = pl.Struct(
    {
        "id": pl.String,
        "type": pl.String,
        "function": pl.Struct({"name": pl.String, "arguments": pl.String}),
    }
)

# Arguments stay JSON text: as structs, Arrow would unify them over all rows and fill the gaps with nulls.
MESSAGE = pl.Struct(
    {
        "role": pl.String,
        "content": pl.String,
        "reasoning_content": pl.String,
        "tool_calls": pl.List(TOOL_CALL),
        "tool_call_id": pl.String,
        "name": pl.String,
    }
)

CUT = Table(
    "cut",
    "One row a trajectory in the release's window: in which split it is, or why it is left out.",
    ("trajectory_id",),
    {
        "release": Column(pl.String, "the release"),
        "trajectory_id": Column(pl.String, "the trajectory"),
        "revision": Column(pl.Date, "the version of it that was taken"),
        "rollout_id": Column(pl.String, "its rollout"),
        "task_id": Column(pl.String, "its task"),
        "task_family": Column(pl.String, "its family of tasks"),
        "component": Column(
            pl.String, "tasks that may not be split: near-duplicates and shared persons", nullable=True
        ),
        "split": Column(pl.String, "train or test; null where it is left out", nullable=True),
        "dropped": Column(pl.String, "rule of the funnel that left it out", nullable=True),
        "copy_of": Column(
            pl.String, "rollout that stays in its stead, where two systems exported one run", nullable=True
        ),
        "reward": Column(pl.Float64, "composed reward", nullable=True),
        "gated": Column(pl.Boolean, "whether a hard rule was broken"),
    },
)

# What a credit rests on, in the units of the reward unless said otherwise; null where the method has no such thing.
EVIDENCE = pl.Struct(
    {
        "episode": pl.Float64,  # what the outcome of the whole rollout gives to the step
        "local": pl.Float64,  # what the step alone is given
        "value": pl.Float64,  # what was to be expected before the step
        "next_value": pl.Float64,  # what was to be expected after it
        "process": pl.Float64,  # the step's own reward, flag or potential, as imported
        "anchor_size": pl.Int64,  # steps of the task that saw the same, this one included
        "logprob": pl.Float64,  # mean log-prob of the action (igpo: of the right answer before it), nats a token
        "contrast": pl.Float64,  # log-prob of the action under success less that under failure, nats
        "ratio": pl.Float64,  # hindsight ratio after clipping
        "entropy": pl.Float64,  # mean entropy at the action's tokens, nats
        "tokens": pl.Int64,  # tokens of the action that were scored
    }
)

CREDIT = Table(
    "credit",
    "One row a step: what it gets of the outcome.",
    ("trajectory_id", "step"),
    {
        "release": Column(pl.String, "the release"),
        "trajectory_id": Column(pl.String, "the trajectory"),
        "step": Column(pl.Int64, "the step"),
        "span_id": Column(pl.String, "span of the step"),
        "rollout_id": Column(pl.String, "what baselines count"),
        "task_id": Column(pl.String, "the group"),
        "method": Column(
            pl.String, "outcome, return_to_go, gigpo, anchor_td, shaping, adca, hcapo, contrastive or igpo"
        ),
        "version": Column(pl.String, "version of the method, its parameters and the model that scored"),
        "reward": Column(pl.Float64, "reward of the rollout"),
        "return": Column(pl.Float64, "what came of the step; null where it cannot be told", nullable=True),
        "baseline": Column(pl.Float64, "what was to be expected; null where nothing is known", nullable=True),
        "advantage": Column(pl.Float64, "credit of the step; 0 where nothing gives a signal"),
        "group_size": Column(pl.Int64, "rollouts in the group"),
        "anchor": Column(pl.String, "span of the first step of the task that saw the same", nullable=True),
        "evidence": Column(EVIDENCE, "what the credit rests on: docs/credit.md says which method fills what"),
        "flags": Column(pl.List(pl.String), "singleton, no_spread, no_baseline, lone_anchor, untold, unscored"),
    },
)

CREDIT_DIAGNOSTICS = Table(
    "credit_diagnostics",
    "One row a measure of a release's credit: whether it says anything, and what it may say by mistake.",
    ("measure", "method"),
    {
        "release": Column(pl.String, "the release"),
        "measure": Column(pl.String, "what was measured: docs/credit.md explains each"),
        "method": Column(pl.String, "the method it is about; for agreement, the other one"),
        "value": Column(pl.Float64, "the measure; null where there was nothing to measure", nullable=True),
        "count": Column(pl.Int64, "groups, trajectories, steps or days that it was measured on"),
    },
)

PREFERENCE_PAIRS = Table(
    "preference_pairs",
    "One row a better and a worse continuation of one prefix, in TRL's columns.",
    ("pair_id",),
    {
        "release": Column(pl.String, "the release"),
        "pair_id": Column(pl.String, "hash of the two trajectories and the rule"),
        "task_id": Column(pl.String, "the task of both"),
        "split": Column(pl.String, "train or test"),
        "rule": Column(pl.String, "why one is better: outcome or gate"),
        "prompt": Column(pl.List(MESSAGE), "longest common prefix of messages, perhaps only system"),
        "chosen": Column(pl.List(MESSAGE), "what followed in the better one"),
        "rejected": Column(pl.List(MESSAGE), "what followed in the worse one"),
        "tools": Column(pl.String, "tools offered to both, as a JSON list", nullable=True),
        "shared_messages": Column(pl.Int64, "messages in the shared prefix"),
        "shares_user_turn": Column(pl.Boolean, "whether the shared prefix reaches a user's message"),
        "chosen_actions": Column(pl.List(pl.Int64), "positions in `chosen` that the model wrote"),
        "rejected_actions": Column(pl.List(pl.Int64), "positions in `rejected` that the model wrote"),
        "chosen_trajectory_id": Column(pl.String, "where the better one comes from"),
        "rejected_trajectory_id": Column(pl.String, "where the worse one comes from"),
        "chosen_span_ids": Column(pl.List(pl.String), "span of each action in `chosen`"),
        "rejected_span_ids": Column(pl.List(pl.String), "span of each action in `rejected`"),
        "chosen_finish_reasons": Column(pl.List(pl.String), "why each action in `chosen` ended: cut ones by length"),
        "rejected_finish_reasons": Column(pl.List(pl.String), "why each action in `rejected` ended"),
        "chosen_reward": Column(pl.Float64, "reward of the better one"),
        "rejected_reward": Column(pl.Float64, "reward of the worse one; null where it is gated", nullable=True),
        "margin": Column(pl.Float64, "difference of the rewards; null where the worse one is gated", nullable=True),
        "length_gap": Column(pl.Int64, "characters of action in chosen less those in rejected"),
        "models": Column(pl.List(pl.String), "models that wrote the actions"),
    },
)

ROLLOUTS = Table(
    "rollouts",
    "One row a stretch of a trajectory in which each prompt continues the one before, with advantages.",
    ("trajectory_id", "segment"),
    {
        "release": Column(pl.String, "the release"),
        "rollout_id": Column(pl.String, "what baselines and losses count"),
        "trajectory_id": Column(pl.String, "the trajectory"),
        "segment": Column(pl.Int64, "the stretch, from 0"),
        "task_id": Column(pl.String, "the group"),
        "split": Column(pl.String, "train or test"),
        "prompt": Column(pl.List(MESSAGE), "messages before the first action"),
        "completion": Column(pl.List(MESSAGE), "actions and what the environment answered"),
        "tools": Column(pl.String, "tools offered, as a JSON list", nullable=True),
        "actions": Column(pl.List(pl.Int64), "positions in `completion` that the model wrote"),
        "steps": Column(pl.List(pl.Int64), "step of each action"),
        "span_ids": Column(pl.List(pl.String), "span of each action"),
        "finish_reasons": Column(pl.List(pl.String), "why each action ended: those cut by length have no end of turn"),
        "advantages": Column(pl.List(pl.Float64), "credit of each action"),
        "reward": Column(pl.Float64, "reward of the rollout"),
        "group_size": Column(pl.Int64, "rollouts in the group"),
        "mixed": Column(pl.Boolean, "whether the group's rewards differ"),
        "models": Column(pl.List(pl.String), "models that wrote the actions"),
    },
)
