"""How full a queue is: when it has reached a limit of its policy, and when its operator is told."""

from typing import TYPE_CHECKING, Final

from penstock.core.context import Alarm

if TYPE_CHECKING:
    from penstock.core.queue_store import QueueStore

FILLING_ENDS_BELOW: Final = 0.9  # a queue stops filling below this fraction of the mark
ALARM_PAUSE: Final = 10_000_000  # microseconds between alarms of one kind: a short queue becomes full all the time
ALARMS_MAX: Final = 1000  # the most that are kept until someone reports them


class Fullness:
    """Compares a queue with the limits of its policy. The marks are in ready and unacked messages, which grow one by
    one; a full queue has always passed a mark."""

    def __init__(self) -> None:
        self.bytes_mark = 0
        self.length_mark = 0
        self.is_filling = False  # above the alarm mark
        self._has_acted = False  # the policy for full queues has been applied since then
        self._filling_told_at = -ALARM_PAUSE
        self._full_told_at = -ALARM_PAUSE

    def reset(self) -> None:
        """There is another policy: alarms start anew."""
        self.is_filling = False
        self._has_acted = False
        self._filling_told_at = -ALARM_PAUSE
        self._full_told_at = -ALARM_PAUSE

    def set_marks(self, queue: "QueueStore") -> None:
        policy = queue.policy
        self.bytes_mark = max(1, int(policy.bytes_max * policy.alarm)) - queue.delayed.bytes
        self.length_mark = max(1, int(policy.length_max * policy.alarm)) - len(queue.delayed)

    def is_full(self, queue: "QueueStore") -> bool:
        """Whether the queue has reached a limit. Raises the alarm when it passes a mark."""
        length = queue.length()
        size = queue.size()
        length_mark = self.length_mark + len(queue.delayed)
        bytes_mark = self.bytes_mark + queue.delayed.bytes
        if length >= length_mark or size >= bytes_mark:
            if not self.is_filling:
                self.is_filling = True
                now = queue.context.now
                if now >= self._filling_told_at + ALARM_PAUSE:
                    self._filling_told_at = now
                    _alarm(queue, Alarm.FILLING)
        elif self.is_filling and length < FILLING_ENDS_BELOW * length_mark and size < FILLING_ENDS_BELOW * bytes_mark:
            self.is_filling = False
            self._has_acted = False
        return size >= queue.policy.bytes_max or length >= queue.policy.length_max

    def acts(self, queue: "QueueStore") -> None:
        """The policy for full queues is being applied."""
        if not self._has_acted:
            self._has_acted = True
            now = queue.context.now
            if now >= self._full_told_at + ALARM_PAUSE:
                self._full_told_at = now
                _alarm(queue, Alarm.FULL)


def _alarm(queue: "QueueStore", kind: str) -> None:
    policy = queue.policy
    alarms = queue.context.alarms
    if len(alarms) < ALARMS_MAX:
        is_length = queue.length() * policy.bytes_max >= queue.size() * policy.length_max
        limit_name = policy.length_name if is_length else policy.bytes_name
        limit = policy.length_max if is_length else policy.bytes_max
        alarms.append(Alarm(kind, queue.name, policy.full, queue.length(), queue.size(), limit_name, limit))
