"""`penstock backup`: a checked copy of a data directory, also while a broker writes to it."""

from pathlib import Path
from typing import Annotated

import typer

from penstock.cli.main import COMMANDS
from penstock.cli.show import existing, print_json, progress, say, size
from penstock.log.backup import back_up, read_manifest, size_of


def backup(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="The data directory of a broker.")],
    target: Annotated[Path, typer.Argument(metavar="TARGET", help="A directory that is empty or not there yet.")],
    json: Annotated[bool, typer.Option("--json", help="For machines: one JSON object a line.")] = False,
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
        epilog="What was confirmed before the command began is in the backup. Exit code 1: there is no backup.",
    )(backup)
    return made
