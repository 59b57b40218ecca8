"""Whether a program does what its tests want: run in the sandbox, three times alike."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from transforms.rewards.sandbox import Command, Limits, Outcome, run_isolated
from transforms.rewards.text_checks import fenced
from transforms.rewards.verifier_spec import RUNS, Code

Verdict = Literal["ok", "error", "flaky", "no_sandbox"]

HARNESS = """
import sys, types
nonce = sys.stdin.readline().strip()
sys.stdin.close()
def run(nonce):
    sys.modules["solution"] = module = types.ModuleType("solution")  # tests may import it, or use its names
    scope = module.__dict__
    for name in ("solution.py", "tests.py"):
        with open(name, encoding="utf-8") as file:
            exec(compile(file.read(), name, "exec"), scope)
        if name == "solution.py":
            before = set(scope)
    tests = [scope[name] for name in scope if name.startswith("test") and name not in before and callable(scope[name])]
    passed = 0
    for test in tests:
        try:
            test()
            passed += 1
        except Exception:
            pass
    print("\\n" + nonce, passed if tests else 1, len(tests) or 1)
run(nonce)
"""


@dataclass(frozen=True)
class Ran:
    """How a program did: value (0 to 1) where the verdict is ok, and what it was that it did, for the evidence."""

    verdict: Verdict
    value: float | None = None
    seen: str = ""


def passes_tests(check: Code, text: str, reference: object) -> Ran:
    """Run the program in `text` against `reference`: tests as Python source, or {tests, cases: [{stdin, stdout}]}.

    Tests share the program's process: one that returns early, exits or prints at will passes none, but one that
    changes what `assert` sees can. Of cases the expected output never enters the sandbox.
    """
    wanted = reference if isinstance(reference, dict) else {"tests": reference}
    if not (isinstance(wanted.get("tests"), str) or _are_cases(wanted.get("cases"))):
        return Ran("error", seen="the reference has neither tests nor cases")
    program = fenced(text, ("python", "py", "python3"))
    runs: list[tuple[int, int]] = []
    for _ in range(RUNS):
        counted = _run_once(program, wanted, check.limits)
        if counted is None:
            return Ran("no_sandbox")
        runs.append(counted)
        if counted != runs[0]:
            return Ran("flaky", seen=json.dumps(runs))
    passed, total = runs[0]
    value = passed / total if check.reward == "fraction" else float(passed == total)
    return Ran("ok", value, json.dumps(runs[0]))


def _are_cases(cases: object) -> bool:
    return isinstance(cases, list) and bool(cases) and all(
        isinstance(case, dict) and isinstance(case.get("stdout"), str) for case in cases
    )  # fmt: skip


def _run_once(program: str, wanted: Mapping[str, Any], limits: Limits) -> tuple[int, int] | None:
    """Tests passed and tests; None without a sandbox."""
    passed = total = 0
    for case in wanted.get("cases") or ():
        outcome = run_isolated(Command(["solution.py"], {"solution.py": program}, str(case.get("stdin", ""))), limits)
        if outcome.ending == "no_sandbox":
            return None
        total += 1
        passed += outcome.code == 0 and _lines(outcome.output) == _lines(case["stdout"].encode())
    if isinstance(wanted.get("tests"), str):
        nonce = secrets.token_hex(16)
        files = {"solution.py": program, "tests.py": wanted["tests"], "harness.py": HARNESS}
        outcome = run_isolated(Command(["harness.py"], files, nonce + "\n"), limits)
        if outcome.ending == "no_sandbox":
            return None
        own, of = _reported(outcome, nonce)
        passed, total = passed + own, total + of
    return passed, total


def _reported(outcome: Outcome, nonce: str) -> tuple[int, int]:
    last = outcome.output.decode(errors="replace").splitlines()[-1:]
    words = last[0].split() if last else []
    if outcome.ending == "exited" and outcome.code == 0 and words[:1] == [nonce]:
        return int(words[1]), int(words[2])
    return 0, 1


def _lines(output: bytes) -> list[bytes]:
    return [line.rstrip() for line in output.rstrip().splitlines()]
