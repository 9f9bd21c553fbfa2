"""Passwords, for people at the console. Argon2 takes its time and memory: call it in a thread, never on the loop."""

from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from penstock.errors import AccessError

LENGTH_MIN = 8
SIZE_MAX = 1024

_hasher = PasswordHasher()  # the library's defaults are those of RFC 9106


@cache
def _nobodys() -> str:
    """Made when it is first needed: it takes 64 MiB for a moment."""
    return _hasher.hash("nobody has this one")


def hash_password(password: str) -> str:
    """What is kept of a password. Raises AccessError when it is too short, or longer than anybody types."""
    if len(password) < LENGTH_MIN:
        raise AccessError(f"the password is too short: at least {LENGTH_MIN} characters")
    if len(password.encode("utf-8", "replace")) > SIZE_MAX:
        raise AccessError(f"the password is longer than {SIZE_MAX} bytes")
    return _hasher.hash(password)


def is_password(kept: str, password: str) -> bool:
    """Whether that is the password. Takes as long where there is none, so that nobody learns which users there are."""
    if len(password.encode("utf-8", "replace")) > SIZE_MAX:
        return False
    try:
        _hasher.verify(kept or _nobodys(), password)
    except (VerificationError, InvalidHashError):
        return False
    return bool(kept)
