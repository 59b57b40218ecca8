"""What all specifications share: nobody changes one, an unknown key is told, and a hash says which one it is."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from pydantic import BaseModel, ConfigDict

VERSION_DIGITS = 12


class Spec(BaseModel):
    """A part of `tracemill.yaml` or of a file of its own. An error tells the place and never what was written there."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    @property
    def version(self) -> str:
        """Hash of the specification."""
        return version_of(self)


def version_of(spec: Spec, *parts: Any) -> str:
    """Equal specifications have equal versions, in whatever order their keys were written."""
    text = json.dumps([spec.model_dump(mode="json"), *parts], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:VERSION_DIGITS]
