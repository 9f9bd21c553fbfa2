"""Who a client is by its certificate, and what that lets it do; and that such a door is no open one."""

from collections.abc import Callable
from pathlib import Path

import pytest

from penstock.access.file import UsersFile
from penstock.config import Config
from penstock.doors import doors_of, is_open

from .conftest import Certificates, TlsBroker

Start = Callable[..., TlsBroker]


@pytest.fixture
def users(tmp_path: Path) -> Path:
    path = tmp_path / "users.json"
    with UsersFile(path).edit() as users:
        users.add("worker")
        users.grant("worker", "publish orders.*")
        users.add_certificate("worker", "CN:worker-1")
        users.add("guest")
    return path


def test_a_certificate_is_a_user(start_broker: Start, ours: Certificates, users: Path) -> None:
    broker = start_broker(users=users, tls_ca=ours["ca.pem"])
    for door in ("mqks", "any"):
        known = broker.open(door, ours.context(ours))
        known.send(b"1 publish --confirm orders.new x\n2 publish --confirm secret x\n")
        assert known.line() == b"1 ok "
        assert known.line().startswith(b"2 error ")
        stranger = broker.open(door, ours.context())
        stranger.send(b"1 publish --confirm orders.new x\n")
        assert stranger.closed_by_peer()
        assert b" ok " not in stranger.buffer


def test_a_door_that_asks_is_not_open(users: Path, tmp_path: Path) -> None:
    def config(**settings: object) -> Config:
        flags = {"memory": True, "host": "0.0.0.0", "tls_cert": "c", "users": users, **settings}
        return Config.load(flags, {}, None)

    assert not is_open(config())
    assert not is_open(config(auth="on"))
    assert is_open(config(auth="off"))
    assert is_open(config(users=tmp_path / "none"))
    assert {door.name for door in doors_of(config(smqs_user="guest")) if door.lacks} == {"smqs"}
    assert {door.name for door in doors_of(config(any_tls="both")) if door.lacks} == {"any"}
