"""What a program in the sandbox may try, and that it gets nowhere: each attempt is really made."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from transforms.rewards import sandbox
from transforms.rewards.sandbox import Command, Limits, Outcome, no_sandbox, run_isolated

pytestmark = pytest.mark.skipif(bool(no_sandbox()), reason=f"no sandbox on this machine: {no_sandbox()}")
SMALL = Limits(cpu_s=2, wall_s=8, memory_mb=128, processes=8, file_mb=2, disk_mb=4, output_kb=64)


def _try(program: str, limits: Limits = SMALL, stdin: str = "", *arguments: str) -> Outcome:
    return run_isolated(Command(["attempt.py", *arguments], {"attempt.py": program}, stdin), limits)


def _says(program: str, *arguments: str) -> str:
    outcome = _try(program, SMALL, "", *arguments)
    assert (outcome.ending, outcome.code) == ("exited", 0), outcome
    return outcome.output.decode().strip()


def _inside_processes() -> int:
    """Processes of this user's sandboxes that are still there."""
    found = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            found += b"attempt.py" in (folder / "cmdline").read_bytes()
        except OSError:
            continue
    return found


def _all_gone() -> bool:
    """Whether nothing is left a moment later: the kernel ends the processes of a namespace one by one."""
    until = time.monotonic() + 5
    while _inside_processes() and time.monotonic() < until:
        time.sleep(0.05)
    return _inside_processes() == 0


def test_a_program_runs_and_its_output_and_exit_code_come_back() -> None:
    assert _try("print(input()); raise SystemExit(3)", stdin="hello").output == b"hello\n"
    assert _try("raise SystemExit(3)").code == 3
    assert _try("import os, signal; os.kill(os.getpid(), signal.SIGTERM)").code == -signal.SIGTERM


def test_much_input_is_fed_to_whoever_reads_it() -> None:
    text = "x" * (1 << 20)
    assert _try("print(len(input()))", stdin=text).output.strip() == b"1048576"
    assert _try("print(1)", stdin=text).output.strip() == b"1"


def test_there_is_no_network() -> None:
    attempt = """
import socket, sys
host, port = sys.argv[1], int(sys.argv[2])
for family, address in ((socket.AF_INET, (host, port)), (socket.AF_INET, ("1.1.1.1", 53))):
    try:
        socket.socket(family).connect(address)
        print("connected")
    except OSError as error:
        print("no", end=" ")
try:
    socket.getaddrinfo("example.org", 80)
    print("resolved")
except OSError:
    print("no")
"""
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:  # a service of this machine, such as a database
        assert _says(attempt, "127.0.0.1", str(server.getsockname()[1])) == "no no no"


def test_an_abstract_socket_of_this_machine_is_out_of_reach() -> None:
    import socket

    with socket.socket(socket.AF_UNIX) as server:
        server.bind("\0tracemill-test")
        server.listen()
        attempt = """
import socket
try:
    socket.socket(socket.AF_UNIX).connect("\\0tracemill-test")
    print("connected")
except OSError:
    print("no")
"""
        assert _says(attempt) == "no"


def test_home_key_and_environment_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = tmp_path / "key"
    key.write_text("5eed" * 16)
    monkeypatch.setenv("TRACEMILL_KEY", "5eed" * 16)
    attempt = """
import os, sys
found = [path for path in sys.argv[1:] if os.path.exists(path)]
print(found, sorted(os.environ), [n for n in ("/proc", "/sys", "/etc/shadow", "/etc/passwd") if os.path.exists(n)])
for place, _, files in os.walk("/"):
    if "key" in files and "site-packages" not in place and "/usr" not in place and "/lib" not in place:
        print(place)
"""
    told = _says(attempt, str(key), str(Path.home() / ".ssh"), str(Path.cwd()), str(tmp_path), "/var", "/run")
    assert told == f"[] {sorted([*sandbox.ENVIRONMENT])} []"


def test_no_other_process_is_seen_and_the_parent_cannot_be_killed() -> None:
    attempt = """
import os, signal, sys
print(os.getppid())
for process in (1, int(sys.argv[1]), int(sys.argv[2])):
    try:
        os.kill(process, signal.SIGKILL)
        print("sent")
    except OSError:
        print("no")
import time
time.sleep(0.3)
print("alive")
"""
    told = _says(attempt, str(os.getpid()), str(os.getppid())).split()
    assert told == ["1", "sent", "no", "no", "alive"]  # process 1 inside takes no signal from inside
    assert _says("import os\ntry:\n    os.killpg(0, 0)\nexcept OSError: pass\nprint('ok')") == "ok"


def test_a_signal_to_everything_ends_the_program_alone() -> None:
    assert _try("import os, signal; os.kill(-1, signal.SIGKILL); os.killpg(0, signal.SIGKILL)").ending == "exited"


def test_the_supervisor_cannot_be_traced() -> None:
    attempt = "import ctypes; libc = ctypes.CDLL(None); print(libc.ptrace(16, 1, 0, 0), libc.syscall(434, 1, 0) >= 0)"
    assert _says(attempt).split()[0] == "-1"


def test_a_fork_bomb_is_held_and_ends() -> None:
    attempt = """
import os
made = 0
try:
    while True:
        if os.fork() == 0:
            import time
            time.sleep(60)
        made += 1
except OSError:
    print("held", made < 8)
"""
    assert _try(attempt).output.strip() == b"held True"
    ever = "import os\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass"
    assert _try(ever, SMALL.model_copy(update={"wall_s": 2.0})).ending in ("timeout", "exited")
    assert _all_gone()


def test_processes_that_are_left_behind_end_with_the_program() -> None:
    attempt = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(60)
    os._exit(0)
print("gone")
"""
    started = time.monotonic()
    assert _says(attempt) == "gone"
    assert time.monotonic() - started < 6 and _all_gone()


def test_the_disk_cannot_be_filled() -> None:
    attempt = """
import errno
written = 0
try:
    for number in range(100):
        with open(f"f{number}", "wb") as file:
            for _ in range(2 * 16):
                written += file.write(b"x" * 65536)
except OSError as error:
    print(errno.errorcode[error.errno], written <= 5 << 20)
"""
    assert _says(attempt) == "ENOSPC True"
    one = "import os, signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\nopen('f', 'wb').write(b'x' * (3 << 20))"
    assert _try(one).code == 1
    many = "for n in range(10**6): open(f'n{n}', 'w').close()"
    assert _try(many).code == 1


def test_nothing_outside_the_working_folder_can_be_written(tmp_path: Path) -> None:
    attempt = """
import os, sys
for path in ("/x", "/usr/x", "/usr/bin/python3", "/dev/x", "/tmp/x", "/../x", sys.base_prefix + "/x", *sys.argv[1:]):
    try:
        open(path, "w").close()
        print("wrote", path)
    except OSError:
        pass
try:
    os.mkdir("/made")
    print("made")
except OSError:
    pass
open("here", "w").close()
print(os.path.exists("/work/here"))
"""
    assert _says(attempt, str(tmp_path / "out"), str(Path.home() / "out")) == "True"
    assert not (tmp_path / "out").exists()


def test_links_lead_nowhere(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    attempt = """
import os, sys
os.symlink(sys.argv[1], "link")
os.symlink("/../../../.." + sys.argv[1], "far")
os.symlink("/", "root")
for path in ("link", "far", "root" + sys.argv[1]):
    try:
        print(open(path).read())
    except OSError:
        print("no")
for call in (lambda: os.link("/usr/bin/env", "hard"), lambda: os.chroot("/work"), lambda: os.mknod("disk", 0o60600, 1)):
    try:
        call()
        print("done")
    except OSError:
        print("no")
"""
    assert set(_says(attempt, str(secret)).split()) == {"no"}


def test_endless_output_is_cut() -> None:
    assert _try("while True: print('x' * 1000)").ending == "output"
    assert _try("import sys\nfor _ in range(5000): sys.stderr.write('x' * 1000)\nprint(1)").output == b"1\n"


def test_a_memory_bomb_is_stopped() -> None:
    assert _try("x = bytearray(1 << 30)").code == 1
    shared = """
import os, time
for _ in range(5):
    if os.fork() == 0:
        held = bytearray(b"x") * (60 << 20)
        time.sleep(5)
time.sleep(5)
"""
    assert _try(shared).ending == "memory"
    segments = "import ctypes; print(ctypes.CDLL(None).shmget(0, 1 << 20, 0o1600))"
    assert _says(segments) == "-1"


def test_an_endless_loop_is_stopped_by_cpu_time_and_a_sleep_by_the_clock() -> None:
    assert _try("while True: pass").code == -signal.SIGKILL
    assert _try("import time; time.sleep(60)", SMALL.model_copy(update={"wall_s": 0.5})).ending == "timeout"
    stubborn = """
import signal
for number in range(1, 32):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
while True: pass
"""
    assert _try(stubborn, SMALL.model_copy(update={"wall_s": 1.0, "cpu_s": 60})).ending == "timeout"
    assert _all_gone()


def test_it_is_nobody_and_cannot_become_more() -> None:
    attempt = """
import ctypes, os
libc = ctypes.CDLL(None)
print(os.getuid(), os.geteuid(), os.getgroups() in ([], [65534]))
for deed in (os.setuid, os.setgid):
    try:
        deed(0)
        print("done")
    except OSError:
        pass
print(libc.unshare(0x10000000), libc.unshare(0x20000), libc.mount(b"none", b"/work", b"tmpfs", 0, None))
print(libc.prctl(39, 0, 0, 0, 0))
"""
    assert _says(attempt).split() == ["1000", "1000", "True", "-1", "-1", "-1", "1"]


def test_it_ends_with_the_process_that_started_it() -> None:
    program = "import time; time.sleep(30)"
    code = (
        "from transforms.rewards.sandbox import Command, Limits, run_isolated\n"
        f"run_isolated(Command(['attempt.py'], {{'attempt.py': {program!r}}}), Limits())"
    )
    parent = subprocess.Popen([sys.executable, "-c", code])
    for _ in range(100):
        time.sleep(0.1)
        if _inside_processes():
            break
    parent.kill()
    parent.wait()
    assert _all_gone()


def test_without_isolation_nothing_is_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken = tmp_path / "launcher.py"
    broken.write_text(sandbox.LAUNCHER.read_text().replace("libc.unshare(NAMESPACES)", "libc.unshare(-1)"))
    monkeypatch.setattr(sandbox, "LAUNCHER", broken)
    no_sandbox.cache_clear()
    try:
        outcome = _try("print('ran')")
        assert (outcome.ending, outcome.output, outcome.why) == ("no_sandbox", b"", "Invalid argument")
    finally:
        no_sandbox.cache_clear()


@pytest.mark.parametrize(
    ("leak", "instead"),
    [
        ("0x40000000 | ", ""),  # the network stays
        ('_must(libc.umount2(b"/old", MNT_DETACH))\n    Path("/old").rmdir()', "pass"),  # the old root stays
        ("_hold_back(namespaces=0 if as_root else 1)", "pass"),
    ],
)
def test_a_sandbox_with_a_hole_is_found_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, leak: str, instead: str
) -> None:
    """The trial run is no formality: it must see what is missing."""
    text = sandbox.LAUNCHER.read_text()
    assert leak in text
    broken = tmp_path / "launcher.py"
    broken.write_text(text.replace(leak, instead))
    monkeypatch.setattr(sandbox, "LAUNCHER", broken)
    no_sandbox.cache_clear()
    try:
        assert no_sandbox() == "a trial run was not isolated"
    finally:
        no_sandbox.cache_clear()
