"""The errors that clients raise.

    ClientError
    ├─ ConnectFailed      no server could be reached: names the addresses and the reason
    ├─ TlsFailed          the server does not use TLS, or its certificate is not trusted; not retried
    ├─ AuthFailed         the server rejected the token or the certificate; not retried
    ├─ ConnectionLost     the connection ended before the response, and the request is not sent again
    ├─ Timeout            the call took too long; also a TimeoutError
    ├─ ServerError        the server refused the request; `code` is its reason
    │  └─ Denied          the user lacks a permission
    ├─ BadReply           the server broke its protocol
    └─ Closed             the program closed the client or the consumer

The tree is separate from the broker's, because clients do not depend on the broker. If a protocol cannot carry a value
(a line feed in an MQKS body, for example), the client raises ValueError before it sends anything.
"""


class ClientError(Exception):
    """Base class of all errors that clients raise."""


class ConnectFailed(ClientError):
    """No server could be reached."""


class TlsFailed(ClientError):
    """The TLS handshake failed, or the server's certificate is not trusted. The client does not retry."""


class AuthFailed(ClientError):
    """The server rejected the token or the certificate. The client does not retry."""


class ConnectionLost(ClientError):
    """The connection ended before the response."""


class Timeout(ClientError, TimeoutError):
    """The call took too long."""


class ServerError(ClientError):
    """The server refused the request. The connection stays open."""

    def __init__(self, what: str, code: str, hint: str = "") -> None:
        super().__init__(f"{what}: the server answered {code}{hint}")
        self.what = what
        self.code = code


class Denied(ServerError):
    """The user lacks a permission, or the client did not authenticate."""


class BadReply(ClientError):
    """The server broke its protocol."""


class Closed(ClientError):
    """The client or consumer was closed."""
