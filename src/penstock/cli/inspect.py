"""`penstock info`, `stats` and `queues`: how a broker is doing, at one moment."""

from typing import Annotated, Any

import typer

from penstock.cli.connect import Addr, Api, Json, Seconds, Server, options_for, place_of, reaching, run
from penstock.cli.exits import EXIT_UNREACHABLE, Failed, Misused
from penstock.cli.main import COMMANDS
from penstock.cli.output import print_json, say, seconds, size, table
from penstock.client import mqmq, smqs
from penstock.core.queue_totals import SORT_KEYS
from penstock.plain import plain


def app() -> typer.Typer:
    made = typer.Typer(add_completion=False, rich_markup_mode=None)
    made.command("info", help=COMMANDS["info"], epilog=INFO_EPILOG)(reaching(info))
    made.command("stats", help=COMMANDS["stats"])(reaching(stats))
    made.command("queues", help=COMMANDS["queues"])(reaching(queues))
    return made


INFO_EPILOG = "Works with any MQMQ server. --long and --json add details from Penstock's HTTP API."


def info(
    long: Annotated[bool, typer.Option("--long", "-l", help="Show more details, from the HTTP API.")] = False,
    addr: Addr = "",
    server: Server = "",
    timeout: Seconds = 10.0,
    json: Json = False,
) -> None:
    found = ask_info(addr or place_of("mqmq"), timeout)
    if json:
        told = {"connections": found.connections, "messages": found.messages, "queues": found.queues}
        print_json({**told, "overview": _overview(server)})
        return
    print_info(found)
    if long:
        with Api(server) as api:
            _print_overview(api.get("/v1/overview"))


def ask_info(place: str, timeout: float) -> mqmq.ServerInfo:
    async def work() -> mqmq.ServerInfo:
        async with await mqmq.connect(place, options=options_for(connect_timeout=timeout, timeout=timeout)) as client:
            return await client.info()

    return run(work())


def print_info(found: mqmq.ServerInfo) -> None:
    """As the original's program has it, which says nothing of queues where there are none."""
    say(f"Number of connections: {found.connections}")
    say(f"Number of queues: {len(found.queues)}")
    say(f"Number of messages: {found.messages}")
    if found.queues:
        say("Queues:")
    for name, count in found.queues.items():
        say(f"        {plain(name)}: {count}")


def _overview(server: str) -> Any:
    """Nothing where there is no HTTP, unless somebody said that there is."""
    try:
        with Api(server) as api:
            return api.get("/v1/overview")
    except Failed as error:
        if server or error.code != EXIT_UNREACHABLE:
            raise
        return None


def _print_overview(found: dict[str, Any]) -> None:
    totals, counters, rates = found["totals"], found["counters"], found["rates"]
    storage, log, process = found["storage"], found["log"], found["process"]
    compiled = "compiled" if found["compiled"] else "interpreted"
    say(f"Penstock {found['version']} ({compiled}), up {seconds(found['uptime_seconds'])}, {found['status']}")
    for reason in found["reasons"]:
        say(f"        {reason}")
    say("Ports: " + ", ".join(f"{name} {port}" for name, port in found["ports"].items()))
    say("Connections: " + (", ".join(f"{name} {count}" for name, count in found["connections"].items()) or "none"))
    say(f"Messages: {totals['ready']} ready, {totals['unacked']} unacked, {totals['delayed']} delayed")
    say(f"          {size(totals['bytes'])}, oldest {seconds(totals['oldest_age_seconds'])}")
    say(f"Since the start: {counters['published']} published, {counters['delivered']} delivered")
    say(f"                 {counters['retried']} retried, {counters['refused']} refused")
    say(f"Per second: {rates['published']:.0f} published, {rates['delivered']:.0f} delivered")
    kept = f"{storage['directory']}, sync {storage['sync']}" if storage["durable"] else "in memory"
    say(f"Storage: {kept}; offsets {log['first_offset']} to {log['next_offset']}")
    say(f"Process: {size(process['memory_bytes'])} of memory, {process['cpu_seconds']:.1f} s of CPU")


def stats(addr: Addr = "", timeout: Seconds = 10.0, json: Json = False) -> None:
    async def work() -> dict[str, int]:
        options = options_for(connect_timeout=timeout, timeout=timeout)
        async with await smqs.connect(addr or place_of("smqs"), options=options) as client:
            return await client.stats()

    found = run(work())
    if json:
        print_json(found)
    else:
        table(["QUEUE", "MESSAGES"], [[name, str(count)] for name, count in sorted(found.items())])


def queues(
    search: Annotated[str, typer.Argument(metavar="NAME", help="Only queues whose name contains this text.")] = "",
    sort: Annotated[str, typer.Option(help="Sort key; prefix with - for largest first.")] = "name",
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Maximum number of queues.")] = 50,
    server: Server = "",
    json: Json = False,
) -> None:
    check_sort(sort)
    with Api(server) as api:
        page = api.get("/v1/queues", search=search, sort=sort, limit=limit)
    if json:
        for row in page["queues"]:
            print_json(row)
        return
    headings = ["QUEUE", "READY", "UNACKED", "DELAYED", "BYTES", "CONSUMERS", "OLDEST", "STATE"]
    table(headings, [_cells(row) for row in page["queues"]])
    if page["total"] > len(page["queues"]):
        say(f"... and {page['total'] - len(page['queues'])} more: use --limit to show up to 1000")


def check_sort(sort: str) -> None:
    if sort.removeprefix("-") not in SORT_KEYS:
        raise Misused(f"--sort {sort}: give one of {', '.join(SORT_KEYS)}, prefixed with - for largest first")


def state_of(row: dict[str, Any]) -> str:
    return " ".join(word for word in ("paused", "full") if row[word])


def _cells(row: dict[str, Any]) -> list[str]:
    counts = [str(row[key]) for key in ("ready", "unacked", "delayed")]
    age = seconds(row["oldest_age_seconds"])
    return [str(row["name"]), *counts, size(row["bytes"]), str(row["consumers"]), age, state_of(row)]
