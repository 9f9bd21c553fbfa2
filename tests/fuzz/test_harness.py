"""The rules of `fuzz/sessions.py` hold for every seed of the fuzzer and for some thousand mutations of them.

The fuzzer itself (`make fuzz`) follows coverage and runs for minutes; this is the same harness in seconds, the same
inputs each time, compiled and interpreted.
"""

from random import Random

import pytest
from fuzz.mutate import Mutator
from fuzz.program import FEED, SEPARATOR, TICK, Program, describe, program, step, verb_of
from fuzz.seeds import seeds
from fuzz.sessions import TARGETS, failure, run, shrink
from fuzz.words import REQUESTS
from fuzz.world import World

from penstock.core.limits import Limits
from penstock.wire.session import ProtocolOptions

MUTATIONS = 100  # of each of the runs below
RUNS = (1, 2, 3, 4)


@pytest.mark.parametrize("protocol", TARGETS)
def test_every_seed_holds(protocol: str) -> None:
    for seed in seeds(protocol):
        holds(protocol, seed)


@pytest.mark.parametrize("number", RUNS)
@pytest.mark.parametrize("protocol", TARGETS)
def test_mutated_seeds_hold(protocol: str, number: int) -> None:
    random = Random(number)
    mutator = Mutator(protocol)
    start = seeds(protocol)
    pool = list(start)
    for _ in range(MUTATIONS):
        data = mutator.mutate(random.choice(pool), random, start)
        holds(protocol, data)
        if random.randrange(4) == 0:
            pool.append(data)


def holds(protocol: str, data: bytes) -> None:
    try:
        run(protocol, data)
    except Exception as error:
        error.add_note(f"bytes.fromhex({data.hex()!r})\n{describe(protocol, data)}")
        raise


def test_an_input_reads_as_it_was_written() -> None:
    data = program(step(FEED, 2, b"x"), step(TICK, 0, b"\1"), limits=5, options=3, language=4)
    parsed = Program("mqks", data)
    assert [verb_of(step) for step in parsed.steps] == [FEED, TICK]
    assert (parsed.limits, parsed.options, parsed.language, parsed.alone) == (5, 3, 4, False)
    assert "2 feed b'x'" in describe("mqks", data)


def test_no_request_is_cut_by_the_separator_of_steps() -> None:
    assert not [request for requests in REQUESTS.values() for request in requests if SEPARATOR in request]


@pytest.mark.parametrize(
    ("harm", "rule"),
    [
        (lambda world: count_a_byte_more(world), "counts 1 bytes and holds 0"),
        (lambda world: world.clients.clear(), "nobody owns"),
        (lambda world: forget_to_resume(world), "mqks: forgotten"),
        (lambda world: suspend_unnoticed(world), "forgets one that waits"),
    ],
    ids=[
        "a byte too many",
        "a session without owner",
        "a consumer that is never resumed",
        "a consumer that nobody will resume",
    ],
)
def test_a_broken_rule_is_noticed(harm, rule) -> None:
    world = World(Limits(), ProtocolOptions())
    client = world.connect("mqks", "mqks", "peer")
    client.feed(b"c0 consume q0 e0\n")
    world.turn()
    check(world)
    harm(world)
    with pytest.raises(AssertionError, match=rule):
        check(world)


def check(world: World) -> None:
    world.check()
    world.check_at_rest()


def count_a_byte_more(world: World) -> None:
    world.broker.queues[b"q0"].bytes += 1


def forget_to_resume(world: World) -> None:
    suspend_unnoticed(world)
    consumer = world.mqks.consumers[b"c0"]
    consumer.owner.halted[consumer] = None


def suspend_unnoticed(world: World) -> None:
    world.broker.suspend(world.mqks.consumers[b"c0"])


def test_a_failing_input_is_made_smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a harness of our own that does not like one word."""

    def dislike(protocol: str, data: bytes) -> None:
        assert b"bad" not in data

    monkeypatch.setattr("fuzz.sessions.run", dislike)
    data = program(step(FEED, 0, b"some"), step(FEED, 1, b"words are bad words"), step(TICK, 0, b"\1"))
    assert failure("mqks", data)
    assert shrink("mqks", data)[2:] == b"bad"
