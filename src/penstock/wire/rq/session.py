"""One RQ client, called a node: it may send requests, consume queues, or both on the same connection.

Two ID spaces meet here and must not be mixed up. A requester picks the IDs of its own requests, any 32 bits, and our
answers carry them unchanged. This session picks the IDs of requests to a consumer, which answers with those. So a
DELIVERED we receive is always about a request we sent, and one we send is always about a request we received.

    requester                          broker                             consumer
      REQUEST 7 ───────────────────► put ─► queue ─► deliver ──────────────► REQUEST 0
      DELIVERED 7 ◄──── Ask.delivered ◄───────────────────────────────────── DELIVERED 0
      REPLY 7 ◄──────── Ask.replied ◄─────── reply, accept ◄──────────────── REPLY 0

Any of these independent conditions suspends a consumer: its socket is full; it has been silent for too long (IDLE); it
has as many unfinished requests as there are IDs; it or the broker is closing; a queue that this client asked for
earlier is still parked behind an exclusive consumer (the original client aborts if a later queue delivers before that).
Only `_review` decides.
"""

from collections import deque
from collections.abc import Callable
from typing import Final

from mypy_extensions import i64

from penstock.core.delivery import Delivery
from penstock.core.subscription import Subscription
from penstock.errors import ProtocolError, Refused
from penstock.message import MESSAGE_OVERHEAD, TO_CONSUMERS, DeliveryOptions, Message, tell_delivered
from penstock.wire.preauth import PREAUTH_OTHER, PREAUTH_PING, PREAUTH_TOKEN, PreAuthRequest, authenticate
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
from penstock.wire.session import MAYBE, NO, YES, Dialect, Hub, Session
from penstock.wire.timer import SessionTimer

SECOND: Final = 1_000_000
MILLISECOND: Final = 1000
QUIET_TIME: Final = 15 * SECOND  # of silence: then the node is pinged, and after as long again it is IDLE

IDS_ENOUGH: Final = IDS_MAX - 1024  # a consumer that ran out of IDs resumes when no more than this are in use

# A web page may make a browser send a request here, and RISP would skip its text and act on its body.
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

# An MQMQ connection starts with the length of a frame, below 48 MiB, then the length of a short word.
MQMQ_FIRST_BYTE_MAX: Final = 2
MQMQ_WORD_SIZE_MAX: Final = 64


class Rq(Dialect):
    """The protocol, with its queue numbers."""

    name = PROTOCOL
    default_port = 13700

    def __init__(self, hub: Hub) -> None:
        super().__init__(hub)
        self.numbers = QueueNumbers()

    def open(self, peer: str, now: int) -> Session:
        return RqSession(self, peer, now)

    def recognise(self, head: bytes) -> int:
        """By a first CLEAR, PING, NOP or token, once it cannot be an MQMQ frame length. No text starts with these."""
        if not head:
            return MAYBE
        if head[0] not in (CLEAR, PING, NOP, TOKEN, LONG_TOKEN):
            return NO
        if head[0] > MQMQ_FIRST_BYTE_MAX or any(head[4:7]) or (len(head) > 7 and head[7] > MQMQ_WORD_SIZE_MAX):
            return YES
        return MAYBE if len(head) < 8 else NO

    def recognise_at_rest(self, head: bytes) -> bool:
        """A node may wait for an answer to CLEAR PING. In MQMQ that would be the start of a frame of 16 MiB or more."""
        return head[:1] == bytes([CLEAR]) and self.recognise(head) == MAYBE

    def full(self) -> bytes:
        return SERVER_FULL_BYTES


class Silence(SessionTimer):
    """Fires after a node has been silent for QUIET_TIME."""

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
        self.head: bytes | None = b""  # the first bytes, until they are known not to be HTTP
        # As a requester.
        self.asks: dict[Ask, None] = {}
        self.replies: deque[tuple[int, bytes]] = deque()  # wait for room; one PAYLOAD may reply to many requests
        self.replies_size = 0  # in bytes; a PAYLOAD shared by consecutive replies counts once
        # As a consumer.
        self.consumers: dict[bytes, Consumer] = {}  # by queue, in the order they were requested
        self.retiring: dict[bytes, Consumer] = {}
        self.deleted: list[Consumer] = []  # consumers whose queue was deleted
        self.parked = 0  # number of parked consumers
        self.unacked_max = dialect.hub.limits.unacked_max  # of each consumer
        self.several = False  # it has consumed more than one queue at a time
        self.numbered: set[bytes] = set()  # queues whose number it was told
        self.unfinished: dict[int, Delivery] = {}  # unanswered requests, by the ID we assigned
        self.noreply: set[int] = set()  # those for which DELIVERED is the complete answer
        self.unheld: set[int] = set()  # IDs of unanswered broadcasts that were sent as requests
        self.next_id = 0
        self.next_high_id = IDS_MAX
        # Why deliveries are suspended.
        self.socket_full = False
        self.idle = False
        self.out_of_ids = False
        self.showed_token = False  # so it understands our extensions
        self.parting = False  # CLOSING was sent by either side
        self.said_closing = False
        # Liveness.
        self.heard = now
        self.pinged = False
        self.silence = Silence(self)
        self.broker.deadlines.set(self.silence, now + QUIET_TIME)

    def pending(self) -> int:
        return self.decoder.pending()

    def kept_out(self) -> int:
        return self.replies_size

    def receive(self, data: bytes) -> None:
        if not data:
            return
        self.heard = self.now
        if self.pinged:
            self._heard_again()
        if self.head is not None:
            data = self._past_http(self.head + data)
        self.decoder.feed(data)
        self.run_on()

    def run_on(self) -> None:
        decoder = self.decoder
        context = self.broker.context
        done: i64 = 0
        slice_end = context.work + self.hub.slice_work  # each action counts as at least one unit of work
        try:
            while not self.closing:
                if context.work + done >= slice_end:
                    if decoder.pending():
                        self.be_busy()
                    break
                done += 1
                action = decoder.next_action()
                # The three most frequent actions skip the table lookup.
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
        context.work += done

    def _past_http(self, head: bytes) -> bytes:
        """The first bytes of the connection; empty if they are, or could still become, an HTTP request."""
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
        """The rest of the stream is unusable: close. A request whose ID and QUEUE are known gets UNDELIVERED first."""
        fields = self.decoder.fields
        self.complain(reason, fields.queue)
        if fields.id >= 0 and self._queue_of(fields):
            self.send(encode_undelivered(fields.id))
        self.parting = True
        self._review()
        self.hang_up()

    # -- authentication ---------------------------------------------------------------------------------------------

    def parse_preauth(self, data: bytes, at: int) -> PreAuthRequest | None:
        code = data[at]
        if code in (CLEAR, NOP, PONG):
            return PreAuthRequest(PREAUTH_PING, at + 1)
        if code == PING:
            return PreAuthRequest(PREAUTH_PING, at + 1, b"", PONG_BYTES)
        if code not in (TOKEN, LONG_TOKEN):
            return PreAuthRequest(PREAUTH_OTHER, at + 1)
        start = at + HEADER_SIZES[code >> 5]
        if len(data) < start:
            return None
        end = start + int.from_bytes(data[at + 1 : start], "big")
        if len(data) < end:
            return None
        self.showed_token = True
        return PreAuthRequest(PREAUTH_TOKEN, end, b"", data[start:end])

    def on_token(self, fields: Fields) -> None:
        token = fields.token
        fields.token = b""
        self.showed_token = True
        authenticate(self, b"", token)

    def _is_held(self) -> bool:
        return self.preauth is not None

    def auth_ok(self, id: bytes) -> bytes:
        return WELCOME_BYTES

    def auth_error(self, id: bytes, reason: str) -> bytes:
        self.complain(reason, b"")
        return DENIED_BYTES if self.showed_token else b""

    def suspend(self) -> None:
        self.parting = True
        self._review()

    def notify_revoked(self, reason: str) -> None:
        self.suspend()
        self.send(DENIED_BYTES if self.showed_token else CLOSING_BYTES)

    # -- requester --------------------------------------------------------------------------------------------------

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
            message.options = self._terms_of(fields)
        ask: Ask | None = None
        if is_asked:
            ask = Ask(self, fields.id, message, fields.noreply)
            message.requester = ask
            if not fields.noreply:
                self.asks[ask] = None
        try:
            if self.puttable is not None and queue not in self.puttable:
                self.authorizer.check_put(queue, self.broker.would_make(queue))
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
                # It was itself the reply to a request, so nobody will answer it.
                ask.delivered(message)
                ask.close()
            elif fields.timeout > 0 and not ask.over:
                ask.timeout = Timeout(ask)
                self.broker.deadlines.set(ask.timeout, self.now + fields.timeout * SECOND)

    def _terms_of(self, fields: Fields) -> DeliveryOptions:
        """The request's limits. They are logged, so the TIMEOUT also holds after a restart, when no timer exists."""
        now = self.now
        due_at = now + fields.delay * MILLISECOND if fields.delay > 0 else 0
        expires_at = 0
        if fields.ttl >= 0:
            expires_at = max(now, due_at) + fields.ttl * MILLISECOND
        if fields.timeout > 0:
            over_at = now + fields.timeout * SECOND
            expires_at = min(expires_at, over_at) if expires_at else over_at
        return DeliveryOptions(due_at, expires_at, fields.retries + 1 if fields.retries >= 0 else 0)

    def on_broadcast(self, fields: Fields) -> None:
        """Send to all current consumers of the queue. It is never answered; an ID is ignored."""
        payload = fields.payload
        queue = self._queue_of(fields)
        if not payload or not queue:
            self.complain("BROADCAST needs QUEUE or a QUEUEID of ours, and a PAYLOAD that is not empty", queue)
            return
        try:
            if self.puttable is not None and queue not in self.puttable:
                self.authorizer.check_put(queue, False)  # a broadcast creates no queue
            self.broker.broadcast(queue, Message(self.hub.ids.next(), queue, payload, self.now, PROTOCOL))
        except Refused as refusal:
            self.complain(str(refusal), queue)

    def send_reply(self, id: int, body: bytes) -> None:
        if self.replies or self.socket_full or self.outbox_size >= self.outbox_max:
            if not self.replies or self.replies[-1][1] is not body:
                self.replies_size += len(body)
            self.replies_size += MESSAGE_OVERHEAD
            self.replies.append((id, body))
        else:
            self._write_reply(id, body)

    def _write_reply(self, id: int, body: bytes) -> None:
        """Send an empty PAYLOAD if there is no body: without a PAYLOAD the original client waits forever."""
        self.send(encode_reply_head(id, len(body)))
        if body:
            self.send(body)
        self.send(REPLY_TAIL)

    def _fault_in(self, fields: Fields, queue: bytes) -> str:
        """Why a REQUEST is refused; empty if it is not."""
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
        """The queue a group names, where QUEUE takes precedence over QUEUEID; empty if there is none we know."""
        return fields.queue or self.dialect.numbers.name_of(fields.queue_id)

    # -- consumer ---------------------------------------------------------------------------------------------------

    def on_consume(self, fields: Fields) -> None:
        """Answered with CONSUMING, once, when the consumer is active. The protocol has no refusal; DENIED is ours."""
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
            # A client that guesses numbers must not learn which queues exist.
            if self.showed_token and (fields.queue or queue in self.numbered):
                self.send(encode_denied(queue))
            self.complain(str(refusal), queue)  # no number was assigned: refused names must not pile up
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
        consumer.suspended = True  # until it is decided whether it may get deliveries
        try:
            if self.puttable is not None:
                self.authorizer.check_consume(queue)  # also if the queue was deleted and would be created again
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
        """Apply a consumer's new MAX and PRIORITY to its place in the queue's order."""
        consumer.limit(self.unacked_max)
        self.broker.suspend(consumer)
        self._review()

    def on_cancel_queue(self, fields: Fields) -> None:
        """Stop deliveries from a queue; open requests may still be answered. CANCEL_QUEUE itself is not answered."""
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
            if wanted and delivery.message is not None:  # else it was dropped, and nobody waits for it
                self.broker.reply(delivery.message.id, fields.payload or b"")
            self.broker.accept(delivery)
            self._settled(delivery)

    def on_undelivered(self, fields: Fields) -> None:
        """The consumer cannot handle the request: another one may."""
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
        """The next free ID for this consumer. IDs wrap around, so a late answer does not hit a new request."""
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
        """The open ID that is meant, or ABSENT. The original client sends 16-bit IDs sign-extended."""
        if id in self.unfinished or id in self.unheld:
            return id
        low = id & 0xFFFF
        if id >> 16 == 0xFFFF and (low in self.unfinished or low in self.unheld):
            return low
        return ABSENT

    def _free(self, id: int) -> None:
        """The consumer has answered an open ID."""
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
        """Called by the broker in the middle of an operation."""
        if not consumer.announced:
            consumer.announced = True
            self.send(encode_consuming(consumer.number, consumer.queue_name))
        if consumer.parked:
            consumer.parked = False
            self.parked -= 1
            self.hub.awake.append(self)

    def on_ended(self, consumer: Consumer) -> None:
        """Called by the broker in the middle of an operation."""
        if consumer.parked:
            consumer.parked = False
            self.parked -= 1
        self.deleted.append(consumer)
        self.hub.awake.append(self)

    def wake(self, now: int) -> None:
        """After a promotion, later queues may be consumed as well.

        A deleted queue is consumed again: the protocol cannot tell a node that its consumer ended.
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

    # -- suspending and resuming -------------------------------------------------------------------------------------

    def has_room(self) -> bool:
        """Whether there is room for one more delivery."""
        if len(self.unfinished) + len(self.unheld) >= IDS_MAX:
            self.out_of_ids = True
            return False
        return self.outbox_size < self.outbox_max

    def _may_be_given(self) -> bool:
        if self.socket_full or self.idle or self.parting or self.out_of_ids:
            return False
        return self.outbox_size < self.outbox_max

    def _review(self) -> None:
        """Suspend or resume each consumer according to the current conditions."""
        answered = True  # whether all queues requested before this one are active
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

    # -- keep-alive -------------------------------------------------------------------------------------------------

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

    # -- closing ----------------------------------------------------------------------------------------------------

    def on_closing(self, fields: Fields) -> None:
        """The node is closing: send it nothing new, and close once neither side owes an answer."""
        self.parting = True
        for consumer in list(self.consumers.values()):
            self._retire(consumer)
        self.part_when_done()

    def goodbye(self, now: int) -> None:
        """The broker is stopping. Requests not yet delivered get UNDELIVERED; delivered ones may still be answered."""
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
        """Whether this node waits for a reply, or has not answered a request itself."""
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
                ask.silent = True  # the timeout still stops it from being delivered too late
        self.asks.clear()
        self.replies.clear()
        self.replies_size = 0
        for queue in self.numbered:
            self.dialect.numbers.release(queue)
        self.numbered.clear()
        self.consumers.clear()
        self.retiring.clear()
        self.unfinished.clear()


# Other actions are ignored: unknown ones, PONG, and those that only the broker may send.
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
