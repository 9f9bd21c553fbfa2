"""What the fuzzer has found in MQKS, as small as it gets."""

from fuzz.world import World

from penstock.core.limits import Limits
from penstock.wire.session import ProtocolOptions


def make_world(**limits: int) -> World:
    return World(Limits(**limits), ProtocolOptions())  # type: ignore[arg-type]


def test_a_line_over_the_limit_is_refused_wherever_the_reads_were_cut() -> None:
    stream = b"1 ping a\n2 ping %s\n3 ping c\n" % (b"x" * 20)
    said = []
    for size in (1, 7, 100):
        client = make_world(line_size_max=20).connect("mqks", "mqks", "peer")
        for at in range(0, len(stream), size):
            client.feed(stream[at : at + size])
        assert client.session.closing
        said.append(client.session.drain()[: len(b"1 ok a\nNone error ")])
    assert said == [b"1 ok a\nNone error "] * 3


def test_a_client_that_was_hung_up_on_is_given_nothing_more() -> None:
    """Its socket is about to be closed: what an automatic ack had taken from the queue would be lost."""
    world = make_world(line_size_max=20)
    client = world.connect("mqks", "mqks", "peer")
    client.feed(b"c consume q e\n")
    client.feed(b"x" * 21)
    client.session.resume()  # as its owner does after having written
    world.connect("mqks", "mqks", "other").feed(b"m publish e x\n")
    assert b"c ok m" not in client.session.drain()
    assert world.broker.queues[b"q"].ready == 1


def test_nor_is_one_that_had_no_room_when_it_was_hung_up_on() -> None:
    world = make_world(line_size_max=20, outbox_bytes_max=1)
    client = world.connect("mqks", "mqks", "peer")
    client.feed(b"c consume q e\nm publish e x\nm publish e y\n")
    client.feed(b"x" * 21)
    client.session.drain()
    client.session.resume()
    assert client.session.outbox_size == 0
    assert world.broker.queues[b"q"].ready == 1


def test_an_id_is_no_longer_than_a_name_may_be() -> None:
    """Messages and consumers keep it, and nobody counts it."""
    world = make_world(name_size_max=8)
    client = world.connect("mqks", "mqks", "peer")
    for line in (b"123456789 publish e x", b"123456789 publish --confirm e x", b"123456789 consume q e"):
        client.feed(line + b"\n")
        assert client.session.drain().startswith(b"None error ")
    assert world.broker.published == 0
    assert not world.mqks.consumers
    client.feed(b"12345678 ping x\n")
    assert client.session.drain() == b"12345678 ok x\n"


def test_an_event_is_no_longer_than_a_name_may_be() -> None:
    """No queue can be bound to such an event, but one bound by a pattern would keep it."""
    world = make_world(name_size_max=8)
    client = world.connect("mqks", "mqks", "peer")
    for line in (b"1 publish 123456789 x", b"1 publish --confirm 123456789 x"):
        client.feed(line + b"\n")
        assert client.session.drain().startswith(b"1 error ")
    assert world.broker.published == 0
