"""Runs seeds: `python -m tests.sim --seeds 100000`. One again, step by step: `python -m tests.sim --seed 4711`."""

import sys

from .seeds import main
from .world import AGAIN

if __name__ == "__main__":
    sys.exit(main("tests.sim.world", AGAIN, __doc__))
