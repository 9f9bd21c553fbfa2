"""Structured logs on stderr: one event per line, for people on a terminal and as JSON everywhere else."""

import logging
import sys

import structlog

from penstock.plain import plain, plain_lines
from penstock.wire.session import Report

TRACES = ("traceback", "exception", "stack")  # details that have lines of their own


def made_plain(_: object, __: str, details: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """Names and requests of clients are in details: a terminal shows them, and obeys none."""
    for key, value in details.items():
        if isinstance(value, str):
            details[key] = plain_lines(value) if key in TRACES else plain(value)
    return details


def start_logs(level: str, style: str) -> Report:
    """How the rest of the broker reports: a function of level, event name and details."""
    for_people = style == "console" or (style == "auto" and sys.stderr.isatty())
    renderers: list[structlog.typing.Processor] = (
        [made_plain, structlog.dev.ConsoleRenderer()] if for_people else [structlog.processors.JSONRenderer()]
    )
    threshold = logging.getLevelNamesMapping()[level.upper()]
    logger = structlog.wrap_logger(
        structlog.WriteLogger(sys.stderr),
        processors=[structlog.processors.add_log_level, structlog.processors.TimeStamper(fmt="iso"), *renderers],
        wrapper_class=structlog.make_filtering_bound_logger(threshold),
        cache_logger_on_first_use=True,
    )
    methods = {name: getattr(logger, name) for name in ("debug", "info", "warning", "error")}

    def report(level: str, event: str, details: dict[str, object]) -> None:
        methods[level](event, **details)

    return report
