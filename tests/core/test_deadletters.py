"""Dead letters of any message: headers come from clients, and may say anything."""

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.core.broker import Broker
from penstock.core.deadletters import HISTORY_MAX, dead_letter, revived
from penstock.core.limits import Limits
from penstock.core.policy import Rule
from penstock.core.replay import durable_state, replay
from penstock.core.subscription import Inbox
from penstock.log.json_texts import decode_headers, encode_headers
from penstock.log.memory import MemoryLog
from penstock.message import Message

OWN = [b"dead-reason", b"dead-queue", b"dead-at", b"dead-retries", b"dead-published-at", b"dead-history"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
)
DEATH = st.fixed_dictionaries({}, optional=dict.fromkeys(("reason", "queue", "at", "retries", "more"), JSON))


def dumped(value: object) -> bytes:
    try:
        return orjson.dumps(value)
    except TypeError:
        return b"[1e999]"


TEXTS = st.one_of(
    st.binary(max_size=40),
    JSON.map(dumped),
    st.lists(DEATH, max_size=30).map(dumped),
    st.integers(1, 1000).map(lambda depth: b"[" * depth + b"]" * depth),
    st.integers(1, 1000).map(lambda depth: b'[{"reason":' * depth + b"1" + b"}]" * depth),
    st.integers(1, 6000).map(lambda digits: b"9" * digits),
    st.sampled_from([b'["\\ud800"]', "٣".encode(), b"\xed\xa0\x80", b"-1", b"[1e999]", b"NaN"]),
)
HEADERS = st.dictionaries(st.sampled_from(OWN) | st.binary(max_size=8), TEXTS, max_size=8)


def message_with(headers: dict[bytes, bytes] | None, id: bytes = b"m") -> Message:
    return Message(id, b"q", b"body", 7, "test", headers)


@given(HEADERS, st.integers(0, 1 << 62), st.integers(-(1 << 62), 1 << 62))
def test_every_message_can_die_and_come_back_whatever_its_headers_say(
    headers: dict[bytes, bytes], retry: int, now: int
) -> None:
    message = message_with(headers)
    for _ in range(3):
        message = dead_letter(message, b"q", retry, "expired", b"dead", now)
        assert message.headers is not None
        assert decode_headers(encode_headers(message.headers)) == message.headers
        message = revived(message, b"q", now)
    assert message.headers is not None
    history = orjson.loads(message.headers[b"dead-history"])
    assert len(history) <= HISTORY_MAX
    for death in history:
        assert set(death) == {"reason", "queue", "at", "retries"}
        assert all(isinstance(death[name], str) for name in ("reason", "queue", "at"))
        assert isinstance(death["retries"], int)
    assert history[-1]["reason"] == "expired"


def test_a_history_that_the_broker_wrote_is_kept_and_strange_entries_are_left_out() -> None:
    own = {"reason": "full", "queue": "q", "at": "then", "retries": 3}
    told = [own, {"reason": "full"}, {**own, "more": 1}, {**own, "retries": "3"}, {**own, "retries": True}, 7, [own]]
    headers = {b"dead-reason": b"expired", b"dead-history": orjson.dumps(told)}
    back = revived(message_with(headers), b"q", 0)
    assert back.headers is not None
    assert orjson.loads(back.headers[b"dead-history"]) == [
        own,
        {"reason": "expired", "queue": "", "at": "", "retries": 0},
    ]


@pytest.mark.parametrize("value", [b"[" * 300 + b"]" * 300, b'["\\ud800"]', b"9" * 5000])
@pytest.mark.parametrize("name", [b"dead-history", b"dead-retries"])
def test_rejecting_and_redriving_strange_headers_leaves_nothing_half_done(name: bytes, value: bytes) -> None:
    log = MemoryLog(keep=True)
    broker = Broker(log, Limits())
    broker.set_policies([Rule([b"q"], deliveries_max=1, dead_letter=b"dead")])
    inbox = Inbox(manual=True)
    broker.subscribe(b"q", inbox, None, 0)
    broker.put(b"q", message_with({b"dead-reason": b"x", name: value}))
    broker.reject(inbox.deliveries[0])
    assert broker.queues[b"dead"].ready == 1
    broker.cancel(inbox, 0)
    assert broker.redrive(b"dead", 10, b"", 1) == 1
    assert (broker.queues[b"q"].ready, broker.queues[b"dead"].ready) == (1, 0)
    assert durable_state(replay(log.entries, MemoryLog(), Limits())) == durable_state(broker)


def test_a_dead_letter_that_names_an_impossible_queue_does_not_keep_those_behind_it_from_going_back() -> None:
    broker = Broker(MemoryLog(), Limits())
    broker.put(b"dead", message_with({b"dead-queue": b"x" * 2000}, b"1"))
    broker.put(b"dead", message_with({b"dead-queue": b"q"}, b"2"))
    assert broker.redrive(b"dead", 10, b"", 1) == 1
    assert (broker.queues[b"q"].ready, broker.queues[b"dead"].ready) == (1, 1)
