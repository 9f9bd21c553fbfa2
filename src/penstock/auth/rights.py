"""Grants: a right, and the names it applies to.

    publish orders.*        events and queues whose names match
    publish queue:jobs      that queue only, not an event of that name
    consume event:orders.*  these events only
    admin                   has no names: it includes every other right, since an admin can grant them anyway
    read-log                has no names either: there is only one log

A role is a named set of rights, and is granted like a right: `writer orders.*` is publish and declare on orders.*.

Events and queues are separate namespaces. Publishing an event needs the right on the event, putting into a queue needs
it on the queue, and consuming needs it on the queue and on each event that the queue is bound to.
"""

from typing import Final

from penstock.errors import AccessError
from penstock.globs import compiled_glob

PUBLISH: Final = "publish"
CONSUME: Final = "consume"
DECLARE: Final = "declare"
DELETE: Final = "delete"
BROWSE: Final = "browse"
OPERATE: Final = "operate"
READ_LOG: Final = "read-log"
ADMIN: Final = "admin"
RIGHTS: Final = (PUBLISH, CONSUME, DECLARE, DELETE, BROWSE, OPERATE, READ_LOG, ADMIN)
NAMELESS: Final = (READ_LOG, ADMIN)

READER: Final = "reader"
WRITER: Final = "writer"
OPERATOR: Final = "operator"
# The rights of each role on its names. An operator manages queues: inspects, pauses, purges, moves and redrives, which
# takes all rights on messages. Only an admin manages users and tokens.
ROLES: Final[dict[str, tuple[str, ...]]] = {
    READER: (CONSUME, BROWSE),
    WRITER: (PUBLISH, DECLARE),
    OPERATOR: (BROWSE, OPERATE, CONSUME, PUBLISH, DECLARE, DELETE),
}

EVENT: Final = "event"
QUEUE: Final = "queue"
BOTH: Final = ""
SCOPES: Final = (EVENT, QUEUE)

EVERYTHING: Final = "*"
GLOB_SIZE_MAX: Final = 1024


class Grant:
    """One right, or the rights of one role, on the names that match a glob."""

    def __init__(self, right: str, scope: str = BOTH, glob: str = EVERYTHING) -> None:
        self.right = right  # or the role
        self.rights: tuple[str, ...] = ROLES.get(right, (right,))
        self.scope = scope
        self.glob = glob
        self._names = compiled_glob(glob.encode())
        if right == OPERATOR and scope == BOTH and glob == EVERYTHING:
            self.rights = (*self.rights, READ_LOG)  # the log holds the messages of all queues

    def gives(self, right: str) -> bool:
        """Whether it grants the right on any name."""
        return self.right == ADMIN or right in self.rights

    def covers(self, scope: str, name: bytes) -> bool:
        return (self.scope == BOTH or self.scope == scope) and self._names.match(name) is not None

    def covers_all(self, scope: str) -> bool:
        return (self.scope == BOTH or self.scope == scope) and not self.glob.strip("*")

    @property
    def text(self) -> str:
        """The grant as written in commands and in the users file."""
        if self.right in NAMELESS:
            return self.right
        return f"{self.right} {self.scope}:{self.glob}" if self.scope else f"{self.right} {self.glob}"


def parse_grant(text: str) -> Grant:
    """Parse a grant. Raises AccessError that says what is wrong with it."""
    right, _, names = text.strip().partition(" ")
    names = names.strip()
    if right not in RIGHTS and right not in ROLES:
        raise AccessError(f"{right!r} is not a right: use one of {', '.join(RIGHTS)}, or a role: {', '.join(ROLES)}")
    if right in NAMELESS:
        if names not in ("", EVERYTHING):
            raise AccessError(f"{right} applies to everything: write it without {names!r}")
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
        raise AccessError(f"the names of {right} are not valid UTF-8") from None
