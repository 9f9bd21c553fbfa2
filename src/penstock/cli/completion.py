"""`penstock completion`: what a shell needs to complete commands and options. And the whole tree of them."""

from importlib import import_module
from typing import Annotated, Literal

import typer
from typer.completion import completion_init, get_completion_script  # type: ignore[attr-defined]
from typer.core import TyperGroup
from typer.main import get_command

from penstock.cli import main
from penstock.cli.output import say


def app() -> typer.Typer:
    made = typer.Typer(add_completion=False, rich_markup_mode=None)
    made.command(
        help=main.COMMANDS["completion"],
        epilog="bash: penstock completion bash >> ~/.bashrc; zsh: penstock completion zsh >> ~/.zshrc; "
        "fish: penstock completion fish > ~/.config/fish/completions/penstock.fish.",
    )(completion)
    return made


def completion(shell: Annotated[Literal["bash", "zsh", "fish"], typer.Argument(help="Shell to complete for.")]) -> None:
    script = get_completion_script(prog_name="penstock", complete_var=main.COMPLETE_VARIABLE, shell=shell)  # nosec B604
    say(script.strip())


def whole() -> TyperGroup:
    """All commands with their options. It takes all of their modules, so only completion and the docs ask for it."""
    completion_init()
    tree = get_command(main.app)
    assert isinstance(tree, TyperGroup)
    for name in main.COMMANDS:
        command = get_command(import_module(f"penstock.cli.{main.TOGETHER.get(name, name)}").app())
        if name in main.TOGETHER:
            assert isinstance(command, TyperGroup)
            command = command.commands[name]
        command.name = name
        tree.commands[name] = command
    return tree
