"""Penstock: one message broker, five small queue protocols, one durable log, and Spark on top."""

__version__ = "0.2.0"
