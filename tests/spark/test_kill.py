"""Driver, executor and broker are killed in the middle of a job; nothing is lost, nothing is there twice."""

import pytest

pytest.importorskip("pyspark")

from scripts import spark_kill
from scripts.spark_cluster import Cluster


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.timeout(900)
def test_archive_and_sink_survive_what_is_killed_under_them(cluster: Cluster, tmp_path) -> None:
    found = spark_kill.run(3, 7, cluster, tmp_path, tell=False)
    assert found.wrong == []
    assert found.killed == {"driver": 1, "broker": 1, "executor": 1}
    assert found.confirmed > 0


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.timeout(7200)
def test_twenty_rounds_of_it(asked_for, cluster: Cluster, tmp_path, capsys) -> None:
    with capsys.disabled():
        found = spark_kill.run(20, 1, cluster, tmp_path)
    assert found.wrong == []
    assert found.killed == {"driver": 5, "broker": 5, "executor": 5, "worker": 5}
