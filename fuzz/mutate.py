"""Mutations that keep most of an input a valid program, in addition to the fuzzer's own, which only know bytes."""

from random import Random

from fuzz.program import BYTES_OF_A_STEP, HEADER_SIZE, SEPARATOR, TIMES, VERBS
from fuzz.words import tokens_of


class Mutator:
    """Derives inputs of one protocol from others."""

    def __init__(self, protocol: str) -> None:
        self.tokens = tokens_of(protocol)

    def mutate(self, data: bytes, random: Random, others: list[bytes] | None = None) -> bytes:
        """Applies a few changes; steps may be taken from `others`."""
        header = bytearray(data[:HEADER_SIZE].ljust(HEADER_SIZE, b"\0"))
        steps = data[HEADER_SIZE:].split(SEPARATOR)
        for _ in range(random.choice((1, 1, 2, 3, 5))):
            what = random.randrange(10)
            place = random.randrange(len(steps)) if steps else 0
            if what == 0:
                header[random.randrange(HEADER_SIZE)] = random.randrange(256)
            elif what == 1 and len(steps) > 1:
                del steps[place]
            elif what == 2 and steps:
                steps.insert(random.randrange(len(steps) + 1), steps[place])
            elif what == 3 and others:
                chosen = random.choice(others)[HEADER_SIZE:].split(SEPARATOR)
                start = random.randrange(len(chosen))
                steps[place:place] = chosen[start : start + random.randrange(1, 5)]
            elif what == 4 or not steps:
                steps.insert(place, self.make_step(random))
            elif what == 5:
                step = bytearray(steps[place] or b"\0")
                step[0] = random.randrange(64)
                steps[place] = bytes(step)
            else:
                steps[place] = self._change(steps[place], random)
        return bytes(header) + SEPARATOR.join(steps)

    def make_step(self, random: Random) -> bytes:
        first = random.randrange(len(VERBS) * 4)
        if random.randrange(3) == 0:
            return bytes([first]) + b"".join(random.choices(self.tokens, k=random.randrange(1, 8)))
        if random.randrange(4) == 0:
            return bytes([first, random.randrange(len(TIMES))])
        return bytes([first]) + random.randbytes(random.randrange(1, 12))

    def _change(self, step: bytes, random: Random) -> bytes:
        """The step with a byte, a token or a run of bytes inserted, removed or replaced."""
        if len(step) > BYTES_OF_A_STEP:
            return step[:BYTES_OF_A_STEP]
        start = random.randrange(1, len(step) + 1) if step else 0
        end = min(len(step), start + random.choice((0, 0, 1, 1, 2, 5, 20)))
        put = random.choice((b"", bytes([random.randrange(256)]), random.choice(self.tokens), step[start:end] * 2))
        return step[:start] + put + step[end:]
