"""Days that land by hand, and what they hold then."""

import json
from datetime import date

import polars as pl

from assets.ingest import land
from assets.mill import Mill
from assets.privacy import _read
from assets.staleness import inputs_of, is_stale
from transforms.kept_shelves import PARTS
from warehouse.schemas import EXPORTS, REJECTS


def line(number: int, text: str = "ü환불") -> bytes:
    run = {"id": f"run-{number}", "trace_id": "t", "run_type": "tool", "name": text}
    return json.dumps(run, ensure_ascii=False).encode() + b"\n"


def publish(mill: Mill, day: date) -> str:
    made = land(mill, day)
    provenance = mill.provenance("landed", inputs_of(mill, "landed", day, made.sources))
    return mill.lake.publish("landed", day, made.frames, provenance, made.sources)


def publish_stale(mill: Mill, days: list[date]) -> None:
    while stale := [day for day in days if is_stale(mill, "landed", day)]:
        publish(mill, stale[0])


def spans(mill: Mill, day: date) -> list[tuple[int, str]]:
    """Position and id of the spans of a day, read as another process reads them."""
    file_ids = sorted(mill.lake.scan(EXPORTS, only=day).collect()["file_id"])
    kept = _read(mill, day, file_ids)
    return sorted((one.span.position, one.span.span_id) for part in range(PARTS) for one in kept.spans(part))


def all_spans(mill: Mill) -> list[tuple[int, str]]:
    return sorted(one for day in mill.lake.days("landed") for one in spans(mill, day))


def rejects(mill: Mill) -> list[tuple[int, str]]:
    return sorted(mill.lake.scan(REJECTS).select("position", "reason").collect().rows())


def counts(mill: Mill) -> tuple[int, ...]:
    return mill.lake.scan(EXPORTS).select(pl.col("records", "rejects", "blanks", "bytes").sum()).collect().row(0)
