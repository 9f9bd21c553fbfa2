"""A session that has its requests done in slices says the same as one that does all at once."""

import pytest

from penstock.core.broker import Broker
from penstock.core.limits import Limits
from penstock.log.memory import MemoryLog
from penstock.wire.dialects import DIALECTS
from penstock.wire.line_session import LARGE_LINE
from penstock.wire.session import Hub, Session


class World:
    def __init__(self, slice_work: int = 0) -> None:
        self.broker = Broker(MemoryLog(keep=True), Limits())
        self.hub = Hub(self.broker, lambda level, event, details: None, id_prefix=b"test.")
        if slice_work:
            self.hub.slice_work = slice_work
        self.dialects = {dialect.name: dialect for dialect in [make(self.hub) for make in DIALECTS]}

    def open(self, protocol: str) -> Session:
        return self.dialects[protocol].open(protocol, 0)

    def answers(self, session: Session, read: bytes) -> tuple[bytes, int]:
        """What there is in the outbox once the read is done, and how many slices that took."""
        session.feed(read, 0)
        slices = 1
        while session.busy:
            session.go_on(0)
            self.hub.run_awake(0)
            slices += 1
        return session.drain(), slices


def value(text: bytes) -> bytes:
    return len(text).to_bytes(4, "big") + text


def frame(*values: bytes) -> bytes:
    return value(b"".join([value(one) for one in values]))


def rq_request(id: int, queue: bytes, payload: bytes) -> bytes:
    return b"\x01\x80%b\xa0%c%b\xe0%b%b\x0a" % (
        id.to_bytes(4, "big"),
        len(queue),
        queue,
        len(payload).to_bytes(4, "big"),
        payload,
    )


TALKS: dict[str, bytes] = {
    "mqks": b"c consume --confirm q --manual-ack e\n"
    + b"".join(b"m%d publish e body %d\n" % (n, n) for n in range(40))
    + b"p ping x\nc ack --confirm c m3\nnonsense\nr --confirm reject c m4\n",
    "sevx": b'c recv {"queue": "q", "pattern": {}, "manual_ack": true}\n'
    + b"".join(b'%024d send {"event": "e", "n": %d}\n' % (n, n) for n in range(40))
    + b'p _ping {"data": 1}\n',
    "smqs": b"C:q\n" + b"".join(b"M:q:body %d\n" % n for n in range(40)) + b"S\nX\nD:q:7\nS\n",
    "mqmq": b"".join(frame(b"Put", b"q", b"body %d" % n) for n in range(20)) + frame(b"Get", b"q") * 20,
    "rq": b"\x01\xa0\x01q\x15" + b"".join(rq_request(n, b"q", b"body %d" % n) for n in range(20)) + b"\x01\x07",
}


@pytest.mark.parametrize("slice_work", [1, 3, 7])
@pytest.mark.parametrize("protocol", list(TALKS))
def test_slices_of_any_size_give_the_answers_of_one_go(protocol: str, slice_work: int) -> None:
    whole, sliced = World(), World(slice_work)
    at_once, one = whole.answers(whole.open(protocol), TALKS[protocol])
    in_slices, many = sliced.answers(sliced.open(protocol), TALKS[protocol])
    assert one == 1
    assert many >= 20 // slice_work
    assert without_ids(in_slices) == without_ids(at_once)
    assert sliced.broker.published == whole.broker.published


def without_ids(answers: bytes) -> list[bytes]:
    """Error ids are random, so their lines are cut behind the word."""
    return [line.partition(b" error ")[0] for line in answers.split(b"\n")]


@pytest.mark.parametrize("protocol", ["mqks", "smqs", "sevx"])
def test_a_line_is_cut_by_no_slice(protocol: str) -> None:
    world = World(1)
    session = world.open(protocol)
    talk = TALKS[protocol]
    for at in range(0, len(talk), 100):
        session.feed(talk[at : at + 100], 0)
        while session.busy:
            session.go_on(0)
    assert world.broker.published == 40


def test_a_message_for_many_queues_is_as_much_work_as_there_are_queues() -> None:
    world = World(100)
    consumer = world.open("mqks")
    for number in range(50):
        consumer.feed(b"c%d consume q%d e\n" % (number, number), 0)
    publisher = world.open("mqks")
    _, slices = world.answers(publisher, b"m publish e x\n" * 20)
    assert slices >= 10


@pytest.mark.parametrize("protocol", ["mqks", "smqs", "sevx", "mqmq"])
def test_what_a_client_sent_before_it_was_gone_is_done_and_it_is_given_nothing(protocol: str) -> None:
    world = World(5)
    session = world.open(protocol)
    session.feed(TALKS[protocol], 0)
    session.be_gone()
    session.drain()
    while session.busy:
        session.go_on(0)
    assert world.broker.published == (20 if protocol == "mqmq" else 40)
    assert b"body" not in session.drain()


def test_the_gets_of_a_client_that_is_gone_take_nothing() -> None:
    world = World(5)
    session = world.open("mqmq")
    session.feed(TALKS["mqmq"], 0)
    session.be_gone()
    while session.busy:
        session.go_on(0)
    session.end(0)
    assert world.broker.queues[b"q"].ready == 20


@pytest.mark.parametrize("protocol", ["smqs", "mqmq"])
def test_a_list_of_all_queues_is_as_much_work_as_there_are_queues_and_made_once(protocol: str) -> None:
    world = World(100)
    for number in range(1000):
        world.broker.declare(b"q%d" % number)
    ask = b"S\n" if protocol == "smqs" else frame(b"Info")
    before = world.broker.context.work
    answers, slices = world.answers(world.open(protocol), ask * 30)
    assert answers.count(b"q999") == 30
    assert slices >= 3
    assert 1000 <= world.broker.context.work - before < 3000


def test_a_list_of_all_queues_is_made_anew_when_something_has_changed() -> None:
    world = World()
    answers, _ = world.answers(world.open("smqs"), b"S\nM:q:x\nS\nM:q:x\nS\n")
    assert answers == b'{}\n{"q":1}\n{"q":2}\n'


@pytest.mark.parametrize(
    ("protocol", "read", "slices"),
    [
        ("mqks", b"".join(b"c%d consume q e\nd delete_consumer c%d\n" % (n, n) for n in range(100)), 10),
        ("mqks", b"".join(b"c consume q %s\n" % b" ".join([b"e%d" % n] * 100) for n in range(20)), 20),
        ("mqks", b"".join(b"c consume q%d e\nd delete_queue q%d\n" % (n, n) for n in range(100)), 30),
        ("smqs", b"".join(b"M:q%d:x\n" % n for n in range(100)), 15),
        ("mqks", b"m publish --dedup e x\n" * 100, 4),
        ("sevx", b'c recv {"queue": "q", "pattern": {"a": 1}}\nd delete_queue {"queue": "q"}\n' * 100, 60),
    ],
)
def test_what_takes_longer_than_a_message_uses_up_a_slice_sooner(protocol: str, read: bytes, slices: int) -> None:
    world = World(slice_work=100)
    _, taken = world.answers(world.open(protocol), read)
    assert taken >= slices


def test_a_json_of_many_values_is_refused_by_its_limit_and_a_large_text_is_taken() -> None:
    world = World()
    session = world.open("sevx")
    answers, _ = world.answers(session, b'm send {"event": "e", "list": [' + b"0," * 200_000 + b"0]}\n")
    assert answers.startswith(b"m error ")
    answers, _ = world.answers(session, b'm send {"event": "e", "text": "' + b"0," * 200_000 + b'"}\n')
    assert answers == b"m ok \n"


def test_a_body_of_many_values_is_given_as_text_where_it_would_have_to_be_parsed() -> None:
    world = World()
    receiver = world.open("sevx")
    receiver.feed(b'r recv {"queue": "q", "pattern": {}}\n', 0)
    receiver.drain()
    world.open("mqks").feed(b"m publish e [" + b"0," * 200_000 + b"0]\n", 0)
    assert receiver.drain().startswith(b'r ok m {"data": "[0,0,0')


def test_counts_that_are_glued_together_are_a_request_each() -> None:
    world = World(10)
    session = world.open("smqs")
    world.answers(session, b"C:q\n" + b"M:q:x\n" * 5000)
    answers, slices = world.answers(session, b"D:q:1" * 3000 + b"S\n")
    assert answers == b'{"q":2000}\n'
    assert slices >= 300


@pytest.mark.parametrize("read", [b"D:q:1000\n", b"r reject c --all\n", b"a ack c --all\n"])
def test_whatever_settles_many_messages_is_as_much_work(read: bytes) -> None:
    world = World()
    protocol = "smqs" if read.startswith(b"D") else "mqks"
    session = world.open(protocol)
    world.answers(session, b"C:q\n" if protocol == "smqs" else b"c consume q e --manual-ack\n")
    world.answers(session, (b"M:q:x\n" if protocol == "smqs" else b"m publish e x\n") * 1000)
    before = world.broker.context.work
    world.answers(session, read)
    assert world.broker.context.work - before >= 1000


def test_acks_in_large_counts_keep_up_with_a_publisher_that_never_stops() -> None:
    world = World(slice_work=2048)
    consumer, publisher = world.open("smqs"), world.open("smqs")
    consumer.feed(b"C:q\n", 0)
    delivered = 0
    for _ in range(50):
        publisher.feed(b"M:q:x\n" * 2000, 0)  # one slice
        assert not publisher.busy
        delivered += len(consumer.drain()) // len(b"x\n")
        if consumer.busy:
            consumer.go_on(0)
        else:
            consumer.feed(b"D:q:%d\n" % delivered, 0)
            delivered = 0
    assert world.broker.queues[b"q"].unacked <= 4 * 2000


@pytest.mark.parametrize("protocol", ["mqks", "sevx", "smqs"])
def test_an_error_is_more_work_than_a_message(protocol: str) -> None:
    world = World(100)
    _, slices = world.answers(world.open(protocol), b"x\n" * 100)
    assert slices >= 4


MANY = 2500  # more than two slices of settlements
SETTLE_ALL = {
    "mqks": {"ack": b"a ack --confirm c --all\n", "reject": b"a reject --confirm c --all\n"},
    "sevx": {
        "ack": b'a ack {"receiver_id": "c", "all": true}\n',
        "reject": b'a reject {"receiver_id": "c", "all": true}\n',
    },
}


def holding_all(protocol: str) -> tuple[World, Session]:
    """A consumer that holds many messages."""
    world = World(slice_work=1000)
    session = world.open(protocol)
    consume = {
        "mqks": b"c consume q --manual-ack e\n",
        "sevx": b'c recv {"queue": "q", "pattern": {}, "manual_ack": true}\n',
        "smqs": b"C:q\n",
    }[protocol]
    publish = {
        "mqks": b"m%d publish e x\n",
        "sevx": b'%024d send {"event": "e"}\n',
        "smqs": b"M:q:%d\n",
    }[protocol]
    world.answers(session, consume)
    world.answers(session, b"".join(publish % number for number in range(MANY)))
    assert world.broker.queues[b"q"].unacked == MANY
    return world, session


@pytest.mark.parametrize("protocol", ["mqks", "sevx"])
def test_an_ack_of_all_is_done_in_slices_and_answered_behind_the_last(protocol: str) -> None:
    world, session = holding_all(protocol)
    session.feed(SETTLE_ALL[protocol]["ack"] + SETTLE_ALL[protocol]["ack"].replace(b"a ", b"b ", 1), 0)
    queue = world.broker.queues[b"q"]
    left = []
    while session.busy:
        left.append(queue.unacked)
        assert session.drain() == b""
        session.go_on(0)
    assert left == [1500, 500]
    assert queue.length() == 0
    answers = session.drain()
    assert answers.index(b"a ok") < answers.index(b"b ok")


@pytest.mark.parametrize("protocol", ["mqks", "sevx"])
def test_a_reject_of_all_is_answered_before_what_comes_again(protocol: str) -> None:
    world, session = holding_all(protocol)
    answers, slices = world.answers(session, SETTLE_ALL[protocol]["reject"])
    assert slices == 3
    lines = answers.splitlines()
    assert lines[0].startswith(b"a ok")
    assert len(lines) == MANY + 1
    assert world.broker.queues[b"q"].unacked == MANY
    assert world.broker.queues[b"q"].retried == MANY


@pytest.mark.parametrize("protocol", ["mqks", "sevx"])
def test_who_leaves_in_the_middle_of_an_ack_of_all_has_the_rest_returned(protocol: str) -> None:
    world, session = holding_all(protocol)
    session.feed(SETTLE_ALL[protocol]["ack"], 0)
    queue = world.broker.queues[b"q"]
    world.broker.expire(b"q", -1)
    session.end(0)
    while world.broker.deadlines.next_due() == 0:
        world.broker.tick(0)
    assert (queue.ready, queue.unacked) == (1500, 0)


def test_a_count_is_done_in_slices_and_not_for_what_it_brings() -> None:
    world, session = holding_all("smqs")
    queue = world.broker.queues[b"q"]
    world.broker.allow(session.subscriptions()[0], MANY)
    other = world.open("smqs")
    world.answers(other, b"".join(b"M:q:%d\n" % number for number in range(100)))
    assert queue.ready == 100
    _, slices = world.answers(session, b"D:q:1000000\n")
    assert slices == 3
    assert (queue.ready, queue.unacked) == (0, 100)


def test_a_count_of_several_queues_is_done_in_slices() -> None:
    world, session = holding_all("smqs")
    world.answers(session, b"C:r\n" + b"".join(b"M:r:%d\n" % number for number in range(MANY)))
    queues = [world.broker.queues[name] for name in (b"q", b"r")]
    assert [queue.unacked for queue in queues] == [MANY, MANY]
    _, slices = world.answers(session, b"D:r:%d\n" % (MANY + 700))
    assert slices >= 4
    assert [queue.unacked for queue in queues] == [MANY - 700, 0]
    world.answers(session, b"D:q:1\n")
    assert [queue.unacked for queue in queues] == [MANY - 701, 0]


def test_a_count_is_taken_whole_when_its_client_ends_in_the_middle_of_it() -> None:
    world, session = holding_all("smqs")
    session.feed(b"D:q:%d\n" % MANY, 0)
    assert session.busy
    session.end(0)
    assert world.broker.queues[b"q"].length() == 0


@pytest.mark.parametrize(
    ("protocol", "begin", "line"),
    [
        ("mqks", b"c consume q e\n", b"m publish e %s\np ping x\n"),
        ("smqs", b"C:q\n", b"M:q:%s\nS\n"),
        ("sevx", b'c recv {"queue": "q", "pattern": {}}\n', b'm send {"event": "e", "x": "%s"}\np _ping {"data": 1}\n'),
    ],
)
def test_a_large_line_is_carried_out_a_turn_after_it_was_put_together(protocol: str, begin: bytes, line: bytes) -> None:
    read = line % (b"x" * (LARGE_LINE + 1))
    at_once, in_turns = World(), World(1 << 40)
    heard = []
    for world in (at_once, in_turns):
        session = world.open(protocol)
        world.answers(session, begin)
        heard.append(world.answers(session, read))
    assert heard[0] == (heard[1][0], 1)
    assert heard[1][1] == 2


def test_a_large_line_that_waits_for_its_turn_is_counted() -> None:
    world = World(1 << 40)
    session = world.open("mqks")
    session.feed(b"m publish e " + b"x" * LARGE_LINE + b"\n", 0)
    assert session.unworked() > LARGE_LINE
    session.go_on(0)
    assert session.unworked() == 0
