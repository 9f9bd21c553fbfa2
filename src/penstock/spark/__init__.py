"""The log as a Spark table, and Spark's results as messages. PySpark is imported only here; it is the extra `spark`."""

from penstock.spark.pipelines.own import pipeline

__all__ = ["pipeline"]
