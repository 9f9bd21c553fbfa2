"""Small changes to source code that a test should notice: found in its syntax tree, applied to its text.

A mutation belongs to one function. Text for humans is left alone: docstrings, annotations, error messages, `__repr__`,
log messages. So are functions that only raise NotImplementedError.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

COMPARISONS = {ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">")}
REPORTS = {"report", "_report", "debug", "info", "warning", "error", "exception"}  # calls that only write log messages
UNTOLD = (ast.Raise, ast.Assert, ast.JoinedStr, ast.AnnAssign, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True)
class Mutation:
    path: str  # relative to src/penstock
    function: str  # qualified name
    line_number: int
    line: str  # unchanged, without the indentation
    kind: str  # negate, compare, plus-minus, and-or, constant, drop, skip, return, min-max
    what: str  # a description, with the piece of source that is changed
    begin: int  # the range of the text, in characters ...
    end: int
    text: str  # ... and its replacement

    @property
    def room(self) -> str:
        return self.path.split("/")[0] if "/" in self.path else "message"

    @property
    def name(self) -> tuple[str, str, str, str]:
        """An identity that stays the same when other parts of the file change."""
        return self.path, self.function, self.what, self.line

    def applied(self, source: str) -> str:
        return source[: self.begin] + self.text + source[self.end :]


class Source:
    """A source text with its tree, and the positions of nodes in the text."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text
        self.tree = ast.parse(text)
        self.lines = text.splitlines(keepends=True)
        self._starts = [0]
        for line in self.lines:
            self._starts.append(self._starts[-1] + len(line))

    def place(self, line_number: int, column: int) -> int:
        """An index into the text. The tree counts columns in bytes."""
        line = self.lines[line_number - 1]
        return self._starts[line_number - 1] + len(line.encode()[:column].decode())

    def bounds(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self.place(node.lineno, node.col_offset), self.place(node.end_lineno, node.end_col_offset)

    def piece(self, node: ast.expr | ast.stmt) -> str:
        begin, end = self.bounds(node)
        return self.text[begin:end]

    def functions(self) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
        """Functions and methods with their qualified names; nested definitions are part of their function."""
        yield from self._functions(self.tree.body, "")

    def _functions(
        self, body: list[ast.stmt], prefix: str
    ) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield prefix + node.name, node
            elif isinstance(node, ast.ClassDef):
                yield from self._functions(node.body, f"{prefix}{node.name}.")


def mutations_of(path: str, text: str) -> list[Mutation]:
    """All mutations of a file, in order."""
    source = Source(path, text)
    found: list[Mutation] = []
    for name, function in source.functions():
        if not name.endswith("__repr__") and not _is_abstract(function):
            maker = _Maker(source, name)
            maker.visit_body(function.body, can_return=_returns_nothing(function) and not maker.begins)
            found += maker.found
    return found


def _is_abstract(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    body = [node for node in function.body if not _is_text(node)]
    return not body or (len(body) == 1 and isinstance(body[0], ast.Raise) and "NotImplemented" in ast.dump(body[0]))


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _returns_nothing(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return isinstance(function.returns, ast.Constant) and function.returns.value is None


def _is_report(node: ast.stmt) -> bool:
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
        return False
    called = node.value.func
    return isinstance(called, ast.Attribute) and called.attr in REPORTS


class _Maker:
    """Collects the mutations of one function."""

    def __init__(self, source: Source, function: str) -> None:
        self.source = source
        self.function = function
        self.begins = function.endswith("__init__")  # an assignment missing there fails on first use
        self.found: list[Mutation] = []

    def add(self, node: ast.expr | ast.stmt, kind: str, what: str, begin: int, end: int, text: str) -> None:
        line = self.source.lines[node.lineno - 1].strip()
        self.found.append(
            Mutation(self.source.path, self.function, node.lineno, line, kind, what, begin, end, text),
        )

    def replace(self, node: ast.expr | ast.stmt, kind: str, text: str, what: str = "") -> None:
        begin, end = self.source.bounds(node)
        self.add(node, kind, what or f"{shortened(self.source.piece(node))} -> {shortened(text)}", begin, end, text)

    # -- statements -------------------------------------------------------------------------------------------------

    def visit_body(self, body: list[ast.stmt], can_return: bool = False) -> None:
        for node in body:
            if can_return and not _is_text(node) and not (node is body[-1] and _can_go(node)):
                begin, _ = self.source.bounds(node)
                indent = " " * node.col_offset
                what = f"return before {shortened(self.source.piece(node).splitlines()[0])}"
                self.add(node, "return", what, begin, begin, f"return\n{indent}")
            self.visit_statement(node)

    def visit_statement(self, node: ast.stmt) -> None:
        if _is_text(node) or _is_report(node):
            return
        if isinstance(node, ast.If | ast.While):
            self.condition(node.test, skip=isinstance(node, ast.If))
        elif _can_go(node) and not (self.begins and isinstance(node, ast.Assign)):
            self.replace(node, "drop", "pass", f"without {shortened(self.source.piece(node))}")
        if not isinstance(node, UNTOLD):
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr):
                    self.visit_expression(child)
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            self.visit_expression(node.value)
        if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add | ast.Sub) and not _is_text_like(node.value):
            self.operator(node, node.target, node.value, "+=", "-=")
        for name in ("body", "orelse", "finalbody"):
            self.visit_body(getattr(node, name, []))
        for handler in getattr(node, "handlers", []):
            self.visit_body(handler.body)
        if isinstance(node, ast.With | ast.AsyncWith):
            for item in node.items:
                self.visit_expression(item.context_expr)

    # -- expressions ------------------------------------------------------------------------------------------------

    def visit_expression(self, node: ast.expr) -> None:
        if isinstance(node, ast.JoinedStr):
            return
        if isinstance(node, ast.IfExp):
            self.condition(node.test, skip=False)
        elif isinstance(node, ast.Compare):
            self.compare(node)
        elif isinstance(node, ast.BoolOp):
            old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
            for left, right in zip(node.values, node.values[1:], strict=False):
                self.operator(node, left, right, old, new, "and-or")
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
            if not _is_text_like(node.left) and not _is_text_like(node.right):
                self.operator(node, node.left, node.right, "+", "-")
        elif isinstance(node, ast.Constant):
            self.constant(node)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("min", "max"):
            self.replace(node.func, "min-max", "max" if node.func.id == "min" else "min")
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.visit_expression(child)
            elif isinstance(child, ast.comprehension):
                self.visit_expression(child.iter)
                for condition in child.ifs:
                    self.condition(condition, skip=False)
                    self.visit_expression(condition)
            elif isinstance(child, ast.keyword):
                self.visit_expression(child.value)

    def condition(self, node: ast.expr, skip: bool) -> None:
        piece = self.source.piece(node)
        self.replace(node, "negate", f"not ({piece})")
        if skip:
            self.replace(node, "skip", "False", f"if {shortened(piece)} -> never")

    def compare(self, node: ast.Compare) -> None:
        left = node.left
        for operator, right in zip(node.ops, node.comparators, strict=True):
            known = COMPARISONS.get(type(operator))
            if known is not None:
                self.operator(node, left, right, *known, "compare")
            left = right

    def operator(
        self, node: ast.expr | ast.stmt, left: ast.expr, right: ast.expr, old: str, new: str, kind: str = "plus-minus"
    ) -> None:
        """Replaces the operator between two expressions. Between them is only the operator, and perhaps parentheses."""
        between = self.source.bounds(left)[1], self.source.bounds(right)[0]
        text = self.source.text[slice(*between)]
        at = text.find(old)
        if at >= 0 and "#" not in text:
            begin = between[0] + at
            piece = shortened(
                self.source.piece(node).splitlines()[0] if isinstance(node, ast.stmt) else self.around(node)
            )
            self.add(left, kind, f"{old} -> {new} in {piece}", begin, begin + len(old), new)

    def around(self, node: ast.expr) -> str:
        return " ".join(self.source.piece(node).split())

    def constant(self, node: ast.Constant) -> None:
        value = node.value
        if isinstance(value, bool):
            self.replace(node, "constant", str(not value))
        elif isinstance(value, int):
            self.replace(node, "constant", str(value + 1))
            if value:
                self.replace(node, "constant", str(value - 1))


def _can_go(node: ast.stmt) -> bool:
    """Whether a statement can be removed without breaking the rest."""
    if isinstance(node, ast.Raise | ast.Delete | ast.Continue | ast.Break | ast.AugAssign):
        return True
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Call | ast.Await)
    if isinstance(node, ast.Assign):
        return all(isinstance(target, ast.Attribute | ast.Subscript) for target in node.targets)
    return False


def _is_text_like(node: ast.expr) -> bool:
    """Whether it is bytes, text or a list: there is nothing to subtract."""
    if isinstance(node, ast.BinOp):
        return _is_text_like(node.left) or _is_text_like(node.right)
    if isinstance(node, ast.Constant):
        return isinstance(node.value, bytes | str)
    return isinstance(node, ast.JoinedStr | ast.List | ast.ListComp)


def shortened(text: str) -> str:
    """On one line, and cut to a maximum length."""
    words = " ".join(text.split())
    return words if len(words) <= 80 else words[:77] + "..."
