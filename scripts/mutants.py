"""Mutation testing: changes the broker in small ways, one at a time, and checks whether a test notices.

    .venv/bin/python -m scripts.mutants --count 200 --seed 1 --jobs 2

A mutant is the tree with one change in one function of a compiled package or of `server/`: a negated condition, `<` for
`<=`, a removed statement and the like (`scripts/mutations.py`). The seed and the tree determine which ones are tried;
they are spread evenly over the functions. The tests run interpreted, on a copy of the tree, never on the tree itself:

    record   once per test file: which test reaches which statement block, including in programs that it starts,
             and how long it takes
    try      for each mutant, the tests that reach its block, nearest and fastest first, up to the first that fails

A mutant that hangs or kills the process counts as caught. A test that waits for sockets may fail for other reasons on a
busy machine: such a test has to fail twice, and to pass without the mutant in between.

Surviving mutants without any observable effect are listed by hand, with the reason, in
`scripts/mutants-equivalent.txt`; they are counted separately, neither as caught nor as surviving.
"""

import argparse
import difflib
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from scripts.mutant_worker import HITS_FILE, MODE, PIPES, RECORD, Block, blocks_of, code_of, mark
from scripts.mutations import Mutation, mutations_of

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "build" / "mutants"
EQUIVALENT = ROOT / "scripts" / "mutants-equivalent.txt"
ROOMS = ("core", "log", "storage", "wire", "server")
ALONE = ("message.py", "errors.py", "clock.py")
COPIED = ("src", "tests", "scripts", "fuzz", "bench", "examples", "docs", "deploy", "pyproject.toml", "README.md")
TESTS = (
    "tests/core", "tests/log", "tests/storage", "tests/wire", "tests/auth", "tests/conformance", "tests/sim",
    "tests/server", "tests/tls", "tests/http", "tests/test_clock.py", "tests/test_config.py",
)  # fmt: skip
NEAREST = {
    "core": ("tests/core",),
    "log": ("tests/log", "tests/storage", "tests/sim"),
    "storage": ("tests/storage", "tests/sim"),
    "wire": ("tests/wire", "tests/auth"),
    "server": ("tests/server", "tests/tls", "tests/auth"),
    "message": ("tests/test_clock.py", "tests/core", "tests/wire", "tests/log", "tests/storage"),
}
SEARCHING = ("tests/conformance", "tests/core/test_model", "tests/core/test_delivery_model", "tests/sim")
TOUCHY = ("tests/server", "tests/tls", "tests/auth", "tests/conformance", "tests/http")  # use sockets and clocks
QUICK = 0.5  # seconds
ALONE_MAX = 60  # seconds that one test may take
LIVES, CAUGHT, EQUAL, UNTRIED = "lives", "caught", "equivalent, by hand", "not tried"


# -- which mutants -----------------------------------------------------------------------------------------------------


def sources(root: Path) -> dict[str, str]:
    """The files to mutate, by their paths below the package."""
    package = root / "src" / "penstock"
    paths = [package / name for name in ALONE]
    for room in ROOMS:
        paths += sorted((package / room).rglob("*.py"))
    return {str(path.relative_to(package)): path.read_text() for path in paths}


def chosen(texts: dict[str, str], count: int, seed: int) -> list[Mutation]:
    """`count` mutations: one of each function, in random order, before a second one of any.

    The order is a hash of the seed and of names, so small changes to the tree give nearly the same mutants.
    """
    by_function: dict[tuple[str, str], list[Mutation]] = {}
    for path, text in texts.items():
        for mutation in mutations_of(path, text):
            by_function.setdefault((path, mutation.function), []).append(mutation)
    left = {name: _drawn(by_function[name], seed) for name in sorted(by_function, key=lambda name: _lot(seed, *name))}
    found: list[Mutation] = []
    while left and len(found) < count:
        for name, mutations in list(left.items()):
            while mutations and not _fits(mutations[0], texts[name[0]]):
                del mutations[0]
            if not mutations:
                del left[name]
            elif len(found) < count:
                found.append(mutations.pop(0))
            else:
                break
    return found


def _drawn(mutations: list[Mutation], seed: int) -> list[Mutation]:
    """The mutations of one function in random order: one of each kind before a second one of any."""
    kinds: dict[str, list[Mutation]] = {}
    for mutation in sorted(mutations, key=lambda mutation: _lot(seed, *mutation.name)):
        kinds.setdefault(mutation.kind, []).append(mutation)
    piles = [kinds[kind] for kind in sorted(kinds, key=lambda kind: _lot(seed, *mutations[0].name[:2], kind))]
    return [pile[number] for number in range(len(mutations)) for pile in piles if number < len(pile)]


def _lot(seed: int, *words: str) -> bytes:
    return hashlib.sha256("\0".join([str(seed), *words]).encode()).digest()


def _fits(mutation: Mutation, text: str) -> bool:
    """Whether the mutant can replace the function in place: it must use the same free variables."""
    before = code_of(compile(text, mutation.path, "exec"), mutation.function)
    after = code_of(compile(mutation.applied(text), mutation.path, "exec"), mutation.function)
    return before.co_freevars == after.co_freevars and before.co_code != b""


def difference(mutation: Mutation, text: str) -> str:
    before, after = text.splitlines(keepends=True), mutation.applied(text).splitlines(keepends=True)
    return "".join(difflib.unified_diff(before, after, mutation.path, mutation.path, n=1))


def read_equivalent(path: Path) -> dict[tuple[str, str, str, str], str]:
    """The mutants listed as equivalent, with the reasons.

    An entry is a line `path | function | what | source line`, followed by its reason in indented lines.
    """
    found: dict[tuple[str, str, str, str], str] = {}
    name = ("", "", "", "")
    for line in path.read_text().splitlines() if path.exists() else []:
        if line.startswith(" "):
            found[name] = f"{found[name]} {line.strip()}".strip()
        elif line.strip() and not line.startswith("#"):
            parts = [part.strip() for part in line.split(" | ", 3)]
            name = (parts[0], parts[1], parts[2], parts[3])
            found[name] = ""
    return found


# -- copies of the tree ------------------------------------------------------------------------------------------------


def copy_tree(tree: Path, to: Path) -> Path:
    for name in COPIED:
        path = tree / name
        if path.is_dir():
            shutil.copytree(path, to / name, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
        elif path.exists():
            shutil.copy(path, to / name)
    return to


def environment(copy: Path, **more: str) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PENSTOCK_")}
    temporary = copy / "tmp"
    temporary.mkdir(exist_ok=True)
    return {**kept, "PYTHONPATH": str(copy / "src"), "PENSTOCK_PURE": "1", "TMPDIR": str(temporary), **more}


def pytest_command(tests: list[str]) -> list[str]:
    options = ["-p", "scripts.mutant_worker", "-p", "no:cacheprovider", "-q", "-s", "--no-header", "-m", "not slow"]
    return [sys.executable, "-m", "pytest", *options, *tests]


def file_hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


# -- which tests -------------------------------------------------------------------------------------------------------


class Record:
    """Which test reaches which blocks, and how long it takes. Stored per test file, so unchanged files stay valid."""

    def __init__(self) -> None:
        self.files: dict[str, str] = {}  # their contents when they were recorded
        self.durations: dict[str, float] = {}
        self.reached: dict[tuple[str, str, str], set[str]] = {}  # tests by block name
        self.unfit: set[str] = set()  # tests that fail without a mutant, or are skipped

    def forget(self, file: str) -> None:
        """Removes everything about a test file."""
        self.files.pop(file, None)
        gone = {test for test in [*self.durations, *self.unfit] if test.split("::")[0] == file}
        self.unfit -= gone
        for test in gone:
            self.durations.pop(test, None)
        for tests in self.reached.values():
            tests -= gone

    def add(self, blocks: list[Block], data: dict[str, Any]) -> None:
        self.unfit |= set(data["unfit"])
        for test, (seconds, numbers) in data["tests"].items():
            if test not in self.unfit:
                self.durations[test] = seconds
                for number in numbers:
                    self.reached.setdefault(blocks[number].name, set()).add(test)

    def tests_for(self, mutation: Mutation, text: str, seconds_max: float) -> list[tuple[str, float]]:
        """The tests that reach the mutant, most promising first, up to a total time."""
        order = sorted(
            self._reaching(mutation, text),
            key=lambda test: (self._group(test, mutation.room), self.durations[test], test),
        )
        found: list[tuple[str, float]] = []
        total = 0.0
        for test in order:
            total += self.durations[test]
            if total > seconds_max and found:
                break
            found.append((test, self.durations[test]))
        return found

    def _reaching(self, mutation: Mutation, text: str) -> set[str]:
        blocks = [b for b in blocks_of(mutation.path, text) if b.function == mutation.function]
        before = [block for block in blocks if block.line_number <= mutation.line_number]
        if before:
            block = max(before, key=lambda block: block.line_number)
            if block.name in self.reached:
                return self.reached[block.name]
        for part in (mutation.path, mutation.function), (mutation.path,):  # a new block: use whatever runs near it
            found = [tests for name, tests in self.reached.items() if name[: len(part)] == part]
            if any(found):
                return set().union(*found)
        # It may be reached only by programs that tests start.
        return {test for test in self.durations if test.startswith(NEAREST[mutation.room])}

    def _group(self, test: str, room: str) -> int:
        is_near = test.startswith(NEAREST[room])
        if is_near and self.durations[test] < QUICK:
            return 0
        if test.startswith(SEARCHING):
            return 1
        return 2 if is_near else 3

    def write(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        numbers = {test: number for number, test in enumerate(self.durations)}  # much shorter than the names
        reached = [[*name, sorted(map(numbers.__getitem__, tests))] for name, tests in sorted(self.reached.items())]
        data = {"files": self.files, "durations": self.durations, "unfit": sorted(self.unfit), "reached": reached}
        path.write_text(json.dumps(data, separators=(",", ":")))


def read_record(path: Path) -> Record:
    record = Record()
    if path.exists():
        data = json.loads(path.read_text())
        record.files, record.durations, record.unfit = data["files"], data["durations"], set(data["unfit"])
        tests = list(record.durations)
        for name, function, line, numbers in data["reached"]:
            record.reached[name, function, line] = {tests[number] for number in numbers}
    return record


def up_to_date(record: Record, tree: Path, tests: list[str], jobs: int, seconds_max: float) -> Record:
    """Records the tests of files that have changed since. A test that takes a minute is of no use, and left out."""
    paths = [path for test in tests for path in sorted([tree / test, *(tree / test).rglob("test_*.py")])]
    now = {str(path.relative_to(tree)): file_hash(path) for path in paths if path.is_file()}
    changed = [file for file in now if record.files.get(file) != now[file]]
    for file in {*changed, *record.files} - {file for file in now if file not in changed}:
        record.forget(file)
    if changed:
        print(f"recording {len(changed)} files of tests", flush=True)
        with tempfile.TemporaryDirectory(prefix="penstock-mutants-") as directory:
            _record(record, copy_tree(tree, Path(directory)), changed, jobs, seconds_max)
        record.files |= {file: now[file] for file in changed}
    return record


def _record(record: Record, copy: Path, files: list[str], jobs: int, seconds_max: float) -> None:
    blocks = mark(copy / "src", sorted(sources(copy)))
    parts = [files[number::jobs] for number in range(jobs) if files[number::jobs]]
    outputs = [copy / f"record-{number}.json" for number in range(len(parts))]
    hits = [output.with_suffix(".hits") for output in outputs]
    for file in hits:
        file.write_bytes(bytes(len(blocks)))
    running = [
        subprocess.Popen(
            [*pytest_command(part), "-o", f"timeout={ALONE_MAX}"],
            cwd=copy,
            env=environment(copy, **{MODE: "record", RECORD: str(output), HITS_FILE: str(file)}),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for part, output, file in zip(parts, outputs, hits, strict=True)
    ]
    until = time.monotonic() + seconds_max
    for process in running:
        try:
            process.wait(max(until - time.monotonic(), 0))
        except subprocess.TimeoutExpired:
            print("the recording took too long: tests it did not come to are left out", flush=True)
            process.terminate()
            process.wait()
    for output in outputs:
        record.add(blocks, json.loads(output.read_text()))


# -- trying ------------------------------------------------------------------------------------------------------------


@dataclass
class Outcome:
    mutation: Mutation
    verdict: str
    test: str = ""
    how: str = ""
    seconds: float = 0.0
    tests: int = 0
    why: str = ""  # why it does not matter


class Worker:
    """A copy of the tree, and a process that has collected its tests."""

    def __init__(self, tree: Path, tests: list[str], texts: dict[str, str]) -> None:
        self.tests = tests
        self.texts = texts
        self.directory = tempfile.TemporaryDirectory(prefix="penstock-mutants-")
        self.copy = copy_tree(tree, Path(self.directory.name))
        self._changes = 0
        self._start()

    def _start(self) -> None:
        orders, self_orders = os.pipe()
        self_answers, answers = os.pipe()
        self.process = subprocess.Popen(
            pytest_command(self.tests),
            cwd=self.copy,
            env=environment(self.copy, **{MODE: "serve", PIPES: f"{orders},{answers}"}),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(orders, answers),
        )
        os.close(orders)
        os.close(answers)
        self.orders = os.fdopen(self_orders, "w")
        self.answers = os.fdopen(self_answers)
        if not self.answers.readline():
            raise RuntimeError("pytest did not start: run it by hand to see why")

    def stop(self) -> None:
        self.orders.close()
        self.answers.close()
        self.process.wait()
        self.directory.cleanup()

    def _ask(self, mutation: Mutation | None, tests: list[tuple[str, float]]) -> dict[str, Any]:
        order: dict[str, Any] = {"function": "", "tests": tests}
        if mutation is not None:
            source = mutation.applied(self.texts[mutation.path])
            module = "penstock." + mutation.path.removesuffix(".py").replace("/", ".")
            order |= {"module": module, "function": mutation.function, "source": source}
        self.orders.write(json.dumps(order) + "\n")
        self.orders.flush()
        answer: dict[str, Any] = json.loads(self.answers.readline())
        shutil.rmtree(self.copy / "tmp", ignore_errors=True)
        (self.copy / "tmp").mkdir()
        return answer

    def _write(self, path: str, text: str) -> None:
        """Writes into the copy with a unique modification time, so that stale bytecode is not used."""
        file = self.copy / "src" / "penstock" / path
        file.write_text(text)
        self._changes += 1
        os.utime(file, (self._changes, self._changes))

    def attempt(self, mutation: Mutation, tests: list[tuple[str, float]]) -> Outcome:
        self._write(mutation.path, mutation.applied(self.texts[mutation.path]))
        try:
            return self._attempt(mutation, tests)
        finally:
            self._write(mutation.path, self.texts[mutation.path])

    def _attempt(self, mutation: Mutation, tests: list[tuple[str, float]]) -> Outcome:
        outcome = Outcome(mutation, LIVES, tests=len(tests))
        left = tests
        while left:
            answer = self._ask(mutation, left)
            outcome.seconds += answer["seconds"]
            outcome.test, outcome.how = answer["test"], answer["how"]
            if outcome.how == "lives":
                outcome.test = ""
                return outcome
            if outcome.how.startswith("misfit"):
                outcome.verdict = UNTRIED
                return outcome
            names = [test for test, _ in left]
            at = names.index(outcome.test) if outcome.test in names else len(names) - 1
            if not outcome.test.startswith(TOUCHY) or self._is_sure(mutation, left[at]):
                outcome.verdict = CAUGHT
                return outcome
            left = left[at + 1 :]
        outcome.test = outcome.how = ""
        return outcome

    def _is_sure(self, mutation: Mutation, test: tuple[str, float]) -> bool:
        """Whether the test fails because of the mutant."""
        self._write(mutation.path, self.texts[mutation.path])
        without = str(self._ask(None, [test])["how"])
        self._write(mutation.path, mutation.applied(self.texts[mutation.path]))
        return without == "lives" and str(self._ask(mutation, [test])["how"]) != "lives"


def try_all(
    tree: Path, mutations: list[Mutation], texts: dict[str, str], options: argparse.Namespace
) -> Iterator[Outcome]:
    """Yields outcomes in the order in which they finish."""
    tests = [test for test in options.tests if (tree / test).exists()]
    known = read_record(options.record) if not options.fresh else Record()
    up_to_date(known, tree, tests, options.jobs, options.record_seconds).write(options.record)
    if known.unfit:
        print(f"{len(known.unfit)} tests are left out, because they fail as it is: {sorted(known.unfit)}", flush=True)
    waiting: SimpleQueue[Mutation] = SimpleQueue()
    for mutation in mutations:
        waiting.put(mutation)
    done: SimpleQueue[Outcome | BaseException] = SimpleQueue()

    def work() -> None:
        try:
            worker = Worker(tree, tests, texts)
            try:
                while True:
                    mutation = waiting.get_nowait()
                    done.put(worker.attempt(mutation, known.tests_for(mutation, texts[mutation.path], options.seconds)))
            except Empty:
                worker.stop()
        except BaseException as error:
            done.put(error)

    for _ in range(options.jobs):
        threading.Thread(target=work, daemon=True).start()
    for _ in mutations:
        outcome = done.get()
        if isinstance(outcome, BaseException):
            raise outcome
        yield outcome


# -- the report --------------------------------------------------------------------------------------------------------


def told(outcome: Outcome) -> str:
    mutation = outcome.mutation
    by = f" by {outcome.test}" if outcome.test else ""
    how = f", which {outcome.how}" if outcome.how in ("hangs", "dies") else ""
    place = f"{mutation.path}:{mutation.line_number} {mutation.function}"
    return f"{outcome.verdict:<7} {place}: {mutation.what}{by}{how} ({outcome.tests} tests, {outcome.seconds:.1f} s)"


def summary(outcomes: list[Outcome]) -> str:
    lines = [f"{'room':<10}{'mutants':>8}{'caught':>8}{'equivalent':>12}{'living':>8}"]
    rooms = sorted({outcome.mutation.room for outcome in outcomes})
    for room in [*rooms, "all"]:
        verdicts = Counter(outcome.verdict for outcome in outcomes if room in ("all", outcome.mutation.room))
        lines.append(
            f"{room:<10}{sum(verdicts.values()):>8}{verdicts[CAUGHT]:>8}{verdicts[EQUAL]:>12}{verdicts[LIVES]:>8}"
        )
    return "\n".join(lines)


def as_data(outcome: Outcome, text: str) -> dict[str, object]:
    mutation = outcome.mutation
    return {
        "path": mutation.path,
        "function": mutation.function,
        "line": mutation.line_number,
        "source": mutation.line,
        "kind": mutation.kind,
        "what": mutation.what,
        "verdict": outcome.verdict,
        "test": outcome.test,
        "how": outcome.how,
        "tests": outcome.tests,
        "seconds": round(outcome.seconds, 2),
        "why": outcome.why,
        "diff": difference(mutation, text),
    }


def taken_over(mutations: list[Mutation], report: Path) -> list[Outcome]:
    """The mutants that were caught before, by a test that probably still exists."""
    before = {
        (mutant["path"], mutant["function"], mutant["what"], mutant["source"]): mutant
        for mutant in json.loads(report.read_text())["mutants"]
        if mutant["verdict"] == CAUGHT
    }
    return [
        Outcome(mutation, CAUGHT, known["test"], known["how"], known["seconds"], known["tests"])
        for mutation in mutations
        if (known := before.get(mutation.name)) is not None
    ]


def judge(outcome: Outcome, equivalent: dict[tuple[str, str, str, str], str]) -> None:
    """A survivor that is known not to matter is counted separately."""
    why = equivalent.get(outcome.mutation.name)
    if outcome.verdict == LIVES and why is not None:
        outcome.verdict, outcome.why = EQUAL, why


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m scripts.mutants", description=__doc__.split("\n\n")[0])
    parser.add_argument("--count", type=int, default=200, help="how many mutants to try")
    parser.add_argument("--seed", type=int, default=1, help="decides which ones")
    parser.add_argument("--jobs", type=int, default=2, help="how many at a time")
    parser.add_argument("--bar", type=float, default=0.9, help="the part of those that matter that has to be caught")
    parser.add_argument("--seconds", type=float, default=60, help="how long the tests of one mutant may take")
    parser.add_argument("--record-seconds", type=float, default=1800, help="how long the recording may take")
    parser.add_argument("--record", type=Path, default=OUT / "record.json", help="where the recording is kept")
    parser.add_argument("--fresh", action="store_true", help="record anew, also what has not changed")
    parser.add_argument("--only", default="", help="a part of `path function what`, to try those mutants alone")
    parser.add_argument("--again", type=Path, help="a report: try those again that lived, and take over the others")
    parser.add_argument("--list", action="store_true", help="show the mutants, and try none")
    parser.add_argument("--out", type=Path, default=OUT / "report.json", help="the report, as JSON")
    parser.add_argument("tests", nargs="*", default=TESTS, help="where tests are looked for")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="penstock-mutants-") as directory:
        # Works on a copy, so that the checkout can be edited meanwhile.
        return run(copy_tree(ROOT, Path(directory)), options)


def run(tree: Path, options: argparse.Namespace) -> int:
    texts = sources(tree)
    mutations = chosen(texts, options.count, options.seed)
    mutations = [m for m in mutations if options.only in f"{m.path} {m.function} {m.what}"]
    if options.list:
        for mutation in mutations:
            print(f"{mutation.path}:{mutation.line_number} {mutation.function}: {mutation.what}")
        return 0
    equivalent = read_equivalent(EQUIVALENT)
    known = {mutation.name for path, text in texts.items() for mutation in mutations_of(path, text)}
    for path, function, what, line in sorted(set(equivalent) - known):
        print(f"listed as equivalent, and not there any more: {path} | {function} | {what} | {line}")
    began = time.monotonic()
    outcomes = taken_over(mutations, options.again) if options.again else []
    left = [mutation for mutation in mutations if mutation not in {outcome.mutation for outcome in outcomes}]
    for outcome in try_all(tree, left, texts, options):
        judge(outcome, equivalent)
        outcomes.append(outcome)
        print(f"{len(outcomes)}/{len(mutations)} {told(outcome)}", flush=True)
    order = {mutation: number for number, mutation in enumerate(mutations)}
    outcomes.sort(key=lambda outcome: order[outcome.mutation])
    for outcome in outcomes:
        if outcome.verdict != CAUGHT:
            print(f"\n{told(outcome)}\n{difference(outcome.mutation, texts[outcome.mutation.path])}", end="")
            print(f"why it does not matter: {outcome.why}" if outcome.why else "")
    options.out.parent.mkdir(parents=True, exist_ok=True)
    report = [as_data(outcome, texts[outcome.mutation.path]) for outcome in outcomes]
    options.out.write_text(json.dumps({"seed": options.seed, "mutants": report}, indent=1) + "\n")
    verdicts = Counter(outcome.verdict for outcome in outcomes)
    caught, matter = verdicts[CAUGHT], len(outcomes) - verdicts[EQUAL]
    part = caught / max(matter, 1)
    print(
        f"\n{summary(outcomes)}\n\n{caught} of {len(outcomes)} caught; {verdicts[EQUAL]} are equivalent, by hand; ",
        end="",
    )
    print(f"of the {matter} that matter {part:.1%} are caught, {time.monotonic() - began:.0f} s")
    return 0 if part >= options.bar else 1


if __name__ == "__main__":
    sys.exit(main())
