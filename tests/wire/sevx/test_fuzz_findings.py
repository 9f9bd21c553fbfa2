"""What the fuzzer has found in SEVX, as small as it gets."""

from fuzz.world import World

from penstock.core.limits import Limits
from penstock.wire.session import ProtocolOptions


def test_a_line_over_the_limit_is_refused_wherever_the_reads_were_cut() -> None:
    stream = b'1 _ping {"data": 1}\n2 _ping {"data": "%s"}\n3 _ping {"data": 3}\n' % (b"x" * 20)
    for size in (1, 7, 100):
        client = World(Limits(line_size_max=20), ProtocolOptions()).connect("sevx", "sevx", "peer")
        for at in range(0, len(stream), size):
            client.feed(stream[at : at + size])
        assert client.session.closing
        answer, refusal = client.session.drain().splitlines()
        assert answer == b'1 ok {"data": 1}'
        assert b" error " in refusal
