"""Prometheus: totals of the broker, never one series for each queue; on request, series for a few named queues.

The text is written by hand: the broker keeps these counters anyway, and a metrics registry would only copy them once
more.
"""

import math
from collections.abc import Callable, Iterable
from typing import Annotated

from fastapi import APIRouter, Query, Response

from penstock import __version__
from penstock.access.rights import BROWSE, QUEUE
from penstock.access.user import User
from penstock.core.queue import NOBODY, Queue
from penstock.http.inside import Inside
from penstock.http.needs import DecidedRoute
from penstock.http.problems import not_found
from penstock.http.queues import oldest_of
from penstock.http.replies import Documented, problems
from penstock.http.statistics import memory_bytes
from penstock.http.texts import text_of
from penstock.server.doorstep import RESULTS, Doorstep
from penstock.server.timings import BOUNDS, Timings

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


def metrics_of(inside: Inside, memory_by_user: dict[str, int] | None = None) -> bytes:
    statistics = inside.statistics
    census = statistics.fresh_census()
    counters = statistics.counters(census)
    totals = statistics.totals(census)
    log = statistics.log()
    page = Exposition()
    page.family("penstock_info", "gauge", "Which Penstock this is.", [({"version": __version__}, 1)])
    page.one(
        "penstock_start_time_seconds", "gauge", "When the broker started, since 1970.", statistics.started_at / 1e6
    )
    for name, help in COUNTERS.items():
        page.one(f"penstock_messages_{name}_total", "counter", help, counters[name])
    page.one("penstock_queues", "gauge", "Queues that exist.", census.queues)
    page.one("penstock_queues_paused", "gauge", "Queues that give nothing out.", census.paused)
    page.one("penstock_queues_full", "gauge", "Queues at a limit.", census.full)
    page.one("penstock_messages_ready", "gauge", "Messages that wait in queues.", census.ready)
    page.one("penstock_messages_unacked", "gauge", "Messages in the hands of consumers.", census.unacked)
    page.one("penstock_messages_delayed", "gauge", "Messages that are not due yet.", census.delayed)
    page.one("penstock_queue_bytes", "gauge", "Bytes of messages in queues, overhead included.", census.bytes)
    page.one(
        "penstock_oldest_message_age_seconds",
        "gauge",
        "Age of the oldest message at the head of a queue or in work; 0 when there is none.",
        float(str(totals["oldest_age_seconds"] or 0)),
    )
    page.one("penstock_consumers", "gauge", "Consumers of all queues.", census.consumers)
    by_protocol = dict.fromkeys([name for name in inside.ports if name != "http"], 0) | statistics.connections()
    page.family(
        "penstock_connections",
        "gauge",
        "Open connections.",
        [({"protocol": protocol}, count) for protocol, count in sorted(by_protocol.items())],
    )
    page.one(
        "penstock_publishers_paused",
        "gauge",
        "Connections that are not read while memory is short or the disk is behind.",
        len(inside.board.paused),
    )
    account = inside.board.account
    account.held = census.held
    page.family(
        "penstock_memory_bytes",
        "gauge",
        "What the broker holds for others, by kind.",
        [({"kind": kind}, size) for kind, size in account.kinds().items()],
    )
    by_user = sorted((memory_by_user or {"": 0}).items(), key=lambda item: (-item[1], item[0]))
    page.family(
        "penstock_user_memory_bytes",
        "gauge",
        "What connections of a user have not finished asking, have not read and have not acked; most first.",
        [({"user": name}, size) for name, size in by_user[:USERS_MAX]],
    )
    page.one("penstock_memory_limit_bytes", "gauge", "memory_bytes_max.", account.limit)
    page.one(
        "penstock_consumers_restrained",
        "gauge",
        "Connections that are given nothing more before they settle something: memory is short.",
        len(inside.board.holdings.restrained),
    )
    page.one("penstock_log_next_offset", "gauge", "Offset the next message gets.", log["next_offset"])
    page.one("penstock_log_durable_offset", "gauge", "Every message before it is on the disk.", log["durable_offset"])
    page.one("penstock_log_behind_bytes", "gauge", "Accepted and not written to the disk yet.", log["behind_bytes"])
    page.one("penstock_log_full", "gauge", "1 while the disk has no room.", int(bool(inside.broker.shut_because)))
    if inside.storage is not None:
        page.histogram("penstock_fsync_seconds", "How long the disk took to sync.", inside.storage.syncs())
    page.histogram("penstock_loop_lag_seconds", "How late the loop was with what was due.", statistics.lag)
    _add_tls(page, inside.doorstep)
    _add_access(page, inside)
    pipelines = [({"pipeline": name}, report) for name, report in list(inside.pipelines.items())[-PIPELINES_MAX:]]
    for name, kind, help in PIPELINE_FAMILIES:
        values = [(labels, float(str(report.get(name) or 0))) for labels, report in pipelines]
        page.family(f"penstock_pipeline_{name}{'_total' if kind == 'counter' else ''}", kind, help, values)
    page.one("process_resident_memory_bytes", "gauge", "Resident memory.", memory_bytes())
    page.one(
        "process_cpu_seconds_total", "counter", "Time spent on a processor.", float(statistics.process["cpu_seconds"])
    )
    return page.text()


def _add_tls(page: Exposition, doorstep: Doorstep | None) -> None:
    """Without TLS the families are present too, so that alerts and dashboards can refer to them."""
    certificates = None if doorstep is None else doorstep.certificates
    expiries = {} if certificates is None else certificates.expiries
    page.family(
        "penstock_tls_certificate_expiry_timestamp_seconds",
        "gauge",
        "When a certificate in use ends, since 1970.",
        [({"kind": kind, "subject": subject}, until) for (kind, subject), until in expiries.items()],
    )
    reloads = {"done": 0, "failed": 0} if certificates is None else certificates.reloads
    page.family(
        "penstock_tls_reloads_total",
        "counter",
        "Times that certificates were read again, and taken or not.",
        [({"result": result}, count) for result, count in reloads.items()],
    )
    handshakes = dict.fromkeys(RESULTS, 0) if doorstep is None else doorstep.counts
    page.family(
        "penstock_tls_handshakes_total",
        "counter",
        "TLS handshakes that have ended, by how.",
        [({"result": result}, count) for result, count in handshakes.items()],
    )
    page.one("penstock_tls_handshakes", "gauge", "TLS handshakes under way.", 0 if doorstep is None else len(doorstep))


def _add_access(page: Exposition, inside: Inside) -> None:
    """Users, failed authentications, and usage by user. Without authentication there are no users to report."""
    access = inside.hub.access
    doorman = inside.doorman
    users = [] if access is None else list(access.users.values())
    page.one("penstock_auth_enabled", "gauge", "1 while clients have to say who they are.", int(access is not None))
    page.one(
        "penstock_auth_failures_total",
        "counter",
        "Times that somebody failed to say who they are, at all doors.",
        0 if access is None else access.lobby.failures,
    )
    page.one(
        "penstock_auth_lockouts_total",
        "counter",
        "Times that an address or a user was locked out of HTTP for guessing.",
        doorman.lockouts(),
    )
    page.one("penstock_auth_locked_out", "gauge", "Addresses and users that are locked out.", doorman.locked())
    page.one(
        "penstock_connections_unauthenticated",
        "gauge",
        "Connections that have not said who they are yet.",
        0 if access is None else access.lobby.count + inside.strangers.count,
    )
    page.one("penstock_logins", "gauge", "Logins to the console.", len(inside.logins))
    page.one("penstock_users", "gauge", "Users that are known.", len(users))
    page.one("penstock_tokens", "gauge", "Tokens that are known.", sum(len(user.tokens) for user in users))
    shown, others = users[:USERS_MAX], users[USERS_MAX:]
    for name, kind, help, value in USER_FAMILIES:
        samples: list[tuple[Labels, float]] = [({"user": user.name}, value(user)) for user in shown]
        if others:
            samples.append(({"user": OTHERS}, sum(value(user) for user in others)))
        page.family(f"penstock_user_{name}", kind, help, samples)
    quotas = [
        ({"user": user.name, "quota": quota}, amount) for user in shown for quota, amount in user.quotas.said().items()
    ]
    page.family("penstock_user_quota", "gauge", "What a user may use; without a sample, without limit.", quotas)


USERS_MAX = 50  # users with series of their own; the rest are added up
OTHERS = "_others"  # not a valid user name

USER_FAMILIES: tuple[tuple[str, str, str, Callable[[User], int]], ...] = (
    ("connections", "gauge", "Open connections of a user.", lambda user: user.connections),
    ("queues", "gauge", "Queues it has made, where a quota counts them.", lambda user: len(user.made)),
    ("published_total", "counter", "Messages it has published.", lambda user: user.published),
    ("received_bytes_total", "counter", "Bytes it has sent.", lambda user: user.received_bytes),
    ("denied_total", "counter", "Requests it had no right to.", lambda user: user.denied),
    ("paused_total", "counter", "Times it had to wait for its quotas.", lambda user: user.paused),
)

COUNTERS = {
    "published": "Messages published, wanted by a queue or not.",
    "unrouted": "Messages published that no queue wanted.",
    "refused": "Messages that a full queue or a full disk did not take.",
    "queued": "Copies of messages that went into a queue.",
    "delivered": "Deliveries, redeliveries included.",
    "retried": "Deliveries that came back.",
    "dropped": "Messages a queue gave up.",
    "expired": "Messages that outlived their time.",
    "dead_lettered": "Messages that went to a dead-letter queue.",
    "deduplicated": "Publishes that had been seen before.",
}

PIPELINES_MAX = 50  # those that reported last; limits the number of series

PIPELINE_FAMILIES = (
    ("lag", "gauge", "Offsets between a pipeline and the end of the log."),
    ("rows_per_second", "gauge", "How fast its last batch was."),
    ("seconds", "gauge", "How long its last batch took."),
    ("batches", "counter", "Batches with rows in them."),
)

QUEUE_FAMILIES = (
    ("penstock_queue_messages_ready", "gauge", "Messages that wait.", "ready"),
    ("penstock_queue_messages_unacked", "gauge", "Messages in the hands of consumers.", "unacked"),
    ("penstock_queue_messages_retried_total", "counter", "Deliveries that came back.", "retried"),
    ("penstock_queue_messages_expired_total", "counter", "Messages that outlived their time.", "expired"),
    ("penstock_queue_messages_dead_lettered_total", "counter", "Messages that became dead letters.", "dead_lettered"),
    ("penstock_queue_messages_queued_total", "counter", "Messages that came in.", "queued"),
    ("penstock_queue_messages_delivered_total", "counter", "Deliveries.", "delivered"),
    ("penstock_queue_messages_dropped_total", "counter", "Messages it gave up.", "dropped"),
)


def detail_of(queues: list[Queue], now: int) -> bytes:
    page = Exposition()
    for name, kind, help, attribute in QUEUE_FAMILIES:
        page.family(name, kind, help, [({"queue": text_of(q.name)}, getattr(q, attribute)) for q in queues])
    page.family(
        "penstock_queue_consumers",
        "gauge",
        "Consumers.",
        [({"queue": text_of(q.name)}, q.consumer_count()) for q in queues],
    )
    page.family(
        "penstock_queue_size_bytes",
        "gauge",
        "Bytes of its messages, overhead included.",
        [({"queue": text_of(q.name)}, q.size()) for q in queues],
    )
    page.family(
        "penstock_queue_oldest_message_age_seconds",
        "gauge",
        "Age of its oldest message; 0 when there is none.",
        [({"queue": text_of(q.name)}, age_of(q, now)) for q in queues],
    )
    return page.text()


def age_of(queue: Queue, now: int) -> float:
    oldest = oldest_of(queue)
    return 0.0 if oldest == NOBODY else max(0, now - oldest) / 1_000_000


def routes(inside: Inside) -> APIRouter:
    router = APIRouter(route_class=DecidedRoute, tags=["metrics"])
    text: Documented = {
        200: {"content": {MEDIA_TYPE: {"schema": {"type": "string"}}}, "description": "Prometheus text."}
    }

    @router.get("/metrics", response_class=Response, responses={**text, **problems()}, summary="Totals")
    async def metrics() -> Response:
        return Response(metrics_of(inside, await inside.board.account.by_user()), media_type=MEDIA_TYPE)

    @router.get(
        "/metrics/detail", response_class=Response, responses={**text, **problems(404)}, summary="Some queues by name"
    )
    async def detail(
        queue: Annotated[list[str], Query(description="A queue's name.", min_length=1, max_length=DETAIL_MAX)],
    ) -> Response:
        for name in queue:
            inside.caller.check(BROWSE, QUEUE, name.encode())
        found = [inside.queue(name.encode()) for name in dict.fromkeys(queue)]
        if not found:
            raise not_found("name a queue")
        return Response(detail_of(found, inside.clock.now()), media_type=MEDIA_TYPE)

    return router
