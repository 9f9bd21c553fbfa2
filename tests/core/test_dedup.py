"""Ids that are remembered, against a plain list of them."""

import zlib

import orjson
from hypothesis import given
from hypothesis import strategies as st

from penstock.core.dedup import ID_OVERHEAD, Dedup, key_of
from penstock.log.ids import decode_ids, encode_ids
from penstock.log.snapshot import Snapshot, decode, encode, pieces_of

# An id, for how long it is remembered, and how much time goes by before; the clock may be set back.
COMINGS = st.lists(
    st.tuples(st.integers(0, 12), st.sampled_from([1, 2, 5, 50]), st.sampled_from([0, 0, 1, 1, 2, 7, -3])), max_size=80
)


class Model:
    """All that came and is not over or pushed out, in order of coming."""

    def __init__(self, ids_max: int) -> None:
        self.ids_max = ids_max
        self.until: dict[bytes, int] = {}

    def remember(self, id: bytes, until: int, now: int) -> None:
        self.until = {known: end for known, end in self.until.items() if end > now}
        if self.until.get(id, 0) >= until:
            return
        if id not in self.until:
            while self.until and len(self.until) >= self.ids_max:
                del self.until[next(iter(self.until))]
        self.until.pop(id, None)
        self.until[id] = until


@given(COMINGS, st.integers(1, 9), st.integers(1, 4), st.integers(0, 80))
def test_what_is_remembered_is_what_came_and_is_not_over(
    comings: list[tuple[int, int, int]], ids_max: int, page_length: int, restart_at: int
) -> None:
    dedup, model, now = Dedup(ids_max, page_length), Model(ids_max), 100
    for number, (name, seconds, passed) in enumerate(comings):
        now += passed
        id = b"%d" % name
        if number == restart_at:
            parts = [decode_ids(encode_ids(part), part.end - part.start) for part in dedup.parts()]
            dedup = Dedup(ids_max, page_length)
            dedup.restore(parts)
        dedup.remember(id, now + seconds, now)
        model.remember(id, now + seconds, now)
        assert list(dedup.contents().items()) == list(model.until.items())
        assert len(dedup) == len(model.until)
        for known in range(13):
            assert dedup.is_known(b"%d" % known, now) == (model.until.get(b"%d" % known, 0) > now)


def test_a_snapshot_is_not_changed_by_what_comes_after_it() -> None:
    dedup = Dedup(1000, 4)
    for number in range(10):
        dedup.remember(b"%d" % number, 100 + number, 0)
    before, parts = dedup.contents(), dedup.parts()
    for number in range(5, 40):
        dedup.remember(b"%d" % number, 300 + number, 104)
    again = Dedup(1000, 4)
    again.restore(parts)
    assert again.contents() == before
    assert dedup.contents() != before


def test_a_snapshot_of_version_1_has_its_ids_in_its_text() -> None:
    text = orjson.dumps(
        {
            "position": 7, "next_offset": 3, "taken_at": 0, "segments": [], "queues": [],
            "committed": [], "dedup": [["b\u00ff", 50], ["a", 40]],
        }
    )  # fmt: skip
    body = len(text).to_bytes(4, "little") + text
    data = b"PNSS" + bytes([1, 0, 0, 0]) + zlib.crc32(body).to_bytes(4, "little") + body
    dedup = Dedup(10, 4)
    dedup.restore(decode(data).dedup)
    assert list(dedup.contents().items()) == [(b"b\xff", 50), (b"a", 40)]


def test_ids_are_in_a_snapshot_whatever_bytes_they_are_of_and_the_interpreter_is_let_go_of_in_between() -> None:
    dedup = Dedup(100, 2)
    for number in range(7):
        dedup.remember(key_of(bytes([number, 255, 0]) * number, b""), 100 + number, 0)
    snapshot = Snapshot(0, 0, 0, [])
    snapshot.dedup = dedup.parts()
    pauses: list[int] = []
    data = b"".join(pieces_of(snapshot, lambda: pauses.append(1)))
    assert data == encode(snapshot)
    assert len(pauses) == 3
    again = Dedup(100, 2)
    again.restore(decode(data).dedup)
    assert again.contents() == dedup.contents()


def entries_of(dedup: Dedup) -> int:
    return sum(part.end - part.start for part in dedup.parts())


def test_nothing_piles_up_behind_one_id_that_lasts() -> None:
    dedup = Dedup(1_000_000, 16)
    dedup.remember(b"for a year", 10**12, 0)
    for now in range(10_000):
        dedup.remember(b"%d" % now, now + 10, now)
        dedup.remember(b"again and again", now + 1, now)
    assert len(dedup) == 12
    assert entries_of(dedup) == 12
    assert dedup.is_known(b"for a year", 10_000)


def test_an_id_that_is_remembered_ever_longer_is_there_a_few_times_at_most() -> None:
    dedup = Dedup(1000, 16)
    for number in range(10_000):
        dedup.remember(b"a", 1000 + number, 0)
    assert entries_of(dedup) <= 20
    assert dedup.contents() == {b"a": 10_999}


def test_a_snapshot_shares_the_pages_that_are_full() -> None:
    """So to take one costs the loop next to nothing, however many ids there are."""
    dedup = Dedup(1_000_000, 4096)
    for number in range(50_000):
        dedup.remember(b"%d" % number, 10**9, 0)
    first, second = dedup.parts(), dedup.parts()
    assert len(first) == 13
    assert all(one.page is other.page for one, other in zip(first, second, strict=True))


def test_long_ids_are_forgotten_before_they_take_too_much_memory() -> None:
    dedup = Dedup(1_000_000, 16, 100 * (1000 + ID_OVERHEAD))
    ids = [b"%d" % number for number in range(250)]
    for number, id in enumerate(ids):
        dedup.remember(id.ljust(1000, b"."), 10_000 + number % 7, 1)
    assert list(dedup.contents()) == [id.ljust(1000, b".") for id in ids[-100:]]
    again = Dedup(1_000_000, 16, 100 * (1000 + ID_OVERHEAD))
    again.restore(dedup.parts())
    for one in (dedup, again):
        one.remember(b"short", 20_000, 1)
        assert len(one) == 100
        one.remember(b"later", 90_000, 50_000)  # all others have ended
        for number in range(500):
            one.remember(b"%d" % number, 90_000, 50_000)
        assert len(one) == 501


def test_ids_of_one_user_push_out_none_of_another() -> None:
    dedup = Dedup(10, 4)
    for number in range(3):
        dedup.remember(key_of(b"%d" % number, b"modest"), 1000, 0)
    for number in range(50):
        dedup.remember(key_of(b"%d" % number, b"greedy"), 1000, 0)
    assert len(dedup) == 10
    assert all(dedup.is_known(key_of(b"%d" % number, b"modest"), 1) for number in range(3))
    assert [dedup.is_known(key_of(b"%d" % number, b"greedy"), 1) for number in (42, 43)] == [False, True]
    for number in range(50):
        dedup.remember(key_of(b"%d" % number, b"modest"), 1000, 0)
    assert [dedup.is_known(key_of(b"%d" % number, b"greedy"), 1) for number in (45, 46, 49)] == [False, True, True]


@given(
    st.lists(
        st.tuples(st.sampled_from([b"", b"a", b"b", b"c"]), st.integers(0, 9), st.integers(1, 30), st.integers(0, 9)),
        max_size=60,
    ),
    st.integers(1, 8),
)
def test_a_restart_forgets_what_one_that_went_on_forgets(steps: list[tuple[bytes, int, int, int]], most: int) -> None:
    lives, again = Dedup(most, 3), Dedup(most, 3)
    now = 0
    for owner, number, lasts, passes in steps:
        now += passes
        restored = Dedup(most, 3)
        restored.restore(again.parts())
        again = restored
        for dedup in (lives, again):
            dedup.remember(key_of(b"%d" % number, owner), now + lasts, now)
        assert again.contents() == lives.contents()
        assert (len(again), again.size) == (len(lives), lives.size)
        assert len(lives) <= most
        assert len(lives) == len(lives.contents())
