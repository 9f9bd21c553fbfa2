"""Found by Spark through its name: `format("penstock")` works with no registration."""

from penstock.spark.source import PenstockDataSource as DefaultSource

__all__ = ["DefaultSource"]
