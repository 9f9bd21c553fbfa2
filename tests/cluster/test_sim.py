"""Three nodes, seeded faults; `python -m tests.cluster --seeds 100000` runs more of them."""

import pytest
from tests.sim.seeds import is_compiled, run

from .double import NONE, NUMBERS
from .world import AGAIN, WEIGHTS, World, live

PARTS = 10
SEEDS_PER_PART = 100 if is_compiled() else 20


@pytest.mark.parametrize("part", range(PARTS))
def test_three_nodes_have_one_history_and_what_was_confirmed_is_in_it(part: int) -> None:
    faults = sum(run(live, seed, AGAIN) for seed in range(part * SEEDS_PER_PART, (part + 1) * SEEDS_PER_PART))
    assert faults > 5 * SEEDS_PER_PART  # or the runs prove nothing


def test_nodes_that_come_while_the_stream_is_trimmed_get_all_of_it() -> None:
    """Deleting takes its time, and what a leader has not deleted when it ends stays."""
    weights = WEIGHTS | {"trim": 30, "wipe": 10, "start_again": 30, "kill": 5}
    joined = 0
    for seed in range(250):
        world = World(seed, steps=200, weights=weights)
        world.run()
        joined += world.joined
    assert joined > 100


def test_a_seed_gives_the_same_run_each_time() -> None:
    notes: list[list[str]] = [[], []]
    for told in notes:
        World(3, trace=told.append).run()
    assert notes[0] == notes[1]


def test_a_broken_fence_is_noticed() -> None:
    """Two leaders write, and one of them confirms what nobody will read."""
    for seed in range(1000):
        try:
            World(seed, fence=NONE).run()
        except AssertionError:
            return
    raise AssertionError("nothing was wrong in 1,000 runs")


def test_a_leader_that_is_not_refused_sees_by_the_number_that_it_was_replaced() -> None:
    """So whoever breaks one of the two does not lose what was confirmed."""
    passed_over = 0
    for seed in range(100):
        world = World(seed, fence=NUMBERS)
        world.run()
        passed_over += world.judge.passed_over
    assert passed_over > 0


def test_all_kinds_of_faults_happen() -> None:
    assert all(hasattr(World, word) for word in WEIGHTS)
    worlds = [World(seed) for seed in range(250)]
    for world in worlds:
        world.run()
    assert sum(world.leads for world in worlds) > 2 * len(worlds)
    assert sum(world.trimmed for world in worlds) > 0
    assert sum(world.joined for world in worlds) > 0
    assert sum(world.servers.refused for world in worlds) > 0
    assert sum(world.judge.passed_over for world in worlds) > 0
