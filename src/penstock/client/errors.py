"""Every error a client raises on purpose.

    ClientError
    ├─ ConnectFailed      no server could be reached: names the addresses and the reason
    ├─ TlsFailed          one was, and there is no TLS with it, or its certificate is not believed; not tried again
    ├─ AuthFailed         the server does not let this client in, by its token or certificate; not tried again
    ├─ ConnectionLost     the connection ended, and what was asked for cannot be asked again without harm
    ├─ Timeout            it took longer than allowed; also a TimeoutError
    ├─ ServerError        the server says no: `code` is its word for the reason
    │  └─ Denied          because the user of this client has no right to that
    ├─ BadReply           the server broke its protocol
    └─ Closed             the client or consumer was closed by this program

The tree is the clients' own, since they need nothing of the broker. What a protocol cannot carry (a line feed in an
MQKS body, say) is a ValueError, raised before anything is sent.
"""


class ClientError(Exception):
    """Anything a client raises on purpose."""


class ConnectFailed(ClientError):
    """No server could be reached."""


class TlsFailed(ClientError):
    """There was no agreement on TLS, or the server's certificate is not believed. The client has ended."""


class AuthFailed(ClientError):
    """The server does not let this client in. The client has ended: knocking again would not help."""


class ConnectionLost(ClientError):
    """The connection ended before the answer came."""


class Timeout(ClientError, TimeoutError):
    """It took longer than allowed."""


class ServerError(ClientError):
    """The server refuses; the connection goes on."""

    def __init__(self, what: str, code: str, hint: str = "") -> None:
        super().__init__(f"{what}: the server answers {code}{hint}")
        self.what = what
        self.code = code


class Denied(ServerError):
    """The user of this client has no right to that, or nobody knows who it is."""


class BadReply(ClientError):
    """The server said something its protocol does not know."""


class Closed(ClientError):
    """The client or consumer was closed."""
