"""One settings class: each field is declared once, and is a flag, an environment variable and a key of the TOML file.

    field             flag                environment                 file
    line_size_max     --line-size-max     PENSTOCK_LINE_SIZE_MAX      line_size_max = "48MiB"

A flag beats the environment, the environment beats the file, and the file beats the default. Policies are tables, so
they are in the file alone. Whatever is wrong is told with the key, the value and the place it came from. Nothing here
reads the process's own environment or arguments: they are handed in, so that a test can.
"""

import ipaddress
import math
import re
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from penstock.errors import ConfigError

ENV_PREFIX = "PENSTOCK_"
FILE_ONLY = ("policy",)
PROTOCOLS = ("mqks", "smqs", "sevx", "mqmq", "rq")
LISTENERS = (*PROTOCOLS, "any", "http")

DATA_DEFAULT = "penstock-data"
USERS_NAME = "users.json"

PORT_MAX = 65535
AMOUNT_MAX = 2**63 - 1
TRIES_MAX = 2**31 - 1
MESSAGE_SIZE_MAX = 1 << 30
FACTOR_MAX = 1000
SPAN_MAX = 1e9  # seconds: more than thirty years
NAME_SIZE_MAX = 1024
USER_SIZE_MAX = 64
COUNT_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9}
DECIMAL_UNITS = {"b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9}
BINARY_UNITS = {"ki": 2**10, "mi": 2**20, "gi": 2**30, "kib": 2**10, "mib": 2**20, "gib": 2**30}
SIZE_UNITS = COUNT_UNITS | DECIMAL_UNITS | BINARY_UNITS
AMOUNT = re.compile(r"\s*(\d{1,19}(?:\.\d{1,19})?)\s*([a-z]*)\s*", re.ASCII | re.IGNORECASE)


def port_of(value: object) -> int | None:
    """A port, 0 for any free one, or None for `off`."""
    if value is None or (isinstance(value, str) and value.strip().lower() == "off"):
        return None
    number = int(value) if isinstance(value, str) and re.fullmatch(r"\s*\d{1,9}\s*", value, re.ASCII) else value
    if isinstance(number, int) and not isinstance(number, bool) and 0 <= number <= PORT_MAX:
        return number
    raise ValueError(f"is not a port: use 0 to {PORT_MAX}, where 0 picks a free port, or off")


def count_of(value: object) -> int:
    """How many: a whole number, or a text such as 10k."""
    return _amount_of(value, COUNT_UNITS, "is not a count: use a whole number above 0, such as 500 or 10k")


def size_of(value: object) -> int:
    """How many bytes: a whole number, or a text such as 64MiB (1024-based) or 64MB (1000-based)."""
    return _amount_of(value, SIZE_UNITS, "is not a size: use bytes above 0, such as 65536, 10k, 64MB or 64MiB")


def message_size_of(value: object) -> int:
    """How many bytes of something that has to fit into one block of the log."""
    size = size_of(value)
    if size > MESSAGE_SIZE_MAX:
        raise ValueError(f"is too large: at most {MESSAGE_SIZE_MAX} bytes (1GiB), the most a log block can hold")
    return size


def maybe_size_of(value: object) -> int | None:
    return None if value is None else size_of(value)


def seconds_of(value: object) -> float:
    """How long: a number of seconds from 0 on."""
    try:
        seconds = math.nan if isinstance(value, bool) else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        seconds = math.nan
    if 0 <= seconds < math.inf:
        return seconds
    raise ValueError("is not a number of seconds: use 0 or more, such as 2.5")


def factor_of(value: object) -> float:
    """By how much: a number from 1 on."""
    if isinstance(value, int | float) and not isinstance(value, bool) and 1 <= value <= FACTOR_MAX:
        return float(value)
    raise ValueError(f"is not a factor: use 1 (constant) to {FACTOR_MAX}, such as 2")


def part_of(value: object) -> float:
    """A part of a whole."""
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= 1:
        return float(value)
    raise ValueError("is not a fraction: use more than 0 and at most 1, such as 0.8")


def span_of(value: object) -> float:
    """How long something may be put off or kept, in seconds."""
    seconds = seconds_of(value)
    if seconds > SPAN_MAX:
        raise ValueError(f"is too long: at most {SPAN_MAX:.0f} seconds")
    return seconds


def globs_of(value: object) -> tuple[str, ...]:
    """Names of queues with * and ? in them: one, or a list."""
    globs = (value,) if isinstance(value, str) else value
    if isinstance(globs, list | tuple) and globs and all(isinstance(glob, str) and glob for glob in globs):
        return tuple(globs)
    raise ValueError('is not a pattern for queue names: use a string such as "orders.*", or a list of them')


def name_of(value: object) -> str:
    if isinstance(value, str) and len(value.encode("utf-8", "replace")) <= NAME_SIZE_MAX:
        return value
    raise ValueError(f"is not a queue name: use a string of at most {NAME_SIZE_MAX} bytes")


def path_of(value: object) -> Path | None:
    if value is None or isinstance(value, Path):
        return value
    if isinstance(value, str) and value and "\0" not in value:
        return Path(value)
    raise ValueError("is not a path")


def _amount_of(value: object, units: Mapping[str, int], complaint: str) -> int:
    amount: object = value
    if isinstance(value, str):
        written = AMOUNT.fullmatch(value)
        factor = units.get(written[2].lower()) if written else None
        # A float is exact enough for 1.5MiB, and would not be for a long whole number.
        if written and factor:
            amount = round(float(written[1]) * factor) if "." in written[1] else int(written[1]) * factor
    if isinstance(amount, int) and not isinstance(amount, bool) and 0 < amount <= AMOUNT_MAX:
        return amount
    raise ValueError(complaint)


def file_of(value: object) -> Path | None:
    return path_of(value)


def user_of(value: object) -> str:
    if isinstance(value, str) and len(value) <= USER_SIZE_MAX:
        return value.strip()
    raise ValueError("is not a user name")


Port = Annotated[int | None, BeforeValidator(port_of)]
Count = Annotated[int, BeforeValidator(count_of)]
Size = Annotated[int, BeforeValidator(size_of)]
MessageSize = Annotated[int, BeforeValidator(message_size_of)]
OptionalSize = Annotated[int | None, BeforeValidator(maybe_size_of)]
Seconds = Annotated[float, BeforeValidator(seconds_of)]
Directory = Annotated[Path | None, BeforeValidator(path_of)]
File = Annotated[Path | None, BeforeValidator(file_of)]
DefaultUser = Annotated[str, BeforeValidator(user_of)]


Span = Annotated[float | None, BeforeValidator(span_of)]


def proxies_of(value: object) -> str:
    """Addresses and networks, each as it is understood."""
    found = [part.strip() for part in str(value).split(",") if part.strip()]
    for part in found:
        try:
            ipaddress.ip_network(part)
        except ValueError as error:
            raise ValueError(f"{part!r} is not an address or network: {error}") from None
    return ",".join(found)


class PolicyTable(BaseModel):
    """One [[policy]] of the file: what holds for the queues whose names match. What is None is not said."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    queues: Annotated[tuple[str, ...], BeforeValidator(globs_of)]
    length_max: Annotated[int | None, BeforeValidator(count_of)] = None
    bytes_max: Annotated[int | None, BeforeValidator(size_of)] = None
    full: Literal["refuse", "drop-oldest", "dead-letter"] | None = None
    alarm: Annotated[float | None, BeforeValidator(part_of)] = None
    ttl: Span = None
    deliveries_max: Annotated[int | None, Field(le=TRIES_MAX), BeforeValidator(count_of)] = None
    retry_delay: Span = None
    retry_backoff: Annotated[float | None, BeforeValidator(factor_of)] = None
    retry_delay_max: Span = None
    dead_letter: Annotated[str | None, BeforeValidator(name_of)] = None
    dedup: Span = None


class Setting(NamedTuple):
    """One line of `describe`."""

    key: str
    value: object
    default: object
    env: str
    help: str


class Layer(NamedTuple):
    """The values one source gives."""

    kind: Literal["flag", "environment", "file"]
    values: Mapping[str, object]
    file: Path | None = None

    def source_of(self, key: str) -> str:
        """Where exactly a value came from, for whoever has to correct it."""
        names = {"flag": flag_of(key), "environment": env_of(key), "file": self.file}
        return f"{self.kind} {names[self.kind]}"


class Config(BaseModel):
    """Every setting of a broker, checked, and fixed from then on."""

    # Defaults are validated too, so that a default has the type that the same value has when it is set.
    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)

    host: Annotated[str, Field(min_length=1)] = Field(default="127.0.0.1", description="Address to listen on.")
    data: Directory = Field(default=None, description=f"Directory for the durable log; defaults to {DATA_DEFAULT}.")
    memory: bool = Field(default=False, description="Keep everything in memory; nothing survives a restart.")

    mqks: Port = Field(default=54321, description="Port for MQKS; 0 picks a free port, off disables the listener.")
    smqs: Port = Field(default=2201, description="Port for SMQS.")
    sevx: Port = Field(default=54322, description="Port for SEVX.")
    mqmq: Port = Field(default=47774, description="Port for MQMQ.")
    rq: Port = Field(default=13700, description="Port for RQ.")
    any: Port = Field(default=7700, description="Port that detects the protocol from the first bytes.")
    http: Port = Field(default=7780, description="Port for HTTP: health, metrics, API and console.")
    http_hosts: str = Field(
        default="", description="Host names that HTTP accepts besides IP addresses and localhost, separated by commas."
    )
    http_proxies: Annotated[str, BeforeValidator(proxies_of)] = Field(
        default="",
        description="Proxies whose forwarded headers are trusted: addresses and networks, separated by commas.",
    )

    auth: Literal["auto", "on", "off"] = Field(
        default="auto", description="Whether clients must authenticate; auto means on if there is a users file."
    )
    users: File = Field(default=None, description=f"Users file; defaults to {USERS_NAME} in the data directory.")
    mqks_user: DefaultUser = Field(default="", description="User for MQKS clients without credentials.")
    smqs_user: DefaultUser = Field(default="", description="User for SMQS clients without credentials.")
    sevx_user: DefaultUser = Field(default="", description="User for SEVX clients without credentials.")
    mqmq_user: DefaultUser = Field(default="", description="User for MQMQ clients without credentials.")
    rq_user: DefaultUser = Field(default="", description="User for RQ clients without credentials.")
    any_user: DefaultUser = Field(default="", description="User for clients without credentials on the `any` port.")
    auth_seconds: Seconds = Field(default=10.0, description="Time limit for a client to authenticate.")
    unauthenticated_bytes_max: Size = Field(
        default=4096, description="Maximum number of bytes a client may send before it has authenticated."
    )
    unauthenticated_per_address_max: Count = Field(
        default=100, description="Maximum number of unauthenticated connections per address."
    )
    login_seconds: Seconds = Field(default=43_200.0, description="Lifetime of a console login.")
    login_idle_seconds: Seconds = Field(default=3_600.0, description="Idle time after which a console login expires.")
    oidc_issuer: str = Field(
        default="",
        description="Issuer of JWT bearer tokens to accept besides Penstock's own; if set, clients must authenticate.",
    )
    oidc_jwks: str = Field(default="", description="Public keys of the issuer: a JWKS file, or the https URL of one.")
    oidc_audience: str = Field(default="", description="Accepted token audiences, separated by commas.")
    oidc_rights: str = Field(
        default="", description="Permissions by claim value: VALUE = RIGHT NAMES, or a role, separated by semicolons."
    )
    oidc_rights_claims: str = Field(
        default="scope", description="Claims to read these values from, as dotted paths, separated by commas."
    )
    oidc_user_claim: str = Field(default="sub", description="Claim that holds the user name.")
    oidc_user_prefix: str = Field(
        default="oidc:",
        description="Prefix for these user names; must contain a colon or a slash, which other names cannot.",
    )
    oidc_quotas: str = Field(default="", description="Quotas of each OIDC user: connections=10 messages=5000.")
    oidc_leeway_seconds: Seconds = Field(
        default=30.0, description="Allowed clock difference between issuer and broker."
    )
    oidc_refresh_seconds: Seconds = Field(default=300.0, description="Interval at which keys are fetched from a URL.")
    oidc_token_size_max: Size = Field(default=8192, description="Maximum size of an OIDC token.")
    metrics_open: bool = Field(
        default=False, description="Serve /metrics without authentication, regardless of `auth`."
    )
    audit: File = Field(
        default=None, description="File for audit events about users and permissions, which also go to the log."
    )

    tls_cert: File = Field(
        default=None,
        description="Certificate chain of the broker, in PEM; enables TLS.",
    )
    tls_key: File = Field(
        default=None, description="Private key of the broker, in PEM; by default read from the tls_cert file."
    )
    tls_ca: File = Field(default=None, description="CA certificates that verify client certificates, in PEM.")
    tls_client: Literal["off", "optional", "required"] = Field(
        default="optional", description="Client certificates, if tls_ca is set: off, optional or required."
    )
    tls_min: Literal["1.2", "1.3"] = Field(default="1.2", description="Minimum TLS version.")
    any_tls: Literal["only", "both", "off"] = Field(
        default="only",
        description="TLS on the `any` port, if tls_cert is set: only TLS, both TLS and plain connections, or off.",
    )
    tls_handshake_seconds: Seconds = Field(default=10.0, description="Time limit for a TLS handshake.")
    tls_handshakes_max: Count = Field(
        default=1000,
        description="Maximum number of concurrent TLS handshakes; a single address may have a tenth of them.",
    )
    insecure: bool = Field(
        default=False, description="Allow listening beyond this machine without TLS or without authentication."
    )

    connections_max: Count = Field(
        default=10_000,
        description="Maximum number of open connections; a single user, or address if there are no users, may have "
        "nine tenths of them.",
    )
    http_connections_max: Count = Field(
        default=1000,
        description="Maximum number of HTTP connections; a few more are for health, metrics and administrators only.",
    )
    http_body_rate_min: Size = Field(
        default=1024, description="Minimum rate of a request body after 10 seconds, in bytes per second."
    )
    line_size_max: MessageSize = Field(
        default=48 << 20, description="Maximum size of a line or frame; at most 3/16 of memory_bytes_max."
    )
    body_size_max: MessageSize = Field(
        default=33 << 20, description="Maximum size of a message body; at most an eighth of memory_bytes_max."
    )
    headers_max: Count = Field(default=1000, description="Maximum number of headers per message.")
    headers_bytes_max: Size = Field(
        default=1 << 20, description="Maximum size of all headers of a message, names and values."
    )
    json_size_max: MessageSize = Field(
        default=2 << 20,
        description="Maximum size of JSON that the broker parses: a SEVX event, a message over HTTP.",
    )
    json_values_max: Count = Field(
        default=50_000,
        description="Maximum number of values in JSON that the broker parses: a SEVX event, a request over HTTP.",
    )
    queues_max: Count = Field(default=100_000, description="Maximum number of queues.")
    queue_length_max: Count = Field(default=50_000_000, description="Maximum number of messages in a queue.")
    queue_bytes_max: OptionalSize = Field(
        default=None,
        description="Maximum size of all messages in a queue; defaults to 256MiB in memory, no limit on disk.",
    )
    queue_full: Literal["refuse", "drop-oldest"] = Field(
        default="refuse",
        description="What a full queue does with a new message: refuse it, or drop-oldest to make room.",
    )
    unacked_max: Count = Field(default=1_000_000, description="Maximum number of unacknowledged messages per consumer.")
    unacked_bytes_max: OptionalSize = Field(
        default=None,
        description="Maximum size of all unacknowledged messages per consumer, but always at least one message; "
        "defaults to a quarter of memory_bytes_max.",
    )
    memory_bytes_max: Size = Field(
        default=1 << 30,
        description="Maximum size of all messages in memory; above it, publishers wait, and consumers with "
        "unacknowledged messages get no more from disk.",
    )
    lease_bytes_max: OptionalSize = Field(
        default=None,
        description="Maximum size of all messages of an HTTP lease; defaults to a sixteenth of memory_bytes_max.",
    )
    outbox_bytes_max: Size = Field(default=1 << 20, description="Bytes buffered per socket; above it, deliveries wait.")
    events_per_queue_max: Count = Field(
        default=2000, description="Maximum number of events and patterns bound to a queue."
    )
    sync: Literal["always", "interval", "off"] = Field(
        default="always",
        description="When to sync the log to disk: always (before a confirmation), interval (every second), or off.",
    )
    segment_bytes_max: Size = Field(default=128 << 20, description="Maximum size of a log segment.")
    retain_seconds: Seconds = Field(
        default=7 * 86_400, description="How long to keep history that no queue needs any more; 0 keeps it forever."
    )
    retain_bytes: Size = Field(
        default=10 << 30, description="Log size above which history that no queue needs any more is deleted."
    )
    dedup_seconds: Annotated[float, BeforeValidator(span_of)] = Field(
        default=600.0, description="How long to remember message ids for deduplication."
    )
    dedup_ids_max: Count = Field(
        default=1_000_000, description="Maximum number of message ids remembered for deduplication."
    )
    consumers_max: Count = Field(
        default=100_000,
        description="Maximum number of MQKS and SEVX consumers; a single user, or address if there are no users, may "
        "have half of them.",
    )
    writers_max: Count = Field(
        default=100_000, description="Maximum number of writers whose last commit is remembered."
    )
    writers_per_user_max: Count = Field(default=10_000, description="Maximum number of such writers per user.")
    writer_seconds: Annotated[float, BeforeValidator(span_of)] = Field(
        default=30 * 86_400.0, description="How long to remember a writer that makes no commits."
    )
    policy: tuple[PolicyTable, ...] = Field(default=(), description="Policies by queue name; config file only.")
    smqs_lose_undone: bool = Field(
        default=False,
        description="SMQS: drop the unfinished messages of a lost consumer, as the original does; do not requeue them.",
    )
    sevx_id_inside: bool = Field(
        default=False, description="SEVX: put the event id inside the JSON, as version 0.1.1 of the protocol does."
    )
    rq_broadcast_as_request: bool = Field(
        default=False, description="RQ: send broadcasts as requests without reply, for stock librq consumers."
    )
    drain_seconds: Seconds = Field(default=5.0, description="How long a stopping broker waits for its clients.")

    log_level: Literal["debug", "info", "warning", "error"] = Field(default="info", description="Minimum log level.")
    log_format: Literal["auto", "console", "json"] = Field(
        default="auto",
        description="Log format: console, json, or auto: console if stderr is a terminal, json otherwise.",
    )

    @classmethod
    def load(cls, flags: Mapping[str, object], env: Mapping[str, str], file: Path | None) -> Self:
        """The settings these sources agree on.

        Args:
            flags: by key; None is a flag that was not given.
            env: such as os.environ; what is not ours, or empty, is passed over.
            file: a TOML file, in which every key has to be known.

        Raises:
            ConfigError: with the key, the value and the source that are to blame.
        """
        layers = [
            Layer("flag", {key: value for key, value in flags.items() if value is not None}),
            Layer("environment", {key: env[env_of(key)] for key in cls.options() if env.get(env_of(key))}),
            Layer("file", {} if file is None else _read(file), file),
        ]
        origins = {key: layer for layer in reversed(layers) for key in layer.values}
        values: dict[str, Any] = {key: layer.values[key] for key, layer in origins.items()}
        try:
            loaded = cls(**values)
        except ValidationError as error:
            raise _config_error(error.errors()[0], origins) from None
        loaded._check_tls(origins)
        return loaded._settle_storage(layers, origins)

    @property
    def directory(self) -> Path | None:
        """Where the log is kept; None when it is not."""
        return None if self.memory else self.data or Path(DATA_DEFAULT)

    @property
    def users_file(self) -> Path | None:
        """Where users are kept; None where there is no place for them."""
        directory = self.directory
        return self.users or (None if directory is None else directory / USERS_NAME)

    def default_user(self, listener: str) -> str:
        """Who a client of that listener is unless it says so; empty for nobody."""
        return str(getattr(self, f"{listener}_user", ""))

    @classmethod
    def options(cls) -> list[str]:
        """The settings that are flags and environment variables, too."""
        return [key for key in cls.model_fields if key not in FILE_ONLY]

    def ports(self) -> dict[str, int | None]:
        """The port of each listener by its name: 0 for any free one, None for none."""
        return {name: getattr(self, name) for name in LISTENERS}

    def describe(self) -> list[Setting]:
        """Every setting but the policies, in the order of declaration."""
        fields = type(self).model_fields
        return [
            Setting(key, getattr(self, key), fields[key].default, env_of(key), fields[key].description or "")
            for key in self.options()
        ]

    def _check_tls(self, origins: Mapping[str, Layer]) -> None:
        """Settings that say nothing without another one were meant to say something."""
        needs = {"tls_key": "tls_cert", "tls_ca": "tls_cert"}
        if self.tls_client == "required":
            needs["tls_client"] = "tls_ca"
        if self.any_tls == "both":
            needs["any_tls"] = "tls_cert"
        for key, needed in needs.items():
            if getattr(self, key) is not None and getattr(self, needed) is None:
                value, source = getattr(self, key), origins[key].source_of(key)
                raise ConfigError(key, str(value), source, f"has no effect without {needed}: set both")

    def _settle_storage(self, layers: list[Layer], origins: Mapping[str, Layer]) -> Self:
        """Of --data and --memory the one that was said with more authority; not both by the same source."""
        if self.data is None or not self.memory:
            return self
        if origins["data"] is origins["memory"]:
            source = origins["memory"].source_of("memory")
            raise ConfigError(
                "memory", True, source, "cannot be combined with data: keep messages in memory or on disk"
            )
        memory_first = layers.index(origins["memory"]) < layers.index(origins["data"])
        return self.model_copy(update={"data": None} if memory_first else {"memory": False})


def flag_of(key: str) -> str:
    return "--" + key.replace("_", "-")


def env_of(key: str) -> str:
    return ENV_PREFIX + key.upper()


def text_of(key: str, value: object) -> str:
    """A value as a person would write it: off, true, 48MiB."""
    if value is None:
        return "off" if key in LISTENERS else "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int) and ("size" in key or "bytes" in key):
        for unit, factor in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
            if value % factor == 0:
                return f"{value // factor}{unit}"
    return str(value)


def _read(file: Path) -> dict[str, Any]:
    try:
        values = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError("config", str(file), f"file {file}", error.strerror or str(error)) from error
    except ValueError as error:  # not TOML, or not UTF-8
        raise ConfigError("config", str(file), f"file {file}", f"is not TOML: {error}") from error
    return values


def _config_error(error: ErrorDetails, origins: Mapping[str, Layer]) -> ConfigError:
    key = str(error["loc"][0])
    layer = origins[key]
    value = layer.values[key]
    known: list[str] = list(Config.model_fields)
    place = key
    if len(error["loc"]) > 1:
        number, *inner = error["loc"][1:]
        place = f"{key} {int(number) + 1}"
        value = error["input"]
        known = list(PolicyTable.model_fields)
        if inner:
            key = str(inner[0])
            place = f"{place}, {key}"
    if error["type"] == "extra_forbidden":
        similar = get_close_matches(key, known, n=1)
        reason = f"is not a setting; did you mean {similar[0]}?" if similar else "is not a setting"
    elif error["type"] == "value_error":
        reason = str(error["ctx"]["error"])
    else:
        reason = error["msg"]
    return ConfigError(place, value, layer.source_of(str(error["loc"][0])), reason)
