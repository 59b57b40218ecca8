"""`tracemill report privacy`: what a privacy officer is shown of a day or a release, without a value from a trace."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from pipelines.privacy_page import Page, Section, Share, as_html, as_markdown
from warehouse.problem import Problem

if TYPE_CHECKING:
    from assets.mill import Mill
    from pipelines.privacy_facts import PrivacyFacts

LEAST_ALIKE = 5
"""Rows of a group that are enough not to point at one (a customary least k)."""

out = Console()
app = typer.Typer(help="Reports to read and to hand on.", no_args_is_help=True)


@app.callback()
def reports() -> None:
    """Reports to read and to hand on."""


@app.command()
def privacy(
    day: Annotated[str | None, typer.Option(help="Arrival day, YYYY-MM-DD; none: the newest.")] = None,
    release: Annotated[str | None, typer.Option(help="A release instead of a day.")] = None,
    output: Annotated[str, typer.Option("--format", help="md or html.")] = "md",
    file: Annotated[Path | None, typer.Option("--out", help="File to write; none: standard output.")] = None,
) -> None:
    """Show what personal data was found, what became of it, and what an audit finds now. No value is in the report."""
    from assets.mill import open_mill

    if day and release:
        raise typer.BadParameter("a day or a release", param_hint="--day")
    if output not in ("md", "html"):
        raise typer.BadParameter("md or html", param_hint="--format")
    page = privacy_page(open_mill(), _day(day), release)
    text = as_html(page) if output == "html" else as_markdown(page)
    if file is None:
        out.print(text, markup=False, highlight=False, soft_wrap=True, end="")
        return
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Problem(f"cannot write {file} ({error.strerror})") from None
    out.print(f"wrote {file}", soft_wrap=True, highlight=False)


def privacy_page(mill: Mill, day: date | None, release: str | None) -> Page:
    """The report of a release, else of a day, else of the newest day. Raises Problem where there is none."""
    from pipelines.privacy_facts import facts_of_day, facts_of_release

    if release:
        facts, what = facts_of_release(mill, release), f"release {release}"
    else:
        days = mill.lake.days("clean_spans")
        if not days and day is None:
            raise Problem("nothing to report on: run a day first (`tracemill run --from EXPORTS`)")
        chosen = day or days[-1]
        facts, what = facts_of_day(mill, chosen), f"what arrived on {chosen}"
    bad, look = _attention(mill, facts, release)
    verdict = (
        "Personal data may remain: act on what is listed." if bad
        else "No known personal data remains; some points need a person's judgement." if look
        else "No known personal data remains."
    )  # fmt: skip
    made = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    about = f"Made {made} by tracemill. It holds counts and types only, no value and no text from any trace."
    state = "bad" if bad else "look" if look else "good"
    sections = [_found(facts), _changed(facts), _quarantined(facts, release), _audited(facts), _alike(facts)]
    return Page(f"Privacy report: {what}", about, verdict, state, bad + look, [*sections, _policy(mill), _erased(mill)])


def _attention(mill: Mill, facts: PrivacyFacts, release: str | None) -> tuple[list[str], list[str]]:
    """What is wrong, and what somebody should look at."""
    bad = [f"{count:,} rows hold a {entity} that is no surrogate" for entity, count in facts.remains.items()]
    if facts.forgotten:
        bad.append(f"{facts.forgotten:,} rows hold somebody who was forgotten: run tracemill forget --again")
    if release and (broken := mill.releases.verify(release)):
        bad.append(f"the tables {', '.join(broken)} are not what the release seals")
    kept = [entity for entity, action in mill.settings.privacy.entities.items() if action == "keep"]
    look = [f"the policy keeps {', '.join(kept)} as it is"] if kept else []
    if held := sum(count for _, _, count, *_ in facts.of("quarantined")):
        look.append(f"{held:,} records were held back, since they could not be cleared")
    whole = [row for row in facts.of("anonymity") if "," in row[0]]
    if whole and whole[0][2]:
        _, _, count, total, smallest = whole[0]
        look.append(
            f"{count:,} of {total:,} trajectories have fewer than {LEAST_ALIKE - 1} others like them "
            f"if source, agent, models, outcome and day are taken together (k = {smallest})"
        )
    if facts.missing:
        look.append(f"the steps of {facts.missing:,} trajectories have left the lake: they are not counted below")
    if facts.searched < facts.texts:
        look.append(f"the audit below read {facts.searched:,} of {facts.texts:,} messages and calls")
    return bad, look


def _found(facts: PrivacyFacts) -> Section:
    rows = sorted(facts.of("found"), key=lambda row: (-sum(r[2] for r in facts.of("found") if r[0] == row[0]), row[:2]))
    return Section(
        "What was found and replaced",
        "Occurrences by type and by where they stood, each replaced before anything was stored. What a call and its "
        "message both hold counts in both.",
        ("type", "place", "occurrences", "characters"),
        [(entity, place, count, total) for entity, place, count, total, _ in rows],
        "No personal data was found.",
    )


def _changed(facts: PrivacyFacts) -> Section:
    names = {
        "messages": "messages changed", "spans": "calls and tool runs changed",
        "characters": "characters replaced, of the characters in messages",
    }  # fmt: skip
    rows = [
        (names[item], count, total, Share(count / total if total else 0))
        for item, _, count, total, _ in facts.of("changed")
    ]
    return Section(
        "How much text was changed",
        "A changed row has at least one replacement.",
        ("", "changed", "of", "share"),
        list(rows),
    )


def _quarantined(facts: PrivacyFacts, release: str | None) -> Section:
    reasons = {
        "unscannable": "could not be searched to the end", "leak": "something known remained after cleaning twice",
    }  # fmt: skip
    rows = [(item, reasons[item.partition("_")[0]], count) for item, _, count, *_ in facts.of("quarantined")]
    nothing = "Releases hold nothing of what was held back." if release else "Nothing was held back."
    note = "Records whose trace could not be cleared. Nothing of them is stored but their position and the reason."
    return Section("What was quarantined and why", note, ("reason", "meaning", "records"), list(rows), nothing)


def _audited(facts: PrivacyFacts) -> Section:
    strong = sum(facts.remains.values())
    rows: list[tuple[Any, ...]] = [
        ("known values and secrets, before publishing", "passed: a day is not published otherwise", 0),
        (f"e-mail, telephone, card, account, IP and the like, in {facts.searched:,} stored messages and calls, now",
         "failed" if strong else "passed", strong),
        ("persons who were forgotten, now", "failed" if facts.forgotten else "passed", facts.forgotten),
    ]  # fmt: skip
    note = (
        "The first audit ran before anything was stored; the others read the stored text for this report. They prove "
        "that what is recognised is gone. What no rule recognises they cannot see: read samples for that."
    )
    return Section("Audits", note, ("what was looked for", "result", "remaining"), rows)


def _alike(facts: PrivacyFacts) -> Section:
    note = (
        "Columns that are not text stay as they are. k is the size of the smallest group of rows with the same values; "
        f"a row in a group of fewer than {LEAST_ALIKE} may point at one person to somebody who knows other facts. "
        "The first row takes the columns together."
    )
    found = sorted(facts.of("anonymity"), key=lambda row: ("," not in row[0], row[1] != "trajectories", row[0]))
    rows = [
        (item, place, smallest, count, total, Share(count / total if total else 0))
        for item, place, count, total, smallest in found
    ]
    columns = ("columns", "of", "k", f"in groups under {LEAST_ALIKE}", "of", "share")
    return Section("How alike the remaining columns are (k-anonymity)", note, columns, list(rows), "There are no rows.")


def _policy(mill: Mill) -> Section:
    from transforms.privacy.policy import KEPT

    policy = mill.settings.privacy
    rows: list[tuple[Any, ...]] = [
        (entity, " ".join(filter(None, (policy.action(entity), policy.level(entity)))))
        for entity in sorted({*policy.entities, *KEPT})
    ]
    rows += [
        ("every other type", "replace"), ("exact values that stay", f"{len(policy.allow)}"),
        ("role accounts (support@, noreply@)", "keep" if policy.keep_role_accounts else "replace"),
        ("names in prose", f"found by {policy.model}" if policy.model else "no model looks for them"),
        ("recognisers of your own", f"{len(policy.recognisers)}"),
    ]  # fmt: skip
    note = (
        "The settings as they are now. Replaced values are keyed pseudonyms: personal data in the sense of the GDPR "
        "until the key is destroyed."
    )
    return Section("The policy", note, ("what", "what is done"), rows)


def _erased(mill: Mill) -> Section:
    rows = [
        (deed["at"][:16].replace("T", " "), deed["kind"], len(deed["days"]), deed["traces"], len(deed["releases"]),
         ", ".join(deed["models"]) or "none")
        for deed in mill.erasures.deeds()
    ]  # fmt: skip
    columns = ("when (UTC)", "deed", "days", "traces", "releases withdrawn", "models trained on them")
    note = "Persons forgotten and old days dropped, in the whole lake."
    return Section("Erasures", note, columns, list(rows), "Nobody was forgotten and no day was dropped.")


def _day(text: str | None) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        raise typer.BadParameter("a day is written YYYY-MM-DD", param_hint="--day") from None
