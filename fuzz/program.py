"""The meaning of an input: limits and options of a broker, then steps, each taken by a client or the clock.

       0          1          2
    ┌──────────┬──────────┬───────────────────────────┬───────┬──────
    │ oo llllll│ p ggggggg│ step: vvvv ss, then bytes │ FE FF │ step ...
    └──────────┴──────────┴───────────────────────────┴───────┴──────

`o` is the mode (late, alone), `l` options and limits, `p` whether a client alone is paused, `g` a language, `v` a
verb, `s` the slot of a client. Any bytes are a program, and a small change to them is a small change to it.
"""

from hashlib import blake2b
from typing import Final

from fuzz.gates import base_of
from fuzz.words import PROTOCOLS, REQUESTS, frame
from penstock.core.limits import DROP_OLDEST, REFUSE, Limits
from penstock.wire.session import ProtocolOptions

# Steps are separated by these two bytes, which UTF-8 cannot contain. A length prefix would not survive a mutation.
SEPARATOR: Final = b"\xfe\xff"
HEADER_SIZE: Final = 2
STEPS_MAX: Final = 200

TIMES: Final = (0, 1, 1_000, 50_000, 51_000, 100_000, 1_000_000, 15_000_000, 30_000_000, 3_600_000_000)


def make_limits(number: int) -> Limits:
    """Small limits, so that they are reached; they leave room for the two queues of the witnesses."""
    roomy = number % 4 == 3
    return Limits(
        body_size_max=1024 if number & 1 else 64,
        line_size_max=8192 if number & 1 else 200,
        queues_max=20 if roomy else 4,
        queue_length_max=50 if roomy else 6,
        queue_bytes_max=1 << 20 if roomy else 7000 if number & 1 else 1800,
        queue_full=DROP_OLDEST if number & 4 else REFUSE,
        events_per_queue_max=4,
        unacked_max=50 if roomy else 3 if number & 2 else 6,
        outbox_bytes_max=1 << 16 if roomy else (1, 128, 400)[number % 3],
        name_size_max=24,
    )


class Program:
    """A parsed input."""

    def __init__(self, protocol: str, data: bytes) -> None:
        header = data[:HEADER_SIZE].ljust(HEADER_SIZE, b"\0")
        self.protocol = base_of(protocol)
        self.locked = self.protocol != protocol
        self.name = blake2b(data, digest_size=8).hexdigest().encode()  # part of the names that a witness uses
        self.limits = header[0] & 7
        self.options = header[0] >> 3 & 7
        self.alone = bool(header[0] & 0x40)  # a single client, whose bytes are cut in different ways
        self.late = bool(header[0] & 0x80)  # the disk is slow: confirmations arrive a turn later
        self.paused = bool(header[1] & 0x80)  # that client reads nothing at first
        self.language = header[1] & 0x7F
        self.steps = data[HEADER_SIZE:].split(SEPARATOR)[:STEPS_MAX]

    def door_of(self, slot: int) -> str:
        """The listener that the client of a slot connects to; the last slot uses a different protocol than the rest."""
        return self.protocol if slot < 3 else PROTOCOLS[self.language % len(PROTOCOLS)]

    def language_of(self, slot: int) -> str:
        """The protocol it speaks."""
        door = self.door_of(slot)
        return door if door in PROTOCOLS else PROTOCOLS[(self.language + slot) % len(PROTOCOLS)]

    def make_options(self) -> ProtocolOptions:
        bits = self.options
        return ProtocolOptions(
            smqs_lose_undone=bool(bits & 1), sevx_id_inside=bool(bits & 2), rq_broadcast_as_request=bool(bits & 4)
        )


# What a step does, by its first byte; the lower two bits are the slot.
FEED: Final = "feed"  # the bytes unchanged
LATER: Final = "later"  # the same, without a turn of the broker after it
EACH: Final = "each"  # the same, byte by byte
SPEAK: Final = "speak"  # every byte stands for a whole request of the language
SAY: Final = "say"  # the same, one request at a time, with a turn after each
FRAME: Final = "frame"  # the bytes as one request
TICK: Final = "tick"
PAUSE: Final = "pause"
RESUME: Final = "resume"
END: Final = "end"
GOODBYE: Final = "goodbye"
WAKE: Final = "wake"
DISK: Final = "disk"  # becomes full, or has space again

VERBS: Final = (FEED, LATER, EACH, SPEAK, SAY, FRAME, TICK, PAUSE, RESUME, END, GOODBYE, WAKE, SPEAK, SAY, TICK, DISK)
BYTES_OF_A_STEP: Final = 4096


def verb_of(step: bytes) -> str:
    return VERBS[step[0] >> 2 & 15]


def step(verb: str, slot: int = 0, data: bytes = b"") -> bytes:
    return bytes([VERBS.index(verb) << 2 | slot]) + data


def program(
    *steps: bytes, limits: int = 3, options: int = 0, alone: bool = False, late: bool = False, language: int = 0
) -> bytes:
    """The input that consists of these steps."""
    return bytes([limits | options << 3 | alone << 6 | late << 7, language]) + SEPARATOR.join(steps)


def bytes_of(step: bytes, language: str) -> bytes:
    """The bytes that a step makes its client send."""
    verb = verb_of(step)
    if verb in (SPEAK, SAY):
        requests = REQUESTS[language]
        return b"".join(requests[byte % len(requests)] for byte in step[1:65])
    if verb == FRAME:
        return frame(language, step[1:BYTES_OF_A_STEP])
    return step[1:BYTES_OF_A_STEP]


def describe(protocol: str, data: bytes) -> str:
    """The program, one step per line."""
    parsed = Program(protocol, data)
    mode = (
        f"{'alone' if parsed.alone else 'together'}{' late' if parsed.late else ''}{' paused' if parsed.paused else ''}"
    )
    lines = [f"{protocol} {mode} limits={parsed.limits} options={parsed.options} language={parsed.language}"]
    for step in parsed.steps:
        if step:
            slot = 0 if parsed.alone else step[0] & 3
            lines.append(f"{slot} {verb_of(step)} {bytes_of(step, parsed.language_of(slot))!r}")
    return "\n".join(lines)
