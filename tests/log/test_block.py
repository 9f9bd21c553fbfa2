"""Blocks are the same, whatever road their bodies took into them."""

import pytest

from penstock.log.block import Block
from penstock.log.block_writer import JOINED_MAX, LARGE_BODY, BlockWriter
from penstock.log.header import is_intact, whole
from penstock.message import Message


@pytest.mark.parametrize("sizes", [[LARGE_BODY], [3, LARGE_BODY + 1, 0, 5], [LARGE_BODY, LARGE_BODY + 7], [1, 2, 3]])
@pytest.mark.parametrize("joined_max", [1, JOINED_MAX])
def test_large_bodies_stand_between_small_ones_in_their_order(sizes: list[int], joined_max: int) -> None:
    writer = BlockWriter(joined_max)
    bodies = [bytes([index + 1]) * size for index, size in enumerate(sizes)]
    names: list[bytes] = []
    for turn in range(2):  # the second block knows nothing of the first
        writer.first_offset = turn * len(sizes)
        for body in bodies:
            writer.add_message(Message(b"id", b"event", body, 7, "mqks", {b"name": b"value"}))
        assert writer.size() >= sum(sizes)
        pieces = writer.close(1)
        assert (len(pieces) == 1) == (sum(sizes) < joined_max)
        assert is_intact(whole(pieces))
        block = Block(whole(pieces), names)
        found = [block.message(index) for index in range(block.message_count)]
        assert [message.body for message in found] == bodies
        assert [message.headers for message in found] == [{b"name": b"value"}] * len(sizes)
        assert found[-1].id == b"id"
