"""The `penstock` command: what it can do, and one clear line when it cannot.

Each command lives in a module of its own, imported when the command is run: asking for help or the version must not
wait for the settings, the event loop and the logger to load.
"""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Annotated

import typer
from typer.main import get_command

from penstock import __version__
from penstock.cli.exits import EXIT_FAILED, EXIT_MISUSED, EXITS, Failed
from penstock.errors import ConfigError, Error
from penstock.plain import plain

# The module of the same name has the rest: a function `app`, which makes the Typer with the options.
COMMANDS = {
    "serve": "Run a broker until it is stopped.",
    "info": "Show a broker's connections, queues and message counts.",
    "queues": "List queues.",
    "stats": "Show the number of messages in each queue, over SMQS.",
    "top": "Watch queues and message rates live.",
    "publish": "Publish messages over any of the five protocols.",
    "consume": "Consume messages over any of the five protocols.",
    "put": "Put a message into a queue, over MQMQ.",
    "get": "Get one message from a queue, over MQMQ.",
    "request": "Send a request to a queue and print the reply, over RQ.",
    "broadcast": "Send a message to all current consumers of a queue, over RQ.",
    "tap": "Watch events without consuming them.",
    "bench": "Measure latency and throughput of a running broker.",
    "log": "Inspect, verify and repair the log of a data directory.",
    "pipeline": "Run Spark pipelines over the log.",
    "backup": "Back up a data directory, even while the broker is running.",
    "restore": "Restore a data directory from a backup.",
    "user": "Manage users, their permissions and quotas.",
    "token": "Create, list and revoke access tokens.",
    "config": "Show the effective settings, or check a config file.",
    "tls": "Create certificates for development.",
    "doctor": "Check this machine and suggest fixes.",
    "completion": "Print a shell completion script.",
}
# Commands that share a module: its Typer has each of them under its name.
TOGETHER = {
    **dict.fromkeys(("publish", "put", "request", "broadcast"), "send"),
    **dict.fromkeys(("consume", "get", "tap"), "consume"),
    **dict.fromkeys(("info", "stats", "queues"), "inspect"),
}
COMPLETE_VARIABLE = "_PENSTOCK_COMPLETE"  # set by the shell while it completes

# Plain help instead of rich's: it is there in half the time, and a pipe or a narrow terminal gets the same text.
app = typer.Typer(
    help="One message broker for five small queue protocols.",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    epilog="Exit codes:\n\n\b\n" + "\n".join(f"{code:>3}  {meaning}" for code, meaning in EXITS.items()),
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command line, by default the process's own, and exit."""
    if COMPLETE_VARIABLE in os.environ:
        from penstock.cli.completion import whole

        whole().main(args=arguments, prog_name="penstock", complete_var=COMPLETE_VARIABLE)
    with ending("penstock"):
        get_command(app).main(args=arguments, prog_name="penstock")


@contextmanager
def ending(program: str) -> Iterator[None]:
    """Whatever goes wrong on purpose is one line and an exit code."""
    try:
        yield
    except Failed as error:
        _end(program, error, error.code)
    except ConfigError as error:
        _end(program, error, EXIT_MISUSED)
    except (Error, OSError) as error:
        _end(program, error, EXIT_FAILED)


def _end(program: str, error: Exception, code: int) -> None:
    # Whatever a message quotes from a file or a flag, it stays one line.
    sys.stderr.write(f"{program}: " + plain(" ".join(str(error).split())) + "\n")
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
        module = import_module(f"penstock.cli.{TOGETHER.get(name, name)}")
        path = context.command_path
        if name in TOGETHER:
            get_command(module.app()).main(args=[name, *context.args], prog_name=path.removesuffix(" " + name))
        else:
            get_command(module.app()).main(args=context.args, prog_name=path)

    hand_over = {"allow_extra_args": True, "ignore_unknown_options": True}
    app.command(name, help=help_text, add_help_option=False, context_settings=hand_over)(command)


for _name, _help_text in COMMANDS.items():
    _add(_name, _help_text)

if __name__ == "__main__":
    main()
