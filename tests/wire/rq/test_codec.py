"""RISP to fields and actions, and back."""

import time
import tracemalloc
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock import risp
from penstock.errors import ProtocolError
from penstock.wire.rq import codec
from penstock.wire.rq.codec import ABSENT, MORE, PAYLOAD_KEPT_MAX, Decoder, Fields

KNOWN = (0x00, 0x01, 0x20, 0x21, 0x40, 0x41, 0x60, 0x61, 0x62, 0x80, 0xA0, 0xB0, 0xD0, 0xE0)


def actions(decoder: Decoder, *reads: bytes) -> list[int]:
    found = []
    for read in reads:
        decoder.feed(read)
        while (action := decoder.next_action()) != MORE:
            found.append(action)
    return found


def everything(fields: Fields) -> tuple[object, ...]:
    return (
        fields.id,
        fields.queue,
        fields.queue_id,
        fields.payload,
        fields.noreply,
        fields.exclusive,
        fields.max,
        fields.priority,
        fields.retries,
        fields.timeout,
    )


def conversation(reads: list[bytes], size_max: int = 1000) -> list[object]:
    """Every action with all fields as they were then, and how it ended."""
    decoder = Decoder(size_max)
    found: list[object] = []
    try:
        for read in reads:
            decoder.feed(read)
            while (action := decoder.next_action()) != MORE:
                found.append((action, *everything(decoder.fields)))
    except ProtocolError as error:
        found.append(error.reason)
    return found


@pytest.mark.parametrize("code", [code for code in range(256) if code >= 0x20 and code not in KNOWN])
def test_an_unknown_command_of_any_class_is_stepped_over(code) -> None:
    data = b"\x05\x05\x05"
    kind = code >> 5
    argument = (b"", b"", b"\x05", b"\x05\x05", b"\x05" * 4, b"\x03", b"\x00\x03", b"\x00\x00\x00\x03")[kind]
    command = bytes([code]) + argument + (data if kind > 4 else b"")
    decoder = Decoder(1000)
    assert actions(decoder, b"\x80\x00\x00\x00\x07" + command + b"\x06") == [6]
    assert everything(decoder.fields) == (7, *everything(Fields())[1:])
    assert decoder.pending() == 0


def test_the_class_of_a_code_begins_and_ends_where_the_top_three_bits_say() -> None:
    # 191 has a length of one byte, 192 of two, although a comment of the original has it otherwise.
    assert actions(Decoder(9), b"\xbf\x01\x05\x06") == [6]
    assert actions(Decoder(9), b"\xc0\x00\x01\x05\x06") == [6]
    assert actions(Decoder(9), b"\xdf\x00\x01\x05\x06") == [6]
    assert actions(Decoder(9), b"\xe1\x00\x00\x00\x01\x05\x06") == [6]
    assert actions(Decoder(9), b"\x5f\x05\x7f\x05\x05\x9f\x05\x05\x05\x05\x06") == [6]


def test_numbers_are_big_endian_and_unsigned() -> None:
    decoder = Decoder(9)
    read = b"\x01\x80\xff\xff\x80\x01\x60\xff\xfe\x61\x01\x02\x62\x80\x00\x40\xff\x41\x80\x05"
    assert actions(decoder, read) == [risp.PING]
    fields = decoder.fields
    assert (fields.id, fields.queue_id, fields.timeout, fields.max) == (0xFFFF8001, 65534, 258, 32768)
    assert (fields.priority, fields.retries) == (255, 128)


def test_section_5_MAX_has_two_bytes_and_RETRIES_one_by_their_codes() -> None:
    decoder = Decoder(9)
    assert actions(decoder, b"\x62\x00\x05\x41\x03\x05") == [risp.PING]
    assert (decoder.fields.max, decoder.fields.retries) == (5, 3)


def test_T15_fields_persist_until_CLEAR_and_actions_do_not_empty_them() -> None:
    decoder = Decoder(9)
    assert actions(decoder, b"\xa0\x01q\xe0\x00\x00\x00\x01p\x80\x00\x00\x00\x01\x21\x0a") == [0x0A]
    assert actions(decoder, b"\x05\x00\x80\x00\x00\x00\x02\x0a") == [0x05, 0x0A]
    fields = decoder.fields
    assert (fields.id, fields.queue, fields.payload, fields.noreply) == (2, b"q", b"p", True)
    assert actions(decoder, b"\x01\x05") == [0x05]
    assert everything(fields) == everything(Fields())


def test_strings_may_be_empty() -> None:
    decoder = Decoder(9)
    assert actions(decoder, b"\xa0\x00\xe0\x00\x00\x00\x00\x05") == [risp.PING]
    assert (decoder.fields.queue, decoder.fields.payload) == (b"", b"")


def test_every_action_stops_the_decoder_except_NOP_and_CLEAR() -> None:
    assert actions(Decoder(9), bytes(range(32))) == list(range(2, 32))


def test_a_payload_of_the_limit_passes_and_one_byte_more_is_refused_when_its_length_is_seen() -> None:
    decoder = Decoder(9)
    assert actions(decoder, b"\xe0\x00\x00\x00\x09123456789\x05") == [risp.PING]
    with pytest.raises(ProtocolError, match="PAYLOAD of 10 bytes: body_size_max is 9"):
        actions(decoder, b"\xe0\x00\x00\x00\x0a")


def test_a_payload_of_4_GB_allocates_nothing() -> None:
    decoder = Decoder(32 << 20)
    tracemalloc.start()
    try:
        with pytest.raises(ProtocolError, match="4294967295"):
            actions(decoder, b"\x01\xe0\xff\xff\xff\xff" + b"x" * 1000)
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()
    assert decoder.pending() == 0


def test_a_payload_that_is_announced_allocates_no_more_than_has_come() -> None:
    decoder = Decoder(32 << 20)
    tracemalloc.start()
    try:
        assert actions(decoder, b"\xe0\x02\x00\x00\x00", b"x" * 1000) == []
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()


def test_an_unknown_string_of_4_GB_is_stepped_over_and_never_kept() -> None:
    decoder = Decoder(1000)
    piece = b"\x05" * (1 << 16)
    decoder.feed(b"\xff\xff\xff\xff\xff")
    for _ in range(50):
        decoder.feed(piece)
        assert decoder.next_action() == MORE
        assert decoder.pending() == 0


def test_an_unknown_string_ends_where_it_said() -> None:
    for cut in range(14):
        data = b"\xf0\x00\x00\x00\x08\x05\x05\x05\x05\x05\x05\x05\x05\x06"
        assert actions(Decoder(9), data[:cut], data[cut:]) == [6]


def test_a_large_body_in_pieces_is_not_copied_again_and_again() -> None:
    size = 32 << 20
    piece = b"x" * (1 << 16)
    decoder = Decoder(size)
    decoder.feed(b"\xe0" + size.to_bytes(4, "big"))
    started = time.process_time()
    for _ in range(size >> 16):
        assert decoder.next_action() == MORE
        decoder.feed(piece)
    assert actions(decoder, b"\x05") == [risp.PING]
    assert decoder.fields.payload is not None
    assert len(decoder.fields.payload) == size
    assert time.process_time() - started < 5  # copying at each piece would move 8 GiB


def test_a_body_byte_by_byte() -> None:
    body = bytes(range(256)) * 200
    data = b"\x01\xe0" + len(body).to_bytes(4, "big") + body + b"\x05"
    decoder = Decoder(len(body))
    assert actions(decoder, *[data[at : at + 1] for at in range(len(data))]) == [risp.PING]
    assert decoder.fields.payload == body


def with_number(codes: list[int], size: int) -> st.SearchStrategy[bytes]:
    numbers = st.binary(min_size=size, max_size=size)
    return st.builds(lambda code, data: bytes([code]) + data, st.sampled_from(codes), numbers)


def with_string(codes: list[int], size: int) -> st.SearchStrategy[bytes]:
    strings = st.binary(max_size=60).map(lambda data: len(data).to_bytes(size, "big") + data)
    return st.builds(lambda code, data: bytes([code]) + data, st.sampled_from(codes), strings)


commands = st.one_of(
    st.integers(0, 63).map(lambda code: bytes([code])),
    with_number([0x40, 0x41, 0x5F], 1),
    with_number([0x60, 0x61, 0x62, 0x7F], 2),
    with_number([0x80, 0x9F], 4),
    with_string([0xA0, 0xBF], 1),
    with_string([0xC0, 0xDF], 2),
    with_string([0xE0, 0xFF], 4),
)


def cut(data: bytes, places: list[int]) -> list[bytes]:
    edges = sorted({0, len(data), *[place % (len(data) + 1) for place in places]})
    return [data[start:end] for start, end in pairwise(edges)]


@given(st.lists(commands, max_size=30).map(b"".join), st.lists(st.integers(0, 10_000), max_size=30))
def test_any_split_of_commands_gives_the_same_actions(data, places) -> None:
    whole = conversation([data], 50)
    assert conversation(cut(data, places), 50) == whole
    assert conversation([data[at : at + 1] for at in range(len(data))], 50) == whole


@given(st.binary(max_size=300), st.lists(st.integers(0, 300), max_size=10))
def test_random_bytes_give_actions_or_a_refusal_and_never_another_exception(data, places) -> None:
    assert conversation(cut(data, places), 50) == conversation([data], 50)


@given(
    st.integers(0, 0xFFFFFFFF),
    st.integers(1, 65535),
    st.binary(min_size=1, max_size=255),
    st.binary(max_size=300),
    st.booleans(),
)
def test_what_we_encode_we_decode(id, number, queue, body, noreply) -> None:
    size = len(body).to_bytes(4, "big")
    decoder = Decoder(300)
    fields = decoder.fields
    assert actions(decoder, codec.encode_consuming(number, queue)) == [risp.CONSUMING]
    assert (fields.queue_id, fields.queue, fields.payload) == (number, queue, None)
    assert actions(decoder, codec.encode_delivered(id)) == [risp.DELIVERED]
    assert (fields.id, fields.queue) == (id, b"")
    assert actions(decoder, codec.encode_undelivered(id)) == [risp.UNDELIVERED]
    assert actions(decoder, codec.encode_reply_head(id, len(body)) + body + codec.REPLY_END) == [risp.REPLY]
    assert (fields.id, fields.payload) == (id, body)
    tail = codec.encode_request_tail(id, noreply)
    assert actions(decoder, codec.encode_head_by_id(number) + size + body + tail) == [risp.REQUEST]
    assert (fields.id, fields.queue_id, fields.queue) == (id, number, b"")
    assert (fields.payload, fields.noreply) == (body, noreply)
    assert actions(decoder, codec.encode_head_by_name(queue) + size + body + codec.BROADCAST_END) == [risp.BROADCAST]
    assert (fields.id, fields.queue_id, fields.queue, fields.payload) == (ABSENT, ABSENT, queue, body)


@pytest.mark.parametrize(
    ("priority", "band"),
    [(ABSENT, 20), (0, 0), (1, 10), (10, 10), (19, 10), (20, 20), (29, 20), (30, 30), (31, 30), (255, 30)],
)
def test_section_5_any_PRIORITY_falls_into_a_band(priority, band) -> None:
    fields = Fields()
    fields.priority = priority
    assert fields.band() == band


def test_the_codes_are_those_of_the_table() -> None:
    actions = (risp.NOP, risp.CLEAR, risp.PING, risp.PONG, risp.REQUEST, risp.REPLY, risp.DELIVERED, risp.BROADCAST)
    assert actions == (0, 1, 5, 6, 10, 11, 13, 14)
    more = (risp.UNDELIVERED, risp.CONSUME, risp.CANCEL_QUEUE, risp.CLOSING, risp.SERVER_FULL, risp.CONSUMING)
    assert more == (16, 20, 21, 22, 23, 24)
    assert (risp.EXCLUSIVE, risp.NOREPLY, risp.PRIORITY, risp.RETRIES) == (32, 33, 64, 65)
    fields = (risp.QUEUEID, risp.TIMEOUT, risp.MAX, risp.ID, risp.QUEUE, risp.PAYLOAD)
    assert fields == (96, 97, 98, 128, 160, 224)
    ours = (risp.WELCOME, risp.DENIED, risp.DELAY, risp.TTL, risp.TOKEN, risp.LONG_TOKEN)
    assert ours == (26, 27, 144, 145, 176, 208)


def test_a_large_payload_is_for_one_action() -> None:
    decoder = Decoder(1 << 20)
    size = PAYLOAD_KEPT_MAX + 1
    decoder.feed(b"\xe0" + size.to_bytes(4, "big") + bytes(size))
    assert decoder.next_action() == MORE
    decoder.feed(b"\x0a")
    assert decoder.next_action() == risp.REQUEST
    assert decoder.fields.payload == bytes(size)
    decoder.feed(b"\x0a")
    with pytest.raises(ProtocolError, match="begin with CLEAR"):
        decoder.next_action()


def test_a_small_payload_holds_until_it_is_cleared() -> None:
    decoder = Decoder(1 << 20)
    decoder.feed(b"\xe0\0\0\0\1x\x0a\x0a\x01\x0a")
    bodies = []
    while decoder.next_action() != MORE:
        bodies.append(decoder.fields.payload)
    assert bodies == [b"x", b"x", None]
