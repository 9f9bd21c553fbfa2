"""Clients for the five protocols; they work with any server that speaks them: `from penstock.client import mqks`.

Each module has an `AsyncClient`, and a `Client` with the same methods for programs without an event loop.
"""

from penstock.client._options import Options as Options
from penstock.client.errors import (
    AuthFailed as AuthFailed,
)
from penstock.client.errors import (
    BadReply as BadReply,
)
from penstock.client.errors import (
    ClientError as ClientError,
)
from penstock.client.errors import (
    Closed as Closed,
)
from penstock.client.errors import (
    ConnectFailed as ConnectFailed,
)
from penstock.client.errors import (
    ConnectionLost as ConnectionLost,
)
from penstock.client.errors import (
    Denied as Denied,
)
from penstock.client.errors import (
    ServerError as ServerError,
)
from penstock.client.errors import (
    Timeout as Timeout,
)
from penstock.client.errors import (
    TlsFailed as TlsFailed,
)
