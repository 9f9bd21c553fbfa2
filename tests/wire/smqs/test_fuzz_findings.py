"""What the fuzzer has found in SMQS, as small as it gets."""

from fuzz.world import World

from penstock.core.limits import Limits
from penstock.wire.session import ProtocolOptions


def make_world(**limits: int) -> World:
    return World(Limits(**limits), ProtocolOptions())  # type: ignore[arg-type]


def test_a_line_over_the_limit_is_refused_wherever_the_reads_were_cut() -> None:
    stream = b"M:q:a\nM:q:%s\nM:q:c\n" % (b"x" * 20)
    for size in (1, 7, 100):
        world = make_world(line_size_max=20)
        client = world.connect("smqs", "smqs", "peer")
        for at in range(0, len(stream), size):
            client.feed(stream[at : at + size])
        assert client.session.closing
        assert [message.body for message, _ in world.broker.queues[b"q"].contents()] == [b"a"]


def test_an_unfinished_line_that_only_looks_like_a_message_is_not_answered_at_the_end() -> None:
    client = make_world().connect("smqs", "smqs", "peer")
    client.feed(b'M0::""')
    client.end()
    assert client.session.outbox_size == 0


def test_a_count_that_a_client_leaves_behind_brings_it_no_further_message() -> None:
    """It would go back at once, with a try counted that nobody made."""
    world = make_world(unacked_max=1)
    world.connect("smqs", "smqs", "producer").feed(b"M:q:1\nM:q:2\n")
    client = world.connect("smqs", "smqs", "peer")
    client.feed(b"C:q\n")
    client.feed(b"D:q:1")
    client.end()
    assert [(message.body, retry) for message, retry in world.broker.queues[b"q"].contents()] == [(b"2", 0)]
