"""`penstock pipeline`: one line when the command line makes no sense, before Spark is started."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("pyspark")

from penstock.cli.main import main


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (
            ["run", "nothing"],
            "unknown pipeline 'nothing': give one of archive, stats, load, replay, query, infer, or FILE.py",
        ),
        (["run", "archive", "--sql", "SELECT 1"], "--sql is for query, not for archive"),
        (["run", "archive", "--until", "5"], "--until is for replay, not for archive: a stream has no end"),
        (["run", "replay", "--speed", "fast"], "--speed fast: give a number, such as 1 or 10"),
        (["run", "query", "--event", "a", "--queue", "b"], "--event and --queue cannot be combined"),
        (["init", "."], ". already exists"),
    ],
)
def test_a_wrong_command_line_is_one_line(arguments, line, capsys) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["pipeline", *arguments])
    assert ended.value.code == 1
    assert capsys.readouterr().err == f"penstock: {line}\n"


def test_a_machine_without_java_is_told_what_to_install(tmp_path) -> None:
    environment = {key: value for key, value in os.environ.items() if key != "JAVA_HOME"} | {"PATH": str(tmp_path)}
    command = [sys.executable, "-m", "penstock.cli.main", "pipeline", "run", "archive", "--server", "x", "--to", "y"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == "penstock: Spark needs Java 17 or newer: apt-get install -y openjdk-17-jre-headless\n"


def test_a_project_for_declarative_pipelines_is_made(tmp_path, capsys) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["pipeline", "init", str(tmp_path / "mine"), "--server", "http://broker:7780"])
    assert ended.value.code == 0
    spec = (tmp_path / "mine" / "spark-pipeline.yml").read_text()
    assert "name: mine" in spec
    assert f"storage: file://{tmp_path}/mine/storage" in spec
    program = (tmp_path / "mine" / "transformations" / "orders.py").read_text()
    assert 'SERVER = "http://broker:7780"' in program
    compile(program, "orders.py", "exec")
