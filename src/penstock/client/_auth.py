"""Authentication at the start of a connection: one `Auth` per protocol, skipped by clients without credentials.

    encode_token or encode_probe ──► parse_answer ──┬── accepted: the greeting is sent, and the connection is up
                                                    └── rejected: the link ends for good, with AuthFailed

A client with a certificate but no token sends a harmless request first: in TLS 1.3 it learns only from the first
response whether the server accepted its certificate. Without either, the client sends nothing extra.
"""

from typing import NamedTuple

from penstock.client.errors import BadReply


class AuthAnswer(NamedTuple):
    is_accepted: bool
    rest: bytes = b""  # bytes received after the answer
    reason: str = ""  # as the server gave it


class Auth:
    """The authentication exchange of one protocol."""

    def encode_token(self, token: bytes) -> bytes:
        """A request with the token, which the server answers."""
        raise NotImplementedError

    def encode_probe(self) -> bytes:
        """A request without side effects, which the server answers."""
        raise NotImplementedError

    def parse_answer(self, heard: bytes) -> AuthAnswer | None:
        """Parse the answer from all bytes received so far; None while it is incomplete. Raises BadReply."""
        raise NotImplementedError


class AuthById(Auth):
    """For protocols that answer `{id} ok ...` or `{id} error {error_id}`."""

    def parse_answer(self, heard: bytes) -> AuthAnswer | None:
        line, end, rest = heard.partition(b"\n")
        if not end:
            return None
        parts = line.split(b" ", 2)
        if len(parts) < 2 or parts[1] not in (b"ok", b"error"):
            raise BadReply(f"expected ok or error, got {line[:80]!r}")
        reason = parts[2].decode("utf-8", "replace").strip() if len(parts) == 3 else ""
        return AuthAnswer(parts[1] == b"ok", rest, reason)
