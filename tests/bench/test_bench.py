"""The bench's own arithmetic: what is sent is what is counted, ratios and percentiles are what they say. No servers."""

from __future__ import annotations

import json
import socket
import struct
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from bench.__main__ import choose
from bench.bars import judge
from bench.clients import Raw
from bench.counting import CheckingCounter
from bench.frames import BLOCK, MARK, STAMP_SPAN, Block, Feedback, age_ns, body, number, stamped_body
from bench.latency import Latency, Pace, percentile
from bench.load import Job, Round, RoundConsumer
from bench.machine import BrokerContext, Machine
from bench.peers import BACKLOG, CONFIRMED, DURABLE, PEERS, PROTOCOLS, TLS, Mode, Peer, durable
from bench.peers.base import Course
from bench.peers.nats import Core
from bench.peers.penstock import Mqks
from bench.peers.protocols import CROWD, MqmqGet, MqmqPut, Rq, Sevx, SevxCrowd, Smqs
from bench.peers.rabbitmq import Transient
from bench.peers.redis import PubSub
from bench.plan import Rows, Section, message_count
from bench.report import text_report, write_json
from bench.results import Cell, Results, Tables, ratio
from bench.tables import CEILING, HTTP, measured, run_tables

from penstock.cli.load import Counter, Echo, MarkCounter, SizeCounter, Stalled

TOPIC = b"t0001"
LINES = [(peer, mode) for peer in dict.fromkeys((*PEERS, *PROTOCOLS)) for mode in Mode if mode in peer.modes]
PUBLISHED = [(peer, mode) for peer, mode in LINES if peer.course is not Course.ECHO]


def speaking(peer: type[Peer], mode: Mode = Mode.AUTO) -> Peer:
    return peer().for_round(mode, TOPIC)


# --- What is sent


@pytest.mark.parametrize("size", [16, 256, 4096])
def test_a_body_has_exactly_its_size_and_one_mark(size: int):
    assert len(body(42, size)) == len(stamped_body(7, size)) == size
    assert body(42, size).count(b"~") == 1
    assert body(42, size).startswith(b"00000042")


def test_a_body_too_small_for_its_stamp_is_refused():
    with pytest.raises(ValueError, match="at least 15 bytes"):
        body(0, 14)


@pytest.mark.parametrize(("peer", "mode"), PUBLISHED)
def test_a_stamped_block_equals_frames_made_one_by_one(peer: type[Peer], mode: Mode):
    wire = speaking(peer, mode)

    def frame(index: int) -> bytes:
        return wire.publish(number(index), wire.body(index, 100))

    block = Block(frame)
    for block_index in (0, 1, 9, 10, 12345, 2):
        first = block_index * BLOCK
        assert bytes(block.at(block_index)) == b"".join(map(frame, range(first, first + BLOCK)))


def test_a_block_refuses_frames_without_their_number():
    with pytest.raises(ValueError, match="whole number"):
        Block(lambda index: b"always the same")


def test_feedback_of_growing_frames_is_cut_at_their_ends():
    feedback = Feedback(b"%d," % index for index in range(12))
    assert bytes(feedback.between(8, 11)) == b"8,9,10,"
    assert bytes(feedback.between(3, 3)) == b""


def test_age_is_right_across_the_wrap_of_the_stamp():
    stamp = stamped_body(STAMP_SPAN - 5, 16)[:14]
    assert age_ns(stamp, STAMP_SPAN + 10) == 15


# --- The peers' bytes


def test_mqks_speaks_its_spec():
    wire = speaking(Mqks, Mode.MANUAL)
    assert wire.publish(b"00000007", b"d") == b"00000007 publish t0001 d\n"
    assert wire.delivery(b"00000007", b"d") == b"c ok 00000007 event=t0001 d\n"
    assert wire.feedback(7) == b"a ack c 00000007\n"
    assert speaking(Mqks).feedback(7) == b""


def test_nats_and_redis_frames():
    assert speaking(Core).publish(b"", b"abc") == b"PUB t0001 3\r\nabc\r\n"
    assert speaking(Core).delivery(b"", b"abc") == b"MSG t0001 1 3\r\nabc\r\n"
    assert speaking(PubSub).publish(b"", b"abc") == b"*3\r\n$7\r\nPUBLISH\r\n$5\r\nt0001\r\n$3\r\nabc\r\n"


def test_amqp_frames_close_where_their_sizes_say():
    wire = speaking(Transient, Mode.MANUAL)
    for data, kinds in ((wire.publish(b"0", b"abc"), [1, 2, 3]), (wire.feedback(0), [1])):
        seen = []
        position = 0
        while position < len(data):
            kind, channel, size = struct.unpack_from(">BHI", data, position)
            position += 7 + size
            assert (channel, data[position]) == (1, 0xCE)
            position += 1
            seen.append(kind)
        assert seen == kinds


@pytest.mark.parametrize(("peer", "mode"), LINES)
def test_deliveries_of_a_peer_have_one_size_or_none_is_claimed(peer: type[Peer], mode: Mode):
    wire = speaking(peer, mode)
    assert len({len(wire.delivery(number(index), wire.body(index, 256))) for index in (0, 9, 10, 99_999_999)}) == 1


def test_an_smqs_consumer_settles_by_the_thousand_and_for_all():
    wire = speaking(Smqs)
    assert wire.publish(b"", b"d") == b"M:t0001:d\n"
    assert [index for index in range(5000) if wire.feedback(index)] == [999, 1999, 2999, 3999, 4999]
    assert wire.feedback(999) == b"D:t0001:1000\n"


def test_a_sevx_event_is_a_json_object_of_the_size_that_one_receiver_wants():
    wire = speaking(SevxCrowd)
    text = wire.body(42, 100)
    event = json.loads(text)
    assert len(text) == 100
    assert event["data"].startswith("00000042")
    (coming,) = wire.crowd()
    (mine,) = wire.consumer_hello()
    wanted = [json.loads(line.split(b" ", 2)[2]) for line in (mine.send + coming.send).splitlines()]
    assert len({each["queue"] for each in wanted}) == CROWD + 1
    assert [each["pattern"].items() <= event.items() for each in wanted] == [True] + [False] * CROWD
    assert speaking(Sevx).crowd() == speaking(Sevx).crowd_leaves() == []


def test_mqmq_frames():
    assert speaking(MqmqPut).publish(b"", b"d") == b"\0\0\0\x15\0\0\0\x03Put\0\0\0\x05t0001\0\0\0\x01d"
    assert speaking(MqmqGet).delivery(b"", b"d") == b"\0\0\0\x0b\0\0\0\x02OK\0\0\0\x01d"


def test_rq_requests_are_answered_with_their_own_ids_and_numbers():
    wire = speaking(Rq)
    assert wire.publish(b"00000258", b"d") == bytes.fromhex("01 80 00000102 a0 05 7430303031 e0 00000001 64 0a")
    requests = b"".join(
        b"\x01\x60\0\x07\xe0\0\0\0\x64%s\x80%s\x0a" % (body(index, 100), struct.pack(">I", 65 * index))
        for index in range(5000)
    )
    answers = wire.echo(100).answers(memoryview(requests))
    assert answers == b"".join(wire.delivery(b"%d" % (65 * index), body(index, 100)) for index in range(5000))


def test_an_echo_refuses_what_does_not_look_like_a_request():
    echo = Echo(b"<0>", b"[0]", [(1, 1, 1)])
    assert echo.answers(memoryview(b"<7><8>")) == b"[7][8]"
    assert echo.answers(memoryview(b"")) == b""
    with pytest.raises(Stalled, match="3 bytes"):
        echo.answers(memoryview(b"<7>!8>"))


# --- Counting what arrives


def read_all(counter: Counter, stream: bytes, count: int) -> int:
    """What a counter makes of a stream that ends; reads as long as deliveries are missing."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(stream)
        theirs.shutdown(socket.SHUT_WR)
        seen = 0
        while seen < count:
            seen += counter.read(ours)
        return seen


def deliveries(count: int) -> list[bytes]:
    wire = speaking(Core)
    return [wire.delivery(number(index), body(index, 16)) for index in range(count)]


def test_all_counters_agree():
    frames = deliveries(20)
    for counter in (MarkCounter(MARK), SizeCounter(len(frames[0]), body(19, 16), 20), CheckingCounter()):
        assert read_all(counter, b"".join(frames), 20) == 20


@pytest.mark.parametrize("step", [1, 7, 33])
def test_deliveries_cut_in_pieces_are_counted_once(step: int):
    frames = deliveries(20)
    stream = b"".join(frames)
    for counter in (MarkCounter(MARK), SizeCounter(len(frames[0]), body(19, 16), 20), CheckingCounter()):
        ours, theirs = socket.socketpair()
        with ours, theirs:
            ours.setblocking(False)
            seen = 0
            for start in range(0, len(stream), step):
                theirs.sendall(stream[start : start + step])
                seen += drained(counter, ours)
        assert seen == 20


def drained(counter: Counter, sock: socket.socket) -> int:
    """Reads until nothing is left; to a counter, an empty socket is a stalled server."""
    seen = 0
    try:
        while True:
            seen += counter.read(sock)
    except Stalled:
        return seen


def test_a_keep_alive_between_deliveries_is_no_delivery():
    frames = deliveries(20)
    stream = b"".join([*frames[:5], b"PING\r\n", *frames[5:]])
    assert read_all(SizeCounter(len(frames[0]), body(19, 16), 20, noise=b"PING\r\n"), stream, 20) == 20
    with pytest.raises(Stalled, match="6 bytes more"):
        read_all(SizeCounter(len(frames[0]), body(19, 16), 20), stream, 20)


def test_a_missing_last_message_is_not_made_up_for_by_bytes():
    frames = deliveries(20)
    stream = b"".join(frames[:19]) + b"y" * len(frames[0])
    with pytest.raises(Stalled, match="closed"):
        read_all(SizeCounter(len(frames[0]), body(19, 16), 20), stream, 20)


def test_checking_names_the_first_message_out_of_order():
    frames = deliveries(4)
    with pytest.raises(Stalled, match="message 2 came where 1 was due"):
        read_all(CheckingCounter(), frames[0] + frames[2], 2)


# --- Asking for deliveries


def test_a_reader_with_a_window_asks_ahead_and_for_no_more_than_there_are():
    wire = speaking(MqmqGet)
    get, count = wire.feedback(0), 3000
    answers = [wire.delivery(b"", body(index, 16)) for index in range(count)]
    ours, theirs = socket.socketpair()
    with ours, theirs, ThreadPoolExecutor(1) as pool:
        reading = pool.submit(RoundConsumer(ours, Job(wire, 16, count)).read_all)
        assert received(theirs, len(get) * wire.window) == get * wire.window
        theirs.sendall(b"".join(answers[:100]))
        assert received(theirs, len(get) * 100) == get * 100
        theirs.sendall(b"".join(answers[100:]))
        rest = count - wire.window - 100
        assert received(theirs, len(get) * rest) == get * rest
        reading.result(10)
        theirs.setblocking(False)
        with pytest.raises(BlockingIOError):
            theirs.recv(1)


def received(sock: socket.socket, size: int) -> bytes:
    sock.settimeout(10)
    data = b""
    while len(data) < size and (more := sock.recv(size - len(data))):
        data += more
    return data


# --- Pace and percentiles


def test_percentile_is_the_nearest_rank():
    values = list(range(1, 101))
    assert percentile(values, 0.50) == 50
    assert percentile(values, 0.99) == 99
    assert percentile(values, 1.0) == 100
    assert percentile([7], 0.99) == 7


def test_a_pace_is_kept_without_drift():
    pace = Pace(rate=30_000, seconds=2, size=16)
    assert pace.count == 60_000
    assert pace.offset_ns(30_000) == 1_000_000_000
    for index in (0, 1, 2, 29_999, 59_999):
        assert pace.due(pace.offset_ns(index) + 1) == index + 1
    assert pace.due(-1) == 0
    assert pace.due(10**12) == pace.count


@pytest.mark.parametrize(
    ("wanted", "size", "count"),
    [(0, 16, 5000), (1_234_567, 16, 1_234_000), (10**9, 16, 67_108_000), (10**9, 4096, 262_000)],
)
def test_counts_are_whole_blocks_within_bounds(wanted: float, size: int, count: int):
    assert message_count(wanted, size) == count
    assert message_count(wanted, size, 100_000) == min(count, 100_000)


# --- Results


def cell(peer: str, *rates: float, mode: Mode = Mode.AUTO, size: int = 16, waited: float = 0.0) -> Cell:
    """Rounds of one second; a rate of zero is a failed round."""
    server = BrokerContext(0.1, waited)
    rounds = [Round(int(rate), 1.0, server) if rate else Round(1000, failure="lost one") for rate in rates]
    return Cell(peer, mode, size, rounds)


def results(*cells: Cell, **latencies: list[Latency]) -> Results:
    machine = Machine("a CPU", 2, 1000, "Linux", "CPython", 0.0)
    return Results(
        machine,
        Pace(10_000, 5.0, 16),
        rounds=3,
        sections=[section.value for section in Section],
        versions={each.peer: "1" for each in cells},
        missing={"redis pub/sub": "not installed: apt-get install redis-server"},
        cells=list(cells),
        latencies={name.replace("_", " "): rounds for name, rounds in latencies.items()},
    )


def test_a_ratio_pairs_rounds_and_leaves_out_failed_ones():
    assert ratio(cell("a", 100, 300, 50), cell("b", 100, 100, 0)) == 2.0
    assert ratio(cell("a", 100), cell("b", 0)) is None
    assert ratio(cell("a", 100), None) is None


def test_bars_are_met_missed_or_without_a_result():
    found = results(
        cell("penstock mqks", 90, 80, 100),
        cell("nats core", 100, 100, 100),
        cell("rabbitmq transient", 10, 10, 10),
        penstock_mqks=[Latency(p99=200), Latency(p99=900), Latency(p99=300)],
        nats_core=[Latency(p99=150), Latency(p99=100), Latency(p99=500)],
    )
    nats, redis, rabbit, p99, *_ = judge(found)
    assert (nats.met, nats.measured) == (True, 0.9)
    assert (redis.met, redis.measured) == (None, None)
    assert (rabbit.met, rabbit.measured) == (False, 9.0)
    assert (p99.met, p99.measured) == (True, 2.0)


def test_each_protocol_has_its_bar_and_ten_thousand_patterns_are_held_against_one():
    found = results()
    found.protocols = [
        cell("penstock mqks", 100, 200),
        cell("penstock smqs", 60, 80),
        cell("penstock sevx", 40, 80),
        cell("penstock sevx, 10,000 patterns", 30, 60),
        cell("penstock rq", 0, 20),
    ]
    found.sections = ["protocols"]
    smqs, sevx, crowd, put, get, rq = judge(found)
    assert (smqs.met, smqs.measured) == (True, 0.5)
    assert (sevx.met, sevx.measured) == (False, 0.4)
    assert (crowd.met, crowd.measured) == (True, 0.75)
    assert (put.met, get.met) == (None, None)
    assert (rq.met, rq.measured) == (True, 0.1)


def test_the_client_is_held_against_raw_sockets():
    found = results()
    found.clients = [cell("raw sockets", 100, 200), cell("client publishes", 9, 18), cell("client consumes", 20, 40)]
    found.sections = ["clients"]
    publishes, consumes = judge(found)
    assert (publishes.met, publishes.measured) == (False, 0.09)
    assert (consumes.met, consumes.measured) == (True, 0.2)


def test_the_bar_of_tls_is_about_small_messages():
    found = results()
    found.sections = ["tls"]
    found.tls = [cell("penstock mqks tls", 70, 90), cell("nats core tls", 100, 100)]
    (bar,) = judge(found)
    assert (bar.met, bar.measured) == (True, 0.8)
    assert "over TLS, 16-byte bodies" in text_report(found, [bar])
    found.tls = []
    (bar,) = judge(found)
    assert bar.met is None


def test_a_server_that_had_to_wait_for_a_core_puts_its_bars_in_doubt():
    found = results()
    found.protocols = [cell("penstock mqks", 100), cell("penstock smqs", 60, waited=0.5), cell("penstock sevx", 60)]
    found.sections = ["protocols"]
    smqs, sevx, *_ = judge(found)
    assert (smqs.met, smqs.doubt) == (True, "the machine was busy")
    assert (sevx.met, sevx.doubt) == (True, "")


def test_a_bar_names_rows_that_there_are():
    names = {*(peer.name for peer in (*PEERS, *PROTOCOLS, *DURABLE, *TLS)), CEILING, Raw.name}
    for bar in judge(results()):
        if " x " in bar.text:
            assert any(bar.text.endswith(f" {name}") for name in names)


def test_words_choose_rows_of_all_tables_and_the_reference_comes_along():
    everything = list(PEERS), list(PROTOCOLS), list(DURABLE), list(CONFIRMED), list(BACKLOG)
    assert choose("") == Rows(*everything, clients=True, spark=True, tls=list(TLS))
    assert choose("nats core") == Rows([Core], [], [], [], [], tls=list(TLS))
    assert choose("smqs,rq") == Rows([], [Mqks, Smqs, Rq], [], [], [], tls=[])
    backlog = [durable.Mqks, durable.StreamRewritten]
    assert choose("aof") == Rows([], [], [durable.Mqks, durable.Stream], [], backlog, tls=[])
    assert choose("nothing of that name") == Rows([], [], [], [], [], tls=[])
    assert choose("clients") == Rows([], [], [], [], [], clients=True, tls=[])
    assert choose("spark") == Rows([], [], [], [], [], spark=True, tls=[])


def test_a_latency_made_by_a_late_sender_is_doubted():
    late, prompt = Latency(p99=900, lag_p99=800), Latency(p99=900, lag_p99=50)
    assert judge(results(penstock_mqks=[late], nats_core=[prompt]))[3].doubt == "the machine was busy"
    assert judge(results(penstock_mqks=[prompt], nats_core=[prompt]))[3].doubt == ""


def test_the_report_shows_dashes_failures_and_what_is_missing(tmp_path: Path):
    found = results(cell("penstock mqks", 2_000_000, 0), cell("nats core", 2_500_000, 2_400_000))
    found.cells.append(cell("penstock mqks", 1_000_000, mode=Mode.MANUAL))
    found.protocols = [cell("penstock mqks", 400_000, 800_000, size=100), cell("penstock rq", 0, 200_000, size=100)]
    bars = judge(found)
    report = text_report(found, bars)
    assert "1 of 2" in report
    assert "penstock rq 200,000 200,000 0.25 0.50 1 of 2" in [" ".join(line.split()) for line in report.splitlines()]
    assert "failed: penstock rq, auto-ack, 100 B: lost one" in report
    assert "failed: penstock mqks, auto-ack, 16 B: lost one" in report
    assert "redis pub/sub: not installed: apt-get install redis-server" in report
    assert "no such mode" in report
    write_json(tmp_path / "deep" / "run.json", found, bars)
    written = json.loads((tmp_path / "deep" / "run.json").read_text())
    assert written["cells"][0]["msg_per_s"] == {"median": 2_000_000, "best": 2_000_000}
    assert written["protocols"][1]["msg_per_s"] == {"median": 200_000, "best": 200_000}
    assert written["bars"][0]["met"] is True


# --- Spark


def test_spark_is_held_against_the_ceiling_round_by_round():
    found = results()
    found.sections = ["spark"]
    (bar,) = judge(found)
    assert (bar.met, bar.measured) == (None, None)
    found.tables = Tables(1000, 200, {CEILING: [100.0, 200.0, 400.0], HTTP: [90.0, 150.0, 200.0]})
    (bar,) = judge(found)
    assert (bar.met, bar.measured) == (True, 0.75)
    assert "broker, HTTP 150 200 0.75 3" in " ".join(text_report(found, [bar]).split())
    assert found.as_json()["tables"]["feeds"][HTTP] == [90.0, 150.0, 200.0]


def test_without_java_the_report_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("pyspark")
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    found = results()
    found.sections = ["spark"]
    run_tables(1000, 1, found)
    assert "spark: Spark needs Java 17 or newer" in text_report(found, judge(found))
    assert found.tables is None


def test_a_measurement_that_takes_too_long_is_ended():
    pytest.importorskip("pyspark")
    assert measured(1000, 1, seconds_max=0.1).failure == "not done after 0.1 s"
