"""Policies: limits, retries, expiry and dead-lettering for queues, chosen by the queue's name.

Rules come from the configuration, in order. All rules that match a queue's name apply to it; for each setting, the
later rule wins. Settings that no rule gives come from the broker's limits.

What a policy did to a message is logged, so a replay needs no policies.
"""

from typing import Final

from penstock.core.limits import Limits
from penstock.globs import compiled_glob

ALARM: Final = 0.8  # fraction of a limit, by default
RETRY_DELAY_MAX: Final = 3_600_000_000  # microseconds, by default
QUEUE_WORD: Final = b"{queue}"  # placeholder in a dead-letter queue's name for the name of the queue
EVENTS_KNOWN_MAX: Final = 10_000  # publishers choose event names; results are cached for this many


class Policy:
    """The settings of one queue. Times are in microseconds; 0 and empty mean that the setting is off."""

    def __init__(self, limits: Limits) -> None:
        self.length_max = limits.queue_length_max
        self.length_name = "queue_length_max"  # the name of the setting, for error messages
        self.bytes_max = limits.queue_bytes_max
        self.bytes_name = "queue_bytes_max"
        self.full = limits.queue_full  # what a full queue does with the next message
        self.alarm = ALARM  # fraction of a limit at which an alarm is raised
        self.ttl = 0  # how long a message may wait to be consumed
        self.deliveries_max = 0  # how often a message may be tried
        self.retry_delay = 0  # how long a rejected message waits before the next try
        self.retry_backoff = 1.0  # factor by which that grows with each try
        self.retry_delay_max = RETRY_DELAY_MAX
        self.dead_letter = b""  # queue for messages that are given up
        self.dedup_seconds = 0  # how long a message with the same id counts as a duplicate

    def retry_at(self, retry: int, now: int) -> int:
        """When a message that came back for the `retry`th time is due again; 0 means at once."""
        if self.retry_delay <= 0:
            return 0
        delay = float(self.retry_delay)
        longest = float(self.retry_delay_max)
        time = 1
        while self.retry_backoff > 1 and time < retry and delay < longest:
            delay *= self.retry_backoff
            time += 1
        return now + int(min(delay, longest))


class Rule:
    """One table of the configuration: the queues it applies to, and its settings; None leaves a setting unchanged."""

    def __init__(
        self,
        globs: list[bytes],
        length_max: int | None = None,
        bytes_max: int | None = None,
        full: str | None = None,
        alarm: float | None = None,
        ttl: int | None = None,
        deliveries_max: int | None = None,
        retry_delay: int | None = None,
        retry_backoff: float | None = None,
        retry_delay_max: int | None = None,
        dead_letter: bytes | None = None,
        dedup_seconds: int | None = None,
    ) -> None:
        self.length_max = length_max
        self.bytes_max = bytes_max
        self.full = full
        self.alarm = alarm
        self.ttl = ttl
        self.deliveries_max = deliveries_max
        self.retry_delay = retry_delay
        self.retry_backoff = retry_backoff
        self.retry_delay_max = retry_delay_max
        self.dead_letter = dead_letter
        self.dedup_seconds = dedup_seconds
        self._globs = [compiled_glob(glob) for glob in globs]

    def matches(self, name: bytes) -> bool:
        """Whether it applies to that queue. A rule never applies to the dead-letter queues that it names itself."""
        return any(glob.match(name) is not None for glob in self._globs) and not self._names(name)

    def _names(self, name: bytes) -> bool:
        template = self.dead_letter
        if not template:
            return False
        before, word, behind = template.partition(QUEUE_WORD)
        if not word:
            return name == template
        return len(name) > len(before) + len(behind) and name.startswith(before) and name.endswith(behind)

    def apply(self, policy: Policy, name: bytes) -> None:
        if self.length_max is not None:
            policy.length_max = self.length_max
            policy.length_name = "length_max of its policy"
        if self.bytes_max is not None:
            policy.bytes_max = self.bytes_max
            policy.bytes_name = "bytes_max of its policy"
        if self.full is not None:
            policy.full = self.full
        if self.alarm is not None:
            policy.alarm = self.alarm
        if self.ttl is not None:
            policy.ttl = self.ttl
        if self.deliveries_max is not None:
            policy.deliveries_max = self.deliveries_max
        if self.retry_delay is not None:
            policy.retry_delay = self.retry_delay
        if self.retry_backoff is not None:
            policy.retry_backoff = self.retry_backoff
        if self.retry_delay_max is not None:
            policy.retry_delay_max = self.retry_delay_max
        if self.dead_letter is not None:
            policy.dead_letter = self.dead_letter.replace(QUEUE_WORD, name)
        if self.dedup_seconds is not None:
            policy.dedup_seconds = self.dedup_seconds


class Policies:
    """All rules, and the resulting policy for a name."""

    def __init__(self, rules: list[Rule], limits: Limits) -> None:
        self._rules = rules
        self._limits = limits
        self._plain = Policy(limits)  # shared by all queues that no rule applies to
        self.has_dedup = any(rule.dedup_seconds for rule in rules)
        self._dedup_by_name: dict[bytes, int] = {}

    def of(self, name: bytes) -> Policy:
        """The policy of the queue of that name."""
        rules = [rule for rule in self._rules if rule.matches(name)]
        if not rules:
            return self._plain
        policy = Policy(self._limits)
        for rule in rules:
            rule.apply(policy, name)
        return policy

    def dedup_seconds(self, name: bytes) -> int:
        """How long a message with the same id counts as a duplicate, if sent to this name.

        The name is an event or a queue, whichever the publisher used.
        """
        seconds = self._dedup_by_name.get(name)
        if seconds is None:
            if len(self._dedup_by_name) >= EVENTS_KNOWN_MAX:
                self._dedup_by_name.clear()
            seconds = self._dedup_by_name[name] = self.of(name).dedup_seconds
        return seconds
