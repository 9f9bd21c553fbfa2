"""The language of `_eval`: what the documents use works, everything else is refused, and quickly."""

import time
from typing import ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.wire.allowance import STEPS_MAX
from penstock.wire.expression import CUT_MARK, TEXT_MAX, ExpressionError, View, evaluate, render
from penstock.wire.state import FlagView, SizeView

REPEATABLE = settings(derandomize=True, deadline=None)
QUICK_SECONDS = 1.0  # of processor time, interpreted; the worst of them takes a tenth of it


class State(View):
    """What the documented expressions look at, with small numbers that are all different."""

    visible: ClassVar[frozenset[str]] = frozenset(
        {
            "published",
            "queued",
            "consumed",
            "queues",
            "queues_by_events",
            "consumer_ids_by_clients",
            "queues_by_consumer_ids",
            "messages_by_consumer_ids",
            "queues_to_delete_when_unused",
            "queues_used",
            "responses_by_clients",
            "socks_by_clients",
            "broken",
        }
    )

    def __init__(self) -> None:
        self.published = 100
        self.queued = 200
        self.consumed = 300
        self.queues_by_events = {"e1": ["jobs"], "e2": ["jobs", "mail"], "e3": ["mail"]}
        self.consumer_ids_by_clients = {"c1": ["k1", "k2"], "c2": [], "c3": ["k3"]}
        self.queues_by_consumer_ids = {"k1": "jobs", "k2": "jobs", "k3": "mail", "k4": "mail"}
        self.messages_by_consumer_ids = {"k1": {"m1": "one", "m2": "two"}, "k2": {}, "k3": {"m3": "three"}}
        self.queues_to_delete_when_unused = {f"q{i}": 0.5 for i in range(5)}
        self.queues_used = {"jobs": FlagView(True), "mail": FlagView(False), "old": FlagView(True)}
        self.responses_by_clients = {"c1": SizeView(4), "c2": SizeView(2)}
        self.socks_by_clients = dict.fromkeys("abcdefg")
        self.secret = "not visible"
        self.reads = 0

    @property
    def queues(self) -> dict[str, SizeView]:
        self.reads += 1
        return {"jobs": SizeView(7), "mail": SizeView(4)}

    @property
    def broken(self) -> int:
        raise OSError("a bug of ours")


def value_of(code: str) -> object:
    return evaluate(code, {"state": State()})


def refusal_of(code: str) -> str:
    """Why the code was refused, which must not have taken long."""
    started = time.process_time()
    with pytest.raises(ExpressionError) as refused:
        value_of(code)
    assert time.process_time() - started < QUICK_SECONDS
    return refused.value.reason


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("state.published", 100),
        ("state.queued", 200),
        ("state.consumed", 300),
        ("len(state.queues)", 2),
        ("sum(q.qsize() for q in state.queues.values())", 11),
        ("len(state.queues_by_events)", 3),
        ("len([cs for cs in state.consumer_ids_by_clients.values() if cs])", 2),
        ("len(state.queues_by_consumer_ids)", 4),
        ("sum(len(ms) for ms in state.messages_by_consumer_ids.values())", 3),
        ('" ".join(" ".join(ms.keys()) for ms in state.messages_by_consumer_ids.values() if ms)', "m1 m2 m3"),
        ("len(state.queues_to_delete_when_unused)", 5),
        ("len([u for u in state.queues_used.values() if u.is_set()])", 2),
        ("sum(q.qsize() for q in state.responses_by_clients.values())", 6),
        ("len(state.socks_by_clients)", 7),
        ("len([u for u in state.queues_used.itervalues() if u.is_set()])", 2),
        ("[state.published, state.queued, len(state.queues)]", [100, 200, 2]),
        ("sorted([(q.qsize(), n) for n, q in state.queues.iteritems()], reverse=True)[:1]", [(7, "jobs")]),
        ("len(set(state.queues_by_consumer_ids.itervalues()))", 2),
    ],
)
def test_documented_expressions(code: str, value: object) -> None:
    assert value_of(code) == value


@pytest.mark.parametrize(
    "code",
    [
        *(
            "1",
            "-1.5",
            "+2",
            "'text'",
            "None",
            "True",
            "'a' 'b'",
            "[]",
            "()",
            "{}",
            "(1,)",
            "{'a': 1, 2: []}",
        ),
        *("1 + 2 * 3 - 4", "7 / 2", "7 // 2", "-7 % 3", "1.5 + True", "'ab' + 'c'", "[1] + [2]", "(1,) + ()"),
        *("1 < 2 < 3", "1 < 3 < 2", "1 == 1.0", "'a' != 'b'", "[1, 2] >= [1]", "None is None", "1 is not None"),
        *("1 in [1, 2]", "'b' in 'abc'", "'k' in {'k': 1}", "3 not in (1, 2)"),
        *("2 in set([1, 2])", "1 in {1: 2}.values()", "set(x for x in 'aab')"),
        *("1 and 0 and x", "0 or '' or 3", "not []", "1 if 2 else 3", "1 if 0 else 3"),
        *("[1, 2, 3][-1]", "'abc'[1]", "{'a': 1}['a']", "[1, 2, 3, 4][1:3]", "'abcdef'[::-2]", "(1, 2)[:]"),
        *("[x * 2 for x in [1, 2, 3] if x > 1 if x < 3]", "{k: v for k, v in {'a': 1}.items()}"),
        *(
            "[(a, b) for a in 'xy' for b in 'zw']",
            "[[y for y in 'ab'] for x in 'cd']",
            "[x for x in 'a' if [x for x in 'b']]",
        ),
        *(
            "len('abc')",
            "len({})",
            "sum([1, 2.5])",
            "min(3, 1, 2)",
            "max([3, 1])",
            "max([], default=7)",
        ),
        *("sorted([3, 1, 2])", "sorted('bca', reverse=True)", "list('ab')", "set('aa')"),
        *("any([0, 1])", "all([])", "any(x > 1 for x in [1, 2])"),
        *("round(2.567)", "round(7)", "str(12)", "str('a')", "str(True)", "str({})", "str(())"),
        *("str([1, 'a', None, (2,), {'k': 1.5}, set([3])])", "str(set([]))"),
        *("'-'.join(['a', 'b'])", "'-'.join('ab')", "'-'.join({'a': 1})", "''.join([])"),
        *("'abc'.startswith('ab')", "'abc'.endswith('x')", "'abc'.startswith(('x', 'a'))", "'abc'.startswith('c', 2)"),
        *("{'a': 1}.get('a')", "{'a': 1}.get('b')", "{'a': 1}.get('b', 2)", "[k for k in {'a': 1}]"),
        *("'b' in {'a': 1}", "{'a': 1} == {'a': 1.0}", "(1, 2) < (1, 3)", "None is not None", "max('a', 'b')"),
        *("'))((' + ')'", "'''it's (((''' + \"\"\"((\"\"\"", "(1 # ((((\n)", "\t 1 ", "'\\d'"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_means_what_python_means(code: str) -> None:
    assert value_of(code) == eval(code)
    assert type(value_of(code)) is type(eval(code))


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("list(state.queues.iterkeys())", ["jobs", "mail"]),
        ("[q.qsize() for q in state.queues.itervalues()]", [7, 4]),
        ("[n for n, q in state.queues.iteritems() if q.qsize() > 5]", ["jobs"]),
        ("state.queues['jobs'].qsize()", 7),
        ("state.queues.get('none')", None),
        ("'jobs' in state.queues and 'none' not in state.queues", True),
        ("str(state.queues)", "{'jobs': <SizeView>, 'mail': <SizeView>}"),
        ("str(state)", "<State>"),
        ("state.queues_by_events.keys()", ["e1", "e2", "e3"]),
        ("state.queues_by_consumer_ids.items()[:1]", [("k1", "jobs")]),
        ("[state.queues_by_consumer_ids][0].values()", ["jobs", "jobs", "mail", "mail"]),
    ],
)
def test_looks_into_views(code: str, value: object) -> None:
    assert value_of(code) == value


def test_one_evaluation_reads_an_attribute_once() -> None:
    state = State()
    assert evaluate("sum(len(state.queues) for name in state.queues)", {"state": state}) == 4
    assert state.reads == 1


@pytest.mark.parametrize(
    "code",
    [
        "__import__('os')",
        "__builtins__",
        "eval('1')",
        "open('x')",
        "getattr(state, 'secret')",
        "type(state)",
        "().__class__",
        "().__class__.__bases__[0].__subclasses__()",
        "state.__class__",
        "state.__init__.__globals__",
        "state.queues.values().__class__",
        "len.__self__",
        "''.join.__self__",
        "0 and state.__class__",
        "state.secret",
        "state.visible",
        "state._flag",
        "state.queues.__len__()",
        "state.queues['jobs']._size",
        "state.queues['jobs'].qsize",
        "state.queues['jobs'].qsize.im_func",
        "'{0.__class__}'.format(state)",
        "'{0.secret}'.format(state)",
        "'{x.__class__}'.format_map({'x': state})",
        "'%s' % state",
        "'%1000000000d' % 1",
        "'%s%s' % ('a', 'b')",
        "f'{state}'",
        "f'{state.secret}'",
        "f'{1:1000000000}'",
        "lambda: 1",
        "(lambda x: x)(1)",
        "(x := 1)",
        "[y := 1 for x in [1]]",
        "[x async for x in [1]]",
        "await state",
        "(yield 1)",
        "[*[1]]",
        "{**{}}",
        "dict(**{})",
        "len(*[[1]])",
        "sorted([1], key=len)",
        "sorted([1], key=str)",
        "len",
        "[len][0]([])",
        "(len or 1)([])",
        "state()",
        "state.queues()",
        "state.queues.clear()",
        "state.queues.pop('jobs')",
        "state.consumer_ids_by_clients['c1'].append(1)",
        "state.queues.update({})",
        "[0 for state.published in [1]]",
        "[0 for state.queues['x'] in [1]]",
        "[len([]) for len in [1]]",
        "'a'.encode()",
        "'a'.translate({})",
        "'a'.zfill(1000000000)",
        "'a'.ljust(1000000000)",
        "'a'.replace('', 'b')",
        "'a'.strip('b')",
        "'a' * 3",
        "3 * [0]",
        "{1, 2}",
        "{x for x in [1]}",
        "int('1')",
        "dict(a=1)",
        "sum([[1]], [])",
        "sum([[1]], start=[])",
        "sum([[1], [2]])",
        "sum(['a'])",
        "round(1, -1000000000)",
        "max([1], key=state)",
        "''.join(state.queues.values())",
        "[0][1:2, 3]",
        "{}[1:2]",
        "b'bytes'",
        "1j",
        "...",
        "~1",
        "1 << 100",
        "1 @ 1",
        "x = 1",
        "import os",
        "1; 2",
        "",
        "   ",
        "#",
        "1 +",
        "'",
        "\0",
        "\ud800",
        "'" + "\ud800" + "'",
        "state.broken",
        "undefined",
        "state.nothing",
    ],
)
def test_not_allowed(code: str) -> None:
    assert refusal_of(code)


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("1 / 0", "ZeroDivisionError"),
        ("1 % 0", "ZeroDivisionError"),
        ("sorted([1, 'a', None])", "TypeError"),
        ("max([1, 'a'])", "TypeError"),
        ("max([])", "ValueError"),
        ("1 < 'a'", "TypeError"),
        ("{}['a']", "KeyError"),
        ("[][0]", "IndexError"),
        ("[1][::0]", "ValueError"),
        ("round(1e400)", "OverflowError"),
        ("{}.get()", "TypeError"),
        ("''.startswith()", "TypeError"),
        ("''.join(['a'], ['b'])", "TypeError"),
        ("state.broken", "OSError: a bug of ours"),
        ("1 + 'a'", "Add does not go with int and text"),
        ("'a' + ['b']", "Add does not go with text and list"),
        ("'a' * 'b'", "Mult does not go with"),
        ("state + 1", "Add does not go with State and int"),
        ("1['a']", "int cannot be indexed"),
        ("state['a']", "State cannot be indexed"),
        ("[1]['a']", "TypeError: list indices must be integers"),
        ("[1]['a':]", "TypeError: slice indices must be integers"),
        ("{}[1:2]", "slice cannot be a key"),
        ("{[1]: 2}", "list cannot be a key"),
        ("{x: 1 for x in [(1, 2)]}", "tuple cannot be a key"),
        ("set([(1, 2)])", "tuple cannot be a key"),
        ("(1, 2) in {}", "tuple cannot be a key"),
        ("(1, 2) in set([])", "tuple cannot be a key"),
        ("{}.get([])", "list cannot be a key"),
        ("{}[()]", "tuple cannot be a key"),
        ("sum(['a'])", "TypeError: unsupported operand"),
        ("-'a'", "TypeError: bad operand type"),
        ("len(1)", "TypeError: object of type 'int' has no len()"),
        ("len(state)", "TypeError: object of type 'State' has no len()"),
        ("[x for x in 1]", "TypeError: 'int' object is not iterable"),
        ("1 in 2", "TypeError: argument of type 'int' is not iterable"),
        ("1 in 'a'", "TypeError"),
        ("'-'.join([1])", "TypeError: sequence item 0: expected str instance, int found"),
        ("[a for a, b in [(1, 2, 3)]]", "3 values do not fit 2 names"),
        ("[a for a, b in [1]]", "TypeError: object of type 'int' has no len()"),
        ("len()", "len takes one argument"),
        ("sum([[1]], [])", "sum takes one argument"),
        ("min(1, 2, default=3)", "TypeError"),
        ("len(obj=[])", "len takes one argument"),
        ("len([], obj=[])", "len takes no argument named obj"),
        ("''.join(x=',')", "no such function: ''.join"),
        ("''.split(',')", "text has no method split"),
        ("[].append(1)", "list has no method append"),
        ("state.qsize()", "State has no method qsize"),
        ("nothing()", "no such function: nothing"),
        ("[len([]) for len in [1]]", "no such function: len"),
        ("nothing", "no such name: nothing"),
        ("1 1", "not an expression"),
    ],
)
def test_says_what_is_wrong(code: str, reason: str) -> None:
    assert reason in refusal_of(code)


TWENTY = "'abcdefghijklmnopqrst'"
DOUBLED = "[1]"  # 4 ** 12 ones in twelve small lists
for _ in range(12):
    DOUBLED = f"[[x, x, x, x] for x in {DOUBLED}]"
THOUSAND = "'" + "a" * 1000 + "'"
DOUBLED_TEXT, DOUBLED_LIST, ESCAPED_TEXT = f"[{THOUSAND}]", f"[{[1] * 200}]", "['" + "\\\\" * 200 + "']"
for _ in range(14):
    DOUBLED_TEXT = f"[x + x for x in {DOUBLED_TEXT}]"
    DOUBLED_LIST = f"[x + x for x in {DOUBLED_LIST}]"
    ESCAPED_TEXT = f"[str([x]) for x in {ESCAPED_TEXT}]"


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("1" * 5000, "longer than 4096 bytes"),
        ("'" + "я" * 3000 + "'", "longer than 4096 bytes"),
        ("(" * 100_000 + ")" * 100_000, "longer than 4096 bytes"),
        ("(" * 2000 + ")" * 2000, "more than 100 brackets"),
        ("(" * 101 + "1" + ")" * 101, "more than 100 brackets"),
        ("[" * 60 + "1" + "]" * 60, "nested deeper than 50"),
        ("[" * 4000, "more than 100 brackets"),
        ("{1:" * 1000, "more than 100 brackets"),
        ("(" * 60 + "'))))))'" + "+[" * 60, "more than 100 brackets"),
        ("-" * 4000 + "1", ""),  # too deep for the parser of some versions, for us in the others
        ("not " * 1000 + "1", "nested deeper than 50"),
        ("1" + "+1" * 2000, "nested deeper than 50"),
        ("state" + ".queues" * 500, "nested deeper than 50"),
        ("state" + "[0]" * 100, "nested deeper than 50"),
        ("1 if 1 else " * 300 + "1", "nested deeper than 50"),
        ("[0" + " for x in 'a'" * 60 + "]", "nested deeper than 50"),
        ("10 ** 10", "Pow is not allowed"),
        ("9" * 4000, "more than 64 bits"),
        ("9223372036854775807 + 1", "more than 64 bits"),
        ("-9223372036854775807 - 2", "more than 64 bits"),
        ("3037000500 * 3037000500", "more than 64 bits"),
        ("sum([9223372036854775807, 1])", "more than 64 bits"),
        ("round(1e30)", "more than 64 bits"),
        ("[x * x for x in [y * y for y in [z * z for z in [9999999999]]]]", "more than 64 bits"),
        ("'a' * 1000000000", "Mult does not go with text and int"),
        ("1000000000 * 'ab'", "Mult does not go with int and text"),
        ("[0] * 1000000000", "Mult does not go with list and int"),
        (f"[[0 for b in {THOUSAND}] for a in {THOUSAND}]", f"{STEPS_MAX} steps"),
        (f"[{THOUSAND} for b in {THOUSAND} for a in {TWENTY}]", f"{STEPS_MAX} steps"),
        (f"''.join([{THOUSAND} for b in {THOUSAND}]).join({THOUSAND})", f"{STEPS_MAX} steps"),
        (DOUBLED_TEXT, f"{STEPS_MAX} steps"),
        (ESCAPED_TEXT, f"{STEPS_MAX} steps"),
        (DOUBLED_LIST, f"{STEPS_MAX} steps"),
        (f"[0 for a in {TWENTY} for b in {TWENTY} for c in {TWENTY} for d in {TWENTY}]", f"{STEPS_MAX} steps"),
        (f"[0 for a in {TWENTY} for b in {TWENTY} for c in {TWENTY} for d in {TWENTY} if 0]", f"{STEPS_MAX} steps"),
        (f"[[[[0 for d in {TWENTY}] for c in {TWENTY}] for b in {TWENTY}] for a in {TWENTY}]", f"{STEPS_MAX} steps"),
        (f"any(0 for a in {TWENTY} for b in {TWENTY} for c in {TWENTY} for d in {TWENTY})", f"{STEPS_MAX} steps"),
        (DOUBLED, f"{STEPS_MAX} steps"),
        (f"str({DOUBLED})", f"{STEPS_MAX} steps"),
        (f"{DOUBLED} == {DOUBLED}", f"{STEPS_MAX} steps"),
        (f"{DOUBLED} in [1]", f"{STEPS_MAX} steps"),
        (f"max({DOUBLED}, {DOUBLED})", f"{STEPS_MAX} steps"),
    ],
)
def test_too_much(code: str, reason: str) -> None:
    assert reason in refusal_of(code)


def test_large_state_is_cheap_to_count() -> None:
    names = {"queues": {f"q{i}": SizeView(i) for i in range(100_000)}}
    assert evaluate("len(queues)", names) == 100_000
    assert evaluate("len(queues.values())", names) == 100_000
    assert evaluate("'q7' in queues and queues['q7'].qsize()", names) == 7
    with pytest.raises(ExpressionError, match="steps"):
        evaluate("sum(q.qsize() for q in queues.values())", names)


def test_thirty_thousand_queues_fit_the_default_budget() -> None:
    names = {"queues": {f"q{i}": SizeView(1) for i in range(30_000)}}
    assert evaluate("sum(q.qsize() for q in queues.values())", names) == 30_000


def test_steps_can_be_fewer() -> None:
    assert evaluate("1 + 1", {}, steps_max=3) == 2
    with pytest.raises(ExpressionError, match="takes more than 2 steps"):
        evaluate("1 + 1", {}, steps_max=2)


COSTLY = {
    "items": list(range(64)),
    "words": {f"w{number}": "x" * 640 for number in range(8)},
    "text": "y" * 6400,
    "nested": [["z"] * 4] * 4,
}


@pytest.mark.parametrize(
    ("code", "steps"),
    [
        ("items", 66),
        ("text", 402),
        ("words", 346),
        ("nested", 42),
        ("list(items)", 132),
        ("set(items)", 132),
        ("sum(items)", 67),
        ("any(items)", 67),
        ("all(items)", 67),
        ("min(items)", 67),
        ("max(items)", 67),
        ("max(items, items)", 198),
        ("sorted(items)", 132),
        ("len(items)", 2),
        ("len(text)", 2),
        ("str(items)", 83),
        ("str(nested)", 49),
        ("','.join(words)", 358),
        ("text.join(['a', 'b'])", 1213),
        ("text == text", 805),
        ("items == items", 133),
        ("text is text", 805),
        ("3 in items", 68),
        ("'w1' in words", 4),
        ("text in words", 404),
        ("'yy' in text", 405),
        ("3 not in items", 68),
        ("text + text", 1606),
        ("items + items", 262),
        ("items[3]", 3),
        ("items[2:5]", 17),
        ("text[1:65]", 810),
        ("words['w1']", 45),
        ("words.get('w1')", 45),
        ("words.get(text)", 404),
        ("words.keys()", 20),
        ("words.items()", 372),
        ("[i for i in items]", 135),
        ("[i for i in items if i > 3]", 319),
        ("[a for a, b, c, d in nested]", 35),
        ("set(i for i in items)", 201),
        ("{i: i for i in items}", 263),
        ("(1, 2, 3)", 8),
        ("[1, 2, 3]", 8),
        ("{'a': 1}", 6),
        ("1 < 2 < 3", 4),
        ("1 if items else 2", 3),
        ("text and items", 68),
        ("-1", 2),
        ("text.startswith('y')", 4),
        ("text.startswith(text)", 404),
        ("round(1.5)", 2),
    ],
)
def test_work_is_paid_for_before_it_is_done(code: str, steps: int) -> None:
    """What copies, compares or walks over something costs as much as there is of it."""
    evaluate(code, COSTLY, steps)
    with pytest.raises(ExpressionError, match=f"takes more than {steps - 1} steps"):
        evaluate(code, COSTLY, steps - 1)


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("1 < 2 < 3", True),
        ("1 < 2 > 3", False),
        ("3 > 2 > 1 > 0", True),
        ("1 == 1 != 1", False),
        ("min([], default=7)", 7),
        ("max([], default=7)", 7),
        ("max([1, 2], default=7)", 2),
        ("min([1, 2], default=7)", 1),
        ("sorted([2, 3, 1])", [1, 2, 3]),
        ("sorted([2, 3, 1], reverse=True)", [3, 2, 1]),
        ("any([0, 0]) or all([])", True),
        ("any([0, 1]) and all([1, 0])", False),
    ],
)
def test_what_chains_and_folds_give(code: str, value: object) -> None:
    assert evaluate(code, {}) == value


def test_reason_is_one_short_line() -> None:
    reason = refusal_of("{}['\\n' + 'x' * 10000]")
    assert len(reason) <= 200
    assert reason.isprintable()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (42, "42"),
        (0.5, "0.5"),
        (None, "None"),
        ("plain ünïcode", "plain ünïcode"),
        ("two\nlines\r\n", "two\\nlines\\r\\n"),
        ("\x00\x1b[31m\u2028\ud800", "\\x00\\x1b[31m\\u2028\\ud800"),
        (["a\nb", b"c\n", 1], "['a\\nb', b'c\\n', 1]"),
        ((), "()"),
        ((1,), "(1,)"),
        ({"a": {"b": []}}, "{'a': {'b': []}}"),
        (set(), "set()"),
        ({1}, "{1}"),
        (SizeView(1), "<SizeView>"),
        ([FlagView(True)], "[<FlagView>]"),
    ],
)
def test_render(value: object, text: str) -> None:
    assert render(value) == text


@pytest.mark.parametrize("value", ["x" * 100, ["x" * 100], list(range(100)), {i: i for i in range(100)}, "\n" * 100])
def test_render_cuts_with_a_mark(value: object) -> None:
    text = render(value, limit=30)
    assert len(text) == 30
    assert text.endswith(CUT_MARK)
    assert len(render(value, limit=3)) == 3


def test_what_may_be_rendered_is_bounded_by_the_steps() -> None:
    doubled: list[object] = [1]
    for _ in range(40):
        doubled = [doubled, doubled]
    with pytest.raises(ExpressionError, match="steps"):
        evaluate("doubled", {"doubled": doubled})
    numbers = [0.1] * (STEPS_MAX - 2)
    assert len(render(evaluate("numbers", {"numbers": numbers}))) == TEXT_MAX


@REPEATABLE
@given(st.text())
def test_any_text_gives_a_value_or_a_refusal(code: str) -> None:
    check_total(code)


FRAGMENTS = [
    *(
        "state",
        ".queues",
        ".values()",
        ".published",
        "len(",
        "sum(",
        "str(",
        "sorted(",
        "[",
        "]",
        "(",
        ")",
        "{",
        "}",
        ":",
    ),
    *(
        "'a'",
        '"',
        "'",
        "1",
        "0",
        "-1",
        "9999999999",
        "1e999",
        "x",
        ",",
        " for x in ",
        " if ",
        " else ",
        " in ",
        " not ",
    ),
    *(
        " and ",
        " or ",
        "+",
        "*",
        "%",
        "/",
        "//",
        "<",
        "==",
        ".join(",
        ".startswith(",
        ".get(",
        "None",
        "\\",
        "\n",
        "#",
        "**",
    ),
]


@REPEATABLE
@given(st.lists(st.sampled_from(FRAGMENTS), max_size=25))
def test_any_fragments_give_a_value_or_a_refusal(fragments: list[str]) -> None:
    check_total("".join(fragments))


OPERATORS = ["+", "-", "*", "/", "//", "%", "<", "==", "in", "and", "or", "is"]
FUNCTIONS = ["len", "sum", "min", "max", "sorted", "list", "set", "str", "any", "round"]
METHODS = ["values", "keys", "get", "qsize", "items", "join", "startswith"]


def simple_expressions() -> st.SearchStrategy[str]:
    """Well-formed text that gets past the parser, most of it wrong in what it does."""
    leaf = st.sampled_from(["1", "0", "2.5", "'ab'", "None", "state", "state.queues", "x", "[]", "{}", "-7", "True"])
    return st.recursive(
        leaf,
        lambda inner: st.one_of(
            st.tuples(inner, st.sampled_from(OPERATORS), inner).map(" ".join),
            st.tuples(inner, inner).map(lambda two: f"[{two[0]} for x in {two[1]}]"),
            st.tuples(inner, inner).map(lambda two: f"{{{two[0]}: x for x in {two[1]}}}"),
            st.tuples(inner, inner).map(lambda two: f"{two[0]}[{two[1]}]"),
            st.tuples(inner, inner).map(lambda two: f"({two[0]}, {two[1]})"),
            st.tuples(st.sampled_from(FUNCTIONS), inner).map(lambda two: f"{two[0]}({two[1]})"),
            st.tuples(inner, st.sampled_from(METHODS), inner).map(lambda three: f"({three[0]}).{three[1]}({three[2]})"),
        ),
        max_leaves=12,
    )


@REPEATABLE
@given(simple_expressions())
def test_any_expression_gives_a_value_or_a_refusal(code: str) -> None:
    check_total(code)


def check_total(code: str) -> None:
    try:
        text = render(value_of(code))
    except ExpressionError as error:
        text = error.reason
    assert text.isprintable()
    assert len(text) <= TEXT_MAX
    text.encode()


LARGE = {
    "text": "a" * 65_000,
    "other": "b" * 64_999 + "a",
    "wide": "\U0001f600" * 65_000,
    "needle": "a" * 99 + "b",
    "middle": "a" * 1999,  # the length up to which Python searches a text without preparation
    "hidden": "\U000e0001" * 65_000,
    "numbers": list(range(65_000)),
    "texts": ["a" * 30 + str(number) for number in range(20_000)],
    "table": {("a" * 65_000): 1},
    "seconds": "a" * 64_999,
    "nested": [[0] * 100 for _ in range(600)],
}


@pytest.mark.parametrize(
    "code",
    [
        *("needle in text", "other in text", "wide in wide", "text == other", "text < other", "0 in numbers"),
        *("middle[:1000] in middle", "(needle + text[:400]) in middle", "(text[:500] + needle) in middle"),
        *("text.startswith(other)", "text.endswith(text)", "text.startswith(text)", "text.endswith((text, other))"),
        *("text[::-1]", "numbers[1:]", "text[:30000] + text[:30000]", "numbers[:100] + numbers", "str(numbers)"),
        *("sorted(texts)", "sorted(numbers, reverse=True)", "min(texts)", "max(numbers)", "sum(numbers)", "set(texts)"),
        *("any(numbers)", "all(numbers)", "list(text)", "list(wide)", "str(texts)", "', '.join(texts)"),
        *("str(hidden)", "str([hidden])", "text.join(texts[:9])", "''.join(texts)", "table == table", "table.items()"),
        *("(seconds + 'a') in table", "table[seconds + 'a']", "table.get(seconds + 'a')", "text in texts"),
        *("sorted(nested)", "nested == nested", "nested < nested", "{x: x for x in texts[:5000]}"),
    ],
)
def test_no_operation_on_the_largest_values_there_are_takes_long_however_often_it_is_done(code: str) -> None:
    """As often as the steps allow; far less than a second of a machine at rest, and this one may not be."""
    repeated = f"[0 for _ in numbers if ({code}) is 1]"
    began = time.process_time()
    with pytest.raises(ExpressionError, match=r"steps|longer than|more than"):
        evaluate(repeated, LARGE)
    assert time.process_time() - began < 3
