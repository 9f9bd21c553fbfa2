"""A place in the log by time, also where clocks were set back between two runs of a broker."""

from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st
from tests.storage.histories import paths_of, write_out

from penstock.core.broker import Broker
from penstock.core.limits import Limits
from penstock.message import Message
from penstock.storage.durable import DurableLog
from penstock.storage.reader import LogReader
from penstock.storage.time_index import offset_at

BASE = 1_763_208_000_000_000
MINUTE = 60_000_000
HOUR = 60 * MINUTE


def written(directory: Path, times: list[int]) -> LogReader:
    """A block for each message, and a segment for every few of them."""
    directory.mkdir()
    log = DurableLog(2000)
    broker = Broker(log, Limits())
    for number, moment in enumerate(times):
        broker.publish(Message(b"%d" % number, b"e", b"x" * 300, moment, "mqks", None))
        write_out(log, directory, moment)
    return LogReader(directory)


# Runs of a broker: how far the clock was from where the last run left it, in minutes, and how many messages there were.
RUNS = st.lists(st.tuples(st.integers(-59, 600), st.integers(1, 12)), min_size=1, max_size=8)


@given(RUNS, st.integers(-60, 3000))
@example([(0, 12), (300, 12), (-50, 12), (10, 12)], 300)
def test_nothing_that_is_new_enough_lies_before_the_place(tmp_path_factory, runs, minutes) -> None:
    times, now = [], BASE
    highest = BASE
    for step, count in runs:
        now = max(now + step * MINUTE, highest - 59 * MINUTE)  # never set back by more than an hour in all
        for _ in range(count):
            times.append(now)
            now += MINUTE // 4
        highest = max(highest, now)
    reader = written(tmp_path_factory.mktemp("log") / "data", times)
    moment = BASE + minutes * MINUTE
    expected = next((offset for offset, time in enumerate(times) if time >= moment), -1)
    assert offset_at(reader, moment, len(times)) == expected


def test_a_large_step_is_seen_between_segments(tmp_path) -> None:
    """A day too early for some segments, then right again: those of the wrong day come first, and are found."""
    times = [BASE + number * MINUTE for number in range(20)]
    times += [BASE + 24 * HOUR + number * MINUTE for number in range(20)]
    times += [BASE + HOUR + number * MINUTE for number in range(200)]
    reader = written(tmp_path / "data", times)
    assert len(paths_of(tmp_path / "data")) > 30
    assert offset_at(reader, BASE + 90 * MINUTE, len(times)) == 20
    assert offset_at(reader, BASE + 10 * MINUTE, len(times)) == 10
    assert offset_at(reader, BASE + 25 * HOUR, len(times)) == -1


def test_what_is_not_durable_yet_is_not_found(tmp_path) -> None:
    reader = written(tmp_path / "data", [BASE, BASE + MINUTE])
    assert offset_at(reader, BASE + MINUTE, 1) == -1
    assert offset_at(LogReader(tmp_path), BASE, 0) == -1


def test_a_message_in_the_midst_of_a_block_is_found(tmp_path: Path) -> None:
    """Blocks of three: the place is the message's, not the block's."""
    log = DurableLog(1 << 20)
    broker = Broker(log, Limits())
    for number in range(9):
        broker.publish(Message(b"%d" % number, b"e", b"x", BASE + number * MINUTE, "mqks", None))
        if number % 3 == 2:
            write_out(log, tmp_path, BASE + number * MINUTE)
    reader = LogReader(tmp_path)
    for number in range(9):
        assert offset_at(reader, BASE + number * MINUTE, 9) == number
        assert offset_at(reader, BASE + number * MINUTE - 1, 9) == number
    assert offset_at(reader, BASE + 9 * MINUTE, 9) == -1
