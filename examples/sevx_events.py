"""Content-based routing: `python examples/sevx_events.py [HOST:PORT]`. SEVX receivers select events by JSON pattern."""

import asyncio
import sys

from penstock.client import sevx


async def main(address: str) -> None:
    done = asyncio.Event()

    def on_updated(event: sevx.Event) -> None:
        print("updated:", event.content.data.name)
        event.ack()
        done.set()

    async with await sevx.connect_async(address) as client:
        await client.receive({"obj": "user", "act": "updated"}, on_updated, manual_ack=True)
        await client.send({"obj": "user", "act": "deleted", "data": {"name": "Ann"}}, wait=True)
        await client.send({"obj": "user", "act": "updated", "data": {"name": "Kate"}}, wait=True)
        await asyncio.wait_for(done.wait(), 30)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:54322"))
