"""Small releases, made by the schemas, with tool calls, several actions a side, thoughts, and gaps."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from warehouse.schemas.datasets import PREFERENCE_PAIRS, ROLLOUTS

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": text,
            "parameters": {"type": "object", "properties": {"order": {"type": "string"}}},
        },
    }
    for name, text in [
        ("look_up", "Finds an order."),
        ("refund", "Pays an order back."),
        ("escalate", "Asks a person."),
    ]
]

Message = dict[str, Any]


def message(role: str, content: str | None = None, **more: Any) -> Message:
    """A message struct with every key that the schema has, absent ones null."""
    absent = dict.fromkeys(("content", "reasoning_content", "tool_calls", "tool_call_id", "name"))
    return absent | {"role": role, "content": content} | more


def calls(name: str, order: str, thought: str | None = None, content: str | None = None) -> Message:
    arguments = json.dumps({"order": order})
    call = {"id": f"call-{name}", "type": "function", "function": {"name": name, "arguments": arguments}}
    return message("assistant", content, tool_calls=[call], reasoning_content=thought)


def opening(task: int, filler: int) -> list[Message]:
    manual = " ".join(f"Rule {rule}: be kind and check order {rule * 7 % 31} twice." for rule in range(filler))
    return [
        message("system", f"You are a support agent.\n{manual}"),
        message("user", f"Please pay back order A-{task:03d}; it came broken."),
    ]


def good(task: int) -> list[Message]:
    order = f"A-{task:03d}"
    return [
        calls("look_up", order, thought="First I look the order up."),
        message("tool", f"order {order}: delivered, broken", tool_call_id="call-look_up"),
        calls("refund", order),
        message("tool", "paid back", tool_call_id="call-refund"),
        message("assistant", f"Order {order} is paid back."),
    ]


def bad(task: int) -> list[Message]:
    order = f"A-{task:03d}"
    return [
        calls("escalate", order, content="I can't do that myself."),
        message("tool", "a person will answer next week", tool_call_id="call-escalate"),
        message("assistant", "Thanks, we are done here."),
        message("user", "But it is broken."),
        message("assistant", "Somebody else will answer you some day."),
    ]


GOOD_ACTIONS, BAD_ACTIONS = [0, 2, 4], [0, 4]
"""The worse side has a gap: what stands at 2 was shown to the model, which didn't write it."""


def pair(task: int, split: str, filler: int) -> dict[str, Any]:
    return {
        "release": "r",
        "pair_id": f"pair-{task:03d}",
        "task_id": f"task-{task:03d}",
        "split": split,
        "rule": "outcome",
        "prompt": opening(task, filler),
        "chosen": good(task),
        "rejected": bad(task),
        "tools": json.dumps(TOOLS),
        "shared_messages": 2,
        "shares_user_turn": True,
        "chosen_actions": GOOD_ACTIONS,
        "rejected_actions": BAD_ACTIONS,
        "chosen_trajectory_id": f"good-{task:03d}",
        "rejected_trajectory_id": f"bad-{task:03d}",
        "chosen_span_ids": [f"g{action}" for action in GOOD_ACTIONS],
        "rejected_span_ids": [f"b{action}" for action in BAD_ACTIONS],
        "chosen_finish_reasons": ["stop" for _ in GOOD_ACTIONS],
        "rejected_finish_reasons": [None for _ in BAD_ACTIONS],
        "chosen_reward": 1.0,
        "rejected_reward": 0.0,
        "margin": 1.0,
        "length_gap": 10,
        "models": ["a-model"],
    }


def rollout(task: int, split: str, filler: int, better: bool, mixed: bool = True) -> dict[str, Any]:
    actions = GOOD_ACTIONS if better else BAD_ACTIONS
    name = f"{'good' if better else 'bad'}-{task:03d}"
    advantage = (0.5 if better else -0.5) if mixed else 0.0
    return {
        "release": "r",
        "rollout_id": name,
        "trajectory_id": name,
        "segment": 0,
        "task_id": f"task-{task:03d}",
        "split": split,
        "prompt": opening(task, filler),
        "completion": good(task) if better else bad(task),
        "tools": json.dumps(TOOLS),
        "actions": actions,
        "steps": list(range(len(actions))),
        "span_ids": [f"s{action}" for action in actions],
        "finish_reasons": ["stop" for _ in actions],
        "advantages": [advantage] * len(actions),
        "reward": float(better),
        "group_size": 2,
        "mixed": mixed,
        "models": ["a-model"],
    }


def write_release(folder: Path, train: int = 6, test: int = 2, filler: int = 4, silent: int = 1) -> Path:
    """A release with `train` and `test` tasks, a pair and two rollouts each, and `silent` groups without signal."""
    splits = ["train"] * train + ["test"] * test
    pairs = [pair(task, split, filler) for task, split in enumerate(splits)]
    replays = [rollout(task, split, filler, better) for task, split in enumerate(splits) for better in (True, False)]
    replays += [rollout(900 + task, "train", filler, better=True, mixed=False) for task in range(silent)]
    tables = {}
    for table, rows in ((PREFERENCE_PAIRS, pairs), (ROLLOUTS, replays)):
        file = f"{table.name}/part-0.parquet"
        (folder / table.name).mkdir(parents=True)
        table.frame(rows).write_parquet(folder / file)
        tables[table.name] = {"files": [file], "rows": len(rows)}
    (folder / "manifest.json").write_text(json.dumps({"release": "r", "tables": tables}))
    return folder


@pytest.fixture(scope="session")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_release(tmp_path_factory.mktemp("release"))


@pytest.fixture(scope="session")
def make_release() -> Callable[..., Path]:
    return write_release


@pytest.fixture(scope="session")
def tiny_model(release: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A tiny model made from `release`."""
    from training import tiny

    out = tmp_path_factory.mktemp("tiny")
    assert tiny.main(["--release", str(release), "--out", str(out)]) == 0
    yield out
