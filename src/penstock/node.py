"""One running broker: clock, log, core, protocols, listeners. Started in that order and stopped in reverse."""

import asyncio
import contextlib
import json
import math
import os
import resource
import signal
import sys
from collections.abc import Callable

import uvloop

from penstock import __version__
from penstock.clock import Clock, SystemClock
from penstock.config import AMOUNT_MAX, Config, PolicyTable
from penstock.core.guarded import Fault, GuardedBroker
from penstock.core.limits import Limits
from penstock.core.memory_shares import Shares
from penstock.core.policy import Rule
from penstock.errors import AccessError
from penstock.exposure import check_doors, open_doors
from penstock.http.listener import HttpListener
from penstock.log.memory import MemoryLog
from penstock.report import Report
from penstock.server.audit import Audit
from penstock.server.certificates import Certificates, paths_of
from penstock.server.handshakes import HandshakeLimiter
from penstock.server.listener import Listener
from penstock.server.logs import Limited, start_logs
from penstock.server.memory import LOOK_SECONDS, Sweeper, Trimmer, collect_seldom, keep_memory
from penstock.server.reactor import TRACE_SIZE_MAX, Reactor
from penstock.server.user_reloader import UserReloader
from penstock.server.watch import Watcher
from penstock.storage.storage import Storage
from penstock.wire.detect import ProtocolDetector
from penstock.wire.dialects import DIALECTS
from penstock.wire.session import Hub, ProtocolOptions

DRAIN_POLL_SECONDS = 0.01

# An empty queue takes 6 KiB (`QUEUE_BYTES`). One per 10 KiB leaves room for messages, which may always take half of
# memory_bytes_max.
MEMORY_PER_QUEUE = 10 << 10
QUEUES_MIN = 1000  # always allowed, even if memory is too small for `queues_max`

# A large message is in memory several times while it is received: as read, as parsed, and in its block. So a body may
# take an eighth of memory_bytes_max, and a line half as much again; but bodies of this size are always accepted.
BODY_MIN = 1 << 20

# Default limit of one queue without a data directory. With one, the disk is the limit.
QUEUE_BYTES_IN_MEMORY = 256 << 20


EXIT_FAULT = 70  # EX_SOFTWARE of sysexits


def exit_at_once() -> None:
    """Exit without clean-up, which would run on a state that cannot be trusted."""
    sys.stderr.flush()
    os._exit(EXIT_FAULT)


class Node:
    """Everything that one broker process runs."""

    def __init__(
        self, config: Config, report: Report, clock: Clock | None = None, die: Callable[[], None] = exit_at_once
    ) -> None:
        check_doors(config)
        self.config = config
        self.die = die
        self.logs = Limited(report)
        self.audit = Audit(config.audit, self.logs)
        self.report = report = self.audit.report
        self.user_reloader = UserReloader(config)
        self.watcher = Watcher(report)
        self.clock = clock or SystemClock()
        tls = paths_of(config)
        self.certificates = None if tls is None else Certificates(tls, report, lambda: self.clock.now() / 1e6)
        limits = limits_of(config)
        if limits.body_size_max < config.body_size_max or limits.line_size_max < config.line_size_max:
            details: dict[str, object] = {
                "body_size_max": limits.body_size_max,
                "line_size_max": limits.line_size_max,
                "reason": f"memory_bytes_max is {config.memory_bytes_max}: a body may take at most an eighth of it",
            }
            report("warning", "limits.lowered", details)
        self.storage: Storage | None = None
        if config.directory is None:
            self.broker = GuardedBroker(MemoryLog(), limits)
        else:
            self.storage = Storage(
                config.directory,
                config.sync,
                config.segment_bytes_max,
                report,
                retain_seconds=config.retain_seconds,
                retain_bytes=config.retain_bytes,
                shares=Shares(config.memory_bytes_max),
            )
            self.broker = self.storage.open(limits, self.clock.now())
        self.broker.set_time(self.clock.now())
        self.broker.set_policies([rule_of(table) for table in config.policy])
        self.broker.return_lost(self.clock.now())
        self.hub = Hub(self.broker, report, options_of(config))
        dialects = [make(self.hub) for make in DIALECTS]
        self.dialects = {dialect.name: dialect for dialect in [*dialects, ProtocolDetector(self.hub, dialects)]}
        for dialect in self.dialects.values():
            dialect.default_user = config.default_user(dialect.name)
        self.listeners: list[Listener] = []
        self.http: HttpListener | None = None
        self.handshakes: HandshakeLimiter | None = None

    async def start(self) -> dict[str, int]:
        """Open all listeners. Returns the ports by protocol once all of them accept connections."""
        config = self.config
        self.reactor = Reactor(asyncio.get_running_loop(), self.hub, self.clock, config.connections_max)
        self.broker.on_fault = self._on_fault
        self.user_reloader.start(self.reactor, self.watcher)
        if self.storage is not None:
            reactor = self.reactor
            self.storage.start(reactor.loop, self.hub.broker, reactor.plan_flush)
            reactor.storage = self.storage
        handshakes = self.handshakes = self._make_handshake_limiter()
        try:
            for name, port in config.ports().items():
                dialect = self.dialects.get(name)
                if port is not None and dialect is not None:
                    with_tls = handshakes is not None and (name != "any" or config.any_tls != "off")
                    listener = Listener(
                        self.reactor,
                        dialect,
                        config.host,
                        port,
                        handshakes if with_tls else None,
                        plain_too=name == "any" and config.any_tls == "both",
                    )
                    await listener.start()
                    self.listeners.append(listener)
            ports = {listener.dialect.name: listener.port for listener in self.listeners}
            if config.http is not None:
                door = HttpListener(config, self.reactor, config.http, handshakes)
                door.user_reloader = self.user_reloader
                door.open()
                ports["http"] = door.port
                door.ports = ports
                self.http = door
        except BaseException:
            self._stop_listeners()
            raise
        self.watcher.start(self.reactor.loop)
        self.reactor.plan_flush()  # timers may be due and alarms pending before the first client connects
        return ports

    def _make_handshake_limiter(self) -> HandshakeLimiter | None:
        """The TLS handshakes of all listeners; None without TLS."""
        if self.certificates is None:
            return None
        config = self.config
        self.certificates.start(self.reactor.loop, self.watcher)
        return HandshakeLimiter(
            self.reactor.loop,
            self.certificates,
            self.report,
            seconds=config.tls_handshake_seconds,
            count_max=config.tls_handshakes_max,
        )

    async def stop(self) -> None:
        """Stop accepting, notify clients, drain pending output to clients that still read, and close."""
        self.watcher.stop()
        self._stop_listeners()
        if self.handshakes is not None:
            self.handshakes.stop()
        reactor = self.reactor
        reactor.draining = True
        now = self.clock.now()
        for session in list(reactor.connections):
            session.goodbye(now)
        reactor.flush()
        deadline = reactor.loop.time() + self.config.drain_seconds
        http = None if self.http is None else reactor.loop.create_task(self.http.stop(self.config.drain_seconds))
        await _until(lambda: not self._owes_something(), deadline)
        if http is not None:
            await http
        for connection in list(reactor.connections.values()):
            if connection.transport.get_write_buffer_size():
                connection.transport.abort()
            else:
                connection.transport.close()
        await _until(lambda: not reactor.connections, deadline + 1)
        if self.storage is not None:
            self.storage.stop(self.clock.now())
        if reactor.timer is not None:
            reactor.timer.cancel()
        self.user_reloader.stop()
        self.audit.close()
        self.logs.close()
        if self.certificates is not None:
            self.certificates.stop()

    def _on_fault(self, fault: Fault) -> None:
        """Exit: the state no longer matches the log. A supervisor restarts the broker from the log, which is intact.

        The block of this turn is not closed, so nothing of this turn was logged or confirmed.
        """
        log = self.broker.log
        details: dict[str, object] = {
            "verb": fault.verb,
            "about": fault.about,
            "error": repr(fault.error),
            **self.reactor.describe_work(),
            "position": log.position,
            "durable": log.durable,
            "next_offset": log.next_offset,
            "version": __version__,
            "traceback": fault.trace[-TRACE_SIZE_MAX:],
            "do": "restart the broker: all confirmed messages are in the log; please report this",
        }
        self.report("error", "broker.fault", details)
        self.die()

    def reload(self) -> None:
        """SIGHUP: reload all watched files, and reopen the audit file in case it was rotated."""
        self.watcher.poke()
        try:
            self.audit.reopen()
        except AccessError as error:
            self.report("error", "audit_log.failed", {"error": str(error)})

    def _owes_something(self) -> bool:
        connections = self.reactor.connections
        return any(
            s.owes() or s.busy or s.unfed or s.unconfirmed or s.outbox_size or c.transport.get_write_buffer_size()
            for s, c in connections.items()
        )

    def _stop_listeners(self) -> None:
        for listener in reversed(self.listeners):
            listener.stop()


async def _until(condition: Callable[[], bool], deadline: float) -> None:
    """Wait until the condition holds or the deadline passes. Polls: sockets do not report that all was sent."""
    loop = asyncio.get_running_loop()
    while not condition() and loop.time() < deadline:  # noqa: ASYNC110
        await asyncio.sleep(DRAIN_POLL_SECONDS)


def limits_of(config: Config) -> Limits:
    line_size_max = min(config.line_size_max, max(2 * BODY_MIN, config.memory_bytes_max * 3 // 16))
    return Limits(
        body_size_max=min(config.body_size_max, max(BODY_MIN, config.memory_bytes_max // 8)),
        line_size_max=line_size_max,
        queues_max=min(config.queues_max, max(QUEUES_MIN, config.memory_bytes_max // MEMORY_PER_QUEUE)),
        queue_length_max=config.queue_length_max,
        queue_bytes_max=config.queue_bytes_max or (QUEUE_BYTES_IN_MEMORY if config.directory is None else AMOUNT_MAX),
        queue_full=config.queue_full,
        events_per_queue_max=config.events_per_queue_max,
        unacked_max=config.unacked_max,
        unacked_bytes_max=config.unacked_bytes_max or 0,
        memory_bytes_max=config.memory_bytes_max,
        outbox_bytes_max=config.outbox_bytes_max,
        headers_max=config.headers_max,
        headers_bytes_max=config.headers_bytes_max,
        json_size_max=min(config.json_size_max, line_size_max),
        json_values_max=config.json_values_max,
        dedup_seconds=math.ceil(config.dedup_seconds),
        dedup_ids_max=config.dedup_ids_max,
        consumers_max=config.consumers_max,
        writers_max=config.writers_max,
        writers_per_user_max=config.writers_per_user_max,
        writer_seconds=max(1, int(config.writer_seconds)),
    )


def rule_of(table: PolicyTable) -> Rule:
    """A `policy` table of the configuration, in the core's units."""
    return Rule(
        [glob.encode() for glob in table.queues],
        length_max=table.length_max,
        bytes_max=table.bytes_max,
        full=table.full,
        alarm=table.alarm,
        ttl=microseconds_of(table.ttl),
        deliveries_max=table.deliveries_max,
        retry_delay=microseconds_of(table.retry_delay),
        retry_backoff=table.retry_backoff,
        retry_delay_max=microseconds_of(table.retry_delay_max),
        dead_letter=None if table.dead_letter is None else table.dead_letter.encode(),
        dedup_seconds=None if table.dedup is None else math.ceil(table.dedup),
    )


def microseconds_of(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds * 1_000_000)


def options_of(config: Config) -> ProtocolOptions:
    return ProtocolOptions(
        smqs_lose_undone=config.smqs_lose_undone,
        sevx_id_inside=config.sevx_id_inside,
        rq_broadcast_as_request=config.rq_broadcast_as_request,
    )


def serve(config: Config) -> int:
    """Run a broker until SIGTERM or SIGINT. Returns the exit code."""
    report = start_logs(config.log_level, config.log_format)
    _raise_open_files()
    collect_seldom()
    keep_memory(Shares(config.memory_bytes_max))
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_serve(config, report))


async def _serve(config: Config, report: Report) -> int:
    loop = asyncio.get_running_loop()
    stopped = asyncio.Event()
    for signal_number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(signal_number, stopped.set)
    node = Node(config, report)
    loop.add_signal_handler(signal.SIGHUP, node.reload)
    ports = await node.start()
    trimming = loop.create_task(_keep_house(Trimmer(Shares(config.memory_bytes_max)), node.reactor))
    if config.directory is None:
        report("info", "log.volatile", {"reason": "--memory: messages are lost when the broker stops"})
    elif config.sync != "always":
        report(
            "warning",
            "log.sync",
            {"sync": config.sync, "reason": "confirmed messages can be lost if the machine crashes"},
        )
    for door in open_doors(config):
        report("warning", "door.open", {"door": str(door), "lacks": " and ".join(door.lacks)})
    sys.stdout.write(f"ready {json.dumps(ports)}\n")
    sys.stdout.flush()
    report("info", "node.ready", {"ports": ports})
    if node.http is not None:
        node.http.load()
    await stopped.wait()
    report("info", "node.draining", {"connections": len(node.reactor.connections)})
    trimming.cancel()
    await node.stop()
    report("info", "node.stopped", {})
    return 0


async def _keep_house(trimmer: Trimmer, reactor: Reactor) -> None:
    """Periodically return free memory to the system, adjust the memory limit of queues, and collect garbage."""
    sweeper = Sweeper()
    while True:
        trimmer.look()
        reactor.account.balance()
        sweeper.look(reactor.hub.broker.context.work)
        await asyncio.sleep(LOOK_SECONDS)


def _raise_open_files() -> None:
    """Raise the limit of open files, and so of sockets, to the hard limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
