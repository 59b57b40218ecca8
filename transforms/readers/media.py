"""Reads pictures, sounds and files that stand in messages: what they are, and their bytes or address."""

from __future__ import annotations

from typing import Any

from transforms.readers.values import first_text, mapping
from transforms.records import Media

MEDIA_TYPES = frozenset(
    {"image", "image_url", "input_image", "audio", "input_audio", "video", "file", "input_file", "document",
     "blob", "binary", "uri", "media", "video_url", "audio_url"}
)  # fmt: skip
_INNER = ("source", "input_audio", "image_url", "video_url", "audio_url", "file")
_MODALITIES = ("image", "audio", "video", "document")


def read_media(part: dict[str, Any]) -> Media:
    """One part of `MEDIA_TYPES`: OpenAI's, Anthropic's, LangChain's or OpenTelemetry's."""
    kind = str(part.get("type"))
    inner: dict[str, Any] = next((part[key] for key in _INNER if isinstance(part.get(key), dict)), {})
    data = first_text({**part, **inner}, "data", "base64", "content", "file_data", "url", "uri", "image_url",
                      "file_url", "file_uri", "file_id", "image", "audio", "input_audio", "id")  # fmt: skip
    mime = first_text({**part, **inner}, "mime_type", "media_type", "mimeType", "mediaType")
    if data.startswith("data:") and "," in data:
        header, _, data = data.partition(",")
        mime = mime or header[len("data:") :].partition(";")[0]
    if not mime and mapping(inner).get("format"):
        mime = f"audio/{inner['format']}"
    return Media(_modality(part, kind, mime), mime, data)


def _modality(part: dict[str, Any], kind: str, mime: str) -> str:
    named = first_text(part, "modality")
    for name in (named, mime.partition("/")[0], kind):
        for modality in _MODALITIES:
            if modality in name:
                return modality
    return "file"
