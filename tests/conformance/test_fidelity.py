"""Every body by every protocol to every other: it arrives as it was, or coded so that it can be given back."""

import json
import random
from collections.abc import Iterator

import pytest

from ..server.conftest import RunningBroker
from .drivers import DRIVERS, Driver, MqksDriver, MqmqDriver, RqDriver, SevxDriver, SmqsDriver, needs
from .fidelity import (
    CODED,
    CUT,
    KINDS,
    NUL,
    PAGE,
    REFUSED,
    SAME,
    SAME_JSON,
    TRIMMED,
    VALUE,
    Key,
    Matrix,
    observe,
    render,
    with_table,
)

# What does not come back as the very bytes, and nothing else: the body, the consumer, and why.
ALTERED = {
    ("a JSON object over several lines", "sevx"): (SAME_JSON, "a line has no line ends in it, and JSON needs none"),
    ("a JSON string", "sevx"): (VALUE, "`data` holds the text of a text and the value of a JSON string alike"),
    ("nothing", "rq"): (NUL, "the original's clients die of a request without a body"),
}

# What a publisher has no way to send.
UNSENDABLE = {
    "mqks": {
        "a JSON object over several lines": CUT,
        "text with spaces around it": TRIMMED,
        "binary with line ends and NULs": CUT,
        "binary of 1 MB": CUT,
        "nothing": REFUSED,
    },
    "smqs": {
        "a JSON object over several lines": CUT,
        "binary with line ends and NULs": CUT,
        "binary of 1 MB": CUT,
    },
    "sevx": {kind.title: REFUSED for kind in KINDS if kind.title not in ("a JSON object", "a JSON object of 1 MB")},
    "mqmq": {},
    "rq": {"nothing": REFUSED},
}

# What quoting, splitting and stripping stumble over.
NASTY = [b" ", b"\n", b"\r", b"\0", b"\t", b'"', b"{", b"}", b"[", b"]", b":", b",", b"\\", b"%", b"=", b"1", b"-0.50"]
NASTY += [
    b"true",
    b"null",
    b"a",
    b"\xff",
    b"\xc3\xbc",
    b"\xe2\x80\xa8",
    b"\x1c",
    b"\x7f",
    b'{"data": "x"',
    b'{"base64": ',
]


@pytest.fixture(scope="module")
def lasting_broker() -> Iterator[RunningBroker]:
    running = RunningBroker(drain_seconds=0)
    running.start()
    yield running
    running.stop()


@pytest.fixture(scope="module")
def matrix(lasting_broker: RunningBroker) -> Matrix:
    return observe(lasting_broker)


@pytest.mark.parametrize("consumer", [driver.protocol for driver in DRIVERS])
@pytest.mark.parametrize("publisher", [driver.protocol for driver in DRIVERS])
def test_what_is_sent_is_given_back(matrix: Matrix, publisher: str, consumer: str) -> None:
    for kind in KINDS:
        outcome = matrix[Key(kind.title, publisher, consumer)]
        if kind.title in UNSENDABLE[publisher]:
            assert outcome == UNSENDABLE[publisher][kind.title], kind.title
        elif (kind.title, consumer) in ALTERED:
            assert outcome == ALTERED[kind.title, consumer][0], kind.title
        else:
            assert outcome == SAME or outcome in CODED.values(), kind.title


@pytest.mark.parametrize("consumer", ["mqmq", "rq"])
def test_binary_protocols_code_nothing(matrix: Matrix, consumer: str) -> None:
    assert not {outcome for key, outcome in matrix.items() if key.consumer == consumer} & set(CODED.values())


def test_the_page_says_what_was_seen(matrix: Matrix) -> None:
    how = "write it anew: python -m tests.conformance.fidelity --write"
    page = PAGE.read_text()
    assert page == with_table(page, render(matrix)), how


@pytest.mark.parametrize("flag", [b"", b"--confirm "])
def test_what_MQKS_publishes_is_never_coded_for_MQKS(broker: RunningBroker, flag: bytes) -> None:
    publisher, consumer = MqksDriver(broker), MqksDriver(broker)
    consumer.consume(b"q", manual=True)
    publisher.attempt(b"m1 publish %sq 1\r2\0three\n" % flag)
    delivery = consumer.receive()
    assert delivery.unit == consumer.name + b" ok m1 event=q 1\r2\0three"
    consumer.reject(delivery)
    assert consumer.receive().unit == consumer.name + b" ok m1 event=q,retry=1 1\r2\0three"


@needs()
def test_whatever_the_bytes_are_the_rule_on_the_page_gives_them_back(
    lasting_broker: RunningBroker, driver: type[Driver]
) -> None:
    """By the protocol that carries anything, to each of the others."""
    dice = random.Random(20_26)
    bodies = [b"".join(dice.choices(NASTY, k=dice.randrange(7))) for _ in range(1500)]
    queue = b"nasty/%s" % driver.protocol.encode()
    publisher, consumer = MqmqDriver(lasting_broker), driver(lasting_broker)
    publisher.put(queue, *bodies)
    consumer.consume(queue)
    for body in bodies:
        delivery = consumer.receive()
        decoded, coding = consumer.decode_body(delivery)
        if driver is RqDriver and not body:
            assert decoded == b"\0"
        elif driver is SevxDriver and is_json(body):
            document, value = json.loads(delivery.body), json.loads(body.decode())
            assert document == (value if isinstance(value, dict) else {"data": value})
        else:
            assert decoded == body, (delivery.unit, coding)
    assert consumer.rest() == []


@pytest.mark.parametrize(
    ("driver", "body", "read_as"),
    [
        (SmqsDriver, b'{"base64": "eA=="}', b"x"),
        (SevxDriver, b'{"data": "x"}', b"x"),
        (SevxDriver, b'{"data": "eA==", "encoding": "base64"}', b"x"),
    ],
)
def test_a_body_that_looks_like_a_coded_one_cannot_be_told_from_it(
    lasting_broker: RunningBroker, driver: type[Driver], body: bytes, read_as: bytes
) -> None:
    """What the page warns of. It is delivered as it is; only who goes by the rule reads something else."""
    publisher, consumer = MqmqDriver(lasting_broker), driver(lasting_broker)
    publisher.put(b"alike", body)
    consumer.consume(b"alike")
    delivery = consumer.receive()
    assert delivery.body == body
    assert consumer.decode_body(delivery)[0] == read_as
    consumer.close()
    MqksDriver(lasting_broker).delete_queue(b"alike")


def is_json(body: bytes) -> bool:
    try:
        json.loads(body.decode())
    except ValueError:
        return False
    return True
