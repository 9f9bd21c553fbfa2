"""Every fenced block of README.md and docs/, with its kind and where it stands.

| kind | what becomes of it |
|---|---|
| `console` | what stands behind `$` is run in a shell beside a real broker, what stands below it must come |
| `python` | run; the blocks of a page share their names |
| `json` | must be JSON |
| `toml` | must be settings that a broker takes |
| `mqks`, `sevx` | a conversation: what stands behind `>` is said, what stands behind `<` must come |
| `text` | no code: a drawing, or what a command says of itself |

`...` in what must come stands for anything. `<!-- needs spark -->` before a block has it run where a Spark session is,
`<!-- not run: reason -->` not at all. Blocks of other kinds, and indented ones, are refused: nobody would run them.
"""

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
KINDS = ("console", "python", "json", "toml", "mqks", "sevx", "text")
FENCE = re.compile(r"^(?P<indent> *)```(?P<kind>[\w-]*)\n(?P<text>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL)
NOT_RUN = re.compile(r"<!-- not run: (.+?) -->\s*\Z", re.DOTALL)
HERE = re.compile(r"<<'(\w+)'")
SPARK = re.compile(r"<!-- needs spark -->\s*\Z")


class Block(NamedTuple):
    page: str
    line: int
    kind: str
    text: str
    reason: str  # why it is not run
    spark: bool

    @property
    def runs(self) -> bool:
        return not self.reason and not self.spark

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def pages() -> list[Path]:
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@cache
def blocks() -> tuple[Block, ...]:
    return tuple(block for page in pages() for block in blocks_of(page))


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text()
    name = str(page.relative_to(ROOT))
    found = []
    for match in FENCE.finditer(text):
        before = text[: match.start()]
        reason = NOT_RUN.search(before)
        indent = len(match["indent"])
        code = "".join(line[indent:] for line in match["text"].splitlines(keepends=True))
        line = before.count("\n") + 1
        is_spark = SPARK.search(before) is not None
        found.append(Block(name, line, match["kind"], code, reason[1] if reason else "", is_spark))
    return found


def without_blocks(page: Path) -> str:
    """What is left of a page: prose, tables, lists."""
    return FENCE.sub("", page.read_text())


class Step(NamedTuple):
    """One command of a console block, and what must come."""

    command: str
    output: list[str]


def steps_of(text: str) -> list[Step]:
    """A command may go on: behind a backslash, or behind `> ` while what `<<` names has not come."""
    steps: list[Step] = []
    going_on = False
    until = ""  # the word that ends what the command reads
    for line in text.splitlines():
        if until:
            assert line == ">" or line.startswith("> "), f"expected > before: {line}"
            steps[-1] = Step(steps[-1].command + "\n" + line[2:], [])
            until = "" if line[2:] == until else until
            continue
        if going_on:
            steps[-1] = Step(steps[-1].command + "\n" + line, [])
        elif line.startswith("$ "):
            steps.append(Step(line[2:], []))
        else:
            assert steps, f"nothing was asked, and this came: {line}"
            steps[-1].output.append(line)
            continue
        going_on = line.endswith("\\")
        opened = HERE.search(line)
        until = opened[1] if opened else ""
    return steps


def agrees(shown: list[str], came: str) -> bool:
    """Whether what came is what a page shows: `...` is anything, and on a line of its own any number of lines."""
    parts = []
    for line in shown:
        if line.strip() == "...":
            parts.append(r"(?:.*\n)*")
        else:
            parts.append(re.escape(line.rstrip()).replace(re.escape("..."), ".*") + r"[ \t]*\n")
    return re.fullmatch("".join(parts), came.rstrip("\n") + "\n" if came.strip() else "") is not None
