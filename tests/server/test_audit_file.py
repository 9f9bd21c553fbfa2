"""The audit file is its owner's alone, whoever made it."""

import stat
from pathlib import Path

import pytest

from penstock.errors import AccessError
from penstock.server.audit import Audit


def ignore(level: str, event: str, details: dict[str, object]) -> None: ...


def test_a_file_that_was_there_is_its_owners_alone_from_now_on(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    path.write_text("before\n")
    path.chmod(0o644)
    audit = Audit(path, ignore)
    audit.report("info", "audit.auth", {"user": "ann"})
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.rename(tmp_path / "old")
    path.touch(0o644)
    audit.reopen()
    audit.close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    lines = (tmp_path / "old").read_text().splitlines()
    assert lines[0] == "before"
    assert '"user":"ann"' in lines[1]


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    target, path = tmp_path / "target", tmp_path / "audit.jsonl"
    target.touch(0o644)
    path.symlink_to(target)
    before = target.stat().st_mode
    with pytest.raises(AccessError, match=r"audit\.jsonl: is a symbolic link"):
        Audit(path, ignore)
    assert target.stat().st_mode == before


def test_what_is_no_file_keeps_its_mode() -> None:
    null = Path("/dev/null")
    before = null.stat().st_mode
    Audit(null, ignore).close()
    assert null.stat().st_mode == before


def test_who_comes_in_again_and_again_does_not_fill_it(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    audit = Audit(path, ignore)
    for _ in range(10_000):
        audit.report("info", "audit.auth", {"user": "ann", "peer": "10.0.0.1:4711"})
    audit.report("info", "audit.auth", {"user": "bob", "peer": "10.0.0.1:4712"})
    audit.close()
    text = path.read_text()
    assert text.count('"user":"ann"') < 1000
    assert text.count('"user":"bob"') == 1
    assert '"event":"log.limited"' in text
