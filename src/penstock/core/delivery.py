"""One message in one queue, once that takes more to say than its offset.

    ready ──► with a consumer (`open`) ──► settled: removed
      ▲          │          │
      │          │ reject   │ reject with a delay, or published with one
      └──────────┘          ▼
      └────────────────── delayed (`due_at`)

A message that is ready for the first time needs no record: its place in the queue is its offset.
"""

from typing import TYPE_CHECKING

from penstock.message import DeliveryOptions, Message

if TYPE_CHECKING:
    from penstock.core.subscription import Subscription


class Delivery:
    """Where a message stands in one queue.

    `after_offset` and `sequence` are its place (see `core.backlog`), where it returns to. Each step makes a new record,
    so a session that keeps one that is closed cannot settle the next.

    When memory is short, `message` is released if the log can give it back; `Queue.message_out` fetches it.
    """

    def __init__(
        self, message: Message | None, subscription: "Subscription | None", retry: int, after_offset: int, sequence: int
    ) -> None:
        self.message = message
        self.offset = -1 if message is None else message.offset
        self.size = 0 if message is None else message.size  # its size in memory, loaded or not
        self.subscription = subscription  # the consumer that has it
        self.retry = retry
        self.after_offset = after_offset
        self.sequence = sequence
        self.due_at = 0  # while it is delayed
        self.open = True
        self.older: Delivery | None = None  # of the same consumer
        self.newer: Delivery | None = None
        # Set when the message is released:
        self.options: DeliveryOptions | None = None
        self.published_at = 0


Item = Message | Delivery  # a ready message


def message_of(item: Item) -> Message:
    if isinstance(item, Delivery):
        message = item.message
        assert message is not None, "a ready message is in memory, or its place is in a span"
        return message
    return item


def retry_of(item: Item) -> int:
    return item.retry if isinstance(item, Delivery) else 0


def delivery_of(item: Item) -> Delivery:
    """The record of a ready message, which may be its first."""
    return item if isinstance(item, Delivery) else Delivery(item, None, 0, item.offset, 0)


def delayed_delivery(message: Message | None, offset: int, size: int, retry: int, due_at: int) -> Delivery:
    """The record of a message that is not due yet; without the message if the log has it."""
    delivery = Delivery(message, None, retry, 0, 0)
    delivery.offset = offset
    delivery.size = size
    delivery.due_at = due_at
    return delivery
