"""Certificates are replaced while the broker runs: nobody is dropped, and what is bad is not taken."""

import shutil
import signal
import socket
import ssl
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from penstock.server.certificates import Certificates as Used
from penstock.server.certificates import Paths, TlsError, load

from ..server.conftest import BrokerProcess
from .conftest import Certificates, TlsBroker, TlsClient, until
from .test_clients import speaks

Start = Callable[..., TlsBroker]
SWAPS = 20


def test_reload_under_load_drops_nobody(start_broker: Start, ours: Certificates, others: Certificates) -> None:
    """Publishers and consumers run, and new ones come, while two CAs take turns."""
    broker = start_broker()
    both = ours.context()
    both.load_verify_locations(others["ca.pem"])
    consumers = [broker.open("mqks", both) for _ in range(3)]
    for number, consumer in enumerate(consumers):
        consumer.send(b"c%d consume --confirm q%d e\n" % (number, number))
        assert consumer.line() == b"c%d ok " % number
    publishers = [broker.open("mqks", both) for _ in range(3)]
    stop = threading.Event()
    sent = [0, 0, 0]
    received = [0, 0, 0]

    def publish(which: int) -> None:
        while not stop.is_set():
            publishers[which].send(b"".join(b"m publish e %d\n" % which for _ in range(50)) + b"p ping x\n")
            sent[which] += 50
            assert publishers[which].line() == b"p ok x"

    def consume(which: int) -> None:
        while not consumers[which].line().endswith(b" end"):
            received[which] += 1

    threads = [threading.Thread(target=each, args=(n,)) for n in range(3) for each in (publish, consume)]
    for thread in threads:
        thread.start()
    for swap in range(SWAPS):
        now, before = (others, ours) if swap % 2 == 0 else (ours, others)
        now.install(broker.directory)
        broker.reload()
        fresh = broker.open("mqks", now.context())
        fresh.send(b"1 ping x\n")
        assert fresh.line() == b"1 ok x"
        with pytest.raises(ssl.SSLCertVerificationError):
            broker.open("mqks", before.context())
    stop.set()
    for which in range(3):
        threads[2 * which].join(30)
    publishers[0].send(b"m publish e end\n")
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()
    assert min(sent) > 0
    assert received == [sum(sent)] * 3
    assert len(broker.reported("tls.reloaded")) >= SWAPS
    assert not broker.reported("tls.kept")


def test_changed_files_are_noticed(broker: TlsBroker, others: Certificates) -> None:
    others.install(broker.directory)
    until(lambda: bool(broker.reported("tls.reloaded")))
    assert speaks(broker, others.context())


def test_a_hangup_signal_reads_the_files(
    start_process: Callable[..., BrokerProcess], others: Certificates, tmp_path: Path
) -> None:
    process = start_process()
    others.install(tmp_path / "keys")
    process.process.send_signal(signal.SIGHUP)

    def trusted() -> bool:
        try:
            TlsClient(process.ports["any"], others.context()).close()
        except ssl.SSLCertVerificationError:
            return False
        return True

    until(trusted)
    code, log = process.terminate()
    assert code == 0
    assert "tls.reloaded" in log


BAD = {
    "a key of another": ("server.key", "does not match the first certificate"),
    "no key": ("server.key", "is not a private key"),
    "no certificate": ("server.pem", "no valid certificates in PEM"),
    "an empty certificate": ("server.pem", "no valid certificates in PEM"),
    "nothing": ("server.pem", "No such file"),
    "no ca": ("ca.pem", "no valid certificates in PEM"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_file_changes_nothing_and_is_told(
    start_broker: Start, ours: Certificates, others: Certificates, tmp_path: Path, case: str
) -> None:
    name, reason = BAD[case]
    broker = start_broker(tls_ca=tmp_path / "keys" / "ca.pem")
    path = broker.directory / name
    if case == "a key of another":
        shutil.copy(others["server.key"], path)
    elif case == "nothing":
        path.unlink()
    elif case == "an empty certificate":
        path.write_bytes(b"")
    else:
        path.write_bytes(b"-----BEGIN NONSENSE-----\nxyz\n-----END NONSENSE-----\n")
    broker.reload()
    (kept,) = broker.reported("tls.kept")[:1]
    assert reason in str(kept["reason"])
    assert str(path) in str(kept["reason"])
    assert "BEGIN" not in str(kept["reason"])
    assert speaks(broker, ours.context(ours))
    ours.install(broker.directory)
    broker.reload()
    assert broker.reported("tls.reloaded")


def resumes(broker: TlsBroker, context: ssl.SSLContext, session: ssl.SSLSession | None) -> bool:
    plain = socket.create_connection(("127.0.0.1", broker.ports["mqks"]), timeout=20)
    try:
        with context.wrap_socket(plain, server_hostname="localhost", session=session) as secure:
            secure.sendall(b"1 ping x\n")
            return bool(secure.recv(10))
    except OSError:
        return False


def test_a_ca_that_was_removed_lets_nobody_in(
    start_broker: Start, ours: Certificates, others: Certificates, tmp_path: Path
) -> None:
    authorities = tmp_path / "authorities.pem"
    authorities.write_bytes(ours["ca.pem"].read_bytes() + others["ca.pem"].read_bytes())
    broker = start_broker(tls_ca=authorities, tls_client="required")
    context = ours.context(others)
    resumed = TlsClient(broker.ports["mqks"], context)
    resumed.send(b"1 ping x\n")
    assert resumed.line() == b"1 ok x"
    assert speaks(broker, ours.context(ours))
    authorities.write_bytes(ours["ca.pem"].read_bytes())
    broker.reload()
    assert not speaks(broker, context)
    assert not speaks(broker, ours.context(others))
    assert not resumes(broker, context, resumed.sock.session)  # nor by what was agreed upon before
    assert speaks(broker, ours.context(ours))
    resumed.send(b"2 ping still-here\n")
    assert resumed.line() == b"2 ok still-here"
    resumed.close()


# -- without a broker ------------------------------------------------------------------------------------------------


def paths(certificates: Certificates, **other: Any) -> Paths:
    given = Paths(certificates["server.pem"], certificates["server.key"], None, "optional", "1.2")
    return given._replace(**other)


def test_certificates_that_end_soon_are_told_each_day(ours: Certificates) -> None:
    reports: list[tuple[str, str, dict[str, object]]] = []
    now = ours_ends = max(load(paths(ours)).expiries.values())

    def seconds() -> float:
        return now

    now = ours_ends - 31 * 86_400
    used = Used(paths(ours, ca=ours["ca.pem"]), lambda *report: reports.append(report), seconds)
    assert reports == []
    now = ours_ends - 29.5 * 86_400
    used.tell_doubts()
    assert [(level, event, details["days"]) for level, event, details in reports] == [
        ("warning", "tls.expires", 29)
    ] * 2
    reports.clear()
    now = ours_ends + 1
    used.tell_doubts()
    assert {(level, event) for level, event, _ in reports} == {("error", "tls.expired")}
    assert {kind for kind, _ in used.expiries} == {"cert", "ca"}


def test_a_key_that_others_can_read_is_a_doubt(ours: Certificates, tmp_path: Path) -> None:
    key = tmp_path / "server.key"
    shutil.copy(ours["server.key"], key)
    key.chmod(0o644)
    (doubt,) = load(paths(ours, key=key)).doubts
    assert doubt.endswith(f"chmod 600 {key}")
    key.chmod(0o600)
    assert load(paths(ours, key=key)).doubts == []


def test_a_key_with_a_password_is_told(ours: Certificates, tmp_path: Path) -> None:
    from cryptography.hazmat.primitives.serialization import (
        BestAvailableEncryption,
        Encoding,
        PrivateFormat,
        load_pem_private_key,
    )

    key = load_pem_private_key(ours["server.key"].read_bytes(), None)
    locked = tmp_path / "locked.key"
    locked.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"secret")))
    with pytest.raises(TlsError, match="encrypted with a password"):
        load(paths(ours, key=locked))


def test_one_file_may_hold_both(ours: Certificates, tmp_path: Path) -> None:
    both = tmp_path / "both.pem"
    both.write_bytes(ours["server.key"].read_bytes() + ours["server.pem"].read_bytes())
    assert load(paths(ours, cert=both, key=both)).expiries


def test_no_tickets_are_given(ours: Certificates) -> None:
    context = load(paths(ours)).context
    assert context.num_tickets == 0
    assert context.options & ssl.OP_NO_TICKET
    assert context.options & ssl.OP_NO_RENEGOTIATION
    assert context.minimum_version is ssl.TLSVersion.TLSv1_2
