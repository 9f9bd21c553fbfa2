"""Invariants of every queue between two turns, cheap enough to check for each one that was touched.

What a queue owes is known in three ways: from the log (messages added, less those that ended), from the counters, and
from the actual contents. If two of them differ, a message was or will be lost or duplicated.
"""

from typing import TYPE_CHECKING, Final

from penstock.core.delivery import message_of
from penstock.errors import Error
from penstock.message import MESSAGE_OVERHEAD, UNSHARED, Message

if TYPE_CHECKING:
    from penstock.core.context import BrokerContext
    from penstock.core.queue_store import QueueStore


class Inconsistent(Error):
    """The contents of a queue differ from its counters or its log."""


# How many entries are summed for a check; if there are more, the sum is not verified until the queue is short again.
WALK_MAX: Final = 32


def violations(queue: "QueueStore") -> str:
    """A description of what is wrong with the queue; empty when nothing is."""
    backlog = queue.backlog
    ready = queue.ready
    unacked = queue.unacked
    in_memory = len(backlog.head) + len(backlog.tail)
    if len(backlog.spans) <= WALK_MAX:
        found = in_memory
        if len(backlog.spans):
            for span in backlog.spans:
                found += span.live
        if found != ready:
            return f"counted {ready} ready messages, found {found}"
    held = queue.queued - queue.ack_run.ended
    if held != ready + unacked + len(queue.delayed) + len(queue.unreadable):
        return (
            f"the log has {held} unsettled messages, the queue {ready} ready, {unacked} unacked, "
            f"{len(queue.delayed)} delayed and {len(queue.unreadable)} unreadable"
        )
    if len(queue.consumers.active) <= WALK_MAX:
        out = 0
        for subscription in queue.consumers.active:
            out += subscription.in_flight
        if out != unacked:
            return f"counted {unacked} unacked messages, consumers hold {out}"
    return _wrong_bytes(queue, in_memory)


def wrong_memory(context: "BrokerContext") -> str:
    """A description of what is wrong with the memory count; empty when nothing is. Checks everything."""
    found = 0
    holders: dict[Message, int] = {}
    for queue in context.queues.values():
        found += queue.bytes_in_memory()
        if queue.is_warm != (queue in context.warm):
            return f"{queue!r} has is_warm={queue.is_warm}, which the list of warm queues contradicts"
        if queue.bytes_in_memory() and not (queue.is_warm or queue.touched):
            return f"{queue!r} has {queue.bytes_in_memory()} bytes in memory that are never freed"
        messages = [*queue.backlog.in_memory(), *queue.delayed.in_memory()]
        for subscription in queue.consumers.active:
            messages += [held.message for held in subscription.held() if held.message is not None]
        for message in messages:
            if message.holders != UNSHARED:
                holders[message] = holders.get(message, 0) + 1
    for message, count in holders.items():
        found -= (count - 1) * (message.size - MESSAGE_OVERHEAD)
        if message.holders != count:
            return f"{message!r} counts {message.holders} queues that hold it, found {count}"
    if len(context.warm) > len(context.queues):
        return f"{len(context.warm)} queues are listed as warm, but there are only {len(context.queues)}"
    if found != context.bytes:
        return f"counted {context.bytes} bytes in memory, found {found}"
    return ""


def _wrong_bytes(queue: "QueueStore", in_memory: int) -> str:
    backlog = queue.backlog
    waiting = queue.bytes - queue.unacked_bytes
    if queue.unacked == 0 and queue.unacked_bytes != 0:
        return f"no message is unacked, but unacked_bytes is {queue.unacked_bytes}"
    if len(backlog.spans) == 0 and backlog.cold != 0:
        return f"no message is only on disk, but {backlog.cold} bytes are counted"
    if len(queue.delayed) == 0 and queue.delayed.bytes != 0:
        return f"no message is delayed, but {queue.delayed.bytes} bytes are counted"
    if in_memory <= WALK_MAX and len(backlog.pinned) <= WALK_MAX:
        found = backlog.cold
        if len(backlog.pinned):
            found += sum([message.size for message in backlog.pinned.values()])
        if in_memory:
            for item in [*backlog.head, *backlog.tail]:
                found += message_of(item).size
        if found != waiting:
            return f"counted {waiting} ready bytes, found {found}"
    elif waiting < 0 or queue.unacked_bytes < 0:
        return f"counted {waiting} ready and {queue.unacked_bytes} unacked bytes"
    return ""
