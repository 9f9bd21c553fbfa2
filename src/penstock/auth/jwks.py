"""The public keys of an identity provider (RFC 7517), from a file or a URL.

Only keys of asymmetric signatures are used: RSA, elliptic curves, Ed25519, Ed448. A shared secret in the key set is
ignored, so no token is ever verified with one.
"""

import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import orjson

from penstock.errors import AccessError

SIZE_MAX: Final = 1 << 20  # bytes of a key set
KEYS_MAX: Final = 100
FETCH_SECONDS: Final = 10.0  # for the whole fetch
PIECE_SIZE: Final = 16 << 10
RSA_BITS_MIN: Final = 2048
RSA_BITS_MAX: Final = 8192  # signatures of longer keys take too long to verify
LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")

# The algorithms that a key may be used with, by its type and curve.
OF_RSA: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512")
OF_CURVE: Final = {"P-256": "ES256", "P-384": "ES384", "P-521": "ES512", "Ed25519": "EdDSA", "Ed448": "EdDSA"}
ALGORITHMS: Final = (*OF_RSA, *dict.fromkeys(OF_CURVE.values()))


@dataclass(frozen=True)
class Key:
    id: str  # empty if it has none
    algorithms: tuple[str, ...]
    public: Any  # a key object of the cryptography library


def keys_in(data: bytes) -> list[Key]:
    """The usable keys of a key set. Raises AccessError if it is not a key set, or has no usable key."""
    from jwt import PyJWK
    from jwt.exceptions import PyJWTError

    try:
        found = orjson.loads(data)
    except ValueError as error:
        raise AccessError(f"is not JSON: {error}") from None
    entries = found.get("keys") if isinstance(found, dict) else None
    if not isinstance(entries, list) or len(entries) > KEYS_MAX:
        raise AccessError(f"is not a JWK set: it needs `keys`, a list of at most {KEYS_MAX}")
    keys: list[Key] = []
    for entry in entries:
        algorithms = algorithms_of(entry) if isinstance(entry, dict) else ()
        if not algorithms:
            continue
        try:
            public = PyJWK(public_part(entry), algorithm=algorithms[0]).key
        except (PyJWTError, ValueError, TypeError, KeyError):
            continue  # not a supported key
        if entry["kty"] == "RSA" and not RSA_BITS_MIN <= public.key_size <= RSA_BITS_MAX:
            continue
        id = entry.get("kid")
        keys.append(Key(id if isinstance(id, str) else "", algorithms, public))
    if not keys:
        raise AccessError("has no key that can verify tokens: use RSA of 2048 to 8192 bits, EC or Ed25519")
    return keys


def algorithms_of(entry: Mapping[str, Any]) -> tuple[str, ...]:
    """The signature algorithms that a key may be used with; none if it has another use or is a shared secret."""
    if entry.get("use", "sig") != "sig":
        return ()
    if entry.get("kty") == "RSA":
        fitting: tuple[str, ...] = OF_RSA
    elif entry.get("kty") in ("EC", "OKP") and entry.get("crv") in OF_CURVE:
        fitting = (OF_CURVE[entry["crv"]],)
    else:
        return ()
    named = entry.get("alg")
    return fitting if named is None else tuple(one for one in fitting if one == named)


def public_part(entry: Mapping[str, Any]) -> dict[str, Any]:
    """A key without its private parts, which should never have been published."""
    return {name: entry[name] for name in ("kty", "crv", "n", "e", "x", "y") if name in entry}


def read_keys(path: Path) -> list[Key]:
    try:
        with path.open("rb") as file:
            data = file.read(SIZE_MAX + 1)
    except OSError as error:
        raise AccessError(f"{path}: {error.strerror}") from error
    if len(data) > SIZE_MAX:
        raise AccessError(f"{path} is larger than {SIZE_MAX} bytes")
    try:
        return keys_in(data)
    except AccessError as error:
        raise AccessError(f"{path} {error}") from None


def is_url(text: str) -> bool:
    return text.startswith(("https://", "http://"))


def check_url(url: str) -> None:
    """Keys must come over TLS, or from this machine. Raises AccessError."""
    parts = urlsplit(url)
    if not parts.hostname or (parts.scheme != "https" and parts.hostname not in LOOPBACK):
        raise AccessError(f"{url!r}: keys must be fetched over https, except from this machine")


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        """Refuse: keys come only from the configured URL."""


def fetch_keys(url: str, seconds: float = FETCH_SECONDS) -> list[Key]:
    """Blocks for up to about `seconds`, so call it in a thread, not on the event loop. Raises AccessError."""
    check_url(url)
    deadline = time.monotonic() + seconds
    opener = urllib.request.build_opener(_NoRedirects)
    pieces: list[bytes] = []
    size = 0
    try:
        with opener.open(url, timeout=seconds) as answer:
            while piece := answer.read1(PIECE_SIZE):
                pieces.append(piece)
                size += len(piece)
                if size > SIZE_MAX:
                    raise AccessError(f"{url}: larger than {SIZE_MAX} bytes")
                if time.monotonic() > deadline:
                    raise AccessError(f"{url}: not fetched within {seconds:g} seconds")
    except (OSError, ValueError) as error:  # urllib's own errors are OSErrors
        raise AccessError(f"{url}: {getattr(error, 'reason', None) or error}") from error
    try:
        return keys_in(b"".join(pieces))
    except AccessError as error:
        raise AccessError(f"{url} {error}") from None
