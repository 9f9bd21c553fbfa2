"""What may be granted: a right, and the names it holds for.

    publish orders.*        events and queues whose names match
    publish queue:jobs      that queue only, not an event of that name
    consume event:orders.*  these events only
    admin                   has no names: it includes every other right, since whoever has it can grant them
    read-log                has no names either: the log is one

Events and queues are two spaces of names. Whoever publishes an event needs the right on the event, whoever puts into a
queue on the queue, and whoever consumes needs it on the queue and on each event that the queue is bound to.
"""

from typing import Final

from penstock.errors import AccessError
from penstock.globs import compiled_glob

PUBLISH: Final = "publish"
CONSUME: Final = "consume"
DECLARE: Final = "declare"
DELETE: Final = "delete"
BROWSE: Final = "browse"
READ_LOG: Final = "read-log"
ADMIN: Final = "admin"
RIGHTS: Final = (PUBLISH, CONSUME, DECLARE, DELETE, BROWSE, READ_LOG, ADMIN)
NAMELESS: Final = (READ_LOG, ADMIN)

EVENT: Final = "event"
QUEUE: Final = "queue"
BOTH: Final = ""
SCOPES: Final = (EVENT, QUEUE)

EVERYTHING: Final = "*"
GLOB_SIZE_MAX: Final = 1024


class Grant:
    """One right on the names that match a glob."""

    def __init__(self, right: str, scope: str = BOTH, glob: str = EVERYTHING) -> None:
        self.right = right
        self.scope = scope
        self.glob = glob
        self._names = compiled_glob(glob.encode())

    def covers(self, scope: str, name: bytes) -> bool:
        return (self.scope == BOTH or self.scope == scope) and self._names.match(name) is not None

    def covers_all(self, scope: str) -> bool:
        return (self.scope == BOTH or self.scope == scope) and not self.glob.strip("*")

    @property
    def text(self) -> str:
        """As people write it."""
        if self.right in NAMELESS:
            return self.right
        return f"{self.right} {self.scope}:{self.glob}" if self.scope else f"{self.right} {self.glob}"


def parse_grant(text: str) -> Grant:
    """A grant from its text. Raises AccessError that says what is wrong with it."""
    right, _, names = text.strip().partition(" ")
    names = names.strip()
    if right not in RIGHTS:
        raise AccessError(f"{right!r} is no right: give one of {', '.join(RIGHTS)}")
    if right in NAMELESS:
        if names not in ("", EVERYTHING):
            raise AccessError(f"{right} holds for everything: write it without {names!r}")
        return Grant(right)
    scope = BOTH
    before, colon, behind = names.partition(":")
    if colon and before in SCOPES:
        scope = before
        names = behind
    if not names:
        raise AccessError(f"{right} needs names: {right} orders.*, {right} queue:jobs, {right} event:*")
    if len(names.encode("utf-8", "replace")) > GLOB_SIZE_MAX:
        raise AccessError(f"names of {right} are longer than {GLOB_SIZE_MAX} bytes")
    try:
        return Grant(right, scope, names)
    except ValueError:  # not UTF-8
        raise AccessError(f"the names of {right} are no text") from None
