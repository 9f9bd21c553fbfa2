"""What becomes of a body on its way from each protocol to each other one, seen on real sockets, and the page about it.

    python -m tests.conformance.fidelity            prints the table
    python -m tests.conformance.fidelity --write    puts it into docs/fidelity.md

`observe` fills a matrix of outcomes, `render` makes a table of it, which stands between two marks in the page. Nothing
in the table is claimed: every word in it is what a publisher and a consumer have just seen.
"""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from ..server.conftest import RunningBroker
from .drivers import DRIVERS, Driver, MqksDriver, MqmqDriver

PAGE = Path(__file__).resolve().parents[2] / "docs" / "fidelity.md"
BEGIN = "<!-- what follows is written by tests/conformance/fidelity.py -->\n"
END = "<!-- up to here -->\n"

QUEUE = b"orders"  # also the event that the queue is bound to


class Kind(NamedTuple):
    title: str
    body: bytes


KINDS = (
    Kind("a JSON object", b'{"event": "orders", "id": 42, "name": "Kate"}'),
    Kind("a JSON object of 1 MB", b'{"event": "orders", "name": "%s"}' % (b"x" * 1_000_000)),
    Kind("a JSON object over several lines", b'{\n  "event": "orders",\n  "id": 42\n}'),
    Kind("a JSON array", b'[1, 2.50, "three"]'),
    Kind("a JSON string", b'"three"'),
    Kind("text with spaces in it", b"two  words,\tand more"),
    Kind("text with spaces around it", b"  padded  "),
    Kind("text with CR and NUL in it", b"1\r2\0three"),
    Kind("UTF-8 text", "Grüße aus Zürich, 東京 🚰".encode()),
    Kind("bytes that are not valid UTF-8", b"Z\xfcrich"),
    Kind("binary with line ends and NULs", bytes(range(256))),
    Kind("binary of 1 MB", bytes(range(256)) * 3907),
    Kind("nothing", b""),
)

# What may be seen of a body.
SAME = "same"
SAME_JSON = "same JSON"
VALUE = "`data`, value"
NUL = "one NUL"
OTHER = "altered"
CODED = {"base64": "base64", "data": "`data`", "data, base64": "`data`, base64"}
# Where it does not get as far as the broker.
REFUSED = "refused"
CUT = "cut"
TRIMMED = "trimmed"

LEGEND = {
    SAME: "exactly the same bytes",
    "base64": "encoded and marked as such; decodes to exactly the same bytes",
    "`data`": "a member of a JSON object, as text or as JSON: contains exactly the same bytes",
    "`data`, base64": "the same, encoded and marked as such; decodes to exactly the same bytes",
    SAME_JSON: "other bytes, the same JSON: line ends between its tokens have become spaces",
    VALUE: "the string as a member of a JSON object; its quotes cannot be told from none",
    NUL: "a body of one NUL byte",
    TRIMMED: "the publisher cannot send it: white space at the end is no part of the message",
    CUT: "the publisher cannot send it: its line ends at the first LF, and the rest is taken for further requests",
    REFUSED: "the publisher cannot send it: it is told so, and nothing arrives",
}


class Key(NamedTuple):
    title: str
    publisher: str
    consumer: str


Matrix = dict[Key, str]


# -- looking -----------------------------------------------------------------------------------------------------------


def observe(broker: RunningBroker) -> Matrix:
    matrix: Matrix = {}
    for kind in KINDS:
        for publisher in DRIVERS:
            obstacle = what_keeps_it(broker, publisher, kind.body)
            for consumer in DRIVERS:
                key = Key(kind.title, publisher.protocol, consumer.protocol)
                matrix[key] = obstacle or what_is_received(broker, publisher, consumer, kind.body)
    return matrix


@contextmanager
def bound_queue(broker: RunningBroker) -> Iterator[None]:
    """The queue, bound to the event, as a user does it who wants to read events by a protocol that knows none."""
    helper = MqksDriver(broker)
    helper.bind(QUEUE, QUEUE)
    yield
    helper.delete_queue(QUEUE)
    helper.close()


def what_keeps_it(broker: RunningBroker, publisher: type[Driver], body: bytes) -> str:
    """Why the body does not get into the queue as it is; empty when it does. MQMQ shows a queue's bodies unchanged."""
    with bound_queue(broker):
        sender, reader = publisher(broker), MqmqDriver(broker)
        answer = sender.attempt(sender.encode_put(QUEUE, body))
        reader.consume(QUEUE)
        bodies = [delivery.body for delivery in reader.rest()]
        sender.close()
        reader.close()
    if bodies == [body]:
        return ""
    if not bodies:
        assert answer.units, "nobody was told that nothing came of it"
        return REFUSED
    (only,) = bodies
    if only == body.rstrip():
        return TRIMMED
    return CUT if only.rstrip() == body.partition(b"\n")[0].rstrip() else OTHER


def what_is_received(broker: RunningBroker, publisher: type[Driver], consumer: type[Driver], body: bytes) -> str:
    with bound_queue(broker):
        sender, receiver = publisher(broker), consumer(broker)
        receiver.consume(QUEUE)
        sender.put(QUEUE, body)
        delivery = receiver.receive()
        decoded, coding = receiver.decode_body(delivery)
        assert receiver.rest() == []
        sender.close()
        receiver.close()
    if decoded == body:
        return CODED[coding] if coding else SAME
    if decoded == b"\0" and not body:
        return NUL
    return how_alike(delivery.body, body)


def how_alike(received: bytes, body: bytes) -> str:
    """What two bodies have in common that differ in their bytes."""
    try:
        document, original = json.loads(received), json.loads(body)
    except ValueError:
        return OTHER
    if document == original:
        return SAME_JSON
    return VALUE if document == {"data": original} else OTHER


# -- the page ----------------------------------------------------------------------------------------------------------


def render(matrix: Matrix) -> str:
    consumers = [driver.protocol.upper() for driver in DRIVERS]
    lines = [table_line(["body", "sent by", *consumers]), "|---" * 7 + "|"]
    for kind in KINDS:
        title = kind.title
        for outcomes, publishers in rows_of(matrix, kind.title).items():
            lines.append(table_line([title, " ".join(publishers), *outcomes]))
            title = ""
    seen = set(matrix.values())
    assert seen <= LEGEND.keys(), f"no words for {seen - LEGEND.keys()}"
    lines += ["", table_line(["what arrives", ""]), "|---|---|"]
    lines += [table_line([word, meaning]) for word, meaning in LEGEND.items() if word in seen]
    return "\n".join(["", *lines, "", ""])


def with_table(page: str, table: str) -> str:
    """The page with this table in place of the one it has."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    assert begin, f"the page has lost its mark: {BEGIN}"
    assert end, f"the page has lost its mark: {END}"
    return before + begin + table + end + after


def rows_of(matrix: Matrix, title: str) -> dict[tuple[str, ...], list[str]]:
    """Publishers whose bodies fare alike share a row."""
    rows: dict[tuple[str, ...], list[str]] = {}
    for publisher in DRIVERS:
        outcomes = tuple([matrix[Key(title, publisher.protocol, consumer.protocol)] for consumer in DRIVERS])
        rows.setdefault(outcomes, []).append(publisher.protocol.upper())
    return rows


def table_line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |".replace("|  |", "| |")


def main() -> None:
    broker = RunningBroker(drain_seconds=0)
    broker.start()
    try:
        table = render(observe(broker))
    finally:
        broker.stop()
    if "--write" in sys.argv[1:]:
        PAGE.write_text(with_table(PAGE.read_text(), table))
    else:
        sys.stdout.write(table)


if __name__ == "__main__":
    main()
