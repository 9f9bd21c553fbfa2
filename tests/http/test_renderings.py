"""One message in five protocols: the bytes are those of real sessions, and what is said of them is true."""

import json
from base64 import b64decode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.core.broker import Broker
from penstock.core.limits import Limits
from penstock.http.renderings import CHANGED, CODED, LOST, SAME, Rendering, render, why_not_sent
from penstock.log.memory import MemoryLog
from penstock.message import Message
from penstock.wire.dialects import DIALECTS
from penstock.wire.session import Hub, ProtocolOptions

NOW = 1_700_000_000_000_000


def rendered(
    body: bytes,
    *,
    by: str = "http",
    id: bytes = b"m1",
    event: bytes = b"paid",
    queue: bytes = b"orders",
    retry: int = 0,
) -> dict[str, Rendering]:
    message = Message(id, event, body, NOW, by)
    return {one.protocol: one for one in render(queue, message, retry, Limits(), ProtocolOptions())}


def outcomes(renderings: dict[str, Rendering], member: str = "body") -> dict[str, str]:
    return {name: one.fates[member].outcome for name, one in renderings.items()}


def test_a_json_object_is_the_same_to_all() -> None:
    found = rendered(b'{"a": 1}')
    assert {name: one.data for name, one in found.items()} == {
        "mqks": b'c1 ok m1 event=paid {"a": 1}\n',
        "smqs": b'{"a": 1}\n',
        "sevx": b'c1 ok m1 {"a": 1}\n',
        "mqmq": b'\0\0\0\x12\0\0\0\2OK\0\0\0\x08{"a": 1}',
        "rq": b'\1\x60\0\1\xe0\0\0\0\x08{"a": 1}\x21\x80\0\0\0\0\n',
    }
    assert set(outcomes(found).values()) == {SAME}


@pytest.mark.parametrize("retry", [0, 1])
@pytest.mark.parametrize("body", [b"[" * 1024 + b"]" * 1024, b'{"a":' * 1024 + b"1" + b"}" * 1024])
def test_what_is_nested_as_deep_as_can_be_read_is_shown_in_all_of_them(body: bytes, retry: int) -> None:
    found = outcomes(rendered(body, by="mqks", retry=retry))
    assert found == {"mqks": SAME, "smqs": SAME, "sevx": CODED if body[:1] == b"[" else SAME, "mqmq": SAME, "rq": SAME}


def test_lines_are_coded_where_a_line_cannot_carry_them() -> None:
    found = rendered(b"one\ntwo")
    assert outcomes(found) == {"mqks": CODED, "smqs": CODED, "sevx": CODED, "mqmq": SAME, "rq": SAME}
    assert [part.data for part in found["mqks"].parts if part.role == "marker"] == [b",encoding=base64"]
    (coded,) = [part.data for part in found["smqs"].parts if part.role == "body"]
    assert b64decode(coded) == b"one\ntwo"


def test_what_cannot_be_had_back_is_told() -> None:
    assert outcomes(rendered(b'"quoted"'))["sevx"] == CHANGED
    assert outcomes(rendered(b""))["rq"] == CHANGED
    assert outcomes(rendered(b'{"retry": 7}'), "body")["sevx"] == SAME
    assert outcomes(rendered(b'{"retry": 7}', retry=2), "body")["sevx"] == CHANGED


def test_ids_events_and_tries_are_shown_by_two() -> None:
    found = rendered(b"x", retry=3)
    assert found["mqks"].data == b"c1 ok m1 event=paid,retry=3 x\n"
    assert found["sevx"].data == b'c1 ok m1 {"retry": 3, "data": "x"}\n'
    assert outcomes(found, "retry") == {"mqks": SAME, "smqs": LOST, "sevx": SAME, "mqmq": LOST, "rq": LOST}
    assert outcomes(found, "event") == {"mqks": SAME, "smqs": LOST, "sevx": LOST, "mqmq": LOST, "rq": LOST}
    ids = outcomes(rendered(b"x", id=b"a b"), "id")
    assert ids == {"mqks": CODED, "smqs": LOST, "sevx": CODED, "mqmq": LOST, "rq": LOST}


def test_a_queue_that_a_protocol_cannot_name_is_refused_there_only() -> None:
    found = rendered(b"x", queue=b"a b")
    assert {name for name, one in found.items() if one.refusal} == {"mqks"}
    assert {name for name, one in rendered(b"x", queue=b"a:b").items() if one.refusal} == {"smqs"}
    assert {name for name, one in rendered(b"x", queue=b"q" * 300).items() if one.refusal} == {"rq"}


def test_headers_are_told_of_where_there_are_some() -> None:
    message = Message(b"m1", b"paid", b"x", NOW, "http", {b"trace": b"1"})
    assert all(one.fates["headers"].outcome == LOST for one in render(b"q", message, 0, Limits(), ProtocolOptions()))
    assert all("headers" not in one.fates for one in rendered(b"x").values())


@pytest.mark.parametrize(
    ("protocol", "body", "sent"),
    [
        ("mqks", b"a\nb", False),
        ("mqks", b"", False),
        ("mqks", b"end ", False),
        ("smqs", b"", True),
        ("smqs", b"a\nb", False),
        ("sevx", b"[1]", False),
        ("sevx", b"{}", True),
        ("mqmq", b"", True),
        ("rq", b"", False),
        ("http", b"\0\n", True),
    ],
)
def test_what_a_protocol_cannot_send(protocol: str, body: bytes, sent: bool) -> None:
    assert (why_not_sent(protocol, body) == "") is sent


MEMBERS = st.sampled_from(["id", "retry", "event", "data", "a"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(MEMBERS, inner),
    max_leaves=6,
)
BODIES = st.binary(max_size=60) | VALUES.map(lambda value: json.dumps(value).encode())
NAMES = st.binary(max_size=12)


@given(body=BODIES, id=NAMES, event=NAMES, retry=st.integers(0, 3), inside=st.booleans())
def test_every_message_is_read_back_by_what_is_said_of_it(
    body: bytes, id: bytes, event: bytes, retry: int, inside: bool
) -> None:
    message = Message(id, event, body, NOW, "http")
    for rendering in render(b"q", message, retry, Limits(), ProtocolOptions(sevx_id_inside=inside)):
        assert not rendering.refusal
        (shown,) = [part.data for part in rendering.parts if part.role == "body"]
        outcome = rendering.fates["body"].outcome
        assert outcome in (SAME, CODED, CHANGED)
        if outcome == SAME and rendering.protocol != "sevx":
            assert shown == body
        if rendering.protocol in ("mqmq", "rq") and body:
            assert outcome == SAME
        assert rendering.data.count(shown) >= 1


def test_the_bytes_are_those_a_client_is_sent() -> None:
    """The same message, published to a broker of its own by hand."""
    broker = Broker(MemoryLog(), Limits())
    hub = Hub(broker, lambda level, event, details: None)
    dialect = DIALECTS[0](hub)
    session = dialect.open("peer", NOW)
    session.feed(b"c1 consume orders paid\n", NOW)
    broker.publish(Message(b"m1", b"paid", b"a\0b", NOW, "mqmq"))
    assert session.drain() == rendered(b"a\0b", by="mqmq")["mqks"].data
