"""Seeded runs of clients, faults and crashes against the model; `make sim SEEDS=100000` runs more of them."""

import random

import pytest

from .__main__ import is_compiled, run
from .disk import SimDisk
from .world import World

PARTS = 8
SEEDS_PER_PART = 250 if is_compiled() else 60


def run_all(seeds: range) -> int:
    return sum(run(seed) for seed in seeds)


@pytest.mark.parametrize("part", range(PARTS))
def test_any_crash_leaves_an_exact_prefix_that_holds_all_that_was_confirmed(part: int) -> None:
    crashes = run_all(range(part * SEEDS_PER_PART, (part + 1) * SEEDS_PER_PART))
    assert crashes > SEEDS_PER_PART  # or the runs prove nothing


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
