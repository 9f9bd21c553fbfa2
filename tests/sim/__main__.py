"""Runs seeds: `python -m tests.sim --seeds 100000`. One again, step by step: `python -m tests.sim --seed 4711`."""

import argparse
import faulthandler
import multiprocessing
import sys
import time
import traceback
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from types import FunctionType

import penstock.core.broker

from .world import World

CHUNK = 100
PATIENCE_SECONDS = 120  # for a run that takes a fraction of a second: whatever takes longer goes round in circles


def run(seed: int, trace: Callable[[str], None] | None = None) -> int:
    """How many crashes the run survived. Raises AssertionError with the seed, and how to see it again.

    A run without an end ends the process. Compiled code that goes round in circles heeds no signal, but its stack is
    written, and the seed stands in it.
    """
    named = FunctionType(_live.__code__.replace(co_name=f"seed_{seed}"), globals())
    faulthandler.dump_traceback_later(PATIENCE_SECONDS, exit=True, file=2)
    try:
        crashes: int = named(seed, trace)
    except Exception as error:
        raise AssertionError(f"seed {seed}: {error!r}; again with {again(seed)}") from error
    finally:
        faulthandler.cancel_dump_traceback_later()
    return crashes


def _live(seed: int, trace: Callable[[str], None] | None) -> int:
    world = World(seed, trace=trace)
    world.run()
    return world.crashes


def again(seed: int) -> str:
    return f"make sim SEED={seed}"


def is_compiled() -> bool:
    return not str(penstock.core.broker.__file__).endswith(".py")


def run_chunk(seeds: range) -> tuple[int, list[str]]:
    crashes, failures = 0, []
    for seed in seeds:
        try:
            crashes += run(seed)
        except AssertionError as error:
            failures.append(str(error))
    return crashes, failures


def run_many(first: int, count: int, jobs: int) -> int:
    started = time.monotonic()
    chunks = [range(start, min(start + CHUNK, first + count)) for start in range(first, first + count, CHUNK)]
    crashes, failures = 0, 0
    with ProcessPoolExecutor(jobs) as pool:
        for survived, found in pool.map(run_chunk, chunks):
            crashes += survived
            failures += len(found)
            for failure in found:
                print(failure, flush=True)
    how = "compiled" if is_compiled() else "interpreted"
    print(
        f"{count} seeds from {first} on, {how}: {crashes} crashes, {failures} failures, "
        f"{time.monotonic() - started:.1f} s"
    )
    return 1 if failures else 0


def run_one(seed: int) -> int:
    try:
        run(seed, trace=print)
    except AssertionError:
        traceback.print_exc()
        return 1
    print(f"seed {seed}: nothing wrong")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.sim", description=__doc__)
    parser.add_argument("--seeds", type=int, default=2000, help="how many")
    parser.add_argument("--first", type=int, default=0, help="the first of them")
    parser.add_argument("--seed", type=int, help="this one alone, with every step printed")
    parser.add_argument("--jobs", type=int, default=multiprocessing.cpu_count())
    arguments = parser.parse_args()
    if arguments.seed is not None:
        return run_one(arguments.seed)
    return run_many(arguments.first, arguments.seeds, arguments.jobs)


if __name__ == "__main__":
    sys.exit(main())
