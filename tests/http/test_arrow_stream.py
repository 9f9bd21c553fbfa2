"""The Arrow stream of a lease, as the Arrow library reads it: what it would have written itself."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.http import arrow_stream
from penstock.log.arrow import batch_of, schema
from penstock.message import BY_EVENT, TO_QUEUE, DeliveryOptions, Message

names = st.binary(min_size=1, max_size=12) | st.sampled_from([b"orders", b"\xff", "größe".encode()])
headers = st.none() | st.dictionaries(names | st.just(b".internal"), st.binary(max_size=12), max_size=4)


@st.composite
def messages(draw: st.DrawFn) -> Message:
    route = draw(st.sampled_from([BY_EVENT, TO_QUEUE]))
    made = Message(
        draw(names), draw(names), draw(st.binary(max_size=40)), draw(st.integers(0, 2**50)), "mqks", draw(headers)
    )
    made.route = route
    made.offset = draw(st.integers(0, 2**62))
    if route == TO_QUEUE and draw(st.booleans()):
        made.options = DeliveryOptions(target=draw(names))
    return made


def stream_of(*batches: list[Message]) -> bytes:
    return b"".join([arrow_stream.schema(), *(b"".join(arrow_stream.batch(b)) for b in batches), arrow_stream.END])


@given(st.lists(st.lists(messages(), min_size=1, max_size=20), max_size=4))
def test_the_library_reads_what_it_would_have_written(batches: list[list[Message]]) -> None:
    with pa.ipc.open_stream(stream_of(*batches)) as reader:
        assert reader.schema.equals(schema())
        found = list(reader)
    for batch, sent in zip(found, batches, strict=True):
        batch.validate(full=True)
        assert batch.equals(batch_of(sent))


@pytest.mark.parametrize("count", [7, 8, 9, 63, 64, 65, 1000])
def test_any_number_of_rows_has_its_nulls_where_they_are(count: int) -> None:
    sent = []
    for number in range(count):
        headers = {b"n": b"%d" % number} if number % 5 == 0 else None
        message = Message(b"i", b"e%d" % number, b"b" * number, number, "rq", headers)
        message.route = TO_QUEUE if number % 3 else BY_EVENT
        sent.append(message)
    [batch] = pa.ipc.open_stream(stream_of(sent))
    batch.validate(full=True)
    assert batch.equals(batch_of(sent))


def test_a_large_body_is_not_copied() -> None:
    body = b"x" * 10_000_000
    message = Message(b"i", b"e", body, 1, "mqks")
    pieces = arrow_stream.batch([message])
    assert any(piece is body for piece in pieces)
    assert sum(map(len, pieces)) < len(body) + 2000
    [batch] = pa.ipc.open_stream(stream_of([message]))
    assert batch.column("body")[0].as_py() == body
