"""Every error a client raises on purpose.

    ClientError
    ├─ ConnectFailed      no server could be reached: names the addresses and the reason
    ├─ ConnectionLost     the connection ended, and what was asked for cannot be asked again without harm
    ├─ Timeout            it took longer than allowed; also a TimeoutError
    ├─ ServerError        the server says no: `code` is its word for the reason
    ├─ BadReply           the server broke its protocol
    └─ Closed             the client or consumer was closed by this program

The tree is the clients' own, since they need nothing of the broker. What a protocol cannot carry (a line feed in an
MQKS body, say) is a ValueError, raised before anything is sent.
"""


class ClientError(Exception):
    """Anything a client raises on purpose."""


class ConnectFailed(ClientError):
    """No server could be reached."""


class ConnectionLost(ClientError):
    """The connection ended before the answer came."""


class Timeout(ClientError, TimeoutError):
    """It took longer than allowed."""


class ServerError(ClientError):
    """The server refuses; the connection goes on."""

    def __init__(self, what: str, code: str) -> None:
        super().__init__(f"{what}: the server answers {code}")
        self.what = what
        self.code = code


class BadReply(ClientError):
    """The server said something its protocol does not know."""


class Closed(ClientError):
    """The client or consumer was closed."""
