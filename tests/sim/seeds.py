"""Runs a simulation with many seeds, or with one again, step by step.

A simulation is a function that takes a seed and a trace, and returns how many faults its run survived. It is named by
its module: processes that run seeds look it up there.
"""

import argparse
import faulthandler
import importlib
import multiprocessing
import time
import traceback
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from types import FunctionType

import penstock.core.broker

CHUNK = 100
PATIENCE_SECONDS = 120  # for a run that takes a fraction of a second: whatever takes longer goes round in circles

Live = Callable[[int, Callable[[str], None] | None], int]


def run(live: Live, seed: int, again: str, trace: Callable[[str], None] | None = None) -> int:
    """How many faults the run survived. Raises AssertionError with the seed, and how to see it again.

    A run without an end ends the process. Compiled code that goes round in circles heeds no signal, but its stack is
    written, and the seed stands in it.
    """
    assert isinstance(live, FunctionType)
    named = FunctionType(live.__code__.replace(co_name=f"seed_{seed}"), live.__globals__)
    faulthandler.dump_traceback_later(PATIENCE_SECONDS, exit=True, file=2)
    try:
        faults: int = named(seed, trace)
    except Exception as error:
        raise AssertionError(f"seed {seed}: {error!r}; again with {again}{seed}") from error
    finally:
        faulthandler.cancel_dump_traceback_later()
    return faults


def is_compiled() -> bool:
    return not str(penstock.core.broker.__file__).endswith(".py")


def run_chunk(module: str, again: str, seeds: range) -> tuple[int, list[str]]:
    live: Live = importlib.import_module(module).live
    faults, failures = 0, []
    for seed in seeds:
        try:
            faults += run(live, seed, again)
        except AssertionError as error:
            failures.append(str(error))
    return faults, failures


def run_many(module: str, again: str, first: int, count: int, jobs: int) -> int:
    started = time.monotonic()
    chunks = [range(start, min(start + CHUNK, first + count)) for start in range(first, first + count, CHUNK)]
    faults, failures = 0, 0
    with ProcessPoolExecutor(jobs) as pool:
        for survived, found in pool.map(run_chunk, [module] * len(chunks), [again] * len(chunks), chunks):
            faults += survived
            failures += len(found)
            for failure in found:
                print(failure, flush=True)
    how = "compiled" if is_compiled() else "interpreted"
    seconds = time.monotonic() - started
    print(f"{count} seeds from {first} on, {how}: {faults} faults, {failures} failures, {seconds:.1f} s")
    return 1 if failures else 0


def run_one(live: Live, seed: int, again: str) -> int:
    try:
        run(live, seed, again, trace=print)
    except AssertionError:
        traceback.print_exc()
        return 1
    print(f"seed {seed}: nothing wrong")
    return 0


def main(module: str, again: str, description: str | None) -> int:
    """`module` has the function `live`."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--seeds", type=int, default=2000, help="how many")
    parser.add_argument("--first", type=int, default=0, help="the first of them")
    parser.add_argument("--seed", type=int, help="this one alone, with every step printed")
    parser.add_argument("--jobs", type=int, default=multiprocessing.cpu_count())
    arguments = parser.parse_args()
    if arguments.seed is not None:
        return run_one(importlib.import_module(module).live, arguments.seed, again)
    return run_many(module, again, arguments.first, arguments.seeds, arguments.jobs)
