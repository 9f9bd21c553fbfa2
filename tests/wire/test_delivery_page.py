"""The examples of docs/delivery.md, carried out: what stands behind > is said, what stands behind < must come."""

import re
from pathlib import Path

import pytest

from penstock.config import Config
from penstock.core.broker import Broker
from penstock.core.limits import Limits
from penstock.log.memory import MemoryLog
from penstock.server.node import rule_of
from penstock.wire.mqks.session import Mqks
from penstock.wire.session import Hub
from penstock.wire.sevx.session import Sevx

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "delivery.md"
BLOCKS = re.findall(r"(?:^    .*\n|^\n(?=    ))+", PAGE.read_text(), re.MULTILINE)
EXAMPLES = [[line[4:] for line in block.strip("\n").splitlines()] for block in BLOCKS]
TALKS = [example for example in EXAMPLES if example[0].startswith(("# MQKS", "# SEVX"))]
(TABLES,) = [example[1:] for example in EXAMPLES if example[0] == "# TOML"]
DIALECTS = {"MQKS": Mqks, "SEVX": Sevx}


def policies(tmp_path: Path) -> Config:
    file = tmp_path / "penstock.toml"
    file.write_text("\n".join(TABLES))
    return Config.load({}, {}, file)


def test_the_policies_of_the_page_can_be_loaded(tmp_path: Path) -> None:
    assert [table.queues for table in policies(tmp_path).policy] == [("*",), ("orders.*", "invoices"), ("payments*",)]


def test_the_page_has_examples() -> None:
    assert len(TALKS) == 5


@pytest.mark.parametrize("talk", TALKS, ids=lambda talk: f"{talk[0][2:6]} {talk[-1][2:30]}")
def test_an_example_of_the_page_is_true(talk: list[str], tmp_path: Path) -> None:
    broker = Broker(MemoryLog(), Limits())
    if "policy" in talk[0]:
        broker.set_policies([rule_of(table) for table in policies(tmp_path).policy])
    session = DIALECTS[talk[0][2:6]](Hub(broker, lambda level, event, details: None)).open("peer", 0)
    now = 1_700_000_000_000_000
    heard: list[str] = []
    for line in talk[1:]:
        if line.startswith("<"):
            assert heard, f"nothing came where the page has {line}"
            assert heard.pop(0).rstrip() == line[2:]
            continue
        assert heard == [], f"this came as well, before {line}"
        if line.startswith(">"):
            session.feed(line[2:].encode() + b"\n", now)
        else:
            waited = re.fullmatch(r"\((.*) s\)", line)
            assert waited is not None, line
            now += round(float(waited[1]) * 1_000_000)
            broker.tick(now - 1)
            assert session.drain() == b"", "it came too early"
            broker.tick(now)
        heard = session.drain().decode().splitlines()
    assert heard == []
