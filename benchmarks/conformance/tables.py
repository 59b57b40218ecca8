"""An export of a capture as the tables of trajectories, by the functions that a day's run is made of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from benchmarks.conformance.captures import Export
from benchmarks.conformance.corpus import place, read_truth
from transforms.cleaning import DayCleaning
from transforms.identity import Identity
from transforms.kept import KeptRecords
from transforms.privacy.deidentifier import Deidentifier
from transforms.privacy.policy import PrivacyPolicy
from transforms.readers.exports import Tally, read_export
from transforms.records import Message, Reject, Span
from transforms.sealed_frames import frames_of
from transforms.trajectories.threads import Threads, build_threads

KEY = b"k" * 32
DAY = date(2026, 11, 30)
WITHOUT_MODEL = PrivacyPolicy(model=None)


@dataclass(frozen=True)
class Threaded:
    """An export's cleaned spans, its threads, each message as it stood in the export, and what really happened."""

    spans: pl.DataFrame
    threads: Threads
    raw: dict[bytes, Message]
    expected: dict[str, Any]


def threaded(folder: Path, export: Export) -> Threaded:
    """An export, read, cleaned by rules alone and threaded."""
    identity = Identity(KEY)
    records = [list(records_of(place(folder, export, name))) for name in export.files]
    spans, messages = cleaned(records, identity)
    said = (m for file in records for one in file if isinstance(one, Span) for m in (*one.prompt, *one.output))
    raw = {identity.message(message): message for message in said}
    return Threaded(spans, build_threads(spans, messages, identity, DAY), raw, read_truth(folder, export))


def records_of(path: Path) -> Iterable[Any]:
    """The spans and verdicts of a file."""
    with path.open("rb") as stream:
        yield from (record for record in read_export(stream, Tally()) if not isinstance(record, Reject))


def cleaned(files: Iterable[Iterable[Any]], identity: Identity, day: date = DAY) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The spans and messages of a day on which files with these records arrive."""
    kept = KeptRecords(identity)
    for number, records in enumerate(files):
        file = kept.start_file(f"{number:064d}")
        for record in records:
            kept.add(record, file)
    deidentifier = partial(Deidentifier, WITHOUT_MODEL, KEY)
    tables = DayCleaning(day, deidentifier, workers=1).tables(kept, max_quarantined=0)
    return pl.concat([*frames_of(tables["spans"])]), pl.concat([*frames_of(tables["messages"])])
