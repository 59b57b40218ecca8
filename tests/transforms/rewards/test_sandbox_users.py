"""The sandbox holds whoever starts it; where the kernel forbids it, nothing is run. Tried by processes of their own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from transforms.rewards.sandbox import no_sandbox

NOBODY, FORBIDDEN = 65534, 77
ATTEMPTS = Path(__file__).with_name("test_sandbox.py")
ROOT = Path(__file__).parents[3]

ANOTHER_USER = """
import ctypes, os, sys
from pathlib import Path
user, group, most = os.geteuid(), os.getegid(), sys.argv[1]
if ctypes.CDLL(None, use_errno=True).unshare(0x10000000):
    raise SystemExit(77)
told = {"self/setgroups": "deny", "self/uid_map": f"1000 {user} 1", "self/gid_map": f"1000 {group} 1"}
for name, text in (told | ({"sys/user/max_user_namespaces": most} if most else {})).items():
    Path("/proc", name).write_text(text, encoding="ascii")
os.execve(sys.executable, [sys.executable, *sys.argv[2:]], os.environ)
"""
"""Goes on as user 1000 without any capability, whoever that is outside, and with so many namespaces to make."""

ASK = """
from transforms.rewards.sandbox import Command, Limits, run_isolated
told = run_isolated(Command(["-c", "open('/work/ran', 'w'); print('ran')"]), Limits())
print(told.ending, told.output, bool(told.why))
"""

pytestmark = pytest.mark.skipif(bool(no_sandbox()), reason=f"no sandbox on this machine: {no_sandbox()}")


def run(*command: str, **options: object) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, cwd=ROOT, timeout=300,
        **({"env": environment} | options),
    )  # fmt: skip


def as_another(*command: str, namespaces: str = "") -> subprocess.CompletedProcess[str]:
    done = run("-c", ANOTHER_USER, namespaces, *command)
    if done.returncode == FORBIDDEN:
        pytest.skip("the kernel lets nobody make user namespaces here")
    return done


def nobody_can(*command: str, home: Path) -> bool:
    try:
        return run(*command, **as_nobody(home)).returncode == 0
    except PermissionError:
        return False


def as_nobody(home: Path) -> dict[str, object]:
    return {
        "user": NOBODY, "group": NOBODY, "extra_groups": [],
        "env": {"PYTHONPATH": str(ROOT), "HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1"},
    }  # fmt: skip


def test_all_attempts_fail_for_an_ordinary_user_as_well(tmp_path: Path) -> None:
    """Where root runs the tests: as nobody if Python can be read by others, else as a user that owns root's files and
    may do nothing else. Such a one is still root to the kernel's count of processes, so no fork bomb is tried."""
    if os.geteuid() != 0:
        pytest.skip("an ordinary user runs the attempts already")
    attempts = ["-m", "pytest", "-n", "0", "-q", "-p", "no:cacheprovider", str(ATTEMPTS)]
    tmp_path.chmod(0o777)
    if nobody_can("-c", "import pytest, transforms.rewards.sandbox", home=tmp_path):
        done = run(*attempts, "--basetemp", str(tmp_path / "t"), **as_nobody(tmp_path))
    else:
        done = as_another(*attempts, "-k", "not fork_bomb")
    assert done.returncode == 0, done.stdout
    last = done.stdout.splitlines()[-1]
    assert "passed" in last and "skipped" not in last


def test_where_the_kernel_forbids_namespaces_nothing_is_run() -> None:
    assert as_another("-c", ASK).stdout == "exited b'ran\\n' False\n"
    assert as_another("-c", ASK, namespaces="0").stdout == "no_sandbox b'' True\n"
