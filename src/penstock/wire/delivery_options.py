"""Delivery options of a message, as the protocols write them: delay, time to live, delivery limit, deduplication.

Line protocols have flags, which come before everything else; a word that is not exactly a flag keeps its original
meaning. Protocols with room for JSON have an object:

    --delay=SECONDS       "delay": SECONDS           deliver no earlier than this
    --ttl=SECONDS         "ttl": SECONDS             expires after this, counted from the earliest possible delivery
    --max-deliveries=N    "max_deliveries": N        maximum number of delivery attempts
    --dedup               "dedup": ID                a message with the same id is a duplicate
"""

from typing import Final

import orjson

from penstock.errors import INVALID, Refused
from penstock.message import DeliveryOptions

SECONDS_MAX: Final = 1_000_000_000
TRIES_MAX: Final = 2**31 - 1

FLAGS_MAX: Final = 16  # per request
NUMBER_SIZE_MAX: Final = 64  # characters of a number

REDRIVE_LIMIT: Final = 10_000  # messages per redrive by default
REDRIVE_LIMIT_MAX: Final = 100_000

DELAY: Final = b"--delay="
TTL: Final = b"--ttl="
MAX_DELIVERIES: Final = b"--max-deliveries="
DEDUP: Final = b"--dedup"


class RequestedOptions:
    """The options a client asked for, as durations. -1 (0 for `deliveries_max`) if not given."""

    def __init__(self) -> None:
        self.delay = -1  # microseconds
        self.ttl = -1  # microseconds
        self.deliveries_max = 0
        self.dedup = False

    def options(self, now: int, dedup_seconds: int) -> DeliveryOptions:
        """The same with absolute times."""
        due_at = now + self.delay if self.delay > 0 else 0
        expires_at = max(now, due_at) + self.ttl if self.ttl >= 0 else 0
        return DeliveryOptions(due_at, expires_at, self.deliveries_max, dedup_seconds if self.dedup else 0)


class FlagOptions:
    """The flags at the start of a line's arguments, and the rest after them."""

    def __init__(self, text: bytes) -> None:
        self.requested: RequestedOptions | None = None
        requested = RequestedOptions()
        at = 0
        count = 0
        while text.startswith(b"--", at):
            end = text.find(b" ", at)
            if end < 0 or end == len(text) - 1 or not _take(requested, text[at:end]):
                break
            count += 1
            check_flags(count)
            self.requested = requested
            at = end + 1
        self.rest = text[at:] if at else text


def check_flags(count: int) -> None:
    """There are only a few kinds of flags, so no request needs many. Raises Refused."""
    if count > FLAGS_MAX:
        raise Refused(INVALID, f"more than {FLAGS_MAX} flags in a request")


def _take(requested: RequestedOptions, word: bytes) -> bool:
    if word.startswith(DELAY):
        requested.delay = microseconds_in(word, DELAY)
    elif word.startswith(TTL):
        requested.ttl = microseconds_in(word, TTL)
    elif word.startswith(MAX_DELIVERIES):
        requested.deliveries_max = number_in(word, MAX_DELIVERIES, TRIES_MAX)
    elif word == DEDUP:
        requested.dedup = True
    else:
        return False
    return True


def microseconds_in(word: bytes, flag: bytes) -> int:
    """Microseconds from the seconds in a flag such as `--delay=`."""
    name = flag.decode().rstrip("=")
    try:
        seconds = float(word[len(flag) : len(flag) + NUMBER_SIZE_MAX + 1])
        if len(word) > len(flag) + NUMBER_SIZE_MAX:
            raise ValueError
    except ValueError:
        raise Refused(INVALID, f"{name} must be a number of seconds") from None
    return _microseconds(name, seconds)


def number_in(word: bytes, flag: bytes, most: int) -> int:
    """The count in a flag such as `--limit=`."""
    digits = word[len(flag) :]
    if not digits.isdigit() or len(digits) > 18 or not 0 < int(digits) <= most:
        raise Refused(INVALID, f"{flag.decode().rstrip('=')} must be a whole number from 1 to {most}")
    return int(digits)


def seconds_of(name: str, value: object) -> int:
    """Microseconds from a number of seconds in JSON."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise Refused(INVALID, f"{name} must be a number of seconds")
    return _microseconds(name, float(value))


def count_of(name: str, value: object, most: int) -> int:
    """A count in JSON."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value <= most:
        raise Refused(INVALID, f"{name} must be a whole number from 1 to {most}")
    return value


def _microseconds(name: str, seconds: float) -> int:
    if not 0 <= seconds <= SECONDS_MAX:
        raise Refused(INVALID, f"{name} must be 0 to {SECONDS_MAX} seconds")
    return round(seconds * 1_000_000)


class JsonOptions:
    """The same options as a JSON object; `id` is the message id from `dedup`, if given."""

    def __init__(self, text: bytes, name_size_max: int) -> None:
        self.requested = RequestedOptions()
        self.id = b""
        try:
            value: object = orjson.loads(text)
        except ValueError as error:
            raise Refused(INVALID, f"options are not JSON: {error}") from None
        if not isinstance(value, dict):
            raise Refused(INVALID, "options are not a JSON object")
        for name, asked in value.items():
            self._take(name, asked, name_size_max)

    def _take(self, name: str, asked: object, name_size_max: int) -> None:
        if name == "delay":
            self.requested.delay = seconds_of(name, asked)
        elif name == "ttl":
            self.requested.ttl = seconds_of(name, asked)
        elif name == "max_deliveries":
            self.requested.deliveries_max = count_of(name, asked, TRIES_MAX)
        elif name == "dedup":
            if not isinstance(asked, str) or not 0 < len(asked.encode()) <= name_size_max:
                raise Refused(INVALID, f"dedup must be an id of 1 to {name_size_max} bytes (name_size_max)")
            self.requested.dedup = True
            self.id = asked.encode()
        else:
            raise Refused(INVALID, f"unknown option {name}: use delay, ttl, max_deliveries or dedup")
