"""A newcomer's five minutes: the commands of the README, from a broker to a Spark result on the screen."""

import runpy
import shlex
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.docs.blocks import ROOT, agrees, blocks, steps_of
from tests.docs.terminal import Terminal, free_ports, with_ports

SPARK = ".venv/bin/python examples/"


@pytest.mark.process
@pytest.mark.timeout(300)
def test_broker_up_a_message_through_two_protocols_a_spark_result(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What needs Spark is run in this process, which has started it; the rest in a shell."""
    monkeypatch.setattr(SparkSession, "stop", lambda session: None)  # it is everybody's here
    texts = [block.text for block in blocks() if (block.page, block.kind) == ("README.md", "console") and block.runs]
    steps = [step for text in texts for step in steps_of(text)]
    assert sum(step.command.startswith(SPARK) for step in steps) == 1
    with Terminal(tmp_path, free_ports()) as terminal:
        for step in steps:
            if not step.command.startswith(SPARK):
                terminal.follow(step)
                continue
            program, *arguments = shlex.split(with_ports(step.command, terminal.ports))[1:]
            monkeypatch.setattr(sys, "argv", [program, *arguments])
            capsys.readouterr()
            runpy.run_path(str(ROOT / program), run_name="__main__")
            came = capsys.readouterr().out
            assert agrees(step.output, came), came
