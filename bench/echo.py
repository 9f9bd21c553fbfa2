"""Answers requests without parsing them one by one: fixed-size frames become fixed-size answers, column by column.

One read holds many frames. Their answers are that many copies of one template answer. Each byte that differs between
messages is then set in all of them at once, by one strided slice from its column in the frames. That is a dozen
operations per read, however many frames it holds, so the answering side does not limit the round.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Echo:
    """A template frame, its answer, and the fields to copy: (from, to, byte count)."""

    question: bytes
    answer: bytes
    moves: Sequence[tuple[int, int, int]]

    def answers(self, data: memoryview) -> bytearray:
        """The answers to the whole frames in `data`.

        Raises:
            ValueError: a frame does not begin and end like the template.
        """
        size = len(self.question)
        count = len(data) // size
        for column in (0, size - 1):
            if data[column::size] != self.question[column : column + 1] * count:
                raise ValueError(f"not {size} bytes that look like {self.question!r}")
        answers = bytearray(self.answer * count)
        for source, target, width in self.moves:
            for column in range(width):
                answers[target + column :: len(self.answer)] = data[source + column :: size]
        return answers
