"""What an MQMQ client sees: frames in, frames out. No socket."""

import gc
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.core.broker import Broker
from penstock.core.limits import DROP_OLDEST, Limits
from penstock.core.replay import durable_state, replay
from penstock.core.subscription import Inbox
from penstock.errors import REFUSAL_CODES
from penstock.log.memory import MemoryLog
from penstock.message import Message
from penstock.wire.mqmq.codec import FRAME_SIZE_MAX, encode
from penstock.wire.mqmq.session import REFUSALS, Mqmq
from penstock.wire.session import MAYBE, NO, YES, Hub, Session

SECOND = 1_000_000
OK = [b"OK"]
TIMEOUT = [b"Timeout"]


class House:
    """A broker and as many clients as a test wants, with time in its hand. Does what the server does, in its order."""

    def __init__(self, **limits: object) -> None:
        self.reports: list[dict[str, object]] = []
        self.broker = Broker(MemoryLog(keep=True), Limits(**limits))  # type: ignore[arg-type]
        self.hub = Hub(self.broker, lambda level, event, details: self.reports.append(details))
        self.mqmq = Mqmq(self.hub)
        self.now = 0

    def client(self) -> "TestClient":
        return TestClient(self, self.mqmq.open(f"peer{len(self.hub.sessions)}", self.now))

    def advance(self, milliseconds: float) -> None:
        self.now += round(milliseconds * 1000)
        self.broker.tick(self.now)
        self.hub.run_awake(self.now)

    def ready(self, queue: bytes = b"q") -> int:
        return self.broker.queues[queue].ready

    def check_log(self) -> None:
        """The log tells the state we are in."""
        log = self.broker.log
        assert isinstance(log, MemoryLog)
        rebuilt = replay(log.entries, MemoryLog(), self.broker.limits)
        assert durable_state(rebuilt) == durable_state(self.broker)


class TestClient:
    __test__ = False

    def __init__(self, house: House, session: Session) -> None:
        self.house = house
        self.session = session

    def send(self, *frames: bytes) -> None:
        self.session.feed(b"".join(frames), self.house.now)

    def say(self, *frames: bytes) -> list[list[bytes]]:
        """Send frames; what has come back by then."""
        self.send(*frames)
        return self.hear()

    def hear(self) -> list[list[bytes]]:
        self.house.hub.run_awake(self.house.now)
        return values_of(self.session.drain())

    def put(self, queue: bytes, *bodies: bytes) -> list[list[bytes]]:
        return self.say(*[encode(b"Put", queue, body) for body in bodies])

    def get(self, queue: bytes, timeout: bytes = b"1000") -> list[list[bytes]]:
        return self.say(encode(b"Get", queue, timeout))

    def info(self) -> dict[str, object]:
        ((word, text),) = self.say(encode(b"Info"))
        assert word == b"OK"
        found: dict[str, object] = json.loads(text)
        return found

    def leave(self) -> None:
        self.session.end(self.house.now)
        self.house.hub.run_awake(self.house.now)


def values_of(data: bytes) -> list[list[bytes]]:
    """The frames of a stream, each as its values; fails when the stream does not end with one."""
    frames = []
    while data:
        size = int.from_bytes(data[:4], "big")
        assert len(data) >= 4 + size
        frame, data = data[4 : 4 + size], data[4 + size :]
        values = []
        while frame:
            length = int.from_bytes(frame[:4], "big")
            assert len(frame) >= 4 + length
            values.append(frame[4 : 4 + length])
            frame = frame[4 + length :]
        frames.append(values)
    return frames


def error(kind: str) -> list[bytes]:
    return [b"Error", b"REQUEST_" + kind.encode()]


@pytest.fixture
def house() -> House:
    return House()


@pytest.fixture
def client(house: House) -> TestClient:
    return house.client()


# -- Put and Get ----------------------------------------------------------------------------------------------------


def test_what_is_put_can_be_got_once_first_in_first_out(house: House, client: TestClient) -> None:
    assert client.put(b"q", b"1", b"2", b"3") == [OK, OK, OK]
    assert client.get(b"q") == [[b"OK", b"1"]]
    other = house.client()
    assert other.get(b"q") == [[b"OK", b"2"]]
    assert client.get(b"q") == [[b"OK", b"3"]]
    assert client.get(b"q") == []
    house.check_log()


@pytest.mark.parametrize("body", [b"", b"\0", b"\n\r\n", b"OK", bytes(range(256)), b"\xff" * 70_000])
def test_bodies_are_binary_safe_and_may_be_empty(client: TestClient, body: bytes) -> None:
    assert client.put(b"q", body) == [OK]
    assert client.get(b"q") == [[b"OK", body]]


@pytest.mark.parametrize("name", [b"", b" ", b"\0\xff\n", b"x" * 1024, "очередь".encode()])
def test_any_name_of_up_to_1024_bytes_is_a_queue(house: House, client: TestClient, name: bytes) -> None:
    assert client.put(name, b"m") == [OK]
    assert name in house.broker.queues
    assert client.get(name) == [[b"OK", b"m"]]


def test_a_get_makes_the_queue(house: House, client: TestClient) -> None:
    assert client.get(b"new") == []
    assert b"new" in house.broker.queues


def test_pipelined_requests_are_answered_in_order(client: TestClient) -> None:
    answers = client.say(
        encode(b"Put", b"q", b"1"),
        encode(b"Get", b"q"),
        encode(b"Get"),
        encode(b"Put", b"q", b"2"),
        encode(b"Put", b"q"),
        encode(b"Get", b"q", b"10"),
    )
    assert answers == [OK, [b"OK", b"1"], error("BAD_PARAMS"), OK, error("BAD_PARAMS"), [b"OK", b"2"]]


def test_values_behind_the_last_known_one_are_ignored_everywhere(client: TestClient) -> None:
    assert client.say(encode(b"Put", b"q", b"1", b"more", b"")) == [OK]
    assert client.say(encode(b"Get", b"q", b"10", b"more")) == [[b"OK", b"1"]]
    assert client.say(encode(b"Info", b"more"))[0][0] == b"OK"
    assert client.say(encode(b"Quit", b"more")) == []
    assert client.session.closing


def test_messages_of_other_protocols_come_as_they_are(house: House, client: TestClient) -> None:
    house.broker.bind(b"q", (b"event",))
    house.broker.publish(Message(b"id 1", b"event", b"\0 body\n", 0, "other", {b"header": b"value"}))
    assert client.get(b"q") == [[b"OK", b"\0 body\n"]]


def test_what_mqmq_puts_other_consumers_get_with_an_id_of_its_own(house: House, client: TestClient) -> None:
    inbox = Inbox()
    house.broker.subscribe(b"q", inbox, None, 0)
    client.put(b"q", b"1", b"2")
    messages = [message for message, _ in inbox.received]
    assert [(message.event, message.body, message.protocol) for message in messages] == [
        (b"q", b"1", "mqmq"),
        (b"q", b"2", "mqmq"),
    ]
    assert messages[0].id
    assert messages[0].id != messages[1].id


# -- refusals -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("values", [[b"Put"], [b"Put", b"q"], [b"Get"]])
def test_too_few_values_are_bad_params_and_the_connection_goes_on(client: TestClient, values: list[bytes]) -> None:
    assert client.say(encode(*values)) == [error("BAD_PARAMS")]
    assert not client.session.closing
    assert client.put(b"q", b"m") == [OK]


def test_a_name_over_1024_bytes_is_a_bad_queue_name_and_the_connection_goes_on(client: TestClient) -> None:
    name = b"x" * 1025
    assert client.put(name, b"m") == [error("BAD_QUEUE_NAME")]
    assert client.say(encode(b"Get", name)) == [error("BAD_QUEUE_NAME")]
    assert not client.session.closing


def test_the_name_is_checked_before_the_timeout(client: TestClient) -> None:
    assert client.get(b"x" * 1025, b"soon") == [error("BAD_QUEUE_NAME")]


def test_a_lower_limit_for_names_holds_here_too() -> None:
    client = House(name_size_max=3).client()
    assert client.put(b"abcd", b"m") == [error("BAD_QUEUE_NAME")]
    assert client.get(b"abcd") == [error("BAD_QUEUE_NAME")]
    assert client.put(b"abc", b"m") == [OK]
    assert "name_size_max is 3" in str(client.house.reports[0]["reason"])


@pytest.mark.parametrize("timeout", [b"", b" 5", b"0x5", b"5_0", b"1.5", b"3600001", b"9223372036854775808"])
def test_a_bad_timeout_takes_nothing_and_the_connection_goes_on(client: TestClient, timeout: bytes) -> None:
    client.put(b"q", b"m")
    assert client.get(b"q", timeout) == [error("BAD_TIMEOUT")]
    assert not client.session.closing
    assert client.get(b"q", b"+5") == [[b"OK", b"m"]]


@pytest.mark.parametrize("command", [b"", b"put", b"GET", b"Infos", b"\0", b"x" * 1000])
def test_an_unknown_command_is_answered_and_ends_the_connection(
    house: House, client: TestClient, command: bytes
) -> None:
    answers = client.say(encode(b"Put", b"q", b"1"), encode(command, b"q", b"m"), encode(b"Put", b"q", b"2"))
    assert answers == [OK, error("UNKNOWN_COMMAND")]
    assert client.session.closing
    assert house.ready() == 1
    assert client.say(encode(b"Put", b"q", b"3")) == []


def test_a_frame_without_any_value_is_an_unknown_command(client: TestClient) -> None:
    assert client.say(b"\0\0\0\0") == [error("UNKNOWN_COMMAND")]
    assert client.session.closing


@pytest.mark.parametrize(
    "frame",
    [
        (FRAME_SIZE_MAX + 1).to_bytes(4, "big"),
        b"\xff\xff\xff\xff\0\0\0\x03Put",
        b"\0\0\0\x08\0\0\0\x05Info",
        b"\0\0\0\x08\xff\xff\xff\xffInfo",
        b"\0\0\0\x09\0\0\0\x04Info\0",
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ],
)
def test_what_is_no_frame_ends_the_connection_without_an_answer(house: House, client: TestClient, frame: bytes) -> None:
    assert client.say(encode(b"Put", b"q", b"1"), frame, encode(b"Put", b"q", b"2")) == [OK]
    assert client.session.closing
    assert house.ready() == 1
    assert "bytes" in str(house.reports[0]["reason"]) or "frame ends" in str(house.reports[0]["reason"])


def test_the_largest_frame_passes_by_default_and_one_byte_more_does_not(house: House, client: TestClient) -> None:
    body = b"x" * 33_555_432  # with a name of 24 bytes
    frame = encode(b"Put", b"q" * 24, body)
    assert len(frame) == 4 + FRAME_SIZE_MAX
    assert client.say(frame) == [OK]
    assert client.get(b"q" * 24) == [[b"OK", body]]
    assert client.say(encode(b"Put", b"q" * 25, body)) == []
    assert client.session.closing


def test_the_longest_body_of_all_goes_to_the_queue_without_a_name(client: TestClient) -> None:
    assert client.put(b"", b"x" * 33_555_456) == [OK]
    ((_, body),) = client.get(b"")
    assert len(body) == 33_555_456


def test_a_large_body_may_come_in_small_pieces(client: TestClient) -> None:
    frame = encode(b"Put", b"q", b"x" * 4_000_000)
    for at in range(0, len(frame), 100):
        client.session.feed(frame[at : at + 100], 0)
    assert client.hear() == [OK]


def test_a_body_over_the_brokers_limit_is_refused_and_the_log_names_the_limit() -> None:
    house = House(body_size_max=10)
    client = house.client()
    assert client.put(b"q", b"x" * 11) == [error("MESSAGE_TOO_LARGE")]
    assert "body_size_max is 10" in str(house.reports[0]["reason"])
    assert len(str(house.reports[0]["error_id"])) == 24
    assert client.put(b"q", b"x" * 10) == [OK]


def test_a_full_queue_refuses_and_has_room_again_after_a_get() -> None:
    house = House(queue_length_max=2)
    client = house.client()
    assert client.put(b"q", b"1", b"2", b"3") == [OK, OK, error("QUEUE_FULL")]
    assert "queue_length_max is 2" in str(house.reports[0]["reason"])
    assert client.get(b"q") == [[b"OK", b"1"]]
    assert client.put(b"q", b"4") == [OK]


def test_a_full_queue_may_drop_its_oldest_instead() -> None:
    client = House(queue_length_max=2, queue_full=DROP_OLDEST).client()
    assert client.put(b"q", b"1", b"2", b"3") == [OK, OK, OK]
    assert client.get(b"q") == [[b"OK", b"2"]]


def test_one_queue_too_many_is_refused_for_put_and_get() -> None:
    house = House(queues_max=1)
    client = house.client()
    assert client.put(b"a", b"1") == [OK]
    assert client.put(b"b", b"1") == [error("TOO_MANY_QUEUES")]
    assert client.get(b"b") == [error("TOO_MANY_QUEUES")]
    assert "queues_max is 1" in str(house.reports[0]["reason"])
    assert client.get(b"a") == [[b"OK", b"1"]]


def test_every_refusal_of_the_core_has_an_error_type() -> None:
    assert set(REFUSALS) == set(REFUSAL_CODES)
    assert all(kind.startswith(b"REQUEST_") for kind in REFUSALS.values())
    assert len(set(REFUSALS.values())) == len(REFUSALS)


# -- waiting --------------------------------------------------------------------------------------------------------


def test_a_waiting_get_is_answered_by_the_next_put(house: House, client: TestClient) -> None:
    assert client.get(b"q") == []
    other = house.client()
    assert other.put(b"q", b"1", b"2") == [OK, OK]
    assert client.hear() == [[b"OK", b"1"]]
    assert house.ready() == 1
    house.advance(2000)
    assert client.hear() == []
    house.check_log()


@pytest.mark.parametrize(
    ("timeout", "milliseconds"), [(b"5", 5), (b"+5", 5), (b"005", 5), (b"0", 1), (b"-5", 1), (b"3600000", 3_600_000)]
)
def test_a_get_times_out_when_it_said(house: House, client: TestClient, timeout: bytes, milliseconds: int) -> None:
    assert client.get(b"q", timeout) == []
    house.advance(milliseconds - 0.001)
    assert client.hear() == []
    house.advance(0.001)
    assert client.hear() == [TIMEOUT]
    client.put(b"q", b"m")
    assert client.hear() == []
    assert house.ready() == 1


def test_a_get_without_a_timeout_waits_one_millisecond(house: House, client: TestClient) -> None:
    assert client.say(encode(b"Get", b"q")) == []
    house.advance(0.999)
    assert client.hear() == []
    house.advance(0.001)
    assert client.hear() == [TIMEOUT]


def test_waiting_getters_are_served_oldest_first(house: House) -> None:
    first, second, third = house.client(), house.client(), house.client()
    for client in (first, second, third):
        assert client.get(b"q") == []
    house.client().put(b"q", b"1", b"2", b"3")
    assert (first.hear(), second.hear(), third.hear()) == ([[b"OK", b"1"]], [[b"OK", b"2"]], [[b"OK", b"3"]])


def test_a_get_does_not_overtake_those_who_wait(house: House, client: TestClient) -> None:
    inbox = Inbox()
    house.broker.subscribe(b"q", inbox, None, 0)
    assert client.get(b"q") == []
    house.client().put(b"q", b"1", b"2", b"3")
    assert [message.body for message, _ in inbox.received] == [b"1", b"3"]
    assert client.hear() == [[b"OK", b"2"]]


def test_a_waiting_get_blocks_what_follows_on_its_connection(house: House, client: TestClient) -> None:
    assert client.say(encode(b"Get", b"q", b"50"), encode(b"Put", b"other", b"x"), encode(b"Get", b"other")) == []
    assert b"other" not in house.broker.queues
    assert client.say(encode(b"Put", b"third", b"y")) == []
    house.client().put(b"q", b"m")
    assert client.hear() == [[b"OK", b"m"], OK, [b"OK", b"x"], OK]
    assert house.ready(b"third") == 1


def test_what_follows_goes_on_after_a_timeout_too(house: House, client: TestClient) -> None:
    client.say(encode(b"Get", b"q", b"50"), encode(b"Get", b"q", b"60"), encode(b"Put", b"q", b"x"))
    house.advance(50)
    assert client.hear() == [TIMEOUT]
    house.advance(59.999)
    assert client.hear() == []
    house.advance(0.001)
    assert client.hear() == [TIMEOUT, OK]


def test_a_get_before_the_put_that_would_answer_it_on_the_same_connection_times_out(
    house: House, client: TestClient
) -> None:
    assert client.say(encode(b"Get", b"q", b"5"), encode(b"Put", b"q", b"m"), encode(b"Get", b"q")) == []
    house.advance(5)
    assert client.hear() == [TIMEOUT, OK, [b"OK", b"m"]]


def test_many_waiting_gets_in_one_read_are_answered_one_by_one(house: House, client: TestClient) -> None:
    client.send(encode(b"Get", b"q", b"1000") * 5)
    other = house.client()
    heard: list[list[bytes]] = []
    for number in range(5):
        other.put(b"q", b"%d" % number)
        heard += client.hear()
    assert heard == [[b"OK", b"%d" % number] for number in range(5)]


def test_a_burst_for_many_pipelined_gets_is_answered_in_one_turn(house: House, client: TestClient) -> None:
    client.send(encode(b"Get", b"q", b"1000") * 100)
    house.client().put(b"q", *[b"%d" % number for number in range(70)])
    assert client.hear() == [[b"OK", b"%d" % number] for number in range(70)]
    assert house.broker.queues[b"q"].consumer_count() == 1


def test_requests_that_come_between_a_delivery_and_the_next_turn_keep_their_order(
    house: House, client: TestClient
) -> None:
    client.send(encode(b"Get", b"q", b"1000"))
    house.client().put(b"q", b"1", b"2")
    client.send(encode(b"Get", b"q", b"1000"), encode(b"Get", b"q", b"1000"))
    assert client.hear() == [[b"OK", b"1"], [b"OK", b"2"]]
    house.client().put(b"q", b"3")
    assert client.hear() == [[b"OK", b"3"]]
    house.check_log()


def test_a_timeout_and_a_put_at_the_same_moment_give_one_answer(house: House, client: TestClient) -> None:
    """The first timer's client goes on with a Put for the second, whose timer is due in the same run."""
    second = house.client()
    client.send(encode(b"Get", b"other", b"10"), encode(b"Put", b"q", b"m"))
    second.send(encode(b"Get", b"q", b"10"), encode(b"Put", b"q", b"n"))
    house.advance(10)
    assert client.hear() == [TIMEOUT, OK]
    assert second.hear() == [[b"OK", b"m"], OK]
    assert house.ready() == 1


def test_nothing_of_a_get_is_left_behind_when_it_is_over(house: House, client: TestClient) -> None:
    for _ in range(3):
        client.get(b"q", b"5")
        house.advance(5)
        client.get(b"q", b"5")
        house.client().put(b"q", b"m")
        client.hear()
    assert house.broker.queues[b"q"].consumer_count() == 0
    assert house.broker.deadlines.next_due() == -1
    assert house.broker.queues[b"q"].unacked == 0


def test_a_get_that_is_over_leaves_nothing_for_the_garbage_collector(house: House, client: TestClient) -> None:
    other = house.client()
    gc.collect()
    gc.disable()
    try:
        for _ in range(100):
            client.send(encode(b"Get", b"q", b"5"))
            other.put(b"q", b"m")
            client.hear()
            client.send(encode(b"Get", b"q", b"5"))
            house.advance(5)
            client.hear()
        assert gc.collect() < 100
    finally:
        gc.enable()


def test_a_queue_deleted_under_a_waiting_get_is_a_timeout_and_the_connection_goes_on(
    house: House, client: TestClient
) -> None:
    client.send(encode(b"Get", b"q", b"1000"), encode(b"Put", b"q", b"m"))
    house.broker.delete(b"q")
    assert client.hear() == [TIMEOUT, OK]
    assert house.ready() == 1
    assert house.broker.deadlines.next_due() == -1


def test_a_queue_deleted_just_after_a_get_was_answered_changes_nothing_for_it(house: House, client: TestClient) -> None:
    client.send(encode(b"Get", b"q", b"1000"))
    house.client().put(b"q", b"m")
    house.broker.delete(b"q")
    assert client.hear() == [[b"OK", b"m"]]
    client.leave()
    assert b"q" not in house.broker.queues


def test_a_waiting_get_counts_as_a_use_of_a_queue_that_goes_when_unused(house: House, client: TestClient) -> None:
    house.broker.expire(b"q", 10_000)
    client.get(b"q", b"20")
    house.advance(15)
    assert b"q" in house.broker.queues
    house.advance(5)
    assert client.hear() == [TIMEOUT]
    house.advance(10)
    assert b"q" not in house.broker.queues


def test_a_queue_an_exclusive_consumer_has_to_itself_gives_a_get_nothing(house: House, client: TestClient) -> None:
    busy = Inbox(manual=True, credit=1, exclusive=True)
    house.broker.subscribe(b"q", busy, None, 0)
    house.client().put(b"q", b"1", b"2")
    assert client.get(b"q", b"100") == []
    house.broker.cancel(busy, house.now)
    assert client.hear() == [[b"OK", b"1"]]


def test_a_broadcast_answers_the_gets_that_wait_and_no_queue_keeps_it(house: House, client: TestClient) -> None:
    other = house.client()
    client.send(encode(b"Get", b"q", b"1000"), encode(b"Get", b"q", b"10"))
    other.send(encode(b"Get", b"q", b"1000"))
    assert house.broker.broadcast(b"q", Message(b"id", b"q", b"news", 0, "test")) == 2
    assert client.hear() == [[b"OK", b"news"]]
    assert other.hear() == [[b"OK", b"news"]]
    house.advance(10)
    assert client.hear() == [TIMEOUT]
    assert house.broker.queues[b"q"].consumer_count() == 0
    client.get(b"q")
    house.broker.broadcast(b"q", Message(b"id", b"q", b"news", 0, "test"))
    client.leave()
    assert house.broker.queues[b"q"].consumer_count() == 0
    house.check_log()


# -- clients that go away -------------------------------------------------------------------------------------------


def test_a_waiter_whose_client_went_away_never_gets_a_message(house: House, client: TestClient) -> None:
    assert client.get(b"q") == []
    client.leave()
    other = house.client()
    other.put(b"q", b"1")
    assert house.ready() == 1
    assert house.broker.deadlines.next_due() == -1
    assert other.get(b"q") == [[b"OK", b"1"]]


def test_a_message_given_to_a_client_that_is_gone_before_it_was_written_goes_back_to_its_place(
    house: House, client: TestClient
) -> None:
    client.send(encode(b"Get", b"q", b"1000"))
    other = house.client()
    other.send(encode(b"Put", b"q", b"1"), encode(b"Put", b"q", b"2"))
    client.leave()
    house.check_log()
    assert other.say(encode(b"Get", b"q"), encode(b"Get", b"q")) == [OK, OK, [b"OK", b"1"], [b"OK", b"2"]]
    assert house.broker.queues[b"q"].unacked == 0


def test_last_words_of_a_client_do_not_show_that_it_is_there(house: House, client: TestClient) -> None:
    client.send(encode(b"Get", b"q", b"1000"))
    house.client().send(encode(b"Put", b"q", b"1"))
    client.send(encode(b"Get", b"q", b"1000"))
    client.leave()
    assert house.ready() == 1


def test_a_message_of_a_client_that_is_gone_goes_to_the_next_who_waits(house: House, client: TestClient) -> None:
    second, third = house.client(), house.client()
    for waiter in (client, second, third):
        waiter.send(encode(b"Get", b"q", b"1000"))
    house.client().send(encode(b"Put", b"q", b"1"))
    client.leave()
    assert second.hear() == [[b"OK", b"1"]]
    assert third.hear() == []
    inbox = Inbox()
    house.broker.subscribe(b"q", inbox, None, 0)
    house.client().put(b"q", b"2", b"3")
    assert [(message.body, retry) for message, retry in inbox.received] == [(b"3", 0)]


def test_what_was_written_is_not_given_again(house: House, client: TestClient) -> None:
    client.get(b"q")
    house.client().put(b"q", b"1")
    assert client.hear() == [[b"OK", b"1"]]
    client.leave()
    assert house.ready() == 0
    house.check_log()


def test_what_a_gone_client_sent_behind_a_waiting_get_is_not_done(house: House, client: TestClient) -> None:
    client.send(encode(b"Get", b"q", b"1000"), encode(b"Put", b"q", b"m"))
    client.leave()
    house.advance(2000)
    assert house.ready() == 0


def test_quit_closes_without_an_answer_and_nothing_behind_it_is_done(house: House, client: TestClient) -> None:
    assert client.say(encode(b"Put", b"q", b"1"), encode(b"Quit"), encode(b"Put", b"q", b"2")) == [OK]
    assert client.session.closing
    assert house.ready() == 1


def test_a_stopping_broker_gives_a_waiting_get_nothing_but_the_end(house: House, client: TestClient) -> None:
    client.send(encode(b"Get", b"q", b"1000"), encode(b"Put", b"other", b"m"))
    client.session.goodbye(house.now)
    house.client().put(b"q", b"1")
    assert client.hear() == []
    assert client.session.closing
    assert house.ready() == 1
    assert b"other" not in house.broker.queues


def test_a_stopping_broker_writes_what_was_handed_over_before(house: House, client: TestClient) -> None:
    client.send(encode(b"Get", b"q", b"1000"))
    house.client().put(b"q", b"1")
    client.session.goodbye(house.now)
    assert client.hear() == [[b"OK", b"1"]]
    client.leave()
    assert house.ready() == 0


# -- clients that do not read, or do not stop sending ----------------------------------------------------------------


def test_a_client_that_does_not_read_takes_no_more_than_its_outbox_holds() -> None:
    house = House(outbox_bytes_max=1000)
    client = house.client()
    house.client().put(b"q", *[b"x" * 300] * 10)
    client.send(encode(b"Get", b"q") * 10)
    assert house.ready() == 6
    assert len(client.hear()) == 4
    client.session.resume()
    assert house.ready() == 2
    assert len(client.hear()) == 4
    client.session.resume()
    assert len(client.hear()) == 2


def test_nothing_is_done_while_the_socket_takes_no_more(house: House, client: TestClient) -> None:
    client.put(b"q", b"1")
    client.session.pause()
    assert client.say(encode(b"Get", b"q"), encode(b"Get", b"q", b"5")) == []
    assert house.ready() == 1
    house.advance(1000)
    client.session.resume()
    assert client.hear() == [[b"OK", b"1"]]
    house.advance(4.999)
    assert client.hear() == []
    house.advance(0.001)
    assert client.hear() == [TIMEOUT]


def test_a_waiting_get_takes_nothing_while_its_socket_takes_no_more(house: House, client: TestClient) -> None:
    client.get(b"q")
    client.session.pause()
    house.client().put(b"q", b"1")
    assert client.hear() == []
    assert house.ready() == 1
    client.session.resume()
    assert client.hear() == [[b"OK", b"1"]]


def test_one_get_takes_one_message_however_often_its_socket_stops_and_goes_on(house: House, client: TestClient) -> None:
    client.get(b"q")
    other = house.client()
    other.put(b"q", b"1", b"2")
    client.session.pause()
    client.session.resume()
    client.session.resume()
    assert client.hear() == [[b"OK", b"1"]]
    assert house.ready() == 1


def test_a_flood_behind_a_waiting_get_ends_the_connection_and_names_the_limit() -> None:
    house = House(line_size_max=10_000)
    client = house.client()
    assert client.get(b"q") == []
    flood = encode(b"Put", b"other", b"x" * 76)
    assert len(flood) == 100
    for _ in range(100):
        assert client.say(flood) == []
    assert client.say(flood) == [error("PIPELINE_FULL")]
    assert client.session.closing
    assert "line_size_max" in str(house.reports[0]["reason"])
    house.client().put(b"q", b"1")
    assert client.hear() == []
    assert house.ready() == 1
    assert house.broker.deadlines.next_due() == -1


def test_a_flood_of_frames_that_are_done_at_once_is_no_flood() -> None:
    client = House(line_size_max=100).client()
    assert client.put(b"q", *[b"x"] * 1000) == [OK] * 1000


def test_many_gets_behind_a_waiting_one_are_not_copied_each_time(house: House, client: TestClient) -> None:
    """Each of a thousand waits in turn, with 20 MB of others behind it: copying those would take a minute."""
    client.send(encode(b"Get", b"q" * 1000, b"1000") * 20_000)
    other = house.client()
    for _ in range(1000):
        other.put(b"q" * 1000, b"m")
        assert client.hear() == [[b"OK", b"m"]]


# -- Info -----------------------------------------------------------------------------------------------------------


def test_info_counts_connections_queues_and_ready_messages(house: House, client: TestClient) -> None:
    assert client.info() == {"NumConnections": 1, "NumQueues": 0, "NumMessages": 0, "Queues": {}}
    client.put(b"b", b"1", b"2")
    client.put(b"a", b"1")
    other = house.client()
    other.get(b"empty")
    ((_, text),) = client.say(encode(b"Info"))
    assert text == (
        b'{"NumConnections":2,"NumQueues":3,"NumMessages":3,"Queues":'
        b'{"a":{"NumMessages":1},"b":{"NumMessages":2},"empty":{"NumMessages":0}}}'
    )
    other.leave()
    client.get(b"a")
    info = client.info()
    assert (info["NumConnections"], info["NumQueues"], info["NumMessages"]) == (1, 3, 2)


def test_info_counts_the_queues_and_connections_of_all_protocols(house: House, client: TestClient) -> None:
    house.broker.bind(b"elsewhere", (b"event",))
    house.broker.publish(Message(b"1", b"event", b"x", 0, "other"))
    assert client.info()["Queues"] == {"elsewhere": {"NumMessages": 1}}


# -- recognising ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("head", "verdict"),
    [
        (b"", MAYBE),
        (b"\0\0", MAYBE),
        (b"\0\0\0\x11", MAYBE),
        (b"\0\0\0\x11\0\0\0", MAYBE),
        (b"\0\0\0\x11\0\0\0\x03", MAYBE),
        (b"\0\0\0\x11\0\0\0\x03Pu", MAYBE),
        (b"\0\0\0\x11\0\0\0\x03Put", YES),
        (b"\x01\0\0\x11\0\0\0\x03Put\0", YES),  # 16 MiB
        (encode(b"Get", b"q"), YES),
        (encode(b"Info"), YES),
        (encode(b"Quit"), YES),
        (b"\0\0\0\x11\0\0\0\x03put", NO),
        (b"\0\0\0\x11\0\0\0\x05", NO),
        (b"\x02\0\x04\x0f\0\0\0\x03Put", YES),
        (b"\x02\0\x04\x10", NO),
        (b"\x03", NO),
        (b"\0\0\0\0", NO),
        (b"\x01\x02\x03\x04\x05", NO),
        (b"1 publish e x\n", NO),
        (b"M:q:x\n", NO),
        (b"S\n", NO),
        (b"GET / HTTP/1.1\r\n", NO),
    ],
)
def test_recognising_mqmq(house: House, head: bytes, verdict: int) -> None:
    assert house.mqmq.recognise(head) == verdict


# -- anything ---------------------------------------------------------------------------------------------------------

REQUESTS = st.one_of(
    st.builds(lambda queue, body: encode(b"Put", queue, body), st.sampled_from([b"a", b"b"]), st.binary(max_size=9)),
    st.builds(lambda queue: encode(b"Get", queue, b"50"), st.sampled_from([b"a", b"b"])),
    st.sampled_from([encode(b"Get"), encode(b"Put", b"a"), encode(b"Get", b"a", b"x"), encode(b"Info")]),
)


@settings(max_examples=60)
@given(st.lists(REQUESTS, max_size=12), st.data())
def test_any_split_of_the_bytes_gives_the_same_answers(requests: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(requests)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=6)))
    answers = []
    for pieces in ([stream], [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]):
        house = House()
        client = house.client()
        heard = [answer for piece in pieces for answer in client.say(piece)]
        for _ in requests:
            house.advance(50)
            heard += client.hear()
        answers.append(heard)
    assert answers[0] == answers[1]
    assert len(answers[0]) == len(requests)


@settings(max_examples=100)
@given(st.lists(st.one_of(st.binary(max_size=40), REQUESTS), max_size=6))
def test_random_bytes_give_frames_or_the_end_and_nothing_worse(pieces: list[bytes]) -> None:
    house = House(line_size_max=200)
    client = house.client()
    for piece in pieces:
        client.say(piece)
    house.advance(100)
    client.hear()
    client.leave()
    house.check_log()
    assert house.broker.deadlines.next_due() == -1


STEPS = st.lists(st.tuples(st.sampled_from(["put", "get", "leave", "turn", "time"]), st.integers(0, 3)), max_size=40)


@settings(max_examples=150)
@given(STEPS)
def test_every_message_is_got_once_in_order_or_still_there(steps: list[tuple[str, int]]) -> None:
    """Clients wait, and go at any moment, also between a delivery and the end of the turn, when answers are written."""
    house = House()
    producer = house.client()
    clients = [house.client() for _ in range(4)]
    written: list[bytes] = []

    def end_turn() -> None:
        for client in clients:
            written.extend([values[1] for values in client.hear() if values[0] == b"OK"])

    count = 0
    for step, who in steps:
        if step == "put":
            producer.send(encode(b"Put", b"q", b"%04d" % count))
            count += 1
        elif step == "get":
            clients[who].send(encode(b"Get", b"q", b"5"))
            end_turn()
        elif step == "leave":
            clients[who].session.end(house.now)
            clients[who] = house.client()
        elif step == "time":
            house.advance(3)
            end_turn()
        else:
            end_turn()
        house.check_log()
    end_turn()
    left = [message.body for message, _ in house.broker.queues[b"q"].contents()] if count else []
    assert sorted([*written, *left]) == [b"%04d" % number for number in range(count)]
    assert left == sorted(left)
