"""SEVX over real sockets."""

import json
import time

from .conftest import RunningBroker


def test_send_and_recv_over_a_socket(broker: RunningBroker) -> None:
    receiver, sender = broker.connect("sevx"), broker.connect("sevx")
    receiver.send(b'r recv {"pattern": {"obj": "user"}, "queue": "q"}\n')
    assert receiver.line() == b"r ok "
    sender.send(b'1 send {"obj": "user", "n": 1}\n2 send {"obj": "cat"}\n3 send nonsense\n4 send {"obj": "user"}\n')
    answers = sender.lines(4)
    assert [answers[place] for place in (0, 1, 3)] == [b"1 ok ", b"2 ok ", b"4 ok "]
    assert answers[2].startswith(b"3 error ")
    assert receiver.lines(2) == [b'r ok 1 {"obj": "user", "n": 1}', b'r ok 4 {"obj": "user"}']


def test_a_disconnect_rejects_what_was_not_acked(broker: RunningBroker) -> None:
    first, second = broker.connect("sevx"), broker.connect("sevx")
    first.send(b'r1 recv {"pattern": {}, "queue": "q", "manual_ack": true, "delete_queue_when_unused": 10}\n')
    first.send(b'1 send {"n": 1}\n')
    assert first.lines(3) == [b"r1 ok ", b"1 ok ", b'r1 ok 1 {"n": 1}']
    first.close()
    deadline = time.monotonic() + 10
    while broker.node.broker.queues[b"q"].unacked and time.monotonic() < deadline:
        time.sleep(0.005)
    second.send(b'r2 recv {"pattern": {}, "queue": "q"}\n')
    assert second.lines(2) == [b"r2 ok ", b'r2 ok 1 {"retry": 1, "n": 1}']


def test_a_queue_goes_some_time_after_its_last_receiver(broker: RunningBroker) -> None:
    client = broker.connect("sevx")
    client.send(b'r recv {"pattern": {}, "queue": "q", "delete_queue_when_unused": 0.05}\n')
    client.send(b'd delete_receiver {"receiver_id": "r"}\n')
    assert client.lines(2) == [b"r ok ", b"d ok "]
    deadline = time.monotonic() + 10
    while broker.node.broker.queues and time.monotonic() < deadline:
        time.sleep(0.005)
    client.send(b'e _eval {"code": "len(state.queues)"}\n')
    assert client.line() == b'e ok {"result": 0}'


def test_a_large_event_comes_through_whole(broker: RunningBroker) -> None:
    client = broker.connect("sevx")
    client.send(b'r recv {"pattern": {"event": "big"}, "queue": "q"}\n')
    body = json.dumps({"event": "big", "data": "ü" * 1_000_000}, ensure_ascii=False).encode()
    client.send(b"1 send " + body + b"\n")
    assert client.lines(3) == [b"r ok ", b"1 ok ", b"r ok 1 " + body]


def test_sevx_and_mqks_meet_in_one_broker(broker: RunningBroker) -> None:
    sevx, mqks = broker.connect("sevx"), broker.connect("mqks")
    mqks.send(b"c consume --confirm q1 orders\n")
    sevx.send(b'r recv {"pattern": {"event": "orders"}, "queue": "q2"}\n')
    assert (mqks.line(), sevx.line()) == (b"c ok ", b"r ok ")
    sevx.send(b'1 send {"event": "orders", "n": 1}\n')
    assert mqks.line() == b'c ok 1 event=orders {"event": "orders", "n": 1}'
    mqks.send(b"2 publish orders two\n")  # not before: which of two connections is read first is nobody's promise
    assert mqks.line() == b"c ok 2 event=orders two"
    assert sevx.lines(3) == [b"1 ok ", b'r ok 1 {"event": "orders", "n": 1}', b'r ok 2 {"data": "two"}']


def test_ten_thousand_patterns_over_a_socket(broker: RunningBroker) -> None:
    client = broker.connect("sevx")
    client.send(b"".join(b'r%d recv {"pattern": {"user": %d}, "queue": "q%d"}\n' % (n, n, n) for n in range(10_000)))
    assert client.lines(10_000)[-1] == b"r9999 ok "
    client.send(b"".join(b'%d send {"user": %d}\n' % (n, n) for n in range(0, 10_000, 100)))
    answers = client.lines(200)
    assert answers[1::2] == [b'r%d ok %d {"user": %d}' % (n, n, n) for n in range(0, 10_000, 100)]
