"""The options for `.option(...)`, validated at once: an error gives the option's name, its value and how to fix it.

Names are case-insensitive, as in Spark. Values always arrive as text.
"""

import os
import re
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Self, TypeVar
from urllib.parse import urlsplit

import orjson

from penstock.client import Options as ClientOptions
from penstock.client._credentials import Token, speaks_tls, tls_of, token_of
from penstock.client._options import Address
from penstock.client.errors import AuthFailed, TlsFailed
from penstock.errors import Error

EARLIEST = "earliest"
LATEST = "latest"
LOG_KEY = "log"  # in an offset's JSON: {"log": 1234} is the first offset not read yet
OFFSET_GAPS_KEY = "holes"  # next to it: ranges ahead that were deleted before the query began: "2000-3000,5000-5500"

Value = TypeVar("Value")

SECRETS = ("token", "password", "secret", "key")  # not options, but users may try them
USER_IN_URL = re.compile(r"(?:(?<=//)|(?<=,)|^)[^/,@]*@")  # also without a scheme


class OptionError(Error, ValueError):
    """An option is invalid."""

    def __init__(self, name: str, value: object, reason: str) -> None:
        super().__init__(f"option {name}={value!r}: {reason}")
        self.name = name
        self.value = value
        self.reason = reason

    def __reduce__(self) -> tuple[Any, ...]:
        return OptionError, (self.name, self.value, self.reason)


def text_of(value: str) -> str:
    return value


def names_of(value: str) -> tuple[str, ...]:
    """Parse comma-separated names."""
    return tuple(name.strip() for name in value.split(",") if name.strip())


def servers_of(value: str) -> tuple[str, ...]:
    """Parse addresses of one broker, tried in turn. For one without a scheme, other options decide: http or https."""
    found = []
    for server in names_of(value):
        parts = urlsplit(server if "://" in server else f"//{server}", "http")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("is not an address: use http://HOST:PORT, separated by commas")
        if "@" in parts.netloc:
            raise ValueError("contains a user, which would be visible in plans and logs: use tokenFile")
        found.append(server.rstrip("/"))
    if not found:
        raise ValueError("is empty: use http://HOST:PORT")
    return tuple(found)


def one_of(*choices: str) -> Callable[[str], str]:
    def choice_of(value: str) -> str:
        if value.lower() not in choices:
            raise ValueError(f"is not one of {', '.join(choices)}")
        return value.lower()

    return choice_of


def bool_of(value: str) -> bool:
    if value.lower() not in ("true", "false"):
        raise ValueError("is not true or false")
    return value.lower() == "true"


def count_of(value: str) -> int:
    if not re.fullmatch(r"\s*\d{1,18}\s*", value, re.ASCII) or int(value) < 1:
        raise ValueError("is not a whole number above 0")
    return int(value)


def size_of(value: str) -> int:
    """Parse a number of bytes, also 64m, 64mb or 64MiB; units are powers of 1024, as in Spark."""
    written = re.fullmatch(r"\s*(\d{1,15})\s*([kmgt]?)(i?b)?\s*", value, re.ASCII | re.IGNORECASE)
    if written is None or int(written[1]) < 1:
        raise ValueError("is not a size: use bytes, or 64k, 64m, 1g")
    return int(written[1]) << {"": 0, "k": 10, "m": 20, "g": 30, "t": 40}[written[2].lower()]


def seconds_of(value: str) -> float:
    written = re.fullmatch(r"\s*(\d{1,9}(?:\.\d{1,9})?)\s*(ms|s|m|h)?\s*", value, re.ASCII)
    if written is None:
        raise ValueError("is not a duration: use seconds, or 500ms, 30s, 15m, 1h")
    return float(written[1]) * {"ms": 0.001, "s": 1, "m": 60, "h": 3600}[written[2] or "s"]


def offset_of(value: str) -> str | int:
    """Parse `earliest`, `latest`, a number, or an offset from a checkpoint: {"log": 1234}."""
    if value.strip().lower() in (EARLIEST, LATEST):
        return value.strip().lower()
    try:
        found = orjson.loads(value)
    except orjson.JSONDecodeError:
        found = None
    if isinstance(found, dict) and set(found) - {OFFSET_GAPS_KEY} == {LOG_KEY}:
        found = found[LOG_KEY]
    if not isinstance(found, int) or isinstance(found, bool) or found < 0:
        raise ValueError(f'is not an offset: use earliest, latest, an offset, or {{"{LOG_KEY}": offset}}')
    return found


def time_of(value: str) -> int:
    """Parse milliseconds since 1970, or an ISO time (UTC unless it has a zone), to microseconds since 1970."""
    if re.fullmatch(r"\s*\d{1,15}\s*", value, re.ASCII):
        return int(value) * 1000
    try:
        moment = datetime.fromisoformat(value.strip())
    except ValueError:
        raise ValueError("is not a timestamp: use milliseconds since 1970, or 2026-11-15T10:00:00Z") from None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return round(moment.timestamp() * 1_000_000)


def option(parse: Callable[[str], Any], default: Any, name: str = "") -> Any:
    """Declare a field. Its option is called `name`, by default the field's name in camel case."""
    return field(default=default, metadata={"parse": parse, "name": name})


@dataclass(frozen=True)
class Connection:
    """The broker's addresses, credentials and timeouts.

    Credentials without an option are taken from the environment of the process that connects: PENSTOCK_TOKEN_FILE,
    PENSTOCK_TOKEN, PENSTOCK_CA_FILE, PENSTOCK_CERT_FILE, PENSTOCK_KEY_FILE.
    """

    servers: tuple[str, ...] = option(servers_of, ())
    token_file: str = option(text_of, "")
    token_env: str = option(text_of, "")
    ca_file: str = option(text_of, "")
    cert_file: str = option(text_of, "")
    key_file: str = option(text_of, "")
    timeout: float = option(seconds_of, 30.0)
    retry_for: float = option(seconds_of, 30.0)  # how long to retry while the broker is unavailable

    def token(self) -> Token | None:
        """Read the token where it is used: options are sent to executors and appear in plans, a secret must not."""
        named = None
        if self.token_env and not self.token_file:
            named = os.environ.get(self.token_env, "").strip()
            if not named:
                raise OptionError("tokenEnv", self.token_env, "is not a set environment variable")
        try:
            return token_of(ClientOptions(token=named, token_file=self.token_file))
        except AuthFailed as error:
            name = "tokenEnv" if named is not None else "tokenFile"
            raise OptionError(name, self.token_env if named is not None else self.token_file, str(error)) from None

    def tls(self, host: str, port: int) -> ssl.SSLContext | None:
        """Return the TLS context for an https server. Like the token, the files are read where they are used."""
        try:
            return tls_of(self._files, Address(host, port, tls=True))
        except TlsFailed as error:
            raise OptionError("caFile", self.ca_file or self.cert_file, str(error)) from None

    def with_schemes(self) -> Self:
        """Return a copy in which every server has a scheme: https if an option is set that only TLS uses, else http.

        Called where the options are parsed, so that the driver and all executors use the same scheme.
        """
        scheme = "https" if speaks_tls(self._files, Address("", 0)) else "http"
        servers = tuple(server if "://" in server else f"{scheme}://{server}" for server in self.servers)
        return replace(self, servers=servers)

    @property
    def _files(self) -> ClientOptions:
        return ClientOptions(ca_file=self.ca_file, cert_file=self.cert_file, key_file=self.key_file)


@dataclass(frozen=True)
class SourceOptions(Connection):
    """The options of `spark.read` and `spark.readStream`."""

    path: str = option(text_of, "")  # a data directory that the driver and the executors can read
    mode: str = option(one_of("log", "queue"), "log")
    table: str = option(one_of("messages", "lifecycle"), "messages")
    events: tuple[str, ...] = option(names_of, ())
    queues: tuple[str, ...] = option(names_of, ())
    pattern: str = option(text_of, "")  # a glob over event names
    starting_offsets: str | int = option(offset_of, EARLIEST)
    starting_timestamp: int | None = option(time_of, None)
    starting_offsets_by_timestamp_strategy: str = option(one_of("error", LATEST), "error")
    ending_offsets: str | int = option(offset_of, LATEST)
    ending_timestamp: int | None = option(time_of, None)
    max_offsets_per_trigger: int | None = option(count_of, None)
    max_bytes_per_trigger: int | None = option(size_of, None)
    min_offsets_per_trigger: int | None = option(count_of, None)
    max_trigger_delay: float = option(seconds_of, 900.0)  # 15 minutes, as in Spark's Kafka source
    min_partitions: int = option(count_of, 1)
    max_records_per_partition: int = option(count_of, 200_000)
    fail_on_data_loss: bool = option(bool_of, True)
    payload: str = option(one_of("binary", "string", "json"), "binary")
    columns: tuple[str, ...] = option(names_of, ())
    include_headers: bool = option(bool_of, True)
    cursor: str = option(text_of, "")
    pushdown: bool = option(bool_of, False)
    lease: float = option(seconds_of, 300.0)  # mode=queue: how long a batch may take before others get its messages

    @classmethod
    def of(cls, given: Mapping[str, str]) -> "SourceOptions":
        options = parse(cls, given)
        options._check(given)
        return options

    def begins_at_a_moving_place(self) -> bool:
        """Whether the start of a stream depends on when it is resolved."""
        if self.starting_timestamp is not None:
            return self.starting_offsets_by_timestamp_strategy == LATEST
        return self.starting_offsets == LATEST

    def _check(self, given: Mapping[str, str]) -> None:
        if not self.servers and not self.path:
            raise OptionError(
                "servers", "", "is missing: set it to a broker's http://HOST:PORT, or set path=DATA_DIRECTORY"
            )
        if self.path and not Path(self.path).is_dir():
            raise OptionError("path", self.path, "is not a directory on this machine")
        if self.mode == "queue" and (len(self.queues) != 1 or not self.servers):
            raise OptionError("mode", "queue", "needs servers=... and exactly one name in queues=...")
        if self.mode == "queue" and (self.path or self.table != "messages" or self.events or self.pattern):
            raise OptionError(
                "mode", "queue", "reads from one queue: it cannot be combined with path, table, events or pattern"
            )
        if self.starting_timestamp is not None and "startingoffsets" in _lowered(given):
            raise OptionError("startingTimestamp", self.starting_timestamp, "cannot be combined with startingOffsets")
        if self.ending_timestamp is not None and "endingoffsets" in _lowered(given):
            raise OptionError("endingTimestamp", self.ending_timestamp, "cannot be combined with endingOffsets")
        if self.starting_offsets == LATEST and self.ending_offsets == EARLIEST:
            raise OptionError("endingOffsets", EARLIEST, "is before startingOffsets=latest")
        if self.table == "lifecycle" and (self.payload != "binary" or self.events or self.pattern or self.columns):
            raise OptionError(
                "table",
                "lifecycle",
                "has its own columns: it cannot be combined with payload, events, pattern or columns",
            )


@dataclass(frozen=True)
class SinkOptions(Connection):
    """The options of `df.write` and `df.writeStream`."""

    event: str = option(text_of, "")  # for rows that name neither event nor queue
    queue: str = option(text_of, "")
    writer: str = option(text_of, "")  # df.write only: the writer's name; a stream uses its query id
    batch: int | None = option(count_of, None)  # df.write only: the same writer and batch are published once
    ttl: float = option(seconds_of, 600.0)  # how long staged messages may wait for their commit
    checkpoint_location: str = option(text_of, "", "checkpointLocation")  # Spark's own, passed through to the sink
    query_name: str = option(text_of, "")  # likewise
    path: str = option(text_of, "")  # likewise, from .start(path) and .save(path)

    @classmethod
    def of(cls, given: Mapping[str, str]) -> "SinkOptions":
        options = parse(cls, given)
        if not options.servers:
            raise OptionError("servers", "", "is missing: set it to a broker's http://HOST:PORT")
        if options.path:
            raise OptionError("path", options.path, "has no effect here: set event or queue")
        if options.event and options.queue:
            raise OptionError("queue", options.queue, "cannot be combined with event")
        if options.batch is not None and not options.writer:
            raise OptionError("batch", options.batch, "needs writer=..., the name that identifies its batches")
        return options


Options = TypeVar("Options", bound=Connection)


def parse(kind: type[Options], given: Mapping[str, str]) -> Options:
    """Parse all options. An unknown one is refused, with a suggestion for the name."""
    known = {option_name(f.name, f.metadata["name"]).lower(): f for f in fields(kind)}
    values: dict[str, Any] = {}
    for name, value in given.items():
        found = known.get(name.lower())
        if found is None:
            raise OptionError(name, _shown(name, value), _suggestion(name, known, kind))
        try:
            values[found.name] = found.metadata["parse"](str(value))
        except ValueError as error:
            raise OptionError(option_name(found.name), _shown(name, str(value)), str(error)) from None
    return kind(**values).with_schemes()


def option_name(field_name: str, name: str = "") -> str:
    first, *others = field_name.split("_")
    return name or first + "".join(word.capitalize() for word in others)


def _lowered(given: Mapping[str, str]) -> set[str]:
    return {name.lower() for name in given}


def _suggestion(name: str, known: Mapping[str, Any], kind: type[Connection]) -> str:
    if name.lower() in SECRETS:
        return "would be visible in plans and logs: use tokenFile or tokenEnv"
    near = get_close_matches(name.lower(), known, 1)
    if near:
        return f"is unknown; did you mean {option_name(known[near[0]].name)}?"
    return "is unknown; known options: " + ", ".join(sorted(option_name(f.name) for f in fields(kind)))


def _shown(name: str, value: str) -> str:
    return "..." if name.lower() in SECRETS else USER_IN_URL.sub("...@", value)
