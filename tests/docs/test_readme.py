"""A newcomer's five minutes: the commands of the README, as they stand and as many as it says."""

import re
from pathlib import Path

import pytest

from .blocks import ROOT, blocks, steps_of
from .test_pages import RUN, follow_page

NUMBERS = {"three": 3, "four": 4, "five": 5, "six": 6, "seven": 7}


def test_there_are_as_many_commands_as_it_says() -> None:
    said = re.search(r"^## Five minutes, (\w+) commands$", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert said is not None
    consoles = [block for block in blocks() if (block.page, block.kind) == ("README.md", "console")]
    assert sum(len(steps_of(block.text)) for block in consoles) == NUMBERS[said[1]]


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.timeout(300)
def test_broker_up_a_message_through_two_protocols_a_spark_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyspark")
    follow_page([block for block in RUN if block.page == "README.md"], tmp_path, monkeypatch)
