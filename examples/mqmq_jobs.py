"""Put, and get with a timeout: `python examples/mqmq_jobs.py [HOST:PORT]`. MQMQ with the blocking client."""

import sys

from penstock.client.mqmq import Client, Timeout


def main(address: str) -> None:
    client = Client().connect(address)
    for colour in ("red", "green", "blue"):
        client.put("paint", f"a gate, {colour}")
    while True:
        try:
            print("painting", client.get("paint", timeout=0.2).decode())
        except Timeout:
            print("nothing left to paint")
            break
    client.disconnect()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:47774")
