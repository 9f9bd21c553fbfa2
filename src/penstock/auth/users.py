"""Changes to users, made on the command line or over HTTP. Invalid changes raise AccessError."""

import re
from collections.abc import Mapping, Sequence

from penstock.auth.certificates import checked_name
from penstock.auth.rights import ADMIN, NAMELESS, RIGHTS, ROLES, Grant, parse_grant
from penstock.auth.tokens import Token, new_token
from penstock.auth.user import User
from penstock.errors import CONFLICT, NOT_FOUND, AccessError

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")
NOTE_SIZE_MAX = 200
TOKENS_MAX = 1000


class Users:
    """The contents of one users file."""

    def __init__(self, by_name: dict[str, User] | None = None, serial: int = 0) -> None:
        self.by_name = by_name or {}
        self.serial = serial  # incremented with each change of the file

    def user(self, name: str) -> User:
        user = self.by_name.get(name)
        if user is None:
            raise AccessError(f"there is no user {name!r}", NOT_FOUND)
        return user

    def add(self, name: str) -> User:
        if not NAME.fullmatch(name):
            raise AccessError(f"{name!r} is not a valid user name: use at most 64 letters, digits and . _ @ -")
        if name in self.by_name:
            raise AccessError(f"user {name!r} already exists", CONFLICT)
        user = self.by_name[name] = User(name)
        return user

    def remove(self, name: str) -> User:
        user = self.user(name)
        del self.by_name[name]
        return user

    def grant(self, name: str, text: str) -> Grant:
        """Grant a right; does nothing if the user already has the same grant."""
        user = self.user(name)
        grant = parse_grant(text)
        if grant.text not in [given.text for given in user.grants]:
            user.grants.append(grant)
        return grant

    def revoke(self, name: str, text: str) -> Grant:
        """Revoke a grant, written as it was granted."""
        user = self.user(name)
        grant = parse_grant(text)
        left = [given for given in user.grants if given.text != grant.text]
        if len(left) == len(user.grants):
            has = ", ".join(given.text for given in user.grants) or "none"
            raise AccessError(f"user {name!r} was not granted {grant.text!r}; its rights: {has}", NOT_FOUND)
        user.grants = left
        return grant

    def set_quota(self, name: str, text: str) -> None:
        """Set a quota from text such as `connections=10`; 0 means no limit."""
        quota, _, amount = text.partition("=")
        if not (amount.isascii() and amount.isdigit() and len(amount) < 20):
            raise AccessError(f"{text!r} is not a quota: write name=number, such as connections=10")
        self.user(name).quotas.set(quota.strip(), int(amount))

    def add_certificate(self, name: str, certificate: str) -> None:
        """Authenticate clients with a certificate of that name as this user. A name belongs to one user only."""
        user = self.user(name)
        certificate = checked_name(certificate)
        for other in self.by_name.values():
            if certificate in other.certificates and other is not user:
                raise AccessError(f"the certificate {certificate} belongs to user {other.name!r}", CONFLICT)
        if certificate not in user.certificates:
            user.certificates.append(certificate)

    def remove_certificate(self, name: str, certificate: str) -> None:
        user = self.user(name)
        certificate = checked_name(certificate)
        if certificate not in user.certificates:
            raise AccessError(f"user {name!r} has no certificate {certificate}", NOT_FOUND)
        user.certificates.remove(certificate)

    def create_token(self, name: str, now_seconds: int, expires_at: int = 0, note: str = "") -> str:
        """Create a token and return its text, which cannot be shown again."""
        user = self.user(name)
        if len(note) > NOTE_SIZE_MAX:
            raise AccessError(f"the note is longer than {NOTE_SIZE_MAX} characters")
        if len(user.tokens) >= TOKENS_MAX:
            raise AccessError(f"user {name!r} has {TOKENS_MAX} tokens, the maximum")
        text, token = new_token(now_seconds, expires_at, note)
        while any(token.id in other.tokens for other in self.by_name.values()):
            text, token = new_token(now_seconds, expires_at, note)
        user.tokens[token.id] = token
        return text

    def set_password(self, name: str, hashed: str) -> None:
        """Set the password hash (`auth/passwords.py`); empty for no password."""
        self.user(name).password = hashed

    def revoke_token(self, id: str) -> tuple[User, Token]:
        for user in self.by_name.values():
            token = user.tokens.pop(id, None)
            if token is not None:
                return user, token
        raise AccessError(f"there is no token {id!r}", NOT_FOUND)


def grants_of_role(role: str, names: Sequence[str] = ()) -> list[str]:
    """The grants, as text, for a role on these names; on everything if no names are given."""
    if role not in ROLES and role not in NAMELESS:
        raise AccessError(f"{role!r} is not a role: use one of {', '.join((*ROLES, ADMIN))}")
    return [role] if role in NAMELESS else [f"{role} {name}" for name in names or ("*",)]


def grants_in(words: Sequence[str]) -> list[str]:
    """Parse grants from command line words: `publish orders.* jobs admin` is three. Words may be quoted together.

    A name that is also the name of a right is written with its scope: `publish queue:admin`.
    """
    grants: list[str] = []
    right = ""
    for word in " ".join(words).split():
        if word in RIGHTS or word in ROLES:
            if right:
                grants.append(right)
            right = word
            if word in NAMELESS:
                grants.append(word)
                right = ""
        elif not right and not (grants and grants[-1].partition(" ")[0] not in NAMELESS):
            raise AccessError(f"{word!r} is not a right: use one of {', '.join((*RIGHTS, *ROLES))}, then names")
        else:
            grants.append(f"{right or grants[-1].partition(' ')[0]} {word}")
            right = ""
    if right:
        grants.append(right)  # has no names; `parse_grant` raises the error
    return grants


def changes_between(before: Mapping[str, User], after: Mapping[str, User]) -> list[str]:
    """The differences as text for the audit log. Contains no secrets."""
    changes = [f"user {name} removed" for name in before if name not in after]
    for name, user in after.items():
        old = before.get(name)
        if old is None:
            changes.append(f"user {name} added")
            old = User(name)
        had, has = [grant.text for grant in old.grants], [grant.text for grant in user.grants]
        changes += [f"user {name}: revoked {text}" for text in had if text not in has]
        changes += [f"user {name}: granted {text}" for text in has if text not in had]
        changes += [f"user {name}: token {id} revoked" for id in old.tokens if id not in user.tokens]
        changes += [f"user {name}: token {id} created" for id in user.tokens if id not in old.tokens]
        changes += [f"user {name}: certificate {c} removed" for c in old.certificates if c not in user.certificates]
        changes += [f"user {name}: certificate {c} added" for c in user.certificates if c not in old.certificates]
        if old.password != user.password:
            changes.append(f"user {name}: password {'changed' if user.password else 'removed'}")
        if old.quotas.said() != user.quotas.said():
            quotas = ", ".join(f"{quota}={amount}" for quota, amount in user.quotas.said().items())
            changes.append(f"user {name}: quotas are {quotas or 'none'}")
    return changes
