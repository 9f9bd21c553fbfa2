"""From a log back to the state it describes.

A log knows no consumers and no deliveries, only what was accepted and how it ended. So a replay keeps each queue as an
ordered table of what it owes, applies the entries to it, and at the end hands the tables to a fresh broker. It never
lets a queue expire: whether nobody wanted it can only be said once consumers had a chance to come back.
"""

from collections.abc import Iterable

from penstock.core.broker import Broker
from penstock.core.limits import Limits
from penstock.core.queue import Queue, Redelivery
from penstock.errors import LogError
from penstock.log.block import Block
from penstock.log.port import Change, Log
from penstock.message import BY_EVENT, REJECT, RETURN, TO_QUEUE, Message


class _Owed:
    """One message a queue owes, with its place."""

    def __init__(self, message: Message) -> None:
        self.message = message
        self.retry = 0
        self.bound = message.offset
        self.serial = 0


class Replay:
    """Feed it every entry of a log in order, then `finish`."""

    def __init__(self, log: Log, limits: Limits) -> None:
        self.broker = Broker(log, limits)
        self._owed: dict[bytes, dict[int, _Owed]] = {}
        self._next_offset = 0
        self._position = 0
        # Entries are missing, and somebody has accepted that: what speaks of a queue or a message nobody has heard of
        # speaks of a lost one. Without a gap it is an error.
        self._has_gap = False

    def apply(self, entry: Message | Change) -> None:
        self._position += 1
        if isinstance(entry, Message):
            self._next_offset = entry.offset + 1
            self._message(entry)
        elif entry.kind == Change.SETTLED:
            self._settle(entry.queue, entry.offset, entry.number, self._next_offset - 1)
        else:
            self._topology(entry)

    def apply_block(self, block: Block) -> None:
        """The entries of one block of a log on disk.

        Raises LogError when they do not follow from the entries before them.
        """
        if block.first_position != self._position:
            self._has_gap = True
            self._position = block.first_position
        self._next_offset = block.first_offset
        try:
            self._apply_entries(block)
        except (KeyError, IndexError) as error:
            raise LogError(
                f"the block at position {block.first_position} speaks of what is not there: {error}"
            ) from error

    def _apply_entries(self, block: Block) -> None:
        for change in block.changes():
            self.apply(change)
        for index in range(block.message_count):
            self.apply(block.message(index))
        for run in block.runs():
            for offset in range(run.first, run.first + run.count):
                self._position += 1
                self._settle(run.queue, offset, run.how, run.bound)

    def finish(self) -> Broker:
        """The broker as the log left it; the log it was given goes on counting where the entries stopped."""
        broker = self.broker
        log = broker.log
        log.next_offset = self._next_offset
        log.position = self._position
        log.durable = self._position
        for name, owed in self._owed.items():
            broker.queues[name].restore([self._item(entry) for entry in owed.values()])
        return broker

    def _message(self, message: Message) -> None:
        if message.route == TO_QUEUE:
            if self._has_gap and message.event not in self._owed:
                self._declare(message.event)
            self._owed[message.event][message.offset] = _Owed(message)
        elif message.route == BY_EVENT:
            for queue in self.broker.routing.route(message) or ():
                self._owed[queue.name][message.offset] = _Owed(message)

    def _settle(self, queue: bytes, offset: int, how: int, bound: int) -> None:
        """End a message of a queue, or send it back into it; a rejected one goes behind offset `bound`."""
        if self._has_gap and offset not in self._owed.get(queue, {}):
            return
        owed = self._owed[queue]
        if how == REJECT:
            entry = owed.pop(offset)
            entry.retry += 1
            entry.bound = bound
            entry.serial = self._position
            owed[offset] = entry
        elif how == RETURN:
            owed[offset].retry += 1
        else:
            del owed[offset]

    def _topology(self, change: Change) -> None:
        broker = self.broker
        if self._has_gap:
            known = change.queue in self._owed
            if known and change.kind == Change.DECLARED:
                broker.routing.unbind(broker.queues.pop(change.queue))
            elif not known and change.kind == Change.DELETED:
                return
            elif not known:
                self._declare(change.queue)
        if change.kind == Change.DECLARED:
            self._declare(change.queue)
        elif change.kind == Change.BOUND:
            broker.routing.bind(broker.queues[change.queue], change.names, change.patterns)
        elif change.kind == Change.EXPIRES:
            broker.queues[change.queue].expires_after = change.number
        elif change.kind == Change.DELETED:
            broker.routing.unbind(broker.queues.pop(change.queue))
            del self._owed[change.queue]
        else:
            raise LogError(f"unknown entry {change!r}")

    def _declare(self, name: bytes) -> None:
        broker = self.broker
        broker.queues[name] = Queue(name, broker.log, broker.limits, broker.usage)
        self._owed[name] = {}

    def _item(self, entry: _Owed) -> Message | Redelivery:
        if entry.retry == 0:
            return entry.message
        return Redelivery(entry.message, entry.retry, entry.bound, entry.serial)


def replay(entries: Iterable[Message | Change], log: Log, limits: Limits) -> Broker:
    """A broker in the state that these entries describe."""
    rebuilt = Replay(log, limits)
    for entry in entries:
        rebuilt.apply(entry)
    return rebuilt.finish()


QueueState = tuple[tuple[bytes, ...], tuple[bytes, ...], int, list[tuple[int, int]]]


def durable_state(broker: Broker) -> dict[bytes, QueueState]:
    """What of a broker's state outlives it: bindings, expiry and (offset, retry) of what is owed, per queue."""
    return {
        name: (
            queue.events,
            queue.patterns,
            queue.expires_after,
            [(message.offset, retry) for message, retry in queue.contents()],
        )
        for name, queue in sorted(broker.queues.items())
    }
