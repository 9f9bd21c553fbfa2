"""The door for all protocols, as the owner of a socket sees it."""

import pytest
from fuzz.words import PROTOCOLS, REQUESTS
from fuzz.world import World

from penstock.core.limits import Limits
from penstock.wire.session import ProtocolOptions


def make_world() -> World:
    return World(Limits(), ProtocolOptions())


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_beginning_is_recognised_as_the_same_wherever_the_reads_were_cut(protocol: str) -> None:
    for request in REQUESTS[protocol]:
        whole, each = (make_world().connect("any", protocol, "peer") for _ in range(2))
        whole.feed(request)
        for at in range(len(request)):
            each.feed(request[at : at + 1])
        assert each.current().protocol == whole.current().protocol


def test_what_comes_before_the_owner_of_the_socket_looks_goes_to_the_one_that_took_over() -> None:
    """A busy socket is read several times in one turn of the loop."""
    client = make_world().connect("any", "mqks", "peer")
    client.feed(b"1 ping a\n")
    client.feed(b"2 ping b\n3 nothing c\n")
    session = client.session.successor
    assert session is not None
    assert session.drain().startswith(b"1 ok a\n2 ok b\n3 error ")


def test_the_one_that_took_over_ends_with_a_connection_that_nobody_has_looked_at_since() -> None:
    world = make_world()
    client = world.connect("any", "mqks", "peer")
    client.feed(b"c consume q e\n")
    client.end()
    assert not world.hub.sessions
    assert world.broker.queues[b"q"].consumer_count() == 0


@pytest.mark.parametrize("end", [b"\n", b""])
def test_commands_without_line_ends_are_not_glued_together_while_nobody_knows_the_protocol(end: bytes) -> None:
    world = make_world()
    client = world.connect("any", "smqs", "peer")
    client.feed(b"C:g")
    client.feed(b'M:g:{"id":1}' + end)
    world.broker.tick(world.now + 1_000_000)
    assert list(world.broker.queues) == [b"g"]
    client.feed(b"\n")
    assert world.broker.queues[b"g"].unacked == 1


def test_nobody_waits_for_a_rest_of_one_who_was_turned_away() -> None:
    world = make_world()
    client = world.connect("any", "mqks", "peer")
    client.feed(b"x")
    assert world.broker.deadlines.next_due() > 0
    client.feed(b" y\n")
    assert client.session.closing
    assert world.broker.deadlines.next_due() == -1


@pytest.mark.parametrize(
    "head",
    [
        b"\0\0\0\0\xe0m0 publish e0 x\n",  # RQ commands, then text: an MQKS id might begin like this too
        b"\0\0\0\x12\0\0\0\3Put m0 publish e0 x\n",
        b"x" * 600 + b" ping x\n",  # longer than an id is looked for
        b"M:" + b"x" * 505 + b" publish e x\n",
        b"\x80 ping x\n",
    ],
)
def test_odd_beginnings_mean_the_same_wherever_the_reads_were_cut(head: bytes) -> None:
    whole, each = (make_world().connect("any", "mqks", "peer") for _ in range(2))
    whole.feed(head)
    for at in range(len(head)):
        each.feed(head[at : at + 1])
    assert each.current().protocol == whole.current().protocol
    assert each.current().closing == whole.current().closing


def test_a_node_that_waits_for_a_pong_after_clear_gets_it_after_a_rest() -> None:
    world = make_world()
    client = world.connect("any", "rq", "peer")
    client.feed(b"\x01\x05")
    assert client.current().protocol == "any"
    world.advance(1_000_000)
    world.turn()
    assert client.output == b"\x06"
