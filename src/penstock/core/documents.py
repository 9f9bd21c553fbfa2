"""Parses untrusted JSON, with limits on its size and on the number of values: a parser creates an object for each.

A text of 8 MiB takes some hundredths of a second to be read, copied and parsed, whatever it contains; a million values
take tenths of a second, and fit into 3 MB. So before a long document is parsed, the separators between values are
counted, skipping strings, up to the limit. Nesting depth is limited by the parser itself, to 1,024.
"""

from typing import Final

import orjson
from mypy_extensions import i64

SIZE_MAX: Final = 8 << 20
VALUES_MAX: Final = 50_000  # some hundredths of a second, as members of one object
SHORT: Final = 1 << 16  # texts up to this size cannot have too many values

QUOTE: Final = 34
COMMA: Final = 44
BACKSLASH: Final = 92
OPENING_LIST: Final = 91
OPENING_OBJECT: Final = 123


class TooMuch(ValueError):
    """The document exceeds a limit; the message names it."""


def loads(text: bytes, values_max: int = VALUES_MAX, size_max: int = SIZE_MAX) -> object:
    """The value of a JSON text. Raises ValueError when it is not valid JSON, and TooMuch when it exceeds a limit."""
    if len(text) > SHORT:
        if len(text) > size_max:
            raise TooMuch(f"{len(text)} bytes: json_size_max is {size_max}")
        if has_more_values(text, values_max):
            raise TooMuch(f"more than {values_max} values: json_values_max is {values_max}")
    value: object = orjson.loads(text)
    return value


def has_more_values(text: bytes, values_max: int) -> bool:
    """Whether a JSON text has more values than that; for invalid JSON the result is arbitrary."""
    limit: i64 = values_max
    count: i64 = 1
    size: i64 = len(text)
    at: i64 = 0
    escape: i64 = -2  # position of the next backslash; -1 when there is none, -2 when not searched yet
    while at < size:
        byte: i64 = text[at]
        at += 1
        if byte == QUOTE:
            end: i64 = text.find(b'"', at)
            if end < 0:
                return False
            if escape != -1 and escape < at:
                escape = text.find(b"\\", at)
            if escape != -1 and escape < end:
                end = _end_of_string(text, escape, size)
            at = end + 1
        elif byte == COMMA or byte == OPENING_LIST or byte == OPENING_OBJECT:  # noqa: SIM109 - compiled, a compare each
            count += 1
            if count > limit:
                return True
    return False


def _end_of_string(text: bytes, start: i64, size: i64) -> i64:
    """Position of the end of a string that has an escape at `start`."""
    at = start
    while at < size:
        byte: i64 = text[at]
        if byte == QUOTE:
            return at
        at += 2 if byte == BACKSLASH else 1
    return size
