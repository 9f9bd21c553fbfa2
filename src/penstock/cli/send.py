"""`penstock publish`, `put`, `request` and `broadcast`: messages on their way into a broker."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Annotated, Any, Literal

import orjson
import typer

from penstock.cli.connect import Addr, Json, Seconds, options_for, place_of, reaching, run
from penstock.cli.exits import Misused
from penstock.cli.main import COMMANDS
from penstock.cli.output import body_to_json, print_json, say, write_body
from penstock.client import ClientError, Options, mqks, mqmq, rq, sevx, smqs

TOGETHER_MAX = 1000  # confirmations that are awaited at once
CHUNK = 1 << 16
LINE_PROTOCOLS = ("mqks", "smqs", "sevx")

Via = Literal["mqks", "smqs", "sevx", "mqmq", "rq"]
Body = Annotated[str | None, typer.Argument(metavar="BODY", help="Message body; read from stdin if omitted or -.")]
Queue = Annotated[str, typer.Argument(metavar="QUEUE", help="Queue name; created if missing.")]
Send = Callable[[bytes], Awaitable[str] | Awaitable[None]]
AskUnrouted = Callable[[], Awaitable[int]]

# What may be asked for with a message, where a protocol can say it.
TERMS = {"delay", "ttl", "max_deliveries", "dedup"}
SAYS = {"mqks": TERMS, "sevx": TERMS, "mqmq": TERMS, "rq": {"delay", "ttl"}, "smqs": set[str]()}


def app() -> typer.Typer:
    made = typer.Typer(add_completion=False, rich_markup_mode=None)
    made.command("publish", help=COMMANDS["publish"], epilog=PUBLISH_EPILOG)(reaching(publish))
    made.command("put", help=COMMANDS["put"])(reaching(put))
    made.command("request", help=COMMANDS["request"], epilog="Exit code 4: no reply within the timeout.")(
        reaching(request)
    )
    made.command("broadcast", help=COMMANDS["broadcast"], epilog="Broadcasts are not confirmed.")(reaching(broadcast))
    return made


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
    terms = {key: value for key, value in given.items() if value is not None}
    for key in terms:
        if key not in SAYS[via]:
            raise Misused(f"--{key.replace('_', '-')} is not supported over {via.upper()}")
    if via == "sevx" and body is not None:
        raise Misused("SEVX has no names: give only the JSON object")
    if lines and (body or "-") != "-":
        raise Misused("--lines reads stdin: omit BODY")
    body_given = target if via == "sevx" else body
    batches = _lines() if lines else _one(_body(body_given, drop_line_end=via in LINE_PROTOCOLS))
    options = options_for(timeout=timeout)
    count, id, unrouted = run(_publish_all(via, addr or place_of(via), options, target, terms, batches))
    if json:
        to = None if via == "sevx" else target
        print_json({"published": count, "via": via, "to": to, "id": id, "unrouted": unrouted})
    elif lines:
        say(f"published {count}" + (f", no queue took {unrouted} of them" if unrouted else ""))
    elif unrouted:
        say("published, no queue took it")
    else:
        say(f"published {id}" if id else "published")


async def _publish_all(
    via: str, addr: str, options: Options, target: str, terms: dict[str, Any], batches: AsyncIterator[list[bytes]]
) -> tuple[int, str | None, int | None]:
    """How many were confirmed, the id of the last one if the protocol has ids, and how many no queue took, if known."""
    count = 0
    id: str | None = None
    async with AsyncExitStack() as stack:
        send, ask_unrouted = await _sender(stack, via, addr, options, target, terms)
        async for batch in batches:
            for first in range(0, len(batch), TOGETHER_MAX):
                id = (await asyncio.gather(*map(send, batch[first : first + TOGETHER_MAX])))[-1]
            count += len(batch)
        unrouted = await _unrouted(ask_unrouted)
    return count, id, unrouted


async def _unrouted(ask: AskUnrouted | None) -> int | None:
    """None where the server does not say: what was published is published all the same."""
    if ask is None:
        return 0
    try:
        return await ask()
    except ClientError:
        return None


async def _sender(
    stack: AsyncExitStack, via: str, addr: str, options: Options, target: str, terms: dict[str, Any]
) -> tuple[Send, AskUnrouted | None]:
    """Connects, and gives what sends one body and comes back when it was confirmed.

    Behind it what asks how many of them no queue took, where that can happen: those that name a queue always have one.
    """
    if via == "mqks":
        lines = await stack.enter_async_context(await mqks.connect(addr, options=options))
        return lambda body: lines.publish(target, body, confirm=True, **terms), lines.unrouted
    if via == "sevx":
        events = await stack.enter_async_context(await sevx.connect_async(addr, options=options))

        async def send_object(body: bytes) -> str:
            return await events.send(_object(body), wait=True, **terms)

        return send_object, events.unrouted
    if via == "smqs":
        values = await stack.enter_async_context(await smqs.connect(addr, options=options))
        return lambda body: values.publish_raw(target, body, confirm=True), None
    if via == "mqmq":
        frames = await stack.enter_async_context(await mqmq.connect(addr, options=options))
        return lambda body: frames.put(target, body, **terms), None
    requests = await stack.enter_async_context(await rq.connect(addr, options=options))
    return lambda body: requests.send(target, body, **terms), None


def put(
    queue: Queue,
    body: Body = None,
    addr: Addr = "",
    timeout: Seconds = 30.0,
    json: Json = False,
) -> None:
    data = _body(body)

    async def work() -> None:
        async with await mqmq.connect(addr or place_of("mqmq"), options=options_for(timeout=timeout)) as client:
            await client.put(queue, data)

    run(work())
    if json:
        print_json({"put": 1, "queue": queue, "size": len(data)})
    else:
        say(f"put {len(data)} bytes into {queue}")


def request(
    queue: Queue,
    body: Body = None,
    addr: Addr = "",
    timeout: Seconds = 30.0,
    json: Json = False,
) -> None:
    data = _body(body)

    async def work() -> bytes:
        async with await rq.connect(addr or place_of("rq"), options=options_for(timeout=timeout)) as client:
            return await client.request(queue, data, timeout=timeout)

    reply = run(work())
    if json:
        print_json({"queue": queue, **body_to_json(reply)})
    else:
        write_body(reply)


def broadcast(
    queue: Annotated[str, typer.Argument(metavar="QUEUE", help="Queue name.")],
    body: Body = None,
    addr: Addr = "",
    timeout: Seconds = 30.0,
    json: Json = False,
) -> None:
    data = _body(body)

    async def work() -> None:
        async with await rq.connect(addr or place_of("rq"), options=options_for(timeout=timeout)) as client:
            await client.broadcast(queue, data)

    run(work())
    if json:
        print_json({"broadcast": 1, "queue": queue, "size": len(data)})
    else:
        say(f"sent to the current consumers of {queue}")


def _body(text: str | None, *, drop_line_end: bool = False) -> bytes:
    """What was given, or what stdin has; less a line end that the protocol could not carry."""
    if text is not None and text != "-":
        return os.fsencode(text)
    if sys.stdin.isatty():
        raise Misused("no BODY: give one, or pipe it to stdin")
    data = sys.stdin.buffer.read()
    return data.removesuffix(b"\n").removesuffix(b"\r") if drop_line_end else data


async def _one(body: bytes) -> AsyncIterator[list[bytes]]:
    yield [body]


async def _lines() -> AsyncIterator[list[bytes]]:
    """The lines of stdin, as many at a time as are there: what a slow program writes is sent as it comes."""
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
    """Come back when there is something to read, or the end of it; a file always has."""
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    try:
        loop.add_reader(fd, ready.set)
    except PermissionError:  # what epoll says of a file
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
