import asyncio
import asyncio.sslproto
import os
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from typing import Any

import pytest

from penstock.client import Options
from penstock.testing import Broker

# A reconnect that takes long makes a test that takes long.
QUICK = Options(reconnect_min=0.005, reconnect_max=0.1, timeout=20, connect_timeout=2)

# How long connections are cut, in each reconnect test: PENSTOCK_CUT_SECONDS=60 for a thorough run.
CUT_SECONDS = float(os.environ.get("PENSTOCK_CUT_SECONDS", "1.5"))


@pytest.fixture(autouse=True)
def strict_asyncio(monkeypatch: pytest.MonkeyPatch) -> None:
    """As asyncio is in Python 3.11.2: a TLS connection that was closed after it was lost cannot be aborted."""
    transport: Any = asyncio.sslproto._SSLProtocolTransport
    abort = transport.abort

    def strict_abort(self: Any) -> None:
        assert self._ssl_protocol is not None, "Debian 12's Python 3.11.2 has an AttributeError here"
        abort(self)

    monkeypatch.setattr(transport, "abort", strict_abort)


@pytest.fixture
def broker() -> Iterator[Broker]:
    with Broker() as running:
        yield running


@pytest.fixture
def run() -> Callable[[Coroutine[Any, Any, None]], None]:
    """Run a coroutine, in debug mode: what is never awaited or retrieved is an error."""

    def run_in_debug_mode(work: Coroutine[Any, Any, None]) -> None:
        asyncio.run(asyncio.wait_for(work, 3 * CUT_SECONDS + 50), debug=True)

    return run_in_debug_mode


async def until(
    condition: Callable[[], bool | Awaitable[bool]], what: str = "it never came to be", seconds: float = 20
) -> None:
    """Come back when the condition holds; fail when it does not in time."""
    deadline = asyncio.get_running_loop().time() + seconds
    while True:
        holds = condition()
        if holds if isinstance(holds, bool) else await holds:
            return
        assert asyncio.get_running_loop().time() < deadline, what
        await asyncio.sleep(0.005)
