"""One real Spark session for all tests here: it takes longer to start than most of them to run."""

import json
import os
import urllib.request
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.server.conftest import RunningBroker
from tests.spark.logs import WrittenLog

pytest.importorskip("pyspark")

from pyspark.sql import SparkSession
from scripts.spark_cluster import Cluster

from penstock.spark.session import spark_session

SETTINGS = {
    "spark.sql.shuffle.partitions": "1",
    "spark.driver.memory": "1g",
    "spark.sql.warehouse.dir": "",
    "spark.sql.streaming.stopTimeout": "20s",
    # Small data: what counts is how soon the first result is there, not how fast the millionth row.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
}


@pytest.fixture(scope="session")
def started_spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    settings = SETTINGS | {"spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse"))}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session = spark_session("penstock tests", "local[2]", settings=settings)
    yield session
    session.stop()


@pytest.fixture
def spark(started_spark: SparkSession) -> SparkSession:
    """The session, made the active one again.

    Java keeps it for each of its threads, and looks there for our data source when a frame is written; py4j may have
    given this thread of ours another one of Java's since the last test.
    """
    sessions = started_spark._jvm.org.apache.spark.sql.classic.SparkSession
    sessions.setActiveSession(started_spark._jsparkSession)
    return started_spark


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A master and two workers, as processes of their own."""
    with Cluster(tmp_path_factory.mktemp("cluster")) as running:
        yield running


@pytest.fixture
def asked_for(request: pytest.FixtureRequest) -> None:
    """For what takes minutes: it runs with `-m slow`, and only then."""
    if "slow" not in request.config.getoption("markexpr"):
        pytest.skip("takes minutes: make slow")


@pytest.fixture
def log(tmp_path: Path) -> WrittenLog:
    return WrittenLog(tmp_path / "data")


class Broker(RunningBroker):
    """A real broker with a data directory, in a thread, spoken to over HTTP."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.ports['http']}"

    def ask(self, method: str, path: str, body: object = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"content-type": "application/json"}, method=method)
        with urllib.request.urlopen(request, timeout=20) as response:
            return json.loads(response.read())

    def publish(self, event: str, *bodies: str) -> None:
        for body in bodies:
            self.ask("POST", "/v1/publish", {"event": event, "body": body})

    def put(self, queue: str, *bodies: str) -> None:
        for body in bodies:
            self.ask("POST", "/v1/publish", {"queue": queue, "body": body})


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    running = Broker(memory=False, data=str(tmp_path / "broker"))
    running.start()
    yield running
    running.stop()


def is_second_run() -> bool:
    """Whether the suite runs interpreted after it ran compiled; nothing of Spark's side is compiled."""
    stamp = Path(__file__).parents[2] / ".venv" / ".penstock-package"
    return os.environ.get("PENSTOCK_PURE") == "1" and stamp.exists() and stamp.read_text().startswith("compiled")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A busy machine takes its time to start Java, and a call to it that is cut off spoils all that follow.

    What takes longest, clusters and killing, is done once.
    """
    once = pytest.mark.skip(reason="ran with the compiled package")
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.timeout(300))
            if is_second_run() and item.get_closest_marker("slow") is not None:
                item.add_marker(once)
