"""Snapshot files on disk, beside the segments. `log/snapshot.py` defines what is in them."""

from typing import Final

from penstock.errors import LogError
from penstock.log.snapshot import SNAPSHOT_SUFFIX, Snapshot, UnknownVersion, decode
from penstock.storage.disk import Disk, write_whole

KEPT: Final = 2  # number of snapshots kept: the newest may turn out to be damaged


def snapshots_of(disk: Disk) -> list[str]:
    """The names of the snapshot files, oldest first."""
    return sorted([name for name in disk.names() if name.endswith(SNAPSHOT_SUFFIX)])


def read_snapshot(disk: Disk, name: str) -> Snapshot:
    """Raises LogError if it is not valid."""
    with disk.read(name) as file:
        data = file.read()
    try:
        return decode(data)
    except UnknownVersion as unknown:  # another name than below: compiled, a name has one type
        raise UnknownVersion(f"{disk.directory / name}: {unknown}") from unknown
    except (LogError, ValueError, KeyError, TypeError) as error:
        raise LogError(f"{disk.directory / name}: {error}") from error


def write_snapshot(disk: Disk, name: str, pieces: list[bytes]) -> None:
    """Write a snapshot durably, then remove the oldest ones."""
    write_whole(disk, name, pieces)
    disk.sync_directory()
    for old in snapshots_of(disk)[:-KEPT]:
        disk.remove(old)
    disk.sync_directory()
