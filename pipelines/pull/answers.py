"""Answers of services that are spoken to over httpx, as JSON or as Trouble."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pipelines.pull.patience import Trouble, retry_after

if TYPE_CHECKING:
    import httpx

TIMEOUT_S = 60.0  # large payloads take their time


def get_json(http: httpx.Client, path: str, asked: dict[str, Any]) -> Any:
    """The JSON at a path. Raises Trouble where the service does not give it, or not whole."""
    import httpx

    try:
        answer = http.get(path, params=asked, headers={"Accept": "application/json"})
        answer.raise_for_status()
        return answer.json()
    except httpx.HTTPError as error:
        raise as_trouble(error) from None
    except ValueError:
        raise Trouble(0) from None


def as_trouble(error: httpx.HTTPError) -> Trouble:
    """What an error of httpx comes to; its message is left behind, since it may quote the answer."""
    import httpx

    if isinstance(error, httpx.HTTPStatusError):
        return Trouble(error.response.status_code, retry_after(error.response.headers.get("Retry-After")))
    return Trouble(0)
