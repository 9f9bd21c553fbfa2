"""The same servers with storage on disk: every message is stored, and every publisher is told so.

There are three kinds of round (see `Course`): to a consumer that acks, into a queue without consumers, or into a queue
from many publishers that wait for confirms. What an answer guarantees is each server's own default:

    Penstock      --sync always: the log was synced
    JetStream     the message was written to a file; synced every two minutes
    Redis         the append-only file was written; synced every second
    RabbitMQ      persistent message in a durable queue, confirmed: written and synced, in batches

Penstock and JetStream need no answer to each publish, so their publishers ask for one at the end that covers them all.
"""

from __future__ import annotations

import socket
import struct
from pathlib import Path
from typing import Self

from bench.peers import nats, penstock, rabbitmq, redis
from bench.peers.base import Course, Mode
from bench.wire import connect
from penstock.cli.load import READ_BUFFER, Counter, Exchange, Stalled, receive, talk

ROOM = "64GiB"
"""What one queue of ours may hold: a round is never about the limit that refuses."""

HELLO = Exchange(nats.HELLO.send.replace(b"{", b'{"headers":true,', 1), nats.HELLO.until)
WRONG = b"NATS/1.0\r\nNats-Expected-Last-Sequence: 0\r\n\r\n"

DURABLE = 2
PASSIVE = 1
NO_WAIT = 8
QUEUE_DELETE, QUEUE_DELETE_OK = (50, 40), (50, 41)
CONFIRM_SELECT, CONFIRM_SELECT_OK = (85, 10), (85, 11)
CONFIRM = struct.Struct(">BHIHHQBB")
"""basic.ack as a frame: kind, channel, size, class, method, delivery tag, multiple, end of frame."""


class Mqks(penstock.Mqks):
    name = "penstock mqks durable"
    latency = False
    answer_mark = b"k"
    refusal = b" error "

    def storage(self, workdir: Path) -> list[str]:
        return ["--data", str(workdir / "data"), "--sync", "always", "--queue-bytes-max", ROOM]

    def publisher_hello(self) -> list[Exchange]:
        if self.course is Course.THROUGH or self.client:
            return super().publisher_hello()
        # MQKS has no other command for this: a queue is created by consuming from it.
        made = Exchange(b"d consume --confirm %s %s\n" % (self.topic, self.topic), b"d ok \n")
        return [made, Exchange(b"p delete_consumer --confirm d\n", b"p ok \n")]

    def consumer_hello(self) -> list[Exchange]:
        if self.course is Course.THROUGH:
            return super().consumer_hello()
        # No confirmation: the first delivery follows so closely that the same read would return both.
        return [
            Exchange(b"c consume %s %s --delete-queue-when-unused%s\n" % (self.topic, self.topic, self.consume_flags()))
        ]

    def publish(self, number: bytes, body: bytes) -> bytes:
        if self.course is Course.CONFIRMED:
            return b"%s publish --confirm %s %s\n" % (number, self.topic, body)
        return super().publish(number, body)

    def answers(self) -> Counter | None:
        return super().answers() if self.course is Course.CONFIRMED else None

    def receipt(self, count: int) -> Exchange | None:
        """A confirmed message that no queue receives: it is last in the log, so all others are synced when it is."""
        if self.course is Course.CONFIRMED:
            return None
        return Exchange(b"r publish --confirm nobody.%s x\n" % self.topic, b"r ok \n")

    def stock(self) -> int:
        with connect(self.port) as sock:
            sock.sendall(b"s _eval sum(q.qsize() for q in state.queues.values())\n")
            return int(sock.makefile("rb").readline().split(b" ")[2])


class Consumed(Mqks):
    """In the ingest table: the same messages, also consumed within the same time."""

    name = "penstock mqks durable, and consumed"

    def for_round(self, mode: Mode, topic: bytes, course: Course | None = None) -> Self:
        return super().for_round(mode, topic, Course.THROUGH if course is Course.PUT else course)


class JetStream(nats.JetStream):
    """A work queue in files. Publishes ask for an ack in confirmed rounds only: it is faster without."""

    name = "nats jetstream file"
    storage = "file"
    config = nats.CORE_CONFIG + nats.JETSTREAM_CONFIG.replace("max_memory_store", "max_file_store")
    answer_mark = b"{"
    refusal = b'"error"'

    def publisher_hello(self) -> list[Exchange]:
        inbox = Exchange(b"SUB i.%s.%d 3\r\nSUB i.%s 2\r\n" % (self.topic, self.client, self.topic))
        made = self._ask("STREAM.CREATE.S{topic}", self._stream(), b'"did_create":true')
        return [HELLO, inbox, *([] if self.course is Course.THROUGH or self.client else [made])]

    def consumer_hello(self) -> list[Exchange]:
        made = self._ask("STREAM.CREATE.S{topic}", self._stream(), b'"did_create":true')
        consumer = self._ask("CONSUMER.CREATE.S{topic}.C", self._consumer(), b'"num_pending"')
        return [
            HELLO,
            Exchange(b"SUB i.%s 2\r\n" % self.topic),
            *([made] if self.course is Course.THROUGH else []),
            consumer,
            Exchange(b"SUB d.%s 1\r\n" % self.topic),  # Last, since it starts the deliveries.
        ]

    def publish(self, number: bytes, body: bytes) -> bytes:
        if self.course is Course.CONFIRMED:
            return b"PUB %s i.%s.%d %d\r\n%s\r\n" % (self.topic, self.topic, self.client, len(body), body)
        return super().publish(number, body)

    def answers(self) -> Counter | None:
        return super().answers() if self.course is Course.CONFIRMED else None

    def receipt(self, count: int) -> Exchange | None:
        """A message that is refused because it expects to be the first: the refusal names the last one stored."""
        if self.course is Course.CONFIRMED:
            return None
        head = b"HPUB %s i.%s.%d %d %d\r\n" % (self.topic, self.topic, self.client, len(WRONG), len(WRONG))
        return Exchange(head + WRONG + b"\r\n", b"wrong last sequence: %d" % count)


class Stream(redis.Stream):
    """A stream read by a consumer group. In auto-ack mode the group keeps no pending list."""

    name = "redis stream aof"
    modes = frozenset({Mode.AUTO, Mode.MANUAL})

    def storage(self) -> list[str]:
        # Redis would rewrite the file whenever it has doubled in size, in the middle of a round.
        return ["--save", "", "--appendonly", "yes", "--appendfsync", "everysec", "--auto-aof-rewrite-percentage", "0"]

    def publisher_hello(self) -> list[Exchange]:
        return super().publisher_hello() if self.course is Course.THROUGH else [self.group()]

    def consumer_hello(self) -> list[Exchange]:
        first = self.group() if self.course is Course.THROUGH else Exchange(redis.command(b"PING"), b"+PONG\r\n")
        return [first, Exchange(self.feedback_tail())]

    def stock(self) -> int:
        with connect(self.port) as sock:
            sock.sendall(redis.command(b"XLEN", self.topic))
            answer = sock.makefile("rb").readline()
            return int(answer[1:]) if answer.startswith(b":") else -1  # -LOADING, while it reads its file


class StreamRewritten(Stream):
    """As shipped: the file is rewritten into a compact form as it grows, which makes a restart faster."""

    def storage(self) -> list[str]:
        return ["--save", "", "--appendonly", "yes", "--appendfsync", "everysec"]


class Persistent(rabbitmq.Transient):
    name = "rabbitmq persistent"
    count_max = 100_000  # more would take minutes at the same rate
    latency = False
    delivery_mode = 2
    queue_flags = DURABLE

    def publisher_hello(self) -> list[Exchange]:
        select = Exchange(rabbitmq.method(1, CONFIRM_SELECT, b"\0"), rabbitmq.answer(CONFIRM_SELECT_OK))
        made = [] if self.course is Course.THROUGH else [self.declared(self.queue_flags)]
        return [*rabbitmq.handshake(), *made, select]

    def consumer_hello(self) -> list[Exchange]:
        if self.course is Course.THROUGH:
            return super().consumer_hello()
        return [*rabbitmq.handshake(), Exchange(self.consume(NO_WAIT))]

    def goodbye(self) -> list[Exchange]:
        delete = struct.pack(">H", 0) + rabbitmq.short(self.topic) + b"\0"
        return [Exchange(rabbitmq.method(1, QUEUE_DELETE, delete), rabbitmq.answer(QUEUE_DELETE_OK))]

    def answers(self) -> Counter | None:
        return ConfirmCounter()

    def stock(self) -> int:
        with connect(self.port) as sock:
            talk(sock, rabbitmq.handshake())
            sock.sendall(self.declared(PASSIVE).send)
            found = sock.recv(1 << 16)
        name = rabbitmq.answer(rabbitmq.QUEUE_DECLARE_OK) + rabbitmq.short(self.topic)
        return int(struct.unpack(">I", found.partition(name)[2][:4])[0]) if name in found else -1


class ConfirmCounter:
    """Counts what RabbitMQ confirms: one publish, or with `multiple` all up to it."""

    def __init__(self) -> None:
        self._view = memoryview(bytearray(READ_BUFFER))
        self._rest = b""
        self._all_up_to = 0
        self._beyond: set[int] = set()

    def read(self, sock: socket.socket) -> int:
        size = receive(sock, self._view)
        data = self._rest + self._view[:size]
        whole = len(data) - len(data) % CONFIRM.size
        self._rest = data[whole:]
        before = self._all_up_to + len(self._beyond)
        for *_, group, name, tag, multiple, _ in CONFIRM.iter_unpack(data[:whole]):
            if (group, name) != rabbitmq.BASIC_ACK:
                raise Stalled(f"no confirm, but method {group}.{name}")
            if multiple:
                self._all_up_to = tag
                self._beyond = {each for each in self._beyond if each > tag}
            else:
                self._beyond.add(tag)
            while self._all_up_to + 1 in self._beyond:
                self._all_up_to += 1
                self._beyond.remove(self._all_up_to)
        return self._all_up_to + len(self._beyond) - before
