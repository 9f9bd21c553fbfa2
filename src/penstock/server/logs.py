"""Structured logs on stderr: one event per line, for people on a terminal and as JSON everywhere else.

Whatever clients do, one event is told so many times a second and no more; how many were left out is told instead. One
user, or one address, has half of that at most, so that what others do is seen beside it.
"""

import logging
import sys
import time
from collections.abc import Callable

import structlog

from penstock.access.lobby import address_of
from penstock.core.places import NOBODY, Places
from penstock.plain import plain, plain_lines
from penstock.wire.session import Report

TRACES = ("traceback", "exception", "stack")  # details that have lines of their own


def made_plain(_: object, __: str, details: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """Names and requests of clients are in details: a terminal shows them, and obeys none."""
    for key, value in details.items():
        if isinstance(value, str):
            details[key] = plain_lines(value) if key in TRACES else plain(value)
    return details


LINES_PER_SECOND = 100  # of one event, whoever causes it


class Told:
    """How often one event was told in a second."""

    def __init__(self, since: float) -> None:
        self.since = since
        self.lines = Places(LINES_PER_SECOND)
        self.left_out = 0


class Limited:
    """Passes on what is reported, and not more of one event in a second than anybody can read."""

    def __init__(self, report: Report, clock: Callable[[], float] = time.monotonic) -> None:
        self._report = report
        self._clock = clock
        self._told: dict[str, Told] = {}
        self._silenced: list[str] = []  # events of which some were left out, and that is not told yet

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
        """Tell what was left out last."""
        self._tell_left_out(self._clock() + 1)


def _who_caused(details: dict[str, object]) -> str:
    """The user, or the address where there is none; nobody where it is about neither."""
    user = details.get("user")
    if isinstance(user, str) and user:
        return f"user {user!r}"
    peer = details.get("peer")
    return f"address {address_of(peer)}" if isinstance(peer, str) and peer else NOBODY


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
