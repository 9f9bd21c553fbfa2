"""What a hostile client is: its name, how it prepares, what it does, and what it finds.

An attack is a generator. What it does before its `yield` is preparation, which is not timed; what comes behind is the
attack, which looks at `target.goes_on()` and ends in time. It returns a few words on how far it got, so that one which
did nothing is seen. It keeps itself cheap: buffers are made ahead, and its process has the lowest priority, since on a
machine with two cores whatever it computes is taken from the victim.
"""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Callable, Generator
from dataclasses import dataclass, field

from bench.attacking import HOST, READ, Target
from bench.victim import USUAL

MALLORY = "mallory"  # has all rights to what is called m.*
NOBODY = "nobody"  # has a token, and no right at all
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
    settings: dict[str, object] = field(default_factory=dict)  # of its broker; "all at once" has none
    visits: tuple[str, ...] = USUAL
    is_control: bool = False
    is_bulky: bool = False  # it moves as many bytes as it can


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
    """Read until that was said."""
    sock.settimeout(seconds)
    data = b""
    while end not in data[-len(end) - READ :]:
        more = sock.recv(READ)
        if not more:
            raise ConnectionError(f"closed by the broker, after {data[-200:]!r}")
        data += more
    return data


def declare(target: Target, queues: dict[str, list[str]], user: str = ADMIN) -> None:
    """Queues with the events that they are bound to, and nobody who consumes them."""
    sock = target.connect("mqks", user=user)
    lines = []
    for number, (queue, events) in enumerate(queues.items()):
        lines.append(b"d%d consume %s %s\n" % (number, queue.encode(), " ".join(events).encode()))
        lines.append(b"x delete_consumer d%d\n" % number)
    sock.sendall(b"".join(lines) + b"done ping x\n")
    heard(sock, b"done ok x\n")
    sock.close()


def ask(target: Target, method: str, path: str, body: object = None, user: str = MALLORY) -> tuple[int, bytes]:
    """A request over HTTP, and its answer."""
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
