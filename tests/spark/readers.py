"""Readers as Spark would make them, without Spark."""

import pickle

from penstock.spark.options import SourceOptions
from penstock.spark.schema import schema_of
from penstock.spark.source import LogStreamReader


def reader(broker, kind=LogStreamReader, **given):
    options = SourceOptions.of({"servers": broker.url} | {key: str(value) for key, value in given.items()})
    return kind(options, schema_of(options))


def rows(stream, start, end):
    """What a batch gives, read as executors do: by copies of the reader."""
    found = []
    for part in stream.partitions(start, end):
        copy = pickle.loads(pickle.dumps(stream))
        found += [row for batch in copy.read(pickle.loads(pickle.dumps(part))) for row in batch.to_pylist()]
    return found
