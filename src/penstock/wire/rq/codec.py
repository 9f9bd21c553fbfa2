"""The RQ wire format: decodes RISP commands to groups of fields, each ended by an action, and encodes answers.

A command is one byte and an argument. The top three bits of the byte give the type of the argument, so unknown commands
can be skipped. All numbers are big-endian and unsigned.

    code >> 5    0         1       2        3         4         5                 6                 7
    codes        0-31      32-63   64-95    96-127    128-159   160-191           192-223           224-255
    argument     none      none    1 byte   2 bytes   4 bytes   length 1, bytes   length 2, bytes   length 4, bytes
    meaning      action    flag    number   number    number    string            string            string

Numbers, strings and flags set fields, an action uses them, and only CLEAR resets them: fields carry over to the next
group unless it starts with CLEAR. All known clients start every group with CLEAR.

    a request               CLEAR ID QUEUE PAYLOAD [NOREPLY] [RETRIES] [TIMEOUT] [DELAY] [TTL] REQUEST
    to a consumer           CLEAR QUEUEID|QUEUE PAYLOAD [NOREPLY] ID REQUEST
    its answers             CLEAR ID DELIVERED    CLEAR ID [PAYLOAD] REPLY    CLEAR ID UNDELIVERED
    authentication          CLEAR TOKEN           answered by WELCOME, or DENIED and closed; our extension
"""

from typing import Final

from penstock.errors import ProtocolError
from penstock.wire.buffer import ReceiveBuffer

NOP: Final = 0x00
CLEAR: Final = 0x01
PING: Final = 0x05
PONG: Final = 0x06
REQUEST: Final = 0x0A
REPLY: Final = 0x0B
DELIVERED: Final = 0x0D
BROADCAST: Final = 0x0E
UNDELIVERED: Final = 0x10
CONSUME: Final = 0x14
CANCEL_QUEUE: Final = 0x15
CLOSING: Final = 0x16
SERVER_FULL: Final = 0x17
CONSUMING: Final = 0x18
EXCLUSIVE: Final = 0x20
NOREPLY: Final = 0x21
PRIORITY: Final = 0x40
RETRIES: Final = 0x41
QUEUEID: Final = 0x60
TIMEOUT: Final = 0x61
MAX: Final = 0x62
ID: Final = 0x80
DELAY: Final = 0x90  # our extension, like TTL: milliseconds. Peers that do not know them skip them.
TTL: Final = 0x91
WELCOME: Final = 0x1A  # our extension, like TOKEN and DENIED: only sent to clients that presented a token
DENIED: Final = 0x1B
TOKEN: Final = 0xB0  # a string that acts by itself once it is complete
LONG_TOKEN: Final = 0xD0  # the same with a length of two bytes
QUEUE: Final = 0xA0
PAYLOAD: Final = 0xE0

FIRST_WITH_ARGUMENT: Final = 0x40
FIRST_STRING: Final = 0xA0

# The size of code and number, or of code and string length, by code >> 5.
HEADER_SIZES: Final = bytes((1, 1, 2, 3, 5, 2, 3, 5))

PAYLOAD_KEPT_MAX: Final = 64 << 10

ABSENT: Final = -1
MORE: Final = -1  # no action is complete: feed the decoder

# The bands of PRIORITY.
NONE: Final = 0  # broadcasts only
LOW: Final = 10
NORMAL: Final = 20
HIGH: Final = 30

PING_BYTES: Final = b"\x05"
PONG_BYTES: Final = b"\x06"
SERVER_FULL_BYTES: Final = b"\x17"
CLOSING_BYTES: Final = b"\x01\x16"
WELCOME_BYTES: Final = b"\x01\x1a"
DENIED_BYTES: Final = b"\x01\x1b"
NOBODY_UNDELIVERED: Final = b"\x01\x10"  # for a request that came without an ID


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
                if code < FIRST_WITH_ARGUMENT:
                    at += 1
                    if code == CLEAR:
                        fields.clear()
                    elif code == NOREPLY:
                        fields.noreply = True
                    elif code == EXCLUSIVE:
                        fields.exclusive = True
                    elif code != NOP and code < EXCLUSIVE:
                        buffer.skip(at - buffer.position)
                        if code in (REQUEST, REPLY, BROADCAST):
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
                    if code < FIRST_STRING:
                        self._set(code, number)
                        at += need
                        continue
                    start = at + need
                    if code == PAYLOAD:
                        if number > self._payload_size_max:
                            buffer.clear()
                            raise ProtocolError(f"PAYLOAD of {number} bytes: body_size_max is {self._payload_size_max}")
                        if size - start >= number:
                            at = start + number
                            fields.payload = data[start:at]
                            fields.spent = False
                            continue
                    elif code == QUEUE:
                        if size - start >= number:
                            at = start + number
                            fields.queue = data[start:at]
                            continue
                    elif code in (TOKEN, LONG_TOKEN):
                        if size - start >= number:
                            at = start + number
                            fields.token = data[start:at]
                            buffer.skip(at - buffer.position)
                            return TOKEN
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
        if code == ID:
            fields.id = number
        elif code == QUEUEID:
            fields.queue_id = number
        elif code == MAX:
            fields.max = number
        elif code == PRIORITY:
            fields.priority = number
        elif code == RETRIES:
            fields.retries = number
        elif code == TIMEOUT:
            fields.timeout = number
        elif code == DELAY:
            fields.delay = number
        elif code == TTL:
            fields.ttl = number

    def _skip(self, count: int) -> None:
        """Skip that many bytes, including those that have not arrived yet."""
        buffer = self._buffer
        while count and buffer.have(1):
            step = min(count, len(buffer.data) - buffer.position)
            buffer.skip(step)
            count -= step
        self._skipping = count


def encode_consuming(number: int, queue: bytes) -> bytes:
    return b"\x01\x60%b\xa0%c%b\x18" % (number.to_bytes(2, "big"), len(queue), queue)


def encode_denied(queue: bytes) -> bytes:
    """DENIED for a CONSUME of that queue."""
    return b"\x01\xa0%c%b\x1b" % (len(queue), queue)


def encode_delivered(id: int) -> bytes:
    return b"\x01\x80%b\x0d" % id.to_bytes(4, "big")


def encode_undelivered(id: int) -> bytes:
    return b"\x01\x80%b\x10" % id.to_bytes(4, "big")


def encode_reply_head(id: int, size: int) -> bytes:
    """A reply up to its body; the body and REPLY_TAIL follow."""
    return b"\x01\x80%b\xe0%b" % (id.to_bytes(4, "big"), size.to_bytes(4, "big"))


REPLY_TAIL: Final = b"\x0b"


def encode_head_by_number(number: int) -> bytes:
    """The bytes of a request to a consumer before the body's length, with its queue as QUEUEID."""
    return b"\x01\x60%b\xe0" % number.to_bytes(2, "big")


def encode_head_by_name(queue: bytes) -> bytes:
    """The same, with the queue as QUEUE."""
    return b"\x01\xa0%c%b\xe0" % (len(queue), queue)


def encode_request_tail(id: int, noreply: bool) -> bytes:
    """The bytes of a request to a consumer after the body."""
    if noreply:
        return b"\x21\x80%b\x0a" % id.to_bytes(4, "big")
    return b"\x80%b\x0a" % id.to_bytes(4, "big")


BROADCAST_TAIL: Final = b"\x0e"
