"""RQ wire format: groups of commands that begin with CLEAR and end with an action. `penstock.risp` has the codes."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from penstock import risp
from penstock.client.errors import BadReply

SHORT_SIZE_MAX: Final = 255
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
            size = risp.HEADER_SIZES[code >> 5]
            if len(rest) - at < size:
                break
            number = int.from_bytes(rest[at + 1 : at + size], "big")
            end = at + size
            if code >= risp.FIRST_STRING:
                if number > PAYLOAD_SIZE_MAX:
                    raise BadReply(f"a string is too long: {number} bytes")
                if len(rest) - end < number:
                    break
                fields[code] = bytes(rest[end : end + number])
                end += number
            elif code == risp.CLEAR:
                fields.clear()
            elif code >= risp.FIRST_FLAG:
                fields[code] = number
            elif code:
                groups.append(_group(code, fields))
            at = end
        del rest[:at]
        return groups


def _group(action: int, fields: dict[int, int | bytes]) -> Group:
    id, queue, queue_id, payload = (fields.get(code) for code in (risp.ID, risp.QUEUE, risp.QUEUEID, risp.PAYLOAD))
    return Group(
        action,
        id if isinstance(id, int) else None,
        queue if isinstance(queue, bytes) else b"",
        queue_id if isinstance(queue_id, int) else None,
        payload if isinstance(payload, bytes) else None,
        risp.NOREPLY in fields,
    )


def field(code: int, value: int | bytes) -> bytes:
    if isinstance(value, int):
        return bytes((code,)) + value.to_bytes(risp.HEADER_SIZES[code >> 5] - 1, "big")
    return bytes((code,)) + len(value).to_bytes(risp.HEADER_SIZES[code >> 5] - 1, "big") + value


def group(action: int, *parts: bytes) -> bytes:
    return bytes((risp.CLEAR,)) + b"".join(parts) + bytes((action,))


def encode_consume(queue: bytes, max: int, priority: int | None, exclusive: bool) -> bytes:
    parts = [field(risp.QUEUE, queue), field(risp.MAX, max)]
    if exclusive:
        parts.insert(0, bytes((risp.EXCLUSIVE,)))
    if priority is not None:
        parts.append(field(risp.PRIORITY, priority))
    return group(risp.CONSUME, *parts)


def encode_request(id: int, queue: bytes, payload: bytes, noreply: bool, fields: Mapping[int, int]) -> bytes:
    parts = [field(risp.ID, id), field(risp.QUEUE, queue), field(risp.PAYLOAD, payload)]
    if noreply:
        parts.append(bytes((risp.NOREPLY,)))
    parts += [field(code, value) for code, value in fields.items()]
    return group(risp.REQUEST, *parts)


def encode_answer(action: int, id: int, payload: bytes | None = None) -> bytes:
    parts = [field(risp.ID, id)]
    if payload is not None:
        parts.append(field(risp.PAYLOAD, payload))
    return group(action, *parts)
