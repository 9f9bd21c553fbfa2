"""`penstock bench`: figures for every protocol, and nothing left behind."""

from pathlib import Path

import pytest

from penstock.config import PROTOCOLS
from penstock.testing import Broker

from .conftest import Penstock
from .test_messages import queues_of, until


@pytest.mark.parametrize("via", PROTOCOLS)
def test_every_message_comes_back_and_the_queue_is_gone(online: Penstock, broker: Broker, via: str) -> None:
    before = set(queues_of(broker))
    (found,) = online.json("bench", "--via", via, "--size", 50, "--count", 700, "--seconds", 30)
    assert (found["via"], found["size"], found["messages"]) == (via, 50, 700)
    assert found["msg_per_s"] > 0
    assert 0 < found["round_trip_us"]["p50"] <= found["round_trip_us"]["p99"]
    until(lambda: set(queues_of(broker)) <= before)


def test_it_says_what_it_measures(online: Penstock) -> None:
    head, trip, rate, load = online.lines("bench", "--seconds", 0.1, "--count", 2000)
    assert head == "mqks, 100-byte bodies, one publisher to one consumer, raw sockets"
    assert trip.startswith("round trip ")
    assert " msg/s, " in rate
    assert load.startswith("client CPU ")


def test_without_http_the_queue_that_stays_is_named(online: Penstock, broker: Broker) -> None:
    code, out, err = online("bench", "--via", "smqs", "--count", 10, "--server", "http://127.0.0.1:1")
    assert (code, out.count("\n")) == (0, 4)
    (name,) = [name for name in queues_of(broker) if name.startswith("penstock.bench")]
    assert err == f"could not delete the empty queue {name} over HTTP\n"


@pytest.mark.parametrize(
    ("arguments", "code", "why"),
    [
        (["--addr", "127.0.0.1:1"], 3, "cannot connect to 127.0.0.1:1: Connection refused; start one with"),
        (["--addr", "127.0.0.1:door"], 2, "127.0.0.1:door"),
    ],
)
def test_nobody_there(penstock: Penstock, arguments: list[str], code: int, why: str) -> None:
    told = penstock.failure("bench", *arguments)
    assert told[0] == code
    assert why in told[1]


@pytest.mark.parametrize("via", PROTOCOLS)
def test_a_token_is_shown_where_the_broker_asks_for_one(
    penstock: Penstock, monkeypatch: pytest.MonkeyPatch, via: str
) -> None:
    with Broker(http=0, users={"ann": ["admin"]}) as broker:
        for name, port in broker.ports.items():
            monkeypatch.setenv(f"PENSTOCK_{name.upper()}", str(port))
        (found,) = penstock.json("bench", "--via", via, "--count", 100, "--token-file", broker.token_file("ann"))
        assert found["messages"] == 100


def test_a_wrong_token_is_not_let_in(penstock: Penstock, tmp_path: Path) -> None:
    with Broker(users={"ann": ["admin"]}) as broker:
        (tmp_path / "token").write_text(Path(broker.token_file("ann")).read_text().strip()[:-4] + "AAAA")
        code, why = penstock.failure("bench", "--addr", broker.address("mqks"), "--token-file", tmp_path / "token")
        assert (code, why) == (
            5,
            f"{broker.address('mqks')}: authentication failed: the token is wrong, expired or revoked",
        )
