"""What a log says, read so simply that it is obviously right: the model that brokers and replays are compared with.

A queue is what it owes: offset -> (place, retry). A message that comes in, is rejected or comes due gets the next
place; one that goes back keeps its own. What is not due yet is offset -> (due_at, retry). Entries are applied in
the order in which they were written; whether each of them was right to be written is asked elsewhere (`judge.py`).
"""

from penstock.core.queue import NEVER
from penstock.core.replay import QueueState
from penstock.log.interface import Change
from penstock.message import ACCEPT, BY_EVENT, DUE, OUT, REJECT, RETURN, TO_QUEUE, Message, is_delayed, queue_of

PATTERN = b'{"k":1}'
MATCHES = b'{"k":1,'  # a body that begins so is wanted by the pattern


class Page:
    """One queue."""

    def __init__(self) -> None:
        self.events: tuple[bytes, ...] = ()
        self.patterns: tuple[bytes, ...] = ()
        self.expires_after = NEVER
        self.used = False
        self.paused = False
        self.owed: dict[int, tuple[int, int]] = {}  # offset -> (place, retry)
        self.delayed: dict[int, tuple[int, int]] = {}  # offset -> (due_at, retry)
        self.out: set[int] = set()  # of what is owed, offsets that the log says to be in consumers' hands
        # Of those, what a start found not to be: it was out behind something that had come back, and a snapshot says
        # only what is out before all that is ready.
        self.stale: set[int] = set()
        self._state: QueueState | None = None

    def copy(self) -> "Page":
        page = Page()
        page.events, page.patterns, page.expires_after = self.events, self.patterns, self.expires_after
        page.paused, page.used, page.owed, page.delayed = self.paused, self.used, dict(self.owed), dict(self.delayed)
        page.out, page.stale = set(self.out), set(self.stale)
        return page

    def before(self, offset: int) -> set[int]:
        """What stands before a message; all there is for -1."""
        if offset < 0:
            return set(self.owed)
        bound = self.owed[offset][0]
        return {other for other, (place, _) in self.owed.items() if place < bound}

    def surely_out(self) -> set[int]:
        """What is out and has nothing before it that is not."""
        found: set[int] = set()
        for offset, _ in self.state()[3]:
            if offset not in self.out or offset in self.stale:
                break
            found.add(offset)
        return found

    def touch(self) -> None:
        self._state = None

    def state(self) -> QueueState:
        """As `durable_state` says it."""
        if self._state is None:
            owed = sorted((place, offset, retry) for offset, (place, retry) in self.owed.items())
            delayed = sorted((due_at, offset, retry) for offset, (due_at, retry) in self.delayed.items())
            places = [(offset, retry) for _, offset, retry in owed]
            self._state = (self.events, self.patterns, self.expires_after, places, delayed, self.paused)
        return self._state

    def wants(self, message: Message) -> bool:
        return message.event in self.events or (bool(self.patterns) and message.body.startswith(MATCHES))


class Book:
    def __init__(self) -> None:
        self.queues: dict[bytes, Page] = {}
        self.messages: dict[int, Message] = {}
        self.committed: dict[bytes, int] = {}
        self.committed_at: dict[bytes, int] = {}
        self.next_offset = 0
        self.position = 0
        self._place = 0

    def copy(self) -> "Book":
        book = Book()
        book.queues = {name: page.copy() for name, page in self.queues.items()}
        book.messages = dict(self.messages)
        book.committed, book.committed_at = dict(self.committed), dict(self.committed_at)
        book.next_offset, book.position, book._place = self.next_offset, self.position, self._place
        return book

    def state(self) -> dict[bytes, QueueState]:
        return {name: page.state() for name, page in sorted(self.queues.items())}

    def takers(self, message: Message) -> list[bytes]:
        """The queues that a message goes to."""
        if message.route == TO_QUEUE:
            return [queue_of(message)]
        if message.route == BY_EVENT:
            return [name for name, page in self.queues.items() if page.wants(message)]
        return []

    def apply(self, entry: Message | Change) -> None:
        self.position += 1
        if isinstance(entry, Message):
            self._take_in(entry)
        elif entry.kind == Change.SETTLED:
            self._settle(self.queues[entry.queue], entry)
        elif entry.kind == Change.COMMITTED:
            self.committed.pop(entry.queue, None)
            self.committed[entry.queue] = entry.number
            self.committed_at[entry.queue] = entry.at
        elif entry.kind == Change.FORGOTTEN:
            del self.committed[entry.queue]
            del self.committed_at[entry.queue]
        elif entry.kind == Change.DECLARED:
            assert entry.queue not in self.queues
            self.queues[entry.queue] = Page()
        elif entry.kind == Change.DELETED:
            del self.queues[entry.queue]
        else:
            page = self.queues[entry.queue]
            page.touch()
            if entry.kind == Change.BOUND:
                page.events, page.patterns = entry.names, entry.patterns
            elif entry.kind == Change.EXPIRES:
                page.expires_after, page.used = entry.number, False
            elif entry.kind == Change.CONSUMED:
                page.used = True
            else:
                assert entry.kind == Change.PAUSED
                page.paused = entry.number != 0

    def _take_in(self, message: Message) -> None:
        offset = message.offset
        assert offset == self.next_offset, f"{message!r} came when offset {self.next_offset} was next"
        self.next_offset += 1
        self.messages[offset] = message
        for name in self.takers(message):
            page = self.queues[name]
            page.touch()
            if message.options is not None and is_delayed(message):
                page.delayed[offset] = (message.options.due_at, 0)
            else:
                page.owed[offset] = (self._next_place(), 0)

    def _settle(self, page: Page, change: Change) -> None:
        offset, how = change.offset, change.number
        if how == OUT:
            page.out = page.before(offset)
            page.stale = set()
            return
        page.touch()
        page.out.discard(offset)
        if how == DUE:
            _, retry = page.delayed.pop(offset)
            page.owed[offset] = (self._next_place(), retry)
            return
        if offset in page.delayed:
            assert how != ACCEPT
            del page.delayed[offset]
            assert how not in (REJECT, RETURN)
            return
        place, retry = page.owed.pop(offset)
        if how == REJECT and change.due_at:
            page.delayed[offset] = (change.due_at, retry + 1)
        elif how == REJECT:
            page.owed[offset] = (self._next_place(), retry + 1)
        elif how == RETURN:
            page.owed[offset] = (place, retry + 1)

    def _next_place(self) -> int:
        self._place += 1
        return self._place


def fields_of(message: Message) -> tuple[object, ...]:
    """What of a message has to come back as it was."""
    terms = message.options
    asked = None
    if terms is not None:
        owner = terms.owner if terms.dedup_seconds else b""
        asked = (terms.due_at, terms.expires_at, terms.deliveries_max, terms.dedup_seconds, terms.target, owner)
        if not any(asked):
            asked = None
    return (message.id, message.event, message.body, message.published_at, message.headers, message.route, asked)
