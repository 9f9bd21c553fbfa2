"""The MQMQ wire format: decodes frames to requests, encodes answers as frames.

    frame     ┌────────────┬─────────┬─────────┬───         value   ┌────────────┬──────────
              │ length: u32│ value   │ value   │ ...                │ length: u32│ bytes ...
              └────────────┴─────────┴─────────┴───                 └────────────┴──────────

    request   Put, {queue}, {message}[, {options}] · Get, {queue}[, {timeout in ms}] · Info · Quit
              Auth, {token} (our extension)
    answer    OK[, {message or info}] · Timeout · Error, {error type}

Numbers are big-endian. A frame's length does not include itself; an invalid length ends the connection.
"""

from collections.abc import Mapping
from typing import Final

from mypy_extensions import i64, mypyc_attr

from penstock.errors import ProtocolError
from penstock.wire.buffer import ReceiveBuffer

NAME_SIZE_MAX: Final = 1024
MESSAGE_SIZE_MAX: Final = 32 << 20  # of a message whose queue has the longest name; a shorter name leaves more
FRAME_SIZE_MAX: Final = 4 + len(b"Put") + 4 + NAME_SIZE_MAX + 4 + MESSAGE_SIZE_MAX

TIMEOUT_MIN: Final = 1  # milliseconds; also the default of a Get
TIMEOUT_MAX: Final = 3_600_000
PLAIN_DIGITS: Final = 7  # as many as TIMEOUT_MAX has
INT64_DIGITS: Final = 19
ZERO: Final = 48  # ASCII
NINE: Final = 57
OPENING: Final = 123  # {

PUT: Final = b"Put"
GET: Final = b"Get"
INFO: Final = b"Info"
QUIT: Final = b"Quit"
AUTH: Final = b"Auth"  # our extension
COMMANDS: Final = (PUT, GET, INFO, QUIT, AUTH)

UNKNOWN_COMMAND: Final = b"REQUEST_UNKNOWN_COMMAND"
BAD_PARAMS: Final = b"REQUEST_BAD_PARAMS"
BAD_QUEUE_NAME: Final = b"REQUEST_BAD_QUEUE_NAME"
BAD_TIMEOUT: Final = b"REQUEST_BAD_TIMEOUT"


@mypyc_attr(free_list_len=1)
class Request:
    """A command and the two values after it; `count` is how many of the three were present.

    A fourth value that starts like a JSON object holds the options of a Put, which are our extension. Any other value
    after the third is checked for its length and ignored.
    """

    def __init__(self, command: bytes, queue: bytes, argument: bytes, count: int, options: bytes) -> None:
        self.command = command
        self.queue = queue
        self.argument = argument  # the message of a Put, the timeout of a Get
        self.count = count
        self.options = options


class Decoder:
    """Splits input into requests, one at a time, since a request may have to wait for an earlier one's answer."""

    def __init__(self, line_size_max: int) -> None:
        self._buffer = ReceiveBuffer(4 + line_size_max)
        self._frame_size_max = min(FRAME_SIZE_MAX, line_size_max)

    def append(self, read: bytes) -> None:
        self._buffer.append(read)

    def take(self) -> Request | None:
        """The next request; None while it is incomplete.

        Raises ProtocolError for an invalid frame: nothing after it can be decoded.
        """
        buffer = self._buffer
        if not buffer.have(4):
            return None
        size = _number(buffer.data, buffer.position)
        if size > self._frame_size_max:
            raise ProtocolError(f"frame of {size} bytes: MQMQ and line_size_max allow {self._frame_size_max}")
        if not buffer.have(4 + size):
            return None
        start = buffer.position + 4
        request = decode(buffer.data, start, start + size)
        buffer.skip(4 + size)
        return request

    def pending(self) -> int:
        """The number of buffered bytes."""
        return self._buffer.size()

    def hold(self) -> None:
        """Keep the rest for later. Raises ProtocolError when it exceeds the buffer's limit."""
        self._buffer.hold()

    def clear(self) -> None:
        self._buffer.clear()


def decode(data: bytes, start: int, end: int) -> Request:
    """Decode the request in a frame whose values span `start` to `end`."""
    command = queue = argument = options = b""
    count = 0
    seen = 0
    position: i64 = start
    stop: i64 = end
    while position < stop:
        if stop - position < 4:
            raise ProtocolError("the frame ends within the length of a value")
        size = _number(data, position)
        position += 4
        if size > stop - position:
            raise ProtocolError(f"value of {size} bytes, but the frame has only {stop - position} left")
        if count < 3:
            value = data[position : position + size]
            if count == 0:
                command = value
            elif count == 1:
                queue = value
            else:
                argument = value
            count += 1
        elif seen == 3 and size > 0 and data[position] == OPENING:
            options = data[position : position + size]
        seen += 1
        position += size
    return Request(command, queue, argument, count, options)


def _number(data: bytes, at: i64) -> i64:
    # Byte by byte: int.from_bytes on a slice takes longer than the rest of the frame.
    first: i64 = data[at]
    second: i64 = data[at + 1]
    third: i64 = data[at + 2]
    fourth: i64 = data[at + 3]
    return first << 24 | second << 16 | third << 8 | fourth


def decode_timeout(text: bytes) -> int:
    """Milliseconds from the decimal text of a Get; -1 if it is not a number or too large."""
    plain: i64 = 0
    if not 0 < len(text) <= PLAIN_DIGITS:
        return _decode_odd_timeout(text)
    for byte in text:
        code: i64 = byte
        if code < ZERO or code > NINE:
            return _decode_odd_timeout(text)
        plain = plain * 10 + code - ZERO
    return _within_limits(plain)


def _decode_odd_timeout(text: bytes) -> int:
    digits = text[1:] if text[:1] in (b"+", b"-") else text
    if not digits.isdigit():
        return -1
    digits = digits.lstrip(b"0")
    if len(digits) > INT64_DIGITS:
        return -1
    number = int(digits or b"0")
    if text[:1] == b"-":
        return -1 if number > 2**63 else TIMEOUT_MIN
    return _within_limits(number)


def _within_limits(milliseconds: int) -> int:
    return -1 if milliseconds > TIMEOUT_MAX else max(milliseconds, TIMEOUT_MIN)


def encode(*values: bytes) -> bytes:
    """A frame of these values."""
    body = b"".join([len(value).to_bytes(4, "big") + value for value in values])
    return len(body).to_bytes(4, "big") + body


OK: Final = encode(b"OK")
TIMEOUT: Final = encode(b"Timeout")


def encode_error(error_type: bytes) -> bytes:
    return encode(b"Error", error_type)


def encode_ok_head(size: int) -> bytes:
    """The bytes of the frame `OK, {value}` before a value of `size` bytes, which then need not be copied."""
    return b"%s\0\0\0\2OK%s" % ((10 + size).to_bytes(4, "big"), size.to_bytes(4, "big"))


def encode_info(connection_count: int, ready_counts: Mapping[bytes, int]) -> bytes:
    """The server's statistics as compact JSON, byte for byte as the original encodes them."""
    queues = ",".join([f'"{_json_text(name)}":{{"NumMessages":{ready_counts[name]}}}' for name in sorted(ready_counts)])
    return (
        f'{{"NumConnections":{connection_count},"NumQueues":{len(ready_counts)},'
        f'"NumMessages":{sum(ready_counts.values())},"Queues":{{{queues}}}}}'
    ).encode()


def _json_text(name: bytes) -> str:
    # This decoder maps each invalid byte to a surrogate of its own, which is then replaced by one U+FFFD.
    return name.decode("utf-8", "surrogateescape").translate(_JSON_ESCAPES)


def _json_escapes() -> dict[int, str]:
    escapes = {code: f"\\u{code:04x}" for code in (*range(0x20), 0x2028, 0x2029, *b"<>&")}
    escapes.update({ord("\n"): "\\n", ord("\r"): "\\r", ord("\t"): "\\t", ord('"'): '\\"', ord("\\"): "\\\\"})
    escapes.update({0xDC00 + byte: "\\ufffd" for byte in range(0x80, 0x100)})
    return escapes


_JSON_ESCAPES: Final = _json_escapes()
