"""Authenticates HTTP requests: by a token in the Authorization header, the console's cookie, or a client certificate.

They are tried in this order. A wrong token fails the request; an unknown cookie does not. Failures are answered with a
delay and without the exact cause, counted, and written to the audit log without the secret. Clients that fail too often
are locked out for a while (`LoginThrottle`).
"""

import asyncio
import math
import os
import sys
import threading
from collections.abc import Callable, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from penstock.auth.directory import Directory, Identity
from penstock.auth.passwords import hash_password, is_password
from penstock.auth.throttle import FREE, FREE_OF_ADDRESS, FREE_OF_NAME, LoginThrottle, address_of
from penstock.auth.tokens import id_of
from penstock.auth.user import User
from penstock.clock import Clock
from penstock.core.places import Places
from penstock.http.caller import VIA, Caller
from penstock.http.console_sessions import ConsoleSessions, digest_of
from penstock.http.permissions import is_open
from penstock.http.problems import Problem
from penstock.wire.session import Hub

SECOND = 1_000_000
DELAYED_MAX = 200  # delayed failure responses at once; further ones get 429 immediately
PASSWORDS_AT_ONCE = 1  # each takes 19 MiB and a CPU core; hashes of 0.1.0 take 64 MiB and four
PASSWORDS_WAITING_MAX = 20
PASSWORDS_NICENESS = 10  # messages get the CPU first
SLOWER_SECONDS = 0.5  # delay of a password check, for each failure of its user above the free ones
SLOWER_SECONDS_MAX = 5.0
KNOWN_ADDRESSES_MAX = 10_000
COOKIE = "penstock"
PEER_SIZE_MAX = 64
CONSOLE_HEADER = b"x-penstock-console"  # pages of other origins cannot send it

CHALLENGE = {"www-authenticate": 'Bearer realm="penstock"'}
HINT = "send `Authorization: Bearer TOKEN`; create one with `penstock token create USER`"

Headers = dict[bytes, bytes]
Scope = MutableMapping[str, Any]
Result = TypeVar("Result")


class HttpAuthenticator:
    def __init__(self, hub: Hub, clock: Clock, logins: ConsoleSessions, metrics_open: bool) -> None:
        self.hub = hub
        self.clock = clock
        self.logins = logins
        self.metrics_open = metrics_open
        self.of_users = LoginThrottle(FREE)  # by user and address: guessing locks out the guesser, not the user
        self.of_names = LoginThrottle(FREE_OF_NAME)  # by user, from all addresses: delays attempts, refuses none
        self.known_addresses: dict[tuple[str, str], None] = {}  # users, and the addresses they have logged in from
        self.of_addresses = LoginThrottle(FREE_OF_ADDRESS)
        self.of_tokens = LoginThrottle(FREE_OF_ADDRESS)  # also by address; separate, or wrong tokens would block logins
        self._delayed = 0
        self._passwords = asyncio.Semaphore(PASSWORDS_AT_ONCE)
        self._password_threads = ThreadPoolExecutor(PASSWORDS_AT_ONCE, "passwords", _be_nice)
        self._waiting = Places(PASSWORDS_WAITING_MAX)
        self._waiting_known = Places(PASSWORDS_WAITING_MAX)  # separate: unknown addresses cannot fill it

    async def authenticate(self, scope: Scope, headers: Headers) -> Caller:
        """Authenticate a request. Raises Problem if it has no valid credentials and the path requires them."""
        access = self.hub.access
        if access is None:
            return Caller(None, peer_of(scope))
        peer = peer_of(scope)
        path = scope["path"]
        authorization = headers.get(b"authorization")
        if authorization is not None and path != "/v1/session":
            return Caller(await self._by_token(access, authorization, peer), peer)
        login = cookie_of(scope, headers)
        if login:
            digest = digest_of(login)
            identity = self.logins.find(digest, access, self.clock.now())
            if identity is not None:
                self._check_own_page(scope, headers)
                return Caller(identity, peer, digest)
        identity = self._by_certificate(access, scope)
        if identity is not None:
            return Caller(identity, peer)
        if is_open(path, self.metrics_open):
            return Caller(None, peer)
        raise Problem(401, "unknown-user", "authentication is required", HINT, CHALLENGE)

    async def _by_token(self, access: Directory, authorization: bytes, peer: str) -> Identity:
        scheme, _, token = authorization.partition(b" ")
        token = token.strip()
        identity = access.authenticate(token, self.clock.now()) if scheme.lower() == b"bearer" else None
        if identity is not None:
            return identity
        if scheme.lower() != b"bearer":
            reason = "the Authorization header is not of the form `Bearer TOKEN`"
        else:
            reason = "the token is unknown, revoked or expired"
        details: dict[str, object] = {"token": id_of(token) or "malformed"}
        if scheme.lower() == b"bearer" and access.why:
            details["why"] = access.why
        await self._fail_token(access, peer, reason, details)
        raise Problem(401, "wrong-token", reason, HINT, CHALLENGE)

    def _by_certificate(self, access: Directory, scope: Scope) -> Identity | None:
        if scope["scheme"] != "https":
            return None
        names: list[str] = scope["state"]["connection"].certificate_names
        return access.by_certificate(names) if names else None

    def _check_own_page(self, scope: Scope, headers: Headers) -> None:
        """Browsers send the cookie by themselves, so require a header that only the console can send."""
        if scope["method"] not in ("GET", "HEAD", "OPTIONS") and CONSOLE_HEADER not in headers:
            raise Problem(
                403,
                "not-the-console",
                "requests with a cookie need the header x-penstock-console to change something",
                "programs should use a token: " + HINT,
            )

    # -- the console's login ----------------------------------------------------------------------------------------

    async def by_password(self, access: Directory, name: str, password: str, peer: str) -> Identity:
        """Raises Problem if the password is wrong, or after too many failures."""
        address = counted_as(peer)
        login = f"{name}\0{address}"
        is_known = (name, address) in self.known_addresses
        self._check_lockout(login, address, is_known)
        # It counts as a failure while it is checked, which takes a while: parallel attempts gain nothing.
        now = self._seconds()
        late = 0.0 if is_known else min(self.of_names.excess(name, now) * SLOWER_SECONDS, SLOWER_SECONDS_MAX)
        self._count_attempt(name, login, address, now)
        user = access.users.get(name)
        try:
            if late:
                await asyncio.sleep(late)
            waiting = self._waiting_known if is_known else self._waiting
            right = await self._is_password(user, password, waiting, f"address {address}")
        except BaseException:  # it was not checked
            self.of_users.take_back(login)
            self.of_names.take_back(name)
            self.of_addresses.take_back(address)
            raise
        if not right:
            await self._delay_failure(access, peer, "user or password is wrong", {"user": name[:64]})
            raise Problem(401, "wrong-password", "user or password is wrong", None, CHALLENGE)
        assert user is not None
        self.of_users.succeeded(login)
        self.of_names.take_back(name)
        self.of_addresses.take_back(address)
        self.known_addresses.pop((name, address), None)
        self.known_addresses[name, address] = None
        if len(self.known_addresses) > KNOWN_ADDRESSES_MAX:
            del self.known_addresses[next(iter(self.known_addresses))]
        return access.by_password(user)

    def _count_attempt(self, name: str, login: str, address: str, now: float) -> None:
        self.of_users.failed(login, now)
        self.of_names.failed(name, now)
        self.of_addresses.failed(address, now)

    async def by_pasted_token(self, access: Directory, token: str, peer: str) -> Identity:
        return await self._by_token(access, b"Bearer " + token.strip().encode("utf-8", "replace"), peer)

    async def _is_password(self, user: User | None, password: str, waiting: Places, holder: str) -> bool:
        kept = "" if user is None else user.password
        return await self._run_in_thread(lambda: is_password(kept, password), waiting, holder)

    async def hash_password(self, password: str) -> str:
        """The hash to store for a new password. Raises AccessError if it is too short or too long."""
        return await self._run_in_thread(lambda: hash_password(password), self._waiting_known, "password changes")

    async def _run_in_thread(self, work: Callable[[], Result], waiting: Places, holder: str) -> Result:
        """Run work that is slow on purpose in a thread, with limits on how many run at once and per address."""
        if not waiting.has_room(holder):
            raise too_many(5.0, f"too many passwords are being checked: {waiting.why_full(holder, 'places')}")
        waiting.enter(holder)
        try:
            async with self._passwords:
                return await asyncio.get_running_loop().run_in_executor(self._password_threads, work)
        finally:
            waiting.leave(holder)

    def _check_lockout(self, login: str, address: str, is_known: bool) -> None:
        """Failures of others at an address do not lock out users who have logged in from there."""
        now = self._seconds()
        wait = self.of_users.wait(login, now)
        if not is_known:
            wait = max(wait, self.of_addresses.wait(address, now))
        if wait > 0:
            raise too_many(wait, "too many logins have failed")

    # -- failures ---------------------------------------------------------------------------------------------------

    async def _fail_token(self, access: Directory, peer: str, reason: str, details: dict[str, object]) -> None:
        """Count and report a wrong token. Raises Problem if the address has sent too many of them."""
        address = counted_as(peer)
        locked = self.of_tokens.wait(address, self._seconds())
        if locked > 0:
            access.throttle.failures += 1
            raise too_many(locked, "too many requests from this address have failed")
        self.of_tokens.failed(address, self._seconds())
        await self._delay_failure(access, peer, reason, details)

    async def _delay_failure(self, access: Directory, peer: str, reason: str, details: dict[str, object]) -> None:
        """Report a counted failure and delay its response. Raises Problem if too many are delayed already."""
        self.hub.report("warning", "audit.auth_failed", {"peer": peer, "protocol": "http", "reason": reason, **details})
        delay = access.throttle.failed(counted_as(peer), self.clock.now()) / SECOND
        if self._delayed >= DELAYED_MAX:
            raise too_many(delay, "too many requests have failed")
        self._delayed += 1
        try:
            await asyncio.sleep(delay)
        finally:
            self._delayed -= 1

    def succeeded(self, identity: Identity, peer: str) -> None:
        """Report a login. Requests that carry their own token are not reported."""
        details = {"user": identity.user.name, "by": identity.how, "which": identity.which, "peer": peer}
        if identity.how == "password":
            details["which"] = ""
        self.hub.report("info", "audit.auth", {**details, "protocol": "http"})

    def _throttles(self) -> tuple[LoginThrottle, ...]:
        return self.of_users, self.of_addresses, self.of_tokens

    def lockouts(self) -> int:
        return sum(throttle.lockouts for throttle in self._throttles())

    def locked(self) -> int:
        """How many users and addresses are locked out."""
        now = self._seconds()
        return sum(throttle.locked(now) for throttle in self._throttles())

    def _seconds(self) -> float:
        return self.clock.now() / SECOND


def too_many(wait: float, what: str) -> Problem:
    seconds = math.ceil(wait)
    return Problem(
        429, "locked-out", f"{what}: wait {seconds} seconds", None, {"retry-after": str(seconds), **CHALLENGE}
    )


def peer_of(scope: Scope) -> str:
    """The peer's address; behind a trusted proxy, the client address it reports and the proxy's own."""
    client = scope["client"]
    said = f"{client[0]}:{client[1]}"[:PEER_SIZE_MAX]
    real: str = scope["state"]["connection"].peer
    return said if said == real else f"{said}{VIA}{real}"


def counted_as(peer: str) -> str:
    """The address whose failures are counted: that of the client, if a trusted proxy reports it."""
    return address_of(peer.partition(VIA)[0])


def cookie_name(scope: Scope) -> str:
    """It includes the port: all ports of a host share cookies, and there may be a broker on each."""
    prefix = "__Host-" if scope["scheme"] == "https" else ""
    server = scope.get("server")
    return f"{prefix}{COOKIE}-{0 if server is None else server[1]}"


def cookie_of(scope: Scope, headers: Headers) -> str:
    """The login cookie of the request; empty if there is none."""
    given = headers.get(b"cookie")
    if given is None:
        return ""
    wanted = cookie_name(scope)
    for part in given.decode("latin-1").split(";"):
        name, _, value = part.strip().partition("=")
        if name == wanted:
            return value
    return ""


def _be_nice() -> None:
    """Lower the priority of this thread and those it starts. Outside Linux it would affect the whole process."""
    if sys.platform == "linux":
        thread = threading.get_native_id()
        niceness = max(PASSWORDS_NICENESS, os.getpriority(os.PRIO_PROCESS, thread))
        os.setpriority(os.PRIO_PROCESS, thread, niceness)
