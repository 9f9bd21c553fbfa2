"""The sections on disk, without their servers: what is said in each kind of round, and how the bars are judged."""

from __future__ import annotations

import json
import socket
import struct
from concurrent.futures import ThreadPoolExecutor
from io import BufferedRWPair
from pathlib import Path

import pytest
from bench.backlog import SIZE
from bench.bars import Bar, judge
from bench.confirmed import WINDOW, Client
from bench.counting import AnswerCounter
from bench.frames import BLOCK, Block, number
from bench.latency import Pace
from bench.load import Round
from bench.machine import BrokerContext, Machine, sync_ms
from bench.peers import BACKLOG, CONFIRMED, DURABLE, Mode, Peer
from bench.peers.base import Course
from bench.peers.durable import ConfirmCounter, Consumed, JetStream, Mqks, Persistent, Stream
from bench.plan import Section
from bench.report import text_report, write_json
from bench.results import Backlog, Cell, Results
from bench.wire import HOST

from penstock.cli.load import Counter, Stalled

TOPIC = b"t0001"
OURS, NATS, REDIS, RABBIT = (row.name for row in DURABLE)
CONSUMED = Consumed.name
SPOKEN = [(row, course) for row in DURABLE for course in (Course.PUT, Course.THROUGH)]
SPOKEN += [(row, Course.CONFIRMED) for row in CONFIRMED]


def speaking(row: type[Peer], course: Course, mode: Mode = Mode.MANUAL) -> Peer:
    return row().for_round(mode, TOPIC, course)


# --- What is said


@pytest.mark.parametrize(("row", "course"), SPOKEN)
def test_a_stamped_block_equals_frames_made_one_by_one(row: type[Peer], course: Course):
    wire = speaking(row, course)

    def frame(index: int) -> bytes:
        return wire.publish(number(index), wire.body(index, 100))

    assert bytes(Block(frame).at(12)) == b"".join(map(frame, range(12 * BLOCK, 13 * BLOCK)))


def test_a_queue_of_ours_is_made_by_the_first_publisher_where_no_consumer_is_there():
    filling = speaking(Mqks, Course.CONFIRMED)
    assert [each.send for each in filling.publisher_hello()] == [
        b"d consume --confirm t0001 t0001\n",
        b"p delete_consumer --confirm d\n",
    ]
    assert [each.send for each in filling.for_client(1).publisher_hello()] == [b"p ping x\n"]
    assert filling.publish(b"00000007", b"d") == b"00000007 publish --confirm t0001 d\n"
    assert [each.send for each in speaking(Mqks, Course.THROUGH).publisher_hello()] == [b"p ping x\n"]


@pytest.mark.parametrize("row", CONFIRMED)
def test_either_each_publish_is_answered_or_one_at_the_end_for_all(row: type[Peer]):
    for course in (Course.PUT, Course.THROUGH):
        wire = speaking(row, course)
        assert wire.receipt(1000) is not None
        assert wire.answers() is None
    wire = speaking(row, Course.CONFIRMED)
    assert wire.receipt(1000) is None
    assert wire.answers() is not None


def test_the_receipt_of_jetstream_names_the_last_message_it_has():
    receipt = speaking(JetStream, Course.PUT).receipt(1000)
    assert receipt is not None
    assert receipt.until == b"wrong last sequence: 1000"
    head, _, rest = receipt.send.partition(b"\r\n")
    assert [int(size) for size in head.split()[-2:]] == [len(rest) - 2] * 2


def test_clients_of_jetstream_have_an_inbox_each():
    wire = speaking(JetStream, Course.CONFIRMED)
    for client in (0, 63):
        inbox = b"i.t0001.%d" % client
        assert b"SUB %s " % inbox in b"".join(each.send for each in wire.for_client(client).publisher_hello())
        assert wire.for_client(client).publish(b"", b"abc") == b"PUB t0001 %s 3\r\nabc\r\n" % inbox


def test_a_redis_group_keeps_no_list_of_what_it_gave_away_when_nobody_acks():
    assert b"NOACK" in speaking(Stream, Course.PUT, Mode.AUTO).feedback_tail()
    assert speaking(Stream, Course.PUT, Mode.AUTO).feedback(7) == b""
    assert b"NOACK" not in speaking(Stream, Course.PUT).feedback_tail()
    assert b"1-100000007" in speaking(Stream, Course.PUT).feedback(7)


# --- Confirms of RabbitMQ


def confirm(tag: int, multiple: bool = False, method: int = 80) -> bytes:
    return struct.pack(">BHIHHQBB", 1, 1, 13, 60, method, tag, multiple, 0xCE)


def counted(stream: bytes, step: int, counter: Counter | None = None) -> int:
    counter = counter or ConfirmCounter()
    ours, theirs = socket.socketpair()
    seen = 0
    with ours, theirs:
        for start in range(0, len(stream), step):
            theirs.sendall(stream[start : start + step])
            seen += counter.read(ours)
    return seen


@pytest.mark.parametrize("step", [1, 20, 21, 1000])
def test_a_confirm_counts_for_itself_or_for_all_before_it_and_never_twice(step: int):
    assert counted(confirm(1) + confirm(3) + confirm(2), step) == 3
    assert counted(confirm(2) + confirm(5) + confirm(4, multiple=True), step) == 5
    assert counted(confirm(100, multiple=True) + confirm(200, multiple=True) + confirm(201), step) == 201


def test_a_refused_publish_is_no_confirm():
    with pytest.raises(Stalled, match=r"60\.120"):
        counted(confirm(1) + confirm(2, method=120), 100)


def test_a_durable_queue_asks_to_be_kept():
    (declare,) = (each for each in speaking(Persistent, Course.PUT).publisher_hello() if TOPIC in each.send)
    flags_at = declare.send.index(TOPIC) + len(TOPIC)
    assert declare.send[flags_at] == 2
    assert b"\x10\x00\x02" in speaking(Persistent, Course.PUT).publish(b"", b"abc")  # delivery-mode 2


@pytest.mark.parametrize("step", [1, 3, 1000])
def test_a_refusal_ends_the_count_however_it_is_cut(step: int):
    answers = b"1 ok \n2 ok \n"
    assert counted(answers, step, AnswerCounter(b"k", b" error ")) == 2
    with pytest.raises(Stalled, match="refused: b' error "):
        counted(answers + b"3 error kkk\n", step, AnswerCounter(b"k", b" error "))


# --- A client that waits for its confirms


class Talker(Mqks):
    """Ours without a server of ours: whoever listens at the port is spoken to."""

    def __init__(self, port: int) -> None:
        super().__init__()
        self._ports = {"mqks": port}


def test_a_client_has_no_more_under_way_than_its_window_and_goes_on_as_it_is_confirmed():
    count = 3 * WINDOW
    with socket.create_server((HOST, 0)) as listener, ThreadPoolExecutor(1) as pool:
        peer = Talker(listener.getsockname()[1]).for_round(Mode.MANUAL, TOPIC, Course.CONFIRMED).for_client(1)
        making = pool.submit(Client, peer, 16, 1000, count)
        theirs, _ = listener.accept()
        with theirs, theirs.makefile("rwb") as lines:
            theirs.settimeout(10)
            assert lines.readline() == b"p ping x\n"
            answer(lines, [b"p"], b"x")
            client = making.result(10)
            with client.sock:
                client.fill_window()
                client.fill_window()
                ids = [number(1000 + index) for index in range(count)]
                assert asked(lines, WINDOW) == ids[:WINDOW]
                theirs.setblocking(False)
                with pytest.raises(BlockingIOError):
                    theirs.recv(1)
                theirs.settimeout(10)
                for first, last in ((0, 5), (5, 5 + WINDOW), (5 + WINDOW, count)):
                    answer(lines, ids[first:last])
                    assert client.turn() is (last == count)
                    assert (
                        asked(lines, min(last + WINDOW, count) - min(first + WINDOW, count))
                        == (ids[first + WINDOW : last + WINDOW])
                    )
                answer(lines, ids[:1])
                with pytest.raises(Stalled, match=f"{count + 1} confirms of {count}"):
                    client.turn()


def asked(lines: BufferedRWPair, count: int) -> list[bytes]:
    return [lines.readline().split()[0] for _ in range(count)]


def answer(lines: BufferedRWPair, ids: list[bytes], data: bytes = b"") -> None:
    lines.write(b"".join(b"%s ok %s\n" % (id, data) for id in ids))
    lines.flush()


def test_the_time_of_a_sync_is_measured_and_nothing_is_left(tmp_path: Path):
    assert sync_ms(tmp_path, tries=3) > 0
    assert list(tmp_path.iterdir()) == []


# --- The bars


def results(section: Section) -> Results:
    machine = Machine("a CPU", 2, 1000, "Linux", "CPython", 0.0)
    return Results(machine, Pace(10_000, 5.0, 16), rounds=3, sections=[section.value])


def stored(peer: str, *rates: int, size: int = 16, course: Course = Course.PUT, waited: float = 0.0) -> Cell:
    return Cell(peer, Mode.AUTO, size, [Round(rate, 1.0, BrokerContext(0.1, waited)) for rate in rates], course)


def verdicts(bars: list[Bar]) -> list[tuple[float | None, bool | None]]:
    return [(bar.measured, bar.met) for bar in bars]


def test_durable_bars_set_ours_consumed_against_ingest_size_by_size_and_a_missing_peer_is_never_passed():
    found = results(Section.DURABLE)
    found.durable = [
        stored(CONSUMED, 900, 1200),
        stored(OURS, 5, 5),
        stored(NATS, 300, 300),
        stored(REDIS, 1000, 1000),
        stored(CONSUMED, 800, size=256),
        stored(RABBIT, 80, size=256),
        stored(NATS, 1, 1, course=Course.THROUGH),
    ]
    missing = (None, None)
    bars = judge(found)
    assert verdicts(bars) == [(3.5, True), (1.05, False), missing, missing, missing, (10.0, True)]
    assert [bar.text for bar in bars if bar.measured == 3.5] == [
        "durable 16-byte publish to consume msg/s at least 3 x ingest of nats jetstream file"
    ]
    assert text_report(found, bars).count("not judged") == 3


def test_a_durable_bar_is_doubted_when_the_server_waited_for_a_core():
    found = results(Section.DURABLE)
    found.durable = [stored(CONSUMED, 900, waited=0.5), stored(NATS, 100)]
    assert judge(found)[0].doubt == "the machine was busy"


@pytest.mark.parametrize(
    ("rate", "sync", "met"),
    [(60_000, 0.2, True), (60_000, 3.0, True), (40_000, 0.2, False), (40_000, 0.21, False), (40_000, 0.4, None)],
)
def test_few_confirms_are_judged_where_the_disk_is_fast(rate: int, sync: float, met: bool | None):
    found = results(Section.CONFIRMED)
    found.confirmed = [stored(OURS, rate, size=100, course=Course.CONFIRMED)]
    found.sync_ms = sync
    (bar,) = judge(found)
    assert (bar.measured, bar.met) == (rate, met)
    assert ("sync takes longer" in bar.doubt) is (met is None)
    found.confirmed = []
    assert judge(found)[0].met is None


def long_queue(peer: str, count: int = 5_000_000, rss: float = 100, kill: float = 2.0, stop: float = 1.0) -> Backlog:
    return Backlog(peer, count, SIZE, 1e6, rss, rss, kill, stop, rss + 1, None)


def test_the_backlog_has_to_be_small_in_memory_and_back_sooner_than_both():
    found = results(Section.BACKLOG)
    found.backlogs = [long_queue(OURS, rss=599.5), long_queue(REDIS, kill=4.0, stop=0.5), long_queue(RABBIT, kill=2.0)]
    assert verdicts(judge(found)) == [(600.5, False), (0.5, True), (1.0, False), (2.0, False), (1.0, False)]


def test_a_smaller_backlog_and_a_peer_without_one_judge_nothing():
    found = results(Section.BACKLOG)
    found.backlogs = [long_queue(OURS, count=1000), long_queue(REDIS, count=1000, kill=4.0)]
    bars = judge(found)
    assert [bar.met for bar in bars] == [None] * 5
    assert (bars[1].measured, bars[1].doubt) == (0.5, "it is about 5,000,000 messages")
    found.backlogs = [long_queue(OURS), Backlog(REDIS, 5_000_000, SIZE, failure="no report within 600 s")]
    assert [bar.met for bar in judge(found)] == [True, None, None, None, None]


def test_the_report_has_a_table_for_each_section_on_disk(tmp_path: Path):
    found = results(Section.BACKLOG)
    found.durable = [stored(OURS, 900_000), stored(OURS, 700_000, course=Course.THROUGH)]
    found.confirmed = [stored(OURS, 90_000, size=100, course=Course.CONFIRMED)]
    found.confirmed[0].rounds.append(Round(1, failure="lost one"))
    found.sync_ms = 0.217
    found.backlogs = [long_queue(OURS), Backlog(RABBIT, 5_000_000, SIZE, failure="gone")]
    report = text_report(found, judge(found))
    lines = [" ".join(line.split()) for line in report.splitlines()]
    assert "on disk, ingest, 16-byte bodies, 900,000 messages each" in lines
    assert "on disk, publish to consume with acks, 16-byte bodies, 700,000 messages each" in lines
    assert "one sync of 4 KiB takes 0.22 ms" in report
    assert f"failed: {OURS}, confirmed, 100 B: lost one" in lines
    assert f"{OURS} 1,000,000 100 100 2.00 1.00 101 -" in lines
    assert f"failed: {RABBIT}, backlog: gone" in lines
    write_json(tmp_path / "run.json", found, judge(found))
    written = json.loads((tmp_path / "run.json").read_text())
    assert [each["course"] for each in written["durable"]] == ["put", "through"]
    assert written["backlogs"][0]["after_kill"] == 2.0


def test_ours_is_the_first_row_everywhere():
    assert {rows[0] for rows in (DURABLE, CONFIRMED, BACKLOG)} == {Mqks}
