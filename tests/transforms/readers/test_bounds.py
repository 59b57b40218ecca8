"""What no file may do, however large or small it is: fill the memory, or hold up a night. Each is read on its own."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]

PRELUDE = """
import gzip, io, json, re, sys, time, zipfile, zlib
from collections import Counter
from pathlib import Path
import pyarrow.parquet, zstandard
from transforms.readers.exports import Tally, read_export

class Repeated(io.RawIOBase):
    "A head, then a body over and over, then a tail: streamed, never held."
    def __init__(self, head, body, times, tail=b""):
        self.parts = iter([head, *[None] * times, tail])
        self.body = body
    def seekable(self):
        return False
    def read(self, size=-1):
        part = next(self.parts, b"")
        return self.body if part is None else part

def peak_mib():
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) / 1024

LINE = b'{"id":"r","trace_id":"t","run_type":"tool","name":"x"}'
"""

READ = """
before = peak_mib()
began, told, tally = time.process_time(), Counter(), Tally()
for record in read_export(stream, tally):
    told[getattr(record, "reason", "read")] += 1
peak = peak_mib() - before
print(json.dumps({"told": told, "seconds": time.process_time() - began, "peak": peak, "blanks": tally.blanks}))
"""

# What makes the stream; what is told of it; MiB of memory and CPU seconds that reading may take. Bombs of zeros are no
# container that is known, and are passed over until they are seen to be bombs. Times leave room for
# a slow machine: they are there to tell minutes from hours.
BOUNDS: dict[str, tuple[str, dict[str, int], int, int]] = {
    "a line of 200 MB": (
        """stream = Repeated(LINE[:-2], b"x" * 2**20, 200, b'"}\\n' + LINE)""", {"read": 2}, 1300, 60,
    ),
    "a line of 1 GB": (
        """stream = Repeated(LINE[:-2], b"x" * 2**22, 256, b'"}\\n' + LINE)""", {"too_large": 1, "read": 1}, 700, 60,
    ),
    "a number of a billion digits": (
        """stream = Repeated(b'{"a":', b"1" * 2**22, 256, b"}\\n" + LINE)""", {"too_large": 1, "read": 1}, 700, 60,
    ),
    "a number of a billion digits in an array": (
        """stream = Repeated(b"[" + LINE + b",", b"1" * 2**22, 256, b"," + LINE + b"]")""",
        {"read": 2, "too_large": 1}, 200, 60,
    ),
    "a million levels": (
        """stream = io.BytesIO(b'{"a":' + b"[" * 10**6 + b"]" * 10**6 + b"}\\n" + LINE)""",
        {"too_deep": 1, "read": 1}, 100, 60,
    ),
    "an array of a million runs in one line": (
        """stream = Repeated(b"[" + LINE, b"," + LINE, 999_999, b"]\\n")""", {"read": 10**6}, 200, 300,
    ),
    "an array of a million numbers": (
        """stream = Repeated(b"[1", b",1", 999_999, b"]\\n")""", {"unknown_dialect": 1}, 200, 60,
    ),
    "forty million empty objects": (
        """stream = Repeated(b'{"a":[{}', b",{}" * 2**20, 40, b"]}\\n" + LINE)""", {"too_large": 1, "read": 1}, 700, 60,
    ),
    "ten gigabytes in gzip": (
        """
        packed = zlib.compressobj(9, wbits=31)
        zeros, head = packed.compress(bytes(2**24)), b""
        stream = Repeated(zeros, packed.compress(bytes(2**24)), 640)
        """, {"unknown_container": 1}, 200, 120,
    ),
    "ten gigabytes in zstd": (
        """
        frame = zstandard.ZstdCompressor().compress(bytes(2**27))
        stream = Repeated(frame, frame, 80)
        """, {"unknown_container": 1}, 500, 120,
    ),
    "ten gigabytes in zip": (
        """
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            with archive.open("a.jsonl", "w", force_zip64=True) as member:
                for _ in range(640):
                    member.write(bytes(2**24))
        stream.seek(0)
        """, {"unknown_container": 1}, 300, 120,
    ),
    "a hundred thousand files in zip": (
        """
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w") as archive:
            for number in range(100_000):
                archive.writestr(f"{number}.jsonl", LINE)
        stream.seek(0)
        """, {"read": 100_000}, 300, 200,
    ),
    "a million members in gzip": (
        """stream = io.BytesIO(gzip.compress(b"1") * 10**6)""", {"unknown_container": 1}, 200, 60,
    ),
    "two hundred million blank lines in gzip": (
        """
        packed = zlib.compressobj(9, wbits=31)
        parts = [LINE, *[b"\\n" * 10**6] * 200, LINE]
        stream = io.BytesIO(b"".join(map(packed.compress, parts)) + packed.flush())
        """, {"read": 2}, 100, 60,
    ),
    "four million empty spans in protobuf": (
        """stream = io.BytesIO(b"\\x0a\\x85\\x80\\x80\\x04\\x12\\x80\\x80\\x80\\x04" + b"\\x12\\x00" * 2**22)""",
        {"too_large": 1}, 100, 60,
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="asks the kernel for the peak of its memory")
@pytest.mark.parametrize("kind", BOUNDS)
def test_memory_and_time_are_bounded_for(kind: str) -> None:
    made, told, most_mib, most_seconds = BOUNDS[kind]
    program = PRELUDE + textwrap.dedent(made) + READ
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    print(kind, found)
    assert found["told"] == told
    assert found["peak"] < most_mib
    assert found["seconds"] < most_seconds
