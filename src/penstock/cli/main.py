"""The `penstock` command: the list of commands, and one line on stderr for every error.

A command's module is imported when the command is run, so that `--help` and `--version` do not wait for the settings,
the event loop and the logger to load.
"""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Annotated

import typer
from typer.main import get_command

from penstock import __version__
from penstock.cli.exits import EXIT_FAILED, EXIT_USAGE, EXITS, Failed
from penstock.errors import ConfigError, Error
from penstock.plain import plain

# The module of the same name has a function `app`, which creates the Typer with the options.
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
# Commands that share a module; its Typer has each of them under its name.
SHARED_MODULES = {
    **dict.fromkeys(("publish", "put", "request", "broadcast"), "send"),
    **dict.fromkeys(("consume", "get", "tap"), "consume"),
    **dict.fromkeys(("info", "stats", "queues"), "inspect"),
    **dict.fromkeys(("backup", "restore"), "backup"),
}
COMPLETE_VARIABLE = "_PENSTOCK_COMPLETE"  # set by the shell while it completes

# Plain help instead of rich's: it takes half the time, and a pipe or a narrow terminal gets the same text.
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
        from penstock.cli.completion import command_tree

        command_tree().main(args=arguments, prog_name="penstock", complete_var=COMPLETE_VARIABLE)
    with exit_on_error("penstock"):
        get_command(app).main(args=arguments, prog_name="penstock")


@contextmanager
def exit_on_error(program: str) -> Iterator[None]:
    """Expected errors end the process with one line on stderr and an exit code."""
    try:
        yield
    except Failed as error:
        _end(program, error, error.code)
    except ConfigError as error:
        _end(program, error, EXIT_USAGE)
    except (Error, OSError) as error:
        _end(program, error, EXIT_FAILED)


def _end(program: str, error: Exception, code: int) -> None:
    # One line, whatever the message quotes from a file or a flag.
    sys.stderr.write(f"{program}: " + plain(" ".join(str(error).split())) + "\n")
    sys.exit(code)


def command_app(*commands: tuple[Callable[..., None], str]) -> typer.Typer:
    """The Typer of a module: its commands, each with the text at the end of its help."""
    made = typer.Typer(add_completion=False, rich_markup_mode=None)
    for command, epilog in commands:
        name = command.__name__
        made.command(name, help=COMMANDS[name], epilog=epilog or None)(command)
    return made


def group_app(name: str, *commands: Callable[..., None], epilog: str = "") -> typer.Typer:
    """The Typer of a command with commands below it."""
    made = typer.Typer(
        add_completion=False, rich_markup_mode=None, no_args_is_help=True, help=COMMANDS[name], epilog=epilog or None
    )
    made.callback()(lambda: None)  # or a single command would not be called by its name
    for command in commands:
        made.command(command.__name__.strip("_").replace("_", "-"))(command)
    return made


def version() -> str:
    """The version of Penstock and of Python, and whether the core is compiled."""
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
    """Options before the command."""


def _add(name: str, help_text: str) -> None:
    """Adds a command that passes everything after its name to its module."""

    def command(context: typer.Context) -> None:
        module = import_module(f"penstock.cli.{SHARED_MODULES.get(name, name)}")
        path = context.command_path
        if name in SHARED_MODULES:
            get_command(module.app()).main(args=[name, *context.args], prog_name=path.removesuffix(" " + name))
        else:
            get_command(module.app()).main(args=context.args, prog_name=path)

    pass_on = {"allow_extra_args": True, "ignore_unknown_options": True}
    app.command(name, help=help_text, add_help_option=False, context_settings=pass_on)(command)


for _name, _help_text in COMMANDS.items():
    _add(_name, _help_text)

if __name__ == "__main__":
    main()
