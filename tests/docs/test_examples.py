"""The programs of examples/ run, and say what they should; those that need Spark are run in tests/spark."""

import runpy
import sys
from pathlib import Path

import pytest

from penstock.testing import Broker

from .blocks import ROOT

EXAMPLES = ROOT / "examples"
SAYS = {
    "mqks_worker": ("mqks", ["failing on a turbine", "done with a turbine at the second try"]),
    "sevx_events": ("sevx", ["updated: Kate"]),
    "smqs_batches": ("smqs", ["stored 0 to 9", "stored 10 to 19", "stored 20 to 29"]),
    "mqmq_jobs": (
        "mqmq",
        [*(f"painting a gate, {colour}" for colour in ("red", "green", "blue")), "nothing left to paint"],
    ),
    "rq_sums": ("rq", ["1+1 = 2", "2+2+2 = 6", "3+30 = 33"]),
    "two_protocols": ("any", [f'{{"by": "{name}"}}' for name in ("mqmq", "smqs", "rq", "mqks")]),
}
OTHERS = {"broker_in_a_test", "demo", "plot_stats", "spark_look", "spark_quickstart"}


def test_every_example_is_run_somewhere() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.py")} == SAYS.keys() | OTHERS


@pytest.mark.parametrize("name", SAYS)
def test_an_example(name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    protocol, lines = SAYS[name]
    with Broker() as broker:
        monkeypatch.setattr(sys, "argv", [name, broker.address(protocol)])
        runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    said = capsys.readouterr().out.replace('{"by":"smqs"}', '{"by": "smqs"}').splitlines()
    assert said == lines


def test_the_example_of_a_test_passes(penstock_broker: Broker) -> None:
    from examples import broker_in_a_test

    broker_in_a_test.test_everything_is_shouted(penstock_broker)


@pytest.mark.process
def test_the_demo_talks_to_a_worker_and_loads_all_five_protocols(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Up to where Spark takes over: its pipelines have tests of their own, and `make demo` shows all of it."""
    from examples import demo

    monkeypatch.setattr(demo, "COUNT", 10_000)
    with demo.running_broker(tmp_path) as ports:
        worker, shop = demo.Client(ports["mqks"]), demo.Client(ports["mqks"])
        demo.conversation(worker, shop)
        worker.close()  # else it would be given half of the orders
        shop.close()
        demo.load(ports)
    said = capsys.readouterr().out
    assert "< c1 ok m1 event=order.placed,retry=1" in said
    assert "10,000 messages through mqks, smqs, sevx, mqmq, rq" in said
    assert "ended with exit code 0" in said
