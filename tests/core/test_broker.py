"""Behaviour of the core, verb by verb."""

import pytest

from penstock.core.broker import Broker
from penstock.core.limits import DROP_OLDEST, Limits
from penstock.core.queue import NEVER
from penstock.core.replay import replay
from penstock.core.subscription import Inbox
from penstock.core.unused_queues import RETURN_TIME
from penstock.errors import DISK_FULL, OVER_LIMIT, TOO_LARGE, Refused
from penstock.log.memory import MemoryLog
from penstock.message import DeliveryOptions, Message

SECOND = 1_000_000


def make_broker(**limits: object) -> Broker:
    return Broker(MemoryLog(keep=True), Limits(**limits))  # type: ignore[arg-type]


def message(id: int | str, event: bytes = b"e", body: bytes = b"x") -> Message:
    return Message(str(id).encode(), event, body, 0, "test")


def ids(inbox: Inbox) -> list[str]:
    return [received.id.decode() for received, _ in inbox.received]


def retries(inbox: Inbox) -> list[tuple[str, int]]:
    return [(received.id.decode(), retry) for received, retry in inbox.received]


def publish(broker: Broker, *names: int | str, event: bytes = b"e") -> None:
    for name in names:
        broker.publish(message(name, event))


def bound_queue(broker: Broker, name: bytes = b"q", *events: bytes) -> None:
    broker.bind(name, events or (b"e",))


def consumer(broker: Broker, name: bytes = b"q", now: int = 0, **options: object) -> Inbox:
    inbox = Inbox(**options)  # type: ignore[arg-type]
    broker.subscribe(name, inbox, None, now)
    return inbox


def test_a_queue_is_first_in_first_out() -> None:
    broker = make_broker()
    bound_queue(broker)
    publish(broker, 1, 2, 3)
    inbox = consumer(broker)
    publish(broker, 4, 5)
    assert ids(inbox) == ["1", "2", "3", "4", "5"]


def test_every_bound_queue_gets_the_same_message_once() -> None:
    broker = make_broker()
    bound_queue(broker, b"a", b"e", b"e", b"f")
    bound_queue(broker, b"b", b"e")
    a, b = consumer(broker, b"a"), consumer(broker, b"b")
    publish(broker, 1)
    assert ids(a) == ids(b) == ["1"]
    assert a.received[0][0] is b.received[0][0]


def test_a_publish_nobody_wants_is_logged_and_counted_but_kept_by_no_queue() -> None:
    broker = make_broker()
    publish(broker, 1)
    assert (broker.published, broker.unrouted, broker.queued()) == (1, 1, 0)
    assert isinstance(broker.log, MemoryLog)
    assert len(broker.log.entries) == 1


def test_waiting_consumers_take_turns() -> None:
    broker = make_broker()
    bound_queue(broker)
    first, second, third = consumer(broker), consumer(broker), consumer(broker)
    publish(broker, *range(9))
    assert [ids(first), ids(second), ids(third)] == [["0", "3", "6"], ["1", "4", "7"], ["2", "5", "8"]]


def test_a_better_priority_is_served_first_and_a_full_consumer_lets_the_next_band_in() -> None:
    broker = make_broker()
    bound_queue(broker)
    low = consumer(broker, manual=True, priority=10)
    high = consumer(broker, manual=True, priority=30, credit=2)
    publish(broker, 1, 2, 3)
    assert (ids(high), ids(low)) == (["1", "2"], ["3"])
    broker.accept(high.deliveries[0])
    publish(broker, 4, 5)
    assert (ids(high), ids(low)) == (["1", "2", "4"], ["3", "5"])


def test_credit_bounds_open_deliveries_and_an_accept_lets_the_next_come() -> None:
    broker = make_broker()
    bound_queue(broker)
    inbox = consumer(broker, manual=True, credit=2)
    publish(broker, 1, 2, 3)
    assert ids(inbox) == ["1", "2"]
    broker.accept(inbox.deliveries[1])
    assert ids(inbox) == ["1", "2", "3"]


def test_the_broker_limit_bounds_a_consumer_without_credit() -> None:
    broker = make_broker(unacked_max=2)
    bound_queue(broker)
    inbox = consumer(broker, manual=True)
    publish(broker, 1, 2, 3)
    assert ids(inbox) == ["1", "2"]


def test_a_rejected_message_goes_to_the_back_with_one_more_retry() -> None:
    broker = make_broker()
    bound_queue(broker)
    inbox = consumer(broker, manual=True, credit=1)
    publish(broker, 1, 2, 3)
    broker.reject(inbox.deliveries[0])
    for place in (1, 2):
        broker.accept(inbox.deliveries[place])
    assert retries(inbox) == [("1", 0), ("2", 0), ("3", 0), ("1", 1)]
    broker.reject(inbox.deliveries[3])
    assert retries(inbox)[-1] == ("1", 2)


def test_a_consumer_that_leaves_gives_back_what_it_held_in_order_and_before_the_rest() -> None:
    broker = make_broker()
    bound_queue(broker)
    gone = consumer(broker, manual=True, credit=3)
    publish(broker, 1, 2, 3, 4, 5)
    broker.accept(gone.deliveries[1])
    broker.cancel(gone, 0)
    inbox = consumer(broker)
    assert retries(inbox) == [("1", 1), ("3", 1), ("4", 1), ("5", 0)]


def test_what_several_consumers_give_back_is_in_order_whoever_leaves_first() -> None:
    for leavers in ((0, 1), (1, 0)):
        broker = make_broker()
        bound_queue(broker)
        consumers = [consumer(broker, manual=True, credit=2), consumer(broker, manual=True, credit=2)]
        publish(broker, 1, 2, 3, 4, 5)
        for place in leavers:
            broker.cancel(consumers[place], 0)
        after = consumer(broker)
        # The first to leave hands over to the other only what that one has credit for: none.
        assert [name for name, _ in retries(after)] == ["1", "2", "3", "4", "5"]


def test_settling_twice_or_after_the_consumer_left_does_nothing() -> None:
    broker = make_broker()
    bound_queue(broker)
    inbox = consumer(broker, manual=True)
    publish(broker, 1, 2)
    broker.accept(inbox.deliveries[0])
    broker.reject(inbox.deliveries[0])
    broker.cancel(inbox, 0)
    broker.accept(inbox.deliveries[1])
    queue = broker.queues[b"q"]
    assert (queue.ready, queue.unacked) == (1, 0)


def test_release_puts_a_message_back_as_if_never_given() -> None:
    broker = make_broker()
    bound_queue(broker)
    inbox = consumer(broker, manual=True, credit=1)
    publish(broker, 1, 2)
    broker.suspend(inbox)
    broker.release(inbox.deliveries[0])
    broker.resume(inbox)
    assert retries(inbox) == [("1", 0), ("1", 0)]


def test_a_consumer_whose_connection_is_full_gets_nothing_until_it_is_resumed() -> None:
    broker = make_broker()
    bound_queue(broker)
    inbox = consumer(broker)
    other = consumer(broker)
    inbox.takes_more = False
    publish(broker, 1, 2, 3)
    assert (ids(inbox), ids(other)) == (["1"], ["2", "3"])
    inbox.takes_more = True
    broker.resume(inbox)
    publish(broker, 4, 5)
    assert sorted(ids(inbox) + ids(other)) == ["1", "2", "3", "4", "5"]
    assert len(ids(inbox)) == 2


def test_rebinding_replaces_what_was_bound() -> None:
    broker = make_broker()
    bound_queue(broker, b"q", b"a", b"b")
    broker.bind(b"q", (b"b", b"c"))
    inbox = consumer(broker)
    for event in (b"a", b"b", b"c"):
        publish(broker, event.decode(), event=event)
    assert ids(inbox) == ["b", "c"]


def test_put_makes_the_queue_and_reaches_it_alone() -> None:
    broker = make_broker()
    bound_queue(broker, b"other", b"q")
    broker.put(b"q", message(1, event=b"ignored"))
    inbox = consumer(broker)
    assert [(m.id, m.event) for m, _ in inbox.received] == [(b"1", b"q")]
    assert broker.queues[b"other"].ready == 0


def test_get_takes_the_first_ready_message_for_good() -> None:
    broker = make_broker()
    broker.put(b"q", message(1))
    taken = broker.get(b"q")
    assert taken is not None
    assert taken.id == b"1"
    assert broker.get(b"q") is None


def test_get_does_not_overtake_consumers_that_wait() -> None:
    broker = make_broker()
    inbox = consumer(broker)
    broker.put(b"q", message(1))
    assert broker.get(b"q") is None
    assert ids(inbox) == ["1"]


def test_get_takes_nothing_from_a_queue_that_an_exclusive_consumer_has_to_itself() -> None:
    broker = make_broker()
    busy = consumer(broker, manual=True, credit=1, exclusive=True)
    broker.put(b"q", message(1))
    broker.put(b"q", message(2))
    assert broker.get(b"q") is None
    broker.cancel(busy, 0)
    taken = broker.get(b"q")
    assert taken is not None
    assert taken.id == b"1"


def test_broadcast_reaches_consumers_of_the_moment_and_is_kept_by_nobody() -> None:
    broker = make_broker()
    first, second = consumer(broker, manual=True, credit=1), consumer(broker)
    assert broker.broadcast(b"q", message(1)) == 2
    late = consumer(broker)
    assert (ids(first), ids(second), ids(late)) == (["1"], ["1"], [])
    assert broker.broadcast(b"nowhere", message(2)) == 0
    assert (broker.published, broker.unrouted) == (2, 1)
    assert broker.queues[b"q"].unacked == 0


def test_an_exclusive_consumer_parks_the_others_until_it_leaves() -> None:
    broker = make_broker()
    bound_queue(broker)
    only = consumer(broker, exclusive=True)
    parked = consumer(broker)
    parked_exclusive = consumer(broker, exclusive=True)
    publish(broker, 1)
    assert not parked.active
    broker.cancel(only, 0)
    publish(broker, 2)
    broker.cancel(parked, 0)
    publish(broker, 3)
    assert (ids(only), ids(parked), ids(parked_exclusive)) == (["1"], ["2"], ["3"])


def test_an_exclusive_consumer_waits_for_ordinary_ones_to_leave() -> None:
    broker = make_broker()
    ordinary = consumer(broker)
    exclusive = consumer(broker, exclusive=True)
    assert (ordinary.active, exclusive.active) == (True, False)
    broker.cancel(ordinary, 0)
    assert exclusive.active


def test_an_unused_queue_is_deleted_when_its_time_is_over() -> None:
    broker = make_broker()
    broker.expire(b"q", 5 * SECOND)
    inbox = consumer(broker)
    broker.cancel(inbox, 10 * SECOND)
    broker.tick(15 * SECOND - 1)
    assert b"q" in broker.queues
    broker.tick(15 * SECOND)
    assert b"q" not in broker.queues


def test_a_new_consumer_stops_the_clock_of_an_unused_queue() -> None:
    broker = make_broker()
    broker.expire(b"q", 5 * SECOND)
    broker.cancel(consumer(broker), 0)
    back = consumer(broker, now=SECOND)
    broker.tick(20 * SECOND)
    assert b"q" in broker.queues
    broker.cancel(back, 20 * SECOND)
    broker.tick(25 * SECOND)
    assert b"q" not in broker.queues


def test_zero_means_at_once_and_never_means_never() -> None:
    broker = make_broker()
    broker.expire(b"q", 0)
    broker.cancel(consumer(broker), 0)
    assert b"q" not in broker.queues
    broker.expire(b"q", NEVER)
    broker.cancel(consumer(broker), 0)
    assert b"q" in broker.queues


def test_a_consumer_that_replaces_another_gets_what_that_one_held_first() -> None:
    broker = make_broker()
    broker.expire(b"q", 0)
    bound_queue(broker)
    old = consumer(broker, manual=True, credit=2)
    publish(broker, 1, 2, 3)
    new = Inbox(manual=True)
    broker.subscribe(b"q", new, old, 0)
    assert retries(new) == [("1", 1), ("2", 1), ("3", 0)]
    assert old.queue is None


def test_deleting_a_queue_ends_its_consumers_and_forgets_its_messages() -> None:
    broker = make_broker()
    bound_queue(broker)
    inbox = consumer(broker, manual=True, credit=1)
    publish(broker, 1, 2)
    assert broker.delete(b"q")
    assert inbox.over
    assert broker.context.bytes == 0
    bound_queue(broker)
    publish(broker, 3)
    broker.accept(inbox.deliveries[0])
    assert ids(inbox) == ["1"]
    assert not broker.delete(b"nowhere")


def test_counters_outlive_their_queues() -> None:
    broker = make_broker()
    bound_queue(broker)
    publish(broker, 1)
    consumer(broker)
    broker.delete(b"q")
    assert (broker.published, broker.queued(), broker.delivered()) == (1, 1, 1)


def test_a_full_queue_refuses_and_says_which_limit() -> None:
    broker = make_broker(queue_length_max=2)
    bound_queue(broker)
    publish(broker, 1, 2)
    with pytest.raises(Refused, match="queue_length_max is 2") as refusal:
        publish(broker, 3)
    assert refusal.value.code == OVER_LIMIT
    assert ids(consumer(broker)) == ["1", "2"]
    publish(broker, 4)


def test_a_queue_full_in_bytes_refuses_too() -> None:
    broker = make_broker(queue_bytes_max=1000)
    bound_queue(broker)
    broker.publish(message(1, body=b"x" * 1000))
    with pytest.raises(Refused, match="queue_bytes_max is 1000"):
        publish(broker, 2)


def test_a_full_queue_does_not_keep_the_message_from_the_others() -> None:
    broker = make_broker(queue_length_max=1)
    bound_queue(broker, b"stuck")
    bound_queue(broker, b"alive")
    alive = consumer(broker, b"alive")
    publish(broker, 1)
    with pytest.raises(Refused, match="stuck"):
        publish(broker, 2)
    assert ids(alive) == ["1", "2"]
    assert [m.id for m, _ in broker.queues[b"stuck"].contents()] == [b"1"]


def test_a_full_queue_may_drop_its_oldest_instead() -> None:
    broker = make_broker(queue_length_max=2, queue_full=DROP_OLDEST)
    bound_queue(broker)
    publish(broker, 1, 2, 3, 4)
    assert ids(consumer(broker)) == ["3", "4"]


def test_a_body_over_the_limit_is_refused_by_every_way_in() -> None:
    broker = make_broker(body_size_max=3)
    big = message(1, body=b"1234")
    for verb in (lambda: broker.publish(big), lambda: broker.put(b"q", big), lambda: broker.broadcast(b"q", big)):
        with pytest.raises(Refused, match="body_size_max is 3") as refusal:
            verb()
        assert refusal.value.code == TOO_LARGE
    assert broker.queues == {}


def test_a_broker_that_is_shut_takes_no_message_and_does_all_else() -> None:
    broker = make_broker(body_size_max=3)
    broker.bind(b"q", (b"e",))
    inbox = Inbox(manual=True)
    broker.subscribe(b"q", inbox, None, 0)
    broker.publish(Message(b"1", b"e", b"x", 0, "test"))
    broker.shut("no room in here")
    position = broker.log.position
    for send in (broker.publish, lambda m: broker.put(b"new", m), lambda m: broker.broadcast(b"q", m)):
        with pytest.raises(Refused, match="no room in here") as refusal:
            send(Message(b"2", b"e", b"", 0, "test"))
        assert refusal.value.code == DISK_FULL
    assert (broker.refused, broker.published, broker.log.position) == (3, 1, position)
    assert b"new" not in broker.queues
    broker.reject(inbox.deliveries[0])
    broker.accept(inbox.deliveries[1])
    broker.delete(b"q")
    assert broker.log.position == position + 3
    broker.reopen()
    broker.put(b"new", Message(b"3", b"e", b"xxx", 0, "test"))
    with pytest.raises(Refused, match="body_size_max is 3"):
        broker.put(b"new", Message(b"4", b"e", b"xxxx", 0, "test"))


def test_limits_of_names_bindings_and_queues() -> None:
    broker = make_broker(name_size_max=4, queues_max=1, events_per_queue_max=2)
    with pytest.raises(Refused, match="name_size_max is 4"):
        broker.declare(b"12345")
    with pytest.raises(Refused, match="name_size_max is 4"):
        broker.bind(b"q", (b"12345",))
    with pytest.raises(Refused, match="events_per_queue_max is 2"):
        broker.bind(b"q", (b"1", b"2", b"3"))
    broker.declare(b"q")
    with pytest.raises(Refused, match="queues_max is 1"):
        broker.declare(b"r")


def test_usage_comes_back_to_nothing() -> None:
    broker = make_broker()
    bound_queue(broker)
    inbox = consumer(broker, manual=True, credit=2)
    publish(broker, 1, 2, 3, 4)
    assert broker.context.bytes > 0
    broker.reject(inbox.deliveries[0])
    broker.cancel(inbox, 0)
    consumer(broker)
    assert (broker.context.bytes, broker.queues[b"q"].bytes) == (0, 0)


def test_a_message_is_given_up_when_its_tries_are_used_up() -> None:
    broker = make_broker()
    limited = message(1)
    limited.options = DeliveryOptions(deliveries_max=2)
    inbox = consumer(broker, manual=True)
    broker.put(b"q", limited)
    broker.reject(inbox.deliveries[0])
    broker.reject(inbox.deliveries[1])
    queue = broker.queues[b"q"]
    assert (len(inbox.received), queue.ready, queue.unacked, queue.dropped) == (2, 0, 0, 1)


def test_a_revoked_message_is_dropped_when_the_queue_meets_it() -> None:
    broker = make_broker()
    revoked = message(1)
    broker.put(b"q", revoked)
    broker.put(b"q", message(2))
    broker.forget_request(revoked, revoke=True)
    assert ids(consumer(broker)) == ["2"]


def test_revoked_messages_do_not_pile_up_in_a_queue_nobody_serves() -> None:
    broker = make_broker()
    broker.put(b"q", message("kept"))
    for number in range(100):
        revoked = message(number)
        broker.put(b"q", revoked)
        broker.forget_request(revoked, revoke=True)
        broker.forget_request(revoked, revoke=True)
    queue = broker.queues[b"q"]
    assert queue.ready < 4
    assert [left.id for left, _ in queue.contents() if not left.revoked] == [b"kept"]
    assert ids(consumer(broker)) == ["kept"]
    assert (queue.ready, queue.bytes, queue.dropped) == (0, 0, 100)


# -- queues that go when they are unused -------------------------------------------------------------------------------


def restarted(broker: Broker, now: int) -> Broker:
    assert isinstance(broker.log, MemoryLog)
    again = replay(broker.log.entries, MemoryLog(), Limits())
    again.expect_consumers(now)
    return again


def test_a_queue_that_never_had_a_consumer_goes_when_its_time_is_over() -> None:
    broker = make_broker()
    broker.set_time(10 * SECOND)
    broker.expire(b"q", 5 * SECOND)
    broker.put(b"q", Message(b"m", b"q", b"x", 10 * SECOND, "test"))
    broker.tick(15 * SECOND - 1)
    assert b"q" in broker.queues
    broker.tick(15 * SECOND)
    assert b"q" not in broker.queues


def test_the_time_of_an_unused_queue_begins_anew_when_it_is_changed_and_ends_with_never() -> None:
    broker = make_broker()
    broker.set_time(0)
    broker.expire(b"q", 5 * SECOND)
    broker.set_time(4 * SECOND)
    broker.expire(b"q", 10 * SECOND)
    broker.tick(14 * SECOND - 1)
    assert b"q" in broker.queues
    broker.expire(b"q", NEVER)
    broker.tick(1000 * SECOND)
    assert b"q" in broker.queues


def test_a_consumer_that_comes_stops_the_time_of_a_queue_that_had_none() -> None:
    broker = make_broker()
    broker.expire(b"q", 5 * SECOND)
    consumer(broker)
    broker.tick(100 * SECOND)
    assert b"q" in broker.queues


def test_a_queue_that_goes_with_its_last_consumer_waits_for_its_first_also_after_a_restart() -> None:
    broker = make_broker()
    broker.expire(b"q", 0)
    broker.put(b"q", Message(b"m", b"q", b"x", 0, "test"))
    broker.tick(1000 * SECOND)
    again = restarted(broker, 1000 * SECOND)
    again.tick(1000 * SECOND + 2 * RETURN_TIME)
    assert again.queues[b"q"].ready == 1
    inbox = Inbox()
    again.subscribe(b"q", inbox, None, 2000 * SECOND)
    again.cancel(inbox, 2000 * SECOND)
    assert b"q" not in again.queues


@pytest.mark.parametrize("before", [True, False])
def test_a_queue_whose_last_consumer_left_with_the_broker_goes_after_a_restart(before: bool) -> None:
    """Whether it was told so before its consumer came or while it was there."""
    broker = make_broker()
    if before:
        broker.expire(b"q", 0)
    consumer(broker)
    broker.expire(b"q", 0)
    again = restarted(broker, 1000 * SECOND)
    again.tick(1000 * SECOND + RETURN_TIME - 1)
    assert b"q" in again.queues
    again.tick(1000 * SECOND + RETURN_TIME)
    assert b"q" not in again.queues


def test_a_queue_that_expires_has_its_time_after_a_restart_whether_it_had_a_consumer_or_not() -> None:
    broker = make_broker()
    broker.expire(b"q", 100 * SECOND)
    again = restarted(broker, 1000 * SECOND)
    again.tick(1100 * SECOND - 1)
    assert b"q" in again.queues
    again.tick(1100 * SECOND)
    assert b"q" not in again.queues


def test_queues_that_go_away_when_unused_are_counted() -> None:
    broker = make_broker()
    for name, after in ((b"a", 5), (b"b", NEVER), (b"c", 0)):
        broker.bind(name, (b"e",))
        consumer(broker, name)
        broker.expire(name, after)
    assert broker.expiring() == 2


def test_the_bindings_of_all_queues_have_a_share_of_the_memory() -> None:
    broker = Broker(MemoryLog(), Limits(memory_bytes_max=4 << 20))
    events = tuple(b"%04d" % number + b"x" * 996 for number in range(400))
    broker.bind(b"first", events)
    broker.bind(b"second", events)
    with pytest.raises(Refused, match="a share of memory_bytes_max") as refusal:
        broker.bind(b"third", events)
    assert refusal.value.code == OVER_LIMIT
    assert b"third" not in broker.queues
    broker.bind(b"second", events)  # what is there may stay
    broker.bind(b"second", events[:10])  # and become less
    broker.delete(b"first")
    broker.bind(b"third", events)
    with pytest.raises(Refused):
        broker.bind(b"fourth", (), (b'{"%s": 1}' % (b"k" * 160_000),))
    for name in list(broker.queues):
        broker.delete(name)
    assert broker.routing.costs.taken == 0


def test_consumers_behind_an_exclusive_one_are_counted() -> None:
    broker = Broker(MemoryLog(), Limits())
    first, second = Inbox(b"1", exclusive=True), Inbox(b"2")
    broker.subscribe(b"q", first, None, 0)
    queue = broker.subscribe(b"q", second, None, 0)
    assert queue.consumer_count() == 2
    broker.cancel(first, 0)
    assert queue.consumer_count() == 1
    assert second.active


def test_an_event_goes_to_so_many_queues_and_no_more() -> None:
    broker = Broker(MemoryLog(), Limits(queues_per_event_max=3))
    for name in (b"a", b"b", b"c"):
        broker.bind(name, (b"e",))
    with pytest.raises(Refused, match="event b'e' is bound to 3 queues: the maximum is 3"):
        broker.bind(b"one more", (b"other", b"e"))
    assert b"one more" not in broker.queues
    broker.bind(b"a", (b"e", b"other"))  # is bound to it already
    broker.delete(b"b")
    broker.bind(b"one more", (b"e",))
