"""`publish`, `put`, `request`, `broadcast`, `consume`, `get`, `tap`: messages in and out, by every protocol."""

import json
import threading
import time
from collections.abc import Callable

import pytest

from penstock.client import mqks, mqmq, sevx, smqs
from penstock.client import rq as requests
from penstock.testing import Broker

from .conftest import Command, Penstock


def until(condition: Callable[[], object], seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def queues_of(broker: Broker) -> dict[str, int]:
    with mqmq.Client().connect(broker.address("mqmq")) as client:
        return client.info().queues


@pytest.mark.parametrize("via", ["smqs", "mqmq", "rq"])
def test_what_is_published_to_a_queue_is_consumed_from_it(online: Penstock, via: str) -> None:
    queue = f"both-{via}"
    assert online.lines("publish", queue, '{"n": 1}', "--via", via) == ["published"]
    (told,) = online.json("publish", queue, '{"n": 2}', "--via", via)
    assert told == {"published": 1, "via": via, "to": queue, "id": None, "unrouted": 0}
    assert online.lines("consume", queue, "--via", via, "-n", 1) == ['{"n": 1}']
    (row,) = online.json("consume", queue, "--via", via, "-n", 1)
    assert (row["queue"], row["body"]) == (queue, '{"n": 2}')


def test_fewer_messages_than_wanted(online: Penstock) -> None:
    online.lines("put", "few", "one")
    code, out, err = online("consume", "few", "--via", "mqmq", "-n", 2, "--timeout", 2)
    assert (code, out, err) == (4, "one\n", "penstock: 1 of 2 messages arrived, then none for 2 s\n")


def test_events_by_mqks(online: Penstock, broker: Broker) -> None:
    consume = ("consume", "orders", "--event", "order.paid", "--event", "order.sent")
    code, why = online.failure(*consume, "--timeout", 0)
    assert (code, why) == (4, "no message arrived within 0 s")
    (line,) = online.lines("publish", "order.paid", "a turbine")
    (told,) = online.json("publish", "order.sent", "a gate", "--dedup", "--ttl", 60)
    assert line.startswith("published ")
    (first, second) = online.json(*consume, "-n", 2)
    assert first == {"event": "order.paid", "id": line.split()[1], "retry": 0, "queue": "orders", "body": "a turbine"}
    assert (second["event"], second["id"]) == ("order.sent", told["id"])
    until(lambda: queues_of(broker)["orders"] == 0)


@pytest.mark.parametrize("via", ["mqks", "sevx"])
def test_publish_says_when_no_queue_took_it(online: Penstock, broker: Broker, via: str) -> None:
    """Also where somebody consumes a queue of that name: an event is for the queues that are bound to it."""
    event = f"nobody.{via}"
    body = (event, "x") if via == "mqks" else (f'{{"event": "{event}"}}',)
    with smqs.Client().connect(broker.address("smqs")) as consumer:
        consumer.consume(event, lambda message: None)
        until(lambda: event in queues_of(broker))
        assert online.lines("publish", *body, "--via", via) == ["published, but no queue received it"]
        (told,) = online.json("publish", *body, "--via", via)
        assert (told["published"], told["unrouted"]) == (1, 1)
        text = b"one\ntwo\n" if via == "mqks" else b'{"event": "nobody.sevx"}\n' * 2
        lines = online.lines("publish", event if via == "mqks" else "-", "--via", via, "--lines", stdin=text)
        assert lines == ["published 2, but no queue received 2 of them"]
        with mqks.Client().connect(broker.address("mqks")) as client:
            client.consume(event, [event], lambda message: None)
            (line,) = online.lines("publish", *body, "--via", via)
        assert line.startswith("published ")
        assert "no queue" not in line
        with mqks.Client().connect(broker.address("mqks")) as client:
            client.delete_queue(event)


def test_events_by_sevx(online: Penstock) -> None:
    consume = ("consume", "users", "--pattern", '{"obj": "user"}')
    assert online.failure(*consume, "--timeout", 0)[0] == 4
    online.lines("publish", '{"obj": "user", "name": "Kate"}', "--via", "sevx")
    online.lines("publish", '{"obj": "gate"}', "--via", "sevx")
    (row,) = online.json(*consume, "-n", 1)
    assert json.loads(row["body"]) == {"obj": "user", "name": "Kate"}


def test_lines_of_stdin_are_messages(online: Penstock) -> None:
    stdin = b"".join(b"line %d\n" % number for number in range(2500))
    assert online.lines("publish", "many", "--via", "mqmq", "--lines", stdin=stdin) == ["published 2500"]
    lines = online.lines("consume", "many", "--via", "mqmq", "-n", 2500)
    assert lines == [f"line {number}" for number in range(2500)]


def test_lines_are_sent_as_they_come(online: Penstock) -> None:
    with Command("publish", "slowly", "--via", "mqmq", "--lines") as publish:
        publish.write(b"first\nsec")
        assert online.lines("get", "slowly", "--timeout", 10) == ["first"]
        publish.write(b"ond")
        assert publish.end() == (0, "published 2\n", "")
    assert online.lines("get", "slowly") == ["second"]


def test_lines_end_by_ctrl_c(online: Penstock) -> None:
    with Command("publish", "cut", "--via", "mqmq", "--lines") as publish:
        publish.write(b"first\n")
        assert online.lines("get", "cut", "--timeout", 10) == ["first"]
        assert publish.interrupt()[::2] == (130, "")


def test_a_body_from_stdin(online: Penstock) -> None:
    online.lines("put", "exact", stdin=b"\xff\n\x00\n")
    (row,) = online.json("get", "exact")
    assert row == {"queue": "exact", "body_base64": "/woACg=="}
    online.lines("publish", "exact", "-", "--via", "smqs", stdin=b"text\r\n")
    assert online("get", "exact") == (0, "text\n", "")


def test_put_and_get(online: Penstock) -> None:
    assert online.failure("get", "tasks") == (4, "no message in 'tasks' within 0 s")
    assert online.lines("put", "tasks", "dig") == ["put 3 bytes into tasks"]
    assert online.json("put", "tasks", "fill") == [{"put": 1, "queue": "tasks", "size": 4}]
    assert online.lines("get", "tasks", "--timeout", 5) == ["dig"]
    assert online.json("get", "tasks") == [{"queue": "tasks", "body": "fill"}]


def test_a_message_that_is_not_taken_stays_as_it_was(online: Penstock) -> None:
    for number in range(3):
        online.lines("put", "patient", number)
    assert online.lines("consume", "patient", "-n", 2) == ["0", "1"]
    (row,) = online.json("consume", "patient", "--via", "rq", "-n", 1)
    assert row == {"queue": "patient", "broadcast": False, "wants_reply": False, "body": "2"}


def test_request_and_reply(online: Penstock, broker: Broker) -> None:
    with requests.Client().connect(broker.address("rq")) as client:
        client.consume("upper", lambda request: request.payload.upper())
        assert online.lines("request", "upper", "abc") == ["ABC"]
        assert online.json("request", "upper", "abc") == [{"queue": "upper", "body": "ABC"}]
    code, why = online.failure("request", "nobody", "x", "--timeout", 0.05)
    assert code == 4
    assert why.startswith("request to 'nobody': no reply within 0.05 s (connected to ")


def test_consume_answers(online: Penstock, broker: Broker) -> None:
    replies: list[bytes] = []
    with requests.Client().connect(broker.address("rq")) as client:
        asking = threading.Thread(target=lambda: replies.append(client.request("echo", "hello", timeout=10)))
        asking.start()
        assert online.lines("consume", "echo", "-n", 1, "--reply", "you said so") == ["hello"]
        asking.join(10)
    assert replies == [b"you said so"]


def test_broadcast(online: Penstock, broker: Broker) -> None:
    heard: list[bytes] = []
    with requests.Client().connect(broker.address("rq")) as client:
        client.consume("news", lambda request: heard.append(request.payload))
        assert online.lines("broadcast", "news", "rain") == ["sent to the current consumers of news"]
        until(lambda: heard)
    assert heard == [b"rain"]
    assert online.json("broadcast", "news", "sun") == [{"broadcast": 1, "queue": "news", "size": 3}]


def test_tap_takes_nothing_away(online: Penstock, broker: Broker) -> None:
    with mqks.Client().connect(broker.address("mqks")) as client:
        client.consume("tapped", ["tap.it"], manual_ack=True).close()
        with Command("tap", "tap.it", "--json") as tap:
            until(lambda: any(name.startswith("penstock.tap.") for name in queues_of(broker)))
            id = client.publish("tap.it", "drop", confirm=True)
            assert json.loads(tap.line()) == {"event": "tap.it", "id": id, "retry": 0, "body": "drop"}
            assert tap.interrupt() == (0, "", "")
    until(lambda: not any(name.startswith("penstock.tap.") for name in queues_of(broker)))
    assert queues_of(broker)["tapped"] == 1


def test_tap_by_pattern_and_by_log(online: Penstock, broker: Broker) -> None:
    """The taps run in this process, and somebody publishes until they have ended."""
    done = threading.Event()

    def publish() -> None:
        with sevx.Client().connect(broker.address("sevx")) as client, mqmq.Client() as frames:
            frames.connect(broker.address("mqmq"))
            while not done.wait(0.02):
                client.send({"obj": "tap"}, wait=True)
                frames.put("tap.queue", b"\xff")

    publishing = threading.Thread(target=publish)
    publishing.start()
    try:
        assert online.lines("tap", "--pattern", '{"obj": "tap"}', "-n", 1, "--timeout", 10) == ['{"obj":"tap"}']
        pytest.importorskip("pyarrow")
        (row,) = online.json("tap", "--log", "tap.q*", "-n", 1, "--timeout", 10)
        assert (row["event"], row["queue"], row["protocol"]) == ("tap.queue", "tap.queue", "mqmq")
        assert row["body_base64"] == "/w=="
    finally:
        done.set()
        publishing.join(10)


def test_consume_ends_by_ctrl_c(online: Penstock, broker: Broker) -> None:
    with Command("consume", "endless") as consume:
        until(lambda: "endless" in queues_of(broker))
        online.lines("put", "endless", "one")
        assert consume.line() == "one"
        assert consume.interrupt() == (0, "", "")
    until(lambda: queues_of(broker)["endless"] == 0)


def test_consume_into_a_pipe_that_is_closed(online: Penstock) -> None:
    for number in range(3):
        online.lines("put", "piped", number)
    with Command("consume", "piped", "--via", "rq") as consume:
        assert consume.process.stdout is not None
        consume.process.stdout.close()
        assert consume.process.wait(20) == 1
        assert consume.process.stderr is not None
        assert consume.process.stderr.read() == b""
    assert online.lines("get", "piped") == ["0"]  # it was not printed, so it was not done


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["publish", "e", "two\nlines"], "a line feed in a body cannot be sent over MQKS"),
        (["publish", "e", "x", "--via", "sevx"], "SEVX has no names"),
        (["publish", "[1]", "--via", "sevx"], "SEVX sends JSON objects, and this is not one: [1]"),
        (["publish", "q", "x", "--via", "smqs", "--delay", "1"], "--delay is not supported over SMQS"),
        (["publish", "q", "x", "--via", "rq", "--max-deliveries", "1"], "--max-deliveries is not supported over RQ"),
        (["publish", "q", "x", "--delay", "-1"], "delay of -1.0 seconds: give 0 to"),
        (["publish", "q", "x", "--lines"], "--lines reads stdin"),
        (["consume", "q", "--via", "mqks"], "MQKS binds a queue to events: give --event"),
        (["consume", "q", "--via", "sevx"], "SEVX binds a queue to a pattern"),
        (["consume", "q", "--via", "rq", "--event", "e"], "--event is for mqks, not for rq"),
        (["consume", "q", "--pattern", "x"], "--pattern x: give a JSON object"),
        (["tap", "e", "--pattern", "{}"], "--pattern is for SEVX"),
        (["put", "q", "x", "--addr", "here:there"], "'here:there' is not a valid address"),
        (["get", "q", "--timeout", "4000"], "timeout of 4000 seconds: a get waits at most 3600"),
        (["put", "q" * 1025, "x"], "queue name of 1025 bytes: MQMQ allows at most 1024"),
    ],
)
def test_misuse_is_one_line(online: Penstock, arguments: list[str], told: str) -> None:
    code, why = online.failure(*arguments)
    assert code == 2
    assert why.startswith(told)


@pytest.mark.parametrize(
    "arguments",
    [
        ["publish", "e", "x"],
        *(["publish", "q", "x", "--via", via] for via in ("smqs", "mqmq", "rq")),
        ["publish", "{}", "--via", "sevx"],
        ["consume", "q"],
        ["put", "q", "x"],
        ["get", "q"],
        ["request", "q", "x"],
        ["broadcast", "q", "x"],
        ["tap", "e"],
        ["info"],
        ["stats"],
    ],
)
def test_nobody_there_says_what_to_start(penstock: Penstock, arguments: list[str]) -> None:
    code, why = penstock.failure(*arguments, "--addr", "127.0.0.1:1")
    assert (code, why) == (3, "cannot connect to 127.0.0.1:1: Connection refused; start one with: penstock serve")
