"""`penstock backup` and `restore`: a verified copy of a data directory, also while a broker writes to it, and back."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from penstock.cli.connect import Json
from penstock.cli.main import command_app
from penstock.cli.output import existing, print_result, progress, size
from penstock.storage import backup as storage

BACKUP_EPILOG = "The backup contains everything confirmed before the command started. Exit code 1: the backup failed."
RESTORE_EPILOG = "The backup is verified first, the new directory afterwards. Exit code 1: do not use the directory."


def app() -> typer.Typer:
    return command_app((backup, BACKUP_EPILOG), (restore, RESTORE_EPILOG))


def backup(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Data directory of a broker.")],
    target: Annotated[Path, typer.Argument(metavar="TARGET", help="Target directory; must be empty or not exist.")],
    json: Json = False,
) -> None:
    done = _copy("backup", existing(directory), storage.back_up(directory, target))
    _report(done, target, json, "every message before offset {offset}, position {position}")


def restore(
    target: Annotated[Path, typer.Argument(metavar="TARGET", help="Directory written by `penstock backup`.")],
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="Data directory to create; must be empty or not exist.")
    ],
    json: Json = False,
) -> None:
    done = _copy("restore", existing(target), storage.restore(target, directory))
    _report(done, target, json, "the next offset is {offset}, the next position {position}")


def _copy(title: str, source: Path, steps: Iterator[int]) -> int:
    """Runs the copy and returns the number of bytes."""
    done = 0
    with progress(title, storage.size_of(source)) as show:
        for count in steps:
            done += count
            show(done)
    return done


def _report(done: int, target: Path, json: bool, text: str) -> None:
    offset, position = storage.read_manifest(target)
    line = f"{size(done)} copied and checked: {text.format(offset=offset, position=position)}"
    print_result(json, line, bytes=done, next_offset=offset, position=position)
