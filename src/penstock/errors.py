"""Every error Penstock raises on purpose.

    Error
    ├─ ProtocolError      the peer broke its protocol: it gets an error, and the connection closes
    ├─ Refused            the core refuses with a code: the client gets an error, and the connection stays open
    ├─ LogError           the log cannot be written or read
    ├─ AccessError        users, permissions or tokens cannot be read, or the change is not possible
    ├─ ClusterError       the stream of a cluster cannot be used
    └─ ConfigError        a setting is wrong: names the key, the value and where it came from

The type of an error tells whose fault it was, and whether the connection survives.
Attributes are for machines, the message is for people.
"""

from typing import Final

# Why the core refuses. Each protocol's session has one table from these codes to its own error replies.
NOT_FOUND: Final = "NOT_FOUND"  # no such queue, subscription or delivery
TOO_LARGE: Final = "TOO_LARGE"  # a name or a body over its size limit
OVER_LIMIT: Final = "OVER_LIMIT"  # a count or a total over its limit
DENIED: Final = "DENIED"  # the user lacks the permission
DRAINING: Final = "DRAINING"  # the broker is shutting down
DISK_FULL: Final = "DISK_FULL"  # no message can be stored until there is space again
INVALID: Final = "INVALID"  # the request is well-formed for its protocol but makes no sense

CONFLICT: Final = "CONFLICT"  # of an AccessError only: somebody has this name already

REFUSAL_CODES: Final = (NOT_FOUND, TOO_LARGE, OVER_LIMIT, DENIED, DRAINING, DISK_FULL, INVALID)


class Error(Exception):
    """Anything Penstock raises on purpose."""


class ProtocolError(Error):
    """The peer broke its protocol in a way that cannot be skipped over, so the connection ends."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Refused(Error):
    """The core refused. Nothing was changed, except that a publish refused by a full queue may have reached others."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(f"{code}: {detail}")
        self.code = code
        self.detail = detail


class LogError(Error):
    """The log cannot do what it was asked to."""


class AccessError(Error):
    """Users, permissions or tokens cannot be read, or the change is not possible. Never contains a secret.

    The code is NOT_FOUND, CONFLICT or INVALID.
    """

    def __init__(self, reason: str, code: str = INVALID) -> None:
        super().__init__(reason)
        self.code = code


class ClusterError(Error):
    """The stream of a cluster cannot be used."""


class ConfigError(Error):
    """A setting is wrong."""

    def __init__(self, key: str, value: object, source: str, reason: str) -> None:
        super().__init__(f"{source}: {key} = {value!r}: {reason}")
        self.key = key
        self.value = value
        self.source = source
        self.reason = reason
