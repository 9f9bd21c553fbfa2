"""What is one user's own, so that no other user can use it up or take it away."""

import json
from collections.abc import Callable
from urllib.request import Request, urlopen

import pytest

from penstock.core.broker import Broker
from penstock.core.limits import Limits
from penstock.core.policy import Rule
from penstock.log.memory import MemoryLog
from penstock.wire.dialects import DIALECTS
from penstock.wire.session import Hub, Session

from .conftest import Dialect, GuardedBroker, Mqks, Mqmq, Sevx, frame
from .test_doors import come_in, until

NOW = 1_000_000

Start = Callable[..., GuardedBroker]


def publish_by_mqks(broker: GuardedBroker, token: str, confirm: bytes = b"--confirm ") -> None:
    client = come_in(broker, Mqks, token)
    assert b"pay-1001 error" not in Mqks.ask(client, b"pay-1001 publish %s--dedup jobs hello\n" % confirm)
    client.close()


def publish_by_sevx(broker: GuardedBroker, token: str) -> None:
    client = come_in(broker, Sevx, token)
    assert b"pay-1001 ok" in Sevx.ask(client, b'pay-1001 send --dedup {"event": "jobs"}\n')
    client.close()


def publish_by_mqmq(broker: GuardedBroker, token: str) -> None:
    client = come_in(broker, Mqmq, token)
    assert Mqmq.ask(client, frame(b"Put", b"jobs", b"hello", b'{"dedup": "pay-1001"}')).startswith(frame(b"OK"))
    client.close()


def ask_http(broker: GuardedBroker, token: str, path: str, body: object) -> dict[str, object]:
    request = Request(
        f"http://127.0.0.1:{broker.ports['http']}{path}",
        json.dumps(body).encode(),
        {"authorization": f"Bearer {token}", "content-type": "application/json"},
    )
    with urlopen(request, timeout=20) as answer:
        found: dict[str, object] = json.loads(answer.read())
    return found


def publish_by_http(broker: GuardedBroker, token: str) -> None:
    ask_http(broker, token, "/v1/publish", {"queue": "jobs", "id": "pay-1001", "body": "hello", "dedup": True})


def publish_by_commit(broker: GuardedBroker, token: str) -> None:
    new = {"queue": "jobs", "id": "pay-1001", "body": "hello", "dedup": True}
    staged = ask_http(broker, token, "/v1/stages", new)
    writer = f"w{broker.published()}"
    ask_http(broker, token, "/v1/commits", {"writer": writer, "batch": 1, "stages": [staged["stage"]]})


WAYS = [publish_by_mqks, publish_by_sevx, publish_by_mqmq, publish_by_http, publish_by_commit]


@pytest.mark.parametrize("publish", WAYS, ids=lambda way: way.__name__)
def test_nobody_burns_the_id_of_another_users_message(
    start_guarded: Start, publish: Callable[[GuardedBroker, str], None]
) -> None:
    broker = start_guarded(http=0)
    broker.call(lambda: broker.node.broker.bind(b"jobs", (b"jobs",)))
    victim, thief = broker.add("ann", "publish jobs"), broker.add("eve", "publish jobs")
    for token, ready in ((thief, 1), (victim, 2), (victim, 2), (thief, 2)):
        publish(broker, token)
        until(lambda: broker.ready(b"jobs") == ready)  # noqa: B023 it is waited for here
    assert broker.call(lambda: broker.node.broker.deduplicated) == 2


def test_a_policy_takes_no_user_for_another(start_guarded: Start) -> None:
    """Also where the line is the plain one, which is recognised before anything is made of it."""
    broker = start_guarded()
    broker.call(lambda: broker.node.broker.bind(b"jobs", (b"jobs",)))
    broker.call(lambda: broker.node.broker.set_policies([Rule([b"jobs"], dedup_seconds=60)]))
    for name in ("eve", "ann"):
        client = come_in(broker, Mqks, broker.add(name, "publish jobs"))
        Mqks.ask(client, b"pay-1001 publish jobs hello\n" * 2)
    assert broker.ready(b"jobs") == 2


# -- consumers ---------------------------------------------------------------------------------------------------------


class Addresses:
    """Clients from several addresses of a broker without users."""

    def __init__(self, limits: Limits) -> None:
        self.broker = Broker(MemoryLog(), limits)
        self.hub = Hub(self.broker, lambda level, event, details: None)
        self.doors = {door.name: door for door in [make(self.hub) for make in DIALECTS]}

    def open(self, protocol: str, address: str) -> Session:
        return self.doors[protocol].open(f"{address}:4711", NOW)


@pytest.mark.parametrize("dialect", [Mqks, Sevx], ids=lambda dialect: dialect.name)
def test_no_address_takes_every_consumer(dialect: type[Dialect]) -> None:
    world = Addresses(Limits(consumers_max=6))
    greedy, other = world.open(dialect.name, "192.0.2.1"), world.open(dialect.name, "192.0.2.2")
    for name in (b"a", b"b", b"c", b"d", b"a"):
        greedy.feed(dialect.consume(name), NOW)
    assert b"d-c error" in greedy.drain()
    assert sorted(world.broker.queues) == [b"a", b"b", b"c"]  # the fourth did nothing
    other.feed(dialect.consume(b"e"), NOW)
    assert b"error" not in other.drain()
    assert (world.hub.consumers.taken, world.hub.consumers.held) == (
        4,
        {"address 192.0.2.1": 3, "address 192.0.2.2": 1},
    )
    greedy.end(NOW)
    assert world.hub.consumers.held == {"address 192.0.2.2": 1}


@pytest.mark.parametrize("dialect", [Mqks, Sevx], ids=lambda dialect: dialect.name)
def test_no_user_takes_every_consumer(start_guarded: Start, dialect: type[Dialect]) -> None:
    broker = start_guarded(consumers_max=4)
    greedy = come_in(broker, dialect, broker.add("ann", "admin"))
    said = dialect.ask(greedy, dialect.consume(b"a") + dialect.consume(b"b") + dialect.consume(b"c"))
    assert said.count(b" error ") == 1
    assert "user 'ann' has 2 of 4 consumers" in str(broker.reported("request.refused")[-1]["reason"])
    assert "consumers_max is 4" in str(broker.reported("request.refused")[-1]["reason"])
    other = come_in(broker, dialect, broker.add("bob", "admin"))
    assert b" error " not in dialect.ask(other, dialect.consume(b"c"))
    assert broker.consumers(b"c") == 1
