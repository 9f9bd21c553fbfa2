"""A worker that fails once: `python examples/mqks_worker.py [HOST:PORT]`. MQKS events go to every bound queue."""

import asyncio
import sys

from penstock.client import mqks


async def main(address: str) -> None:
    async with (
        await mqks.connect(address) as client,
        await client.consume("orders", ["order.placed"], manual_ack=True) as orders,
    ):
        await client.publish("order.placed", "a turbine", confirm=True)
        async for order in orders:
            if order.retry == 0:
                print("failing on", order.text)
                await order.reject()
                continue
            print("done with", order.text, "at the second try")
            await order.ack(confirm=True)
            break


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:54321"))
