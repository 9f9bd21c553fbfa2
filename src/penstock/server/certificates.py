"""The certificates of a broker: validated before use, and replaced while it runs.

One SSL context is in use at a time, and a handshake uses the one that is current when it begins. If new files are
valid, they become a new context. Existing connections continue, and certificates of a removed CA are no longer
accepted. Sessions of an old context cannot be resumed either. Invalid files change nothing, and the log says why.
"""

import asyncio
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from penstock.config import Config
from penstock.errors import Error
from penstock.report import Report
from penstock.server.watch import Watcher

if TYPE_CHECKING:
    from cryptography.x509 import Certificate

SETTLE_SECONDS: Final = 0.5
DAY_SECONDS: Final = 86_400.0
WARNING_SECONDS: Final = 30 * DAY_SECONDS
VERSIONS: Final = {"1.2": ssl.TLSVersion.TLSv1_2, "1.3": ssl.TLSVersion.TLSv1_3}
CLIENTS: Final = {"off": ssl.CERT_NONE, "optional": ssl.CERT_OPTIONAL, "required": ssl.CERT_REQUIRED}


class TlsError(Error):
    """A certificate, a key or a CA cannot be used."""


class Paths(NamedTuple):
    """The TLS settings of the configuration."""

    cert: Path
    key: Path
    ca: Path | None
    client: str
    version_min: str

    def files(self) -> list[Path]:
        return [path for path in (self.cert, self.key, self.ca) if path is not None]


class Loaded(NamedTuple):
    """Valid files: their context, the expiry of each certificate by kind and subject, and warnings about them."""

    context: ssl.SSLContext
    expiries: dict[tuple[str, str], float]
    doubts: list[str]


def paths_of(config: Config) -> Paths | None:
    """The TLS settings; None without TLS."""
    if config.tls_cert is None:
        return None
    # Many tools write certificate and key to one file.
    return Paths(config.tls_cert, config.tls_key or config.tls_cert, config.tls_ca, config.tls_client, config.tls_min)


def load(paths: Paths) -> Loaded:
    """Validate the files and create a context from them.

    Raises:
        TlsError: names the file and what is wrong with it.
    """
    chain = _certificates(paths.cert, "tls_cert")
    doubts = _check_key(paths.key, chain[0])
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = VERSIONS[paths.version_min]
    # No session tickets: if a client that only sends closes with unread tickets in its buffer, its system resets the
    # connection and discards what it has sent. Connections are long-lived, so resumption would gain little.
    context.options |= ssl.OP_NO_TICKET | ssl.OP_NO_COMPRESSION | ssl.OP_NO_RENEGOTIATION
    context.num_tickets = 0
    try:
        context.load_cert_chain(paths.cert, paths.key, password=_no_password)
    except (OSError, ValueError) as error:  # an SSLError is an OSError
        raise TlsError(f"tls_cert {paths.cert}: {_words(error)}") from error
    expiries = _expiries("cert", chain)
    if paths.ca is not None and paths.client != "off":
        authorities = _certificates(paths.ca, "tls_ca")
        try:
            context.load_verify_locations(cadata=b"".join(_encoded(authority) for authority in authorities))
        except ssl.SSLError as error:
            raise TlsError(f"tls_ca {paths.ca}: {_words(error)}") from error
        context.verify_mode = CLIENTS[paths.client]
        expiries |= _expiries("ca", authorities)
    return Loaded(context, expiries, doubts)


class Certificates:
    """The certificates in use, and their renewal."""

    def __init__(self, paths: Paths, report: Report, now: Callable[[], float]) -> None:
        """`now` returns the seconds since 1970.

        Raises:
            TlsError: the files are invalid. There are no earlier ones to keep using.
        """
        self.paths = paths
        self.report = report
        self.now = now
        self.reloads = {"done": 0, "failed": 0}
        self._loaded = load(paths)
        self._renewing = asyncio.Lock()
        self._tasks: set[asyncio.Task[bool]] = set()
        self._timer: asyncio.TimerHandle | None = None
        self.tell_doubts()

    @property
    def context(self) -> ssl.SSLContext:
        return self._loaded.context

    @property
    def expiries(self) -> dict[tuple[str, str], float]:
        """Seconds since 1970, by kind (cert, ca) and subject."""
        return self._loaded.expiries

    def start(self, loop: asyncio.AbstractEventLoop, watcher: Watcher) -> None:
        """Watch the files for changes, and check expiry once a day."""

        def changed() -> None:
            task = loop.create_task(self.reload())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

        def tell() -> None:
            self._timer = loop.call_later(DAY_SECONDS, tell)
            self.tell_doubts()

        watcher.add(self.paths.files(), changed)
        self._timer = loop.call_later(DAY_SECONDS, tell)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        for task in self._tasks:
            task.cancel()

    async def reload(self) -> bool:
        """Load the files again and use them if they are valid. Returns whether they were."""
        async with self._renewing:
            try:
                loaded = await self._load()
            except TlsError as error:
                self.report(
                    "error", "tls.kept", {"reason": str(error), "effect": "the previous certificates stay in use"}
                )
                self.reloads["failed"] += 1
                return False
            self._loaded = loaded
            until = min(loaded.expiries.values())
            self.report("info", "tls.reloaded", {"cert": str(self.paths.cert), "days": self._days(until)})
            self.tell_doubts()
            self.reloads["done"] += 1
            return True

    async def _load(self) -> Loaded:
        try:
            return await asyncio.to_thread(load, self.paths)
        except TlsError:
            # A certificate and its key are replaced one after the other, and this read may have come in between.
            await asyncio.sleep(SETTLE_SECONDS)
            return await asyncio.to_thread(load, self.paths)

    def tell_doubts(self) -> None:
        """Log warnings about the files and about expiry: at start, at each reload and once a day."""
        for doubt in self._loaded.doubts:
            self.report("warning", "tls.doubt", {"reason": doubt})
        now = self.now()
        for (kind, subject), until in self.expiries.items():
            if until - now < WARNING_SECONDS:
                event = "tls.expired" if until <= now else "tls.expires"
                path = self.paths.cert if kind == "cert" else self.paths.ca
                details: dict[str, object] = {"file": str(path), "subject": subject, "days": self._days(until)}
                self.report("error" if until <= now else "warning", event, details)

    def _days(self, until: float) -> int:
        return int((until - self.now()) // DAY_SECONDS)


def _certificates(path: Path, key: str) -> "list[Certificate]":
    # Imported here: at module level it would be half of the start-up time of a broker without TLS.
    from cryptography import x509

    try:
        return x509.load_pem_x509_certificates(_read(path, key))
    except ValueError as error:
        raise TlsError(f"{key} {path}: no valid certificates in PEM format: {_words(error)}") from error


def _check_key(path: Path, certificate: "Certificate") -> list[str]:
    """Check a private key against its certificate, and return warnings about it.

    Raises:
        TlsError: it cannot be read, or belongs to another certificate.
    """
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key

    text = _read(path, "tls_key")
    try:
        key = load_pem_private_key(text, None)
    except TypeError as error:
        raise TlsError(f"tls_key {path}: is encrypted with a password: use a key without one") from error
    except (ValueError, UnsupportedAlgorithm) as error:
        raise TlsError(f"tls_key {path}: is not a private key in PEM format") from error
    ours, theirs = (
        public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        for public in (key.public_key(), certificate.public_key())
    )
    if ours != theirs:
        raise TlsError(f"tls_key {path}: does not match the first certificate in tls_cert")
    if path.stat().st_mode & 0o077:
        return [f"tls_key {path} is readable by other users: chmod 600 {path}"]
    return []


def _expiries(kind: str, certificates: "list[Certificate]") -> dict[tuple[str, str], float]:
    return {(kind, each.subject.rfc4514_string()): each.not_valid_after_utc.timestamp() for each in certificates}


def _encoded(certificate: "Certificate") -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding

    return certificate.public_bytes(Encoding.DER)


def _read(path: Path, key: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise TlsError(f"{key} {path}: {error.strerror or error}") from error


def _no_password() -> str:
    """Keeps OpenSSL from asking for a password on the terminal."""
    return ""


def _words(error: Exception) -> str:
    """The first line of a library's error message."""
    if isinstance(error, ssl.SSLError) and error.reason:
        return error.reason.replace("_", " ").lower()
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error).partition("\n")[0]
