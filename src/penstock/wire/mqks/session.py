"""One MQKS client: its requests become broker calls, deliveries become lines.

All connections of a user share their consumer ids: an ack may arrive on another connection, and a client that
reconnects restarts its consumers under their old ids, perhaps before the broker has noticed that the old connection is
closed.
"""

from collections.abc import Callable
from typing import Final

from mypy_extensions import i64

from penstock.core.delivery import Delivery
from penstock.core.redrive import Redrive
from penstock.errors import TOO_LARGE, Refused
from penstock.message import ACCEPT, DEAD, LINE_SAFE, REJECT, DeliveryOptions, Message
from penstock.wire.claims import check_claim
from penstock.wire.delivery_options import FlagOptions
from penstock.wire.expression import ExpressionError, render
from penstock.wire.lines import looks_like_http, may_begin_text
from penstock.wire.mqks.codec import (
    COMMA,
    PROTOCOL,
    BadRequest,
    Request,
    decode,
    decode_consume,
    decode_pair,
    decode_publish,
    decode_redrive,
    decode_reject,
    encode_delivery,
    encode_error,
    encode_ok,
    encode_word,
)
from penstock.wire.named import NamedConsumer, NamingDialect, NamingSession
from penstock.wire.preauth import PREAUTH_OTHER, PREAUTH_PING, PREAUTH_TOKEN, PreAuthRequest, authenticate_again
from penstock.wire.redriving import Redriving
from penstock.wire.session import MAYBE, NO, YES, Session, is_denied
from penstock.wire.state import evaluate_state

ALL: Final = b"--all"
SHARED_WITH_SEVX: Final = (b"auth", b"ack", b"reject", b"redrive", b"unrouted", b"delete_queue", b"_eval")
DASH: Final = 45
SPACE: Final = 32  # an int: appending it costs a fifth of appending bytes
LF: Final = 10
RECOGNISE_WITHIN: Final = 512  # an id and action are not longer than this
NO_ID: Final = b"None"  # the id in the answer to a line without one


class Mqks(NamingDialect):
    """The protocol."""

    name = PROTOCOL

    def open(self, peer: str, now: int) -> Session:
        return MqksSession(self, peer)

    def recognise(self, head: bytes) -> int:
        """By the action of the first line. SEVX has some of the same actions, with JSON after them."""
        line, end, _ = head[: RECOGNISE_WITHIN + 1].partition(b"\n")
        if not may_begin_text(line):
            return NO
        words = line.split(b" ", 2)
        if len(words) < 3 or not (words[2] or end):
            return NO if end or len(line) > RECOGNISE_WITHIN else MAYBE
        if words[1] not in HANDLERS:
            return NO
        return NO if words[2].startswith(b"{") and words[1] in SHARED_WITH_SEVX else YES


class Consumer(NamedConsumer):
    """One `consume`."""

    def __init__(self, session: "MqksSession", id: bytes, manual_ack: bool) -> None:
        super().__init__(session, id, manual_ack)
        self.session = session
        self.prefix = id + b" ok "

    def deliver(self, message: Message, retry: int, delivery: Delivery | None) -> bool:
        session = self.session
        id = message.id
        late = session.late
        if late is not None:
            line = encode_delivery(self.prefix, message, retry)
            if delivery is not None:
                self.unacked.add(encode_word(id), delivery)
            return session.deliver_late(late, self, line, len(message.body))
        outbox = session.outbox
        if len(outbox) == 0:
            session.hub.dirty.append(session)
        if retry == 0 and message.line_fit == LINE_SAFE:
            outbox.write(self.prefix)
            outbox.write(id)
            outbox.write(b" event=")
            outbox.write(message.event)
            outbox.append(SPACE)
            outbox.write(message.body)
            outbox.append(LF)
        else:
            id = encode_word(id)
            outbox.write(encode_delivery(self.prefix, message, retry))
        if delivery is not None:
            self.unacked.add(id, delivery)
        if len(outbox) < session.outbox_max and not session.blocked:
            return True
        session.halt(self, len(message.body))
        return False


class MqksSession(NamingSession):
    protocol = PROTOCOL

    def __init__(self, dialect: Mqks, peer: str) -> None:
        super().__init__(dialect, peer)
        self.name_size_max = dialect.hub.limits.name_size_max
        self.fresh = True

    def receive(self, data: bytes) -> None:
        lines = self.lines.begin(data)
        if self.fresh and lines:
            self.fresh = False
            if looks_like_http(lines[0]):
                self.complain("an HTTP request on the MQKS port", lines[0])
                self.hang_up()
                return
        self.begin_lines(lines)

    def end_read(self) -> None:
        if self.lines.fault:
            self.send(encode_error(NO_ID, self.fail(self.lines.fault, b"")))
            self.hang_up()
        self.tell_ids()

    def run_lines(self, lines: list[bytes], start: i64) -> i64:
        broker = self.broker
        context = broker.context
        slice_end = self.slice_end + start  # each line counts as at least one unit of work
        count: i64 = len(lines)
        consumers = self.consumers
        now = self.now
        name_size_max = self.name_size_max
        publishable = self.publishable
        routing = broker.routing
        owner = self.owner if broker.dedups else b""
        last_event = b""
        has_comma = False
        done = start
        while done < count and context.work + done < slice_end:
            line = lines[done]
            done += 1
            parts = line.split(b" ", 3)
            # Fast path for the two most frequent lines, a plain publish and a plain ack, without creating a Request.
            if len(parts) == 4 and parts[1] == b"publish":
                event = parts[2]
                data = parts[3]
                fits = len(parts[0]) <= name_size_max and len(event) <= name_size_max
                # A word that starts with a dash may be a flag.
                if fits and data and data[-1] > 32 and event and event[0] != DASH:
                    message = Message(parts[0], event, data, now, PROTOCOL)
                    if event != last_event:  # mostly it is the same, and comparing is cheaper than searching
                        last_event = event
                        has_comma = COMMA in event
                    if not has_comma:
                        message.line_fit = LINE_SAFE
                    if owner:
                        message.options = DeliveryOptions(owner=owner)
                    try:
                        if publishable is not None:
                            if event not in publishable:
                                self.authorizer.check_publish(event)
                            if routing.has_patterns:
                                check_claim(self.authorizer, event, data)
                        broker.publish(message)
                    except Refused as refusal:
                        self._refuse(parts[0], str(refusal), line, is_denied(refusal))
                    continue
            elif len(parts) == 4 and parts[1] == b"ack":
                consumer = consumers.get(parts[2])
                delivery = None if consumer is None else consumer.unacked.take(parts[3])
                if delivery is not None:
                    broker.accept(delivery)
                    continue
            self._request(line.rstrip())
            if self.unsettled:
                break
            publishable = self.publishable  # the request may have been a token
            owner = self.owner if broker.dedups else b""
            consumers = self.consumers
        context.work += done - start
        return done

    def _request(self, line: bytes) -> None:
        request = decode(line)
        if request is None:
            self._refuse(NO_ID, "expected {request_id} {action} {data}", line)
            return
        if len(request.id) > self.name_size_max:
            self._refuse(NO_ID, f"id of {len(request.id)} bytes: name_size_max is {self.name_size_max}", line)
            return
        handler = HANDLERS.get(request.action)
        if handler is None:
            self._refuse(request.id, "unknown action", line)
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
        if request is None or len(request.id) > self.name_size_max:
            return PreAuthRequest(PREAUTH_OTHER, end + 1)
        if request.action == b"auth":
            return PreAuthRequest(PREAUTH_TOKEN, end + 1, request.id, request.rest)
        if request.action == b"ping":
            return PreAuthRequest(PREAUTH_PING, end + 1, request.id, encode_ok(request.id, request.rest))
        return PreAuthRequest(PREAUTH_OTHER, end + 1, request.id)

    def on_auth(self, request: Request) -> None:
        authenticate_again(self, request.id, request.rest)

    def auth_ok(self, id: bytes) -> bytes:
        return encode_ok(id)

    def auth_error(self, id: bytes, reason: str) -> bytes:
        return encode_error(id or NO_ID, self.fail(reason, b"", True))

    def notify_revoked(self, reason: str) -> None:
        self.send(self.auth_error(b"", reason))

    # -- requests ---------------------------------------------------------------------------------------------------

    def on_publish(self, request: Request) -> None:
        flags = FlagOptions(request.rest)
        event, data = decode_publish(flags.rest)
        if len(event) > self.name_size_max:
            raise Refused(TOO_LARGE, f"event name of {len(event)} bytes: name_size_max is {self.name_size_max}")
        if self.publishable is not None:
            if event not in self.publishable:
                self.authorizer.check_publish(event)
            if self.broker.routing.has_patterns:
                check_claim(self.authorizer, event, data)
        message = Message(request.id, event, data, self.now, PROTOCOL)
        if flags.requested is not None:
            message.options = flags.requested.options(self.now, self.hub.limits.dedup_seconds)
        if self.owner:
            self.broker.own(message, self.owner)
        if request.confirm:
            self.publish_confirmed(message, request.id, b" ok \n")
        else:
            self.broker.publish(message)

    def on_consume(self, request: Request) -> None:
        arguments = decode_consume(request.rest, self.hub.limits.events_per_queue_max)
        broker = self.broker
        if self.puttable is not None:
            self.check_consumer(arguments.queue)
            self.authorizer.check_bind(arguments.events, ())
            self.authorizer.check_rebind(arguments.queue, arguments.events, ())
            if arguments.expires_after is not None:
                self.authorizer.check_expiry(arguments.queue, arguments.expires_after)
        self.check_place(request.id)
        broker.bind(arguments.queue, arguments.events)
        if arguments.expires_after is not None:
            broker.expire(arguments.queue, arguments.expires_after)
        if request.confirm:
            # Without waiting, and before the backlog: anything confirmed later comes after the queue in the log.
            self.send(encode_ok(request.id))
        self.start(arguments.queue, Consumer(self, request.id, arguments.manual_ack))

    def on_ack(self, request: Request) -> None:
        self.settle(self._named(request), ACCEPT, 0, self._answer(request))

    def on_reject(self, request: Request) -> None:
        arguments = decode_reject(request.rest)
        due_at = self.now + arguments.delay if arguments.delay > 0 else arguments.delay
        deliveries = self.take(arguments.consumer, None if arguments.message == ALL else arguments.message)
        self.settle(deliveries, DEAD if arguments.dead else REJECT, due_at, self._answer(request))

    def on_redrive(self, request: Request) -> None:
        arguments = decode_redrive(request.rest)
        line = b"%b redrive %b" % (request.id, request.rest)
        wanted = (arguments.queue, arguments.limit, arguments.to, arguments.dry_run)
        Redriving(self, request.id, line, *wanted).begin()

    def answer_redrive(self, id: bytes, redrive: Redrive) -> None:
        if redrive.is_dry_run:
            found = [b"%s=%d" % (encode_word(name), count) for name, count in sorted(redrive.targets.items())]
            self.send(encode_ok(id, b" ".join(found)))
        else:
            self.confirm(encode_ok(id, b"%d" % redrive.moved))

    def refuse_redrive(self, id: bytes, refusal: Refused, line: bytes) -> None:
        self._refuse(id, str(refusal), line, is_denied(refusal))

    def on_unrouted(self, request: Request) -> None:
        self.send(encode_ok(request.id, b"%d" % self.unrouted))

    def _named(self, request: Request) -> list[Delivery]:
        consumer_id, message_id = decode_pair(request.rest)
        return self.take(consumer_id, None if message_id == ALL else message_id)

    def on_delete_consumer(self, request: Request) -> None:
        if request.confirm:
            self.confirm_first(encode_ok(request.id))
        self.stop(request.rest)

    def on_delete_queue(self, request: Request) -> None:
        self.authorizer.check_delete(request.rest)
        self.broker.delete(request.rest)  # the whole rest of the line is the name
        self._ok(request)

    def on_ping(self, request: Request) -> None:
        self.send(encode_ok(request.id, request.rest))

    def on_eval(self, request: Request) -> None:
        self.authorizer.check_admin()
        value = evaluate_state(self.hub, request.rest.decode("utf-8", "replace"), self.now)
        self.send(encode_ok(request.id, render(value).encode("utf-8", "replace")))

    def _answer(self, request: Request) -> bytes:
        return encode_ok(request.id) if request.confirm else b""

    def _ok(self, request: Request) -> None:
        if request.confirm:
            self.confirm(encode_ok(request.id))

    def _refuse(self, request_id: bytes, reason: str, line: bytes, denied: bool = False) -> None:
        self.send(encode_error(request_id, self.fail(reason, line, denied)))


HANDLERS: Final[dict[bytes, Callable[[MqksSession, Request], None]]] = {
    b"auth": MqksSession.on_auth,
    b"publish": MqksSession.on_publish,
    b"consume": MqksSession.on_consume,
    b"ack": MqksSession.on_ack,
    b"reject": MqksSession.on_reject,
    b"redrive": MqksSession.on_redrive,
    b"unrouted": MqksSession.on_unrouted,
    b"delete_consumer": MqksSession.on_delete_consumer,
    b"delete_queue": MqksSession.on_delete_queue,
    b"ping": MqksSession.on_ping,
    b"_eval": MqksSession.on_eval,
}
