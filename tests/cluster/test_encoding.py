from dataclasses import replace

import pytest

from penstock.cluster.encoding import (
    FOREIGN,
    decode_beat,
    decode_headers,
    decode_message,
    encode_beat,
    encode_headers,
)
from penstock.cluster.stream import BLOCKS, Beat, StreamMessage

MESSAGE = StreamMessage(
    kind=BLOCKS,
    lead="a-3-0123",
    term=3,
    number=7,
    position=4711,
    segment="00000000000000000042.log",
    place=99,
    part=1,
    parts=4,
    data=b"\x00\r\n",
)

BEAT = Beat("a-3-0123", 3, "a", 4711, {"mqks": "h1:4000"})


def test_a_message_comes_back_as_it_was() -> None:
    headers = encode_headers(MESSAGE, after=12)
    assert decode_message(headers, MESSAGE.data) == MESSAGE
    assert headers["Nats-Expected-Last-Sequence"] == "12"
    assert headers["Nats-Msg-Id"] == MESSAGE.id


def test_empty_fields_come_back_as_well() -> None:
    message = replace(MESSAGE, segment="", data=b"", part=0, parts=1)
    assert decode_message(encode_headers(message, after=0), b"") == message


def test_headers_as_the_servers_keep_them() -> None:
    headers = encode_headers(MESSAGE, after=12)
    raw = "NATS/1.0\r\n" + "".join(f"{name}: {value}\r\n" for name, value in headers.items()) + "\r\n"
    assert decode_headers(raw.encode()) == headers
    assert decode_headers(b"") == {}


@pytest.mark.parametrize("name", ["Penstock-Kind", "Penstock-Term", "Penstock-Part"])
def test_a_message_without_one_of_our_headers_is_foreign(name: str) -> None:
    headers = encode_headers(MESSAGE, after=12)
    del headers[name]
    assert decode_message(headers, b"x").kind == FOREIGN


@pytest.mark.parametrize(("name", "value"), [("Penstock-Term", "x"), ("Penstock-Part", "1"), ("Penstock-Number", "")])
def test_a_message_with_a_malformed_header_is_foreign(name: str, value: str) -> None:
    headers = {**encode_headers(MESSAGE, after=12), name: value}
    assert decode_message(headers, b"x").kind == FOREIGN


def test_a_beat_comes_back_as_it_was() -> None:
    assert decode_beat(encode_beat(BEAT)) == BEAT


@pytest.mark.parametrize(
    "malformed",
    [
        b"",
        b"\xff",
        b"[]",
        b"{}",
        b"null",
        b"[" * 100_000,
        encode_beat(BEAT).replace(b"4711", b'"4711"'),
        encode_beat(BEAT).replace(b"4711", b"true"),
        encode_beat(BEAT).replace(b'"h1:4000"', b"4000"),
        encode_beat(BEAT).replace(b'{"mqks": "h1:4000"}', b"[]"),
    ],
)
def test_a_malformed_beat_is_none(malformed: bytes) -> None:
    assert decode_beat(malformed) is None
