"""SEVX lines: what is read from them, and what is written into them."""

import json
from base64 import b64decode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.core.documents import SHORT
from penstock.message import Message
from penstock.wire.expression import View
from penstock.wire.sevx.codec import (
    BadRequest,
    decode,
    decode_object,
    decode_ping,
    decode_recv,
    decode_settle,
    decode_text,
    dtid,
    encode_body,
    encode_delivery,
    encode_error,
    encode_id,
    encode_ok,
    encode_result,
    is_id,
    put_first,
    tail_of,
)


def message(body: bytes, protocol: str = "sevx", id: bytes = b"m1") -> Message:
    return Message(id, b"e", body, 1_483_228_799_123_456, protocol)


# -- requests ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        (b'1 send {"a": 1}', (b"1", b"send", b'{"a": 1}')),
        (b"1 send  {}", (b"1", b"send", b" {}")),
        (b"1 send", (b"1", b"send", b"")),
        (b"1", (b"1", b"", b"")),
        (b"", (b"", b"", b"")),
        (b" send {}", (b"", b"send", b"{}")),
    ],
)
def test_a_line_is_cut_at_its_first_two_spaces(line: bytes, parts: tuple[bytes, bytes, bytes]) -> None:
    request = decode(line)
    assert (request.id, request.action, request.text) == parts


@pytest.mark.parametrize(
    "text", [b"", b"x", b"{", b'{"a": 1} x', b"{'a': 1}", b'{"a": NaN}', b'{"a": "\xff"}', b"[" * 5000]
)
def test_invalid_json_is_a_bad_request(text: bytes) -> None:
    with pytest.raises(BadRequest, match="invalid JSON"):
        decode_object(text)


@pytest.mark.parametrize("text", [b"[]", b"1", b'"x"', b"null", b"true"])
def test_json_that_is_no_object_is_a_bad_request(text: bytes) -> None:
    with pytest.raises(BadRequest, match="expected a JSON object"):
        decode_object(text)


def test_recv_with_all_it_can_say() -> None:
    request = decode_recv(b'{"manual_ack": true, "delete_queue_when_unused": 5.42, "queue": "q", "pattern": {"a": 1}}')
    assert (request.queue, request.pattern, request.manual_ack) == (b"q", {"a": 1}, True)
    assert request.expires_after == 5_420_000


def test_recv_with_what_it_must_say() -> None:
    request = decode_recv('{"pattern": {}, "queue": "opt.ü =1"}'.encode())
    assert (request.queue, request.pattern, request.manual_ack) == ("opt.ü =1".encode(), {}, False)
    assert request.expires_after is None


def test_unknown_keys_are_passed_over() -> None:
    assert decode_recv(b'{"pattern": {}, "queue": "q", "wait": true}').queue == b"q"


@pytest.mark.parametrize(
    ("value", "microseconds"),
    [
        ("true", 0),
        ("false", -1),
        ("5", 5_000_000),
        ("0.25", 250_000),
        ("0", 0),
        ("-3", 0),
        ("1e-7", 0),
        ("1e9", 10**15),
    ],
)
def test_delete_queue_when_unused(value: str, microseconds: int) -> None:
    text = f'{{"pattern": {{}}, "queue": "q", "delete_queue_when_unused": {value}}}'
    assert decode_recv(text.encode()).expires_after == microseconds


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"queue": "q"}', "missing key pattern"),
        ('{"pattern": {}}', "missing key queue"),
        ('{"pattern": {}, "queue": 1}', "queue must be a string"),
        ('{"pattern": {}, "queue": null}', "queue must be a string"),
        ('{"pattern": {}, "queue": ""}', "queue must not be empty"),
        ('{"pattern": {}, "queue": "q", "manual_ack": 1}', "manual_ack must be true or false"),
        (
            '{"pattern": {}, "queue": "q", "delete_queue_when_unused": "5"}',
            "delete_queue_when_unused must be true, false or",
        ),
        (
            '{"pattern": {}, "queue": "q", "delete_queue_when_unused": null}',
            "delete_queue_when_unused must be true, false or",
        ),
        ('{"pattern": {}, "queue": "q", "delete_queue_when_unused": 1e10}', "at most 1000000000 seconds"),
    ],
)
def test_a_recv_that_is_refused_says_why(text: str, reason: str) -> None:
    with pytest.raises(BadRequest, match=reason):
        decode_recv(text.encode())


def test_settling_one_and_all() -> None:
    one = decode_settle('{"receiver_id": "r", "event_id": "é"}'.encode())
    assert (one.receiver_id, one.event_id) == (b"r", "é".encode())
    every = decode_settle(b'{"receiver_id": "r", "all": true}')
    assert (every.receiver_id, every.event_id) == (b"r", None)
    assert decode_settle(b'{"receiver_id": "r", "event_id": "e", "all": true}').event_id is None
    assert decode_settle(b'{"receiver_id": "r", "event_id": "e", "all": false}').event_id == b"e"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"event_id": "e"}', "missing key receiver_id"),
        ('{"receiver_id": "r"}', "missing key event_id"),
        ('{"receiver_id": "r", "all": false}', "missing key event_id"),
        ('{"receiver_id": "r", "all": "yes"}', "all must be true or false"),
        ('{"receiver_id": 1, "all": true}', "receiver_id must be a string"),
        ('{"receiver_id": "r", "event_id": 5}', "event_id must be a string"),
    ],
)
def test_a_settlement_that_is_refused_says_why(text: str, reason: str) -> None:
    with pytest.raises(BadRequest, match=reason):
        decode_settle(text.encode())


def test_ping_needs_data_and_is_echoed_as_it_came() -> None:
    assert decode_ping(b'{ "data":[1.0] }') == b'{ "data":[1.0] }'
    with pytest.raises(BadRequest, match="missing key data"):
        decode_ping(b"{}")


def test_a_text_argument_is_utf8() -> None:
    assert decode_text({"queue": "ü"}, "queue") == "ü".encode()


def test_ids_are_utf8_without_a_carriage_return() -> None:
    assert all(map(is_id, [b"20161231235959123456uN1q", b"a,b=c/1", "é".encode(), b"a\tb"]))
    assert not any(map(is_id, [b"\xff", b"a\rb"]))


# -- answers -----------------------------------------------------------------------------------------------------------


def test_an_empty_ok_keeps_its_trailing_space() -> None:
    assert encode_ok(b"1") == b"1 ok \n"
    assert encode_ok(b"1", b"{}") == b"1 ok {}\n"
    assert encode_error(b"1", b"xyz") == b"1 error xyz\n"


class Unknown(View):
    pass


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (42, b"42"),
        (1.5, b"1.5"),
        ("ü", '"ü"'.encode()),
        (None, b"null"),
        (True, b"true"),
        ([1, (2, 3)], b"[1,[2,3]]"),
        ({"a": {"b": 1}}, b'{"a":{"b":1}}'),
        ({1: 2, None: 3}, b'{"1":2,"null":3}'),
        ({7}, b"[7]"),
        (float("inf"), b"null"),
        ([Unknown()], b'["<Unknown>"]'),
        ("\ud800", b'"\\\\ud800"'),
        (2**70, b'"1180591620717411303424"'),
    ],
)
def test_a_result_is_json_where_it_can_be(value: object, text: bytes) -> None:
    assert encode_result(value) == b'{"result": %s}' % text


def test_a_result_that_is_too_long_is_cut_as_text() -> None:
    result = json.loads(encode_result(["x" * 100] * 2000))["result"]
    assert len(result) <= 65_536
    assert result.endswith("(cut)")


# -- deliveries --------------------------------------------------------------------------------------------------------


def test_the_example_of_the_text() -> None:
    body = b'{"src": "service1", "act": "updated", "obj": "user", "data": {"id": 42, "name": "Kate"}}'
    event = message(body, id=b"20161231235959123456uN1q")
    prefix = b"20161231235959123456uN33 ok "
    assert encode_delivery(prefix, event, 0, False) == prefix + b"20161231235959123456uN1q " + body + b"\n"
    assert encode_delivery(prefix, event, 1, False) == (
        prefix + b'20161231235959123456uN1q {"retry": 1, "src": "service1", "act": "updated", "obj": "user", '
        b'"data": {"id": 42, "name": "Kate"}}\n'
    )


@pytest.mark.parametrize(
    ("body", "delivered"),
    [
        (b'{"a":1}', b'{"retry": 2, "a":1}'),
        (b'{ "a":1 }', b'{"retry": 2, "a":1 }'),
        (b"{}", b'{"retry": 2}'),
        (b"{ }", b'{"retry": 2}'),
        (b'{"retry": 7}', b'{"retry": 2}'),
        (b'{"retry": {"retry": [1, {"x": "}"}]}, "a": 1}', b'{"retry": 2, "a": 1}'),
        (b'{"a": 1 , "retry":7 , "b":{"retry":1}}', b'{"retry": 2, "a": 1, "b":{"retry":1}}'),
        (b'{"a": {"retry": 1}}', b'{"retry": 2, "a": {"retry": 1}}'),
        (b'{"a": "\\"retry\\": 1"}', b'{"retry": 2, "a": "\\"retry\\": 1"}'),
        (b'{"\\u0072etry": 7, "a\\\\": "\\\\\\"", "b": "]}"}', b'{"retry": 2, "a\\\\": "\\\\\\"", "b": "]}"}'),
        (b'{"retry": 1, "retry": 2, "a": 3}', b'{"retry": 2, "a": 3}'),
        (
            b'{"retry": 0, "n": 12345678901234567890123, "f": 1.10}',
            b'{"retry": 2, "n": 12345678901234567890123, "f": 1.10}',
        ),
    ],
)
def test_retry_is_the_first_member_and_the_only_one_of_its_name(body: bytes, delivered: bytes) -> None:
    assert encode_delivery(b"r ok ", message(body), 2, False) == b"r ok m1 " + delivered + b"\n"


def test_an_event_of_its_own_retry_is_first_delivered_as_it_was_sent() -> None:
    assert encode_delivery(b"r ok ", message(b'{"retry": 7}'), 0, False) == b'r ok m1 {"retry": 7}\n'


def test_the_id_may_be_wanted_inside() -> None:
    assert encode_delivery(b"r ok ", message(b'{"a": 1}'), 0, True) == b'r ok {"id": "m1", "a": 1}\n'
    assert encode_delivery(b"r ok ", message(b'{"a": 1}'), 3, True) == b'r ok {"id": "m1", "retry": 3, "a": 1}\n'
    assert encode_delivery(b"r ok ", message(b"{}"), 0, True) == b'r ok {"id": "m1"}\n'
    own = message(b'{"id": 5, "retry": 6, "a": {"id": 7}}', id='"é'.encode())
    assert encode_delivery(b"r ok ", own, 0, True) == 'r ok {"id": "\\"é", "retry": 6, "a": {"id": 7}}\n'.encode()
    assert encode_delivery(b"r ok ", own, 1, True) == 'r ok {"id": "\\"é", "retry": 1, "a": {"id": 7}}\n'.encode()


def test_a_deep_document_takes_a_retry_too() -> None:
    deep = b'{"retry": 1, "a": ' + b"[" * 900 + b"]" * 900 + b"}"
    assert put_first(deep, b'"retry": 2', ("retry",)) == deep.replace(b'"retry": 1', b'"retry": 2')


names = st.sampled_from(["retry", "id", "a", 'b"', "\\", "{", "", "é"])
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(names, values, max_size=5), st.sampled_from([None, 1]), st.booleans())
def test_members_in_front_take_the_place_of_those_of_their_names(
    document: dict[str, object], indent: int | None, ascii: bool
) -> None:
    text = json.dumps(document, indent=indent, ensure_ascii=ascii).encode()
    result = json.loads(put_first(text, b'"id": "x", "retry": 9', ("id", "retry")))
    assert result == {**document, "id": "x", "retry": 9}
    assert list(result)[:2] == ["id", "retry"]


def test_a_long_text_with_many_control_bytes_is_bytes_and_one_with_some_is_a_text() -> None:
    many = b"abc\x00\x01def\x1b" * (SHORT // 8)
    some = b"abc\ndef\tghi\r\x00" * (SHORT // 8)
    coded = json.loads(encode_body(message(many, "mqmq")))
    assert (b64decode(coded["data"]), coded["encoding"]) == (many, "base64")
    assert json.loads(encode_body(message(some, "mqmq"))) == {"data": some.decode()}
    assert json.loads(encode_body(message(many[:SHORT], "mqmq"))) == {"data": many[:SHORT].decode()}


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b' \n{"a": 1}\n', b'{"a": 1}'),
        (b'{"a":\r\n 1,\n"b": "\\n"}', b'{"a":   1, "b": "\\n"}'),
        (b"[1,\n2]", b'{"data": [1, 2]}'),
        (b"12345678901234567890123", b'{"data": 12345678901234567890123}'),
        (b' "x" ', b'{"data": "x"}'),
        (b"null", b'{"data": null}'),
        (b"", b'{"data": ""}'),
        (b"hello world ", b'{"data": "hello world "}'),
        ('zwei\nZeilen "ü"\t\0'.encode(), '{"data": "zwei\\nZeilen \\"ü\\"\\t\\u0000"}'.encode()),
        (b"{broken", b'{"data": "{broken"}'),
        (b"\x00\xff\n", b'{"data": "AP8K", "encoding": "base64"}'),
    ],
)
def test_a_body_from_elsewhere_becomes_an_object_on_one_line(body: bytes, text: bytes) -> None:
    assert encode_body(message(body, "mqmq")) == text
    json.loads(text)
    assert encode_delivery(b"r ok ", message(body, "mqmq"), 0, False) == b"r ok m1 " + text + b"\n"
    retried = json.loads(encode_delivery(b"", message(body, "mqmq"), 1, False).partition(b" ")[2])
    assert retried == {"retry": 1, **json.loads(text)}


@given(st.binary(max_size=30), st.binary(max_size=6), st.integers(0, 3), st.booleans())
def test_any_message_becomes_one_line_with_an_object(body: bytes, id: bytes, retry: int, id_inside: bool) -> None:
    line = encode_delivery(b"r ok ", message(body, "rq", id), retry, id_inside)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    parts = line.decode()[:-1].split(" ", 2 if id_inside else 3)
    document = json.loads(parts[-1])
    assert document.get("retry", 0) == retry or retry == 0
    shown = document["id"] if id_inside else parts[2]
    assert shown.encode() == encode_id(message(body, "rq", id))


@pytest.mark.parametrize(
    ("id", "coded"),
    [
        (b"plain.1", b"plain.1"),
        ("é→".encode(), "é→".encode()),
        (b"a b\tc", b"a%20b%09c"),
        (b"\xff\x00z", b"%FF%00z"),
        ("\u2028".encode(), b"%E2%80%A8"),
        (b"", b"20161231235959123456zzzz"),
    ],
)
def test_an_id_from_elsewhere_becomes_a_word(id: bytes, coded: bytes) -> None:
    assert encode_id(message(b"", "rq", id)) == coded


def test_a_message_without_an_id_gets_one_that_stays_the_same() -> None:
    event = message(b"", "rq", b"")
    event.offset = 62 + 5
    assert encode_id(event) == encode_id(event) == b"20161231235959123456" + b"0015"


# -- dtid --------------------------------------------------------------------------------------------------------------


def test_a_dtid_is_the_utc_time_in_twenty_digits_and_four_characters() -> None:
    assert dtid(1_483_228_799_123_456, b"uN1q") == b"20161231235959123456uN1q"
    assert dtid(0, b"0000") == b"197001010000000000000000"
    assert dtid(1_709_210_096_000_007, b"zzzz") == b"20240229123456000007zzzz"


@given(st.integers(0, 4_000_000_000_000_000), st.integers(0, 4_000_000_000_000_000))
def test_dtids_sort_by_time(one: int, other: int) -> None:
    assert (dtid(one, b"0000") <= dtid(other, b"0000")) == (one <= other)
    assert len(dtid(one, b"0000")) == 24


def test_the_tail_of_a_number() -> None:
    assert tail_of(0) == b"0000"
    assert tail_of(61) == b"000z"
    assert tail_of(62**4 - 1) == b"zzzz"
    assert tail_of(62**4) == b"0000"
