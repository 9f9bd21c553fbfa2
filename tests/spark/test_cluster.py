"""The same command on a real standalone cluster: a master and two workers, as processes on the loopback."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("pyspark")

import pandas as pd
import pyspark
from tests.spark.conftest import Broker

SPARK_CLASS = Path(pyspark.__file__).parent / "bin" / "spark-class"
JAVA = {"SPARK_DAEMON_JAVA_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC", "SPARK_DAEMON_MEMORY": "256m"}


def started(log: Path, *arguments: str) -> subprocess.Popen[bytes]:
    environment = os.environ | JAVA | {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    environment["SPARK_NO_DAEMONIZE"] = "1"
    with log.open("wb") as out:
        return subprocess.Popen([str(SPARK_CLASS), *arguments], stdout=out, stderr=out, env=environment)


def found_in(log: Path, pattern: str) -> str:
    deadline = time.monotonic() + 120
    while (found := re.search(pattern, log.read_text(errors="replace"))) is None:
        assert time.monotonic() < deadline, log.read_text(errors="replace")
        time.sleep(0.1)
    return found[1]


@pytest.fixture
def master(tmp_path) -> Iterator[str]:
    package = "org.apache.spark.deploy"
    settings = ("--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
    logs = [tmp_path / f"{name}.log" for name in ("master", "first", "second")]
    processes = [started(logs[0], f"{package}.master.Master", *settings)]
    try:
        address = found_in(logs[0], r"Starting Spark master at (spark://\S+)")
        for log in logs[1:]:
            worker = (
                f"{package}.worker.Worker",
                "--cores",
                "1",
                "--memory",
                "1g",
                "--work-dir",
                str(tmp_path / "work"),
            )
            processes.append(started(log, *worker, *settings, address))
        for log in logs[1:]:
            found_in(log, r"Successfully registered with master (\S+)")
        yield address
    finally:
        for process in processes:
            process.kill()
            process.wait()


@pytest.mark.slow
@pytest.mark.process
def test_archive_runs_on_a_cluster(broker: Broker, master, tmp_path) -> None:
    broker.publish("e", *map(str, range(30)))
    command = [sys.executable, "-m", "penstock.cli.main", "pipeline", "run", "archive", "--once", "--master", master]
    command += ["--server", broker.url, "--to", str(tmp_path / "lake"), "--limit", "20"]
    command += ["--conf", "spark.executor.memory=512m", "--conf", "spark.driver.host=127.0.0.1"]
    command += ["--conf", "spark.driver.bindAddress=127.0.0.1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=280)
    assert done.returncode == 0, done.stderr
    assert "archive: 30 rows in 2 batches" in done.stderr
    assert sorted(pd.read_parquet(tmp_path / "lake")["offset"]) == list(range(30))
    assert len(list((tmp_path / "work").glob("app-*/*"))) == 2  # both workers had an executor
