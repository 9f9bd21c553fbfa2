"""User-defined pipelines: functions from DataFrame to DataFrame in a Python file.

    from penstock.spark import pipeline

    @pipeline(events="order.placed", payload="string", event="order.big")
    def big_orders(orders):
        return orders.where("get_json_object(body, '$.price') > 100")

    penstock pipeline run my_pipelines.py --server URL             # or my_pipelines.py:big_orders

`@pipeline` takes options of the source, and event=, queue= or to= for the destination of the rows: an event, a queue,
or a directory of Parquet files. The command line takes precedence over both.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from penstock.errors import Error

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from penstock.spark.pipelines.job import Job


class OwnPipelineError(Error):
    """The file cannot be used."""


@dataclass
class OwnPipeline:
    """A function decorated with `@pipeline`. Calling it calls the function."""

    transform: Callable[..., DataFrame]
    name: str
    event: str = ""
    queue: str = ""
    to: str = ""
    mode: str = "append"
    source: dict[str, str] = field(default_factory=dict)

    def __call__(self, *frames: DataFrame) -> DataFrame:
        return self.transform(*frames)


def pipeline(
    function: Callable[..., DataFrame] | None = None,
    *,
    name: str = "",
    event: str = "",
    queue: str = "",
    to: str = "",
    mode: str = "append",
    **source: object,
) -> Any:
    """Decorate a function as a pipeline, with or without arguments."""

    def mark(marked: Callable[..., DataFrame]) -> OwnPipeline:
        options = {key: str(value) for key, value in source.items()}
        return OwnPipeline(marked, name or marked.__name__, event, queue, to, mode, options)

    return mark if function is None else mark(function)


def load(place: str) -> OwnPipeline:
    """Load the pipeline from FILE.py, or from FILE.py:NAME if the file has several."""
    file, _, wanted = place.partition(":")
    found = {value.name: value for value in vars(_module(file)).values() if isinstance(value, OwnPipeline)}
    if not found:
        raise OwnPipelineError(f"{file} has no function marked with @pipeline")
    if not wanted and len(found) > 1:
        raise OwnPipelineError(
            f"{file} has several pipelines; choose one: {', '.join(f'{file}:{n}' for n in sorted(found))}"
        )
    if wanted and wanted not in found:
        raise OwnPipelineError(f"{file} has no pipeline {wanted!r}; it has {', '.join(sorted(found))}")
    return found[wanted or next(iter(found))]


def _module(file: str) -> ModuleType:
    path = Path(file)
    if not path.is_file():
        raise OwnPipelineError(f"{file}: no such file")
    spec = importlib.util.spec_from_file_location(f"penstock_own_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise OwnPipelineError(f"{file} cannot be loaded: {type(error).__name__}: {error}") from error
    return module


def run(job: Job, own: OwnPipeline) -> dict[str, int]:
    from penstock.spark.lake import absolute

    if not (job.event or job.queue or job.to):
        job.event, job.queue, job.to = own.event, own.queue, own.to
    if not (job.event or job.queue or job.to):
        raise OwnPipelineError(f"{own.name} has no target: use --event, --queue or --to")
    job.source = own.source | job.source

    def begin() -> Any:
        rows = own(job.stream())
        if job.event or job.queue:
            return job.start(rows.writeStream.format("penstock").options(**job.sink()).outputMode(own.mode))
        return job.start(rows.writeStream.format("parquet").option("path", absolute(job.to)))

    return job.run(begin)
