"""A test with a real broker: `pytest examples/broker_in_a_test.py`. The fixture is part of the package."""

from penstock.client import mqmq
from penstock.testing import Broker


def shout(address: str) -> int:
    """The code under test: moves every message from `quiet` to `loud`, in upper case."""
    count = 0
    with mqmq.Client().connect(address) as client:
        while client.info().queues.get("quiet"):
            client.put("loud", client.get("quiet", timeout=5).upper())
            count += 1
    return count


def test_everything_is_shouted(penstock_broker: Broker) -> None:
    address = penstock_broker.address("mqmq")
    with mqmq.Client().connect(address) as client:
        client.put("quiet", b"hello")
        client.put("quiet", b"world")
        assert shout(address) == 2
        assert client.get("loud", timeout=5) == b"HELLO"
