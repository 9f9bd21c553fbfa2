"""The same commands over Spark Connect: a real server as a process of its own, which is all that starts Java."""

import os
import re
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

pytest.importorskip("pyspark")

import pandas as pd
import pyspark
from tests.spark.conftest import Broker

SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"
SETTINGS = {
    "spark.connect.grpc.binding.address": "127.0.0.1",
    "spark.connect.grpc.binding.port": "0",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}


@pytest.fixture
def remote(asked_for, tmp_path: Path) -> Iterator[str]:
    command = [str(Path(pyspark.__file__).parent / "bin" / "spark-submit"), "--class", SERVER, "--master", "local[2]"]
    for key, value in SETTINGS.items():
        command += ["--conf", f"{key}={value}"]
    environment = os.environ | {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    log = tmp_path / "connect.log"
    with log.open("wb") as out:
        server = subprocess.Popen(command, stdout=out, stderr=out, env=environment, cwd=tmp_path)
    try:
        deadline = time.monotonic() + 120
        while (found := re.search(r"SparkConnectService' on port (\d+)", log.read_text())) is None:
            assert server.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.1)
        yield f"sc://127.0.0.1:{found[1]}"
    finally:
        server.kill()
        server.wait()


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.timeout(600)
def test_pipelines_run_over_connect(remote: str, broker: Broker, tmp_path: Path) -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "penstock.cli.main", "pipeline", "run", *arguments, "--once"]
        command += ["--server", broker.url, "--remote", remote]
        environment = os.environ | {"PENSTOCK_STATE": str(tmp_path / "state")}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=280)
        assert done.returncode == 0, done.stderr
        return done

    broker.publish("e", *map(str, range(30)))
    broker.put("jobs", "a", "b")
    assert "archive: 32 rows in 2 batches" in run("archive", "--to", str(tmp_path / "lake"), "--limit", "20").stderr
    assert sorted(pd.read_parquet(tmp_path / "lake")["offset"]) == list(range(32))
    run("archive", "--to", str(tmp_path / "lake"))  # there is nothing new
    assert len(pd.read_parquet(tmp_path / "lake")) == 32
    database = tmp_path / "jobs.db"
    assert run("load", "--queue", "jobs", "--to", f"sqlite:///{database}").stdout == "2 messages into jobs, each once\n"
    with closing(sqlite3.connect(database)) as connection:
        assert connection.execute("SELECT body FROM jobs ORDER BY body").fetchall() == [("a",), ("b",)]
    run("query", "--name", "q", "--sql", "SELECT body FROM log WHERE event = 'e' AND offset < 3", "--queue", "out")
    found = broker.ask("GET", "/v1/queues/out/messages")["messages"]
    assert [message["body"] for message in found] == ["0", "1", "2"]
