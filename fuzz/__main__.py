"""`python -m fuzz PROTOCOL CORPUS... [libFuzzer options]`: looks for inputs that break a rule of `sessions.py`.

Needs atheris and the interpreted sources (PYTHONPATH=src); `scripts/fuzz` provides both.
"""

import sys
import tempfile
from pathlib import Path
from random import Random

import atheris  # type: ignore[import-untyped]

with atheris.instrument_imports(include=["penstock"]):
    from fuzz.sessions import TARGETS, run

from fuzz.mutate import Mutator
from fuzz.seeds import seeds
from fuzz.words import tokens_of


def main() -> None:
    if len(sys.argv) < 2 or sys.argv[1] not in TARGETS:
        sys.exit(f"usage: python -m fuzz {'|'.join(TARGETS)} [CORPUS...] [libFuzzer options]")
    protocol = sys.argv[1]
    scratch = Path(tempfile.mkdtemp(prefix="penstock-fuzz-"))
    start = seeds(protocol)
    for number, seed in enumerate(start):
        (scratch / f"seed{number:03}").write_bytes(seed)
    words = scratch.with_suffix(".dict")
    words.write_text("".join(f'"{_escaped(token)}"\n' for token in tokens_of(protocol)))
    mutator = Mutator(protocol)

    def mutate(data: bytes, size_max: int, seed: int) -> bytes:
        random = Random(seed)
        if random.randrange(2):
            return bytes(atheris.Mutate(data, size_max))
        return mutator.mutate(data, random, start)[:size_max]

    def test_one_input(data: bytes) -> None:
        run(protocol, data)

    arguments = [sys.argv[0], *sys.argv[2:], str(scratch), f"-dict={words}"]
    atheris.Setup(arguments, test_one_input, custom_mutator=mutate)
    atheris.Fuzz()


def _escaped(token: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in token)


if __name__ == "__main__":
    main()
