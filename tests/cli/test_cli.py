"""The command line: what it prints, how it exits, and that it hands the right settings on."""

import importlib.machinery
import resource
import subprocess
import sys
import types
from pathlib import Path

import pytest

from penstock import __version__
from penstock.cli import main as cli
from penstock.config import Config, flag_of
from penstock.errors import Error

HEAVY = ("asyncio", "pydantic", "rich", "structlog", "tomllib", "uvloop", "penstock.core.broker")
MODULES_MAX = 250  # 150 when this was written; with asyncio alone there would be a hundred more


@pytest.fixture(autouse=True)
def no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for key in (*Config.model_fields, "config"):
        monkeypatch.delenv(f"PENSTOCK_{key.upper()}", raising=False)
    monkeypatch.setenv("COLUMNS", "200")


class Run:
    """Runs command lines in this process, with a node that only keeps the settings it was given."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys
        self.served: list[Config] = []
        self.answer: int | Exception = 0

    def serve(self, config: Config) -> int:
        self.served.append(config)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def __call__(self, *arguments: str) -> tuple[int, str, str]:
        """Exit code, stdout and stderr."""
        with pytest.raises(SystemExit) as exited:
            cli.main(arguments)
        out, err = self.capsys.readouterr()
        assert isinstance(exited.value.code, int)
        return exited.value.code, out, err


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    runner = Run(capsys)
    node = types.ModuleType("penstock.node")
    node.serve = runner.serve  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "penstock.node", node)
    return runner


def test_help(run: Run) -> None:
    code, out, err = run("--help")
    assert (code, err) == (0, "")
    assert all(text in out for text in ("Usage: penstock", "--version", *cli.COMMANDS, *cli.COMMANDS.values()))


def test_no_command_is_help(run: Run) -> None:
    code, out, err = run()
    assert code == 2
    assert "Usage: penstock" in out + err


def test_serve_help_has_every_setting_with_its_text(run: Run) -> None:
    code, out, err = run("serve", "--help")
    assert (code, err) == (0, "")
    assert "Usage: penstock serve" in out
    assert "--config FILE" in out
    shown = " ".join(out.split())
    for setting in Config().describe():
        assert flag_of(setting.key) in shown
        assert setting.help in shown
    assert "--line-size-max SIZE Maximum size of a line or frame; at most 3/16 of" in shown
    assert "[default: 48MiB]" in shown
    assert "--any PORT" in shown
    assert "--queue-full refuse|drop-oldest" in shown
    assert "--no-memory" not in shown


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from penstock.cli.main import main\n"
        "try: main([sys.argv[1]])\n"
        "except SystemExit: print('loaded', *sys.modules)\n"
    )
    for option in ("--help", "--version"):
        done = subprocess.run([sys.executable, "-c", code, option], capture_output=True, text=True, check=True)
        loaded = done.stdout.splitlines()[-1].split()
        assert loaded[0] == "loaded"
        assert not set(HEAVY) & set(loaded)
        assert len(loaded) < MODULES_MAX


def test_help_is_there_within_300_milliseconds() -> None:
    """Of a processor, the best of a few: what others do on this machine is not the command's fault."""
    spent = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [sys.executable, "-m", "penstock.cli.main", "--help"]
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert min(spent) < 0.3


@pytest.mark.parametrize(
    ("origin", "kind"),
    [
        ("broker.py", "interpreted"),
        ("broker.cpython-311-x86_64-linux-gnu.so", "compiled"),
        ("broker.cp311-win_amd64.pyd", "compiled"),
    ],
)
def test_version(run: Run, monkeypatch: pytest.MonkeyPatch, origin: str, kind: str) -> None:
    spec = importlib.machinery.ModuleSpec("penstock.core.broker", None, origin=origin)
    monkeypatch.setattr(cli, "find_spec", lambda name: spec)
    python = ".".join(str(part) for part in sys.version_info[:3])
    assert run("--version") == (0, f"penstock {__version__} ({kind}, Python {python})\n", "")


def test_version_tells_how_this_core_was_loaded(run: Run) -> None:
    from penstock.core import broker

    compiled = Path(broker.__file__ or "").suffix in (".so", ".pyd")
    assert ("(compiled," if compiled else "(interpreted,") in run("--version")[1]


def test_serve_with_defaults(run: Run) -> None:
    assert run("serve") == (0, "", "")
    assert run.served == [Config()]


def test_serve_hands_flags_environment_and_file_on(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "penstock.toml"
    file.write_text("mqks = 1\nsmqs = 1\nsevx = 1\n")
    monkeypatch.setenv("PENSTOCK_MQKS", "2")
    monkeypatch.setenv("PENSTOCK_SMQS", "2")
    run("serve", "--config", str(file), "--mqks", "3", "--any", "off", "--memory", "--line-size-max", "1MiB")
    [config] = run.served
    assert (config.mqks, config.smqs, config.sevx, config.any) == (3, 2, 1, None)
    assert (config.memory, config.line_size_max) == (True, 1 << 20)


def test_config_file_from_the_environment(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "penstock.toml"
    file.write_text('host = "::1"\n')
    monkeypatch.setenv("PENSTOCK_CONFIG", str(file))
    run("serve", "--data=d")
    assert run.served[0].host == "::1"
    assert run.served[0].data == Path("d")


def test_exit_code_of_serve(run: Run) -> None:
    run.answer = 3
    assert run("serve")[0] == 3


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--mqks", "70000"], "penstock: flag --mqks: mqks = '70000': is not a port"),
        (["--queue-full", "x"], "penstock: flag --queue-full: queue_full = 'x'"),
        (["--config", "nowhere.toml"], "penstock: file nowhere.toml: config = 'nowhere.toml': No such file"),
        (["--memory", "--data", "d"], "penstock: flag --memory: memory = True: cannot be combined"),
        (["--host", ""], "penstock: flag --host"),
    ],
)
def test_wrong_setting_is_one_line(run: Run, arguments: list[str], told: str) -> None:
    code, out, err = run("serve", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith(told)
    assert err.count("\n") == 1
    assert run.served == []


def test_wrong_environment_is_one_line(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_RQ", "x\ny")
    code, _, err = run("serve")
    assert code == 2
    assert err.startswith("penstock: environment PENSTOCK_RQ: rq = ")
    assert err.count("\n") == 1


@pytest.mark.parametrize("error", [Error("the log is\nlocked"), OSError(28, "No space left on device")])
def test_other_errors_are_one_line(run: Run, error: Exception) -> None:
    run.answer = error
    code, _, err = run("serve")
    assert code == 1
    assert err in ("penstock: the log is locked\n", "penstock: [Errno 28] No space left on device\n")


@pytest.mark.parametrize("arguments", [["nothing"], ["--nothing"], ["serve", "--nothing"], ["serve", "more"]])
def test_misuse(run: Run, arguments: list[str]) -> None:
    code, _, err = run(*arguments)
    assert code == 2
    assert "Error: " in err
    assert run.served == []
