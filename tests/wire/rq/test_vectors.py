"""Conversations of the original client and controller, played to our side: it says what the controller said.

A step with `ours` is one where it must not, and says `why`; a step that is `added` was not captured, but has to have
happened. The original splits its answers into writes as its event loop has it, so what each node was told is compared
as a whole.
"""

import pytest

from penstock.wire.rq.codec import MORE, Decoder


class Whole:
    def read(self, data: bytes) -> list[bytes]:
        return [data]


class ByteByByte:
    def read(self, data: bytes) -> list[bytes]:
        return [data[at : at + 1] for at in range(len(data))]


class Trailing:
    """Every read ends with the code of a command whose argument comes with the next one."""

    def __init__(self) -> None:
        self.open = b""

    def read(self, data: bytes) -> list[bytes]:
        read = self.open + data + b"\x5f"
        self.open = b"\x00"
        return [read]


@pytest.mark.parametrize("way", [Whole, ByteByByte, Trailing])
def test_the_captured_conversation(vector, way, house) -> None:
    nodes = {}
    ways = {}
    expected: dict[str, bytes] = {}
    heard: dict[str, bytes] = {}
    for step in vector:
        name = step["node"]
        if name not in nodes:
            nodes[name] = house.node()
            ways[name] = way()
            expected[name] = heard[name] = b""
        node = nodes[name]
        if step["dir"] == "S>C":
            if step["hex"] == "05":
                house.advance(15)
            expected[name] += bytes.fromhex(step.get("ours", step["hex"]))
        elif step.get("event") == "EOF":
            heard[name] += node.drain()
            node.leave()
        else:
            for read in ways[name].read(bytes.fromhex(step["hex"])):
                node.feed(read)
        for other, listener in nodes.items():
            heard[other] += listener.drain()
    assert heard == expected
    assert house.reports == []


@pytest.mark.parametrize("way", [Whole, ByteByByte, Trailing])
def test_the_fields_of_the_capture(vector, way) -> None:
    """Both directions are the same language, so the decoder reads what the controller said as well."""
    for step in vector:
        if "fields" in step:
            decoder = Decoder(1000)
            found = []
            for read in way().read(bytes.fromhex(step["hex"])):
                decoder.feed(read)
                while (action := decoder.next_action()) != MORE:
                    found.append((action, fields_of(decoder)))
            assert found == described(step["fields"])
            assert decoder.pending() == (1 if way is Trailing else 0)


def fields_of(decoder: Decoder) -> dict[str, object]:
    fields = decoder.fields
    said: dict[str, object] = {
        "ID": fields.id,
        "QUEUE": fields.queue,
        "QUEUEID": fields.queue_id,
        "MAX": fields.max,
        "PRIORITY": fields.priority,
    }
    said = {name: value for name, value in said.items() if value not in (-1, b"")}
    if fields.payload is not None:
        said["PAYLOAD"] = fields.payload
    if fields.noreply:
        said["NOREPLY"] = b""
    if fields.exclusive:
        said["EXCLUSIVE"] = b""
    return said


ACTIONS = {
    "PING": 5,
    "PONG": 6,
    "REQUEST": 10,
    "REPLY": 11,
    "DELIVERED": 13,
    "BROADCAST": 14,
    "CONSUME": 20,
    "CLOSING": 22,
    "CONSUMING": 24,
}


def described(words: str) -> list[tuple[int, dict[str, object]]]:
    found = []
    said: dict[str, object] = {}
    for word in words.split():
        name, _, text = word.partition("=")
        if name == "CLEAR":
            said = {}
        elif name in ACTIONS:
            found.append((ACTIONS[name], dict(said)))
        elif name in ("QUEUE", "PAYLOAD", "NOREPLY", "EXCLUSIVE"):
            said[name] = text.encode()
        elif name != "NOP":
            said[name] = int(text)
    return found
