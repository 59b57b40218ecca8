"""Failures that say what went wrong and where, and never what a trace said."""

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import dagster as dg

from transforms.cleaning import LeakFound
from transforms.datasets.release_spec import Refused
from transforms.privacy.unscannable import ModelMissing
from warehouse.problem import Problem
from warehouse.schemas import SchemaError

SENTENCES = (Problem, SchemaError, LeakFound, ModelMissing)
REFUSED_BY = "refused_by"  # in a failure's metadata: the rule by which the data were refused
RETRYABLE = (MemoryError,)


@contextmanager
def told_safely() -> Iterator[None]:
    """Turn any exception into a `Failure` whose text is ours: Dagster stores messages and their causes.

    An unforeseen exception is told by its type and the place in our code, since its message may quote a trace.
    """
    try:
        yield
    except Refused as error:
        failure = dg.Failure(str(error), metadata={REFUSED_BY: error.rule}, allow_retries=False)
    except SENTENCES as error:
        failure = dg.Failure(str(error), allow_retries=False)
    except Exception as error:  # noqa: BLE001 - whatever it is, its message must not reach the event log
        failure = dg.Failure(f"{type(error).__name__} at {place(error)}", allow_retries=isinstance(error, RETRYABLE))
    else:
        return
    raise failure from None


def place(error: BaseException) -> str:
    """Where in our code an exception came from: what may be said of one whose message may quote a trace."""
    root = Path(__file__).resolve().parent.parent
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if root in Path(frame.filename).resolve().parents] or list(frames)
    frame = ours[-1]
    return f"{Path(frame.filename).parent.name}/{Path(frame.filename).name}:{frame.lineno}"
