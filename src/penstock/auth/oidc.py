"""Bearer tokens of an identity provider: JWTs (RFC 7519) from OpenID Connect and OAuth 2, besides our own tokens.

    token ──► size, shape ──► key by `kid` ──► signature, iss, aud ──► name, rights ──► exp, nbf ──► a user

A library verifies the signature; the keys determine the allowed algorithms, never the token. Claims are used only after
that. Rules in the settings map claims to grants, so the operator of the broker decides what a role or a group of the
provider may do here.

A client with such a token is a user that is not in the users file, named by a claim plus a prefix that no user in the
file can have. It has the rights of its token, for as long as the token is valid: two tokens of one person with
different rights are two users.
"""

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from penstock.auth.directory import Issuer, VerifiedToken
from penstock.auth.jwks import ALGORITHMS, Key
from penstock.auth.rights import Grant, parse_grant
from penstock.auth.users import grants_in
from penstock.errors import AccessError

NAME_SIZE_MAX: Final = 128  # characters of the claim with the user's name
VALUES_MAX: Final = 1000  # of the claims that grant rights
WHICH_SIZE_MAX: Final = 64
KNOWN_MAX: Final = 4096  # verified tokens that are cached: verifying a signature costs as much as several messages
LOOK_AGAIN_SECONDS: Final = 10.0  # minimum time between two fetches because of unknown keys


class Rules:
    """Maps claim values to grants. Written as `penstock.read = reader orders.*; ops = admin`."""

    def __init__(self, text: str) -> None:
        self.grants: dict[str, list[Grant]] = {}
        for rule in text.replace("\n", ";").split(";"):
            if not rule.strip():
                continue
            value, sign, rights = rule.strip().partition(" = ")
            if not sign or not value.strip() or not rights.strip():
                raise AccessError(f"{rule.strip()!r} is not a rule: use VALUE = RIGHT NAMES, such as ops = operator *")
            found = [parse_grant(grant) for grant in grants_in([rights.replace(",", " ")])]
            self.grants.setdefault(value.strip(), []).extend(found)
        if not self.grants:
            raise AccessError("has no rule, so nobody could authenticate")

    def of(self, values: Sequence[str]) -> list[Grant]:
        """The grants for these values, without duplicates, in the order of the rules."""
        named = set(values)
        found = [grant for value, grants in self.grants.items() if value in named for grant in grants]
        return list({grant.text: grant for grant in found}.values())


class Oidc(Issuer):
    """Verifies tokens of one issuer. Calls `want_keys` if a token names an unknown key."""

    def __init__(
        self,
        issuer: str,
        audiences: Sequence[str],
        rules: Rules,
        *,
        rights_claims: Sequence[str] = ("scope",),
        user_claim: str = "sub",
        prefix: str = "oidc:",
        leeway: float = 30.0,
        size_max: int = 8192,
        want_keys: Callable[[], None] | None = None,
    ) -> None:
        super().__init__()
        self.issuer = issuer
        self.audiences = list(audiences)
        self.rules = rules
        self.rights_claims = list(rights_claims)
        self.user_claim = user_claim
        self.prefix = prefix
        self.leeway = leeway
        self.size_max = size_max
        self.want_keys = want_keys
        self._keys: list[Key] = []
        self._known: dict[bytes, VerifiedToken] = {}  # by digest of the token, most recently used last
        self._looked_at = -LOOK_AGAIN_SECONDS

    def use_keys(self, keys: list[Key]) -> None:
        """Replace the issuer's keys. Clears the cache, so tokens signed with another key are no longer accepted."""
        self._keys = keys
        self._known.clear()

    def verify(self, presented: bytes, seconds: float) -> VerifiedToken | None:
        self.why = ""
        if len(presented) > self.size_max:
            self.why = f"a token of {len(presented)} bytes: oidc_token_size_max is {self.size_max}"
            return None
        digest = hashlib.sha256(presented).digest()
        verified = self._known.pop(digest, None)
        try:
            if verified is None:
                verified = self._check(presented, digest)
            self._check_time(verified, seconds)
        except AccessError as error:
            self.why = str(error)
            return None
        self._known[digest] = verified
        if len(self._known) > KNOWN_MAX:
            del self._known[next(iter(self._known))]
        return verified

    def _check(self, presented: bytes, digest: bytes) -> VerifiedToken:
        """Verify everything except the times. Raises AccessError with a reason meant for the broker's operator."""
        import jwt

        try:
            header = jwt.get_unverified_header(presented)
            algorithm = str(header.get("alg"))
            key = self._key(header.get("kid"), algorithm)
            claims = jwt.decode(
                presented,
                key.public,
                algorithms=[algorithm],  # `_key` has checked that it fits the key
                audience=self.audiences,
                issuer=self.issuer,
                options={
                    "require": ["exp", "iss", "aud", self.user_claim],
                    "verify_exp": False,  # `_check_time` does it, by the broker's clock
                    "verify_nbf": False,
                    "verify_iat": False,
                },
            )
        except AccessError:
            raise
        except Exception as error:  # the token is untrusted: any failure in the library means it is rejected
            raise AccessError(f"not a token of {self.issuer}: {type(error).__name__}: {error}"[:300]) from None
        grants = self.rules.of(values_of(claims, self.rights_claims))
        if not grants:
            raise AccessError(f"none of its claims {', '.join(self.rights_claims)} grants a right")
        name = self.prefix + name_in(claims, self.user_claim)
        begins, ends = number_in(claims, "nbf", 0.0), number_in(claims, "exp", None)
        which = claims.get("jti")
        if not isinstance(which, str) or not which.isprintable() or len(which) > WHICH_SIZE_MAX:
            which = digest.hex()[:12]
        return VerifiedToken(name, grants, which, begins - self.leeway, ends + self.leeway)

    def _key(self, id: object, algorithm: str) -> Key:
        """The key named in the token. A token that names no key needs exactly one fitting key."""
        if algorithm not in ALGORITHMS:
            raise AccessError(f"the algorithm {algorithm[:20]!r} is not accepted")
        fitting = [key for key in self._keys if algorithm in key.algorithms]
        if id is None and len(fitting) == 1:
            return fitting[0]
        named = [key for key in fitting if id is not None and key.id == id]
        if len(named) == 1:
            return named[0]
        if id is not None and not named:
            self._want_keys()
        raise AccessError(f"there is no key {str(id)[:100]!r} for {algorithm}, or more than one")

    def _want_keys(self) -> None:
        """Fetch the keys again: the issuer may have added one. Rate-limited, because anyone can make up key ids."""
        now = time.monotonic()
        if self.want_keys is not None and now - self._looked_at >= LOOK_AGAIN_SECONDS:
            self._looked_at = now
            self.want_keys()

    def _check_time(self, verified: VerifiedToken, seconds: float) -> None:
        if seconds < verified.begins_at:
            raise AccessError("it is not valid yet")
        if seconds >= verified.expires_at:
            raise AccessError("it has expired")


def claim_in(claims: Mapping[str, Any], path: str) -> object:
    """A claim by its name, or by a dotted path: `realm_access.roles`."""
    if path in claims:
        return claims[path]
    found: object = claims
    for name in path.split("."):
        if not isinstance(found, Mapping) or name not in found:
            return None
        found = found[name]
    return found


def values_of(claims: Mapping[str, Any], paths: Sequence[str]) -> list[str]:
    """The values of the claims that grant rights: the words of a string, or the strings in a list."""
    values: list[str] = []
    for path in paths:
        found = claim_in(claims, path)
        if isinstance(found, str):
            values += found.split(" ")[: VALUES_MAX + 1]
        elif isinstance(found, list):
            values += [value for value in found[: VALUES_MAX + 1] if isinstance(value, str)]
        if len(values) > VALUES_MAX:
            raise AccessError(f"its claims have more than {VALUES_MAX} values")
    return values


def name_in(claims: Mapping[str, Any], path: str) -> str:
    name = claim_in(claims, path)
    if not isinstance(name, str) or not name or len(name) > NAME_SIZE_MAX or not name.isprintable():
        raise AccessError(f"its claim {path} is not a name: use printable text of at most {NAME_SIZE_MAX} characters")
    return name


def number_in(claims: Mapping[str, Any], name: str, otherwise: float | None) -> float:
    value = claims.get(name, otherwise)
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e15:
        raise AccessError(f"its claim {name} is not a timestamp")
    return float(value)
