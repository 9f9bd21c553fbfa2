"""One simulated run: clients that do anything, and a broker on a disk that can fail, crashed again and again.

`life.py` has the broker's life and death and what is compared after every step, `judge.py` whether what it writes is
right. Here is what clients and people may ask of it: every verb there is.
"""

from collections.abc import Callable

from penstock.core.deadletters import QUEUE
from penstock.core.dedup import key_of
from penstock.core.delivery import Delivery
from penstock.core.limits import DEAD_LETTER, DROP_OLDEST, REFUSE
from penstock.core.policy import Rule
from penstock.core.queue import BY_POLICY, NEVER
from penstock.core.redrive import Redrive
from penstock.core.spans import SortKey
from penstock.core.subscription import Inbox, Waiter
from penstock.core.walk import Walk
from penstock.errors import DISK_FULL, NOT_FOUND, OVER_LIMIT, Refused
from penstock.log.interface import Change
from penstock.message import TO_QUEUE, DeliveryOptions, Message

from .book import MATCHES, PATTERN
from .disk import Crash
from .judge import Judge, place_of
from .life import HUGE, SECOND

AGAIN = "make sim SEED="

QUEUES = (b"q0", b"q1", b"q2", b"q3")
DEAD = b"dead"
ALL = (*QUEUES, DEAD)
EVENTS = (b"e0", b"e1", b"e2")
WRITERS = (b"w0", b"w1", b"w2")
OWNERS = (b"", b"ann", b"eve")

# What is done how often. The words are names of methods.
WEIGHTS = {
    "publish": 22,
    "put": 24,
    "broadcast": 1,
    "request": 5,
    "reply": 3,
    "give_up_request": 2,
    "commit": 8,
    "forget_writer": 1,
    "get": 5,
    "subscribe": 12,
    "cancel": 4,
    "accept": 12,
    "reject": 12,
    "bury": 4,
    "release": 8,
    "suspend": 2,
    "resume": 4,
    "allow": 3,
    "allow_bytes": 2,
    "redrive": 5,
    "redrive_slowly": 4,
    "move": 5,
    "move_places": 4,
    "copy": 3,
    "purge": 4,
    "pause": 2,
    "bind": 6,
    "expire": 3,
    "delete": 3,
    "change_policies": 3,
    "look": 2,
    "tick": 14,
    "page_out": 8,
}
# What the broker's own threads and the world around it do.
FATE = {
    "end_turn": 44,
    "flush": 44,
    "make_trouble": 12,
    "make_room": 6,
    "snapshot": 16,
}


class World(Judge):
    def __init__(self, seed: int, steps: int = 250, trace: Callable[[str], None] | None = None) -> None:
        self.steps = steps
        self.number = 0
        self.redriving: tuple[Redrive, bytes] | None = None
        self.seen: tuple[bytes, list[SortKey]] = (b"", [])
        super().__init__(seed, trace)

    def run(self) -> None:
        words = {**WEIGHTS, **FATE}
        self.change_policies()
        for word in self.chance.choices(list(words), list(words.values()), k=self.steps):
            self.step(word)
        self.drain()
        self.stop()

    def drain(self) -> None:
        """Once all is well, everything that is owed can be had from the living broker."""
        self.disk.operations_to_crash = -1
        self.make_room()
        self.end_turn()
        while self.flusher.behind:
            self.flush()
        for inbox in list(self.inboxes):
            self.begin()
            self.end(inbox)
            self.settle_up()
        for _ in range(2):
            self.begin()
            self.pass_time(3600 * SECOND)
            self.settle_up()
        for name in list(self.broker.queues):
            self.begin()
            self.kinds = {Change.PAUSED}
            self.broker.pause(name, False)
            self.settle_up()
            self.take_all(name)

    def take_all(self, name: bytes) -> None:
        taken = True
        while taken:
            self.begin()
            message = self.broker.get(name)
            taken = message is not None
            if message is not None:
                self.done.add((name, message.offset))
            self.settle_up()
        left = self.book.queues[name].state()
        assert not left[3], f"{left[3]} is owed by {name!r}, and cannot be had"

    def step(self, word: str) -> None:
        if word in WEIGHTS:
            self.begin()
            getattr(self, word)()
            self.settle_up()
            return
        try:
            getattr(self, word)()
        except (Crash, OSError) as error:
            # An error of the disk ends the process, and sometimes it is the machine that is to blame.
            self.note(f"crash in {word}: {error!r}")
            self.crash()

    # -- messages in ------------------------------------------------------------------------------------------------

    def message(self, event: bytes) -> Message:
        chance = self.chance
        self.number += 1
        id = b"d%d" % chance.randint(0, 5) if chance.random() < 0.2 else b"%d" % self.number
        body = b"%d" % self.number + b"x" * chance.choice([0, 3, 100, 400])
        if chance.random() < 0.3:
            body = MATCHES + b'"n":%d}' % self.number
        headers = {b"h": id} if chance.random() < 0.2 else None
        message = Message(id, event, body, self.now, "sim", headers)
        if chance.random() < 0.4:
            due_at = chance.choice([0, 0, self.now + SECOND, self.now + 15 * SECOND])
            expires_at = chance.choice([0, 0, max(self.now, due_at) + 5 * SECOND])
            dedup = chance.choice([0, 0, 10, 100])
            message.options = DeliveryOptions(due_at, expires_at, chance.choice([0, 0, 1, 2]), dedup)
            if dedup:
                message.options.owner = chance.choice(OWNERS)
        return message

    def give(self, message: Message, name: bytes, verb: Callable[[], object]) -> None:
        """Hand a message in; it is there, or was before, or there is a reason."""
        self.own, self.handed_in = [message], [message]
        was_known = self.is_known(message)
        before = self.log.next_offset
        refused_with = self.refusal(verb)
        terms = message.options
        self.note(f"message {message.id!r} for {name!r}, {terms!r}, {refused_with}")
        if message.offset >= before:
            assert refused_with in ("", OVER_LIMIT)
            return
        self.own = []
        if self.broker.refuse_reason:
            assert refused_with == DISK_FULL
        elif was_known and terms is not None and terms.dedup_seconds:
            assert not refused_with
        else:
            assert refused_with == OVER_LIMIT
            if not self.are_requests_too_large(message):
                takers = [name] if message.route == TO_QUEUE or name in ALL else self.book.takers(message)
                assert any(self.broker.queues[taker].full for taker in takers)

    def is_known(self, message: Message) -> bool:
        """Whether its user has published that id lately, or nobody in particular has."""
        owners = {b"", b"" if message.options is None else message.options.owner}
        return any(self.broker.dedup.is_known(key_of(message.id, owner), message.published_at) for owner in owners)

    def are_requests_too_large(self, message: Message) -> bool:
        """Whether a request has no room beside those that wait for their reply."""
        waiting = sum(request.size for request in self.requests)
        most = self.broker.limits.requests_bytes_max
        return message.requester is not None and waiting > 0 and waiting + message.size > most

    def refusal(self, verb: Callable[[], object]) -> str:
        try:
            verb()
        except Refused as refusal:
            return refusal.code
        return ""

    def publish(self) -> None:
        message = self.message(self.chance.choice(EVENTS))
        self.give(message, message.event, lambda: self.broker.publish(message))

    def put(self) -> None:
        name = self.chance.choice([*ALL, *QUEUES])
        message = self.message(name)
        self.give(message, name, lambda: self.broker.put(name, message))

    def broadcast(self) -> None:
        name = self.chance.choice(QUEUES)
        message = self.message(name)
        message.options = None
        self.give(message, name, lambda: self.broker.broadcast(name, message))

    def request(self) -> None:
        name = self.chance.choice(QUEUES)
        message = self.message(name)
        message.id = b"r%d" % self.number
        waiter = message.requester = Waiter()
        self.give(message, name, lambda: self.broker.put(name, message))
        if message.offset >= 0:
            self.waiters[message.offset] = waiter
            self.requests.append(message)

    def reply(self) -> None:
        """By the verb, by an event, or by a queue's name."""
        if not self.requests:
            return
        request = self.chance.choice(self.requests)
        waiter = request.requester
        way = self.chance.choice(["verb", "publish", "put"])
        if way == "verb":
            assert self.broker.reply(request.id, b"yes") == (waiter is not None)
        else:
            name = b"reply/" + request.id
            if way == "put" and waiter is None:
                return  # it would make a queue
            answer = Message(b"a%d" % self.number, name, b"yes", self.now, "sim")
            verb = self.broker.publish if way == "publish" else lambda message: self.broker.put(name, message)
            self.give(answer, name, lambda: verb(answer))
            if answer.offset < 0:
                return
        if isinstance(waiter, Waiter):
            assert waiter.told[-1] == ("replied", b"yes")
        assert request.requester is None
        self.requests.remove(request)

    def give_up_request(self) -> None:
        if self.requests:
            request = self.chance.choice(self.requests)
            self.requests.remove(request)
            self.waiters.pop(request.offset, None)
            self.broker.forget_request(request, revoke=self.chance.random() < 0.7)

    def commit(self) -> None:
        chance, book = self.chance, self.book
        writer = chance.choice(WRITERS)
        last = book.committed.get(writer, -1)
        batch = max(0, last + chance.choice([-1, 0, 1, 1, 1, 2]))
        messages = []
        for _ in range(chance.choice([0, 1, 2, 4])):
            message = self.message(chance.choice(EVENTS))
            if chance.random() < 0.5:
                message.event, message.route = chance.choice(QUEUES), TO_QUEUE
            messages.append(message)
        self.handed_in = list(messages)
        owner = chance.choice(OWNERS)
        for message in messages:
            self.broker.own(message, owner)
        known = {message.id for message in messages if self.is_known(message)}
        self.kinds = {Change.COMMITTED}
        before = self.log.position
        taken: list[bool] = []
        refused_with = self.refusal(lambda: taken.append(self.broker.commit(writer, batch, messages)))
        self.note(f"commit {batch} of {writer!r}, {len(messages)} messages, {taken} {refused_with}")
        if taken == [True]:
            assert batch > last
            entries = self.log.entries
            begun = next(index for index, entry in enumerate(entries) if _is_commit(entry))
            self.own = [message for message in messages if message.offset >= 0]
            for message in messages:
                if message.offset < 0:
                    assert message.id in known, f"{message!r} was left out of a batch"
                elif message.options is not None and message.options.dedup_seconds:
                    assert message.id not in known, f"{message!r} was taken again"
                    known.add(message.id)
            self.wholes.append((before + begun, self.log.position))
            return
        assert not any(_is_commit(entry) for entry in self.log.entries)
        assert all(message.offset < 0 for message in messages), "a part of a batch that was refused came in"
        is_crowded = len(self.broker.writers.batches) >= self.limits.writers_max and writer not in book.committed
        if taken == [False]:
            assert batch <= last
        elif self.broker.refuse_reason:
            assert refused_with == (OVER_LIMIT if is_crowded else DISK_FULL)
        else:
            assert refused_with == OVER_LIMIT
            takers = [self.broker.queues.get(taker) for message in messages for taker in book.takers(message)]
            assert is_crowded or any(queue is not None and queue.full for queue in takers)

    def forget_writer(self) -> None:
        writer = self.chance.choice(WRITERS)
        self.kinds = {Change.FORGOTTEN}
        assert self.broker.forget_writer(writer) == (writer in self.book.committed)

    # -- consumers --------------------------------------------------------------------------------------------------

    def get(self) -> None:
        name = self.chance.choice(ALL)
        message = self.broker.get(name)
        queue = self.broker.queues[name]
        if message is not None:
            self.check_same(message)
            self.done.add((name, message.offset))
        elif (
            not queue.consumers.waiting
            and not queue.consumers.paused
            and not queue.consumers.leaving
            and not queue.consumers.is_reserved()
        ):
            assert not queue.ready or queue.stalled
        self.note(f"got {message!r} of {name!r}")

    def subscribe(self) -> None:
        if len(self.inboxes) >= 6:
            return
        chance = self.chance
        name = chance.choice([*QUEUES, QUEUES[0], DEAD])
        inbox = Inbox(
            name,
            manual=chance.random() < 0.75,
            credit=chance.randint(1, 4),
            priority=chance.choice([20, 20, 5, 30]),
            exclusive=chance.random() < 0.15,
        )
        inbox.takes_more = chance.random() < 0.9
        instead_of = self.any_inbox() if chance.random() < 0.15 else None
        if instead_of is not None and instead_of.name != name:
            instead_of = None
        if instead_of is not None:
            self.leave(instead_of)
        self.inboxes.append(inbox)
        self.expiries.pop(name, None)
        self.kinds = {Change.CONSUMED}
        self.broker.subscribe(name, inbox, instead_of, self.now)
        self.note(f"consumer of {name!r}, manual={inbox.manual}, exclusive={inbox.exclusive}")

    def leave(self, inbox: Inbox) -> None:
        self.inboxes.remove(inbox)
        self.leaving.append(inbox)
        for delivery in inbox.held():
            self.returned.add(place_of(delivery))

    def cancel(self) -> None:
        inbox = self.any_inbox()
        if inbox is not None:
            self.end(inbox)

    def end(self, inbox: Inbox) -> None:
        self.leave(inbox)
        name = inbox.name
        page = self.book.queues[name]
        is_last = not [other for other in self.inboxes if other.name == name]
        if is_last and page.expires_after != NEVER:
            self.expiries[name] = self.now + page.expires_after
        self.broker.cancel(inbox, self.now)
        self.note(f"a consumer of {name!r} left")

    def accept(self) -> None:
        delivery = self.any_delivery()
        if delivery is not None:
            self.done.add(place_of(delivery))
            self.broker.accept(delivery)

    def reject(self) -> None:
        delivery = self.any_delivery()
        if delivery is None:
            return
        where = place_of(delivery)
        due_at = self.chance.choice([BY_POLICY, BY_POLICY, BY_POLICY, 0, self.now + 8 * SECOND])
        expected = due_at
        if due_at == BY_POLICY:
            policy = self.policy_of(where[0])
            expected = policy.retry_at(delivery.retry + 1, self.now)
        self.rejected[where] = expected
        self.note(f"reject {where} until {expected}")
        self.broker.reject(delivery, due_at)

    def bury(self) -> None:
        delivery = self.any_delivery()
        if delivery is not None:
            self.buried.add(place_of(delivery))
            self.broker.bury(delivery)

    def release(self) -> None:
        delivery = self.any_delivery()
        if delivery is not None:
            self.held_before.discard(delivery)
            self.broker.release(delivery)

    def suspend(self) -> None:
        inbox = self.any_inbox()
        if inbox is not None:
            self.broker.suspend(inbox)

    def resume(self) -> None:
        inbox = self.any_inbox()
        if inbox is not None:
            inbox.takes_more = True
            self.broker.resume(inbox)

    def allow(self) -> None:
        inbox = self.any_inbox()
        if inbox is not None:
            self.broker.allow(inbox, self.chance.randint(0, 4))

    def allow_bytes(self) -> None:
        """As where a consumer holds more than its part of the memory, and later does not."""
        inbox = self.any_inbox()
        if inbox is not None:
            self.broker.allow_bytes(inbox, self.chance.choice((1, 2000, 1 << 40)))

    def begin_anew(self) -> None:
        self.redriving = None
        self.seen = (b"", [])

    # -- what people do ---------------------------------------------------------------------------------------------

    def redrive(self) -> None:
        name = self.chance.choice([DEAD, DEAD, *QUEUES])
        to = self.chance.choice([b"", b"", QUEUES[3], name])
        limit = self.chance.randint(1, 3)
        if self.chance.random() < 0.2:
            self.ask_redrive_targets(name, limit, to)
            return
        self.moves_to = to
        moved: list[int] = []
        refused_with = self.refusal(lambda: moved.append(self.broker.redrive(name, limit, to, self.now)))
        self.note(f"redriven {moved} of {name!r} to {to!r} {refused_with}")
        if self.broker.refuse_reason:
            assert refused_with == DISK_FULL
        elif name not in self.book.queues:
            assert refused_with == NOT_FOUND
        else:
            assert moved[0] <= limit
            assert moved[0] == self.moved_count()

    def redrive_slowly(self) -> None:
        """A step of a redrive that others do something in the middle of."""
        if self.redriving is None:
            name, to = self.chance.choice([DEAD, DEAD, QUEUES[0]]), self.chance.choice([b"", QUEUES[3]])
            if name in self.book.queues and not self.broker.refuse_reason:
                redrive = self.broker.start_redrive(name, self.chance.randint(1, 4), to, self.now)
                self.redriving = (redrive, to)
        else:
            redrive, self.moves_to = self.redriving
            before = redrive.moved
            is_over = self.broker.step_redrive(redrive, self.now)
            assert redrive.moved - before == self.moved_count()
            self.note(f"redriven {redrive.moved - before}, over={is_over}")
            if is_over:
                self.redriving = None

    def ask_redrive_targets(self, name: bytes, limit: int, to: bytes) -> None:
        if name not in self.book.queues:
            return
        counts = self.broker.redrive_targets(name, limit, to)
        expected: dict[bytes, int] = {}
        for offset in self.ready(name):
            message = self.book.messages[offset]
            target = to or (message.headers or {}).get(QUEUE, b"")
            if target and target != name and not message.revoked and sum(expected.values()) < limit:
                expected[target] = expected.get(target, 0) + 1
        assert counts == expected or self.disk.reads_failed

    def move(self) -> None:
        name, to = self.chance.choice(ALL), self.chance.choice(ALL)
        if name not in self.book.queues:
            assert self.refusal(lambda: self.broker.move(name, {1}, to, self.now)) == NOT_FOUND
            return
        ready = self.ready(name)
        offsets = {offset for offset in ready if self.chance.random() < 0.4}
        offsets.add(self.chance.randint(0, self.log.next_offset))
        self.moves_to = to
        moved: list[int] = []
        asked = set(offsets)
        self.in_transit = {(name, offset) for offset in asked}
        refused_with = self.refusal(lambda: moved.append(self.broker.move(name, offsets, to, self.now)))
        self.note(f"moved {moved} of {sorted(asked)} from {name!r} to {to!r} {refused_with}")
        if self.broker.refuse_reason:
            assert refused_with == DISK_FULL
        elif refused_with:
            assert refused_with == OVER_LIMIT
        else:
            assert moved[0] == self.moved_count()

    def move_places(self) -> None:
        """Move what was seen before; some of it may be elsewhere by now."""
        name, places = self.seen
        self.seen = (b"", [])
        if name in self.book.queues:
            self.moves_to = to = self.chance.choice(ALL)
            ready = set(self.ready(name))
            self.in_transit = {(name, place[2]) for place in places if place[2] in ready}
            moved: list[int] = []
            refused_with = self.refusal(lambda: moved.append(self.broker.move_places(name, places, to, self.now)))
            self.note(f"moved {moved} of {places} from {name!r} to {to!r} {refused_with}")
            assert refused_with in ("", DISK_FULL if self.broker.refuse_reason else OVER_LIMIT)
            assert not moved or moved[0] == self.moved_count()
        else:
            queues = list(self.broker.queues.values())
            if queues:
                queue = self.chance.choice(queues)
                seen = [seen[0] for seen in Walk(queue.backlog).step(5)]
                self.seen = (queue.name, [place for place in seen if self.chance.random() < 0.6])

    def moved_count(self) -> int:
        return sum(1 for entry in self.log.entries if _is_move(entry))

    def copy(self) -> None:
        name, to = self.chance.choice(ALL), self.chance.choice(ALL)
        queue = self.broker.queues.get(name)
        if queue is None:
            return
        messages = queue.first_messages(self.chance.randint(0, 3))
        copied: list[int] = []
        refused_with = self.refusal(lambda: copied.append(self.broker.copy(messages, to, self.now)))
        self.note(f"copied {copied} of {name!r} to {to!r} {refused_with}")
        if refused_with:
            assert refused_with == (DISK_FULL if self.broker.refuse_reason else OVER_LIMIT)
        copies = [entry for entry in self.log.entries if isinstance(entry, Message)]
        if copied:
            # What had to die for them is among them; the copies are those that nobody died for.
            self.own = self.copies_among(copies, messages, to, copied[0])

    def copies_among(self, entries: list[Message], messages: list[Message], to: bytes, count: int) -> list[Message]:
        found: list[Message] = []
        for entry in entries:
            if len(found) < count:
                wanted = messages[len(found)]
                target = entry.options.target if entry.options is not None and entry.options.target else entry.event
                if (entry.id, entry.body, target, entry.headers or {}) == (
                    wanted.id, wanted.body, to, wanted.headers or {}
                ):  # fmt: skip
                    found.append(entry)
        assert len(found) == count
        return found

    def purge(self) -> None:
        name = self.chance.choice(ALL)
        if name not in self.book.queues:
            assert self.refusal(lambda: self.broker.purge(name, 1, 1)) == NOT_FOUND
            return
        bound = self.chance.choice([self.log.next_offset, self.chance.randint(0, self.log.next_offset)])
        limit = self.chance.choice([1, 2, 5, 1000])
        expected: list[int] = []
        for offset in self.ready(name):
            if offset >= bound or len(expected) >= limit:
                break
            expected.append(offset)
        assert self.broker.purge(name, bound, limit) == len(expected)
        dropped = [entry.offset for entry in self.log.entries if isinstance(entry, Change)]
        assert sorted(dropped) == sorted(expected)
        self.purged = [(name, offset) for offset in dropped]
        self.note(f"purged {expected} of {name!r}")

    def pause(self) -> None:
        name = self.chance.choice(ALL)
        paused = self.chance.random() < 0.4
        self.kinds = {Change.PAUSED}
        refused_with = self.refusal(lambda: self.broker.pause(name, paused))
        assert refused_with == ("" if name in self.book.queues else NOT_FOUND)
        self.note(f"paused={paused} {name!r}")

    def bind(self) -> None:
        name = self.chance.choice(QUEUES)
        events = tuple(event for event in EVENTS if self.chance.random() < 0.5)
        patterns = (PATTERN,) if self.chance.random() < 0.2 else ()
        self.kinds = {Change.BOUND}
        self.broker.bind(name, events, patterns)
        queue = self.broker.queues[name]
        assert (queue.events, queue.patterns) == (events, patterns)

    def expire(self) -> None:
        name = self.chance.choice(QUEUES)
        after = self.chance.choice([NEVER, NEVER, 0, 5 * SECOND])
        self.kinds = {Change.EXPIRES, Change.CONSUMED}
        page = self.book.queues.get(name)
        if page is None or page.expires_after != after:
            self.expiries.pop(name, None)
            if after > 0 and not [inbox for inbox in self.inboxes if inbox.name == name]:
                self.expiries[name] = self.now + after
        self.broker.expire(name, after)
        assert self.broker.queues[name].expires_after == after

    def delete(self) -> None:
        name = self.chance.choice(QUEUES)
        self.kinds, self.may_delete = {Change.DELETED}, {name}
        ended = [inbox for inbox in self.inboxes if inbox.name == name]
        assert self.broker.delete(name) == (name in self.book.queues)
        assert all(inbox.over for inbox in ended)

    def change_policies(self) -> None:
        chance = self.chance
        rules = [
            Rule(
                [b"*"],
                bytes_max=chance.choice([HUGE, HUGE, HUGE, 1200]),
                dead_letter=chance.choice([b"", DEAD, DEAD]),
                deliveries_max=chance.choice([0, 0, 2, 3]),
                retry_delay=chance.choice([0, 0, 5 * SECOND]),
                retry_backoff=2.0,
            ),
            Rule([QUEUES[0]], ttl=chance.choice([0, 20 * SECOND])),
            Rule(
                [QUEUES[1]],
                length_max=chance.choice([1, 4, 1000]),
                full=chance.choice([REFUSE, DROP_OLDEST, DEAD_LETTER]),
            ),
            Rule([QUEUES[2], EVENTS[1]], dedup_seconds=chance.choice([0, 30])),
            Rule([DEAD], length_max=chance.choice([3, 1000]), full=chance.choice([REFUSE, DROP_OLDEST])),
            Rule([DEAD], dead_letter=chance.choice([b"", b"", QUEUES[3]])),
        ]
        self.set_rules(rules)

    def look(self) -> None:
        """What only looks changes nothing."""
        for queue in self.broker.queues.values():
            queue.find_oldest()
            queue.oldest_at()
            walk = Walk(queue.backlog)
            offsets = []
            while not walk.over:
                offsets += [seen[0][2] for seen in walk.step(2)]
            assert offsets == self.ready(queue.name)
        self.broker.owed_ranges()

    # -- time and memory --------------------------------------------------------------------------------------------

    def tick(self) -> None:
        self.pass_time(self.chance.choice([0, SECOND, 5 * SECOND, 20 * SECOND, 100 * SECOND, -10 * SECOND]))

    def pass_time(self, by: int) -> None:
        self.now += by
        self.note(f"tick {self.now}")
        for _ in range(2000):
            self.broker.tick(self.now)
            if not 0 <= self.broker.deadlines.next_due() <= self.now:
                break
        else:
            raise AssertionError("there is no end of what is due")
        gone = {entry.queue for entry in self.log.entries if isinstance(entry, Change) and entry.kind == Change.DELETED}
        for name in [name for name, when in self.expiries.items() if when <= self.now]:
            assert name in gone, f"{name!r} should be gone"  # it may be there anew, for a dead letter
        for queue in self.broker.queues.values():
            next_due = queue.delayed.next_due()
            is_late = 0 <= next_due <= self.now and not self.disk.reads_failed
            assert not is_late, f"{queue!r} has {next_due} delayed at {self.now}"

    def page_out(self) -> None:
        """Memory is short, in all queues or one."""
        if self.chance.random() < 0.5:
            self.broker.free_memory()
        else:
            for queue in self.broker.queues.values():
                if self.chance.random() < 0.7:
                    queue.free_memory()

    # -- choosing ---------------------------------------------------------------------------------------------------

    def any_inbox(self) -> Inbox | None:
        return self.chance.choice(self.inboxes) if self.inboxes else None

    def any_delivery(self) -> Delivery | None:
        holders = [inbox for inbox in self.inboxes if inbox.in_flight]
        return self.chance.choice(self.chance.choice(holders).held()) if holders else None


def live(seed: int, trace: Callable[[str], None] | None) -> int:
    """One run; how many crashes it survived."""
    world = World(seed, trace=trace)
    world.run()
    return world.crashes


def _is_commit(entry: Message | Change) -> bool:
    return isinstance(entry, Change) and entry.kind == Change.COMMITTED


def _is_move(entry: Message | Change) -> bool:
    return isinstance(entry, Change) and entry.kind == Change.SETTLED and entry.number == 8
