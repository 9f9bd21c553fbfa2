"""The QUEUEIDs of queue names: 1 to 65534, the same for every client of the process.

The first queue gets 1, the next one 2, and a name keeps its ID for the life of the process, until all IDs are assigned.
From then on a new name takes the ID of the name that has been unused the longest. If all are in use, the new name has
NO_QUEUE_ID: its consumers are told 65535, which stands for no queue, and get its name with every request.
"""

from typing import Final

NO_QUEUE_ID: Final = 65535  # sent to consumers of a queue without an ID, since CONSUMING must have one
QUEUE_IDS_MAX: Final = 65534


class QueueIds:
    def __init__(self, ids_max: int = QUEUE_IDS_MAX) -> None:
        self._ids_max = ids_max
        self._ids: dict[bytes, int] = {}
        self._names: dict[int, bytes] = {}
        self._users: dict[bytes, int] = {}  # number of connections that were told the ID
        self._unused: dict[bytes, None] = {}  # names with an ID and without users, longest unused first

    def take(self, name: bytes) -> int:
        """The ID of a name, for one more connection that uses it until `release`."""
        id = self._ids.get(name, 0)
        if id == 0:
            id = self._assign(name)
        self._users[name] = self._users.get(name, 0) + 1
        self._unused.pop(name, None)
        return id

    def release(self, name: bytes) -> None:
        users = self._users[name] - 1
        if users:
            self._users[name] = users
        else:
            del self._users[name]
            if name in self._ids:
                self._unused[name] = None

    def name_of(self, id: int) -> bytes:
        """The name of an ID; empty if there is none."""
        return self._names.get(id, b"")

    def _assign(self, name: bytes) -> int:
        id = len(self._ids) + 1
        if id > self._ids_max:
            if not self._unused:
                return NO_QUEUE_ID
            former = next(iter(self._unused))
            del self._unused[former]
            id = self._ids.pop(former)
        self._ids[name] = id
        self._names[id] = name
        return id
