"""From messages to a plot: a broker, a shop and a worker, the log as a DataFrame, statistics, and an HTML page.

    python examples/spark_quickstart.py [DIRECTORY]

Everything is real and local; the broker runs in this process. It takes half a minute, most of it Spark starting.
"""

import json
import random
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from penstock.client import mqks
from penstock.spark.pipelines import stats
from penstock.spark.pipelines.job import Job
from penstock.spark.session import spark_session
from penstock.testing import Broker

ITEMS = ("turbine", "gate", "valve", "pipe", "gauge")
WINDOW = "1 second"
VISITS = 40  # per burst of orders


def trade(address: str, bursts: int) -> int:
    """A shop publishes orders in bursts and a worker acknowledges each. Returns the number of orders."""
    chance, chance_of_worker = random.Random(1), random.Random(2)
    orders = 0
    taken = threading.Semaphore(0)

    def work(order: mqks.ReceivedMessage) -> None:
        if chance_of_worker.random() < 0.02 and not order.retry:
            order.reject(confirm=True)  # it will be delivered again
            return
        order.ack(confirm=True)
        taken.release()

    with mqks.Client().connect(address) as shop, mqks.Client().connect(address) as worker:
        worker.consume("orders", ["order.placed"], work, manual_ack=True)
        for _ in range(bursts):
            for _ in range(chance.randrange(50, 150)):
                item, price = chance.choice(ITEMS), round(chance.random() * 1000, 2)
                shop.publish("order.placed", json.dumps({"id": orders, "item": item, "price": price}))
                orders += 1
            for _ in range(VISITS):
                shop.publish("shop.visited", json.dumps({"visitor": chance.randrange(500)}))
            time.sleep(0.3)
        for _ in range(orders):
            if not taken.acquire(timeout=20):
                raise TimeoutError("the worker did not get every order")
        shop.publish("shop.closed", "{}", confirm=True)  # Spark sees an ack together with the next message
    return orders


def revenue(spark: SparkSession, url: str) -> DataFrame:
    """The log is a table; fields of JSON bodies become columns."""
    orders = (
        spark.read.format("penstock")
        .options(servers=url, events="order.placed", payload="json")
        .schema("id BIGINT, item STRING, price DOUBLE")
        .load()
    )
    return orders.groupBy("item").agg(F.count("*").alias("orders"), F.round(F.sum("price"), 2).alias("revenue"))


def statistics(spark: SparkSession, url: str, directory: Path) -> None:
    """Runs the `stats` pipeline, which is also a command. It writes plain Parquet."""
    job = Job(spark, "stats", server=url, to=str(directory / "stats"), once=True, settings={"window": WINDOW})
    stats.run(job)


def quickstart(spark: SparkSession, directory: Path, bursts: int = 15) -> Path:
    """Runs every step and returns the path of the page."""
    with Broker(data=str(directory / "data"), http=0) as broker:
        url = f"http://{broker.address('http')}"
        print(f"{trade(broker.address('mqks'), bursts)} orders were published, taken and acknowledged")
        print("\nwhat was sold, read from the log:")
        revenue(spark, url).orderBy("item").show()
        statistics(spark, url, directory)
    page = directory / "stats.html"
    drawing = Path(__file__).with_name("plot_stats.py")
    subprocess.run([sys.executable, str(drawing), str(directory / "stats"), str(page)], check=True, capture_output=True)
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
