"""The broker as a node runs it: an internal error inside an operation ends the process.

An exception that leaves an operation may have left half of its work undone. Whatever the caller does with it, the state
no longer follows from the log, and only the log can give a state that can be trusted. So the first such exception
becomes a `Fault` and is passed to `on_fault` before anyone else sees it: a node reports it and exits without closing
the block of that turn. `Refused` is not a fault: operations check first and change afterwards.

Errors in a session that the core calls (`deliver`, `wake`, a timer of its own) are caught at the call, and affect only
that session.
"""

import traceback
from collections.abc import Callable
from typing import Final

from penstock.core.broker import Broker
from penstock.core.delivery import Delivery
from penstock.core.policy import Rule
from penstock.core.queue import BY_POLICY, Queue
from penstock.core.redrive import Redrive
from penstock.core.spans import SortKey
from penstock.core.subscription import Subscription
from penstock.errors import Refused
from penstock.message import Message

ABOUT_SIZE: Final = 200  # bytes of a body shown in a report


class Fault:
    """Why the state of a broker can no longer be trusted."""

    def __init__(self, verb: str, about: str, error: Exception) -> None:
        self.verb = verb
        self.about = about
        self.error = error
        self.trace = "".join(traceback.format_exception(error))

    def __repr__(self) -> str:
        return f"<Fault in {self.verb} of {self.about}: {self.error!r}>"


class GuardedBroker(Broker):
    """Wraps each operation to report internal errors."""

    fault: Fault | None = None
    on_fault: Callable[[Fault], None] | None = None

    def fail(self, verb: str, about: str, error: Exception) -> None:
        """Record the first fault, and notify whoever ends the process."""
        super().fail(verb, about, error)
        if self.fault is None:
            self.fault = Fault(verb, about, error)
            on_fault = self.on_fault
            if on_fault is not None:
                on_fault(self.fault)

    def end_turn(self) -> None:
        try:
            super().end_turn()
        except Exception as error:
            self.fail("end_turn", "", error)
            raise

    # -- publishing -------------------------------------------------------------------------------------------------

    def publish(self, message: Message) -> None:
        try:
            super().publish(message)
        except Refused:
            raise
        except Exception as error:
            self.fail("publish", _about(message), error)
            raise

    def put(self, name: bytes, message: Message) -> None:
        try:
            super().put(name, message)
        except Refused:
            raise
        except Exception as error:
            self.fail("put", f"queue {name!r}, {_about(message)}", error)
            raise

    def broadcast(self, name: bytes, message: Message) -> int:
        try:
            return super().broadcast(name, message)
        except Refused:
            raise
        except Exception as error:
            self.fail("broadcast", f"queue {name!r}, {_about(message)}", error)
            raise

    def reply(self, request_id: bytes, body: bytes) -> bool:
        try:
            return super().reply(request_id, body)
        except Refused:
            raise
        except Exception as error:
            self.fail("reply", f"request {request_id!r}, body {body[:ABOUT_SIZE]!r}", error)
            raise

    def forget_request(self, message: Message, revoke: bool) -> None:
        try:
            super().forget_request(message, revoke)
        except Exception as error:
            self.fail("forget_request", _about(message), error)
            raise

    # -- queues -----------------------------------------------------------------------------------------------------

    def declare(self, name: bytes) -> Queue:
        try:
            return super().declare(name)
        except Refused:
            raise
        except Exception as error:
            self.fail("declare", f"queue {name!r}", error)
            raise

    def set_policies(self, rules: list[Rule]) -> None:
        try:
            super().set_policies(rules)
        except Refused:
            raise
        except Exception as error:
            self.fail("set_policies", "", error)
            raise

    def bind(self, name: bytes, events: tuple[bytes, ...], patterns: tuple[bytes, ...] = ()) -> None:
        try:
            super().bind(name, events, patterns)
        except Refused:
            raise
        except Exception as error:
            self.fail("bind", f"queue {name!r}, {events[:20]!r}, {patterns[:20]!r}", error)
            raise

    def expire(self, name: bytes, after: int) -> None:
        try:
            super().expire(name, after)
        except Refused:
            raise
        except Exception as error:
            self.fail("expire", f"queue {name!r}, after {after}", error)
            raise

    def pause(self, name: bytes, paused: bool) -> None:
        try:
            super().pause(name, paused)
        except Refused:
            raise
        except Exception as error:
            self.fail("pause", f"queue {name!r}", error)
            raise

    def purge(self, name: bytes, before_offset: int, limit: int) -> int:
        try:
            return super().purge(name, before_offset, limit)
        except Refused:
            raise
        except Exception as error:
            self.fail("purge", f"queue {name!r}, before {before_offset}, up to {limit}", error)
            raise

    def delete(self, name: bytes) -> bool:
        try:
            return super().delete(name)
        except Refused:
            raise
        except Exception as error:
            self.fail("delete", f"queue {name!r}", error)
            raise

    # -- consumers --------------------------------------------------------------------------------------------------

    def subscribe(self, name: bytes, subscription: Subscription, instead_of: Subscription | None, now: int) -> Queue:
        try:
            return super().subscribe(name, subscription, instead_of, now)
        except Refused:
            raise
        except Exception as error:
            self.fail("subscribe", f"queue {name!r}, consumer {subscription.name!r}", error)
            raise

    def cancel(self, subscription: Subscription, now: int) -> None:
        try:
            super().cancel(subscription, now)
        except Refused:
            raise
        except Exception as error:
            self.fail("cancel", f"consumer {subscription.name!r}", error)
            raise

    def suspend(self, subscription: Subscription) -> None:
        try:
            super().suspend(subscription)
        except Exception as error:
            self.fail("suspend", f"consumer {subscription.name!r}", error)
            raise

    def resume(self, subscription: Subscription) -> None:
        try:
            super().resume(subscription)
        except Exception as error:
            self.fail("resume", f"consumer {subscription.name!r}", error)
            raise

    def allow(self, subscription: Subscription, credit: int) -> None:
        try:
            super().allow(subscription, credit)
        except Exception as error:
            self.fail("allow", f"consumer {subscription.name!r}", error)
            raise

    def allow_bytes(self, subscription: Subscription, bytes_credit: int) -> None:
        try:
            super().allow_bytes(subscription, bytes_credit)
        except Exception as error:
            self.fail("allow_bytes", f"consumer {subscription.name!r}", error)
            raise

    def get(self, name: bytes) -> Message | None:
        try:
            return super().get(name)
        except Refused:
            raise
        except Exception as error:
            self.fail("get", f"queue {name!r}", error)
            raise

    # -- settlements ------------------------------------------------------------------------------------------------

    def accept(self, delivery: Delivery) -> None:
        try:
            super().accept(delivery)
        except Exception as error:
            self.fail("accept", _about_delivery(delivery), error)
            raise

    def reject(self, delivery: Delivery, due_at: int = BY_POLICY) -> None:
        try:
            super().reject(delivery, due_at)
        except Exception as error:
            self.fail("reject", _about_delivery(delivery), error)
            raise

    def bury(self, delivery: Delivery) -> None:
        try:
            super().bury(delivery)
        except Exception as error:
            self.fail("bury", _about_delivery(delivery), error)
            raise

    def release(self, delivery: Delivery) -> None:
        try:
            super().release(delivery)
        except Exception as error:
            self.fail("release", _about_delivery(delivery), error)
            raise

    # -- commits, redrives and moves --------------------------------------------------------------------------------

    def commit(self, writer: bytes, batch: int, messages: list[Message]) -> bool:
        try:
            return super().commit(writer, batch, messages)
        except Refused:
            raise
        except Exception as error:
            self.fail("commit", f"writer {writer!r}, batch {batch}, {len(messages)} messages", error)
            raise

    def forget_writer(self, writer: bytes) -> bool:
        try:
            return super().forget_writer(writer)
        except Exception as error:
            self.fail("forget_writer", f"writer {writer!r}", error)
            raise

    def redrive(
        self, name: bytes, limit: int, to: bytes, now: int, may_go: Callable[[bytes], bool] | None = None
    ) -> int:
        try:
            return super().redrive(name, limit, to, now, may_go)
        except Refused:
            raise
        except Exception as error:
            self.fail("redrive", f"queue {name!r}, to {to!r}", error)
            raise

    def step_redrive(self, redrive: Redrive, now: int) -> bool:
        try:
            return super().step_redrive(redrive, now)
        except Refused:
            raise
        except Exception as error:
            self.fail("step_redrive", f"queue {redrive.queue.name!r}", error)
            raise

    def move_places(self, name: bytes, places: list[SortKey], to: bytes, now: int) -> int:
        try:
            return super().move_places(name, places, to, now)
        except Refused:
            raise
        except Exception as error:
            self.fail("move_places", f"queue {name!r}, to {to!r}", error)
            raise

    def move(self, name: bytes, offsets: set[int], to: bytes, now: int) -> int:
        try:
            return super().move(name, offsets, to, now)
        except Refused:
            raise
        except Exception as error:
            self.fail("move", f"queue {name!r}, to {to!r}", error)
            raise

    def copy(self, messages: list[Message], to: bytes, now: int) -> int:
        try:
            return super().copy(messages, to, now)
        except Refused:
            raise
        except Exception as error:
            self.fail("copy", f"to {to!r}", error)
            raise

    # -- time and memory --------------------------------------------------------------------------------------------

    def tick(self, now: int) -> None:
        try:
            super().tick(now)
        except Exception as error:
            self.fail("tick", f"at {now}", error)
            raise

    def free_memory(self) -> int:
        try:
            return super().free_memory()
        except Exception as error:
            self.fail("free_memory", "", error)
            raise


def _about_delivery(delivery: Delivery) -> str:
    message = delivery.message
    return f"offset {delivery.offset}, {delivery.size} bytes" if message is None else _about(message)


def _about(message: Message) -> str:
    return f"{message!r}, headers {message.headers!r:.{ABOUT_SIZE}}, body {message.body[:ABOUT_SIZE]!r}"
