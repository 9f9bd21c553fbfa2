"""What a SEVX client sees: lines in, lines out. No socket."""

import json
import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.core.broker import Broker
from penstock.core.limits import Limits
from penstock.core.queue import NEVER
from penstock.core.subscription import Inbox
from penstock.errors import REFUSAL_CODES
from penstock.log.memory import MemoryLog
from penstock.message import LINE_SAFE, Message
from penstock.wire.mqks.session import Mqks
from penstock.wire.session import MAYBE, NO, YES, Dialect, Hub, ProtocolOptions, Session
from penstock.wire.sevx.session import Sevx

ERROR = re.compile(rb"([^ ]*) error ([0-9A-Za-z]{24})")
DTID = re.compile(rb"[0-9]{20}[0-9A-Za-z]{4}")
SECOND = 1_000_000
START = 1_483_228_799_123_456


class House:
    """A broker and as many clients as a test wants, with time in its hand."""

    def __init__(self, options: ProtocolOptions | None = None, **limits: object) -> None:
        self.reports: list[dict[str, object]] = []
        self.broker = Broker(MemoryLog(keep=True), Limits(**limits))  # type: ignore[arg-type]
        self.hub = Hub(self.broker, lambda level, event, details: self.reports.append(details), options)
        self.sevx = Sevx(self.hub)
        self.mqks = Mqks(self.hub)
        self.now = START

    def client(self, dialect: Dialect | None = None) -> "TestClient":
        return TestClient(self, (dialect or self.sevx).open(f"peer{len(self.hub.sessions)}", self.now))

    def advance(self, seconds: float) -> None:
        self.now += round(seconds * SECOND)
        self.broker.tick(self.now)


class TestClient:
    __test__ = False

    def __init__(self, house: House, session: Session) -> None:
        self.house = house
        self.session = session

    def say(self, *lines: bytes) -> list[bytes]:
        """Send lines; what has come back by then."""
        self.session.feed(b"".join(line + b"\n" for line in lines), self.house.now)
        return self.hear()

    def hear(self) -> list[bytes]:
        out = self.session.drain()
        assert out == b"" or out.endswith(b"\n")
        return out.split(b"\n")[:-1]

    def recv(self, id: bytes = b"r", queue: str = "q", pattern: object = None, **more: object) -> list[bytes]:
        arguments = {"pattern": pattern or {}, "queue": queue, **more}
        return self.say(b"%s recv %s" % (id, json.dumps(arguments).encode()))

    def leave(self) -> None:
        self.session.end(self.house.now)


@pytest.fixture
def house() -> House:
    return House()


@pytest.fixture
def client(house: House) -> TestClient:
    return house.client()


def error_of(line: bytes) -> bytes:
    """The request id of an error answer."""
    match = ERROR.fullmatch(line)
    assert match, line
    return match[1]


def reason_of(house: House) -> str:
    return str(house.reports[-1]["reason"])


# -- lines -------------------------------------------------------------------------------------------------------------


def test_the_whole_conversation_of_the_text(house: House) -> None:
    sender, worker = house.client(), house.client()
    event = b'{"src": "service1", "act": "updated", "obj": "user", "data": {"id": 42, "name": "Kate"}}'
    queue = b'"queue": "opt.service2.events.test.on_event.act=updated.obj=user"'
    assert worker.say(
        b'20161231235959123456uN33 recv {"manual_ack": true, "delete_queue_when_unused": 5.42, '
        + queue
        + b', "pattern": {"obj": "user", "act": "updated"}}'
    ) == [b"20161231235959123456uN33 ok "]
    assert sender.say(b"20161231235959123456uN1q send " + event) == [b"20161231235959123456uN1q ok "]
    assert worker.hear() == [b"20161231235959123456uN33 ok 20161231235959123456uN1q " + event]
    assert worker.say(
        b'20161231235959123456uN55 reject {"receiver_id": "20161231235959123456uN33", '
        b'"event_id": "20161231235959123456uN1q"}'
    ) == [
        b"20161231235959123456uN55 ok ",
        b'20161231235959123456uN33 ok 20161231235959123456uN1q {"retry": 1, ' + event[1:],
    ]
    assert worker.say(b'20161231235959123456uN44 ack {"receiver_id": "20161231235959123456uN33", "all": true}') == [
        b"20161231235959123456uN44 ok "
    ]
    assert worker.say(b"20161231235959123456uN66 delete_queue {" + queue + b"}") == [b"20161231235959123456uN66 ok "]
    assert house.broker.queues == {}
    assert worker.say(b'20161231235959123456uN77 delete_receiver {"receiver_id": "20161231235959123456uN33"}') == [
        b"20161231235959123456uN77 ok "
    ]
    assert worker.say(b'20161231235959123456uN00 _ping {"data": "service1"}') == [
        b'20161231235959123456uN00 ok {"data": "service1"}'
    ]
    assert worker.say(b'20161231235959123456uN00 _eval {"code": "len(state.queues)"}') == [
        b'20161231235959123456uN00 ok {"result": 0}'
    ]


def test_ping_echoes_any_data_as_it_was_written(client: TestClient) -> None:
    assert client.say(b'p _ping {"data": [1.0, {"x":null}]}') == [b'p ok {"data": [1.0, {"x":null}]}']


def test_crlf_is_accepted_and_the_end_of_a_line_stripped(client: TestClient) -> None:
    client.recv()
    assert client.say(b'1 send {"a": 1} \t\r') == [b"1 ok ", b'r ok 1 {"a": 1}']
    assert client.say(b'2 _ping {"data": 1} \r') == [b'2 ok {"data": 1}']


def test_white_space_before_the_json_is_not_part_of_it(client: TestClient) -> None:
    client.recv()
    assert client.say(b'1 send   {"a": 1}') == [b"1 ok ", b'r ok 1 {"a": 1}']
    assert client.say(b'2 send \t{"a": 1}') == [b"2 ok ", b'r ok 2 {"a": 1}']


def test_the_json_is_delivered_as_it_was_written(client: TestClient) -> None:
    client.recv()
    for text in ('{"a":  1.0, "b": 12345678901234567890123}', '{"ü": "→\\u0041"}', "{ }"):
        assert client.say(b"1 send " + text.encode()) == [b"1 ok ", b"r ok 1 " + text.encode()]


def test_a_carriage_return_within_the_json_does_not_reach_a_line(house: House, client: TestClient) -> None:
    consumer = house.client(house.mqks)
    consumer.say(b"c consume q2 e")
    client.recv()
    assert client.say(b'1 send {"event":\r"e"}') == [b"1 ok ", b'r ok 1 {"event": "e"}']
    assert consumer.hear() == [b"c ok 1 event=e,encoding=base64 eyJldmVudCI6DSJlIn0="]


def test_requests_may_come_in_any_pieces(client: TestClient) -> None:
    client.recv()
    for byte in b'1 send {"a": 1}\n2 _ping {"data": 1}\n':
        client.session.feed(bytes([byte]), 0)
    assert client.hear() == [b"1 ok ", b'r ok 1 {"a": 1}', b'2 ok {"data": 1}']


def test_an_unterminated_line_waits(client: TestClient) -> None:
    client.session.feed(b'1 _ping {"data": 1}', 0)
    assert client.hear() == []
    client.session.feed(b"\n", 0)
    assert client.hear() == [b'1 ok {"data": 1}']


def test_a_return_or_a_letter_in_an_unfinished_line_is_not_forgotten(client: TestClient) -> None:
    client.recv()
    client.session.feed(b"\xff", 0)
    client.session.feed(b'a send {"a": 1}\n1 send {"a":', 0)
    (line,) = client.hear()
    assert DTID.fullmatch(error_of(line))
    client.session.feed(b"\r", 0)
    client.session.feed(b"1}\n", 0)
    assert client.hear() == [b"1 ok ", b'r ok 1 {"a": 1}']


def test_a_32_mib_body_in_small_pieces_is_not_copied_each_time() -> None:
    house = House(outbox_bytes_max=1 << 30)
    client = house.client()
    client.recv()
    body = b'{"a": "' + b"x" * (4 << 20) + b'"}'
    data = b"1 send " + body + b"\n"
    for start in range(0, len(data), 4096):
        client.session.feed(data[start : start + 4096], 0)
    assert client.hear() == [b"1 ok ", b"r ok 1 " + body]


def test_a_line_that_is_too_long_is_answered_and_ends_the_connection() -> None:
    house = House(line_size_max=100)
    client = house.client()
    client.session.feed(b"1 send " + b"x" * 100, START)
    (line,) = client.hear()
    assert DTID.fullmatch(error_of(line))
    assert client.session.closing
    assert "line_size_max is 100" in reason_of(house)
    assert client.say(b'1 _ping {"data": 1}') == []


def test_a_line_with_more_json_than_may_be_parsed_is_refused_and_the_connection_goes_on() -> None:
    house = House(json_size_max=3000)
    client = house.client()
    client.recv()
    (answer,) = client.say(b'7 send {"x": "%s"}' % (b"x" * 5000))
    assert error_of(answer) == b"7"
    assert "json_size_max is 3000" in reason_of(house)
    assert DTID.fullmatch(error_of(client.say(b"\xff" * 5000)[0]))
    assert client.say(b'8 send {"x": "%s"}' % (b"x" * 2900))[0] == b"8 ok "


# -- refusals ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        b"1",
        b"1 send",
        b"1 send ",
        b"1 nonsense {}",
        b"1 publish e x",
        b"1  {}",
        b"1 SEND {}",
        b"1 send nonsense",
        b"1 send {",
        b"1 send []",
        b"1 send 5",
        b'1 send "text"',
        b"1 send null",
        b'1 send {"a": 1} {"b": 2}',
        b'1 send {"a": 1},',
        b"1 send " + b"[" * 100_000,
        b'1 send {"a": "\xff"}',
        b'1 send {"a": NaN}',
        b"1 recv {}",
        b"1 recv nonsense",
        b"1 recv []",
        b'1 recv {"queue": "q"}',
        b'1 recv {"pattern": {}}',
        b'1 recv {"pattern": [], "queue": "q"}',
        b'1 recv {"pattern": null, "queue": "q"}',
        b'1 recv {"pattern": "x", "queue": "q"}',
        b'1 recv {"pattern": {}, "queue": 5}',
        b'1 recv {"pattern": {}, "queue": ""}',
        b'1 recv {"pattern": {}, "queue": "q", "manual_ack": "yes"}',
        b'1 recv {"pattern": {}, "queue": "q", "delete_queue_when_unused": "x"}',
        b"1 ack {}",
        b"1 ack x",
        b'1 ack {"receiver_id": "r"}',
        b'1 ack {"event_id": "e"}',
        b"1 reject {}",
        b'1 reject {"receiver_id": "r"}',
        b"1 delete_receiver {}",
        b"1 delete_receiver r",
        b"1 delete_queue {}",
        b'1 delete_queue {"queue": 1}',
        b"1 delete_queue",
        b"1 _ping {}",
        b"1 _ping",
        b"1 _ping x",
        b"1 _eval {}",
        b'1 _eval {"code": 1}',
        b'1 _eval {"code": "__import__(1)"}',
        b'1 _eval {"code": "1/0"}',
        b'1 _eval {"code": ""}',
    ],
)
def test_a_bad_request_is_answered_with_an_error_and_the_connection_goes_on(
    house: House, client: TestClient, line: bytes
) -> None:
    (answer,) = client.say(line)
    assert error_of(answer) == b"1"
    assert house.reports[-1]["error_id"] == answer.rpartition(b" ")[2].decode()
    assert house.broker.queues == {}
    assert house.sevx.consumers == {}
    assert house.broker.published == 0
    assert client.say(b'2 _ping {"data": 1}') == [b'2 ok {"data": 1}']


def test_a_request_without_an_id_is_given_one(house: House, client: TestClient) -> None:
    (answer,) = client.say(b' recv {"pattern": {}, "queue": "q"}')
    id, _, rest = answer.partition(b" ")
    assert rest == b"ok "
    assert DTID.fullmatch(id)
    assert id.startswith(b"20161231235959123456")
    for _ in range(2):
        ok, delivery = client.say(b' send {"a": 1}')
        event_id, _, rest = ok.partition(b" ")
        assert rest == b"ok "
        assert DTID.fullmatch(event_id)
        assert delivery == id + b" ok " + event_id + b' {"a": 1}'
    assert client.say(b'x delete_receiver {"receiver_id": "%s"}' % id) == [b"x ok "]
    assert house.sevx.consumers == {}


@pytest.mark.parametrize("line", [b"", b"   ", b"\r", b"\xff send {}", b"a\rb send {}", b"x" * 2000 + b" send {}"])
def test_a_line_whose_id_cannot_be_said_again_is_refused_under_a_new_one(client: TestClient, line: bytes) -> None:
    for answer in client.say(line, line):
        assert DTID.fullmatch(error_of(answer))


def test_any_other_word_is_an_id(client: TestClient) -> None:
    client.recv()
    for id in (b"1", b"a,b=c/1", "é".encode(), b"a\tb", b'"', b"x" * 1024):
        assert client.say(id + b" send {}") == [id + b" ok ", b"r ok " + id + b" {}"]


def test_a_body_over_the_limit_is_refused_and_named() -> None:
    house = House(body_size_max=20)
    client = house.client()
    (answer,) = client.say(b'1 send {"a": "xxxxxxxxxxxxxxx"}')
    assert error_of(answer) == b"1"
    assert "body_size_max is 20" in reason_of(house)


def test_a_full_queue_refuses_the_event_to_its_sender() -> None:
    house = House(queue_length_max=1)
    client = house.client()
    client.recv(delete_queue_when_unused=False)
    client.say(b'd delete_receiver {"receiver_id": "r"}')
    assert client.say(b'1 send {"a": 1}') == [b"1 ok "]
    (answer,) = client.say(b'2 send {"a": 2}')
    assert error_of(answer) == b"2"
    assert "queue_length_max is 1" in reason_of(house)


def test_a_queue_name_over_the_limit_is_refused() -> None:
    house = House(name_size_max=10)
    (answer,) = house.client().recv(queue="x" * 11)
    assert error_of(answer) == b"r"
    assert "name_size_max is 10" in reason_of(house)


def test_a_pattern_over_a_limit_is_refused_and_changes_nothing(house: House, client: TestClient) -> None:
    deep = b'{"a":' * 500 + b"1" + b"}" * 500
    (answer,) = client.say(b'1 recv {"queue": "q", "pattern": %s}' % deep)
    assert error_of(answer) == b"1"
    assert "pattern_depth_max is 32" in reason_of(house)
    (answer,) = client.recv(pattern={str(number): 1 for number in range(300)})
    assert "pattern_leaves_max is 256" in reason_of(house)
    (answer,) = client.recv(pattern={"a": "x" * 70_000})
    assert "pattern_size_max is 65536" in reason_of(house)
    assert house.broker.queues == {}


def test_an_http_request_is_closed_before_any_of_its_lines_is_run(house: House) -> None:
    client = house.client()
    client.session.feed(b'POST / HTTP/1.1\r\nx: y\r\n\r\n1 recv {"pattern": {}, "queue": "q"}\n', 0)
    assert client.hear() == []
    assert client.session.closing
    assert house.broker.queues == {}
    assert "HTTP" in reason_of(house)


def test_every_refusal_of_the_core_is_an_error_line() -> None:
    # The protocol has one form of refusal; its session catches Refused whatever its code.
    assert set(REFUSAL_CODES) == {"NOT_FOUND", "TOO_LARGE", "OVER_LIMIT", "DENIED", "DRAINING", "DISK_FULL", "INVALID"}


# -- send --------------------------------------------------------------------------------------------------------------


def test_an_event_nobody_wants_is_confirmed_and_gone(house: House, client: TestClient) -> None:
    assert client.say(b'1 send {"a": 1}') == [b"1 ok "]
    assert client.recv() == [b"r ok "]
    assert house.broker.published == 1


def test_every_matching_queue_gets_a_copy(client: TestClient) -> None:
    client.recv(b"r1", "q1", {"a": 1})
    client.recv(b"r2", "q2", {"b": 2})
    client.recv(b"r3", "q3", {"a": 2})
    client.recv(b"r4", "q4")
    assert client.say(b'1 send {"a": 1, "b": 2}') == [
        b"1 ok ",
        b'r1 ok 1 {"a": 1, "b": 2}',
        b'r2 ok 1 {"a": 1, "b": 2}',
        b'r4 ok 1 {"a": 1, "b": 2}',
    ]


def test_the_answer_comes_before_the_delivery_on_the_same_connection(client: TestClient) -> None:
    client.recv(b"r1", "q1")
    client.recv(b"r2", "q2")
    answers = client.say(b"1 send {}", b"2 send {}")
    assert answers == [b"1 ok ", b"r1 ok 1 {}", b"r2 ok 1 {}", b"2 ok ", b"r1 ok 2 {}", b"r2 ok 2 {}"]


@pytest.mark.parametrize(
    ("text", "event"),
    [
        ('{"event": "orders"}', b"orders"),
        ('{"event": "bestellung.ü"}', "bestellung.ü".encode()),
        ('{"event": "two words"}', b"sevx"),
        ('{"event": ""}', b"sevx"),
        ('{"event": "tab\\tbed"}', b"sevx"),
        ('{"event": "\\u0000"}', b"sevx"),
        ('{"event": 5}', b"sevx"),
        ('{"event": null}', b"sevx"),
        ('{"event": {"event": "x"}}', b"sevx"),
        ('{"event": "%s"}' % ("x" * 1024), b"x" * 1024),
        ('{"event": "%s"}' % ("x" * 1025), b"sevx"),
        ("{}", b"sevx"),
    ],
)
def test_the_event_is_what_the_json_says_if_that_is_one_word(house: House, text: str, event: bytes) -> None:
    inbox = Inbox()
    house.broker.bind(b"all", (), (b"{}",))
    house.broker.subscribe(b"all", inbox, None, 0)
    client = house.client()
    for _ in range(2):
        client.say(b"1 send " + text.encode())
    for message, _ in inbox.received:
        assert message.event == event
        assert message.id == b"1"
        assert message.body == text.encode()
        assert message.published_at == START
        assert message.protocol == "sevx"
        assert message.line_fit == LINE_SAFE
        assert message.document is None
    assert len(inbox.received) == 2


def test_an_event_with_a_comma_is_escaped_for_those_who_have_it_in_a_list(house: House) -> None:
    sevx, mqks = house.client(), house.client(house.mqks)
    sevx.recv(pattern={"event": "a,b"})
    mqks.say(b"c consume p a,b none")
    for text in (b'{"event":"a,b"}', b'{"event":"none"}', b'{"event":"a,b"}'):
        sevx.say(b"1 send " + text)
    escaped = b'c ok 1 event=a%2Cb,escaped=event {"event":"a,b"}'
    assert mqks.hear() == [escaped, b'c ok 1 event=none {"event":"none"}', escaped]


def test_an_event_without_a_name_can_be_matched_as_sevx(client: TestClient) -> None:
    client.recv(pattern={"event": "sevx"})
    answers = client.say(b'1 send {"a": 1}', b'2 send {"event": "x"}', b'3 send {"event": null}')
    assert answers == [b"1 ok ", b'r ok 1 {"a": 1}', b"2 ok ", b"3 ok "]


def test_two_sends_may_have_the_same_id(client: TestClient) -> None:
    client.recv(manual_ack=True)
    assert client.say(b'1 send {"n": 1}', b'1 send {"n": 2}') == [
        b"1 ok ",
        b'r ok 1 {"n": 1}',
        b"1 ok ",
        b'r ok 1 {"n": 2}',
    ]
    client.say(b'a ack {"receiver_id": "r", "event_id": "1"}')
    assert client.say(b'b reject {"receiver_id": "r", "event_id": "1"}') == [b"b ok ", b'r ok 1 {"retry": 1, "n": 2}']


# -- recv --------------------------------------------------------------------------------------------------------------


def test_recv_is_answered_before_any_event_of_the_backlog(client: TestClient) -> None:
    client.recv(delete_queue_when_unused=False)
    client.say(b'd delete_receiver {"receiver_id": "r"}')
    client.say(b'1 send {"n": 1}', b'2 send {"n": 2}')
    assert client.recv(b"r2") == [b"r2 ok ", b'r2 ok 1 {"n": 1}', b'r2 ok 2 {"n": 2}']


def test_recv_and_send_in_one_piece_are_run_in_order(client: TestClient) -> None:
    answers = client.say(b'r recv {"pattern": {}, "queue": "q"}', b"1 send {}")
    assert answers == [b"r ok ", b"1 ok ", b"r ok 1 {}"]


def test_receivers_of_one_queue_share_its_events_in_turn(house: House) -> None:
    one, other, sender = house.client(), house.client(), house.client()
    one.recv(b"r1", pattern={"a": 1})
    other.recv(b"r2", pattern={"a": 1})
    for number in range(4):
        sender.say(b'%d send {"a": 1}' % number)
    assert one.hear() == [b'r1 ok 0 {"a": 1}', b'r1 ok 2 {"a": 1}']
    assert other.hear() == [b'r2 ok 1 {"a": 1}', b'r2 ok 3 {"a": 1}']


def test_recv_replaces_the_pattern_of_the_queue(house: House) -> None:
    one, other = house.client(), house.client()
    one.recv(b"r1", pattern={"a": 1})
    other.recv(b"r2", pattern={"a": 2})
    assert one.say(b'1 send {"a": 1}') == [b"1 ok "]
    assert one.say(b'2 send {"a": 2}', b'3 send {"a": 2}') == [b"2 ok ", b'r1 ok 2 {"a": 2}', b"3 ok "]
    assert other.hear() == [b'r2 ok 3 {"a": 2}']


def test_patterns_match_as_subsets(client: TestClient) -> None:
    client.recv(pattern={"obj": "user", "data": {"tags": [1, {"x": None}], "ok": True}})
    good = b'{"obj": "user", "data": {"ok": true, "tags": [1.0, {"x": null}], "more": 1}, "src": "s"}'
    assert client.say(b"1 send " + good) == [b"1 ok ", b"r ok 1 " + good]
    for bad in (
        good.replace(b"true", b"1"),
        good.replace(b"null", b"0"),
        good.replace(b"1.0", b"1.5"),
        good.replace(b"user", b"users"),
        good.replace(b'"ok": true, ', b""),
        b"{}",
    ):
        assert client.say(b"2 send " + bad) == [b"2 ok "]


def test_the_same_receiver_id_again_takes_over_from_another_connection(house: House) -> None:
    old, new = house.client(), house.client()
    old.recv(manual_ack=True)
    new.say(b'1 send {"n": 1}')
    assert old.hear() == [b'r ok 1 {"n": 1}']
    assert new.recv(manual_ack=True) == [b"r ok ", b'r ok 1 {"retry": 1, "n": 1}']
    new.say(b"2 send {}")
    assert old.hear() == []
    old.leave()
    assert house.sevx.consumers[b"r"].owner is new.session
    assert new.say(b"3 send {}") == [b"3 ok ", b"r ok 3 {}"]


def test_the_same_receiver_id_again_on_the_same_connection_replaces_it(house: House, client: TestClient) -> None:
    client.recv(queue="q1")
    client.recv(queue="q2")
    assert client.say(b"1 send {}") == [b"1 ok ", b"r ok 1 {}"]
    assert list(house.broker.queues) == [b"q2"]
    assert len(client.session.subscriptions()) == 1


def test_a_queue_taken_over_by_its_only_receiver_is_not_deleted_in_between(house: House) -> None:
    old, new = house.client(), house.client()
    old.recv(manual_ack=True, delete_queue_when_unused=True)
    old.say(b"1 send {}")
    assert new.recv(manual_ack=True, delete_queue_when_unused=True) == [b"r ok ", b'r ok 1 {"retry": 1}']


def test_a_receiver_of_a_blocked_connection_gets_one_event_and_waits_for_room(client: TestClient) -> None:
    client.recv()
    client.session.pause()
    assert client.say(b"1 send {}", b"2 send {}", b"3 send {}") == [b"1 ok ", b"r ok 1 {}", b"2 ok ", b"3 ok "]
    client.session.resume()
    assert client.hear() == [b"r ok 2 {}", b"r ok 3 {}"]


def test_many_receivers_of_a_blocked_connection_are_not_given_one_event_each_when_that_is_much() -> None:
    house = House(outbox_bytes_max=1000)
    client, sender = house.client(), house.client()
    for number in range(100):
        client.recv(b"r%d" % number, f"q{number}", {"n": number})
    client.session.pause()
    for number in range(100):
        sender.say(b'%d send {"n": %d, "x": "%s"}' % (number, number, b"x" * 80))
        house.hub.run_awake(house.now)
    assert len(client.hear()) == 11
    client.session.resume()
    assert [line.partition(b" ")[0] for line in client.hear()] == [b"r%d" % number for number in range(11, 21)]
    for _ in range(20):
        client.session.resume()
        client.hear()
    assert sum(queue.ready for queue in house.broker.queues.values()) == 0
    assert len(sender.say(b'1 send {"n": 99}')) == len(client.hear()) == 1


def test_an_idle_receiver_costs_nothing_when_the_socket_fills_up(client: TestClient) -> None:
    for number in range(100):
        client.recv(b"r%d" % number, f"q{number}", {"n": number})
    client.session.pause()
    assert not any(subscription.suspended for subscription in client.session.subscriptions())
    client.say(b'1 send {"n": 7}')
    assert [receiver.name for receiver in client.session.subscriptions() if receiver.suspended] == [b"r7"]
    client.say(b'd delete_receiver {"receiver_id": "r7"}')
    client.session.resume()
    assert not any(subscription.suspended for subscription in client.session.subscriptions())


def test_a_full_outbox_keeps_events_in_the_queue() -> None:
    house = House(outbox_bytes_max=50)
    client, sender = house.client(), house.client()
    client.recv()
    for number in range(10):
        sender.say(b'%d send {"n": "xxxxxxxxxx"}' % number)
    assert len(client.hear()) == 2
    client.session.resume()
    assert len(client.hear()) == 2
    assert house.broker.queues[b"q"].ready == 6


# -- ack, reject -------------------------------------------------------------------------------------------------------


def test_without_manual_ack_delivered_is_done(house: House, client: TestClient) -> None:
    client.recv(delete_queue_when_unused=False)
    client.say(b"1 send {}")
    client.leave()
    assert house.broker.queues[b"q"].ready == 0


def test_an_acked_event_does_not_come_back(house: House, client: TestClient) -> None:
    client.recv(manual_ack=True, delete_queue_when_unused=False)
    client.say(b"1 send {}", b"2 send {}")
    assert client.say(b'a ack {"receiver_id": "r", "event_id": "1"}') == [b"a ok "]
    client.leave()
    assert house.client().recv(b"r2") == [b"r2 ok ", b'r2 ok 2 {"retry": 1}']


def test_a_rejected_event_goes_to_the_back_with_its_counter(client: TestClient) -> None:
    client.recv(manual_ack=True)
    client.say(b'1 send {"n": 1}', b"2 send {}")
    assert client.say(b'x reject {"receiver_id": "r", "event_id": "1"}') == [b"x ok ", b'r ok 1 {"retry": 1, "n": 1}']
    assert client.say(b'y reject {"receiver_id": "r", "event_id": "1"}') == [b"y ok ", b'r ok 1 {"retry": 2, "n": 1}']
    assert client.say(b'z reject {"receiver_id": "r", "event_id": "2"}') == [b"z ok ", b'r ok 2 {"retry": 1}']


def test_all_acks_and_rejects_all_in_order(client: TestClient) -> None:
    client.recv(manual_ack=True)
    client.say(b"1 send {}", b"2 send {}", b"3 send {}")
    assert client.say(b'x reject {"receiver_id": "r", "all": true}') == [
        b"x ok ",
        b'r ok 1 {"retry": 1}',
        b'r ok 2 {"retry": 1}',
        b'r ok 3 {"retry": 1}',
    ]
    assert client.say(b'y ack {"receiver_id": "r", "all": true}') == [b"y ok "]
    assert client.say(b'z reject {"receiver_id": "r", "all": true}') == [b"z ok "]


def test_ack_and_reject_work_from_another_connection(house: House) -> None:
    owner, other = house.client(), house.client()
    owner.recv(manual_ack=True)
    owner.say(b"1 send {}", b"2 send {}")
    assert other.say(b'a ack {"receiver_id": "r", "event_id": "1"}') == [b"a ok "]
    assert other.say(b'b reject {"receiver_id": "r", "event_id": "2"}') == [b"b ok "]
    assert owner.hear() == [b'r ok 2 {"retry": 1}']
    assert house.broker.queues[b"q"].unacked == 1


def test_settling_what_is_not_there_is_fine(client: TestClient) -> None:
    client.recv()
    client.say(b"1 send {}")
    for action in (b"ack", b"reject"):
        assert client.say(b'x %s {"receiver_id": "r", "event_id": "1"}' % action) == [b"x ok "]
        assert client.say(b'x %s {"receiver_id": "r", "event_id": "9"}' % action) == [b"x ok "]
        assert client.say(b'x %s {"receiver_id": "nobody", "event_id": "1"}' % action) == [b"x ok "]
        assert client.say(b'x %s {"receiver_id": "nobody", "all": true}' % action) == [b"x ok "]


@pytest.mark.parametrize(
    "text",
    [
        b'{"event_id": "1", "receiver_id": "r"}',
        b' {"receiver_id": "r", "event_id": "1"} \r',
        b'{"receiver_id": "r", "event_id": "1", "all": false}',
        b'{"receiver_id": "r", "all": true}',
        b'{"receiver_id": "r", "event_id": "9", "all": true}',
        b'{"receiver_id": "\\u0072", "event_id": "1", "wait": 1}',
    ],
)
@pytest.mark.parametrize("size", [1, 24])
def test_an_ack_may_be_written_in_many_ways(house: House, client: TestClient, text: bytes, size: int) -> None:
    client.recv(manual_ack=True)
    client.say(b"1 send {}")
    assert client.say(b"a" * size + b" ack " + text) == [b"a" * size + b" ok "]
    assert house.broker.queues[b"q"].unacked == 0


def test_an_event_is_acked_once(house: House, client: TestClient) -> None:
    client.recv(manual_ack=True)
    client.say(b"1 send {}")
    for _ in range(2):
        assert client.say(b'a ack {"receiver_id": "r", "event_id": "1"}') == [b"a ok "]
    assert house.broker.queues[b"q"].unacked == 0


# -- deleting ----------------------------------------------------------------------------------------------------------


def test_delete_receiver_returns_what_was_not_acked(client: TestClient) -> None:
    client.recv(b"r1", manual_ack=True)
    client.say(b"1 send {}")
    client.recv(b"r2", manual_ack=True)
    assert client.say(b'd delete_receiver {"receiver_id": "r1"}') == [b"d ok ", b'r2 ok 1 {"retry": 1}']
    assert client.say(b"2 send {}") == [b"2 ok ", b"r2 ok 2 {}"]


def test_delete_receiver_from_another_connection_ends_it_for_good(house: House) -> None:
    owner, other = house.client(), house.client()
    owner.recv(delete_queue_when_unused=False)
    assert other.say(b'd delete_receiver {"receiver_id": "r"}') == [b"d ok "]
    other.say(b"1 send {}")
    assert owner.hear() == []
    assert owner.session.subscriptions() == []


def test_deleting_what_is_not_there_is_fine(client: TestClient) -> None:
    assert client.say(b'd delete_receiver {"receiver_id": "nobody"}') == [b"d ok "]
    assert client.say(b'd delete_queue {"queue": "nothing"}') == [b"d ok "]


def test_delete_queue_ends_its_receivers_and_no_more_is_copied_to_it(house: House, client: TestClient) -> None:
    client.recv()
    assert client.say(b'd delete_queue {"queue": "q"}') == [b"d ok "]
    assert client.say(b"1 send {}") == [b"1 ok "]
    assert house.sevx.consumers == {}
    assert client.recv() == [b"r ok "]
    assert client.say(b"2 send {}") == [b"2 ok ", b"r ok 2 {}"]


def test_a_disconnect_ends_receivers_and_returns_what_was_not_acked(house: House) -> None:
    one, other = house.client(), house.client()
    one.recv(b"r1", manual_ack=True)
    one.say(b"1 send {}", b"2 send {}")
    other.recv(b"r2")
    one.leave()
    assert other.hear() == [b'r2 ok 1 {"retry": 1}', b'r2 ok 2 {"retry": 1}']
    assert list(house.sevx.consumers) == [b"r2"]


def test_by_default_a_queue_is_deleted_when_unused(house: House, client: TestClient) -> None:
    client.recv()
    client.leave()
    assert house.broker.queues == {}


def test_true_deletes_at_once_and_false_never(house: House) -> None:
    client = house.client()
    client.recv(b"r1", "q1", delete_queue_when_unused=True)
    client.recv(b"r2", "q2", delete_queue_when_unused=False)
    client.leave()
    house.advance(1e6)
    assert list(house.broker.queues) == [b"q2"]


def test_seconds_wait_for_the_next_receiver(house: House) -> None:
    client = house.client()
    client.recv(delete_queue_when_unused=5.42)
    client.say(b'd delete_receiver {"receiver_id": "r"}')
    house.advance(5.41)
    assert list(house.broker.queues) == [b"q"]
    client.recv()
    house.advance(100)
    assert list(house.broker.queues) == [b"q"]
    client.leave()
    house.advance(5.42)
    assert house.broker.queues == {}


def test_a_queue_that_is_there_keeps_its_setting_unless_recv_says_otherwise(house: House) -> None:
    one, other = house.client(), house.client()
    one.recv(b"r1", delete_queue_when_unused=False)
    other.recv(b"r2")
    assert house.broker.queues[b"q"].expires_after == NEVER
    other.recv(b"r2", delete_queue_when_unused=2)
    assert house.broker.queues[b"q"].expires_after == 2 * SECOND


def test_receiving_from_a_queue_of_another_protocol_does_not_make_it_vanish(house: House) -> None:
    house.broker.put(b"jobs", Message(b"j1", b"jobs", b"work", 0, "mqmq"))
    client = house.client()
    assert client.recv(queue="jobs", pattern={"event": "jobs"}) == [b"r ok ", b'r ok j1 {"data": "work"}']
    client.leave()
    assert list(house.broker.queues) == [b"jobs"]


# -- _eval -------------------------------------------------------------------------------------------------------------


def test_eval_answers_numbers_lists_and_texts(client: TestClient) -> None:
    client.recv()
    for code, result in (
        ("len(state.queues)", 1),
        ("state.published", 0),
        ("[q for q in state.queues]", ["q"]),
        ("{'a': (1, None)}", {"a": [1, None]}),
        ("'x' + 'y'", "xy"),
        ("state.queues_by_consumer_ids", {"r": "q"}),
    ):
        (answer,) = client.say(b"1 _eval " + json.dumps({"code": code}).encode())
        assert answer.startswith(b'1 ok {"result": ')
        assert json.loads(answer[5:]) == {"result": result}


def test_eval_is_not_pythons_eval(house: House, client: TestClient) -> None:
    for code in ("__import__('os')", "state.__class__", "open('/etc/passwd')", "exit()", "9**9**9"):
        (answer,) = client.say(b"1 _eval " + json.dumps({"code": code}).encode())
        assert error_of(answer) == b"1"


# -- across protocols --------------------------------------------------------------------------------------------------


def test_an_mqks_consumer_gets_what_is_sent_under_its_event(house: House, client: TestClient) -> None:
    consumer = house.client(house.mqks)
    consumer.say(b"c consume q orders")
    client.say(b'1 send {"event": "orders", "n": 1}', b'2 send {"event": "other"}', b"3 send {}")
    assert consumer.hear() == [b'c ok 1 event=orders {"event": "orders", "n": 1}']


def test_a_receiver_gets_what_is_published_elsewhere(house: House, client: TestClient) -> None:
    publisher = house.client(house.mqks)
    client.recv(b"all", "q1")
    client.recv(b"orders", "q2", {"event": "orders"})
    client.recv(b"seven", "q3", {"n": 7})
    client.recv(b"text", "q4", {"data": "hello world"})
    publisher.say(b'1 publish orders {"n": 7}')
    assert client.hear() == [b'all ok 1 {"n": 7}', b'orders ok 1 {"n": 7}', b'seven ok 1 {"n": 7}']
    publisher.say(b"2 publish greeting hello world")
    assert client.hear() == [b'all ok 2 {"data": "hello world"}', b'text ok 2 {"data": "hello world"}']
    publisher.say(b"3 publish orders [7]")
    assert client.hear() == [b'all ok 3 {"data": [7]}', b'orders ok 3 {"data": [7]}']


def test_an_event_whose_id_came_coded_is_acked_by_that_word(house: House, client: TestClient) -> None:
    client.recv(manual_ack=True)
    for id, word in ((b"a b", "a%20b"), (b"\xff", "%FF"), (b"", "197001010000000000000002")):
        house.broker.publish(Message(id, b"e", b"{}", 0, "rq"))
        (line,) = client.hear()
        assert line == b"r ok %s {}" % word.encode()
        arguments = {"receiver_id": "r", "event_id": word}
        assert client.say(b"a ack " + json.dumps(arguments).encode()) == [b"a ok "]
        assert house.broker.queues[b"q"].unacked == 0


def test_the_id_goes_inside_where_the_switch_says_so() -> None:
    house = House(ProtocolOptions(sevx_id_inside=True))
    client = house.client()
    client.recv(manual_ack=True)
    assert client.say(b'1 send {"id": 5, "n": 1}') == [b"1 ok ", b'r ok {"id": "1", "n": 1}']
    assert client.say(b'x reject {"receiver_id": "r", "event_id": "1"}') == [
        b"x ok ",
        b'r ok {"id": "1", "retry": 1, "n": 1}',
    ]
    assert client.say(b'a ack {"receiver_id": "r", "event_id": "1"}') == [b"a ok "]
    house.client(house.mqks).say(b"2 publish e text")
    assert client.hear() == [b'r ok {"id": "2", "data": "text"}']


# -- recognising -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("head", "answer"),
    [
        (b"", MAYBE),
        (b"2016", MAYBE),
        (b"1 ", MAYBE),
        (b"1 se", MAYBE),
        (b"1 send", MAYBE),
        (b"1 send ", MAYBE),
        (b"1 send {", YES),
        (b"1 send {}\n", YES),
        (b"1 send\n", YES),
        (b" send {}\n", YES),
        (b"M: send {}\n", YES),
        (b"1 recv {", YES),
        (b"1 delete_receiver {", YES),
        (b"1 _ping {", YES),
        (b"1 ack {", YES),
        (b"1 ack c 1\n", NO),
        (b"1 ack ", MAYBE),
        (b"1 ack\n", NO),
        (b"1 reject c", NO),
        (b"1 delete_queue q\n", NO),
        (b'1 delete_queue {"queue"', YES),
        (b"1 _eval len(x)\n", NO),
        (b'1 _eval {"code"', YES),
        (b"1 publish e x\n", NO),
        (b"1 pu", NO),
        (b"1 ping x", NO),
        (b"1 consume q e\n", NO),
        (b"M:q:data\n", NO),
        (b"S\n", NO),
        (b"\n", NO),
        (b"\x00\x00\x00\x10\x00\x00\x00\x04", NO),
        (b"\x01", NO),
        (b"x" * 513, NO),
        (b"GET / HTTP/1.1\r\n", NO),
    ],
)
def test_first_bytes(house: House, head: bytes, answer: int) -> None:
    assert house.sevx.recognise(head) == answer


@pytest.mark.parametrize(
    "action", [b"send", b"recv", b"ack", b"reject", b"delete_queue", b"_eval", b"_ping", b"publish"]
)
@pytest.mark.parametrize("rest", [b'{"a": 1}', b"x y"])
def test_no_beginning_is_both_sevx_and_mqks(house: House, action: bytes, rest: bytes) -> None:
    line = b"1 %s %s\n" % (action, rest)
    for end in range(len(line) + 1):
        assert (house.sevx.recognise(line[:end]), house.mqks.recognise(line[:end])) != (YES, YES)


# -- anything at all ---------------------------------------------------------------------------------------------------

SCRIPT = (
    b'r1 recv {"pattern": {}, "queue": "q1"}\nr2 recv {"pattern": {"a": 1}, "queue": "q2", "manual_ack": true}\r\n'
    b'1 send {"a": 1}\n2 send {"b":\r2} \n\n bad\n'
    + '3 send {"a": 1, "ü": "→"}\n'.encode()
    + b'x reject {"receiver_id": "r2", "event_id": "1"}\ny ack {"receiver_id": "r2", "all": true}\n'
    b'4 _ping {"data": 1}\n123456789012345678901234 send {"a": 1}\n5 _eval {"code": "state.published"}\n'
    b'6 send nonsense\n7 delete_receiver {"receiver_id": "r1"}\n8 send {"a": 1}\n9 delete_queue {"queue": "q2"}\n'
)


def run(pieces: list[bytes]) -> list[bytes]:
    house = House()
    client = house.client()
    for piece in pieces:
        client.session.feed(piece, START)
    masked = re.sub(rb"error [0-9A-Za-z]{24}", b"error *", client.session.drain())
    return re.sub(rb"20161231235959123456[0-9A-Za-z]{4}", b"dtid", masked).split(b"\n")


@settings(deadline=None)
@given(st.lists(st.integers(0, len(SCRIPT)), max_size=30))
def test_any_split_of_the_bytes_gives_the_same_answers(cuts: list[int]) -> None:
    places = [0, *sorted(cuts), len(SCRIPT)]
    pieces = [SCRIPT[start:end] for start, end in pairwise(places)]
    assert run(pieces) == run([SCRIPT])


def test_byte_by_byte_gives_the_same_answers() -> None:
    assert run([bytes([byte]) for byte in SCRIPT]) == run([SCRIPT])


actions = st.sampled_from(
    [b"send", b"recv", b"ack", b"reject", b"delete_receiver", b"delete_queue", b"_ping", b"_eval", b"nonsense", b""]
)
words = st.sampled_from([b"1", b"r", b"", b"\xff", b"x\ry", b"a b"]) | st.binary(max_size=3)
arguments = st.dictionaries(
    st.sampled_from(
        ["pattern", "queue", "receiver_id", "event_id", "all", "data", "code", "manual_ack", "event", "retry"]
    ),
    st.sampled_from(["q", "r", "1", "", True, False, None, 1, 0.5, [], {}, {"a": 1}, [{}], "\ud800"]),
    max_size=4,
).map(lambda made: json.dumps(made).encode())
lines = st.builds(
    lambda id, action, rest: b"%s %s %s\n" % (id, action, rest), words, actions, arguments | st.binary(max_size=9)
)


@settings(deadline=None, max_examples=200)
@given(st.lists(lines, max_size=12))
def test_every_line_is_answered_once_under_its_id_and_nothing_raises(script: list[bytes]) -> None:
    house = House()
    client = house.client()
    for line in script:
        for piece in line.split(b"\n")[:-1]:
            client.session.feed(piece + b"\n", START)
            answers = [
                answer for answer in client.hear() if re.match(rb"[^ ]* (error [0-9A-Za-z]{24}$|ok $|ok \{)", answer)
            ]
            assert len(answers) >= 1
            id = piece.partition(b" ")[0]
            assert answers[0].startswith(id + b" ") or DTID.match(answers[0])
    client.leave()
    assert house.broker.context.bytes == sum(queue.bytes for queue in house.broker.queues.values())


@settings(deadline=None)
@given(st.lists(st.binary(max_size=40), max_size=10))
def test_random_bytes_are_refused_and_never_raise(pieces: list[bytes]) -> None:
    house = House()
    client = house.client()
    for piece in pieces:
        client.session.feed(piece, START)
    client.leave()


# -- many --------------------------------------------------------------------------------------------------------------


def test_ten_thousand_patterns_on_one_connection(house: House, client: TestClient) -> None:
    requests = [b'r%d recv {"pattern": {"user": %d}, "queue": "q%d"}' % (n, n, n) for n in range(10_000)]
    assert len(client.say(*requests)) == 10_000
    assert client.say(b'1 send {"user": 4321}') == [b"1 ok ", b'r4321 ok 1 {"user": 4321}']
    assert client.say(b'2 send {"user": 10000}') == [b"2 ok "]
    client.leave()
    assert house.broker.queues == {}
    assert house.sevx.consumers == {}
    assert not house.broker.routing.has_patterns
