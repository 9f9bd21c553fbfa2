"""What an RQ node sees beyond what keeps the original ones alive: limits, bad input, back-pressure, deleted queues."""

import gc
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.core.subscription import Inbox
from penstock.message import Message
from penstock.wire.rq.delivery_ids import IDS_ENOUGH, IDS_MAX
from penstock.wire.rq.queue_ids import QueueIds
from penstock.wire.session import MAYBE, NO, YES

CONSUME_GROUP = b"\x01\xa0\x04work\x62\x00\x05\x40\x14\x14"
REQUEST_GROUP = b"\x01\x80\x00\x00\x00\x00\xa0\x04work\xe0\x00\x00\x00\x05msg-0\x0a"


# -- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("ID=1 PAYLOAD=x", "REQUEST needs QUEUE, or a QUEUEID of this broker"),
        ("ID=1 QUEUE= PAYLOAD=x", "REQUEST needs QUEUE, or a QUEUEID of this broker"),
        ("ID=1 QUEUE=work", "REQUEST needs a PAYLOAD that is not empty"),
    ],
)
def test_a_REQUEST_with_missing_fields_is_UNDELIVERED_and_the_connection_goes_on(house, words, reason) -> None:
    node = house.node()
    assert node.say(f"CLEAR {words} REQUEST").hear() == ["ID=1 UNDELIVERED"]
    assert house.reasons() == [reason]
    assert node.say("PING").hear() == ["PONG"]


def test_a_REQUEST_without_an_ID_is_UNDELIVERED_without_an_ID(house) -> None:
    consumer, node = house.consumer("work"), house.node()
    assert node.say("CLEAR QUEUE=work PAYLOAD=x REQUEST").drain() == b"\x01\x10"
    assert house.reasons() == ["REQUEST needs an ID"]
    assert consumer.hear() == []


@pytest.mark.parametrize("action", ["DELIVERED", "REPLY", "UNDELIVERED"])
@pytest.mark.parametrize("id", ["", "ID=5", "ID=4294967295", "ID=4294901765"])
def test_an_answer_to_nothing_is_logged_and_ignored(house, action, id) -> None:
    node = house.consumer("work")
    assert node.say(f"CLEAR {id} PAYLOAD=x {action}").hear() == []
    assert house.reasons() == [f"{action} for an ID that is not open"]
    assert not node.closed()


def test_a_CONSUME_without_a_QUEUE_is_logged_for_there_is_no_answer(house) -> None:
    assert house.node().say("CLEAR MAX=1 CONSUME").hear() == []
    assert house.reasons() == ["CONSUME needs a QUEUE"]


def test_actions_only_a_controller_may_send_are_stepped_over(house) -> None:
    node = house.node()
    assert node.say("CLEAR QUEUE=q QUEUEID=1 CONSUMING SERVER_FULL PONG NOP PING").hear() == ["PONG"]
    assert house.reasons() == []


@pytest.mark.parametrize("method", [b"GET", b"POST", b"PUT", b"OPTIONS", b"PRI"])
@pytest.mark.parametrize("piece", [1, 3, 1000])
def test_an_HTTP_request_is_closed_before_any_command_in_it_is_done(house, method, piece) -> None:
    consumer, node = house.consumer("work"), house.node()
    data = method + b" / HTTP/1.1\r\nHost: x\r\n\r\n" + REQUEST_GROUP
    for at in range(0, len(data), piece):
        node.feed(data[at : at + piece])
    assert node.closed()
    assert (node.hear(), consumer.hear()) == ([], [])
    assert house.reasons() == ["an HTTP request on the RQ port"]


def test_what_only_begins_like_HTTP_is_read_as_RISP(house) -> None:
    node = house.node()
    for byte in b"PO\x05\x05":  # 0x50 with its argument 0x4f, then two PINGs
        node.feed(bytes([byte]))
    assert node.hear() == ["PONG", "PONG"]


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=200), st.booleans())
def test_random_bytes_never_raise(make_house, data, after_a_group) -> None:
    house = make_house(body_size_max=1000)
    node = house.node()
    if after_a_group:
        node.feed(CONSUME_GROUP + REQUEST_GROUP)
    node.feed(data)
    node.drain()
    node.leave()
    assert house.broker.queues.get(b"work") is None or house.broker.queues[b"work"].unacked == 0


words = st.sampled_from(
    [
        "CLEAR",
        "ID=0",
        "ID=1",
        "ID=70000",
        "QUEUE=a",
        "QUEUE=b",
        "QUEUEID=1",
        "QUEUEID=2",
        "PAYLOAD=x",
        "PAYLOAD=",
        "NOREPLY",
        "EXCLUSIVE",
        "MAX=1",
        "PRIORITY=0",
        "RETRIES=0",
        "TIMEOUT=1",
        "REQUEST",
        "REPLY",
        "DELIVERED",
        "UNDELIVERED",
        "BROADCAST",
        "CONSUME",
        "CANCEL_QUEUE",
        "PING",
    ]
)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.lists(words, max_size=12)), max_size=14), st.booleans())
def test_whatever_nodes_say_nothing_breaks_and_the_books_balance(make_house, commands, groups, steps, closing) -> None:
    """Random commands of three nodes: all answers are whole groups, and nothing is left when everybody is gone."""
    house = make_house()
    nodes = [house.node() for _ in range(3)]
    for index, said in steps:
        # A good group before random words makes it likely that they mean something.
        nodes[index].feed(commands("CLEAR ID=0 QUEUE=a PAYLOAD=x " + " ".join(said)))
        for node in nodes:
            groups(node.drain())
    house.advance(2)
    if closing:
        for node in nodes:
            node.say("CLOSING")
            groups(node.drain())
    for node in nodes:
        node.leave()
    for queue in house.broker.queues.values():
        assert queue.unacked == 0
        assert queue.consumer_count() == 0
    house.advance(2)
    assert house.broker.deadlines.next_due() == -1


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 200), max_size=20))
def test_any_split_gives_the_same_answers(make_house, groups, places) -> None:
    data = CONSUME_GROUP + REQUEST_GROUP + b"\x01\x80\x00\x00\x00\x00\x0d\xe0\x00\x00\x00\x02re\x0b\x05" + REQUEST_GROUP
    edges = sorted({0, len(data), *[place % len(data) for place in places]})
    house = make_house()
    node = house.node()
    for start, end in pairwise(edges):
        node.feed(data[start:end])
    assert groups(node.drain()) == [
        "QUEUEID=1 QUEUE=work CONSUMING",
        "QUEUEID=1 PAYLOAD=msg-0 ID=0 REQUEST",
        "ID=0 DELIVERED",
        "ID=0 PAYLOAD=re REPLY",
        "PONG",
        "QUEUEID=1 PAYLOAD=msg-0 ID=1 REQUEST",
    ]


# -- limits -----------------------------------------------------------------------------------------------------------


def test_what_the_core_refuses_is_UNDELIVERED(make_house) -> None:
    house = make_house(queue_length_max=1, queues_max=2, name_size_max=8)
    node = house.node()
    assert node.request(1, "work", "x").request(2, "work", "x").hear() == ["ID=2 UNDELIVERED"]
    assert node.request(3, "work", "x", "NOREPLY").hear() == ["ID=3 UNDELIVERED"]
    assert node.request(4, "much-too-long", "x", "TIMEOUT=1").hear() == ["ID=4 UNDELIVERED"]
    node.request(5, "two", "x")
    assert node.request(6, "three", "x").hear() == ["ID=6 UNDELIVERED"]
    for limit, reason in zip(
        ("queue_length_max", "queue_length_max", "name_size_max", "queues_max"), house.reasons(), strict=True
    ):
        assert limit in reason
    house.advance(2)
    assert node.hear() == []


def garbage_of(count: int, talk: Callable[[int], object]) -> int:
    """How many objects only the collector can free, when something was said so often."""
    gc.collect()
    gc.disable()
    try:
        for number in range(1, count + 1):
            talk(number)
        return gc.collect()
    finally:
        gc.enable()


def test_a_request_leaves_nothing_to_the_collector_however_it_ends(make_house) -> None:
    """It counts objects, and not how large they are: requests that were refused took half a gigabyte."""
    house = make_house(queue_length_max=1)
    worker, node, other = house.consumer("work", "MAX=1 PRIORITY=20"), house.node(), house.node()
    node.request(1, "full", "x").hear()

    def served(number: int) -> None:
        node.request(number + 2, "work", "x", "TIMEOUT=60").hear()
        (given,) = worker.hear()
        id = int(given.rpartition("ID=")[2].partition(" ")[0])
        worker.delivered(id).reply(id, "y")
        assert len(node.hear()) == 2

    def refused(number: int) -> None:
        assert node.request(number + 2, "full", "x", "TIMEOUT=60").hear() == [f"ID={number + 2} UNDELIVERED"]

    def late(number: int) -> None:
        other.request(number + 2, "late", "x", "TIMEOUT=1").hear()
        house.advance(2)
        assert other.hear() == [f"ID={number + 2} UNDELIVERED"]

    for talk in (served, refused, late):
        talk(0)
        assert garbage_of(50, talk) < 50, talk


def test_a_CONSUME_that_the_core_refuses_is_logged_and_may_be_tried_again(make_house) -> None:
    house = make_house(queues_max=1)
    first = house.consumer("one")
    node = house.node()
    assert node.consume("two") == []
    assert "queues_max is 1" in house.reasons()[0]
    first.leave()
    house.broker.delete(b"one")
    assert node.consume("two") == ["QUEUEID=2 QUEUE=two CONSUMING"]


def test_a_requester_may_wait_for_a_limited_number_of_replies(make_house) -> None:
    house = make_house(unacked_max=2)
    node = house.node().request(0, "work", "x").request(1, "work", "x")
    assert node.request(2, "work", "x").hear() == ["ID=2 UNDELIVERED"]
    assert "unacked_max is 2" in house.reasons()[0]
    assert node.request(3, "work", "x", "NOREPLY").hear() == ["ID=3 DELIVERED"]


def test_queues_beyond_the_numbers_are_served_by_name(house) -> None:
    house.rq.queue_ids = QueueIds(1)
    assert house.node().consume("one") == ["QUEUEID=1 QUEUE=one CONSUMING"]
    node = house.node()
    assert node.consume("two") == ["QUEUEID=65535 QUEUE=two CONSUMING"]
    requester = house.node()
    requester.request(0, "two", "x")
    assert node.hear() == ["QUEUE=two PAYLOAD=x ID=0 REQUEST"]
    assert requester.say("CLEAR ID=1 QUEUEID=65535 PAYLOAD=x REQUEST").hear() == ["ID=1 UNDELIVERED"]


def test_a_number_is_kept_while_any_connection_knows_it(house) -> None:
    house.rq.queue_ids = QueueIds(1)
    first, second = house.consumer("one"), house.consumer("one")
    first.say("CLEAR QUEUE=one CANCEL_QUEUE")
    first.consume("one")
    first.leave()
    assert house.node().consume("two") == ["QUEUEID=65535 QUEUE=two CONSUMING"]
    second.leave()
    assert house.node().consume("three") == ["QUEUEID=1 QUEUE=three CONSUMING"]


# -- back-pressure, and the other reasons to give nothing -------------------------------------------------------------


def test_a_full_outbox_takes_no_more_until_it_is_written(make_house, commands) -> None:
    house = make_house(outbox_bytes_max=1000)
    node, requester = house.consumer("work", "MAX=0"), house.node()
    for id in range(10):
        requester.say(f"CLEAR ID={id} QUEUE=work PAYLOAD= REQUEST", b"x" * 400)
    assert len(node.session.ids.open) == 3
    assert len(node.hear()) == 10


def test_a_full_socket_and_IDLE_are_two_reasons(house) -> None:
    node, requester = house.consumer("work"), house.node()
    node.session.pause()
    house.advance(15)
    house.advance(15)
    requester.request(0, "work", "x")
    node.session.resume()
    assert node.hear() == ["PING"]
    node.session.pause()
    node.feed(b"\x06")
    assert node.hear() == []
    node.session.resume()
    assert node.hear() == ["QUEUEID=1 PAYLOAD=x ID=0 REQUEST"]


def test_a_queue_that_is_asked_for_while_nothing_may_be_given_waits_as_well(house) -> None:
    house.node().request(0, "work", "x")
    node = house.node()
    node.session.pause()
    assert node.consume("work") == ["QUEUEID=1 QUEUE=work CONSUMING"]
    node.session.resume()
    assert node.hear() == ["QUEUEID=1 PAYLOAD=x ID=0 REQUEST"]


def test_a_broadcast_passes_by_a_node_that_is_given_nothing(house) -> None:
    node, sender = house.consumer("work"), house.node()
    node.session.pause()
    sender.say("CLEAR QUEUE=work PAYLOAD=news BROADCAST")
    node.session.resume()
    assert node.hear() == []


def test_a_broadcast_that_fills_the_outbox_stops_deliveries(make_house) -> None:
    house = make_house(outbox_bytes_max=100)
    node, sender = house.consumer("work"), house.node()
    sender.say("CLEAR QUEUE=work PAYLOAD= BROADCAST", b"n" * 200)
    sender.request(0, "work", "x")
    assert node.session.ids.open == {}
    assert len(node.hear()) == 2


def test_when_all_IDs_are_open_the_node_gets_no_more_until_a_good_part_is_free(make_house) -> None:
    house = make_house()
    node = house.node()
    for queue in ("a", "b", "c"):
        node.consume(queue, "MAX=0")
    for number in range(IDS_MAX - 1):
        house.broker.put(b"a", Message(b"%d" % number, b"a", b"x", 0, "test"))
    assert len(node.session.ids.open) == IDS_MAX - 1
    for number in range(4):
        for name in (b"a", b"b", b"c"):
            house.broker.put(name, Message(b"%d" % number, name, b"x", 0, "test"))
    # The last ID, and one more of each other queue that could not be told yet.
    assert max(node.session.ids.open) == IDS_MAX + 1
    assert len(node.session.ids.open) == IDS_MAX + 2
    node.session.drain()
    node.session.resume()
    assert len(node.session.ids.open) == IDS_MAX + 2
    done = IDS_MAX + 2 - IDS_ENOUGH
    node.delivered(*range(done - 1))
    assert node.session.drain() == b""
    node.delivered(done - 1)
    assert len(node.session.ids.open) == IDS_ENOUGH + 9
    assert len(node.hear()) == 9
    assert len(set(node.session.ids.open)) == IDS_ENOUGH + 9


# -- queues come and go -----------------------------------------------------------------------------------------------


def test_a_queue_deleted_under_its_consumer_is_consumed_again_without_a_word(house) -> None:
    node, requester = house.consumer("work", "MAX=1"), house.node()
    requester.request(0, "work", "in-hand").request(1, "work", "waiting")
    node.hear()
    house.broker.delete(b"work")
    assert requester.hear() == ["ID=0 UNDELIVERED", "ID=1 UNDELIVERED"]
    assert node.hear() == []
    requester.request(2, "work", "after")
    assert node.hear() == ["QUEUEID=1 PAYLOAD=after ID=1 REQUEST"]
    node.delivered(0).reply(0, "too-late").reply(1, "done")
    assert requester.hear() == ["ID=2 DELIVERED", "ID=2 PAYLOAD=done REPLY"]
    assert house.reasons() == []


def test_consumers_of_a_deleted_exclusive_queue_come_back_in_their_order(house) -> None:
    owner, parked = house.consumer("x", "EXCLUSIVE"), house.node()
    parked.consume("x", "EXCLUSIVE")
    parked.consume("y")
    house.broker.delete(b"x")
    house.turn()
    house.node().request(0, "x", "a").request(1, "y", "b")
    assert owner.hear() == ["QUEUEID=1 PAYLOAD=a ID=0 REQUEST"]
    assert parked.hear() == []
    owner.leave()
    assert [group.split()[-1] for group in parked.hear()] == ["CONSUMING", "REQUEST", "REQUEST"]


def test_a_deleted_queue_that_cannot_come_back_is_not_consumed_any_longer(make_house) -> None:
    house = make_house(queues_max=1)
    node = house.consumer("work")
    house.broker.delete(b"work")
    house.broker.declare(b"in its place")
    house.turn()
    assert "queues_max is 1" in house.reasons()[0]
    assert node.session.consumers.by_queue == {}


def test_a_cancelled_consumer_of_a_deleted_queue_does_not_come_back(house) -> None:
    node = house.consumer("work")
    house.node().request(0, "work", "x")
    node.say("CLEAR QUEUE=work CANCEL_QUEUE")
    house.broker.delete(b"work")
    house.turn()
    assert node.session.consumers.retiring == {}
    assert b"work" not in house.broker.queues
    node.reply(0, "late")
    assert house.reasons() == []


def test_a_request_that_overflows_a_queue_of_the_newest_is_told_so(make_house) -> None:
    house = make_house(queue_length_max=1, queue_full="drop-oldest")
    node = house.node().request(1, "work", "old").request(2, "work", "new")
    assert node.hear() == ["ID=1 UNDELIVERED"]


def test_queue_names_are_bytes_up_to_255_of_them(house) -> None:
    name = bytes(range(1, 256))
    node = house.node()
    node.feed(b"\x01\xa0\xff" + name + b"\x14")
    assert node.drain() == b"\x01\x60\x00\x01\xa0\xff" + name + b"\x18"
    assert name in house.broker.queues


def test_bodies_are_bytes(house) -> None:
    body = bytes(range(256)) * 3
    node, requester = house.consumer("work"), house.node()
    requester.say("CLEAR ID=1 QUEUE=work PAYLOAD= REQUEST", body)
    assert node.drain() == b"\x01\x60\x00\x01\xe0\x00\x00\x03\x00" + body + b"\x80\x00\x00\x00\x00\x0a"
    node.say("CLEAR ID=0 DELIVERED PAYLOAD= REPLY", body)
    assert requester.drain()[7:] == b"\x01\x80\x00\x00\x00\x01\xe0\x00\x00\x03\x00" + body + b"\x0b"


def test_a_stopping_node_that_is_parked_or_paused_leaves_no_trace(house) -> None:
    house.consumer("x", "EXCLUSIVE")
    node = house.node()
    node.consume("x")
    node.session.pause()
    node.say("CLOSING")
    assert node.closed()
    assert house.broker.queues[b"x"].consumer_count() == 1


def test_a_requester_that_is_CLOSING_waits_for_the_time_out_at_most(house) -> None:
    node = house.node().request(1, "work", "x", "TIMEOUT=2").say("CLOSING")
    house.advance(2)
    assert node.hear() == ["ID=1 UNDELIVERED"]
    assert node.closed()


def test_NOREPLY_with_a_time_out_does_not_keep_a_CLOSING_node(house) -> None:
    node = house.node().request(1, "work", "x", "NOREPLY TIMEOUT=2").say("CLOSING")
    assert node.closed()


# -- recognition ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("head", "answer"),
    [
        (b"", MAYBE),
        (b"\x01", MAYBE),
        (CONSUME_GROUP, YES),
        (REQUEST_GROUP, YES),
        (b"\x01\xa0\x01x\x14", YES),  # the shortest CONSUME there is
        (b"\x01\x20\xa0\x01x\x14", YES),
        (b"\x05", YES),  # no MQMQ frame is that long
        (b"\x00\x01\x05", MAYBE),
        (b"\x00\x00\x00\x0b\x00\x00\x00\x03Get", NO),
        (b"\x01\xa0\x01\x78\x00\x00\x00\x03Put", NO),  # MQMQ with a body of 27 MB
        (b"\x16\x03\x01\x02\x00", NO),  # TLS
        (b"\n", NO),
        (b"M:q:x\n", NO),
        (b"id publish e x\n", NO),
        (b"GET / HTTP/1.1\r\n", NO),
        (b"\x80\x00\x00\x00\x01", NO),
    ],
)
def test_recognise(house, head, answer) -> None:
    assert house.rq.recognise(head) == answer


@pytest.mark.parametrize("head", [CONSUME_GROUP, REQUEST_GROUP])
def test_recognise_never_takes_back_what_it_said(house, head) -> None:
    answers = [house.rq.recognise(head[:end]) for end in range(len(head) + 1)]
    assert NO not in answers
    assert answers == sorted(answers)


def test_the_consumer_side_holds_for_other_subscriptions_of_the_queue(house) -> None:
    """PRIORITY is one scale for all protocols: who says nothing of it is NORMAL."""
    inbox = Inbox(b"other")
    house.broker.subscribe(b"work", inbox, None, house.now)
    low, high = house.consumer("work", "MAX=9 PRIORITY=10"), house.consumer("work", "MAX=1 PRIORITY=30")
    house.node().request(0, "work", "a").request(1, "work", "b")
    assert (len(high.hear()), len(inbox.received), low.hear()) == (1, 1, [])
