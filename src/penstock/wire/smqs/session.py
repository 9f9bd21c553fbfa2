"""One SMQS client: its lines become broker calls, deliveries become lines.

Messages carry no id in SMQS, so a client acks by count, and the oldest deliveries are acked first. The queue named with
the count comes first; the remainder acks the oldest deliveries of the connection's other queues, because the original
counts per connection and its clients may name any queue.

Nearly all clients have one queue, and its subscription already keeps the order. From the second queue on the session
keeps `order`: all deliveries in the order they were sent. A delivery acked out of order stays there as a stale entry
until it reaches the front, or until more than half of `order` is stale.
"""

from collections import deque
from collections.abc import Callable
from typing import Final

from mypy_extensions import i64

from penstock.auth.directory import BY_TOKEN
from penstock.auth.tokens import id_of
from penstock.core.deadlines import Timer
from penstock.core.delivery import Delivery
from penstock.core.subscription import Subscription
from penstock.errors import Refused
from penstock.message import Message
from penstock.wire.line_session import SETTLED_AT_ONCE, LineSession
from penstock.wire.lines import looks_like_http
from penstock.wire.listings import Listings
from penstock.wire.preauth import PREAUTH_OTHER, PREAUTH_TOKEN, PreAuthRequest, TurnedAway, authenticate_again
from penstock.wire.session import MAYBE, NO, YES, Dialect, Hub, Session, is_denied
from penstock.wire.smqs.codec import (
    AUTH,
    CONSUME,
    DONE,
    MESSAGE,
    STATS,
    UNKNOWN_TYPE,
    decode_count,
    encode_foreign,
    encode_stats,
    ends_before,
    is_whole,
    needs_no_end,
    split_done,
)

PROTOCOL: Final = "smqs"
LF: Final = 10
QUIET_TIME: Final = 50_000  # microseconds after which an unterminated C, D or S is executed
WITHOUT_NAME_MAX: Final = 64  # of a C, D or S: more than its letter, its colons and any plausible count

# First bytes of a request, and the actions that identify an MQKS or SEVX line whose id looks like one.
KINDS: Final = (b"M:", b"C:", b"D:", b"S:", b"A:")
UNTERMINATED: Final = (ord("C"), ord("D"), ord("S"))
LETTERS: Final = (MESSAGE, CONSUME, DONE, STATS)
ACTIONS_ELSEWHERE: Final = frozenset(
    (
        b"publish consume send recv ack reject redrive unrouted delete_consumer delete_receiver delete_queue "
        b"auth ping _ping _eval"
    ).split()
)
RECOGNISE_WITHIN: Final = 512  # an id and action of MQKS or SEVX are not longer than this


class Smqs(Dialect):
    name = PROTOCOL

    def __init__(self, hub: Hub) -> None:
        super().__init__(hub)
        self.listings = Listings()

    def open(self, peer: str, now: int) -> Session:
        return SmqsSession(self, peer)

    def recognise(self, head: bytes) -> int:
        """By the letter and the colon, unless the first line is `{id} {action} ...` with such an id."""
        line, end, _ = head[: RECOGNISE_WITHIN + 1].partition(b"\n")
        if len(line) < 2 or line == b"S\r":
            if end:
                return YES if line.rstrip() == STATS else NO
            return MAYBE if not line or line[:1] in (MESSAGE, CONSUME, DONE, STATS, AUTH) else NO
        if line[:2] not in KINDS:
            return NO
        words = line.split(b" ", 2)
        if not end and len(words) < 3 and len(line) <= RECOGNISE_WITHIN:
            return MAYBE
        return NO if len(words) > 1 and words[1].rstrip() in ACTIONS_ELSEWHERE else YES

    def recognise_at_rest(self, head: bytes) -> bool:
        return self.recognise(head) == MAYBE and needs_no_end(head)


class Consumer(Subscription):
    """A connection's consumer of one queue."""

    def __init__(self, session: "SmqsSession", queue: bytes) -> None:
        super().__init__(b"%s/%s" % (session.peer.encode(), queue), manual=True)
        self.session = session
        self.holder = session.holder
        self.queue_name = queue
        self.ordered = 0  # open deliveries in the session's `order`

    def has_room(self) -> bool:
        return self.session.has_room()

    def deliver(self, message: Message, retry: int, delivery: Delivery | None) -> bool:
        session = self.session
        if len(session.outbox) == 0:
            session.hub.dirty.append(session)
        body = message.body
        if message.protocol == PROTOCOL:
            session.outbox.write(body)
            session.outbox.append(LF)
        else:
            line = encode_foreign(body)
            session.outbox.write(line)
        order = session.order
        if order is not None and delivery is not None:
            order.append(delivery)
            self.ordered += 1
        return len(session.outbox) < session.outbox_max

    def ended(self) -> None:
        self.session.forget(self)

    def failed(self, error: Exception) -> None:
        self.session.broke(error)


class Accepting:
    """An ack by count in progress."""

    def __init__(self, consumer: Consumer | None, own: int, others: int, given: int) -> None:
        self.consumer = consumer
        self.own = own  # deliveries of that consumer, oldest first ...
        self.others = others  # ... and then of the connection ...
        self.given = given  # ... among the first so many: accepting may cause deliveries the count does not cover


class SmqsSession(LineSession):
    protocol = PROTOCOL

    def __init__(self, dialect: Smqs, peer: str) -> None:
        super().__init__(dialect.hub, peer)
        self.listings = dialect.listings
        self.quiet_time: Timer | None = None  # created when a line is first left unterminated
        self.fresh = True
        self.own: dict[bytes, Consumer] = {}
        self.sole: Consumer | None = None  # the only consumer, while `order` is not kept
        self.order: deque[Delivery] | None = None
        self.stale = 0  # entries of `order` that are already settled
        self.accepting: Accepting | None = None
        self.blocked = False  # the socket's write buffer is full
        self.stats_owed = 0  # number of answers that wait for room
        self.unknown_owed = 0

    # -- input ------------------------------------------------------------------------------------------------------

    def receive(self, data: bytes) -> None:
        if self.lines.first_byte() in UNTERMINATED and not self._end_unfinished(data):
            return
        lines = self.lines.begin(data)
        if lines:
            if self.fresh and looks_like_http(lines[0]):
                self.complain("an HTTP request on the SMQS port", lines[0])
                self.hang_up()
                return
            self.fresh = False
        self.begin_lines(lines)

    def end_read(self) -> None:
        if self.lines.fault:
            self.complain(self.lines.fault, b"")
            self.hang_up()
        self._watch_rest(self.now)

    def _end_unfinished(self, data: bytes) -> bool:
        """Execute a complete C, D or S without a line end if the next read starts with a command.

        Returns False if the client was refused because of it.
        """
        if self.lines.pending() > self.hub.limits.name_size_max + WITHOUT_NAME_MAX or data[:1] not in LETTERS:
            return True
        *lines, rest = split_done(self.lines.take_rest())
        if ends_before(rest, data):
            lines.append(rest)
        else:
            self.lines.split(rest)
        if lines:
            self.fresh = False
        try:
            self._run(lines)
        except TurnedAway:
            return False
        return True

    def _watch_rest(self, now: int) -> None:
        """Start the timer if an unterminated C, D or S is pending."""
        timer = self.quiet_time
        if self.lines.first_byte() in UNTERMINATED:
            if timer is None:
                timer = self.quiet_time = Timer(self.run_unfinished, self.broke)
            self.broker.deadlines.set(timer, now + QUIET_TIME)
        elif timer is not None:
            self.broker.deadlines.cancel(timer)

    def run_unfinished(self, now: int) -> None:
        """The timeout expired: execute the unterminated line if it can be a request."""
        if self.closing or self.over or self.preauth is not None or self.busy:
            return
        *lines, rest = split_done(self.lines.take_rest())
        if needs_no_end(rest):
            lines.append(rest)
        else:
            self.lines.split(rest)
        if lines:
            self.now = now
            self.fresh = False
            self.work_off(lines, 0)

    def _run(self, lines: list[bytes]) -> None:
        """Execute a few lines to the end, regardless of slices."""
        done: i64 = 0
        while done < len(lines):
            self.begin_slice()
            done = self.run_lines(lines, done)
            self._finish_accepting()

    def _finish_accepting(self) -> None:
        while self.unsettled:
            self.settle_on()

    def run_lines(self, lines: list[bytes], start: i64) -> i64:
        broker = self.broker
        context = broker.context
        slice_end = self.slice_end + start  # each line counts as at least one unit of work
        count: i64 = len(lines)
        ids = self.hub.ids
        now = self.now
        puttable = self.puttable
        done = start
        while done < count and context.work + done < slice_end:
            line = lines[done]
            done += 1
            parts = line.split(b":", 2)
            if len(parts) == 3 and parts[0] == MESSAGE:
                queue = parts[1]
                try:
                    if puttable is not None and queue not in puttable:
                        self.authorizer.check_put(queue, broker.would_make(queue))
                    broker.put(queue, Message(ids.next(), queue, parts[2], now, PROTOCOL))
                except Refused as refusal:
                    self._refuse_message(refusal, line)
            elif len(parts) == 3 and parts[0] == DONE:
                if parts[2].isdigit():
                    self._accept(line, parts)
                else:
                    pieces = split_done(line)
                    if len(pieces) > 1:
                        lines[done:done] = pieces  # each piece is a request
                        count = len(lines)
                    else:
                        self._accept(line, parts)
                if self.unsettled:
                    break
            else:
                self._request(line, parts)
                puttable = self.puttable  # the request may have been a token
        context.work += done - start
        return done

    def _request(self, line: bytes, parts: list[bytes]) -> None:
        if len(parts) > 1:
            handler = HANDLERS.get(parts[0])
            if handler is None:
                self._unknown("unknown type", line)
            else:
                handler(self, line, parts)
        else:
            word = line.rstrip(b"\r")
            if word == STATS:
                self._answer_stats()
            elif word:
                self._unknown("expected {type}:{queue}", line)

    # -- authentication ---------------------------------------------------------------------------------------------

    def parse_preauth(self, data: bytes, at: int) -> PreAuthRequest | None:
        end = data.find(b"\n", at)
        if end < 0:
            return None
        kind, colon, token = data[at:end].partition(b":")
        if kind == AUTH and colon:
            return PreAuthRequest(PREAUTH_TOKEN, end + 1, b"", token.rstrip(b"\r"))
        return PreAuthRequest(PREAUTH_OTHER, end + 1)

    def on_auth(self, line: bytes, parts: list[bytes]) -> None:
        token = line[2:].rstrip(b"\r")
        if self.hub.access is None and not id_of(token):
            self._unknown("unknown type", line)
        else:
            authenticate_again(self, b"", token)

    def auth_error(self, id: bytes, reason: str) -> bytes:
        self.complain(reason, b"")
        return UNKNOWN_TYPE

    def suspend(self) -> None:
        if self.quiet_time is not None:
            self.broker.deadlines.cancel(self.quiet_time)  # nothing after a wrong token is executed
        super().suspend()

    # -- requests ---------------------------------------------------------------------------------------------------

    def on_unfit_message(self, line: bytes, parts: list[bytes]) -> None:
        self._unknown("expected M:{queue}:{data}", line)

    def on_consume(self, line: bytes, parts: list[bytes]) -> None:
        queue = parts[1]
        if queue in self.own:
            return
        if self.puttable is not None:
            try:
                self.check_consumer(queue)
            except Refused as refusal:
                self._unknown(str(refusal), line)
                return
        consumer = Consumer(self, queue)
        consumer.credit = self.first_share()
        consumer.suspended = self.blocked
        if self.sole is not None:
            # Until now there was one queue, so its delivery order is the connection's.
            self.order = deque(self.sole.held())
            self.sole.ordered = self.sole.in_flight
            self.sole = None
        elif self.order is None:
            self.sole = consumer
        self.own[queue] = consumer
        try:
            self.broker.subscribe(queue, consumer, None, self.now)
        except Refused as refusal:
            self.forget(consumer)
            self._unknown(str(refusal), line)
            return
        self.share()

    def on_done(self, line: bytes, parts: list[bytes]) -> None:
        """A D without a count; `run_lines` handles those with one."""
        self.complain("expected D:{queue}:{count}", line)

    def _accept(self, line: bytes, parts: list[bytes]) -> None:
        count = decode_count(parts[2])
        if count < 0:
            self.complain("expected D:{queue}:{count}", line)
            return
        order = self.order
        consumer = self.own.get(parts[1])
        if consumer is None:
            consumer = self.sole
        own = 0 if consumer is None else min(count, consumer.in_flight)
        if order is None and own <= SETTLED_AT_ONCE:
            if consumer is not None:
                self._accept_of(consumer, own)
            return
        self.accepting = Accepting(consumer, own, count - own, 0 if order is None else len(order))
        self.unsettled = True
        self.settle_on()

    def settle_on(self) -> None:
        accepting = self.accepting
        if accepting is not None:
            room = SETTLED_AT_ONCE
            consumer = accepting.consumer
            if accepting.own and consumer is not None:
                count = min(accepting.own, room)
                accepting.own -= count
                room -= count
                self._accept_of(consumer, count)
            if accepting.own:
                return
            if self.order is not None and not self._accept_in_order(accepting, room):
                return
            self.accepting = None
        self.unsettled = False

    def on_stats(self, line: bytes, parts: list[bytes]) -> None:
        self._answer_stats()

    def _accept_of(self, consumer: Consumer, count: int) -> None:
        """Ack the oldest deliveries of one consumer."""
        broker = self.broker
        count = min(count, consumer.in_flight)
        broker.context.work += count
        if self.order is not None:
            self.stale += count
            consumer.ordered -= count
        for _ in range(count):
            delivery = consumer.oldest
            if delivery is not None:
                broker.accept(delivery)

    def _accept_in_order(self, accepting: Accepting, room: int) -> bool:
        """Ack the oldest deliveries of the connection, and sweep. False if the slice ended before all were acked."""
        broker = self.broker
        order = self.order
        while order and accepting.given and (accepting.others or not order[0].open):
            if room <= 0:
                return False
            room -= 1
            accepting.given -= 1
            broker.context.work += 1
            delivery = order.popleft()
            if delivery.open:
                accepting.others -= 1
                consumer = delivery.subscription
                assert isinstance(consumer, Consumer)
                consumer.ordered -= 1
                broker.accept(delivery)
            else:
                self.stale -= 1
        self._sweep()
        return True

    def _sweep(self) -> None:
        order = self.order
        if order is not None and self.stale * 2 > len(order):
            self.order = deque([delivery for delivery in order if delivery.open])
            self.stale = 0

    # -- answers ----------------------------------------------------------------------------------------------------

    def _answer_stats(self) -> None:
        if self._has_room():
            self.send(self.listings.answer(self, self._stats))
        else:
            self.stats_owed += 1

    def _refuse_message(self, refusal: Refused, line: bytes) -> None:
        """Messages are never answered, except that a client with a token is told when a permission is missing."""
        if is_denied(refusal) and self.identity is not None and self.identity.how == BY_TOKEN:
            self._unknown(str(refusal), line)
        else:
            self.complain(str(refusal), line)

    def _unknown(self, reason: str, line: bytes) -> None:
        self.complain(reason, line)
        if self._has_room():
            self.send(UNKNOWN_TYPE)
        else:
            self.unknown_owed += 1

    def _has_room(self) -> bool:
        """False when the client reads slower than it asks: its answers are then counted and sent later."""
        return not self.blocked and self.outbox_size < self.outbox_max

    def _stats(self) -> bytes:
        queues = self.broker.queues.items()
        return encode_stats(
            {name: queue.ready + queue.unacked for name, queue in queues if self.authorizer.may_browse(name)}
        )

    def pause(self) -> None:
        self.blocked = True
        super().pause()

    def resume(self) -> None:
        self.blocked = False
        while self.stats_owed and self._has_room():
            self.stats_owed -= 1
            self.send(self.listings.answer(self, self._stats))
        while self.unknown_owed and self._has_room():
            self.unknown_owed -= 1
            self.send(UNKNOWN_TYPE)
        super().resume()

    # -- ending -----------------------------------------------------------------------------------------------------

    def forget(self, consumer: Consumer) -> None:
        """The consumer and its deliveries have ended."""
        self.own.pop(consumer.queue_name, None)
        if not self.own:
            self.sole = None
            self.order = None
            self.stale = 0
        else:
            self.stale += consumer.ordered
            self._sweep()

    def subscriptions(self) -> list[Subscription]:
        return list(self.own.values())

    def leave_some(self, now: int) -> bool:
        """Leave all consumers to `end` if an unterminated line, an open ack or `smqs_lose_undone` settles first."""
        if self.lines.pending() or self.unsettled or self.hub.options.smqs_lose_undone:
            return True
        return super().leave_some(now)

    def end(self, now: int) -> None:
        """Execute an unterminated line if it is a count, or a message that is certainly complete."""
        if self.quiet_time is not None:
            self.broker.deadlines.cancel(self.quiet_time)
            self.quiet_time = None
        self.now = now
        self.suspend_all()  # the remaining counts must not cause deliveries
        self._finish_accepting()
        *counts, rest = split_done(b"" if self.closing or self.preauth is not None else self.lines.take_rest())
        if rest.startswith(b"D:"):
            counts.append(rest)
        self._run(counts)
        if self.hub.options.smqs_lose_undone:
            self._lose_undone()
        super().end(now)
        self.own.clear()
        self.sole = None
        self.order = None
        if rest.startswith(MESSAGE):
            parts = rest.split(b":", 2)
            if len(parts) == 3 and parts[0] == MESSAGE and is_whole(parts[2]):
                self._run([rest])
            else:
                self.complain("the connection was closed within a message", rest)
            self.tell_counted()

    def _lose_undone(self) -> None:
        broker = self.broker
        for consumer in self.own.values():
            for delivery in consumer.held():
                broker.accept(delivery)


HANDLERS: Final[dict[bytes, Callable[[SmqsSession, bytes, list[bytes]], None]]] = {
    MESSAGE: SmqsSession.on_unfit_message,
    CONSUME: SmqsSession.on_consume,
    DONE: SmqsSession.on_done,
    STATS: SmqsSession.on_stats,
    AUTH: SmqsSession.on_auth,
}
