"""In a line each user has one turn, then each has another, however many of theirs wait."""

from penstock.server.line import Line


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
