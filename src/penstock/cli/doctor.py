"""`penstock doctor`: what this machine has for a broker, what it lacks, and what to do about it.

A finding is `ok`, `advice` (it works, and could do better) or `broken` (a broker would not start or not keep up its
promise). Only the last makes the exit code 1.
"""

import os
import re
import resource
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from penstock.cli.connect import Api, Json
from penstock.cli.exits import EXIT_DENIED, EXIT_FAILED, Failed
from penstock.cli.main import COMMANDS, version
from penstock.cli.output import print_json, say, size
from penstock.config import Config, env_of

OK, ADVICE, BROKEN = "ok", "advice", "broken"

PYTHON_MIN = (3, 11)
JAVA_MIN = 17  # what Spark 4 runs on
JAVA_SECONDS = 10.0
FILES_SPARE = 200  # descriptors for the log, HTTP and the rest, besides connections
SYNCS = 20
SYNC_BYTES = 4096
SYNC_SLOW_SECONDS = 0.020
SYNC_UNREAL_SECONDS = 0.00002  # faster than any disk: nothing is written through
ROOM_MIN = 1 << 30


class Finding(NamedTuple):
    name: str
    state: str
    found: str
    advice: str = ""


def app() -> typer.Typer:
    made = typer.Typer(add_completion=False, rich_markup_mode=None)
    made.command(
        help=COMMANDS["doctor"],
        epilog="Exit code 0: a broker can run here, possibly with advice. 1: something is broken. "
        "2: a setting is invalid.",
    )(doctor)
    return made


def doctor(
    config: Annotated[
        Path | None, typer.Option("--config", metavar="FILE", envvar=env_of("config"), help="TOML file with settings.")
    ] = None,
    data: Annotated[Path | None, typer.Option("--data", metavar="DIR", help="Data directory to check.")] = None,
    json: Json = False,
) -> None:
    loaded = Config.load({"data": data}, os.environ, config)
    findings = []
    for finding in examine(loaded):
        findings.append(finding)
        if json:
            print_json({**finding._asdict(), "advice": finding.advice or None})
        else:
            say(f"{finding.state:<7} {finding.name:<12} {finding.found}")
            if finding.advice:
                say(f"{'':<20} -> {finding.advice}")
    if any(finding.state == BROKEN for finding in findings):
        raise typer.Exit(EXIT_FAILED)


def examine(config: Config) -> Iterator[Finding]:
    yield python()
    yield core()
    yield compiler()
    yield java()
    yield spark()
    yield open_files(config)
    yield from ports(config)
    if config.directory is not None:
        yield from disk(config.directory)


def python() -> Finding:
    found = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] < PYTHON_MIN:
        return Finding("python", BROKEN, found, "install Python 3.11 or newer")
    return Finding("python", OK, found)


def core() -> Finding:
    if "(compiled," in version():
        return Finding("core", OK, "compiled")
    return Finding(
        "core", ADVICE, "interpreted", "install a C compiler and run make setup: it is several times as fast"
    )


def compiler() -> Finding:
    found = next((path for name in ("cc", "gcc", "clang") if (path := shutil.which(name))), None)
    if found is None:
        return Finding("compiler", ADVICE, "none", "to build the compiled core: apt install gcc python3-dev")
    return Finding("compiler", OK, found)


def java() -> Finding:
    home = os.environ.get("JAVA_HOME")
    program = str(Path(home, "bin", "java")) if home else shutil.which("java")
    advice = f"for Spark, install Java {JAVA_MIN} or newer: apt install openjdk-17-jre-headless"
    if program is None:
        return Finding("java", ADVICE, "none", advice)
    try:
        done = subprocess.run(  # noqa: S603 the program Spark would run
            [program, "-version"], capture_output=True, text=True, timeout=JAVA_SECONDS, check=False
        )
    except (OSError, subprocess.SubprocessError) as error:
        where = "JAVA_HOME is wrong" if home else "it does not run"
        return Finding("java", ADVICE, f"{program}: {where} ({type(error).__name__})", advice)
    told = re.search(r'version "(?:1\.)?(\d+)[^"]*"', done.stderr + done.stdout)
    if told is None:
        return Finding("java", ADVICE, f"{program} does not tell its version", advice)
    if int(told[1]) < JAVA_MIN:
        return Finding("java", ADVICE, f"{told[1]} ({program})", advice)
    return Finding("java", OK, f"{told[1]} ({program})")


def spark() -> Finding:
    missing = [name for name in ("pyspark", "pyarrow") if find_spec(name) is None]
    if missing:
        return Finding("spark", ADVICE, f"without {' and '.join(missing)}", "pip install 'penstock-mq[spark]'")
    return Finding("spark", OK, "pyspark and pyarrow are installed")


def open_files(config: Config) -> Finding:
    """A broker raises its own limit as far as it may, so that is what counts."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard == resource.RLIM_INFINITY:
        return Finding("open files", OK, "no limit")
    if hard < config.connections_max + FILES_SPARE:
        wanted = config.connections_max + FILES_SPARE
        advice = f"raise it to {wanted} (ulimit -Hn, LimitNOFILE= of systemd), or lower connections_max"
        return Finding("open files", ADVICE, f"{hard}, for {config.connections_max} connections", advice)
    return Finding("open files", OK, f"{hard}, for {config.connections_max} connections")


def ports(config: Config) -> Iterator[Finding]:
    running = _running(config)
    wanted = {name: port for name, port in config.ports().items() if port}
    for name, port in wanted.items():
        trouble = _trouble_with(config.host, port)
        if not trouble:
            continue
        if port in running:
            yield Finding(f"port {name}", OK, f"{port}: a Penstock is running there")
        else:
            yield Finding(f"port {name}", BROKEN, f"{port}: {trouble}", f"end what uses it, or: serve --{name} PORT")
    free = [name for name, port in wanted.items() if not _trouble_with(config.host, port)]
    if free:
        yield Finding("ports", OK, f"free on {config.host}: " + ", ".join(f"{name} {wanted[name]}" for name in free))


def _running(config: Config) -> set[int]:
    """The ports of a Penstock that is running already."""
    if not config.http:
        return set()
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(config.host, config.host)  # noqa: S104
    scheme = "http" if config.tls_cert is None else "https"
    try:
        with Api(f"{scheme}://[{host}]:{config.http}" if ":" in host else f"{scheme}://{host}:{config.http}") as api:
            try:
                return set(api.get("/v1/overview")["ports"].values())
            except Failed as error:
                if error.code != EXIT_DENIED:
                    raise
            # It does not tell strangers, except that it is there.
            return {port for port in config.ports().values() if port} if api.get("/healthz") else set()
    except (Failed, ValueError, KeyError, TypeError, AttributeError):
        return set()


def _trouble_with(host: str, port: int) -> str:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as door:
            door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            door.bind(address)
    except OSError as error:
        return error.strerror or str(error)
    return ""


def disk(directory: Path) -> Iterator[Finding]:
    """Of the directory, or of where it would come to be."""
    place = directory.absolute()
    while not place.exists():
        place = place.parent
    if not place.is_dir() or not os.access(place, os.W_OK | os.X_OK):
        yield Finding("directory", BROKEN, f"{place} cannot be written to", "give another one: serve --data DIR")
        return
    yield Finding("directory", OK, str(directory) if place == directory.absolute() else f"{directory}, to be made")
    room = shutil.disk_usage(place).free
    if room < ROOM_MIN:
        yield Finding(
            "room", ADVICE, f"{size(room)} free", "make room, or lower retain_bytes: a full disk refuses messages"
        )
    else:
        yield Finding("room", OK, f"{size(room)} free")
    yield sync_speed(place)


def sync_speed(place: Path) -> Finding:
    """What a confirmation waits for: a small write, synced."""
    spans = []
    try:
        with tempfile.TemporaryFile(dir=place) as file:
            for _ in range(SYNCS):
                os.write(file.fileno(), bytes(SYNC_BYTES))
                began = time.perf_counter()
                os.fdatasync(file.fileno())
                spans.append(time.perf_counter() - began)
    except OSError as error:
        return Finding("disk", BROKEN, error.strerror or str(error), "give another directory: serve --data DIR")
    median = statistics.median(spans)
    found = f"a sync takes {median * 1000:.2f} ms, at worst {max(spans) * 1000:.2f} ms"
    if median > SYNC_SLOW_SECONDS:
        return Finding("disk", ADVICE, found, "confirmations wait for it: use a faster disk, or serve --sync interval")
    if median < SYNC_UNREAL_SECONDS:
        return Finding(
            "disk", ADVICE, found, "no disk is that fast: what is confirmed here may not survive a power cut"
        )
    return Finding("disk", OK, found)
