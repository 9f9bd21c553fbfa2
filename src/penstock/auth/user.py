"""One user: its credentials, rights and current usage.

Permission decisions are cached by name, so a message costs one dictionary lookup. `publishable` and `puttable` hold the
names that are allowed without a further check. Sessions keep a reference to them, so they are cleared, never replaced.
"""

from collections.abc import Mapping
from typing import Final

from penstock.auth.quotas import Meter, Quotas
from penstock.auth.rights import ADMIN, DECLARE, EVENT, PUBLISH, QUEUE, Grant
from penstock.auth.tokens import Token
from penstock.errors import DENIED, OVER_LIMIT, Refused

NAMES_KNOWN_MAX: Final = 10_000  # cached decisions; clients can make up any number of names
NAME_KNOWN_SIZE_MAX: Final = 1024  # longer names are not cached, or they would fill the memory


def remember(names: dict[bytes, None], name: bytes) -> None:
    if len(name) > NAME_KNOWN_SIZE_MAX:
        return
    if len(names) >= NAMES_KNOWN_MAX:
        names.clear()
    names[name] = None


class User:
    def __init__(self, name: str) -> None:
        self.name = name
        self.grants: list[Grant] = []
        self.quotas = Quotas()
        self.tokens: dict[str, Token] = {}
        self.certificates: list[str] = []
        self.password = ""  # its argon2 hash; empty if it has no password
        self.revision = 0  # incremented when a right is revoked or the user removed: ends existing connections
        self.password_revision = 0
        # Cached decisions.
        self.publishable: dict[bytes, None] = {}  # events
        self.puttable: dict[bytes, None] = {}  # queues it may put messages into, and create if missing
        self.gettable: dict[bytes, None] = {}  # the same for getting messages
        self._decided: dict[tuple[str, str, bytes], bool] = {}
        # Current usage.
        self.connections = 0
        self.made: dict[bytes, None] = {}  # queues it has created
        self.published = 0
        self.received_bytes = 0
        self.denied = 0
        self.paused = 0  # times a connection had to wait
        self.messages_meter = Meter()
        self.bytes_meter = Meter()
        self.metered = False

    # -- rights -----------------------------------------------------------------------------------------------------

    def has(self, right: str) -> bool:
        """Whether it has a right on any name; for rights without names, whether it has the right."""
        return any(grant.gives(right) for grant in self.grants)

    def may(self, right: str, scope: str, name: bytes) -> bool:
        key = (right, scope, name)
        known = self._decided.get(key)
        if known is None:
            known = self._decide(right, scope, name)
            if len(name) > NAME_KNOWN_SIZE_MAX:
                return known
            if len(self._decided) >= NAMES_KNOWN_MAX:
                self._decided.clear()
            self._decided[key] = known
        return known

    def _decide(self, right: str, scope: str, name: bytes) -> bool:
        return any(grant.right == ADMIN or (grant.gives(right) and grant.covers(scope, name)) for grant in self.grants)

    def may_all(self, right: str, scope: str) -> bool:
        """Whether it has the right on all possible names."""
        return any(grant.right == ADMIN or (grant.gives(right) and grant.covers_all(scope)) for grant in self.grants)

    def check(self, right: str, scope: str, name: bytes) -> None:
        """Raises Refused if it lacks the right."""
        if not self.may(right, scope, name):
            raise self.refusal(f"{right} {scope} {name.decode('utf-8', 'backslashreplace')!r}")

    def check_has(self, right: str) -> None:
        if not self.has(right):
            raise self.refusal(right)

    def check_all(self, right: str, scope: str) -> None:
        if not self.may_all(right, scope):
            raise self.refusal(f"{right} {scope} '*'")

    def refusal(self, what: str) -> Refused:
        self.denied += 1
        return Refused(DENIED, f"user {self.name!r} lacks the right: {what}")

    def check_publish(self, event: bytes) -> None:
        """For an event that is not in `publishable`: adds it, or raises Refused."""
        self.check(PUBLISH, EVENT, event)
        remember(self.publishable, event)

    def check_put(self, queue: bytes, is_new: bool) -> None:
        """For a queue that is not in `puttable`: checks put, and declare if the queue is new. Raises Refused."""
        self.check(PUBLISH, QUEUE, queue)
        if self.quotas.queues == 0 and self.may(DECLARE, QUEUE, queue):
            remember(self.puttable, queue)
        elif is_new:
            self.check(DECLARE, QUEUE, queue)

    def remember_get(self, queue: bytes) -> None:
        remember(self.gettable, queue)

    # -- quotas -----------------------------------------------------------------------------------------------------

    def has_room(self) -> bool:
        """Whether it may open one more connection."""
        most = self.quotas.connections
        return most == 0 or self.connections < most

    def connect(self) -> None:
        self.connections += 1

    def disconnect(self) -> None:
        self.connections -= 1

    def charge(self, messages: int, size: int, now: int) -> float:
        """Count published messages and bytes; returns how many seconds to throttle the connection."""
        self.published += messages
        self.received_bytes += size
        if not self.metered:
            return 0.0
        wait = max(self.messages_meter.charge(messages, now), self.bytes_meter.charge(size, now))
        if wait > 0:
            self.paused += 1
        return wait

    def count_made(self, queue: bytes, there: Mapping[bytes, object]) -> None:
        """Count a queue it creates. Raises Refused if it has reached its quota; deleted queues do not count."""
        most = self.quotas.queues
        if most == 0 or queue in self.made:
            return
        if len(self.made) >= most:
            for name in list(self.made):
                if name not in there:
                    del self.made[name]
            if len(self.made) >= most:
                raise self.over_quota("queues", most)
        self.made[queue] = None

    def over_quota(self, name: str, amount: int) -> Refused:
        return Refused(OVER_LIMIT, f"user {self.name!r} has reached its quota: {name} is {amount}")

    # -- changes ----------------------------------------------------------------------------------------------------

    def adopt(self, other: "User") -> None:
        """Take over the current state of the users file. A revoked right ends existing connections, see `revision`."""
        kept = {grant.text for grant in other.grants}
        if any(grant.text not in kept for grant in self.grants):
            self.revision += 1
        if self.password != other.password:
            self.password_revision += 1
        self.grants = other.grants
        self.tokens = other.tokens
        self.certificates = other.certificates
        self.password = other.password
        self.set_quotas(other.quotas)
        self.forget_decisions()

    def set_quotas(self, quotas: Quotas) -> None:
        self.quotas = quotas
        self.messages_meter.set_rate(quotas.messages)
        self.bytes_meter.set_rate(quotas.bytes)
        self.metered = quotas.messages > 0 or quotas.bytes > 0

    def forget_decisions(self) -> None:
        self.publishable.clear()
        self.puttable.clear()
        self.gettable.clear()
        self._decided.clear()
