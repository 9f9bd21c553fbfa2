"""Finding a place in the log by time.

Times in the log are those of the broker's clock, which never runs backwards while a broker lives. But it may have been
set back before the next one started, so times grow in stretches, and a plain bisection could step over one of them:
whoever reads from there on would miss messages. So it is searched from a segment on that lies early enough for a clock
that was set back by an hour, or by as much as is seen between the beginnings of segments. Only headers are read there.
"""

from typing import Final

from penstock.log.disk import Disk
from penstock.log.reader import UNKNOWN, LogReader
from penstock.log.segments import headers_of

SET_BACK: Final = 3_600_000_000  # microseconds
LATENESS: Final = 2_000_000  # a block says when it was closed, or when the turn before was


def offset_at(reader: LogReader, moment: int, to: int) -> int:
    """The first message published at that time, in microseconds, or later, of those before `to`; -1: there is none."""
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
    """When its first block was closed; UNKNOWN where nobody can say."""
    headers = headers_of(disk, segment)
    closed_at = 0
    try:
        for _, header in headers:
            closed_at = header.closed_at
            break
    except FileNotFoundError:
        return UNKNOWN  # it was trimmed since its name was read
    finally:
        headers.close()
    return closed_at if closed_at else UNKNOWN


def _set_back(begun: list[int]) -> int:
    """By how much the clock was seen to go back."""
    latest = deepest = 0
    for moment in begun:
        if moment != UNKNOWN:
            latest = max(latest, moment)
            deepest = max(deepest, latest - moment)
    return deepest


def _maybe_in(disk: Disk, segment: str, closed_from: int) -> int:
    """The first offset of the first block of a segment that was closed then or later; -1 when there is none."""
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
