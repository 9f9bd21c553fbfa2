"""`penstock restore`: a data directory from a backup."""

from pathlib import Path
from typing import Annotated

import typer

from penstock.cli.main import COMMANDS
from penstock.cli.show import existing, print_json, progress, say, size
from penstock.log.backup import read_manifest, restore, size_of


def run(
    target: Annotated[Path, typer.Argument(metavar="TARGET", help="What `penstock backup` has written.")],
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A directory that is empty or not there yet.")],
    json: Annotated[bool, typer.Option("--json", help="For machines: one JSON object a line.")] = False,
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
        epilog="The backup is checked before, the directory after. Exit code 1: do not use the directory.",
    )(run)
    return made
