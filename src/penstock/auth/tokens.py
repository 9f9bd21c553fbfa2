"""Tokens: a public id, followed by a secret of 256 random bits.

    pst_<id: 8 characters of base62>_<secret: 43 characters of base64url>

Only the hash of the secret is stored. A secret that cannot be guessed needs no salt and no slow hash.
"""

import hashlib
import re
import secrets
from typing import Final

PREFIX: Final = "pst_"
ID_LENGTH: Final = 8
SECRET_LENGTH: Final = 43
ALPHABET: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
SHAPE: Final = re.compile(rb"pst_([0-9A-Za-z]{8})_([0-9A-Za-z_-]{43})")
TRACE: Final = re.compile(rb"(pst_[0-9A-Za-z]{0,8}_?)[0-9A-Za-z_-]*")
JWT: Final = b"eyJ"  # `{"` in base64, the start of a JSON object
JWT_TRACE: Final = re.compile(rb"eyJ[0-9A-Za-z_-]{5,}(?:\.[0-9A-Za-z_-]*){0,4}")
TOKEN_SIZE: Final = len(PREFIX) + ID_LENGTH + 1 + SECRET_LENGTH


class Token:
    """A token as stored. Times are seconds since 1970; `expires_at` 0 means never."""

    def __init__(self, id: str, digest: str, created_at: int, expires_at: int = 0, note: str = "") -> None:
        self.id = id
        self.digest = digest  # SHA-256 of the secret part, in hex
        self.created_at = created_at
        self.expires_at = expires_at
        self.note = note

    def is_over(self, seconds: float) -> bool:
        return self.expires_at != 0 and seconds >= self.expires_at


def new_token(now_seconds: int, expires_at: int = 0, note: str = "") -> tuple[str, Token]:
    """Create a token: its text, to be shown once, and the record to store."""
    id = "".join([secrets.choice(ALPHABET) for _ in range(ID_LENGTH)])
    secret = secrets.token_urlsafe(32)
    return f"{PREFIX}{id}_{secret}", Token(id, digest_of(secret.encode()), now_seconds, expires_at, note)


def digest_of(secret: bytes) -> str:
    return hashlib.sha256(secret).hexdigest()


def take_apart(presented: bytes) -> tuple[str, bytes] | None:
    """Split a presented token into id and secret; None if it does not have the form of a token."""
    if len(presented) != TOKEN_SIZE:
        return None
    found = SHAPE.fullmatch(presented)
    return None if found is None else (found[1].decode(), found[2])


def redacted(text: bytes) -> bytes:
    """The text with the secret of every token in it masked, even if the token is truncated."""
    if b"pst_" in text:
        text = TRACE.sub(rb"\1***", text)
    return JWT_TRACE.sub(b"eyJ***", text) if JWT in text else text


def is_like_jwt(presented: bytes) -> bool:
    """Whether it looks like a JWT of an identity provider: three parts separated by dots."""
    return presented.startswith(JWT) and presented.count(b".") == 2


def id_of(presented: bytes) -> str:
    """The id of a presented token, for display; empty if it is not a token."""
    parts = take_apart(presented)
    return "" if parts is None else parts[0]
