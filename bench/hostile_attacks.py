"""The attack of a hostile client: its name, preparation, and the attack itself.

An attack is a generator. The code before its `yield` is preparation, which is not timed; the code after it is the
attack, which checks `target.goes_on()` and ends in time. It returns a short summary, so that an attack which did
nothing is noticed. It keeps its own cost low: buffers are prepared ahead, and its process has the lowest priority,
since on a machine with two cores its processor time is taken from the victim.
"""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Callable, Generator
from dataclasses import dataclass, field

from bench.attacking import HOST, READ, Target
from bench.victim import USUAL

MALLORY = "mallory"  # has all permissions on m.*
NOBODY = "nobody"  # has a token but no permissions
ADMIN = "admin"

USERS: dict[str, tuple[str, ...]] = {
    MALLORY: ("publish m.*", "consume m.*", "declare m.*", "delete m.*", "browse m.*", "read-log"),
    NOBODY: (),
    ADMIN: ("admin",),
}

Run = Generator[None, None, str]


@dataclass(frozen=True)
class Attack:
    name: str
    run: Callable[[Target], Run]
    settings: dict[str, object] = field(default_factory=dict)  # of its broker; "all at once" skips attacks with any
    visits: tuple[str, ...] = USUAL
    is_control: bool = False
    is_bulky: bool = False  # moves as many bytes as it can


ATTACKS: dict[str, Attack] = {}


def attack(
    name: str,
    *,
    visits: tuple[str, ...] = (),
    control: bool = False,
    bulky: bool = False,
    settings: dict[str, object] | None = None,
) -> Callable[[Callable[[Target], Run]], Callable[[Target], Run]]:
    def register(function: Callable[[Target], Run]) -> Callable[[Target], Run]:
        ATTACKS[name] = Attack(name, function, settings or {}, USUAL + visits, control, bulky)
        return function

    return register


def heard(sock: socket.socket, end: bytes, seconds: float = 60.0) -> bytes:
    """Reads until `end` has arrived."""
    sock.settimeout(seconds)
    data = b""
    while end not in data[-len(end) - READ :]:
        more = sock.recv(READ)
        if not more:
            raise ConnectionError(f"closed by the broker, after {data[-200:]!r}")
        data += more
    return data


def declare(target: Target, queues: dict[str, list[str]], user: str = ADMIN) -> None:
    """Creates queues, bound to their events, without consumers."""
    sock = target.connect("mqks", user=user)
    lines = []
    for number, (queue, events) in enumerate(queues.items()):
        lines.append(b"d%d consume %s %s\n" % (number, queue.encode(), " ".join(events).encode()))
        lines.append(b"x delete_consumer d%d\n" % number)
    sock.sendall(b"".join(lines) + b"done ping x\n")
    heard(sock, b"done ok x\n")
    sock.close()


def ask(target: Target, method: str, path: str, body: object = None, user: str = MALLORY) -> tuple[int, bytes]:
    """Sends an HTTP request and returns status and body."""
    connection = http.client.HTTPConnection(HOST, target.ports["http"], timeout=max(5.0, target.left()))
    data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
    headers = {"content-type": "application/json"}
    if user:
        headers["authorization"] = f"Bearer {target.tokens[user]}"
    try:
        connection.request(method, path, data, headers)
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()
