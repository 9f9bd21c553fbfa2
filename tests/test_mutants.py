"""The script that changes the broker in small ways: what it changes, what it leaves alone, and which ones it picks."""

import ast
import sys
import types
from pathlib import Path

import pytest
from scripts.mutant_worker import HITS, blocks_of, mark, put_in_place
from scripts.mutants import ROOT, Record, chosen, difference, read_equivalent, read_record
from scripts.mutations import mutations_of

EXAMPLE = '''"""What it is."""

def clamp(value: int, low: int = 0) -> int:
    """Not below, not above 10."""
    if value < low and not value:
        raise ValueError(f"{value + 1} is too low")
    return min(value, 10)

class Box:
    def __init__(self) -> None:
        self.size = 0

    def __repr__(self) -> str:
        return f"<Box {self.size + 1}>"

    def grow(self) -> None:
        self.size += 1
        self.report("info", "grown", self.size + 1)

    def shape(self) -> int:
        raise NotImplementedError
'''


def test_a_text_is_changed_in_the_ways_that_a_test_should_notice() -> None:
    found = [f"{mutation.function}: {mutation.what}" for mutation in mutations_of("core/example.py", EXAMPLE)]
    assert found == [
        "clamp: value < low and not value -> not (value < low and not value)",
        "clamp: if value < low and not value -> never",
        "clamp: and -> or in value < low and not value",
        "clamp: < -> <= in value < low",
        'clamp: without raise ValueError(f"{value + 1} is too low")',
        "clamp: min -> max",
        "clamp: 10 -> 11",
        "clamp: 10 -> 9",
        "Box.__init__: 0 -> 1",
        "Box.grow: return before self.size += 1",
        "Box.grow: without self.size += 1",
        "Box.grow: 1 -> 2",
        "Box.grow: 1 -> 0",
        "Box.grow: += -> -= in self.size += 1",
    ]


def some_sources() -> dict[str, str]:
    """Those of one small part of the broker."""
    package = ROOT / "src" / "penstock"
    return {path: (package / path).read_text() for path in ("core/deadlines.py", "log/span.py", "wire/buffer.py")}


def test_a_mutant_of_the_broker_is_a_program_and_another_one() -> None:
    for mutation in chosen(some_sources(), 20, seed=3):
        text = some_sources()[mutation.path]
        assert ast.dump(ast.parse(mutation.applied(text))) != ast.dump(ast.parse(text)), mutation


def test_a_seed_picks_the_same_mutants_each_time_and_none_twice() -> None:
    texts = some_sources()
    picked = chosen(texts, 20, seed=7)
    assert picked == chosen(texts, 20, seed=7)
    assert picked != chosen(texts, 20, seed=8)
    assert len({(mutation.path, mutation.function) for mutation in picked}) == 20  # spread over functions
    assert {mutation.name for mutation in picked} == {
        mutation.name for mutation in chosen({path: f"\n{text}" for path, text in texts.items()}, 20, seed=7)
    }
    few = {"core/example.py": EXAMPLE}
    assert len(set(chosen(few, 100, seed=1))) == len(mutations_of("core/example.py", EXAMPLE))


def test_a_difference_shows_the_line_before_and_after() -> None:
    mutation = next(mutation for mutation in mutations_of("core/example.py", EXAMPLE) if mutation.kind == "min-max")
    assert "-    return min(value, 10)\n+    return max(value, 10)\n" in difference(mutation, EXAMPLE)


def test_the_changed_function_takes_the_place_of_the_other_wherever_it_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module = types.ModuleType("example_of_a_module")
    module.__file__ = "example.py"
    exec(compile(EXAMPLE, "example.py", "exec"), vars(module))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    table = {"clamp": module.clamp}
    box = module.Box()
    mutations = {mutation.what: mutation for mutation in mutations_of("core/example.py", EXAMPLE)}
    for what in ("min -> max", "+= -> -= in self.size += 1"):
        mutation = mutations[what]
        put_in_place(module.__name__, mutation.function, mutation.applied(EXAMPLE))
    assert table["clamp"](3) == 10
    box.report = print
    box.grow()
    assert box.size == -1


def test_marks_tell_which_blocks_were_reached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "penstock" / "core").mkdir(parents=True)
    path = tmp_path / "penstock" / "core" / "example.py"
    path.write_text(EXAMPLE)
    blocks = mark(tmp_path, ["core/example.py"])
    hits = types.ModuleType(HITS)
    exec((tmp_path / f"{HITS}.py").read_text(), vars(hits))
    monkeypatch.setitem(sys.modules, HITS, hits)
    names: dict[str, types.FunctionType] = {}
    exec(path.read_text(), names)
    assert names["clamp"](3) == 3
    reached = [blocks[number] for number, hit in enumerate(vars(hits)[HITS]) if hit]
    assert sorted(block.line_number for block in reached) == [5, 7]
    assert {block.function for block in blocks} == {"clamp", "Box.__init__", "Box.__repr__", "Box.grow", "Box.shape"}


def test_tests_that_reach_a_mutant_come_nearest_and_quickest_first() -> None:
    near, slow, model, far, other = (
        "tests/core/test_a.py::a", "tests/core/test_b.py::b", "tests/sim/test_sim.py::c", "tests/wire/test_d.py::d",
        "tests/core/test_e.py::e",
    )  # fmt: skip
    record = Record()
    blocks = blocks_of("core/example.py", EXAMPLE)
    numbers = {block.line_number: number for number, block in enumerate(blocks)}
    found, passed = numbers[7], numbers[5]
    tests = {far: [0.1, [found]], model: [3, [found]], slow: [2, [found, passed]], near: [0.2, [found]]}
    record.add(blocks, {"tests": {**tests, other: [0.1, [found]], "tests/x.py::x": [0, [passed]]}, "unfit": [other]})
    mutation = next(mutation for mutation in mutations_of("core/example.py", EXAMPLE) if mutation.kind == "min-max")
    assert [test for test, _ in record.tests_for(mutation, EXAMPLE, 60)] == [near, model, slow, far]
    assert [test for test, _ in record.tests_for(mutation, EXAMPLE, 4)] == [near, model]


def test_a_recording_is_kept_and_forgets_files_of_tests_that_have_changed(tmp_path: Path) -> None:
    record = Record()
    blocks = blocks_of("core/example.py", EXAMPLE)
    tests = {"tests/a.py::a": [0.5, [0, 1]], "tests/b.py::b": [1.5, [1]], "tests/b.py::c": [0.1, [0]]}
    record.add(blocks, {"tests": tests, "unfit": ["tests/b.py::c"]})
    record.files = {"tests/a.py": "1", "tests/b.py": "2"}
    record.write(tmp_path / "record.json")
    again = read_record(tmp_path / "record.json")
    assert vars(again) == vars(record)
    again.forget("tests/b.py")
    assert (again.files, again.durations, again.unfit) == ({"tests/a.py": "1"}, {"tests/a.py::a": 0.5}, set())
    assert again.reached == {blocks[0].name: {"tests/a.py::a"}, blocks[1].name: {"tests/a.py::a"}}


def test_what_is_listed_as_equivalent_has_its_reason(tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    path.write_text("# A comment.\ncore/a.py | Box.grow | + -> - in a + b | c = a + b | d\n    Nobody\n    looks.\n")
    assert read_equivalent(path) == {("core/a.py", "Box.grow", "+ -> - in a + b", "c = a + b | d"): "Nobody looks."}
    assert all(read_equivalent(ROOT / "scripts" / "mutants-equivalent.txt").values())
