"""Progress bars for long work: shown where a terminal asks for them, silent everywhere else."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

Item = TypeVar("Item")

_bars: ContextVar[Progress | None] = ContextVar("bars", default=None)


@contextmanager
def bars_shown(console: Console) -> Iterator[None]:
    """Show bars on `console` while the block runs, if it is a terminal."""
    if not console.is_terminal:
        yield
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        token = _bars.set(progress)
        try:
            yield
        finally:
            _bars.reset(token)


def tracked(items: Iterable[Item], what: str, total: int | None = None) -> Iterable[Item]:
    """`items`, counted on a bar called `what` if bars are shown."""
    progress = _bars.get()
    return items if progress is None else progress.track(items, total=total, description=what)
