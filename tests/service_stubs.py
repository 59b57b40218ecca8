"""Tracing services on 127.0.0.1: they answer as the real ones do, page limits, cursors and moods included."""

from __future__ import annotations

import base64
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

Row = dict[str, Any]
Answer = tuple[int, Any]
SECRET = "the answer said: Marguerite Oyelaran"


@dataclass
class Stub:
    """A service. `moods` maps the number of a request (from 0) to what goes wrong with it:
    a status, `busy` (429 with Retry-After), `break` (half an answer, then the end) or `hang up`."""

    address: str = ""
    requests: list[tuple[str, dict[str, list[str]], Any]] = field(default_factory=list)
    moods: dict[int, int | str] = field(default_factory=dict)
    slow: float = 0.0

    def answer(self, path: str, query: dict[str, list[str]], body: Any) -> Answer:
        raise NotImplementedError

    def asked(self, part: str) -> int:
        return sum(part in path for path, _, _ in self.requests)


@contextmanager
def serving(stub: Stub) -> Iterator[Stub]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            url = urlsplit(self.path)
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            mood = stub.moods.get(len(stub.requests))
            stub.requests.append((unquote(url.path), parse_qs(url.query), body))
            if stub.slow:
                threading.Event().wait(stub.slow)
            if mood == "hang up":
                self.close_connection = True
                return
            status, content = (mood, {"detail": SECRET}) if isinstance(mood, int) else (429, {"detail": SECRET})
            if mood in (None, "break"):
                status, content = stub.answer(*stub.requests[-1])
            data = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            if mood == "busy":
                self.send_header("Retry-After", "0.05")
            self.end_headers()
            self.wfile.write(data[: len(data) // 2] if mood == "break" else data)
            self.close_connection = mood == "break"

        do_POST = do_GET

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    stub.address = f"http://127.0.0.1:{server.server_port}"
    try:
        yield stub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@dataclass
class LangSmithStub(Stub):
    """`second` answers as instances that keep runs in SmithDB alone do."""

    runs: list[Row] = field(default_factory=list)
    feedback: list[Row] = field(default_factory=list)
    project: str = "agents"
    second: bool = False
    page: int = 100

    def answer(self, path: str, query: dict[str, list[str]], body: Any) -> Answer:
        if path == "/info":
            return 200, {"instance_flags": {"sdb_query_enabled": self.second, "ch_query_enabled": not self.second}}
        if path == "/sessions":
            return 200, [{"id": PROJECT_ID}] if query["name"] == [self.project] else []
        if path == "/feedback":
            if int(query["limit"][0]) > 100 or query["session"] != [PROJECT_ID]:
                return 400, {"detail": SECRET}
            rows = within(self.feedback, "created_at", query["min_created_at"][0], query["max_created_at"][0])
            offset = int(query["offset"][0])
            return 200, rows[offset : offset + min(self.page, 100)]
        if path == "/runs/query" and not self.second:
            bounds = re.findall(r'"([^"]+)"', body["filter"])
            if body["limit"] > 100 or body["session"] != [PROJECT_ID]:
                return 400, {"detail": SECRET}
            rows, following = paged(within(self.runs, "start_time", *bounds), body.get("cursor"), body["limit"])
            return 200, {"runs": [select(row, body["select"]) for row in rows], "cursors": {"next": following}}
        if path == "/api/v2/runs/query" and self.second:
            rows = within(self.runs, "start_time", body["min_start_time"], body["max_start_time"])
            rows, following = paged(rows, body.get("cursor"), body["page_size"])
            upper = {name.lower() for name in body["selects"]}
            shaped = [
                {**row, "run_type": row["run_type"].upper(), "metadata": row["extra"]["metadata"]} for row in rows
            ]
            return 200, {"items": [select(row, upper) for row in shaped], "next_cursor": following}
        return 404, {"detail": SECRET}


PROJECT_ID = "046a2c03-9cf8-5e27-9d0d-9d2a69e67d86"


@dataclass
class LangfuseStub(Stub):
    """`second` tells whether it knows the second version of the API; before, pages were numbered."""

    observations: list[Row] = field(default_factory=list)
    traces: list[Row] = field(default_factory=list)
    scores: list[Row] = field(default_factory=list)
    second: bool = True
    hole: int = 0  # the numbered page that comes back empty though it is not the last

    def answer(self, path: str, query: dict[str, list[str]], body: Any) -> Answer:
        one = {name: values[0] for name, values in query.items()}
        if path == "/api/public/projects":
            organisation = {"id": "org", "name": "org"}
            return 200, {"data": [{"id": "prj", "name": "agents", "metadata": {}, "organization": organisation}]}
        if self.second and path == "/api/public/v2/observations":
            rows = within(self.observations, "startTime", one.get("fromStartTime"), one.get("toStartTime"))
            rows, following = paged(rows, one.get("cursor"), int(one["limit"]))
            return 200, {"data": rows, "meta": {"cursor": following} if following else {}}
        if self.second and path == "/api/public/v3/scores":
            if int(one["limit"]) > 100:
                return 400, {"message": SECRET}
            rows = within(self.scores, "timestamp", one.get("fromTimestamp"), one.get("toTimestamp"))
            rows, following = paged(rows, one.get("cursor"), int(one["limit"]))
            return 200, {"data": rows, "meta": {"limit": 100} | ({"cursor": following} if following else {})}
        numbered = {"observations": self.observations, "traces": self.traces, "v2/scores": self.scores}
        name = path.removeprefix("/api/public/")
        if self.second or name not in numbered:
            return 404, {"message": SECRET}
        moment = "startTime" if name == "observations" else "timestamp"
        bounds = [one.get(f"{side}{moment[0].upper()}{moment[1:]}") for side in ("from", "to")]
        rows = within(numbered[name], moment, *bounds)
        if name == "v2/scores":
            rows = [{**row, **subject_ids(row)} for row in rows]
        size, number = 2, int(one["page"])
        count = -(-len(rows) // size) + bool(self.hole)
        if self.hole and number >= self.hole:
            number = 0 if number == self.hole else number - 1
        data = rows[(number - 1) * size : number * size] if number else []
        return 200, {"data": data, "meta": {"page": int(one["page"]), "totalPages": count, "totalItems": len(rows)}}


@dataclass
class PhoenixStub(Stub):
    spans: list[Row] = field(default_factory=list)
    annotations: list[Row] = field(default_factory=list)
    trace_annotations: list[Row] = field(default_factory=list)

    def answer(self, path: str, query: dict[str, list[str]], body: Any) -> Answer:
        if not path.startswith("/v1/projects/agents"):
            return 404, SECRET
        one = {name: values[0] for name, values in query.items()}
        if path.endswith("/agents"):
            return 200, {"data": {"id": "UHJvamVjdDox", "name": "agents"}}
        if path.endswith("/spans"):
            rows = within(self.spans, "start_time", one["start_time"], one["end_time"])
            rows, following = paged(rows, one.get("cursor"), int(one["limit"]))
            return 200, {"data": rows, "next_cursor": following}
        name = "trace_ids" if path.endswith("/trace_annotations") else "span_ids"
        rows = self.trace_annotations if name == "trace_ids" else self.annotations
        rows = [row for row in rows if row[name[:-1]] in query[name]]
        rows, following = paged(rows, one.get("cursor"), min(int(one["limit"]), 2))
        return 200, {"data": rows, "next_cursor": following}


def moment(text: str) -> datetime:
    told = datetime.fromisoformat(text)
    return told if told.tzinfo else told.replace(tzinfo=UTC)


def within(rows: list[Row], name: str, start: str | None, end: str | None) -> list[Row]:
    """Rows of a stretch of time, the newest first, as services list them."""
    low, high = (moment(text) if text else None for text in (start, end))
    kept = [row for row in rows if (not low or low <= moment(row[name])) and (not high or moment(row[name]) < high)]
    return sorted(kept, key=lambda row: moment(row[name]), reverse=True)


def paged(rows: list[Row], cursor: str | None, size: int) -> tuple[list[Row], str | None]:
    """A page, and a cursor that nobody can read."""
    start = int(base64.urlsafe_b64decode(cursor).decode()) if cursor else 0
    following = base64.urlsafe_b64encode(str(start + size).encode()).decode() if start + size < len(rows) else None
    return rows[start : start + size], following


def select(row: Row, names: list[str] | set[str]) -> Row:
    return {name: value for name, value in row.items() if name in names}


def subject_ids(score: Row) -> Row:
    subject = score["subject"]
    if subject["kind"] == "observation":
        return {"traceId": subject["traceId"], "observationId": subject["id"]}
    return {"traceId": subject["id"] if subject["kind"] == "trace" else None, "observationId": None}
