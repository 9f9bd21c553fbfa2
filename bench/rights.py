"""What do authentication and permissions cost per message? `python -m bench.rights`

Two brokers side by side, one that authenticates its clients and one that does not. In turns, one MQKS connection
publishes the same 16-byte messages to each and another consumes them; the clients do next to nothing, so the
measurement is of the broker. The figure is the ratio of the medians, with permissions to without.
"""

import argparse
import json
import socket
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from penstock.auth.file import UsersFile
from penstock.testing import BrokerProcess

CHUNK = 5000  # messages per send
RATIO_MIN = 0.95
GRANTS = ("publish event:orders.*", "publish e", "consume event:[a-f]*", "consume queue:q", "declare q")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.rights", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=7, metavar="N")
    parser.add_argument("--messages", type=int, default=1_000_000, metavar="N", help="In one round.")
    said = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as directory:
        file = UsersFile(Path(directory) / "users.json")
        with file.edit() as users:
            users.add("worker")
            for grant in GRANTS:
                users.grant("worker", grant)
            token = users.create_token("worker", 0)
        brokers = {"without": BrokerProcess(), "with": BrokerProcess(users=file.path)}
        rates: dict[str, list[float]] = {name: [] for name in brokers}
        try:
            for broker in brokers.values():
                broker.start()
            for number in range(said.rounds + 1):
                for name, broker in brokers.items():
                    rate = throughput(broker.ports["mqks"], token if name == "with" else "", said.messages)
                    if number:  # the first round is a warm-up
                        rates[name].append(rate)
        finally:
            for broker in brokers.values():
                broker.stop()
    middle = {name: statistics.median(found) for name, found in rates.items()}
    ratio = middle["with"] / middle["without"]
    print(json.dumps({**{name: round(rate) for name, rate in middle.items()}, "ratio": round(ratio, 3)}))
    return 0 if ratio >= RATIO_MIN else 1


def throughput(port: int, token: str, count: int) -> float:
    """Messages per second, from the first send to the last delivery."""
    publisher, consumer = (socket.create_connection(("127.0.0.1", port), timeout=60) for _ in range(2))
    hello = b"a auth %s\n" % token.encode() if token else b""
    consumer.sendall(hello + b"c consume --confirm q e\n")
    _read(consumer, b"c ok \n")
    publisher.sendall(hello + b"p ping x\n")
    _read(publisher, b"p ok x\n")
    chunk = b"".join(b"%07d publish e 0123456789abcdef\n" % number for number in range(CHUNK))
    times = count // CHUNK
    sender = threading.Thread(target=_send, args=(publisher, chunk, times))
    left = times * CHUNK * len(b"c ok 0000000 event=e 0123456789abcdef\n")
    begun = time.perf_counter()
    sender.start()
    buffer = bytearray(1 << 20)
    while left > 0:
        size = consumer.recv_into(buffer)
        if size == 0:
            raise ConnectionError("the broker closed the connection")
        left -= size
    seconds = time.perf_counter() - begun
    sender.join()
    for client in (publisher, consumer):
        client.close()
    return times * CHUNK / seconds


def _send(client: socket.socket, chunk: bytes, times: int) -> None:
    for _ in range(times):
        client.sendall(chunk)


def _read(client: socket.socket, end: bytes) -> None:
    data = b""
    while not data.endswith(end):
        more = client.recv(65536)
        if not more:
            raise ConnectionError("the broker closed the connection")
        data += more


if __name__ == "__main__":
    sys.exit(main())
