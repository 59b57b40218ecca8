"""The sandbox in which code that a model wrote is run, and the proof that it holds on this machine."""

from __future__ import annotations

import json
import os
import secrets
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from transforms.spec import Spec

LAUNCHER = Path(__file__).with_name("isolation.py")
SYSTEM = ("/usr", "/bin", "/lib", "/lib64", "/lib32", "/etc/ld.so.cache")
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin", "HOME": "/work", "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0",
}  # fmt: skip
TICK_S = 0.05
START_S = 10.0
"""What building the sandbox may take beside the command's own wall time, on a loaded machine."""


class Limits(Spec):
    """What a command in the sandbox may use."""

    cpu_s: int = Field(default=10, ge=1, description="CPU seconds of each of its processes")
    wall_s: float = Field(default=20.0, gt=0, description="seconds until it is stopped")
    memory_mb: int = Field(default=512, ge=64, description="memory of each process, and of all together")
    processes: int = Field(default=16, ge=1, description="processes and threads at a time")
    file_mb: int = Field(default=16, ge=1, description="size of one file")
    disk_mb: int = Field(default=32, ge=1, description="all files together; they lie in memory")
    files: int = Field(default=512, ge=16, description="files and folders")
    output_kb: int = Field(default=1024, ge=1, description="what it may print")


Ending = Literal["exited", "timeout", "output", "memory", "no_sandbox"]


@dataclass(frozen=True)
class Outcome:
    """How a command ended: `code` is its exit code, negative for a signal; `why` is told where nothing was run."""

    ending: Ending
    code: int | None = None
    output: bytes = b""
    seconds: float = 0.0
    why: str = ""


@dataclass(frozen=True)
class Command:
    """A Python program: `files` are put into its working folder, `packages` bound beside its standard library."""

    arguments: Sequence[str]
    files: Mapping[str, str] = field(default_factory=dict)
    stdin: str = ""
    binds: Sequence[tuple[str, str]] = ()


def run_isolated(command: Command, limits: Limits) -> Outcome:
    """Run a Python program in the sandbox. Where this machine has none, nothing is run and `ending` is no_sandbox."""
    reason = no_sandbox()
    return Outcome("no_sandbox", why=reason) if reason else _run(command, limits)


@cache
def no_sandbox() -> str:
    """Why this machine gives no isolation; empty where a trial run, made once a process, found that it holds."""
    if sys.platform != "linux" or not sys.executable:
        return "isolation needs Linux"
    prefix, home = Path(sys.base_prefix).resolve(), Path.home().resolve()
    if prefix in (home, Path("/")) or prefix in home.parents:
        return "Python's own folder holds the home"
    nonce = secrets.token_hex(8)
    tried = _run(Command(["-c", PROBE, nonce, *_out_of_reach()]), Limits())
    if tried.ending == "exited" and tried.output.decode(errors="replace").split() == ["isolated", nonce]:
        return ""
    return tried.why or "a trial run was not isolated"


def _out_of_reach() -> list[str]:
    """What the trial run must not see: the home, this project, and who runs it."""
    seen = {str(Path.home()), str(Path.cwd()), str(LAUNCHER), "/proc", "/sys", "/etc/passwd", "/var", "/run"}
    inside = [path for path in seen if Path(sys.base_prefix).resolve().is_relative_to(path)]
    return sorted(seen - {*inside, "/"})


PROBE = """
import os, socket, sys
nonce, hidden = sys.argv[1], sys.argv[2:]
wrong = [path for path in hidden if os.path.exists(path)]
wrong += [name for _, name in socket.if_nameindex() if name != "lo" and not name.startswith(("tunl", "sit", "ip"))]
wrong += ["user"] if 0 in (os.getuid(), os.geteuid(), os.getgid()) else []
wrong += ["processes"] if os.getppid() != 1 else []
for path in ("/x", "/usr/x", sys.base_prefix + "/x", "/tmp/x"):
    try:
        open(path, "w")
        wrong.append(path)
    except OSError:
        pass
known = {"bin", "dev", "etc", "lib", "lib32", "lib64", "usr", "work", sys.base_prefix.split("/")[1]}
wrong += sorted({*os.listdir("/")} - known) + os.listdir("/work")
import ctypes
wrong += ["namespaces"] if ctypes.CDLL(None).unshare(0x10000000) == 0 else []
try:
    socket.create_connection(("1.1.1.1", 53), 0.2)
    wrong.append("network")
except OSError:
    pass
print(*(wrong or ["isolated", nonce]))
"""


def _run(command: Command, limits: Limits) -> Outcome:
    reading, writing = os.pipe()
    started = time.perf_counter()
    try:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(LAUNCHER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, env={}, cwd="/", pass_fds=(writing,), start_new_session=True,
        )  # fmt: skip
    finally:
        os.close(writing)
    try:
        request = json.dumps(_request(command, limits, writing)).encode()
        ending, output = _watch(process, request, limits)
        told = _told(reading)
    finally:
        _kill(process)
        os.close(reading)
    seconds = time.perf_counter() - started
    if "started" not in told and ending == "exited":
        return Outcome("no_sandbox", why=str(told.get("refused", "the sandbox did not start")), seconds=seconds)
    return Outcome(ending, told.get("code", -signal.SIGKILL) if ending == "exited" else None, output, seconds)


def _request(command: Command, limits: Limits, status: int) -> dict[str, Any]:
    system = [Path(path) for path in SYSTEM if Path(path).exists()]
    links = [(str(path), str(path.readlink())) for path in system if path.is_symlink()]
    prefix = str(Path(sys.base_prefix).resolve())
    own = [] if prefix in ("/usr", "/usr/local") else [(prefix, prefix)]
    bound = [(str(path), str(path)) for path in system if not path.is_symlink()]
    python = str(Path(getattr(sys, "_base_executable", sys.executable)).resolve())
    return {
        "status_fd": status, "binds": [*bound, *own, *command.binds], "links": links, "files": dict(command.files),
        "stdin": command.stdin, "argv": [python, "-I", "-S", "-B", *command.arguments], "environment": ENVIRONMENT,
        "limits": limits.model_dump(mode="json"),
    }  # fmt: skip


def _watch(process: subprocess.Popen[bytes], request: bytes, limits: Limits) -> tuple[Ending, bytes]:
    """Feed the launcher and read what comes, until it ends or goes beyond a limit."""
    assert process.stdin and process.stdout
    try:
        with process.stdin as stream:
            stream.write(request)
    except BrokenPipeError:
        return "exited", b""
    deadline = time.monotonic() + limits.wall_s + START_S
    begun: float | None = None
    output = bytearray()
    with selectors.DefaultSelector() as waiting:
        waiting.register(process.stdout, selectors.EVENT_READ)
        while True:
            if waiting.select(TICK_S):
                part = os.read(process.stdout.fileno(), 1 << 16)
                output += part
                if not part:
                    return "exited", bytes(output)
                if len(output) > limits.output_kb << 10:
                    return "output", b""
            held = _resident(process.pid)
            begun = begun or (time.monotonic() if held[1] > 2 else None)
            if time.monotonic() > min(deadline, (begun or deadline) + limits.wall_s):
                return "timeout", b""
            if held[0] > limits.memory_mb << 20:
                return "memory", b""


def _resident(launcher: int) -> tuple[int, int]:
    """Bytes that the processes of a sandbox hold, and how many processes there are with the launcher's own."""
    page, held, waiting, count = os.sysconf("SC_PAGE_SIZE"), 0, [launcher], 0
    while waiting:
        folder = Path(f"/proc/{waiting.pop()}")
        try:
            pages = int((folder / "statm").read_text().split()[1])
            waiting += [int(n) for task in (folder / "task").iterdir() for n in (task / "children").read_text().split()]
        except (OSError, ValueError, IndexError):
            continue
        count += 1
        held += pages * page if count > 2 else 0
    return held, count


def _told(reading: int) -> dict[str, Any]:
    os.set_blocking(reading, False)
    facts: dict[str, Any] = {}
    try:
        for line in os.read(reading, 1 << 16).splitlines():
            facts |= json.loads(line)
    except (BlockingIOError, ValueError):
        return facts
    return facts


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End the launcher and process 1 of the sandbox, with which the kernel ends all others in it."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    if process.stdout:
        process.stdout.close()
    process.wait()
