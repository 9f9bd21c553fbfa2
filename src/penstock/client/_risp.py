"""RQ wire format: a one-byte command followed by its argument, in groups that begin with CLEAR and end with an action.

    code >> 5    0, 1      2        3         4         5                 6                 7
    argument     none      1 byte   2 bytes   4 bytes   length 1, bytes   length 2, bytes   length 4, bytes

Numbers are big-endian. Unknown codes are skipped.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

from penstock.client.errors import BadReply

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
WELCOME: Final = 0x1A  # Penstock only, like DENIED and TOKEN: sent to a client that sent a token
DENIED: Final = 0x1B
EXCLUSIVE: Final = 0x20
NOREPLY: Final = 0x21
PRIORITY: Final = 0x40
RETRIES: Final = 0x41
QUEUEID: Final = 0x60
TIMEOUT: Final = 0x61
MAX: Final = 0x62
ID: Final = 0x80
DELAY: Final = 0x90  # Penstock only, like TTL; milliseconds
TTL: Final = 0x91
QUEUE: Final = 0xA0
TOKEN: Final = 0xB0
LONG_TOKEN: Final = 0xD0  # like TOKEN, with a two-byte length
SHORT_SIZE_MAX: Final = 255
PAYLOAD: Final = 0xE0

FIRST_FLAG: Final = 0x20
FIRST_STRING: Final = 0xA0
HEADER_SIZES: Final = (1, 1, 2, 3, 5, 2, 3, 5)  # code and number, or code and length, by code >> 5
PAYLOAD_SIZE_MAX: Final = 256 << 20


class Group(NamedTuple):
    """An action and the fields that preceded it."""

    action: int
    id: int | None
    queue: bytes
    queue_id: int | None
    payload: bytes | None
    noreply: bool


class Decoder:
    """Decodes received bytes, split at any point."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._fields: dict[int, int | bytes] = {}

    def clear(self) -> None:
        self._rest.clear()
        self._fields.clear()

    def groups_in(self, data: bytes) -> list[Group]:
        """Return the actions that are now complete. Raises BadReply for a string over PAYLOAD_SIZE_MAX."""
        rest = self._rest
        rest += data
        groups = []
        fields = self._fields
        at = 0
        while at < len(rest):
            code = rest[at]
            size = HEADER_SIZES[code >> 5]
            if len(rest) - at < size:
                break
            number = int.from_bytes(rest[at + 1 : at + size], "big")
            end = at + size
            if code >= FIRST_STRING:
                if number > PAYLOAD_SIZE_MAX:
                    raise BadReply(f"a string is too long: {number} bytes")
                if len(rest) - end < number:
                    break
                fields[code] = bytes(rest[end : end + number])
                end += number
            elif code == CLEAR:
                fields.clear()
            elif code >= FIRST_FLAG:
                fields[code] = number
            elif code:
                groups.append(_group(code, fields))
            at = end
        del rest[:at]
        return groups


def _group(action: int, fields: dict[int, int | bytes]) -> Group:
    id, queue, queue_id, payload = (fields.get(code) for code in (ID, QUEUE, QUEUEID, PAYLOAD))
    return Group(
        action,
        id if isinstance(id, int) else None,
        queue if isinstance(queue, bytes) else b"",
        queue_id if isinstance(queue_id, int) else None,
        payload if isinstance(payload, bytes) else None,
        NOREPLY in fields,
    )


def field(code: int, value: int | bytes) -> bytes:
    if isinstance(value, int):
        return bytes((code,)) + value.to_bytes(HEADER_SIZES[code >> 5] - 1, "big")
    return bytes((code,)) + len(value).to_bytes(HEADER_SIZES[code >> 5] - 1, "big") + value


def group(action: int, *parts: bytes) -> bytes:
    return bytes((CLEAR,)) + b"".join(parts) + bytes((action,))


def encode_consume(queue: bytes, max: int, priority: int | None, exclusive: bool) -> bytes:
    parts = [field(QUEUE, queue), field(MAX, max)]
    if exclusive:
        parts.insert(0, bytes((EXCLUSIVE,)))
    if priority is not None:
        parts.append(field(PRIORITY, priority))
    return group(CONSUME, *parts)


def encode_request(id: int, queue: bytes, payload: bytes, noreply: bool, fields: Mapping[int, int]) -> bytes:
    parts = [field(ID, id), field(QUEUE, queue), field(PAYLOAD, payload)]
    if noreply:
        parts.append(bytes((NOREPLY,)))
    parts += [field(code, value) for code, value in fields.items()]
    return group(REQUEST, *parts)


def encode_answer(action: int, id: int, payload: bytes | None = None) -> bytes:
    parts = [field(ID, id)]
    if payload is not None:
        parts.append(field(PAYLOAD, payload))
    return group(action, *parts)
