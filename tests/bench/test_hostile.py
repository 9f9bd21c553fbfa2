"""One client, whatever it does, costs the others nothing: some of the attacks of `bench.hostile`.

How long a neighbour waits depends on what else this machine does. What the broker computes meanwhile does not: the time
that its loop spent on a core between a neighbour's ping and the answer. That is the figure here. What it takes to be
let in, or to be answered at all, is a matter of yes and no.
"""

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from bench.attacking import Target, field_of, hello
from bench.hostile import MIB, RSS_BESIDE, RSS_FACTOR, site
from bench.hostile_attacks import ATTACKS, Run, heard
from bench.victim import USER, VISITS, Door

import penstock.core.broker
from penstock.testing import BrokerProcess

IS_COMPILED = not str(penstock.core.broker.__file__).endswith(".py")
STALL_MAX_SECONDS = 0.2 if IS_COMPILED else 1.5  # on a core, of the broker's loop
PATIENCE_SECONDS = 60.0
LIMIT = 256 * MIB

pytestmark = pytest.mark.timeout(300)


@dataclass
class Siege:
    """A broker with an attack under way."""

    broker: BrokerProcess
    door: Door
    target: Target
    run: Run
    note: str = ""
    thread: threading.Thread | None = None

    @property
    def pid(self) -> int:
        assert self.broker.process is not None
        return self.broker.process.pid

    def loop_seconds(self) -> float:
        """What the broker's loop has spent on a core so far."""
        return int(Path(f"/proc/{self.pid}/task/{self.pid}/schedstat").read_text().split()[0]) / 1e9

    def begin(self, seconds: float) -> threading.Thread:
        self.target.until = time.time() + seconds
        self.thread = threading.Thread(target=self._attack, daemon=True)
        self.thread.start()
        return self.thread

    def end(self) -> None:
        self.target.until = 0.0
        if self.thread is not None:
            self.thread.join(PATIENCE_SECONDS)
        self.run.close()
        self.target.close()

    def _attack(self) -> None:
        try:
            next(self.run)
        except StopIteration as end:
            self.note = end.value
        except (OSError, EOFError) as error:
            self.note = repr(error)


@contextlib.contextmanager
def besieged(name: str) -> Iterator[Siege]:
    """The attack has prepared itself, and not begun."""
    attack = ATTACKS[name]
    with site(LIMIT, attack.settings) as (broker, door, tokens, _):
        target = Target(broker.ports, time.time() + PATIENCE_SECONDS, tokens=tokens)
        sock = target.connect("mqks", user=USER)
        sock.sendall(b"c consume victim.queue victim.event\nd delete_consumer c\np ping x\n")
        heard(sock, b"p ok x\n")
        run = attack.run(target)
        next(run)
        siege = Siege(broker, door, target, run)
        try:
            yield siege
        finally:
            siege.end()


class Neighbour:
    """Pings, one after the other, over a connection that was there before the attack."""

    def __init__(self, door: Door) -> None:
        self._socket = socket.create_connection(("127.0.0.1", door.port), timeout=PATIENCE_SECONDS)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.sendall(hello("mqks", door.token))
        assert self._socket.recv(100) == b"a ok \n"

    def ping(self) -> None:
        self._socket.sendall(b"p ping x\n")
        assert self._socket.recv(100) == b"p ok x\n"

    def close(self) -> None:
        self._socket.close()


@pytest.mark.parametrize(
    "name",
    [
        "smqs: S pipelined, 5,000 queues, no right to see them",
        "mqks: redrive --dry-run pipelined, 30,000 messages",
        "mqks: 6 MiB of x",
        "mqks: 100,000 un-acked, and delete_consumer",
        "mqks: 100,000 un-acked, reject --all and ack --all",
        "mqks: 20,000 consumers of a connection that goes",
        "http: 3,000 requests in one go, of a stranger",
        "mqks: plain publish flood into a queue",
        "mqks: _eval, others that may cost more than they say",
        "sevx: one large JSON after the other, numbers",
        "http: one large JSON after the other, members",
        "http: 1.5 million headers in one publish",
        "mqks: one event to a thousand queues, flood",
        "http: purges a queue of 300,000",
    ],
)
def test_a_neighbour_waits_for_little_of_what_an_attack_costs(name: str) -> None:
    with besieged(name) as siege:
        neighbour = Neighbour(siege.door)
        neighbour.ping()
        longest = 0.0
        attack = siege.begin(2.0)
        while attack.is_alive():
            before = siege.loop_seconds()
            neighbour.ping()
            longest = max(longest, siege.loop_seconds() - before)
            time.sleep(0.005)  # not every turn of the loop is to be the neighbour's
        neighbour.close()
        assert longest < STALL_MAX_SECONDS, siege.note


@pytest.mark.parametrize(
    "name",
    [
        "http: empty messages with 15 MiB of headers",
        "rq: large replies to a requester that does not read",
        "http: 20 browses of everything, unread",
        "mqks: 20 unfinished lines of 47 MiB",
        "mqks: 200 queues with 2,000 events each",
        "mqks: publisher beside an idle consumer, --memory",
    ],
)
def test_no_attack_gets_the_process_above_its_account(name: str) -> None:
    with besieged(name) as siege:
        siege.begin(2.5).join(PATIENCE_SECONDS)
        peak = field_of(siege.pid, "VmHWM")
        assert 0 < peak < LIMIT * RSS_FACTOR + RSS_BESIDE, f"{peak / MIB:.0f} MiB: {siege.note}"


def test_what_one_user_holds_does_not_stop_the_publishers_of_another() -> None:
    with besieged("mqks: 1,100 queues bound to one event, read, never acked") as siege:
        attack = siege.begin(4.0)
        attack.join(PATIENCE_SECONDS)
        with socket.create_connection(("127.0.0.1", siege.door.port), timeout=PATIENCE_SECONDS) as sock:
            sock.sendall(hello("mqks", siege.door.token) + b"c consume --confirm victim.queue victim.event\n")
            sock.sendall(b"m publish --confirm victim.event x\n")
            said = b""
            while b"m ok \n" not in said or b"c ok m " not in said:
                more = sock.recv(1000)
                assert more, said
                said += more


@pytest.mark.parametrize(
    ("name", "visit"),
    [
        ("strangers: 150 silent connections at each door", "in"),
        ("strangers: 150 silent connections at each door", "api"),
        ("strangers: 110 wrong tokens at a time", "in"),
        ("strangers: wrong tokens over HTTP", "api"),
        ("http: 1,010 slow bodies of a user from twenty addresses", "api"),
        ("http: 1,010 slow bodies where nobody is asked who they are", "api"),
        ("http: 100 streams of samples", "live"),
        ("mqks: burns the deduplication ids of others", "dedup"),
    ],
)
def test_others_find_a_place_beside_an_attack(name: str, visit: str) -> None:
    with besieged(name) as siege:
        attack = siege.begin(3.0)
        time.sleep(1.5)  # the attack takes its places
        assert attack.is_alive()
        assert VISITS[visit](siege.door) == "", siege.note


def test_a_visit_without_an_attack_is_well() -> None:
    with besieged("control: computes, and never talks to the broker") as siege:
        assert {visit: VISITS[visit](siege.door) for visit in VISITS if visit != "log"} == dict.fromkeys(
            (visit for visit in VISITS if visit != "log"), ""
        )
