"""Small rounds against a real server: what the bench says for each protocol is what the broker understands."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from bench.clients import ROWS, Raw, client_round
from bench.load import Job, run_round
from bench.peers import PROTOCOLS, TLS, Mode, Peer
from bench.peers.penstock import Mqks, Penstock
from bench.peers.protocols import Sevx, SevxCrowd
from bench.wire import connect

COUNT = 2000

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Penstock]:
    server = Mqks()
    try:
        server.start(Path(tmp_path_factory.mktemp("server")))
        yield server
    finally:
        server.stop()


@pytest.mark.parametrize("row", PROTOCOLS, ids=lambda row: row.name)
def test_every_message_of_a_round_comes_once_and_in_order(running: Penstock, row: type[Penstock]):
    peer = row().share(running).for_round(Mode.AUTO, b"a%04d" % PROTOCOLS.index(row))
    assert run_round(Job(peer, 100, COUNT, check=True)).failure == ""
    peer = peer.for_round(Mode.AUTO, b"b%04d" % PROTOCOLS.index(row))
    found = run_round(Job(peer, 100, COUNT))
    assert found.failure == ""
    assert found.rate > 0


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_round_of_the_client_has_every_message(running: Penstock, row: type[Mqks]):
    peer = row().share(running).for_round(Mode.AUTO, b"k%04d" % ROWS.index(row))
    found = client_round(Job(peer, 100, COUNT))
    assert found.failure == ""
    assert found.rate > 0
    assert bool(found.client_cpu) == (row is not Raw)


@pytest.mark.parametrize("row", TLS, ids=lambda row: row.name)
def test_rounds_over_tls(tmp_path: Path, row: type[Peer]):
    server = row()
    try:
        server.start(tmp_path)
        assert server.ca is not None
        for check in (True, False):
            found = run_round(Job(server.for_round(Mode.AUTO, b"t%04d" % check), 100, COUNT, check=check))
            assert found.failure == ""
    finally:
        server.stop()


def test_the_crowd_is_gone_after_the_round(running: Penstock):
    peer = SevxCrowd().share(running).for_round(Mode.AUTO, b"c0000")
    assert run_round(Job(peer, 100, COUNT)).failure == ""
    assert queue_count(running) < 100


def queue_count(running: Penstock) -> int:
    with connect(Sevx().share(running).port) as sock:
        sock.sendall(b'q _eval {"code": "len(state.queues)"}\n')
        return int(json.loads(sock.makefile("rb").readline().split(b" ", 2)[2])["result"])
