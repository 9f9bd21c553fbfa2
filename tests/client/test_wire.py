"""What clients say on the wire is what the protocols' texts show, and nothing of Penstock's own unless asked for."""

import asyncio
import contextlib
import json
import re
from collections.abc import AsyncIterator, Callable
from typing import Any

from penstock.client import mqks, mqmq, rq, sevx, smqs

from .conftest import QUICK, until

Answer = Callable[[bytes], bytes]


class Recorder:
    """A server that writes down what it hears and answers by a function."""

    def __init__(self, answer: Answer) -> None:
        self.heard = b""
        self.answer = answer
        self.address = ""

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(1 << 16):
            self.heard += data
            writer.write(self.answer(data))
        writer.close()


@contextlib.asynccontextmanager
async def server(answer: Answer = lambda data: b"") -> AsyncIterator[Recorder]:
    recorder = Recorder(answer)
    listening = await asyncio.start_server(recorder.connected, "127.0.0.1", 0)
    recorder.address = f"127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    async with listening:
        yield recorder


def ok(data: bytes) -> bytes:
    """`{id} ok ` to every line, as the original MQKS server says it."""
    return b"".join(line.split(b" ")[0] + b" ok \n" for line in data.splitlines())


def test_mqks(run) -> None:
    async def work() -> None:
        async with server(ok) as heard:
            async with await mqks.connect(heard.address, options=QUICK) as client:
                await client.publish("e1", "d1")
                await client.publish("e1", "d1", confirm=True)
                consumer = await client.consume("q1", ["e1", "e2"], delete_queue_when_unused=5, manual_ack=True)
                await client.ack(consumer.id, "m1", confirm=True)
                await client.reject_all(consumer.id, confirm=True)
                await client.delete_queue("q1")
                await client.delete_consumer(consumer.id)
            words = "(?:{})".format  # one line each
            lines = [
                r"\w{24} publish e1 d1",
                r"\w{24} publish --confirm e1 d1",
                r"\w{24} consume --confirm q1 e1 e2 --delete-queue-when-unused=5.0 --manual-ack",
                r"\w{24} ack --confirm \w{24} m1",
                r"\w{24} reject --confirm \w{24} --all",
                r"\w{24} delete_queue --confirm q1",
                r"\w{24} delete_consumer --confirm \w{24}",
            ]
            assert re.fullmatch("\n".join(map(words, lines)) + "\n", heard.heard.decode()), heard.heard.decode()

    run(work())


def test_sevx(run) -> None:
    async def work() -> None:
        options: dict[str, Any] = {"delete_queue_when_unused": 5.42, "manual_ack": True}
        async with server(ok) as heard:
            async with await sevx.connect_async(heard.address, options=QUICK) as client:
                client.send_prefix({"src": "service1"})
                await client.send({"obj": "user", "act": "updated"}, wait=True)
                receiver = await client.receive({"obj": "user"}, queue="q", **options)
                await receiver.settle("ack", {"event_id": "e1"})
                await receiver.delete_queue()
                await receiver.delete()
            lines = [line.split(" ", 2) for line in heard.heard.decode().splitlines()]
            assert all(re.fullmatch(r"\d{20}\w{4}", id) for id, _, _ in lines)
            assert [(action, json.loads(data)) for _, action, data in lines] == [
                ("send", {"src": "service1", "obj": "user", "act": "updated"}),
                (
                    "recv",
                    {"pattern": {"obj": "user"}, "queue": "q", "delete_queue_when_unused": 5.42, "manual_ack": True},
                ),
                ("ack", {"receiver_id": receiver.id, "event_id": "e1"}),
                ("delete_queue", {"queue": "q"}),
                ("delete_receiver", {"receiver_id": receiver.id}),
            ]

    run(work())


def test_smqs(run) -> None:
    async def work() -> None:
        async with server(lambda data: b'{"users":1}\n' if b"S::" in data else b"{}\n") as heard:
            async with await smqs.connect(heard.address, options=QUICK) as client:
                await client.publish("users", {"id": 1}, confirm=True)
                users = await client.consume("users")
                assert (await users.get(5)).value == {}
                await users.done(1)
                await until(lambda: heard.heard.endswith(b"D:users:1\n"))
                assert await client.stats() == {"users": 1}
            assert heard.heard == b'M:users:{"id":1}\nS::\nC:users:\nD:users:1\nS::\n'

    run(work())


def test_mqmq(run) -> None:
    async def work() -> None:
        def answer(data: bytes) -> bytes:
            return b"\0\0\0\x0b\0\0\0\x07Timeout" if b"Get" in data else b"\0\0\0\x06\0\0\0\x02OK"

        async with server(answer) as heard, await mqmq.connect(heard.address, options=QUICK) as client:
            await client.put("q", b"body")
            with contextlib.suppress(mqmq.Timeout):
                await client.get("q", 0)
            put, get = b"\0\0\0\x03Put\0\0\0\x01q\0\0\0\x04body", b"\0\0\0\x03Get\0\0\0\x01q\0\0\0\x011"
            assert heard.heard == b"\0\0\0\x14" + put + b"\0\0\0\x11" + get

    run(work())


def test_rq(run) -> None:
    """As the captures of the original library have it: MAX is there, and PRIORITY where it was asked for."""

    async def work() -> None:
        def answer(data: bytes) -> bytes:
            if data.endswith(b"\x14"):
                return b"\x01\x60\0\x01\xa0\x01q\x18" + b"\x01\x60\0\x01\xe0\0\0\0\x02hi\x80\0\0\0\x07\x0a"
            return b"\x01\x80\0\0\0\0\x0d" if data.endswith(b"\x0a") else b""

        async with server(answer) as heard:
            async with await rq.connect(heard.address, options=QUICK) as client:
                await client.consume("q", lambda request: b"ho", max=200, priority=rq.NORMAL)
                await until(lambda: heard.heard.endswith(b"\x0b"))
                await client.send("q", "x")
            assert heard.heard == (
                b"\x01\xa0\x01q\x62\0\xc8\x40\x14\x14"
                b"\x01\x80\0\0\0\x07\x0d"
                b"\x01\x80\0\0\0\x07\xe0\0\0\0\x02ho\x0b"
                b"\x01\x80\0\0\0\0\xa0\x01q\xe0\0\0\0\x01x\x21\x0a"
            )

    run(work())
