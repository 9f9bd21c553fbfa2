"""The `penstock` command: what it can do, and one clear line when it cannot.

Each command lives in a module of its own, imported when the command is run: asking for help or the version must not
wait for the settings, the event loop and the logger to load.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Annotated

import typer
from typer.main import get_command

from penstock import __version__
from penstock.errors import ConfigError, Error

# The module of the same name has the rest: a function `app`, which makes the Typer with the options.
COMMANDS = {
    "serve": "Run a broker until it is told to stop.",
    "log": "Look into the log of a data directory, check it and repair it.",
    "pipeline": "Run jobs on Spark over the log: yours or ours.",
    "backup": "Copy a data directory, also while a broker writes to it.",
    "restore": "Make a data directory from a backup.",
}

EXIT_FAILED = 1
EXIT_MISUSED = 2  # what a wrong option gives, too

# Plain help instead of rich's: it is there in half the time, and a pipe or a narrow terminal gets the same text.
app = typer.Typer(
    help="One message broker for five small queue protocols.",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command line, by default the process's own, and exit."""
    try:
        get_command(app).main(args=arguments, prog_name="penstock")
    except ConfigError as error:
        _end(error, EXIT_MISUSED)
    except (Error, OSError) as error:
        _end(error, EXIT_FAILED)


def _end(error: Exception, code: int) -> None:
    # Whatever a message quotes from a file or a flag, it stays one line.
    sys.stderr.write("penstock: " + " ".join(str(error).split()) + "\n")
    sys.exit(code)


def version() -> str:
    """Which Penstock this is, and whether its core was compiled."""
    core = find_spec("penstock.core.broker")
    compiled = core is not None and core.origin is not None and core.origin.endswith((".so", ".pyd"))
    python = ".".join(map(str, sys.version_info[:3]))
    return f"penstock {__version__} ({'compiled' if compiled else 'interpreted'}, Python {python})"


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(version())
        raise typer.Exit


@app.callback()
def _root(
    _version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Options before the command; there is none that a command has to know of."""


def _add(name: str, help_text: str) -> None:
    """A command that hands everything after its name to its own module."""

    def command(context: typer.Context) -> None:
        module = import_module(f"penstock.cli.{name}")
        get_command(module.app()).main(args=context.args, prog_name=context.command_path)

    hand_over = {"allow_extra_args": True, "ignore_unknown_options": True}
    app.command(name, help=help_text, add_help_option=False, context_settings=hand_over)(command)


for _name, _help_text in COMMANDS.items():
    _add(_name, _help_text)

if __name__ == "__main__":
    main()
