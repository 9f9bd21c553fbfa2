"""`penstock doctor`: checks whether this machine can run a broker, and suggests fixes.

A finding is `ok`, `advice` (it works, but could be better) or `broken` (a broker would not start, or could not store
messages). Only `broken` sets the exit code to 1.
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

from penstock.cli.connect import Api, Json, address_at
from penstock.cli.exits import EXIT_DENIED, EXIT_FAILED, Failed
from penstock.cli.main import command_app, version
from penstock.cli.output import print_json, print_line, size
from penstock.config import Config, env_of

OK, ADVICE, BROKEN = "ok", "advice", "broken"

PYTHON_MIN = (3, 11)
JAVA_MIN = 17  # for Spark 4
JAVA_SECONDS = 10.0
FILES_SPARE = 200  # descriptors for the log, HTTP and the rest, besides connections
SYNCS = 20
SYNC_BYTES = 4096
SYNC_SLOW_SECONDS = 0.020
SYNC_UNREAL_SECONDS = 0.00002  # faster than any disk: the data is not written through
FREE_BYTES_MIN = 1 << 30


class Finding(NamedTuple):
    name: str
    state: str
    found: str
    advice: str = ""


EPILOG = "Exit code 0: a broker can run here, possibly with advice. 1: something is broken. 2: a setting is invalid."


def app() -> typer.Typer:
    return command_app((doctor, EPILOG))


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
            print_line(f"{finding.state:<7} {finding.name:<12} {finding.found}")
            if finding.advice:
                print_line(f"{'':<20} -> {finding.advice}")
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
    advice = "install a C compiler and run make setup: the compiled core is several times as fast"
    return Finding("core", ADVICE, "interpreted", advice)


def compiler() -> Finding:
    found = next((path for name in ("cc", "gcc", "clang") if (path := shutil.which(name))), None)
    if found is None:
        return Finding("compiler", ADVICE, "none", "needed to build the compiled core: apt install gcc python3-dev")
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
        where = "JAVA_HOME is wrong" if home else "cannot be run"
        return Finding("java", ADVICE, f"{program}: {where} ({type(error).__name__})", advice)
    reported = re.search(r'version "(?:1\.)?(\d+)[^"]*"', done.stderr + done.stdout)
    if reported is None:
        return Finding("java", ADVICE, f"{program} does not report its version", advice)
    if int(reported[1]) < JAVA_MIN:
        return Finding("java", ADVICE, f"{reported[1]} ({program})", advice)
    return Finding("java", OK, f"{reported[1]} ({program})")


def spark() -> Finding:
    missing = [name for name in ("pyspark", "pyarrow") if find_spec(name) is None]
    if missing:
        return Finding("spark", ADVICE, f"{' and '.join(missing)} not installed", "pip install 'penstock-mq[spark]'")
    return Finding("spark", OK, "pyspark and pyarrow are installed")


def open_files(config: Config) -> Finding:
    """Checks the hard limit, since a broker raises its own soft limit."""
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
        error = _bind_error(config.host, port)
        if not error:
            continue
        if port in running:
            yield Finding(f"port {name}", OK, f"{port}: a Penstock broker is running here")
        else:
            advice = f"stop the program that uses it, or: serve --{name} PORT"
            yield Finding(f"port {name}", BROKEN, f"{port}: {error}", advice)
    free = [name for name, port in wanted.items() if not _bind_error(config.host, port)]
    if free:
        yield Finding("ports", OK, f"free on {config.host}: " + ", ".join(f"{name} {wanted[name]}" for name in free))


def _running(config: Config) -> set[int]:
    """The ports of a Penstock broker that is already running."""
    if not config.http:
        return set()
    scheme = "http" if config.tls_cert is None else "https"
    try:
        with Api(f"{scheme}://{address_at(config.host, config.http)}") as api:
            try:
                return set(api.get("/v1/overview")["ports"].values())
            except Failed as error:
                if error.code != EXIT_DENIED:
                    raise
            # Without a token it only shows that it is running.
            return {port for port in config.ports().values() if port} if api.get("/healthz") else set()
    except (Failed, ValueError, KeyError, TypeError, AttributeError):
        return set()


def _bind_error(host: str, port: int) -> str:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as sock:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.bind(address)
    except OSError as error:
        return error.strerror or str(error)
    return ""


def disk(directory: Path) -> Iterator[Finding]:
    """Checks the directory, or the existing one that it would be created in."""
    place = directory.absolute()
    while not place.exists():
        place = place.parent
    if not place.is_dir() or not os.access(place, os.W_OK | os.X_OK):
        yield Finding("directory", BROKEN, f"{place} is not writable", "use another one: serve --data DIR")
        return
    yield Finding("directory", OK, str(directory) if place == directory.absolute() else f"{directory} will be created")
    free = shutil.disk_usage(place).free
    is_low = free < FREE_BYTES_MIN
    advice = "free some, or lower retain_bytes: a broker refuses messages when the disk is full"
    yield Finding("room", ADVICE if is_low else OK, f"{size(free)} free", advice if is_low else "")
    yield sync_speed(place)


def sync_speed(place: Path) -> Finding:
    """Measures what a confirmation waits for: a small write and a sync."""
    spans = []
    try:
        with tempfile.TemporaryFile(dir=place) as file:
            for _ in range(SYNCS):
                os.write(file.fileno(), bytes(SYNC_BYTES))
                began = time.perf_counter()
                os.fdatasync(file.fileno())
                spans.append(time.perf_counter() - began)
    except OSError as error:
        return Finding("disk", BROKEN, error.strerror or str(error), "use another directory: serve --data DIR")
    median = statistics.median(spans)
    found = f"a sync takes {median * 1000:.2f} ms, at most {max(spans) * 1000:.2f} ms"
    if median > SYNC_SLOW_SECONDS:
        return Finding("disk", ADVICE, found, "confirmations wait for it: use a faster disk, or serve --sync interval")
    if median < SYNC_UNREAL_SECONDS:
        return Finding("disk", ADVICE, found, "too fast for a disk: confirmed messages may not survive a power failure")
    return Finding("disk", OK, found)
