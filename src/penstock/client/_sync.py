"""Clients for programs without an event loop: a loop on a separate thread does the work, and callers wait for it.

A waiting caller holds no lock, so any number of threads may call at once. Ctrl-C ends the wait and cancels the call.
Handlers run on their own threads and may call the client; only the loop's thread may not, and gets an error.

A sync class takes most of its methods from the async one, with signature and docstring:

    class Client(SyncClient[AsyncClient]):
        publish = blocking(AsyncClient.publish)
"""

import asyncio
import concurrent.futures
import contextlib
import functools
import os
import threading
import weakref
from collections.abc import Callable, Coroutine, Iterator
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

import uvloop

from penstock.client._closing import AsyncClosing, Closing
from penstock.client.errors import Closed

Result = TypeVar("Result")
Params = ParamSpec("Params")
AsyncObject = TypeVar("AsyncObject")
AsyncClient = TypeVar("AsyncClient", bound=AsyncClosing)
SyncObject = TypeVar("SyncObject", bound="Blocking[Any]")

STOP_SECONDS = 10.0


class LoopThread:
    """An event loop on its own thread. Runs until `stop`, or until it is garbage collected."""

    def __init__(self) -> None:
        self.loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
        self._pid = os.getpid()
        self._thread = threading.Thread(target=_run, args=(self.loop,), name="penstock-client", daemon=True)
        self._thread.start()
        self._stop = weakref.finalize(self, _stop, self.loop, self._thread, self._pid)

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Run a coroutine and return its result, from any thread but the loop's own."""
        trouble = self._trouble()
        if trouble:
            work.close()
            raise Closed(trouble)
        future = asyncio.run_coroutine_threadsafe(work, self.loop)
        try:
            return future.result()
        except concurrent.futures.CancelledError:
            raise Closed("the client was closed") from None
        except BaseException:
            future.cancel()
            raise

    def stop(self) -> None:
        self._stop()

    @property
    def is_of_another_process(self) -> bool:
        """Whether this process is a fork of the one that made the thread."""
        return os.getpid() != self._pid

    def _trouble(self) -> str:
        if threading.current_thread() is self._thread:
            return "a blocking call on the client's own event loop would deadlock: use AsyncClient there"
        if self.is_of_another_process:
            return "this client was created before a fork: create one in each process"
        return "the client was closed" if not self._stop.alive else ""


def _run(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        tasks = asyncio.all_tasks(loop)
        for task in tasks:
            task.cancel()
        if tasks:
            loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        loop.close()


def _stop(loop: asyncio.AbstractEventLoop, thread: threading.Thread, pid: int) -> None:
    if os.getpid() != pid:
        return  # a forked child has a copy of the loop, but no thread
    with contextlib.suppress(RuntimeError):  # already closed
        loop.call_soon_threadsafe(loop.stop)
    if thread is not threading.current_thread():
        thread.join(STOP_SECONDS)


class Blocking(Generic[AsyncObject]):
    """An object of an async client, and the thread whose loop it belongs to."""

    __slots__ = ("_async", "_thread")

    def __init__(self, thread: LoopThread, wrapped: AsyncObject) -> None:
        self._thread = thread
        self._async = wrapped


def blocking(
    method: Callable[Concatenate[AsyncObject, Params], Coroutine[Any, Any, Result]],
) -> Callable[Concatenate[Blocking[AsyncObject], Params], Result]:
    """The sync version of an async method: runs it on the loop's thread and waits for the result."""

    @functools.wraps(method)
    def call(self: Blocking[AsyncObject], /, *args: Params.args, **kwargs: Params.kwargs) -> Result:
        return self._thread.run(method(self._async, *args, **kwargs))

    call.__qualname__ = method.__qualname__.removeprefix("Async")
    return call


def blocking_self(
    method: Callable[Concatenate[Any, Params], Coroutine[Any, Any, object]],
) -> Callable[Concatenate[SyncObject, Params], SyncObject]:
    """Like `blocking`, for a method that returns the object it was called on."""
    wait = blocking(method)

    @functools.wraps(wait)
    def call(self: SyncObject, /, *args: Params.args, **kwargs: Params.kwargs) -> SyncObject:
        wait(self, *args, **kwargs)
        return self

    return call


def until_closed(take: Callable[[], Result]) -> Iterator[Result]:
    """Yield what `take` returns, until it raises Closed."""
    while True:
        try:
            taken = take()
        except Closed:
            return
        yield taken


class SyncClient(Blocking[AsyncClient], Closing):
    """Base class of the sync clients."""

    def __init__(self, client: AsyncClient) -> None:
        super().__init__(LoopThread(), client)
        self._closed = False

    def close(self) -> None:
        """Send what is still buffered and close all connections. A second call does nothing."""
        if not self._closed:
            self._closed = True
            if self._thread.is_of_another_process:
                return
            try:
                self._thread.run(self._async.close())
            finally:
                self._thread.stop()
