"""Finding a place in the log by time.

Times in the log come from the broker's clock, which never runs backwards while the broker runs. But it may be set back
before the next start, so times increase only in stretches. A plain bisection could skip one of them, and a reader that
starts there would miss messages. So the search starts at a segment early enough for a clock that was set back by an
hour, or by the largest step back seen between the starts of segments. Only headers are read there.
"""

from typing import Final

from penstock.storage.disk import Disk
from penstock.storage.reader import UNKNOWN, LogReader
from penstock.storage.segments import first_header, headers_of

SET_BACK: Final = 3_600_000_000  # microseconds
LATENESS: Final = 2_000_000  # a block's time is that of its own event loop iteration, or of the previous one


def offset_at(reader: LogReader, moment: int, to: int) -> int:
    """The first offset below `to` published at `moment` (microseconds) or later; -1 if there is none."""
    segments = reader.segments()
    begun = [_begun_at(reader.disk, segment) for segment in segments]
    early = moment - max(SET_BACK, _set_back(begun))
    place = 0
    while place + 1 < len(segments) and begun[place + 1] < early:
        place += 1
    for segment in segments[place:]:
        start = _maybe_in(reader.disk, segment, moment - LATENESS)
        if start >= 0:
            return _first_message(reader, start, to, moment)
    return -1


def _begun_at(disk: Disk, segment: str) -> int:
    """When the segment's first block was closed; UNKNOWN if that cannot be determined."""
    try:
        header = first_header(disk, segment)
    except FileNotFoundError:
        return UNKNOWN  # trimmed after its name was listed
    return header.closed_at if header is not None and header.closed_at else UNKNOWN


def _set_back(begun: list[int]) -> int:
    """The largest observed step back of the clock."""
    latest = deepest = 0
    for moment in begun:
        if moment != UNKNOWN:
            latest = max(latest, moment)
            deepest = max(deepest, latest - moment)
    return deepest


def _maybe_in(disk: Disk, segment: str, closed_from: int) -> int:
    """The first offset of the first block with messages closed at `closed_from` or later; -1 if there is none."""
    headers = headers_of(disk, segment)
    try:
        for _, header in headers:
            if header.message_count and (header.closed_at == 0 or header.closed_at >= closed_from):
                return header.first_offset
    except FileNotFoundError:
        pass
    finally:
        headers.close()
    return -1


def _first_message(reader: LogReader, start: int, to: int, moment: int) -> int:
    blocks = reader.blocks(start, to)
    try:
        for block in blocks:
            if block.closed_at and block.closed_at < moment - LATENESS:
                continue
            for index in range(min(block.message_count, to - block.first_offset)):
                if block.message(index).published_at >= moment:
                    return block.first_offset + index
    finally:
        blocks.close()  # type: ignore[attr-defined]
    return -1
