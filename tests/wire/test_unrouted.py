"""A client can ask how many of its confirmed messages no queue took; nobody is told who did not ask."""

import pytest
from fuzz.world import Client, World

from penstock.core.limits import Limits
from penstock.wire.session import ProtocolOptions


def say(world: World, client: Client, line: bytes) -> list[bytes]:
    client.feed(line + b"\n")
    world.turn()
    heard = bytes(client.output).split(b"\n")[:-1]
    client.output.clear()
    return heard


@pytest.mark.parametrize("durable", [False, True], ids=["in memory", "on disk"])
def test_what_no_queue_took_is_counted_for_each_connection(durable: bool) -> None:
    world = World(Limits(), ProtocolOptions(), late=durable)
    mqks, other, sevx = (world.connect(name, name, f"{name}{n}") for n, name in enumerate(["mqks", "mqks", "sevx"]))
    assert say(world, mqks, b"1 publish --confirm nobody x") == [b"1 ok "]
    assert say(world, mqks, b"2 publish nobody x") == []  # was not to be confirmed
    assert say(world, mqks, b"c consume q e") == []
    assert say(world, mqks, b"3 publish --confirm --ttl=5 nobody x") == [b"3 ok "]
    assert b"4 ok " in say(world, mqks, b"4 publish --confirm e x")
    assert say(world, mqks, b"5 unrouted messages") == [b"5 ok 2"]
    assert say(world, other, b"1 unrouted messages") == [b"1 ok 0"]
    assert say(world, sevx, b'1 send {"event": "nobody"}') == [b"1 ok "]
    assert say(world, sevx, b'2 send {"event": "e"}') == [b"2 ok "]
    assert say(world, sevx, b"3 unrouted {}") == [b'3 ok {"unrouted": 1}']


@pytest.mark.parametrize(("line", "protocol"), [(b"1 unrouted x\n", "mqks"), (b"1 unrouted {}\n", "sevx")])
def test_the_port_for_all_knows_whose_it_is(line: bytes, protocol: str) -> None:
    client = World(Limits(), ProtocolOptions()).connect("any", protocol, "peer")
    client.feed(line)
    assert client.current().protocol == protocol
