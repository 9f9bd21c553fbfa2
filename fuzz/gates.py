"""A broker that authenticates its clients: the `locked-...` targets, which are the other targets with access control.

One user, `guest`, has a token that the fuzzer knows, and some permissions but not all. The witnesses are authenticated
from the start. Besides the rules of `sessions.py`:

 8. A client that has not authenticated changes nothing, and the limits bound how long it, and how much of it, is kept.
 9. When all have left, no connection waits for authentication, and no user has a connection.
"""

from typing import Final

from fuzz.words import PROTOCOLS, mqmq_frame, rq_command, rq_group
from penstock.auth.directory import Directory, Identity
from penstock.auth.rights import parse_grant
from penstock.auth.throttle import AuthThrottle
from penstock.auth.tokens import Token, digest_of
from penstock.auth.user import User

PREFIX: Final = "locked-"
LOCKED: Final = tuple(PREFIX + protocol for protocol in (*PROTOCOLS, "any"))
BYTES_MAX: Final = 300
WITNESSES: Final = ("publisher", "consumer")

SECRET: Final = b"s" * 43
RIGHT: Final = b"pst_FUZZFUZZ_" + SECRET
WRONG: Final = (b"pst_FUZZFUZZ_" + b"t" * 43, b"pst_NOBODYxx_" + SECRET, b"hello", b"")
GRANTS: Final = (
    "publish event:e0",
    "publish queue:q[01]",
    "declare queue:q0",
    "consume q0",
    "consume event:e*",
    "browse q1",
)


def base_of(target: str) -> str:
    """The protocol of a target, without the `locked-` prefix."""
    return target.removeprefix(PREFIX)


def shown(protocol: str, token: bytes) -> bytes:
    """The request that authenticates with a token."""
    if protocol == "sevx":
        return b'a auth {"token": "%s"}\n' % token
    if protocol == "smqs":
        return b"A:%s\n" % token
    if protocol == "mqmq":
        return mqmq_frame(b"Auth", token)
    if protocol == "rq":
        return rq_group(rq_command(0xB0, token))
    return b"a auth %s\n" % token


def make_access(unacked: int) -> Directory:
    access = Directory(AuthThrottle(1000))
    access.unauthenticated_bytes_max = BYTES_MAX
    guest = User("guest")
    guest.grants = [parse_grant(text) for text in GRANTS]
    guest.quotas.queues = 2
    guest.quotas.unacked = unacked
    guest.tokens = {"FUZZFUZZ": Token("FUZZFUZZ", digest_of(SECRET), 0)}
    witness = User("witness")
    witness.grants = [parse_grant("admin")]
    access.replace({"guest": guest, "witness": witness})
    return access


def known(access: Directory, name: str) -> Identity | None:
    """The identity of a client that is authenticated from the start."""
    return access.by_default("witness") if name in WITNESSES else None
