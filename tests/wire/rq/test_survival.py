"""Section 6 of what is known about the originals, point by point: what stock clients need in order to stay alive.

Section 5, where the protocol's text and its programs differ, follows.
"""

import pytest

from penstock.wire.rq.delivery_ids import IDS_MAX
from penstock.wire.session import ProtocolOptions


def test_6_01_a_payload_over_the_cap_ends_the_connection_when_its_length_is_seen(make_house, commands) -> None:
    house = make_house(body_size_max=100)
    node = house.node()
    node.feed(commands("CLEAR ID=7 QUEUE=work") + b"\xe0\xff\xff\xff\xff")
    assert node.hear() == ["ID=7 UNDELIVERED"]
    assert node.closed()
    assert house.reasons() == ["PAYLOAD of 4294967295 bytes: body_size_max is 100"]
    node.feed(b"\x05")
    assert node.hear() == []


def test_6_01_a_consumer_whose_stream_broke_is_given_nothing_more(make_house) -> None:
    house = make_house(body_size_max=100)
    node = house.consumer("work")
    node.feed(b"\x01\xe0\xff\xff\xff\xff")
    house.node().request(0, "work", "x")
    assert node.hear() == []
    assert house.broker.queues[b"work"].ready == 1


def test_6_01_where_it_is_not_known_to_be_a_request_the_connection_just_ends(make_house, commands) -> None:
    house = make_house(body_size_max=100)
    node = house.node()
    node.feed(commands("CLEAR ID=7") + b"\xe0\x00\x00\x00\x65")
    assert node.hear() == []
    assert node.closed()


def test_6_01_unknown_codes_are_skipped_inside_a_group(house) -> None:
    node = house.node()
    node.feed(b"\x01\xff\x00\x00\x00\x02\x14\x14\xa0\x04work\x42\x14\x02\x3f\x14")
    assert node.hear() == ["QUEUEID=1 QUEUE=work CONSUMING"]


def test_6_01_fields_persist_until_CLEAR(house) -> None:
    consumer = house.consumer("work")
    node = house.node()
    node.say("CLEAR ID=1 QUEUE=work PAYLOAD=a REQUEST PAYLOAD=b REQUEST ID=2 REQUEST")
    assert consumer.hear() == [
        "QUEUEID=1 PAYLOAD=a ID=0 REQUEST",
        "QUEUEID=1 PAYLOAD=b ID=1 REQUEST",
        "QUEUEID=1 PAYLOAD=b ID=2 REQUEST",
    ]
    consumer.delivered(0, 1, 2)
    assert node.hear() == ["ID=1 DELIVERED", "ID=1 DELIVERED", "ID=2 DELIVERED"]


def test_6_02_no_greeting_and_one_CONSUMING_per_connection_and_queue(house) -> None:
    node = house.node()
    assert node.drain() == b""
    assert node.consume("work") == ["QUEUEID=1 QUEUE=work CONSUMING"]
    assert node.consume("work") == []
    assert node.consume("other") == ["QUEUEID=2 QUEUE=other CONSUMING"]
    assert house.node().consume("work") == ["QUEUEID=1 QUEUE=work CONSUMING"]


def test_6_02_the_bytes_of_CONSUMING(house, commands) -> None:
    node = house.node()
    node.say("CLEAR QUEUE=work MAX=5 PRIORITY=20 CONSUME")
    assert node.drain().hex() == "01600001a004776f726b18"


def test_6_02_a_repeated_CONSUME_changes_MAX_and_PRIORITY(house) -> None:
    first = house.consumer("work", "MAX=1 PRIORITY=20")
    requester = house.node()
    for id in range(3):
        requester.request(id, "work", f"m{id}")
    assert first.hear() == ["QUEUEID=1 PAYLOAD=m0 ID=0 REQUEST"]
    assert first.consume("work", "MAX=4 PRIORITY=20") == [
        "QUEUEID=1 PAYLOAD=m1 ID=1 REQUEST",
        "QUEUEID=1 PAYLOAD=m2 ID=2 REQUEST",
    ]
    other = house.consumer("work", "MAX=5 PRIORITY=20")
    first.consume("work", "MAX=4 PRIORITY=10")
    requester.request(3, "work", "m3").request(4, "work", "m4")
    assert (first.hear(), len(other.hear())) == ([], 2)


def test_6_03_CONSUMING_comes_before_the_first_REQUEST_of_a_backlog(house) -> None:
    house.node().request(0, "work", "early")
    node = house.node()
    assert node.consume("work") == ["QUEUEID=1 QUEUE=work CONSUMING", "QUEUEID=1 PAYLOAD=early ID=0 REQUEST"]


def test_6_03_CONSUMEs_are_answered_in_order(house) -> None:
    node = house.node()
    node.say("CLEAR QUEUE=a CONSUME CLEAR QUEUE=b CONSUME CLEAR QUEUE=c CONSUME")
    assert [group.split()[1] for group in node.hear()] == ["QUEUE=a", "QUEUE=b", "QUEUE=c"]


def test_6_03_requests_of_later_queues_wait_while_an_earlier_queue_is_parked(house) -> None:
    owner = house.consumer("a", "EXCLUSIVE MAX=5 PRIORITY=20")
    node = house.node()
    assert node.consume("first") == ["QUEUEID=2 QUEUE=first CONSUMING"]
    assert node.consume("a") == []
    assert node.consume("b") == ["QUEUEID=3 QUEUE=b CONSUMING"]
    house.node().request(0, "b", "held").request(1, "first", "served")
    assert node.hear() == ["QUEUE=first PAYLOAD=served ID=0 REQUEST"]
    owner.leave()
    assert node.hear() == ["QUEUEID=1 QUEUE=a CONSUMING", "QUEUE=b PAYLOAD=held ID=1 REQUEST"]


def test_6_03_and_no_longer_when_the_parked_one_is_cancelled(house) -> None:
    house.consumer("a", "EXCLUSIVE MAX=5 PRIORITY=20")
    node = house.node()
    node.consume("a")
    node.consume("b")
    house.node().request(0, "b", "held")
    assert node.hear() == []
    node.say("CLEAR QUEUE=a CANCEL_QUEUE")
    assert node.hear() == ["QUEUE=b PAYLOAD=held ID=0 REQUEST"]


def test_6_04_by_QUEUEID_for_one_queue_and_by_QUEUE_for_more(house) -> None:
    requester = house.node()
    node = house.consumer("a")
    requester.request(0, "a", "1")
    assert node.hear() == ["QUEUEID=1 PAYLOAD=1 ID=0 REQUEST"]
    node.consume("b")
    requester.request(1, "a", "2").request(2, "b", "3")
    assert node.hear() == ["QUEUE=a PAYLOAD=2 ID=1 REQUEST", "QUEUE=b PAYLOAD=3 ID=2 REQUEST"]


def test_6_04_once_by_QUEUE_always_by_QUEUE(house) -> None:
    node = house.consumer("a")
    node.consume("b")
    node.say("CLEAR QUEUE=b CANCEL_QUEUE")
    house.node().request(0, "a", "1")
    assert node.hear() == ["QUEUE=a PAYLOAD=1 ID=0 REQUEST"]


def test_6_05_IDs_towards_a_consumer_are_its_own_small_numbers(house) -> None:
    one, other = house.consumer("a"), house.consumer("b")
    requester = house.node()
    for id in (4_000_000_000, 7, 7):
        requester.request(id, "a", "x").request(id, "b", "y")
    assert [group.split()[-2] for group in one.hear()] == ["ID=0", "ID=1", "ID=2"]
    assert [group.split()[-2] for group in other.hear()] == ["ID=0", "ID=1", "ID=2"]


def test_6_05_IDs_towards_a_consumer_go_round_below_32768_and_skip_the_open_ones(house) -> None:
    node = house.consumer("work", "MAX=2 PRIORITY=20")
    requester = house.node()
    requester.request(0, "work", "stays-open")
    assert node.hear() == ["QUEUEID=1 PAYLOAD=stays-open ID=0 REQUEST"]
    node.session.ids.next_id = IDS_MAX - 1
    requester.request(1, "work", "x")
    node.reply(IDS_MAX - 1, "done")
    requester.request(2, "work", "x")
    assert [group.split()[-2] for group in node.hear()] == [f"ID={IDS_MAX - 1}", "ID=1"]


def test_6_05_an_ID_that_comes_back_with_its_sign_is_found_by_its_low_16_bits(house) -> None:
    node = house.consumer("work")
    requester = house.node().request(5, "work", "x")
    node.session.ids.next_id = 0
    node.hear()
    node.session.ids.open[40000] = node.session.ids.open.pop(0)
    node.delivered(0xFFFF0000 | 40000)
    assert requester.hear() == ["ID=5 DELIVERED"]
    node.reply(0xFFFF0000 | 40000, "done")
    assert requester.hear() == ["ID=5 PAYLOAD=done REPLY"]


def test_6_05_IDs_towards_a_requester_come_back_with_all_32_bits(house) -> None:
    node = house.consumer("work")
    requester = house.node()
    for number, id in enumerate((0, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFF8000)):
        requester.request(id, "work", "x")
        node.delivered(number).reply(number, "y")
        assert requester.hear() == [f"ID={id} DELIVERED", f"ID={id} PAYLOAD=y REPLY"]


def test_6_05_the_two_ID_spaces_do_not_mix_on_one_connection(house) -> None:
    both = house.consumer("work")
    both.request(0, "elsewhere", "mine")
    house.node().request(0, "work", "theirs")
    assert both.hear() == ["QUEUEID=1 PAYLOAD=theirs ID=0 REQUEST"]
    both.delivered(0).reply(0, "r")
    assert both.hear() == []
    assert len(both.session.requests) == 1


def test_6_05_a_node_may_serve_its_own_request(house) -> None:
    node = house.consumer("work")
    node.request(9, "work", "x")
    assert node.hear() == ["QUEUEID=1 PAYLOAD=x ID=0 REQUEST"]
    node.delivered(0).reply(0, "y")
    assert node.hear() == ["ID=9 DELIVERED", "ID=9 PAYLOAD=y REPLY"]


def test_6_06_one_DELIVERED_always_before_the_REPLY_and_one_REPLY(house) -> None:
    consumer, requester = house.consumer("work"), house.node()
    requester.request(3, "work", "x")
    consumer.delivered(0, 0)
    assert requester.hear() == ["ID=3 DELIVERED"]
    consumer.reply(0, "y").reply(0, "y").delivered(0)
    assert requester.hear() == ["ID=3 PAYLOAD=y REPLY"]
    assert house.reasons() == ["REPLY for an ID that is not open", "DELIVERED for an ID that is not open"]


def test_6_06_a_missing_DELIVERED_is_made_up(house) -> None:
    consumer, requester = house.consumer("work"), house.node()
    requester.request(3, "work", "x")
    consumer.reply(0, "y")
    assert requester.hear() == ["ID=3 DELIVERED", "ID=3 PAYLOAD=y REPLY"]


def test_6_06_no_second_DELIVERED_for_a_redelivered_request(house) -> None:
    lost, other, requester = house.consumer("work"), house.consumer("work", "MAX=5 PRIORITY=10"), house.node()
    requester.request(3, "work", "x")
    lost.delivered(0)
    lost.leave()
    assert requester.hear() == ["ID=3 DELIVERED"]
    assert other.hear() == ["QUEUEID=1 PAYLOAD=x ID=0 REQUEST"]
    other.delivered(0).reply(0, "y")
    assert requester.hear() == ["ID=3 PAYLOAD=y REPLY"]


def test_6_06_replies_in_any_order(house) -> None:
    consumer, requester = house.consumer("work"), house.node()
    requester.request(1, "work", "x").request(2, "work", "x")
    consumer.delivered(0, 1).reply(1, "second").reply(0, "first")
    assert requester.hear()[2:] == ["ID=2 PAYLOAD=second REPLY", "ID=1 PAYLOAD=first REPLY"]


def test_6_07_NOREPLY_is_DELIVERED_on_acceptance_and_finished_by_the_consumers_DELIVERED(house) -> None:
    requester = house.node().request(8, "work", "x", "NOREPLY")
    assert requester.hear() == ["ID=8 DELIVERED"]
    consumer = house.node()
    assert consumer.consume("work") == ["QUEUEID=1 QUEUE=work CONSUMING", "QUEUEID=1 PAYLOAD=x NOREPLY ID=0 REQUEST"]
    assert house.broker.queues[b"work"].unacked == 1
    consumer.delivered(0)
    assert house.broker.queues[b"work"].unacked == 0
    assert (requester.hear(), consumer.hear()) == ([], [])


def test_6_07_a_REPLY_to_NOREPLY_finishes_it_too_and_is_not_forwarded(house) -> None:
    consumer, requester = house.consumer("work"), house.node()
    requester.request(8, "work", "x", "NOREPLY").hear()
    consumer.reply(0, "unwanted")
    assert house.broker.queues[b"work"].unacked == 0
    assert requester.hear() == []


def test_6_07_MAX_counts_NOREPLY_until_DELIVERED(house) -> None:
    consumer, requester = house.consumer("work", "MAX=1 PRIORITY=20"), house.node()
    requester.request(0, "work", "a", "NOREPLY").request(1, "work", "b", "NOREPLY")
    assert consumer.hear() == ["QUEUEID=1 PAYLOAD=a NOREPLY ID=0 REQUEST"]
    consumer.delivered(0)
    assert consumer.hear() == ["QUEUEID=1 PAYLOAD=b NOREPLY ID=1 REQUEST"]


@pytest.mark.parametrize("words", ["CLEAR ID=0 REPLY", "CLEAR ID=0 PAYLOAD= REPLY"])
def test_6_08_an_empty_reply_is_forwarded_as_an_empty_PAYLOAD(house, words) -> None:
    consumer, requester = house.consumer("work"), house.node()
    requester.request(3, "work", "x")
    consumer.say("CLEAR ID=0 DELIVERED").say(words)
    assert requester.drain().hex() == "0180000000030d" + "018000000003e0000000000b"


@pytest.mark.parametrize("words", ["ID=3 QUEUE=work REQUEST", "ID=3 QUEUE=work PAYLOAD= NOREPLY REQUEST"])
def test_6_08_an_empty_request_is_UNDELIVERED_and_not_passed_on(house, words) -> None:
    consumer, requester = house.consumer("work"), house.node()
    assert requester.say("CLEAR " + words).hear() == ["ID=3 UNDELIVERED"]
    assert consumer.hear() == []
    assert house.reasons() == ["REQUEST needs a PAYLOAD that is not empty"]


def test_6_09_BROADCAST_goes_to_all_current_consumers_and_nobody_answers(house) -> None:
    full, other, several, sender = (
        house.consumer("work", "MAX=1"),
        house.consumer("work"),
        house.consumer("x"),
        house.node(),
    )
    several.consume("work")
    sender.request(0, "work", "keeps-it-busy")
    for node in (full, other, several):
        node.hear()
    sender.say("CLEAR ID=5 QUEUE=work PAYLOAD=news BROADCAST")
    assert full.hear() == ["QUEUEID=1 PAYLOAD=news BROADCAST"]
    assert other.hear() == ["QUEUEID=1 PAYLOAD=news BROADCAST"]
    assert several.hear() == ["QUEUE=work PAYLOAD=news BROADCAST"]
    assert sender.hear() == []


def test_6_09_BROADCAST_is_not_kept_for_later_consumers(house) -> None:
    house.node().say("CLEAR QUEUE=work PAYLOAD=news BROADCAST")
    assert b"work" not in house.broker.queues
    assert house.consumer("work").hear() == []


def test_6_09_BROADCAST_by_QUEUEID_reaches_the_sender_too(house) -> None:
    node = house.consumer("work")
    node.say("CLEAR QUEUEID=1 PAYLOAD=news BROADCAST")
    assert node.hear() == ["QUEUEID=1 PAYLOAD=news BROADCAST"]


def test_6_09_by_a_switch_BROADCAST_comes_as_a_NOREPLY_request(make_house) -> None:
    house = make_house(options=ProtocolOptions(rq_broadcast_as_request=True))
    consumer, sender = house.consumer("work"), house.node()
    sender.say("CLEAR QUEUE=work PAYLOAD=news BROADCAST").request(1, "work", "x")
    assert consumer.hear() == ["QUEUEID=1 PAYLOAD=news NOREPLY ID=0 REQUEST", "QUEUEID=1 PAYLOAD=x ID=1 REQUEST"]
    assert consumer.session.ids.open[0] is None
    consumer.delivered(0)
    assert consumer.session.ids.open.keys() == {1}
    assert sender.hear() == []
    assert house.reasons() == []


@pytest.mark.parametrize("words", ["QUEUE=work", "QUEUE=work PAYLOAD=", "PAYLOAD=x", "QUEUEID=9 PAYLOAD=x"])
def test_6_09_a_BROADCAST_with_missing_fields_is_logged_and_dropped(house, words) -> None:
    consumer, sender = house.consumer("work"), house.node()
    assert sender.say(f"CLEAR ID=1 {words} BROADCAST").hear() == []
    assert consumer.hear() == []
    assert len(house.reasons()) == 1


def test_6_10_MAX_counts_unfinished_requests_of_one_queue_on_one_connection(house) -> None:
    node = house.consumer("a", "MAX=2")
    node.consume("b", "MAX=1")
    requester = house.node()
    for id in range(4):
        requester.request(id, "a", f"a{id}").request(10 + id, "b", f"b{id}")
    assert [group.split()[1] for group in node.hear()] == ["PAYLOAD=a0", "PAYLOAD=b0", "PAYLOAD=a1"]
    node.delivered(0)
    assert node.hear() == []
    node.reply(0, "done")
    assert [group.split()[1] for group in node.hear()] == ["PAYLOAD=a2"]


@pytest.mark.parametrize("more", ["MAX=0 PRIORITY=20", "PRIORITY=20", ""])
def test_6_10_MAX_0_or_absent_is_no_limit(house, more) -> None:
    node, requester = house.consumer("work", more), house.node()
    for id in range(300):
        requester.request(id, "work", "x")
    assert len(node.hear()) == 300


def test_6_10_the_effective_MAX_does_not_drift(house) -> None:
    node, requester = house.consumer("work", "MAX=3"), house.node()
    for id in range(10):
        requester.request(id, "work", "x")
        node.reply(id, "y")
    node.hear()
    for id in range(5):
        requester.request(id, "work", "x")
    assert len(node.hear()) == 3


def test_6_10_the_highest_band_with_room_first_and_round_robin_inside(house) -> None:
    low = house.consumer("work", "MAX=9 PRIORITY=10")
    high = house.consumer("work", "MAX=2 PRIORITY=30")
    normal = [house.consumer("work", f"MAX=2 PRIORITY={priority}") for priority in (20, 25)]
    requester = house.node()
    for id in range(8):
        requester.request(id, "work", f"m{id}")

    def bodies(node) -> list[str]:
        return [group.split()[1].removeprefix("PAYLOAD=") for group in node.hear()]

    assert bodies(high) == ["m0", "m1"]
    assert [bodies(node) for node in normal] == [["m2", "m4"], ["m3", "m5"]]
    assert bodies(low) == ["m6", "m7"]


def test_6_10_an_absent_PRIORITY_is_NORMAL(house) -> None:
    low, absent = house.consumer("work", "MAX=1 PRIORITY=10"), house.consumer("work", "MAX=1")
    house.node().request(0, "work", "x")
    assert (len(absent.hear()), low.hear()) == (1, [])


def test_6_10_PRIORITY_0_gets_broadcasts_only(house) -> None:
    listener, sender = house.consumer("work", "MAX=5 PRIORITY=0"), house.node()
    sender.request(0, "work", "x").say("CLEAR QUEUE=work PAYLOAD=news BROADCAST")
    assert listener.hear() == ["QUEUEID=1 PAYLOAD=news BROADCAST"]
    listener.session.pause()
    listener.session.resume()
    assert listener.hear() == []
    listener.consume("work", "MAX=5 PRIORITY=20")
    assert listener.session.ids.open.keys() == {0}


def test_6_11_EXCLUSIVE_parks_later_consumers_without_an_answer_and_promotes_in_order(house) -> None:
    owner = house.consumer("x", "EXCLUSIVE MAX=5 PRIORITY=20")
    second, third = house.node(), house.node()
    assert second.consume("x", "EXCLUSIVE MAX=5 PRIORITY=20") == []
    assert third.consume("x") == []
    house.node().request(0, "x", "a").request(1, "x", "b")
    assert len(owner.hear()) == 2
    owner.leave()
    assert third.hear() == []
    assert second.hear() == [
        "QUEUEID=1 QUEUE=x CONSUMING",
        "QUEUEID=1 PAYLOAD=a ID=0 REQUEST",
        "QUEUEID=1 PAYLOAD=b ID=1 REQUEST",
    ]
    second.reply(0, "y").reply(1, "y").say("CLEAR QUEUE=x CANCEL_QUEUE")
    assert third.hear() == ["QUEUEID=1 QUEUE=x CONSUMING"]


def test_6_11_EXCLUSIVE_is_parked_while_ordinary_consumers_are_there(house) -> None:
    ordinary, exclusive, late = house.consumer("x"), house.node(), house.node()
    assert exclusive.consume("x", "EXCLUSIVE MAX=5 PRIORITY=20") == []
    assert late.consume("x") == []
    ordinary.leave()
    assert exclusive.hear() == ["QUEUEID=1 QUEUE=x CONSUMING"]
    assert late.hear() == []
    exclusive.leave()
    assert late.hear() == ["QUEUEID=1 QUEUE=x CONSUMING"]


def test_6_11_a_parked_consumer_that_leaves_is_forgotten(house) -> None:
    owner, parked, last = house.consumer("x", "EXCLUSIVE"), house.node(), house.node()
    parked.consume("x", "EXCLUSIVE")
    last.consume("x", "EXCLUSIVE")
    parked.leave()
    owner.leave()
    assert last.hear() == ["QUEUEID=1 QUEUE=x CONSUMING"]


def test_6_12_a_bare_PING_after_15_seconds_without_input(house) -> None:
    node = house.node()
    house.advance(14.9)
    assert node.drain() == b""
    house.advance(0.1)
    assert node.drain() == b"\x05"
    node.say("PONG")
    assert node.drain() == b""
    house.advance(14.9)
    assert node.drain() == b""
    house.advance(0.2)
    assert node.drain() == b"\x05"


def test_6_12_any_byte_starts_the_15_seconds_again(house) -> None:
    node = house.node()
    for _ in range(10):
        house.advance(10)
        node.feed(b"\x00")
    assert node.drain() == b""
    house.advance(15)
    assert node.drain() == b"\x05"


def test_6_12_PING_is_answered_and_PONG_is_never_sent_unasked(house) -> None:
    node = house.node()
    assert node.say("PING").drain() == b"\x06"
    assert node.say("PONG").drain() == b""
    assert node.say("PING PING").drain() == b"\x06\x06"


def test_6_12_a_node_that_does_not_answer_is_IDLE_and_neither_pinged_again_nor_closed(house) -> None:
    silent, busy, requester = house.consumer("work", "MAX=9 PRIORITY=30"), house.consumer("work"), house.node()
    house.advance(15)
    assert silent.drain() == b"\x05"
    for node in (busy, requester):
        node.say("PONG").hear()
    requester.request(0, "work", "while-it-is-only-asked")
    assert len(silent.hear()) == 1
    house.advance(15)
    for node in (busy, requester):
        node.say("PONG").hear()
    requester.request(1, "work", "while-it-is-idle")
    assert (silent.hear(), len(busy.hear())) == ([], 1)
    for _ in range(20):
        house.advance(15)
    assert silent.drain() == b""
    assert not silent.closed()


def test_6_12_any_byte_of_an_IDLE_node_brings_it_back(house) -> None:
    node, requester = house.consumer("work"), house.node()
    requester.request(0, "work", "in-its-hands")
    node.hear()
    house.advance(15)
    house.advance(15)
    requester.request(1, "work", "waits")
    assert node.hear() == ["PING"]
    node.feed(b"\x01")
    assert node.hear() == ["QUEUEID=1 PAYLOAD=waits ID=1 REQUEST"]
    house.advance(15)
    assert node.hear() == ["PING"]
    requester.hear()
    node.say("PONG").reply(0, "still-answered")
    assert requester.hear() == ["ID=0 DELIVERED", "ID=0 PAYLOAD=still-answered REPLY"]


def test_6_13_CLOSING_of_an_idle_node_closes_at_once(house) -> None:
    node = house.consumer("work")
    node.say("CLOSING")
    assert node.closed()
    assert node.drain() == b""
    house.node().request(0, "work", "x")
    assert node.drain() == b""


def test_6_13_P6_a_requester_that_is_CLOSING_still_gets_what_it_is_owed_then_the_door_closes(house) -> None:
    consumer, requester = house.consumer("work"), house.node()
    requester.request(0, "work", "x").say("CLOSING")
    assert not requester.closed()
    consumer.delivered(0)
    assert requester.hear() == ["ID=0 DELIVERED"]
    assert not requester.closed()
    consumer.reply(0, "y")
    assert requester.hear() == ["ID=0 PAYLOAD=y REPLY"]
    assert requester.closed()


def test_6_13_P7_a_consumer_that_is_CLOSING_may_answer_and_gets_nothing_new(house) -> None:
    consumer, requester = house.consumer("work"), house.node()
    requester.request(0, "work", "a").request(1, "work", "b")
    consumer.hear()
    consumer.say("CLOSING")
    requester.request(2, "work", "c")
    assert consumer.hear() == []
    consumer.delivered(0).reply(0, "done").say("PING")
    assert consumer.hear() == ["PONG"]
    assert not consumer.closed()
    consumer.reply(1, "done")
    assert consumer.closed()
    assert [group.split()[-1] for group in requester.hear()] == ["DELIVERED", "REPLY", "DELIVERED", "REPLY"]
    assert house.node().consume("work")[1:] == ["QUEUEID=1 PAYLOAD=c ID=0 REQUEST"]


def test_6_13_an_exclusive_consumer_that_is_CLOSING_hands_over_when_its_work_is_done(house) -> None:
    owner, heir = house.consumer("x", "EXCLUSIVE"), house.node()
    heir.consume("x", "EXCLUSIVE")
    house.node().request(0, "x", "a")
    owner.say("CLOSING")
    assert heir.hear() == []
    owner.reply(0, "done")
    assert heir.hear() == ["QUEUEID=1 QUEUE=x CONSUMING"]


def test_6_13_a_second_CLOSING_and_what_comes_after_it_do_no_harm(house) -> None:
    consumer, node = house.consumer("work"), house.node()
    node.request(0, "work", "x").say("CLOSING CLOSING")
    assert node.consume("work") == []
    assert node.request(1, "work", "late").hear() == ["ID=1 UNDELIVERED"]
    assert house.reasons() == ["CONSUME after CLOSING", "REQUEST after CLOSING"]
    consumer.reply(0, "y")
    assert node.closed()


def test_6_13_when_the_server_stops_everybody_gets_CLOSING_once_and_may_finish(house) -> None:
    consumer, requester, bystander = house.consumer("work", "MAX=1"), house.node(), house.node()
    requester.request(0, "work", "begun").request(1, "work", "not-begun")
    consumer.delivered(0).hear()
    requester.hear()
    for node in (consumer, requester, bystander):
        node.session.goodbye(house.now)
        node.session.goodbye(house.now)
    assert bystander.drain() == b"\x01\x16"
    assert bystander.closed()
    assert consumer.drain() == b"\x01\x16"
    assert requester.hear() == ["CLOSING", "ID=1 UNDELIVERED"]
    assert not consumer.closed()
    assert not requester.closed()
    assert consumer.session.owes()
    assert requester.request(2, "work", "late").hear() == ["ID=2 UNDELIVERED"]
    consumer.reply(0, "done")
    assert consumer.hear() == []
    assert requester.hear() == ["ID=0 PAYLOAD=done REPLY"]
    assert (consumer.closed(), requester.closed()) == (True, True)
    assert house.broker.queues[b"work"].ready == 0


def test_6_14_a_lost_consumers_requests_go_to_another_in_their_old_order(house) -> None:
    lost, requester = house.consumer("work"), house.node()
    for id in range(3):
        requester.request(id, "work", f"m{id}")
    lost.delivered(1)
    lost.leave()
    other = house.node()
    assert [group.split()[1] for group in other.consume("work")[1:]] == ["PAYLOAD=m0", "PAYLOAD=m1", "PAYLOAD=m2"]


@pytest.mark.parametrize("retries", [0, 1, 3])
def test_6_14_RETRIES_bounds_how_often_and_then_it_is_UNDELIVERED(house, retries) -> None:
    requester = house.node().request(7, "work", "x", f"RETRIES={retries}")
    for _ in range(retries + 1):
        assert requester.hear() == []
        consumer = house.node()
        assert len(consumer.consume("work")) == 2
        consumer.leave()
    assert requester.hear() == ["ID=7 UNDELIVERED"]
    assert house.broker.queues[b"work"].ready == 0


def test_6_14_a_lost_requesters_request_is_done_and_its_reply_dropped(house) -> None:
    consumer, requester = house.consumer("work", "MAX=1"), house.node()
    requester.request(0, "work", "a").request(1, "work", "b")
    requester.leave()
    consumer.delivered(0).reply(0, "for-nobody")
    assert consumer.hear() == ["QUEUEID=1 PAYLOAD=a ID=0 REQUEST", "QUEUEID=1 PAYLOAD=b ID=1 REQUEST"]
    consumer.delivered(1).reply(1, "for-nobody")
    assert requester.drain() == b""
    assert (house.broker.queues[b"work"].unacked, house.reasons()) == (0, [])


def test_6_14_a_lost_requesters_replies_do_not_reach_its_next_connection(house) -> None:
    consumer, requester = house.consumer("work"), house.node()
    requester.request(0, "work", "a")
    requester.leave()
    again = house.node().request(0, "other", "b")
    consumer.delivered(0).reply(0, "late")
    assert again.hear() == []


def test_6_15_reconnect_storms_leave_nothing_behind(house) -> None:
    for _ in range(500):
        node = house.node()
        node.consume("work")
        node.request(0, "elsewhere", "x", "TIMEOUT=1 NOREPLY")
        node.leave()
    assert house.hub.sessions == {}
    assert house.broker.queues[b"work"].consumer_count() == 0
    house.advance(1)
    assert house.broker.deadlines.next_due() == -1
    assert house.broker.context.bytes == 0
    assert house.consumer("work").hear() == []


def test_6_15_DELIVERED_and_REPLY_may_share_one_write(house) -> None:
    consumer, requester = house.consumer("work"), house.node()
    requester.request(1, "work", "x")
    house.hub.dirty.clear()
    requester.drain()
    consumer.say("CLEAR ID=0 DELIVERED CLEAR ID=0 PAYLOAD=y REPLY")
    assert house.hub.dirty == [requester.session]
    assert requester.hear() == ["ID=1 DELIVERED", "ID=1 PAYLOAD=y REPLY"]


# Section 5: the text against the programs.


def test_section_5_CONSUMING_has_QUEUEID_before_QUEUE(house) -> None:
    assert house.node().consume("q") == ["QUEUEID=1 QUEUE=q CONSUMING"]


def test_section_5_QUEUEID_may_stand_for_QUEUE_everywhere_and_QUEUE_wins(house) -> None:
    consumer, other = house.consumer("a"), house.consumer("b")
    requester = house.node()
    requester.say("CLEAR ID=1 QUEUEID=1 PAYLOAD=x REQUEST")
    assert consumer.hear() == ["QUEUEID=1 PAYLOAD=x ID=0 REQUEST"]
    requester.say("CLEAR ID=2 QUEUEID=1 QUEUE=b PAYLOAD=y REQUEST")
    assert other.hear() == ["QUEUEID=2 PAYLOAD=y ID=0 REQUEST"]
    assert house.node().say("CLEAR QUEUEID=2 CONSUME").hear() == ["QUEUEID=2 QUEUE=b CONSUMING"]
    consumer.say("CLEAR QUEUEID=1 CANCEL_QUEUE")
    requester.say("CLEAR ID=3 QUEUEID=1 PAYLOAD=z REQUEST")
    assert consumer.hear() == []


@pytest.mark.parametrize("number", [0, 2, 65535])
def test_section_5_an_unknown_QUEUEID_is_UNDELIVERED(house, number) -> None:
    house.consumer("a")
    node = house.node()
    assert node.say(f"CLEAR ID=1 QUEUEID={number} PAYLOAD=x REQUEST").hear() == ["ID=1 UNDELIVERED"]
    assert node.say(f"CLEAR QUEUEID={number} CONSUME").hear() == []
    assert node.say(f"CLEAR QUEUEID={number} CANCEL_QUEUE").hear() == []
    assert not node.closed()


def test_section_5_TIMEOUT_in_seconds_makes_a_waiting_request_UNDELIVERED(house) -> None:
    requester = house.node().request(4, "work", "x", "TIMEOUT=3")
    house.advance(2.9)
    assert requester.hear() == []
    house.advance(0.1)
    assert requester.hear() == ["ID=4 UNDELIVERED"]
    assert house.broker.queues[b"work"].ready == 0
    assert house.consumer("work").hear() == []


def test_section_5_TIMEOUT_counts_until_the_reply(house) -> None:
    consumer, requester = house.consumer("work"), house.node()
    requester.request(4, "work", "x", "TIMEOUT=3")
    consumer.delivered(0)
    house.advance(3)
    assert requester.hear() == ["ID=4 DELIVERED", "ID=4 UNDELIVERED"]
    consumer.hear()
    consumer.reply(0, "too-late")
    assert requester.hear() == []
    assert house.broker.queues[b"work"].unacked == 0


def test_section_5_a_timed_out_request_of_a_lost_consumer_is_not_given_again(house) -> None:
    consumer, requester = house.consumer("work"), house.node()
    requester.request(4, "work", "x", "TIMEOUT=3")
    house.advance(3)
    consumer.leave()
    assert house.consumer("work").hear() == []
    assert requester.hear() == ["ID=4 UNDELIVERED"]


def test_section_5_a_reply_in_time_stops_the_TIMEOUT(house) -> None:
    consumer, requester = house.consumer("work"), house.node()
    requester.request(4, "work", "x", "TIMEOUT=3")
    consumer.reply(0, "y")
    house.advance(4)
    assert requester.hear() == ["ID=4 DELIVERED", "ID=4 PAYLOAD=y REPLY"]


def test_section_5_TIMEOUT_of_NOREPLY_drops_it_without_a_word(house) -> None:
    requester = house.node().request(4, "work", "x", "NOREPLY TIMEOUT=3")
    assert requester.hear() == ["ID=4 DELIVERED"]
    house.advance(3)
    assert requester.hear() == []
    assert house.consumer("work").hear() == []


def test_section_5_a_NOREPLY_that_is_done_leaves_no_TIMEOUT_behind(house) -> None:
    consumer, requester = house.consumer("work"), house.node()
    requester.request(4, "work", "x", "NOREPLY TIMEOUT=60000")
    assert consumer.hear() == ["QUEUEID=1 PAYLOAD=x NOREPLY ID=0 REQUEST"]
    consumer.delivered(0)
    consumer.leave()
    requester.leave()
    assert house.broker.deadlines.next_due() == -1


def test_section_5_TIMEOUT_0_is_no_time_out(house) -> None:
    requester = house.node().request(4, "work", "x", "TIMEOUT=0")
    house.advance(1)
    assert requester.hear() == []


def test_section_5_a_lost_requesters_TIMEOUT_still_holds(house) -> None:
    requester = house.node().request(4, "work", "x", "TIMEOUT=3")
    requester.leave()
    house.advance(3)
    assert house.consumer("work").hear() == []


def test_section_5_UNDELIVERED_of_a_consumer_gives_the_request_to_the_next(house) -> None:
    unable, able = house.consumer("work", "MAX=1 PRIORITY=30"), house.consumer("work", "MAX=9 PRIORITY=20")
    requester = house.node().request(0, "work", "a").request(1, "work", "b")
    assert unable.hear() == ["QUEUEID=1 PAYLOAD=a ID=0 REQUEST"]
    unable.session.pause()
    unable.say("CLEAR ID=0 UNDELIVERED")
    assert able.hear() == ["QUEUEID=1 PAYLOAD=b ID=0 REQUEST", "QUEUEID=1 PAYLOAD=a ID=1 REQUEST"]
    assert (requester.hear(), unable.hear()) == ([], [])


def test_section_5_UNDELIVERED_counts_as_a_try_of_RETRIES(house) -> None:
    consumer, requester = house.consumer("work"), house.node()
    requester.request(0, "work", "x", "RETRIES=1")
    consumer.say("CLEAR ID=0 UNDELIVERED")
    assert requester.hear() == []
    consumer.say("CLEAR ID=1 UNDELIVERED")
    assert requester.hear() == ["ID=0 UNDELIVERED"]
    assert len(consumer.hear()) == 2


def test_section_5_CANCEL_QUEUE_is_silent_and_what_was_given_may_be_answered(house) -> None:
    consumer, requester = house.consumer("work"), house.node()
    requester.request(0, "work", "a")
    consumer.hear()
    consumer.say("CLEAR QUEUE=work CANCEL_QUEUE")
    requester.request(1, "work", "b")
    assert consumer.hear() == []
    consumer.delivered(0).reply(0, "done")
    assert requester.hear() == ["ID=0 DELIVERED", "ID=0 PAYLOAD=done REPLY"]
    assert house.broker.queues[b"work"].consumer_count() == 0


def test_section_5_CANCEL_QUEUE_of_a_queue_that_is_not_consumed_succeeds_silently(house) -> None:
    node = house.node()
    assert node.say("CLEAR QUEUE=work CANCEL_QUEUE").hear() == []
    assert house.reasons() == []
    assert node.say("CLEAR CANCEL_QUEUE").hear() == []
    assert house.reasons() == ["CANCEL_QUEUE needs QUEUE, or a QUEUEID of this broker"]


def test_section_5_after_CANCEL_QUEUE_a_CONSUME_is_answered_again(house) -> None:
    node = house.consumer("work")
    node.say("CLEAR QUEUE=work CANCEL_QUEUE")
    assert node.consume("work") == ["QUEUEID=1 QUEUE=work CONSUMING"]
    house.node().request(0, "work", "a")
    node.say("CLEAR QUEUE=work CANCEL_QUEUE")
    house.node().request(0, "work", "b")
    assert node.hear() == ["QUEUEID=1 PAYLOAD=a ID=0 REQUEST"]
    assert node.consume("work") == ["QUEUEID=1 QUEUE=work CONSUMING", "QUEUEID=1 PAYLOAD=b ID=1 REQUEST"]


def test_section_5_SERVER_FULL_is_one_byte(house) -> None:
    assert house.rq.full() == b"\x17"


def test_section_5_a_closed_socket_is_CLOSING_without_the_word(house) -> None:
    consumer, requester = house.consumer("work"), house.node()
    requester.request(0, "work", "x")
    consumer.leave()
    assert house.broker.queues[b"work"].ready == 1
    assert requester.hear() == []
