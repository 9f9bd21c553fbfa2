"""Request and reply: `python examples/rq_sums.py [HOST:PORT]`. In RQ, a handler's return value is the reply."""

import asyncio
import sys

from penstock.client import rq


async def on_sum(request: rq.Request) -> str:
    return str(sum(map(int, request.payload.split(b"+"))))


async def main(address: str) -> None:
    async with await rq.connect(address) as worker, await rq.connect(address) as asker:
        await worker.consume("sums", on_sum, max=10)
        questions = ["1+1", "2+2+2", "3+30"]
        answers = await asyncio.gather(*(asker.request("sums", question, timeout=30) for question in questions))
        for question, answer in zip(questions, answers, strict=True):
            print(question, "=", answer.decode())


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:13700"))
