"""`penstock consume`, `get` and `tap`."""

import logging
import secrets
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from fnmatch import fnmatchcase
from importlib.util import find_spec
from typing import Annotated, Any, NamedTuple

import orjson
import typer

from penstock.cli.connect import (
    Addr,
    Api,
    Json,
    Seconds,
    Server,
    Via,
    ask,
    client_options,
    default_address,
    run,
    with_credentials,
)
from penstock.cli.exits import EXIT_NOTHING, Failed, UsageError
from penstock.cli.main import command_app
from penstock.cli.output import print_body
from penstock.client import Timeout, mqks, mqmq, rq, sevx, smqs

GET_SECONDS = 600.0  # timeout of one MQMQ get, which is then repeated
LOG_SECONDS = 0.3  # between two polls of the log

Count = Annotated[int | None, typer.Option("--count", "-n", min=1, help="Exit after this many messages.")]
IdleTimeout = Annotated[
    float | None,
    typer.Option("--timeout", min=0.0, metavar="SECONDS", help="Exit if no message arrives for this long."),
]
Pattern = Annotated[str, typer.Option("--pattern", metavar="JSON", help="SEVX: JSON members that events must have.")]


class Received(NamedTuple):
    """A message, and a function that acknowledges it; its argument is True for the last message wanted."""

    body: bytes
    about: dict[str, Any]
    settle: Callable[[bool], Awaitable[None] | None]


Receive = Callable[[float | None], Awaitable[Received]]


def app() -> typer.Typer:
    return command_app(
        (with_credentials(consume), CONSUME_EPILOG),
        (with_credentials(get), "Exit code 4: no message within the timeout."),
        (with_credentials(tap), TAP_EPILOG),
    )


CONSUME_EPILOG = (
    "--via defaults to mqks with --event, to sevx with --pattern, and to rq otherwise. Messages are acknowledged once "
    "they are printed. MQKS, SEVX and SMQS prefetch: with -n, prefetched messages that were not printed return to the "
    "queue, with their retry counter increased. Exit code 4: fewer messages arrived than -n asks for, or none at all."
)
TAP_EPILOG = (
    "EVENTS are watched over MQKS and --pattern over SEVX, through a queue that the broker deletes when the command "
    "ends. With neither, tap reads everything from the log over HTTP; this needs a broker with a log, and pyarrow on "
    "this machine."
)


# -- consume ----------------------------------------------------------------------------------------------------------


def consume(
    queue: Annotated[str, typer.Argument(metavar="QUEUE", help="Queue name; created if missing.")],
    via: Annotated[Via | None, typer.Option("--via", help="Protocol to use.")] = None,
    event: Annotated[
        list[str] | None, typer.Option("--event", help="MQKS: bind the queue to this event; repeatable.")
    ] = None,
    pattern: Pattern = "",
    count: Count = None,
    timeout: IdleTimeout = None,
    reply: Annotated[str, typer.Option("--reply", metavar="TEXT", help="RQ: reply to send.")] = "",
    addr: Addr = "",
    json: Json = False,
) -> None:
    chosen = via or ("mqks" if event else "sevx" if pattern else "rq")
    for option, value, only in (("--event", event, "mqks"), ("--pattern", pattern, "sevx"), ("--reply", reply, "rq")):
        if value and chosen != only:
            raise UsageError(f"{option} is for {only}, not for {chosen}")
    if chosen == "mqks" and not event:
        raise UsageError("MQKS binds a queue to events: give --event, or another --via")
    if chosen == "sevx" and not pattern:
        raise UsageError("SEVX binds a queue to a pattern: give --pattern, or another --via")
    address = addr or default_address(chosen)
    source = {
        "mqks": lambda: _from_mqks(address, queue, event or [], temporary=False),
        "sevx": lambda: _from_sevx(address, queue, _object(pattern), temporary=False),
        "smqs": lambda: _from_smqs(address, queue),
        "mqmq": lambda: _from_mqmq(address, queue),
        "rq": lambda: _from_rq(address, queue, reply),
    }[chosen]
    _watch(source, count, timeout, json)


def get(
    queue: Annotated[str, typer.Argument(metavar="QUEUE", help="Queue name.")],
    timeout: Seconds = 0.0,
    addr: Addr = "",
    json: Json = False,
) -> None:
    body = ask(mqmq.connect, addr or default_address("mqmq"), lambda client: client.get(queue, timeout))
    print_body(json, body, queue=queue)


@asynccontextmanager
async def _from_mqks(address: str, queue: str, events: list[str], *, temporary: bool) -> AsyncIterator[Receive]:
    async with (
        await mqks.connect(address, options=client_options()) as client,
        await client.consume(queue, events, delete_queue_when_unused=temporary, manual_ack=not temporary) as consumer,
    ):

        async def receive(seconds: float | None) -> Received:
            message = await consumer.get(seconds)
            about = {"event": message.event, "id": message.id, "retry": message.retry, **_queue_field(queue, temporary)}
            return Received(message.data, about, lambda _: None if temporary else message.ack())

        yield receive


@asynccontextmanager
async def _from_sevx(address: str, queue: str, pattern: dict[str, Any], *, temporary: bool) -> AsyncIterator[Receive]:
    async with await sevx.connect_async(address, options=client_options()) as client:
        kept = None if temporary else False
        receiver = await client.receive(pattern, queue=queue, delete_queue_when_unused=kept, manual_ack=not temporary)

        async def receive(seconds: float | None) -> Received:
            event = await receiver.get(seconds)

            def settle(_last: bool) -> None:
                if not temporary:
                    event.ack()

            about = {"id": event.id, "retry": event.retry, **_queue_field(queue, temporary)}
            return Received(event.json.encode(), about, settle)

        yield receive


@asynccontextmanager
async def _from_smqs(address: str, queue: str) -> AsyncIterator[Receive]:
    async with await smqs.connect(address, options=client_options()) as client:
        consumer = await client.consume(queue)

        async def receive(seconds: float | None) -> Received:
            message = await consumer.get(seconds)
            return Received(message.data, {"queue": queue}, lambda _: consumer.done(1))

        yield receive


@asynccontextmanager
async def _from_mqmq(address: str, queue: str) -> AsyncIterator[Receive]:
    async with await mqmq.connect(address, options=client_options()) as client:

        async def receive(seconds: float | None) -> Received:
            while True:
                try:
                    body = await client.get(queue, GET_SECONDS if seconds is None else seconds)
                    return Received(body, {"queue": queue}, lambda _: None)  # MQMQ has no acknowledgements
                except Timeout:
                    if seconds is not None:
                        raise

        yield receive


@asynccontextmanager
async def _from_rq(address: str, queue: str, reply: str) -> AsyncIterator[Receive]:
    async with await rq.connect(address, options=client_options()) as client:
        consumer = await client.consume(queue, max=1)  # no prefetch

        async def receive(seconds: float | None) -> Received:
            request = await consumer.get(seconds)

            async def settle(last: bool) -> None:
                if last:
                    await consumer.cancel()
                request.reply(reply)

            about = {"queue": queue, "broadcast": request.is_broadcast, "wants_reply": request.wants_reply}
            return Received(request.payload, about, settle)

        yield receive


def _queue_field(queue: str, temporary: bool) -> dict[str, str]:
    return {} if temporary else {"queue": queue}


def _object(text: str) -> dict[str, Any]:
    try:
        value = orjson.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise UsageError(f'--pattern {text}: give a JSON object, such as \'{{"obj": "user"}}\'')
    return value


# -- tap --------------------------------------------------------------------------------------------------------------


def tap(
    events: Annotated[list[str] | None, typer.Argument(metavar="EVENTS", help="Events to watch.")] = None,
    pattern: Pattern = "",
    log: Annotated[
        bool, typer.Option("--log", help="Read the log: EVENTS may contain * and ?, and match queue names, too.")
    ] = False,
    count: Count = None,
    timeout: IdleTimeout = None,
    addr: Addr = "",
    server: Server = "",
    json: Json = False,
) -> None:
    queue = f"penstock.tap.{secrets.token_hex(8)}"
    if pattern and (events or log):
        raise UsageError("--pattern is for SEVX, and cannot be combined with EVENTS or --log")
    if pattern:
        wanted = _object(pattern)
        _watch(lambda: _from_sevx(addr or default_address("sevx"), queue, wanted, temporary=True), count, timeout, json)
    elif events and not log:
        names = list(events)
        _watch(lambda: _from_mqks(addr or default_address("mqks"), queue, names, temporary=True), count, timeout, json)
    else:
        with Api(server) as api:
            _tap_log(api, events or ["*"], count, timeout, json)


def _tap_log(api: Api, globs: list[str], count: int | None, timeout: float | None, json: bool) -> None:
    if find_spec("pyarrow") is None:
        raise Failed("reading the log needs pyarrow: pip install 'penstock-mq[spark]', or name EVENTS")
    shown = 0
    try:
        for row in _rows(api, timeout):
            if any(fnmatchcase(row["event"] or "", glob) for glob in globs):
                _show(row.pop("body"), row, json)
                shown += 1
                if shown == count:
                    return
    except KeyboardInterrupt:
        return
    _check_enough(shown, count, timeout)


def _rows(api: Api, timeout: float | None) -> Iterator[dict[str, Any]]:
    """Messages published from now on, until none arrives for `timeout` seconds."""
    import pyarrow

    next_offset = api.get("/v1/log/offsets")["durable_offset"]
    arrived_at = time.monotonic()
    while True:
        end = api.get("/v1/log/offsets")["durable_offset"]
        if end > next_offset:
            data = api.read("/v1/log", **{"from": next_offset, "to": end})
            for row in pyarrow.ipc.open_stream(data).read_all().to_pylist():
                yield {**row, "published_at": str(row["published_at"]), "headers": dict(row["headers"] or {})}
            next_offset = end
            arrived_at = time.monotonic()
        elif timeout is not None and time.monotonic() - arrived_at >= timeout:
            return
        else:
            time.sleep(LOG_SECONDS)


# -- output -----------------------------------------------------------------------------------------------------------


def _watch(source: Callable[[], Any], count: int | None, timeout: float | None, json: bool) -> None:
    """Prints messages until there are enough, none arrives in time, or Ctrl-C."""
    shown = 0

    async def work() -> None:
        nonlocal shown
        async with source() as receive:
            while shown != count:
                try:
                    received = await receive(timeout)
                except Timeout:
                    return
                _show(received.body, received.about, json)
                shown += 1
                if (settling := received.settle(shown == count)) is not None:
                    await settling

    with _connection_events():
        try:
            run(work())
        except KeyboardInterrupt:
            return
    _check_enough(shown, count, timeout)


def _check_enough(shown: int, count: int | None, timeout: float | None) -> None:
    if timeout is not None and shown < (count or 1):
        if shown == 0:
            raise Failed(f"no message arrived within {timeout:g} s", EXIT_NOTHING)
        raise Failed(f"{shown} of {count} messages arrived, then none for {timeout:g} s", EXIT_NOTHING)


def _show(body: bytes, about: dict[str, Any], json: bool) -> None:
    print_body(json, body, **about)
    sys.stdout.flush()


@contextmanager
def _connection_events() -> Iterator[None]:
    """Reports lost connections and reconnects on stderr."""
    logger = logging.getLogger("penstock.client")
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("penstock: %(message)s"))
    logger.addHandler(handler)
    before, logger.propagate = logger.propagate, False
    level = logger.level
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.setLevel(level)
        logger.propagate = before
        logger.removeHandler(handler)
