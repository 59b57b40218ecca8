"""Parts of messages that name no type: what Gemini and Bedrock make of them is read in any message."""

from __future__ import annotations

from typing import Any

import pytest

from transforms.readers.messages import read_message
from transforms.records import Media, Message

PDF = {"format": "pdf", "source": {"bytes": "AA=="}}
STORED = {"format": "png", "source": {"s3Location": {"uri": "s3://b/a"}}}


@pytest.mark.parametrize(
    ("part", "media"),
    [
        ({"inline_data": {"mime_type": "image/png", "data": "AA=="}}, Media("image", "image/png", "AA==")),
        ({"fileData": {"mimeType": "video/mp4", "fileUri": "gs://b/a"}}, Media("video", "video/mp4", "gs://b/a")),
        ({"image": STORED}, Media("image", "image/png", "s3://b/a")),
        ({"document": PDF}, Media("document", "", "AA==")),
    ],
)
def test_media_are_known_by_the_name_of_their_field(part: dict[str, Any], media: Media) -> None:
    odd: set[str] = set()
    assert read_message({"role": "user", "content": [part]}, odd) == [Message("user", "", media=(media,))]
    assert not odd


def test_text_that_was_thought_is_not_said() -> None:
    said = {"role": "model", "parts": [{"text": "Hm.", "thought": True}, {"text": "Nine.", "thought": None}]}
    assert read_message(said, set()) == [Message("assistant", "Nine.", "Hm.")]


def test_values_in_results_are_the_json_that_a_model_is_shown() -> None:
    answer = {"toolUseId": "c1", "content": [{"json": {"depth": 9}}, {"text": "meters"}]}
    [message] = read_message({"role": "user", "content": [{"toolResult": answer}]}, set())
    assert message == Message("tool", '{"depth":9}\nmeters', tool_call_id="c1")


def test_a_part_that_nobody_knows_is_told() -> None:
    odd: set[str] = set()
    read_message({"role": "user", "content": [{"video": None, "song": {"bytes": "AA=="}}]}, odd)
    assert odd == {"unknown_part"}
