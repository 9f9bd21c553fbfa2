"""Output of the commands: lines, JSON, tables, sizes, times, messages and a progress bar."""

import base64
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson

from penstock.errors import LogError
from penstock.log.interface import Change
from penstock.message import BY_EVENT, INTERNAL_PREFIX, SETTLEMENT_NAMES, DeliveryOptions, Message, queue_of
from penstock.plain import plain, plain_json, plain_lines

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@contextmanager
def progress(title: str, total: int) -> Iterator[Callable[[int], None]]:
    """A progress bar on stderr if that is a terminal. Yields a function that takes the number of bytes done."""
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


def print_line(line: str) -> None:
    """Prints text; control characters in names and messages are escaped."""
    sys.stdout.write(plain_lines(line) + "\n")


def print_result(json: bool, line: str, **fields: object) -> None:
    """The result of a command: a line of text, or with --json an object."""
    if json:
        print_json(fields)
    else:
        print_line(line)


def print_body(json: bool, body: bytes, **fields: object) -> None:
    """A message: its body, or with --json an object with the body and these fields."""
    if json:
        print_json({**fields, **body_to_json(body)})
    else:
        write_body(body)


def body_to_json(body: bytes) -> dict[str, str]:
    """A body that is not valid UTF-8 is encoded as `body_base64`."""
    try:
        return {"body": body.decode()}
    except UnicodeDecodeError:
        return {"body_base64": base64.b64encode(body).decode()}


def is_terminal() -> bool:
    return sys.stdout.isatty()


def write_body(body: bytes) -> None:
    """The bytes and a line end; on a terminal, control characters are escaped."""
    if is_terminal():
        print_line(text(body))
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(body + b"\n")
    sys.stdout.buffer.flush()


def table(headings: list[str], rows: list[list[str]]) -> None:
    """Columns as wide as needed; the first is left-aligned, the others right-aligned."""
    rows = [[plain(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(headings, *rows, strict=True)]
    for row in [headings, *rows]:
        first, *others = (cell.ljust(widths[0]) if n == 0 else cell.rjust(widths[n]) for n, cell in enumerate(row))
        print_line("  ".join([first, *others]).rstrip())


def seconds(span: float | None) -> str:
    """A duration: 350ms, 12.5s, 3.0m, 2.0h, 4.0d."""
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
    """A time in ISO 8601, to the microsecond; the number itself if it is out of range."""
    try:
        return (EPOCH + timedelta(microseconds=microseconds)).isoformat(timespec="microseconds").replace("+00:00", "Z")
    except OverflowError:
        return str(microseconds)


def text(value: bytes) -> str:
    return value.decode("utf-8", "backslashreplace")


def entry_to_json(entry: Message | Change) -> dict[str, object]:
    """The columns of the log."""
    if isinstance(entry, Change):
        return _change_to_json(entry)
    headers = {
        text(key): text(value) for key, value in (entry.headers or {}).items() if not key.startswith(INTERNAL_PREFIX)
    }
    return {
        "offset": entry.offset,
        "event": text(entry.event),
        "queue": None if entry.route == BY_EVENT else text(queue_of(entry)),
        "id": text(entry.id),
        **body_to_json(entry.body),
        "headers": headers or None,
        "protocol": entry.protocol,
        "published_at": when(entry.published_at),
        **_options_to_json(entry.options),
    }


def _options_to_json(options: DeliveryOptions | None) -> dict[str, object]:
    """Delivery options; most messages have none."""
    if options is None:
        return {}
    shown: dict[str, object] = {
        "due_at": options.due_at and when(options.due_at),
        "expires_at": options.expires_at and when(options.expires_at),
        "deliveries_max": options.deliveries_max,
        "dedup_seconds": options.dedup_seconds,
        "owner": text(options.owner),
    }
    return {key: value for key, value in shown.items() if value}


def entry_to_line(entry: Message | Change) -> str:
    """One line of text; control characters and bytes that are not text are escaped."""
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
