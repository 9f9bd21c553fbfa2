"""A newcomer's five minutes have as many commands as the README says; tests/spark/test_readme.py runs them."""

import re

from .blocks import ROOT, blocks, steps_of

NUMBERS = {"three": 3, "four": 4, "five": 5, "six": 6, "seven": 7}


def test_there_are_as_many_commands_as_it_says() -> None:
    said = re.search(r"^## Five minutes, (\w+) commands$", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert said is not None
    consoles = [block for block in blocks() if (block.page, block.kind) == ("README.md", "console")]
    assert sum(len(steps_of(block.text)) for block in consoles) == NUMBERS[said[1]]


def test_the_first_screen_names_what_shows_the_main_job_and_what_runs_the_tests() -> None:
    screen = (ROOT / "README.md").read_text().splitlines()[:25]
    for command in ("make demo", "make test"):
        (row,) = (line for line in screen if line.startswith(f"| `{command}` |"))
        assert re.search(r"about \d+ minutes? \|$", row)
    assert any("need" in line and "Debian 12" in line for line in screen)
