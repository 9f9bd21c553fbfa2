"""The reference in docs/cli.md, made of the commands themselves."""

from pathlib import Path

from typer.core import TyperGroup

from penstock.cli.completion import command_tree
from penstock.cli.exits import EXITS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "cli.md"
BEGIN = "<!-- what follows is written by scripts/pages/cli.py -->\n"
END = "<!-- up to here -->\n"
WIDTH = 110
NOT_HERE = ("serve",)  # its options are the settings, which have a page of their own


def described() -> dict[str, str]:
    """What each command says of itself, by its path."""
    tree = command_tree()
    root = tree.make_context("penstock", [], resilient_parsing=True)
    found = {}
    for name, command in tree.commands.items():
        commands = {name: command}
        if isinstance(command, TyperGroup):
            commands |= {f"{name} {inner}": below for inner, below in command.commands.items()}
        for path, below in commands.items():
            context = type(root)(below, info_name=f"penstock {path}", terminal_width=WIDTH, max_content_width=WIDTH)
            found[path] = "\n".join(line.rstrip() for line in below.get_help(context).splitlines())
    return found


def reference() -> str:
    parts = ["\n## Exit codes\n\n| code | meaning |\n|---|---|\n"]
    parts += [f"| {code} | {meaning} |\n" for code, meaning in EXITS.items()]
    for path, text in described().items():
        if " " not in path:
            parts.append(f"\n## penstock {path}\n")
        if path in NOT_HERE:
            said = text.splitlines()[2].strip()
            parts.append(f"\n{said} Its options are the [settings](reference/config.md).\n")
        else:
            parts.append(f"\n```text\n{text}\n```\n")
    return "".join(parts) + "\n"


def page() -> str:
    """The page as it should be: what a person wrote, then this."""
    written = PAGE.read_text()
    head, _, rest = written.partition(BEGIN)
    _, _, tail = rest.partition(END)
    return head + BEGIN + reference() + END + tail
