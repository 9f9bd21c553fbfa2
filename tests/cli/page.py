"""The reference in docs/cli.md, made of the commands themselves: `python -m tests.cli.page --write`."""

import sys
from pathlib import Path

from typer.core import TyperGroup

from penstock.cli.completion import whole
from penstock.cli.exits import EXITS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "cli.md"
BEGIN = "<!-- what follows is written by tests/cli/page.py -->\n"
END = "<!-- up to here -->\n"
WIDTH = 110
NOT_HERE = ("serve",)  # its options are the settings, which have a page of their own in `serve --help`


def reference() -> str:
    parts = ["\n## Exit codes\n\n| code | meaning |\n|---|---|\n"]
    parts += [f"| {code} | {meaning} |\n" for code, meaning in EXITS.items()]
    tree = whole()
    root = tree.make_context("penstock", [], resilient_parsing=True)
    for name, command in tree.commands.items():
        parts.append(f"\n## penstock {name}\n")
        if name in NOT_HERE:
            parts.append(
                f"\n{command.help} Its options are the settings: `penstock serve --help`, `penstock config show`.\n"
            )
            continue
        described = {name: command}
        if isinstance(command, TyperGroup):
            described |= {f"{name} {inner}": below for inner, below in command.commands.items()}
        for path, below in described.items():
            context = type(root)(below, info_name=f"penstock {path}", terminal_width=WIDTH, max_content_width=WIDTH)
            text = "\n".join(line.rstrip() for line in below.get_help(context).splitlines())
            parts.append(f"\n```text\n{text}\n```\n")
    return "".join(parts) + "\n"


def page() -> str:
    """The page as it should be."""
    written = PAGE.read_text()
    head, _, rest = written.partition(BEGIN)
    _, _, tail = rest.partition(END)
    return head + BEGIN + reference() + END + tail


if __name__ == "__main__":
    if "--write" in sys.argv:
        PAGE.write_text(page())
    else:
        sys.stdout.write(page())
