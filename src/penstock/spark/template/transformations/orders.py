"""A streaming table of messages, a view over it, and a sink that publishes messages."""

from pyspark import pipelines as dp
from pyspark.sql import DataFrame, SparkSession

spark = SparkSession.active()
SERVER = "{{server}}"


@dp.table
def messages() -> DataFrame:
    """All messages the broker has accepted, as they arrive."""
    stream = spark.readStream.format("penstock").option("servers", SERVER).option("maxOffsetsPerTrigger", 100_000)
    return stream.load().selectExpr("offset", "event", "id", "CAST(body AS STRING) AS body", "published_at")


@dp.materialized_view
def counts() -> DataFrame:
    """The number of messages per event."""
    return spark.read.table("messages").groupBy("event").count()


dp.create_sink("large", "penstock", {"servers": SERVER, "event": "message.large"})


@dp.append_flow(target="large")
def large_messages() -> DataFrame:
    """Publish an event `message.large` for every message larger than a kilobyte."""
    known = spark.readStream.table("messages").where("event <> 'message.large' AND length(body) > 1024")
    return known.selectExpr("id AS original", "event AS original_event", "length(body) AS characters")
