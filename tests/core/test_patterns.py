"""Patterns: what they match, against a matcher that is obviously right, and what finding them costs."""

import json
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.core.broker import Broker
from penstock.core.limits import Limits
from penstock.core.patterns import CROWD_MAX, Patterns, _walk, canonical, document_of, may_be_object, parse_body
from penstock.core.queue import Queue
from penstock.core.replay import durable_state, replay
from penstock.errors import INVALID, OVER_LIMIT, TOO_LARGE, Refused
from penstock.log.memory import MemoryLog
from penstock.message import Message, Requester

# -- the matcher that is obviously right -------------------------------------------------------------------------------


def equal(one: object, other: object) -> bool:
    """JSON's equality."""
    if isinstance(one, bool) or isinstance(other, bool) or one is None or other is None:
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(equal, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(equal(one[name], other[name]) for name in one)
    if isinstance(one, (list, dict)) or isinstance(other, (list, dict)):
        return False
    return one == other


def matches(pattern: Mapping[str, object], document: Mapping[str, object]) -> bool:
    for name, wanted in pattern.items():
        if name not in document:
            return False
        value = document[name]
        if isinstance(wanted, dict):
            if not isinstance(value, dict) or not matches(wanted, value):
                return False
        elif not equal(wanted, value):
            return False
    return True


# -- the index, with patterns instead of queues ------------------------------------------------------------------------


def text_of(pattern: object) -> bytes:
    return canonical(json.dumps(pattern).encode())


def queue_for(name: bytes) -> Queue:
    return Broker(MemoryLog(), Limits()).make_queue(name)


class Index:
    def __init__(self, *patterns: object) -> None:
        self.patterns = Patterns()
        self.queues: dict[bytes, Queue] = {}
        for pattern in patterns:
            self.bind(pattern)

    def bind(self, pattern: object) -> None:
        text = text_of(pattern)
        if text not in self.queues:
            self.queues[text] = queue_for(text)
            self.patterns.bind(self.queues[text], text)

    def unbind(self, pattern: object) -> None:
        queue = self.queues.pop(text_of(pattern), None)
        if queue is not None:
            self.patterns.unbind(queue, text_of(pattern))

    def find(self, document: dict[str, object]) -> list[object]:
        return [json.loads(queue.name) for queue in self.patterns.queues_for(document) or ()]

    def checks(self, document: dict[str, object]) -> int:
        """How many patterns and branches are looked at for the document."""
        count = 0
        branches = [self.patterns.root]
        while branches:
            branch = branches.pop()
            count += 1 + len(branch.patterns)
            if branch.is_split:
                _walk(branch.steps, document, branches)
        return count


def does_match(pattern: object, document: dict[str, object]) -> bool:
    assert isinstance(pattern, dict)
    found = bool(Index(pattern).find(document))
    crowded = Index(pattern, *({"crowd": number} for number in range(50)))
    assert (pattern in crowded.find(document)) == found == matches(pattern, document)
    return found


# -- what matches ------------------------------------------------------------------------------------------------------


def test_the_empty_pattern_matches_everything() -> None:
    assert does_match({}, {})
    assert does_match({}, {"a": 1})


def test_every_member_of_the_pattern_must_be_there() -> None:
    assert does_match({"a": 1, "b": 2}, {"a": 1, "b": 2, "c": 3})
    assert not does_match({"a": 1, "b": 2}, {"a": 1, "c": 3})
    assert not does_match({"a": 1}, {"a": 2})


def test_objects_match_as_subsets_at_any_depth() -> None:
    assert does_match({"a": {"b": {"c": 1}}}, {"a": {"b": {"c": 1, "d": 2}, "e": 3}})
    assert not does_match({"a": {"b": {"c": 1}}}, {"a": {"b": 1}})
    assert not does_match({"a": {"b": 1}}, {"a": [{"b": 1}]})
    assert not does_match({"a": {"b": 1}}, {"a": 1})


def test_an_empty_object_within_matches_any_object_and_nothing_else() -> None:
    assert does_match({"a": {}}, {"a": {}})
    assert does_match({"a": {}}, {"a": {"b": 1}})
    for value in (None, True, 0, "", [], [1], "{}"):
        assert not does_match({"a": {}}, {"a": value})


def test_arrays_are_equal_item_by_item_and_in_order() -> None:
    assert does_match({"a": [1, "x", None]}, {"a": [1, "x", None]})
    assert does_match({"a": []}, {"a": []})
    for value in ([], [1], ["x", 1, None], [1, "x", None, 2], [1, "x", False], {"0": 1}, "[1]", None):
        assert not does_match({"a": [1, "x", None]}, {"a": value})


def test_objects_within_arrays_are_equal_as_a_whole() -> None:
    assert does_match({"a": [{"b": 1, "c": 2}]}, {"a": [{"c": 2, "b": 1}]})
    assert not does_match({"a": [{"b": 1}]}, {"a": [{"b": 1, "c": 2}]})
    assert not does_match({"a": [{}]}, {"a": [{"b": 1}]})


def test_true_is_not_one() -> None:
    assert does_match({"a": True}, {"a": True})
    for wanted, value in ((True, 1), (1, True), (False, 0), (0, False), (True, "true"), ([1], [True]), ([True], [1])):
        assert not does_match({"a": wanted}, {"a": value})


def test_one_is_one_point_zero() -> None:
    for wanted, value in ((1, 1.0), (1.0, 1), ([1], [1.0]), ([1.0], [1]), (0, -0.0), ([-0.0], [0])):
        assert does_match({"a": wanted}, {"a": value})
    assert does_match({"a": 1e300}, {"a": 1e300})
    assert not does_match({"a": 2**53 + 1}, {"a": 2.0**53})


def test_null_equals_only_null() -> None:
    assert does_match({"a": None}, {"a": None})
    assert not does_match({"a": None}, {})
    others: list[object] = [False, 0, "", "null", [], {}]
    for value in others:
        assert not does_match({"a": None}, {"a": value})


def test_strings_are_equal_exactly() -> None:
    assert does_match({"a": "ü→"}, {"a": "ü→"})
    for value in ("U", "u ", "", 1, ["u"]):
        assert not does_match({"a": "u"}, {"a": value})


def test_names_may_be_anything() -> None:
    assert does_match({"": {"a.b": 1}}, {"": {"a.b": 1}})
    assert not does_match({"a.b": 1}, {"a": {"b": 1}})


def test_a_large_array_in_a_document_matches_no_pattern_and_costs_little() -> None:
    deep: object = []
    for _ in range(900):
        deep = [deep]
    assert not Index({"a": [1]}, *({"a": [1], "b": n} for n in range(20))).find({"a": deep})
    assert not Index({"a": [1]}).find({"a": [1] * 100_000})


# -- names and limits --------------------------------------------------------------------------------------------------


def test_patterns_that_mean_the_same_have_one_text() -> None:
    assert canonical(b' { "b" : 1.0 , "a" : [ {"d":2,"c":-0.0} ] } ') == b'{"a":[{"c":0,"d":2}],"b":1}'
    assert canonical(b'{"a":1,"a":2}') == b'{"a":2}'
    assert canonical(b'{"a":10e299}') == canonical(b'{"a":1e300}')


@pytest.mark.parametrize(
    "text", [b"", b"nonsense", b"[]", b"1", b"null", b'"a"', b'{"a":NaN}', b'{"a":1', b'{"a":"\xff"}']
)
def test_what_is_no_json_object_is_refused(text: bytes) -> None:
    with pytest.raises(Refused) as refusal:
        canonical(text)
    assert refusal.value.code == INVALID


def nested(depth: int, inner: str, outer: str) -> bytes:
    opening, closing = outer.split("*")
    return (opening * depth + inner + closing * depth).encode()


def test_a_pattern_has_limits_and_the_refusal_names_them() -> None:
    refusals = [
        (b'{"a":"' + b"x" * 70_000 + b'"}', TOO_LARGE, "pattern_size_max is 65536"),
        (nested(33, "1", '{"a":*}'), OVER_LIMIT, "pattern_depth_max is 32"),
        (b'{"a":' + nested(32, "1", "[*]") + b"}", OVER_LIMIT, "pattern_depth_max is 32"),
        (b"{%s}" % b",".join(b'"%d":1' % n for n in range(257)), OVER_LIMIT, "pattern_leaves_max is 256"),
        (b'{"a":[%s]}' % b",".join([b"1"] * 256), OVER_LIMIT, "pattern_leaves_max is 256"),
        (b'{"a":[%s]}' % b",".join([b"[]"] * 256), OVER_LIMIT, "pattern_leaves_max is 256"),
        (b"{%s}" % b",".join(b'"%d":{}' % n for n in range(257)), OVER_LIMIT, "pattern_leaves_max is 256"),
    ]
    for text, code, reason in refusals:
        with pytest.raises(Refused, match=reason) as refusal:
            canonical(text)
        assert refusal.value.code == code
    for text in (
        nested(32, "1", '{"a":*}'),
        b"{%s}" % b",".join(b'"%d":1' % n for n in range(256)),
        b'{"a":[%s]}' % b",".join([b"1"] * 255),
    ):
        document = json.loads(text)
        assert does_match(document, document)


# -- against the naive matcher -----------------------------------------------------------------------------------------

scalars: st.SearchStrategy[object] = st.sampled_from(["x", "y", "true", "", 0, 1, 2, 1.0, 0.5, True, False, None])
names = st.sampled_from(["a", "b", "c"])
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(names, inner, max_size=3), max_leaves=6
)
objects = st.dictionaries(names, values, max_size=3)


def ordered(found: list[object]) -> list[bytes]:
    return sorted(text_of(pattern) for pattern in found)


@settings(max_examples=150, deadline=None)
@given(st.lists(objects, max_size=60), st.lists(objects, min_size=1, max_size=8), st.data())
def test_the_index_finds_what_the_naive_matcher_finds(
    patterns: list[dict[str, object]], documents: list[dict[str, object]], data: st.DataObject
) -> None:
    index = Index(*patterns)
    kept = list(patterns)
    for round in range(3):
        for document in [*documents, *kept[:5]]:
            expected = {text_of(pattern) for pattern in kept if matches(pattern, document)}
            assert ordered(index.find(document)) == sorted(expected)
        if round == 0 and kept:
            gone = data.draw(st.lists(st.sampled_from(kept)))
            for pattern in gone:
                index.unbind(pattern)
            kept = [pattern for pattern in kept if not any(equal(pattern, other) for other in gone)]
        elif round == 1:
            for pattern in data.draw(st.lists(objects, max_size=20)):
                index.bind(pattern)
                kept.append(pattern)
    assert index.patterns.root.size == len(index.patterns)
    for pattern in kept:
        index.unbind(pattern)
    assert len(index.patterns) == index.patterns.root.size == index.patterns.wrapped == 0
    assert not index.patterns.root.steps


@settings(max_examples=100, deadline=None)
@given(st.sets(st.tuples(*[st.integers(0, 2)] * 5), min_size=20, max_size=120), st.tuples(*[st.integers(0, 2)] * 5))
def test_the_index_is_right_where_many_patterns_share_their_leaves(
    rows: set[tuple[int, ...]], row: tuple[int, ...]
) -> None:
    patterns = [{f"k{place}": cell for place, cell in enumerate(cells) if cell} for cells in sorted(rows)]
    index = Index(*patterns)
    document: dict[str, object] = {f"k{place}": cell for place, cell in enumerate(row)}
    expected = {text_of(pattern) for pattern in patterns if matches(pattern, document)}
    assert ordered(index.find(document)) == sorted(expected)


# -- what it costs -----------------------------------------------------------------------------------------------------

SHAPES = {
    "one leaf each": lambda n: {"id": n},
    "a shared leaf before a rare one": lambda n: {"act": "updated", "obj": "user", "user": n},
    "a rare leaf deep within": lambda n: {"data": {"user": {"id": n}}, "obj": "user"},
    "a name each": lambda n: {f"key{n}": 1},
    "two leaves that are rare only together": lambda n: {"a": n % 100, "b": n // 100},
    "four leaves that are rare only together": lambda n: {k: (n // 10**p) % 10 for p, k in enumerate("abcd")},
    "an array each": lambda n: {"tags": ["x", n]},
}


@pytest.mark.parametrize("shape", SHAPES)
def test_ten_thousand_patterns_do_not_cost_ten_thousand_comparisons(shape: str) -> None:
    make = SHAPES[shape]
    index = Index(*map(make, range(10_000)))
    for number in (0, 1, 17, 4_321, 9_999):
        document = {**make(number), "more": 1}
        assert index.find(document) == [make(number)]
        assert index.checks(document) < 120
    assert index.checks({"act": "updated", "obj": "user", "unknown": 1}) < 40
    for number in range(10_000):
        index.unbind(make(number))
    assert len(index.patterns) == 0


def test_a_document_with_many_members_is_not_walked_where_patterns_name_few() -> None:
    index = Index(*({"id": n} for n in range(100)))
    assert index.find({**{f"k{n}": n for n in range(10_000)}, "id": 7}) == [{"id": 7}]


# -- documents of messages ---------------------------------------------------------------------------------------------


def message(body: bytes, event: bytes = b"e") -> Message:
    return Message(b"1", event, body, 0, "test")


@pytest.mark.parametrize(
    ("body", "document"),
    [
        (b'{"a": 1}', {"a": 1, "event": "e"}),
        (b' \r\n{"a": 1}\n', {"a": 1, "event": "e"}),
        (b'{"event": 5}', {"event": 5}),
        (b"[1, 2]", {"data": [1, 2], "event": "e"}),
        (b"42", {"data": 42, "event": "e"}),
        (b'"text"', {"data": "text", "event": "e"}),
        (b"null", {"data": None, "event": "e"}),
        (b"", {"data": "", "event": "e"}),
        ("grüße".encode(), {"data": "grüße", "event": "e"}),
        (b"{not json", {"data": "{not json", "event": "e"}),
        (b"\xff\x00", {"data": "/wA=", "encoding": "base64", "event": "e"}),
    ],
)
def test_every_body_has_a_document(body: bytes, document: dict[str, object]) -> None:
    assert document_of(message(body)) == document
    assert may_be_object(body) or "data" in document


def test_a_document_parsed_before_is_used() -> None:
    parsed = message(b"whatever")
    parsed.document = {"a": 1, "event": "x"}
    assert document_of(parsed) == {"a": 1, "event": "x"}


def test_an_event_that_is_no_text_has_a_document_too() -> None:
    assert document_of(message(b"{}", b"\xff"))["event"] == "\ufffd"


@settings(deadline=None)
@given(st.binary(max_size=20))
def test_any_bytes_have_a_document(body: bytes) -> None:
    assert isinstance(parse_body(body), dict)
    if not may_be_object(body):
        assert set(parse_body(body)) <= {"data", "encoding"}


# -- in the broker -----------------------------------------------------------------------------------------------------


class Bound:
    """A broker in which each queue keeps what it gets."""

    def __init__(self) -> None:
        self.log = MemoryLog(keep=True)
        self.broker = Broker(self.log, Limits())

    def bind(self, name: bytes, *patterns: bytes, events: tuple[bytes, ...] = ()) -> None:
        self.broker.bind(name, events, patterns)

    def goes_to(self, body: bytes, event: bytes = b"e") -> list[bytes]:
        return [queue.name for queue in self.broker.routing.route(message(body, event)) or ()]


@pytest.fixture
def bound() -> Bound:
    return Bound()


def test_a_queue_gets_a_message_once_however_many_of_its_bindings_it_meets(bound: Bound) -> None:
    bound.bind(b"q", b'{"a": 1}', b'{"b": 2}', b"{}", events=(b"e",))
    assert bound.goes_to(b'{"a": 1, "b": 2}') == [b"q"]


def test_queues_of_the_event_come_first_then_those_by_pattern_in_order_of_binding(bound: Bound) -> None:
    for name in (b"p9", b"p1", b"p5"):
        bound.bind(name, b'{"a": 1}')
    bound.bind(b"p0", b"{}")
    bound.bind(b"e2", events=(b"e",))
    bound.bind(b"e1", b'{"a": 1}', events=(b"e",))
    assert bound.goes_to(b'{"a": 1}') == [b"e2", b"e1", b"p9", b"p1", b"p5", b"p0"]
    assert bound.goes_to(b"text") == [b"e2", b"e1", b"p0"]
    assert bound.goes_to(b"text", b"f") == [b"p0"]


def test_a_list_handed_out_does_not_change(bound: Bound) -> None:
    bound.bind(b"a", b"{}")
    before = bound.broker.routing.route(message(b"x"))
    bound.bind(b"b", b"{}")
    assert [queue.name for queue in before or ()] == [b"a"]
    assert bound.goes_to(b"x") == [b"a", b"b"]


def test_binding_replaces_the_patterns(bound: Bound) -> None:
    bound.bind(b"q", b'{"a": 1}')
    bound.bind(b"q", b'{"a": 2}')
    assert bound.goes_to(b'{"a": 1}') == []
    assert bound.goes_to(b'{"a": 2}') == [b"q"]
    bound.bind(b"q", events=(b"e",))
    assert bound.goes_to(b'{"a": 2}', b"f") == []
    assert not bound.broker.routing.has_patterns


def test_binding_by_the_same_pattern_again_is_not_logged(bound: Bound) -> None:
    bound.bind(b"q", b'{"a": 1, "b": 2}')
    entries = len(bound.log.entries)
    bound.bind(b"q", b'{"b": 2.0, "a": 1}', b'{"a": 1, "b": 2}')
    assert len(bound.log.entries) == entries


def test_a_refused_pattern_changes_nothing(bound: Bound) -> None:
    with pytest.raises(Refused):
        bound.bind(b"q", b"{}", b"[]")
    assert bound.broker.queues == {}
    assert bound.log.entries == []


def test_deleting_a_queue_unbinds_it_from_a_pattern_others_share(bound: Bound) -> None:
    bound.bind(b"a", b'{"a": 1}')
    bound.bind(b"b", b'{"a": 1}')
    bound.broker.delete(b"a")
    assert bound.goes_to(b'{"a": 1}') == [b"b"]
    bound.broker.delete(b"b")
    assert bound.goes_to(b'{"a": 1}') == []


def test_the_event_of_a_message_can_be_matched_where_its_object_has_none(bound: Bound) -> None:
    bound.bind(b"q", b'{"event": "orders"}')
    assert bound.goes_to(b"text", b"orders") == [b"q"]
    assert bound.goes_to(b'{"a": 1}', b"orders") == [b"q"]
    assert bound.goes_to(b'{"event": "other"}', b"orders") == []
    assert bound.goes_to(b"text", b"other") == []


def test_a_body_that_is_no_object_is_matched_by_its_data(bound: Bound) -> None:
    bound.bind(b"text", b'{"data": "hello"}')
    bound.bind(b"number", b'{"data": 42}')
    bound.bind(b"coded", b'{"encoding": "base64"}')
    bound.bind(b"other", b'{"a": 1}')
    assert bound.goes_to(b"hello") == [b"text"]
    assert bound.goes_to(b" 42 ") == [b"number"]
    assert bound.goes_to(b"\xff") == [b"coded"]


def test_a_body_that_is_no_object_is_not_parsed_for_patterns_that_cannot_match_it(bound: Bound) -> None:
    bound.bind(b"q", b'{"a": 1}')
    assert bound.broker.routing.by_pattern.wrapped == 0
    assert bound.goes_to(b"text") == []
    assert bound.goes_to(b'  {"a": 1}') == [b"q"]


def test_put_messages_are_not_matched(bound: Bound) -> None:
    bound.bind(b"all", b"{}")
    bound.broker.put(b"jobs", message(b"x"))
    assert bound.broker.queues[b"all"].ready == 0


def test_a_replay_restores_patterns_and_what_they_matched(bound: Bound) -> None:
    bound.bind(b"q", b'{"a": 1}', events=(b"x",))
    bound.bind(b"all", b"{}")
    for number, body in enumerate([b'{"a": 1}', b'{"a": 2}', b"text"]):
        sent = Message(b"%d" % number, b"e", body, 0, "test")
        bound.broker.publish(sent)
    bound.bind(b"q", b'{"a": 2}')
    rebuilt = replay(bound.log.entries, MemoryLog(), Limits())
    assert durable_state(rebuilt) == durable_state(bound.broker)
    assert [owed.id for owed, _ in rebuilt.queues[b"q"].contents()] == [b"0"]
    assert [owed.id for owed, _ in rebuilt.queues[b"all"].contents()] == [b"0", b"1", b"2"]
    assert rebuilt.queues[b"q"].patterns == (b'{"a":2}',)


def test_ten_thousand_queues_with_one_pattern_come_and_go(bound: Bound) -> None:
    for number in range(10_000):
        bound.bind(b"q%d" % number, b'{"a": 1}')
    assert len(bound.goes_to(b'{"a": 1}')) == 10_000
    for number in range(10_000):
        bound.broker.delete(b"q%d" % number)
    assert bound.goes_to(b'{"a": 1}') == []


def test_a_queue_that_takes_everything_does_not_take_a_reply_from_who_waits_for_it(bound: Bound) -> None:
    bound.bind(b"all", b"{}")
    request = message(b"how much?")
    request.requester = Requester()
    bound.broker.put(b"questions", request)
    with pytest.raises(NotImplementedError):  # it is told: a bare Requester has no more to say than that
        bound.broker.publish(message(b"42", b"reply/1"))


def test_an_index_that_was_crowded_is_empty_again_once_all_are_unbound(bound: Bound) -> None:
    """Else what is gone would be walked over for every message that comes."""
    names = [b"q%d" % number for number in range(5 * CROWD_MAX)]
    for turn in range(2):
        for number, name in enumerate(names):
            bound.broker.bind(name, (), (b'{"a":%d,"b":{"c":%d}}' % (number % 3, number),))
        root = bound.broker.routing.by_pattern.root
        assert root.is_split
        assert root.size == len(names)
        for name in names[:: 1 if turn else -1]:
            bound.broker.delete(name)
        assert (root.size, root.is_split, root.steps, root.patterns) == (0, False, {}, [])
