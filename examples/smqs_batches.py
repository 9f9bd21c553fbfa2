"""Batches of ten: `python examples/smqs_batches.py [HOST:PORT]`. SMQS consumers ack by count."""

import asyncio
import sys

from penstock.client import smqs


async def main(address: str) -> None:
    async with await smqs.connect(address) as client:
        readings = await client.consume("readings")
        for number in range(30):
            await client.publish("readings", {"celsius": number})
        for _ in range(3):
            batch = [(await readings.get(timeout=30)).value["celsius"] for _ in range(10)]
            print("stored", batch[0], "to", batch[-1])
            await readings.done(len(batch))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:2201"))
