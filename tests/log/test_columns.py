"""The columns of a block: as the documentation draws them, as they are written, and as they are read back."""

import re
from pathlib import Path

import pytest

from penstock.log.block import Block
from penstock.log.block_writer import BlockWriter
from penstock.log.columns import BUFFER_KEPT_MAX, BYTES, I64, MESSAGES, RUNS, Table
from penstock.log.header import VERSION, VERSION_UNOWNED, whole
from penstock.message import REJECT, DeliveryOptions, Message

LOG_PAGE = Path(__file__).resolve().parents[2] / "docs" / "log.md"


def drawn(section: str, following: str, count: str) -> list[tuple[str, str, int]]:
    """The columns of a part of the drawing: name, how they are stored, bit."""
    found: list[tuple[str, str, int]] = []
    text = LOG_PAGE.read_text().partition(f"     {section} ")[2].partition(following)[0]
    for line in text.splitlines():
        bit = re.search(r"if r & (\d+)", line)
        for name, stored in re.findall(rf"(\w+) (i32|i64|ends i32)\[{count}(?:\+1)?\]", line):
            found.append((name, stored, int(bit[1]) if bit else 0))
    return found


def declared(table: Table) -> list[tuple[str, str, int]]:
    stored = {BYTES: "ends i32", I64: "i64"}
    return [(column.name, stored.get(column.kind, "i32"), column.rare) for column in table.columns]


def test_the_documentation_draws_the_columns_that_are_declared() -> None:
    assert drawn("messages ", "     settlements", "m") == declared(MESSAGES)
    assert drawn("settlements", "```", "s") == declared(RUNS)


def test_every_rare_column_has_a_bit_of_its_own() -> None:
    bits = [column.rare for table in (MESSAGES, RUNS) for column in table.rare]
    assert sorted(bits) == [1 << number for number in range(len(bits))]


@pytest.mark.parametrize(
    ("options", "rare", "version"),
    [
        (DeliveryOptions(due_at=1 << 50), 1, VERSION_UNOWNED),
        (DeliveryOptions(expires_at=1 << 51), 2, VERSION_UNOWNED),
        (DeliveryOptions(deliveries_max=(1 << 31) - 1), 4, VERSION_UNOWNED),
        (DeliveryOptions(dedup_seconds=60), 8, VERSION_UNOWNED),
        (DeliveryOptions(target=b"dead"), 16, VERSION_UNOWNED),
        (DeliveryOptions(dedup_seconds=60, owner=b"ann"), 8 | 64, VERSION),
        (DeliveryOptions(1, 2, 3, 4, b"dead", b"ann"), 1 | 2 | 4 | 8 | 16 | 64, VERSION),
    ],
)
def test_a_rare_column_is_there_when_a_message_needs_it(options: DeliveryOptions, rare: int, version: int) -> None:
    writer = BlockWriter()
    for number in range(3):
        message = Message(b"%d" % number, b"event", b"body", 7, "mqks")
        message.options = options if number == 1 else None
        writer.add_message(message)
    writer.add_run(b"event", REJECT, 0, 1, 2)
    data = whole(writer.close(1))
    block = Block(data, [])
    assert (block.rare, data[4]) == (rare, version)
    found = [block.message(index).options for index in range(3)]
    assert [repr(one) for one in found] == ["None", repr(options), "None"]
    assert [(run.queue, run.after_offset, run.due_at) for run in block.runs()] == [(b"event", 2, 0)]


def test_names_of_a_rare_column_come_behind_all_others() -> None:
    """Which code a name gets is a part of the format: the same entries are always the same bytes."""
    writer = BlockWriter()
    message = Message(b"id", b"event", b"body", 7, "mqks")
    message.options = DeliveryOptions(dedup_seconds=1, target=b"target", owner=b"owner")
    writer.add_message(message)
    writer.add_run(b"queue", REJECT, 0, 1, 0, due_at=5)
    block = Block(whole(writer.close(1)), [])
    assert block.names == [b"event", b"mqks", b"queue", b"target", b"owner"]
    assert block.code_max() == 4
    assert [block.uses_code(code, code + 1) for code in range(5)] == [True, True, False, True, False]
    assert [run.due_at for run in block.runs()] == [5]


def test_a_large_block_leaves_nothing_behind() -> None:
    writer = BlockWriter()
    message = Message(b"id", b"event", b"x" * (BUFFER_KEPT_MAX // 8), 7, "mqks")
    for _ in range(9):
        writer.add_message(message)
    names: list[bytes] = []
    assert Block(whole(writer.close(1)), names).message_count == 9
    small = Message(b"small", b"event", b"y", 8, "mqks", {b"name": b"value"})
    writer.add_message(small)
    block = Block(whole(writer.close(2)), names)
    (found,) = [block.message(index) for index in range(block.message_count)]
    assert (found.id, found.event, found.body, found.headers) == (b"small", b"event", b"y", {b"name": b"value"})
    assert len(block.data) < 500
