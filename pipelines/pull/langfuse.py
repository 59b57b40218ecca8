"""Pulls from Langfuse through its client: observations and scores.

Servers of one's own before Langfuse 4 answer the first version of the API only, which the client has dropped: they
are asked through the same connection, page by page, and also for traces, since observations do not tell sessions.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pipelines.pull.answers import TIMEOUT_S, as_trouble, get_json
from pipelines.pull.patience import FIRST_ATTEMPTS, Tell, Trouble, patiently, retry_after
from pipelines.pull.sources import (
    LATE_EDITS,
    LATE_SPANS,
    Page,
    Row,
    Service,
    Stream,
    Window,
    missing_client,
    needed,
    opening,
    setting,
    utc_text,
)
from warehouse.problem import Problem

if TYPE_CHECKING:
    import httpx
    from langfuse.api import LangfuseAPI

CLOUD = "https://cloud.langfuse.com"
MOST_SCORES = 100
NUMBERED_PAGE = 100  # pages are numbered: their size may not change between them
GONE = frozenset({404, 405, 501})
ONCE = {"max_retries": 0}  # asking again is the pull's, which says so and waits as long as it is told to
FIELDS = "core,basic,time,io,metadata,model,usage,prompt,trace_context"
WHOLE_METADATA = "task_id,taskId,example_id,attempt,trial,conversation_id,thread_id,tools,tool_name,tool_call_id"
"""Keys of metadata that readers look at: other values come cut at 200 characters."""
OBSERVATIONS = Stream("observations", LATE_SPANS)
TRACES = Stream("traces", LATE_SPANS)
SCORES = Stream("scores", LATE_EDITS, verdicts=True)
SUBJECTS = {"trace": "traceId", "observation": "observationId"}


class Langfuse:
    """The project of Langfuse that the keys belong to."""

    def __init__(self, project: str, tell: Tell) -> None:
        try:
            import httpx
            from langfuse.api import LangfuseAPI
        except ImportError:
            raise missing_client("Langfuse", "langfuse") from None
        public, secret = (needed("Langfuse", f"LANGFUSE_{kind}_KEY") for kind in ("PUBLIC", "SECRET"))
        address = setting("LANGFUSE_BASE_URL", "LANGFUSE_HOST") or CLOUD
        self.service = Service("Langfuse", address, "LANGFUSE_PUBLIC_KEY and LANGFUSE_SECRET_KEY", "LANGFUSE_BASE_URL")
        self.http: httpx.Client = httpx.Client(base_url=address, auth=(public, secret), timeout=TIMEOUT_S)
        self.client: LangfuseAPI = LangfuseAPI(
            base_url=address, username=public, password=secret, x_langfuse_public_key=public, httpx_client=self.http
        )
        with opening(self):
            self.id, self.project = patiently(lambda: self._find(project), tell, FIRST_ATTEMPTS)
            self.second = patiently(self._answers_second, tell, FIRST_ATTEMPTS)
        self.streams = (OBSERVATIONS, SCORES) if self.second else (TRACES, OBSERVATIONS, SCORES)

    @property
    def identity(self) -> str:
        return f"langfuse {self.id}"

    def page(self, stream: Stream, window: Window, cursor: str | None, size: int) -> Page:
        """A page of observations, scores or traces."""
        if not self.second:
            return self._numbered(stream, window, int(cursor or 1))
        if stream == SCORES:
            return self._scores(window, cursor)
        return self._observations(window, cursor, size)

    def close(self) -> None:
        """Close the client's connections."""
        self.http.close()

    def _observations(self, window: Window, cursor: str | None, size: int) -> Page:
        answer = self._ask(
            self.client.observations.get_many, fields=FIELDS, expand_metadata=WHOLE_METADATA, limit=size,
            cursor=cursor, from_start_time=window.start, to_start_time=window.end,
        )  # fmt: skip
        return Page([json.loads(row.json()) for row in answer.data], answer.meta.cursor or None)

    def _scores(self, window: Window, cursor: str | None) -> Page:
        answer = self._ask(
            self.client.scores.get_many, fields="details,subject,annotation", limit=MOST_SCORES, cursor=cursor,
            from_timestamp=window.start, to_timestamp=window.end,
        )  # fmt: skip
        rows = (_with_ids(json.loads(row.json())) for row in answer.data)
        return Page([row for row in rows if row.get("traceId")], answer.meta.cursor or None)

    def _numbered(self, stream: Stream, window: Window, number: int) -> Page:
        """A page of the first API. The last is the one whose number says so: one in between may be empty."""
        time = "StartTime" if stream == OBSERVATIONS else "Timestamp"
        path = "v2/scores" if stream == SCORES else stream.name
        bounds = {f"from{time}": utc_text(window.start), f"to{time}": utc_text(window.end)}
        asked = {"page": number, "limit": NUMBERED_PAGE, **bounds}
        answer = get_json(self.http, f"/api/public/{path}", asked)
        rows, meta = answer.get("data") or [], answer.get("meta") or {}
        last = number >= meta["totalPages"] if "totalPages" in meta else not rows
        kept = [row for row in rows if row.get("traceId")] if stream == SCORES else rows
        return Page(kept, None if last else str(number + 1))

    def _find(self, project: str) -> tuple[str, str]:
        found = self._ask(self.client.projects.get).data
        if not found:
            raise Problem("the keys of Langfuse open no project: they must be a project's, not an organisation's")
        if project and project not in (found[0].id, found[0].name):
            raise Problem(f"the keys of Langfuse open another project than {project}: keys choose the project")
        return found[0].id, found[0].name

    def _answers_second(self) -> bool:
        try:
            self._ask(self.client.observations.get_many, limit=1)
        except Trouble as trouble:
            if trouble.status in GONE:
                return False
            raise
        return True

    def _ask(self, call: Any, **asked: Any) -> Any:
        """What the client gives. Raises Trouble; its own errors quote answers."""
        import httpx
        from langfuse.api.core.api_error import ApiError

        try:
            return call(**asked, request_options=ONCE)
        except ApiError as error:
            headers = {name.lower(): value for name, value in (error.headers or {}).items()}
            raise _trouble(error.status_code or 0, headers) from None
        except httpx.HTTPError as error:
            raise as_trouble(error) from None
        except ValueError:  # pydantic's
            raise Problem(
                "Langfuse gives records that its installed client does not know: pip install --upgrade langfuse"
            ) from None


def _trouble(status: int, headers: dict[str, str]) -> Trouble:
    """An error of the client; one that calls a success an error means that half an answer came."""
    return Trouble(0 if status < 300 else status, retry_after(headers.get("retry-after")))


def _with_ids(score: Row) -> Row:
    """A score with what it is about where exports have it; one on a session or an experiment has no trace."""
    subject = score.get("subject") or {}
    if name := SUBJECTS.get(subject.get("kind", "")):
        score["traceId"] = subject.get("traceId")
        score[name] = subject.get("id")
    return score
