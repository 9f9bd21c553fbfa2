"""`penstock restore`: a data directory from a backup."""

from pathlib import Path
from typing import Annotated

import typer

from penstock.cli.main import COMMANDS
from penstock.cli.output import existing, print_json, progress, say, size
from penstock.storage.backup import read_manifest, restore, size_of


def run(
    target: Annotated[Path, typer.Argument(metavar="TARGET", help="Directory written by `penstock backup`.")],
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="Data directory to create; must be empty or not exist.")
    ],
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object per line.")] = False,
) -> None:
    done = 0
    with progress("restore", size_of(existing(target))) as moved:
        for count in restore(target, directory):
            done += count
            moved(done)
    offset, position = read_manifest(target)
    if json:
        print_json({"bytes": done, "next_offset": offset, "position": position})
        return
    say(f"{size(done)} copied and checked: the next offset is {offset}, the next position {position}")


def app() -> typer.Typer:
    made = typer.Typer(add_completion=False, rich_markup_mode=None)
    made.command(
        help=COMMANDS["restore"],
        epilog="The backup is verified first, the new directory afterwards. Exit code 1: do not use the directory.",
    )(run)
    return made
