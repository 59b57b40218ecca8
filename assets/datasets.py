"""`release`, `credit`, `preference_pairs`, `rollouts`: one cut through all days, frozen and sealed together."""

from datetime import date, timedelta
from pathlib import Path
from typing import Any

import dagster as dg
import duckdb
import polars as pl
from pydantic import Field

from assets.failures import told_safely
from assets.mill import CODE_VERSION, Mill, MillResource
from assets.partitions import releases
from transforms.credit.assign import UNSCORED, assign_credit
from transforms.credit.audit import CreditError
from transforms.credit.diagnostics import diagnose
from transforms.credit.spec import ScoredMethod
from transforms.datasets.cut import cut, funnel
from transforms.datasets.exported_twice import CALLS, same_runs
from transforms.datasets.pairs import mine_pairs
from transforms.datasets.persons import first_user_texts, persons
from transforms.datasets.release_spec import ReleaseSpec
from transforms.datasets.rollouts import build_rollouts
from transforms.rewards.composition import gdpo
from warehouse.digest import text_digest
from warehouse.duck import reader
from warehouse.files import writer_lock
from warehouse.key import fingerprint
from warehouse.problem import Problem
from warehouse.schemas import CREDIT_DIAGNOSTICS, GATES, REWARDS, SPANS, STEPS, TRAJECTORIES, Table

# Each asset's table, and the parts of the specification that it reads.
MADE_OF = {
    "release": ("cut", ("window_days", "where", "split", "min_tasks")),
    "credit": ("credit", ("credit",)),
    "preference_pairs": ("preference_pairs", ("pairs",)),
    "rollouts": ("rollouts", ()),
}


class ReleaseConfig(dg.Config):
    """What to cut: days up to `through`, by `spec`, or by the default one of tracemill.yaml where it is empty."""

    through: str = Field(default="", description="last arrival day, YYYY-MM-DD; empty: the last one published")
    spec: str = Field(default="", description="a release specification as JSON; empty: that of tracemill.yaml")


def _every_day(asset: str) -> dg.AssetDep:
    return dg.AssetDep(asset, partition_mapping=dg.AllPartitionMapping())


def _spec(name: str, deps: list[Any], about: str) -> dg.AssetSpec:
    return dg.AssetSpec(name, deps=deps, description=about, group_name="datasets")


@dg.multi_asset(
    specs=[
        _spec(
            "release",
            [_every_day(asset) for asset in ("clean_spans", "trajectories", "rewards", "gates")],
            "Which trajectories, at which revision, in which split.",
        ),
        _spec("credit", ["release"], "What each step gets of the outcome."),
        _spec("preference_pairs", ["release"], "A better and a worse continuation of one prefix."),
        _spec("rollouts", ["credit"], "Trajectories in groups, with advantages."),
    ],
    partitions_def=releases,
    can_subset=False,
)
def sealed_release(context: dg.AssetExecutionContext, config: ReleaseConfig, mill: MillResource) -> Any:
    """All tables of a release at once; its manifest is written last."""
    with told_safely():
        opened = mill.open()
        manifest = cut_release(opened, context.partition_key, config)
        measured = opened.releases.read(context.partition_key, CREDIT_DIAGNOSTICS)
    for asset, (table, _) in MADE_OF.items():
        facts: dict[str, Any] = {"dagster/row_count": manifest["tables"][table]["rows"]}
        if asset == "credit":
            known = measured.drop_nulls("value").select(pl.format("{}/{}", "measure", "method"), "value")
            facts |= dict(known.iter_rows())
        version = dg.DataVersion(data_version(manifest, asset))
        yield dg.MaterializeResult(asset_key=asset, metadata=facts, data_version=version)


def data_version(manifest: dict[str, Any], asset: str) -> str:
    """Hash of an asset's rows and of the part of the specification that it reads."""
    table, parts = MADE_OF[asset]
    return text_digest(manifest["tables"][table]["digest"], {part: manifest["spec"][part] for part in parts})


def cut_release(mill: Mill, name: str, config: ReleaseConfig) -> dict[str, Any]:
    """Cut, credit, pair and seal a release; return its manifest. A sealed one with the same input stays as it is.

    Raises Refused where the data do not carry one, Problem where the name is taken by another cut.
    """
    spec = ReleaseSpec.model_validate_json(config.spec) if config.spec else mill.settings.release
    through = release_day(mill, config.through)
    rests_on = rests_on_input(mill, through, spec)
    if mill.releases.exists(name) and mill.releases.manifest(name)["rests_on"] == rests_on:
        return mill.releases.manifest(name)
    alive, held = _in_window(mill, through, spec)
    frames = _input(mill, through, alive)
    chosen = cut(name, **frames["cut"], spec=spec)
    credited, scored_by = _credited(mill, name, chosen, frames, spec)
    pairs = mine_pairs(name, chosen, frames["steps"], frames["messages"], spec)
    rollouts = build_rollouts(name, chosen, credited, frames["steps"], frames["messages"])
    measured = diagnose(credited, chosen, frames["steps"], frames["cut"]["rewards"], frames["messages"], spec.credit)
    tables = {
        "cut": chosen, "credit": credited, "credit_diagnostics": measured, "preference_pairs": pairs,
        "rollouts": rollouts,
    }  # fmt: skip
    facts = {
        "through": through.isoformat(), "rests_on": rests_on, "code": CODE_VERSION, "key": fingerprint(mill.key),
        "versions": _versions(frames["cut"], credited),
        "funnel": [{"rule": "window", "left": held}, *funnel(chosen)],
        "spec": spec.model_dump(mode="json"), "counts": _counts(chosen, pairs, rollouts),
    }  # fmt: skip
    if scored_by:
        facts["scored_by"] = scored_by
    return seal(mill, name, through, spec, tables, facts)


def _credited(
    mill: Mill, name: str, chosen: pl.DataFrame, frames: dict[str, Any], spec: ReleaseSpec
) -> tuple[pl.DataFrame, dict[str, str]]:
    """CREDIT of the cut, by the method that the specification names, and hashes of what a model scored it with.

    Raises Problem where it does not add up.
    """
    evidence, steps, messages = frames["cut"], frames["steps"], frames["messages"]
    scored = UNSCORED
    if isinstance(spec.credit, ScoredMethod):
        from training.scoring import score

        model, store = _scoring_model(mill, spec.credit), mill.home.lake / "scores"
        scored = score(spec.credit, chosen, evidence["trajectories"], steps, messages, model, store, mill.key)
    try:
        return assign_credit(name, chosen, steps, evidence["rewards"], messages, spec.credit, scored), scored.by
    except CreditError as error:
        raise Problem(f"release {name} was not sealed: {error}") from None


def _scoring_model(mill: Mill, credit: ScoredMethod) -> Path:
    """Folder of the model that scores. Raises Problem where none is named."""
    given = credit.model or mill.settings.training.model
    if not given:
        raise Problem(
            f"credit `{credit.method}` needs a model that scores: name its folder as `model` beside the method, or as "
            "`training.model` in tracemill.yaml"
        )
    return Path(given).expanduser().resolve()


def seal(
    mill: Mill, name: str, through: date, spec: ReleaseSpec, tables: dict[str, pl.DataFrame], facts: dict[str, Any]
) -> dict[str, Any]:
    """Publish a release and return its manifest. Raises Problem where days are no longer what `facts` rests on."""
    with writer_lock(mill.home.lock_file):
        if rests_on_input(mill, through, spec) != facts["rests_on"]:
            raise Problem(f"days changed while release {name} was cut from them; nothing was sealed: cut it again")
        return mill.releases.publish(name, tables, facts)


def release_day(mill: Mill, through: str) -> date:
    """The last day of a cut: the one named, else the last one with rewards. Raises Problem where there is none."""
    published = mill.lake.days("rewards")
    if not published:
        raise Problem("nothing to cut a release from: run a day first (`tracemill run --from EXPORTS`)")
    return date.fromisoformat(through) if through else published[-1]


def rests_on_input(mill: Mill, through: date, spec: ReleaseSpec) -> str:
    """Hash of all that a release is made of: equal hashes give equal releases. Raises Problem for a missing model."""
    parts = [mill.lake.version(through), through, spec.model_dump(mode="json"), CODE_VERSION]
    if mill.settings.rewards.normalise:
        parts.append(mill.settings.rewards.version)
    if isinstance(spec.credit, ScoredMethod):
        from training.scoring import scoring_input

        parts.append(scoring_input(spec.credit, _scoring_model(mill, spec.credit)))
    return text_digest(*parts)


def _input(mill: Mill, through: date, alive: pl.DataFrame) -> dict[str, Any]:
    """The trajectories of a cut with all that belongs to them."""

    def of(table: Table) -> pl.DataFrame:
        key = ["trajectory_id", "revision"]
        return mill.lake.scan(table, through).join(alive.lazy(), on=key, how="semi").collect()

    steps = of(STEPS)
    shown = (
        steps.lazy()
        .select(pl.col("observed").list.concat("action").alias("message_id"))
        .explode("message_id", empty_as_null=False)
    )
    messages = mill.lake.newest_messages(shown, through)
    trajectories, rewards, wanted = of(TRAJECTORIES), of(REWARDS), mill.settings.rewards
    if wanted.normalise:
        rewards = gdpo(rewards, trajectories, wanted)
    own = steps.lazy().select("trace_id", "span_id")
    calls = mill.lake.scan(SPANS, through).select(CALLS).join(own, on=["trace_id", "span_id"], how="semi").collect()
    evidence = {
        "trajectories": trajectories, "rewards": rewards, "gates": of(GATES),
        "first_user_texts": first_user_texts(steps, messages), "persons": persons(steps, messages),
        "same_runs": same_runs(trajectories, steps, calls),
    }  # fmt: skip
    return {"cut": evidence, "steps": steps, "messages": messages}


def _in_window(mill: Mill, through: date, spec: ReleaseSpec) -> tuple[pl.DataFrame, int]:
    """Highest revisions (trajectory_id, revision) that the filter leaves, and how many the window held.

    Raises Problem where the filter is not SQL over `curated_trajectories`.
    """
    since = through - timedelta(days=spec.window_days - 1)
    with reader(mill.home, through) as connection:
        window = connection.sql(f"SELECT * FROM curated_trajectories WHERE revision >= DATE '{since}'")
        held = window.pl().height
        try:
            kept = window.filter(spec.where) if spec.where else window
            return kept.select("trajectory_id, revision").pl(), held
        except (duckdb.ParserException, duckdb.BinderException, duckdb.CatalogException) as error:
            why = str(error).splitlines()[0]
        except duckdb.Error as error:  # its message may quote a value
            why = type(error).__name__
    raise Problem(f"release.where is no condition over curated_trajectories: {why}")


def _versions(evidence: dict[str, pl.DataFrame], credited: pl.DataFrame) -> dict[str, list[str]]:
    """Versions of the specifications that made the rows: several where days were run under several."""
    made = {"rewards": evidence["rewards"], "gates": evidence["gates"], "credit": credited}
    return {name: frame["version"].unique().sort().to_list() for name, frame in made.items()}


def _counts(chosen: pl.DataFrame, pairs: pl.DataFrame, rollouts: pl.DataFrame) -> dict[str, int]:
    kept = chosen.filter(pl.col("split").is_not_null())
    mixed = rollouts.filter(pl.col("mixed"))
    return {
        "trajectories": kept.height,
        "tasks": kept["task_id"].n_unique(),
        "mixed_groups": mixed["task_id"].n_unique(),
        "pairs": pairs.height,
        "test_pairs": pairs.filter(pl.col("split") == "test").height,
        "rollouts": rollouts.height,
    }
