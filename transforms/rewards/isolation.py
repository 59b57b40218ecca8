"""Runs one command with nothing of this machine in reach; a program of its own, since it gives up what it may do.

The kernel's namespaces do it: no network, no other process, an empty file system in memory with the system's
libraries and Python's read-only, an unprivileged user, and limits. It knows the standard library only. What it is to
run comes on standard input as JSON (`Request` of `sandbox.py`); how it went goes to the file descriptor that is named
there, so that what the command prints can't pretend it.
"""

from __future__ import annotations

import ctypes
import json
import os
import platform
import resource
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

NEW_USER = 0x10000000
NAMESPACES = NEW_USER | 0x20000 | 0x20000000 | 0x40000000 | 0x08000000 | 0x04000000 | 0x02000000
"""With it CLONE_NEWNS, NEWPID, NEWNET, NEWIPC, NEWUTS, NEWCGROUP."""

MS_NOSUID, MS_NODEV, MS_REMOUNT, MS_RDONLY, MS_BIND, MS_REC, MS_PRIVATE = 2, 4, 32, 1, 4096, 16384, 1 << 18
MNT_DETACH = 2
MOUNT_SETATTR, AT_RECURSIVE = 442, 0x8000
READ_ONLY = 1 | 2 | 4
"""MOUNT_ATTR_RDONLY, NOSUID, NODEV."""

PIVOT_ROOT = {"x86_64": 155, "aarch64": 41, "riscv64": 41, "ppc64le": 203, "s390x": 217}
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS = 1, 4, 38
INSIDE, NOBODY = 1000, 65534
"""The user inside, and who that is outside where root starts it."""

DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom")
ROOT, WORK = "/tmp", "/work"

libc = ctypes.CDLL(None, use_errno=True)


def main() -> None:
    request = json.loads(sys.stdin.buffer.read())
    tell = _Status(request["status_fd"])
    try:
        as_root = os.geteuid() == 0
        _enter(as_root)
        first = os.fork()
        if not first:
            _first_process(request, tell, as_root)
        _, status = os.waitpid(first, 0)
        os._exit(os.waitstatus_to_exitcode(status) & 0x7F)
    except OSError as error:
        tell(refused=error.strerror or type(error).__name__)
        os._exit(1)


class _Status:
    """Tells the caller what happens, on a descriptor that the command does not get."""

    def __init__(self, descriptor: int) -> None:
        os.set_inheritable(descriptor, False)
        self._descriptor = descriptor

    def __call__(self, **facts: Any) -> None:
        os.write(self._descriptor, json.dumps(facts).encode() + b"\n")


def _enter(as_root: bool) -> None:
    """Go into new namespaces. Root has another process map a user that is nobody outside; others map themselves, as
    root for as long as the sandbox is built."""
    if not as_root:
        user, group = os.geteuid(), os.getegid()
        _must(libc.unshare(NAMESPACES))
        _map(os.open("/proc/self", os.O_RDONLY), f"0 {user} 1", f"0 {group} 1")
        return
    waiting, entered = os.pipe()
    me = os.open(f"/proc/{os.getpid()}", os.O_RDONLY)
    helper = os.fork()
    if not helper:
        os.close(entered)
        if not os.read(waiting, 1):
            os._exit(1)
        _exit_with(lambda: _map(me, f"0 0 1\n{INSIDE} {NOBODY} 1", f"0 0 1\n{INSIDE} {NOBODY} 1"))
    os.setgroups([])
    _must(libc.unshare(NAMESPACES))
    os.write(entered, b".")
    _, status = os.waitpid(helper, 0)
    os.close(waiting)
    os.close(entered)
    if status:
        raise PermissionError(1, "user ids cannot be mapped")


def _map(process: int, users: str, groups: str) -> None:
    """Say who the users and groups of a process's namespace are outside; `process` is its open folder in /proc."""
    for name, text in (("setgroups", "deny"), ("gid_map", groups), ("uid_map", users)):
        descriptor = os.open(name, os.O_WRONLY, dir_fd=process)
        os.write(descriptor, text.encode())
        os.close(descriptor)
    os.close(process)


def _exit_with(deed: Callable[[], None]) -> None:
    try:
        deed()
    except OSError:
        os._exit(1)
    os._exit(0)


def _first_process(request: dict[str, Any], tell: _Status, as_root: bool) -> None:
    """Process 1 inside: builds what there is to see, starts the command, and takes all others with it when it ends."""
    try:
        _hold_back(namespaces=0 if as_root else 1)
        me = os.open("/proc/self", os.O_RDONLY)
        _build(request, owner=INSIDE if as_root else 0)
        if as_root:
            os.close(me)
            os.setresgid(INSIDE, INSIDE, INSIDE)
            os.setresuid(INSIDE, INSIDE, INSIDE)
        else:
            _must(libc.unshare(NEW_USER))
            _map(me, f"{INSIDE} 0 1", f"{INSIDE} 0 1")
        _must(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        _must(libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0))
        _must(libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0))
        command = os.fork()
        if not command:
            _become(request, tell)
        os.close(0)
        status = _wait_for(command)
        tell(code=os.waitstatus_to_exitcode(status))
        os._exit(0)
    except OSError as error:
        tell(refused=error.strerror or type(error).__name__)
        os._exit(1)


def _wait_for(command: int) -> int:
    while True:  # what loses its parent becomes a child of this process
        process, status = os.wait()
        if process == command:
            return status


def _hold_back(namespaces: int) -> None:
    """No further namespace, in which the command would be root; no memory that belongs to no process."""
    Path("/proc/sys/user/max_user_namespaces").write_text(str(namespaces), encoding="ascii")
    Path("/proc/sys/kernel/shmmni").write_text("0", encoding="ascii")


def _build(request: dict[str, Any], owner: int) -> None:
    """A root in memory: bound folders read-only, three devices, and one folder to write in, with the files given."""
    limits = request["limits"]
    libc.sethostname(b"sandbox", 7)
    _mount("none", "/", "", MS_REC | MS_PRIVATE)
    wanted = [*request["binds"], *((device, device) for device in DEVICES)]
    opened = [os.open(source, os.O_PATH) for source, _ in wanted]  # before the new root hides what lies there
    _mount("tmpfs", ROOT, "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,nr_inodes=512,mode=755")
    for descriptor, (_, place) in zip(opened, wanted, strict=True):
        _bind(f"/proc/self/fd/{descriptor}", ROOT + place, place in DEVICES)
        os.close(descriptor)
    for name, target in request["links"]:
        Path(ROOT + name).symlink_to(target)
    work = Path(ROOT + WORK)
    work.mkdir()
    room = f"size={limits['disk_mb']}m,nr_inodes={limits['files']},mode=700,uid={owner},gid={owner}"
    _mount("tmpfs", str(work), "tmpfs", MS_NOSUID | MS_NODEV, room)
    for name, text in request["files"].items():
        (work / name).write_text(text, encoding="utf-8")
        os.chown(work / name, owner, owner)
    os.chdir(ROOT)
    Path("old").mkdir()
    _must(libc.syscall(PIVOT_ROOT[platform.machine()], b".", b"old"))
    os.chdir("/")
    _must(libc.umount2(b"/old", MNT_DETACH))
    Path("/old").rmdir()
    _mount("none", "/", "", MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV)
    os.chdir(WORK)


def _bind(source: str, place: str, is_device: bool) -> None:
    here, there = Path(source), Path(place)
    there.parent.mkdir(parents=True, exist_ok=True)
    if here.is_dir():
        there.mkdir(exist_ok=True)
    else:
        there.touch()
    _mount(source, place, "", MS_BIND | MS_REC)
    if not is_device:
        attributes = (ctypes.c_uint64 * 4)(READ_ONLY, 0, 0, 0)
        size = ctypes.c_size_t(ctypes.sizeof(attributes))
        _must(libc.syscall(MOUNT_SETATTR, -100, place.encode(), AT_RECURSIVE, ctypes.byref(attributes), size))


def _mount(source: str, place: str, kind: str, flags: int, data: str = "") -> None:
    arguments = source.encode(), place.encode(), kind.encode() or None, ctypes.c_ulong(flags), data.encode() or None
    _must(libc.mount(*arguments))


def _become(request: dict[str, Any], tell: _Status) -> None:
    """Take the limits on and become the command."""
    try:
        limits = request["limits"]
        for limit, most in (
            (resource.RLIMIT_CPU, limits["cpu_s"]),
            (resource.RLIMIT_AS, limits["memory_mb"] << 20),
            (resource.RLIMIT_FSIZE, limits["file_mb"] << 20),
            (resource.RLIMIT_NPROC, limits["processes"]),
            (resource.RLIMIT_NOFILE, 64),
            (resource.RLIMIT_CORE, 0),
            (resource.RLIMIT_MEMLOCK, 0),
            (resource.RLIMIT_MSGQUEUE, 0),
        ):
            resource.setrlimit(limit, (most, most))
        reading, writing = os.pipe()
        if os.fork():
            os.close(writing)
            os.dup2(reading, 0)
            tell(started=True)
            os.execve(request["argv"][0], request["argv"], request["environment"])
        os.close(reading)
        os.close(1)
        os.close(2)
        with os.fdopen(writing, "wb") as stream:
            stream.write(request["stdin"].encode())
        os._exit(0)
    except OSError as error:
        tell(refused=error.strerror or type(error).__name__)
    os._exit(1)


def _must(result: int) -> None:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


if __name__ == "__main__":
    main()
