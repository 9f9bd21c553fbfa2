"""Clients of all protocols that say who they are: let in, not let in, shown out, not allowed; with TLS and without."""

import asyncio
import contextlib
import inspect
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock.auth.self_signed import make
from penstock.client import (
    AuthFailed,
    ClientError,
    ConnectFailed,
    ConnectionLost,
    Denied,
    Options,
    ServerError,
    Timeout,
    TlsFailed,
    mqks,
    mqmq,
    rq,
    sevx,
    smqs,
)
from penstock.testing import Broker

from .conftest import until

MODULES: dict[str, Any] = {"mqks": mqks, "sevx": sevx, "smqs": smqs, "mqmq": mqmq, "rq": rq}
FACES = ("async", "sync")
ALL = ["publish *", "consume *", "declare *", "delete *", "browse *"]
QUICK: dict[str, Any] = {"reconnect_min": 0.005, "reconnect_max": 0.05, "timeout": 20.0}

Act = Callable[[Any], Any]

# Something that is answered when it was allowed.
SEND: dict[str, Act] = {
    "mqks": lambda client: client.publish("e", "x", confirm=True),
    "sevx": lambda client: client.send({"event": "e"}, wait=True),
    "smqs": lambda client: client.publish("jobs", 1, confirm=True),
    "mqmq": lambda client: client.put("jobs", b"x"),
    "rq": lambda client: client.send("jobs", b"x"),
}
TAKE: dict[str, Act] = {
    "mqks": lambda client: client.consume("bound", ["e"]),
    "sevx": lambda client: (
        client.on({"event": "e"}, queue="bound", wait=True)(print)
        if isinstance(client, sevx.Client)
        else client.receive({"event": "e"}, queue="bound")
    ),
    "smqs": lambda client: first_of(client),
    "mqmq": lambda client: client.get("jobs", 0.01),
    "rq": lambda client: client.consume("jobs"),
}


def first_of(client: Any) -> Any:
    """SMQS does not say whether one may consume before it has something to say."""
    if isinstance(client, smqs.Client):
        return client.consume("jobs").get(timeout=20)

    async def work() -> object:
        return await (await client.consume("jobs")).get(timeout=20)

    return work()


def attempt(protocol: str, face: str, address: str, options: Options, *acts: Act) -> object:
    """Connect, do it, and close."""
    if face == "sync":
        client = MODULES[protocol].Client(options)
        try:
            client.connect(address)
            return [act(client) for act in acts][-1]
        finally:
            client.close()

    async def work() -> object:
        client = MODULES[protocol].AsyncClient(options)
        try:
            await client.connect(address)
            found = None
            for act in acts:
                found = act(client)
                if inspect.isawaitable(found):
                    found = await found
            return found
        finally:
            await client.close()

    return asyncio.run(asyncio.wait_for(work(), 50))


@pytest.fixture(scope="module")
def guarded() -> Iterator[Broker]:
    with Broker(users={"alice": ALL, "bob": []}) as running:
        yield running


@pytest.fixture(scope="module")
def secure() -> Iterator[Broker]:
    with Broker(users={"alice": ALL, "bob": []}, tls=True, client="worker-1") as running:
        running.people.certify("alice", "CN:worker-1")
        yield running


@pytest.fixture(scope="module")
def strangers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Certificates of a CA that nobody knows."""
    directory = tmp_path_factory.mktemp("strangers")
    for name, text in make(["localhost", "127.0.0.1"], "worker-1", 2).items():
        (directory / name).write_bytes(text)
    return directory


def secret_of(token: str) -> str:
    return token.split("_", 2)[2]


# -- tokens -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("door", ["own", "any"])
@pytest.mark.parametrize("protocol", MODULES)
def test_a_right_token_opens_the_door(guarded: Broker, protocol: str, door: str, face: str) -> None:
    address = guarded.address(protocol if door == "own" else "any")
    attempt("mqmq", "sync", guarded.address("mqmq"), guarded.options("alice"), SEND["mqmq"])  # something to take
    attempt(protocol, face, address, guarded.options("alice", **QUICK), SEND[protocol], TAKE[protocol])


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("protocol", MODULES)
def test_a_wrong_token_is_an_error_at_once_and_is_not_shown_again(guarded: Broker, protocol: str, face: str) -> None:
    wrong = guarded.people.tokens["alice"][:-4] + "AAAA"
    before = len(failures(guarded))
    with pytest.raises(AuthFailed, match="rejects this client") as refused:
        attempt(protocol, face, guarded.address(protocol), Options(token=wrong, **QUICK), SEND[protocol])
    assert wrong[:12] in str(refused.value)  # its name, which is no secret
    assert secret_of(wrong) not in repr(refused.value)
    assert len(failures(guarded)) == before + 1


def failures(broker: Broker) -> list[dict[str, object]]:
    return [details for _, event, details in broker.reports if event == "audit.auth_failed"]


@pytest.mark.parametrize("protocol", ["mqks", "sevx", "smqs", "mqmq"])
def test_without_a_token_a_request_is_refused_with_what_to_do(guarded: Broker, protocol: str) -> None:
    with pytest.raises(Denied, match="give a token"):
        attempt(protocol, "async", guarded.address(protocol), Options(**QUICK), SEND[protocol])


def test_rq_without_a_token_is_silence_and_says_what_it_may_be(guarded: Broker) -> None:
    async def work() -> None:
        client = await rq.connect(guarded.address("rq"), options=Options(**QUICK))
        async with client:
            asked = asyncio.create_task(client.send("jobs", b"x"))
            await until(lambda: "the server may require a token" in client._session.link.trouble)
            asked.cancel()

    asyncio.run(work())


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("protocol", MODULES)
def test_a_token_that_is_revoked_ends_the_client(guarded: Broker, protocol: str, face: str) -> None:
    token = guarded.people.new_token("alice")
    revoked = threading.Event()

    def revoke(client: object) -> None:
        guarded.people.revoke_token(token)
        revoked.set()

    with pytest.raises(AuthFailed, match=token[:12]):
        attempt(
            protocol, face, guarded.address(protocol), Options(token=token, **QUICK),
            SEND[protocol], revoke, insisting(SEND[protocol], face),
        )  # fmt: skip
    assert revoked.is_set()


def insisting(act: Act, face: str) -> Act:
    """What a server says to a client that it shows out may be taken for the answer to what was just asked."""

    def now(client: Any) -> Any:
        try:
            return act(client)
        except Denied:
            return act(client)

    async def soon(client: Any) -> Any:
        try:
            return await act(client)
        except Denied:
            return await act(client)

    return now if face == "sync" else soon


@pytest.mark.parametrize("protocol", ["mqks", "sevx", "smqs", "rq"])
def test_a_consumer_whose_token_is_revoked_ends_and_says_why(guarded: Broker, protocol: str) -> None:
    async def work() -> None:
        token = guarded.people.new_token("alice")
        client = MODULES[protocol].AsyncClient(Options(token=token, **QUICK))
        try:
            await client.connect(guarded.address(protocol))
            consumer = await {
                "mqks": lambda: client.consume("alone", ["nothing"]),
                "sevx": lambda: client.receive({"event": "nothing"}, queue="alone2"),
                "smqs": lambda: client.consume("alone3"),
                "rq": lambda: client.consume("alone4"),
            }[protocol]()
            waiting = asyncio.create_task(consumer.get())
            await asyncio.to_thread(guarded.people.revoke_token, token)
            with pytest.raises(AuthFailed, match=token[:12]):
                await waiting
            with pytest.raises(AuthFailed):
                async for _ in consumer:
                    pass
        finally:
            await client.close()

    asyncio.run(asyncio.wait_for(work(), 50))


def test_whoever_publishes_without_waiting_is_told_too(guarded: Broker) -> None:
    token = guarded.people.new_token("alice")
    with mqks.Client(Options(token=token, **QUICK)) as client:
        client.connect(guarded.address("mqks"))
        client.publish("e", "x")
        client.flush()
        guarded.people.revoke_token(token)
        with pytest.raises(AuthFailed):
            client.publish("e", "x", confirm=True)
        with pytest.raises(AuthFailed):
            client.publish("e", "x")
        with pytest.raises(AuthFailed):
            client.consume("q", ["e"])


def test_a_token_is_replaced_without_anybody_noticing(guarded: Broker) -> None:
    old = guarded.people.new_token("alice")
    file = guarded.token_file("alice")
    with mqks.Client(Options(token_file=file, **QUICK)) as client:
        client.connect(guarded.address("mqks"))
        client.publish("e", "x", confirm=True)
        guarded.people.new_token("alice")
        assert guarded.token_file("alice") == file
        guarded.people.revoke_token(old)
        client.publish("e", "x", confirm=True)


def test_where_a_token_comes_from(guarded: Broker, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def connect(**options: Any) -> None:
        attempt("mqks", "async", guarded.address("mqks"), Options(**QUICK, **options), SEND["mqks"])

    right, empty = guarded.people.tokens["alice"], tmp_path / "empty"
    empty.touch()
    monkeypatch.setenv("PENSTOCK_TOKEN", right)
    connect()
    with pytest.raises(Denied):
        connect(token="")
    monkeypatch.setenv("PENSTOCK_TOKEN", "nonsense")
    with pytest.raises(AuthFailed, match=r"the token \(PENSTOCK_TOKEN\) is wrong"):
        connect()
    monkeypatch.setenv("PENSTOCK_TOKEN_FILE", guarded.token_file("alice"))
    connect()
    monkeypatch.setenv("PENSTOCK_TOKEN_FILE", str(tmp_path / "nowhere"))
    connect(token_file=guarded.token_file("alice"))
    connect(token=right)
    for file, reason in ((tmp_path / "nowhere", "cannot be read: No such file"), (empty, "is empty")):
        with pytest.raises(AuthFailed, match=reason):
            connect(token_file=file)
    with pytest.raises(AuthFailed, match="is not a single word") as refused:
        connect(token="two words")
    assert "two words" not in str(refused.value)


def test_a_token_does_not_show_itself() -> None:
    assert "tell-nobody" not in repr(Options(token="tell-nobody"))


# -- rights -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("protocol", MODULES)
def test_a_missing_right_fails_the_request_alone(guarded: Broker, protocol: str, face: str) -> None:
    refusals: list[ServerError] = []

    def denied(act: Act) -> Act:
        def refuse(client: Any) -> Any:
            found = act(client)

            async def awaited() -> None:
                with pytest.raises(ServerError) as refused:
                    await found
                refusals.append(refused.value)

            return awaited()

        def refuse_now(client: Any) -> None:
            with pytest.raises(ServerError) as refused:
                act(client)
            refusals.append(refused.value)

        return refuse if face == "async" else refuse_now

    rights = ["publish *", "declare *"]

    def grant(client: object) -> None:
        for right in rights:
            guarded.people.grant("bob", right)

    bob = guarded.options("bob", **QUICK)
    try:
        attempt(
            protocol, face, guarded.address(protocol), bob,
            denied(TAKE[protocol]),
            denied(SEND[protocol]),
            grant,
            SEND[protocol],
        )  # fmt: skip
    finally:
        for right in rights:
            guarded.people.revoke("bob", right)
    assert isinstance(refusals[0], Denied)
    assert isinstance(refusals[1], rq.Undelivered if protocol == "rq" else Denied)  # RQ has one word for all of that
    assert "deni" in str(refusals[0]).lower() or protocol == "smqs"


def test_smqs_tells_which_of_many_were_denied(guarded: Broker) -> None:
    async def work() -> None:
        client = smqs.AsyncClient(guarded.options("bob", **QUICK))
        async with client:
            await client.connect(guarded.address("smqs"))
            await client.publish("forbidden", 0)
            sent = [client.publish(queue, 1, confirm=True) for queue in ("mine", "forbidden", "mine", "other")]
            found = await asyncio.gather(*sent, return_exceptions=True)
        assert [type(each) for each in found] == [type(None), Denied, type(None), Denied]
        assert "'forbidden'" in str(found[1])

    guarded.people.grant("bob", "publish queue:mine")
    guarded.people.grant("bob", "declare queue:mine")
    asyncio.run(work())


# -- TLS --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("protocol", ["mqks", "sevx", "smqs", "mqmq"])
def test_over_tls_too_a_request_without_a_token_is_refused_with_what_to_do(
    secure: Broker, protocol: str, face: str
) -> None:
    with pytest.raises(Denied, match="give a token"):
        attempt(protocol, face, secure.address(protocol), secure.options(**QUICK), SEND[protocol])


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("how", ["token", "certificate"])
@pytest.mark.parametrize("protocol", MODULES)
def test_tls_with_a_token_or_a_certificate_alone(secure: Broker, protocol: str, how: str, face: str) -> None:
    options = secure.options("alice", **QUICK) if how == "token" else secure.options(certificate=True, **QUICK)
    attempt(protocol, face, secure.address(protocol), options, SEND[protocol])
    attempt(protocol, face, secure.address("any"), options, SEND[protocol])


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("protocol", MODULES)
def test_a_broker_that_nobody_vouches_for_is_not_told_the_token(
    secure: Broker, strangers: Path, protocol: str, face: str
) -> None:
    options = secure.options("alice", **{**QUICK, "ca_file": strangers / "ca.pem"})
    before = len(secure.reports)
    with pytest.raises(TlsFailed, match=r"its certificate is not trusted: self-signed certificate in .*; set ca_file"):
        attempt(protocol, face, secure.address(protocol), options, SEND[protocol])
    assert [event for _, event, _ in secure.reports[before:] if event.startswith("audit")] == []


@pytest.mark.parametrize("protocol", MODULES)
@pytest.mark.parametrize("token", [True, False])
def test_a_certificate_that_the_broker_does_not_know(
    secure: Broker, strangers: Path, protocol: str, token: bool
) -> None:
    files: dict[str, Any] = {"cert_file": strangers / "client.pem", "key_file": strangers / "client.key"}
    options = secure.options("alice" if token else "", **QUICK, **files)
    with pytest.raises(AuthFailed, match=r"rejected the client certificate.*unknown ca"):
        attempt(protocol, "async", secure.address(protocol), options, SEND[protocol])


@contextlib.contextmanager
def speaker(text: bytes) -> Iterator[str]:
    """A server that says one thing, whatever it is told."""
    with socket.create_server(("127.0.0.1", 0)) as door:

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    client, _ = door.accept()
                    with client:
                        client.recv(4096)
                        client.sendall(text)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"127.0.0.1:{door.getsockname()[1]}"
        door.shutdown(socket.SHUT_RDWR)
        thread.join(20)


def test_what_else_can_be_wrong_with_tls(secure: Broker, tmp_path: Path) -> None:
    def fails(reason: str, address: str = "", kind: type[ClientError] = TlsFailed, **said: Any) -> None:
        options = secure.options("alice", **{**QUICK, **said})
        with pytest.raises(kind, match=reason):
            attempt("mqks", "async", address or secure.address("mqks"), options, SEND["mqks"])

    fails("Hostname mismatch, certificate is not valid for 'elsewhere'", server_hostname="elsewhere")
    fails("self-signed certificate", ca_file="", tls=True)  # by what the system trusts
    with speaker(b"220 no TLS here, I am afraid\r\n") as address:
        fails("the server does not use TLS on this port", address)
    fails("nowhere.pem cannot be read: No such file", ca_file=tmp_path / "nowhere.pem")
    fails("TLS: .*token: ", ca_file=secure.token_file("bob"))
    fails("the server may require TLS", kind=ConnectFailed, ca_file="", tls=False)
    fails("the server may require TLS", f"tcp://{secure.address('mqks')}", ConnectFailed)
    with Broker(users={"alice": ALL}, tls=True, tls_client="required") as strict:
        with pytest.raises(AuthFailed, match=r"or requires one: .*certificate required"):
            attempt("mqks", "async", strict.address("mqks"), strict.options("alice", **QUICK), SEND["mqks"])
        with pytest.raises(AuthFailed, match=r"or requires one: .*certificate required"):
            attempt("mqks", "async", strict.address("mqks"), strict.options(**QUICK), SEND["mqks"])
    for name, text in make(["127.0.0.1"], "worker-1", 0).items():
        (tmp_path / name).write_bytes(text)
    files: dict[str, Any] = {"tls_cert": tmp_path / "server.pem", "tls_key": tmp_path / "server.key"}
    with Broker(insecure=True, **files) as late:
        fails("certificate has expired", late.address("mqks"), ca_file=tmp_path / "ca.pem")


def test_an_address_or_a_context_says_how_to_speak(secure: Broker) -> None:
    context = ssl.create_default_context(cafile=secure.ca_file)
    token = secure.people.tokens["alice"]
    attempt("mqks", "sync", secure.address("mqks"), Options(tls=context, token=token, **QUICK), SEND["mqks"])
    address = f"tls://{secure.address('rq')}"
    attempt("rq", "sync", address, Options(ca_file=secure.ca_file, token=token, tls=False, **QUICK), SEND["rq"])
    with pytest.raises(ValueError, match="'http://x:1' is not a valid address: use host:port, tls://host:port"):
        mqks.Client().connect("http://x:1")


def test_the_environment_says_who_comes(secure: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_CA_FILE", secure.ca_file)
    monkeypatch.setenv("PENSTOCK_TOKEN_FILE", secure.token_file("alice"))
    attempt("mqks", "sync", secure.address("mqks"), Options(**QUICK), SEND["mqks"])
    monkeypatch.delenv("PENSTOCK_TOKEN_FILE")
    monkeypatch.setenv("PENSTOCK_CERT_FILE", str(secure.files / "client.pem"))
    monkeypatch.setenv("PENSTOCK_KEY_FILE", str(secure.files / "client.key"))
    attempt("smqs", "sync", secure.address("smqs"), Options(**QUICK), SEND["smqs"])


# -- other servers ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("protocol", "first"),
    [("mqks", b" publish "), ("sevx", b" send "), ("smqs", b"M:jobs:1\n"), ("mqmq", b"Put"), ("rq", b"\x01\x80")],
)
def test_a_server_that_is_shown_nothing_is_told_nothing_new(protocol: str, first: bytes) -> None:
    async def work() -> None:
        heard = asyncio.get_running_loop().create_future()

        async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            data = await reader.read(1000)
            if not heard.done():
                heard.set_result(data)
            writer.close()

        server = await asyncio.start_server(listen, "127.0.0.1", 0)
        client = MODULES[protocol].AsyncClient(Options(token="", **QUICK))
        await client.connect(server.sockets[0].getsockname()[1])
        sent = asyncio.ensure_future(SEND[protocol](client))
        data = await heard
        sent.cancel()
        with contextlib.suppress(asyncio.CancelledError, ConnectionLost, Timeout):
            await sent
        await client.close()
        server.close()
        await server.wait_closed()
        assert first in data[:60]
        assert b"auth" not in data.lower()

    asyncio.run(asyncio.wait_for(work(), 50))


def test_a_server_that_knows_no_tokens_is_a_clear_error() -> None:
    async def work() -> None:
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            async for line in reader:
                writer.write(line.split(b" ")[0] + b" error " + b"x" * 24 + b"\n")
            writer.close()

        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        with pytest.raises(AuthFailed, match="is wrong, expired or revoked"):
            await mqks.connect(server.sockets[0].getsockname()[1], options=Options(token="pst_x", **QUICK))
        server.close()

    asyncio.run(asyncio.wait_for(work(), 50))
