"""Every block of README.md and docs/ does what it says; blocks.py has the rules, tests/spark/test_pages.py the rest."""

import contextlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

from penstock.config import Config
from penstock.testing import Broker

from .blocks import KINDS, ROOT, Block, agrees, blocks, pages, steps_of, without_blocks
from .terminal import SERVE, Terminal, free_ports, has_tools, with_ports

NOT_RUN_MAX = 8
GENERATED = ("docs/cli.md",)
COMMAND = re.compile(r"^(\$|\#) |^(penstock|mqmq|make|pip|python3?|curl|sudo|docker|systemctl) ", re.MULTILINE)


def of_kind(*kinds: str) -> list[Block]:
    return [block for block in blocks() if block.kind in kinds and block.runs]


RUN = of_kind("console", "python")
PAGES = sorted({block.page for block in RUN if block.kind == "console"})
ALONE = [block for block in RUN if block.kind == "python" and block.page not in PAGES]


def test_nothing_looks_like_code_and_is_not_run() -> None:
    for block in blocks():
        assert block.kind in KINDS or block.reason, f"{block}: nobody runs a block of kind {block.kind!r}"
        if block.kind == "text" and block.page not in GENERATED:
            assert not COMMAND.search(block.text), f"{block}: a command in a text"
    for page in pages():
        indented = re.search(r"(?:\A|\n\n) {4,}(?![-*|]|\d+\.)\S.*\n", without_blocks(page))
        assert indented is None, f"{page.relative_to(ROOT)}: fence this block: {indented[0].strip()}"


def test_what_is_not_run_has_a_reason_and_is_little() -> None:
    reasons = [block.reason for block in blocks() if block.reason]
    assert len(reasons) <= NOT_RUN_MAX
    assert min(map(len, reasons), default=20) > 10
    assert len(RUN) >= 45


@pytest.mark.process
@pytest.mark.timeout(300)
@pytest.mark.parametrize("page", [page for page in PAGES if page != "README.md"])
def test_the_commands_of_a_page(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    follow_page([block for block in RUN if block.page == page], tmp_path, monkeypatch)


def follow_page(todo: list[Block], directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One block after the other, in one shell and with one broker: the page's own, or one that is there already."""
    steps = [step for block in todo if block.kind == "console" for step in steps_of(block.text)]
    if not all(has_tools(step.command) for step in steps):
        pytest.skip("a program is not installed that these commands need")
    monkeypatch.chdir(directory)
    with contextlib.ExitStack() as stack:
        ports = free_ports()
        if not any(SERVE.match(step.command) for step in steps):
            settings: dict[str, Any] = {"data": str(directory / "data"), "sync": "off", **ports}
            ports = stack.enter_context(Broker(**settings)).ports
        terminal = stack.enter_context(Terminal(directory, ports))
        names: dict[str, object] = {"__name__": "example"}
        for block in todo:
            if block.kind == "python":
                exec(compile(with_ports(block.text, ports), str(block), "exec"), names)
                continue
            for step in steps_of(block.text):
                terminal.follow(step)


@pytest.mark.parametrize("block", ALONE, ids=str)
def test_a_program_of_a_page(block: Block) -> None:
    with Broker(http=0) as broker:
        exec(compile(with_ports(block.text, broker.ports), str(block), "exec"), {"__name__": "example"})


@pytest.mark.parametrize("block", of_kind("json"), ids=str)
def test_json(block: Block) -> None:
    assert json.loads(block.text)


@pytest.mark.parametrize("block", of_kind("toml"), ids=str)
def test_settings(block: Block, tmp_path: Path) -> None:
    file = tmp_path / "penstock.toml"
    file.write_text(block.text)
    assert Config.load({}, {}, file) != Config()


@pytest.mark.parametrize(
    ("shown", "came", "agreed"),
    [
        (["published ..."], "published 4711\n", True),
        (["published ..."], "refused\n", False),
        (["a", "...", "z"], "a\nb\nc\nz\n", True),
        (["a", "...", "z"], "a\nz\n", True),
        (["a"], "a\nb\n", False),
        (["..."], "", True),
        (["a"], "", False),
    ],
)
def test_what_comes_is_compared_with_what_is_shown(shown: list[str], came: str, agreed: bool) -> None:
    assert agrees(shown, came) is agreed
