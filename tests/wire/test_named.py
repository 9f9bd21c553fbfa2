"""Consumers with names, of MQKS and SEVX alike: what they are given when there is no room, and when they leave."""

import gc
import json

import pytest
from fuzz.world import Client, World

from penstock.core.delivery import Delivery
from penstock.core.limits import Limits
from penstock.core.queue import Queue
from penstock.core.subscription import Inbox
from penstock.message import Message
from penstock.wire.named import NamingSession
from penstock.wire.session import ProtocolOptions
from penstock.wire.unacked import Unacked

OUTBOX_MAX = 400
BODY_SIZE = 300


class Speaker:
    """Says the same in either protocol."""

    def __init__(self, protocol: str) -> None:
        self.protocol = protocol
        self.world = World(Limits(outbox_bytes_max=OUTBOX_MAX), ProtocolOptions())

    def connect(self, name: str) -> Client:
        return self.world.connect(self.protocol, self.protocol, name)

    def consume(self, name: str, manual: bool = False, queue: str = "q") -> bytes:
        """A consumer of what is published; MQKS says nothing about it unless it is asked to, SEVX says ok."""
        if self.protocol == "mqks":
            return f"{name} consume {queue} e{' --manual-ack' * manual}\n".encode()
        arguments = {"pattern": {}, "queue": queue, "manual_ack": manual, "delete_queue_when_unused": False}
        return f"{name} recv {json.dumps(arguments)}\n".encode()

    def stop(self, name: str) -> bytes:
        if self.protocol == "mqks":
            return f"r delete_consumer {name}\n".encode()
        return f"r delete_receiver {json.dumps({'receiver_id': name})}\n".encode()

    def fill(self, count: int, queue: str = "q") -> Queue:
        """Large messages that wait in a queue, which stays when nobody consumes it."""
        client = self.connect("publisher")
        client.feed(self.consume("first", queue=queue) + self.stop("first"))
        for number in range(count):
            body = json.dumps({"n": number, "fill": "x" * BODY_SIZE})
            line = f"m{number} publish e {body}\n" if self.protocol == "mqks" else f"m{number} send {body}\n"
            client.feed(line.encode())
        self.world.turn()
        found = self.world.broker.queues[queue.encode()]
        assert found.ready == count
        return found


@pytest.fixture(params=["mqks", "sevx"])
def speaker(request: pytest.FixtureRequest) -> Speaker:
    return Speaker(request.param)


def test_what_a_consumer_held_is_nothing_for_the_collector_once_it_has_left(speaker: Speaker) -> None:
    """It seldom looks: a consumer that came and left with 100,000 un-acked messages took twenty megabytes each time."""
    speaker.world = World(Limits(), ProtocolOptions())
    queue = speaker.fill(200)
    client = speaker.connect("c")
    gc.collect()
    gc.disable()
    try:
        for _ in range(5):
            client.feed(speaker.consume("c", manual=True))
            assert queue.unacked == 200
            client.feed(speaker.stop("c"))
            speaker.world.turn()
            assert queue.ready == 200
        assert gc.collect() < 200
    finally:
        gc.enable()


def own(client: Client) -> NamingSession:
    session = client.session
    assert isinstance(session, NamingSession)
    return session


def test_a_consumer_that_is_started_while_the_socket_is_full_is_given_nothing(speaker: Speaker) -> None:
    """Each start would be one more message: a client that reads nothing could have a whole queue put into memory."""
    queue = speaker.fill(50)
    client = speaker.connect("deaf")
    client.pause()
    for number in range(50):
        client.feed(speaker.consume(f"c{number % 2}"))
        speaker.world.turn()
    assert queue.ready == 50
    client.resume()
    speaker.world.turn()
    assert queue.ready == 0
    assert client.output.count(b"x" * BODY_SIZE) == 50


def test_nor_is_one_that_is_started_while_the_outbox_is_full(speaker: Speaker) -> None:
    queue = speaker.fill(50)
    client = speaker.connect("eager")
    client.feed(b"".join(speaker.consume(f"c{number}") for number in range(50)))
    assert queue.ready >= 48
    speaker.world.turn()
    assert queue.ready == 0
    assert client.output.count(b"x" * BODY_SIZE) == 50


def test_consumers_that_ended_are_not_kept_until_there_is_room(speaker: Speaker) -> None:
    speaker.fill(50)
    deaf = speaker.connect("deaf")
    deaf.pause()
    other = speaker.connect("other")
    for _ in range(20):
        deaf.feed(speaker.consume("c0"))  # takes the place of its own one
        deaf.feed(speaker.consume("c1") + speaker.stop("c1"))
        deaf.feed(speaker.consume("c2"))
        other.feed(speaker.consume("c2"))  # takes it away
        other.feed(speaker.stop("c2"))
        speaker.world.turn()
    assert [consumer.name for consumer in own(deaf).halted] == [b"c0"]


def test_what_a_leaving_client_gives_back_is_not_given_to_its_other_consumers(speaker: Speaker) -> None:
    """With an automatic ack it would be lost, and otherwise count a try that nobody made."""
    queue = speaker.fill(1)
    client = speaker.connect("leaving")
    client.feed(speaker.consume("worker", manual=True))
    speaker.world.turn()
    client.feed(speaker.consume("automatic") + speaker.consume("another", manual=True))
    speaker.world.turn()
    assert queue.unacked == 1
    client.end()
    assert queue.contents()[0][1] == 1
    assert (queue.ready, queue.unacked) == (1, 0)


def test_a_consumer_that_was_taken_over_while_it_had_no_room_gets_nothing_when_there_is_room(speaker: Speaker) -> None:
    queue = speaker.fill(3)
    old = speaker.connect("old")
    old.feed(speaker.consume("c", manual=True))
    old.pause()
    speaker.world.turn()
    new = speaker.connect("new")
    new.feed(speaker.consume("c", manual=True))
    speaker.world.turn()
    heard = len(old.output)
    old.resume()
    speaker.world.turn()
    assert len(old.output) == heard
    assert (queue.ready, queue.unacked) == (0, 3)
    assert new.output.count(b"x" * BODY_SIZE) == 3


# -- messages that share an id -----------------------------------------------------------------------------------------


def settle(speaker: Speaker, verb: str, id: str) -> bytes:
    if speaker.protocol == "mqks":
        return f"r {verb} --confirm c {id}\n".encode()
    return f"r {verb} {json.dumps({'receiver_id': 'c', 'event_id': id})}\n".encode()


def plain_ack(speaker: Speaker, id: str) -> bytes:
    """The most frequent form of a settlement, which takes a way of its own."""
    return f"r ack c {id}\n".encode() if speaker.protocol == "mqks" else settle(speaker, "ack", id)


def shared(speaker: Speaker) -> Client:
    """A client whose consumer holds, in this order: 0, 1 and 2 of one id, 3 of another, 4 of the first again."""
    client = speaker.connect("client")
    client.feed(speaker.consume("c", manual=True))
    for number, id in enumerate(["same", "same", "same", "other", "same"]):
        text = f'{id} publish e {{"n":{number}}}' if speaker.protocol == "mqks" else f'{id} send {{"n":{number}}}'
        client.feed(text.encode() + b"\n")
    assert owed(speaker) == [0, 1, 2, 3, 4]
    return client


def owed(speaker: Speaker) -> list[int]:
    """The numbers of the messages that are not settled, in the order in which they would be delivered."""
    speaker.world.turn()
    return [json.loads(message.body)["n"] for message, _ in speaker.world.broker.queues[b"q"].contents()]


def test_an_ack_settles_the_oldest_delivery_of_its_id(speaker: Speaker) -> None:
    client = shared(speaker)
    left = [[1, 2, 3, 4], [2, 3, 4], [3, 4], [3], [3]]
    for acked, expected in enumerate(left):
        client.feed(plain_ack(speaker, "same") if acked % 2 else settle(speaker, "ack", "same"))
        assert owed(speaker) == expected
    client.feed(plain_ack(speaker, "other"))
    assert owed(speaker) == []


def test_a_reject_sends_the_oldest_delivery_of_its_id_back(speaker: Speaker) -> None:
    client = shared(speaker)
    client.feed(settle(speaker, "reject", "same"))
    assert owed(speaker) == [1, 2, 3, 4, 0]
    # It was delivered once more, so it is the youngest of its id now.
    client.feed(settle(speaker, "ack", "same"))
    assert owed(speaker) == [2, 3, 4, 0]
    client.feed(settle(speaker, "reject", "same"))
    assert owed(speaker) == [3, 4, 0, 2]
    client.feed(plain_ack(speaker, "same") * 3)
    assert owed(speaker) == [3]


def test_an_id_that_is_free_again_is_not_taken_for_an_older_one(speaker: Speaker) -> None:
    client = shared(speaker)
    client.feed(plain_ack(speaker, "same") * 4)
    text = 'same publish e {"n":5}\n' if speaker.protocol == "mqks" else 'same send {"n":5}\n'
    client.feed(text.encode())
    assert owed(speaker) == [3, 5]
    client.feed(plain_ack(speaker, "same"))
    assert owed(speaker) == [3]


def test_what_shared_an_id_is_forgotten_with_all_the_others(speaker: Speaker) -> None:
    client = shared(speaker)
    if speaker.protocol == "mqks":
        client.feed(b"r ack c --all\n")
    else:
        client.feed(b'r ack {"receiver_id": "c", "all": true}\n')
    assert owed(speaker) == []
    text = 'same publish e {"n":5}\n' if speaker.protocol == "mqks" else 'same send {"n":5}\n'
    for _ in range(2):
        client.feed(text.encode())
        assert owed(speaker) == [5]
        client.feed(plain_ack(speaker, "same"))
        assert owed(speaker) == []


def test_ids_that_were_shared_and_settled_take_no_memory() -> None:
    unacked = Unacked()
    deliveries = [Delivery(Message(b"same", b"e", b"%d" % n, 0, "test"), Inbox(), 0, n, 0) for n in range(3)]
    for delivery in deliveries:
        unacked.add(b"same", delivery)
    assert [unacked.take(b"same") for _ in range(4)] == [*deliveries, None]
    assert (unacked._first, unacked._others) == ({}, {})
