"""What the fuzzer has found in MQMQ, as small as it gets."""

from fuzz.words import mqmq_frame
from fuzz.world import World

from penstock.core.limits import Limits
from penstock.wire.session import ProtocolOptions

BODY = b"x" * 1000
COUNT = 10


def test_answers_behind_a_confirmation_that_waits_for_the_disk_fill_the_outbox_as_others_do() -> None:
    """A Get is short and its answer may be long: as many as fit are answered, and the rest when there is room."""
    world = World(Limits(outbox_bytes_max=2000), ProtocolOptions(), late=True)
    client = world.connect("mqmq", "mqmq", "peer")
    client.feed(mqmq_frame(b"Put", b"full", BODY) * COUNT)
    world.turn()
    client.output.clear()
    client.feed(mqmq_frame(b"Put", b"other", b"x") + mqmq_frame(b"Get", b"full") * COUNT)
    assert client.session.outbox_size + client.session.unconfirmed_size < 2000 + 2 * len(BODY)
    assert world.broker.queues[b"full"].ready > COUNT // 2
    world.turn()
    assert client.output == mqmq_frame(b"OK") + mqmq_frame(b"OK", BODY) * COUNT
    assert client.session.unconfirmed_size == 0


def test_answers_that_had_to_wait_for_room_are_given_before_the_door_closes() -> None:
    world = World(Limits(outbox_bytes_max=50), ProtocolOptions())
    client = world.connect("mqmq", "mqmq", "peer")
    client.feed(mqmq_frame(b"Put", b"q", b"x") * 12 + mqmq_frame(b"Quit"))
    world.turn()
    assert client.output == mqmq_frame(b"OK") * 12
    assert client.session.over
