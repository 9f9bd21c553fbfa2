"""In a line each user has as much as another, however many of theirs wait."""

from penstock.server.line import KNOWN, Line


def all_of(line: Line[str]) -> list[str]:
    return [line.pop() for _ in range(len(line))]


def test_one_of_each_goes_then_the_next_one_of_each_in_the_order_they_came() -> None:
    line: Line[str] = Line()
    for holder, one in [("a", "a1"), ("a", "a2"), ("a", "a3"), ("b", "b1"), ("c", "c1"), ("b", "b2")]:
        line.add(holder, one)
    assert all_of(line) == ["a1", "b1", "c1", "a2", "b2", "a3"]
    assert len(line) == 0


def test_whoever_comes_back_stands_behind_the_others() -> None:
    line: Line[str] = Line()
    for one in ["a1", "a2", "b1"]:
        line.add(one[0], one)
    assert line.pop() == "a1"
    line.add("a", "a1 again")
    assert all_of(line) == ["b1", "a2", "a1 again"]


def test_it_knows_whether_others_wait() -> None:
    line: Line[str] = Line()
    assert not line.has_others("a")
    line.add("a", "a1")
    assert not line.has_others("a")
    assert line.has_others("b")
    line.add("b", "b1")
    assert line.has_others("a")
    assert [line.pop(), line.pop()] == ["a1", "b1"]
    assert not line.has_others("b")


def test_whoever_has_had_less_is_next_and_an_absence_earns_nothing() -> None:
    line: Line[str] = Line()
    for one in ["a1", "a2", "a3", "b1", "b2", "b3"]:
        line.add(one[0], one)
    assert line.pop() == "a1"
    line.charge("a", 10)
    assert [line.pop(), line.pop()] == ["b1", "b2"]
    line.charge("b", 100)
    line.add("c", "c1")
    line.add("c", "c2")
    line.charge("c", 200)
    assert all_of(line) == ["a2", "a3", "b3", "c1", "c2"]


def test_what_was_had_is_forgotten_once_nobody_waits() -> None:
    line: Line[str] = Line()
    line.add("a", "a1")
    line.charge("a", 1000)
    assert line.pop() == "a1"
    line.charge("a", 1000)
    for one in ["a2", "b1", "b2"]:
        line.add(one[0], one)
    assert all_of(line) == ["a2", "b1", "b2"]


def test_users_that_come_and_go_are_not_remembered_for_ever() -> None:
    line: Line[str] = Line()
    line.add("always", "first")
    for number in range(20 * KNOWN):
        line.add(f"guest {number}", "guest")
        line.charge("always", 3)
        line.add("always", line.pop())
        line.pop()
    assert len(line) == 1
    assert len(line._had) < 4 * KNOWN
