"""Takes a snapshot of a broker's state, from which `core.replay` can start.

It is taken between two turns and has to be quick: the spans of a long queue are passed on without being expanded.
"""

from librt.strings import BytesWriter, write_i64_le
from mypy_extensions import i64

from penstock.core.broker import Broker
from penstock.core.delivery import Delivery, Item, message_of
from penstock.core.queue import Queue
from penstock.log.snapshot import QueueImage, Snapshot
from penstock.log.span import Span, SpanBuilder
from penstock.message import DeliveryOptions


def capture(broker: Broker, now: int) -> Snapshot:
    """Everything that survives a restart, at this position of the log."""
    log = broker.log
    snapshot = Snapshot(log.position, log.next_offset, now, [_image(queue) for queue in broker.queues.values()])
    snapshot.committed = dict(broker.writers.batches)
    snapshot.commit_times = dict(broker.writers.times)
    snapshot.dedup = broker.dedup.parts()
    return snapshot


def _image(queue: Queue) -> QueueImage:
    fresh = SpanBuilder(queue.log.tuning)
    placed = BytesWriter()
    for item in queue.backlog.head:
        _add(fresh, placed, item)
    for span in queue.backlog.spans:
        if span.places:
            for index in range(span.start, span.count):
                if not span.is_dead(index):
                    _place(
                        placed, span.after_offset(index), span.sequence(index), span.offset(index), span.retry(index)
                    )
        else:
            for part in span.trimmed(queue.log.tuning):
                # A copy, because the queue keeps changing its own.
                fresh.add_span(Span(part.first, part.count, part.size, part.offsets))
    for item in queue.backlog.tail:
        _add(fresh, placed, item)
    for after_offset, sequence, offset, retry in queue.unreadable:
        _place(placed, after_offset, sequence, offset, retry)
    for subscription in queue.consumers.active:
        for delivery in subscription.held():
            _place(placed, delivery.after_offset, delivery.sequence, delivery.offset, delivery.retry)
    delayed = BytesWriter()
    for entry in queue.delayed.entries():
        _place(delayed, entry.due_at, entry.offset, entry.retry, entry.size)
    return QueueImage(
        queue.name,
        queue.events,
        queue.patterns,
        queue.expires_after,
        fresh.finish(),
        placed.getvalue(),
        delayed.getvalue(),
        queue.expiring or _may_expire_later(queue),
        queue.consumers.paused,
        queue.used,
        queue.out_before() if queue.unacked else None,
    )


def _may_expire_later(queue: Queue) -> bool:
    """Whether an unacked, delayed or unreadable message may expire once it is ready again."""
    if queue.unreadable:
        return True
    for subscription in queue.consumers.active:
        for delivery in subscription.held():
            message = delivery.message
            if _expires(delivery.options if message is None else message.options):
                return True
    return any(entry.message is None or _expires(entry.message.options) for entry in queue.delayed.entries())


def _expires(options: DeliveryOptions | None) -> bool:
    return options is not None and options.expires_at > 0


def _add(fresh: SpanBuilder, placed: BytesWriter, item: Item) -> None:
    message = message_of(item)
    if isinstance(item, Delivery):
        _place(placed, item.after_offset, item.sequence, message.offset, item.retry)
    else:
        fresh.add_run(message.offset, 1, message.size)


def _place(places: BytesWriter, first: int, second: int, third: int, fourth: int) -> None:
    write_i64_le(places, i64(first))
    write_i64_le(places, i64(second))
    write_i64_le(places, i64(third))
    write_i64_le(places, i64(fourth))
