"""Starts a broker, publishes and consumes for real, and prints what happened. `make demo` runs it."""

import json
import socket
import subprocess
import sys
import time
from pathlib import Path

PENSTOCK = Path(sys.executable).with_name("penstock")
COUNT = 200_000


class Client:
    """MQKS needs no library: one line per request, one line per answer."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=20)
        self.lines = self.socket.makefile("rb")

    def say(self, *lines: str) -> None:
        self.socket.sendall("".join(line + "\n" for line in lines).encode())

    def hear(self) -> str:
        return self.lines.readline().decode().rstrip("\n")

    def close(self) -> None:
        self.lines.close()
        self.socket.close()


def show(arrow: str, line: str) -> None:
    print(f"    {arrow} {line}")


def conversation(worker: Client, shop: Client) -> None:
    """A worker that fails once, and gets the order again."""
    print("\na worker subscribes its queue to an event, and will acknowledge what it has done:")
    requests = ["c1 consume --confirm orders order.placed --manual-ack"]
    worker.say(*requests)
    show(">", requests[0])
    show("<", worker.hear())

    print("\na shop publishes, and waits until the broker has it:")
    order = 'm1 publish --confirm order.placed {"id": 1, "item": "turbine"}'
    shop.say(order)
    show(">", order)
    show("<", shop.hear())

    print("\nthe worker gets it, fails, gives it back, and gets it again with retry=1:")
    show("<", worker.hear())
    worker.say("r1 reject c1 m1")
    show(">", "r1 reject c1 m1")
    show("<", worker.hear())
    worker.say("a1 ack --confirm c1 m1")
    show(">", "a1 ack --confirm c1 m1")
    show("<", worker.hear())


def load(consumer: Client, publisher: Client) -> None:
    """As many messages as fit into a moment."""
    consumer.say("c2 consume --confirm readings reading")
    consumer.hear()
    requests = "".join(f"{number} publish reading {number % 90} degrees\n" for number in range(COUNT)).encode()
    started = time.perf_counter()
    publisher.socket.sendall(requests)
    for number in range(COUNT):
        line = consumer.lines.readline()
        assert line.startswith(b"c2 ok %d event=reading " % number), line
    seconds = time.perf_counter() - started
    print(f"\n{COUNT:,} messages published and consumed in order in {seconds:.2f} s, read line by line by this script")


def main() -> int:
    doors = [word for name in ("smqs", "sevx", "mqmq", "rq", "any", "http") for word in (f"--{name}", "off")]
    command = [str(PENSTOCK), "serve", "--memory", "--mqks", "0", "--log-level", "warning", *doors]
    broker = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert broker.stdout is not None
        ready = broker.stdout.readline()
        print("broker:", ready.rstrip())
        port = json.loads(ready.removeprefix("ready "))["mqks"]
        clients = [Client(port) for _ in range(4)]
        conversation(clients[0], clients[1])
        load(clients[2], clients[3])
        clients[0].say("s1 _eval state.published")
        print("\nthe broker counts:", clients[0].hear().removeprefix("s1 ok "), "messages published")
        for client in clients:
            client.close()
    finally:
        broker.terminate()
        code = broker.wait(20)
    print("broker stopped with exit code", code)
    return code


if __name__ == "__main__":
    sys.exit(main())
