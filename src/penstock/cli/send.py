"""`penstock publish`, `put`, `request` and `broadcast`."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Annotated, Any

import orjson
import typer

from penstock.cli.connect import Addr, Json, Seconds, Via, ask, client_options, default_address, run, with_credentials
from penstock.cli.exits import UsageError
from penstock.cli.main import command_app
from penstock.cli.output import print_body, print_result
from penstock.client import ClientError, Options, mqks, mqmq, rq, sevx, smqs

CONFIRMS_MAX = 1000  # unconfirmed messages at a time
CHUNK = 1 << 16
LINE_PROTOCOLS = ("mqks", "smqs", "sevx")

Body = Annotated[str | None, typer.Argument(metavar="BODY", help="Message body; read from stdin if omitted or -.")]
Queue = Annotated[str, typer.Argument(metavar="QUEUE", help="Queue name; created if missing.")]
Send = Callable[[bytes], Awaitable[str] | Awaitable[None]]
AskUnrouted = Callable[[], Awaitable[int]]

# Delivery options, and the protocols that support them.
OPTIONS = {"delay", "ttl", "max_deliveries", "dedup"}
SUPPORTED = {"mqks": OPTIONS, "sevx": OPTIONS, "mqmq": OPTIONS, "rq": {"delay", "ttl"}, "smqs": set[str]()}


def app() -> typer.Typer:
    return command_app(
        (with_credentials(publish), PUBLISH_EPILOG),
        (with_credentials(put), ""),
        (with_credentials(request), "Exit code 4: no reply within the timeout."),
        (with_credentials(broadcast), "Broadcasts are not confirmed."),
    )


PUBLISH_EPILOG = (
    "TARGET is an event for mqks and a queue for smqs, mqmq and rq. SEVX has no names, so with --via sevx TARGET is "
    "the JSON object itself. The command waits until the broker has confirmed every message. Events are copied to the "
    "queues bound to them; an event without a bound queue is confirmed and dropped, and the command reports it."
)


def publish(
    target: Annotated[
        str, typer.Argument(metavar="TARGET", help="Event or queue name; with --via sevx, the JSON object.")
    ],
    body: Body = None,
    via: Annotated[Via, typer.Option("--via", help="Protocol to use.")] = "mqks",
    lines: Annotated[bool, typer.Option("--lines", help="Publish each line of stdin as a message.")] = False,
    delay: Annotated[float | None, typer.Option(metavar="SECONDS", help="Delay delivery by this long.")] = None,
    ttl: Annotated[float | None, typer.Option(metavar="SECONDS", help="Expire the message after this long.")] = None,
    max_deliveries: Annotated[int | None, typer.Option(metavar="COUNT", help="Maximum number of deliveries.")] = None,
    dedup: Annotated[
        bool, typer.Option("--dedup", help="Drop duplicates if the message is resent after a lost connection.")
    ] = False,
    addr: Addr = "",
    timeout: Seconds = 30.0,
    json: Json = False,
) -> None:
    given: dict[str, Any] = {"delay": delay, "ttl": ttl, "max_deliveries": max_deliveries, "dedup": dedup or None}
    delivery = {key: value for key, value in given.items() if value is not None}
    for key in delivery:
        if key not in SUPPORTED[via]:
            raise UsageError(f"--{key.replace('_', '-')} is not supported over {via.upper()}")
    if via == "sevx" and body is not None:
        raise UsageError("SEVX has no names: give only the JSON object")
    if lines and (body or "-") != "-":
        raise UsageError("--lines reads stdin: omit BODY")
    body_given = target if via == "sevx" else body
    batches = _lines() if lines else _one(_body(body_given, drop_line_end=via in LINE_PROTOCOLS))
    options = client_options(timeout=timeout)
    count, id, unrouted = run(_publish_all(via, addr or default_address(via), options, target, delivery, batches))
    if lines:
        line = f"published {count}" + (f", but no queue received {unrouted} of them" if unrouted else "")
    elif unrouted:
        line = "published, but no queue received it"
    else:
        line = f"published {id}" if id else "published"
    to = None if via == "sevx" else target
    print_result(json, line, published=count, via=via, to=to, id=id, unrouted=unrouted)


async def _publish_all(
    via: str, addr: str, options: Options, target: str, delivery: dict[str, Any], batches: AsyncIterator[list[bytes]]
) -> tuple[int, str | None, int | None]:
    """How many were confirmed, the id of the last one if there are ids, and how many reached no queue, if known."""
    count = 0
    id: str | None = None
    async with AsyncExitStack() as stack:
        send, ask_unrouted = await _sender(stack, via, addr, options, target, delivery)
        async for batch in batches:
            for first in range(0, len(batch), CONFIRMS_MAX):
                id = (await asyncio.gather(*map(send, batch[first : first + CONFIRMS_MAX])))[-1]
            count += len(batch)
        unrouted = await _unrouted(ask_unrouted)
    return count, id, unrouted


async def _unrouted(ask: AskUnrouted | None) -> int | None:
    """How many messages reached no queue; None if the server does not report it."""
    if ask is None:
        return 0
    try:
        return await ask()
    except ClientError:
        return None


async def _sender(
    stack: AsyncExitStack, via: str, addr: str, options: Options, target: str, delivery: dict[str, Any]
) -> tuple[Send, AskUnrouted | None]:
    """Connects. Returns a function that sends one body and waits until it is confirmed.

    For protocols without queue names, the second function asks how many messages reached no queue.
    """
    if via == "mqks":
        lines = await stack.enter_async_context(await mqks.connect(addr, options=options))
        return lambda body: lines.publish(target, body, confirm=True, **delivery), lines.unrouted
    if via == "sevx":
        events = await stack.enter_async_context(await sevx.connect_async(addr, options=options))

        async def send_object(body: bytes) -> str:
            return await events.send(_object(body), wait=True, **delivery)

        return send_object, events.unrouted
    if via == "smqs":
        values = await stack.enter_async_context(await smqs.connect(addr, options=options))
        return lambda body: values.publish_raw(target, body, confirm=True), None
    if via == "mqmq":
        frames = await stack.enter_async_context(await mqmq.connect(addr, options=options))
        return lambda body: frames.put(target, body, **delivery), None
    requests = await stack.enter_async_context(await rq.connect(addr, options=options))
    return lambda body: requests.send(target, body, **delivery), None


def put(
    queue: Queue,
    body: Body = None,
    addr: Addr = "",
    timeout: Seconds = 30.0,
    json: Json = False,
) -> None:
    data = _body(body)
    ask(mqmq.connect, addr or default_address("mqmq"), lambda client: client.put(queue, data), timeout=timeout)
    print_result(json, f"put {len(data)} bytes into {queue}", put=1, queue=queue, size=len(data))


def request(
    queue: Queue,
    body: Body = None,
    addr: Addr = "",
    timeout: Seconds = 30.0,
    json: Json = False,
) -> None:
    data, address = _body(body), addr or default_address("rq")
    reply = ask(rq.connect, address, lambda client: client.request(queue, data, timeout=timeout), timeout=timeout)
    print_body(json, reply, queue=queue)


def broadcast(
    queue: Annotated[str, typer.Argument(metavar="QUEUE", help="Queue name.")],
    body: Body = None,
    addr: Addr = "",
    timeout: Seconds = 30.0,
    json: Json = False,
) -> None:
    data = _body(body)
    ask(rq.connect, addr or default_address("rq"), lambda client: client.broadcast(queue, data), timeout=timeout)
    print_result(json, f"sent to the current consumers of {queue}", broadcast=1, queue=queue, size=len(data))


def _body(text: str | None, *, drop_line_end: bool = False) -> bytes:
    """The body from the command line or from stdin, without a line end that the protocol could not carry."""
    if text is not None and text != "-":
        return os.fsencode(text)
    if sys.stdin.isatty():
        raise UsageError("no BODY: give one, or pipe it to stdin")
    data = sys.stdin.buffer.read()
    return data.removesuffix(b"\n").removesuffix(b"\r") if drop_line_end else data


async def _one(body: bytes) -> AsyncIterator[list[bytes]]:
    yield [body]


async def _lines() -> AsyncIterator[list[bytes]]:
    """The lines of stdin, as many at a time as are available, so that the output of a slow program is sent at once."""
    try:
        fd = sys.stdin.fileno()
    except OSError:
        fd = -1
    rest = b""
    while True:
        if fd >= 0:
            await _readable(fd)
            chunk = os.read(fd, CHUNK)
        else:
            chunk = sys.stdin.buffer.read(CHUNK)
        *lines, rest = (rest + chunk).split(b"\n")
        if not chunk and rest:
            lines = [rest]
        if lines:
            yield [line.removesuffix(b"\r") for line in lines]
        if not chunk:
            return


async def _readable(fd: int) -> None:
    """Waits until there is something to read, or the end of the input. Files are always readable."""
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    try:
        loop.add_reader(fd, ready.set)
    except PermissionError:  # epoll does not support files
        return
    try:
        await ready.wait()
    finally:
        loop.remove_reader(fd)


def _object(body: bytes) -> dict[str, Any]:
    try:
        value = orjson.loads(body)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise ValueError(f"SEVX sends JSON objects, and this is not one: {body[:60].decode('utf-8', 'replace')}")
    return value
