"""Pulls from Phoenix through its client: spans, and annotations of the spans that were landed.

Phoenix gives annotations of spans that are named, and no others. So those of the last 30 days that lie in the landing
folder are named, and late annotations are found. The client's `get_spans` keeps everything in memory and its cursor
to itself: spans are asked for through its connection, a page at a time.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from pipelines.pull.answers import TIMEOUT_S, as_trouble, get_json
from pipelines.pull.landing import Landing
from pipelines.pull.patience import FIRST_ATTEMPTS, Tell, Trouble, patiently
from pipelines.pull.sources import (
    LATE_SPANS,
    Page,
    Row,
    Service,
    Stream,
    Window,
    missing_client,
    opening,
    setting,
    utc_text,
)
from warehouse.problem import Problem

if TYPE_CHECKING:
    import httpx
    from phoenix.client import Client

LATE_ANNOTATIONS = timedelta(days=30)
SPANS = Stream("spans", LATE_SPANS)
ANNOTATIONS = Stream("annotations", LATE_ANNOTATIONS, verdicts=True, by_run=True)
DEFAULT_PROJECT = "default"
MOST_ANNOTATIONS = 1000


class Phoenix:
    """A project of Phoenix; annotations are asked for of its spans that were landed in `folder`."""

    streams = (SPANS, ANNOTATIONS)

    def __init__(self, project: str, folder: Path, tell: Tell) -> None:
        try:
            import httpx
            from phoenix.client import Client
            from phoenix.client.utils.config import get_base_url, get_env_client_headers
        except ImportError:
            raise missing_client("Phoenix", "phoenix") from None
        self.project = project or setting("PHOENIX_PROJECT", "PHOENIX_PROJECT_NAME") or DEFAULT_PROJECT
        address = str(get_base_url())
        key = setting("PHOENIX_API_KEY")
        headers = {**get_env_client_headers(), **({"Authorization": f"Bearer {key}"} if key else {})}
        self.service = Service("Phoenix", address, "PHOENIX_API_KEY", "PHOENIX_ENDPOINT or PHOENIX_COLLECTOR_ENDPOINT")
        self.http: httpx.Client = httpx.Client(base_url=address, headers=headers, timeout=TIMEOUT_S)
        self.client: Client = Client(http_client=self.http)
        self._folder = folder
        self._index: dict[datetime, dict[str, str]] | None = None
        with opening(self):
            self.id = patiently(self._find, tell, FIRST_ATTEMPTS)

    @property
    def identity(self) -> str:
        return f"phoenix {self.service.place} {self.id}"

    def page(self, stream: Stream, window: Window, cursor: str | None, size: int) -> Page:
        """A page of spans, or the annotations of a hundred spans."""
        if stream == ANNOTATIONS:
            return self._annotations(window, cursor, size)
        asked = {"start_time": utc_text(window.start), "end_time": utc_text(window.end), "limit": size}
        answer = get_json(self.http, self._path("spans"), asked | ({"cursor": cursor} if cursor else {}))
        return Page(answer.get("data") or [], answer.get("next_cursor") or None)

    def close(self) -> None:
        """Close the client's connections."""
        self.http.close()

    def _annotations(self, window: Window, cursor: str | None, size: int) -> Page:
        """Annotations of the next spans of a window, by id; the cursor is the last span that was named."""
        traces = self._spans(window)
        left = [span for span in sorted(traces) if span > (cursor or "")]
        named = left[:size]
        rows = [{**row, "trace_id": traces[row["span_id"]]} for row in self._of_spans(named)] if named else []
        rows += self._of_traces(sorted({traces[span] for span in named})) if named else []
        return Page(rows, named[-1] if len(left) > len(named) else None)

    def _of_spans(self, spans: list[str]) -> list[Row]:
        import httpx

        try:
            found = self.client.spans.get_span_annotations(
                span_ids=spans, project_identifier=quote(self.project, safe=""), limit=MOST_ANNOTATIONS
            )
        except httpx.HTTPStatusError as error:
            if error.response.status_code == 404:  # they were deleted there
                return []
            raise as_trouble(error) from None
        except httpx.HTTPError as error:
            raise as_trouble(error) from None
        except ValueError:
            raise Trouble(0) from None
        return [dict(row) for row in found if row.get("span_id") in set(spans)]

    def _of_traces(self, traces: list[str]) -> list[Row]:
        """Annotations of whole traces, which the client does not ask for, and older servers do not have."""
        rows: list[Row] = []
        cursor: str | None = None
        while True:
            asked = {"trace_ids": traces, "limit": MOST_ANNOTATIONS} | ({"cursor": cursor} if cursor else {})
            try:
                answer = get_json(self.http, self._path("trace_annotations"), asked)
            except Trouble as trouble:
                if trouble.status in (404, 405):
                    return rows
                raise
            rows += answer.get("data") or []
            cursor = answer.get("next_cursor") or None
            if not cursor:
                return rows

    def _spans(self, window: Window) -> dict[str, str]:
        """Trace ids of the landed spans that started in the window, by span id."""
        if self._index is None:
            self._index = defaultdict(dict)
            for row in Landing.of(self._folder, "phoenix", self.project, self.identity).rows():
                if "context" in row:
                    day = _started(row).replace(hour=0, minute=0, second=0, microsecond=0)
                    self._index[day][row["context"]["span_id"]] = row["context"]["trace_id"]
        day = window.start.replace(hour=0, minute=0, second=0, microsecond=0)
        return self._index.get(day, {})

    def _find(self) -> str:
        try:
            return str(get_json(self.http, f"v1/projects/{quote(self.project, safe='')}", {})["data"]["id"])
        except Trouble as trouble:
            if trouble.status == 404:
                raise Problem(f"Phoenix at {self.service.place} has no project of that name ({self.project})") from None
            raise

    def _path(self, what: str) -> str:
        return f"v1/projects/{quote(self.project, safe='')}/{what}"


def _started(row: Row) -> datetime:
    moment = datetime.fromisoformat(row["start_time"])
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
