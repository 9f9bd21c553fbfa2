import base64
import json

import pytest

from penstock.core.subscription import Inbox
from penstock.message import Message
from penstock.wire.session import MAYBE, NO, YES
from penstock.wire.smqs.session import QUIET_TIME

# -- lines -------------------------------------------------------------------------------------------------------------


def test_a_message_goes_to_a_consumer_as_data_and_line_feed_and_nobody_is_answered(world):
    consumer = world.client(b"C:users:\n")
    producer = world.client(b'M:users:{"id":1,"name":"Vagner"}\n')
    assert consumer.drain() == b'{"id":1,"name":"Vagner"}\n'
    assert world.ask(consumer, b"D:users:1\n") == b""
    assert producer.drain() == b""


def test_a_message_split_over_reads_is_one_message(world):
    consumer = world.client(b"C:q\n")
    world.client(b"M:", b'q:{"i', b'd":1}', b"\nM:q:2\nM:q", b":3\n")
    assert consumer.drain() == b'{"id":1}\n2\n3\n'
    assert world.reports == []


def test_a_message_in_single_bytes_is_one_message(world):
    consumer = world.client(b"C:q\n")
    world.client(*[bytes([byte]) for byte in b"M:q:a:b\n"])
    assert consumer.drain() == b"a:b\n"


def test_a_message_larger_than_a_read_arrives_whole(world):
    body = b"x" * 200_000
    line = b"M:q:" + body + b"\n"
    consumer = world.client(b"C:q\n")
    world.client(*[line[i : i + 65536] for i in range(0, len(line), 65536)])
    assert consumer.drain() == body + b"\n"


def test_many_lines_in_one_read_are_all_run_in_order(world):
    client = world.client()
    assert world.ask(client, b"M:q:1\nC:q:\nM:q:2\nS::\nD:q:1\nS::\n") == b'1\n2\n{"q":2}\n{"q":1}\n'


def test_data_may_hold_colons(world):
    consumer = world.client(b"C:q\n", b'M:q:{"a":"b:c"}::\n')
    assert consumer.drain() == b'{"a":"b:c"}::\n'


def test_data_is_not_validated(world):
    consumer = world.client(b"C:q\n", b"M:q:not json\nM:q:\xff\xfe\x00\n")
    assert consumer.drain() == b"not json\n\xff\xfe\x00\n"


def test_empty_data_is_a_message(world):
    consumer = world.client(b"C:q\n", b"M:q:\n")
    assert consumer.drain() == b"\n"
    assert world.stats() == {"q": 1}


def test_a_carriage_return_before_the_line_feed_belongs_to_the_data(world):
    consumer = world.client(b"C:q\n", b"M:q:x\r\n")
    assert consumer.drain() == b"x\r\n"


def test_a_carriage_return_after_the_name_in_C_belongs_to_the_name(world):
    world.client(b"C:q\r\n")
    assert world.stats() == {"q\r": 0}


def test_a_carriage_return_after_the_trailing_colon_in_C_does_not(world):
    world.client(b"C:q:\r\n")
    assert world.stats() == {"q": 0}


def test_an_empty_queue_name_is_a_normal_queue(world):
    consumer = world.client(b"C::\n", b"M::x\n")
    assert consumer.drain() == b"x\n"
    assert world.stats() == {"": 1}
    world.ask(consumer, b"D::1\n")
    assert world.stats() == {"": 0}


def test_an_unknown_letter_is_answered_and_the_connection_stays(world):
    client = world.client()
    assert world.ask(client, b"X:q:1\n") == b"UNKNOWN_TYPE\n"
    assert world.ask(client, b"S\n") == b"{}\n"
    assert not client.closing


@pytest.mark.parametrize("line", [b"m:q:x", b"c:q", b"d:q:1", b"s:", b":", b"::", b"MM:q:x", b" M:q:x", b"\xff:q"])
def test_lower_case_and_other_types_are_unknown(world, line):
    assert world.ask(world.client(), line + b"\n") == b"UNKNOWN_TYPE\n"
    assert world.stats() == {}


def test_what_follows_an_unknown_type_in_the_same_read_is_run(world):
    consumer = world.client(b"C:q\n")
    assert world.ask(consumer, b"X:y\nM:q:1\n") == b"UNKNOWN_TYPE\n1\n"


@pytest.mark.parametrize("blank", [b"\n", b"\r\n", b"\n\n\r\n"])
def test_a_blank_line_is_ignored_and_hides_nothing(world, blank):
    assert world.ask(world.client(), blank + b"S\n") == b"{}\n"
    assert world.reports == []


@pytest.mark.parametrize("junk", [b"hello", b"M", b"C", b"D", b"SS", b"s", b"S S"])
def test_a_line_without_a_colon_is_unknown_and_hides_nothing(world, junk):
    assert world.ask(world.client(), junk + b"\nS\n") == b"UNKNOWN_TYPE\n{}\n"


def test_a_message_without_data_is_unknown(world):
    assert world.ask(world.client(), b"M:q\n") == b"UNKNOWN_TYPE\n"
    assert world.stats() == {}


@pytest.mark.parametrize("form", [b"C:q\n", b"C:q:\n", b"C:q:whatever\n"])
def test_consume_in_the_documented_and_the_sent_form(world, form):
    consumer = world.client(form)
    world.client(b"M:q:x\n")
    assert consumer.drain() == b"x\n"


@pytest.mark.parametrize("form", [b"S\n", b"S:\n", b"S::\n", b"S\r\n", b"S:q\n"])
def test_stats_in_the_documented_and_the_sent_form(world, form):
    world.client(b"M:users:1\n")
    assert world.ask(world.client(), form) == b'{"users":1}\n'


# -- lines without an end ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [b"S", b"S:", b"S::"])
def test_unfinished_stats_are_answered_after_a_quiet_time(world, form):
    client = world.client(form)
    world.broker.tick(QUIET_TIME - 1)
    assert client.drain() == b""
    world.broker.tick(QUIET_TIME)
    assert client.drain() == b"{}\n"
    assert world.broker.deadlines.next_due() == -1


@pytest.mark.parametrize("form", [b"C:q", b"C:q:"])
def test_an_unfinished_consume_starts_after_a_quiet_time(world, form):
    world.client(b"M:q:x\n")
    consumer = world.client(form)
    assert consumer.drain() == b""
    world.broker.tick(QUIET_TIME)
    assert consumer.drain() == b"x\n"


def test_an_unfinished_done_counts_after_a_quiet_time(world):
    consumer = world.client(b"C:q\nM:q:1\nM:q:2\n", b"D:q:2")
    assert world.stats() == {"q": 2}
    world.broker.tick(QUIET_TIME)
    assert world.stats() == {"q": 0}
    assert not consumer.closing


def test_an_unfinished_message_waits_for_its_end_however_long(world):
    consumer = world.client(b"C:q\n")
    producer = world.client(b"M:q:half")
    world.broker.tick(QUIET_TIME * 1000)
    assert consumer.drain() == b""
    producer.feed(b" and half\n", QUIET_TIME * 1000)
    assert consumer.drain() == b"half and half\n"


def test_the_quiet_time_starts_again_with_every_read(world):
    client = world.client()
    client.feed(b"C:us", 0)
    client.feed(b"ers", QUIET_TIME - 1)
    world.broker.tick(QUIET_TIME + 10)
    assert world.stats() == {}
    world.broker.tick(2 * QUIET_TIME)
    assert world.stats() == {"users": 0}


def test_an_end_within_the_quiet_time_finishes_the_line_once(world):
    client = world.client(b"S")
    client.feed(b"\n", 10)
    world.broker.tick(QUIET_TIME)
    assert client.drain() == b"{}\n"
    assert world.broker.deadlines.next_due() == -1


def test_commands_without_an_end_one_after_the_other(world):
    """The documents' own client: each command is a write of its own, with a pause behind it."""
    world.client(b"M:users:1\nM:users:2\n")
    client = world.client()
    now = 0
    for command, answer in [(b"C:users", b"1\n2\n"), (b"D:users:1", b""), (b"S", b'{"users":1}\n')]:
        client.feed(command, now)
        now += QUIET_TIME
        world.broker.tick(now)
        assert client.drain() == answer


def test_commands_without_an_end_may_come_as_quickly_as_they_like(world):
    consumer = world.client(b"C:b\n")
    world.client(b"".join(b"M:b:%d\n" % number for number in range(60)))
    consumer.drain()
    for number in range(50):
        consumer.feed(b"D:b:1", number * 10_000)
    assert world.stats() == {"b": 11}  # the last may go on yet
    world.broker.tick(49 * 10_000 + QUIET_TIME)
    assert world.stats() == {"b": 10}
    assert world.reports == []


@pytest.mark.parametrize("end", [b"\n", b""])
def test_a_message_soon_behind_an_unfinished_consume_is_given_to_it(world, end):
    client = world.client()
    client.feed(b"C:g", 0)
    client.feed(b'M:g:{"id":1}' + end, 20_000)
    assert client.drain() == (b'{"id":1}\n' if end else b"")
    client.feed(b"\n", 30_000)
    assert client.drain() == (b"" if end else b'{"id":1}\n')
    assert world.stats() == {"g": 1}


def test_several_queues_are_consumed_by_commands_without_an_end(world):
    world.client(b"M:a:1\nM:b:2\n")
    consumer = world.client(b"C:a", b"C:b", b"D:a:1", b"D:b:1", b"S::")
    assert consumer.drain() == b"1\n2\n"
    world.broker.tick(QUIET_TIME)
    assert consumer.drain() == b'{"a":0,"b":0}\n'


def test_counts_that_were_read_together_are_counted_each(world):
    consumer = world.client(b"C:q\n" + b"M:q:x\n" * 10)
    consumer.drain()
    consumer.feed(b"D:q:1D:q:1", 0)
    consumer.feed(b"D:q:1D:q:1", 10)
    world.broker.tick(QUIET_TIME + 10)
    assert world.stats() == {"q": 6}
    consumer.feed(b"D:q:1D:q:1M:q:ha", 0)
    world.broker.tick(2 * QUIET_TIME + 10)
    assert world.stats() == {"q": 4}
    assert world.ask(consumer, b"lf\n") == b"half\n"
    consumer.feed(b"D:q:1D:q:1", 0)
    consumer.end(0)
    assert world.stats() == {"q": 3}


def test_a_message_is_not_ended_by_a_read_that_begins_like_a_command(world):
    consumer = world.client(b"C:q\n")
    producer = world.client(b'M:q:{"a":', b"D:q:1", b"C:x", b"M:q:", b"S", b"}\n")
    assert consumer.drain() == b'{"a":D:q:1C:xM:q:S}\n'
    assert producer.drain() == b""
    assert world.stats() == {"q": 1}


@pytest.mark.parametrize("count", [b"1.9", b"+1", b"1e1", b"1x"])
def test_counts_are_read_as_the_original_reads_them(world, count):
    consumer = world.client(b"C:q\n" + b"M:q:x\n" * 10)
    assert world.ask(consumer, b"D:q:" + count + b"\n").count(b"x") == 10
    assert world.stats() == {"q": 9}


def test_a_line_feed_after_an_executed_unfinished_line_is_a_blank_line(world):
    client = world.client(b"S")
    world.broker.tick(QUIET_TIME)
    client.drain()
    assert world.ask(client, b"\nS\n") == b"{}\n"


@pytest.mark.parametrize("start", [b"C", b"D"])
def test_a_lone_letter_is_no_request_and_is_not_lost(world, start):
    client = world.client(start)
    world.broker.tick(QUIET_TIME)
    assert world.ask(client, b":q:0\nS\n") == (b'{"q":0}\n' if start == b"C" else b"{}\n")
    assert world.reports == []


def test_a_finished_message_before_an_unfinished_command_does_not_wait(world):
    consumer = world.client(b"C:q\n")
    client = world.client(b"M:q:1\nS")
    assert consumer.drain() == b"1\n"
    world.broker.tick(QUIET_TIME)
    assert client.drain() == b'{"q":1}\n'


def test_the_quiet_time_of_a_connection_that_ended_is_not_waited_for(world):
    client = world.client(b"C:q")
    client.end(10)
    assert world.broker.deadlines.next_due() == -1
    world.broker.tick(QUIET_TIME)
    assert world.stats() == {}


def test_two_connections_end_their_quiet_time_in_the_same_tick(world):
    first, second = world.client(b"S"), world.client(b"S")
    world.broker.tick(QUIET_TIME)
    assert (first.drain(), second.drain()) == (b"{}\n", b"{}\n")


# -- the end of a connection -------------------------------------------------------------------------------------------


def test_an_unfinished_done_counts_at_the_end_of_the_connection(world):
    consumer = world.client(b"C:q\nM:q:1\nM:q:2\n", b"D:q:1")
    consumer.end(1)
    assert world.stats() == {"q": 1}
    assert world.client(b"C:q\n").drain() == b"2\n"


def test_an_unfinished_message_that_shows_its_end_is_taken_at_the_end_of_the_connection(world):
    world.client(b'M:q:{"id":1}').end(1)
    assert world.client(b"C:q\n").drain() == b'{"id":1}\n'


def test_an_unfinished_message_that_may_be_half_is_dropped_and_logged_at_the_end_of_the_connection(world):
    for half in (b'M:q:{"id":1', b"M:q:12", b"M:q:x", b"M:q", b"M", b'M:{"a":1}'):
        world.client(half).end(1)
    assert world.stats() == {}
    assert world.reasons() == ["the connection was closed within a message"] * 6


def test_unfinished_consume_and_stats_are_pointless_at_the_end_of_the_connection(world):
    for rest in (b"C:q", b"S", b"S::", b"junk"):
        world.client(rest).end(1)
    assert world.stats() == {}
    assert world.reports == []


def test_undone_messages_of_a_lost_consumer_return_to_their_queue_in_order(world):
    consumer = world.client(b"C:q\nM:q:1\nM:q:2\nM:q:3\n", b"D:q:1\n")
    consumer.end(1)
    world.client(b"M:q:4\n")
    assert world.stats() == {"q": 3}
    assert world.client(b"C:q\n").drain() == b"2\n3\n4\n"


def test_undone_messages_of_a_lost_consumer_go_to_the_next_one_at_once(world):
    lost, next_one = world.client(b"C:q\n"), world.client(b"C:q\n")
    world.client(b"M:q:1\nM:q:2\n")
    assert (lost.drain(), next_one.drain()) == (b"1\n", b"2\n")
    lost.end(1)
    assert next_one.drain() == b"1\n"


def test_undone_messages_of_all_its_queues_return(world):
    consumer = world.client(b"C:a\nC:b\nM:a:1\nM:b:2\n")
    consumer.end(1)
    assert world.stats() == {"a": 1, "b": 1}
    assert world.client(b"C:b\nC:a\n").drain() == b"2\n1\n"


def test_no_queue_keeps_a_consumer_that_is_gone(world):
    world.client(b"C:a\nC:b\nC:c\n").end(1)
    world.client(b"M:a:1\nM:b:2\nM:c:3\n")
    assert world.client(b"C:a\nC:b\nC:c\n").drain() == b"1\n2\n3\n"


def test_with_lose_undone_the_undone_messages_of_a_lost_consumer_are_gone(make_world):
    world = make_world(lose_undone=True)
    consumer = world.client(b"C:q\nC:p\n", b"M:q:1\nM:q:2\nM:p:3\nM:q:4\n")
    consumer.end(1)
    assert world.stats() == {"q": 0, "p": 0}
    assert world.broker.context.bytes == 0
    assert world.client(b"C:q\nC:p\n").drain() == b""


def test_with_lose_undone_what_was_never_delivered_stays(make_world):
    world = make_world(lose_undone=True, outbox_bytes_max=4)
    consumer = world.client(b"C:q\n")
    world.client(b"M:q:1\nM:q:2\nM:q:3\nM:q:4\n")
    assert consumer.drain() == b"1\n2\n"
    consumer.end(1)
    assert world.stats() == {"q": 2}


# -- consumers ---------------------------------------------------------------------------------------------------------


def test_messages_wait_for_the_first_consumer_which_gets_them_all_in_order(world):
    world.client(b"".join(b"M:q:%d\n" % i for i in range(1000)))
    consumer = world.client(b"C:q\nC:q:\n")
    assert consumer.drain() == b"".join(b"%d\n" % i for i in range(1000))


def test_a_message_is_pushed_whatever_is_undone(world):
    consumer = world.client(b"C:q\n")
    producer = world.client()
    for i in range(100):
        producer.feed(b"M:q:%d\n" % i, 0)
        assert consumer.drain() == b"%d\n" % i


def test_consumers_take_turns_and_get_different_messages(world):
    consumers = [world.client(b"C:q\n") for _ in range(3)]
    world.client(b"".join(b"M:q:%d\n" % i for i in range(7)))
    shares = [consumer.drain().split() for consumer in consumers]
    assert [len(share) for share in shares] == [3, 2, 2]
    assert sorted(body for share in shares for body in share) == [b"%d" % i for i in range(7)]


def test_several_queues_on_one_connection_are_all_delivered_unlabelled(world):
    consumer = world.client(b"C:a\n", b"C:b:\n")
    world.client(b"M:b:1\nM:a:2\nM:b:3\n")
    assert consumer.drain() == b"1\n2\n3\n"


def test_several_queues_on_one_connection_are_counted_apart(world):
    world.client(b"C:a\nC:b\n", b"M:a:1\nM:b:2\nM:b:3\n")
    assert world.stats() == {"a": 1, "b": 2}


def test_a_repeated_consume_does_not_double_its_share(world):
    twice, once = world.client(b"C:q\nC:q:\nC:q\n"), world.client(b"C:q\n")
    world.client(b"M:q:1\nM:q:2\nM:q:3\nM:q:4\n")
    assert len(twice.drain().split()) == len(once.drain().split()) == 2


def test_a_further_consume_does_not_forget_what_is_undone(world):
    consumer = world.client(b"C:a\nM:a:1\n", b"C:a\nC:b\n")
    assert world.stats() == {"a": 1, "b": 0}
    consumer.end(1)
    assert world.client(b"C:a\n").drain() == b"1\n"


def test_a_connection_may_consume_its_own_messages(world):
    assert world.ask(world.client(), b"C:q\nM:q:x\n") == b"x\n"


def test_a_consumer_may_ask_for_stats_in_the_midst_of_its_messages(world):
    consumer = world.client(b"C:q\n")
    assert world.ask(consumer, b"M:q:1\nS::\nM:q:2\n") == b'1\n{"q":1}\n2\n'


def test_a_client_that_reads_slowly_gets_no_more_than_its_outbox_holds(make_world):
    world = make_world(outbox_bytes_max=100)
    consumer = world.client(b"C:q\n")
    world.client(b"M:q:0123456789\n" * 100)
    assert len(consumer.drain()) == 110
    consumer.resume()
    assert len(consumer.drain()) == 110
    assert world.stats() == {"q": 100}


def test_a_client_whose_socket_is_full_starts_no_consumer_that_delivers(world):
    client = world.client()
    client.pause()
    world.client(b"M:q:1\n")
    assert world.ask(client, b"C:q\n") == b""
    client.resume()
    assert client.drain() == b"1\n"


def test_a_consumer_that_never_says_done_stops_at_the_limit_and_goes_on_after(make_world):
    world = make_world(unacked_max=3)
    consumer = world.client(b"C:q\n")
    world.client(b"".join(b"M:q:%d\n" % i for i in range(6)))
    assert consumer.drain() == b"0\n1\n2\n"
    assert world.ask(consumer, b"D:q:2\n") == b"3\n4\n"


def test_a_queue_deleted_by_another_protocol_ends_its_consumer_which_may_start_again(world):
    consumer = world.client(b"C:q\nM:q:1\n")
    consumer.drain()
    world.other(b"r delete_queue q\n")
    assert world.stats() == {}
    assert world.ask(consumer, b"D:q:1\nM:q:2\n") == b""
    assert world.ask(consumer, b"C:q\n") == b"2\n"


def test_a_consumer_has_a_name_for_people_who_look(world):
    client = world.client(b"C:users\n")
    assert [subscription.name for subscription in client.subscriptions()] == [b"peer/users"]


# -- done --------------------------------------------------------------------------------------------------------------


def undone(world, consumer, *queues):
    """What comes back once the consumer is gone."""
    consumer.end(1)
    return world.client(b"".join(b"C:" + queue + b"\n" for queue in queues)).drain().split()


def test_done_settles_the_oldest(world):
    consumer = world.client(b"C:q\nM:q:1\nM:q:2\nM:q:3\n", b"D:q:2\n")
    assert world.stats() == {"q": 1}
    assert undone(world, consumer, b"q") == [b"3"]


def test_done_with_any_queue_name_counts_for_the_connection(world):
    consumer = world.client(b"C:q\nM:q:1\nM:q:2\nM:q:3\n", b"D:never heard of:1\nD::1\n")
    assert world.stats() == {"q": 1}
    assert undone(world, consumer, b"q") == [b"3"]


def test_done_takes_the_named_queue_first_then_the_oldest_of_the_others(world):
    consumer = world.client(b"C:a\nC:b\nC:c\n", b"M:c:1\nM:a:2\nM:b:3\nM:c:4\nM:b:5\nM:a:6\n")
    consumer.feed(b"D:b:3\n", 0)
    assert world.stats() == {"a": 2, "b": 0, "c": 1}
    consumer.feed(b"D:b:1\n", 0)
    assert world.stats() == {"a": 1, "b": 0, "c": 1}
    assert undone(world, consumer, b"a", b"b", b"c") == [b"6", b"4"]


def test_done_with_an_unknown_name_takes_the_oldest_of_all_queues(world):
    consumer = world.client(b"C:a\nC:b\n", b"M:b:1\nM:a:2\nM:a:3\nM:b:4\n", b"D:x:3\n")
    assert undone(world, consumer, b"a", b"b") == [b"4"]


def test_what_the_first_queue_delivered_is_older_than_anything_of_the_second(world):
    consumer = world.client(b"M:b:3\nC:a\nM:a:1\nM:a:2\n", b"C:b\n", b"D:x:2\n")
    assert undone(world, consumer, b"a", b"b") == [b"3"]


def test_overdone_clamps_at_what_is_open(world):
    consumer = world.client(b"C:q\nM:q:1\n", b"D:q:1000\nD:q:99999999999999999999999999\n")
    assert world.stats() == {"q": 0}
    consumer.feed(b"M:q:2\n", 0)
    assert world.stats() == {"q": 1}
    assert world.reports == []


def test_overdone_clamps_over_several_queues(world):
    consumer = world.client(b"C:a\nC:b\nM:a:1\nM:b:2\n", b"D:b:1000\n")
    assert world.stats() == {"a": 0, "b": 0}
    consumer.feed(b"M:a:3\n", 0)
    assert world.stats() == {"a": 1, "b": 0}


def test_done_does_not_count_for_what_it_makes_room_for(make_world):
    world = make_world(unacked_max=2)
    consumer = world.client(b"C:q\n")
    world.client(b"".join(b"M:q:%d\n" % i for i in range(6)))
    assert consumer.drain() == b"0\n1\n"
    assert world.ask(consumer, b"D:q:100\n") == b"2\n3\n"
    assert world.stats() == {"q": 4}


def test_done_over_several_queues_does_not_count_for_what_it_makes_room_for(make_world):
    world = make_world(unacked_max=2)
    consumer = world.client(b"C:a\nC:b\n")
    world.client(b"".join(b"M:a:%d\nM:b:%d\n" % (i, i) for i in range(6)))
    consumer.drain()
    consumer.feed(b"D:x:100\n", 0)
    assert world.stats() == {"a": 4, "b": 4}
    consumer.feed(b"D:a:100\n", 0)
    assert world.stats() == {"a": 2, "b": 2}


@pytest.mark.parametrize("count", [b"-1", b"-1000", b"x", b"", b".5", b"NaN", b"x1", b":2"])
def test_a_negative_count_or_none_at_all_changes_nothing_and_is_not_answered(world, count):
    consumer = world.client(b"C:q\nM:q:1\nM:q:2\n")
    consumer.drain()
    assert world.ask(consumer, b"D:q:" + count + b"\n") == b""
    assert world.stats() == {"q": 2}
    assert world.reasons() == ["expected D:{queue}:{count}"]


def test_done_without_a_count_changes_nothing(world):
    consumer = world.client(b"C:q\nM:q:1\n")
    consumer.drain()
    assert world.ask(consumer, b"D:q\n") == b""
    assert world.stats() == {"q": 1}
    assert len(world.reports) == 1


@pytest.mark.parametrize("form", [b"D:q:0\n", b"D:q:0\r\n", b"D:q:000\n"])
def test_done_with_zero_is_nothing(world, form):
    world.client(b"C:q\nM:q:1\n", form)
    assert world.stats() == {"q": 1}
    assert world.reports == []


def test_done_with_a_carriage_return_counts(world):
    world.client(b"C:q\nM:q:1\n", b"D:q:1\r\n")
    assert world.stats() == {"q": 0}


def test_done_of_a_connection_that_does_not_consume_has_no_effect(world):
    world.client(b"C:q\nM:q:1\n")
    assert world.ask(world.client(), b"D:q:1\n") == b""
    assert world.stats() == {"q": 1}
    assert world.reports == []


def test_done_of_one_consumer_does_not_touch_another(world):
    first, second = world.client(b"C:q\n"), world.client(b"C:q\n")
    world.client(b"M:q:1\nM:q:2\n")
    first.feed(b"D:q:2\n", 0)
    assert world.stats() == {"q": 1}
    second.end(1)
    assert first.drain() == b"1\n2\n"


def test_the_order_kept_for_several_queues_does_not_grow_with_what_is_done(world):
    consumer = world.client(b"C:a\nC:b\n", b"M:a:stays\n")
    for _ in range(1000):
        consumer.feed(b"M:b:x\nD:b:1\n", 0)
    assert len(consumer.order) <= 2
    assert undone(world, consumer, b"a", b"b") == [b"stays"]


def test_a_deleted_queue_leaves_the_order_of_the_others_alone(world):
    consumer = world.client(b"C:a\nC:b\nC:c\n", b"M:b:1\nM:a:2\nM:b:3\nM:c:4\nM:a:5\n")
    world.other(b"r delete_queue b\n")
    consumer.feed(b"D:x:2\n", 0)
    assert world.stats() == {"a": 1, "c": 0}
    world.other(b"r delete_queue a\n", b"r delete_queue c\n")
    consumer.drain()
    assert world.ask(consumer, b"D:x:5\nC:a\nM:a:6\nD:x:1\nS\n") == b'6\n{"a":0}\n'


# -- stats -------------------------------------------------------------------------------------------------------------


def test_stats_of_nothing_are_an_empty_object(world):
    assert world.ask(world.client(), b"S::\n") == b"{}\n"


def test_stats_count_what_waits_and_what_is_undone(world):
    consumer = world.client(b"C:q\n")
    world.client(b"M:q:1\nM:q:2\nM:q:3\nM:p:1\n")
    assert world.stats() == {"q": 3, "p": 1}
    consumer.feed(b"D:q:2\n", 0)
    assert world.stats() == {"q": 1, "p": 1}


def test_stats_list_every_queue_ever_named_in_C_or_M_with_zero_when_idle(world):
    world.client(b"C:a\nM:b:1\n").end(1)
    world.client(b"C:b\nD:b:1\n")
    assert world.stats() == {"a": 0, "b": 0}


def test_stats_do_not_list_a_queue_named_in_D_only(world):
    world.client(b"D:q:1\n")
    assert world.stats() == {}


def test_each_request_is_answered_with_its_own_line(world):
    client = world.client()
    client.feed(b"S::\nS::\nS\n", 0)
    assert client.drain() == b"{}\n" * 3


def test_stats_list_the_queues_of_other_protocols_too(world):
    world.other(b"c consume jobs e\n", b"r publish e x\n")
    world.other(b"d consume kept e --manual-ack\n", b"r publish e x\n")
    assert world.stats() == {"jobs": 0, "kept": 1}


def test_stats_asked_faster_than_they_are_read_are_counted_and_answered_later(make_world):
    world = make_world(outbox_bytes_max=30)
    client = world.client(b"M:queue:1\n")
    client.feed(b"S\n" * 1000, 0)
    heard = client.drain()
    assert len(heard) < 50
    while True:
        client.resume()
        more = client.drain()
        if not more:
            break
        assert len(more) < 50
        heard += more
    assert heard == b'{"queue":1}\n' * 1000


def test_a_client_that_reads_nothing_piles_up_no_answers(world):
    client = world.client()
    client.pause()
    client.feed(b"S\nX:y\n" * 10_000, 0)
    assert client.outbox_size == 0
    client.resume()
    assert client.drain().split().count(b"{}") == 10_000
    assert client.outbox_size == 0


# -- refusals ----------------------------------------------------------------------------------------------------------


def test_a_refused_message_is_logged_under_an_error_id_and_the_connection_stays(make_world):
    world = make_world(queue_length_max=1)
    producer = world.client(b"M:q:1\n")
    assert world.ask(producer, b"M:q:2\nM:p:3\n") == b""
    assert world.stats() == {"q": 1, "p": 1}
    assert len(world.reports) == 1
    assert "queue_length_max" in world.reports[0]["reason"]
    assert len(world.reports[0]["error_id"]) == 24
    assert not producer.closing
    assert (producer.errors, world.broker.refused) == (1, 1)


def test_a_body_over_the_limit_is_refused_by_name(make_world):
    world = make_world(body_size_max=10)
    world.client(b"M:q:01234567890\n", b"M:q:0123456789\n")
    assert world.stats() == {"q": 1}
    assert "body_size_max" in world.reports[0]["reason"]


def test_a_name_over_the_limit_is_refused_by_name(make_world):
    world = make_world(name_size_max=3)
    client = world.client()
    assert world.ask(client, b"M:four:1\n") == b""
    assert "name_size_max" in world.reports[0]["reason"]
    assert not client.closing


def test_a_refused_consume_is_answered_with_the_only_word_there_is(make_world):
    world = make_world(queues_max=1)
    client = world.client(b"C:a\n")
    assert world.ask(client, b"C:b\n") == b"UNKNOWN_TYPE\n"
    assert "queues_max" in world.reports[0]["reason"]
    assert world.ask(client, b"M:a:1\nM:a:2\nD:b:1\nS\n") == b'1\n2\n{"a":1}\n'


def test_a_first_consume_that_is_refused_leaves_the_connection_as_it_was(make_world):
    world = make_world(name_size_max=3)
    client = world.client(b"C:toolong\n")
    client.drain()
    assert world.ask(client, b"C:q\nM:q:1\nD:x:1\nS\n") == b'1\n{"q":0}\n'


def test_many_bad_lines_are_few_log_lines_and_all_counted(world):
    client = world.client()
    assert world.ask(client, b"X:y\n" * 1000) == b"UNKNOWN_TYPE\n" * 1000
    assert len(world.reports) == 10
    assert client.errors == 1000


def test_a_line_without_end_over_the_limit_closes(make_world):
    world = make_world(line_size_max=100)
    client = world.client(b"M:q:" + b"x" * 90)
    assert not client.closing
    client.feed(b"x" * 90, 0)
    assert client.closing
    assert "line_size_max" in world.reports[0]["reason"]
    assert client.lines.pending() == 0
    assert world.ask(client, b"\nM:q:1\nS\n") == b""
    client.end(1)
    assert world.stats() == {}


def test_an_unfinished_line_of_a_connection_that_we_close_is_not_run_at_its_end(world):
    client = world.client(b"GET / HTTP/1.1\r\nM:q:1\nM:q:{}")
    client.end(1)
    assert world.stats() == {}


def test_an_http_request_closes_before_any_of_its_lines_is_run(world):
    client = world.client()
    request = b"POST / HTTP/1.1\r\nHost: localhost:2201\r\nContent-Type: text/plain\r\n\r\nM:q:stolen\nC:q\n"
    assert world.ask(client, request) == b""
    assert client.closing
    assert world.stats() == {}


# -- messages of other protocols ---------------------------------------------------------------------------------------


def test_a_message_of_another_protocol_is_its_body(world):
    consumer = world.client(b"C:q\n")
    world.other(b"c consume q e\n").end(0)
    world.other(b'id7 publish e {"id":1}\n')
    assert consumer.drain() == b'{"id":1}\n'


def test_a_message_with_line_feeds_comes_coded_and_marked(world):
    consumer = world.client(b"C:q\n")
    world.broker.put(b"q", Message(b"1", b"q", b"two\nlines", 0, "mqmq"))
    line = consumer.drain()
    assert base64.b64decode(json.loads(line)["base64"]) == b"two\nlines"


def test_a_broadcast_is_delivered_and_is_nothing_to_be_done_with(world):
    consumer = world.client(b"C:q\nC:p\n", b"M:q:1\n")
    world.broker.broadcast(b"q", Message(b"1", b"q", b"all", 0, "rq"))
    assert consumer.drain() == b"1\nall\n"
    assert world.stats() == {"q": 1, "p": 0}
    consumer.feed(b"D:q:2\n", 0)
    assert world.stats() == {"q": 0, "p": 0}


def test_a_message_goes_to_a_consumer_of_another_protocol_with_an_id_of_ours(world):
    other = world.other(b"c consume q none\n")
    world.client(b"M:q:1\nM:q:2\n")
    first, second = other.drain().splitlines()
    assert first.split()[3:] == [b"event=q", b"1"]
    assert first.split()[2] != second.split()[2]


def test_a_message_carries_its_queue_and_protocol(world):
    inbox = Inbox()
    world.broker.subscribe(b"q", inbox, None, 0)
    producer = world.client()
    producer.feed(b"M:q:x\n", 1234)
    message, retry = inbox.received[0]
    assert (message.event, message.body, message.protocol, message.published_at) == (b"q", b"x", "smqs", 1234)
    assert (message.headers, retry) == (None, 0)


# -- which protocol it is ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "head",
    [
        b"S\n", b"S\r\n", b"S:\n", b"S::\n", b"C:users\n", b"C:users:\n", b"C:my users\n", b"D:users:1\n",
        b"M:users:{}\n", b'M:users:{"id": 1, "name": "x"', b"M:q:" + b"x" * 600, b"M:q:one two three\n",
    ],
)  # fmt: skip
def test_it_recognises_its_own(world, head):
    assert world.smqs.recognise(head) == YES
    assert world.mqks.recognise(head) != YES


@pytest.mark.parametrize(
    "head", [b"", b"M", b"C", b"D", b"S", b"S\r", b"M:", b"C:users", b"D:q:1", b"S::", b"M:q:{", b"M:q:a b"]
)
def test_it_waits_where_it_is_too_early_to_say(world, head):
    assert world.smqs.recognise(head) == MAYBE


@pytest.mark.parametrize(
    "head",
    [
        b"\n", b"\r\n", b"M\n", b"X:y\n", b"Sx", b"id", b"GET / HTTP/1.1\r\n", b"id publish e x\n", b"c:users\n",
        b"M:1 publish e x\n", b"C:1 consume q e", b'D:1 send {"a": 1}\n', b"S:1 _ping\n", b"M:1 ack c m",
        b"\x00\x00\x00\x0e\x00\x00\x00\x03Put", b"\x01\x0a\xe0", b"\x01", b"\x00",
    ],
)  # fmt: skip
def test_it_does_not_claim_what_is_another_protocols(world, head):
    assert world.smqs.recognise(head) == NO


@pytest.mark.parametrize("head", [b"S", b"S:", b"S::", b"C:users", b"C:users:", b"D:users:1"])
def test_it_recognises_a_command_without_an_end_once_the_client_waits(world, head):
    assert world.smqs.recognise_at_rest(head)


@pytest.mark.parametrize("head", [b"", b"M", b"C", b"M:q:x", b"Sx", b"C:1 consume q e", b"id", b"S\n", b"\x00\x00"])
def test_it_does_not_recognise_what_it_would_wait_with_itself(world, head):
    assert not world.smqs.recognise_at_rest(head)


def test_its_name_and_what_it_says_when_the_broker_is_full(world):
    assert (world.smqs.name, world.smqs.full()) == ("smqs", b"")
