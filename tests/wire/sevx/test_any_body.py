"""Every body that some protocol let in comes out of SEVX, the first time and every time after that."""

import json
from base64 import b64decode

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from penstock.core.broker import Broker
from penstock.core.limits import Limits
from penstock.log.memory import MemoryLog
from penstock.message import Message
from penstock.wire.session import Hub, ProtocolOptions, Session
from penstock.wire.sevx.codec import DEPTH_MAX, encode_delivery
from penstock.wire.sevx.session import Sevx

NOW = 1_000_000
DEPTHS = [1, 253, 254, 255, 256, 1022, 1023, 1024, 1025, 5000]
RECV = b'r recv {"queue": "q", "pattern": {"event": "none"}, "manual_ack": true}\n'


def arrays(depth: int) -> bytes:
    return b"[" * depth + b"]" * depth


def objects(depth: int) -> bytes:
    return b'{"a":' * depth + b"1" + b"}" * depth


def mixed(depth: int) -> bytes:
    return b'[{"retry":' * (depth // 2) + b"1" + b"}]" * (depth // 2)


JSON_LIKE = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["id", "retry", "event", "data", "é"]), inner, max_size=3)
    ),
    max_leaves=8,
).map(lambda value: json.dumps(value).encode())  # NaN, infinities, lone surrogates and large numbers among them
SPACED = st.builds(lambda edge, text: edge + text + edge, st.sampled_from([b"", b" ", b"\r\n", b"\t"]), JSON_LIKE)
DEEP = st.builds(lambda make, depth: make(depth), st.sampled_from([arrays, objects, mixed]), st.sampled_from(DEPTHS))
BODIES = st.binary() | JSON_LIKE | SPACED | DEEP


def house(options: ProtocolOptions | None = None) -> tuple[Broker, Session]:
    broker = Broker(MemoryLog(keep=True), Limits())
    session = Sevx(Hub(broker, lambda level, event, details: None, options)).open("peer", NOW)
    return broker, session


def say(session: Session, line: bytes) -> list[bytes]:
    session.feed(line, NOW)
    return session.drain().split(b"\n")[:-1]


def read_body(text: bytes, body: bytes) -> None:
    """A client reads the line, and finds what was put in."""
    document = orjson.loads(text)
    try:
        own = orjson.loads(body)
    except ValueError:
        own = None
    if isinstance(own, dict):
        kept = {name: value for name, value in document.items() if name not in ("retry", "id")}
        assert kept == {name: value for name, value in own.items() if name not in ("retry", "id")}
    elif document.get("encoding") == "base64":
        assert b64decode(document["data"]) == body
    else:
        assert document["data"] == own or document["data"] == body.decode()


@given(BODIES, st.sampled_from(["mqks", "smqs", "mqmq", "rq", "http"]), st.booleans())
@example(arrays(1024), "mqks", False)
@example(arrays(1024), "mqmq", True)
def test_any_body_is_delivered_twice_and_what_is_behind_it_too(body: bytes, protocol: str, id_inside: bool) -> None:
    broker, session = house(ProtocolOptions(sevx_id_inside=id_inside))
    broker.put(b"q", Message(b"m1", b"q", body, NOW, protocol))
    broker.put(b"q", Message(b"m2", b"q", b"behind", NOW, protocol))
    answer, first, behind = say(session, RECV)
    assert answer == b"r ok "
    assert b"behind" in behind
    confirmed, second = say(session, b'x reject {"receiver_id": "r", "event_id": "m1"}\n')
    assert confirmed == b"x ok "
    for line in (first, second):
        assert line.startswith(b"r ok ")
        read_body(line[5:] if id_inside else line[5:].partition(b" ")[2], body)
    assert orjson.loads(second[second.index(b"{") :])["retry"] == 1


@given(st.sampled_from([objects(depth) for depth in DEPTHS]) | JSON_LIKE)
def test_what_a_client_was_allowed_to_send_is_delivered_twice(body: bytes) -> None:
    _, session = house()
    say(session, b'r recv {"queue": "q", "pattern": {}, "manual_ack": true}\n')
    answer, *delivered = say(session, b"m1 send %s\n" % body)
    if answer != b"m1 ok ":
        assert delivered == []
        return
    assert delivered == [b"r ok m1 " + body]
    confirmed, again = say(session, b'x reject {"receiver_id": "r", "event_id": "m1"}\n')
    assert confirmed == b"x ok "
    read_body(again.removeprefix(b"r ok m1 "), body)


@pytest.mark.parametrize("body", [arrays(DEPTH_MAX + 1), objects(DEPTH_MAX + 1), arrays(1), b"no JSON", b"\xff\x00"])
def test_a_body_that_should_not_be_in_the_log_has_its_line_nevertheless(body: bytes) -> None:
    message = Message(b"m1", b"sevx", body, NOW, "sevx")
    line = encode_delivery(b"r ok ", message, 2, False)
    assert orjson.loads(line.removeprefix(b"r ok m1 "))["retry"] == 2


def test_a_body_that_wrapping_would_nest_too_deep_comes_in_base64() -> None:
    message = Message(b"m1", b"q", arrays(DEPTH_MAX), NOW, "mqks")
    document = orjson.loads(encode_delivery(b"", message, 0, False).removeprefix(b"m1 "))
    assert document["encoding"] == "base64"
    assert b64decode(document["data"]) == arrays(DEPTH_MAX)
    shallower = Message(b"m1", b"q", arrays(DEPTH_MAX - 1), NOW, "mqks")
    assert "encoding" not in orjson.loads(encode_delivery(b"", shallower, 0, False).removeprefix(b"m1 "))
