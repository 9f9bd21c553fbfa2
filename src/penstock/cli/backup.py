"""`penstock backup`: a checked copy of a data directory, also while a broker writes to it."""

from pathlib import Path
from typing import Annotated

import typer

from penstock.cli.main import COMMANDS
from penstock.cli.output import existing, print_json, progress, say, size
from penstock.storage.backup import back_up, read_manifest, size_of


def backup(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Data directory of a broker.")],
    target: Annotated[Path, typer.Argument(metavar="TARGET", help="Target directory; must be empty or not exist.")],
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object per line.")] = False,
) -> None:
    done = 0
    with progress("backup", size_of(existing(directory))) as moved:
        for count in back_up(directory, target):
            done += count
            moved(done)
    offset, position = read_manifest(target)
    if json:
        print_json({"bytes": done, "next_offset": offset, "position": position})
        return
    say(f"{size(done)} copied and checked: every message before offset {offset}, position {position}")


def app() -> typer.Typer:
    made = typer.Typer(add_completion=False, rich_markup_mode=None)
    made.command(
        help=COMMANDS["backup"],
        epilog="The backup contains everything confirmed before the command started. Exit code 1: the backup failed.",
    )(backup)
    return made
