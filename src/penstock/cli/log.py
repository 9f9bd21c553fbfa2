"""`penstock log`: inspect, verify and repair a data directory.

All commands except `repair` only read, and may run while a broker writes. Exit code 1: the log is damaged, or the
command failed.
"""

import time
from collections.abc import Callable
from contextlib import closing
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated

import typer

from penstock.cli.connect import Json
from penstock.cli.exits import EXIT_FAILED
from penstock.cli.main import group_app
from penstock.cli.output import (
    entry_to_json,
    entry_to_line,
    existing,
    print_json,
    print_line,
    progress,
    size,
    text,
    when,
)
from penstock.errors import LogError
from penstock.log.block import Block
from penstock.log.interface import Change
from penstock.message import Message
from penstock.storage.disk import Disk
from penstock.storage.reader import LogReader, rows_of
from penstock.storage.recovery import read_position_gaps
from penstock.storage.segments import headers_of, segments_of
from penstock.storage.snapshot_files import snapshots_of
from penstock.storage.verify import Check, Damage

FOLLOW_SECONDS = 0.1

Directory = Annotated[Path, typer.Argument(metavar="DIR", help="Data directory of a broker.")]


def app() -> typer.Typer:
    return group_app("log", info, verify, repair, dump, tail)


def info(directory: Directory, json: Json = False) -> None:
    """Show segments, blocks, messages, offsets, times and sizes of a log. Reads headers only."""
    disk = Disk(existing(directory))
    found = [SegmentInfo(disk, segment) for segment in segments_of(disk)]
    total = {
        "directory": str(directory),
        "segments": [segment.as_dict() for segment in found],
        "blocks": sum(segment.blocks for segment in found),
        "messages": sum(segment.messages for segment in found),
        "settlements": sum(segment.settlements for segment in found),
        "first_offset": min((segment.first_offset for segment in found if segment.blocks), default=0),
        "next_offset": max((segment.next_offset for segment in found), default=0),
        "position": max((segment.position for segment in found), default=0),
        "bytes": sum(segment.bytes for segment in found),
        "from": min((segment.since for segment in found if segment.since), default=0),
        "to": max((segment.until for segment in found), default=0),
        "snapshots": snapshots_of(disk),
        "trimmed_positions": [[gap.start, gap.end] for gap in read_position_gaps(disk) if gap.trimmed],
    }
    if json:
        print_json(total)
    else:
        _show_info(total, found)


class SegmentInfo:
    """Totals of one segment, from its headers."""

    def __init__(self, disk: Disk, segment: str) -> None:
        self.name = segment
        self.blocks = self.messages = self.settlements = 0
        self.first_offset = self.next_offset = self.position = 0
        self.since = self.until = 0  # a broker that is stopping may close a block without a time
        end = 0
        for place, header in headers_of(disk, segment):
            if self.blocks == 0:
                self.first_offset = header.first_offset
            self.blocks += 1
            self.messages += header.message_count
            self.settlements += header.settled_count
            self.next_offset = header.end_offset
            self.position = header.end_position
            self.since = self.since or header.closed_at
            self.until = max(self.until, header.closed_at)
            end = place + header.length
        self.bytes = (disk.directory / segment).stat().st_size
        self.unread = max(self.bytes - end, 0)  # bytes after the last block

    def as_dict(self) -> dict[str, object]:
        return {
            "segment": self.name,
            "blocks": self.blocks,
            "messages": self.messages,
            "settlements": self.settlements,
            "first_offset": self.first_offset,
            "next_offset": self.next_offset,
            "bytes": self.bytes,
            "bytes_unread": self.unread,
            "from": self.since,
            "to": self.until,
        }


def _show_info(total: dict[str, object], found: list[SegmentInfo]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("segment", no_wrap=True)
    for title in ("blocks", "messages", "offsets", "bytes"):
        table.add_column(title, justify="right", no_wrap=True)
    for segment in found:
        offsets = f"{segment.first_offset}-{segment.next_offset - 1}" if segment.messages else "-"
        unread = f" +{segment.unread}?" if segment.unread else ""
        table.add_row(
            segment.name,
            str(segment.blocks),
            str(segment.messages),
            offsets,
            size(segment.bytes - segment.unread) + unread,
        )
    Console(highlight=False).print(table)
    print_line(f"{total['messages']} messages and {total['settlements']} settlements in {total['blocks']} blocks")
    print_line(f"next offset {total['next_offset']}, next position {total['position']}")
    snapshots = total["snapshots"]
    print_line(f"newest snapshot {snapshots[-1]}" if isinstance(snapshots, list) and snapshots else "no snapshot yet")
    if total["to"]:
        print_line(f"from {when(int(str(total['from'])))} to {when(int(str(total['to'])))}")
    if any(segment.unread for segment in found):
        print_line("+N?: bytes after the last block that was found; `penstock log verify` shows what they are")


def verify(directory: Directory, json: Json = False) -> None:
    """Read every block and replay the whole log. If it is damaged: one line per damage, exit code 1."""
    check = Check(existing(directory))
    reason = _checked(check, "verify", is_replayed=True)
    faults = [f"{fault}: the next start reads more of the log instead" for fault in check.snapshots if fault]
    _report(check, reason, json, faults)
    if check.damages or reason:
        raise typer.Exit(EXIT_FAILED)


def repair(
    directory: Directory,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be done.")] = False,
    json: Json = False,
) -> None:
    """Truncate a torn end, remove damaged blocks, and report what is lost. Stop the broker first."""
    from penstock.storage.lock import lock_directory
    from penstock.storage.repair import Repair

    with closing(lock_directory(existing(directory))):
        check = Check(directory)
        _checked(check, "check", is_replayed=False)
        mend = Repair(check)
        if not dry_run:
            mend.run()
        _report(check, "", json, mend.notes)
        if not json and (check.damages or check.torn):
            print_line("nothing was changed" if dry_run else "repaired")


def dump(
    directory: Directory,
    start: Annotated[int, typer.Option("--from", metavar="OFFSET", min=0, help="First offset.")] = 0,
    to: Annotated[int | None, typer.Option("--to", metavar="OFFSET", help="Stop before this offset.")] = None,
    event: Annotated[str | None, typer.Option(metavar="GLOB", help="Only messages whose event matches.")] = None,
    entries: Annotated[bool, typer.Option("--entries", help="Include settlements and queue changes.")] = False,
    json: Json = False,
) -> None:
    """Print the messages of a log, one per line."""
    reader = LogReader(existing(directory))
    show = _printer(json)
    for entry in reader.entries(start, to) if entries else reader.messages(start, to):
        if event is None or (isinstance(entry, Message) and fnmatchcase(text(entry.event), event)):
            show(entry)


def tail(
    directory: Directory,
    count: Annotated[int, typer.Option("-n", "--lines", metavar="N", min=0, help="Number of messages.")] = 10,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Print new messages until interrupted.")] = False,
    json: Json = False,
) -> None:
    """Print the last messages of a log."""
    reader = LogReader(existing(directory))
    show = _printer(json)
    start = max(reader.end()[0] - count, 0)
    cursor = reader.cursor(start)
    try:
        while True:
            block = cursor.next_block()
            if block is not None:
                for index in range(*rows_of(block, start, None)):
                    show(block.message(index))
            elif follow:
                typer.get_text_stream("stdout").flush()
                time.sleep(FOLLOW_SECONDS)
            else:
                return
    except KeyboardInterrupt:
        return
    finally:
        cursor.close()


def _printer(json: bool) -> Callable[[Message | Change], None]:
    if json:
        return lambda entry: print_json(entry_to_json(entry))
    return lambda entry: print_line(entry_to_line(entry))


def _checked(check: Check, title: str, is_replayed: bool) -> str:
    """Reads all blocks. Returns why they cannot be replayed, or an empty text."""
    apply: Callable[[Block], None] | None = None
    if is_replayed:
        from penstock.core.limits import Limits
        from penstock.core.replay import Replay
        from penstock.log.memory import MemoryLog

        apply = Replay(MemoryLog(), Limits()).apply_block
    reason = ""
    with progress(title, check.size) as show:
        for block in check.blocks():
            show(check.place_total)
            if apply is not None and not check.damages and not reason:
                try:
                    apply(block)
                except LogError as error:
                    reason = str(error)
    return reason


def _report(check: Check, reason: str, json: bool, notes: list[str] | None = None) -> None:
    if json:
        print_json(
            {
                "segments": len(check.segments),
                "blocks": check.block_count,
                "messages": check.message_count,
                "next_offset": check.next_offset,
                "position": check.position,
                "damages": [_damage_to_json(damage) for damage in check.damages],
                "torn_end": None if check.torn is None else _damage_to_json(check.torn),
                "replay": reason or "ok",
                "trimmed_positions": [[gap.start, gap.end] for gap in check.position_gaps if gap.trimmed],
                "snapshots": len(check.snapshots),
                "notes": notes or [],
            }
        )
        return
    for damage in check.damages:
        print_line(
            f"{damage.segment} byte {damage.place}: {damage.reason} ({damage.size} bytes); lost: {damage.lost()}"
        )
    if check.torn is not None:
        torn = check.torn
        print_line(
            f"{torn.segment} byte {torn.place}: {torn.size} bytes are incomplete: still being written, or a torn end"
        )
    if reason:
        print_line(f"cannot be replayed: {reason}")
    for note in notes or []:
        print_line(note)
    print_line(
        f"{check.block_count} blocks, {check.message_count} messages in {len(check.segments)} segments are intact"
    )
    trimmed = sum(gap.end - gap.start for gap in check.position_gaps if gap.trimmed)
    if trimmed:
        print_line(f"{trimmed} older entries were trimmed: no queue needed them any more")


def _damage_to_json(damage: Damage) -> dict[str, object]:
    return {
        "segment": damage.segment,
        "byte": damage.place,
        "bytes": damage.size,
        "reason": damage.reason,
        "lost_offsets": damage.offsets,
        "lost_positions": damage.positions,
    }
