"""The blocks of the pages that need Spark, as they stand; tests/docs has the others."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.docs.blocks import Block, agrees, blocks, steps_of
from tests.docs.terminal import SERVE, with_ports

from penstock.cli.main import main
from penstock.testing import Broker

pytestmark = pytest.mark.timeout(240)

PAGES = sorted({block.page for block in blocks() if block.spark})
AN_OWN_PROCESS = "import duckdb"  # brings an Arrow of its own along


def test_an_empty_log_is_an_empty_table(spark: SparkSession, tmp_path: Path) -> None:
    with Broker(http=0, data=str(tmp_path)) as broker:
        log = spark.read.format("penstock").option("servers", f"http://127.0.0.1:{broker.ports['http']}").load()
        assert log.count() == 0


@pytest.mark.parametrize("page", PAGES)
def test_the_blocks_of_a_page(
    page: str, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PENSTOCK_STATE", str(tmp_path / "state"))
    monkeypatch.setattr(SparkSession, "stop", lambda session: None)  # it is everybody's here
    names: dict[str, object] = {"__name__": "example"}
    with Broker(http=0, data=str(tmp_path / "data"), sync="off") as broker:
        for name, port in broker.ports.items():
            monkeypatch.setenv(f"PENSTOCK_{name.upper()}", str(port))
        try:
            for block in blocks():
                if block.page == page and block.spark:
                    follow(block, broker.ports, names, capfd)
        finally:
            if "listener" in names:
                spark.streams.removeListener(names["listener"])


def follow(block: Block, ports: dict[str, int], names: dict[str, object], capfd: pytest.CaptureFixture[str]) -> None:
    text = with_ports(block.text, ports)
    if block.kind == "console":
        for step in steps_of(text):
            if not SERVE.match(step.command):  # the broker is there
                capfd.readouterr()
                code = run(step.command)
                came, told = capfd.readouterr()
                assert code == 0, f"{block}: {step.command}\ncame:\n{came}{told}"
                assert not step.output or agrees(step.output, came), f"{block}: {step.command}\ncame:\n{came}"
    elif AN_OWN_PROCESS in text:
        subprocess.run([sys.executable, "-c", text], check=True)
    else:
        exec(compile(text, str(block), "exec"), names)


def run(command: str) -> int:
    """Ours in this process, where Spark has started; anything else in a shell."""
    if not command.startswith("penstock pipeline "):
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        return subprocess.run(["bash", "-c", command], env=os.environ | {"PATH": path}, check=False).returncode
    with pytest.raises(SystemExit) as ended:
        main(shlex.split(command.replace("\\\n", " "), comments=True)[1:])
    assert isinstance(ended.value.code, int | None)
    return ended.value.code or 0
