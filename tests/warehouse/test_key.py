"""The key is made once, kept tight, and never replaced by another."""

import stat
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest
from lake_samples import landed

from warehouse.home import Home
from warehouse.key import fingerprint, tenant_key
from warehouse.lake import Lake, Provenance
from warehouse.problem import Problem


def publish(home: Home, key: bytes) -> None:
    Lake(home.lake).publish("landed", date(2026, 3, 4), landed("a"), Provenance("c", "c", "c", fingerprint(key)))


def test_an_empty_lake_gets_a_key_that_nobody_else_may_read(tmp_path: Path) -> None:
    home = Home.at(tmp_path / "home")
    key = tenant_key(home)
    assert len(key) == 32
    assert stat.S_IMODE(home.key_file.stat().st_mode) == 0o600
    assert tenant_key(home) == key
    assert [path.name for path in home.root.iterdir()] == ["key"]


def test_two_processes_that_make_a_key_at_once_have_the_same_one(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from warehouse.home import Home; from warehouse.key import tenant_key\n"
        "print('ready', flush=True); sys.stdin.readline(); print(tenant_key(Home.at(Path(sys.argv[1]))).hex())"
    )
    makers = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(4)
    ]
    for maker in makers:
        assert maker.stdout and maker.stdout.readline() == "ready\n"
    for maker in makers:
        assert maker.stdin
        maker.stdin.write("\n")
        maker.stdin.flush()
    assert len({maker.communicate()[0] for maker in makers}) == 1
    assert all(maker.returncode == 0 for maker in makers)


def test_a_lake_without_its_key_is_refused(tmp_path: Path) -> None:
    home = Home.at(tmp_path)
    publish(home, tenant_key(home))
    home.key_file.unlink()
    with pytest.raises(Problem, match="its key is not at"):
        tenant_key(home)


def test_another_key_than_the_lakes_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = Home.at(tmp_path)
    publish(home, tenant_key(home))
    monkeypatch.setenv("TRACEMILL_KEY", "ab" * 32)
    with pytest.raises(Problem, match="another key"):
        tenant_key(home)


@pytest.mark.parametrize(("value", "told"), [("xyz", "not hexadecimal"), ("abcd", "2 bytes")])
def test_a_wrong_key_is_told_without_its_value(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str, told: str
) -> None:
    monkeypatch.setenv("TRACEMILL_KEY", value)
    with pytest.raises(Problem, match=told) as caught:
        tenant_key(Home.at(tmp_path))
    assert value not in str(caught.value)


def test_a_key_file_that_others_may_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "key.hex"
    file.write_text("ab" * 32)
    file.chmod(0o644)
    monkeypatch.setenv("TRACEMILL_KEY_FILE", str(file))
    with pytest.raises(Problem, match="chmod 600"):
        tenant_key(Home.at(tmp_path))
    file.chmod(0o600)
    assert tenant_key(Home.at(tmp_path)) == bytes.fromhex("ab" * 32)
