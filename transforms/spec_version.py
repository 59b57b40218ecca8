"""The version of a specification: a short hash of what it says."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from pydantic import BaseModel

VERSION_DIGITS = 12


def version_of(spec: BaseModel, *parts: Any) -> str:
    """Equal specifications have equal versions, in whatever order their keys were written."""
    text = json.dumps([spec.model_dump(mode="json"), *parts], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:VERSION_DIGITS]
