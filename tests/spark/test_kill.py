"""Driver, worker and broker are killed in the middle of a job; nothing is lost, nothing is there twice."""

import pytest

pytest.importorskip("pyspark")

from scripts import spark_kill


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.timeout(600)
def test_archive_and_sink_survive_what_is_killed_under_them(tmp_path, capfd) -> None:
    assert spark_kill.run(3, seed=7, directory=tmp_path, tell=False) == []
