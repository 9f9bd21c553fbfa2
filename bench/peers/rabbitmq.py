"""RabbitMQ: a classic queue, transient messages, hand-written AMQP 0-9-1 frames.

frame   type (1 method, 2 header, 3 body) · channel u16 · size u32 · payload · 0xCE
method  class u16 · method u16 · arguments;  publish is method, header and body, three frames in a row
"""

from __future__ import annotations

import re
import struct
from pathlib import Path

from bench.peers.base import Missing, Mode, Peer
from bench.servers import Server, find_program
from bench.wire import HOST, connect, free_port
from penstock.cli.load import Exchange

PROTOCOL_HEADER = b"AMQP\x00\x00\x09\x01"
FRAME_MAX = 131072
NO_TABLE = struct.pack(">I", 0)
AUTO_DELETE = 8
NO_ACK = 2
DELIVERY_MODE_PRESENT = 0x1000

CONNECTION_START, CONNECTION_START_OK = (10, 10), (10, 11)
CONNECTION_TUNE, CONNECTION_TUNE_OK = (10, 30), (10, 31)
CONNECTION_OPEN, CONNECTION_OPEN_OK = (10, 40), (10, 41)
CHANNEL_OPEN, CHANNEL_OPEN_OK = (20, 10), (20, 11)
QUEUE_DECLARE, QUEUE_DECLARE_OK = (50, 10), (50, 11)
BASIC_QOS, BASIC_QOS_OK = (60, 10), (60, 11)
BASIC_CONSUME, BASIC_CONSUME_OK = (60, 20), (60, 21)
BASIC_PUBLISH, BASIC_DELIVER, BASIC_ACK = (60, 40), (60, 60), (60, 80)

CONFIG = """
listeners.tcp.1 = {host}:{port}
loopback_users.guest = true
disk_free_limit.absolute = 50MB
log.console = false
"""


def frame(kind: int, channel: int, payload: bytes) -> bytes:
    return struct.pack(">BHI", kind, channel, len(payload)) + payload + b"\xce"


def method(channel: int, name: tuple[int, int], arguments: bytes) -> bytes:
    return frame(1, channel, struct.pack(">HH", *name) + arguments)


def answer(name: tuple[int, int]) -> bytes:
    """The bytes that identify a method's answer: class and method number."""
    return struct.pack(">HH", *name)


def short(text: bytes) -> bytes:
    return bytes([len(text)]) + text


def handshake() -> list[Exchange]:
    """From the protocol header to an open channel 1; heartbeats off, since the reader sends none."""
    login = b"\0guest\0guest"
    start_ok = NO_TABLE + short(b"PLAIN") + struct.pack(">I", len(login)) + login + short(b"en_US")
    tune_ok = method(0, CONNECTION_TUNE_OK, struct.pack(">HIH", 8, FRAME_MAX, 0))
    return [
        Exchange(PROTOCOL_HEADER, answer(CONNECTION_START)),
        Exchange(method(0, CONNECTION_START_OK, start_ok), answer(CONNECTION_TUNE)),
        Exchange(tune_ok + method(0, CONNECTION_OPEN, short(b"/") + b"\0\0"), answer(CONNECTION_OPEN_OK)),
        Exchange(method(1, CHANNEL_OPEN, short(b"")), answer(CHANNEL_OPEN_OK)),
    ]


class Transient(Peer):
    name = "rabbitmq transient"
    modes = frozenset({Mode.AUTO, Mode.MANUAL})
    latency = True
    delivery_mode = 1
    queue_flags = AUTO_DELETE

    def prepare(self, workdir: Path) -> None:
        program = _find_server()
        epmd = find_program("epmd")
        if program is None or epmd is None:
            raise Missing("not installed: apt-get install rabbitmq-server")
        self._port, epmd_port = free_port(), free_port()
        self._env = _environment(workdir, self._port, free_port(), epmd_port)
        self._command, self._workdir = [program], workdir
        # Erlang would leave an epmd daemon behind; one that we start, we can stop.
        self._epmd = Server([epmd, "-address", HOST, "-port", str(epmd_port)], workdir, self._env)
        self._epmd.wait_for_port(epmd_port)

    def launch(self) -> None:
        self.server = Server(self._command, self._workdir, self._env)
        self.server.wait_for_port(self._port)

    def stop(self) -> None:
        super().stop()
        if hasattr(self, "_epmd"):
            self._epmd.stop()

    def version(self) -> str:
        return f"RabbitMQ {_announced_version(self.port)}"

    def consumer_hello(self) -> list[Exchange]:
        return [*handshake(), self.declared(self.queue_flags), Exchange(self.consume(), answer(BASIC_CONSUME_OK))]

    def declared(self, flags: int) -> Exchange:
        declare = struct.pack(">H", 0) + short(self.topic) + bytes([flags]) + NO_TABLE
        return Exchange(method(1, QUEUE_DECLARE, declare), answer(QUEUE_DECLARE_OK))

    def consume(self, flags: int = 0) -> bytes:
        flags |= NO_ACK if self.mode is Mode.AUTO else 0
        return method(
            1, BASIC_CONSUME, struct.pack(">H", 0) + short(self.topic) + short(b"c") + bytes([flags]) + NO_TABLE
        )

    def publisher_hello(self) -> list[Exchange]:
        return handshake()

    def publish(self, number: bytes, body: bytes) -> bytes:
        route = struct.pack(">H", 0) + short(b"") + short(self.topic) + b"\0"
        return method(1, BASIC_PUBLISH, route) + self._content(body)

    def delivery(self, number: bytes, body: bytes) -> bytes:
        """As delivered, except for the delivery tag, which counts from one whatever the number is."""
        deliver = short(b"c") + struct.pack(">QB", int(number) + 1, 0) + short(b"") + short(self.topic)
        return method(1, BASIC_DELIVER, deliver) + self._content(body)

    def feedback(self, index: int) -> bytes:
        return method(1, BASIC_ACK, struct.pack(">QB", index + 1, 0)) if self.mode is Mode.MANUAL else b""

    def barrier(self, count: int) -> Exchange:
        return Exchange(method(1, BASIC_QOS, struct.pack(">IHB", 0, 0, 0)), answer(BASIC_QOS_OK))

    def _content(self, body: bytes) -> bytes:
        """The header and body frames that follow a publish or a deliver."""
        header = struct.pack(">HHQHB", BASIC_PUBLISH[0], 0, len(body), DELIVERY_MODE_PRESENT, self.delivery_mode)
        return frame(2, 1, header) + frame(3, 1, body)


def _announced_version(port: int) -> str:
    """The version the server announces in connection.start. (Asking rabbitmqctl would leave an epmd behind.)"""
    with connect(port) as sock:
        sock.sendall(PROTOCOL_HEADER)
        found = re.search(rb"\x07versionS.{4}([0-9A-Za-z.+-]+)", sock.recv(1 << 16), re.DOTALL)
    return found[1].decode() if found else "of unknown version"


def _find_server() -> Path | None:
    """The script behind Debian's wrapper, which would switch the user and write to the system's log directory."""
    wrapper = find_program("rabbitmq-server")
    if wrapper is None:
        return None
    script = wrapper.parents[1] / "lib" / "rabbitmq" / "bin" / "rabbitmq-server"
    return script if script.exists() else wrapper


def _environment(workdir: Path, port: int, distribution_port: int, epmd_port: int) -> dict[str, str]:
    config = workdir / "rabbitmq.conf"
    config.write_text(CONFIG.format(host=HOST, port=port))
    plugins = workdir / "enabled_plugins"
    plugins.write_text("[].\n")
    return {
        "HOME": str(workdir),
        "RABBITMQ_NODENAME": f"bench{port}@localhost",
        "RABBITMQ_CONFIG_FILE": str(config),
        "RABBITMQ_CONF_ENV_FILE": str(workdir / "no-rabbitmq-env.conf"),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(plugins),
        "RABBITMQ_MNESIA_BASE": str(workdir / "mnesia"),
        "RABBITMQ_LOG_BASE": str(workdir / "log"),
        "RABBITMQ_DIST_PORT": str(distribution_port),
        "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1}",
        "ERL_EPMD_ADDRESS": HOST,
        "ERL_EPMD_PORT": str(epmd_port),
    }
