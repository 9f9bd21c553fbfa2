"""Answers without looking at messages one by one: frames of one size become answers of one size, by columns.

A read holds many frames. The answers to all of them are as many copies of one answer, in which every byte that differs
from message to message is then set for all of them at once, by one strided slice from the column it has in the frames.
That is a dozen operations per read, whatever it holds, so the answering side is not what a round measures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Echo:
    """One frame, the answer to it, and what of the one is moved to the other: from where, to where, how many bytes."""

    question: bytes
    answer: bytes
    moves: Sequence[tuple[int, int, int]]

    def answers(self, data: memoryview) -> bytearray:
        """The answers to as many whole frames as `data` is.

        Raises:
            ValueError: a frame does not begin and end like the one it should look like.
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
