"""A broker with its clients, driven as the server drives it, and its invariants.

The rules are numbered as in `sessions.py`.
"""

from collections.abc import Iterator
from typing import Final

from fuzz.gates import BYTES_MAX, known, make_access
from fuzz.history import Disk, History, Memory
from penstock.core.broker import Broker
from penstock.core.invariants import wrong_memory
from penstock.core.limits import Limits
from penstock.core.policy import Rule
from penstock.core.queue import Queue
from penstock.core.replay import durable_state
from penstock.core.subscription import Subscription
from penstock.log.interface import Confirmation
from penstock.message import MESSAGE_OVERHEAD, Message
from penstock.wire.detect import HEAD_SIZE_MAX, ProtocolDetector, UndetectedSession
from penstock.wire.mqks.session import Mqks, MqksSession
from penstock.wire.mqmq.session import Mqmq, MqmqSession
from penstock.wire.named import NamingSession
from penstock.wire.rq.session import Rq, RqSession
from penstock.wire.rq.states import IDLE, LEAVING
from penstock.wire.session import Dialect, Hub, ProtocolOptions, Session
from penstock.wire.sevx.session import Sevx, SevxSession
from penstock.wire.smqs.session import Smqs, SmqsSession

START: Final = 1_700_000_000_000_000  # microseconds
TURNS_MAX: Final = 10_000  # a broker with more to do than this after one step never comes to rest

# How much longer an answer may be than its request. In the text protocols the shortest request is a line end, and its
# longest answer an error with two ids; RQ sends the name of a queue in response to a one-byte CONSUME. An expression
# may create a text of its own.
ANSWER_FACTORS: Final = {"mqks": 64, "smqs": 16, "sevx": 64, "mqmq": 8, "rq": 32, "any": 1}
EXPRESSION_SIZE_MAX: Final = 400_000

# How much longer an encoded body may be: in base64, or as a JSON string with every byte escaped.
BODY_FACTORS: Final = {"mqks": 2, "smqs": 2, "sevx": 6, "mqmq": 1, "rq": 1, "any": 0}


class Client:
    """Owns a session, like a connection does."""

    def __init__(self, world: "World", door: str, language: str, name: str) -> None:
        self.world = world
        self.language = language
        self.session: Session = world.doors[door].open(name, world.now)
        access = world.hub.access
        if access is not None:
            self.session.enter(known(access, name), world.now)
        self.paused = False
        self.output = bytearray()
        self.last_read = 0
        self.heard = 0  # bytes of input, of all clients, since its output was last written
        self.expressions = 0  # how many expressions to evaluate were in that input

    def current(self) -> Session:
        """The active session: the owner of the socket may not have noticed yet that a successor took over."""
        return self.session if self.session.successor is None else self.session.successor

    def feed(self, data: bytes) -> None:
        session = self.current()
        broker = self.world.broker
        before = (broker.published, broker.log.position, session.outbox_size) if session.closing else None
        locked = session.preauth is not None
        position = broker.log.position
        self.last_read = len(data)
        self.world.note_input(data)
        self.session.feed(data, self.world.now)
        if before is not None:
            after = (broker.published, broker.log.position, session.outbox_size)
            assert before == after, f"{session.protocol}: went on after it had hung up"
        if locked and self.current().identity is None:
            assert broker.log.position == position, f"{session.protocol}: changed something before it was let in"
        self.world.check_outboxes()

    def write(self) -> None:
        """One write, as the connection does it when its session has output."""
        session = self.session
        if session.successor is not None:
            del self.world.clients[session]
            session = self.session = session.successor
            self.world.clients[session] = self
        if session.outbox_size:
            full = session.outbox_size >= session.outbox_max
            written = session.drain()
            assert written, "there was something to say, and it is nothing"
            assert session.outbox_size == 0
            assert not session.drain(), "said twice"
            self.output += written
            if full and not self.paused and session.preauth is None:
                session.resume()
        if session.closing and not session.unconfirmed and not session.outbox_size and not self.paused:
            self.end()

    def pause(self) -> None:
        if not self.paused:
            self.write()
        if not self.paused and not self.session.over:
            self.paused = True
            self.session.pause()

    def resume(self) -> None:
        if self.paused:
            self.paused = False
            if self.session.preauth is None:
                self.session.resume()
            self.check_closed()
            self.world.hub.dirty.append(self.session)  # it may have hung up meanwhile

    def check_closed(self) -> None:
        if self.session.closing:
            for subscription in self.session.subscriptions():
                assert subscription.suspended, f"{self.session.protocol}: hung up, and is given more"

    def end(self) -> None:
        self.world.drop(self)
        session = self.current()
        outbox = session.outbox
        before = len(outbox)
        self.session.end(self.world.now)
        # An RQ client may still be answered: a message it returns may be its own request, for another to take.
        assert len(outbox) == before or isinstance(session, RqSession), f"{session.protocol}: given more when it left"


class World:
    """A broker, its clients, and time."""

    def __init__(self, limits: Limits, options: ProtocolOptions, late: bool = False, locked: bool = False) -> None:
        self.now = START
        self.history: History = Disk() if late else Memory()
        self.log = self.history.log
        self.broker = Broker(self.log, limits)
        self.broker.set_policies([Rule([b"q0"], deliveries_max=3, dead_letter=b"{queue}.dead", retry_delay=1000)])
        self.hub = Hub(self.broker, self._report, options, b"i.")
        self.mqks, self.sevx, self.rq = Mqks(self.hub), Sevx(self.hub), Rq(self.hub)
        dialects: list[Dialect] = [self.mqks, Smqs(self.hub), self.sevx, Mqmq(self.hub), self.rq]
        self.doors: dict[str, Dialect] = {dialect.name: dialect for dialect in dialects}
        self.doors["any"] = ProtocolDetector(self.hub, dialects)
        if locked:
            self.hub.access = make_access(limits.unacked_max // 2)
        self.clients: dict[Session, Client] = {}
        self.gone: list[Session] = []
        self.unsafe: list[Confirmation] = []  # confirmations held back since the last turn

    def _report(self, level: str, event: str, details: dict[str, object]) -> None:
        assert level in ("info", "warning"), f"{event}: {details}"

    def connect(self, door: str, language: str, name: str) -> Client:
        client = Client(self, door, language, name)
        self.clients[client.session] = client
        return client

    def drop(self, client: Client) -> None:
        del self.clients[client.session]
        self.gone += {client.session, client.current()}

    def note_input(self, data: bytes) -> None:
        """Any input may be answered, to its sender or to clients that wait for its effect."""
        expressions = data.count(b"_eval")
        for client in self.clients.values():
            client.heard += len(data)
            client.expressions += expressions

    def turn(self) -> None:
        """Does what the server does between reads."""
        hub = self.hub
        for _ in range(TURNS_MAX):
            hub.run_awake(self.now)
            for confirmation in self.unsafe:
                confirmation.confirm()
            self.check_outboxes()
            self.unsafe = hub.broker.log.confirmations
            hub.broker.log.confirmations = []
            self.history.end_turn(self.now)
            dirty = hub.dirty
            if not dirty and not self.unsafe and not hub.awake:
                break
            hub.dirty = []
            for session in dirty:
                client = self.clients.get(session)
                if client is not None:
                    client.write()
        else:
            raise AssertionError("the broker never comes to rest")
        for client in self.clients.values():
            client.heard = client.expressions = 0  # all pending output has been written

    def advance(self, microseconds: int) -> None:
        self.now += microseconds
        for client in self.clients.values():
            client.heard += 1  # an idle line may become a request
        self.broker.tick(self.now)

    # -- invariants ---------------------------------------------------------------------------------------------------

    def check(self) -> None:
        broker = self.broker
        limits = broker.limits
        assert len(broker.queues) <= limits.queues_max
        for name, queue in broker.queues.items():
            assert queue.name == name
            assert len(name) <= limits.name_size_max
            check_queue(queue, limits)
        wrong = wrong_memory(broker.context)
        assert not wrong, wrong
        owned = {client.current() for client in self.clients.values()}
        assert owned == set(self.hub.sessions), "sessions that nobody owns, or owners without a session"
        for client in self.clients.values():
            self._check_client(client)
        self.check_outboxes()
        for session in self.gone:
            assert session.outbox_size == 0, f"{session.protocol}: says something after its end"
            assert not session.subscriptions()

    def _check_client(self, client: Client) -> None:
        session = client.current()
        limits = self.broker.limits
        kept, kept_max = buffered(session, limits)
        assert session.closing or kept <= kept_max + client.last_read, (
            f"{session.protocol}: keeps {kept} bytes of input"
        )
        for subscription in session.subscriptions():
            assert subscription.in_flight <= limits.unacked_max
            assert len(subscription.name) <= limits.name_size_max + len(session.peer) + 1
            assert len(subscription.held()) == subscription.in_flight
        preauth = session.preauth
        if preauth is not None:
            assert len(preauth.held) <= BYTES_MAX, f"{session.protocol}: holds {len(preauth.held)} bytes of nobody"
            assert (preauth.timer is not None and preauth.timer.armed) or session.closing, (
                f"{session.protocol}: is held for ever"
            )
        if isinstance(session, NamingSession) and not session.closing and preauth is None:
            suspended = {consumer for consumer in session.own.values() if consumer.suspended}
            assert set(session.halted) == suspended, "keeps a consumer that has ended, or forgets one that waits"

    def check_outboxes(self) -> None:
        for client in self.clients.values():
            session = client.current()
            if session.outbox_size > session.outbox_max:
                room = session.outbox_max + self._item_size_max(session.protocol)
                room += client.heard * ANSWER_FACTORS[session.protocol] + client.expressions * EXPRESSION_SIZE_MAX
                assert session.outbox_size <= room, f"{session.protocol}: {session.outbox_size} bytes, {room} at most"

    def _item_size_max(self, protocol: str) -> int:
        """The largest item sent at once: a body, the names of all queues, or the answers that end all open requests."""
        limits = self.broker.limits
        names = limits.queues_max * (6 * limits.name_size_max + 40)
        return (
            BODY_FACTORS[protocol] * limits.body_size_max + 12 * limits.name_size_max + names + 16 * limits.unacked_max
        )

    def check_at_rest(self) -> None:
        """After a turn, no client waits for something that will not happen."""
        for client in self.clients.values():
            session = client.session
            assert session.unconfirmed == 0, f"{session.protocol}: waits for a confirmation"
            client.check_closed()
            if not client.paused and not session.closing and session.preauth is None:
                for subscription in served(session):
                    assert not subscription.suspended, f"{session.protocol}: forgotten"

    def check_empty(self) -> None:
        """Checks the state after all clients have left."""
        broker = self.broker
        for _ in range(TURNS_MAX):
            due = broker.deadlines.next_due()
            if due < 0:
                break
            self.advance(max(0, due - self.now))
            self.turn()
        self.check()
        assert not self.clients
        assert not self.hub.sessions
        assert not self.mqks.consumers
        assert not self.sevx.consumers
        assert not self.rq.queue_ids._users
        assert not broker.requests.waiting, "a request that nobody waits for"
        access = self.hub.access
        if access is not None:
            assert len(access.throttle.pending) == 0
            assert not access.throttle.pending._by_address, "somebody who is gone waits at the gate"
            assert not [user.name for user in access.users.values() if user.connections], "somebody left uncounted"
        # An expired message that cannot become a dead letter, because there are too many queues, is retried endlessly.
        stuck = any(queue.expiring and queue.ready for queue in broker.queues.values())
        assert broker.deadlines.next_due() == -1 or stuck, "a timer that goes off for nobody"
        for queue in broker.queues.values():
            assert queue.consumer_count() == 0
            assert queue.unacked == 0
        rebuilt = self.history.replay(broker.limits)
        assert durable_state(rebuilt) == durable_state(broker), "a replay of the log gives another state"
        assert (rebuilt.log.next_offset, rebuilt.log.position) == (broker.log.next_offset, broker.log.position)
        for name, queue in broker.queues.items():
            assert [_fields(m) for m, _ in rebuilt.queues[name].contents()] == [_fields(m) for m, _ in queue.contents()]


def _fields(message: Message) -> tuple[object, ...]:
    return (message.id, message.event, message.body, message.headers, message.protocol, message.published_at)


def check_queue(queue: Queue, limits: Limits) -> None:
    owed = queue.contents()
    assert queue.ready == len(queue.backlog)
    assert queue.ready + queue.unacked == len(owed)
    assert queue.length() <= limits.queue_length_max
    held = sum(message.size for message, _ in owed)
    assert queue.bytes == held, f"{queue!r} counts {queue.bytes} bytes and holds {held}"
    assert queue.size() <= limits.queue_bytes_max + limits.body_size_max + MESSAGE_OVERHEAD
    for message, _ in owed:
        assert len(message.body) <= limits.body_size_max
        assert len(message.id) + len(message.event) <= MESSAGE_OVERHEAD, f"{message!r} is larger than what is counted"
    everyone = [*queue.consumers.active, *queue.consumers.parked]
    assert queue.unacked == sum(subscription.in_flight for subscription in everyone)
    for subscription in everyone:
        assert subscription.queue is queue
        able = subscription.active and not subscription.suspended
        if subscription.manual:
            able = able and subscription.in_flight < subscription.credit
        assert subscription.waiting == able == (subscription in queue.consumers.waiting)
    assert len(queue.consumers.waiting) <= len(queue.consumers.active)
    assert not (queue.ready and queue.consumers.waiting), f"{queue!r} keeps what somebody waits for"


def buffered(session: Session, limits: Limits) -> tuple[int, int]:
    """How many bytes of input a session buffers, and how many it may, beyond those of its last read."""
    if isinstance(session, MqksSession | SmqsSession | SevxSession):
        return session.lines.pending(), limits.line_size_max
    if isinstance(session, MqmqSession):
        return session.decoder._buffer.size(), 4 + limits.line_size_max
    if isinstance(session, RqSession):
        return session.decoder.pending() + len(session.head), 5 + max(limits.body_size_max, 255)
    assert isinstance(session, UndetectedSession)
    return len(session.head), HEAD_SIZE_MAX


def served(session: Session) -> Iterator[Subscription]:
    """The consumers of a reading client that are not blocked by a rule of their protocol."""
    if not isinstance(session, RqSession):
        yield from session.subscriptions()
    elif session.liveness != IDLE and session.phase < LEAVING and not session.ids.exhausted:
        for consumer in session.consumers.by_queue.values():
            if not consumer.active:
                break
            yield consumer
