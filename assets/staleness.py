"""What an asset's day rests on, and which days rest on something that is no longer so."""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta

import polars as pl

from assets.history import begun_before
from assets.mill import Mill
from warehouse.catalog import DAILY
from warehouse.digest import text_digest
from warehouse.lake import Lake
from warehouse.schemas import EXPORTS, FEEDBACK, SPANS


def inputs_of(mill: Mill, asset: str, day: date, sources: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """What an asset's day is made of as things stand: versions of partitions; for `landed`, which files arrived
    (`sources` are those of the day) and which of them an earlier day has, or begins."""
    lake = mill.lake
    if asset == "landed":
        seen = {source["file_id"] for source in sources} & earlier_files(lake, day) | begun_before(lake, day, sources)
        return {"arrivals": mill.arrivals.digest(day), "seen": text_digest(sorted(seen))}
    if asset == "trajectories":
        held = days_of(lake, touched_traces(lake, day), day)
        return {f"clean_spans/{one}": lake.version_of("clean_spans", one) for one in held}
    upstream = {"clean_spans": ("landed",), "gates": ("trajectories",), "rewards": ("trajectories", "gates")}[asset]
    return {f"{name}/{day}": lake.version_of(name, day) for name in upstream}


def earlier_files(lake: Lake, day: date) -> set[str]:
    """Ids of the files that landed before `day`."""
    return set(lake.scan(EXPORTS, through=day - timedelta(days=1)).select("file_id").collect()["file_id"])


def touched_traces(lake: Lake, day: date) -> pl.DataFrame:
    """Traces with a span or a verdict of the day, and the other traces of their conversations (trace_id)."""
    touched = pl.concat([lake.scan(table, only=day).select("trace_id") for table in (SPANS, FEEDBACK)]).unique()
    known = lake.scan(SPANS, through=day).select("trace_id", "source", "conversation_id")
    talks = known.join(touched, on="trace_id", how="semi").select("source", "conversation_id").drop_nulls().unique()
    siblings = known.join(talks, on=["source", "conversation_id"], how="semi").select("trace_id")
    return pl.concat([touched, siblings]).unique().collect()


def days_of(lake: Lake, traces: pl.DataFrame, through: date) -> list[date]:
    """Days up to `through` that hold a span or a verdict of `traces`, in order."""
    held = [
        lake.scan(table, through=through).join(traces.lazy(), on="trace_id", how="semi").select("day")
        for table in (SPANS, FEEDBACK)
    ]
    return pl.concat(held).unique().collect()["day"].sort().to_list()


def is_stale(mill: Mill, asset: str, day: date) -> bool:
    """Whether an asset's day was never published, or its settings or what it rests on have changed since."""
    manifest = mill.lake.manifest(asset, day)
    if manifest is None or manifest["config"] != mill.settings.read_by(asset):
        return True
    return bool(manifest["inputs"] != inputs_of(mill, asset, day, manifest["sources"]))


def has_news(mill: Mill, day: date) -> bool:
    """Whether files of `day` came or changed since it was last run, or no run came to its end since."""
    for asset in DAILY:
        manifest = mill.lake.manifest(asset, day)
        if manifest is None:
            return True
        now = inputs_of(mill, asset, day, manifest["sources"])
        own = {name for name in now if name in ("arrivals", "seen") or name.endswith(f"/{day}")}
        if any(manifest["inputs"].get(name) != now[name] for name in own):
            return True
    return False


def stale_days(mill: Mill, after: date = date.min) -> list[date]:
    """Days after `after` with arrivals or partitions of which any asset is stale, in order."""
    kept = mill.erasures.retained_from() or date.min
    known = sorted(day for day in {*mill.arrivals.days(), *mill.lake.days("landed")} if day > after and day >= kept)
    return [day for day in known if any(is_stale(mill, asset, day) for asset in DAILY)]
