"""Publish over one protocol, consume over another: `python examples/two_protocols.py [HOST:PORT]` (the `any` port)."""

import asyncio
import sys

from penstock.client import mqks, mqmq, rq, smqs


async def main(address: str) -> None:
    async with await mqmq.connect(address) as putter:
        await putter.put("jobs", b'{"by": "mqmq"}')
    async with await smqs.connect(address) as publisher:
        await publisher.publish("jobs", {"by": "smqs"}, confirm=True)
    async with await rq.connect(address) as sender:
        await sender.send("jobs", '{"by": "rq"}')
    async with await mqks.connect(address) as client, await client.consume("jobs", ["job.new"]) as jobs:
        await client.publish("job.new", '{"by": "mqks"}', confirm=True)
        for _ in range(4):
            print((await jobs.get(timeout=30)).text)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:7700"))
