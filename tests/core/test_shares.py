"""What everybody shares: nobody has more of it than is left for others."""

import pytest

from penstock.core.broker import Broker
from penstock.core.limits import Limits
from penstock.core.places import NO_HOLDER, Places
from penstock.core.subscription import Waiter
from penstock.errors import Refused
from penstock.log.memory import MemoryLog
from penstock.message import Message


def test_nobody_has_more_places_than_are_left_for_others() -> None:
    def fill(places: Places, holder: str) -> int:
        while places.has_room(holder):
            places.enter(holder)
        return places.held[holder]

    places = Places(12)
    assert [fill(places, holder) for holder in ("a", "b", "c", "d")] == [6, 3, 2, 1]
    assert not places.has_room("e")
    assert places.why_full("e", "streams") == "12 of 12 streams are in use"
    places.leave("a")
    assert (places.has_room("e"), places.has_room("a")) == (True, False)
    assert places.why_full("a", "streams") == "a has 5 of 12 streams (1 reserved for others)"
    assert fill(Places(10_000, 9), "a") == 9000
    assert [fill(Places(2, 9), "a"), fill(Places(1), "a")] == [2, 1]


def test_bytes_are_shared_alike() -> None:
    places = Places(1000, 3)
    places.enter("a", 600)
    assert (places.has_room("a", 150), places.has_room("a", 151)) == (True, False)
    assert (places.has_room("b", 400), places.has_room("b", 401)) == (True, False)
    assert places.why_full("b", "bytes") == "600 of 1000 bytes are in use"
    places.leave("a", 600)
    assert places.held == {}
    assert places.taken == 0


def test_what_nobody_made_is_limited_by_what_is_free_alone() -> None:
    places = Places(10)
    places.enter(NO_HOLDER, 9)
    assert places.has_room(NO_HOLDER)
    assert not places.has_room(NO_HOLDER, 2)


def test_one_cannot_make_all_the_queues_there_can_be() -> None:
    broker = Broker(MemoryLog(), Limits(queues_max=100))
    broker.context.publisher = "user greedy"
    for number in range(90):
        broker.declare(b"%d" % number)
    with pytest.raises(
        Refused, match=r"user greedy has 90 of 100 queues \(10 reserved for others\): queues_max is 100"
    ):
        broker.declare(b"one more")
    broker.context.publisher = "user modest"
    broker.declare(b"hers")
    broker.delete(b"0")
    broker.delete(b"hers")
    broker.context.publisher = "user greedy"
    broker.declare(b"one more")
    with pytest.raises(Refused, match="has 90 of 100 queues"):
        broker.declare(b"and another")


def test_one_cannot_have_all_the_bindings_there_can_be() -> None:
    broker = Broker(MemoryLog(), Limits(memory_bytes_max=1))
    broker.context.publisher = "user greedy"
    events = tuple(b"%0200d" % number for number in range(500))  # 400 bytes each, of a MiB
    for number in range(3):
        broker.bind(b"%d" % number, events)
    with pytest.raises(
        Refused, match=r"user greedy has 600000 of 1048576 bytes for bindings \(\d+ reserved for others\)"
    ):
        broker.bind(b"one more", events)
    broker.context.publisher = "user modest"
    broker.bind(b"hers", events)
    for name in list(broker.queues):
        broker.delete(name)
    assert broker.routing.costs.held == {}


def test_one_cannot_have_all_the_requests_there_can_be() -> None:
    broker = Broker(MemoryLog(), Limits(memory_bytes_max=16 << 20))
    broker.context.publisher = "user greedy"
    for number in range(31):
        broker.put(b"q", request(b"%d" % number))
    with pytest.raises(Refused, match=r"user greedy has \d+ of 4194304 bytes for requests"):
        broker.put(b"q", request(b"too many"))
    broker.context.publisher = "user modest"
    broker.put(b"q", request(b"hers"))
    assert broker.reply(b"hers", b"done")
    broker.context.publisher = "user greedy"
    assert broker.reply(b"0", b"done")
    broker.put(b"q", request(b"one more"))


def request(id: bytes) -> Message:
    made = Message(id, b"q", bytes(100_000), 0, "test")
    made.requester = Waiter()
    return made
