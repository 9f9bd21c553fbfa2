"""Takes a snapshot of a broker's state, or of an open replay's, from which `core.replay` can start.

It is taken between two turns, or two blocks, and has to be quick: the spans of a long queue are passed on without being
expanded. They are copied, because queues and replays keep changing their own.
"""

from librt.strings import BytesWriter, write_i64_le
from mypy_extensions import i64

from penstock.core.broker import Broker
from penstock.core.delivery import Delivery, Item, message_of
from penstock.core.owed import Owed
from penstock.core.queue import Queue
from penstock.core.replay import Replay
from penstock.log.snapshot import QueueImage, Snapshot
from penstock.log.span import Span, SpanBuilder
from penstock.message import DeliveryOptions


def capture(broker: Broker, now: int) -> Snapshot:
    """Everything that survives a restart, at this position of the log."""
    log = broker.log
    images = [_image(queue) for queue in broker.queues.values()]
    return _with_ids(Snapshot(log.position, log.next_offset, now, images), broker)


def capture_replay(replay: Replay, now: int) -> Snapshot:
    """The same of a replay, between two blocks. It changes nothing: entries go on being applied."""
    queues = replay.broker.queues
    images = [_image_of_owed(queues[name], owed) for name, owed in replay.owed.items()]
    snapshot = Snapshot(replay.position, replay.next_offset, now, images)
    snapshot.has_gap = replay.has_gap
    return _with_ids(snapshot, replay.broker)


def _with_ids(snapshot: Snapshot, broker: Broker) -> Snapshot:
    """Add what is not of a queue: the writers' last batches, and ids."""
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
            _add_span(fresh, span)
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
    image = _image_with(queue, fresh, placed, delayed)
    image.expiring = queue.expiring or _may_expire_later(queue)
    image.out_before = queue.out_before() if queue.unacked else None
    return image


def _image_of_owed(queue: Queue, owed: Owed) -> QueueImage:
    fresh = SpanBuilder(owed.tuning)
    for span in owed.fresh_spans():
        _add_span(fresh, span)
    placed = BytesWriter()
    for offset, (after_offset, sequence, retry) in owed.placed.items():
        _place(placed, after_offset, sequence, offset, retry)
    delayed = BytesWriter()
    for offset, (due_at, retry, size) in owed.delayed.items():
        _place(delayed, due_at, offset, retry, size)
    image = _image_with(queue, fresh, placed, delayed)
    image.expiring = owed.expiring
    image.out_before = owed.out_before
    first_back, returned = owed.first_back()
    if first_back is not None:
        # Versions that do not know of `returned` take too few messages for unacked rather than too many.
        image.out_before = first_back
        image.out_until = owed.out_before
        image.returned = returned
    return image


def _image_with(queue: Queue, fresh: SpanBuilder, placed: BytesWriter, delayed: BytesWriter) -> QueueImage:
    return QueueImage(
        queue.name,
        queue.events,
        queue.patterns,
        queue.expires_after,
        fresh.finish(),
        placed.getvalue(),
        delayed.getvalue(),
        paused=queue.consumers.paused,
        used=queue.used,
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


def _add_span(fresh: SpanBuilder, span: Span) -> None:
    """Add a copy of a span of fresh messages."""
    for part in span.trimmed(fresh.tuning):
        fresh.add_span(Span(part.first, part.count, part.size, part.offsets))


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
