"""Starts a broker, sends messages through all five protocols, and has Spark archive, count and query them.

`make demo` runs it. Everything is real: sockets, the log on disk, Spark on this machine. It finishes in about a minute
and prints what it created and where.
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
    """A minimal MQKS client. No library needed: one line per request, one line per response."""

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


def step(number: int, title: str) -> None:
    print(f"\n{number}. {title}\n", flush=True)


def show(arrow: str, line: str) -> None:
    print(f"    {arrow} {line}")


def conversation(worker: Client, shop: Client) -> None:
    """A worker rejects an order once and receives it again."""
    step(1, "A conversation over MQKS: lines, as anybody could type them")
    print("a worker subscribes its queue to an event, and will acknowledge what it has done:")
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
    """An RQ request that does not ask for a reply."""
    head = b"\x01\x80" + id.to_bytes(4, "big") + b"\xa0" + bytes([len(queue)]) + queue
    return head + b"\xe0" + len(body).to_bytes(4, "big") + body + b"\x21\x0a"


# How each protocol encodes a message.
SENDS: dict[str, Callable[[int, bytes], bytes]] = {
    "mqks": lambda n, body: b"%d publish order.placed %s\n" % (n, body),
    "smqs": lambda n, body: b"M:jobs:%s\n" % body,
    "sevx": lambda n, body: b"%d send %s\n" % (n, body),
    "mqmq": lambda n, body: frame(b"Put", b"audit", body),
    "rq": lambda n, body: rq_request(n, b"mail", body),
}


def send_all(protocol: str, port: int, count: int) -> None:
    """Sends as fast as the broker accepts; responses are read and discarded."""
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


class Worker(threading.Thread):
    """Consumes orders and acknowledges each; rejects one in a hundred, once."""

    def __init__(self, port: int) -> None:
        super().__init__(daemon=True)
        self.client = Client(port)
        self.client.socket.settimeout(120)
        self.client.say("w1 consume --confirm orders order.placed --manual-ack")
        self.client.hear()
        self.done = self.failed = 0
        self.over = threading.Event()

    def run(self) -> None:
        chance = random.Random(3)
        while line := self.client.hear():
            if not line.startswith("w1 "):
                self.over.set()  # the response to the publish in `finish`
                return
            _, _, id, properties, *_ = line.split(" ", 4)
            fails = "retry=" not in properties and chance.random() < 0.01
            self.client.say(f"s {'reject' if fails else 'ack'} w1 {id}")
            self.done, self.failed = self.done + (not fails), self.failed + fails

    def finish(self, count: int) -> None:
        """Waits until `count` orders are acknowledged, then closes the connection."""
        deadline = time.monotonic() + 120
        while self.done < count and time.monotonic() < deadline:
            time.sleep(0.05)
        # Spark sees an ack together with the next message, so publish one more.
        self.client.say(f'last publish --confirm orders.done {{"orders": {self.done}}}')
        self.over.wait(20)
        self.client.close()
        print(f"a worker took {self.done:,} orders and acknowledged each; {self.failed:,} it gave back first")


def load(ports: dict[str, int]) -> None:
    worker = Worker(ports["mqks"])
    worker.start()
    started = time.perf_counter()
    lanes = [threading.Thread(target=send_all, args=(name, ports[name], COUNT // len(SENDS))) for name in SENDS]
    for lane in lanes:
        lane.start()
    for lane in lanes:
        lane.join()
    seconds = time.perf_counter() - started
    print(f"{COUNT:,} messages through {', '.join(SENDS)} in {seconds:.1f} s; each is in the log, on the disk")
    worker.finish(COUNT // len(SENDS))


def pipelines(server: str, directory: Path) -> None:
    """Runs archive, stats and query; also available as `penstock pipeline run archive --server ... --to ... --once`."""
    from pyspark.sql import functions as F  # noqa: N812

    from penstock.spark.pipelines import archive, query, stats
    from penstock.spark.pipelines.job import Job
    from penstock.spark.session import spark_session

    os.environ["PENSTOCK_STATE"] = str(directory / "state")  # where the query's state is stored, under its name
    step(3, "Spark, on this machine: archive, stats, and a query whose rows become messages")
    spark = spark_session("penstock demo", settings={"spark.driver.memory": "2g"})
    try:
        archive.run(Job(spark, "archive", server=server, to=str(directory / "lake"), once=True))
        counting = Job(spark, "stats", server=server, to=str(directory / "stats"), event="penstock.stats", once=True)
        counting.settings = {"window": "1 second"}
        stats.run(counting)
        checkpoint = str(directory / "query")
        found = Job(spark, "query", server=server, name="big-orders", checkpoint=checkpoint, once=True)
        found.event, found.settings = "order.big", {"sql": QUERY}
        query.run(found)

        step(4, "What came of it")
        print("the lake, by event:")
        lake = spark.read.parquet(str(directory / "lake"))
        lake.groupBy("event", "protocol").agg(
            F.count("*").alias("messages"),
            F.date_format(F.min("published_at"), "HH:mm:ss.SSS").alias("first"),
            F.date_format(F.max("published_at"), "HH:mm:ss.SSS").alias("last"),
        ).orderBy("event").show(truncate=False)
        print("statistics of orders, by second; p50 and p99: milliseconds from publish to acknowledge:")
        shown = spark.read.parquet(str(directory / "stats")).where("event = 'order.placed'")
        shown.groupBy(F.date_format("window_start", "HH:mm:ss").alias("second")).agg(
            F.sum("published").alias("published"),
            F.sum("accepted").alias("acknowledged"),
            F.sum("retries").alias("given back"),
            F.round(F.max("latency_p50") * 1000, 1).alias("p50"),
            F.round(F.max("latency_p99") * 1000, 1).alias("p99"),
        ).orderBy("second").show(20, truncate=False)
    finally:
        spark.stop()


def outcome(worker: Client) -> None:
    print("orders above 999, found by SQL and published as order.big; a consumer of MQKS gets them:")
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
        print("the broker is up:", ready.rstrip())
        yield json.loads(ready.removeprefix("ready "))
    finally:
        broker.terminate()
        print("\nthe broker was stopped, and ended with exit code", broker.wait(60))
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
        step(2, "Load, by all five protocols at once")
        load(ports)
        pipelines(f"http://127.0.0.1:{ports['http']}", directory)
        outcome(listener)
        for client in (worker, shop, listener):
            client.close()
    drawing = [sys.executable, str(Path(__file__).with_name("plot_stats.py")), str(directory / "stats")]
    subprocess.run([*drawing, str(directory / "stats.html")], check=True, capture_output=True)
    step(5, "What it made, to look at or to delete")
    made = {
        "data": "the log; `penstock serve --data` of it, and http://127.0.0.1:7780 shows it",
        "lake": "Parquet by date and event, for Spark, DuckDB, pandas",
        "stats": "windows, as Parquet",
        "stats.html": "a plot of them, for a browser",
    }
    for name, what in made.items():
        print(f"    {directory / name!s:<44} {what}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
