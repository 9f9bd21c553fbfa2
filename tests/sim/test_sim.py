"""Seeded runs of every verb, every fault and crashes against the model; `make sim SEEDS=100000` runs more of them."""

import errno
import random
from pathlib import Path

import pytest

from penstock.core.broker import Broker

from .disk import SimDisk
from .seeds import is_compiled, run
from .world import AGAIN, FATE, WEIGHTS, World, live

PARTS = 20
SEEDS_PER_PART = 100 if is_compiled() else 8


def run_all(seeds: range) -> int:
    return sum(run(live, seed, AGAIN) for seed in seeds)


@pytest.mark.parametrize("part", range(PARTS))
def test_broker_replay_and_model_agree_after_every_step_and_a_crash_leaves_an_exact_prefix(part: int) -> None:
    crashes = run_all(range(part * SEEDS_PER_PART, (part + 1) * SEEDS_PER_PART))
    assert crashes > 3 * SEEDS_PER_PART  # or the runs prove nothing


def test_a_seed_gives_the_same_run_each_time() -> None:
    notes: list[list[str]] = [[], []]
    for told in notes:
        World(3, trace=told.append).run()
    assert notes[0] == notes[1]


def test_a_failure_names_its_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that says it has synced and has not is noticed, and the way to see it again is in the message."""
    monkeypatch.setattr(SimDisk, "sync", lambda self, handle: None)
    with pytest.raises(AssertionError, match=r"seed \d+: .* again with make sim SEED=\d+"):
        run_all(range(50))


def test_the_runs_know_every_verb() -> None:
    """A verb that is added to the broker is added to the runs, or named here with the reason why not."""
    here = Path(__file__).parent
    source = "".join([(here / name).read_text() for name in ("world.py", "judge.py", "life.py")])
    by_others = {
        "declare", "make_queue", "unmake_queue", "take_in", "send_back",  # what verbs are made of
        "dedup_seconds", "existing", "check_new", "is_known", "full_error", "not_taken",  # parts of verbs
        "would_make", "expiring", "queued", "delivered", "alarms", "committed",  # only look
        "fail", "expect_consumers",  # at the start, or in an emergency
        "hold_memory",  # says what is refused from then on, as `shut` does, and changes nothing else
    }  # fmt: skip
    verbs = {name for name in dir(Broker) if not name.startswith("_") and callable(getattr(Broker, name))}
    unknown = {name for name in verbs - by_others if f"broker.{name}" not in source}
    assert not unknown
    assert all(hasattr(World, word) for word in (*WEIGHTS, *FATE))


def test_reads_fail_as_often_as_they_are_told_to() -> None:
    disk = SimDisk(random.Random(1))
    disk.open("a")
    disk.fail_reads({"read_open"}, errno.EMFILE, 1, 2)
    seen = []
    for _ in range(5):
        try:
            disk.read("a")
        except OSError as error:
            seen.append(error.errno)
        else:
            seen.append(0)
    assert seen == [0, errno.EMFILE, errno.EMFILE, 0, 0]
    disk.fail_reads({"read"}, errno.EIO, 0, 1)
    with disk.read("a") as file, pytest.raises(OSError, match="Input/output"):
        file.read()


def test_the_disk_tears_what_was_not_synced_and_nothing_else() -> None:
    seen: set[bytes] = set()
    for seed in range(300):
        disk = SimDisk(random.Random(seed))
        handle = disk.open("a")
        disk.sync_directory()
        disk.write(handle, memoryview(b"synced"))
        disk.sync(handle)
        disk.write(handle, memoryview(b"12345678" * 3))
        disk.open("b")
        disk.power_off()
        with disk.read("a") as file:
            data = file.read()
        assert data.startswith(b"synced")
        assert len(data) <= 30
        seen.add(data)
        assert set(disk.names()) <= {"a", "b"}
    assert {b"synced", b"synced" + b"12345678" * 3} < seen
    assert len(seen) > 20
