"""What an MQKS client sees: lines in, lines out. No socket."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.core.broker import Broker
from penstock.core.limits import Limits
from penstock.errors import REFUSAL_CODES
from penstock.log.memory import MemoryLog
from penstock.message import Message
from penstock.wire.allowance import STEPS_MAX, Allowance
from penstock.wire.mqks.session import Mqks
from penstock.wire.session import MAYBE, NO, YES, Hub, Session

ERROR = re.compile(rb"([^ ]*) error ([0-9A-Za-z]{24})")
SECOND = 1_000_000


class House:
    """A broker and as many clients as a test wants, with time in its hand."""

    def __init__(self, **limits: object) -> None:
        self.reports: list[dict[str, object]] = []
        self.broker = Broker(MemoryLog(keep=True), Limits(**limits))  # type: ignore[arg-type]
        self.hub = Hub(self.broker, lambda level, event, details: self.reports.append(details))
        self.mqks = Mqks(self.hub)
        self.now = 0

    def client(self) -> "TestClient":
        return TestClient(self, self.mqks.open(f"peer{len(self.hub.sessions)}", self.now))

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


# -- lines -------------------------------------------------------------------------------------------------------------


def test_ping_echoes(client: TestClient) -> None:
    assert client.say(b"pg1 ping service1  x") == [b"pg1 ok service1  x"]


def test_crlf_is_accepted_and_the_end_of_a_line_stripped(client: TestClient) -> None:
    assert client.say(b"1 ping x \t\r") == [b"1 ok x"]


def test_tabs_and_utf8_pass_untouched(client: TestClient) -> None:
    client.say(b"c consume q e")
    assert client.say("m publish e a\tü→".encode()) == ["c ok m event=e a\tü→".encode()]


@pytest.mark.parametrize("line", [b"", b"ping", b"x ping", b"x ping ", b"   "])
def test_a_line_of_fewer_than_three_parts_is_answered_for_nobody(client: TestClient, line: bytes) -> None:
    (answer,) = client.say(line)
    assert error_of(answer) == b"None"


def test_a_leading_space_makes_the_id_empty(client: TestClient) -> None:
    assert client.say(b" ping x") == [b" ok x"]


def test_an_error_has_an_id_and_its_details_are_in_the_log(house: House, client: TestClient) -> None:
    (answer,) = client.say(b"1 no_such_action x")
    assert error_of(answer) == b"1"
    (details,) = house.reports
    assert answer.endswith(str(details["error_id"]).encode())
    assert details["reason"] == "unknown action"
    assert details["request"] == "1 no_such_action x"
    assert client.say(b"2 ping still here") == [b"2 ok still here"]


def test_errors_are_answered_without_confirm(client: TestClient) -> None:
    assert [error_of(line) for line in client.say(b"1 publish e", b"2 ack c", b"3 consume q")] == [b"1", b"2", b"3"]


def test_a_half_line_waits_for_its_end_and_is_never_executed_without_it(house: House, client: TestClient) -> None:
    client.session.feed(b"1 ping a", 0)
    assert client.hear() == []
    client.session.feed(b"b\n2 pi", 0)
    assert client.hear() == [b"1 ok ab"]
    client.session.feed(b"ng x", 0)
    client.leave()
    assert house.broker.published == 0


def test_invalid_utf8_is_just_bytes(client: TestClient) -> None:
    client.say(b"c consume \xff\xfe \xc3\x28")
    assert client.say(b"\x80 publish \xc3\x28 \xff") == [b"c ok \x80 event=\xc3\x28 \xff"]
    (answer,) = client.say(b"\xff no\xff x")
    assert error_of(answer) == b"\xff"


def test_a_line_over_the_limit_is_an_error_that_names_it_and_the_end() -> None:
    house = House(line_size_max=1000)
    client = house.client()
    client.session.feed(b"x" * 1001, 0)
    (answer,) = client.hear()
    assert error_of(answer) == b"None"
    assert "line_size_max is 1000" in str(house.reports[0]["reason"])
    assert client.session.closing
    assert client.say(b"1 ping x") == []


def test_an_http_request_is_closed_before_any_of_its_lines_is_executed(house: House, client: TestClient) -> None:
    client.say(b"c consume q e")
    browser = house.client()
    assert browser.say(b"POST / HTTP/1.1\r", b"Host: localhost\r", b"\r", b"m publish e evil") == []
    assert browser.session.closing
    assert client.hear() == []
    assert "HTTP" in str(house.reports[0]["reason"])


# -- confirm -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "request_line",
    [
        b"publish --confirm nowhere x",
        b"ack --confirm nobody m",
        b"reject --confirm nobody --all",
        b"delete_consumer --confirm nobody",
        b"delete_queue --confirm nowhere",
    ],
)
def test_confirm_answers_ok_with_a_trailing_space_also_when_the_target_does_not_exist(
    client: TestClient, request_line: bytes
) -> None:
    assert client.say(b"1 " + request_line) == [b"1 ok "]


def test_without_confirm_nothing_is_answered(client: TestClient) -> None:
    requests = [b"1 publish e x", b"2 consume q e", b"3 ack 2 m", b"4 delete_consumer 2", b"5 delete_queue q"]
    assert client.say(*requests) == []


def test_ping_and_eval_have_their_ordinary_answer_only(client: TestClient) -> None:
    assert client.say(b"1 ping --confirm x") == [b"1 ok x"]
    assert client.say(b"2 _eval --confirm 1+1") == [b"2 ok 2"]


def test_confirm_as_the_only_argument_is_data(house: House, client: TestClient) -> None:
    client.say(b"1 consume --confirm e")
    assert list(house.broker.queues) == []
    assert client.say(b"2 delete_queue --confirm") == []
    assert client.say(b"3 ping --confirm") == [b"3 ok --confirm"]


def test_confirm_later_in_the_line_is_data_for_publish_and_an_unknown_flag_for_consume(client: TestClient) -> None:
    (answer,) = client.say(b"c consume q e --confirm")
    assert error_of(answer) == b"c"
    client.say(b"c consume q e")
    assert client.say(b"m publish e --confirm x") == [b"c ok m event=e --confirm x"]


def test_a_confirmed_consume_answers_before_the_backlog(house: House, client: TestClient) -> None:
    client.say(b"c consume q e", b"d delete_consumer c", b"m publish e x")
    assert client.say(b"c consume --confirm q e") == [b"c ok ", b"c ok m event=e x"]


def test_a_confirmed_publish_answers_before_its_delivery_on_the_same_connection(client: TestClient) -> None:
    client.say(b"c consume q e")
    assert client.say(b"m publish --confirm e x") == [b"m ok ", b"c ok m event=e x"]


def test_a_failed_confirmed_request_has_one_error_line(client: TestClient) -> None:
    (answer,) = client.say(b"1 publish --confirm e")
    assert error_of(answer) == b"1"


# -- publish -----------------------------------------------------------------------------------------------------------


def test_publish_without_data_is_an_error(client: TestClient) -> None:
    for line in (b"1 publish e", b"1 publish e ", b"1 publish e    "):
        (answer,) = client.say(line)
        assert error_of(answer) == b"1"


def test_each_bound_queue_gets_a_copy_under_the_publish_id(house: House, client: TestClient) -> None:
    client.say(b"c1 consume q1 e", b"c2 consume q2 e")
    assert client.say(b"m publish e  x ") == [b"c1 ok m event=e  x", b"c2 ok m event=e  x"]


def test_consume_and_publish_in_one_segment_are_handled_in_order(client: TestClient) -> None:
    assert client.say(b"c consume q e", b"m publish e x") == [b"c ok m event=e x"]


def test_a_publish_nobody_wants_is_dropped(client: TestClient) -> None:
    client.say(b"m publish e x")
    assert client.say(b"c consume q e") == []


def test_a_refused_publish_is_an_error_line_that_the_log_explains() -> None:
    house = House(queue_length_max=1, body_size_max=10)
    client = house.client()
    client.say(b"c consume q e", b"d delete_consumer c")
    answers = client.say(b"1 publish e x", b"2 publish e x", b"3 publish --confirm e x", b"4 publish f 12345678901")
    assert [error_of(line) for line in answers] == [b"2", b"3", b"4"]
    assert ["queue_length_max" in str(report["reason"]) for report in house.reports] == [True, True, False]
    assert "body_size_max is 10" in str(house.reports[2]["reason"])


# -- consume -----------------------------------------------------------------------------------------------------------


def test_consume_needs_a_queue_and_an_event(client: TestClient) -> None:
    for line in (b"c consume q", b"c consume q --manual-ack", b"c consume q e --what", b"c consume q e --manual-ack=1"):
        (answer,) = client.say(line)
        assert error_of(answer) == b"c"


def test_a_double_space_binds_the_empty_event(client: TestClient) -> None:
    client.say(b"c consume q a  b")
    # `publish` cut at single spaces: the event is empty, the data what follows.
    assert client.say(b"m publish  x") == [b"c ok m event= x"]


def test_a_queue_outlives_its_consumers_and_collects(house: House, client: TestClient) -> None:
    client.say(b"c consume q e")
    client.leave()
    other = house.client()
    other.say(b"m1 publish e 1", b"m2 publish e 2")
    assert other.say(b"d consume q e") == [b"d ok m1 event=e 1", b"d ok m2 event=e 2"]


def test_bindings_are_replaced_for_the_whole_queue(house: House, client: TestClient) -> None:
    other = house.client()
    client.say(b"c1 consume q a")
    other.say(b"c2 consume q b")
    answers = client.say(b"m1 publish a 1", b"m2 publish b 2") + other.hear()
    assert answers in ([b"c1 ok m2 event=b 2"], [b"c2 ok m2 event=b 2"])


def test_consumers_take_turns_also_on_one_connection(house: House, client: TestClient) -> None:
    other = house.client()
    client.say(b"c0 consume q e", b"c1 consume q e")
    other.say(b"c2 consume q e")
    got: list[bytes] = []
    for number in range(9):
        got += client.say(b"%d publish e x" % number) + other.hear()
    assert [line.split()[0] for line in got] == [b"c0", b"c1", b"c2"] * 3


def test_the_same_consumer_id_takes_over_with_what_was_not_acked(house: House, client: TestClient) -> None:
    client.say(b"c consume q e --manual-ack", b"m1 publish e 1", b"m2 publish e 2")
    newcomer = house.client()
    assert newcomer.say(b"c consume q e --manual-ack") == [b"c ok m1 event=e,retry=1 1", b"c ok m2 event=e,retry=1 2"]
    assert newcomer.say(b"m3 publish e 3") == [b"c ok m3 event=e 3"]
    assert client.hear() == []
    client.leave()
    assert newcomer.say(b"m4 publish e 4") == [b"c ok m4 event=e 4"]


def test_the_same_consume_again_on_one_connection_replaces(client: TestClient) -> None:
    client.say(b"c consume q e", b"c consume q e")
    assert client.say(b"m publish e x") == [b"c ok m event=e x"]


def test_a_takeover_keeps_a_queue_that_is_deleted_when_unused(house: House, client: TestClient) -> None:
    client.say(b"c consume q e --delete-queue-when-unused --manual-ack", b"m publish e x")
    newcomer = house.client()
    assert newcomer.say(b"c consume q e --delete-queue-when-unused") == [b"c ok m event=e,retry=1 x"]


def test_a_takeover_may_move_to_another_queue(house: House, client: TestClient) -> None:
    client.say(b"c consume q e --manual-ack", b"m publish e x", b"c consume p f")
    assert client.say(b"n publish f y") == [b"c ok m event=e x", b"c ok n event=f y"][1:]
    assert client.say(b"d consume q e") == [b"d ok m event=e,retry=1 x"]


# -- ack and reject ----------------------------------------------------------------------------------------------------


def test_an_acked_message_does_not_come_back(house: House, client: TestClient) -> None:
    client.say(b"c consume q e --manual-ack", b"m1 publish e 1", b"m2 publish e 2", b"a ack c m1")
    client.leave()
    other = house.client()
    assert other.say(b"d consume q e") == [b"d ok m2 event=e,retry=1 2"]


def test_ack_works_from_another_connection(house: House, client: TestClient) -> None:
    client.say(b"c consume q e --manual-ack", b"m publish e x")
    other = house.client()
    assert other.say(b"a ack --confirm c m") == [b"a ok "]
    client.leave()
    assert other.say(b"d consume q e") == []


def test_ack_all_and_reject_all(client: TestClient) -> None:
    client.say(b"c consume q e --manual-ack", b"m1 publish e 1", b"m2 publish e 2")
    assert client.say(b"r reject c --all") == [b"c ok m1 event=e,retry=1 1", b"c ok m2 event=e,retry=1 2"]
    client.say(b"a ack c --all")
    assert client.say(b"r reject c --all") == []


def test_ack_of_what_is_not_there_is_fine(client: TestClient) -> None:
    client.say(b"auto consume q e", b"manual consume r f --manual-ack", b"m publish e x", b"n publish f y")
    client.hear()
    assert client.say(b"1 ack auto m", b"2 ack manual nothing", b"3 ack nobody m", b"4 reject auto m") == []
    assert client.say(b"5 ack --confirm manual n", b"6 ack --confirm manual n") == [b"5 ok ", b"6 ok "]


def test_ack_without_its_second_argument_is_an_error(client: TestClient) -> None:
    for line in (b"1 ack c", b"1 ack --confirm c", b"1 reject c"):
        (answer,) = client.say(line)
        assert error_of(answer) == b"1"


def test_a_rejected_message_comes_last(house: House, client: TestClient) -> None:
    client.say(b"c consume q e --manual-ack", b"m publish e x")
    consumer = house.mqks.consumers[b"c"]
    house.broker.suspend(consumer)
    client.say(b"1 publish e a", b"2 publish e b", b"3 publish e c", b"r reject c m")
    house.broker.resume(consumer)
    assert [line.split()[2] for line in client.hear()] == [b"1", b"2", b"3", b"m"]


def test_retry_counts_up(client: TestClient) -> None:
    client.say(b"c consume q e --manual-ack")
    assert client.say(b"m publish e x") == [b"c ok m event=e x"]
    assert client.say(b"r reject c m") == [b"c ok m event=e,retry=1 x"]
    assert client.say(b"r reject c m") == [b"c ok m event=e,retry=2 x"]


def test_two_messages_of_one_id_are_acked_one_by_one(house: House, client: TestClient) -> None:
    client.say(b"c consume q e --manual-ack", b"m publish e 1", b"m publish e 2", b"m publish e 3", b"a ack c m")
    queue = house.broker.queues[b"q"]
    assert queue.unacked == 2
    client.say(b"a ack c m", b"a ack c m", b"a ack c m")
    assert queue.unacked == 0


def test_equal_signs_in_event_names_pass(client: TestClient) -> None:
    client.say(b"c consume q a=1=2 --manual-ack")
    assert client.say(b"m publish a=1=2 x", b"r reject c m") == [
        b"c ok m event=a=1=2 x",
        b"c ok m event=a=1=2,retry=1 x",
    ]


# -- the end of consumers and queues -----------------------------------------------------------------------------------


def test_delete_consumer_gives_back_what_it_held(client: TestClient) -> None:
    client.say(b"c consume q e --manual-ack", b"m publish e x", b"dc delete_consumer c")
    assert client.say(b"d consume q e") == [b"d ok m event=e,retry=1 x"]


def test_delete_consumer_from_another_connection_ends_it_for_its_owner_too(house: House, client: TestClient) -> None:
    client.say(b"c consume q e --manual-ack", b"m publish e x")
    client.hear()
    other = house.client()
    other.say(b"dc delete_consumer c", b"n publish e y")
    assert client.hear() == []
    client.leave()
    assert other.say(b"d consume q e") == [b"d ok m event=e,retry=1 x", b"d ok n event=e y"]


def test_a_disconnect_gives_back_in_order(house: House, client: TestClient) -> None:
    client.say(b"c consume q e --manual-ack", *[b"%d publish e x" % number for number in range(5)])
    other = house.client()
    other.say(b"d consume q e")
    client.leave()
    assert [line.split()[2] for line in other.hear()] == [b"0", b"1", b"2", b"3", b"4"]
    assert house.mqks.consumers.keys() == {b"d"}


def test_delete_queue_takes_the_whole_rest_of_the_line(house: House, client: TestClient) -> None:
    client.say(b"c consume q1 e")
    assert client.say(b"dq delete_queue --confirm q1 --when-unused=5") == [b"dq ok "]
    assert client.say(b"m publish e x") == [b"c ok m event=e x"]


def test_delete_queue_takes_everything_and_tells_consumers_nothing(house: House, client: TestClient) -> None:
    other = house.client()
    client.say(b"c consume q e --manual-ack", b"m publish e x")
    client.hear()
    other.say(b"dq delete_queue q", b"n publish e y", b"d consume q e", b"o publish e z")
    assert client.hear() == []
    assert client.say(b"a ack --confirm c m") == [b"a ok "]
    client.say(b"c consume q e")
    assert house.mqks.consumers.keys() == {b"c", b"d"}


def test_a_queue_goes_at_once_when_its_last_consumer_does(house: House, client: TestClient) -> None:
    client.say(b"c1 consume q e --delete-queue-when-unused", b"c2 consume q e", b"x delete_consumer c1")
    assert b"q" in house.broker.queues
    client.leave()
    assert house.broker.queues == {}
    assert house.broker.routing.by_event == {}


def test_a_queue_waits_its_seconds_and_a_consumer_stops_the_wait(house: House, client: TestClient) -> None:
    client.say(b"c consume q e --delete-queue-when-unused=0.3", b"x delete_consumer c")
    house.advance(0.2)
    client.say(b"c consume q e", b"m publish e x")
    house.advance(10)
    assert b"q" in house.broker.queues
    client.say(b"x delete_consumer c")
    house.advance(0.3)
    assert house.broker.queues == {}


def test_the_delete_flag_belongs_to_the_queue_and_a_later_value_overwrites(house: House, client: TestClient) -> None:
    client.say(b"c consume q e --delete-queue-when-unused=5", b"d consume q e", b"x delete_consumer c")
    client.say(b"d consume q e --delete-queue-when-unused=1", b"x delete_consumer d")
    house.advance(1)
    assert house.broker.queues == {}
    client.say(b"c consume q e", b"x delete_consumer c")
    house.advance(100)
    assert b"q" in house.broker.queues


# -- _eval -------------------------------------------------------------------------------------------------------------


def test_eval_knows_the_documented_names(client: TestClient) -> None:
    assert client.say(b"1 _eval len(state.queues)") == [b"1 ok 0"]
    client.say(b"c consume q e --manual-ack --delete-queue-when-unused=9", b"d consume p e")
    client.say(b"m publish e x", b"n publish f y")
    client.hear()
    expected = {
        b"state.published": b"2",
        b"state.queued": b"2",
        b"state.consumed": b"2",
        b"len(state.queues)": b"2",
        b"sum(q.qsize() for q in state.queues.values())": b"0",
        b"len(state.queues_by_events)": b"1",
        b"len([cs for cs in state.consumer_ids_by_clients.values() if cs])": b"1",
        b"len(state.queues_by_consumer_ids)": b"2",
        b"sum(len(ms) for ms in state.messages_by_consumer_ids.values())": b"1",
        b'" ".join(" ".join(ms.keys()) for ms in state.messages_by_consumer_ids.values() if ms)': b"m",
        b"len(state.queues_to_delete_when_unused)": b"1",
        b"len([u for u in state.queues_used.values() if u.is_set()])": b"2",
        b"sum(q.qsize() for q in state.responses_by_clients.values())": b"0",
        b"len(state.socks_by_clients)": b"1",
    }
    for code, answer in expected.items():
        assert client.say(b"1 _eval " + code) == [b"1 ok " + answer], code


def test_eval_tells_used_queues_from_unused_ones(client: TestClient) -> None:
    client.say(b"c consume q e", b"d consume p e", b"r delete_consumer d")
    assert client.say(b"1 _eval sorted([n for n, u in state.queues_used.items() if u.is_set()])") == [b"1 ok ['q']"]
    assert client.say(b"1 _eval state.queues_by_consumer_ids") == [b"1 ok {'c': 'q'}"]
    assert client.say(b"1 _eval state.messages_by_consumer_ids") == [b"1 ok {}"]


@pytest.mark.parametrize("code", [b"__import__('os')", b"state._broker", b"1/0", b"state.nothing", b"(", b"\xff"])
def test_eval_of_anything_else_is_an_error(client: TestClient, code: bytes) -> None:
    (answer,) = client.say(b"1 _eval " + code)
    assert error_of(answer) == b"1"


def test_evaluations_have_a_hundredth_of_the_time_for_all_clients_together(house: House) -> None:
    first, second = house.client(), house.client()
    long = b"1 _eval [0 for a in T for b in T for c in T for d in T]".replace(b"T", b"'abcdefghijklmnopqrst'")
    assert error_of(first.say(long)[0]) == b"1"
    assert "more than 100000 steps" in str(house.reports[-1]["reason"])
    assert error_of(second.say(b"2 _eval 1+1")[0]) == b"2"
    assert "evaluations take 10000 steps a second at most: try again in 9.0 s" in str(house.reports[-1]["reason"])
    house.advance(8.9)
    assert error_of(second.say(b"2 _eval 1+1")[0]) == b"2"
    house.advance(1)
    for _ in range(300):
        assert second.say(b"2 _eval len(state.queues)") == [b"2 ok 0"]


def test_a_clock_that_is_set_back_does_not_end_evaluations() -> None:
    allowance = Allowance()
    allowance.spend(STEPS_MAX, 10**15)
    allowance.spend(10, 10**15)
    assert allowance.wait(10**15) == 9_001_000
    assert allowance.wait(10**14) == 0


def test_an_evaluation_spends_what_it_may_take_at_most(house: House) -> None:
    client = house.client()
    letters = b"'%b'" % (b"a" * 500)
    long = b"1 _eval ''.join([T for c in T]).join([c for c in T])"  # refused all at once, for 8 million steps
    assert error_of(client.say(long.replace(b"T", letters))[0]) == b"1"
    assert error_of(client.say(b"2 _eval 1+1")[0]) == b"2"
    house.advance(9.3)
    assert client.say(b"3 _eval 1+1") == [b"3 ok 2"]


def test_eval_never_breaks_the_line(client: TestClient) -> None:
    assert len(client.say(b'1 _eval "a\\nb"')) == 1


def test_a_blocked_client_is_given_one_message_each_at_most_and_the_rest_when_there_is_room(house: House) -> None:
    client, publisher = house.client(), house.client()
    client.say(b"c consume q e", b"d consume q e")
    client.session.pause()
    publisher.say(*[b"%d publish e x" % number for number in range(10)])
    assert len(client.hear()) == 2
    client.session.resume()
    assert len(client.hear()) == 8


# -- the shape of it ---------------------------------------------------------------------------------------------------


def test_every_refusal_of_the_core_has_an_answer(house: House, client: TestClient) -> None:
    # MQKS has one word for all of them, so the table is the error line itself.
    assert len(REFUSAL_CODES) == len(set(REFUSAL_CODES)) > 0


def test_messages_of_other_protocols_come_in_a_form_that_fits_a_line(house: House, client: TestClient) -> None:
    client.say(b"c consume q e --manual-ack")
    house.broker.put(b"q", Message(b"i", b"q", b"two\nlines", 0, "other"))
    house.broker.put(b"q", Message(b"j", b"q", b"one line", 0, "other"))
    assert client.hear() == [b"c ok i event=q,encoding=base64 dHdvCmxpbmVz", b"c ok j event=q one line"]
    client.say(b"a ack c i")
    assert house.broker.queues[b"q"].unacked == 1


@pytest.mark.parametrize(
    ("head", "verdict"),
    [
        (b"m1 publish e x\n", YES),
        (b"c1 consume q e\n", YES),
        (b"1 _eval len(", YES),
        (b"1 ack c m", YES),
        (b'1 ack {"receiver_id"', NO),
        (b"1 send {}", NO),
        (b"m1 publ", MAYBE),
        (b"m1 publish ", MAYBE),
        (b"", MAYBE),
        (b"x" * 600, NO),
        (b"M:q:1\n", NO),
        (b"M:q:\nid publish e x\n", NO),
    ],
)
def test_recognising_mqks(house: House, head: bytes, verdict: int) -> None:
    assert house.mqks.recognise(head) == verdict


SCRIPT_LINES = st.sampled_from(
    [
        b"c consume q e --manual-ack",
        b"c consume --confirm q e f",
        b"d consume q e",
        b"m1 publish e x",
        b"m2 publish --confirm f y y",
        b"a ack c m1",
        b"a ack --confirm c --all",
        b"r reject c m2",
        b"x delete_consumer c",
        b"x delete_queue --confirm q",
        b"p ping data",
        b"",
        b"bad",
        b"1 what is",
    ]
)


@given(st.lists(SCRIPT_LINES, max_size=30), st.data())
@settings(max_examples=60)
def test_any_split_of_the_bytes_gives_the_same_answers(lines: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(line + b"\n" for line in lines)
    whole, pieces = House().client(), House().client()
    whole.session.feed(stream, 0)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=20)))
    for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        pieces.session.feed(stream[start:end], 0)

    def without_error_ids(client: TestClient) -> list[bytes]:
        return [ERROR.sub(rb"\1 error", line) for line in client.hear()]

    assert without_error_ids(whole) == without_error_ids(pieces)


@given(st.lists(st.binary(max_size=200)))
def test_random_bytes_give_error_lines_and_nothing_worse(chunks: list[bytes]) -> None:
    client = House().client()
    for chunk in chunks:
        client.session.feed(chunk, 0)
    client.hear()
    client.leave()


# -- names that would break a line -------------------------------------------------------------------------------------


@pytest.mark.parametrize("flag", [b"", b"--confirm ", b"--ttl=5 "])
def test_a_comma_in_an_event_is_escaped_however_it_was_published(house: House, flag: bytes) -> None:
    client = house.client()
    client.say(b"c consume q a,b --manual-ack")
    lines = client.say(b"m publish " + flag + b"a,b x")
    assert lines[-1] == b"c ok m event=a%2Cb,escaped=event x"
    assert client.say(b"r reject c m") == [b"c ok m event=a%2Cb,retry=1,escaped=event x"]


@pytest.mark.parametrize("protocol", ["mqks", "smqs", "sevx", "mqmq", "rq", "http"])
def test_so_is_one_in_the_name_of_a_queue_whoever_put_the_message(house: House, protocol: str) -> None:
    client = house.client()
    client.say(b"c consume a,b none")
    house.broker.put(b"a,b", Message(b"m", b"a,b", b"{}", 0, protocol))
    assert client.hear() == [b"c ok m event=a%2Cb,escaped=event {}"]


def test_a_queue_that_is_to_go_after_an_infinite_time_stays(house: House) -> None:
    house.client().say(b"c consume q e --delete-queue-when-unused=5")
    client = house.client()
    assert client.say(b"c consume --confirm q e --delete-queue-when-unused=inf") == [b"c ok "]
    client.leave()
    house.advance(10**6)
    assert b"q" in house.broker.queues
