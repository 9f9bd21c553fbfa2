"""SMQS over real sockets."""

import json
import socket
import struct
import threading

import pytest


def reset(client) -> None:
    """Close with RST instead of FIN."""
    client.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()


def stats(client) -> dict[str, int]:
    client.send(b"S::\n")
    return json.loads(client.line())


def test_commands_without_an_end_as_the_documents_write_them(broker) -> None:
    producer, consumer = broker.connect("smqs"), broker.connect("smqs")
    producer.send(b'M:users:{"id":1,"name":"Vagner"}\nM:users:2\n')
    consumer.send(b"C:users")
    assert consumer.lines(2) == [b'{"id":1,"name":"Vagner"}', b"2"]
    producer.send(b"S")
    assert producer.line() == b'{"users":2}'
    consumer.send(b"D:users:1")
    assert consumer.quiet(0.2)
    producer.send(b"S:")
    assert producer.line() == b'{"users":1}'


def test_unpaced_messages_all_arrive_in_order_and_are_done_by_count(broker) -> None:
    consumer, producer = broker.connect("smqs"), broker.connect("smqs")
    consumer.send(b"C:q:\n")
    messages = [b'{"id":%d,"pad":"%s"}' % (i, b"x" * (i % 300)) for i in range(30_000)]
    sending = threading.Thread(target=producer.send, args=(b"".join(b"M:q:%s\n" % message for message in messages),))
    sending.start()
    assert consumer.lines(len(messages)) == messages
    sending.join()
    consumer.send(b"D:q:29999\n")
    assert stats(consumer) == {"q": 1}


def test_a_message_of_many_reads_arrives_whole(broker) -> None:
    consumer, producer = broker.connect("smqs"), broker.connect("smqs")
    consumer.send(b"C:q:\n")
    body = b"0123456789" * 500_000
    sending = threading.Thread(target=producer.send, args=(b"M:q:" + body + b"\n",))
    sending.start()
    assert consumer.line() == body
    sending.join()


def test_a_reset_from_a_connection_that_is_no_consumer_hurts_nobody(broker) -> None:
    consumer = broker.connect("smqs")
    consumer.send(b"C:q:\n")
    for data in (b"", b"M:q:torn", b"S::\n", b"M:q:x\n"):
        client = broker.connect("smqs")
        client.send(data)
        reset(client)
    producer = broker.connect("smqs")
    producer.send(b"M:q:last\n")
    while consumer.line() != b"last":
        pass


@pytest.mark.parametrize("leave", [reset, lambda client: client.close()])
def test_undone_messages_of_a_lost_consumer_go_to_the_next(broker, leave) -> None:
    lost = broker.connect("smqs")
    lost.send(b"C:q:\nC:p:\nM:q:1\nM:p:2\nM:q:3\n")
    assert lost.lines(3) == [b"1", b"2", b"3"]
    lost.send(b"D:p:1\n")
    assert stats(lost) == {"q": 2, "p": 0}
    leave(lost)
    consumer = broker.connect("smqs")
    consumer.send(b"C:q:\n")
    assert consumer.lines(2) == [b"1", b"3"]


def test_a_last_count_without_an_end_is_heard_although_the_client_closes_at_once(broker) -> None:
    consumer = broker.connect("smqs")
    consumer.send(b"C:q:\nM:q:1\nM:q:2\n")
    consumer.lines(2)
    consumer.send(b"D:q:1")
    consumer.close()
    next_one = broker.connect("smqs")
    next_one.send(b"C:q:\n")
    assert next_one.line() == b"2"
    assert next_one.quiet()


@pytest.mark.parametrize("command", [b"S", b"S::\n"])
def test_the_door_for_all_protocols_knows_it(broker, command) -> None:
    client = broker.connect("any")
    client.send(command)
    assert client.line() == b"{}"


def test_undone_messages_are_lost_where_the_settings_say_so(start_broker) -> None:
    broker = start_broker(smqs_lose_undone=True)
    lost = broker.connect("smqs")
    lost.send(b"C:q:\nM:q:1\n")
    assert lost.line() == b"1"
    lost.close()
    client = broker.connect("smqs")
    while stats(client) != {"q": 0}:
        pass
    client.send(b"C:q:\n")
    assert client.quiet()
