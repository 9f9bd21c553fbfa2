"""Structured logs on stderr: one event per line, for people on a terminal and as JSON everywhere else.

Each event is rate-limited: above `LINES_PER_SECOND`, lines are dropped and their number is logged instead. One user or
address may use half of that, so that the events of others stay visible.
"""

import logging
import sys
import time
from collections.abc import Callable

import structlog

from penstock.auth.throttle import address_of
from penstock.core.places import NO_HOLDER, Places
from penstock.plain import plain, plain_lines
from penstock.report import Report

TRACES = ("traceback", "exception", "stack")  # details that may have several lines


def made_plain(_: object, __: str, details: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """Escape control characters: details contain client input, which must not control the terminal."""
    for key, value in details.items():
        if isinstance(value, str):
            details[key] = plain_lines(value) if key in TRACES else plain(value)
    return details


LINES_PER_SECOND = 100  # of one event, from all clients together


class Told:
    """How often one event was logged within a second."""

    def __init__(self, since: float) -> None:
        self.since = since
        self.lines = Places(LINES_PER_SECOND)
        self.left_out = 0


class Limited:
    """A rate limiter around a report function."""

    def __init__(self, report: Report, clock: Callable[[], float] = time.monotonic) -> None:
        self._report = report
        self._clock = clock
        self._told: dict[str, Told] = {}
        self._silenced: list[str] = []  # events with dropped lines that were not reported yet

    def __call__(self, level: str, event: str, details: dict[str, object]) -> None:
        now = self._clock()
        if self._silenced:
            self._tell_left_out(now)
        told = self._told.get(event)
        if told is None or now - told.since >= 1:
            told = self._told[event] = Told(now)
        who = _who_caused(details)
        if told.lines.has_room(who):
            told.lines.enter(who)
            self._report(level, event, details)
            return
        if not told.left_out:
            self._silenced.append(event)
        told.left_out += 1

    def _tell_left_out(self, now: float) -> None:
        for event in self._silenced[:]:
            told = self._told[event]
            if now - told.since >= 1:
                self._silenced.remove(event)
                details: dict[str, object] = {"of": event, "left_out": told.left_out, "per_second": LINES_PER_SECOND}
                self._report("warning", "log.limited", details)

    def close(self) -> None:
        """Report the lines dropped last."""
        self._tell_left_out(self._clock() + 1)


def _who_caused(details: dict[str, object]) -> str:
    """The user of an event, or else its address, or else nobody."""
    user = details.get("user")
    if isinstance(user, str) and user:
        return f"user {user!r}"
    peer = details.get("peer")
    return f"address {address_of(peer)}" if isinstance(peer, str) and peer else NO_HOLDER


def start_logs(level: str, style: str) -> Report:
    """Set up logging. Returns the report function: level, event name, details."""
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
