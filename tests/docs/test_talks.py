"""The conversations of the pages, carried out: what stands behind > is said, what stands behind < must come."""

import re
from pathlib import Path

import pytest

from penstock.config import Config
from penstock.core.broker import Broker
from penstock.core.limits import Limits
from penstock.log.memory import MemoryLog
from penstock.node import rule_of
from penstock.wire.mqks.session import Mqks
from penstock.wire.session import Hub
from penstock.wire.sevx.session import Sevx

from .blocks import ROOT, Block, blocks

DIALECTS = {"mqks": Mqks, "sevx": Sevx}
TALKS = [block for block in blocks() if block.kind in DIALECTS]
(POLICY,) = [block for block in blocks() if block.kind == "toml" and block.page == "docs/delivery.md"]


def policies(tmp_path: Path) -> Config:
    file = tmp_path / "penstock.toml"
    file.write_text(POLICY.text)
    return Config.load({}, {}, file)


def has_policy(talk: Block) -> bool:
    lines = (ROOT / talk.page).read_text().splitlines()
    return lines[talk.line - 2] == "<!-- with the policy below -->"


def test_the_policies_of_the_page_can_be_loaded(tmp_path: Path) -> None:
    assert [table.queues for table in policies(tmp_path).policy] == [("*",), ("orders.*", "invoices"), ("payments*",)]


def test_the_pages_have_conversations() -> None:
    assert len(TALKS) == 6
    assert sum(map(has_policy, TALKS)) == 1


@pytest.mark.parametrize("talk", TALKS, ids=str)
def test_a_conversation_is_true(talk: Block, tmp_path: Path) -> None:
    broker = Broker(MemoryLog(), Limits())
    if has_policy(talk):
        broker.set_policies([rule_of(table) for table in policies(tmp_path).policy])
    session = DIALECTS[talk.kind](Hub(broker, lambda level, event, details: None)).open("peer", 0)
    now = 1_700_000_000_000_000
    heard: list[str] = []
    for line in talk.text.splitlines():
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
