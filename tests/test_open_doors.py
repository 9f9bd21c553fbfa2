"""Beyond this machine nobody listens by accident."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.config import LISTENERS, Config
from penstock.errors import ConfigError
from penstock.exposure import check_doors, doors_of, is_beyond, is_open, open_doors

TLS = {"tls_cert": "cert.pem"}
CERTIFICATES = {**TLS, "tls_ca": "ca.pem", "tls_client": "required"}


def config(**settings: object) -> Config:
    return Config.load({"memory": True, **settings}, {}, None)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.10", "::1", "localhost"])
def test_loopback_needs_nothing(host: str) -> None:
    assert not is_open(config(host=host))
    check_doors(config(host=host))


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "192.168.1.1", "fe80::1", "2001:db8::1"])
def test_beyond_it_a_broker_does_not_start_unless_told(host: str) -> None:
    with pytest.raises(ConfigError) as refused:
        check_doors(config(host=host))
    reason = str(refused.value)
    for word in (
        "mqks, smqs, ",
        "http without TLS and authentication. ",
        "penstock tls self-signed",
        "--tls-cert",
        "--insecure",
        "user add NAME",
    ):
        assert word in reason
    assert [door.name for door in open_doors(config(host=host))] == list(LISTENERS)
    check_doors(config(host=host, insecure=True))
    with pytest.raises(ConfigError, match="authentication"):
        check_doors(config(host=host, **TLS))
    check_doors(config(host=host, **CERTIFICATES))


def test_doors_that_are_closed_are_not_open() -> None:
    shut = dict.fromkeys(LISTENERS, "off")
    check_doors(config(host="0.0.0.0", **shut))
    (door,) = open_doors(config(host="0.0.0.0", **{**shut, "smqs": "2201"}))
    assert (str(door), door.lacks) == ("smqs on 0.0.0.0:2201", ["TLS", "authentication"])


@pytest.mark.parametrize("any_tls", ["both", "off"])
def test_a_port_that_also_speaks_without_tls_is_open(any_tls: str) -> None:
    (door,) = open_doors(config(host="0.0.0.0", any_tls=any_tls, **CERTIFICATES))
    assert (door.name, door.lacks) == ("any", ["TLS", "authentication"])


def test_every_address_of_a_name_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = {
        "mostly": ["127.0.0.1", "10.0.0.1"],
        "local": ["127.0.0.1", "::1", "::ffff:127.0.0.1"],
        "mapped": ["::ffff:10.0.0.1"],
        "scoped": ["fe80::1%eth0"],
    }

    def look_up(host: str, *_: object, **__: object) -> list[object]:
        if host not in answers:
            raise socket.gaierror
        return [(0, 0, 0, "", (address, 0)) for address in answers[host]]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    assert [is_beyond(host) for host in (*answers, "nowhere")] == [True, False, True, True, True]


def test_a_broker_that_is_not_told_says_what_to_do_and_ends(tmp_path: Path) -> None:
    ports = [word for name in LISTENERS for word in (f"--{name}", "0")]
    done = subprocess.run(
        [sys.executable, "-m", "penstock.cli.main", "serve", "--memory", "--host", "0.0.0.0", *ports],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("penstock: settings: host = '0.0.0.0': other machines can reach mqks,")
    assert done.stderr.count("\n") == 1


def test_doors_by_name() -> None:
    found = {door.name: door for door in doors_of(config(host="0.0.0.0", any_tls="both", **TLS))}
    assert {name for name, door in found.items() if door.tls} == set(LISTENERS) - {"any"}
    assert not any(door.asks for door in found.values())
