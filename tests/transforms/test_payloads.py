"""Values are written the same way whichever encoder writes them."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from transforms.payloads import to_json

TEXTS = st.text(st.characters(codec=None), max_size=8)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | TEXTS
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3), max_leaves=8
)


@given(VALUES)
def test_json_is_that_of_the_standard_library(value: Any) -> None:
    written = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    assert to_json(value) == written.encode("utf-8", "replace").decode()
