"""Celery's transport and dramatiq's broker say who they are."""

from collections.abc import Iterator
from typing import Any

import pytest

from penstock.client import AuthFailed, Denied, Options, TlsFailed
from penstock.testing import Broker

kombu = pytest.importorskip("kombu")
pytest.importorskip("dramatiq")

from dramatiq import Message  # noqa: E402

import penstock.adapters.kombu  # noqa: E402, F401
from penstock.adapters.dramatiq import PenstockBroker  # noqa: E402

ALL = ["publish *", "consume *", "declare *", "delete *", "browse *"]


@pytest.fixture(scope="module")
def secure() -> Iterator[Broker]:
    with Broker(users={"alice": ALL, "bob": []}, tls=True) as running:
        yield running


def connection(broker: Broker, user: str = "alice", scheme: str = "penstock", **options: str) -> Any:
    files = {"token_file": broker.token_file(user), "ca_file": broker.ca_file} if user else {}
    url = f"{scheme}://{broker.address('any')}//"
    return kombu.Connection(url, transport_options=files | options)


def test_kombu_with_a_token_over_tls(secure: Broker) -> None:
    for scheme in ("penstock", "penstock+tls"):
        with connection(secure, scheme=scheme) as opened:
            opened.SimpleQueue("letters").put({"for": scheme})
            message = opened.SimpleQueue("letters").get(timeout=10)
            assert message.payload == {"for": scheme}
            message.ack()


def test_kombu_does_not_try_again_what_will_not_help(secure: Broker) -> None:
    stranger = {"token_file": secure.files / "stranger"}
    stranger["token_file"].write_text("pst_00000000_" + "x" * 43)
    for said, error in (
        ({"token_file": str(stranger["token_file"])}, AuthFailed),
        ({"token_file": "/nowhere/token"}, AuthFailed),
        ({"ca_file": str(secure.files / "client.pem")}, TlsFailed),
        ({"token": "tell-nobody"}, ValueError),
    ):
        with connection(secure, **said) as opened, pytest.raises(error) as refused:
            opened.ensure_connection(max_retries=None, timeout=20)
        assert "tell-nobody" not in str(refused.value)
    url = f"penstock://me:tell-nobody@{secure.address('any')}//"
    with kombu.Connection(url) as opened, pytest.raises(ValueError, match="would be logged") as refused:
        opened.ensure_connection(max_retries=None, timeout=20)
    assert "tell-nobody" not in str(refused.value)


def test_dramatiq_by_its_options(secure: Broker) -> None:
    message: Message[object] = Message("default", "act", (), {}, {})
    for options, error in (
        (secure.options("alice"), None),
        (secure.options("bob"), Denied),
        (Options(token="wrong", ca_file=secure.ca_file), AuthFailed),
        (Options(tls=True), TlsFailed),
    ):
        broker = PenstockBroker(secure.address("any"), options=options, middleware=[])
        try:
            if error is None:
                broker.enqueue(message)
            else:
                with pytest.raises(error):
                    broker.enqueue(message)
        finally:
            broker.close()
