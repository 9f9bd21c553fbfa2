"""The consumers of one queue: which are active, which wait behind an exclusive one, and who gets the next message."""

from penstock.core.subscription import Subscription


class Consumers:
    def __init__(self) -> None:
        self.waiting: list[Subscription] = []  # those that can take a message: highest priority, then longest waiting
        self.active: list[Subscription] = []
        self.parked: list[Subscription] = []  # behind an exclusive one, in order of arrival
        self.leaving: list[Subscription] = []  # of the active ones, those that have ended and still hold messages
        self.paused = False  # the queue delivers nothing

    def count(self) -> int:
        return len(self.active) - len(self.leaving) + len(self.parked)

    def next_holder(self) -> str:
        """The user or address of the consumer that gets the next message."""
        return self.waiting[0].holder if self.waiting else ""

    # -- the line ---------------------------------------------------------------------------------------------------

    def join_line(self, subscription: Subscription) -> None:
        line = self.waiting
        place = len(line)
        while place > 0 and line[place - 1].priority < subscription.priority:
            place -= 1
        line.insert(place, subscription)
        subscription.waiting = True

    def leave_line(self, subscription: Subscription) -> None:
        if subscription.waiting:
            subscription.waiting = False
            line = self.waiting
            if line[0] is subscription:
                del line[0]
            else:
                line.remove(subscription)

    def suspend(self, subscription: Subscription) -> None:
        """Its connection takes no more for now."""
        subscription.suspended = True
        self.leave_line(subscription)

    def take_off(self, subscription: Subscription, error: Exception) -> None:
        """A consumer raised on a delivery: it gets nothing more, and ends by itself."""
        self.suspend(subscription)
        subscription.failed(error)

    def reconsider(self, subscription: Subscription) -> None:
        """Add the subscription to the line, or remove it, according to its state."""
        able = subscription.active and not subscription.suspended and not self.paused and not self.leaving
        if able and subscription.manual:
            able = subscription.in_flight < subscription.credit and subscription.bytes < subscription.bytes_credit
        if able and not subscription.waiting:
            self.join_line(subscription)
        elif not able:
            self.leave_line(subscription)

    def reconsider_all(self) -> None:
        for subscription in self.active:
            self.reconsider(subscription)

    # -- starting and ending ----------------------------------------------------------------------------------------

    def add(self, subscription: Subscription) -> None:
        """Active at once, or parked behind an exclusive consumer."""
        if not self.parked and (not self.active or self._fits(subscription)):
            self._activate(subscription)
        else:
            self.parked.append(subscription)

    def remove(self, subscription: Subscription) -> None:
        """Remove a consumer that holds nothing any more, and activate parked ones."""
        self.active.remove(subscription)
        while self.parked and (not self.active or self._fits(self.parked[0])):
            self._activate(self.parked.pop(0))

    def is_reserved(self) -> bool:
        """Whether an exclusive consumer has the queue, or is next to get it."""
        return bool(self.parked) or (bool(self.active) and self.active[0].exclusive)

    def clear(self) -> None:
        self.waiting.clear()
        self.active.clear()
        self.parked.clear()
        self.leaving.clear()

    def _fits(self, subscription: Subscription) -> bool:
        return not (subscription.exclusive or self.active[0].exclusive)

    def _activate(self, subscription: Subscription) -> None:
        self.active.append(subscription)
        subscription.active = True
        try:
            subscription.activated()
        except Exception as error:
            self.take_off(subscription, error)
        self.reconsider(subscription)
