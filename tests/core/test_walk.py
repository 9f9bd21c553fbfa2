"""Looking at a queue step by step: nothing is seen twice or left out, wherever its messages are."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.core.subscription import Inbox
from penstock.core.walk import Walk

from .test_care import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """A queue with a head, spans and a tail, and a message that was out before among them."""
    made = Bench(tmp_path)
    made.put(b"q", 10)
    worker = Inbox(b"c", manual=True, credit=2)
    made.broker.subscribe(b"q", worker, None, 0)
    made.broker.reject(worker.deliveries[0])
    made.chill()
    made.put(b"q", 5)
    made.broker.cancel(worker, 0)
    yield made
    made.check()
    assert made.log.pager is not None
    made.log.pager.close()


def offsets_in(bench: Bench) -> list[int]:
    return [place[2] for place in bench.broker.queues[b"q"].backlog.places()]


@pytest.mark.parametrize("limit", [1, 2, 7, 100])
def test_a_walk_sees_every_message_once_and_in_order(bench: Bench, limit: int) -> None:
    walk = Walk(bench.broker.queues[b"q"].backlog)
    seen: list[int] = []
    steps = 0
    while not walk.over:
        found = walk.step(limit)
        assert len(found) <= limit
        seen += [place[2] for place, _ in found]
        steps += 1
    assert seen == offsets_in(bench)
    assert len(seen) <= walk.looked <= len(seen) + steps * 30  # it does not begin anew with each step
    assert walk.step(limit) == []


def test_a_walk_can_go_on_behind_any_of_those_it_has_seen(bench: Bench) -> None:
    everything = offsets_in(bench)
    walk = Walk(bench.broker.queues[b"q"].backlog)
    first = walk.step(100)
    assert is_over(walk)
    for number in (0, 4, 8):
        walk.go_on_behind(first[number][0])
        assert not is_over(walk)
        assert [place[2] for place, _ in walk.step(3)] == everything[number + 1 : number + 4]


def is_over(walk: Walk) -> bool:
    return walk.over


def test_messages_are_read_from_the_log_where_they_are_not_in_memory(bench: Bench) -> None:
    walk = Walk(bench.broker.queues[b"q"].backlog)
    bench.write()
    found = [walk.message(seen) for seen in walk.step(100)]
    assert [message.offset for message in found if message is not None] == offsets_in(bench)
