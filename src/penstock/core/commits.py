"""Commits: a batch of messages that is in the log as a whole or not at all."""

from typing import TYPE_CHECKING, Final

from penstock.core.limits import REFUSE
from penstock.core.queue import Queue
from penstock.errors import OVER_LIMIT, TOO_LARGE, Refused
from penstock.log.interface import Change
from penstock.message import REPLY_PREFIX, TO_CONSUMERS, TO_QUEUE, Message, queue_of

if TYPE_CHECKING:
    from penstock.core.broker import Broker

# The largest size of a commit in the log, where it is a single block.
COMMIT_SIZE_MAX: Final = 1 << 30
# The most queue copies a commit may create, counted per message and queue: they are all made in one turn.
COMMIT_COPIES_MAX: Final = 500_000


def commit_batch(broker: "Broker", writer: bytes, batch: int, messages: list[Message]) -> None:
    """Check the whole batch, then publish it. Raises Refused before anything has changed, except for new queues."""
    taken, routes = look_at(broker, messages)
    for index, message in enumerate(taken):
        if message.route == TO_QUEUE and not routes[index]:
            name = queue_of(message)
            if broker.would_make(name) or name in broker.queues:
                routes[index] = [broker.declare(name)]
            else:
                message.route = TO_CONSUMERS
    for queues in routes:
        for queue in queues:
            if queue.full and not queue.make_room():
                raise broker.full_error(queue)
    broker.deduplicated += len(messages) - len(taken)
    log = broker.log
    log.begin_whole()
    log.append_change(Change(Change.COMMITTED, writer, number=batch, at=broker.context.now))
    broker.writers.remember(writer, batch, broker.context.now)
    for index, message in enumerate(taken):
        broker.published += 1
        if not routes[index]:
            broker.unrouted += 1
        broker.take_in(message, routes[index])
    log.end_whole()
    if broker.requests.waiting:
        for message in taken:
            if message.route != TO_QUEUE and message.event.startswith(REPLY_PREFIX):
                broker.reply(message.event[len(REPLY_PREFIX) :], message.body)


def look_at(broker: "Broker", messages: list[Message]) -> tuple[list[Message], list[list[Queue]]]:
    """The messages of a batch to accept, and the queues each is routed to. Changes nothing; raises Refused."""
    taken: list[Message] = []
    routes: list[list[Queue]] = []
    known: dict[bytes, int] = {}  # ids in this batch, and when each expires
    made: set[bytes] = set()  # queues that would be created
    copies = 0
    size = 0
    for message in messages:
        if len(message.body) > broker.body_size_max:
            raise broker.not_taken(message)
        size += size_in_log(message)
        if size > COMMIT_SIZE_MAX:
            raise Refused(TOO_LARGE, f"commit is larger than {COMMIT_SIZE_MAX} bytes, the maximum size of a log block")
        to_queue = message.route == TO_QUEUE
        name = queue_of(message) if to_queue else message.event
        now = message.published_at
        seconds = broker.dedup_seconds(message, name)
        if seconds and (broker.is_known(message) or known.get(message.id, 0) > now):
            continue
        if seconds:
            known[message.id] = now + seconds * 1_000_000
        queues: list[Queue] = []
        queue = broker.queues.get(name) if to_queue else None
        if queue is not None:
            queues = [queue]
        elif to_queue and name not in made and broker.would_make(name):
            made.add(name)
            broker.check_new(name, len(made))
        elif not to_queue:
            queues = broker.routing.route(message) or []
        for queue in queues:
            if queue.full and queue.policy.full == REFUSE and not queue.make_room():
                raise broker.full_error(queue)
        copies += len(queues)
        if copies > COMMIT_COPIES_MAX:
            raise Refused(
                OVER_LIMIT, f"commit puts more than {COMMIT_COPIES_MAX} messages into queues: use smaller commits"
            )
        taken.append(message)
        routes.append(queues)
    return taken, routes


def size_in_log(message: Message) -> int:
    """An upper bound of a message's bytes in a block: each byte of a header may be escaped to six."""
    size = len(message.id) + len(message.body)
    if message.headers is not None:
        for name, value in message.headers.items():
            size += 6 * (len(name) + len(value) + 1)
    return size
