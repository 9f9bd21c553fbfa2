"""RQ on the wire: RISP commands to groups of fields that an action closes, answers and deliveries to commands.

A command is one byte and an argument. The top three bits of the byte say what kind of argument follows, so a command
that means nothing here can be stepped over. All numbers are big-endian and unsigned.

    code >> 5    0         1       2        3         4         5                 6                 7
    codes        0-31      32-63   64-95    96-127    128-159   160-191           192-223           224-255
    argument     none      none    1 byte   2 bytes   4 bytes   length 1, bytes   length 2, bytes   length 4, bytes
    what it is   action    flag    number   number    number    string            string            string

Fields and flags only fill in a form, an action acts on what is filled in, and nothing but CLEAR empties the form: what
one group said holds for the next one, unless that begins with CLEAR. Everybody's groups do.

    a request               CLEAR ID QUEUE PAYLOAD [NOREPLY] [RETRIES] [TIMEOUT] [DELAY] [TTL] REQUEST
    to a consumer           CLEAR QUEUEID|QUEUE PAYLOAD [NOREPLY] ID REQUEST
    its answers             CLEAR ID DELIVERED    CLEAR ID [PAYLOAD] REPLY    CLEAR ID UNDELIVERED
    who a client is         CLEAR TOKEN           answered by WELCOME, or DENIED and closed; ours alone
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
DELAY: Final = 0x90  # ours alone, as TTL: milliseconds. Whoever does not know them steps over them.
TTL: Final = 0x91
WELCOME: Final = 0x1A  # ours alone, as TOKEN and DENIED: nobody hears them who has not shown a token
DENIED: Final = 0x1B
TOKEN: Final = 0xB0  # a string that acts by itself, when it is there as a whole
LONG_TOKEN: Final = 0xD0  # the same with a length of two bytes
QUEUE: Final = 0xA0
PAYLOAD: Final = 0xE0

FIRST_WITH_ARGUMENT: Final = 0x40
FIRST_STRING: Final = 0xA0

# Code and number, or code and length of a string: how many bytes that is, by code >> 5.
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
    """The form that commands fill in. Numbers are ABSENT, and names empty, until they are said."""

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
        self.spent = False  # PAYLOAD was large, and is not kept after its action

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
        """What uses a PAYLOAD has been done. A large PAYLOAD is let go of: many clients would hold one each."""
        payload = self.payload
        if payload is not None and len(payload) > PAYLOAD_KEPT_MAX:
            self.payload = None
            self.spent = True

    def band(self) -> int:
        """The band a PRIORITY belongs to. Said to be 0, it is NONE; not said at all, it is NORMAL."""
        priority = self.priority
        if priority == ABSENT:
            return NORMAL
        if priority >= HIGH:
            return HIGH
        if priority >= NORMAL:
            return NORMAL
        return NONE if priority == NONE else LOW


class Decoder:
    """Feed it reads, cut anywhere; it fills in `fields` and stops at every action.

    What it keeps of an unfinished command is at most a PAYLOAD of `payload_size_max`. A longer one is refused when its
    length is seen; a string it does not know is stepped over at any length, and never kept.
    """

    def __init__(self, payload_size_max: int) -> None:
        self.fields = Fields()
        self._payload_size_max = payload_size_max
        self._buffer = ReceiveBuffer(payload_size_max)
        self._acted = False  # what was given last uses a PAYLOAD
        self._skipping = 0  # bytes of an unknown string that are still to come

    def feed(self, data: bytes) -> None:
        self._buffer.append(data)

    def pending(self) -> int:
        """How many bytes of an unfinished command are kept."""
        return self._buffer.size()

    def next_action(self) -> int:
        """The code of the next action other than NOP and CLEAR, known or not; MORE when there is none yet.

        Raises ProtocolError for a PAYLOAD that is too long: the stream cannot be used any further.
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
        """Step over that many bytes, those that have not come yet included."""
        buffer = self._buffer
        while count and buffer.have(1):
            step = min(count, len(buffer.data) - buffer.position)
            buffer.skip(step)
            count -= step
        self._skipping = count


def encode_consuming(number: int, queue: bytes) -> bytes:
    return b"\x01\x60%b\xa0%c%b\x18" % (number.to_bytes(2, "big"), len(queue), queue)


def encode_denied(queue: bytes) -> bytes:
    """That a queue is not for this client to consume."""
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
    """What a consumer gets before the length of a body, with its queue as QUEUEID."""
    return b"\x01\x60%b\xe0" % number.to_bytes(2, "big")


def encode_head_by_name(queue: bytes) -> bytes:
    """The same, with the queue as QUEUE."""
    return b"\x01\xa0%c%b\xe0" % (len(queue), queue)


def encode_request_tail(id: int, noreply: bool) -> bytes:
    """What a consumer gets after the body of a request."""
    if noreply:
        return b"\x21\x80%b\x0a" % id.to_bytes(4, "big")
    return b"\x80%b\x0a" % id.to_bytes(4, "big")


BROADCAST_TAIL: Final = b"\x0e"
