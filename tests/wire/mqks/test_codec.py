"""Lines to requests and back, without a broker."""

from base64 import b64decode, b64encode
from urllib.parse import unquote_to_bytes

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import Refused
from penstock.message import Message
from penstock.wire.delivery_options import FlagOptions
from penstock.wire.lines import LineBuffer, looks_like_http
from penstock.wire.mqks.codec import (
    BadRequest,
    decode,
    decode_consume,
    decode_pair,
    decode_publish,
    decode_redrive,
    decode_reject,
    encode_delivery,
    encode_error,
    encode_ok,
)


def test_a_line_is_cut_at_its_first_two_spaces() -> None:
    request = decode(b"a,b=c/\xc3\xa9 ping  x y ")
    assert request is not None
    assert (request.id, request.action, request.rest) == (b"a,b=c/\xc3\xa9", b"ping", b" x y ")


@pytest.mark.parametrize("line", [b"", b"ping", b"x ping", b" "])
def test_a_line_with_fewer_than_three_parts_is_no_request(line: bytes) -> None:
    assert decode(line) is None


def test_a_leading_space_makes_the_id_empty() -> None:
    request = decode(b" ping x")
    assert request is not None
    assert request.id == b""


@pytest.mark.parametrize(
    ("rest", "confirm", "left"),
    [
        (b"--confirm q", True, b"q"),
        (b"--confirm", False, b"--confirm"),
        (b"q --confirm", False, b"q --confirm"),
        (b"--confirmed q", False, b"--confirmed q"),
        (b"--confirm --confirm", True, b"--confirm"),
    ],
)
def test_confirm_counts_only_as_first_argument_and_only_with_something_behind_it(
    rest: bytes, confirm: bool, left: bytes
) -> None:
    request = decode(b"1 delete_queue " + rest)
    assert request is not None
    assert (request.confirm, request.rest) == (confirm, left)


def test_publish_keeps_inner_and_leading_spaces_of_its_data() -> None:
    assert decode_publish(b"e  x  y") == (b"e", b" x  y")
    with pytest.raises(BadRequest):
        decode_publish(b"e")


def test_ack_needs_a_consumer_and_a_message() -> None:
    assert decode_pair(b"c m") == (b"c", b"m")
    with pytest.raises(BadRequest):
        decode_pair(b"c")


def test_consume_takes_flags_anywhere() -> None:
    request = decode_consume(b"--manual-ack q e1 --delete-queue-when-unused=0.3 e2", 100)
    assert (request.queue, request.events, request.manual_ack) == (b"q", (b"e1", b"e2"), True)
    assert request.expires_after == 300_000


@pytest.mark.parametrize(
    ("flag", "microseconds"),
    [
        (b"", 0),
        (b"=5", 5_000_000),
        (b"=1e-1", 100_000),
        (b"=0", 0),
        (b"=-3", 0),
        (b"=-inf", 0),
        (b"=inf", -1),
        (b"=Infinity", -1),
        (b"=1e300", 10**15),
    ],
)
def test_the_ways_to_say_delete_when_unused(flag: bytes, microseconds: int) -> None:
    assert decode_consume(b"q e --delete-queue-when-unused" + flag, 100).expires_after == microseconds


@pytest.mark.parametrize(
    "rest",
    [
        b"q",
        b"--manual-ack q",
        b"q e --unknown",
        b"q e --confirm",
        b"q e --manual-ack=1",
        b"q e --delete-queue-when-unused=",
        b"q e --delete-queue-when-unused=abc",
        b"q e --delete-queue-when-unused=nan",
    ],
)
def test_a_consume_that_means_nothing(rest: bytes) -> None:
    with pytest.raises(BadRequest):
        decode_consume(rest, 100)


def test_a_double_space_is_an_empty_event() -> None:
    assert decode_consume(b"q e  f", 100).events == (b"e", b"", b"f")


def test_answers() -> None:
    assert encode_ok(b"1") == b"1 ok \n"
    assert encode_ok(b"1", b"x") == b"1 ok x\n"
    assert encode_error(b"1", b"E") == b"1 error E\n"


def delivery(body: bytes, event: bytes = b"e", retry: int = 0, id: bytes = b"m") -> bytes:
    return encode_delivery(b"c ok ", Message(id, event, body, 0, "test"), retry)


def test_deliveries() -> None:
    assert delivery(b" a b") == b"c ok m event=e  a b\n"
    assert delivery(b"x", retry=2) == b"c ok m event=e,retry=2 x\n"
    assert delivery(b"") == b"c ok m event=e \n"


@pytest.mark.parametrize("body", [b"a\nb", b"a\r\nb", b"a ", b"a\t", b"\0", b"\n"])
def test_a_body_that_no_line_can_carry_is_coded_and_says_so(body: bytes) -> None:
    assert delivery(body, retry=1) == b"c ok m event=e,retry=1,encoding=base64 " + b64encode(body) + b"\n"


def test_white_space_in_names_is_escaped() -> None:
    assert delivery(b"x", event=b"my queue", id=b"a\nb") == b"c ok a%0Ab event=my%20queue,escaped=event x\n"
    assert delivery(b"x", event=b"a\0b", id=b"\0") == b"c ok %00 event=a%00b,escaped=event x\n"


def test_a_comma_in_an_event_is_escaped_and_one_in_an_id_is_not() -> None:
    assert delivery(b"x", event=b"a,b", id=b"c,d") == b"c ok c,d event=a%2Cb,escaped=event x\n"
    assert (
        delivery(b"x\n", event=b"a,100%", retry=1)
        == b"c ok m event=a%2C100%25,retry=1,encoding=base64,escaped=event eAo=\n"
    )


@pytest.mark.parametrize("event", [b"a=b", b"100%", b"a%20b", b"a%2Cb", b"", b"\xff", b"\xc3\xa9", b"a;b"])
def test_events_that_break_nothing_are_passed_on_as_they_are(event: bytes) -> None:
    assert delivery(b"x", event=event) == b"c ok m event=%b x\n" % event


@given(st.binary(), st.binary(min_size=1), st.integers(0, 3), st.binary(), st.sampled_from(["mqmq", "smqs", "sevx"]))
def test_any_delivery_is_a_line_of_properties_that_a_client_reads_back(
    event: bytes, id: bytes, retry: int, body: bytes, protocol: str
) -> None:
    line = encode_delivery(b"", Message(id, event, body, 0, protocol), retry)
    assert line.endswith(b"\n")
    assert b"\n" not in line[:-1]
    _, properties, data = line[:-1].split(b" ", 2)
    found = dict(piece.split(b"=", 1) for piece in properties.split(b","))  # as the original's client does it
    read = unquote_to_bytes(found[b"event"]) if found.get(b"escaped") == b"event" else found[b"event"]
    assert read == event
    assert found.get(b"retry", b"0") == b"%d" % retry
    assert (b64decode(data) if found.get(b"encoding") == b"base64" else data) == body


@given(st.lists(st.binary().filter(lambda line: b"\n" not in line)), st.data())
def test_any_split_of_the_bytes_gives_the_same_lines(lines: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(line + b"\n" for line in lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=10)))
    buffer = LineBuffer(1 << 20)
    got: list[bytes] = []
    for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        got += buffer.split(stream[start:end])
    assert got == lines
    assert buffer.pending() == 0


def test_a_line_without_end_is_given_up_at_the_limit_and_not_kept() -> None:
    buffer = LineBuffer(1000)
    buffer.split(b"x" * 1000)
    assert not buffer.fault
    assert buffer.split(b"x") == []
    assert "line_size_max is 1000" in buffer.fault
    assert buffer.pending() == 0


def test_a_finished_line_over_the_limit_is_given_up_as_well_and_those_before_it_are_not() -> None:
    buffer = LineBuffer(3)
    assert buffer.split(b"abc\n\nabcd\nx\n") == [b"abc", b""]
    assert buffer.fault == "line of 4 bytes: line_size_max is 3"
    assert buffer.pending() == 0


def test_the_unfinished_end_can_be_taken() -> None:
    buffer = LineBuffer(1000)
    assert buffer.split(b"a\nb") == [b"a"]
    assert buffer.split(b"c") == []
    assert (buffer.pending(), buffer.take_rest(), buffer.pending()) == (2, b"bc", 0)


def test_an_http_request_is_told_by_its_first_line() -> None:
    assert looks_like_http(b"POST /x HTTP/1.1\r")
    assert looks_like_http(b"GET / HTTP/1.0")
    assert not looks_like_http(b"GET publish e HTTP/1.1 is nice to read about")
    assert not looks_like_http(b"m1 publish e GET / HTTP/1.1")


def test_a_request_has_so_many_flags_and_words_and_no_more() -> None:
    """Each was looked at with all that follows it: a line of them took minutes."""
    with pytest.raises(Refused, match="more than 16 flags"):
        FlagOptions(b"--ttl=1 " * 17 + b"e x")
    assert FlagOptions(b"--ttl=1 " * 16 + b"e x").rest == b"e x"
    with pytest.raises(Refused, match="more than 16 flags"):
        decode_reject(b"c m" + b" --dead" * 17)
    assert decode_reject(b"c m" + b" --dead" * 16).message == b"m"
    with pytest.raises(Refused, match="more than 16 flags"):
        decode_redrive(b"q" + b" --dry-run" * 17)
    with pytest.raises(BadRequest, match="events_per_queue_max is 3"):
        decode_consume(b"q" + b" e" * 20, 3)
    with pytest.raises(Refused, match="--ttl must be a number of seconds"):
        FlagOptions(b"--ttl=" + b"1" * 100_000 + b" e x")
