"""What the fuzzer has found in RQ, as small as it gets."""

from fuzz.words import rq_command, rq_group
from fuzz.world import World

from penstock.core.limits import Limits
from penstock.wire.rq.session import RqSession
from penstock.wire.session import ProtocolOptions

ID, QUEUE, PAYLOAD = 0x80, 0xA0, 0xE0
REQUEST, REPLY, CONSUME, CLOSING = 0x0A, 0x0B, 0x14, 0x16
COUNT = 20


def request(number: int) -> bytes:
    return rq_group(rq_command(ID, bytes([number])), rq_command(QUEUE, b"q"), rq_command(PAYLOAD, b"x"), REQUEST)


def reply(number: int, body: bytes) -> bytes:
    return rq_group(rq_command(ID, bytes([number])), rq_command(PAYLOAD, body), REPLY)


def test_one_payload_that_answers_many_requests_is_not_copied_for_all_of_them_at_once() -> None:
    """Six bytes a reply would fill the memory. They come as fast as the requester takes them, and in order."""
    body = b"R" * 1000
    world = World(Limits(outbox_bytes_max=2000), ProtocolOptions())
    consumer = world.connect("rq", "rq", "consumer")
    requester = world.connect("rq", "rq", "requester")
    consumer.feed(rq_group(rq_command(QUEUE, b"q"), CONSUME))
    for number in range(COUNT):
        requester.feed(request(number))
        world.turn()
    requester.feed(rq_group(CLOSING))
    consumer.feed(rq_command(PAYLOAD, body))
    consumer.feed(b"".join([rq_command(ID, bytes([number])) + bytes([REPLY]) for number in range(COUNT)]))
    assert requester.session.outbox_size < 2000 + COUNT * 7 + len(reply(0, body))
    assert not requester.session.closing
    world.turn()
    at = -1
    for number in range(COUNT):
        at = requester.output.index(reply(number, body), at + 1)
    assert requester.session.over


def test_replies_that_wait_for_room_end_with_their_requester() -> None:
    world = World(Limits(outbox_bytes_max=1), ProtocolOptions())
    consumer = world.connect("rq", "rq", "consumer")
    requester = world.connect("rq", "rq", "requester")
    consumer.feed(rq_group(rq_command(QUEUE, b"q"), CONSUME))
    for number in (0, 1):
        requester.feed(request(number))
        world.turn()
    requester.pause()
    consumer.feed(reply(0, b"a") + reply(1, b"b"))
    assert requester.session.owes()
    requester.end()
    assert not requester.session.owes()
    world.check()


def test_queues_that_are_refused_leave_nothing_behind() -> None:
    world = World(Limits(queues_max=1, name_size_max=8), ProtocolOptions())
    node = world.connect("rq", "rq", "node")
    for name in (b"first", b"second", b"too long a name"):
        node.feed(rq_group(rq_command(QUEUE, name), CONSUME))
    assert isinstance(node.session, RqSession)
    assert node.session.consumers.known_ids == {b"first"}
    assert world.rq.queue_ids.name_of(2) == b""
