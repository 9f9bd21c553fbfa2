"""Every error Penstock raises on purpose.

    Error
    ├─ ProtocolError      the peer broke its protocol: it is told so, and the door closes
    ├─ Refused            the core says no, with a code: it is told so, and life goes on
    ├─ LogError           the log cannot be written or read
    ├─ AccessError        users, rights or tokens cannot be read, or changed like that
    └─ ConfigError        a setting is wrong: names the key, the value and where it came from

The first question an error answers is whose fault it was, the second whether the connection survives.
Attributes are for machines, the message is for people.
"""

from typing import Final

# Why the core refuses. Each protocol's session owns one table from these codes to its own words.
NOT_FOUND: Final = "NOT_FOUND"  # no such queue, subscription or delivery
TOO_LARGE: Final = "TOO_LARGE"  # a name or a body over its size limit
OVER_LIMIT: Final = "OVER_LIMIT"  # a count or a total over its limit
DENIED: Final = "DENIED"  # this user may not do that
DRAINING: Final = "DRAINING"  # the broker is on its way down
DISK_FULL: Final = "DISK_FULL"  # no message can be kept before there is room again
INVALID: Final = "INVALID"  # the request is well-formed for its protocol but makes no sense

REFUSAL_CODES: Final = (NOT_FOUND, TOO_LARGE, OVER_LIMIT, DENIED, DRAINING, DISK_FULL, INVALID)


class Error(Exception):
    """Anything Penstock raises on purpose."""


class ProtocolError(Error):
    """The peer broke its protocol in a way that cannot be skipped over, so the connection ends."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Refused(Error):
    """The core will not do it; nothing was changed."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(f"{code}: {detail}")
        self.code = code
        self.detail = detail


class LogError(Error):
    """The log cannot do what it was asked to."""


class AccessError(Error):
    """Users, rights or tokens cannot be read, or changed like that. Never tells a secret."""


class ConfigError(Error):
    """A setting is wrong."""

    def __init__(self, key: str, value: object, source: str, reason: str) -> None:
        super().__init__(f"{source}: {key} = {value!r}: {reason}")
        self.key = key
        self.value = value
        self.source = source
        self.reason = reason
