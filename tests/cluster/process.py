"""A node as a process: a member over a real JetStream, with a broker while it leads and no sockets of its own.

    python -m tests.cluster.process NAME DIRECTORY STREAM SERVERS

Commands come on stdin, a line each:

    put NAME          put a message with this body into the queue: `confirmed NAME`
    take              take the oldest message of the queue: `taken NAME`
    fill COUNT SIZE   put so many, several in a turn: `filled COUNT`
    leave [NODE]      stop leading
    where             `where ROLE TERM SEQUENCE`, or `where starting`

Who does not lead says `refused`. By itself a node says `leading`, `deposed` and `failed`.
"""

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path

from penstock.clock import SystemClock
from penstock.cluster.connection import NatsOptions
from penstock.cluster.driver import Driver
from penstock.cluster.jetstream import JetStream
from penstock.cluster.replica import Replica
from penstock.core.guarded import GuardedBroker
from penstock.core.limits import Limits
from penstock.message import Message

QUEUE = b"q"
IN_A_TURN = 100
BEHIND_MAX = 8 << 20


def say(*words: object) -> None:
    sys.stdout.write(" ".join([str(word) for word in words]) + "\n")
    sys.stdout.flush()


class NodeProcess:
    def __init__(self, name: str, directory: str, stream: str, servers: str) -> None:
        self.clock = SystemClock()
        self.broker: GuardedBroker | None = None
        self.replica: Replica
        self.lead = ""
        self.caught_up = asyncio.Event()
        self.confirmations: list[tuple[int, Callable[[], None]]] = []
        self.driver = Driver(
            name,
            lambda: JetStream.connect(NatsOptions(tuple(servers.split(","))), stream, self.report),
            self,
            Path(directory),
            Limits(),
            16 << 20,
            self.report,
            SystemClock(),
        )

    def report(self, level: str, event: str, details: dict[str, object]) -> None:
        sys.stderr.write(f"{level} {event} {details}\n")

    # -- what the driver tells --------------------------------------------------------------------------------------

    def on_lead(self, broker: GuardedBroker, replica: Replica, lead: str) -> None:
        self.broker, self.replica, self.lead = broker, replica, lead
        self.confirmations = []
        broker.set_time(self.clock.now())
        broker.return_lost(self.clock.now())
        say("leading", lead, broker.log.position)

    def on_durable(self, position: int, next_offset: int) -> None:
        self.replica.log.written(position, next_offset)
        if self.driver.behind <= BEHIND_MAX:
            self.caught_up.set()
        while self.confirmations and self.confirmations[0][0] <= position:
            self.confirmations.pop(0)[1]()

    def on_deposed(self, reason: str) -> None:
        self.broker = None
        self.caught_up.set()
        say("deposed", reason)

    def on_failed(self, reason: str) -> None:
        say("failed", reason)

    # -- what is asked ----------------------------------------------------------------------------------------------

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        self.driver.start(loop)
        reader = asyncio.StreamReader()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        while line := (await reader.readline()).decode().split():
            await self.obey(*line)
        self.driver.stop()

    async def obey(self, what: str, *arguments: str) -> None:
        member = self.driver.member
        if what == "where":
            if member is None:
                say("where starting")
            else:
                say("where", member.role, member.term, member.sequence)
        elif self.broker is None:
            say("refused", what, *arguments)
        elif what == "put":
            self.put(self.broker, arguments[0].encode())
            self.end_turn(self.broker, lambda: say("confirmed", arguments[0]))
        elif what == "take":
            message = self.broker.get(QUEUE)
            body = "nothing" if message is None else message.body.decode()
            self.end_turn(self.broker, lambda: say("taken", body))
        elif what == "fill":
            await self.fill(int(arguments[0]), int(arguments[1]))
        elif what == "leave":
            self.driver.leave(self.lead, arguments[0] if arguments else "")

    def put(self, broker: GuardedBroker, body: bytes) -> None:
        broker.put(QUEUE, Message(body[:20], QUEUE, body, self.clock.now(), "test"))

    async def fill(self, count: int, size: int) -> None:
        broker = self.broker
        for number in range(0, count, IN_A_TURN):
            if broker is None or broker is not self.broker:
                return
            for _ in range(min(IN_A_TURN, count - number)):
                self.put(broker, b"x" * size)
            self.end_turn(broker, (lambda: say("filled", count)) if number + IN_A_TURN >= count else None)
            await asyncio.sleep(0)
            if self.driver.behind > BEHIND_MAX:
                self.caught_up.clear()
                await self.caught_up.wait()

    def end_turn(self, broker: GuardedBroker, done: Callable[[], None] | None) -> None:
        broker.end_turn()
        log = self.replica.log
        log.close_block(self.clock.now())
        if done is not None and log.durable >= log.position:
            done()
        elif done is not None:
            self.confirmations.append((log.position, done))
        self.driver.submit(self.lead, log.take_closed())


if __name__ == "__main__":
    asyncio.run(NodeProcess(*sys.argv[1:5]).run())
