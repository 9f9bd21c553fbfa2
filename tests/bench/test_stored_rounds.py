"""Small rounds on disk against real servers: everything confirmed is there, in order, also after a restart."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from bench.backlog import measure
from bench.confirmed import CLIENTS
from bench.load import Job, run_round
from bench.peers import CONFIRMED, Missing, Mode, Peer
from bench.peers.base import Course
from bench.peers.durable import JetStream, Mqks, Stream, StreamRewritten
from bench.servers import accepts

COUNT = 2000

pytestmark = pytest.mark.process


@pytest.fixture(scope="module", params=[Mqks, JetStream, Stream], ids=lambda row: row.name)
def running(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Peer]:
    peer: Peer = request.param()
    try:
        start(peer, Path(tmp_path_factory.mktemp("server")))
        yield peer
    finally:
        peer.stop()


def start(peer: Peer, workdir: Path) -> None:
    """Ours has to start; another that is not installed is skipped, and the reason says how to get it."""
    try:
        peer.start(workdir)
    except Missing as missing:
        if isinstance(peer, Mqks):
            raise
        pytest.skip(f"{peer.name}: {missing}")


@pytest.mark.parametrize(("course", "mode"), [(Course.PUT, Mode.AUTO), (Course.THROUGH, Mode.MANUAL)])
def test_every_message_of_a_round_comes_once_and_in_order(running: Peer, course: Course, mode: Mode):
    for topic, check in ((b"a%d000" % len(course.name), True), (b"b%d000" % len(course.name), False)):
        found = run_round(Job(running.for_round(mode, topic, course), 100, COUNT, check))
        assert found.failure == ""
        assert found.rate > 0


@pytest.mark.parametrize("row", CONFIRMED, ids=lambda row: row.name)
def test_all_that_many_clients_were_confirmed_is_there(row: type[Peer], tmp_path: Path):
    peer = row()
    try:
        start(peer, tmp_path)
        found = run_round(Job(peer.for_round(Mode.MANUAL, b"c0000", Course.CONFIRMED), 100, CLIENTS * 50))
    finally:
        peer.stop()
    assert found.failure == ""
    assert found.rate > 0


@pytest.mark.parametrize("row", [Mqks, StreamRewritten], ids=lambda row: row.name)
def test_a_backlog_is_filled_restarted_twice_and_read_back(row: type[Peer], tmp_path: Path):
    peer = row().for_round(Mode.AUTO, b"d0000", Course.PUT)
    try:
        start(peer, tmp_path)
        found = measure(peer, COUNT, read_back=True)
    finally:
        peer.stop()
    assert found.failure == ""
    figures = (found.fill_rate, found.rss, found.peak, found.after_kill, found.after_stop, found.read_rate)
    assert all(figure is not None and figure > 0 for figure in figures)
    assert not accepts(peer.port)
