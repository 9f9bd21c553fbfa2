"""Authentication at the start of a connection: one `Entry` per protocol, skipped by clients without credentials.

    made ──► show(token) or ask() ──► judge ──┬── accepted: the greeting is sent, and the connection is up
                                              └── rejected: the link ends for good, with AuthFailed

A client with a certificate but no token sends a harmless request first: in TLS 1.3 it learns only from the first
response whether the server accepted its certificate. Without either, the client sends nothing extra.
"""

from typing import NamedTuple

from penstock.client.errors import BadReply


class Verdict(NamedTuple):
    is_in: bool
    rest: bytes = b""  # bytes received after the answer
    word: str = ""  # the reason, as the server gave it


class Entry:
    """The authentication exchange of one protocol."""

    def show(self, token: bytes) -> bytes:
        """A request with the token, which the server answers."""
        raise NotImplementedError

    def ask(self) -> bytes:
        """A request without side effects, which the server answers."""
        raise NotImplementedError

    def judge(self, heard: bytes) -> Verdict | None:
        """Parse the answer from all bytes received so far; None while it is incomplete. Raises BadReply."""
        raise NotImplementedError


class NamedEntry(Entry):
    """For protocols that answer `{id} ok ...` or `{id} error {error_id}`."""

    def judge(self, heard: bytes) -> Verdict | None:
        line, end, rest = heard.partition(b"\n")
        if not end:
            return None
        parts = line.split(b" ", 2)
        if len(parts) < 2 or parts[1] not in (b"ok", b"error"):
            raise BadReply(f"expected ok or error, got {line[:80]!r}")
        word = parts[2].decode("utf-8", "replace").strip() if len(parts) == 3 else ""
        return Verdict(parts[1] == b"ok", rest, word)
