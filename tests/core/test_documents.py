"""JSON of others has a limit of its size, and of its values: large texts are cheap, many values are not."""

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.core import documents
from penstock.core.broker import Broker
from penstock.core.documents import SHORT, SIZE_MAX, VALUES_MAX, TooMuch, has_more_values, loads
from penstock.core.limits import Limits
from penstock.core.patterns import event_claimed_by, parse_body
from penstock.log.memory import MemoryLog
from penstock.message import Message
from penstock.wire.sevx.codec import encode_body

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(alphabet='a",[{\\\n\u00e9', max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(alphabet='a"\\,', max_size=3), inner, max_size=4)
    ),
    max_leaves=20,
)


def count(value: object) -> int:
    """How many values there are, an empty list or object with one place in it."""
    if isinstance(value, dict):
        return 1 + max(1, sum(count(item) for item in value.values()))
    if isinstance(value, list):
        return 1 + max(1, sum(count(item) for item in value))
    return 1


@given(JSON)
def test_values_are_counted_whatever_stands_in_strings(value: object) -> None:
    text = orjson.dumps(value)
    there = count(value)
    assert not has_more_values(text, there)
    assert there == 1 or has_more_values(text, (there - 1) // 2)


def test_more_values_than_the_limit_are_not_parsed_and_the_limit_is_named() -> None:
    text = b"[" + b"0," * 4_000_000 + b"0]"
    with pytest.raises(TooMuch, match="json_values_max is 50000"):
        loads(text)


def test_a_larger_document_than_the_limit_is_not_looked_at_and_the_limit_is_named() -> None:
    text = b'{"event": "pay", "x": "%s"}' % (b"x" * SIZE_MAX)
    with pytest.raises(TooMuch, match=f"{len(text)} bytes: json_size_max is {SIZE_MAX}"):
        loads(text)
    assert isinstance(loads(text, size_max=len(text)), dict)
    assert event_claimed_by(text) is None
    document = parse_body(text)
    assert list(document) == ["data", "encoding"]
    assert document["encoding"] == "base64"
    assert orjson.loads(encode_body(Message(b"1", b"e", text, 0, "mqks")))["encoding"] == "base64"


def test_no_pattern_matches_the_data_of_a_body_that_is_too_large_to_be_read() -> None:
    broker = Broker(MemoryLog(), Limits())
    for name, pattern in ((b"null", b'{"data": null}'), (b"text", b'{"data": ""}'), (b"object", b'{"data": {}}')):
        broker.bind(name, (), (pattern,))
    broker.bind(b"event", (), (b'{"event": "e"}',))
    broker.bind(b"bytes", (), (b'{"encoding": "base64"}',))
    broker.publish(Message(b"1", b"e", b"{" + b" " * SIZE_MAX + b"}", 0, "mqks"))
    assert {name: queue.ready for name, queue in broker.queues.items()} == {
        b"null": 0,
        b"text": 0,
        b"object": 0,
        b"event": 1,
        b"bytes": 1,
    }


def test_a_text_is_one_value_whatever_its_size() -> None:
    for text in (b"a, [b] {c}" * 800_000, b"\\n" * 100_000, b'\\"' * 100_000):
        assert isinstance(loads(b'"' + text + b'"'), str)


def test_as_many_values_as_the_limit_are_parsed() -> None:
    assert loads(b"[" + b"0," * (VALUES_MAX - 2) + b"0]") == [0] * (VALUES_MAX - 1)


def test_what_is_no_json_is_none_after_all() -> None:
    for text in (b'"' + b"x" * SHORT, b"\\" * SHORT + b'"', b'"' * SHORT):
        with pytest.raises(orjson.JSONDecodeError):
            documents.loads(text)


def test_patterns_see_no_more_of_a_body_than_is_parsed_and_nobody_is_told_another_event_by_it() -> None:
    body = b'{"event": "pay", "list": [' + b"0," * VALUES_MAX + b"0]}"
    assert event_claimed_by(body) is None
    assert list(parse_body(body)) == ["data"]
