"""The users file: JSON, readable only by its owner. It holds hashes, but no secrets.

A change is made under a lock, to a copy that replaces the file atomically, so a reader sees the whole change or none of
it. A broker that uses the file records in `users.json.seen` the last change it has loaded, and holds a lock on that
file while it runs. A command that changes the users file can wait until the change takes effect.
"""

import errno
import fcntl
import os
import re
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson

from penstock.auth.certificates import checked_name
from penstock.auth.rights import parse_grant
from penstock.auth.tokens import Token
from penstock.auth.user import User
from penstock.auth.users import NAME, Users
from penstock.errors import AccessError
from penstock.files import replace_file

VERSION = 1
FILE_SIZE_MAX = 64 << 20
USER_KEYS = {"grants", "quotas", "tokens", "certificates", "password"}
TOKEN_KEYS = {"id", "sha256", "created_at", "expires_at", "note"}
TOKEN_ID = re.compile(r"[0-9A-Za-z]{8}")
DIGEST = re.compile(r"[0-9a-f]{64}")
SEEN_POLL_SECONDS = 0.02
# The directory may belong to another user: do not follow symbolic links, and do not block on opening a pipe.
OPEN_SAFELY = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


class UsersFile:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.seen_path = path.with_name(path.name + ".seen")
        self._lock_path = path.with_name(path.name + ".lock")
        self._seen: int | None = None

    def load(self) -> Users:
        """Read the users; none if there is no file. Raises AccessError if the file is invalid."""
        try:
            with self.path.open("rb") as file:
                data = file.read(FILE_SIZE_MAX + 1)
        except FileNotFoundError:
            return Users()
        except OSError as error:
            raise AccessError(f"{self.path}: {error.strerror}") from error
        if len(data) > FILE_SIZE_MAX:
            raise AccessError(f"{self.path} is larger than {FILE_SIZE_MAX} bytes")
        try:
            return decode(data)
        except AccessError as error:
            raise AccessError(f"{self.path}: {error}") from None

    @contextmanager
    def edit(self) -> Iterator[Users]:
        """Change the users: the file is written if the `with` block ends without an error."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            lock = os.open(self._lock_path, os.O_RDWR | os.O_CREAT | OPEN_SAFELY, 0o600)
        except OSError as error:
            raise AccessError(f"{self._lock_path}: {reason_of(error)}") from error
        try:
            self._give_to_owner(lock, self._lock_path)
            fcntl.flock(lock, fcntl.LOCK_EX)
            users = self.load()
            yield users
            users.serial += 1
            self._write(readable(users))
        finally:
            os.close(lock)

    def _write(self, data: bytes) -> None:
        try:
            replace_file(self.path, data, self._give_to_owner)
        except OSError as error:
            raise AccessError(f"{self.path}: {error.strerror}") from error

    def _give_to_owner(self, handle: int, path: Path) -> None:
        """If root edits the file of a broker that runs as another user, keep the file readable for that user.

        That user owns the directory and could have placed a hard link to a file of root's there, so the owner is not
        changed unless this is a regular file with a single name.
        """
        state = os.fstat(handle)
        if not stat.S_ISREG(state.st_mode) or state.st_nlink != 1:
            raise AccessError(f"{path}: is not a regular file, or has a second hard link: remove it")
        if os.geteuid() == 0:
            owner = (self.path if self.path.exists() else self.path.parent).stat()
            os.fchown(handle, owner.st_uid, owner.st_gid)

    # -- a running broker -------------------------------------------------------------------------------------------

    def say_seen(self, serial: int) -> None:
        """For the broker: record that the file was loaded up to this change. Raises OSError if it cannot be written."""
        if self._seen is None:
            self._seen = os.open(self.seen_path, os.O_RDWR | os.O_CREAT | OPEN_SAFELY, 0o600)
            fcntl.flock(self._seen, fcntl.LOCK_SH)
        os.pwrite(self._seen, b"%-20d\n" % serial, 0)

    def stop_seeing(self) -> None:
        if self._seen is not None:
            os.close(self._seen)
            self._seen = None

    def wait_until_seen(self, serial: int, seconds: float) -> bool:
        """Wait until the broker that uses this file, if any, has loaded a change.

        False if it has not done so in time.
        """
        deadline = time.monotonic() + seconds
        while self._is_used():
            try:
                seen = int(self.seen_path.read_bytes().strip() or b"0")
            except (OSError, ValueError):
                seen = 0
            if seen >= serial:
                return True
            if time.monotonic() > deadline:
                return False
            time.sleep(SEEN_POLL_SECONDS)
        return True

    def _is_used(self) -> bool:
        """Whether a broker holds the lock on the `.seen` file."""
        try:
            handle = os.open(self.seen_path, os.O_RDWR | OPEN_SAFELY)
        except OSError:
            return False
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
        finally:
            os.close(handle)
        return False


def reason_of(error: OSError) -> str:
    return "is a symbolic link, which is not followed: remove it" if error.errno == errno.ELOOP else str(error.strerror)


# -- the format --------------------------------------------------------------------------------------------------------


def encode(users: Users) -> bytes:
    document = {
        "version": VERSION,
        "serial": users.serial,
        "users": {name: _user_out(user) for name, user in sorted(users.by_name.items())},
    }
    return orjson.dumps(document, option=orjson.OPT_INDENT_2) + b"\n"


def readable(users: Users) -> bytes:
    """Encode the users. Raises AccessError if the result could not be read back: no broker would start with it."""
    try:
        data = encode(users)
    except TypeError as error:  # a lone surrogate, which a command line argument can contain
        raise AccessError(f"cannot be written: {error}") from None
    if len(data) > FILE_SIZE_MAX:
        raise AccessError(f"would be larger than {FILE_SIZE_MAX} bytes")
    decode(data)
    return data


def _user_out(user: User) -> dict[str, object]:
    out: dict[str, object] = {"grants": [grant.text for grant in user.grants]}
    if user.quotas.said():
        out["quotas"] = user.quotas.said()
    if user.certificates:
        out["certificates"] = user.certificates
    if user.password:
        out["password"] = user.password
    out["tokens"] = [
        {
            "id": token.id,
            "sha256": token.digest,
            "created_at": token.created_at,
            "expires_at": token.expires_at,
            "note": token.note,
        }
        for token in user.tokens.values()
    ]
    return out


def decode(data: bytes) -> Users:
    """Raises AccessError that names the problem, and never contains a hash."""
    try:
        document = orjson.loads(data)
    except ValueError as error:
        raise AccessError(f"is not JSON: {error}") from None
    if not isinstance(document, dict) or document.get("version") != VERSION:
        raise AccessError(f"is not a users file of version {VERSION}")
    serial = document.get("serial", 0)
    entries = document.get("users")
    if not isinstance(entries, dict) or not isinstance(serial, int):
        raise AccessError("users is not an object, or serial is not a number")
    users = Users({}, serial)
    token_ids: set[str] = set()
    for name, entry in entries.items():
        try:
            _user_in(users, name, entry, token_ids)
        except AccessError as error:
            raise AccessError(f"user {name!r}: {error}") from None
    return users


def _user_in(users: Users, name: str, entry: Any, token_ids: set[str]) -> None:
    if not NAME.fullmatch(name):
        raise AccessError("is not a valid user name")
    if not isinstance(entry, dict) or set(entry) - USER_KEYS:
        raise AccessError(f"has keys other than {', '.join(sorted(USER_KEYS))}")
    user = users.add(name)
    for text in _texts(entry, "grants"):
        user.grants.append(parse_grant(text))
    quotas = entry.get("quotas", {})
    if not isinstance(quotas, dict):
        raise AccessError("quotas is not an object")
    for quota, amount in quotas.items():
        if not isinstance(amount, int) or isinstance(amount, bool):
            raise AccessError(f"quota {quota} is not a number")
        user.quotas.set(quota, amount)
    for certificate in _texts(entry, "certificates"):
        users.add_certificate(name, checked_name(certificate))
    password = entry.get("password", "")
    if not isinstance(password, str):
        raise AccessError("password is not a string")
    user.password = password
    tokens = entry.get("tokens", [])
    if not isinstance(tokens, list):
        raise AccessError("tokens is not a list")
    for item in tokens:
        token = _token_in(item)
        if token.id in token_ids:
            raise AccessError(f"token {token.id} appears twice")
        token_ids.add(token.id)
        user.tokens[token.id] = token


def _texts(entry: dict[str, Any], key: str) -> list[str]:
    values = entry.get(key, [])
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise AccessError(f"{key} is not a list of strings")
    return values


def _token_in(item: Any) -> Token:
    if not isinstance(item, dict) or set(item) - TOKEN_KEYS:
        raise AccessError(f"a token has keys other than {', '.join(sorted(TOKEN_KEYS))}")
    id, digest, note = item.get("id"), item.get("sha256"), item.get("note", "")
    if not isinstance(id, str) or not isinstance(digest, str) or not isinstance(note, str):
        raise AccessError("a token has no id, no sha256, or a note that is not a string")
    if not TOKEN_ID.fullmatch(id) or not DIGEST.fullmatch(digest):
        raise AccessError("a token's id is not 8 letters and digits, or its sha256 is not 64 hex digits")
    created_at, expires_at = item.get("created_at", 0), item.get("expires_at", 0)
    if not isinstance(created_at, int) or not isinstance(expires_at, int):
        raise AccessError(f"a timestamp of token {id} is not a number of seconds")
    return Token(id, digest, created_at, expires_at, note)
