"""`penstock top`: queues and rates, refreshed. A rate is the difference between two samples."""

import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.cli.connect import Api, Json, Server, with_credentials
from penstock.cli.inspect import check_sort, state_of
from penstock.cli.main import command_app
from penstock.cli.output import print_json, seconds, size
from penstock.plain import plain

if TYPE_CHECKING:
    from rich.console import Group

HEADINGS = ("queue", "ready", "unacked", "delayed", "consumers", "in/s", "out/s", "bytes", "oldest", "state")


def app() -> typer.Typer:
    return command_app((with_credentials(top), "Press Ctrl-C to exit."))


def top(
    sort: Annotated[str, typer.Option(help="Sort key; prefix with - for largest first.")] = "-ready",
    search: Annotated[str, typer.Option(help="Only queues whose name contains this text.")] = "",
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Maximum number of queues.")] = 20,
    interval: Annotated[float, typer.Option(min=0.05, metavar="SECONDS", help="Refresh interval.")] = 1.0,
    once: Annotated[bool, typer.Option("--once", help="Print one table and exit.")] = False,
    server: Server = "",
    json: Json = False,
) -> None:
    check_sort(sort)
    query: dict[str, object] = {"search": search, "sort": sort, "limit": limit}
    try:
        with Api(server) as api:
            samples = _samples(api, query, interval)
            if json:
                _print(samples, once)
            else:
                _show(samples, once)
    except KeyboardInterrupt:
        return


def _samples(api: Api, query: dict[str, object], interval: float) -> Iterator[dict[str, Any]]:
    """Overview and queues with their rates; the first after one interval, since a rate needs two samples."""
    page = api.get("/v1/queues", **query)
    sampled_at = time.monotonic()
    while True:
        time.sleep(interval)
        before = {row["name"]: row for row in page["queues"]}
        page, overview = api.get("/v1/queues", **query), api.get("/v1/overview")
        now = time.monotonic()
        rows = [_with_rates(row, before.get(row["name"]), now - sampled_at) for row in page["queues"]]
        sampled_at = now
        shown = {key: overview[key] for key in ("now", "status", "reasons", "totals", "rates", "process")}
        yield {**shown, "total": page["total"], "queues": rows}


def _with_rates(row: dict[str, Any], before: dict[str, Any] | None, span: float) -> dict[str, Any]:
    """A queue that was not on the previous page has no rates yet; one that was created again counts from zero."""
    if before is None:
        return {**row, "queued_rate": None, "delivered_rate": None}
    rates = {f"{key}_rate": max(0, row[key] - before[key]) / span for key in ("queued", "delivered")}
    return {**row, **rates}


def _print(samples: Iterator[dict[str, Any]], once: bool) -> None:
    for sample in samples:
        print_json(sample)
        sys.stdout.flush()
        if once:
            return


def _show(samples: Iterator[dict[str, Any]], once: bool) -> None:
    from rich.console import Console
    from rich.live import Live

    console = Console()
    if once or not console.is_terminal:
        for sample in samples:
            console.print(_render(sample))
            if once:
                return
    with Live(console=console, screen=True, auto_refresh=False) as live:
        for sample in samples:
            live.update(_render(sample), refresh=True)


def _render(sample: dict[str, Any]) -> "Group":
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    totals, rates = sample["totals"], sample["rates"]
    table = Table(expand=True, box=None, pad_edge=False)
    table.add_column(HEADINGS[0], ratio=1, no_wrap=True)
    for heading in HEADINGS[1:]:
        table.add_column(heading, justify="right", no_wrap=True)
    for row in sample["queues"]:
        table.add_row(*map(Text, _cells(row)))
    connected = f"{totals['connections']} connections  {totals['consumers']} consumers"
    waiting = f"{totals['ready']} ready  {totals['unacked']} unacked  {totals['delayed']} delayed"
    memory = size(sample["process"]["memory_bytes"])
    lines = [
        f"{sample['status']}  {totals['queues']} queues  {connected}  {memory} of memory",
        f"{waiting}  {rates['published']:.0f} published/s  {rates['delivered']:.0f} delivered/s",
        *map(plain, sample["reasons"]),
    ]
    more = sample["total"] - len(sample["queues"])
    foot = [Text(f"... and {more} more")] if more > 0 else []
    return Group(*map(Text, lines), Text(), table, *foot)


def _cells(row: dict[str, Any]) -> list[str]:
    counts = [str(row[key]) for key in ("ready", "unacked", "delayed", "consumers")]
    rates = ["-" if row[key] is None else f"{row[key]:.0f}" for key in ("queued_rate", "delivered_rate")]
    return [plain(row["name"]), *counts, *rates, size(row["bytes"]), seconds(row["oldest_age_seconds"]), state_of(row)]
