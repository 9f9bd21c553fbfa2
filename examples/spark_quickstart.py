"""From messages to a plot: a broker, a shop and a worker, the log as a DataFrame, statistics, a page that shows them.

    python examples/spark_quickstart.py [DIRECTORY]

Everything is real and on this machine; the broker is in this process. It takes half a minute, most of it Spark's start.
"""

import json
import random
import sys
import tempfile
import threading
import time
from importlib.resources import files
from itertools import cycle
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from penstock.client import mqks
from penstock.spark.pipelines import stats
from penstock.spark.pipelines.job import Job
from penstock.spark.session import spark_session
from penstock.testing import Broker

ITEMS = ("turbine", "gate", "valve", "pipe", "gauge")
WINDOW = "1 second"
COLOURS = ("#2a6f97", "#c9622d", "#5b8c5a", "#8a5a9e", "#7a7a7a")


def trade(address: str, bursts: int) -> int:
    """A shop publishes orders in bursts, a worker takes and acknowledges each; how many there were."""
    chance = random.Random(1)
    orders = 0
    taken = threading.Semaphore(0)

    def work(order: mqks.ReceivedMessage) -> None:
        order.ack(confirm=True)
        taken.release()

    with mqks.Client().connect(address) as shop, mqks.Client().connect(address) as worker:
        worker.consume("orders", ["order.placed"], work, manual_ack=True)
        for _ in range(bursts):
            for _ in range(chance.randrange(50, 150)):
                item, price = chance.choice(ITEMS), round(chance.random() * 1000, 2)
                shop.publish("order.placed", json.dumps({"id": orders, "item": item, "price": price}))
                orders += 1
            shop.publish("shop.visited", json.dumps({"visitors": chance.randrange(500)}))
            time.sleep(0.3)
        for _ in range(orders):
            if not taken.acquire(timeout=20):
                raise TimeoutError("the worker did not get every order")
        shop.publish("shop.closed", "{}", confirm=True)  # what was acknowledged is read together with what comes next
    return orders


def revenue(spark: SparkSession, url: str) -> DataFrame:
    """The log is a table: fields of JSON bodies are its columns."""
    orders = (
        spark.read.format("penstock")
        .options(servers=url, events="order.placed", payload="json")
        .schema("id BIGINT, item STRING, price DOUBLE")
        .load()
    )
    return orders.groupBy("item").agg(F.count("*").alias("orders"), F.round(F.sum("price"), 2).alias("revenue"))


def statistics(spark: SparkSession, url: str, directory: Path) -> list[dict[str, Any]]:
    """The pipeline `stats`, which is a command as well; its files are plain Parquet."""
    job = Job(spark, "stats", server=url, to=str(directory / "stats"), once=True, settings={"window": WINDOW})
    stats.run(job)
    table = spark.read.parquet(str(directory / "stats")).orderBy("window_start", "event")
    return [row.asDict() for row in table.collect()]


def plot(rows: list[dict[str, Any]], page: Path) -> None:
    """Published messages by window and event as bars, and the latency of what was acknowledged as a line; one file."""
    windows = sorted({row["window_start"] for row in rows})
    published = {event: dict.fromkeys(windows, 0) for event in sorted({row["event"] for row in rows})}
    latency: dict[Any, float | None] = dict.fromkeys(windows)
    for row in rows:
        published[row["event"]][row["window_start"]] += row["published"]
        if row["latency_p95"] is not None:
            latency[row["window_start"]] = row["latency_p95"] * 1000
    bars = [
        {"label": event, "data": list(counts.values()), "backgroundColor": colour, "stack": "all"}
        for (event, counts), colour in zip(published.items(), cycle(COLOURS), strict=False)
    ]
    line = {"type": "line", "label": "ms until acknowledged, p95", "data": list(latency.values()), "yAxisID": "ms"}
    chart = {
        "type": "bar",
        "data": {"labels": [f"{window:%H:%M:%S}" for window in windows], "datasets": [line, *bars]},
        "options": {"animation": False, "scales": {"y": {"stacked": True}, "ms": {"position": "right"}}},
    }
    library = files("chartkick").joinpath("django", "static", "chartkick", "Chart.bundle.js").read_text()
    page.write_text(
        "<!doctype html><meta charset=utf-8><title>Messages by second</title><h1>Messages by second</h1>"
        f"<canvas id=chart></canvas><script>{library}</script>"
        f"<script>new Chart(document.getElementById('chart'), {json.dumps(chart)})</script>\n"
    )


def quickstart(spark: SparkSession, directory: Path, bursts: int = 15) -> Path:
    """All of it; the page that it made."""
    with Broker(data=str(directory / "data"), http=0) as broker:
        url = f"http://{broker.address('http')}"
        print(f"{trade(broker.address('mqks'), bursts)} orders were published, taken and acknowledged")
        print("\nwhat was sold, read from the log:")
        revenue(spark, url).orderBy("item").show()
        rows = statistics(spark, url, directory)
    page = directory / "stats.html"
    plot(rows, page)
    print(f"\nthe plot of it: {page}")
    return page


def main() -> int:
    directory = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="penstock-quickstart-"))
    directory.mkdir(parents=True, exist_ok=True)
    spark = spark_session("penstock quickstart")
    try:
        quickstart(spark, directory)
    finally:
        spark.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
