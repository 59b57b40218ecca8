"""`make demo`: the whole path on the captures that the project ships, in a home of its own.

    python -m pipelines.demo

Exports → clean spans → trajectories → rewards → release → credit, pairs, rollouts → DPO and GRPO → evaluation.
"""

from __future__ import annotations

import os
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console

ROOT = Path(__file__).resolve().parent.parent
HOME = ".tracemill-demo"

QUERIES = (
    "SELECT task, count(*) AS attempts, round(avg(reward), 2) AS reward FROM curated_trajectories"
    " GROUP BY task ORDER BY attempts DESC, task",
    "SELECT entity, place, count(*) AS found FROM pii_findings GROUP BY ALL ORDER BY found DESC LIMIT 10",
    "SELECT rule, split, chosen_reward, rejected_reward, shared_messages FROM preference_pairs ORDER BY split, rule",
)


def main() -> None:
    """Run the demo; a second time changes nothing but the time it takes."""
    os.chdir(ROOT)
    os.environ.setdefault("TRACEMILL_HOME", HOME)
    from assets.mill import open_mill
    from pipelines.runs import refresh_warehouse, run_day, run_nightly_release, run_training
    from pipelines.summary import print_run, print_training

    console, started = Console(), time.monotonic()
    mill = open_mill()
    days = mill.register([ROOT / "tests/corpus/exports"], datetime.now(UTC).date())
    for day in days:
        console.print(f"running the arrival day {day}: exports → clean spans → trajectories → rewards")
        run_day(day, console)
    console.print("cutting the night's release: splits → credit → pairs → rollouts")
    release = run_nightly_release(days[-1], console)
    for objective in ("dpo", "grpo"):
        console.print(f"training {objective} on {release}, then judging it on held-out tasks")
        run_training(objective, release, "", console)
    refresh_warehouse(mill)
    console.print()
    print_run(console, mill.home, days, release, None)
    for objective in ("dpo", "grpo"):
        print_training(console, mill.home, release, objective)
    console.rule("to try", align="left")
    setting = f"export TRACEMILL_HOME={mill.home.root} PATH={Path(sys.executable).parent}:$PATH"
    for line in (setting, *(f'tracemill sql "{query}"' for query in QUERIES)):
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    console.print(f"done in {time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    main()
