"""Delays, retries, time to live, dead letters and their return, limits by policy, alarms, repeated publishes.

Time is an argument everywhere. After each test the broker is compared with a replay of its log.
"""

from collections.abc import Iterator

import orjson
import pytest

from penstock.core.broker import Broker
from penstock.core.context import Alarm
from penstock.core.fullness import ALARM_PAUSE, ALARMS_MAX
from penstock.core.invariants import wrong_memory
from penstock.core.limits import DEAD_LETTER, DROP_OLDEST, REFUSE, Limits
from penstock.core.policy import Policies, Rule
from penstock.core.queue import Queue
from penstock.core.replay import durable_state, replay
from penstock.core.subscription import Inbox
from penstock.errors import DISK_FULL, NOT_FOUND, OVER_LIMIT, Refused
from penstock.log.memory import MemoryLog
from penstock.message import DeliveryOptions, Message

SECOND = 1_000_000
START = 1_000 * SECOND


class Bench:
    """A broker whose log is kept, with a consumer for each queue that wants one."""

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self.log = MemoryLog(keep=True)
        self.broker = Broker(self.log, self.limits)
        self.rules: list[Rule] = []
        self.now = START
        self.broker.set_time(self.now)

    def rule(self, *globs: bytes, **settings: object) -> None:
        self.rules.append(Rule(list(globs), **settings))  # type: ignore[arg-type]
        self.broker.set_policies(self.rules)

    def put(
        self, id: bytes, queue: bytes = b"q", body: bytes = b"body", terms: DeliveryOptions | None = None
    ) -> Message:
        message = Message(id, queue, body, self.now, "test")
        message.options = terms
        self.broker.put(queue, message)
        return message

    def publish(self, id: bytes, event: bytes = b"e", terms: DeliveryOptions | None = None) -> Message:
        message = Message(id, event, b"body", self.now, "test")
        message.options = terms
        self.broker.publish(message)
        return message

    def consume(self, queue: bytes = b"q", manual: bool = True) -> Inbox:
        inbox = Inbox(b"c", manual=manual)
        self.broker.subscribe(queue, inbox, None, self.now)
        return inbox

    def pass_time(self, seconds: float) -> None:
        self.now += round(seconds * SECOND)
        self.broker.tick(self.now)

    def queue(self, name: bytes = b"q") -> Queue:
        return self.broker.queues[name]

    def ids(self, name: bytes = b"q") -> list[bytes]:
        return [message.id for message, _ in self.queue(name).contents()]

    def rebuilt(self) -> Broker:
        return replay(self.log.entries, MemoryLog(), self.limits)


@pytest.fixture
def bench() -> Iterator[Bench]:
    made = Bench()
    yield made
    assert durable_state(made.rebuilt()) == durable_state(made.broker)
    assert made.rebuilt().dedup.contents() == made.broker.dedup.contents()
    assert wrong_memory(made.broker.context) == ""
    rebuilt = made.rebuilt()
    assert [queue.size() for queue in rebuilt.queues.values()] == [
        queue.size() for queue in made.broker.queues.values()
    ]
    assert rebuilt.context.bytes == made.broker.context.bytes
    assert wrong_memory(rebuilt.context) == ""


def got(inbox: Inbox) -> list[tuple[bytes, int]]:
    return [(message.id, retry) for message, retry in inbox.received]


# -- delays ------------------------------------------------------------------------------------------------------------


def test_a_delayed_message_is_delivered_when_it_is_due_and_not_before(bench: Bench) -> None:
    inbox = bench.consume()
    bench.put(b"late", terms=DeliveryOptions(due_at=START + 5 * SECOND))
    bench.put(b"now")
    assert got(inbox) == [(b"now", 0)]
    assert (bench.queue().ready, len(bench.queue().delayed)) == (0, 1)
    bench.pass_time(4.999999)
    assert got(inbox) == [(b"now", 0)]
    bench.pass_time(0.000001)
    assert got(inbox) == [(b"now", 0), (b"late", 0)]
    assert len(bench.queue().delayed) == 0


def test_delayed_messages_come_in_order_of_their_times_behind_what_is_there(bench: Bench) -> None:
    for id, seconds in [(b"c", 3), (b"a", 1), (b"b", 2), (b"b2", 2)]:
        bench.put(id, terms=DeliveryOptions(due_at=START + seconds * SECOND))
    bench.put(b"first")
    bench.pass_time(3)
    bench.put(b"last")
    assert bench.ids() == [b"first", b"a", b"b", b"b2", b"c", b"last"]


def test_a_delay_in_the_past_is_none(bench: Bench) -> None:
    bench.put(b"m", terms=DeliveryOptions(due_at=START))
    assert bench.ids() == [b"m"]


def test_each_queue_of_an_event_waits_for_itself(bench: Bench) -> None:
    bench.broker.bind(b"q1", (b"e",))
    bench.broker.bind(b"q2", (b"e",))
    first, second = bench.consume(b"q1"), bench.consume(b"q2")
    bench.publish(b"m", terms=DeliveryOptions(due_at=START + SECOND))
    bench.broker.delete(b"q2")
    bench.pass_time(1)
    assert (got(first), got(second)) == ([(b"m", 0)], [])


def test_what_is_delayed_is_there_after_a_restart_and_comes_due_by_its_time(bench: Bench) -> None:
    bench.put(b"soon", terms=DeliveryOptions(due_at=START + SECOND))
    bench.put(b"later", terms=DeliveryOptions(due_at=START + 100 * SECOND))
    again = bench.rebuilt()
    assert [message.id for message, _ in again.queues[b"q"].contents()] == []
    again.tick(START + 50 * SECOND)
    assert [message.id for message, _ in again.queues[b"q"].contents()] == [b"soon"]


def test_delayed_messages_count_in_the_limits(bench: Bench) -> None:
    bench.rule(b"q", length_max=2)
    bench.put(b"1", terms=DeliveryOptions(due_at=START + SECOND))
    bench.put(b"2")
    with pytest.raises(Refused) as refused:
        bench.put(b"3")
    assert refused.value.code == OVER_LIMIT
    assert "length_max of its policy is 2" in str(refused.value)
    assert bench.broker.get(b"q") is not None
    bench.put(b"4")


def test_many_that_are_due_at_once_come_in_several_turns(bench: Bench) -> None:
    count = 1001
    for number in range(count):
        bench.put(b"%d" % number, body=b"", terms=DeliveryOptions(due_at=START + SECOND))
    bench.pass_time(1)
    assert bench.queue().ready == 1000
    bench.pass_time(0)
    assert bench.ids() == [b"%d" % number for number in range(count)]


# -- retries -----------------------------------------------------------------------------------------------------------


def test_a_rejected_message_may_be_put_off(bench: Bench) -> None:
    inbox = bench.consume()
    bench.put(b"m")
    bench.broker.reject(inbox.deliveries[0], bench.now + 5 * SECOND)
    assert (got(inbox), len(bench.queue().delayed)) == ([(b"m", 0)], 1)
    assert [entry.retry for entry in bench.rebuilt().queues[b"q"].delayed.entries()] == [1]
    bench.pass_time(5)
    assert got(inbox) == [(b"m", 0), (b"m", 1)]


def test_the_policy_makes_the_pause_between_tries_longer_each_time(bench: Bench) -> None:
    bench.rule(b"q", retry_delay=SECOND, retry_backoff=2.0, retry_delay_max=5 * SECOND)
    inbox = bench.consume()
    bench.put(b"m")
    pauses: list[float] = []
    for number in range(5):
        bench.broker.reject(inbox.deliveries[number])
        (entry,) = bench.queue().delayed.entries()
        pauses.append((entry.due_at - bench.now) / SECOND)
        bench.pass_time(pauses[-1])
    assert pauses == [1, 2, 4, 5, 5]
    assert got(inbox)[-1] == (b"m", 5)


def test_a_consumer_may_ask_for_a_try_at_once_whatever_the_policy_says(bench: Bench) -> None:
    bench.rule(b"q", retry_delay=SECOND)
    inbox = bench.consume()
    bench.put(b"m")
    bench.broker.reject(inbox.deliveries[0], 0)
    assert got(inbox) == [(b"m", 0), (b"m", 1)]


def test_what_a_consumer_held_when_it_left_is_not_put_off(bench: Bench) -> None:
    bench.rule(b"q", retry_delay=SECOND)
    inbox = bench.consume()
    bench.put(b"m")
    bench.broker.cancel(inbox, bench.now)
    assert (bench.queue().ready, len(bench.queue().delayed)) == (1, 0)


@pytest.mark.parametrize(("own", "by_policy", "tries"), [(2, 0, 2), (0, 3, 3), (2, 3, 2), (3, 2, 2)])
def test_a_message_is_tried_as_often_as_it_or_its_queue_allows(
    bench: Bench, own: int, by_policy: int, tries: int
) -> None:
    bench.rule(b"q", deliveries_max=by_policy)
    inbox = bench.consume()
    bench.put(b"m", terms=DeliveryOptions(deliveries_max=own))
    while bench.queue().unacked:
        bench.broker.reject(inbox.deliveries[-1])
    assert got(inbox) == [(b"m", retry) for retry in range(tries)]
    assert (bench.queue().dropped, bench.ids()) == (1, [])


def test_tries_are_counted_across_a_restart(bench: Bench) -> None:
    inbox = bench.consume()
    bench.put(b"m", terms=DeliveryOptions(deliveries_max=2))
    bench.broker.reject(inbox.deliveries[0])
    again = bench.rebuilt()
    inbox = Inbox(manual=True)
    again.subscribe(b"q", inbox, None, bench.now)
    again.reject(inbox.deliveries[0])
    assert again.queues[b"q"].contents() == []


# -- time to live ------------------------------------------------------------------------------------------------------


def test_a_message_whose_time_is_over_goes_by_itself(bench: Bench) -> None:
    bench.put(b"m", terms=DeliveryOptions(expires_at=START + SECOND))
    bench.put(b"stays")
    bench.pass_time(0.999)
    assert bench.ids() == [b"m", b"stays"]
    bench.pass_time(0.001)
    assert bench.ids() == [b"stays"]
    assert (bench.queue().expired, bench.queue().dropped) == (1, 0)


def test_the_policy_gives_all_messages_of_a_queue_a_time(bench: Bench) -> None:
    bench.rule(b"q", ttl=10 * SECOND)
    bench.put(b"1")
    bench.pass_time(4)
    bench.put(b"2", terms=DeliveryOptions(expires_at=bench.now + SECOND))
    bench.put(b"3", terms=DeliveryOptions(expires_at=bench.now + 100 * SECOND))
    bench.pass_time(6)  # 2 has been over for long, behind 1
    assert bench.ids() == [b"3"]
    bench.pass_time(3.999)
    assert bench.ids() == [b"3"]
    bench.pass_time(0.001)
    assert (bench.ids(), bench.queue().expired) == ([], 3)


def test_one_behind_another_that_stays_is_looked_at_when_it_is_first(bench: Bench) -> None:
    bench.put(b"stays")
    bench.put(b"m", terms=DeliveryOptions(expires_at=START + SECOND))
    bench.pass_time(2)
    assert bench.ids() == [b"stays", b"m"]
    inbox = bench.consume()
    assert (got(inbox), bench.queue().expired) == ([(b"stays", 0)], 1)


def test_a_message_in_hands_does_not_expire_and_is_given_up_when_it_comes_back(bench: Bench) -> None:
    inbox = bench.consume()
    bench.put(b"m", terms=DeliveryOptions(expires_at=START + SECOND))
    bench.pass_time(2)
    assert (bench.queue().unacked, bench.queue().expired) == (1, 0)
    bench.broker.cancel(inbox, bench.now)
    assert bench.broker.get(b"q") is None
    assert bench.queue().expired == 1


def test_get_gives_nothing_whose_time_is_over(bench: Bench) -> None:
    bench.put(b"m", terms=DeliveryOptions(expires_at=START + SECOND))
    bench.put(b"n")
    bench.broker.set_time(START + SECOND)
    taken = bench.broker.get(b"q")
    assert taken is not None
    assert taken.id == b"n"


def test_the_time_of_a_delayed_message_begins_when_it_is_due(bench: Bench) -> None:
    bench.rule(b"q", ttl=SECOND)
    bench.put(b"m", terms=DeliveryOptions(due_at=START + 10 * SECOND))
    bench.pass_time(10)
    assert bench.ids() == [b"m"]
    bench.pass_time(1)
    assert bench.ids() == []


def test_what_was_over_while_the_broker_was_down_is_not_delivered(bench: Bench) -> None:
    bench.put(b"m", terms=DeliveryOptions(expires_at=START + SECOND))
    again = bench.rebuilt()
    inbox = Inbox()
    again.subscribe(b"q", inbox, None, START + 2 * SECOND)
    assert (inbox.received, again.queues[b"q"].expired) == ([], 1)


def test_a_policy_that_comes_later_holds_for_what_is_there(bench: Bench) -> None:
    bench.put(b"m")
    bench.pass_time(100)
    bench.rule(b"q", ttl=SECOND)
    bench.pass_time(0)
    assert bench.queue().expired == 1


# -- dead letters ------------------------------------------------------------------------------------------------------


def headers_of(bench: Bench, name: bytes) -> dict[bytes, bytes]:
    ((message, _),) = bench.queue(name).contents()
    assert message.headers is not None
    return message.headers


def test_a_worn_out_message_becomes_a_dead_letter_that_says_what_happened(bench: Bench) -> None:
    bench.rule(b"q", deliveries_max=2, dead_letter=b"{queue}.dead")
    bench.broker.bind(b"q", (b"e",))
    inbox = bench.consume()
    bench.publish(b"m")
    bench.broker.reject(inbox.deliveries[0])
    bench.pass_time(1.5)
    bench.broker.reject(inbox.deliveries[1])
    assert (bench.ids(), bench.ids(b"q.dead")) == ([], [b"m"])
    ((letter, retry),) = bench.queue(b"q.dead").contents()
    assert (letter.event, letter.body, letter.protocol, retry) == (b"e", b"body", "test", 0)
    assert letter.headers == {
        b"dead-reason": b"deliveries",
        b"dead-queue": b"q",
        b"dead-at": b"1970-01-01T00:16:41.500000Z",
        b"dead-retries": b"2",
        b"dead-published-at": b"1970-01-01T00:16:40.000000Z",
    }
    assert (bench.queue().dead_lettered, bench.queue().dropped) == (1, 0)


def test_each_way_to_die_has_its_reason(bench: Bench) -> None:
    bench.rule(b"*", dead_letter=b"dead.{queue}")
    bench.rule(b"small", length_max=1, full=DEAD_LETTER)
    bench.put(b"1", b"short", terms=DeliveryOptions(expires_at=START + SECOND))
    bench.pass_time(1)
    bench.put(b"2", b"small")
    bench.put(b"3", b"small")
    inbox = bench.consume(b"refused")
    bench.put(b"4", b"refused")
    bench.broker.bury(inbox.deliveries[0])
    reasons = {name: headers_of(bench, b"dead." + name)[b"dead-reason"] for name in (b"short", b"small", b"refused")}
    assert reasons == {b"short": b"expired", b"small": b"full", b"refused": b"rejected"}
    retries = {name: headers_of(bench, b"dead." + name)[b"dead-retries"] for name in (b"short", b"small", b"refused")}
    assert retries == {b"short": b"0", b"small": b"0", b"refused": b"1"}  # the first two were never tried
    assert (bench.ids(b"dead.small"), bench.ids(b"small")) == ([b"2"], [b"3"])
    assert bench.queue(b"short").expired == 1


def test_a_consumer_that_leaves_with_the_last_try_leaves_a_dead_letter(bench: Bench) -> None:
    bench.rule(b"q", deliveries_max=1, dead_letter=b"dead")
    inbox = bench.consume()
    bench.put(b"m")
    bench.broker.cancel(inbox, bench.now)
    assert headers_of(bench, b"dead")[b"dead-reason"] == b"deliveries"


def test_what_is_given_up_without_a_dead_letter_queue_is_gone(bench: Bench) -> None:
    inbox = bench.consume()
    bench.put(b"m")
    bench.broker.bury(inbox.deliveries[0])
    assert (bench.ids(), bench.queue().dropped) == ([], 1)


def test_the_dead_letter_is_in_the_log_before_the_end_of_the_message(bench: Bench) -> None:
    """Whoever crashes in between has it twice, and not never."""
    bench.rule(b"q", dead_letter=b"dead")
    inbox = bench.consume()
    bench.put(b"m")
    bench.broker.bury(inbox.deliveries[0])
    again = replay(bench.log.entries[:-1], MemoryLog(), bench.limits)
    assert [len(again.queues[name].contents()) for name in (b"q", b"dead")] == [1, 1]


def test_a_full_dead_letter_queue_keeps_the_message_where_it_is(bench: Bench) -> None:
    bench.rule(b"q", deliveries_max=1, dead_letter=b"dead")
    bench.rule(b"dead", length_max=1)
    inbox = bench.consume()
    bench.put(b"1")
    bench.put(b"2")
    bench.broker.reject(inbox.deliveries[0])
    bench.broker.reject(inbox.deliveries[1])
    assert (bench.ids(b"dead"), got(inbox)[-1]) == ([b"1"], (b"2", 1))
    assert bench.broker.get(b"dead") is not None
    bench.broker.reject(inbox.deliveries[2])
    assert bench.ids(b"dead") == [b"2"]


def test_what_is_over_waits_for_room_in_the_dead_letter_queue_and_is_rather_late_than_lost(bench: Bench) -> None:
    bench.rule(b"q", ttl=SECOND, dead_letter=b"dead")
    bench.rule(b"dead", length_max=1)
    bench.put(b"1")
    bench.put(b"2")
    bench.pass_time(1)
    assert (bench.ids(b"dead"), bench.ids()) == ([b"1"], [b"2"])
    bench.pass_time(0)  # does not go round and round
    assert bench.broker.deadlines.next_due() > bench.now
    assert bench.broker.get(b"dead") is not None
    bench.pass_time(1)
    assert (bench.ids(b"dead"), bench.ids()) == ([b"2"], [])


def test_two_full_queues_that_are_each_others_dead_letter_queue_come_to_an_end(bench: Bench) -> None:
    bench.rule(b"a", dead_letter=b"b")
    bench.rule(b"b", dead_letter=b"a")
    bench.rule(b"*", length_max=1, full=DEAD_LETTER)
    bench.put(b"1", b"a")
    bench.put(b"2", b"b")
    with pytest.raises(Refused):
        bench.put(b"3", b"a")
    assert (bench.ids(b"a"), bench.ids(b"b")) == ([b"1"], [b"2"])


def test_a_dead_letter_queue_that_drops_its_oldest_takes_the_newest(bench: Bench) -> None:
    bench.rule(b"q", dead_letter=b"dead", length_max=1, full=DEAD_LETTER)
    bench.rule(b"dead", length_max=1, full=DROP_OLDEST)
    for id in (b"1", b"2", b"3"):
        bench.put(id)
    assert (bench.ids(), bench.ids(b"dead")) == ([b"3"], [b"2"])


def test_while_the_disk_is_full_nothing_dies(bench: Bench) -> None:
    bench.rule(b"q", deliveries_max=1, dead_letter=b"dead")
    inbox = bench.consume()
    bench.put(b"m")
    bench.broker.shut("no room")
    bench.broker.reject(inbox.deliveries[0])
    assert got(inbox) == [(b"m", 0), (b"m", 1)]
    assert b"dead" not in bench.broker.queues
    with pytest.raises(Refused) as refused:
        bench.broker.redrive(b"q", 1, b"", bench.now)
    assert refused.value.code == DISK_FULL


# -- redrive -----------------------------------------------------------------------------------------------------------


def dead_bench(bench: Bench, count: int = 3) -> None:
    """So many dead letters of q in q.dead."""
    bench.rule(b"q", dead_letter=b"{queue}.dead")
    bench.broker.bind(b"q", (b"e",))
    inbox = bench.consume()
    for number in range(count):
        bench.publish(b"%d" % number)
    for delivery in list(inbox.deliveries):
        bench.broker.bury(delivery)
    bench.broker.cancel(inbox, bench.now)


def test_dead_letters_go_back_to_where_they_died_as_if_new(bench: Bench) -> None:
    dead_bench(bench)
    bench.pass_time(60)
    assert bench.broker.redrive_targets(b"q.dead", 10, b"") == {b"q": 3}
    assert bench.broker.redrive(b"q.dead", 2, b"", bench.now) == 2
    assert (bench.ids(), bench.ids(b"q.dead")) == ([b"0", b"1"], [b"2"])
    message, retry = bench.queue().contents()[0]
    assert (message.event, message.published_at, retry) == (b"e", bench.now, 0)
    assert message.headers is not None
    assert set(message.headers) == {b"dead-history", b"dead-published-at"}
    assert orjson.loads(message.headers[b"dead-history"]) == [
        {"reason": "rejected", "queue": "q", "at": "1970-01-01T00:16:40.000000Z", "retries": 1}
    ]


def test_a_message_that_dies_again_keeps_its_history(bench: Bench) -> None:
    dead_bench(bench, 1)
    for _ in range(25):
        bench.pass_time(1)
        bench.broker.redrive(b"q.dead", 1, b"", bench.now)
        inbox = bench.consume()
        bench.broker.bury(inbox.deliveries[0])
        bench.broker.cancel(inbox, bench.now)
    headers = headers_of(bench, b"q.dead")
    history = orjson.loads(headers[b"dead-history"])
    assert (len(history), headers[b"dead-at"]) == (20, b"1970-01-01T00:17:05.000000Z")
    assert history[-1]["at"] == "1970-01-01T00:17:04.000000Z"
    assert headers[b"dead-published-at"] == b"1970-01-01T00:16:40.000000Z"


def test_dead_letters_may_be_sent_elsewhere(bench: Bench) -> None:
    dead_bench(bench)
    assert bench.broker.redrive_targets(b"q.dead", 2, b"other") == {b"other": 2}
    assert bench.broker.redrive(b"q.dead", 10, b"other", bench.now) == 3
    assert bench.ids(b"other") == [b"0", b"1", b"2"]


def test_what_never_died_stays_in_its_place(bench: Bench) -> None:
    dead_bench(bench, 2)
    bench.put(b"alive", b"q.dead")
    assert bench.broker.redrive(b"q.dead", 10, b"", bench.now) == 2
    assert bench.ids(b"q.dead") == [b"alive"]
    assert bench.broker.redrive_targets(b"q.dead", 10, b"") == {}


def test_a_full_queue_ends_a_redrive_and_nothing_is_lost(bench: Bench) -> None:
    dead_bench(bench)
    bench.rule(b"q", length_max=2)
    assert bench.broker.redrive(b"q.dead", 10, b"", bench.now) == 2
    assert (bench.ids(), bench.ids(b"q.dead")) == ([b"0", b"1"], [b"2"])


def test_what_is_out_is_not_redriven(bench: Bench) -> None:
    dead_bench(bench)
    inbox = Inbox(manual=True, credit=1)
    bench.broker.subscribe(b"q.dead", inbox, None, bench.now)
    assert bench.broker.redrive(b"q.dead", 10, b"", bench.now) == 2
    assert bench.ids(b"q.dead") == [b"0"]


def test_there_is_nothing_to_redrive_in_a_queue_that_is_not_there(bench: Bench) -> None:
    for verb in (lambda: bench.broker.redrive(b"no", 1, b"", 0), lambda: bench.broker.redrive_targets(b"no", 1, b"")):
        with pytest.raises(Refused) as refused:
            verb()
        assert refused.value.code == NOT_FOUND


# -- policies ----------------------------------------------------------------------------------------------------------


def test_later_rules_override_earlier_ones_setting_by_setting() -> None:
    rules = [Rule([b"*"], length_max=5, ttl=7), Rule([b"orders.*", b"x?"], length_max=9), Rule([b"orders.eu"], ttl=0)]
    policies = Policies(rules, Limits(queue_bytes_max=1000))
    found = {name: policies.of(name) for name in (b"jobs", b"orders.us", b"orders.eu", b"x1", b"x12")}
    assert {name: (policy.length_max, policy.ttl) for name, policy in found.items()} == {
        b"jobs": (5, 7),
        b"orders.us": (9, 7),
        b"orders.eu": (9, 0),
        b"x1": (9, 7),
        b"x12": (5, 7),
    }
    assert {policy.bytes_max for policy in found.values()} == {1000}


def test_a_rule_is_not_for_the_dead_letter_queues_it_names() -> None:
    policies = Policies([Rule([b"*"], ttl=5, dead_letter=b"{queue}.dead")], Limits())
    assert (policies.of(b"q").dead_letter, policies.of(b"q").ttl) == (b"q.dead", 5)
    assert (policies.of(b"q.dead").dead_letter, policies.of(b"q.dead").ttl) == (b"", 0)
    assert policies.of(b".dead").dead_letter == b".dead.dead"  # the name of no queue's
    policies = Policies([Rule([b"*"], dead_letter=b"dead")], Limits())
    assert (policies.of(b"dead").dead_letter, policies.of(b"x").dead_letter) == (b"", b"dead")


def test_names_are_bytes_and_so_are_globs() -> None:
    policies = Policies([Rule([b"caf\xe9*"], length_max=5), Rule(["münz*".encode()], length_max=6)], Limits())
    assert [policies.of(name).length_max for name in (b"caf\xe9\n\xff", "münze".encode())] == [5, 6]
    assert policies.of(b"Caf\xe9").length_max != 5


def test_policies_may_change_while_the_broker_runs(bench: Bench) -> None:
    bench.rule(b"q", length_max=1)
    bench.put(b"1")
    with pytest.raises(Refused):
        bench.put(b"2")
    bench.rule(b"q", length_max=2)
    bench.put(b"3")
    assert bench.ids() == [b"1", b"3"]


# -- alarms ------------------------------------------------------------------------------------------------------------


def alarms(bench: Bench) -> list[tuple[str, int]]:
    found = [(alarm.kind, alarm.length) for alarm in bench.broker.context.alarms]
    bench.broker.context.alarms.clear()
    return found


def test_there_is_one_alarm_before_a_queue_is_full_and_one_when_it_is(bench: Bench) -> None:
    bench.rule(b"q", length_max=10, full=REFUSE)
    for number in range(7):
        bench.put(b"%d" % number)
    assert alarms(bench) == []
    for number in range(3):
        bench.put(b"%d" % number)
    assert alarms(bench) == [(Alarm.FILLING, 8)]
    for _ in range(3):
        with pytest.raises(Refused):
            bench.put(b"x")
    assert alarms(bench) == [(Alarm.FULL, 10)]


def test_an_alarm_comes_again_only_after_the_queue_has_fallen_well_below_the_mark(bench: Bench) -> None:
    bench.rule(b"q", length_max=100, alarm=0.5)
    for number in range(50):
        bench.put(b"%d" % number)
    assert alarms(bench) == [(Alarm.FILLING, 50)]
    bench.pass_time(10)
    for _ in range(5):
        bench.broker.get(b"q")
    for number in range(5):
        bench.put(b"%d" % number)
    assert alarms(bench) == []
    for _ in range(6):
        bench.broker.get(b"q")
    for number in range(6):
        bench.put(b"%d" % number)
    assert alarms(bench) == [(Alarm.FILLING, 50)]


def test_bytes_give_alarm_too_and_it_names_the_limit_that_is_near(bench: Bench) -> None:
    bench.rule(b"q", bytes_max=10_000)
    bench.put(b"1", body=bytes(8000))
    (alarm,) = bench.broker.context.alarms
    assert (alarm.kind, alarm.queue, alarm.limit_name, alarm.limit) == (
        Alarm.FILLING,
        b"q",
        "bytes_max of its policy",
        10_000,
    )


def test_drop_oldest_and_dead_letter_give_alarm_when_they_begin(bench: Bench) -> None:
    bench.rule(b"q", length_max=1, full=DROP_OLDEST)
    for id in (b"1", b"2", b"3"):
        bench.put(id)
    assert alarms(bench) == [(Alarm.FILLING, 1), (Alarm.FULL, 1)]
    assert bench.ids() == [b"3"]


def test_an_alarm_of_a_kind_comes_once_in_a_while_however_often_the_queue_fills(bench: Bench) -> None:
    bench.rule(b"q", length_max=1, full=REFUSE)

    def fill() -> list[tuple[str, int]]:
        """Fill the queue, be refused, empty it."""
        bench.put(b"1")
        for _ in range(2):
            with pytest.raises(Refused):
                bench.put(b"2")
        assert bench.broker.get(b"q") is not None
        return alarms(bench)

    both = [(Alarm.FILLING, 1), (Alarm.FULL, 1)]
    assert fill() == both
    assert fill() == []
    bench.pass_time((ALARM_PAUSE - 1) / SECOND)
    assert fill() == []
    bench.pass_time(1 / SECOND)
    assert fill() == both
    bench.pass_time(1)
    assert fill() == []
    bench.rule(b"q", length_max=1, full=REFUSE)  # under another policy it is another matter
    assert fill() == both


def test_a_queue_that_is_full_gives_alarm_again_when_its_policy_changes(bench: Bench) -> None:
    bench.rule(b"q", length_max=2, full=REFUSE)
    for id in (b"1", b"2"):
        bench.put(id)
    for filling_at in (1, 2):
        with pytest.raises(Refused):
            bench.put(b"3")
        assert alarms(bench) == [(Alarm.FILLING, filling_at), (Alarm.FULL, 2)]
        bench.rule(b"q", length_max=2, full=REFUSE)


def test_alarms_nobody_has_told_yet_are_kept_up_to_a_number(bench: Bench) -> None:
    bench.rule(b"*", length_max=1, full=REFUSE)
    for number in range(ALARMS_MAX + 2):
        bench.put(b"1", b"q%d" % number)
    kept = bench.broker.context.alarms
    assert [alarm.queue for alarm in kept] == [b"q%d" % number for number in range(ALARMS_MAX)]
    kept.clear()
    bench.put(b"1", b"another")
    assert [(alarm.queue, alarm.kind) for alarm in kept] == [(b"another", Alarm.FILLING)]


# -- repeated publishes ------------------------------------------------------------------------------------------------


def test_the_same_id_again_is_the_same_message(bench: Bench) -> None:
    bench.broker.bind(b"q", (b"e",))
    for _ in range(3):
        bench.publish(b"m", terms=DeliveryOptions(dedup_seconds=10))
        bench.put(b"m", terms=DeliveryOptions(dedup_seconds=10))
    assert (bench.ids(), bench.broker.deduplicated, bench.log.next_offset) == ([b"m"], 5, 1)
    bench.publish(b"m")  # does not ask for it
    assert bench.ids() == [b"m", b"m"]


def test_an_id_is_remembered_for_its_time_and_across_a_restart(bench: Bench) -> None:
    bench.broker.declare(b"q")
    bench.put(b"m", terms=DeliveryOptions(dedup_seconds=10))
    again = bench.rebuilt()
    message = Message(b"m", b"q", b"x", START + 10 * SECOND - 1, "test")
    message.options = DeliveryOptions(dedup_seconds=10)
    again.put(b"q", message)
    assert again.deduplicated == 1
    bench.pass_time(10)
    bench.put(b"m", terms=DeliveryOptions(dedup_seconds=10))
    assert (bench.ids(), bench.broker.deduplicated) == ([b"m", b"m"], 0)


def test_an_id_is_its_users_own(bench: Bench) -> None:
    bench.broker.declare(b"q")
    for owner in (b"ann", b"eve", b"ann", b"eve"):
        bench.put(b"pay-1001", terms=DeliveryOptions(dedup_seconds=10, owner=owner))
    assert (bench.ids(), bench.broker.deduplicated) == ([b"pay-1001"] * 2, 2)
    again = bench.rebuilt()
    for owner, known in ((b"ann", True), (b"bob", False)):
        message = Message(b"pay-1001", b"q", b"x", START, "test")
        message.options = DeliveryOptions(dedup_seconds=10, owner=owner)
        before = again.deduplicated
        again.put(b"q", message)
        assert (again.deduplicated - before == 1) is known


def test_no_id_can_be_made_up_that_is_another_users(bench: Bench) -> None:
    bench.broker.declare(b"q")
    bench.put(b"1", terms=DeliveryOptions(dedup_seconds=10, owner=b"ann"))
    bench.put(b"ann\x001", terms=DeliveryOptions(dedup_seconds=10, owner=b"eve"))
    bench.put(b"ann\x001", terms=DeliveryOptions(dedup_seconds=10))
    assert bench.broker.deduplicated == 0


def test_what_was_published_before_users_had_names_is_not_taken_again(bench: Bench) -> None:
    bench.broker.declare(b"q")
    bench.put(b"m", terms=DeliveryOptions(dedup_seconds=10))
    bench.put(b"m", terms=DeliveryOptions(dedup_seconds=10, owner=b"ann"))
    assert (bench.ids(), bench.broker.deduplicated) == ([b"m"], 1)


def test_a_policy_asks_by_user_as_well(bench: Bench) -> None:
    bench.rule(b"orders*", dedup_seconds=60)
    bench.broker.declare(b"orders")
    for owner in (b"ann", b"eve", b"ann"):
        message = Message(b"x", b"orders", b"", START, "test")
        bench.broker.own(message, owner)
        bench.broker.put(b"orders", message)
    assert bench.ids(b"orders") == [b"x", b"x"]


def test_only_so_many_ids_are_remembered(bench: Bench) -> None:
    bench.limits.dedup_ids_max = 2
    bench.broker = Broker(bench.log, bench.limits)
    for id in (b"1", b"2", b"3", b"1", b"3"):
        bench.put(id, terms=DeliveryOptions(dedup_seconds=10))
    assert bench.ids() == [b"1", b"2", b"3", b"1"]


def test_a_policy_asks_for_it_on_behalf_of_those_who_publish(bench: Bench) -> None:
    bench.rule(b"orders*", dedup_seconds=60)
    bench.broker.bind(b"q", (b"orders.new", b"other"))
    for event in (b"orders.new", b"orders.new", b"other", b"other"):
        bench.publish(event, event)
    bench.put(b"x", b"orders")
    bench.put(b"x", b"orders")
    assert (bench.ids(), bench.ids(b"orders")) == ([b"orders.new", b"other", b"other"], [b"x"])


def test_what_was_refused_may_be_sent_again(bench: Bench) -> None:
    """With one of its queues full it goes to none: sent again, it would not reach that one."""
    bench.rule(b"small", length_max=1)
    bench.broker.bind(b"small", (b"e",))
    bench.broker.bind(b"large", (b"e",))
    bench.put(b"1", b"small")
    with pytest.raises(Refused):
        bench.publish(b"m", terms=DeliveryOptions(dedup_seconds=10))
    assert bench.ids(b"large") == []
    bench.broker.get(b"small")
    bench.publish(b"m", terms=DeliveryOptions(dedup_seconds=10))
    assert (bench.ids(b"large"), bench.ids(b"small"), bench.broker.deduplicated) == ([b"m"], [b"m"], 0)


def test_an_event_nobody_wants_is_remembered_too(bench: Bench) -> None:
    bench.publish(b"m", terms=DeliveryOptions(dedup_seconds=10))
    bench.publish(b"m", terms=DeliveryOptions(dedup_seconds=10))
    assert (bench.broker.unrouted, bench.broker.deduplicated) == (1, 1)


@pytest.mark.parametrize("how", ["due", "expired"])
def test_what_is_due_of_many_queues_is_brought_in_turns_that_are_not_longer(bench: Bench, how: str) -> None:
    """And nobody's timer waits until all of it is done."""
    terms = DeliveryOptions(due_at=START + SECOND) if how == "due" else DeliveryOptions(expires_at=START + SECOND)
    names = [b"q%d" % number for number in range(8)]

    def put(name: bytes, terms: DeliveryOptions) -> None:
        message = Message(b"m", name, b"", START, "test")
        message.options = terms
        bench.broker.put(name, message)

    for name in names:
        for _ in range(1500):
            put(name, terms)
    put(b"late", DeliveryOptions(due_at=START + SECOND + 1))
    context, deadlines = bench.broker.context, bench.broker.deadlines
    now = START + 2 * SECOND
    worst = turns = 0
    late_after = 0
    while 0 <= deadlines.next_due() <= now:
        before = context.work
        bench.broker.tick(now)
        worst, turns = max(worst, context.work - before), turns + 1
        if bench.broker.queues[b"late"].ready and not late_after:
            late_after = turns
    ready = [bench.broker.queues[name].ready for name in names]
    assert ready == [1500 if how == "due" else 0] * len(names)
    assert worst <= 3 * 1024 + 100
    assert 4 <= turns <= 12
    assert late_after <= 5
