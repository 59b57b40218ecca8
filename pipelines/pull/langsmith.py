"""Pulls from LangSmith through its client: runs, and feedback by when it was given.

The client's `list_runs` is announced to go, keeps its cursor to itself and stops at an empty page; its
`request_with_retries` gives the same answers as they were sent. Instances that keep runs in SmithDB alone answer
the second version of the query only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
    import requests
    from langsmith import Client

MOST = 100  # LangSmith refuses more at once
RUNS = Stream("runs", LATE_SPANS)
FEEDBACK = Stream("feedback", LATE_EDITS, verdicts=True)
FIELDS = (
    "id", "name", "run_type", "status", "start_time", "end_time", "error", "extra", "inputs", "outputs", "trace_id",
    "parent_run_id", "parent_run_ids", "dotted_order", "session_id", "reference_example_id", "tags",
    "prompt_tokens", "completion_tokens", "total_tokens",
)  # fmt: skip
"""No statistics of feedback, which change with each verdict, and no links to storage, which change with each answer."""
FIELDS_V2 = tuple(
    {"session_id": "PROJECT_ID"}.get(name, name.upper()) for name in (*FIELDS, "metadata", "thread_id")
    if name != "parent_run_id"
)  # fmt: skip


class LangSmith:
    """A tracing project of LangSmith."""

    streams = (RUNS, FEEDBACK)

    def __init__(self, project: str, tell: Tell) -> None:
        try:
            from langsmith import Client
            from urllib3 import Retry
        except ImportError:
            raise missing_client("LangSmith", "langsmith") from None
        project = project or setting("LANGSMITH_PROJECT", "LANGCHAIN_PROJECT")
        if not project:
            raise Problem("which project of LangSmith? name it with --project, or set LANGSMITH_PROJECT")
        key = needed("LangSmith", "LANGSMITH_API_KEY", "LANGCHAIN_API_KEY")
        # Its connections do not ask again by themselves: that is the pull's, which says so while it waits.
        self.client: Client = Client(api_key=key, auto_batch_tracing=False, retry_config=Retry(0, read=False))
        self.service = Service(
            "LangSmith", self.client.api_url, "LANGSMITH_API_KEY, and LANGSMITH_WORKSPACE_ID", "LANGSMITH_ENDPOINT"
        )
        self.project = project
        self._last_ids: list[Any] = []
        with opening(self):
            self.id = patiently(self._find, tell, FIRST_ATTEMPTS)
            flags = patiently(lambda: self._ask("GET", "/info"), tell, FIRST_ATTEMPTS).get("instance_flags") or {}
        self.second = flags.get("sdb_query_enabled", False) and not flags.get("ch_query_enabled", True)

    @property
    def identity(self) -> str:
        return f"langsmith {self.id}"

    def page(self, stream: Stream, window: Window, cursor: str | None, size: int) -> Page:
        """A page of runs or of feedback."""
        if stream == FEEDBACK:
            return self._feedback(window, cursor)
        return self._second(window, cursor, size) if self.second else self._first(window, cursor, size)

    def close(self) -> None:
        """Close the client's connections."""
        self.client.session.close()

    def _first(self, window: Window, cursor: str | None, size: int) -> Page:
        start, end = utc_text(window.start), utc_text(window.end)
        asked = {
            "session": [self.id],
            "filter": f'and(gte(start_time, "{start}"), lt(start_time, "{end}"))',
            "start_time": start,  # without it an instance may look at a recent stretch only
            "select": FIELDS,
            "limit": min(size, MOST),
        }
        answer = self._ask("POST", "/runs/query", json=asked | ({"cursor": cursor} if cursor else {}))
        return Page(answer.get("runs") or [], (answer.get("cursors") or {}).get("next") or None)

    def _second(self, window: Window, cursor: str | None, size: int) -> Page:
        asked = {
            "project_ids": [self.id],
            "min_start_time": utc_text(window.start),
            "max_start_time": utc_text(window.end),
            "selects": FIELDS_V2,
            "page_size": min(size, MOST),
        }
        answer = self._ask("POST", "/api/v2/runs/query", json=asked | ({"cursor": cursor} if cursor else {}))
        return Page(answer.get("items") or [], answer.get("next_cursor") or None)

    def _feedback(self, window: Window, cursor: str | None) -> Page:
        """A page by offset. Only an empty one, or the same again, is the last: an instance may give less than asked."""
        offset = int(cursor or 0)
        asked = {
            "session": [self.id],
            "min_created_at": utc_text(window.start),
            "max_created_at": utc_text(window.end),
            "limit": MOST,
            "offset": offset,
        }
        rows: list[Row] = self._ask("GET", "/feedback", params=asked)
        ids = [row.get("id") for row in rows]
        if not rows or (offset and ids == self._last_ids):
            return Page([], None)
        self._last_ids = ids
        return Page(rows, str(offset + len(rows)))

    def _find(self) -> str:
        found = self._ask("GET", "/sessions", params={"name": self.project, "limit": 1})
        if not found:
            raise Problem(
                f"LangSmith has no project of that name in this workspace ({self.project}): look at the name, and at "
                "LANGSMITH_WORKSPACE_ID where your key opens several"
            )
        return str(found[0]["id"])

    def _ask(self, method: str, path: str, **request: Any) -> Any:
        """The answer's JSON. Raises Trouble; nothing of what the client says goes on, since it quotes answers."""
        import requests
        from langsmith import utils

        try:
            # Of two attempts the first shows its answer, with the header that says how long to wait.
            answer = self.client.request_with_retries(
                method, path, request_kwargs=request, stop_after_attempt=2, handle_response=_refuse
            )
            return answer.json()
        except utils.LangSmithRateLimitError:
            raise Trouble(429) from None
        except utils.LangSmithAuthError:
            raise Trouble(401) from None
        except utils.LangSmithNotFoundError:
            raise Trouble(404) from None
        except (utils.LangSmithError, requests.RequestException, ValueError):
            raise Trouble(0) from None


def _refuse(response: requests.Response, attempt: int) -> bool:
    raise Trouble(response.status_code, retry_after(response.headers.get("Retry-After"))) from None
