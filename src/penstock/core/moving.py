"""Moves and copies messages from one queue to another."""

from typing import TYPE_CHECKING

from penstock.core.deadletters import sent_on
from penstock.core.delivery import Item, message_of
from penstock.core.queue import Queue
from penstock.core.spans import SortKey
from penstock.message import Message

if TYPE_CHECKING:
    from penstock.core.broker import Broker


def move_places(broker: "Broker", queue: Queue, places: list[SortKey], target: Queue, now: int) -> int:
    """Move the ready messages at these places; returns how many. Raises Refused if the target has no room for one."""
    moved = 0
    is_full = False
    kept: list[Item] = []
    for item in queue.take_out(places):
        message = message_of(item)
        is_full = is_full or (target.full and not target.make_room())
        if is_full or message.revoked:
            kept.append(item)
            continue
        _put_copy(broker, message, target, now)
        queue.moved(item)
        moved += 1
    queue.put_back(kept)
    queue.pump()
    if is_full and not moved:
        raise broker.full_error(target)
    return moved


def copy_messages(broker: "Broker", messages: list[Message], target: Queue, now: int) -> int:
    """Put copies of the messages into the target; returns how many. Raises Refused if it has no room for one."""
    copied = 0
    for message in messages:
        if target.full and not target.make_room():
            if not copied:
                raise broker.full_error(target)
            break
        _put_copy(broker, message, target, now)
        copied += 1
    return copied


def _put_copy(broker: "Broker", message: Message, target: Queue, now: int) -> None:
    headers = message.headers
    sent = sent_on(message, {} if headers is None else headers, target.name, now)
    broker.take_in(sent, [target])
