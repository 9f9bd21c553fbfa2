"""The language of `_eval`: small expressions over read-only views. It is not Python's eval.

The syntax, the values and the functions are Python's, because the operators' documents use them. This file says which
of them are allowed, and what they cost. An expression is limited in three ways:

1. Length. At most 4 KiB and 100 brackets, counted before parsing.
2. Shape. Every node of the tree is of a type listed in NODES, at most 50 deep, and no attribute starts with an
   underscore. A forbidden node is refused even if it would never run.
3. Work. One step is charged for each visited node, and whatever an operator or a function reads is paid for first: one
   step for each item and for every 16 characters of text. An evaluation may take 100,000 steps, and all clients
   together 10,000 per second: evaluations are meant for an occasional look, and CPU time is for messages.

No operator or function does more than it was paid for. Nothing multiplies a text or a list, so a value is never larger
than the steps that made it; integers have 64 bits; there are no powers and no formatting. Keys of dicts and sets are
texts and numbers only: their hashes are random or spread, while tuples can be crafted to collide until each lookup
scans the whole table.

A value can be larger than the memory it takes: `[[x, x] for x in [[y, y] for y in ...]]` shares its parts and doubles
with every level. So each item is paid for as often as it is reached.
"""

import ast
import operator
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, Final

from mypy_extensions import mypyc_attr

from penstock.wire.allowance import STEPS_MAX, STEPS_PER_SECOND, Allowance

CODE_SIZE_MAX: Final = 4096
BRACKETS_MAX: Final = 100  # a parser may take exponential time for nested ones
DEPTH_MAX: Final = 50
INTEGER_MAX: Final = 2**63 - 1
TEXT_MAX: Final = 65_536  # of a result
REASON_MAX: Final = 200  # a reason quotes the client's own text, and ends up in a log line
CUT_MARK: Final = "... (cut)"

# Work that takes about as long as visiting one node.
TEXT_PER_STEP: Final = 16  # characters, copied or searched
COPIED_PER_STEP: Final = 8  # items, without looking at them

OPERATORS: Final[dict[type[ast.AST], Callable[..., object]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.Not: operator.not_,
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
}
NODES: Final = frozenset(
    {
        *(ast.Constant, ast.Name, ast.Attribute, ast.Subscript, ast.Slice, ast.Call, ast.keyword, ast.Load, ast.Store),
        *(ast.List, ast.Tuple, ast.Dict, ast.ListComp, ast.DictComp, ast.GeneratorExp, ast.comprehension),
        *(ast.IfExp, ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.BinOp, ast.Compare, ast.In, ast.NotIn, *OPERATORS),
    }
)

COLLECTIONS: Final = (list, tuple, dict, set)

VIEW_METHODS: Final = frozenset({"qsize", "is_set"})
DICT_METHODS: Final = frozenset({"keys", "values", "items", "get"})
TEXT_METHODS: Final = frozenset({"join", "startswith", "endswith"})
METHODS_OF_PYTHON_2: Final = {"iterkeys": "keys", "itervalues": "values", "iteritems": "items"}


class ExpressionError(ValueError):
    """The expression is invalid, not allowed, or too expensive; `reason` says which, in one short line."""

    def __init__(self, reason: str) -> None:
        self.reason = _one_line(reason, REASON_MAX)
        super().__init__(self.reason)


@mypyc_attr(allow_interpreted_subclasses=True)
class View:
    """An object that expressions may inspect, but only through the attributes and methods named in `visible`.

    An attribute is read once per evaluation, however often the expression names it. So an evaluation sees a consistent
    state, and an attribute may be a property that builds a collection.
    """

    visible: ClassVar[frozenset[str]] = frozenset()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"  # clients must not see memory addresses


def evaluate(
    code: str,
    names: Mapping[str, object],
    steps_max: int = STEPS_MAX,
    allowance: Allowance | None = None,
    now: int = 0,
) -> object:
    """Evaluate one expression and charge its steps to `allowance`.

    Traversing the result (to print or encode it) is bounded by the same number of steps as computing it.

    Raises:
        ExpressionError: for any error in the text or in what it computes. Nothing else is raised.
    """
    wait = 0 if allowance is None else allowance.wait(now)
    if wait > 0:
        raise ExpressionError(
            f"evaluations take {STEPS_PER_SECOND} steps a second at most: try again in {wait / 1_000_000:.1f} s"
        )
    evaluation = _Evaluation(names, steps_max)
    try:
        return evaluation.result(_parse(code))
    except ExpressionError:
        raise
    except SyntaxError as error:
        raise ExpressionError(f"not an expression: {error.msg}") from error
    except Exception as error:  # such as ZeroDivisionError, KeyError, or a RecursionError from the parser
        raise ExpressionError(f"{type(error).__name__}: {error}") from error
    finally:
        if allowance is not None:
            allowance.spend(len(code) + evaluation.steps(), now)


def render(value: object, limit: int = TEXT_MAX) -> str:
    """A result as `str` shows it, on one line of at most `limit` characters. CUT_MARK shows that it was cut."""
    return _one_line(str(value), limit)


def _one_line(text: str, limit: int) -> str:
    """The text with all unprintable characters escaped, including line ends and lone surrogates."""
    text = text[: limit + 1]
    if not text.isprintable():
        text = "".join([char if char.isprintable() else char.encode("unicode_escape").decode() for char in text])
    if len(text) > limit:
        text = (text[: max(limit - len(CUT_MARK), 0)] + CUT_MARK)[:limit]
    return text


def _parse(code: str) -> ast.expr:
    """Parse an expression and check that every node is allowed."""
    if len(code) > CODE_SIZE_MAX or len(code.encode("utf-8", "replace")) > CODE_SIZE_MAX:
        raise ExpressionError(f"the code is longer than {CODE_SIZE_MAX} bytes")
    if code.count("(") + code.count("[") + code.count("{") > BRACKETS_MAX:
        raise ExpressionError(f"the code has more than {BRACKETS_MAX} brackets")
    with warnings.catch_warnings():
        # A stray backslash in a client's string must not cause a warning on our stderr.
        warnings.simplefilter("ignore")
        tree = ast.parse(code.strip(), mode="eval")
    # An explicit stack, because a tree can be thousands of levels deep without brackets: 1+1+1+...
    pending: list[tuple[ast.AST, int]] = [(tree.body, 1)]
    while pending:
        node, depth = pending.pop()
        _check_node(node)
        if isinstance(node, (ast.ListComp, ast.DictComp, ast.GeneratorExp)):
            depth += len(node.generators)  # the loops nest, although the tree holds them side by side
        if depth > DEPTH_MAX:
            raise ExpressionError(f"nested deeper than {DEPTH_MAX}")
        for child in ast.iter_child_nodes(node):
            pending.append((child, depth + 1))
    return tree.body


def _check_node(node: ast.AST) -> None:
    if type(node) not in NODES:
        raise ExpressionError(f"{type(node).__name__} is not allowed")
    if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
        raise ExpressionError(f"attribute {node.attr} is not public")
    if isinstance(node, ast.Constant):
        if node.value is not None and not isinstance(node.value, (str, int, float)):
            raise ExpressionError(f"{type(node.value).__name__} constants are not allowed")
        _small(node.value)
    if (isinstance(node, ast.keyword) and node.arg is None) or (isinstance(node, ast.Dict) and None in node.keys):
        raise ExpressionError("** is not allowed")
    if isinstance(node, ast.comprehension) and node.is_async:
        raise ExpressionError("async is not allowed")


class _Evaluation:
    """One evaluation of a tree, with its variables and remaining steps."""

    def __init__(self, names: Mapping[str, object], steps_max: int) -> None:
        self._variables: dict[str, object] = dict(names)
        self._attributes: dict[tuple[View, str], object] = {}
        self._steps_max = steps_max
        self._steps_left = steps_max

    def result(self, body: ast.expr) -> object:
        value = self._value(body)
        self._pay_for(value)
        return value

    def steps(self) -> int:
        """The number of steps used so far."""
        return self._steps_max - self._steps_left

    def _pay(self, steps: int) -> None:
        if steps > self._steps_left:
            self._steps_left = 0  # what is refused is not done, however much it would be
            raise ExpressionError(f"takes more than {self._steps_max} steps")
        self._steps_left -= steps

    def _pay_for(self, *values: object) -> None:
        """Pay for reading whole values, before doing so."""
        pending: list[object] = list(values)
        while pending:
            item = pending.pop()
            if isinstance(item, str):
                self._pay(1 + len(item) // TEXT_PER_STEP)
            elif isinstance(item, COLLECTIONS):
                self._pay(1 + len(item))
                pending.extend(item)
                if isinstance(item, dict):
                    pending.extend(item.values())

    def _value(self, node: ast.expr) -> object:
        self._pay(1)
        match node:
            case ast.Constant():
                return node.value
            case ast.Name():
                if node.id not in self._variables:
                    raise ExpressionError(f"no such name: {node.id}")
                return self._variables[node.id]
            case ast.Attribute():
                return self._attribute(self._value(node.value), node.attr)
            case ast.Call():
                return self._call(node.func, node)
            case ast.Compare():
                return self._comparison(node)
            case ast.BinOp():
                return self._arithmetic(node.op, self._value(node.left), self._value(node.right))
            case ast.UnaryOp():
                return _small(OPERATORS[type(node.op)](self._value(node.operand)))
            case ast.BoolOp():
                return self._logic(node)
            case ast.IfExp():
                return self._value(node.body if self._value(node.test) else node.orelse)
            case ast.Subscript():
                return self._subscript(self._value(node.value), self._value(node.slice))
            case ast.Slice():
                return slice(self._bound(node.lower), self._bound(node.upper), self._bound(node.step))
            case ast.ListComp() | ast.GeneratorExp():
                return self._comprehension(node.generators, node.elt)
            case ast.DictComp():
                return _dict(self._comprehension(node.generators, ast.Tuple([node.key, node.value])))
            case ast.List():
                return self._values(node.elts)
            case ast.Tuple():
                return tuple(self._values(node.elts))
            case ast.Dict():
                keys = self._values([key for key in node.keys if key is not None])
                return _dict(zip(keys, self._values(node.values), strict=True))
        raise ExpressionError(f"{type(node).__name__} is not allowed")

    def _values(self, nodes: list[ast.expr]) -> list[object]:
        return [self._value(node) for node in nodes]

    def _bound(self, node: ast.expr | None) -> object:
        return None if node is None else self._value(node)

    def _attribute(self, owner: object, name: str) -> object:
        if not isinstance(owner, View) or name not in owner.visible or name in VIEW_METHODS:
            raise ExpressionError(f"{_kind(owner)} has no attribute {name}")
        place = (owner, name)
        if place not in self._attributes:
            value = getattr(owner, name)
            if isinstance(value, COLLECTIONS):
                self._pay(len(value) // COPIED_PER_STEP)
            self._attributes[place] = value
        return self._attributes[place]

    def _logic(self, node: ast.BoolOp) -> object:
        stop = isinstance(node.op, ast.Or)
        value = self._value(node.values[0])
        for operand in node.values[1:]:
            if bool(value) is stop:
                break
            value = self._value(operand)
        return value

    def _comparison(self, node: ast.Compare) -> bool:
        left = self._value(node.left)
        for sign, operand in zip(node.ops, node.comparators, strict=True):
            right = self._value(operand)
            if not self._compare(sign, left, right):
                return False
            left = right
        return True

    def _compare(self, sign: ast.cmpop, left: object, right: Any) -> bool:
        self._pay_for(left)
        if isinstance(sign, (ast.In, ast.NotIn)):
            if isinstance(right, (dict, set)):
                _key(left)
            else:
                self._pay_for(right)
            return (left in right) is isinstance(sign, ast.In)
        self._pay_for(right)
        return bool(OPERATORS[type(sign)](left, right))

    def _arithmetic(self, sign: ast.operator, left: object, right: object) -> object:
        numbers = isinstance(left, (int, float)) and isinstance(right, (int, float))
        joins = isinstance(sign, ast.Add) and isinstance(left, (str, list, tuple)) and type(left) is type(right)
        if not numbers and not joins:
            raise ExpressionError(f"{type(sign).__name__} does not go with {_kind(left)} and {_kind(right)}")
        self._pay_for(left, right)
        return _small(OPERATORS[type(sign)](left, right))

    def _subscript(self, owner: Any, place: object) -> object:
        if isinstance(owner, dict):
            self._pay_for(_key(place))
        elif not isinstance(owner, (str, list, tuple)):
            raise ExpressionError(f"{_kind(owner)} cannot be indexed")
        elif isinstance(place, slice):
            self._pay(len(owner) // COPIED_PER_STEP)
        return owner[place]

    def _comprehension(self, clauses: list[ast.comprehension], head: ast.expr) -> list[Any]:
        """The value of `head` for each iteration. A generator, too, is run to its end before its values are used."""
        outer = self._variables
        self._pay(len(outer))
        self._variables = dict(outer)
        found: list[Any] = []
        try:
            self._loop(clauses, 0, head, found)
        finally:
            self._variables = outer
        return found

    def _loop(self, clauses: list[ast.comprehension], index: int, head: ast.expr, found: list[Any]) -> None:
        if index == len(clauses):
            found.append(self._value(head))
            return
        clause = clauses[index]
        items: Any = self._value(clause.iter)
        for item in items:  # each iteration is paid for, because it visits at least one node
            self._assign(clause.target, item)
            for condition in clause.ifs:
                if not self._value(condition):
                    break
            else:
                self._loop(clauses, index + 1, head, found)

    def _assign(self, target: ast.expr, value: Any) -> None:
        if isinstance(target, ast.Name):
            self._variables[target.id] = value
            return
        if not isinstance(target, (ast.Tuple, ast.List)):
            raise ExpressionError(f"{type(target).__name__} cannot be assigned to")
        if len(value) != len(target.elts):
            raise ExpressionError(f"{len(value)} values do not fit {len(target.elts)} names")
        self._pay(len(value))
        for part, item in zip(target.elts, value, strict=True):
            self._assign(part, item)

    def _call(self, function: ast.expr, node: ast.Call) -> object:
        if isinstance(function, ast.Attribute) and not node.keywords:
            return self._method(self._value(function.value), function.attr, self._values(node.args))
        if not isinstance(function, ast.Name) or function.id not in FUNCTIONS or function.id in self._variables:
            raise ExpressionError(f"no such function: {ast.unparse(function)}")
        name = function.id
        arguments = self._values(node.args)
        # A second argument of another function can make it expensive: sum(lists, []), round(1, -10**9).
        if len(arguments) != 1 and name not in ("min", "max"):
            raise ExpressionError(f"{name} takes one argument")
        if name != "len":
            self._pay_for(*arguments)
        options: dict[str, object] = {}
        for keyword in node.keywords:
            if keyword.arg is None or keyword.arg != OPTIONS.get(name):
                raise ExpressionError(f"{name} takes no argument named {keyword.arg}")
            options[keyword.arg] = self._value(keyword.value)
        return _small(FUNCTIONS[name](*arguments, **options))

    def _method(self, owner: Any, called: str, arguments: list[Any]) -> object:
        name = METHODS_OF_PYTHON_2.get(called, called)
        self._pay_for(*arguments)
        if isinstance(owner, View) and name in VIEW_METHODS and name in owner.visible:
            return getattr(owner, name)(*arguments)
        if isinstance(owner, dict) and name in DICT_METHODS:
            if name == "get":
                return getattr(owner, name)(*map(_key, arguments[:1]), *arguments[1:])
            self._pay(len(owner) // COPIED_PER_STEP)
            return list(getattr(owner, name)(*arguments))  # as in Python 2
        if isinstance(owner, str) and name in TEXT_METHODS:
            if name == "join" and arguments:
                self._pay((1 + len(owner) // TEXT_PER_STEP) * len(arguments[0]))
            return getattr(owner, name)(*arguments)
        raise ExpressionError(f"{_kind(owner)} has no method {called}")


def _kind(value: object) -> str:
    return "text" if isinstance(value, str) else type(value).__name__


def _key(value: object) -> object:
    if value is None or isinstance(value, (str, int, float)):
        return value
    raise ExpressionError(f"{_kind(value)} cannot be a key")


def _small(value: object) -> object:
    if isinstance(value, int) and not -INTEGER_MAX <= value <= INTEGER_MAX:
        raise ExpressionError("an integer takes more than 64 bits")
    return value


def _dict(pairs: Iterable[Any]) -> dict[object, object]:
    return {_key(key): value for key, value in pairs}


def _set(values: Any) -> set[object]:
    return {_key(value) for value in values}


FUNCTIONS: Final[dict[str, Callable[..., object]]] = {
    "all": all,
    "any": any,
    "len": len,
    "list": list,
    "max": max,
    "min": min,
    "round": round,
    "set": _set,
    "sorted": sorted,
    "str": str,
    "sum": sum,
}
OPTIONS: Final = {"sorted": "reverse", "min": "default", "max": "default"}
