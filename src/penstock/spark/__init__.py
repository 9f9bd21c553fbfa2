"""The log as a Spark table, and Spark rows as messages. Only this package imports PySpark; it is the extra `spark`."""

from penstock.spark.pipelines.own import pipeline

__all__ = ["pipeline"]
