"""Whatever clients do, the log grows by so many lines of an event in a second, and says how many it left out."""

from penstock.server.logs import LINES_PER_SECOND, Limited


class World:
    def __init__(self) -> None:
        self.now = 100.0
        self.lines: list[tuple[str, dict[str, object]]] = []
        self.report = Limited(self.write, lambda: self.now)

    def write(self, level: str, event: str, details: dict[str, object]) -> None:
        self.lines.append((event, details))

    def count(self, event: str) -> int:
        return sum(1 for name, _ in self.lines if name == event)


def test_an_event_is_told_so_many_times_a_second_and_others_are_told_beside_it() -> None:
    world = World()
    for number in range(10 * LINES_PER_SECOND):
        world.report("warning", "request.refused", {"number": number})
    world.report("error", "log.failed", {})
    assert world.count("request.refused") == LINES_PER_SECOND
    assert world.count("log.failed") == 1


def test_how_many_were_left_out_is_told_with_the_first_line_of_a_later_second() -> None:
    world = World()
    for _ in range(LINES_PER_SECOND + 7):
        world.report("warning", "request.refused", {})
    world.now += 1
    world.report("info", "audit.auth", {})
    assert world.lines[-2] == (
        "log.limited",
        {"of": "request.refused", "left_out": 7, "per_second": LINES_PER_SECOND},
    )
    world.report("warning", "request.refused", {})
    assert world.count("request.refused") == LINES_PER_SECOND + 1
    assert world.count("log.limited") == 1


def test_what_was_left_out_last_is_told_at_the_end() -> None:
    world = World()
    for _ in range(LINES_PER_SECOND + 1):
        world.report("warning", "request.refused", {})
    world.report.close()
    assert world.lines[-1][1]["left_out"] == 1


def test_one_client_hides_no_other_one() -> None:
    world = World()
    for _ in range(10 * LINES_PER_SECOND):
        world.report("warning", "request.refused", {"peer": "10.0.0.1:4711"})
        world.report("warning", "request.refused", {"peer": "10.0.0.1:4712", "user": "ann"})
    world.report("warning", "request.refused", {"peer": "10.0.0.2:4711"})
    assert world.lines[-1][1]["peer"] == "10.0.0.2:4711"
    assert LINES_PER_SECOND // 2 <= world.count("request.refused") < LINES_PER_SECOND
