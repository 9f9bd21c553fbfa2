"""`penstock info`, `stats` and `queues`: the state of a broker."""

from typing import Annotated, Any

import typer

from penstock.cli.connect import Addr, Api, Json, Seconds, Server, ask, default_address, with_credentials
from penstock.cli.exits import EXIT_UNREACHABLE, Failed, UsageError
from penstock.cli.main import command_app
from penstock.cli.output import print_json, print_line, seconds, size, table
from penstock.client import mqmq, smqs
from penstock.core.queue_totals import SORT_KEYS
from penstock.plain import plain


def app() -> typer.Typer:
    return command_app(
        (with_credentials(info), INFO_EPILOG), (with_credentials(stats), ""), (with_credentials(queues), "")
    )


INFO_EPILOG = "Works with any MQMQ server. --long and --json add details from Penstock's HTTP API."


def info(
    long: Annotated[bool, typer.Option("--long", "-l", help="Show more details, from the HTTP API.")] = False,
    addr: Addr = "",
    server: Server = "",
    timeout: Seconds = 10.0,
    json: Json = False,
) -> None:
    found = ask_info(addr or default_address("mqmq"), timeout)
    if json:
        shown = {"connections": found.connections, "messages": found.messages, "queues": found.queues}
        print_json({**shown, "overview": _overview(server)})
        return
    print_info(found)
    if long:
        with Api(server) as api:
            _print_overview(api.get("/v1/overview"))


def ask_info(address: str, timeout: float) -> mqmq.ServerInfo:
    found: mqmq.ServerInfo = ask(
        mqmq.connect, address, lambda client: client.info(), connect_timeout=timeout, timeout=timeout
    )
    return found


def print_info(found: mqmq.ServerInfo) -> None:
    """As the original program prints it: without queues, the list of queues is left out."""
    print_line(f"Number of connections: {found.connections}")
    print_line(f"Number of queues: {len(found.queues)}")
    print_line(f"Number of messages: {found.messages}")
    if found.queues:
        print_line("Queues:")
    for name, count in found.queues.items():
        print_line(f"        {plain(name)}: {count}")


def _overview(server: str) -> Any:
    """None if HTTP is not available, unless --server was given."""
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
    print_line(f"Penstock {found['version']} ({compiled}), up {seconds(found['uptime_seconds'])}, {found['status']}")
    for reason in found["reasons"]:
        print_line(f"        {reason}")
    print_line("Ports: " + ", ".join(f"{name} {port}" for name, port in found["ports"].items()))
    counts = ", ".join(f"{name} {count}" for name, count in found["connections"].items())
    print_line(f"Connections: {counts or 'none'}")
    print_line(f"Messages: {totals['ready']} ready, {totals['unacked']} unacked, {totals['delayed']} delayed")
    print_line(f"          {size(totals['bytes'])}, oldest {seconds(totals['oldest_age_seconds'])}")
    print_line(f"Since the start: {counters['published']} published, {counters['delivered']} delivered")
    print_line(f"                 {counters['retried']} retried, {counters['refused']} refused")
    print_line(f"Per second: {rates['published']:.0f} published, {rates['delivered']:.0f} delivered")
    kept = f"{storage['directory']}, sync {storage['sync']}" if storage["durable"] else "in memory"
    print_line(f"Storage: {kept}; offsets {log['first_offset']} to {log['next_offset']}")
    print_line(f"Process: {size(process['memory_bytes'])} of memory, {process['cpu_seconds']:.1f} s of CPU")


def stats(addr: Addr = "", timeout: Seconds = 10.0, json: Json = False) -> None:
    address = addr or default_address("smqs")
    found = ask(smqs.connect, address, lambda client: client.stats(), connect_timeout=timeout, timeout=timeout)
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
        print_line(f"... and {page['total'] - len(page['queues'])} more: use --limit to show up to 1000")


def check_sort(sort: str) -> None:
    if sort.removeprefix("-") not in SORT_KEYS:
        raise UsageError(f"--sort {sort}: give one of {', '.join(SORT_KEYS)}, prefixed with - for largest first")


def state_of(row: dict[str, Any]) -> str:
    return " ".join(word for word in ("paused", "full") if row[word])


def _cells(row: dict[str, Any]) -> list[str]:
    counts = [str(row[key]) for key in ("ready", "unacked", "delayed")]
    age = seconds(row["oldest_age_seconds"])
    return [str(row["name"]), *counts, size(row["bytes"]), str(row["consumers"]), age, state_of(row)]
