"""The short numbers that stand for queue names in QUEUEID: 1 to 65534, the same for every client of the process.

The first queue gets 1, the next one 2, and a name keeps its number for the life of the process, until all numbers are
assigned. From then on a new name takes the number of the name that has been unused the longest. If all are in use, the
new name is NUMBERLESS: its consumers are told 65535, which stands for no queue, and get its name with every request.
"""

from typing import Final

NUMBERLESS: Final = 65535  # sent to consumers of a queue without a number, since CONSUMING must have one
NUMBERS_MAX: Final = 65534


class QueueNumbers:
    def __init__(self, numbers_max: int = NUMBERS_MAX) -> None:
        self._numbers_max = numbers_max
        self._numbers: dict[bytes, int] = {}
        self._names: dict[int, bytes] = {}
        self._users: dict[bytes, int] = {}  # number of connections that were told the number
        self._unused: dict[bytes, None] = {}  # numbered names without users, longest unused first

    def take(self, name: bytes) -> int:
        """The number of a name, for one more connection that uses it until `release`."""
        number = self._numbers.get(name, 0)
        if number == 0:
            number = self._assign(name)
        self._users[name] = self._users.get(name, 0) + 1
        self._unused.pop(name, None)
        return number

    def release(self, name: bytes) -> None:
        users = self._users[name] - 1
        if users:
            self._users[name] = users
        else:
            del self._users[name]
            if name in self._numbers:
                self._unused[name] = None

    def name_of(self, number: int) -> bytes:
        """The name of a number; empty if there is none."""
        return self._names.get(number, b"")

    def _assign(self, name: bytes) -> int:
        number = len(self._numbers) + 1
        if number > self._numbers_max:
            if not self._unused:
                return NUMBERLESS
            former = next(iter(self._unused))
            del self._unused[former]
            number = self._numbers.pop(former)
        self._numbers[name] = number
        self._names[number] = name
        return number
