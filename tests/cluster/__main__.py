"""Runs seeds: `python -m tests.cluster --seeds 100000`; one again, step by step: `--seed 4711`."""

import sys

from tests.sim.seeds import main

from .world import AGAIN

if __name__ == "__main__":
    sys.exit(main("tests.cluster.world", AGAIN, __doc__))
