"""The project that `penstock pipeline init` makes, run by Spark's own command: twice, and the second goes on."""

import os
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

pytest.importorskip("pyspark")

from tests.spark.conftest import Broker

from penstock.cli.main import main
from penstock.cli.pipeline import PERSISTENT_CATALOG

PROGRAM = Path(sys.executable).with_name("spark-pipelines")


def run(project: Path) -> str:
    environment = os.environ | {"PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable}
    environment |= {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_SUBMIT_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
    command = [str(PROGRAM), "run", *PERSISTENT_CATALOG.split()]
    done = subprocess.run(
        command, cwd=project, env=environment, capture_output=True, text=True, check=False, timeout=280
    )
    told = done.stdout + done.stderr
    assert done.returncode == 0, told
    assert "Run is COMPLETED" in told
    assert "Exception" not in told
    return told


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.timeout(600)
def test_the_project_runs_and_goes_on_where_it_stopped(asked_for, broker: Broker, tmp_path) -> None:
    project = tmp_path / "mine"
    with pytest.raises(SystemExit) as ended:
        main(["pipeline", "init", str(project), "--server", broker.url])
    assert ended.value.code == 0
    broker.ask("PUT", "/v1/queues/large", {"events": ["message.large"]})
    broker.publish("order", "small", "x" * 2000)
    run(project)
    broker.publish("order", "y" * 3000)
    run(project)
    messages = pq.read_table(project / "spark-warehouse" / "messages").to_pylist()
    told = [message for message in messages if message["event"] == "message.large"]
    assert sorted(row["offset"] for row in messages if row["event"] == "order") == [0, 1, 3]
    assert len(told) == 1  # of the first run; that of the second comes behind what it has read
    found = broker.ask("GET", "/v1/queues/large/messages")["messages"]
    assert len(found) == 2
    counts = {row["event"]: row["count"] for row in pq.read_table(project / "spark-warehouse" / "counts").to_pylist()}
    assert counts == {"order": 3, "message.large": 1}
