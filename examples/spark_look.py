"""Counts a broker's messages with Spark: `python examples/spark_look.py http://127.0.0.1:7780`."""

import sys

from penstock.spark.session import spark_session


def main(server: str) -> None:
    spark = spark_session("look")
    log = spark.read.format("penstock").option("servers", server).load()
    log.groupBy("event", "protocol").count().orderBy("event", "protocol").show()
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:7780")
