"""Puts messages that a queue gives up into the dead-letter queue its policy names."""

from typing import TYPE_CHECKING

from penstock.core.context import DeadLetters
from penstock.core.deadletters import dead_letter
from penstock.core.limits import DROP_OLDEST
from penstock.core.queue_store import QueueStore
from penstock.errors import Refused
from penstock.message import Message

if TYPE_CHECKING:
    from penstock.core.broker_base import BrokerBase


class DeadLetterQueues(DeadLetters):
    def __init__(self, broker: "BrokerBase") -> None:
        self.broker = broker

    def take(self, queue: QueueStore, message: Message, retry: int, reason: str) -> bool:
        broker = self.broker
        if broker.refuse_reason:
            return False
        name = queue.policy.dead_letter
        letter = dead_letter(message, queue.name, retry, reason, name, broker.context.now)
        try:
            target = broker.declare(name)
        except Refused:
            return False
        # A full dead-letter queue never dead-letters its own messages: two of them could pass messages back and forth.
        if target.full and (target.policy.full != DROP_OLDEST or not target.make_room()):
            return False
        broker.take_in(letter, [target])
        return True
