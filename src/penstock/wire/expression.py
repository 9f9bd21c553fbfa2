"""The language of `_eval`: small expressions over read-only views. It is not Python's eval.

The syntax is Python's, because the operators' documents use it; the semantics are only what this file implements. An
expression is limited in three ways:

1. Length. At most 4 KiB and 50 open brackets, counted before parsing.
2. Shape. Every node of the tree is of a type listed in NODES, at most 50 deep, and no attribute starts with an
   underscore. A forbidden node is refused even if it would never run.
3. Work. One step is charged for each visited node, each item iterated over or compared, every 8 items copied or
   counted, and every 64 characters of text. An evaluation may take 100,000 steps, and all clients together 10,000 per
   second: evaluations are meant for an occasional look, and CPU time is for messages.

No single step may be expensive, so values stay small: integers of 64 bits, texts and collections of 65,536 characters
or items, no powers, no formatting. Keys of dicts and sets are texts and numbers only: their hashes are random or
spread, while tuples can be crafted to collide until each lookup scans the whole table.

A value can be larger than the memory it takes: `[[x, x] for x in [[y, y] for y in ...]]` shares its parts and doubles
with every level. So code that traverses a value first pays for each item as often as it is reached.
"""

import ast
import operator
import re
import warnings
from collections.abc import Callable, Collection, Mapping
from typing import Any, ClassVar, Final

from mypy_extensions import mypyc_attr

CODE_SIZE_MAX: Final = 4096
DEPTH_MAX: Final = 50
STEPS_MAX: Final = 100_000
STEP_MICROSECONDS: Final = 100  # for all clients together: 1 % of the time, since a step takes 1 µs
ITEMS_MAX: Final = 65_536
TEXT_MAX: Final = 65_536
INTEGER_MAX: Final = 2**63 - 1

SAVED_MICROSECONDS: Final = 1_000_000  # how much idle time is credited

# Work that takes about as long as visiting one node.
TEXT_PER_STEP: Final = 64  # characters copied or compared
SORTED_PER_STEP: Final = 16  # comparisons of items already paid for
SOUGHT_PER_STEP: Final = 16  # characters, each compared with each of 64 others
ITEMS_PER_STEP: Final = 8  # items copied or counted, without reading their contents

REASON_MAX: Final = 200  # a reason quotes the client's own text, and ends up in a log line
NUMERAL_MAX: Final = 64  # for int() and float() of a text: enough for any allowed number
# The cost of a search does not grow with the sought text beyond this length.
SOUGHT_MAX: Final = 128
DIGITS_MAX: Final = 32  # round(1, -10**9) would compute 10**10**9
CUT_MARK: Final = "... (cut)"

CALCULATIONS: Final[dict[type[ast.operator], Callable[[Any, Any], object]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
COMPARISONS: Final[dict[type[ast.cmpop], Callable[[Any, Any], object]]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}
NODES: Final = frozenset(
    {
        *(ast.Constant, ast.Name, ast.Attribute, ast.Subscript, ast.Slice, ast.Call, ast.keyword, ast.Load, ast.Store),
        *(ast.List, ast.Tuple, ast.Set, ast.Dict),
        *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.comprehension),
        *(ast.IfExp, ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.UAdd, ast.USub),
        *(ast.BinOp, *CALCULATIONS, ast.Compare, *COMPARISONS, ast.In, ast.NotIn),
    }
)
OPTIONS: Final = {"sorted": ("reverse",), "min": ("default",), "max": ("default",)}

# The operators' documents were written for Python 2.
METHODS_RENAMED: Final = {"iterkeys": "keys", "itervalues": "values", "iteritems": "items"}
DICT_METHODS: Final = frozenset({"keys", "values", "items", "get"})
VIEW_METHODS: Final = DICT_METHODS | {"qsize", "is_set"}
TEXT_METHODS: Final = frozenset({"startswith", "endswith", "strip", "upper", "lower"})

_NO_ITEMS: Final[dict[str, object]] = {}
DICT_KEYS: Final = type(_NO_ITEMS.keys())
DICT_VALUES: Final = type(_NO_ITEMS.values())
DICT_ITEMS: Final = type(_NO_ITEMS.items())
COLLECTIONS: Final = (list, tuple, dict, set, frozenset, DICT_KEYS, DICT_VALUES, DICT_ITEMS)
HASHED: Final = (dict, set, frozenset, DICT_KEYS)

# Brackets in comments and in the four kinds of string do not nest.
_QUOTED: Final = re.compile(
    r"#[^\n]*"
    r'|"""(?:\\.|[^\\])*?"""'
    r"|'''(?:\\.|[^\\])*?'''"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'(?:\\.|[^'\\\n])*'",
    re.DOTALL,
)


class ExpressionError(ValueError):
    """The expression is invalid, not allowed, or too expensive; `reason` says which, in one short line."""

    def __init__(self, reason: str) -> None:
        self.reason = _shorten(_one_line(reason[: REASON_MAX + 1]), REASON_MAX)
        super().__init__(self.reason)


@mypyc_attr(allow_interpreted_subclasses=True)
class View:
    """An object that expressions may inspect, but only through the attributes and methods named in `visible`.

    An attribute is read once per evaluation, however often the expression names it. So an evaluation sees a consistent
    state, and an attribute may be a property that builds a collection.
    """

    visible: ClassVar[frozenset[str]] = frozenset()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


class SizeView(View):
    """An object that exposes only its length."""

    visible: ClassVar[frozenset[str]] = frozenset({"qsize"})

    def __init__(self, size: int) -> None:
        self._size = size

    def qsize(self) -> int:
        return self._size


class FlagView(View):
    """An object that exposes only whether it is set."""

    visible: ClassVar[frozenset[str]] = frozenset({"is_set"})

    def __init__(self, flag: bool) -> None:
        self._flag = flag

    def is_set(self) -> bool:
        return self._flag


class Allowance:
    """The step budget of all clients' evaluations, 10,000 per second. An overdraft delays the next evaluation."""

    def __init__(self) -> None:
        self._spent_until = -SAVED_MICROSECONDS  # the time at which the budget is positive again

    def check(self, now: int) -> None:
        """Raises ExpressionError when the budget is spent."""
        wait = self._spent_until - now
        if wait > 2 * STEPS_MAX * STEP_MICROSECONDS:  # more than can be spent: the clock was set back
            self._spent_until = now
            wait = 0
        if wait > 0:
            rate = 1_000_000 // STEP_MICROSECONDS
            raise ExpressionError(
                f"evaluations take {rate} steps a second at most: try again in {wait / 1_000_000:.1f} s"
            )

    def spend(self, steps: int, now: int) -> None:
        saved = now - SAVED_MICROSECONDS
        self._spent_until = max(self._spent_until, saved) + steps * STEP_MICROSECONDS


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
    if allowance is not None:
        allowance.check(now)
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
    """The value as `str` shows it, on one line of at most `limit` characters. CUT_MARK shows that it was cut."""
    if isinstance(value, str):
        text = value[: limit + 1]
    else:
        printer = _Printer(limit + 1)
        printer.show(value)
        text = printer.text()
    return _shorten(_one_line(text), limit)


def _parse(code: str) -> ast.expr:
    """Parse an expression and check that every node is allowed."""
    if len(code) > CODE_SIZE_MAX or len(code.encode("utf-8", "replace")) > CODE_SIZE_MAX:
        raise ExpressionError(f"the code is longer than {CODE_SIZE_MAX} bytes")
    _check_brackets(code)
    with warnings.catch_warnings():
        # A stray backslash in a client's string must not cause a warning on our stderr.
        warnings.simplefilter("ignore")
        tree = ast.parse(code.strip(), mode="eval")
    _check_shape(tree.body)
    return tree.body


def _check_brackets(code: str) -> None:
    depth = 0
    for character in _QUOTED.sub("", code):
        if character in "([{":
            depth += 1
            if depth > DEPTH_MAX:
                raise ExpressionError(f"nested deeper than {DEPTH_MAX}")
        elif character in ")]}":
            depth -= 1


def _check_shape(body: ast.expr) -> None:
    # An explicit stack, because a tree can be thousands of levels deep without brackets: 1+1+1+...
    pending: list[tuple[ast.AST, int]] = [(body, 1)]
    while pending:
        node, depth = pending.pop()
        _check_node(node)
        if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            depth += len(node.generators)  # the loops nest, although the tree holds them side by side
        if depth > DEPTH_MAX:
            raise ExpressionError(f"nested deeper than {DEPTH_MAX}")
        for child in ast.iter_child_nodes(node):
            pending.append((child, depth + 1))


def _check_node(node: ast.AST) -> None:
    if type(node) not in NODES:
        raise ExpressionError(f"{type(node).__name__} is not allowed")
    if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
        raise ExpressionError(f"attribute {node.attr} is not public")
    if isinstance(node, ast.Constant):
        if node.value is not None and not isinstance(node.value, (str, int, float)):
            raise ExpressionError(f"{type(node.value).__name__} constants are not allowed")
        _small(node.value)
    if isinstance(node, ast.keyword) and node.arg is None:
        raise ExpressionError("** is not allowed")
    if isinstance(node, ast.Dict) and None in node.keys:
        raise ExpressionError("** is not allowed")
    if isinstance(node, ast.comprehension) and node.is_async:
        raise ExpressionError("async is not allowed")


class _Evaluation:
    """One evaluation of a tree, with its variables and remaining steps."""

    def __init__(self, names: Mapping[str, object], steps_max: int) -> None:
        self._names = names
        self._variables: dict[str, object] = {}
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

    # Costs.

    def _pay(self, steps: int) -> None:
        self._steps_left -= steps
        if self._steps_left < 0:
            raise ExpressionError(f"takes more than {self._steps_max} steps")

    def _pay_text(self, size: int) -> None:
        if size > TEXT_MAX:
            raise ExpressionError(f"a text is longer than {TEXT_MAX} characters")
        self._pay(1 + size // TEXT_PER_STEP)

    def _pay_search(self, size: int, sought: int) -> None:
        """Pay for comparing the sought text at each character of a text."""
        self._pay(1 + (size // TEXT_PER_STEP + 1) * (sought // SOUGHT_PER_STEP + 1))

    def _pay_items(self, count: int) -> None:
        if count > ITEMS_MAX:
            raise ExpressionError(f"a collection has more than {ITEMS_MAX} items")
        self._pay(1 + count // ITEMS_PER_STEP)

    def _pay_for(self, value: object) -> None:
        """Pay for traversing a whole value, before doing so."""
        if value is None or isinstance(value, (int, float, View)):
            return
        pending: list[object] = [value]
        while pending:
            item = pending.pop()
            if isinstance(item, str):
                self._pay(1 + len(item) // TEXT_PER_STEP)
            elif isinstance(item, dict):
                self._pay(1 + len(item))
                pending.extend(item.keys())
                pending.extend(item.values())
            elif isinstance(item, COLLECTIONS):
                self._pay(1 + len(item))
                pending.extend(item)

    # Nodes.

    def _value(self, node: ast.expr) -> object:
        self._pay(1)
        match node:
            case ast.Constant():
                return node.value
            case ast.Name():
                return self._name(node.id)
            case ast.Attribute():
                return self._attribute(self._value(node.value), node.attr)
            case ast.Call():
                return self._call(node)
            case ast.Compare():
                return self._comparison(node)
            case ast.BinOp():
                return self._arithmetic(node.op, self._value(node.left), self._value(node.right))
            case ast.BoolOp():
                return self._logic(node)
            case ast.UnaryOp():
                return _unary(node.op, self._value(node.operand))
            case ast.IfExp():
                return self._value(node.body if self._value(node.test) else node.orelse)
            case ast.Subscript():
                return self._subscript(self._value(node.value), node.slice)
            case ast.ListComp() | ast.GeneratorExp():
                return self._comprehension(node.generators, node.elt, None)
            case ast.SetComp():
                return {_key(item) for item in self._comprehension(node.generators, node.elt, None)}
            case ast.DictComp():
                return _dict(self._comprehension(node.generators, node.key, node.value))
            case ast.List():
                return self._values(node.elts)
            case ast.Tuple():
                return tuple(self._values(node.elts))
            case ast.Set():
                return {_key(item) for item in self._values(node.elts)}
            case ast.Dict():
                keys = self._values([key for key in node.keys if key is not None])
                return {_key(key): self._value(value) for key, value in zip(keys, node.values, strict=True)}
        raise ExpressionError(f"{type(node).__name__} is not allowed")

    def _values(self, nodes: list[ast.expr]) -> list[object]:
        return [self._value(node) for node in nodes]

    def _name(self, name: str) -> object:
        if name in self._variables:
            return self._variables[name]
        if name in self._names:
            return self._names[name]
        raise ExpressionError(f"no such name: {name}")

    def _attribute(self, owner: object, name: str) -> object:
        if not isinstance(owner, View) or name not in owner.visible or name in VIEW_METHODS:
            raise ExpressionError(f"{_kind(owner)} has no attribute {name}")
        place = (owner, name)
        if place not in self._attributes:
            value = getattr(owner, name)
            if isinstance(value, COLLECTIONS):
                self._pay(len(value) // ITEMS_PER_STEP)
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

    def _comparison(self, node: ast.Compare) -> object:
        left = self._value(node.left)
        for sign, operand in zip(node.ops, node.comparators, strict=True):
            right = self._value(operand)
            if not self._compare(sign, left, right):
                return False
            left = right
        return True

    def _compare(self, sign: ast.cmpop, left: object, right: object) -> bool:
        if isinstance(sign, ast.In):
            return self._contains(right, left)
        if isinstance(sign, ast.NotIn):
            return not self._contains(right, left)
        if not isinstance(sign, (ast.Is, ast.IsNot)):
            self._pay_for(left)
            self._pay_for(right)
        return bool(COMPARISONS[type(sign)](left, right))

    def _contains(self, collection: object, item: object) -> bool:
        if isinstance(collection, HASHED):
            return self._paid_key(item) in collection
        self._pay_for(collection)
        self._pay_for(item)
        if isinstance(collection, str):
            text = _text(item)
            self._pay_search(len(collection), min(len(text), SOUGHT_MAX))
            return text in collection
        return item in _many(collection)

    def _arithmetic(self, sign: ast.operator, left: Any, right: Any) -> object:
        if isinstance(left, (int, float)) and isinstance(right, (int, float)):
            return _small(CALCULATIONS[type(sign)](left, right))
        if isinstance(sign, ast.Add) and isinstance(left, (str, list, tuple)) and type(left) is type(right):
            self._pay_sequence(left, len(left) + len(right))
            return operator.add(left, right)
        if isinstance(sign, ast.Mult):
            if isinstance(left, int):
                left, right = right, left
            if isinstance(left, (str, list, tuple)) and isinstance(right, int):
                self._pay_sequence(left, len(left) * max(right, 0))
                return left * right
        raise ExpressionError(f"{type(sign).__name__} does not go with {_kind(left)} and {_kind(right)}")

    def _paid_key(self, value: object) -> object:
        """Check a key to look up, and pay for it: a text is compared with the key that is found."""
        if isinstance(value, str):
            self._pay(len(value) // TEXT_PER_STEP)
        return _key(value)

    def _pay_sequence(self, like: object, size: int) -> None:
        if isinstance(like, str):
            self._pay_text(size)
        else:
            self._pay_items(size)

    def _subscript(self, owner: Any, index: ast.expr) -> object:
        if isinstance(index, ast.Slice):
            if not isinstance(owner, (str, list, tuple)):
                raise ExpressionError(f"{_kind(owner)} cannot be sliced")
            self._pay_sequence(owner, len(owner))
            return owner[slice(self._bound(index.lower), self._bound(index.upper), self._bound(index.step))]
        place = self._value(index)
        if isinstance(owner, dict):
            return owner[self._paid_key(place)]
        if isinstance(owner, (str, list, tuple)) and isinstance(place, int):
            return owner[place]
        raise ExpressionError(f"{_kind(owner)} cannot be indexed with {_kind(place)}")

    def _bound(self, node: ast.expr | None) -> int | None:
        value = None if node is None else self._value(node)
        if value is None or isinstance(value, int):
            return value
        raise ExpressionError(f"{_kind(value)} cannot bound a slice")

    # Comprehensions.

    def _comprehension(self, clauses: list[ast.comprehension], head: ast.expr, tail: ast.expr | None) -> list[object]:
        """The value of `head` for each iteration, or (head, tail) pairs if there is a tail.

        A generator is also run to its end: only the order of errors could show the difference.
        """
        outer = self._variables
        self._pay(len(outer))
        self._variables = dict(outer)
        found: list[object] = []
        try:
            self._loop(clauses, 0, head, tail, found)
        finally:
            self._variables = outer
        return found

    def _loop(
        self, clauses: list[ast.comprehension], index: int, head: ast.expr, tail: ast.expr | None, found: list[object]
    ) -> None:
        if index == len(clauses):
            if len(found) == ITEMS_MAX:
                raise ExpressionError(f"a collection has more than {ITEMS_MAX} items")
            value = self._value(head)
            found.append(value if tail is None else (value, self._value(tail)))
            return
        clause = clauses[index]
        for item in _many(self._value(clause.iter)):
            self._pay(1)
            self._assign(clause.target, item)
            if self._passes(clause.ifs):
                self._loop(clauses, index + 1, head, tail, found)

    def _passes(self, conditions: list[ast.expr]) -> bool:
        for condition in conditions:  # noqa: SIM110 - all() would make a generator for each round
            if not self._value(condition):
                return False
        return True

    def _assign(self, target: ast.expr, value: object) -> None:
        if isinstance(target, ast.Name):
            self._variables[target.id] = value
            return
        if not isinstance(target, (ast.Tuple, ast.List)):
            raise ExpressionError(f"{type(target).__name__} cannot be assigned to")
        parts = _many(value)
        if len(parts) != len(target.elts):
            raise ExpressionError(f"{len(parts)} values do not fit {len(target.elts)} names")
        self._pay(len(parts))
        for part, item in zip(target.elts, parts, strict=True):
            self._assign(part, item)

    # Calls.

    def _call(self, node: ast.Call) -> object:
        options: dict[str, object] = {}
        if isinstance(node.func, ast.Attribute):
            if node.keywords:
                raise ExpressionError(f"{node.func.attr} takes no named arguments")
            return self._method(self._value(node.func.value), node.func.attr, self._values(node.args))
        if not isinstance(node.func, ast.Name):
            raise ExpressionError("only named functions can be called")
        name = node.func.id
        if name in self._variables or name in self._names:
            raise ExpressionError(f"{name} is not a function")
        for keyword in node.keywords:
            if keyword.arg is None or keyword.arg not in OPTIONS.get(name, ()):
                raise ExpressionError(f"{name} takes no argument named {keyword.arg}")
            options[keyword.arg] = self._value(keyword.value)
        return self._function(name, self._values(node.args), options)

    def _function(self, name: str, arguments: list[object], options: dict[str, object]) -> object:
        match name, len(arguments):
            case "len", 1:
                return len(_many(arguments[0]))
            case "sum", 1 | 2:
                return self._sum(arguments)
            case (("list" | "tuple" | "set" | "dict"), (0 | 1)):
                return self._collection(name, arguments)
            case (("min" | "max" | "sorted" | "any" | "all"), 1):
                return self._fold(name, arguments[0], options)
            case (("min" | "max"), count) if count > 1 and not options:
                return self._fold(name, arguments, options)
            case "str", 1:
                return self._str(arguments[0])
            case (("int" | "float" | "bool" | "abs" | "round"), 1):
                return _convert(name, arguments[0])
            case "round", 2:
                return _round(arguments[0], arguments[1])
        raise ExpressionError(f"no function {name} with {len(arguments)} arguments")

    def _sum(self, arguments: list[object]) -> object:
        values = _many(arguments[0])
        self._pay_items(len(values))
        total: Any = _number(arguments[1]) if len(arguments) == 2 else 0
        for value in values:
            total += _number(value)
        return _small(total)

    def _collection(self, name: str, arguments: list[object]) -> object:
        values = _many(arguments[0]) if arguments else []
        self._pay_items(len(values))
        if name in ("set", "dict"):
            self._pay(len(values))  # each one is looked up
        match name:
            case "list":
                return list(values)
            case "tuple":
                return tuple(values)
            case "set":
                return {_key(value) for value in values}
        return dict(values) if isinstance(values, dict) else _dict(values)

    def _fold(self, name: str, argument: object, options: dict[str, object]) -> object:
        values: Collection[Any] = _many(argument)
        self._pay_items(len(values))
        match name:
            case "any":
                return any(values)
            case "all":
                return all(values)
        self._pay_for(values)
        if name == "sorted":
            self._pay(len(values) * len(values).bit_length() // SORTED_PER_STEP)
            return sorted(values, reverse=bool(options.get("reverse", False)))
        if not values and "default" in options:
            return options["default"]
        return min(values) if name == "min" else max(values)

    def _str(self, value: object) -> str:
        if isinstance(value, str):
            return value
        self._pay_for(value)
        printer = _Printer(TEXT_MAX + 1)
        printer.show(value)
        text = printer.text()
        self._pay_text(len(text))
        return text

    def _method(self, owner: object, called: str, arguments: list[object]) -> object:
        name = METHODS_RENAMED.get(called, called)
        if isinstance(owner, View) and name in VIEW_METHODS and name in owner.visible:
            return getattr(owner, name)(*arguments)
        if isinstance(owner, dict) and name in DICT_METHODS:
            for argument in arguments[:1]:
                self._paid_key(argument)
            return getattr(owner, name)(*arguments)
        if isinstance(owner, str):
            return self._text_method(owner, name, arguments)
        raise ExpressionError(f"{_kind(owner)} has no method {called}")

    def _text_method(self, owner: str, name: str, arguments: list[object]) -> object:
        self._pay_text(len(owner))
        match name, len(arguments):
            case "join", 1:
                return self._join(owner, _many(arguments[0]))
            case "split", 0 | 1 | 2:
                return self._split(owner, arguments)
        if name in TEXT_METHODS:
            texts = [_text(argument) for argument in arguments]
            for text in texts:
                if name == "strip":
                    self._pay_search(len(owner), len(text))  # each character may be compared with all of `text`
                else:
                    self._pay_text(len(text))
            return getattr(owner, name)(*texts)
        raise ExpressionError(f"text has no method {name} with {len(arguments)} arguments")

    def _join(self, separator: str, parts: Collection[object]) -> str:
        self._pay_items(len(parts))
        texts = [_text(part) for part in parts]
        size = len(separator) * len(texts)
        for text in texts:
            size += len(text)
        self._pay_text(size)
        return separator.join(texts)

    def _split(self, owner: str, arguments: list[object]) -> list[str]:
        separator = None if not arguments or arguments[0] is None else _text(arguments[0])
        limit = arguments[1] if len(arguments) == 2 else -1
        if not isinstance(limit, int):
            raise ExpressionError(f"{_kind(limit)} cannot limit a split")
        if separator is not None:
            self._pay_search(len(owner), min(len(separator), SOUGHT_MAX))
        parts = owner.split(separator, limit)
        self._pay_items(len(parts))
        return parts


class _Printer:
    """Writes a value as `repr` would, and stops when there is enough text.

    Dict views are written as lists, as the methods returned when the documents were written. Our own objects are
    written as their type alone: clients must not see memory addresses.
    """

    def __init__(self, enough: int) -> None:
        self._parts: list[str] = []
        self._room = enough

    def text(self) -> str:
        return "".join(self._parts)

    def show(self, value: object) -> None:
        if self._room <= 0:
            return
        if isinstance(value, (str, bytes)):
            self._write(repr(value[: self._room]))
        elif value is None or isinstance(value, (int, float)):
            self._write(repr(value))
        elif isinstance(value, dict):
            self._show_dict(value)
        elif isinstance(value, tuple):
            self._show_items("(", value, ",)" if len(value) == 1 else ")")
        elif isinstance(value, (set, frozenset)) and value:
            self._show_items("{", value, "}")
        elif isinstance(value, (set, frozenset)):
            self._write("set()")
        elif isinstance(value, (list, DICT_KEYS, DICT_VALUES, DICT_ITEMS)):
            self._show_items("[", value, "]")
        else:
            self._write(f"<{type(value).__name__}>")

    def _write(self, text: str) -> None:
        self._parts.append(text)
        self._room -= len(text)

    def _show_items(self, opening: str, items: Collection[object], closing: str) -> None:
        self._write(opening)
        comma = ""
        for item in items:
            if self._room <= 0:
                return
            self._write(comma)
            self.show(item)
            comma = ", "
        self._write(closing)

    def _show_dict(self, items: dict[object, object]) -> None:
        self._write("{")
        comma = ""
        for key, value in items.items():
            if self._room <= 0:
                return
            self._write(comma)
            self.show(key)
            self._write(": ")
            self.show(value)
            comma = ", "
        self._write("}")


def _kind(value: object) -> str:
    return "text" if isinstance(value, str) else type(value).__name__


def _many(value: object) -> Collection[Any]:
    """The value itself, if it is iterable."""
    if isinstance(value, (str, *COLLECTIONS)):
        return value
    raise ExpressionError(f"{_kind(value)} is not a collection")


def _key(value: object) -> object:
    if value is None or isinstance(value, (str, int, float)):
        return value
    raise ExpressionError(f"{_kind(value)} cannot be a key")


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    raise ExpressionError(f"{_kind(value)} is not text")


def _number(value: object) -> Any:
    # Any, because mypyc treats `int | float` as float in places, and 3 must not become 3.0.
    if isinstance(value, (int, float)):
        return value
    raise ExpressionError(f"{_kind(value)} is not a number")


def _small(value: object) -> object:
    if isinstance(value, int) and not -INTEGER_MAX <= value <= INTEGER_MAX:
        raise ExpressionError("an integer takes more than 64 bits")
    return value


def _dict(pairs: Collection[Any]) -> dict[object, object]:
    made: dict[object, object] = {}
    for pair in pairs:
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise ExpressionError(f"{_kind(pair)} is not a pair")
        made[_key(pair[0])] = pair[1]
    return made


def _unary(sign: ast.unaryop, value: object) -> object:
    match sign:
        case ast.Not():
            return not value
        case ast.USub():
            return _small(-_number(value))
    return +_number(value)


def _convert(name: str, value: object) -> object:
    if name == "bool":
        return bool(value)
    if isinstance(value, str) and name in ("int", "float"):
        if len(value) > NUMERAL_MAX:
            raise ExpressionError(f"a number is longer than {NUMERAL_MAX} characters")
        return _small(int(value)) if name == "int" else float(value)
    number = _number(value)
    match name:
        case "int":
            return _small(int(number))
        case "float":
            return float(number)
        case "abs":
            return _small(abs(number))
    return _small(round(number))


def _round(value: object, digits: object) -> object:
    if digits is None:
        return _small(round(_number(value)))
    if not isinstance(digits, int) or abs(digits) > DIGITS_MAX:
        raise ExpressionError(f"round takes at most {DIGITS_MAX} digits")
    return _small(round(_number(value), digits))


def _one_line(text: str) -> str:
    """The text with all unprintable characters escaped, including line ends and lone surrogates."""
    if text.isprintable():
        return text
    return "".join([char if char.isprintable() else char.encode("unicode_escape").decode() for char in text])


def _shorten(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    return (text[: max(limit - len(CUT_MARK), 0)] + CUT_MARK)[:limit]
