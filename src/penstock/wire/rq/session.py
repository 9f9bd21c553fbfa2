"""One RQ client, called a node: it may send requests, serve queues, or both on the same connection.

Two spaces of IDs meet here and must not be mixed up. A requester picks the IDs of its own requests, any 32 bits, and
gets them back as they were. A consumer gets IDs that this session picks, and answers with those. So a DELIVERED that
comes in is always about a request we handed out, and one that goes out is always about a request we were handed.

    requester                          broker                             consumer
      REQUEST 7 ───────────────────► put ─► queue ─► deliver ──────────────► REQUEST 0
      DELIVERED 7 ◄──── Ask.delivered ◄───────────────────────────────────── DELIVERED 0
      REPLY 7 ◄──────── Ask.replied ◄─────── reply, accept ◄──────────────── REPLY 0

A consumer is given nothing for any of these reasons, each of which comes and goes on its own: its socket is full; it
has not been heard of for long (IDLE); it has as many unfinished requests as there are IDs; it is leaving, or we are; a
queue that this client asked for earlier is still parked behind an exclusive consumer, which the original client does
not survive. `_review` is the one place that weighs them.
"""

from collections import deque
from collections.abc import Callable
from typing import Final

from mypy_extensions import i64

from penstock.core.subscription import Delivery, Subscription
from penstock.errors import ProtocolError, Refused
from penstock.message import MESSAGE_OVERHEAD, TO_CONSUMERS, Message, Terms, tell_delivered
from penstock.wire.gate import ASKS, PINGS, SHOWS, Greeting
from penstock.wire.rq.asks import Ask, Timeout
from penstock.wire.rq.codec import (
    ABSENT,
    BROADCAST,
    CANCEL_QUEUE,
    CLEAR,
    CLOSING,
    CLOSING_BYTES,
    CONSUME,
    DELIVERED,
    DENIED_BYTES,
    HEADER_SIZES,
    LONG_TOKEN,
    MORE,
    NOBODY_UNDELIVERED,
    NOP,
    PING,
    PING_BYTES,
    PONG,
    PONG_BYTES,
    REPLY,
    REPLY_TAIL,
    REQUEST,
    SERVER_FULL_BYTES,
    TOKEN,
    UNDELIVERED,
    WELCOME_BYTES,
    Decoder,
    Fields,
    encode_consuming,
    encode_delivered,
    encode_denied,
    encode_reply_head,
    encode_undelivered,
)
from penstock.wire.rq.consumer import IDS_MAX, NOREPLY_HEADER, PROTOCOL, Consumer
from penstock.wire.rq.numbers import QueueNumbers
from penstock.wire.session import MAYBE, NO, YES, Dialect, Hub, Session, nobody
from penstock.wire.timer import SessionTimer

SECOND: Final = 1_000_000
MILLISECOND: Final = 1000
QUIET_TIME: Final = 15 * SECOND  # without a byte from a node: it is pinged, and after as long again it is IDLE

IDS_ENOUGH: Final = IDS_MAX - 1024  # a consumer that had run out of IDs goes on when no more than this are in use

# A web page may make a browser send a request here, and RISP would step over its text and act on its body.
HTTP_BEGINNINGS: Final = (
    b"GET ",
    b"POST ",
    b"PUT ",
    b"HEAD ",
    b"DELETE ",
    b"OPTIONS ",
    b"PATCH ",
    b"CONNECT ",
    b"TRACE ",
    b"PRI ",
)

# An MQMQ connection begins with the length of a frame, below 48 MiB, then that of a word, which is short.
MQMQ_FIRST_BYTE_MAX: Final = 2
MQMQ_WORD_SIZE_MAX: Final = 64


class Rq(Dialect):
    """The protocol, with the numbers of its queues."""

    name = PROTOCOL
    default_port = 13700

    def __init__(self, hub: Hub) -> None:
        super().__init__(hub)
        self.numbers = QueueNumbers()

    def open(self, peer: str, now: int) -> Session:
        return RqSession(self, peer, now)

    def recognise(self, head: bytes) -> int:
        """By a first CLEAR, PING or NOP, which no text begins with, once it cannot be the length of an MQMQ frame."""
        if not head:
            return MAYBE
        if head[0] not in (CLEAR, PING, NOP, TOKEN, LONG_TOKEN):
            return NO
        if head[0] > MQMQ_FIRST_BYTE_MAX or any(head[4:7]) or (len(head) > 7 and head[7] > MQMQ_WORD_SIZE_MAX):
            return YES
        return MAYBE if len(head) < 8 else NO

    def recognise_at_rest(self, head: bytes) -> bool:
        """A node may wait for an answer to CLEAR PING. For MQMQ it would be the middle of a frame of 16 MiB or more."""
        return head[:1] == bytes([CLEAR]) and self.recognise(head) == MAYBE

    def full(self) -> bytes:
        return SERVER_FULL_BYTES


class Silence(SessionTimer):
    """Due when nothing was heard of a node for QUIET_TIME."""

    def __init__(self, session: "RqSession") -> None:
        super().__init__(session)
        self.session = session

    def fire(self, now: int) -> None:
        self.session.on_silence(now)


class RqSession(Session):
    protocol = PROTOCOL

    def __init__(self, dialect: Rq, peer: str, now: int) -> None:
        super().__init__(dialect.hub, peer)
        self.dialect = dialect
        self.decoder = Decoder(dialect.hub.limits.body_size_max)
        self.head: bytes | None = b""  # the first bytes, until it is clear that they are not HTTP
        # As a requester.
        self.asks: dict[Ask, None] = {}
        self.replies: deque[tuple[int, bytes]] = deque()  # wait for room: one PAYLOAD may be the reply to any number
        self.replies_size = 0  # bytes of those; a PAYLOAD of several in a row counts once
        # As a consumer.
        self.consumers: dict[bytes, Consumer] = {}  # by queue, in the order they were asked for
        self.retiring: dict[bytes, Consumer] = {}
        self.deleted: list[Consumer] = []  # their queue was deleted under them
        self.parked = 0  # of the consumers
        self.unacked_max = dialect.hub.limits.unacked_max  # of each
        self.several = False  # it has ever asked for more than one queue
        self.numbered: set[bytes] = set()  # queues it was told the number of
        self.unfinished: dict[int, Delivery] = {}  # what it has not answered yet, by the ID we gave it
        self.noreply: set[int] = set()  # those of them for which DELIVERED is the whole answer
        self.unheld: set[int] = set()  # IDs of broadcasts in the shape of a request, not answered yet
        self.next_id = 0
        self.next_high_id = IDS_MAX
        # Why it gets nothing for now.
        self.socket_full = False
        self.idle = False
        self.out_of_ids = False
        self.showed_token = False  # so it knows what only we say
        self.parting = False  # CLOSING was said, by either side
        self.said_closing = False
        # Whether it is alive.
        self.heard = now
        self.pinged = False
        self.silence = Silence(self)
        self.broker.deadlines.set(self.silence, now + QUIET_TIME)

    def pending(self) -> int:
        return self.decoder.pending()

    def kept_out(self) -> int:
        return self.replies_size

    def feed(self, data: bytes, now: int) -> None:
        if self.closing or not data:
            return
        if self.gate is not None:
            self.knock(data, now)
            return
        self.now = now
        self.broker.set_time(now)
        self.heard = now
        if self.pinged:
            self._heard_again()
        if self.head is not None:
            data = self._past_http(self.head + data)
        self.decoder.feed(data)
        self.run_on()

    def run_on(self) -> None:
        decoder = self.decoder
        usage = self.broker.usage
        done: i64 = 0
        slice_end = usage.work + self.hub.slice_work  # each action is one piece of work, and may be more
        try:
            while not self.closing:
                if usage.work + done >= slice_end:
                    if decoder.pending():
                        self.be_busy()
                    break
                done += 1
                action = decoder.next_action()
                # The three of a request's life are called without looking for them.
                if action == REQUEST:
                    self.on_request(decoder.fields)
                elif action == DELIVERED:
                    self.on_delivered(decoder.fields)
                elif action == REPLY:
                    self.on_reply(decoder.fields)
                elif action == MORE:
                    break
                else:
                    handler = HANDLERS.get(action)
                    if handler is not None:
                        handler(self, decoder.fields)
                    if action == TOKEN and self._is_held():
                        break
        except ProtocolError as error:
            self._break_off(error.reason)
        usage.work += done

    def _past_http(self, head: bytes) -> bytes:
        """The beginning of the connection, or nothing while it could be, or when it is, that of an HTTP request."""
        if head.startswith(HTTP_BEGINNINGS):
            self.complain("an HTTP request on the RQ port", head)
            self.hang_up()
            return b""
        for beginning in HTTP_BEGINNINGS:
            if beginning.startswith(head):
                self.head = head
                return b""
        self.head = None
        return head

    def _break_off(self, reason: str) -> None:
        """The stream cannot be read on. A request whose ID and QUEUE are known by then is at least told so."""
        fields = self.decoder.fields
        self.complain(reason, fields.queue)
        if fields.id >= 0 and self._queue_of(fields):
            self.send(encode_undelivered(fields.id))
        self.parting = True
        self._review()
        self.hang_up()

    # -- who it is --------------------------------------------------------------------------------------------------

    def greet(self, data: bytes, at: int) -> Greeting | None:
        code = data[at]
        if code in (CLEAR, NOP, PONG):
            return Greeting(PINGS, at + 1)
        if code == PING:
            return Greeting(PINGS, at + 1, b"", PONG_BYTES)
        if code not in (TOKEN, LONG_TOKEN):
            return Greeting(ASKS, at + 1)
        start = at + HEADER_SIZES[code >> 5]
        if len(data) < start:
            return None
        end = start + int.from_bytes(data[at + 1 : start], "big")
        if len(data) < end:
            return None
        self.showed_token = True
        return Greeting(SHOWS, end, b"", data[start:end])

    def on_token(self, fields: Fields) -> None:
        token = fields.token
        fields.token = b""
        self.showed_token = True
        self.present(b"", token)

    def _is_held(self) -> bool:
        return self.gate is not None

    def welcome(self, id: bytes) -> bytes:
        return WELCOME_BYTES

    def rebuff(self, id: bytes, reason: str) -> bytes:
        self.complain(reason, b"")
        return DENIED_BYTES if self.showed_token else b""

    def hold_back(self) -> None:
        self.parting = True
        self._review()

    def say_out(self, reason: str) -> None:
        self.hold_back()
        self.send(DENIED_BYTES if self.showed_token else CLOSING_BYTES)

    # -- the requester's side ---------------------------------------------------------------------------------------

    def on_request(self, fields: Fields) -> None:
        payload = fields.payload
        queue = self._queue_of(fields)
        fault = self._fault_in(fields, queue)
        if fault or payload is None:
            self._refuse(fields, fault)
            return
        is_asked = not fields.noreply or fields.timeout > 0
        id = self.hub.ids.next_secret() if is_asked else self.hub.ids.next()
        headers: dict[bytes, bytes] | None = {NOREPLY_HEADER: b"1"} if fields.noreply else None
        message = Message(id, queue, payload, self.now, PROTOCOL, headers)
        if fields.retries >= 0 or fields.timeout > 0 or fields.delay > 0 or fields.ttl >= 0:
            message.terms = self._terms_of(fields)
        ask: Ask | None = None
        if is_asked:
            ask = Ask(self, fields.id, message, fields.noreply)
            message.requester = ask
            if not fields.noreply:
                self.asks[ask] = None
        try:
            if self.puttable is not None and queue not in self.puttable:
                self.check_put(queue)
            self.broker.put(queue, message)
        except Refused as refusal:
            if ask is not None:
                self.asks.pop(ask, None)
                ask.message = None
            self._refuse(fields, str(refusal))
            return
        if fields.noreply:
            self.confirm(encode_delivered(fields.id))
        if ask is not None:
            if message.route == TO_CONSUMERS:
                # It was itself the reply to a request, so nobody is going to answer it.
                ask.delivered(message)
                ask.close()
            elif fields.timeout > 0 and not ask.over:
                ask.timeout = Timeout(ask)
                self.broker.deadlines.set(ask.timeout, self.now + fields.timeout * SECOND)

    def _terms_of(self, fields: Fields) -> Terms:
        """In the log, so that they hold when the broker has been down: then nobody else keeps the TIMEOUT."""
        now = self.now
        due_at = now + fields.delay * MILLISECOND if fields.delay > 0 else 0
        expires_at = 0
        if fields.ttl >= 0:
            expires_at = max(now, due_at) + fields.ttl * MILLISECOND
        if fields.timeout > 0:
            over_at = now + fields.timeout * SECOND
            expires_at = min(expires_at, over_at) if expires_at else over_at
        return Terms(due_at, expires_at, fields.retries + 1 if fields.retries >= 0 else 0)

    def on_broadcast(self, fields: Fields) -> None:
        """To whoever consumes the queue now. There is no answer to it, whatever happens; an ID is ignored."""
        payload = fields.payload
        queue = self._queue_of(fields)
        if not payload or not queue:
            self.complain("BROADCAST needs QUEUE or a QUEUEID of ours, and a PAYLOAD that is not empty", queue)
            return
        try:
            if self.puttable is not None and queue not in self.puttable:
                self._check_broadcast(queue)
            self.broker.broadcast(queue, Message(self.hub.ids.next(), queue, payload, self.now, PROTOCOL))
        except Refused as refusal:
            self.complain(str(refusal), queue)

    def _check_broadcast(self, queue: bytes) -> None:
        """A broadcast makes no queue, so it needs no more than the right to publish."""
        user = self.user
        if user is None:
            raise nobody()
        user.check_put(queue, False)

    def send_reply(self, id: int, body: bytes) -> None:
        if self.replies or self.socket_full or self.outbox_size >= self.outbox_max:
            if not self.replies or self.replies[-1][1] is not body:
                self.replies_size += len(body)
            self.replies_size += MESSAGE_OVERHEAD
            self.replies.append((id, body))
        else:
            self._write_reply(id, body)

    def _write_reply(self, id: int, body: bytes) -> None:
        """A reply without a body has an empty PAYLOAD: without any, the original client waits on for ever."""
        self.send(encode_reply_head(id, len(body)))
        if body:
            self.send(body)
        self.send(REPLY_TAIL)

    def _fault_in(self, fields: Fields, queue: bytes) -> str:
        """Why a REQUEST cannot be taken; empty when it can."""
        if fields.id < 0:
            return "REQUEST needs an ID"
        if self.parting:
            return "REQUEST after CLOSING"
        if not queue:
            return "REQUEST needs QUEUE, or a QUEUEID of ours"
        if not fields.payload:
            return "REQUEST needs a PAYLOAD that is not empty"
        if len(self.asks) >= self.hub.limits.unacked_max and not fields.noreply:
            return f"{len(self.asks)} requests wait for their reply: unacked_max is {self.hub.limits.unacked_max}"
        return ""

    def _refuse(self, fields: Fields, reason: str) -> None:
        self.complain(reason, fields.queue)
        self.send(encode_undelivered(fields.id) if fields.id >= 0 else NOBODY_UNDELIVERED)

    def _queue_of(self, fields: Fields) -> bytes:
        """The queue a group names; QUEUE goes before QUEUEID. Empty when it names none that we know."""
        return fields.queue or self.dialect.numbers.name_of(fields.queue_id)

    # -- the consumer's side ----------------------------------------------------------------------------------------

    def on_consume(self, fields: Fields) -> None:
        """Answered with CONSUMING once the queue is really served, and only once. There is no way to say no."""
        queue = self._queue_of(fields)
        if not queue or self.parting:
            self.complain("CONSUME after CLOSING" if self.parting else "CONSUME needs a QUEUE", queue)
            return
        consumer = self.consumers.get(queue)
        if consumer is not None:
            consumer.allow(fields)
            self._readmit(consumer)
            return
        consumer = self.retiring.pop(queue, None)
        if consumer is not None:
            consumer.retired = False
            consumer.allow(fields)
            self.consumers[queue] = consumer
            self.send(encode_consuming(consumer.number, queue))
            self._readmit(consumer)
            return
        try:
            if self.puttable is not None:
                self.check_consumer(queue)
            self.broker.declare(queue)
        except Refused as refusal:
            # Whoever makes up numbers is not to learn which queues there are.
            if self.showed_token and (fields.queue or queue in self.numbered):
                self.send(encode_denied(queue))
            self.complain(str(refusal), queue)  # before it gets a number: names that are not taken must not pile up
            return
        consumer = Consumer(self, queue, self._number_of(queue), fields.exclusive)
        consumer.allow(fields)
        self._subscribe(consumer)

    def _number_of(self, queue: bytes) -> int:
        numbers = self.dialect.numbers
        number = numbers.take(queue)
        if queue in self.numbered:
            numbers.release(queue)
        self.numbered.add(queue)
        return number

    def _subscribe(self, consumer: Consumer) -> None:
        queue = consumer.queue_name
        if self.consumers and queue not in self.consumers:
            self.several = True
        self.consumers[queue] = consumer
        consumer.suspended = True  # until it is decided whether it may be given something
        try:
            if self.puttable is not None:
                self.check_consume(queue)  # also where the queue was deleted, and would come to be again
            self.broker.subscribe(queue, consumer, None, self.now)
        except Refused as refusal:
            del self.consumers[queue]
            self.complain(str(refusal), queue)
            return
        if not consumer.active:
            consumer.parked = True
            self.parked += 1
        consumer.limit(self.unacked_max)
        self.share()
        if self.parked == 0 and self._may_be_given():
            self.broker.resume(consumer)

    def allow(self, credit: int) -> None:
        self.unacked_max = credit
        for consumer in self.consumers.values():
            consumer.limit(credit)
            self.broker.allow(consumer, consumer.credit)

    def _readmit(self, consumer: Consumer) -> None:
        """Let a consumer stand in its queue's line by what it allows now."""
        consumer.limit(self.unacked_max)
        self.broker.suspend(consumer)
        self._review()

    def on_cancel_queue(self, fields: Fields) -> None:
        """Nothing more comes from that queue; what has come may still be answered. There is no answer to it."""
        queue = self._queue_of(fields)
        consumer = self.consumers.get(queue)
        if consumer is not None:
            self._retire(consumer)
            self._review()
        elif not queue:
            self.complain("CANCEL_QUEUE needs QUEUE, or a QUEUEID of ours", b"")

    def on_delivered(self, fields: Fields) -> None:
        id = self._known(fields.id)
        delivery = self.unfinished.get(id)
        if delivery is not None and not (self.noreply and id in self.noreply):
            message = delivery.message
            if message is not None:
                tell_delivered(message)
        elif delivery is not None:
            self._free(id)
            self.broker.accept(delivery)
            self._settled(delivery)
        elif id >= 0:
            self._free(id)
        else:
            self.complain("DELIVERED for an ID that is not open", b"%d" % fields.id)

    def on_reply(self, fields: Fields) -> None:
        id = self._known(fields.id)
        if id < 0:
            self.complain("REPLY for an ID that is not open", b"%d" % fields.id)
            return
        delivery = self.unfinished.get(id)
        wanted = not (self.noreply and id in self.noreply)
        self._free(id)
        if delivery is not None:
            if wanted and delivery.message is not None:  # else it was let go of, and nobody waits for it
                self.broker.reply(delivery.message.id, fields.payload or b"")
            self.broker.accept(delivery)
            self._settled(delivery)

    def on_undelivered(self, fields: Fields) -> None:
        """The consumer cannot do it: somebody else may try."""
        id = self._known(fields.id)
        if id < 0:
            self.complain("UNDELIVERED for an ID that is not open", b"%d" % fields.id)
            return
        delivery = self.unfinished.get(id)
        self._free(id)
        if delivery is not None:
            self.broker.reject(delivery)
            self._settled(delivery)

    def take_id(self) -> int:
        """The next free ID towards this consumer, going round: a late answer is not to meet a new request."""
        unfinished = self.unfinished
        unheld = self.unheld
        if len(unfinished) + len(unheld) >= IDS_MAX:
            id = self.next_high_id
            while id in unfinished or id in unheld:
                id += 1
            self.next_high_id = id + 1
            return id
        id = self.next_id
        while id in unfinished or (unheld and id in unheld):
            id = (id + 1) % IDS_MAX
        self.next_id = (id + 1) % IDS_MAX
        return id

    def _known(self, id: int) -> int:
        """The open ID that is meant; ABSENT when there is none. The original client sends 16 bits with their sign."""
        if id in self.unfinished or id in self.unheld:
            return id
        low = id & 0xFFFF
        if id >> 16 == 0xFFFF and (low in self.unfinished or low in self.unheld):
            return low
        return ABSENT

    def _free(self, id: int) -> None:
        """The consumer is done with an open ID."""
        if self.unfinished.pop(id, None) is None:
            self.unheld.discard(id)
        elif self.noreply:
            self.noreply.discard(id)
        if self.out_of_ids and len(self.unfinished) + len(self.unheld) <= IDS_ENOUGH:
            self.out_of_ids = False
            self.next_high_id = IDS_MAX
            self._review()

    def _settled(self, delivery: Delivery) -> None:
        if self.retiring:
            consumer = delivery.subscription
            if isinstance(consumer, Consumer) and consumer.retired and consumer.in_flight == 0:
                self.retiring.pop(consumer.queue_name, None)
                self.broker.cancel(consumer, self.now)
        if self.parting:
            self.part_when_done()

    def _retire(self, consumer: Consumer) -> None:
        del self.consumers[consumer.queue_name]
        if consumer.parked:
            consumer.parked = False
            self.parked -= 1
        if consumer.in_flight:
            consumer.retired = True
            self.retiring[consumer.queue_name] = consumer
            self.broker.suspend(consumer)
        else:
            self.broker.cancel(consumer, self.now)

    def on_activated(self, consumer: Consumer) -> None:
        """Called by the broker in the middle of its work."""
        if not consumer.announced:
            consumer.announced = True
            self.send(encode_consuming(consumer.number, consumer.queue_name))
        if consumer.parked:
            consumer.parked = False
            self.parked -= 1
            self.hub.awake.append(self)

    def on_ended(self, consumer: Consumer) -> None:
        """Called by the broker in the middle of its work."""
        if consumer.parked:
            consumer.parked = False
            self.parked -= 1
        self.deleted.append(consumer)
        self.hub.awake.append(self)

    def wake(self, now: int) -> None:
        """After a promotion, later queues may be served as well.

        A deleted queue is consumed again: nothing in this protocol can tell a node that it is not any longer.
        """
        self.now = now
        self.broker.set_time(now)
        deleted = self.deleted
        self.deleted = []
        for consumer in deleted:
            if self.consumers.get(consumer.queue_name) is consumer:
                self._subscribe(consumer)
            elif self.retiring.get(consumer.queue_name) is consumer:
                del self.retiring[consumer.queue_name]
        self._review()

    # -- when it may be given something ------------------------------------------------------------------------------

    def has_room(self) -> bool:
        """Whether one more delivery may follow the last one."""
        if len(self.unfinished) + len(self.unheld) >= IDS_MAX:
            self.out_of_ids = True
            return False
        return self.outbox_size < self.outbox_max

    def _may_be_given(self) -> bool:
        if self.socket_full or self.idle or self.parting or self.out_of_ids:
            return False
        return self.outbox_size < self.outbox_max

    def _review(self) -> None:
        """Suspend and resume consumers by the reasons there are now."""
        answered = True  # every queue asked for before this one
        for consumer in list(self.consumers.values()):
            answered = answered and consumer.active
            if answered and self._may_be_given():
                self.broker.resume(consumer)
            else:
                self.broker.suspend(consumer)

    def pause(self) -> None:
        self.socket_full = True
        self._review()

    def resume(self) -> None:
        self.socket_full = False
        while self.replies and self.outbox_size < self.outbox_max:
            id, body = self.replies.popleft()
            self._write_reply(id, body)
            self.replies_size -= MESSAGE_OVERHEAD
            if not self.replies or self.replies[0][1] is not body:
                self.replies_size -= len(body)
        if self.parting:
            self.part_when_done()
        self._review()

    # -- silence ----------------------------------------------------------------------------------------------------

    def on_ping(self, fields: Fields) -> None:
        self.send(PONG_BYTES)

    def on_silence(self, now: int) -> None:
        if self.pinged:
            self.idle = True
            self._review()
        elif self.heard + QUIET_TIME > now:
            self.broker.deadlines.set(self.silence, self.heard + QUIET_TIME)
        else:
            self.pinged = True
            self.send(PING_BYTES)
            self.broker.deadlines.set(self.silence, now + QUIET_TIME)

    def _heard_again(self) -> None:
        self.pinged = False
        self.broker.deadlines.set(self.silence, self.heard + QUIET_TIME)
        if self.idle:
            self.idle = False
            self._review()

    # -- leaving ----------------------------------------------------------------------------------------------------

    def on_closing(self, fields: Fields) -> None:
        """The node wants to go: nothing new for it, and the door closes once nothing is owed either way."""
        self.parting = True
        for consumer in list(self.consumers.values()):
            self._retire(consumer)
        self.part_when_done()

    def goodbye(self, now: int) -> None:
        """We are going. Requests that nobody has begun are given back; those that are in work may still be answered."""
        if self.closing or self.said_closing:
            return
        self.now = now
        self.said_closing = True
        self.parting = True
        self.send(CLOSING_BYTES)
        self._review()
        for ask in list(self.asks):
            if not ask.told:
                ask.give_up(True)
        self.part_when_done()

    def owes(self) -> bool:
        """Whether a request of this node waits for its reply, or one given to it for its answer."""
        return bool(self.asks) or bool(self.replies) or bool(self.unfinished)

    def part_when_done(self) -> None:
        if not self.owes():
            self.hang_up()

    def subscriptions(self) -> list[Subscription]:
        return [*self.consumers.values(), *self.retiring.values()]

    def end(self, now: int) -> None:
        super().end(now)
        self.broker.deadlines.cancel(self.silence)
        for ask in list(self.asks):
            if ask.timeout is None and ask.message is not None:
                self.broker.forget_request(ask.message, False)
            else:
                ask.silent = True  # still not to be begun after its time
        self.asks.clear()
        self.replies.clear()
        self.replies_size = 0
        for queue in self.numbered:
            self.dialect.numbers.release(queue)
        self.numbered.clear()
        self.consumers.clear()
        self.retiring.clear()
        self.unfinished.clear()


# Actions that are not in here are stepped over: those we do not know, PONG, and those that only we may send.
HANDLERS: Final[dict[int, Callable[[RqSession, Fields], None]]] = {
    REQUEST: RqSession.on_request,
    REPLY: RqSession.on_reply,
    DELIVERED: RqSession.on_delivered,
    BROADCAST: RqSession.on_broadcast,
    UNDELIVERED: RqSession.on_undelivered,
    CONSUME: RqSession.on_consume,
    CANCEL_QUEUE: RqSession.on_cancel_queue,
    CLOSING: RqSession.on_closing,
    PING: RqSession.on_ping,
    TOKEN: RqSession.on_token,
}
