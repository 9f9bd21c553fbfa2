"""Kills a broker at random moments under load, repeatedly on one data directory, and checks its guarantees.

    .venv/bin/python -m scripts.kill9 --rounds 50 --seed 1

Each round: start, read back every queue and compare it with what clients were told in the round before, load it over
five protocols at once, SIGKILL. A violation is one of

    lost       a message that was confirmed, and that no consumer acked, is missing
    back       a message whose ack was confirmed is there again; so is one of an earlier round
    order      messages are not in the order in which they were put or rejected
    retry      the retry counter is below the confirmed rejections, or above the requested ones; a message that was
               with a consumer when the broker was killed has one more
"""

import argparse
import contextlib
import json
import random
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from penstock.config import PROTOCOLS

BATCH = 20
QUEUES = (b"of-mqks", b"of-smqs", b"of-sevx", b"of-mqmq", b"of-rq")
FENCE = b"fence"


class Gone(Exception):
    """The broker has exited."""


class Client:
    """A socket with a buffer."""

    def __init__(self, port: int) -> None:
        try:
            self.sock = socket.create_connection(("127.0.0.1", port), timeout=20)
        except OSError as error:
            raise Gone from error
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = bytearray()

    def send(self, data: bytes) -> None:
        try:
            self.sock.sendall(data)
        except OSError as error:
            raise Gone from error

    def read(self, count: int) -> bytes:
        while len(self.buffer) < count:
            self._more()
        taken = bytes(self.buffer[:count])
        del self.buffer[:count]
        return taken

    def line(self) -> bytes:
        while (end := self.buffer.find(b"\n")) < 0:
            self._more()
        line = bytes(self.buffer[:end])
        del self.buffer[: end + 1]
        return line

    def _more(self) -> None:
        try:
            data = self.sock.recv(1 << 18)
        except OSError as error:
            raise Gone from error
        if not data:
            raise Gone
        self.buffer += data


def frame(*values: bytes) -> bytes:
    """An MQMQ frame."""
    body = b"".join(len(value).to_bytes(4, "big") + value for value in values)
    return len(body).to_bytes(4, "big") + body


def rq_request(id: int, queue: bytes, body: bytes) -> bytes:
    """An RQ request that does not ask for a reply."""
    head = b"\x01\x80" + id.to_bytes(4, "big") + b"\xa0" + bytes([len(queue)]) + queue
    return head + b"\xe0" + len(body).to_bytes(4, "big") + body + b"\x21\x0a"


class Book:
    """What the clients of one queue did, and what the broker told them."""

    def __init__(self) -> None:
        self.put: list[int] = []  # sent, in order
        self.confirmed: set[int] = set()
        self.done: set[int] = set()  # ack sent
        self.done_confirmed: set[int] = set()
        self.rejected: list[int] = []  # in order
        self.rejected_confirmed: Counter[int] = Counter()

    def check(self, found: list[tuple[int, int]]) -> list[str]:
        """The violations in the contents of the queue, given as (number, retry) in order."""
        numbers = [number for number, _ in found]
        wrong = [f"lost {number}" for number in sorted(self.confirmed - self.done - set(numbers))]
        known = set(self.put)
        wrong += [f"back {number}" for number in numbers if number in self.done_confirmed or number not in known]
        wrong += [f"back {number}, twice" for number, count in Counter(numbers).items() if count > 1]
        fresh = [number for number, retry in found if retry == 0]
        if fresh != sorted(fresh):
            wrong.append(f"order of {fresh[:20]}")
        sent = Counter(self.rejected)
        for number, retry in found:
            if not self.rejected_confirmed[number] <= retry <= sent[number] + 1:
                wrong.append(
                    f"retry {retry} of {number}, rejected {sent[number]} times, "
                    f"{self.rejected_confirmed[number]} of them confirmed"
                )
        if not self._are_in_order([entry for entry in found if entry[1]]):
            wrong.append("order of what was rejected")
        return wrong

    def _are_in_order(self, found: list[tuple[int, int]]) -> bool:
        """Whether rejected messages are in the order of their last rejection.

        The kill may have added one to `retry`, so its last rejection is number `retry` or the one before it.
        """
        last = -1
        for number, retry in found:
            times = [place for place, other in enumerate(self.rejected) if other == number]
            surely = self.rejected_confirmed[number] >= retry  # the kill added none to its count
            if retry == 1 and not surely:
                continue  # it may never have been rejected
            places = [place for place in times[retry - 1 if surely else max(retry - 2, 0) : retry] if place > last]
            if places:
                last = places[0]
            else:
                return False
        return True


class Load(threading.Thread):
    """Clients of one queue; run until their broker is killed."""

    def __init__(self, ports: dict[str, int], queue: bytes, first: int, seed: int) -> None:
        super().__init__(daemon=True)
        self.ports = ports
        self.queue = queue
        self.number = first
        self.chance = random.Random(seed)
        self.book = Book()
        self.failure: BaseException | None = None
        self._clients: list[Client] = []

    def run(self) -> None:
        try:
            self.begin()
            while True:
                self.turn()
        except Gone:
            pass
        except BaseException as error:
            self.failure = error
        for client in self._clients:
            client.sock.close()

    def connect(self, protocol: str) -> Client:
        client = Client(self.ports[protocol])
        self._clients.append(client)
        return client

    def begin(self) -> None:
        raise NotImplementedError

    def turn(self) -> None:
        raise NotImplementedError

    def next_numbers(self) -> list[int]:
        numbers = list(range(self.number, self.number + self.chance.randint(1, BATCH)))
        self.number += len(numbers)
        self.book.put += numbers
        return numbers

    def fence(self, client: Client) -> None:
        """A confirmed request: everything the broker accepted before it is durable as well."""
        client.send(frame(b"Put", FENCE, b"x"))
        client.read(len(frame(b"OK")))


class MqksLoad(Load):
    """Confirmed publishes; a worker that acks some, rejects some and keeps the rest unacked."""

    def begin(self) -> None:
        self.producer, self.worker, self.settler = (self.connect("mqks") for _ in range(3))
        self.worker.send(b"w consume --confirm %s %s --manual-ack\n" % (self.queue, self.queue))
        self.worker.line()

    def turn(self) -> None:
        book = self.book
        numbers = self.next_numbers()
        self.producer.send(b"".join(b"%d publish --confirm %s %d\n" % (n, self.queue, n) for n in numbers))
        for number in numbers:
            assert self.producer.line() == b"%d ok " % number
            book.confirmed.add(number)
        taken = [int(self.worker.line().split(b" ", 4)[2]) for _ in numbers]
        requests: list[tuple[bytes, int]] = []
        for number in taken:
            fate = self.chance.random()
            if fate < 0.5:
                book.done.add(number)
                requests.append((b"ack", number))
            elif fate < 0.75:
                book.rejected.append(number)
                requests.append((b"reject", number))
        self.settler.send(b"".join(b"%s-%d %s --confirm w %d\n" % (verb, n, verb, n) for verb, n in requests))
        for verb, number in requests:
            assert self.settler.line() == b"%s-%d ok " % (verb, number)
            if verb == b"ack":
                book.done_confirmed.add(number)
            else:
                book.rejected_confirmed[number] += 1
                self.worker.line()  # it is redelivered; this time it stays unacked


class SevxLoad(Load):
    """Sends, each of them confirmed; a receiver that acks some and rejects some."""

    def begin(self) -> None:
        self.sender, self.receiver, self.settler = (self.connect("sevx") for _ in range(3))
        arguments = {"pattern": {"of": "sevx"}, "queue": self.queue.decode(), "manual_ack": True}
        arguments["delete_queue_when_unused"] = 1000
        self.receiver.send(b"r recv %s\n" % json.dumps(arguments).encode())
        self.receiver.line()

    def turn(self) -> None:
        book = self.book
        numbers = self.next_numbers()
        self.sender.send(b"".join(b'%d send {"of": "sevx", "n": %d}\n' % (n, n) for n in numbers))
        for number in numbers:
            assert self.sender.line() == b"%d ok " % number
            book.confirmed.add(number)
        for number in [int(self.receiver.line().split(b" ", 3)[2]) for _ in numbers]:
            if self.chance.random() < 0.5:
                book.done.add(number)
                self._settle(b"ack", number)
                book.done_confirmed.add(number)
            elif self.chance.random() < 0.5:
                book.rejected.append(number)
                self._settle(b"reject", number)
                book.rejected_confirmed[number] += 1
                self.receiver.line()

    def _settle(self, verb: bytes, number: int) -> None:
        self.settler.send(b's %s {"receiver_id": "r", "event_id": "%d"}\n' % (verb, number))
        assert self.settler.line() == b"s ok "


class MqmqLoad(Load):
    """Puts, each of them confirmed; Gets, which surely count as done once a later Put is confirmed."""

    def begin(self) -> None:
        self.producer, self.getter = self.connect("mqmq"), self.connect("mqmq")

    def turn(self) -> None:
        book = self.book
        numbers = self.next_numbers()
        self.producer.send(b"".join(frame(b"Put", self.queue, b"%d" % number) for number in numbers))
        for number in numbers:
            self.producer.read(len(frame(b"OK")))
            book.confirmed.add(number)
        wanted = len(numbers) // 2
        book.done |= set(self._first_left(wanted))  # a Get may take effect even if its answer is lost
        for _ in range(wanted):
            self.getter.send(frame(b"Get", self.queue, b"1000"))
            answer = self.getter.read(int.from_bytes(self.getter.read(4), "big"))
            assert int(answer[10:]) in book.done
        self.fence(self.getter)
        book.done_confirmed = set(book.done)

    def _first_left(self, count: int) -> list[int]:
        return [number for number in self.book.put if number not in self.book.done][:count]


class SmqsLoad(Load):
    """Messages and acks without responses: both are durable once a later request of any client is confirmed."""

    def begin(self) -> None:
        self.producer, self.consumer = self.connect("smqs"), self.connect("smqs")
        self.fencer = self.connect("mqmq")
        self.consumer.send(b"C:%s:\n" % self.queue)
        self.out: list[int] = []

    def turn(self) -> None:
        book = self.book
        numbers = self.next_numbers()
        self.producer.send(b"".join(b"M:%s:%d\n" % (self.queue, number) for number in numbers) + b"S::\n")
        self.producer.line()  # accepted, but perhaps not durable yet
        self.fence(self.fencer)
        book.confirmed |= set(numbers)
        self.out += [int(self.consumer.line()) for _ in numbers]
        count = self.chance.randint(0, len(self.out))
        done, self.out = self.out[:count], self.out[count:]
        book.done |= set(done)
        self.consumer.send(b"D:%s:%d\nS::\n" % (self.queue, count))
        self.consumer.line()
        self.fence(self.fencer)
        book.done_confirmed |= set(done)


class RqLoad(Load):
    """Requests without a reply: DELIVERED is their confirmation."""

    def begin(self) -> None:
        self.requester = self.connect("rq")

    def turn(self) -> None:
        numbers = self.next_numbers()
        self.requester.send(b"".join(rq_request(number, self.queue, b"%d" % number) for number in numbers))
        for number in numbers:
            assert self.requester.read(7) == b"\x01\x80" + number.to_bytes(4, "big") + b"\x0d"
            self.book.confirmed.add(number)


LOADS: tuple[Callable[[dict[str, int], bytes, int, int], Load], ...] = (
    MqksLoad, SmqsLoad, SevxLoad, MqmqLoad, RqLoad,
)  # fmt: skip


def start(directory: Path) -> tuple[subprocess.Popen[str], dict[str, int]]:
    doors = [word for name in PROTOCOLS for word in (f"--{name}", "0")]
    process = subprocess.Popen(
        [
            sys.executable, "-m", "penstock.cli.main", "serve", "--data", str(directory), "--log-level", "error",
            "--segment-bytes-max", "64KiB", "--retain-bytes", "1MiB", "--memory-bytes-max", "256KiB",
            "--any", "off", "--http", "off", *doors,
        ],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    word, _, ports = process.stdout.readline().partition(" ")
    if word != "ready":
        process.wait(10)
        raise SystemExit(f"the broker does not start, exit code {process.returncode}")
    return process, json.loads(ports)


def read_back(ports: dict[str, int], queue: bytes) -> list[tuple[int, int]]:
    """Everything in a queue as (number, retry), in order; leaves the queue empty."""
    asker, consumer = Client(ports["smqs"]), Client(ports["mqks"])
    with asker.sock, consumer.sock:
        asker.send(b"S::\n")
        count = json.loads(asker.line()).get(queue.decode(), 0)
        consumer.send(b"read consume --confirm %s nothing\n" % queue)
        assert consumer.line() == b"read ok "
        found = [number_and_retry(consumer.line()) for _ in range(count)]
        consumer.send(b"1 delete_consumer --confirm read\n")
        assert consumer.line() == b"1 ok "
        return found


def number_and_retry(line: bytes) -> tuple[int, int]:
    """`read ok {id} event=...,retry=1 {body}`, where the body is a number or an object with one."""
    _, _, _, properties, body = line.split(b" ", 4)
    retry = properties.partition(b"retry=")[2].partition(b",")[0]
    return int(json.loads(body)["n"] if body.startswith(b"{") else body), int(retry or 0)


class Summary:
    def __init__(self) -> None:
        self.rounds = 0
        self.confirmed = 0
        self.done_confirmed = 0
        self.rejected = 0
        self.found = 0
        self.wrong: list[str] = []

    def add(self, round_number: int, load: Load, found: list[tuple[int, int]]) -> None:
        book = load.book
        self.confirmed += len(book.confirmed)
        self.done_confirmed += len(book.done_confirmed)
        self.rejected += sum(book.rejected_confirmed.values())
        self.found += len(found)
        if load.failure is not None:
            self.wrong.append(f"round {round_number}, {load.queue.decode()}: {load.failure!r}")
        self.wrong += [f"round {round_number}, {load.queue.decode()}: {wrong}" for wrong in book.check(found)]

    def __str__(self) -> str:
        return (
            f"{self.rounds} rounds: {self.confirmed} messages and {self.done_confirmed} settlements confirmed, "
            f"{self.rejected} rejects; {self.found} messages read back; {len(self.wrong)} things wrong"
        )


def run(directory: Path, rounds: int, seed: int, longest: float = 0.6, say: Callable[[str], None] = print) -> Summary:
    chance = random.Random(seed)
    summary = Summary()
    loads: list[Load] = []
    first = 1
    for round_number in range(rounds + 1):
        process, ports = start(directory)
        try:
            for load in loads:
                summary.add(round_number, load, read_back(ports, load.queue))
            if round_number == rounds:
                break
            kinds = zip(LOADS, QUEUES, strict=True)
            loads = [make(ports, queue, first, chance.getrandbits(32)) for make, queue in kinds]
            for load in loads:
                load.start()
            time.sleep(chance.uniform(0.02, longest))
        finally:
            process.kill()
            process.wait(10)
            assert process.stdout is not None
            process.stdout.close()
        for load in loads:
            load.join(30)
            assert not load.is_alive()
        first = max(load.number for load in loads)
        summary.rounds += 1
        told = [f"{load.queue.decode()} {len(load.book.confirmed)}" for load in loads]
        say(f"round {round_number}: confirmed {', '.join(told)}")
    return summary


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m scripts.kill9", description=__doc__)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--longest", type=float, default=0.6, help="seconds of load before the kill, at most")
    parser.add_argument("--data", type=Path, help="where the data directory is made; a temporary one when not said")
    arguments = parser.parse_args()
    with contextlib.ExitStack() as stack:
        directory = arguments.data or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        summary = run(directory / "data", arguments.rounds, arguments.seed, arguments.longest)
    for wrong in summary.wrong[:50]:
        print(wrong)
    print(f"seed {arguments.seed}: {summary}")
    return 1 if summary.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
