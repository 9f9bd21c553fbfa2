"""Starts a broker, sends messages through all five protocols, and has Spark archive, count and query them.

`make demo` runs it. Everything is real: sockets, the log on disk, Spark on this machine. It ends by itself.
"""

import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

PENSTOCK = Path(sys.executable).with_name("penstock")
COUNT = 300_000  # messages, over all protocols
ITEMS = ("turbine", "gate", "valve", "pipe", "gauge")
QUERY = """
    SELECT get_json_object(body, '$.id') AS order_id, CAST(get_json_object(body, '$.price') AS DOUBLE) AS price
    FROM log WHERE event = 'order.placed' AND CAST(get_json_object(body, '$.price') AS DOUBLE) > 999
"""


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


def order(number: int, chance: random.Random) -> bytes:
    price = round(chance.random() * 1000, 2)
    return b'{"id": %d, "item": "%s", "price": %.2f}' % (number, chance.choice(ITEMS).encode(), price)


def frame(*values: bytes) -> bytes:
    """An MQMQ frame."""
    body = b"".join(len(value).to_bytes(4, "big") + value for value in values)
    return len(body).to_bytes(4, "big") + body


def rq_request(id: int, queue: bytes, body: bytes) -> bytes:
    """An RQ request that wants no reply."""
    head = b"\x01\x80" + id.to_bytes(4, "big") + b"\xa0" + bytes([len(queue)]) + queue
    return head + b"\xe0" + len(body).to_bytes(4, "big") + body + b"\x21\x0a"


# How each protocol sends a message, and how long the answer to the last one is, which says that the broker has all.
SENDS: dict[str, Callable[[int, bytes], bytes]] = {
    "mqks": lambda n, body: b"%d publish order.placed %s\n" % (n, body),
    "smqs": lambda n, body: b"M:jobs:%s\n" % body,
    "sevx": lambda n, body: b"%d send %s\n" % (n, body),
    "mqmq": lambda n, body: frame(b"Put", b"audit", body),
    "rq": lambda n, body: rq_request(n, b"mail", body),
}


def send_all(protocol: str, port: int, count: int) -> None:
    """As fast as the broker takes them; answers are read, and dropped."""
    chance = random.Random(protocol)
    with socket.create_connection(("127.0.0.1", port), timeout=60) as sock:
        drain = threading.Thread(target=read_to_end, args=(sock,), daemon=True)
        drain.start()
        for first in range(0, count, 500):
            sock.sendall(b"".join(SENDS[protocol](n, order(n, chance)) for n in range(first, first + 500)))
        sock.shutdown(socket.SHUT_WR)
        drain.join()


def read_to_end(sock: socket.socket) -> None:
    while sock.recv(1 << 18):
        pass


def load(ports: dict[str, int]) -> None:
    started = time.perf_counter()
    lanes = [threading.Thread(target=send_all, args=(name, ports[name], COUNT // len(SENDS))) for name in SENDS]
    for lane in lanes:
        lane.start()
    for lane in lanes:
        lane.join()
    seconds = time.perf_counter() - started
    print(f"\n{COUNT:,} messages through {', '.join(SENDS)} in {seconds:.1f} s; each is in the log, on the disk")


def pipelines(server: str, directory: Path) -> None:
    """Archive, stats and query, each a command too: `penstock pipeline run archive --server ... --to ... --once`."""
    from penstock.spark.pipelines import archive, query, stats
    from penstock.spark.pipelines.job import Job
    from penstock.spark.session import spark_session

    os.environ["PENSTOCK_STATE"] = str(directory / "state")  # where the query is kept by its name
    print("\nSpark starts, on this machine:")
    spark = spark_session("penstock demo", settings={"spark.driver.memory": "2g"})
    try:
        archive.run(Job(spark, "archive", server=server, to=str(directory / "lake"), once=True))
        stats.run(Job(spark, "stats", server=server, to=str(directory / "stats"), event="penstock.stats", once=True))
        checkpoint = str(directory / "query")
        found = Job(spark, "query", server=server, name="big-orders", checkpoint=checkpoint, once=True)
        found.event, found.settings = "order.big", {"sql": QUERY}
        query.run(found)
        print("\nthe lake, by event:")
        lake = spark.read.parquet(str(directory / "lake"))
        lake.groupBy("event").agg({"*": "count", "published_at": "max"}).orderBy("event").show(truncate=False)
        print("statistics, by window, event and queue:")
        shown = spark.read.parquet(str(directory / "stats")).drop("window_end", "date")
        shown.orderBy("window_start", "event").show(10, truncate=False)
    finally:
        spark.stop()


def outcome(worker: Client) -> None:
    print("messages that came out of SQL, taken by MQKS from the event order.big:")
    for _ in range(3):
        show("<", worker.hear())


@contextmanager
def running_broker(directory: Path) -> Iterator[dict[str, int]]:
    doors = [word for name in (*SENDS, "http") for word in (f"--{name}", "0")]
    command = [str(PENSTOCK), "serve", "--data", str(directory), "--log-level", "warning", "--any", "off", *doors]
    broker = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert broker.stdout is not None
        ready = broker.stdout.readline()
        print("broker:", ready.rstrip())
        yield json.loads(ready.removeprefix("ready "))
    finally:
        broker.terminate()
        print("broker stopped with exit code", broker.wait(60))
        if broker.stdout is not None:
            broker.stdout.close()


def main() -> int:
    directory = Path(tempfile.mkdtemp(prefix="penstock-demo-"))
    with running_broker(directory / "data") as ports:
        worker, shop, listener = (Client(ports["mqks"]) for _ in range(3))
        conversation(worker, shop)
        worker.say("d1 delete_consumer --confirm c1")
        worker.hear()
        listener.say("big consume --confirm big-orders order.big")
        listener.hear()
        load(ports)
        pipelines(f"http://127.0.0.1:{ports['http']}", directory)
        outcome(listener)
        for client in (worker, shop, listener):
            client.close()
    print("\nwhat it made:")
    for name, what in (("data", "the log"), ("lake", "Parquet by date and event"), ("stats", "windows")):
        print(f"    {directory / name}  {what}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
