"""Passwords, for the console. Argon2 is slow and uses much memory: call it in a thread, never on the event loop."""

from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from penstock.errors import AccessError

LENGTH_MIN = 8
SIZE_MAX = 1024

# What OWASP recommends where memory is short. The library's defaults take 64 MiB, a quarter of a broker that may have
# 256, and four cores.
_hasher = PasswordHasher(time_cost=2, memory_cost=19 << 10, parallelism=1)


@cache
def _nobodys() -> str:
    """A dummy hash for users without a password. Computed on first use."""
    return _hasher.hash("nobody has this one")


def hash_password(password: str) -> str:
    """The hash to store for a password. Raises AccessError if the password is too short or too long."""
    if len(password) < LENGTH_MIN:
        raise AccessError(f"the password is too short: at least {LENGTH_MIN} characters")
    if len(password.encode("utf-8", "replace")) > SIZE_MAX:
        raise AccessError(f"the password is longer than {SIZE_MAX} bytes")
    return _hasher.hash(password)


def is_password(kept: str, password: str) -> bool:
    """Whether the password is correct. Takes as long if there is none, so that timing does not reveal user names."""
    if len(password.encode("utf-8", "replace")) > SIZE_MAX:
        return False
    try:
        _hasher.verify(kept or _nobodys(), password)
    except (VerificationError, InvalidHashError):
        return False
    return bool(kept)
