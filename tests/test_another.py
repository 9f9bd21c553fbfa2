"""Which other Python a part of the suite is run with."""

import sys
from pathlib import Path

import pytest
from scripts import another

RELEASE = sys.version.split()[0]


def test_an_interpreter_is_asked_what_it_is() -> None:
    tag, release, executable = another.ask(Path(sys.executable))
    assert (tag, release) == (sys.implementation.cache_tag, RELEASE)
    assert Path(executable).exists()


def test_what_is_no_interpreter_has_no_release() -> None:
    assert another.ask(Path("/bin/false")) == ("", "", "")


@pytest.mark.parametrize(
    ("tag", "release", "wanted"),
    [
        (sys.implementation.cache_tag, "3.11.999", True),
        (sys.implementation.cache_tag, RELEASE, False),
        ("cpython-399", "3.99.0", False),  # the packages of .venv do not fit
        ("", "", False),
    ],
)
def test_only_another_release_of_the_same_version_will_do(
    tag: str, release: str, wanted: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(another, "candidates", lambda: iter([Path("/a/python3")]))
    monkeypatch.setattr(another, "ask", lambda python: (tag, release, str(python)))
    monkeypatch.setattr(another, "environment", lambda python: f"made of {python}")
    another.main()
    assert capsys.readouterr().out == ("made of /a/python3\n" if wanted else "")


def test_the_systems_own_is_looked_at_first() -> None:
    found = list(another.candidates())
    assert not Path("/usr/bin/python3").exists() or found[0] == Path("/usr/bin/python3")
