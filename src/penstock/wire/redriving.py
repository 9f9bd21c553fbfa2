"""A redrive requested by a client: check permissions, run it, answer.

A long queue takes many event loop iterations. Other clients, and other requests of the same client, run in between.
"""

from typing import TYPE_CHECKING

from penstock.core.redrive import Redrive, RedriveWaiter
from penstock.errors import Refused

if TYPE_CHECKING:
    from penstock.wire.named import NamingSession


class Redriving(RedriveWaiter):
    def __init__(
        self, owner: "NamingSession", id: bytes, line: bytes, queue: bytes, limit: int, to: bytes, dry_run: bool
    ) -> None:
        super().__init__(owner.holder)
        self.owner = owner
        self.id = id  # of the request
        self.line = line  # the request itself, to log if it is refused
        self.queue = queue
        self.limit = limit
        self.to = to
        self.dry_run = dry_run
        self._checks = owner.puttable is not None  # whether a dry run has to find the targets to check first

    def begin(self) -> None:
        """Raises Refused when there can be no redrive."""
        owner = self.owner
        if self._checks:
            owner.authorizer.check_take(self.queue)
            if self.to:
                owner.authorizer.check_targets([self.to])
                self._checks = False
        self._start(self.dry_run or self._checks)

    def _start(self, dry_run: bool) -> None:
        owner = self.owner
        broker = owner.broker
        may_put = None if owner.puttable is None or dry_run else self._may_put
        now = broker.context.now
        broker.redrives.add(broker.start_redrive(self.queue, self.limit, self.to, now, may_put, dry_run), self)

    def _may_put(self, queue: bytes) -> bool:
        return not self.owner.over and self.owner.authorizer.may_put(queue)

    def finished(self, redrive: Redrive) -> None:
        owner = self.owner
        if owner.over:
            return
        if not self._checks:
            owner.answer_redrive(self.id, redrive)
            return
        self._checks = False
        try:
            owner.authorizer.check_targets(list(redrive.targets))
            if not self.dry_run:
                self._start(False)
        except Refused as refusal:
            owner.refuse_redrive(self.id, refusal, self.line)
            return
        if self.dry_run:
            owner.answer_redrive(self.id, redrive)

    def is_gone(self) -> bool:
        return self.owner.over

    def failed(self, error: Exception) -> None:
        self.owner.broke(error)
