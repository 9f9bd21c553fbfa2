"""The rules that must hold for any input, from any client, in any order.

An input is a small program: limits and options of the broker, then steps. Up to four clients are fed bytes, cut
as the input says, paused, resumed, told goodbye, and disconnected; time passes; the broker takes its turns as the
server does (`wire/session.Hub`, `server/connection.Connection`), or not yet. Two more clients, the witnesses, publish
and consume normally, under names that no input can contain. Throughout:

 1. Nothing raises: not `feed`, `wake`, `tick`, `pause`, `resume`, `goodbye`, `end` or `drain`.
 2. The witnesses get each of their messages, at once and in order.
 3. No queue exceeds its limits; names and ids are short; the bytes it counts are the bytes it holds; and
    nothing is accepted while the disk is full.
 4. No session buffers more input than the limit for a line or frame, nor more output than its outbox may hold, apart
    from answers, which are bounded by the input they answer.
 5. A session that hung up executes and receives nothing more, and one that has ended sends nothing more and
    received nothing while it ended. Whatever it has to confirm is confirmed, also when the disk is slow.
 6. A consumer that may receive a message waits in line, and none waits while there is a message for it.
 7. When all have left: no session, subscription, timer or waiting request remains, nothing is unacked, and a replay of
    the log gives the same durable state.

And for a program with a single client: the same bytes, fed whole, in pieces, or one by one, give the same output except
for random ids, and the same durable state.

    python -m fuzz.sessions PROTOCOL FILE               runs one input, and prints its steps
    python -m fuzz.sessions PROTOCOL FILE --shrink OUT  finds a smaller one that fails in the same way

PROTOCOL is one of the five, or `any`: the listener that detects the protocol from the first bytes. With the prefix
`locked-`, clients have to authenticate first: `gates.py`.
"""

import argparse
import re
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Final

from fuzz.gates import LOCKED
from fuzz.program import (
    DISK,
    EACH,
    END,
    GOODBYE,
    HEADER_SIZE,
    LATER,
    PAUSE,
    RESUME,
    SAY,
    SEPARATOR,
    TICK,
    TIMES,
    WAKE,
    Program,
    bytes_of,
    describe,
    make_limits,
    verb_of,
)
from fuzz.witness import Witness
from fuzz.words import PROTOCOLS
from fuzz.world import Client, World
from penstock.core.replay import durable_state

TARGETS: Final = (*PROTOCOLS, "any", *LOCKED)
ROOM_ENOUGH: Final = 10_000  # in a smaller outbox, deliveries depend on when the client reads
READS_MAX: Final = 256  # byte by byte, up to this many bytes; in this many pieces beyond that

# A possible start of an SMQS command.
GLUED: Final = re.compile(rb"[MDCA]:|S")

# Error ids, and the ids that SEVX assigns to requests without one: the time of the run and a random suffix.
RANDOM_IDS: Final = re.compile(rb"(?m)( error )[0-9A-Za-z]{24}$|2023111422[0-9]{10}[0-9A-Za-z]{4}")


def run(protocol: str, data: bytes) -> None:
    """Raises an AssertionError, or the forbidden exception itself, when the input breaks a rule."""
    parsed = Program(protocol, data)
    if parsed.alone:
        _run_alone(parsed)
    else:
        _Run(parsed).run()


class _Run:
    """Several clients, in slots: a step for an empty slot connects a client."""

    def __init__(self, parsed: Program) -> None:
        self.program = parsed
        self.world = World(make_limits(parsed.limits), parsed.make_options(), parsed.late, parsed.locked)
        self.witness = Witness(self.world, parsed.name)
        self.slots: dict[int, Client] = {}

    def run(self) -> None:
        world = self.world
        for step in self.program.steps:
            if step:
                taken = world.log.next_offset
                self._act(step)
                world.check()
                assert not world.broker.refuse_reason or world.log.next_offset == taken, "took a message in vain"
        world.broker.reopen()
        for client in list(self.slots.values()):
            if not client.session.over:
                client.end()
                world.check()
        world.turn()
        self.witness.leave()
        world.turn()
        world.check_empty()

    def _act(self, step: bytes) -> None:
        world = self.world
        slot = step[0] & 3
        verb = verb_of(step)
        if verb == TICK:
            world.advance(TIMES[step[1] % len(TIMES)] if len(step) > 1 else TIMES[-1])
            self._turn()
            return
        if verb == DISK:
            if world.broker.refuse_reason:
                world.broker.reopen()
            else:
                world.broker.shut("the disk is full")
            return
        client = self._client(slot)
        if verb in (EACH, SAY):
            self._act_by_and_by(client, step, verb)
            return
        if verb == PAUSE:
            client.pause()
        elif verb == RESUME:
            client.resume()
        elif verb == END:
            client.end()
        elif verb == GOODBYE:
            client.write()
            if not client.session.over:
                client.session.goodbye(world.now)
        elif verb == WAKE:
            world.hub.run_awake(world.now)
        else:
            client.feed(bytes_of(step, client.language))
        if verb not in (LATER, WAKE):
            self._turn()

    def _act_by_and_by(self, client: Client, step: bytes, verb: str) -> None:
        for number in range(1, min(len(step), 65)):
            if client.session.over:
                break
            piece = (
                step[number : number + 1]
                if verb == EACH
                else bytes_of(step[:1] + step[number : number + 1], client.language)
            )
            client.feed(piece)
            self.world.turn()
        self._turn()

    def _client(self, slot: int) -> Client:
        client = self.slots.get(slot)
        if client is None or client.session.over:
            program = self.program
            client = self.world.connect(program.door_of(slot), program.language_of(slot), f"slot{slot}")
            self.slots[slot] = client
        return client

    def _turn(self) -> None:
        self.world.turn()
        self.world.check_at_rest()
        if not self.world.broker.refuse_reason:
            self.witness.look()


def _run_alone(parsed: Program) -> None:
    """One client that sends everything before it reads, and one that reads after each piece where there is room."""
    pieces = [bytes_of(step, parsed.language_of(0)) for step in parsed.steps if step]
    stream = b"".join(pieces)
    size = 1 + len(stream) // READS_MAX
    each = [stream[at : at + size] for at in range(0, len(stream), size)]
    whole = _speak(parsed, [stream], False)
    is_smqs = parsed.language_of(0) == "smqs" or ("any" in parsed.protocol and stream[:1] in b"MDCSA")
    if is_smqs and _is_glued(stream):
        _speak(parsed, pieces, False)
        _speak(parsed, each, False)
        return
    assert _speak(parsed, pieces, False) == whole, "cut into pieces, it means something else"
    assert _speak(parsed, each, False) == whole, "byte by byte, it means something else"
    room = make_limits(parsed.limits).outbox_bytes_max
    if room > ROOM_ENOUGH and len(whole[0]) < room // 2 and not parsed.paused:
        assert _speak(parsed, pieces, True) == whole, "listened to in between, it says something else"
    if parsed.protocol == "mqmq" and len(stream) <= make_limits(parsed.limits).line_size_max:
        # MQMQ answers one request at a time, so the size of the outbox must not matter.
        assert _speak(parsed, [stream], False, 1) == whole, "with less room, it says something else"


def _is_glued(stream: bytes) -> bool:
    """Whether SMQS commands may follow each other without a line end: the boundaries of reads then matter."""
    return any(GLUED.search(line, 1) for line in stream.split(b"\n") if not line.startswith(b"M:"))


def _speak(parsed: Program, pieces: list[bytes], listening: bool, outbox_max: int = 0) -> tuple[bytes, bool, object]:
    """The output for these pieces, whether the session hangs up, and the durable state."""
    limits = make_limits(parsed.limits)
    limits.outbox_bytes_max = outbox_max or limits.outbox_bytes_max
    world = World(limits, parsed.make_options(), parsed.late, parsed.locked)
    client = world.connect(parsed.door_of(0), parsed.language_of(0), "alone")
    if parsed.paused:
        client.pause()
    for piece in pieces:
        if not client.session.over:
            client.feed(piece)
            if listening:
                world.turn()
    world.check()
    closing = client.current().closing
    client.resume()
    for microseconds in (0, 1_000_000, 30_000_000):
        world.advance(microseconds)
        world.turn()
        world.check()
    closing = closing or client.session.closing
    if not client.session.over:
        client.end()
    world.turn()
    state = durable_state(world.broker)
    world.check_empty()
    output = RANDOM_IDS.sub(rb"\1*", client.output)
    if parsed.late and parsed.protocol != "mqmq":
        output = bytes(sorted(output))  # the order of a late confirmation among other answers is not guaranteed
    return output, closing, state


def failure(protocol: str, data: bytes) -> str:
    """Where and how the input fails, without details that differ between inputs; empty when it does not."""
    try:
        run(protocol, data)
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        return f"{type(error).__name__} at {frames[-1].name}:{frames[-1].lineno}"
    return ""


def shrink(protocol: str, data: bytes) -> bytes:
    """A smaller input that fails in the same place."""
    wanted = failure(protocol, data)
    assert wanted, "it does not fail"
    header, steps = data[:HEADER_SIZE], data[HEADER_SIZE:].split(SEPARATOR)
    steps = _without(steps, lambda kept: failure(protocol, header + SEPARATOR.join(kept)) == wanted)
    for place in range(len(steps)):
        before, after = steps[:place], steps[place + 1 :]

        def fails(kept: list[bytes], before: list[bytes] = before, after: list[bytes] = after) -> bool:
            return failure(protocol, header + SEPARATOR.join([*before, b"".join(kept), *after])) == wanted

        steps[place] = b"".join(_without([steps[place][at : at + 1] for at in range(len(steps[place]))], fails))
    return header + SEPARATOR.join(steps)


def _without(items: list[bytes], fails: Callable[[list[bytes]], bool]) -> list[bytes]:
    """A minimal list of items that still fails, found by removing shorter and shorter runs."""
    size = max(1, len(items) // 2)
    while True:
        at = 0
        while at < len(items):
            kept = items[:at] + items[at + size :]
            if fails(kept):
                items = kept
            else:
                at += size
        if size == 1:
            return items
        size //= 2


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m fuzz.sessions", description="Runs one input.")
    parser.add_argument("protocol", choices=TARGETS)
    parser.add_argument("file", type=Path)
    parser.add_argument("--shrink", metavar="OUT", type=Path, help="write a smaller input that fails in the same place")
    arguments = parser.parse_args()
    data = arguments.file.read_bytes()
    if arguments.shrink is not None:
        data = shrink(arguments.protocol, data)
        arguments.shrink.write_bytes(data)
    print(describe(arguments.protocol, data))
    run(arguments.protocol, data)
    print("holds")


if __name__ == "__main__":
    main()
