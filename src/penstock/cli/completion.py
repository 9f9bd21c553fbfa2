"""`penstock completion`: the script for a shell, and the tree of all commands."""

from importlib import import_module
from typing import Annotated, Literal

import typer
from typer.completion import completion_init, get_completion_script  # type: ignore[attr-defined]
from typer.core import TyperGroup
from typer.main import get_command

from penstock.cli import main
from penstock.cli.output import print_line

EPILOG = (
    "bash: penstock completion bash >> ~/.bashrc; zsh: penstock completion zsh >> ~/.zshrc; "
    "fish: penstock completion fish > ~/.config/fish/completions/penstock.fish."
)


def app() -> typer.Typer:
    return main.command_app((completion, EPILOG))


def completion(shell: Annotated[Literal["bash", "zsh", "fish"], typer.Argument(help="Shell to complete for.")]) -> None:
    script = get_completion_script(prog_name="penstock", complete_var=main.COMPLETE_VARIABLE, shell=shell)  # nosec B604
    print_line(script.strip())


def command_tree() -> TyperGroup:
    """All commands with their options. It imports all modules, so only completion and the docs use it."""
    completion_init()
    tree = get_command(main.app)
    assert isinstance(tree, TyperGroup)
    for name in main.COMMANDS:
        command = get_command(import_module(f"penstock.cli.{main.SHARED_MODULES.get(name, name)}").app())
        if name in main.SHARED_MODULES:
            assert isinstance(command, TyperGroup)
            command = command.commands[name]
        command.name = name
        tree.commands[name] = command
    return tree
