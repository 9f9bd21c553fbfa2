"""Message ids remembered for deduplication, in append-only pages, which a snapshot shares without copying.

On disk a page is a sequence of little-endian columns:

    until i64[n]   serial i64[n]   length i32[n]   the ids

`serial` is the order in which ids arrived, across all pages.
"""

import sys
from array import array

IS_BIG: bool = sys.byteorder == "big"


class IdPage:
    """Ids in order of arrival, each with its expiry time."""

    def __init__(self) -> None:
        self.ids: list[bytes] = []
        self.untils: array[int] = array("q")
        self.serials: array[int] = array("q")


class IdPart:
    """A range of a page, as it was at one moment. The page may have grown since."""

    def __init__(self, page: IdPage, start: int, end: int) -> None:
        self.page = page
        self.start = start
        self.end = end


def encode_ids(part: IdPart) -> bytes:
    page = part.page
    ids = page.ids[part.start : part.end]
    columns: list[array[int]] = [
        page.untils[part.start : part.end],
        page.serials[part.start : part.end],
        array("i", map(len, ids)),
    ]
    return b"".join([*[_to_bytes(column) for column in columns], *ids])


def decode_ids(data: bytes, count: int) -> IdPart:
    page = IdPage()
    page.untils = _from_bytes("q", data[: 8 * count])
    page.serials = _from_bytes("q", data[8 * count : 16 * count])
    place = 20 * count
    for length in _from_bytes("i", data[16 * count : place]):
        page.ids.append(data[place : place + length])
        place += length
    return IdPart(page, 0, count)


def _to_bytes(column: "array[int]") -> bytes:
    if IS_BIG:
        column = column[:]
        column.byteswap()
    return column.tobytes()


def _from_bytes(code: str, data: bytes) -> "array[int]":
    column: array[int] = array(code)
    column.frombytes(data)
    if IS_BIG:
        column.byteswap()
    return column
