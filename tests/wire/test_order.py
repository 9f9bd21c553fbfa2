"""On one connection a confirmation comes before what it confirms brings, whether it waits for the disk or not."""

import json

import pytest
from fuzz.world import Client, World

from penstock.core.limits import Limits
from penstock.wire.named import NamingSession
from penstock.wire.session import ProtocolOptions


class Talk:
    """The same in MQKS and SEVX, with a log in memory or on a disk."""

    def __init__(self, protocol: str, durable: bool, outbox_max: int = 1 << 20) -> None:
        self.protocol = protocol
        self.world = World(Limits(outbox_bytes_max=outbox_max), ProtocolOptions(), late=durable)

    def connect(self, name: str) -> Client:
        return self.world.connect(self.protocol, self.protocol, name)

    def hear(self, client: Client) -> list[bytes]:
        """What has been written to it by the time that everything is safe: of each line the first three words."""
        self.world.turn()
        lines = bytes(client.output).split(b"\n")[:-1]
        client.output.clear()
        return [b" ".join(line.split(b" ")[:3]) for line in lines]

    def consume(self, name: str, queue: str = "q") -> bytes:
        if self.protocol == "mqks":
            return f"{name} consume --confirm {queue} of.{queue} --manual-ack\n".encode()
        arguments = {
            "pattern": {"event": f"of.{queue}"},
            "queue": queue,
            "manual_ack": True,
            "delete_queue_when_unused": False,
        }
        return f"{name} recv {json.dumps(arguments)}\n".encode()

    def publish(self, id: str, queue: str = "q", size: int = 0) -> bytes:
        body = json.dumps({"event": f"of.{queue}", "fill": "x" * size})
        return (
            f"{id} publish of.{queue} {body}\n".encode() if self.protocol == "mqks" else f"{id} send {body}\n".encode()
        )

    def settle(self, id: str, action: str, name: str, message: str, flags: str = "") -> bytes:
        if self.protocol == "mqks":
            return f"{id} {action} --confirm {name} {message or '--all'}{flags}\n".encode()
        which: dict[str, object] = {"event_id": message} if message else {"all": True}
        return f"{id} {action} {json.dumps({'receiver_id': name, **which})}\n".encode()

    def stop(self, id: str, name: str) -> bytes:
        if self.protocol == "mqks":
            return f"{id} delete_consumer --confirm {name}\n".encode()
        return f"{id} delete_receiver {json.dumps({'receiver_id': name})}\n".encode()


@pytest.fixture(params=["mqks", "sevx"])
def protocol(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=[False, True], ids=["in memory", "on disk"])
def talk(request: pytest.FixtureRequest, protocol: str) -> Talk:
    return Talk(protocol, request.param)


@pytest.mark.parametrize("message", ["m1", ""])
def test_that_a_message_was_rejected_is_heard_before_it_comes_again(talk: Talk, message: str) -> None:
    client, publisher = talk.connect("client"), talk.connect("publisher")
    client.feed(talk.consume("c"))
    publisher.feed(talk.publish("m1"))
    assert talk.hear(client) == [b"c ok ", b"c ok m1"]
    for number in range(3):
        client.feed(talk.settle(f"r{number}", "reject", "c", message))
        assert talk.hear(client) == [b"r%d ok " % number, b"c ok m1"]


def test_so_it_is_for_many_in_one_read_and_their_order_stays(talk: Talk) -> None:
    client, publisher = talk.connect("client"), talk.connect("publisher")
    client.feed(talk.consume("c"))
    publisher.feed(b"".join(talk.publish(f"m{number}") for number in range(3)))
    talk.hear(client)
    client.feed(b"".join(talk.settle(f"r{number}", "reject", "c", f"m{number}") for number in range(3)))
    heard = talk.hear(client)
    assert [line for line in heard if line.startswith(b"c")] == [b"c ok m0", b"c ok m1", b"c ok m2"]
    for number in range(3):
        assert heard.index(b"r%d ok " % number) < heard.index(b"c ok m%d" % number)


def test_what_a_stopped_consumer_held_comes_to_its_neighbour_after_that_was_confirmed(talk: Talk) -> None:
    client, publisher = talk.connect("client"), talk.connect("publisher")
    client.feed(talk.consume("c"))
    publisher.feed(talk.publish("m1"))
    client.feed(talk.consume("d"))
    talk.hear(client)
    client.feed(talk.stop("s", "c"))
    assert talk.hear(client) == [b"s ok ", b"d ok m1"]


def test_other_connections_do_not_wait_for_it(protocol: str) -> None:
    talk = Talk(protocol, durable=True)
    client, other, publisher = (talk.connect(name) for name in ("client", "other", "publisher"))
    client.feed(talk.consume("c"))
    publisher.feed(talk.publish("m1"))
    other.feed(talk.consume("d"))
    talk.hear(client)
    talk.hear(other)
    client.feed(talk.settle("r1", "reject", "c", "m1"))
    publisher.feed(talk.publish("m2"))
    assert client.session.drain() == b""  # it is given m1 again, and that has to wait
    assert other.session.drain().startswith(b"d ok m2 ")
    assert talk.hear(client) == [b"r1 ok ", b"c ok m1"]


def test_what_is_late_counts_as_what_is_to_be_written(protocol: str) -> None:
    """Nobody has more kept for it by rejecting, and what it was held back from comes when that was confirmed."""
    talk = Talk(protocol, durable=True, outbox_max=400)
    client, publisher = talk.connect("client"), talk.connect("publisher")
    client.feed(talk.consume("c") + talk.consume("d"))
    publisher.feed(talk.publish("m0", size=150))
    talk.hear(client)
    client.feed(talk.settle("r0", "reject", "c", "") + talk.settle("r1", "reject", "d", ""))
    for number in range(1, 10):
        publisher.feed(talk.publish(f"m{number}", size=150))
        client.feed(talk.settle(f"s{number}", "reject", "c", "nothing"))
    session = client.session
    assert isinstance(session, NamingSession)
    assert session.late_size < 1000
    assert talk.world.broker.queues[b"q"].ready > 3
    heard = talk.hear(client)
    assert {line[5:] for line in heard if line[:5] in (b"c ok ", b"d ok ")} == {b"m%d" % n for n in range(10)}
    assert (session.late, session.late_size, talk.world.broker.queues[b"q"].ready) == (None, 0, 0)


def test_who_leaves_meanwhile_gives_back_what_was_late(protocol: str) -> None:
    talk = Talk(protocol, durable=True)
    client, publisher = talk.connect("client"), talk.connect("publisher")
    client.feed(talk.consume("c"))
    publisher.feed(talk.publish("m1"))
    talk.hear(client)
    client.feed(talk.settle("r1", "reject", "c", "m1"))
    client.end()
    other = talk.connect("other")
    other.feed(talk.consume("d"))
    assert talk.hear(other) == [b"d ok ", b"d ok m1"]
