"""The RQ wire format: decodes RISP commands to groups of fields, each ended by an action, and encodes answers.

Fields carry over to the next group unless it starts with CLEAR. All known clients start every group with CLEAR.

    a request               CLEAR ID QUEUE PAYLOAD [NOREPLY] [RETRIES] [TIMEOUT] [DELAY] [TTL] REQUEST
    to a consumer           CLEAR QUEUEID|QUEUE PAYLOAD [NOREPLY] ID REQUEST
    its answers             CLEAR ID DELIVERED    CLEAR ID [PAYLOAD] REPLY    CLEAR ID UNDELIVERED
    authentication          CLEAR TOKEN           answered by WELCOME, or DENIED and closed; our extension
"""

from typing import Final

from penstock import risp
from penstock.errors import ProtocolError
from penstock.wire.buffer import ReceiveBuffer

HEADER_SIZES: Final = risp.HEADER_SIZES  # the codes are inlined when compiled, this would be looked up each time
PAYLOAD_KEPT_MAX: Final = 64 << 10

ABSENT: Final = -1
MORE: Final = -1  # no action is complete: feed the decoder

# The bands of PRIORITY.
NONE: Final = 0  # broadcasts only
LOW: Final = 10
NORMAL: Final = 20
HIGH: Final = 30

PING_BYTES: Final = bytes((risp.PING,))
PONG_BYTES: Final = bytes((risp.PONG,))
SERVER_FULL_BYTES: Final = bytes((risp.SERVER_FULL,))
CLOSING_BYTES: Final = bytes((risp.CLEAR, risp.CLOSING))
WELCOME_BYTES: Final = bytes((risp.CLEAR, risp.WELCOME))
DENIED_BYTES: Final = bytes((risp.CLEAR, risp.DENIED))
NOBODY_UNDELIVERED: Final = bytes((risp.CLEAR, risp.UNDELIVERED))  # for a request that came without an ID

# What surrounds the arguments of the groups that are sent for every message.
CLEAR_ID: Final = bytes((risp.CLEAR, risp.ID))
ID_ONLY: Final = bytes((risp.ID,))
NOREPLY_ID: Final = bytes((risp.NOREPLY, risp.ID))
PAYLOAD_ONLY: Final = bytes((risp.PAYLOAD,))
REQUEST_END: Final = bytes((risp.REQUEST,))
REPLY_END: Final = bytes((risp.REPLY,))
DELIVERED_END: Final = bytes((risp.DELIVERED,))
BROADCAST_END: Final = bytes((risp.BROADCAST,))


class Fields:
    """The fields that commands set. Until set, numbers are ABSENT and names are empty."""

    def __init__(self) -> None:
        self.id = ABSENT
        self.queue = b""
        self.queue_id = ABSENT
        self.payload: bytes | None = None
        self.noreply = False
        self.exclusive = False
        self.max = ABSENT
        self.priority = ABSENT
        self.retries = ABSENT
        self.timeout = ABSENT  # seconds
        self.delay = ABSENT  # milliseconds
        self.ttl = ABSENT  # milliseconds
        self.token = b""
        self.spent = False  # PAYLOAD was large and was dropped after its action

    def clear(self) -> None:
        self.id = ABSENT
        self.queue = b""
        self.queue_id = ABSENT
        self.payload = None
        self.noreply = False
        self.exclusive = False
        self.max = ABSENT
        self.priority = ABSENT
        self.retries = ABSENT
        self.timeout = ABSENT
        self.delay = ABSENT
        self.ttl = ABSENT
        self.spent = False

    def spend(self) -> None:
        """Drop a large PAYLOAD after the action that used it: many clients would hold one each."""
        payload = self.payload
        if payload is not None and len(payload) > PAYLOAD_KEPT_MAX:
            self.payload = None
            self.spent = True

    def band(self) -> int:
        """The band of the PRIORITY: NONE for an explicit 0, NORMAL if it is absent."""
        priority = self.priority
        if priority == ABSENT:
            return NORMAL
        if priority >= HIGH:
            return HIGH
        if priority >= NORMAL:
            return NORMAL
        return NONE if priority == NONE else LOW


class Decoder:
    """Feed it reads, cut anywhere; it sets `fields` and stops at every action.

    It buffers at most one PAYLOAD of `payload_size_max` bytes. A longer one is refused as soon as its length is read.
    An unknown string of any length is skipped and never buffered.
    """

    def __init__(self, payload_size_max: int) -> None:
        self.fields = Fields()
        self._payload_size_max = payload_size_max
        self._buffer = ReceiveBuffer(payload_size_max)
        self._acted = False  # the last action uses a PAYLOAD
        self._skipping = 0  # bytes of an unknown string that have not arrived yet

    def feed(self, data: bytes) -> None:
        self._buffer.append(data)

    def pending(self) -> int:
        """The number of buffered bytes."""
        return self._buffer.size()

    def next_action(self) -> int:
        """The code of the next action other than NOP and CLEAR, known or not; MORE if there is none yet.

        Raises ProtocolError for a PAYLOAD that is too long, or large and used twice: the stream is unusable then.
        """
        if self._skipping:
            self._skip(self._skipping)
        buffer = self._buffer
        fields = self.fields
        if self._acted:
            self._acted = False
            fields.spend()
        data = buffer.data
        at = buffer.position
        size = len(data)
        while True:
            need = 1
            if at < size:
                code = data[at]
                if code < risp.FIRST_WITH_ARGUMENT:
                    at += 1
                    if code == risp.CLEAR:
                        fields.clear()
                    elif code == risp.NOREPLY:
                        fields.noreply = True
                    elif code == risp.EXCLUSIVE:
                        fields.exclusive = True
                    elif code != risp.NOP and code < risp.FIRST_FLAG:
                        buffer.skip(at - buffer.position)
                        if code in (risp.REQUEST, risp.REPLY, risp.BROADCAST):
                            if fields.spent:
                                raise ProtocolError("a large PAYLOAD is not kept for a second action: begin with CLEAR")
                            self._acted = True
                        return code
                    continue
                need = HEADER_SIZES[code >> 5]
                if size - at >= need:
                    number = data[at + 1]
                    if need > 2:
                        number = (number << 8) | data[at + 2]
                        if need > 3:
                            number = (number << 16) | (data[at + 3] << 8) | data[at + 4]
                    if code < risp.FIRST_STRING:
                        self._set(code, number)
                        at += need
                        continue
                    start = at + need
                    if code == risp.PAYLOAD:
                        if number > self._payload_size_max:
                            buffer.clear()
                            raise ProtocolError(f"PAYLOAD of {number} bytes: body_size_max is {self._payload_size_max}")
                        if size - start >= number:
                            at = start + number
                            fields.payload = data[start:at]
                            fields.spent = False
                            continue
                    elif code == risp.QUEUE:
                        if size - start >= number:
                            at = start + number
                            fields.queue = data[start:at]
                            continue
                    elif code in (risp.TOKEN, risp.LONG_TOKEN):
                        if size - start >= number:
                            at = start + number
                            fields.token = data[start:at]
                            buffer.skip(at - buffer.position)
                            return risp.TOKEN
                    else:
                        buffer.skip(start - buffer.position)
                        self._skip(number)
                        data = buffer.data
                        at = buffer.position
                        size = len(data)
                        continue
                    need += number
            buffer.skip(at - buffer.position)
            if not buffer.have(need):
                return MORE
            data = buffer.data
            at = buffer.position
            size = len(data)

    def _set(self, code: int, number: int) -> None:
        fields = self.fields
        if code == risp.ID:
            fields.id = number
        elif code == risp.QUEUEID:
            fields.queue_id = number
        elif code == risp.MAX:
            fields.max = number
        elif code == risp.PRIORITY:
            fields.priority = number
        elif code == risp.RETRIES:
            fields.retries = number
        elif code == risp.TIMEOUT:
            fields.timeout = number
        elif code == risp.DELAY:
            fields.delay = number
        elif code == risp.TTL:
            fields.ttl = number

    def _skip(self, count: int) -> None:
        """Skip that many bytes, including those that have not arrived yet."""
        buffer = self._buffer
        while count and buffer.have(1):
            step = min(count, len(buffer.data) - buffer.position)
            buffer.skip(step)
            count -= step
        self._skipping = count


def encode_consuming(queue_id: int, queue: bytes) -> bytes:
    id = queue_id.to_bytes(2, "big")
    return b"%c%c%b%c%c%b%c" % (risp.CLEAR, risp.QUEUEID, id, risp.QUEUE, len(queue), queue, risp.CONSUMING)


def encode_denied(queue: bytes) -> bytes:
    """DENIED for a CONSUME of that queue."""
    return b"%c%c%c%b%c" % (risp.CLEAR, risp.QUEUE, len(queue), queue, risp.DENIED)


def encode_undelivered(id: int) -> bytes:
    return b"%c%c%b%c" % (risp.CLEAR, risp.ID, id.to_bytes(4, "big"), risp.UNDELIVERED)


def encode_delivered(id: int) -> bytes:
    return b"%b%b%b" % (CLEAR_ID, id.to_bytes(4, "big"), DELIVERED_END)


def encode_reply_head(id: int, size: int) -> bytes:
    """A reply up to its body; the body and REPLY_END follow."""
    return b"%b%b%b%b" % (CLEAR_ID, id.to_bytes(4, "big"), PAYLOAD_ONLY, size.to_bytes(4, "big"))


def encode_head_by_id(queue_id: int) -> bytes:
    """The bytes of a request to a consumer before the body's length, with its queue as QUEUEID."""
    return b"%c%c%b%c" % (risp.CLEAR, risp.QUEUEID, queue_id.to_bytes(2, "big"), risp.PAYLOAD)


def encode_head_by_name(queue: bytes) -> bytes:
    """The same, with the queue as QUEUE."""
    return b"%c%c%c%b%c" % (risp.CLEAR, risp.QUEUE, len(queue), queue, risp.PAYLOAD)


def encode_request_tail(id: int, noreply: bool) -> bytes:
    """The bytes of a request to a consumer after the body."""
    return b"%b%b%b" % (NOREPLY_ID if noreply else ID_ONLY, id.to_bytes(4, "big"), REQUEST_END)
