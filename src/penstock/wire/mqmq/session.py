"""One MQMQ client: requests are answered one at a time and in order.

A Get on an empty queue waits, and so does everything the client sent after it. It waits as a consumer with a credit of
one. Its delivery is acked in `wake`, just before the answer is written. If the connection is lost before that, the
message returns to its old place in the queue.

    next request ──► Get, nothing ready ──► waiting ──deliver──► handed over ──wake──► settled, next request
                                               │                     │
                                               ├── timeout ──► next  └── end ──► released
                                               └── end ──► cancelled
"""

from typing import Final

from mypy_extensions import i64

from penstock.core.deadlines import Timer
from penstock.core.delivery import Delivery
from penstock.core.subscription import Subscription
from penstock.errors import (
    DENIED,
    DISK_FULL,
    DRAINING,
    INVALID,
    NOT_FOUND,
    OVER_LIMIT,
    TOO_LARGE,
    ProtocolError,
    Refused,
)
from penstock.message import Message
from penstock.wire.delivery_options import JsonOptions
from penstock.wire.listings import Listings
from penstock.wire.mqmq.codec import (
    AUTH,
    BAD_PARAMS,
    BAD_QUEUE_NAME,
    BAD_TIMEOUT,
    COMMANDS,
    FRAME_SIZE_MAX,
    GET,
    INFO,
    NAME_SIZE_MAX,
    OK,
    PUT,
    QUIT,
    TIMEOUT,
    TIMEOUT_MIN,
    UNKNOWN_COMMAND,
    Decoder,
    Request,
    decode,
    decode_timeout,
    encode_error,
    encode_info,
    encode_ok_head,
)
from penstock.wire.preauth import PREAUTH_OTHER, PREAUTH_QUIT, PREAUTH_TOKEN, PreAuthRequest, authenticate
from penstock.wire.session import MAYBE, NO, YES, Dialect, Hub, Session

PROTOCOL: Final = "mqmq"

# In addition to the original's four error types: refusals by the core, and too many requests behind a waiting Get.
REFUSALS: Final = {
    NOT_FOUND: b"REQUEST_NOT_FOUND",
    TOO_LARGE: b"REQUEST_MESSAGE_TOO_LARGE",  # name sizes are checked before the core is called
    OVER_LIMIT: b"REQUEST_QUEUE_FULL",
    DENIED: b"REQUEST_DENIED",
    DRAINING: b"REQUEST_SERVER_STOPPING",
    DISK_FULL: b"REQUEST_DISK_FULL",
    INVALID: b"REQUEST_INVALID",
}
TOO_MANY_QUEUES: Final = b"REQUEST_TOO_MANY_QUEUES"
PIPELINE_FULL: Final = b"REQUEST_PIPELINE_FULL"


class Mqmq(Dialect):
    """The protocol."""

    name = PROTOCOL

    def __init__(self, hub: Hub) -> None:
        super().__init__(hub)
        self.listings = Listings()

    def open(self, peer: str, now: int) -> Session:
        return MqmqSession(self, peer)

    def recognise(self, head: bytes) -> int:
        """By a valid frame length, then the length and the letters of one of the COMMANDS."""
        length = head[:4]
        if length > FRAME_SIZE_MAX.to_bytes(4, "big")[: len(length)]:
            return NO
        if len(length) == 4 and int.from_bytes(length, "big") < 4 + len(PUT):
            return NO
        for command in COMMANDS:
            start = len(command).to_bytes(4, "big") + command
            there = head[4 : 4 + len(start)]
            if there == start:
                return YES
            if start.startswith(there):
                return MAYBE
        return NO


class WaitingGet(Subscription):
    """A Get that found nothing: takes exactly one message."""

    def __init__(self, session: "MqmqSession") -> None:
        super().__init__(session.peer.encode(), manual=True, credit=1)
        self.session = session
        self.holder = session.holder
        self.delivery: Delivery | None = None  # stays None for a message that no queue holds

    def deliver(self, message: Message, retry: int, delivery: Delivery | None) -> bool:
        self.delivery = delivery
        self.session.hand_over(self, message)
        return False

    def take_delivery(self) -> Delivery | None:
        """Take its delivery. The reference is dropped: a delivery refers to its consumer, which would form a cycle."""
        delivery = self.delivery
        self.delivery = None
        return delivery

    def ended(self) -> None:
        if self.session.waiting is self:
            self.session.lose_queue()

    def failed(self, error: Exception) -> None:
        self.session.broke(error)


class MqmqSession(Session):
    protocol = PROTOCOL

    def __init__(self, dialect: Mqmq, peer: str) -> None:
        super().__init__(dialect.hub, peer)
        self.waits_for_room = True
        self.listings = dialect.listings
        limits = dialect.hub.limits
        self.decoder = Decoder(limits.line_size_max)
        self.name_size_max = min(NAME_SIZE_MAX, limits.name_size_max)
        self.waiting: WaitingGet | None = None
        self.served: WaitingGet | None = None  # got a message that is not acked yet, see `wake`
        self.deadline: Timer | None = None  # of a waiting Get
        self.paused = False  # the socket's write buffer is full
        self.gone = False  # the client disconnected

    # -- requests ---------------------------------------------------------------------------------------------------

    def pending(self) -> int:
        return self.decoder.pending()

    def receive(self, data: bytes) -> None:
        self.decoder.append(data)
        self.run_on()

    def be_gone(self) -> None:
        self.gone = True
        self.suspend_all()

    def wake(self, now: int) -> None:
        self.now = now
        self.broker.set_time(now)
        self._settle_served()
        self.run_on()

    def run_on(self) -> None:
        """Answer requests until a Get has to wait or the outbox is full."""
        if self.served is not None:
            return  # wait for `wake`, which is due: the client may have disconnected after these bytes
        try:
            self._run()
        except ProtocolError as error:
            # The stream is out of sync: the client would take an answer for something else.
            self.complain(error.reason, b"")
            self.hang_up()
        if self.closing:
            self.decoder.clear()
            return
        try:
            self.decoder.hold()
        except ProtocolError as error:
            self._stop_waiting()
            self._refuse(PIPELINE_FULL, error.reason, b"")
            self.hang_up()

    def _run(self) -> None:
        broker = self.broker
        ids = self.hub.ids
        decoder = self.decoder
        name_size_max = self.name_size_max
        puttable = self.puttable
        context = broker.context
        done: i64 = 0
        slice_end = context.work + self.hub.slice_work  # each request counts as at least one unit of work
        while self.waiting is None and self._has_room() and not self.closing and self.preauth is None:
            if context.work + done >= slice_end:
                if decoder.pending():
                    self.be_busy()
                break
            done += 1
            request = decoder.take()
            if request is None:
                break
            queue = request.queue
            # Fast path for the most frequent request; an invalid Put is handled in `_rest`.
            if request.count == 3 and request.command == PUT and len(queue) <= name_size_max:
                message = Message(ids.next(), queue, request.argument, self.now, PROTOCOL)
                try:
                    if puttable is not None and queue not in puttable:
                        self.authorizer.check_put(queue, broker.would_make(queue))
                    if request.options:
                        self._set_terms(message, request.options)
                    broker.put(queue, message)
                except Refused as refusal:
                    self._refuse_for(refusal, request)
                else:
                    self.confirm(OK)
            elif request.command == GET:
                self._get(request)
            else:
                self._rest(request)
                puttable = self.puttable  # the request may have been a token
        context.work += done

    def _set_terms(self, message: Message, text: bytes) -> None:
        limits = self.hub.limits
        options = JsonOptions(text, limits.name_size_max)
        message.options = options.requested.options(self.now, limits.dedup_seconds)
        if options.id:
            message.id = options.id
            message.options.owner = self.owner

    def _has_room(self) -> bool:
        """Whether there is room for one more answer behind those not sent yet."""
        return not self.paused and self.outbox_size + self.unconfirmed_size < self.outbox_max

    def _get(self, request: Request) -> None:
        if self.gone:
            self.decoder.clear()  # it cannot be answered, so what follows it never runs
            return
        queue = request.queue
        if request.count < 2:
            self._refuse(BAD_PARAMS, "Get needs a queue", GET)
            return
        if len(queue) > self.name_size_max:
            self._refuse_name(request)
            return
        timeout = decode_timeout(request.argument) if request.count > 2 else TIMEOUT_MIN
        if timeout < 0:
            self._refuse(BAD_TIMEOUT, "timeout must be a number of milliseconds, at most one hour", request.argument)
            return
        try:
            user = self.user
            if user is not None and queue not in user.gettable:
                self.authorizer.check_get(queue)
            message = self.broker.get(queue)
            if message is not None:
                self._send_value(message.body)
            else:
                self._wait(queue, timeout)
        except Refused as refusal:
            self._refuse_for(refusal, request)

    def _rest(self, request: Request) -> None:
        command = request.command
        if command == INFO:
            self._send_value(self.listings.answer(self, self._info))
        elif command == QUIT:
            self.hang_up()
        elif command == AUTH and request.count > 1:
            authenticate(self, b"", request.queue)
        elif command == AUTH:
            self._refuse(BAD_PARAMS, "Auth needs a token", AUTH)
        elif command != PUT:
            self._refuse(UNKNOWN_COMMAND, "unknown command", command)
            self.hang_up()
        elif request.count < 3:
            self._refuse(BAD_PARAMS, "Put needs a queue and a message", PUT)
        else:
            self._refuse_name(request)

    def _info(self) -> bytes:
        counts = {name: queue.ready for name, queue in self.broker.queues.items() if self.authorizer.may_browse(name)}
        return encode_info(len(self.hub.sessions), counts)

    def _send_value(self, value: bytes) -> None:
        self.send(encode_ok_head(len(value)))
        self.send(value)

    # -- authentication ---------------------------------------------------------------------------------------------

    def parse_preauth(self, data: bytes, at: int) -> PreAuthRequest | None:
        start = at + 4
        end = start + int.from_bytes(data[at:start], "big")
        if len(data) < start or (len(data) < end and end - at <= FRAME_SIZE_MAX):
            return None
        try:
            if len(data) < end:
                raise ProtocolError("frame is too large")
            request = decode(data, start, end)
        except ProtocolError:
            return PreAuthRequest(PREAUTH_OTHER, len(data))
        if request.command == AUTH and request.count > 1:
            return PreAuthRequest(PREAUTH_TOKEN, end, b"", request.queue)
        return PreAuthRequest(PREAUTH_QUIT if request.command == QUIT else PREAUTH_OTHER, end)

    def auth_ok(self, id: bytes) -> bytes:
        return OK

    def auth_error(self, id: bytes, reason: str) -> bytes:
        self.complain(reason, b"")
        return encode_error(REFUSALS[DENIED])

    def suspend(self) -> None:
        self._stop_waiting()

    def notify_revoked(self, reason: str) -> None:
        self._stop_waiting()
        self.send(self.auth_error(b"", reason))

    # -- refusals ---------------------------------------------------------------------------------------------------

    def _refuse(self, error_type: bytes, reason: str, request: bytes) -> None:
        self.complain(reason, request)
        self.send(encode_error(error_type))

    def _refuse_name(self, request: Request) -> None:
        reason = f"queue name of {len(request.queue)} bytes: name_size_max is {self.name_size_max}"
        self._refuse(BAD_QUEUE_NAME, reason, request.command)

    def _refuse_for(self, refusal: Refused, request: Request) -> None:
        error_type = REFUSALS[refusal.code]
        if refusal.code == OVER_LIMIT and request.queue not in self.broker.queues:
            error_type = TOO_MANY_QUEUES
        self._refuse(error_type, str(refusal), request.command + b" " + request.queue)

    # -- waiting Gets -----------------------------------------------------------------------------------------------

    def _wait(self, queue: bytes, timeout: int) -> None:
        waiting = WaitingGet(self)
        self.waiting = waiting
        try:
            self.broker.subscribe(queue, waiting, None, self.now)
        except Refused:
            self.waiting = None
            raise
        if self.served is not None:
            self._settle_served()  # it got a message at once
            return
        if self.deadline is None:
            self.deadline = Timer(self.time_out, self.broke)
        self.broker.deadlines.set(self.deadline, self.now + timeout * 1000)

    def hand_over(self, waiting: WaitingGet, message: Message) -> None:
        """The waiting Get got a message. The broker is in the middle of an operation: `wake` does the rest."""
        self.waiting = None
        self.served = waiting
        self._send_value(message.body)
        self.hub.awake.append(self)

    def lose_queue(self) -> None:
        """The queue of the waiting Get was deleted: answer Timeout. The next Get creates the queue again."""
        self.waiting = None
        self.send(TIMEOUT)
        self.hub.awake.append(self)

    def time_out(self, now: int) -> None:
        if self.waiting is not None:
            self.now = now
            self._stop_waiting()
            self.send(TIMEOUT)
            self.run_on()

    def _settle_served(self) -> None:
        """The client is still connected: ack the delivery to its waiting Get."""
        served = self.served
        if served is not None:
            self.served = None
            delivery = served.take_delivery()
            if delivery is not None:
                self.broker.accept(delivery)
            self.broker.cancel(served, self.now)
        if self.waiting is None:
            self._stop_deadline()

    def _stop_waiting(self) -> None:
        waiting = self.waiting
        if waiting is not None:
            self.waiting = None
            self.broker.cancel(waiting, self.now)
            self._stop_deadline()

    def _stop_deadline(self) -> None:
        if self.deadline is not None:
            self.broker.deadlines.cancel(self.deadline)

    def sharing(self) -> list[Subscription]:
        return []  # a delivery is acked when its answer is written

    def subscriptions(self) -> list[Subscription]:
        return [] if self.waiting is None else [self.waiting]

    # -- the connection ---------------------------------------------------------------------------------------------

    def send(self, data: bytes) -> None:
        """Answers carry no ids, so none may overtake a confirmation that is waiting for the disk."""
        if self.unconfirmed:
            self.confirm(data)
        else:
            self.write(data)

    def release(self, answer: bytes) -> None:
        super().release(answer)
        if self.unconfirmed == 0:
            self.hub.awake.append(self)  # requests may have been waiting for that

    def pause(self) -> None:
        self.paused = True
        super().pause()

    def resume(self) -> None:
        super().resume()
        if self.paused:
            # Some time may have passed: `wake` gets the current time, which a Get that has to wait needs.
            self.paused = False
            self.hub.awake.append(self)
        else:
            self.run_on()

    def goodbye(self, now: int) -> None:
        self.now = now
        self._settle_served()
        self._stop_waiting()
        self.hang_up()

    def end(self, now: int) -> None:
        self.now = now
        served = self.served
        if served is not None:
            self.served = None
            delivery = served.take_delivery()
            if delivery is not None:
                self.broker.release(delivery)
            self.broker.cancel(served, now)
        self._stop_waiting()
        super().end(now)
        self._stop_deadline()
        self.deadline = None
        self.decoder.clear()
