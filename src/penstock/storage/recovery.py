"""Reads a data directory back: segments in order, blocks in order. A torn end is truncated.

`segments` explains what a torn end is, and why it may be truncated. Anything else that cannot be read is damage: it is
reported, and the broker does not start.

Positions and offsets have no gaps. A gap that was made by retention, or accepted with `penstock log repair`, is
recorded in a small file beside the segments, so that a lost segment is not mistaken for it.

If a process is killed, its unsynced writes are left to the operating system, which may still lose them. So the log is
synced after it is read back, before anything is built on it.
"""

from collections.abc import Generator
from typing import Final

import orjson

from penstock.errors import LogError
from penstock.log.block import Block
from penstock.log.header import CorruptBlock
from penstock.log.snapshot import Snapshot, UnknownVersion, position_in
from penstock.storage.disk import Disk, write_whole
from penstock.storage.segments import blocks_of, headers_of, is_torn_end, position_of, segment_name, segments_of
from penstock.storage.snapshot_files import read_snapshot, snapshots_of

GAPS_NAME: Final = "gaps.json"
GAPS_PART_NAME: Final = "gaps.part"


class PositionGap:
    """Missing entries: positions `start` to `end` (exclusive)."""

    def __init__(self, start: int, end: int, trimmed: bool) -> None:
        self.start = start
        self.end = end
        self.trimmed = trimmed  # deleted by retention; otherwise lost, and the loss was accepted by a repair


def find_start(disk: Disk) -> tuple[Snapshot | None, list[str]]:
    """Return the snapshot to start from, or None to read the whole log, and what is wrong with unusable snapshots.

    Unusable snapshots are removed once a start is found, except for those of another version. Raises LogError when
    the broker cannot start.
    """
    gaps = read_position_gaps(disk)
    snapshot, problems, unusable = newest_usable(disk, gaps)
    trimmed = [gap for gap in gaps if gap.trimmed]
    if snapshot is None and trimmed:
        raise LogError(
            f"{disk.directory}: no snapshot can be used, and entries {trimmed[0].start} to {trimmed[0].end - 1} were "
            "trimmed: what the queues owe cannot be told for certain (penstock log repair accepts that)"
            + "".join([f"; {problem}" for problem in problems])
        )
    _remove(disk, unusable)
    return snapshot, problems


def newest_usable(disk: Disk, gaps: list[PositionGap]) -> tuple[Snapshot | None, list[str], list[str]]:
    """The newest usable snapshot, or None; what is wrong with newer ones; and which of those no version can use."""
    problems: list[str] = []
    unusable: list[str] = []
    for name in reversed(snapshots_of(disk)):
        try:
            snapshot = read_snapshot(disk, name)
        except UnknownVersion as unknown:
            problems.append(str(unknown))
            if _log_reaches(disk, position_in(name)):
                continue  # the version that wrote it may need it later
        except LogError as error:
            problems.append(str(error))
        else:
            if _log_reaches(disk, snapshot.position):
                _check_segments(disk, snapshot, gaps)
                return snapshot, problems, unusable
            # The log lost its unsynced end. New entries will take its place, so the snapshot is useless.
            problems.append(f"{disk.directory / name}: the log does not reach position {snapshot.position}")
        unusable.append(name)
    return None, problems, unusable


def _remove(disk: Disk, names: list[str]) -> None:
    for name in names:
        disk.remove(name)
    if names:
        disk.sync_directory()


def _log_reaches(disk: Disk, position: int) -> bool:
    """Whether the log reaches this position, where a segment starts or would have started."""
    segments = segments_of(disk)
    if segment_name(position) in segments:
        return True
    before = [segment for segment in segments if position_of(segment) < position]
    end = 0
    if before:
        headers = headers_of(disk, before[-1])
        for _, header in headers:
            end = header.end_position
    return end == position


def _check_segments(disk: Disk, snapshot: Snapshot, gaps: list[PositionGap]) -> None:
    """Segments before a snapshot are not read, but must exist: they hold unsettled messages."""
    there = set(segments_of(disk))
    for segment in snapshot.segments:
        position = position_of(segment)
        if segment not in there and not is_known_position_gap(gaps, position, position + 1):
            raise LogError(f"segment {segment} is missing from {disk.directory}")


def read_back(disk: Disk, snapshot: Snapshot | None = None) -> Generator[Block, None, None]:
    """All blocks of the log, or those after a snapshot, in order; truncates a torn end of the last segment.

    Close the generator if it is not exhausted.
    """
    position = offset = 0
    if snapshot is not None:
        position, offset = snapshot.position, snapshot.next_offset
    all_segments = segments_of(disk)
    segments = [segment for segment in all_segments if position_of(segment) >= position]
    gaps = read_position_gaps(disk)
    for segment in segments:
        blocks = blocks_of(disk, segment)
        try:
            while True:
                try:
                    found = next(blocks, None)
                except CorruptBlock as damage:
                    if segment != segments[-1] or not is_torn_end(disk, segment, damage.position):
                        raise
                    cut(disk, segment, damage.position)
                    break
                if found is None:
                    break
                place, block = found
                reason = misplaced(position, offset, block)
                if reason and not is_known_position_gap(gaps, position, block.first_position):
                    raise CorruptBlock(segment, place, reason)
                position = block.end_position
                offset = block.end_offset
                yield block
        finally:
            blocks.close()
    if all_segments:
        make_safe(disk, all_segments[-1])  # even if a snapshot covers it: the queues owe messages in it


def misplaced(position: int, offset: int, block: Block) -> str:
    """What is wrong with a block after one that ended at this position and offset; "" if it belongs there."""
    found = block.first_position
    if found > position:
        return f"entries {position} to {found - 1} are missing before this block"
    if found < position:
        return f"the block begins with entry {found}, which was there already: entry {position} should follow"
    if block.first_offset != offset:
        return f"the block begins with offset {block.first_offset}: offset {offset} should follow"
    return ""


def is_known_position_gap(gaps: list[PositionGap], start: int, end: int) -> bool:
    """Whether entries `start` to `end` (exclusive) are recorded as missing."""
    return any(gap.start <= start < end <= gap.end for gap in gaps)


def cut(disk: Disk, segment: str, place: int) -> None:
    """Truncate a segment to its first `place` bytes; durable after `make_safe`."""
    handle = disk.open(segment)
    try:
        disk.truncate(handle, place)
    finally:
        disk.close(handle)


def make_safe(disk: Disk, segment: str) -> None:
    """Sync the segment, including a truncation; an empty segment is removed."""
    handle = disk.open(segment)
    try:
        disk.sync(handle)
        size = disk.size(handle)
    finally:
        disk.close(handle)
    if size == 0:
        disk.remove(segment)
    disk.sync_directory()


def read_position_gaps(disk: Disk) -> list[PositionGap]:
    """The recorded gaps, in order."""
    if GAPS_NAME not in disk.names():
        return []
    with disk.read(GAPS_NAME) as file:
        text = file.read()
    try:
        gaps = [PositionGap(int(gap["from"]), int(gap["to"]), gap.get("trimmed") is True) for gap in orjson.loads(text)]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise LogError(f"{disk.directory / GAPS_NAME}: not a list of gaps: {error}") from error
    return sorted(gaps, key=_start_of)


def write_position_gaps(disk: Disk, gaps: list[PositionGap]) -> None:
    """Replace the recorded gaps. Adjacent gaps are merged."""
    merged: list[PositionGap] = []
    for gap in sorted(gaps, key=_start_of):
        if merged and gap.start <= merged[-1].end:
            merged[-1] = PositionGap(merged[-1].start, max(merged[-1].end, gap.end), merged[-1].trimmed or gap.trimmed)
        else:
            merged.append(gap)
    text = orjson.dumps([_to_json(gap) for gap in merged])
    write_whole(disk, GAPS_PART_NAME, [text, b"\n"])
    disk.rename(GAPS_PART_NAME, GAPS_NAME)
    disk.sync_directory()


def _to_json(gap: PositionGap) -> dict[str, object]:
    return {"from": gap.start, "to": gap.end, **({"trimmed": True} if gap.trimmed else {})}


def _start_of(gap: PositionGap) -> int:
    return gap.start
