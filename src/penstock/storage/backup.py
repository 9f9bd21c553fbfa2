"""Backs up a log while it grows, and restores it.

Every prefix of a log is a log. A backup holds the whole blocks up to the position where the log ended when the backup
started, and the snapshots from before that, which replace trimmed history. Gaps are copied last: history that is
trimmed meanwhile may or may not be in the copy. Each block is verified while copying, the copy is read back, and a
manifest is written last. A directory without a manifest is not a backup.

Users and cursors are stored beside the log and are part of the backup. Cursors are copied first: a reader can only have
reached what is in the log by then, so no cursor is ahead of the copy.
"""

import os
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final

import orjson

from penstock.errors import LogError
from penstock.files import NEW, replace_file, sync_directory, write_synced
from penstock.storage.disk import Disk
from penstock.storage.reader import Cursor, LogReader
from penstock.storage.recovery import GAPS_NAME, find_start
from penstock.storage.segments import segments_of
from penstock.storage.snapshot_files import snapshots_of
from penstock.storage.verify import Check

MANIFEST_NAME: Final = "backup.json"
MANIFEST_VERSION: Final = 1
USERS_NAME: Final = "users.json"
CURSORS_NAME: Final = "cursors.json"


def back_up(directory: Path, target: Path) -> Generator[int, None, None]:
    """Copy a log into a new directory; yields the number of bytes copied, block by block."""
    begin_empty(target)
    _copy_small(directory, target, CURSORS_NAME)
    position = LogReader(directory).end()[1]
    yield from _copy(directory, target, position)
    find_start(Disk(target))
    end = checked(target)
    _copy_small(directory, target, USERS_NAME)
    manifest = {"version": MANIFEST_VERSION, "next_offset": end[0], "position": end[1]}
    replace_file(target / MANIFEST_NAME, orjson.dumps(manifest))


def restore(source: Path, directory: Path) -> Generator[int, None, None]:
    """Copy a backup into a new data directory; yields the number of bytes copied, block by block."""
    manifest = read_manifest(source)
    if checked(source) != manifest:
        raise LogError(f"{source} was changed after the backup: it does not end where {MANIFEST_NAME} says")
    begin_empty(directory)
    yield from _copy(source, directory, manifest[1])
    if checked(directory) != manifest:
        raise LogError(f"the copy in {directory} is incomplete")
    for name in (USERS_NAME, CURSORS_NAME):
        _copy_small(source, directory, name)
    sync_directory(directory)


def _copy_small(source: Path, target: Path, name: str) -> None:
    """Copy a file that is always replaced atomically, so any copy is consistent. The copy is private to its owner."""
    try:
        data = (source / name).read_bytes()
    except FileNotFoundError:
        return
    replace_file(target / name, data)


def read_manifest(source: Path) -> tuple[int, int]:
    """The next offset and the position of a backup."""
    try:
        manifest = orjson.loads((source / MANIFEST_NAME).read_bytes())
        if manifest["version"] != MANIFEST_VERSION:
            raise LogError(f"{source}: unknown backup version {manifest['version']}")
        return int(manifest["next_offset"]), int(manifest["position"])
    except FileNotFoundError:
        raise LogError(f"{source} is not a complete backup: it has no {MANIFEST_NAME}") from None
    except (ValueError, KeyError, TypeError) as error:
        raise LogError(f"{source / MANIFEST_NAME}: {error}") from error


def begin_empty(target: Path) -> None:
    """Create a directory; an existing one must be empty. Only its owner gets access: it will hold all messages."""
    target.mkdir(parents=True, exist_ok=True, mode=0o700)
    if any(target.iterdir()):
        raise LogError(f"{target} is not empty")
    with suppress(PermissionError):  # another user owns it and lets us write; the files in it are private to us
        target.chmod(0o700)


def checked(directory: Path) -> tuple[int, int]:
    """Read a log from beginning to end; returns its next offset and position. Raises LogError if it is damaged."""
    check = Check(directory)
    for _ in check.blocks():
        pass
    for damage in [*check.damages, *([check.torn] if check.torn is not None else [])]:
        raise LogError(f"{directory}: segment {damage.segment}, byte {damage.place}: {damage.reason}")
    return check.next_offset, check.position


def size_of(directory: Path) -> int:
    """Total bytes of the segments."""
    return sum([(directory / segment).stat().st_size for segment in segments_of(Disk(directory))])


def _copy(source: Path, target: Path, position: int) -> Generator[int, None, None]:
    """Copy whole blocks up to a position, and the snapshots from before it. Every file is synced."""
    for name in snapshots_of(Disk(source)):
        if int(Path(name).stem) <= position:
            with suppress(FileNotFoundError):  # the broker has replaced it with a newer one
                write_synced(target / name, (source / name).read_bytes())
    cursor = Cursor(Disk(source))
    segment = ""
    file: BinaryIO | None = None
    try:
        block = cursor.next_block()
        while block is not None and block.first_position < position:
            if file is None or cursor.segment != segment:
                _end(file)
                segment = cursor.segment
                file = _new(target / segment)
            file.write(block.data)
            yield len(block.data)
            block = cursor.next_block()
        _end(file)
        gaps = source / GAPS_NAME
        if gaps.exists():
            write_synced(target / GAPS_NAME, gaps.read_bytes())
    finally:
        cursor.close()
        if file is not None:
            file.close()


def _new(path: Path) -> BinaryIO:
    """Create a new file that only its owner may read."""
    return os.fdopen(os.open(path, NEW, 0o600), "wb")


def _end(file: BinaryIO | None) -> None:
    if file is not None:
        file.flush()
        os.fsync(file.fileno())
        file.close()
