"""How the commands show what they found: tables, sizes, times, messages, and how far long work has come."""

import base64
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Protocol

import orjson

from penstock.errors import LogError
from penstock.log.interface import Change
from penstock.message import BY_EVENT, INTERNAL_PREFIX, SETTLEMENT_NAMES, DeliveryOptions, Message, queue_of
from penstock.plain import plain, plain_json, plain_lines

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Moved(Protocol):
    def __call__(self, done: int) -> None: ...


@contextmanager
def progress(title: str, total: int) -> Iterator[Moved]:
    """A bar on the terminal, to be told how many bytes are done; nothing where stderr is none."""
    if not sys.stderr.isatty():
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=total)
        yield lambda done: bar.update(task, completed=done)


def existing(directory: Path) -> Path:
    if not directory.is_dir():
        raise LogError(f"{directory}: no such directory")
    return directory


def print_json(value: object) -> None:
    sys.stdout.write(plain_json(orjson.dumps(value).decode()) + "\n")


def say(line: str) -> None:
    """For people: whatever names and texts are in the line, the terminal only shows them."""
    sys.stdout.write(plain_lines(line) + "\n")


def tell(json: bool, line: str, **fields: object) -> None:
    """What was done: in words, or as what a program asks for."""
    if json:
        print_json(fields)
    else:
        say(line)


def body_to_json(body: bytes) -> dict[str, str]:
    """A body that is no UTF-8 is base64, under a name that says so."""
    try:
        return {"body": body.decode()}
    except UnicodeDecodeError:
        return {"body_base64": base64.b64encode(body).decode()}


def is_terminal() -> bool:
    return sys.stdout.isatty()


def write_body(body: bytes) -> None:
    """The very bytes, and a line end behind them; on a terminal, what it would obey is shown as escapes."""
    if is_terminal():
        say(text(body))
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(body + b"\n")
    sys.stdout.buffer.flush()


def table(headings: list[str], rows: list[list[str]]) -> None:
    """Columns as wide as they need: the first to the left, numbers to the right."""
    rows = [[plain(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(headings, *rows, strict=True)]
    for row in [headings, *rows]:
        first, *others = (cell.ljust(widths[0]) if n == 0 else cell.rjust(widths[n]) for n, cell in enumerate(row))
        say("  ".join([first, *others]).rstrip())


def seconds(span: float | None) -> str:
    """How long: 350ms, 12.5s, 3m, 2h, 4d."""
    if span is None:
        return "-"
    if span < 1:
        return f"{span * 1000:.0f}ms"
    for unit, factor, until in (("s", 1, 60), ("m", 60, 3600), ("h", 3600, 86_400)):
        if span < until:
            return f"{span / factor:.1f}{unit}"
    return f"{span / 86_400:.1f}d"


def size(count: int) -> str:
    scaled = float(count)
    for unit in ("B", "KiB", "MiB"):
        if scaled < 1024:
            return f"{count} B" if unit == "B" else f"{scaled:.1f} {unit}"
        scaled /= 1024
    return f"{scaled:.1f} GiB"


def when(microseconds: int) -> str:
    """A time, to the microsecond; the number where no calendar has it."""
    try:
        return (EPOCH + timedelta(microseconds=microseconds)).isoformat(timespec="microseconds").replace("+00:00", "Z")
    except OverflowError:
        return str(microseconds)


def text(value: bytes) -> str:
    return value.decode("utf-8", "backslashreplace")


def entry_to_json(entry: Message | Change) -> dict[str, object]:
    """The columns of the log. A body that is no UTF-8 is base64, under a name that says so."""
    if isinstance(entry, Change):
        return _change_to_json(entry)
    body = body_to_json(entry.body)
    headers = {
        text(key): text(value) for key, value in (entry.headers or {}).items() if not key.startswith(INTERNAL_PREFIX)
    }
    return {
        "offset": entry.offset,
        "event": text(entry.event),
        "queue": None if entry.route == BY_EVENT else text(queue_of(entry)),
        "id": text(entry.id),
        **body,
        "headers": headers or None,
        "protocol": entry.protocol,
        "published_at": when(entry.published_at),
        **_terms_to_json(entry.options),
    }


def _terms_to_json(options: DeliveryOptions | None) -> dict[str, object]:
    """What was asked for beyond plain delivery; nothing for most messages."""
    if options is None:
        return {}
    shown: dict[str, object] = {}
    if options.due_at:
        shown["due_at"] = when(options.due_at)
    if options.expires_at:
        shown["expires_at"] = when(options.expires_at)
    if options.deliveries_max:
        shown["deliveries_max"] = options.deliveries_max
    if options.dedup_seconds:
        shown["dedup_seconds"] = options.dedup_seconds
    if options.owner:
        shown["owner"] = text(options.owner)
    return shown


def entry_to_line(entry: Message | Change) -> str:
    """One line for people: control characters and what is no text are shown as escapes."""
    if isinstance(entry, Change):
        fields = {key: value for key, value in _change_to_json(entry).items() if key not in ("change", "queue")}
        return (
            f"{'':>10}  {entry.kind} {_plain(entry.queue)} {orjson.dumps(fields).decode() if fields else ''}".rstrip()
        )
    route = "" if entry.route == BY_EVENT else " (queue)"
    if entry.options is not None and entry.options.target:
        route = f" (queue {_plain(entry.options.target)})"
    head = f"{entry.offset:>10}  {when(entry.published_at)}  {entry.protocol}  {_plain(entry.event)}{route}"
    return f"{head}  {_plain(entry.id)}  {_plain(entry.body)}"


def _plain(value: bytes) -> str:
    return plain(text(value))


def _change_to_json(change: Change) -> dict[str, object]:
    if change.kind == Change.COMMITTED:
        return {"change": change.kind, "writer": text(change.queue), "batch": change.number}
    if change.kind == Change.FORGOTTEN:
        return {"change": change.kind, "writer": text(change.queue)}
    shown: dict[str, object] = {"change": change.kind, "queue": text(change.queue)}
    if change.kind == Change.SETTLED:
        shown |= {"offset": change.offset, "how": SETTLEMENT_NAMES[change.number]}
        if change.due_at:
            shown["due_at"] = when(change.due_at)
    elif change.kind == Change.BOUND:
        shown |= {"events": [text(n) for n in change.names], "patterns": [text(p) for p in change.patterns]}
    elif change.kind == Change.EXPIRES:
        shown |= {"after_us": change.number}
    elif change.kind == Change.PAUSED:
        shown |= {"paused": change.number != 0}
    return shown
