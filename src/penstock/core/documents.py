"""JSON that others wrote, read with a limit of its size, and of its values: a parser makes an object of each.

A text of 8 MiB takes some hundredths of a second to be read, copied and parsed, whatever it holds; a million values
take tenths of a second, and come in 3 MB. So before a long document is parsed, its strings are stepped over and what
separates values is counted, up to the limit. How deep it is nested is the parser's own limit, 1,024.
"""

from typing import Final

import orjson
from mypy_extensions import i64

SIZE_MAX: Final = 8 << 20
VALUES_MAX: Final = 50_000  # some hundredths of a second, as members of one object
SHORT: Final = 1 << 16  # has not so many values that they would have to be counted

QUOTE: Final = 34
COMMA: Final = 44
BACKSLASH: Final = 92
OPENING_LIST: Final = 91
OPENING_OBJECT: Final = 123


class TooMuch(ValueError):
    """More than anybody may have parsed here; says which limit it is."""


def loads(text: bytes, values_max: int = VALUES_MAX, size_max: int = SIZE_MAX) -> object:
    """The value of a JSON text. Raises ValueError when it is none, and TooMuch when it has more than that."""
    if len(text) > SHORT:
        if len(text) > size_max:
            raise TooMuch(f"{len(text)} bytes: json_size_max is {size_max}")
        if has_more_values(text, values_max):
            raise TooMuch(f"more than {values_max} values: json_values_max is {values_max}")
    value: object = orjson.loads(text)
    return value


def has_more_values(text: bytes, values_max: int) -> bool:
    """Whether a JSON text has more values than that; of a text that is none, anything may be said."""
    limit: i64 = values_max
    count: i64 = 1
    size: i64 = len(text)
    at: i64 = 0
    escape: i64 = -2  # where the next backslash is; -1 when there is none, -2 when nobody has looked
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
    """Where a string ends that has an escape at `start`."""
    at = start
    while at < size:
        byte: i64 = text[at]
        if byte == QUOTE:
            return at
        at += 2 if byte == BACKSLASH else 1
    return size
