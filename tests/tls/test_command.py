"""`penstock tls self-signed`: certificates that a broker takes and clients believe."""

import json
import ssl
import stat
from pathlib import Path

import pytest
from typer.testing import CliRunner

from penstock.auth.self_signed import FILES
from penstock.cli.exits import Failed
from penstock.cli.tls import app
from penstock.server.certificates import Paths, load


def run(*arguments: str | Path) -> str:
    done = CliRunner().invoke(app(), ["self-signed", *map(str, arguments)], catch_exceptions=False)
    assert done.exit_code == 0
    return done.stdout


def test_what_it_makes_can_be_used(tmp_path: Path) -> None:
    directory = tmp_path / "new" / "tls"
    said = run(directory, "--name", "broker.example", "--name", "10.1.2.3", "--client", "worker-9", "--days", "10")
    assert f"--tls-cert {directory / 'server.pem'}" in said
    assert sorted(path.name for path in directory.iterdir()) == sorted(FILES)
    for name in FILES:
        assert stat.S_IMODE((directory / name).stat().st_mode) == 0o600
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    paths = Paths(directory / "server.pem", directory / "server.key", directory / "ca.pem", "required", "1.3")
    server = load(paths)
    assert server.doubts == []
    names = ("broker.example", "10.1.2.3", "localhost", "127.0.0.1", "::1")
    for name in names:
        shown = shake_hands(server.context, directory, name)
        assert shown["subject"] == ((("commonName", "worker-9"),),)
    with pytest.raises(ssl.SSLCertVerificationError):
        shake_hands(server.context, directory, "elsewhere.example")


def shake_hands(server: ssl.SSLContext, directory: Path, name: str) -> dict[str, object]:
    """A handshake in memory; what the server sees of the client."""
    client = ssl.create_default_context(cafile=directory / "ca.pem")
    client.load_cert_chain(directory / "client.pem", directory / "client.key")
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    theirs = client.wrap_bio(to_client, to_server, server_hostname=name)
    ours = server.wrap_bio(to_server, to_client, server_side=True)
    done = set[ssl.SSLObject]()
    while len(done) < 2:
        for side in (theirs, ours):
            try:
                side.do_handshake()
                done.add(side)
            except ssl.SSLWantReadError:
                pass
    return dict(ours.getpeercert() or {})


def test_the_key_of_the_ca_is_kept_by_nobody(tmp_path: Path) -> None:
    run(tmp_path / "tls")
    keys = [path for path in (tmp_path / "tls").iterdir() if b"PRIVATE KEY" in path.read_bytes()]
    assert sorted(path.name for path in keys) == ["client.key", "server.key"]


def test_files_that_are_there_stay_unless_told(tmp_path: Path) -> None:
    (tmp_path / "server.key").write_text("mine")
    with pytest.raises(Failed, match="--force"):
        run(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["server.key"]
    found = json.loads(run(tmp_path, "--force", "--json"))
    assert found["names"] == ["localhost", "127.0.0.1", "::1"]
    assert (tmp_path / "server.key").read_text() != "mine"
    assert stat.S_IMODE((tmp_path / "server.key").stat().st_mode) == 0o600


def test_a_name_that_no_certificate_can_have_is_told(tmp_path: Path) -> None:
    with pytest.raises(Failed, match="cannot be used in a certificate"):
        run(tmp_path / "tls", "--name", "bröker")
    assert not (tmp_path / "tls").exists()
