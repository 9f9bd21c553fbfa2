import base64
import json

import pytest

from penstock.wire.lines import LineBuffer
from penstock.wire.smqs.codec import (
    COUNT_MAX,
    decode_count,
    encode_foreign,
    encode_stats,
    ends_before,
    is_whole,
    needs_no_end,
    split_done,
)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (b"0", 0),
        (b"1", 1),
        (b"1000", 1000),
        (b"007", 7),
        (b" 5\r", 5),
        (b"1.9", 1),
        (b"+1", 1),
        (b"1e1", 1),
        (b"1x", 1),
        (b"12 3", 12),
        (b"1_0", 1),
        (b"1:2", 1),
        (b"0x1F", 31),
        (b"+0X1g", 1),
        (b"0x" + b"f" * 5000, COUNT_MAX),
        (b"0" * 5000 + b"3", 3),
        (b"9" * 5000, COUNT_MAX),
    ],
)
def test_a_count_is_the_digits_it_begins_with_as_the_original_reads_them(text, count):
    assert decode_count(text) == count


@pytest.mark.parametrize(
    "text",
    [b"", b" ", b"-1", b"-0", b"+", b"+-1", b"x", b".5", b"_1", b":2", b"0x", b"0xg", b"NaN", b"\xb2", b"Infinity"],
)
def test_anything_else_is_no_count(text):
    assert decode_count(text) == -1


def test_of_a_count_without_an_end_the_beginning_is_enough() -> None:
    assert decode_count(b"9" * 1_000_000) == decode_count(b"9" * 20)
    assert decode_count(b"0x" + b"f" * 1_000_000) == decode_count(b"0x" + b"f" * 20)
    assert decode_count(b" " * 1_000_000 + b"1") == -1


@pytest.mark.parametrize(
    ("rest", "read"),
    [
        (b"C:g", b'M:g:{"id":1}'),
        (b"C:g", b'M:g:{"id":1}\nM:g:2\n'),
        (b"C:g", b"M::x"),
        (b"C:g", b"D:g:1"),
        (b"C:g", b"C:h"),
        (b"C:g", b"S::\n"),
        (b"C:g:", b"S"),
        (b"D:b:1", b"D:b:1"),
        (b"D::1", b"D::1"),
        (b"D:b:1", b"S"),
        (b"D:b:1", b"S\n"),
        (b"D:b:1.9", b"M:q:half"),
        (b"S", b"S"),
        (b"S:", b"C:q"),
        (b"S::", b"D:q:1"),
    ],
)
def test_a_complete_command_ends_where_a_read_begins_with_another(rest, read):
    assert ends_before(rest, read)


@pytest.mark.parametrize(
    ("rest", "read"),
    [
        (b"C:USER", b"S"),  # all of these are names that go on
        (b"C:USER", b"S:\n"),
        (b"C:USER", b"S\r\n"),
        (b"C:a", b"M:\nM:q:x\n"),
        (b"C:a", b"C:\n"),
        (b"C:a", b"C:\r\nC:b\n"),
        (b"C:a", b"D:\nD:b:1\n"),
        (b"C:", b"M:a:b"),
        (b"C", b"M:a:b"),
        (b"D:a", b"M:a:b"),  # no count yet
        (b"D:a:", b"D:a:1"),
        (b"D:a:-", b"D:a:1"),
        (b"D:a:1", b"0"),
        (b"D:a:1", b"\n"),
        (b"D:a:1", b"SERS:1\n"),
        (b"S", b":"),
        (b"SS", b"S"),
        (b"M:q:{}", b"M:q:{}"),  # data ends at its LF
        (b"M:q:{}", b"D:q:1\n"),
        (b"X:q", b"M:q:1\n"),
        (b"", b"M:q:1\n"),
    ],
)
def test_what_may_go_on_is_not_ended_by_what_looks_like_a_command(rest, read):
    assert not ends_before(rest, read)


@pytest.mark.parametrize(
    ("line", "pieces"),
    [
        (b"", [b""]),
        (b"D:b:1", [b"D:b:1"]),
        (b"D:b:1D:b:2", [b"D:b:1", b"D:b:2"]),
        (b"D:b:1" * 5000, [b"D:b:1"] * 5000),
        (b"D:b:1D:b:2S", [b"D:b:1", b"D:b:2", b"S"]),
        (b"D:b: +1C:g", [b"D:b: +1", b"C:g"]),
        (b'D:b:1M:q:{"D:a:1', [b"D:b:1", b'M:q:{"D:a:1']),
        (b"M:q:D:b:1D:b:2", [b"M:q:D:b:1D:b:2"]),
        (b"D:b:1D:", [b"D:b:1D:"]),
        (b"D:b:1x", [b"D:b:1x"]),
        (b"C:aD:b:1D:b:2", [b"C:aD:b:1D:b:2"]),
    ],
)
def test_a_count_ends_where_a_command_is_glued_to_it(line, pieces):
    assert split_done(line) == pieces


@pytest.mark.parametrize("rest", [b"C:users", b"C:users:", b"C:", b"D:users:1", b"D:users", b"S", b"S:", b"S::"])
def test_consume_done_and_stats_need_no_end_of_line(rest):
    assert needs_no_end(rest)


@pytest.mark.parametrize("rest", [b"", b"C", b"D", b"M", b"M:q:x", b"M:q:C:x", b"SS", b"c:users", b"X:y", b"CD:x"])
def test_a_message_and_the_rest_do(rest):
    assert not needs_no_end(rest)


@pytest.mark.parametrize("data", [b"{}", b'{"id":1}', b"[1,2]", b'"x"', b' {"a":[]} \r', b'"\xc3\xa9"'])
def test_an_object_array_or_string_with_its_end_is_whole(data):
    assert is_whole(data)


@pytest.mark.parametrize(
    "data", [b"", b"1", b"12", b"true", b"x", b'{"id":', b'{"id":1', b"[1,", b'"x', b'{"a":1}{', b'"\xc3']
)
def test_what_may_go_on_is_not_whole(data):
    assert not is_whole(data)


def test_a_nesting_bomb_is_not_whole():
    assert not is_whole(b"[" * 1_000_000 + b"]" * 1_000_000)


def test_stats_are_one_compact_line():
    assert encode_stats({b"users": 2134, b"": 0}) == b'{"users":2134,"":0}\n'
    assert encode_stats({}) == b"{}\n"


def test_stats_name_any_queue_in_valid_json():
    line = encode_stats({b'a"b\\\n\r\x00': 1, "größe".encode(): 2, b"\xff\xfe": 3})
    assert line.count(b"\n") == 1
    assert json.loads(line) == {'a"b\\\n\r\x00': 1, "größe": 2, "\ufffd\ufffd": 3}


def test_names_that_look_the_same_as_text_are_counted_together():
    assert json.loads(encode_stats({b"\xff": 1, b"\xfe": 2})) == {"\ufffd": 3}


def test_a_foreign_body_that_fits_a_line_is_that_line():
    assert encode_foreign(b"a\rb\0c \xff") == b"a\rb\0c \xff\n"


def test_a_foreign_body_with_a_line_feed_is_coded():
    line = encode_foreign(b'{\n"a": 1}')
    assert line.count(b"\n") == 1
    assert base64.b64decode(json.loads(line)["base64"]) == b'{\n"a": 1}'


def test_a_line_buffer_shows_what_an_unfinished_line_begins_with():
    lines = LineBuffer(100)
    assert lines.first_byte() == -1
    lines.split(b"")
    assert lines.first_byte() == -1
    lines.split(b"a\nbc")
    assert lines.first_byte() == ord("b")
    lines.split(b"d")
    assert lines.first_byte() == ord("b")
    lines.split(b"\n")
    assert lines.first_byte() == -1
