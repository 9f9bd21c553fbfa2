"""Frames to requests and back, without a broker."""

import json
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import ProtocolError
from penstock.wire.mqmq.codec import (
    FRAME_SIZE_MAX,
    OK,
    TIMEOUT,
    Decoder,
    decode_timeout,
    encode,
    encode_error,
    encode_info,
    encode_ok_head,
)

BIG = 48 << 20

# (one frame, what it says: command, queue, argument, how many of the three it has)
GOLDEN = [
    (b"\0\0\0\x11\0\0\0\x03Put\0\0\0\x01q\0\0\0\x01m", (b"Put", b"q", b"m", 3)),
    (b"\0\0\0\x10\0\0\0\x03Put\0\0\0\x01q\0\0\0\x00", (b"Put", b"q", b"", 3)),
    (b"\0\0\0\x11\0\0\0\x03Put\0\0\0\x00\0\0\0\x02\n\xff", (b"Put", b"", b"\n\xff", 3)),
    (b"\0\0\0\x14\0\0\0\x03Get\0\0\0\x01q\0\0\0\x041000", (b"Get", b"q", b"1000", 3)),
    (b"\0\0\0\x0c\0\0\0\x03Get\0\0\0\x01q", (b"Get", b"q", b"", 2)),
    (b"\0\0\0\x15\0\0\0\x03Get\0\0\0\x01q\0\0\0\x015\0\0\0\x00", (b"Get", b"q", b"5", 3)),
    (b"\0\0\0\x08\0\0\0\x04Info", (b"Info", b"", b"", 1)),
    (b"\0\0\0\x08\0\0\0\x04Quit", (b"Quit", b"", b"", 1)),
    (b"\0\0\0\x04\0\0\0\x00", (b"", b"", b"", 1)),
    (b"\0\0\0\x00", (b"", b"", b"", 0)),
]


def told(decoder: Decoder) -> tuple[bytes, bytes, bytes, int] | None:
    request = decoder.take()
    return None if request is None else (request.command, request.queue, request.argument, request.count)


@pytest.mark.parametrize(("frame", "said"), GOLDEN)
def test_a_golden_frame_read_as_a_whole(frame: bytes, said: tuple[bytes, bytes, bytes, int]) -> None:
    decoder = Decoder(BIG)
    decoder.append(frame)
    assert told(decoder) == said
    assert told(decoder) is None


@pytest.mark.parametrize(("frame", "said"), GOLDEN)
def test_a_golden_frame_read_byte_by_byte(frame: bytes, said: tuple[bytes, bytes, bytes, int]) -> None:
    decoder = Decoder(BIG)
    for at in range(len(frame) - 1):
        decoder.append(frame[at : at + 1])
        assert told(decoder) is None
    decoder.append(frame[-1:])
    assert told(decoder) == said
    assert told(decoder) is None


@pytest.mark.parametrize(("frame", "said"), GOLDEN)
def test_a_golden_frame_with_more_behind_it(frame: bytes, said: tuple[bytes, bytes, bytes, int]) -> None:
    decoder = Decoder(BIG)
    decoder.append(frame + b"\0\0\0")
    assert told(decoder) == said
    assert told(decoder) is None
    decoder.append(b"\x08\0\0\0\x04Info")
    assert told(decoder) == (b"Info", b"", b"", 1)


def test_the_largest_frame_is_that_of_the_original() -> None:
    assert FRAME_SIZE_MAX == 33_555_471


def test_golden_answers() -> None:
    assert OK == b"\0\0\0\x06\0\0\0\x02OK"
    assert TIMEOUT == b"\0\0\0\x0b\0\0\0\x07Timeout"
    assert encode_error(b"REQUEST_BAD_PARAMS") == b"\0\0\0\x1f\0\0\0\x05Error\0\0\0\x12REQUEST_BAD_PARAMS"
    assert encode_ok_head(2) + b"\0\n" == b"\0\0\0\x0c\0\0\0\x02OK\0\0\0\x02\0\n"
    assert encode_ok_head(0) == encode(b"OK", b"")
    assert encode_ok_head(70_000) + b"x" * 70_000 == encode(b"OK", b"x" * 70_000)


@pytest.mark.parametrize("length", [FRAME_SIZE_MAX + 1, 1 << 31, 0xFFFFFFFF])
def test_a_frame_that_announces_too_much_is_refused_by_its_first_four_bytes(length: int) -> None:
    decoder = Decoder(BIG)
    decoder.append(length.to_bytes(4, "big"))
    tracemalloc.start()
    with pytest.raises(ProtocolError, match="33555471"):
        decoder.take()
    assert tracemalloc.get_traced_memory()[1] < 100_000
    tracemalloc.stop()


def test_announcing_the_largest_frame_allocates_nothing_either() -> None:
    decoder = Decoder(BIG)
    tracemalloc.start()
    decoder.append(FRAME_SIZE_MAX.to_bytes(4, "big") + b"\0\0\0\3Put")
    assert decoder.take() is None
    decoder.hold()
    assert tracemalloc.get_traced_memory()[1] < 100_000
    tracemalloc.stop()


def test_a_lower_line_limit_holds_for_frames() -> None:
    decoder = Decoder(100)
    decoder.append(encode(b"Put", b"q", b"x" * 84))
    assert told(decoder) == (b"Put", b"q", b"x" * 84, 3)
    decoder.append(encode(b"Put", b"q", b"x" * 85))
    with pytest.raises(ProtocolError, match="line_size_max allow 100"):
        decoder.take()


@pytest.mark.parametrize(
    "values",
    [
        b"\0\0\0\x04Put",  # one byte over the end
        b"\0\0\0\x03Put\0\0\0\x01q\0\0\0\x02x",
        b"\xff\xff\xff\xffPut",
        b"\0\0\0\x03Put\xff\xff\xff\xfeq",
        b"\0\0\0\x03Put\0\0\0\x01q\0\0\0\x01x\0\0\0\x01",  # a fourth value, which nobody would have looked at
        b"\0\0\0\x04Info\0",  # not even a length
        b"\0\0\0",
    ],
)
def test_a_value_that_runs_over_its_frame_is_no_frame(values: bytes) -> None:
    decoder = Decoder(BIG)
    decoder.append(len(values).to_bytes(4, "big") + values + encode(b"Info"))
    with pytest.raises(ProtocolError):
        decoder.take()


def test_many_values_are_counted_and_not_kept() -> None:
    decoder = Decoder(BIG)
    decoder.append(encode(b"Put", b"q", b"x", *[b""] * 100_000))
    tracemalloc.start()
    assert told(decoder) == (b"Put", b"q", b"x", 3)
    assert tracemalloc.get_traced_memory()[1] < 100_000
    tracemalloc.stop()


@given(st.lists(st.lists(st.binary(max_size=12), min_size=1, max_size=4), max_size=8), st.data())
def test_any_split_gives_the_same_requests(frames: list[list[bytes]], data: st.DataObject) -> None:
    stream = b"".join(encode(*values) for values in frames)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    decoder = Decoder(BIG)
    heard = []
    for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        decoder.append(stream[start:end])
        while (said := told(decoder)) is not None:
            heard.append(said)
    assert heard == [(*[*values, b"", b""][:3], min(3, len(values))) for values in frames]


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        (b"1000", 1000),
        (b"+5", 5),
        (b"-5", 1),
        (b"005", 5),
        (b"0", 1),
        (b"+0", 1),
        (b"-0", 1),
        (b"1", 1),
        (b"3600000", 3_600_000),
        (b"0000000003600000", 3_600_000),
        (b"0" * 5000 + b"7", 7),
        (b"-9223372036854775808", 1),
        (b"3600001", -1),
        (b"9223372036854775807", -1),
        (b"9223372036854775808", -1),
        (b"-9223372036854775809", -1),
        (b"1" + b"0" * 5000, -1),
        (b"", -1),
        (b"+", -1),
        (b"-", -1),
        (b"+-5", -1),
        (b" 5", -1),
        (b"5 ", -1),
        (b"5\n", -1),
        (b"1_0", -1),
        (b"0x10", -1),
        (b"1.5", -1),
        (b"1e3", -1),
        (b"ten", -1),
        (b"\xd9\xa3", -1),  # a digit, but not one of ours
        (b"\xb2", -1),
        (b"/", -1),
        (b":", -1),
    ],
)
def test_timeouts(text: bytes, milliseconds: int) -> None:
    assert decode_timeout(text) == milliseconds


def test_info_is_compact_and_sorted() -> None:
    assert encode_info(3, {b"queue2": 6, b"queue1": 10, b"Z": 0}) == (
        b'{"NumConnections":3,"NumQueues":3,"NumMessages":16,"Queues":'
        b'{"Z":{"NumMessages":0},"queue1":{"NumMessages":10},"queue2":{"NumMessages":6}}}'
    )


def test_info_without_queues_has_an_empty_object() -> None:
    assert encode_info(1, {}) == b'{"NumConnections":1,"NumQueues":0,"NumMessages":0,"Queues":{}}'


@pytest.mark.parametrize(
    ("name", "key"),
    [
        (b"", b""),
        (b"<a>&", b"\\u003ca\\u003e\\u0026"),
        (b'"\\/', b'\\"\\\\/'),
        (b"\0\n\r\t\x1f\x7f", b"\\u0000\\n\\r\\t\\u001f\x7f"),
        ("é世🎉".encode(), "é世🎉".encode()),
        ("\u2028\u2029".encode(), b"\\u2028\\u2029"),
        (b"a\xffb", b"a\\ufffdb"),
        (b"\xe4\xb8", b"\\ufffd\\ufffd"),  # half a character: one mark for each of its bytes
        (b"\xed\xa0\x80", b"\\ufffd\\ufffd\\ufffd"),  # a surrogate is no character
        (b"\xc0\xaf", b"\\ufffd\\ufffd"),
    ],
)
def test_names_in_info_are_escaped_as_the_original_does(name: bytes, key: bytes) -> None:
    assert b'"Queues":{"' + key + b'":{' in encode_info(1, {name: 0})


@given(st.dictionaries(st.binary(max_size=8), st.integers(0, 9), max_size=6))
def test_info_is_json_whatever_the_names_are(counts: dict[bytes, int]) -> None:
    info = json.loads(encode_info(1, counts))
    assert info["NumQueues"] == len(counts)
    assert info["NumMessages"] == sum(counts.values())
    for name, ready in counts.items():
        try:
            assert info["Queues"][name.decode()]["NumMessages"] == ready
        except UnicodeDecodeError:
            pass
