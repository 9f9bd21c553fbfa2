"""Spark finds this package by its name, so `format("penstock")` works without registration."""

from penstock.spark.source import PenstockDataSource as DefaultSource

__all__ = ["DefaultSource"]
