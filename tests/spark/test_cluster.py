"""The same command on a real standalone cluster: a master and two workers, as processes on the loopback."""

import subprocess
import sys

import pytest

pytest.importorskip("pyspark")

import pandas as pd
from scripts.spark_cluster import SETTINGS, Cluster
from tests.spark.conftest import Broker


@pytest.mark.slow
@pytest.mark.process
def test_archive_runs_on_a_cluster(broker: Broker, cluster: Cluster, tmp_path) -> None:
    broker.publish("e", *map(str, range(30)))
    before = cluster.executors_ever()
    command = [sys.executable, "-m", "penstock.cli.main", "pipeline", "run", "archive", "--once"]
    command += ["--master", cluster.address, "--server", broker.url, "--to", str(tmp_path / "lake"), "--limit", "20"]
    for key, value in SETTINGS.items():
        command += ["--conf", f"{key}={value}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=280)
    assert done.returncode == 0, done.stderr
    assert "archive: 30 rows in 2 batches" in done.stderr
    assert sorted(pd.read_parquet(tmp_path / "lake")["offset"]) == list(range(30))
    assert cluster.executors_ever() - before == 2  # both workers had one
