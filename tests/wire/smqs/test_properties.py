"""What holds for any input: it may be cut anywhere, it may be rubbish, and counts say what a simple model says."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

QUEUES = (b"a", b"b", b"")

# Names and data that look like commands from somewhere in them on.
AWKWARD_QUEUES = (*QUEUES, b"S", b"USERS", b"aM", b"aC", b"aD", b"DSMC", b"a\r")
AWKWARD_DATA = (b"1", b"a:b", b"", b"x\r", b"S", b"{}S", b"{}D:a:1", b"D:a:1D:a:1", b"C:a", b"[]C:aM:a:x", b"M:a:M:b:")
COUNTS = (b"-1", b"0", b"1", b"2", b"4", b"1.9", b"+1", b"1e1", b" 1", b"0x2", b"x", b"", b"1\r")

LINES = st.one_of(
    st.builds(lambda q, d: b"M:%s:%s" % (q, d), st.sampled_from(AWKWARD_QUEUES), st.sampled_from(AWKWARD_DATA)),
    st.builds(
        lambda q, end: b"C:%s%s" % (q, end), st.sampled_from(AWKWARD_QUEUES), st.sampled_from([b"", b":", b":\r"])
    ),
    st.builds(lambda q, n: b"D:%s:%s" % (q, n), st.sampled_from((*AWKWARD_QUEUES, b"c")), st.sampled_from(COUNTS)),
    st.sampled_from([b"S", b"S:", b"S::", b"", b"\r", b"junk", b"X:y", b"M", b"M:a", b"C", b"D:a"]),
)


@given(lines=st.lists(LINES, max_size=30), cuts=st.lists(st.integers(0, 300), max_size=20))
def test_any_split_of_lines_with_their_ends_gives_the_same_answers(make_world, lines, cuts):
    data = b"".join(line + b"\n" for line in lines)
    whole = make_world()
    split = make_world()
    ends = sorted({min(cut, len(data)) for cut in cuts} | {len(data)})
    reads = [data[start:end] for start, end in zip([0, *ends], ends, strict=False)]
    assert split.client(*reads).drain() == whole.client(data).drain()
    assert split.stats() == whole.stats()
    assert split.broker.context.bytes == whole.broker.context.bytes


@given(lines=st.lists(LINES, max_size=10))
def test_lines_may_come_byte_by_byte(make_world, lines):
    data = b"".join(line + b"\n" for line in lines)
    whole = make_world()
    split = make_world()
    assert split.client(*[data[at : at + 1] for at in range(len(data))]).drain() == whole.client(data).drain()
    assert split.stats() == whole.stats()


COMMANDS = st.one_of(
    st.builds(lambda q: b"C:%s" % q, st.sampled_from([b"a", b"b", b"USERS"])),
    st.builds(lambda q, n: b"D:%s:%d" % (q, n), st.sampled_from([b"a", b"b", b"c"]), st.integers(0, 3)),
    st.builds(lambda q, n: b"M:%s:%d\n" % (q, n), st.sampled_from([b"a", b"b", b"USERS"]), st.integers(0, 9)),
    st.sampled_from([b"S::", b"C:a:", b"S::\n"]),
)


@given(commands=st.lists(COMMANDS, max_size=20))
def test_commands_without_line_ends_that_are_a_read_each_are_as_good_as_lines(make_world, commands):
    bare = make_world()
    lines = make_world()
    told = bare.client(*commands)
    bare.broker.tick(1_000_000)
    assert told.drain() == lines.client(*[command.rstrip(b"\n") + b"\n" for command in commands]).drain()
    assert bare.stats() == lines.stats()


NOISE = st.lists(
    st.one_of(st.binary(max_size=40), st.sampled_from([b"\n", b":", b"M:", b"C:", b"D:", b"S", b"M:a:", b"D:a:9" * 9])),
    max_size=30,
)


@given(reads=NOISE, steps=st.lists(st.integers(0, 100_000), max_size=30))
def test_random_bytes_raise_nothing_and_leave_a_working_broker(make_world, reads, steps):
    world = make_world(line_size_max=200, body_size_max=30, name_size_max=20, queues_max=10)
    client = world.client()
    now = 0
    for index, read in enumerate(reads):
        client.feed(read, now)
        now += steps[index] if index < len(steps) else 0
        world.broker.tick(now)
        assert client.lines.pending() <= 200 + 50
    client.drain()
    client.end(now)
    for queue in world.broker.queues.values():
        assert queue.unacked == 0
    probe = world.client(b"S\n")
    assert sum(json.loads(probe.drain()).values()) == sum(queue.ready for queue in world.broker.queues.values())


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.sampled_from((*QUEUES, b"never consumed")), st.just(0)),
        st.tuples(st.just("consume"), st.sampled_from(QUEUES), st.just(0)),
        st.tuples(st.just("done"), st.sampled_from((*QUEUES, b"never consumed")), st.integers(0, 5)),
        st.tuples(st.just("delete"), st.sampled_from(QUEUES), st.just(0)),
    ),
    max_size=60,
)


@settings(max_examples=200)
@given(steps=STEPS)
def test_what_is_done_and_what_is_left_agree_with_a_simple_model(make_world, steps):
    world = make_world()
    client = world.client()
    waiting: dict[bytes, list[bytes]] = {}
    given_out: list[tuple[bytes, bytes]] = []  # (queue, body), oldest first
    consumed: set[bytes] = set()
    for number, (verb, queue, count) in enumerate(steps):
        expected = b""
        if verb == "put":
            client.feed(b"M:%s:%d\n" % (queue, number), 0)
            waiting.setdefault(queue, []).append(b"%d" % number)
        elif verb == "consume":
            client.feed(b"C:%s\n" % queue, 0)
            consumed.add(queue)
            waiting.setdefault(queue, [])
        elif verb == "delete":
            world.broker.delete(queue)
            waiting.pop(queue, None)
            consumed.discard(queue)
            given_out = [entry for entry in given_out if entry[0] != queue]
        else:
            client.feed(b"D:%s:%d\n" % (queue, count), 0)
            named = [entry for entry in given_out if entry[0] == queue]
            others = [entry for entry in given_out if entry[0] != queue]
            done = (named + others)[:count]
            given_out = [entry for entry in given_out if entry not in done]
        for name in consumed:
            given_out += [(name, body) for body in waiting[name]]
            expected += b"".join(body + b"\n" for body in waiting[name])
            waiting[name] = []
        assert client.drain() == expected
        counts = {name.decode(): len(bodies) for name, bodies in waiting.items()}
        for name, _ in given_out:
            counts[name.decode()] += 1
        assert world.stats() == counts
    client.end(1)
    for name, bodies in waiting.items():
        owed = [body for queue, body in given_out if queue == name] + bodies
        assert world.client(b"C:%s\n" % name).drain().split() == owed
