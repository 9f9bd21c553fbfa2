"""The stream on real servers of NATS: what `stream.py` promises, also while servers are killed."""

from __future__ import annotations

import asyncio
import itertools
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pytest

pytest.importorskip("nats", reason="needs nats-py")

from penstock.auth.self_signed import make
from penstock.cluster.appender import Appender
from penstock.cluster.connection import NatsOptions, parse_servers
from penstock.cluster.encoding import FOREIGN
from penstock.cluster.jetstream import JetStream
from penstock.cluster.stream import BLOCKS, Answer, Beat, Found, Refused, Stored, StreamMessage, Unknown
from penstock.errors import ClusterError

from .servers import HOST, Servers, find_program

pytestmark = [
    pytest.mark.process,
    pytest.mark.timeout(240),
    pytest.mark.skipif(find_program() is None, reason="needs nats-server"),
]

PATIENCE_SECONDS = 60.0

T = TypeVar("T")

names = (f"test-{number}" for number in itertools.count(1))


class Reports(list[tuple[str, str, dict[str, object]]]):
    def __call__(self, level: str, event: str, details: dict[str, object]) -> None:
        self.append((level, event, details))

    def events(self) -> list[str]:
        return [event for _, event, _ in self]


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    """Three servers for all tests that leave them alone. Each test uses a stream of its own."""
    with Servers(tmp_path_factory.mktemp("three"), 3) as servers:
        yield servers


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    with Servers(tmp_path_factory.mktemp("one")) as servers:
        yield servers


@asynccontextmanager
async def connected(servers: Servers, name: str = "", **options: Any) -> AsyncIterator[JetStream]:
    nats = NatsOptions(servers.addresses, **{"replicas": len(servers.servers), **options})
    stream = await JetStream.connect(nats, name or next(names), Reports(), PATIENCE_SECONDS)
    try:
        yield stream
    finally:
        await stream.close()


def run(test: Coroutine[Any, Any, None]) -> None:
    asyncio.run(test)


def message(number: int, lead: str = "a", data: bytes = b"x") -> StreamMessage:
    return StreamMessage(BLOCKS, lead, term=1, number=number, position=10 * number, segment="s.log", data=data)


def answered(ask: Callable[[Callable[[T], None]], None]) -> asyncio.Future[T]:
    """The answer. A second one would be an InvalidStateError."""
    future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
    ask(future.set_result)
    assert not future.done(), "the answer came inside the call"
    return future


def append(stream: JetStream, message: StreamMessage, after: int) -> Awaitable[Answer]:
    return answered(lambda answer: stream.append(message, after, answer))


def look(stream: JetStream, sequence: int) -> Awaitable[Found | Unknown]:
    return answered(lambda answer: stream.look(sequence, answer))


async def first(stream: JetStream) -> int | Unknown:
    extent = await answered(stream.extent)
    return extent if isinstance(extent, Unknown) else extent.first


async def fill(stream: JetStream, count: int) -> None:
    """So many messages, numbered from 1 like their places in an empty stream."""
    for begin in range(0, count, 8):
        block = range(begin, min(begin + 8, count))
        answers = await asyncio.gather(*[append(stream, message(after + 1), after) for after in block])
        assert answers == [Stored(after + 1) for after in block]


async def until(condition: Callable[[], bool]) -> None:
    async def ask() -> bool:
        return condition()

    await until_it_says(ask, True)


async def until_it_says(ask: Callable[[], Awaitable[object]], answer: object) -> None:
    """Ask until this is the answer. These tests run on busy machines: nothing else limits the time."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while await ask() != answer:  # noqa: ASYNC110 what is asked is mostly in another process
            await asyncio.sleep(0.02)


async def until_first_is(stream: JetStream, sequence: int) -> None:
    await until_it_says(lambda: first(stream), sequence)


async def append_in_the_end(stream: JetStream, message: StreamMessage, after: int) -> None:
    """Append a message again and again, until it is stored where it should be."""
    await until_it_says(lambda: append(stream, message, after), Stored(after + 1))


class Read(list[tuple[int, str]]):
    """What a reading has handed out: numbers and ids."""

    def __init__(self, stream: JetStream, after: int = 0) -> None:
        self.messages: list[StreamMessage] = []
        self.reading = stream.read(after, self._take)

    def _take(self, sequence: int, message: StreamMessage) -> None:
        self.append((sequence, message.id))
        self.messages.append(message)

    async def until_there_are(self, count: int) -> None:
        await until(lambda: len(self) >= count)


# -- appending ------------------------------------------------------------------------------------------------------


def test_appends_in_flight_are_stored_in_order(three: Servers) -> None:
    async def test() -> None:
        async with connected(three) as stream:
            answers = await asyncio.gather(*[append(stream, message(number), number) for number in range(20)])
            assert answers == [Stored(number + 1) for number in range(20)]
            assert await look(stream, 7) == Found(message(6))

    run(test())


def test_the_largest_message_is_stored(three: Servers) -> None:
    async def test() -> None:
        async with connected(three) as stream:
            assert stream.data_max == 512 << 10
            largest = message(0, data=bytes(range(256)) * (stream.data_max // 256))
            assert await append(stream, largest, 0) == Stored(1)
            read = Read(stream)
            await until(lambda: len(read) == 1)
            assert read.messages == [largest]
            found = await look(stream, 1)
            assert isinstance(found, Found)
            assert found.message is not None
            assert found.message.data == largest.data

    run(test())


def test_an_append_behind_somebody_elses_is_refused(three: Servers) -> None:
    async def test() -> None:
        async with connected(three) as stream:
            await fill(stream, 3)
            assert await append(stream, message(0, "b"), 2) == Refused()
            assert await append(stream, message(0, "b"), 4) == Refused()
            assert await look(stream, 4) == Found(None)

    run(test())


def test_the_same_append_again_gets_the_number_of_the_first(three: Servers) -> None:
    async def test() -> None:
        async with connected(three) as stream:
            await fill(stream, 3)
            assert await append(stream, message(2), 1) == Stored(2)
            assert await append(stream, message(2), 3) == Stored(2)
            assert await append(stream, message(2), 99) == Stored(2)
            assert await look(stream, 4) == Found(None)

    run(test())


def test_a_refused_append_is_stored_later_behind_another_one(three: Servers) -> None:
    async def test() -> None:
        async with connected(three) as stream:
            await fill(stream, 3)
            assert await append(stream, message(0, "b"), 1) == Refused()
            assert await append(stream, message(0, "b"), 3) == Stored(4)

    run(test())


def test_appends_behind_one_that_is_missing_are_refused_until_it_comes(three: Servers) -> None:
    async def test() -> None:
        async with connected(three) as stream:
            behind = await asyncio.gather(*[append(stream, message(number), number - 1) for number in (2, 3)])
            assert behind == [Refused(), Refused()]
            every = await asyncio.gather(*[append(stream, message(number), number - 1) for number in (1, 2, 3)])
            assert every == [Stored(1), Stored(2), Stored(3)]

    run(test())


def test_an_append_behind_a_refused_one_may_be_stored(three: Servers) -> None:
    """Numbers are compared, not contents: this is why readers pass over what does not follow (`history.py`)."""

    async def test() -> None:
        async with connected(three) as stream:
            await fill(stream, 3)
            assert await append(stream, message(0, "new"), 3) == Stored(4)
            late = [append(stream, message(4, "old"), 3), append(stream, message(5, "old"), 4)]
            assert await asyncio.gather(*late) == [Refused(), Stored(5)]

    run(test())


def test_of_two_that_append_exactly_one_wins_each_number(three: Servers) -> None:
    async def test() -> None:
        name = next(names)
        won: dict[str, list[int]] = {"a": [], "b": []}

        async def write(stream: JetStream, lead: str) -> None:
            numbers = itertools.count()
            after = 0
            while after < 40:
                answer = await append(stream, message(next(numbers), lead), after)
                if isinstance(answer, Stored):
                    won[lead].append(answer.sequence)
                    assert answer.sequence == after + 1
                after += isinstance(answer, Stored | Refused)

        async with connected(three, name) as a, connected(three, name) as b:
            await asyncio.gather(write(a, "a"), write(b, "b"))
            assert sorted(won["a"] + won["b"]) == list(range(1, 41))
            for lead, numbers in won.items():
                for number in numbers:
                    found = await look(a, number)
                    assert isinstance(found, Found)
                    assert found.message is not None
                    assert found.message.lead == lead

    run(test())


def test_after_close_nothing_is_left_without_an_answer(three: Servers) -> None:
    async def test() -> None:
        async with connected(three) as stream:
            asked = [append(stream, message(number), number) for number in range(5)]
            asked_more = [look(stream, 1), answered(stream.extent)]
        answers = await asyncio.gather(*asked)
        assert all(isinstance(answer, Stored | Unknown) for answer in answers)
        await asyncio.gather(*asked_more)
        assert isinstance(await append(stream, message(9), 9), Unknown)
        assert isinstance(await look(stream, 1), Unknown)
        assert isinstance(await first(stream), Unknown)
        assert not stream.is_connected

    run(test())


# -- reading, looking, deleting -------------------------------------------------------------------------------------


def test_reading_begins_in_the_middle_and_goes_on(three: Servers) -> None:
    async def test() -> None:
        async with connected(three) as stream:
            await fill(stream, 20)
            read = Read(stream, after=12)
            await until(lambda: len(read) == 8)
            assert read == [(number, message(number).id) for number in range(13, 21)]
            assert await append(stream, message(21), 20) == Stored(21)
            await until(lambda: len(read) == 9)
            assert read[-1] == (21, message(21).id)
            assert read.messages[0] == message(13)

    run(test())


def test_reading_passes_over_what_was_deleted(three: Servers) -> None:
    async def test() -> None:
        async with connected(three) as stream:
            await fill(stream, 20)
            stream.delete(1, 6)
            await until_first_is(stream, 6)
            stream.delete(8, 11)
            await until_it_says(lambda: look(stream, 8), Found(None))
            await until_it_says(lambda: look(stream, 10), Found(None))
            read = Read(stream, after=3)
            await read.until_there_are(12)
            assert [number for number, _ in read] == [6, 7, *range(11, 21)]

    run(test())


def test_a_reading_that_was_stopped_hands_out_nothing(three: Servers) -> None:
    async def test() -> None:
        async with connected(three) as stream:
            await fill(stream, 3)
            stopped, other = Read(stream), Read(stream)
            stopped.reading.stop()
            assert await append(stream, message(4), 3) == Stored(4)
            await until(lambda: len(other) == 4)
            assert stopped == []

    run(test())


def test_more_is_read_than_is_asked_for_at_once(three: Servers) -> None:
    async def test() -> None:
        async with connected(three) as stream:
            size, count = 256 << 10, 48  # 12 MiB
            for after in range(count):
                assert await append(stream, message(after + 1, data=bytes(size)), after) == Stored(after + 1)
            read = Read(stream)
            await until(lambda: len(read) == count)
            assert [number for number, _ in read] == list(range(1, count + 1))
            assert all(len(each.data) == size for each in read.messages)

    run(test())


def test_what_somebody_else_published_is_handed_out_as_foreign(three: Servers) -> None:
    async def test() -> None:
        async with connected(three) as stream:
            await fill(stream, 1)
            stream._connection.send(stream._subject, b"hello")
            read = Read(stream)
            await until(lambda: len(read) == 2)
            assert [each.kind for each in read.messages] == [BLOCKS, FOREIGN]
            assert await look(stream, 2) == Found(replace(read.messages[1], data=b"hello"))

    run(test())


def test_the_oldest_message(three: Servers) -> None:
    async def test() -> None:
        async with connected(three) as stream:
            assert await first(stream) == 1
            await fill(stream, 9)
            assert await first(stream) == 1
            stream.delete(1, 4)
            await until_first_is(stream, 4)
            stream.delete(2, 10)
            await until_first_is(stream, 10)
            assert await look(stream, 9) == Found(None)
            assert await append(stream, message(10), 9) == Stored(10)
            assert await first(stream) == 10

    run(test())


def test_a_range_in_the_middle_is_deleted_and_nothing_else(three: Servers) -> None:
    async def test() -> None:
        async with connected(three) as stream:
            await fill(stream, 60)
            stream.delete(2, 2)
            stream.delete(5, 50)
            stream.delete(5, 52)  # most of it is deleted already
            stream.delete(1, 3)
            await until_first_is(stream, 3)
            read = Read(stream)
            await read.until_there_are(11)
            assert [number for number, _ in read] == [3, 4, *range(52, 61)]

    run(test())


# -- beats ----------------------------------------------------------------------------------------------------------


def test_all_nodes_hear_beats_and_nobody_hears_malformed_ones(three: Servers) -> None:
    async def test() -> None:
        name = next(names)
        async with connected(three, name) as a, connected(three, name) as b, connected(three) as other:
            heard: dict[str, list[Beat]] = {"a": [], "b": [], "other": []}
            a.hear(heard["a"].append)
            b.hear(heard["b"].append)
            other.hear(heard["other"].append)
            beat = Beat("a-1", 1, "a", 4711, {"mqks": "h1:4000"})
            async with asyncio.timeout(PATIENCE_SECONDS):
                while beat not in heard["b"]:  # servers may not know of each other's subscriptions yet
                    a._connection.send(a._beats, b'{"lead": 1}')
                    a.beat(beat)
                    await asyncio.sleep(0.05)
            await until(lambda: bool(heard["a"]))
            assert set(map(repr, heard["a"] + heard["b"])) == {repr(beat)}
            assert heard["other"] == []

    run(test())


# -- what happens to servers ----------------------------------------------------------------------------------------


async def leader_of(stream: JetStream) -> str:
    """The name of the server that leads the stream, once all three are up to date."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            try:
                cluster = (await stream._info(1.0))["cluster"]
                if cluster.get("leader") and [each["current"] for each in cluster["replicas"]] == [True, True]:
                    return str(cluster["leader"])
            except Exception:
                await asyncio.sleep(0.1)


class Writer:
    """Appends without end, four in flight, and again whatever got no answer, with the same id."""

    def __init__(self, stream: JetStream) -> None:
        self.stored: list[tuple[int, str]] = []
        self.given_up: list[str] = []
        self._appender = Appender(stream, 0, self.given_up.append)
        self._task = asyncio.create_task(self._run())

    async def _run(self) -> None:
        for number in itertools.count(1):
            sent = message(number, data=bytes(2000))
            self._appender.send(sent, partial(self._on_stored, sent.id))
            while self._appender.count >= 4:
                await asyncio.sleep(0.05)
                self._appender.retry()

    def _on_stored(self, id: str, sequence: int) -> None:
        self.stored.append((sequence, id))

    async def store(self, count: int) -> None:
        """Wait until so many more are stored."""
        enough = len(self.stored) + count
        await until(lambda: len(self.stored) >= enough)

    async def stop(self) -> None:
        """Send nothing new, and wait until all is stored."""
        self._task.cancel()
        async with asyncio.timeout(PATIENCE_SECONDS):
            while self._appender.count:
                await asyncio.sleep(0.05)
                self._appender.retry()
        assert self.given_up == []


@pytest.mark.parametrize("how", ["kill", "pause"])
def test_nothing_is_lost_while_the_leader_of_the_stream_is_down(tmp_path: Path, how: str) -> None:
    async def test(servers: Servers) -> None:
        name = next(names)
        async with connected(servers, name) as stream, connected(servers, name) as follower:
            writer, read = Writer(stream), Read(follower)
            for _ in range(2):
                leader = servers.named(await leader_of(stream))
                await writer.store(20)
                leader.kill() if how == "kill" else leader.pause()
                # The servers elect another leader: the stream goes on without this one.
                await writer.store(40)
                leader.start() if how == "kill" else leader.resume()
            await writer.stop()
            # In order, each once, each where its answer said.
            count = len(writer.stored)
            assert writer.stored == [(number, message(number).id) for number in range(1, count + 1)]
            await read.until_there_are(count)
            assert read == writer.stored
            again = Read(stream)
            await again.until_there_are(count)
            assert again == writer.stored

    with Servers(tmp_path, 3) as servers:
        run(test(servers))


def test_reading_goes_on_whichever_server_is_killed(tmp_path: Path) -> None:
    async def test(servers: Servers) -> None:
        async with connected(servers) as stream:
            read, last = Read(stream), 0
            for server in servers.servers:
                await leader_of(stream)
                server.kill()
                for number in range(last + 1, last + 6):
                    await append_in_the_end(stream, message(number), number - 1)
                last += 5
                await read.until_there_are(last)
                server.start()
            assert read == [(number, message(number).id) for number in range(1, last + 1)]

    with Servers(tmp_path, 3) as servers:
        run(test(servers))


def test_a_server_that_does_not_answer_any_more_is_left(tmp_path: Path) -> None:
    """Even if it still owes us room for megabytes that we have sent."""

    async def test(servers: Servers) -> None:
        async with connected(servers) as stream:
            await leader_of(stream)
            place = stream._connection._server()
            server = next(server for server in servers.servers if place.endswith(str(server.port)))
            server.pause()
            large = [append(stream, message(n + 1, data=bytes(stream.data_max)), n) for n in range(40)]
            assert all(isinstance(answer, Unknown) for answer in await asyncio.gather(*large))
            await until(lambda: stream.is_connected and stream._connection._server() != place)
            await append_in_the_end(stream, message(1), 0)
            server.resume()

    with Servers(tmp_path, 3) as servers:
        run(test(servers))


def test_without_any_server_appends_are_unknown_at_once_and_go_on_later(tmp_path: Path) -> None:
    async def test(servers: Servers) -> None:
        async with connected(servers) as stream:
            await fill(stream, 2)
            read = Read(stream)
            await until(lambda: len(read) == 2)
            servers.servers[0].kill()
            await until(lambda: not stream.is_connected)
            assert isinstance(await append(stream, message(3), 2), Unknown)
            assert isinstance(await look(stream, 1), Unknown)
            servers.servers[0].start()
            await until(lambda: stream.is_connected)
            await append_in_the_end(stream, message(3), 2)
            await until(lambda: len(read) == 3)

    with Servers(tmp_path) as servers:
        run(test(servers))


def test_deletes_wait_until_the_stream_is_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.cluster.jetstream.DELETE_AGAIN_SECONDS", 0.1)

    async def test(servers: Servers) -> None:
        reports = Reports()
        stream = await JetStream.connect(NatsOptions(servers.addresses, replicas=1), "test", reports)
        await fill(stream, 9)
        servers.servers[0].kill()
        await until(lambda: not stream.is_connected)
        stream.delete(1, 5)
        await until(lambda: "cluster.delete_failed" in reports.events())
        servers.servers[0].start()
        await until_first_is(stream, 5)
        assert reports.events().count("cluster.delete_failed") == 1
        await stream.close()

    with Servers(tmp_path) as servers:
        run(test(servers))


# -- connecting -----------------------------------------------------------------------------------------------------


def test_a_stream_keeps_its_id_until_it_is_made_anew(three: Servers) -> None:
    async def test() -> None:
        name = next(names)
        async with connected(three, name) as a, connected(three, name) as b:
            assert len(a.log_id) == 32
            assert a.log_id == b.log_id
            assert a.replicas == 3
            await a._requests.call(f"STREAM.DELETE.{a._name}", {})
        async with connected(three, name) as c:
            assert c.log_id not in ("", a.log_id)

    run(test())


def test_nodes_that_come_at_once_make_one_stream(three: Servers) -> None:
    async def test() -> None:
        name = next(names)
        async with connected(three, name) as a, connected(three, name) as b, connected(three, name) as c:
            assert {b.log_id, c.log_id} == {a.log_id}

    run(test())


def test_few_replicas_are_reported(one: Servers) -> None:
    async def test() -> None:
        reports = Reports()
        stream = await JetStream.connect(NatsOptions(one.addresses, replicas=1), next(names), reports)
        assert reports.events() == ["cluster.few_replicas"]
        await stream.close()

    run(test())


def refusal(options: NatsOptions, name: str = "", seconds: float = 10.0) -> str:
    """What a connection fails with: one line, soon."""

    async def connect() -> None:
        stream = await JetStream.connect(options, name or next(names), Reports(), seconds)
        await stream.close()

    with pytest.raises(ClusterError) as caught:
        asyncio.run(connect())
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_nobody_is_there() -> None:
    options = NatsOptions(parse_servers(f"nats://{HOST}:1,{HOST}:2"))
    assert refusal(options, seconds=1) == (f"no NATS server can be reached at {HOST}:1, {HOST}:2: Connection refused")


def test_three_replicas_need_three_servers(one: Servers) -> None:
    assert "cannot keep 3 replicas of the stream" in refusal(NatsOptions(one.addresses))


def test_a_name_that_is_none(one: Servers) -> None:
    assert "cannot be the name of a cluster" in refusal(NatsOptions(one.addresses), "a.b")


def test_jetstream_is_not_enabled(tmp_path: Path) -> None:
    with Servers(tmp_path, jetstream=False) as servers:
        assert "JetStream is not enabled" in refusal(NatsOptions(servers.addresses))


@pytest.mark.parametrize("subject", ["penstock.{name}.log", "other.{name}"])
def test_a_stream_of_this_name_is_not_ours(one: Servers, subject: str) -> None:
    name = next(names)

    async def make_stream() -> None:
        async with connected(one) as stream:
            config = {"name": f"penstock-{name}", "subjects": [subject.format(name=name)], "storage": "memory"}
            await stream._requests.call(f"STREAM.CREATE.penstock-{name}", config)

    run(make_stream())
    assert "is not a log of Penstock" in refusal(NatsOptions(one.addresses, replicas=1), name)


def test_the_subject_belongs_to_another_stream(one: Servers) -> None:
    name = next(names)

    async def make_stream() -> None:
        async with connected(one) as stream:
            config = {"name": f"other-{name}", "subjects": [f"penstock.{name}.>"], "storage": "memory"}
            await stream._requests.call(f"STREAM.CREATE.other-{name}", config)

    run(make_stream())
    assert "belongs to another JetStream stream" in refusal(NatsOptions(one.addresses, replicas=1), name)


def test_users_with_passwords(tmp_path: Path) -> None:
    right, wrong = tmp_path / "right", tmp_path / "wrong"
    right.write_text("secret\n")
    wrong.write_text("guess\n")

    async def test(servers: Servers) -> None:
        async with connected(servers, user="ann", password_file=right) as stream:
            assert await append(stream, message(1), 0) == Stored(1)

    with Servers(tmp_path, more="authorization { user: ann, password: secret }") as servers:
        run(test(servers))
        options = NatsOptions(servers.addresses, user="ann", password_file=wrong)
        assert refusal(options) == f"NATS at {HOST}:{servers.servers[0].port} does not accept the credentials"
        assert "does not accept the credentials" in refusal(NatsOptions(servers.addresses))
        assert "cannot read" in refusal(replace(options, password_file=tmp_path / "none"))


def test_a_token(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("secret\n")

    async def test(servers: Servers) -> None:
        async with connected(servers, token_file=tmp_path / "token") as stream:
            assert await append(stream, message(1), 0) == Stored(1)

    with Servers(tmp_path, more="authorization { token: secret }") as servers:
        run(test(servers))


def test_an_nkey(tmp_path: Path) -> None:
    nkeys = pytest.importorskip("nkeys")
    seed = nkeys.encode_seed(bytes(range(32)), nkeys.PREFIX_BYTE_USER)
    (tmp_path / "nkey").write_bytes(bytes(seed) + b"\n")
    public = nkeys.from_seed(bytearray(seed)).public_key.decode()

    async def test(servers: Servers) -> None:
        async with connected(servers, nkey_file=tmp_path / "nkey") as stream:
            assert await append(stream, message(1), 0) == Stored(1)

    with Servers(tmp_path, more=f"authorization {{ users: [ {{ nkey: {public} }} ] }}") as servers:
        run(test(servers))
        assert "does not accept the credentials" in refusal(NatsOptions(servers.addresses))


def test_tls_with_certificates_of_clients(tmp_path: Path) -> None:
    for name, content in make([HOST], "node", days=1).items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "other.pem").write_bytes(make([HOST], "node", days=1)["ca.pem"])
    tls = f"""
    tls {{
      cert_file: "{tmp_path}/server.pem"
      key_file: "{tmp_path}/server.key"
      ca_file: "{tmp_path}/ca.pem"
      verify: true
    }}
    """
    files: dict[str, Any] = {
        "ca_file": tmp_path / "ca.pem",
        "cert_file": tmp_path / "client.pem",
        "key_file": tmp_path / "client.key",
    }

    async def test(servers: Servers) -> None:
        async with connected(servers, **files) as stream:
            assert await append(stream, message(1, data=bytes(300_000)), 0) == Stored(1)

    with Servers(tmp_path, more=tls) as servers:
        run(test(servers))
        options = NatsOptions(servers.addresses, ca_file=tmp_path / "other.pem")
        assert "its certificate is not valid: unable to get local issuer certificate" in refusal(options)
        assert "cannot use certificate" in refusal(replace(options, cert_file=tmp_path / "none"))
        assert "cannot use CA file" in refusal(replace(options, ca_file=tmp_path / "none"))


def test_nothing_is_sent_to_a_server_without_tls_if_tls_is_wanted(one: Servers) -> None:
    servers = parse_servers(f"tls://{HOST}:{one.servers[0].port}")
    assert "the server does not offer TLS" in refusal(NatsOptions(servers))


def test_a_password_is_read_again_for_each_connection(tmp_path: Path) -> None:
    password = tmp_path / "password"
    password.write_text("old")

    async def test(servers: Servers) -> None:
        async with connected(servers, user="ann", password_file=password) as stream:
            await fill(stream, 2)
            read = Read(stream)
            servers.servers[0].change(("password: old", "password: new"))  # which ends our connection
            await until(lambda: not stream.is_connected)
            password.unlink()
            await asyncio.sleep(0.5)
            password.write_text("new")
            await until(lambda: stream.is_connected)
            await append_in_the_end(stream, message(3), 2)
            await read.until_there_are(3)

    with Servers(tmp_path, more="authorization { user: ann, password: old }") as servers:
        run(test(servers))


def test_a_client_that_nats_py_has_given_up_is_replaced(one: Servers) -> None:
    """What a server says before it ends a connection is mostly final for nats-py."""

    async def test() -> None:
        reports = Reports()
        stream = await JetStream.connect(NatsOptions(one.addresses, replicas=1), next(names), reports)
        heard: list[Beat] = []
        stream.hear(heard.append)
        await fill(stream, 2)
        read = Read(stream)
        await read.until_there_are(2)
        client = stream._connection._client
        await client._process_err("'user authentication expired'")
        await until(lambda: "cluster.nats_connected" in reports.events())
        assert client.is_closed
        assert reports.events()[1:] == ["cluster.nats_disconnected", "cluster.nats_gave_up", "cluster.nats_connected"]
        await append_in_the_end(stream, message(3), 2)
        stream.beat(Beat("a", 1, "a", 0))
        await until(lambda: len(read) == 3 and len(heard) == 1)
        await stream.close()

    run(test())


def test_a_message_that_became_too_large_is_not_sent(tmp_path: Path) -> None:
    async def test(servers: Servers) -> None:
        async with connected(servers) as stream:
            await fill(stream, 2)
            too_large = message(3, data=bytes(stream.data_max))
            servers.servers[0].kill()
            await until(lambda: not stream.is_connected)
            servers.servers[0].start()
            await until(lambda: stream.is_connected)
            assert stream.data_max == 60 << 10
            assert isinstance(await append(stream, too_large, 2), Unknown)
            assert stream.is_connected
            await append_in_the_end(stream, message(3), 2)

    with Servers(tmp_path, more="max_payload: 1MB") as servers:
        server = servers.servers[0]
        server.change(("max_payload: 1MB", "max_payload: 64KB"), now=False)
        run(test(servers))


def test_without_nats_py_the_extra_is_named() -> None:
    program = """
import sys
sys.modules["nats"] = None
from penstock.errors import ClusterError
try:
    import penstock.cluster.jetstream
except ClusterError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("pip install 'penstock-mq[cluster]'")


@pytest.mark.parametrize(
    ("text", "servers"),
    [
        ("nats://h1:4222", ("nats://h1:4222",)),
        ("nats://h1:4001,h2:4002, h3", ("nats://h1:4001", "nats://h2:4002", "nats://h3:4222")),
        ("tls://h1,h2,", ("tls://h1:4222", "tls://h2:4222")),
        ("h1", ("nats://h1:4222",)),
        ("nats://[::1]:4001,[::2]", ("nats://[::1]:4001", "nats://[::2]:4222")),
        ("nats://ann:secret@h1", ("nats://ann:secret@h1:4222",)),
    ],
)
def test_servers_in_one_line(text: str, servers: tuple[str, ...]) -> None:
    assert parse_servers(text) == servers


@pytest.mark.parametrize("text", ["", ",", "http://h1", "nats://", "nats://h1:x", "nats://h1:99999", "nats://h1/path"])
def test_servers_that_are_none(text: str) -> None:
    with pytest.raises(ClusterError):
        parse_servers(text)


def test_passwords_are_not_shown() -> None:
    options = NatsOptions(parse_servers("nats://ann:secret@h1,h2"))
    assert options.places == "h1:4222, h2:4222"


def test_the_description_of_a_stream_is_json(three: Servers) -> None:
    """The configuration that we ask for is the one that the servers have."""

    async def test() -> None:
        async with connected(three) as stream:
            config = (await stream._info())["config"]
            for name, value in stream._config(3).items():
                if name != "metadata":
                    assert config.get(name, 0 if value == 0 else None) == value, json.dumps(config)

    run(test())
