"""A broker that asks everybody who they are, and words for what each protocol says then."""

import json
import struct
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import ClassVar

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from penstock.auth.file import UsersFile
from penstock.auth.rights import ROLES
from penstock.auth.users import Users

from ..server.conftest import Client, RunningBroker

SEEN_SECONDS = 20.0


class GuardedBroker(RunningBroker):
    """Its users are in `file`; `change` returns when a change holds."""

    def __init__(self, path: Path, **settings: object) -> None:
        super().__init__(**{"users": str(path), **settings})
        self.file = UsersFile(path)
        self.tokens: dict[str, str] = {}

    def start(self) -> None:
        super().start()
        self.node.user_reloader.directory.throttle.delay_step = 0  # failures are slowed down where a test asks for it

    def change(self, work: Callable[[Users], object]) -> object:
        with self.file.edit() as users:
            result = work(users)
        self.call(self.node.user_reloader.reload)  # it would see so itself, a quarter of a second later
        return result

    def change_unseen(self, work: Callable[[Users], object]) -> object:
        """The same, as a command of another process does it."""
        with self.file.edit() as users:
            result = work(users)
        assert self.file.wait_until_seen(users.serial, SEEN_SECONDS)
        return result

    def add(self, name: str, *grants: str, **quotas: int) -> str:
        """A user with a token, which is what this gives."""

        def work(users: Users) -> str:
            users.add(name)
            for grant in grants:
                users.grant(name, grant)
            for quota, amount in quotas.items():
                users.set_quota(name, f"{quota}={amount}")
            return users.create_token(name, 0)

        token = self.tokens[name] = str(self.change(work))
        return token

    def published(self) -> int:
        return int(str(self.call(lambda: self.node.broker.published)))

    def has_queue(self, name: bytes) -> bool:
        return bool(self.call(lambda: name in self.node.broker.queues))

    def consumers(self, name: bytes) -> int:
        def count() -> int:
            queue = self.node.broker.queues.get(name)
            return 0 if queue is None else queue.consumer_count()

        return int(str(self.call(count)))

    def ready(self, name: bytes) -> int:
        return int(str(self.call(lambda: self.node.broker.queues[name].ready)))

    def declare(self, *names: bytes) -> None:
        self.call(lambda: [self.node.broker.declare(name) for name in names])


class Dialect:
    """How one protocol shows a token, and what it says."""

    name: ClassVar[str]
    fence: ClassVar[bytes]  # changes nothing, and is answered at once
    auth_error: ClassVar[bytes]  # what a client is told that shows a wrong token; a beginning
    silent: ClassVar[bool] = False  # says nothing to a client that shows no token at all

    @staticmethod
    def auth(token: str) -> bytes:
        raise NotImplementedError

    @staticmethod
    def welcome() -> bytes:
        raise NotImplementedError

    @staticmethod
    def publish(name: bytes) -> bytes:
        """A message to an event or a queue of that name."""
        raise NotImplementedError

    @staticmethod
    def consume(queue: bytes) -> bytes:
        raise NotImplementedError

    @classmethod
    def is_past(cls, data: bytes) -> bool:
        """Whether the answer to the fence is there."""
        raise NotImplementedError

    @classmethod
    def ask(cls, client: Client, request: bytes) -> bytes:
        """All that is said up to the fence behind a request."""
        client.send(request + cls.fence)
        while not cls.is_past(client.buffer):
            client._more()
        said, client.buffer = client.buffer, b""
        return said


class Mqks(Dialect):
    name = "mqks"
    fence = b"f ping pong\n"
    auth_error = b"a error "

    @staticmethod
    def auth(token: str) -> bytes:
        return b"a auth %s\n" % token.encode()

    @staticmethod
    def welcome() -> bytes:
        return b"a ok \n"

    @staticmethod
    def publish(name: bytes) -> bytes:
        return b"1 publish %s hello\n" % name

    @staticmethod
    def consume(queue: bytes) -> bytes:
        return b"%s-c consume --manual-ack %s %s\n" % (queue, queue, queue)

    @classmethod
    def is_past(cls, data: bytes) -> bool:
        return b"f ok pong\n" in data


class Sevx(Dialect):
    name = "sevx"
    fence = b'f _ping {"data": 1}\n'
    auth_error = b"a error "

    @staticmethod
    def auth(token: str) -> bytes:
        return b'a auth {"token": "%s"}\n' % token.encode()

    @staticmethod
    def welcome() -> bytes:
        return b"a ok \n"

    @staticmethod
    def publish(name: bytes) -> bytes:
        return b'1 send {"event": "%s"}\n' % name

    @staticmethod
    def consume(queue: bytes) -> bytes:
        names = (queue, queue, queue)
        return b'%s-c recv {"queue": "%s", "pattern": {"event": "%s"}, "manual_ack": true}\n' % names

    @classmethod
    def is_past(cls, data: bytes) -> bool:
        return b"\nf ok " in b"\n" + data and data.endswith(b"\n")


class Smqs(Dialect):
    name = "smqs"
    fence = b"S\n"
    auth_error = b"UNKNOWN_TYPE\n"

    @staticmethod
    def auth(token: str) -> bytes:
        return b"A:%s\n" % token.encode()

    @staticmethod
    def welcome() -> bytes:
        return b""

    @staticmethod
    def publish(name: bytes) -> bytes:
        return b"M:%s:hello\n" % name

    @staticmethod
    def consume(queue: bytes) -> bytes:
        return b"C:%s:\n" % queue

    @classmethod
    def is_past(cls, data: bytes) -> bool:
        return data.endswith(b"}\n")


def frame(*values: bytes) -> bytes:
    body = b"".join(struct.pack(">I", len(value)) + value for value in values)
    return struct.pack(">I", len(body)) + body


class Mqmq(Dialect):
    name = "mqmq"
    fence = frame(b"Info")
    auth_error = frame(b"Error", b"REQUEST_DENIED")

    @staticmethod
    def auth(token: str) -> bytes:
        return frame(b"Auth", token.encode())

    @staticmethod
    def welcome() -> bytes:
        return frame(b"OK")

    @staticmethod
    def publish(name: bytes) -> bytes:
        return frame(b"Put", name, b"hello")

    @staticmethod
    def consume(queue: bytes) -> bytes:
        return frame(b"Get", queue, b"1")

    @classmethod
    def is_past(cls, data: bytes) -> bool:
        return data.endswith(b"}}") and b'"NumConnections"' in data


class Rq(Dialect):
    name = "rq"
    fence = b"\x05"
    auth_error = b"\x01\x1b"
    silent = True

    @staticmethod
    def auth(token: str) -> bytes:
        if len(token) > 255:
            return b"\x01\xd0%s%s" % (len(token).to_bytes(2, "big"), token.encode())
        return b"\x01\xb0%c%s" % (len(token), token.encode())

    @staticmethod
    def welcome() -> bytes:
        return b"\x01\x1a"

    @staticmethod
    def publish(name: bytes) -> bytes:
        return b"\x01\x80\0\0\0\x07\xa0%c%s\xe0\0\0\0\5hello\x21\x0a" % (len(name), name)

    @staticmethod
    def consume(queue: bytes) -> bytes:
        return b"\x01\xa0%c%s\x14" % (len(queue), queue)

    @classmethod
    def is_past(cls, data: bytes) -> bool:
        return data.endswith(b"\x06")


class IdentityProvider:
    """Signs tokens for the broker of a test, which has its keys in a file. Its rules: a role `r` is granted on `*`."""

    issuer: ClassVar = "https://login.example"

    def __init__(self, folder: Path) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        import jwt

        public = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(self._key.public_key()))
        self.path = folder / "jwks.json"
        self.path.write_text(json.dumps({"keys": [{**public, "kid": "one"}]}))
        self.settings = {
            "oidc_issuer": self.issuer,
            "oidc_jwks": str(self.path),
            "oidc_audience": "penstock",
            "oidc_rights_claims": "roles",
            "oidc_rights": "; ".join([*(f"{role} = {role} *" for role in ROLES), "admin = admin"]),
        }

    def token(self, *roles: str, name: str = "ann", seconds: float = 3600) -> str:
        import jwt

        claims = {"iss": self.issuer, "aud": "penstock", "sub": name, "roles": list(roles)}
        return jwt.encode({**claims, "exp": int(time.time() + seconds)}, self._key, "ES256", {"kid": "one"})


DIALECTS: tuple[type[Dialect], ...] = (Mqks, Sevx, Smqs, Mqmq, Rq)


@pytest.fixture
def start_guarded(tmp_path: Path) -> Iterator[Callable[..., GuardedBroker]]:
    started: list[GuardedBroker] = []

    def start(**settings: object) -> GuardedBroker:
        broker = GuardedBroker(tmp_path / "users.json", **{"auth": "on", "http": "off", **settings})
        broker.start()
        started.append(broker)
        return broker

    yield start
    for broker in started:
        if broker.is_running():
            broker.stop()
