"""How a client says who it is, before anything else: one way per protocol, and none where it shows nothing.

    made ──► show(token) or ask() ──► judge ──┬── in: the greeting is sent, and the connection is up
                                              └── out: the link ends for good, with AuthFailed

A client that shows a certificate and no token asks something harmless first: by TLS 1.3 it learns only with the first
answer whether its certificate was taken. Servers that are shown neither are told nothing new.
"""

from typing import NamedTuple

from penstock.client.errors import BadReply


class Verdict(NamedTuple):
    is_in: bool
    rest: bytes = b""  # what came behind it
    word: str = ""  # the server's, for the reason


class Entry:
    """The words of one protocol."""

    def show(self, token: bytes) -> bytes:
        """Something that the server answers, with the token in it."""
        raise NotImplementedError

    def ask(self) -> bytes:
        """Something that the server answers, and that changes nothing."""
        raise NotImplementedError

    def judge(self, heard: bytes) -> Verdict | None:
        """What the server thinks, by all that it has said; None while that is not enough. Raises BadReply."""
        raise NotImplementedError


class NamedEntry(Entry):
    """Of a protocol that answers `{id} ok ...` or `{id} error {error_id}`."""

    def judge(self, heard: bytes) -> Verdict | None:
        line, end, rest = heard.partition(b"\n")
        if not end:
            return None
        parts = line.split(b" ", 2)
        if len(parts) < 2 or parts[1] not in (b"ok", b"error"):
            raise BadReply(f"expected ok or error, got {line[:80]!r}")
        word = parts[2].decode("utf-8", "replace").strip() if len(parts) == 3 else ""
        return Verdict(parts[1] == b"ok", rest, word)
