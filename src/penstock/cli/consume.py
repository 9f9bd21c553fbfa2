"""`penstock consume`, `get` and `tap`: messages on their way out of a broker."""

import logging
import secrets
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from fnmatch import fnmatchcase
from importlib.util import find_spec
from typing import Annotated, Any, Literal, NamedTuple

import orjson
import typer

from penstock.cli.connect import Addr, Api, Json, Seconds, Server, options_for, place_of, reaching, run
from penstock.cli.exits import EXIT_NOTHING, Failed, Misused
from penstock.cli.main import COMMANDS
from penstock.cli.output import body_to_json, print_json, write_body
from penstock.client import Timeout, mqks, mqmq, rq, sevx, smqs

GET_SECONDS = 600.0  # how long one get of MQMQ waits before the next
LOG_SECONDS = 0.3  # between two looks into the log

Via = Literal["mqks", "smqs", "sevx", "mqmq", "rq"]
Count = Annotated[int | None, typer.Option("--count", "-n", min=1, help="Exit after this many messages.")]
Patience = Annotated[
    float | None,
    typer.Option("--timeout", min=0.0, metavar="SECONDS", help="Exit if no message arrives for this long."),
]
Pattern = Annotated[str, typer.Option("--pattern", metavar="JSON", help="SEVX: JSON members that events must have.")]


class Taken(NamedTuple):
    """A message, and how to say that it is done; True says that it is the last one wanted."""

    body: bytes
    about: dict[str, Any]
    settle: Callable[[bool], Awaitable[None]]


Get = Callable[[float | None], Awaitable[Taken]]


def app() -> typer.Typer:
    made = typer.Typer(add_completion=False, rich_markup_mode=None)
    made.command("consume", help=COMMANDS["consume"], epilog=CONSUME_EPILOG)(reaching(consume))
    made.command("get", help=COMMANDS["get"], epilog="Exit code 4: no message within the timeout.")(reaching(get))
    made.command("tap", help=COMMANDS["tap"], epilog=TAP_EPILOG)(reaching(tap))
    return made


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
    timeout: Patience = None,
    reply: Annotated[str, typer.Option("--reply", metavar="TEXT", help="RQ: reply to send.")] = "",
    addr: Addr = "",
    json: Json = False,
) -> None:
    chosen = via or ("mqks" if event else "sevx" if pattern else "rq")
    for option, value, only in (("--event", event, "mqks"), ("--pattern", pattern, "sevx"), ("--reply", reply, "rq")):
        if value and chosen != only:
            raise Misused(f"{option} is for {only}, not for {chosen}")
    if chosen == "mqks" and not event:
        raise Misused("MQKS binds a queue to events: give --event, or another --via")
    if chosen == "sevx" and not pattern:
        raise Misused("SEVX binds a queue to a pattern: give --pattern, or another --via")
    place = addr or place_of(chosen)
    source = {
        "mqks": lambda: _by_mqks(place, queue, event or [], temporary=False),
        "sevx": lambda: _by_sevx(place, queue, _object(pattern), temporary=False),
        "smqs": lambda: _by_smqs(place, queue),
        "mqmq": lambda: _by_mqmq(place, queue),
        "rq": lambda: _by_rq(place, queue, reply),
    }[chosen]
    _watch(source, count, timeout, json)


def get(
    queue: Annotated[str, typer.Argument(metavar="QUEUE", help="Queue name.")],
    timeout: Seconds = 0.0,
    addr: Addr = "",
    json: Json = False,
) -> None:
    async def work() -> bytes:
        async with await mqmq.connect(addr or place_of("mqmq"), options=options_for()) as client:
            return await client.get(queue, timeout)

    body = run(work())
    if json:
        print_json({"queue": queue, **body_to_json(body)})
    else:
        write_body(body)


@asynccontextmanager
async def _by_mqks(place: str, queue: str, events: list[str], *, temporary: bool) -> AsyncIterator[Get]:
    async with (
        await mqks.connect(place, options=options_for()) as client,
        await client.consume(queue, events, delete_queue_when_unused=temporary, manual_ack=not temporary) as consumer,
    ):

        async def take(seconds: float | None) -> Taken:
            message = await consumer.get(seconds)

            async def settle(last: bool) -> None:
                if not temporary:
                    await message.ack()

            return Taken(
                message.data,
                {"event": message.event, "id": message.id, "retry": message.retry, **_place(queue, temporary)},
                settle,
            )

        yield take


@asynccontextmanager
async def _by_sevx(place: str, queue: str, pattern: dict[str, Any], *, temporary: bool) -> AsyncIterator[Get]:
    async with await sevx.connect_async(place, options=options_for()) as client:
        kept = None if temporary else False
        receiver = await client.receive(pattern, queue=queue, delete_queue_when_unused=kept, manual_ack=not temporary)

        async def take(seconds: float | None) -> Taken:
            event = await receiver.get(seconds)

            async def settle(last: bool) -> None:
                if not temporary:
                    event.ack()

            return Taken(
                event.json.encode(), {"id": event.id, "retry": event.retry, **_place(queue, temporary)}, settle
            )

        yield take


@asynccontextmanager
async def _by_smqs(place: str, queue: str) -> AsyncIterator[Get]:
    async with await smqs.connect(place, options=options_for()) as client:
        consumer = await client.consume(queue)

        async def take(seconds: float | None) -> Taken:
            message = await consumer.get(seconds)

            async def settle(last: bool) -> None:
                await consumer.done(1)

            return Taken(message.data, {"queue": queue}, settle)

        yield take


@asynccontextmanager
async def _by_mqmq(place: str, queue: str) -> AsyncIterator[Get]:
    async with await mqmq.connect(place, options=options_for()) as client:

        async def settle(last: bool) -> None:
            """Delivered is done."""

        async def take(seconds: float | None) -> Taken:
            while True:
                try:
                    body = await client.get(queue, GET_SECONDS if seconds is None else seconds)
                    return Taken(body, {"queue": queue}, settle)
                except Timeout:
                    if seconds is not None:
                        raise

        yield take


@asynccontextmanager
async def _by_rq(place: str, queue: str, reply: str) -> AsyncIterator[Get]:
    async with await rq.connect(place, options=options_for()) as client:
        consumer = await client.consume(queue, max=1)  # one at a time: nothing is sent ahead

        async def take(seconds: float | None) -> Taken:
            request = await consumer.get(seconds)

            async def settle(last: bool) -> None:
                if last:
                    await consumer.cancel()
                request.reply(reply)

            about = {"queue": queue, "broadcast": request.is_broadcast, "wants_reply": request.wants_reply}
            return Taken(request.payload, about, settle)

        yield take


def _place(queue: str, temporary: bool) -> dict[str, str]:
    return {} if temporary else {"queue": queue}


def _object(text: str) -> dict[str, Any]:
    try:
        value = orjson.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise Misused(f'--pattern {text}: give a JSON object, such as \'{{"obj": "user"}}\'')
    return value


# -- tap --------------------------------------------------------------------------------------------------------------


def tap(
    events: Annotated[list[str] | None, typer.Argument(metavar="EVENTS", help="Events to watch.")] = None,
    pattern: Pattern = "",
    log: Annotated[
        bool, typer.Option("--log", help="Read the log: EVENTS may contain * and ?, and match queue names, too.")
    ] = False,
    count: Count = None,
    timeout: Patience = None,
    addr: Addr = "",
    server: Server = "",
    json: Json = False,
) -> None:
    queue = f"penstock.tap.{secrets.token_hex(8)}"
    if pattern and (events or log):
        raise Misused("--pattern is for SEVX, and cannot be combined with EVENTS or --log")
    if pattern:
        wanted = _object(pattern)
        _watch(lambda: _by_sevx(addr or place_of("sevx"), queue, wanted, temporary=True), count, timeout, json)
    elif events and not log:
        names = list(events)
        _watch(lambda: _by_mqks(addr or place_of("mqks"), queue, names, temporary=True), count, timeout, json)
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
    """What is published from now on, until nothing is for so many seconds."""
    import pyarrow

    next_offset = api.get("/v1/log/offsets")["durable_offset"]
    heard_at = time.monotonic()
    while True:
        end = api.get("/v1/log/offsets")["durable_offset"]
        if end > next_offset:
            data = api.read("/v1/log", **{"from": next_offset, "to": end})
            for row in pyarrow.ipc.open_stream(data).read_all().to_pylist():
                yield {**row, "published_at": str(row["published_at"]), "headers": dict(row["headers"] or {})}
            next_offset = end
            heard_at = time.monotonic()
        elif timeout is not None and time.monotonic() - heard_at >= timeout:
            return
        else:
            time.sleep(LOG_SECONDS)


# -- how they are shown -----------------------------------------------------------------------------------------------


def _watch(source: Callable[[], Any], count: int | None, timeout: float | None, json: bool) -> None:
    """Print message after message until there were enough, none comes, or Ctrl-C."""
    shown = 0

    async def work() -> None:
        nonlocal shown
        async with source() as take:
            while shown != count:
                try:
                    taken = await take(timeout)
                except Timeout:
                    return
                _show(taken.body, taken.about, json)
                shown += 1
                await taken.settle(shown == count)

    with _told():
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
    if json:
        print_json({**about, **body_to_json(body)})
    else:
        write_body(body)
    sys.stdout.flush()


@contextmanager
def _told() -> Iterator[None]:
    """What becomes of the connection is said on stderr meanwhile."""
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
