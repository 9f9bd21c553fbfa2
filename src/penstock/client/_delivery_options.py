"""Delivery options of a message, on Penstock: delay, time to live, retry limit, deduplication.

They are sent only if the program sets them, so servers of the original protocols never see them otherwise.
"""

from typing import TypedDict

import orjson

SECONDS_MAX = 1e9


class DeliveryOptions(TypedDict, total=False):
    delay: float
    """Seconds before the message is delivered."""
    ttl: float
    """Seconds after which the message expires."""
    max_deliveries: int
    """How many times the message may be delivered."""
    dedup: bool
    """The server accepts the message once, even if it is sent again after a lost connection."""


def flags_of(terms: DeliveryOptions) -> bytes:
    """Encode terms as words of a line, each followed by a space; empty for no terms. Raises ValueError."""
    words = []
    if "delay" in terms:
        words.append(b"--delay=%b " % text_of_seconds("delay", terms["delay"]))
    if "ttl" in terms:
        words.append(b"--ttl=%b " % text_of_seconds("ttl", terms["ttl"]))
    if "max_deliveries" in terms:
        words.append(b"--max-deliveries=%d " % tries_of(terms["max_deliveries"]))
    if terms.get("dedup"):
        words.append(b"--dedup ")
    return b"".join(words)


def options_of(terms: DeliveryOptions, id: bytes) -> bytes:
    """Encode terms as a JSON object; empty for no terms. Raises ValueError."""
    options: dict[str, object] = {}
    if "delay" in terms:
        options["delay"] = seconds_of("delay", terms["delay"])
    if "ttl" in terms:
        options["ttl"] = seconds_of("ttl", terms["ttl"])
    if "max_deliveries" in terms:
        options["max_deliveries"] = tries_of(terms["max_deliveries"])
    if terms.get("dedup"):
        options["dedup"] = id.decode()
    return orjson.dumps(options) if options else b""


def seconds_of(name: str, value: float) -> float:
    if not 0 <= value <= SECONDS_MAX:
        raise ValueError(f"{name} of {value!r} seconds: give 0 to {SECONDS_MAX:g}")
    return float(value)


def text_of_seconds(name: str, value: float) -> bytes:
    return f"{seconds_of(name, value):.6f}".rstrip("0").rstrip(".").encode()


def milliseconds_of(name: str, value: float) -> int:
    milliseconds = round(seconds_of(name, value) * 1000)
    if milliseconds >= 1 << 32:
        raise ValueError(f"{name} of {value!r} seconds: RQ allows at most {(1 << 32) // 1000}")
    return milliseconds


def tries_of(value: int) -> int:
    if value < 1:
        raise ValueError(f"max_deliveries of {value!r}: give 1 or more")
    return value
