"""The audit of dependencies: a weakness fails, and a service that does not answer is told and no failure."""

import json
import sys
from pathlib import Path

import pytest
from scripts import audit

WEAK = {"name": "old", "version": "1", "vulns": [{"id": "PYSEC-1", "fix_versions": ["2"]}]}
FINE = {"name": "new", "version": "2", "vulns": []}
UNKNOWN = {"name": "own", "skip_reason": "not on the index"}


@pytest.mark.parametrize(
    ("answer", "code", "words"),
    [
        (json.dumps({"dependencies": [FINE, WEAK, UNKNOWN]}), 1, "old 1: PYSEC-1, fixed in 2"),
        (
            json.dumps({"dependencies": [FINE, UNKNOWN]}),
            0,
            "no known weakness in 1 dependencies; nothing is known",
        ),
        (json.dumps({"dependencies": [UNKNOWN]}), 0, "AUDIT NOT DONE"),
        ("ConnectionError", 0, "AUDIT NOT DONE"),
        ("", 0, "AUDIT NOT DONE"),
    ],
)
def test_what_the_audit_says(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    answer: str,
    code: int,
    words: str,
) -> None:
    program = tmp_path / "pip-audit"
    program.write_text(f"#!/bin/sh\ncat <<'END'\n{answer}\nEND\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    assert audit.main() == code
    assert words in "".join(capfd.readouterr())


def test_where_there_is_no_program_nothing_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    assert audit.main() == 0
    assert "AUDIT NOT DONE" in capfd.readouterr().err
