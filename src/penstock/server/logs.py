"""Structured logs on stderr: one event per line, for people on a terminal and as JSON everywhere else."""

import logging
import sys

import structlog

from penstock.wire.session import Report


def start_logs(level: str, style: str) -> Report:
    """How the rest of the broker reports: a function of level, event name and details."""
    for_people = style == "console" or (style == "auto" and sys.stderr.isatty())
    renderer: structlog.typing.Processor = (
        structlog.dev.ConsoleRenderer() if for_people else structlog.processors.JSONRenderer()
    )
    threshold = logging.getLevelNamesMapping()[level.upper()]
    logger = structlog.wrap_logger(
        structlog.WriteLogger(sys.stderr),
        processors=[structlog.processors.add_log_level, structlog.processors.TimeStamper(fmt="iso"), renderer],
        wrapper_class=structlog.make_filtering_bound_logger(threshold),
        cache_logger_on_first_use=True,
    )
    methods = {name: getattr(logger, name) for name in ("debug", "info", "warning", "error")}

    def report(level: str, event: str, details: dict[str, object]) -> None:
        methods[level](event, **details)

    return report
