"""One SEVX client: its requests become broker calls, deliveries become lines.

Every request is answered, with its own id. All connections of a user share their receiver ids: an ack may arrive on
another connection, and a client that reconnects restarts its receivers under their old ids, perhaps before the broker
has noticed that the old connection is closed.
"""

from collections.abc import Callable
from typing import Final

from librt.strings import read_i32_le
from mypy_extensions import i32, i64
from orjson import loads as orjson_loads

from penstock.core.delivery import Delivery
from penstock.core.documents import SHORT, has_more_values
from penstock.core.patterns import canonical_text
from penstock.core.redrive import Redrive
from penstock.errors import Refused
from penstock.message import ACCEPT, DEAD, LINE_SAFE, REJECT, DeliveryOptions, Message
from penstock.wire.delivery_options import FlagOptions
from penstock.wire.expression import ExpressionError
from penstock.wire.ids import random_id
from penstock.wire.lines import HEAD, LineBuffer, looks_like_http, may_begin_text
from penstock.wire.named import NamedConsumer, NamingDialect, NamingSession
from penstock.wire.preauth import PREAUTH_OTHER, PREAUTH_PING, PREAUTH_TOKEN, PreAuthRequest, authenticate_again
from penstock.wire.redriving import Redriving
from penstock.wire.session import (
    MAYBE,
    NO,
    YES,
    Hub,
    Session,
    is_denied,
)
from penstock.wire.sevx.codec import (
    COMMA,
    DTID_TAIL_LENGTH,
    EXPIRES_IMMEDIATELY,
    PROTOCOL,
    BadRequest,
    RecvRequest,
    Request,
    decode,
    decode_object,
    decode_ping,
    decode_recv,
    decode_redrive,
    decode_reject,
    decode_settle,
    decode_text,
    dtid,
    encode_delivery,
    encode_error,
    encode_id,
    encode_ok,
    encode_redriven,
    encode_result,
    encode_targets,
    is_id,
    is_printable_word,
)
from penstock.wire.state import evaluate_state

loads: Final = orjson_loads  # a Final global saves a lookup per message
SEND: Final = b"send"
SEND_WORD: Final[i32] = 0x646E6573  # its four letters, read as one integer
SPACE: Final = 32  # an int: searching for bytes of length one is ten times as slow, appending them five times
LF: Final = 10
RETURN: Final = 13
NO_EVENT: Final = b"sevx"  # the event of a message whose JSON does not name one
SHARED_WITH_MQKS: Final = (b"auth", b"ack", b"reject", b"redrive", b"unrouted", b"delete_queue", b"_eval")
RECOGNISE_WITHIN: Final = 512  # an id and action are not longer than this
BESIDE_JSON: Final = 512  # of a line: the action, flags and spaces are not longer than this


class Sevx(NamingDialect):
    """The protocol."""

    name = PROTOCOL

    def __init__(self, hub: Hub) -> None:
        super().__init__(hub)
        self._last_value = ""  # most messages have the same event as the previous one
        self._last_event = NO_EVENT
        self._last_is_safe = True
        self.patterns = hub.broker.routing.by_pattern

    def open(self, peer: str, now: int) -> Session:
        return SevxSession(self, peer)

    def recognise(self, head: bytes) -> int:
        """By the action of the first line. MQKS has some of the same actions, but without JSON after them."""
        line, end, _ = head[: RECOGNISE_WITHIN + 1].partition(b"\n")
        if not may_begin_text(line):
            return NO
        words = line.split(b" ", 2)
        if end or (len(words) == 3 and words[2]):
            return self._recognise_line(words)
        if len(line) > RECOGNISE_WITHIN:
            return NO
        if len(words) > 1 and not any(action.startswith(words[1]) for action in HANDLERS):
            return NO
        return MAYBE

    def _recognise_line(self, words: list[bytes]) -> int:
        action = words[1].rstrip() if len(words) > 1 else b""
        if action not in HANDLERS:
            return NO
        if action in SHARED_WITH_MQKS:
            return YES if len(words) == 3 and words[2].startswith(b"{") else NO
        return YES

    def event_of(self, document: dict[str, object]) -> bytes:
        """The event of the message in other protocols: the JSON's `event`, if that is one word.

        Patterns on `event` must find one in every document, so a document without it gets one.
        """
        value = document.get("event")
        if not isinstance(value, str):
            if self.patterns.of_event and value is None and "event" not in document:
                document["event"] = PROTOCOL
            return NO_EVENT
        if value != self._last_value:
            event = value.encode()
            if len(event) > self.hub.limits.name_size_max:
                return NO_EVENT
            self._last_event = event if is_printable_word(event) else NO_EVENT
            self._last_is_safe = COMMA not in self._last_event
            self._last_value = value
        return self._last_event

    def is_line_safe(self, event: bytes) -> bool:
        """Whether the last event found may appear in an MQKS property list, which is split at commas."""
        return self._last_is_safe or event == NO_EVENT


class Receiver(NamedConsumer):
    """One `recv`."""

    def __init__(self, session: "SevxSession", id: bytes, manual_ack: bool) -> None:
        super().__init__(session, id, manual_ack)
        self.session = session
        self.prefix = id + b" ok "

    def deliver(self, message: Message, retry: int, delivery: Delivery | None) -> bool:
        session = self.session
        late = session.late
        if late is not None:
            line = encode_delivery(self.prefix, message, retry, session.id_inside)
            if delivery is not None:
                self.unacked.add(encode_id(message), delivery)
            return session.deliver_late(late, self, line, len(message.body))
        outbox = session.outbox
        if len(outbox) == 0:
            session.hub.dirty.append(session)
        if retry == 0 and message.line_fit == LINE_SAFE and message.protocol == PROTOCOL and not session.id_inside:
            id = message.id
            outbox.write(self.prefix)
            outbox.write(id)
            outbox.append(SPACE)
            outbox.write(message.body)
            outbox.append(LF)
            if delivery is not None:
                self.unacked.add(id, delivery)
        else:
            line = encode_delivery(self.prefix, message, retry, session.id_inside)
            outbox.write(line)
            if delivery is not None:
                self.unacked.add(encode_id(message), delivery)
        if len(outbox) < session.outbox_max and not session.blocked:
            return True
        session.halt(self, len(message.body))
        return False


class SevxSession(NamingSession):
    protocol = PROTOCOL

    def __init__(self, dialect: Sevx, peer: str) -> None:
        super().__init__(dialect, peer)
        self.dialect = dialect
        self.id_inside = dialect.hub.options.sevx_id_inside
        self.fresh = True
        self.id_size = 24  # of its request ids: that of a dtid, until another is seen
        self.rest_is_clean = True  # whether the buffered start of a line is clean, see `feed`
        self.is_clean = True  # whether the lines of the current read are clean
        limits = dialect.hub.limits
        self.line_max = limits.json_size_max + limits.name_size_max + BESIDE_JSON
        self.lines = LineBuffer(limits.line_size_max, kept_max=max(HEAD, self.line_max))

    # -- input ------------------------------------------------------------------------------------------------------

    def receive(self, data: bytes) -> None:
        lines = self.lines.begin(data)
        # Most reads are pure ASCII without a CR. Checking once per read saves checking each line.
        clean = data.isascii() and RETURN not in data
        if lines:
            self.is_clean = clean and self.rest_is_clean
            self.rest_is_clean = clean
            if self.fresh:
                self.fresh = False
                if looks_like_http(lines[0]):
                    self.complain("an HTTP request on the SEVX port", lines[0])
                    self.hang_up()
                    return
            self.begin_lines(lines)
            return
        if not clean:
            self.rest_is_clean = False
        self.end_read()

    def end_read(self) -> None:
        if self.lines.fault:
            self._refuse(self._new_id(), self.lines.fault, b"")
            self.hang_up()
        self.tell_ids()

    def run_lines(self, lines: list[bytes], start: i64) -> i64:
        is_clean = self.is_clean
        context = self.broker.context
        beginning = self.lines.beginning
        slice_end = self.slice_end + start  # each line counts as at least one unit of work
        count: i64 = len(lines)
        done = start
        while done < count and context.work + done < slice_end:
            line = lines[done]
            done += 1
            if len(line) > self.line_max or line is beginning:
                self._refuse_long(line, self.lines.whole_size if line is beginning else len(line))
                continue
            # Fast path for the two most frequent lines, a send and an ack of one event, without creating a Request. The
            # ids a client chooses mostly have the same size.
            size = self.id_size
            if len(line) > size + 6 and line[size] == SPACE and read_i32_le(line, size + 1) == SEND_WORD:
                id = line[:size]
                if line[size + 5] == SPACE and SPACE not in id and (is_clean or id.isalnum()):
                    self._publish(id, line[size + 6 :], is_clean, line)
                    continue
            elif line[size : size + 5] == b" ack ":
                id = line[:size]
                if SPACE not in id and (is_clean or id.isalnum()) and self._ack_one(id, line[size + 5 :]):
                    continue
            self._request(line.rstrip())
            if self.unsettled:
                break
        context.work += done - start
        return done

    def _refuse_long(self, line: bytes, size: int) -> None:
        """Refuse a line with too much JSON to parse, without copying it."""
        id = line[: self.hub.limits.name_size_max + 1].partition(b" ")[0]
        if not is_id(id) or len(id) > self.hub.limits.name_size_max:
            id = self._new_id()
        size_max = self.hub.limits.json_size_max
        self._refuse(id, f"line of {size} bytes: json_size_max is {size_max}", line)

    def _publish(
        self, id: bytes, text: bytes, is_clean: bool, line: bytes, options: DeliveryOptions | None = None
    ) -> None:
        if text and (text[-1] <= 32 or text[0] <= 32):
            text = text.strip()
        if len(text) > self.hub.limits.body_size_max:
            # The core checks this too, but only after all of it would have been parsed.
            self._refuse(id, f"body of {len(text)} bytes: body_size_max is {self.hub.limits.body_size_max}", line)
            return
        if len(text) > SHORT and has_more_values(text, self.hub.limits.json_values_max):
            values_max = self.hub.limits.json_values_max
            self._refuse(id, f"JSON of more than {values_max} values: json_values_max is {values_max}", line)
            return
        try:
            document: object = loads(text)
        except ValueError as error:
            if options is None and text.startswith(b"--") and self._publish_flagged(id, text, line):
                return
            self._refuse(id, f"invalid JSON: {error}", line)
            return
        if not isinstance(document, dict):
            self._refuse(id, "expected a JSON object", line)
            return
        event = self.dialect.event_of(document)
        publishable = self.publishable
        if (
            publishable is not None
            and (event not in publishable or event == NO_EVENT)
            and not self._may_publish(id, event, document, line)
        ):
            return
        message = Message(id, event, text, self.now, PROTOCOL)
        message.document = document
        message.options = options
        if self.owner and (options is not None or self.broker.dedups):
            self.broker.own(message, self.owner)
        if (is_clean or RETURN not in text) and self.dialect.is_line_safe(event):
            message.line_fit = LINE_SAFE
        try:
            self.publish_confirmed(message, id, b" ok \n")
        except Refused as refusal:
            self._refuse(id, str(refusal), line, is_denied(refusal))
        message.document = None  # only routing needs it; otherwise it would live as long as the message

    def _may_publish(self, id: bytes, event: bytes, document: dict[str, object], line: bytes) -> bool:
        """Whether it may publish the event, and also the `event` text that patterns see if that is not a valid name."""
        try:
            self.authorizer.check_publish(event)
            if event == NO_EVENT:
                literal = document.get("event")
                if isinstance(literal, str):
                    self.authorizer.check_claimed(literal.encode())
        except Refused as refusal:
            self._refuse(id, str(refusal), line, is_denied(refusal))
            return False
        return True

    def _publish_flagged(self, id: bytes, text: bytes, line: bytes) -> bool:
        """Publish an event with flags before its JSON; False if there are no valid flags."""
        try:
            flags = FlagOptions(text)
        except Refused as refusal:
            self._refuse(id, str(refusal), line)
            return True
        if flags.requested is None:
            return False
        self._publish(id, flags.rest, False, line, flags.requested.options(self.now, self.hub.limits.dedup_seconds))
        return True

    def _ack_one(self, id: bytes, text: bytes) -> bool:
        """Handle an ack with just a receiver and an event; False if it is anything else."""
        try:
            arguments: object = loads(text)
        except ValueError:
            return False
        if not isinstance(arguments, dict) or len(arguments) != 2:
            return False
        receiver_id = arguments.get("receiver_id")
        event_id = arguments.get("event_id")
        if not isinstance(receiver_id, str) or not isinstance(event_id, str):
            return False
        receiver = self.consumers.get(receiver_id.encode())
        delivery = None if receiver is None else receiver.unacked.take(event_id.encode())
        self.confirm(id + b" ok \n")
        if delivery is not None:
            self.broker.accept(delivery)
        return True

    def _request(self, line: bytes) -> None:
        request = decode(line)
        if not request.id:
            request.id = self._new_id()
        elif not is_id(request.id) or len(request.id) > self.hub.limits.name_size_max:
            size_max = self.hub.limits.name_size_max
            self._refuse(
                self._new_id(), f"request_id is not valid UTF-8, or longer than {size_max} bytes (name_size_max)", line
            )
            return
        self.id_size = len(request.id)
        handler = HANDLERS.get(request.action)
        if handler is None:
            self._refuse(request.id, "unknown action: expected {request_id} {action} {data}", line)
            return
        try:
            handler(self, request)
        except (BadRequest, Refused, ExpressionError) as error:
            self._refuse(request.id, str(error), line, is_denied(error))

    # -- authentication ---------------------------------------------------------------------------------------------

    def parse_preauth(self, data: bytes, at: int) -> PreAuthRequest | None:
        end = data.find(b"\n", at)
        if end < 0:
            return None
        request = decode(data[at:end].rstrip())
        if not is_id(request.id) or len(request.id) > self.hub.limits.name_size_max:
            request.id = b""
        try:
            if request.action == b"auth":
                token = decode_text(decode_object(request.text), "token")
                return PreAuthRequest(PREAUTH_TOKEN, end + 1, request.id or self._new_id(), token)
            if request.action == b"_ping":
                pong = encode_ok(request.id or self._new_id(), decode_ping(request.text))
                return PreAuthRequest(PREAUTH_PING, end + 1, request.id, pong)
        except BadRequest:
            pass
        return PreAuthRequest(PREAUTH_OTHER, end + 1, request.id)

    def on_auth(self, request: Request) -> None:
        authenticate_again(self, request.id, decode_text(decode_object(request.text), "token"))

    def auth_ok(self, id: bytes) -> bytes:
        return encode_ok(id)

    def auth_error(self, id: bytes, reason: str) -> bytes:
        return encode_error(id or self._new_id(), self.fail(reason, b"", True))

    def notify_revoked(self, reason: str) -> None:
        self.send(self.auth_error(b"", reason))

    # -- requests ---------------------------------------------------------------------------------------------------

    def on_send(self, request: Request) -> None:
        self._publish(request.id, request.text, False, request.text)

    def on_recv(self, request: Request) -> None:
        arguments = decode_recv(request.text)
        broker = self.broker
        queue = arguments.queue
        is_new = queue not in broker.queues
        pattern = canonical_text(arguments.pattern)
        if self.puttable is not None:
            self._check_recv(arguments)
            self.authorizer.check_rebind(queue, (), (pattern,))
        self.check_place(request.id)
        broker.bind(queue, (), (pattern,))
        if arguments.expires_after is not None:
            broker.expire(queue, arguments.expires_after)
        elif is_new:
            broker.expire(queue, EXPIRES_IMMEDIATELY)
        self.send(encode_ok(request.id))
        self.start(queue, Receiver(self, request.id, arguments.manual_ack))

    def _check_recv(self, arguments: RecvRequest) -> None:
        self.check_consumer(arguments.queue)
        self.authorizer.check_bind((), (arguments.pattern,))
        if arguments.expires_after is not None:
            self.authorizer.check_expiry(arguments.queue, arguments.expires_after)

    def on_ack(self, request: Request) -> None:
        self.settle(self._named(request), ACCEPT, 0, encode_ok(request.id))

    def on_reject(self, request: Request) -> None:
        arguments = decode_reject(request.text)
        deliveries = self.take(arguments.receiver_id, arguments.event_id)
        due_at = self.now + arguments.delay if arguments.delay > 0 else arguments.delay
        self.settle(deliveries, DEAD if arguments.dead else REJECT, due_at, encode_ok(request.id))

    def on_redrive(self, request: Request) -> None:
        arguments = decode_redrive(request.text)
        line = b"%b redrive %b" % (request.id, request.text)
        wanted = (arguments.queue, arguments.limit, arguments.to, arguments.dry_run)
        Redriving(self, request.id, line, *wanted).begin()

    def answer_redrive(self, id: bytes, redrive: Redrive) -> None:
        if redrive.is_dry_run:
            self.send(encode_ok(id, encode_targets(redrive.targets)))
        else:
            self.confirm(encode_ok(id, encode_redriven(redrive.moved)))

    def refuse_redrive(self, id: bytes, refusal: Refused, line: bytes) -> None:
        self._refuse(id, str(refusal), line, is_denied(refusal))

    def on_unrouted(self, request: Request) -> None:
        self.send(encode_ok(request.id, b'{"unrouted": %d}' % self.unrouted))

    def _named(self, request: Request) -> list[Delivery]:
        arguments = decode_settle(request.text)
        return self.take(arguments.receiver_id, arguments.event_id)

    def on_delete_receiver(self, request: Request) -> None:
        receiver_id = decode_text(decode_object(request.text), "receiver_id")
        self.confirm_first(encode_ok(request.id))
        self.stop(receiver_id)

    def on_delete_queue(self, request: Request) -> None:
        queue = decode_text(decode_object(request.text), "queue")
        self.authorizer.check_delete(queue)
        self.broker.delete(queue)
        self.confirm(encode_ok(request.id))

    def on_ping(self, request: Request) -> None:
        self.send(encode_ok(request.id, decode_ping(request.text)))

    def on_eval(self, request: Request) -> None:
        self.authorizer.check_admin()
        code = decode_text(decode_object(request.text), "code").decode()
        self.send(encode_ok(request.id, encode_result(evaluate_state(self.hub, code, self.now))))

    # -- answers ----------------------------------------------------------------------------------------------------

    def _refuse(self, request_id: bytes, reason: str, line: bytes, denied: bool = False) -> None:
        self.send(encode_error(request_id, self.fail(reason, line, denied)))

    def _new_id(self) -> bytes:
        return dtid(self.now, random_id(DTID_TAIL_LENGTH))


HANDLERS: Final[dict[bytes, Callable[[SevxSession, Request], None]]] = {
    SEND: SevxSession.on_send,
    b"auth": SevxSession.on_auth,
    b"recv": SevxSession.on_recv,
    b"ack": SevxSession.on_ack,
    b"reject": SevxSession.on_reject,
    b"redrive": SevxSession.on_redrive,
    b"unrouted": SevxSession.on_unrouted,
    b"delete_receiver": SevxSession.on_delete_receiver,
    b"delete_queue": SevxSession.on_delete_queue,
    b"_ping": SevxSession.on_ping,
    b"_eval": SevxSession.on_eval,
}
