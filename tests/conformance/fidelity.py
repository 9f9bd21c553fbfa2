"""What becomes of a body on its way from each protocol to each other one, seen on real sockets, and the page about it.

    python -m tests.conformance.fidelity            prints the page
    python -m tests.conformance.fidelity --write    writes docs/fidelity.md

`observe` fills a matrix of outcomes, `render` makes the page of it. Nothing in the table is claimed: every word in it is what a
publisher and a consumer have just seen.
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
    Kind("UTF-8 text", "Grüße aus Zürich, 東京 🚰".encode()),
    Kind("bytes that are no UTF-8", b"Z\xfcrich"),
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
    SAME: "the very bytes",
    "base64": "coded, and marked as such: decodes to the very bytes",
    "`data`": "a member of a JSON object, as text or as JSON: gives back the very bytes",
    "`data`, base64": "the same, coded and marked as such: decodes to the very bytes",
    SAME_JSON: "line ends between the tokens have become spaces: other bytes, the same JSON",
    VALUE: "the string as a member of a JSON object; whether it came with or without its quotes cannot be told",
    NUL: "a body of one NUL byte",
    TRIMMED: "**publisher**: white space at the end is not part of the message",
    CUT: "**publisher**: a line ends at its first LF, so a part arrives, and what follows is taken for further requests",
    REFUSED: "**publisher**: answered with an error, and nothing arrives",
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
            accepted = what_is_accepted(broker, publisher, kind.body)
            for consumer in DRIVERS:
                key = Key(kind.title, publisher.protocol, consumer.protocol)
                if accepted == [kind.body]:
                    matrix[key] = what_is_received(broker, publisher, consumer, kind.body)
                else:
                    matrix[key] = why_not(accepted, kind.body)
    return matrix


@contextmanager
def bound_queue(broker: RunningBroker) -> Iterator[None]:
    """The queue, bound to the event, as a user does it who wants to read events by a protocol that knows none."""
    helper = MqksDriver(broker)
    helper.bind(QUEUE, QUEUE)
    yield
    helper.delete_queue(QUEUE)
    helper.close()


def what_is_accepted(broker: RunningBroker, publisher: type[Driver], body: bytes) -> list[bytes]:
    """The bodies in the queue after sending one, as bytes: MQMQ changes none."""
    with bound_queue(broker):
        sender, reader = publisher(broker), MqmqDriver(broker)
        sender.attempt(sender.encode_put(QUEUE, body))
        reader.consume(QUEUE)
        bodies = [delivery.body for delivery in reader.rest()]
        sender.close()
        reader.close()
    return bodies


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


def why_not(accepted: list[bytes], body: bytes) -> str:
    if not accepted:
        return REFUSED
    (only,) = accepted
    if only == body.rstrip():
        return TRIMMED
    return CUT if only.rstrip() == body.partition(b"\n")[0].rstrip() else OTHER


# -- the page ----------------------------------------------------------------------------------------------------------

INTRODUCTION = """\
# What crosses from one protocol to another

A body is bytes. What one protocol puts into a queue, another takes out of it, so a body may have to cross from a protocol that
carries anything to one that carries lines. Then it is coded, and says so. This page shows what arrives, for every publisher and
every consumer.

This page is written by `python -m tests.conformance.fidelity --write`, which sends every body by every protocol to every other
one over real sockets. The tests do the same and fail when the page says anything else.
"""

NOTES = """\
## How to read a coded body

| received by | looks like | read it as |
|---|---|---|
| MQKS | `c1 ok m1 event=orders,encoding=base64 AAEC...` | base64, where the properties say `encoding=base64`; else as it is. A body is coded when it has a line end or a NUL in it, or white space at its end. |
| SMQS | `{"base64": "AAEC..."}` | base64, where the line is an object with this one member; else as it is. A body is coded when it has an LF in it. |
| SEVX | `{"data": ...}` | a string is the body's text; anything else is the body's JSON, without white space around it. |
| | `{"data": "AAEC...", "encoding": "base64"}` | base64. |
| | another object | as it is. From the second try on, a `"retry"` goes before all of these. |
| MQMQ, RQ | the body | as it is. |

A body that looks like a coded one cannot be told from it: put `{"base64": "eA=="}` into a queue, and an SMQS consumer may take it for
`x`. The same goes for `{"data": "x"}` and SEVX. Where this matters, do not send such objects, or consume by MQKS, MQMQ or RQ.

## What cannot be sent

- **MQKS** publishes one line: no LF, no white space at the end, and not nothing. A client that has to send such bodies codes them
  itself, as it is the only one to know how its consumers read them.
- **SMQS** puts one line: no LF.
- **SEVX** sends JSON objects, each on one line.
- **RQ** sends anything but nothing: a request without a body is UNDELIVERED, because the original's clients die of it. For the same
  reason an empty body of another protocol reaches an RQ consumer as one NUL byte.
- **MQMQ** puts anything.

Limits on the size are the same for all: `body_size_max`, and `line_size_max` for a line or a frame.

## How events get into queues

SMQS, MQMQ and RQ put a message into a queue by its name; the name is its event as well. MQKS and SEVX publish events, and the queues
that are bound to an event get a copy. To read events by SMQS, MQMQ or RQ, bind a queue to them once. An MQKS consumer does that, and
its binding stays when it has gone:

    > c1 consume --confirm orders created paid
    < c1 ok
    > d1 delete_consumer --confirm c1
    < d1 ok

From now on the queue `orders` collects what MQKS publishes as `created` or `paid`, and what SEVX sends with
`"event": "created"` or `"event": "paid"`. An SMQS client may say `C:orders`, an MQMQ client `Get`, and an RQ node `CONSUME`. SEVX does the
same by pattern: `recv` with `"delete_queue_when_unused": false`, then `delete_receiver`. Both replace the bindings the queue had.

## What else crosses

| | MQKS | SMQS | SEVX | MQMQ | RQ |
|---|---|---|---|---|---|
| message id | shown | - | shown | - | - |
| event | shown | - | where it is in the JSON | - | - |
| retry counter | shown from 1 on | - | shown from 1 on | - | - |
| whether a reply is wanted | - | - | - | - | `NOREPLY` where it is not |

MQKS and SEVX publishers choose the id of a message; SMQS, MQMQ and RQ have none, and the broker makes one up. It is not the ID that
RQ nodes see: those number the requests of one connection. Nothing else of a request is handed on: `--confirm`, RETRIES, TIMEOUT or
who has sent it stay between the publisher and the broker.
"""


def render(matrix: Matrix) -> str:
    consumers = [driver.protocol.upper() for driver in DRIVERS]
    lines = [INTRODUCTION, "## Bodies\n", table_line(["body", "sent by", *consumers]), "|---" * 7 + "|"]
    for kind in KINDS:
        title = kind.title
        for outcomes, publishers in rows_of(matrix, kind.title).items():
            lines.append(table_line([title, " ".join(publishers), *outcomes]))
            title = ""
    lines += ["", table_line(["", "is"]), "|---|---|"]
    seen = set(matrix.values())
    lines += [table_line([word, meaning]) for word, meaning in LEGEND.items() if word in seen]
    assert seen <= LEGEND.keys(), f"no words for {seen - LEGEND.keys()}"
    return "\n".join([*lines, "", NOTES])


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
        page = render(observe(broker))
    finally:
        broker.stop()
    if "--write" in sys.argv[1:]:
        PAGE.write_text(page)
    else:
        sys.stdout.write(page)


if __name__ == "__main__":
    main()
