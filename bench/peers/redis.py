"""Redis: pub/sub, a list read in batches, and a stream read by a consumer group with one XACK per message."""

from __future__ import annotations

from pathlib import Path

from bench.peers.base import Missing, Mode, Peer
from bench.servers import Server, find_program, version_line
from bench.wire import HOST, free_port
from penstock.cli.load import Exchange

BATCH = b"1000"
"""The most a consumer of a list or a stream asks for at once."""


def command(*words: bytes) -> bytes:
    """A command in RESP: an array of bulk strings."""
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)


class _Redis(Peer):
    answer_mark = b":"

    def prepare(self, workdir: Path) -> None:
        program = find_program("redis-server")
        if program is None:
            raise Missing("not installed: apt-get install redis-server")
        self._version = version_line(program, "--version")
        self._port = free_port()
        options = ["--bind", HOST, "--port", str(self._port), "--dir", str(workdir), *self.storage()]
        # By default a slow subscriber is disconnected at 32 MB; here it is served at full speed instead.
        options += ["--client-output-buffer-limit", "pubsub 0 0 0"]
        self._command, self._workdir = [program, *options], workdir

    def launch(self) -> None:
        self.server = Server(self._command, self._workdir)
        self.server.wait_for_port(self._port)

    def storage(self) -> list[str]:
        return ["--save", "", "--appendonly", "no"]

    def version(self) -> str:
        return " ".join(self._version.split()[:3])

    def publisher_hello(self) -> list[Exchange]:
        return [Exchange(command(b"PING"), b"+PONG\r\n")]


class PubSub(_Redis):
    name = "redis pub/sub"
    modes = frozenset({Mode.AUTO})
    latency = True

    def consumer_hello(self) -> list[Exchange]:
        return [Exchange(command(b"SUBSCRIBE", self.topic), b":1\r\n")]

    def publish(self, number: bytes, body: bytes) -> bytes:
        return command(b"PUBLISH", self.topic, body)

    def delivery(self, number: bytes, body: bytes) -> bytes:
        return command(b"message", self.topic, body)


class List(_Redis):
    name = "redis list"
    modes = frozenset({Mode.AUTO})

    def consumer_hello(self) -> list[Exchange]:
        return [Exchange(command(b"PING"), b"+PONG\r\n"), Exchange(self.feedback_tail())]

    def publish(self, number: bytes, body: bytes) -> bytes:
        return command(b"RPUSH", self.topic, body)

    def feedback_tail(self) -> bytes:
        return command(b"BLMPOP", b"0", b"1", self.topic, b"LEFT", b"COUNT", BATCH)


class Stream(_Redis):
    """Entry ids are ours (`1-1<number>`), so the acks are known before the round; Redis prints no leading zeros."""

    name = "redis stream"
    modes = frozenset({Mode.MANUAL})
    answer_mark = b"$"

    def consumer_hello(self) -> list[Exchange]:
        return [self.group(), Exchange(self.feedback_tail())]

    def group(self) -> Exchange:
        return Exchange(command(b"XGROUP", b"CREATE", self.topic, b"g", b"0", b"MKSTREAM"), b"+OK\r\n")

    def feedback_tail(self) -> bytes:
        no_ack = (b"NOACK",) if self.mode is Mode.AUTO else ()
        words = (b"GROUP", b"g", b"c", b"COUNT", BATCH, b"BLOCK", b"0", *no_ack, b"STREAMS", self.topic, b">")
        return command(b"XREADGROUP", *words)

    def publish(self, number: bytes, body: bytes) -> bytes:
        return command(b"XADD", self.topic, b"1-1" + number, b"b", body)

    def goodbye(self) -> list[Exchange]:
        return [Exchange(command(b"DEL", self.topic))]

    def feedback(self, index: int) -> bytes:
        return command(b"XACK", self.topic, b"g", b"1-1%08d" % index) if self.mode is Mode.MANUAL else b""
