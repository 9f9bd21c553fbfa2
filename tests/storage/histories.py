"""Small logs to try things on."""

from contextlib import closing
from pathlib import Path

from penstock.core.broker import Broker
from penstock.core.limits import Limits
from penstock.core.policy import Rule
from penstock.core.replay import Replay, durable_state
from penstock.core.subscription import Inbox
from penstock.log.block import Block
from penstock.log.header import marked
from penstock.message import DeliveryOptions, Message
from penstock.storage.disk import Disk
from penstock.storage.durable import DurableLog
from penstock.storage.pager import Pager
from penstock.storage.recovery import read_back
from penstock.storage.segments import blocks_of, segments_of


def fields(message: Message) -> tuple[object, ...]:
    return (
        message.id,
        message.event,
        message.body,
        message.published_at,
        message.protocol,
        message.headers,
        repr(message.options or DeliveryOptions()),
        message.route,
        message.offset,
    )


def write_out(log: DurableLog, directory: Path, closed_at: int = 0) -> None:
    """A batch for each segment, written when all before it is synced."""
    log.close_block(closed_at)
    segment = ""
    for pending in log.take_closed():
        with (directory / pending.segment).open("ab") as file:
            data = pending.data()
            file.write(data if pending.segment == segment else b"".join(marked(data)))
        segment = pending.segment


def paths_of(directory: Path) -> list[Path]:
    """The segment files, oldest first."""
    return [directory / segment for segment in segments_of(Disk(directory))]


def places_of(path: Path) -> list[tuple[int, Block]]:
    """The blocks of a segment file with their places."""
    return list(blocks_of(Disk(path.parent), path.name))


def recovered(directory: Path) -> Broker:
    """The broker that the whole log describes, without any snapshot."""
    log = DurableLog(1 << 20)
    log.pager = Pager(Disk(directory))
    rebuilt = Replay(log, Limits())
    with closing(read_back(Disk(directory))) as blocks:
        for block in blocks:
            rebuilt.apply_block(block)
    return rebuilt.finish()


def known_by(replay: Replay) -> tuple[object, ...]:
    """All that a replay knows. Two that know the same become the same broker, now and after any further entries."""
    broker = replay.broker
    return (
        (replay.position, replay.next_offset, replay.has_gap),
        replay.state(),
        [(name, queue.used) for name, queue in sorted(broker.queues.items())],
        [
            (name, owed.lost(owed.spans()), owed.expiring, sorted(owed.delayed.items()))
            for name, owed in sorted(replay.owed.items())
        ],
        (list(broker.writers.batches.items()), list(broker.writers.times.items())),
        list(broker.dedup.contents().items()),
    )


def small_history(directory: Path, segment_bytes_max: int = 700) -> list[tuple[int, dict[bytes, object]]]:
    """A little of everything; after each turn, the position and the state."""
    log = DurableLog(segment_bytes_max)
    broker = Broker(log, Limits(queue_length_max=4))
    states: list[tuple[int, dict[bytes, object]]] = [(0, {})]

    def turn() -> None:
        broker.end_turn()
        write_out(log, directory)
        states.append((log.position, dict(durable_state(broker))))

    broker.bind(b"q", (b"e", b"f"))
    broker.expire(b"q", 5_000_000)
    turn()
    inbox = Inbox(manual=True, credit=2)
    broker.subscribe(b"q", inbox, None, 0)
    for number in range(3):
        broker.publish(Message(b"m%d" % number, b"e", b"body %d" % number, number, "mqks", {b"k": b"v"}))
        turn()
    broker.reject(inbox.deliveries[0])
    broker.publish(Message(b"later", b"f", b"", 0, "mqks"))
    turn()
    broker.accept(inbox.deliveries[1])
    turn()
    broker.put(b"other", Message(b"p", b"other", b"\0\n", 0, "rq"))
    turn()
    broker.bind(b"q", (b"f",), (b'{"a":1}',))
    broker.publish(Message(b"gone", b"nowhere", b"x", 0, "mqks"))
    turn()
    broker.cancel(inbox, 0)
    turn()
    broker.delete(b"other")
    turn()
    broker.set_policies([Rule([b"q"], dead_letter=b"dead")])
    delayed = Message(b"delayed", b"f", b"later", 0, "mqks")
    delayed.options = DeliveryOptions(due_at=10, expires_at=20, deliveries_max=3, dedup_seconds=60, owner=b"ann")
    broker.declare(b"dead")
    broker.publish(delayed)
    turn()
    inbox = Inbox(manual=True)
    broker.subscribe(b"q", inbox, None, 1)
    broker.bury(inbox.deliveries[0])
    broker.reject(inbox.deliveries[1], 5)
    turn()
    broker.tick(10)
    turn()
    broker.redrive(b"dead", 1, b"", 11)
    broker.cancel(inbox, 12)
    turn()
    return states


def flip(path: Path, place: int) -> None:
    """One bit is not what it was."""
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)
