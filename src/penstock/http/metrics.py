"""Prometheus: totals of the broker, never one series for each queue; on request, series for a few named queues.

The text is written by hand: the broker keeps these counters anyway, and a metrics registry would only copy them once
more.
"""

import math
from collections.abc import Callable, Iterable
from typing import Annotated

from fastapi import APIRouter, Query, Response

from penstock import __version__
from penstock.auth.rights import BROWSE, QUEUE
from penstock.auth.user import User
from penstock.core.queue import Queue
from penstock.core.queue_store import NO_MESSAGE
from penstock.http.context import AppContext
from penstock.http.permissions import AuthorizedRoute
from penstock.http.problems import not_found
from penstock.http.queues import oldest_of
from penstock.http.replies import Documented, problems
from penstock.http.statistics import memory_bytes
from penstock.http.texts import text_of
from penstock.server.handshakes import RESULTS, HandshakeLimiter
from penstock.storage.timings import BOUNDS, Timings

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
DETAIL_MAX = 100

Labels = dict[str, str]


class Exposition:
    """The text format, written family by family."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def family(self, name: str, kind: str, help: str, samples: Iterable[tuple[Labels, float]]) -> None:
        self._lines += [f"# HELP {name} {help}", f"# TYPE {name} {kind}"]
        self._lines += [f"{name}{labels_of(labels)} {number_of(value)}" for labels, value in samples]

    def one(self, name: str, kind: str, help: str, value: float) -> None:
        self.family(name, kind, help, [({}, value)])

    def histogram(self, name: str, help: str, timings: Timings) -> None:
        self._lines += [f"# HELP {name} {help}", f"# TYPE {name} histogram"]
        total = 0
        for bound, count in zip(BOUNDS, timings.counts, strict=False):
            total += count
            self._lines.append(f'{name}_bucket{{le="{bound}"}} {total}')
        total += timings.counts[-1]
        self._lines += [f'{name}_bucket{{le="+Inf"}} {total}', f"{name}_sum {timings.sum}", f"{name}_count {total}"]

    def text(self) -> bytes:
        return ("\n".join(self._lines) + "\n").encode()


def labels_of(labels: Labels) -> str:
    if not labels:
        return ""
    escaped = (
        (key, value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")) for key, value in labels.items()
    )
    return "{" + ",".join(f'{key}="{value}"' for key, value in escaped) + "}"


def number_of(value: float) -> str:
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"
    return str(int(value)) if value == int(value) else repr(float(value))


def metrics_of(context: AppContext, memory_by_user: dict[str, int] | None = None) -> bytes:
    statistics = context.statistics
    queue_totals = statistics.fresh_totals()
    counters = statistics.counters(queue_totals)
    totals = statistics.totals(queue_totals)
    log = statistics.log()
    page = Exposition()
    page.family("penstock_info", "gauge", "Version of the broker.", [({"version": __version__}, 1)])
    page.one(
        "penstock_start_time_seconds",
        "gauge",
        "Start time of the broker, as a Unix timestamp.",
        statistics.started_at / 1e6,
    )
    for name, help in COUNTERS.items():
        page.one(f"penstock_messages_{name}_total", "counter", help, counters[name])
    page.one("penstock_queues", "gauge", "Number of queues.", queue_totals.queues)
    page.one("penstock_queues_paused", "gauge", "Paused queues.", queue_totals.paused)
    page.one("penstock_queues_full", "gauge", "Queues that have reached a limit.", queue_totals.full)
    page.one("penstock_messages_ready", "gauge", "Messages ready for delivery.", queue_totals.ready)
    page.one("penstock_messages_unacked", "gauge", "Messages delivered but not acked yet.", queue_totals.unacked)
    page.one("penstock_messages_delayed", "gauge", "Messages that are not due yet.", queue_totals.delayed)
    page.one("penstock_queue_bytes", "gauge", "Size of all messages in queues, including overhead.", queue_totals.bytes)
    page.one(
        "penstock_oldest_message_age_seconds",
        "gauge",
        "Age of the oldest message at the head of a queue or not acked yet; 0 if there is none.",
        float(str(totals["oldest_age_seconds"] or 0)),
    )
    page.one("penstock_consumers", "gauge", "Consumers of all queues.", queue_totals.consumers)
    by_protocol = dict.fromkeys([name for name in context.ports if name != "http"], 0) | statistics.connections()
    page.family(
        "penstock_connections",
        "gauge",
        "Open connections.",
        [({"protocol": protocol}, count) for protocol, count in sorted(by_protocol.items())],
    )
    page.one(
        "penstock_publishers_paused",
        "gauge",
        "Connections the broker does not read from because memory is short or the disk is behind.",
        len(context.reactor.paused),
    )
    account = context.reactor.account
    account.held = queue_totals.held
    page.family(
        "penstock_memory_bytes",
        "gauge",
        "Memory held for clients and queues, by kind.",
        [({"kind": kind}, size) for kind, size in account.kinds().items()],
    )
    by_user = sorted((memory_by_user or {"": 0}).items(), key=lambda item: (-item[1], item[0]))
    page.family(
        "penstock_user_memory_bytes",
        "gauge",
        "Memory held for a user's connections: unprocessed input, unsent output and unacked messages. Largest first.",
        [({"user": name}, size) for name, size in by_user[:USERS_MAX]],
    )
    page.one("penstock_memory_limit_bytes", "gauge", "The setting memory_bytes_max.", account.limit)
    page.one(
        "penstock_consumers_restrained",
        "gauge",
        "Connections that get no more messages until they settle some, because memory is short.",
        len(context.reactor.holdings.restrained),
    )
    page.one("penstock_log_next_offset", "gauge", "Offset of the next message.", log["next_offset"])
    page.one(
        "penstock_log_durable_offset", "gauge", "All messages before this offset are on disk.", log["durable_offset"]
    )
    page.one("penstock_log_behind_bytes", "gauge", "Bytes accepted but not written to disk yet.", log["behind_bytes"])
    page.one(
        "penstock_log_full", "gauge", "1 while the disk is full, otherwise 0.", int(bool(context.broker.refuse_reason))
    )
    if context.storage is not None:
        page.histogram("penstock_fsync_seconds", "Duration of fsync calls.", context.storage.syncs())
    page.histogram("penstock_loop_lag_seconds", "Delay of timers on the event loop.", statistics.lag)
    _add_tls(page, context.handshakes)
    _add_access(page, context)
    pipelines = [({"pipeline": name}, report) for name, report in list(context.pipelines.items())[-PIPELINES_MAX:]]
    for name, kind, help in PIPELINE_FAMILIES:
        values = [(labels, float(str(report.get(name) or 0))) for labels, report in pipelines]
        page.family(f"penstock_pipeline_{name}{'_total' if kind == 'counter' else ''}", kind, help, values)
    page.one("process_resident_memory_bytes", "gauge", "Resident memory.", memory_bytes())
    page.one("process_cpu_seconds_total", "counter", "CPU time used.", float(statistics.process["cpu_seconds"]))
    return page.text()


def _add_tls(page: Exposition, handshakes: HandshakeLimiter | None) -> None:
    """Without TLS the families are present too, so that alerts and dashboards can refer to them."""
    certificates = None if handshakes is None else handshakes.certificates
    expiries = {} if certificates is None else certificates.expiries
    page.family(
        "penstock_tls_certificate_expiry_timestamp_seconds",
        "gauge",
        "Expiry of a certificate in use, as a Unix timestamp.",
        [({"kind": kind, "subject": subject}, until) for (kind, subject), until in expiries.items()],
    )
    reloads = {"done": 0, "failed": 0} if certificates is None else certificates.reloads
    page.family(
        "penstock_tls_reloads_total",
        "counter",
        "Certificate reloads, by result.",
        [({"result": result}, count) for result, count in reloads.items()],
    )
    results = dict.fromkeys(RESULTS, 0) if handshakes is None else handshakes.counts
    page.family(
        "penstock_tls_handshakes_total",
        "counter",
        "Finished TLS handshakes, by result.",
        [({"result": result}, count) for result, count in results.items()],
    )
    page.one(
        "penstock_tls_handshakes", "gauge", "TLS handshakes in progress.", 0 if handshakes is None else len(handshakes)
    )


def _add_access(page: Exposition, context: AppContext) -> None:
    """Users, failed authentications, and usage by user. Without authentication there are no users to report."""
    access = context.hub.access
    authenticator = context.authenticator
    users = [] if access is None else list(access.users.values())
    page.one(
        "penstock_auth_enabled", "gauge", "1 if clients have to authenticate, otherwise 0.", int(access is not None)
    )
    page.one(
        "penstock_auth_failures_total",
        "counter",
        "Failed authentications, on all ports.",
        0 if access is None else access.throttle.failures,
    )
    page.one(
        "penstock_auth_lockouts_total",
        "counter",
        "Times an address or a user was locked out of HTTP after failed attempts.",
        authenticator.lockouts(),
    )
    page.one("penstock_auth_locked_out", "gauge", "Addresses and users currently locked out.", authenticator.locked())
    page.one(
        "penstock_connections_unauthenticated",
        "gauge",
        "Connections that have not authenticated yet.",
        0 if access is None else len(access.throttle.pending) + len(context.unauthenticated),
    )
    page.one("penstock_logins", "gauge", "Current console logins.", len(context.logins))
    page.one("penstock_users", "gauge", "Number of users.", len(users))
    page.one("penstock_tokens", "gauge", "Number of tokens.", sum(len(user.tokens) for user in users))
    shown, others = users[:USERS_MAX], users[USERS_MAX:]
    for name, kind, help, value in USER_FAMILIES:
        samples: list[tuple[Labels, float]] = [({"user": user.name}, value(user)) for user in shown]
        if others:
            samples.append(({"user": OTHERS}, sum(value(user) for user in others)))
        page.family(f"penstock_user_{name}", kind, help, samples)
    quotas = [
        ({"user": user.name, "quota": quota}, amount) for user in shown for quota, amount in user.quotas.said().items()
    ]
    page.family("penstock_user_quota", "gauge", "Quotas of the user; a quota without a sample is unlimited.", quotas)


USERS_MAX = 50  # users with series of their own; the rest are added up
OTHERS = "_others"  # not a valid user name

USER_FAMILIES: tuple[tuple[str, str, str, Callable[[User], int]], ...] = (
    ("connections", "gauge", "Open connections of the user.", lambda user: user.connections),
    ("queues", "gauge", "Queues the user created, if it has a quota for queues.", lambda user: len(user.made)),
    ("published_total", "counter", "Messages published by the user.", lambda user: user.published),
    ("received_bytes_total", "counter", "Bytes sent by the user.", lambda user: user.received_bytes),
    ("denied_total", "counter", "Requests denied because the user lacked the permission.", lambda user: user.denied),
    ("paused_total", "counter", "Times the user was paused by a quota.", lambda user: user.paused),
)

COUNTERS = {
    "published": "Messages published, routed to a queue or not.",
    "unrouted": "Messages published but not routed to any queue.",
    "refused": "Messages refused because a queue or the disk was full.",
    "queued": "Copies of messages put into queues.",
    "delivered": "Deliveries, including redeliveries.",
    "retried": "Deliveries returned to their queue.",
    "dropped": "Messages dropped by queues.",
    "expired": "Messages that expired.",
    "dead_lettered": "Messages moved to a dead-letter queue.",
    "deduplicated": "Publishes ignored as duplicates.",
}

PIPELINES_MAX = 50  # those that reported last; limits the number of series

PIPELINE_FAMILIES = (
    ("lag", "gauge", "Offsets between the pipeline and the end of the log."),
    ("rows_per_second", "gauge", "Rows per second of the last batch."),
    ("seconds", "gauge", "Duration of the last batch."),
    ("batches", "counter", "Batches that contained rows."),
)

QUEUE_FAMILIES = (
    ("penstock_queue_messages_ready", "gauge", "Messages ready for delivery.", "ready"),
    ("penstock_queue_messages_unacked", "gauge", "Messages delivered but not acked yet.", "unacked"),
    ("penstock_queue_messages_retried_total", "counter", "Deliveries returned to their queue.", "retried"),
    ("penstock_queue_messages_expired_total", "counter", "Messages that expired.", "expired"),
    (
        "penstock_queue_messages_dead_lettered_total",
        "counter",
        "Messages moved to a dead-letter queue.",
        "dead_lettered",
    ),
    ("penstock_queue_messages_queued_total", "counter", "Messages put into the queue.", "queued"),
    ("penstock_queue_messages_delivered_total", "counter", "Deliveries, including redeliveries.", "delivered"),
    ("penstock_queue_messages_dropped_total", "counter", "Messages dropped by the queue.", "dropped"),
)


def detail_of(queues: list[Queue], now: int) -> bytes:
    page = Exposition()
    for name, kind, help, attribute in QUEUE_FAMILIES:
        page.family(name, kind, help, [({"queue": text_of(q.name)}, getattr(q, attribute)) for q in queues])
    page.family(
        "penstock_queue_consumers",
        "gauge",
        "Consumers of the queue.",
        [({"queue": text_of(q.name)}, q.consumer_count()) for q in queues],
    )
    page.family(
        "penstock_queue_size_bytes",
        "gauge",
        "Size of the queue's messages, including overhead.",
        [({"queue": text_of(q.name)}, q.size()) for q in queues],
    )
    page.family(
        "penstock_queue_oldest_message_age_seconds",
        "gauge",
        "Age of the queue's oldest message; 0 if there is none.",
        [({"queue": text_of(q.name)}, age_of(q, now)) for q in queues],
    )
    return page.text()


def age_of(queue: Queue, now: int) -> float:
    oldest = oldest_of(queue)
    return 0.0 if oldest == NO_MESSAGE else max(0, now - oldest) / 1_000_000


def routes(context: AppContext) -> APIRouter:
    router = APIRouter(route_class=AuthorizedRoute, tags=["metrics"])
    text: Documented = {
        200: {
            "content": {MEDIA_TYPE: {"schema": {"type": "string"}}},
            "description": "Metrics in the Prometheus text format.",
        }
    }

    @router.get(
        "/metrics", response_class=Response, responses={**text, **problems()}, summary="Get the broker's totals"
    )
    async def metrics() -> Response:
        return Response(metrics_of(context, await context.reactor.account.by_user()), media_type=MEDIA_TYPE)

    @router.get(
        "/metrics/detail",
        response_class=Response,
        responses={**text, **problems(404)},
        summary="Get the metrics of named queues",
    )
    async def detail(
        queue: Annotated[
            list[str],
            Query(
                description="Name of a queue. Repeat the parameter for more queues.",
                min_length=1,
                max_length=DETAIL_MAX,
            ),
        ],
    ) -> Response:
        for name in queue:
            context.caller.check(BROWSE, QUEUE, name.encode())
        found = [context.queue(name.encode()) for name in dict.fromkeys(queue)]
        if not found:
            raise not_found("no queue is given")
        return Response(detail_of(found, context.clock.now()), media_type=MEDIA_TYPE)

    return router
