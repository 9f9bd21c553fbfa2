"""One RQ client, called a node: it may send requests, consume queues, or both on the same connection.

Two ID spaces meet here and must not be mixed up. A requester picks the IDs of its own requests, any 32 bits, and our
answers carry them unchanged. This session picks the IDs of requests to a consumer, which answers with those. So a
DELIVERED we receive is always about a request we sent, and one we send is always about a request we received.

    requester                          broker                             consumer
      REQUEST 7 ───────────────────► put ─► queue ─► deliver ──────────────► REQUEST 0
      DELIVERED 7 ◄──── OpenRequest.delivered ◄───────────────────────────── DELIVERED 0
      REPLY 7 ◄──────── OpenRequest.replied ◄─── reply, accept ◄──────────── REPLY 0

`states` draws the states of a node, `ACTIONS` is the table of what it may send in which, and `parse_preauth` lists what
it may send before it has authenticated.
"""

from collections import deque
from collections.abc import Callable
from typing import Final

from mypy_extensions import i64

from penstock import risp
from penstock.core.deadlines import Timer
from penstock.core.delivery import Delivery
from penstock.core.subscription import Subscription
from penstock.errors import ProtocolError, Refused
from penstock.message import MESSAGE_OVERHEAD, TO_CONSUMERS, DeliveryOptions, Message, tell_delivered
from penstock.wire.preauth import PREAUTH_OTHER, PREAUTH_PING, PREAUTH_TOKEN, PreAuthRequest, authenticate
from penstock.wire.rq.codec import (
    CLOSING_BYTES,
    DENIED_BYTES,
    MORE,
    NOBODY_UNDELIVERED,
    PING_BYTES,
    PONG_BYTES,
    REPLY_END,
    SERVER_FULL_BYTES,
    WELCOME_BYTES,
    Decoder,
    Fields,
    encode_delivered,
    encode_reply_head,
    encode_undelivered,
)
from penstock.wire.rq.consumer import NOREPLY_HEADER, PROTOCOL
from penstock.wire.rq.consumers import Consumers
from penstock.wire.rq.delivery_ids import IDS_MAX, DeliveryIds
from penstock.wire.rq.queue_ids import QueueIds
from penstock.wire.rq.requests import OpenRequest
from penstock.wire.rq.states import ALIVE, IDLE, LEAVING, OPEN, OPENING, OVER, PINGED, SILENT, STOPPING, WAITING
from penstock.wire.session import MAYBE, NO, YES, Dialect, Hub, Session

SECOND: Final = 1_000_000
MILLISECOND: Final = 1000
QUIET_TIME: Final = 15 * SECOND  # of silence: then the node is pinged, and after as long again it is IDLE

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
    """The protocol, with its QUEUEIDs."""

    name = PROTOCOL

    def __init__(self, hub: Hub) -> None:
        super().__init__(hub)
        self.queue_ids = QueueIds()

    def open(self, peer: str, now: int) -> Session:
        return RqSession(self, peer, now)

    def recognise(self, head: bytes) -> int:
        """By a first CLEAR, PING, NOP or token, once it cannot be an MQMQ frame length. No text starts with these."""
        if not head:
            return MAYBE
        if head[0] not in (risp.CLEAR, risp.PING, risp.NOP, risp.TOKEN, risp.LONG_TOKEN):
            return NO
        if head[0] > MQMQ_FIRST_BYTE_MAX or any(head[4:7]) or (len(head) > 7 and head[7] > MQMQ_WORD_SIZE_MAX):
            return YES
        return MAYBE if len(head) < 8 else NO

    def recognise_at_rest(self, head: bytes) -> bool:
        """A node may wait for an answer to CLEAR PING. In MQMQ that would be the start of a frame of 16 MiB or more."""
        return head[:1] == bytes((risp.CLEAR,)) and self.recognise(head) == MAYBE

    def full(self) -> bytes:
        return SERVER_FULL_BYTES


class RqSession(Session):
    protocol = PROTOCOL

    def __init__(self, dialect: Rq, peer: str, now: int) -> None:
        super().__init__(dialect.hub, peer)
        self.dialect = dialect
        self.decoder = Decoder(dialect.hub.limits.body_size_max)
        self.phase = OPENING
        self.head = b""  # the first bytes, while it is OPENING
        self.sent_token = False  # so it understands WELCOME and DENIED
        self.writable = True  # its socket takes more
        self.liveness = ALIVE
        self.heard = now  # when its last byte came
        self.silence = Timer(self.on_silence, self.broke)
        self.broker.deadlines.set(self.silence, now + QUIET_TIME)
        # As a requester.
        self.requests: dict[OpenRequest, None] = {}
        self.replies: deque[tuple[int, bytes]] = deque()  # wait for room; one PAYLOAD may reply to many requests
        self.replies_size = 0  # in bytes; a PAYLOAD shared by consecutive replies counts once
        # As a consumer.
        self.consumers = Consumers(self)
        self.ids = DeliveryIds()

    def pending(self) -> int:
        return self.decoder.pending()

    def kept_out(self) -> int:
        return self.replies_size

    def receive(self, data: bytes) -> None:
        if not data:
            return
        self.heard = self.now
        if self.liveness != ALIVE:
            self._heard_again()
        if self.phase == OPENING:
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
                if action == risp.REQUEST and self.phase == OPEN:
                    self.on_request(decoder.fields)
                elif action == risp.DELIVERED:
                    self.on_delivered(decoder.fields)
                elif action == risp.REPLY:
                    self.on_reply(decoder.fields)
                elif action == MORE:
                    break
                else:
                    handler = ACTIONS[self.phase].get(action)
                    if handler is not None:
                        handler(self, decoder.fields)
                    if action == risp.TOKEN and self._is_held():
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
        self.head = b""
        self.phase = OPEN
        return head

    def _break_off(self, reason: str) -> None:
        """The rest of the stream is unusable: close. A request whose ID and QUEUE are known gets UNDELIVERED first."""
        fields = self.decoder.fields
        self.complain(reason, fields.queue)
        if fields.id >= 0 and self._queue_of(fields):
            self.send(encode_undelivered(fields.id))
        self.suspend()
        self.hang_up()

    # -- authentication ---------------------------------------------------------------------------------------------

    def parse_preauth(self, data: bytes, at: int) -> PreAuthRequest | None:
        code = data[at]
        if code in (risp.CLEAR, risp.NOP, risp.PONG):
            return PreAuthRequest(PREAUTH_PING, at + 1)
        if code == risp.PING:
            return PreAuthRequest(PREAUTH_PING, at + 1, b"", PONG_BYTES)
        if code not in (risp.TOKEN, risp.LONG_TOKEN):
            return PreAuthRequest(PREAUTH_OTHER, at + 1)
        start = at + risp.HEADER_SIZES[code >> 5]
        if len(data) < start:
            return None
        end = start + int.from_bytes(data[at + 1 : start], "big")
        if len(data) < end:
            return None
        self.sent_token = True
        return PreAuthRequest(PREAUTH_TOKEN, end, b"", data[start:end])

    def on_token(self, fields: Fields) -> None:
        token = fields.token
        fields.token = b""
        self.sent_token = True
        authenticate(self, b"", token)

    def _is_held(self) -> bool:
        return self.preauth is not None

    def auth_ok(self, id: bytes) -> bytes:
        return WELCOME_BYTES

    def auth_error(self, id: bytes, reason: str) -> bytes:
        self.complain(reason, b"")
        return DENIED_BYTES if self.sent_token else b""

    def suspend(self) -> None:
        self._leave()
        self.consumers.review()

    def notify_revoked(self, reason: str) -> None:
        self.suspend()
        self.send(DENIED_BYTES if self.sent_token else CLOSING_BYTES)

    # -- requester --------------------------------------------------------------------------------------------------

    def on_request(self, fields: Fields) -> None:
        payload = fields.payload
        queue = self._queue_of(fields)
        fault = self._fault_in(fields, queue)
        if fault or payload is None:
            self._refuse(fields, fault)
            return
        is_open = not fields.noreply or fields.timeout > 0
        id = self.hub.ids.next_secret() if is_open else self.hub.ids.next()
        headers: dict[bytes, bytes] | None = {NOREPLY_HEADER: b"1"} if fields.noreply else None
        message = Message(id, queue, payload, self.now, PROTOCOL, headers)
        if fields.retries >= 0 or fields.timeout > 0 or fields.delay > 0 or fields.ttl >= 0:
            message.options = self._options_of(fields)
        request: OpenRequest | None = None
        if is_open:
            request = OpenRequest(self, fields.id, message, fields.noreply)
            message.requester = request
            if not fields.noreply:
                self.requests[request] = None
        try:
            if self.puttable is not None and queue not in self.puttable:
                self.authorizer.check_put(queue, self.broker.would_make(queue))
            self.broker.put(queue, message)
        except Refused as refusal:
            if request is not None:
                self.requests.pop(request, None)
                request.message = None
            self._refuse(fields, str(refusal))
            return
        if fields.noreply:
            self.confirm(encode_delivered(fields.id))
        if request is not None:
            if message.route == TO_CONSUMERS:
                # It was itself the reply to a request, so nobody will answer it.
                request.delivered(message)
                request.close()
            elif fields.timeout > 0 and request.state != OVER:
                request.timeout = Timer(request.time_out, self.broke)
                self.broker.deadlines.set(request.timeout, self.now + fields.timeout * SECOND)

    def on_late_request(self, fields: Fields) -> None:
        self._refuse(fields, "REQUEST after CLOSING" if fields.id >= 0 else "REQUEST needs an ID")

    def _options_of(self, fields: Fields) -> DeliveryOptions:
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
            self.complain("BROADCAST needs QUEUE or a QUEUEID of this broker, and a PAYLOAD that is not empty", queue)
            return
        try:
            if self.puttable is not None and queue not in self.puttable:
                self.authorizer.check_put(queue, False)  # a broadcast creates no queue
            self.broker.broadcast(queue, Message(self.hub.ids.next(), queue, payload, self.now, PROTOCOL))
        except Refused as refusal:
            self.complain(str(refusal), queue)

    def send_reply(self, id: int, body: bytes) -> None:
        if self.replies or not self.writable or self.outbox_size >= self.outbox_max:
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
        self.send(REPLY_END)

    def _fault_in(self, fields: Fields, queue: bytes) -> str:
        """Why a REQUEST is refused; empty if it is not."""
        if fields.id < 0:
            return "REQUEST needs an ID"
        if not queue:
            return "REQUEST needs QUEUE, or a QUEUEID of this broker"
        if not fields.payload:
            return "REQUEST needs a PAYLOAD that is not empty"
        if len(self.requests) >= self.hub.limits.unacked_max and not fields.noreply:
            return f"{len(self.requests)} requests wait for their reply: unacked_max is {self.hub.limits.unacked_max}"
        return ""

    def _refuse(self, fields: Fields, reason: str) -> None:
        self.complain(reason, fields.queue)
        self.send(encode_undelivered(fields.id) if fields.id >= 0 else NOBODY_UNDELIVERED)

    def _queue_of(self, fields: Fields) -> bytes:
        """The queue a group names, where QUEUE takes precedence over QUEUEID; empty if there is none we know."""
        return fields.queue or self.dialect.queue_ids.name_of(fields.queue_id)

    # -- consumer ---------------------------------------------------------------------------------------------------

    def on_consume(self, fields: Fields) -> None:
        queue = self._queue_of(fields)
        if queue:
            self.consumers.consume(queue, fields)
        else:
            self.complain("CONSUME needs a QUEUE", b"")

    def on_late_consume(self, fields: Fields) -> None:
        self.complain("CONSUME after CLOSING", self._queue_of(fields))

    def on_cancel_queue(self, fields: Fields) -> None:
        """It is not answered."""
        queue = self._queue_of(fields)
        consumer = self.consumers.by_queue.get(queue)
        if consumer is not None:
            self.consumers.retire(consumer)
            self.consumers.review()
        elif not queue:
            self.complain("CANCEL_QUEUE needs QUEUE, or a QUEUEID of this broker", b"")

    def on_delivered(self, fields: Fields) -> None:
        ids = self.ids
        id = ids.find(fields.id)
        if id < 0:
            self.complain("DELIVERED for an ID that is not open", b"%d" % fields.id)
        elif ids.noreply and id in ids.noreply:
            delivery = self._release(id)
            if delivery is not None:
                self.broker.accept(delivery)
                self._settled(delivery)
        else:
            delivery = ids.open[id]
            if delivery is not None and delivery.message is not None:
                tell_delivered(delivery.message)

    def on_reply(self, fields: Fields) -> None:
        ids = self.ids
        id = ids.find(fields.id)
        if id < 0:
            self.complain("REPLY for an ID that is not open", b"%d" % fields.id)
            return
        wanted = not (ids.noreply and id in ids.noreply)
        delivery = self._release(id)
        if delivery is not None:
            if wanted and delivery.message is not None:  # else it was dropped, and nobody waits for it
                self.broker.reply(delivery.message.id, fields.payload or b"")
            self.broker.accept(delivery)
            self._settled(delivery)

    def on_undelivered(self, fields: Fields) -> None:
        """The consumer cannot handle the request: another one may."""
        id = self.ids.find(fields.id)
        if id < 0:
            self.complain("UNDELIVERED for an ID that is not open", b"%d" % fields.id)
            return
        delivery = self._release(id)
        if delivery is not None:
            self.broker.reject(delivery)
            self._settled(delivery)

    def _release(self, id: int) -> Delivery | None:
        """The consumer has answered an open ID."""
        delivery = self.ids.release(id)
        if self.ids.exhausted and self.ids.recover():
            self.consumers.review()
        return delivery

    def _settled(self, delivery: Delivery) -> None:
        if self.consumers.retiring:
            self.consumers.end_retired(delivery.subscription)
        if self.phase >= LEAVING:
            self.close_when_done()

    def allow(self, credit: int) -> None:
        self.consumers.limit(credit)

    def wake(self, now: int) -> None:
        self.now = now
        self.broker.set_time(now)
        self.consumers.wake()

    # -- suspending and resuming -------------------------------------------------------------------------------------

    def has_room(self) -> bool:
        """Whether there is room for one more delivery."""
        return len(self.ids.open) < IDS_MAX and self.outbox_size < self.outbox_max

    def may_deliver(self) -> bool:
        """Whether the node may get new requests. Each of these conditions changes alone."""
        if not self.writable or self.liveness == IDLE or self.phase >= LEAVING or self.ids.exhausted:
            return False
        return self.outbox_size < self.outbox_max

    def pause(self) -> None:
        self.writable = False
        self.consumers.review()

    def resume(self) -> None:
        self.writable = True
        while self.replies and self.outbox_size < self.outbox_max:
            id, body = self.replies.popleft()
            self._write_reply(id, body)
            self.replies_size -= MESSAGE_OVERHEAD
            if not self.replies or self.replies[0][1] is not body:
                self.replies_size -= len(body)
        if self.phase >= LEAVING:
            self.close_when_done()
        self.consumers.review()

    # -- keep-alive -------------------------------------------------------------------------------------------------

    def on_ping(self, fields: Fields) -> None:
        self.send(PONG_BYTES)

    def on_silence(self, now: int) -> None:
        if self.liveness == PINGED:
            self.liveness = IDLE
            self.consumers.review()
        elif self.heard + QUIET_TIME > now:
            self.broker.deadlines.set(self.silence, self.heard + QUIET_TIME)
        else:
            self.liveness = PINGED
            self.send(PING_BYTES)
            self.broker.deadlines.set(self.silence, now + QUIET_TIME)

    def _heard_again(self) -> None:
        was_idle = self.liveness == IDLE
        self.liveness = ALIVE
        self.broker.deadlines.set(self.silence, self.heard + QUIET_TIME)
        if was_idle:
            self.consumers.review()

    # -- closing ----------------------------------------------------------------------------------------------------

    def _leave(self) -> None:
        if self.phase < LEAVING:
            self.phase = LEAVING

    def on_closing(self, fields: Fields) -> None:
        """The node is closing: send it nothing new, and close once neither side owes an answer."""
        self._leave()
        for consumer in list(self.consumers.by_queue.values()):
            self.consumers.retire(consumer)
        self.close_when_done()

    def goodbye(self, now: int) -> None:
        """The broker is stopping. Requests not yet delivered get UNDELIVERED; delivered ones may still be answered."""
        if self.closing or self.phase == STOPPING:
            return
        self.now = now
        self.phase = STOPPING
        self.send(CLOSING_BYTES)
        self.consumers.review()
        for request in list(self.requests):
            if request.state == WAITING:
                request.give_up(True)
        self.close_when_done()

    def owes(self) -> bool:
        """Whether this node waits for a reply, or has not answered a request itself."""
        return bool(self.requests) or bool(self.replies) or self.ids.has_deliveries()

    def close_when_done(self) -> None:
        if not self.owes():
            self.hang_up()

    def subscriptions(self) -> list[Subscription]:
        return [*self.consumers.by_queue.values(), *self.consumers.retiring.values()]

    def end(self, now: int) -> None:
        super().end(now)
        self.broker.deadlines.cancel(self.silence)
        for request in list(self.requests):
            if request.timeout is None and request.message is not None:
                self.broker.forget_request(request.message, False)
            else:
                request.state = SILENT  # the timeout still stops it from being delivered too late
        self.requests.clear()
        self.replies.clear()
        self.replies_size = 0
        self.consumers.clear()
        self.ids.clear()


# What a node may send in each phase. Other actions are ignored: unknown ones, PONG, and those that only we may send.
WHILE_OPEN: Final[dict[int, Callable[[RqSession, Fields], None]]] = {
    risp.REQUEST: RqSession.on_request,  # puts a message; answered with DELIVERED, then REPLY or UNDELIVERED
    risp.BROADCAST: RqSession.on_broadcast,  # to all consumers of a queue; not answered
    risp.CONSUME: RqSession.on_consume,  # answered with CONSUMING
    risp.CANCEL_QUEUE: RqSession.on_cancel_queue,  # not answered
    risp.DELIVERED: RqSession.on_delivered,  # ends a NOREPLY request; the requester of another one is told
    risp.REPLY: RqSession.on_reply,  # ends a request
    risp.UNDELIVERED: RqSession.on_undelivered,  # requeues a request
    risp.PING: RqSession.on_ping,  # answered with PONG
    risp.TOKEN: RqSession.on_token,  # answered with WELCOME or DENIED
    risp.CLOSING: RqSession.on_closing,  # the phase is LEAVING from here on
}
AFTER_CLOSING: Final[dict[int, Callable[[RqSession, Fields], None]]] = {
    **WHILE_OPEN,
    risp.REQUEST: RqSession.on_late_request,  # answered with UNDELIVERED
    risp.CONSUME: RqSession.on_late_consume,  # not answered
}
ACTIONS: Final = {OPEN: WHILE_OPEN, LEAVING: AFTER_CLOSING, STOPPING: AFTER_CLOSING}
