"""The part of `scripts.mutants` that runs tests: a pytest plugin, in a process that works on a copy of the tree.

    record   runs every test once, on a copy whose statement blocks record that they were reached, and writes down
             how long each test took and which blocks it reached, including in programs that it started
    serve    collects the tests once, and then tries one mutant after another: for each it forks, replaces the
             function by the mutant, and runs the given tests up to the first that fails

The mutant is also written to the files of the copy, for tests that start programs of their own.
"""

import ast
import json
import os
import resource
import select
import signal
import sys
import time
import types
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from mmap import mmap
from pathlib import Path
from typing import Any

import pytest

MODE = "MUTANTS_MODE"
PIPES = "MUTANTS_PIPES"  # two file descriptors: to read orders from, to write answers to
RECORD = "MUTANTS_RECORD"  # the file to write
HITS = "mutant_hits"  # the module that records the blocks reached
HITS_FILE = "MUTANTS_HITS"  # the file they are recorded in, shared with programs that a test starts
NOTED = """import mmap
import os

_file = os.environ.get("{file}", "")
{name} = bytearray({count})
if _file:
    _handle = os.open(_file, os.O_RDWR)
    {name} = mmap.mmap(_handle, {count})
    os.close(_handle)
"""
WRITTEN_EVERY = 10.0  # seconds; a recording that takes too long is used as far as it got
MEMORY_MAX = 3 << 30  # bytes; a mutant may allocate without end
GRACE = 15.0  # seconds that any test may take, plus ...
PATIENCE = 10.0  # ... this many times its recorded duration


# -- record ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Block:
    """Statements that are executed together. Its name stays the same when other parts of the file change."""

    path: str
    function: str
    line: str  # the first line, without the indentation
    line_number: int

    @property
    def name(self) -> tuple[str, str, str]:
        return self.path, self.function, self.line


class Marker(ast.NodeTransformer):
    """Inserts a mark at the start of each statement block inside functions, and after each inner block."""

    def __init__(self, path: str, text: str, blocks: list[Block]) -> None:
        self.path = path
        self.lines = text.splitlines()
        self.blocks = blocks  # of every mark, in all files so far
        self._classes: list[str] = []
        self._function = ""  # the outermost function

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self._classes.append(node.name)
        self.generic_visit(node)
        self._classes.pop()
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._visit_function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return self._visit_function(node)

    def _visit_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        outer = self._function
        self._function = outer or ".".join([*self._classes, node.name])
        self.generic_visit(node)
        self._function = outer
        return node

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        if self._function and isinstance(node, ast.stmt | ast.ExceptHandler) and not isinstance(node, ast.ClassDef):
            for name in ("body", "orelse", "finalbody"):
                statements = getattr(node, name, None)
                if statements:
                    setattr(node, name, list(self._with_marks(statements)))
        return node

    def _with_marks(self, statements: list[ast.stmt]) -> Iterator[ast.stmt]:
        due = True
        for statement in statements:
            is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
            if due and not is_text and not isinstance(statement, ast.Global | ast.Nonlocal):
                yield self._mark(statement.lineno)
                due = False
            yield statement
            due = due or hasattr(statement, "body")

    def _mark(self, line_number: int) -> ast.stmt:
        line = self.lines[line_number - 1].strip()
        self.blocks.append(Block(self.path, self._function, line, line_number))
        return ast.parse(f"{HITS}[{len(self.blocks) - 1}] = 1").body[0]


def blocks_of(path: str, text: str) -> list[Block]:
    blocks: list[Block] = []
    Marker(path, text, blocks).visit(ast.parse(text))
    return blocks


def mark(source: Path, names: list[str]) -> list[Block]:
    """Inserts marks into the files of a copy. Returns their blocks, by number."""
    blocks: list[Block] = []
    for name in names:
        path = source / "penstock" / name
        text = path.read_text()
        tree = Marker(name, text, blocks).visit(ast.parse(text))
        place = 0
        while place < len(tree.body) and isinstance(tree.body[place], ast.Expr):
            place += 1
        tree.body.insert(place, ast.parse(f"from {HITS} import {HITS}").body[0])
        path.write_text(ast.unparse(ast.fix_missing_locations(tree)))
    (source / f"{HITS}.py").write_text(NOTED.format(name=HITS, file=HITS_FILE, count=len(blocks)))
    return blocks


class Recorder:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.tests: dict[str, tuple[float, list[int]]] = {}
        self.unfit: list[str] = []  # fail or are skipped without a mutant
        self.hits: bytearray | mmap = __import__(HITS).mutant_hits
        self._written_at = time.monotonic()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        self.hits[:] = bytes(len(self.hits))
        began = time.monotonic()
        result = yield
        seconds = round(time.monotonic() - began, 4)
        self.tests[item.nodeid] = seconds, [number for number, hit in enumerate(self.hits[:]) if hit]
        if time.monotonic() > self._written_at + WRITTEN_EVERY:
            self._write()
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.passed and report.nodeid not in self.unfit:
            self.unfit.append(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        self._write()

    def _write(self) -> None:
        unfinished = self.path.with_suffix(".new")
        unfinished.write_text(json.dumps({"tests": self.tests, "unfit": self.unfit}))
        unfinished.replace(self.path)
        self._written_at = time.monotonic()


# -- serve -------------------------------------------------------------------------------------------------------------


class Server:
    def __init__(self, orders: int, answers: int) -> None:
        self.orders = os.fdopen(orders)
        self.answers = os.fdopen(answers, "w")

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        items = {item.nodeid: item for item in session.items}
        self._answer({"ready": len(items)})
        for line in self.orders:
            self._answer(try_tests(session, items, json.loads(line)))
        return True

    def _answer(self, answer: dict[str, Any]) -> None:
        self.answers.write(json.dumps(answer) + "\n")
        self.answers.flush()


def try_tests(session: pytest.Session, items: dict[str, pytest.Item], order: dict[str, Any]) -> dict[str, Any]:
    """Runs tests in a child process, with a mutant or without. Returns the first that fails, and how."""
    began = time.monotonic()
    notes, noted = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(notes)
        _be_child(session, items, order, noted)
    os.close(noted)
    test, how = _watch(notes, child, dict(order["tests"]))
    os.close(notes)
    _end(child)
    return {"test": test, "how": how, "seconds": round(time.monotonic() - began, 2)}


def _watch(notes: int, child: int, durations: dict[str, float]) -> tuple[str, str]:
    test, deadline, buffer = "", time.monotonic() + GRACE, b""
    while True:
        ready, _, _ = select.select([notes], [], [], max(deadline - time.monotonic(), 0))
        data = os.read(notes, 1 << 16) if ready else b""
        if not ready:
            return test, "hangs"
        if not data:
            return test, "dies"
        *lines, buffer = (buffer + data).split(b"\n")
        for line in lines:
            word, _, rest = line.decode().partition(" ")
            if word != "begins":
                return rest, word
            test, deadline = rest, time.monotonic() + GRACE + PATIENCE * durations.get(rest, 0)


def _end(child: int) -> None:
    """Kills the child and the processes it has started."""
    try:
        os.killpg(child, signal.SIGKILL)
    except ProcessLookupError:
        pass
    os.waitpid(child, 0)


def _be_child(session: pytest.Session, items: dict[str, pytest.Item], order: dict[str, Any], noted: int) -> None:
    os.setsid()
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(nowhere, number)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_MAX, MEMORY_MAX))
    word = "dies"
    test = ""
    try:
        if order["function"]:
            put_in_place(order["module"], order["function"], order["source"])
        tests = [test for test, _ in order["tests"] if test in items]
        word = "lives"
        for number, test in enumerate(tests):
            os.write(noted, f"begins {test}\n".encode())
            following = items[tests[number + 1]] if number + 1 < len(tests) else None
            items[test].config.hook.pytest_runtest_protocol(item=items[test], nextitem=following)
            if session.testsfailed:
                word = "fails"
                break
    except BaseException as error:
        word = "dies" if test else f"misfit-{type(error).__name__}"
    os.write(noted, f"{word} {test}\n".encode())
    os._exit(0)


def put_in_place(module_name: str, function: str, source: str) -> None:
    """Replaces the code of a function in a loaded module by its code in another version of the source."""
    module = sys.modules.get(module_name)
    if module is None:
        return  # it will be imported from its file
    code = code_of(compile(source, str(module.__file__), "exec"), function)
    for found in functions_of(module, function):
        found.__code__ = code


def code_of(code: types.CodeType, function: str) -> types.CodeType:
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            if constant.co_qualname == function:
                return constant
            if function.startswith(constant.co_qualname + "."):
                return code_of(constant, function)
    raise LookupError(function)


def functions_of(module: types.ModuleType, function: str) -> list[types.FunctionType]:
    """A property may have two functions of the same name."""
    *classes, name = function.split(".")
    holder: Any = module
    for part in classes:
        holder = vars(holder)[part]
    found = _unwrapped(vars(holder)[name])
    if not found:
        raise LookupError(function)
    return found


def _unwrapped(value: Any) -> list[types.FunctionType]:
    if isinstance(value, types.FunctionType):
        inner = getattr(value, "__wrapped__", None)
        return [value] if inner is None else _unwrapped(inner)
    if isinstance(value, property):
        return [found for found in (value.fget,) if isinstance(found, types.FunctionType)]
    inner = getattr(value, "__wrapped__", None) or getattr(value, "__func__", None)
    return [] if inner is None else _unwrapped(inner)


def pytest_configure(config: pytest.Config) -> None:
    if os.environ.get(MODE) == "record":
        config.pluginmanager.register(Recorder(Path(os.environ[RECORD])))
    elif os.environ.get(MODE) == "serve":
        orders, answers = os.environ[PIPES].split(",")
        config.pluginmanager.register(Server(int(orders), int(answers)))
