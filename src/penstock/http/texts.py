"""Converts between the broker's bytes and microseconds and the text of JSON."""

from datetime import UTC, datetime, timedelta
from urllib.parse import quote_from_bytes, unquote_to_bytes

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def text_of(name: bytes) -> str:
    """A name for display: bytes that are not valid UTF-8 are shown with backslashes."""
    return name.decode("utf-8", "backslashreplace")


def href_of(kind: str, name: bytes) -> str:
    """The path of a resource, with its name percent-encoded."""
    return f"/v1/{kind}/{quote_from_bytes(name, safe='')}"


def name_of(segment: str) -> bytes:
    """The name in a percent-encoded path segment."""
    return unquote_to_bytes(segment)


def time_of(microseconds: int) -> str:
    """RFC 3339, in UTC."""
    return (EPOCH + timedelta(microseconds=microseconds)).isoformat(timespec="microseconds").replace("+00:00", "Z")


def microseconds_of(moment: datetime) -> int:
    """Since 1970; a time without a zone is taken as UTC."""
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - EPOCH) // timedelta(microseconds=1)
