"""Finds the patterns that a document matches, without checking each of them.

A pattern is a JSON object. It matches a document that has all its members: nested objects match as subsets in turn,
everything else by equality. So a pattern is a set of **leaves**, each a path and the value the document must have
there:

    {"obj": "user", "data": {"id": 42, "tags": ["a", "b"]}}     obj = "user"   data.id = 42   data.tags = ["a","b"]

Equality is JSON's: 1 and 1.0 are the same number, true is not 1, null is only null, the order of an array matters and
that of an object's members does not. An empty object as a leaf matches any object.

The index is a tree of **branches**. A branch holds a few patterns, which are checked one by one. When it has too many,
it splits: each of its patterns picks the rarest of its leaves and moves to the branch behind that leaf, so leaves that
many patterns share end up deep in the tree, or unused. A document enters a branch only when it has the leaf before it.
Patterns are identified by their canonical text, so two patterns in one branch differ in some remaining leaf, and
splitting always makes progress.

    root ─┬─ data.id = 42 ──► {obj = "user"}, {act = "updated"}      <- what is left to check
          ├─ data.id = 43 ──► ...
          └─ obj = "user" ──► {}                                     <- nothing is left: reaching it is a match

The trade-off: a pattern is not moved when a leaf it did not pick becomes the rarer one later. This costs some time, but
never a match.
"""

from base64 import b64encode
from typing import Final

import orjson

from penstock.core.documents import SIZE_MAX, loads
from penstock.core.queue import Queue
from penstock.errors import INVALID, OVER_LIMIT, TOO_LARGE, Refused
from penstock.message import Message

PATTERN_SIZE_MAX: Final = 65_536
PATTERN_DEPTH_MAX: Final = 32  # nested objects and arrays; also the recursion depth in this file
PATTERN_LEAVES_MAX: Final = 256  # scalars, empty objects, and array items

CROWD_MAX: Final = 8  # checking this many patterns costs about as much as walking a branch

TRUE: Final = b"true"
FALSE: Final = b"false"
NULL: Final = b"null"
SOME_OBJECT: Final = b"{}"
MISSING: Final = object()
UNREAD: Final = object()  # the data of a body that is too large to be parsed

# The members that a message's document has when its body is not a JSON object.
WRAPPING: Final = ("data", "encoding", "event")


EVENT_KEY: Final = b'"event"'
BACKSLASH: Final = 92  # an integer: searching for a one-byte string is ten times as slow

# -- documents ---------------------------------------------------------------------------------------------------------


def document_of(message: Message) -> dict[str, object]:
    """What patterns match against: the body's JSON object, or the body wrapped into one; with an `event` in any case.

    A session that has parsed the body anyway may have set it already.
    """
    document = message.document
    if document is None:
        document = parse_body(message.body)
        if "event" not in document:
            document["event"] = message.event.decode("utf-8", "replace")
    return document


def parse_body(body: bytes) -> dict[str, object]:
    """The JSON object in the body; otherwise its JSON value, text or base64-encoded bytes as `data`.

    JSON with too many values is treated as text, and a body that is too large is only known to exist: no pattern is
    long enough to match more of it.
    """
    if len(body) > SIZE_MAX:
        return {"data": UNREAD, "encoding": "base64"}
    try:
        value: object = loads(body)
    except ValueError:
        try:
            value = body.decode()
        except ValueError:
            return {"data": b64encode(body).decode(), "encoding": "base64"}
    return value if isinstance(value, dict) else {"data": value}


def may_be_object(body: bytes) -> bool:
    """False when the body is certainly not a JSON object, judging by its first byte."""
    if not body:
        return False
    first = body[0]
    return first == 123 or (first <= 32 and body.lstrip().startswith(b"{"))


def may_claim_event(body: bytes) -> bool:
    """False when the body is certainly not a JSON object with an event. The key may be written with escapes."""
    return may_be_object(body) and (EVENT_KEY in body or BACKSLASH in body)


def event_claimed_by(body: bytes) -> bytes | None:
    """The event named in a body, which patterns see instead of the message's; None when there is none."""
    if not may_claim_event(body):
        return None
    try:
        value: object = loads(body)
    except ValueError:
        return None
    event = value.get("event") if isinstance(value, dict) else None
    return event.encode() if isinstance(event, str) else None


# -- patterns ----------------------------------------------------------------------------------------------------------


def canonical(text: bytes) -> bytes:
    """The canonical text shared by all equivalent patterns. Raises Refused when it is not a pattern, or too large."""
    _check_size(text)
    try:
        pattern: object = orjson.loads(text)
    except ValueError as error:
        raise Refused(INVALID, f"pattern is not JSON: {error}") from None
    return canonical_text(pattern)


def canonical_text(pattern: object) -> bytes:
    """The same for a pattern that is parsed already."""
    if not isinstance(pattern, dict):
        raise Refused(INVALID, "pattern is not a JSON object")
    text = orjson.dumps(_normal(pattern, _Room(), 1), option=orjson.OPT_SORT_KEYS)
    _check_size(text)
    return text


def _check_size(text: bytes) -> None:
    if len(text) > PATTERN_SIZE_MAX:
        raise Refused(TOO_LARGE, f"pattern of {len(text)} bytes: pattern_size_max is {PATTERN_SIZE_MAX}")


class _Room:
    """How many more leaves are allowed."""

    def __init__(self) -> None:
        self.left = PATTERN_LEAVES_MAX

    def take(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise Refused(OVER_LIMIT, f"pattern has too many leaves: pattern_leaves_max is {PATTERN_LEAVES_MAX}")


def _normal(value: object, room: _Room, depth: int) -> object:
    """A copy in which equal numbers are written alike. Raises Refused when the pattern is too large."""
    if isinstance(value, dict):
        _check_depth(depth)
        if not value:
            room.take()
        return {name: _normal(member, room, depth + 1) for name, member in value.items()}
    room.take()
    if isinstance(value, list):
        _check_depth(depth)
        return [_normal(item, room, depth + 1) for item in value]
    # JSON integers are parsed as int up to 64 bits, and as float beyond.
    if isinstance(value, float) and value.is_integer() and -(2.0**63) <= value < 2.0**64:
        return int(value)
    return value


def _check_depth(depth: int) -> None:
    if depth > PATTERN_DEPTH_MAX:
        raise Refused(OVER_LIMIT, f"pattern is nested too deep: pattern_depth_max is {PATTERN_DEPTH_MAX}")


def _key_of(value: object) -> object:
    """A key that is equal for values that are equal in JSON; None when no pattern can have that value.

    Strings and numbers are their own keys. Values that Python considers equal to one of them (True == 1) or cannot hash
    are encoded as bytes.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return TRUE if value else FALSE
    if isinstance(value, (int, float)):
        return value
    if value is None:
        return NULL
    if isinstance(value, dict):
        return SOME_OBJECT
    if isinstance(value, list):
        return _key_of_array(value)
    return None


def _key_of_array(value: list[object]) -> bytes | None:
    if len(value) > PATTERN_LEAVES_MAX:
        return None
    try:
        return orjson.dumps(_normal(value, _Room(), 2), option=orjson.OPT_SORT_KEYS)
    except Refused:
        return None  # larger than any pattern, so it equals none


class Leaf:
    """A value that a document must have at a path. Patterns share their leaves: `count` of them have this one."""

    def __init__(self, path: tuple[str, ...], key: object) -> None:
        self.path = path
        self.name = path[0]
        self.is_deep = len(path) > 1
        self.key = key
        self.text = key if isinstance(key, str) else None
        self.is_array = isinstance(key, bytes) and key.startswith(b"[")
        self.count = 0

    def fits(self, document: dict[str, object]) -> bool:
        value = document.get(self.name, MISSING)
        if self.is_deep:
            value = self._follow(value)
        text = self.text
        if text is not None:
            return isinstance(value, str) and value == text
        if isinstance(value, list) and not self.is_array:
            return False
        return _key_of(value) == self.key

    def _follow(self, value: object) -> object:
        for name in self.path[1:]:
            if not isinstance(value, dict):
                return MISSING
            value = value.get(name, MISSING)
        return value


def _leaves_of(
    members: dict[str, object], above: tuple[str, ...], leaves: list[tuple[tuple[str, ...], object]]
) -> None:
    """Path and key of every leaf."""
    for name, value in members.items():
        path = (*above, name)
        if isinstance(value, dict) and value:
            _leaves_of(value, path, leaves)
        else:
            leaves.append((path, _key_of(value)))


class Pattern:
    """A pattern and the queues bound by it."""

    def __init__(self, text: bytes, leaves: list[Leaf], serial: int) -> None:
        self.text = text
        self.leaves = leaves
        self.serial = serial  # patterns are ordered by when they were first bound
        self.left = tuple(leaves)  # leaves not yet verified for a document that reached the branch
        self.branch: Branch | None = None
        self._queues: dict[Queue, None] = {}
        self._listed: list[Queue] | None = None

    def fits(self, document: dict[str, object]) -> bool:
        for leaf in self.left:  # noqa: SIM110  # no generator per check
            if not leaf.fits(document):
                return False
        return True

    def fits_wrapped(self) -> bool:
        """Whether it could match a message whose body is not a JSON object."""
        return all(leaf.path[0] in WRAPPING for leaf in self.leaves)

    def queues(self) -> list[Queue]:
        """The queues, in the order in which they were bound; a list once returned is never changed."""
        listed = self._listed
        if listed is None:
            listed = list(self._queues)
            self._listed = listed
        return listed

    def add(self, queue: Queue) -> None:
        self._queues[queue] = None
        self._listed = None

    def discard(self, queue: Queue) -> bool:
        """Remove a queue; returns whether any is left."""
        self._queues.pop(queue, None)
        self._listed = None
        return bool(self._queues)


# -- the index ---------------------------------------------------------------------------------------------------------


class Branch:
    """Patterns that share the leaves on the path to this branch."""

    def __init__(self, above: "Branch | None", leaf: Leaf | None) -> None:
        self.above = above
        self.leaf = leaf  # the one between `above` and here
        self.size = 0  # patterns here and below
        self.patterns: list[Pattern] = []  # checked one by one; after a split only those with nothing left to check
        self.is_split = False
        self.steps: dict[str, Step] = {}  # after a split, the paths to the branches below


class Step:
    """One name on the paths of the leaves below a branch."""

    def __init__(self) -> None:
        self.inner: dict[str, Step] = {}
        self.branches: dict[object, Branch] = {}  # by the key of the leaf's value
        self.has_arrays = False  # computing the key of an array is expensive


class Patterns:
    """The index of all patterns, searched by document."""

    def __init__(self) -> None:
        self.root = Branch(None, None)
        self.wrapped = 0  # patterns that could match a message whose body is not a JSON object
        self.of_event = 0  # patterns that may match on the event, which not every document has
        self._by_text: dict[bytes, Pattern] = {}
        self._leaves: dict[tuple[tuple[str, ...], object], Leaf] = {}
        self._serial = 0

    def __len__(self) -> int:
        return len(self._by_text)

    def bind(self, queue: Queue, text: bytes) -> None:
        """Bind the queue by a pattern, given as its canonical text."""
        pattern = self._by_text.get(text)
        if pattern is None:
            self._serial += 1
            pattern = Pattern(text, self._shared_leaves(text), self._serial)
            self._by_text[text] = pattern
            self.wrapped += pattern.fits_wrapped()
            self.of_event += EVENT_KEY in text
            self._place(pattern, self.root)
        pattern.add(queue)

    def unbind(self, queue: Queue, text: bytes) -> None:
        pattern = self._by_text.get(text)
        if pattern is not None and not pattern.discard(queue):
            del self._by_text[text]
            self.wrapped -= pattern.fits_wrapped()
            self.of_event -= EVENT_KEY in text
            self._remove(pattern)
            for leaf in pattern.leaves:
                leaf.count -= 1
                if leaf.count == 0:
                    del self._leaves[leaf.path, leaf.key]

    def _shared_leaves(self, text: bytes) -> list[Leaf]:
        found: list[tuple[tuple[str, ...], object]] = []
        _leaves_of(orjson.loads(text), (), found)
        leaves: list[Leaf] = []
        for place in found:
            leaf = self._leaves.get(place)
            if leaf is None:
                leaf = Leaf(place[0], place[1])
                self._leaves[place] = leaf
            leaf.count += 1
            leaves.append(leaf)
        return leaves

    def queues_for(self, document: dict[str, object]) -> list[Queue] | None:
        """The queues bound by a matching pattern, each once, in the order in which they were bound; or None."""
        found: Pattern | None = None
        others: list[Pattern] | None = None  # rarely needed, and a list costs as much as a check
        branches: list[Branch] | None = None
        branch = self.root
        while True:
            for pattern in branch.patterns:
                if pattern.fits(document):
                    if found is None:
                        found = pattern
                    elif others is None:
                        others = [pattern]
                    else:
                        others.append(pattern)
            if branch.is_split:
                if branches is None:
                    branches = []
                _walk(branch.steps, document, branches)
            if not branches:
                break
            branch = branches.pop()
        if found is None:
            return None
        return found.queues() if others is None else _merged([found, *others])

    def _place(self, pattern: Pattern, branch: Branch) -> None:
        branch.size += 1
        while branch.is_split and pattern.left:
            branch = _best_below(branch, pattern)
            branch.size += 1
        branch.patterns.append(pattern)
        pattern.branch = branch
        if len(branch.patterns) > CROWD_MAX and not branch.is_split:
            self._split(branch)

    def _split(self, branch: Branch) -> None:
        branch.is_split = True
        patterns = branch.patterns
        branch.patterns = []
        branch.size -= len(patterns)
        for pattern in patterns:
            self._place(pattern, branch)

    def _remove(self, pattern: Pattern) -> None:
        branch = pattern.branch
        assert branch is not None
        branch.patterns.remove(pattern)
        while branch is not None:
            branch.size -= 1
            if branch.size == 0:
                branch.is_split = False
                branch.steps = {}
                if branch.above is not None and branch.leaf is not None:
                    _cut_off(branch.above, branch.leaf)
            branch = branch.above


def _serial_of(pattern: Pattern) -> int:
    return pattern.serial


def _merged(patterns: list[Pattern]) -> list[Queue]:
    patterns.sort(key=_serial_of)
    queues: dict[Queue, None] = {}
    for pattern in patterns:
        for queue in pattern.queues():
            queues[queue] = None
    return list(queues)


def _best_below(branch: Branch, pattern: Pattern) -> Branch:
    """The branch behind the pattern's rarest leaf; among equally rare ones, the smallest branch.

    That leaf is removed from `left`.
    """
    best = pattern.left[0]
    below = _branch_at(branch, best)
    for leaf in pattern.left:
        if leaf.count <= best.count and leaf is not best:
            other = _branch_at(branch, leaf)
            if leaf.count < best.count or _size_of(other) < _size_of(below):
                best = leaf
                below = other
    pattern.left = tuple([leaf for leaf in pattern.left if leaf is not best])
    return below or _grow(branch, best)


def _size_of(branch: Branch | None) -> int:
    return 0 if branch is None else branch.size


def _branch_at(branch: Branch, leaf: Leaf) -> Branch | None:
    steps = branch.steps
    step: Step | None = None
    for name in leaf.path:
        step = steps.get(name)
        if step is None:
            return None
        steps = step.inner
    return None if step is None else step.branches.get(leaf.key)


def _grow(above: Branch, leaf: Leaf) -> Branch:
    steps = above.steps
    step = Step()
    for name in leaf.path:
        known = steps.get(name)
        if known is None:
            known = Step()
            steps[name] = known
        step = known
        steps = step.inner
    branch = Branch(above, leaf)
    step.branches[leaf.key] = branch
    step.has_arrays = step.has_arrays or leaf.is_array
    return branch


def _cut_off(above: Branch, leaf: Leaf) -> None:
    """Remove an empty branch, and the steps that led only to it."""
    trail: list[dict[str, Step]] = []
    steps = above.steps
    for name in leaf.path:
        trail.append(steps)
        steps = steps[name].inner
    last = len(trail) - 1
    del trail[last][leaf.path[last]].branches[leaf.key]
    for depth in range(last, -1, -1):
        step = trail[depth][leaf.path[depth]]
        if step.inner or step.branches:
            break
        del trail[depth][leaf.path[depth]]


def _walk(steps: dict[str, Step], members: dict[str, object], branches: list[Branch]) -> None:
    """Add the branches whose leaf the document has, iterating over the smaller of the two."""
    if len(steps) <= len(members):
        for name, step in steps.items():
            value = members.get(name, MISSING)
            if value is not MISSING:
                _follow(step, value, branches)
    else:
        for name, value in members.items():
            known = steps.get(name)
            if known is not None:
                _follow(known, value, branches)


def _follow(step: Step, value: object, branches: list[Branch]) -> None:
    if isinstance(value, dict) and step.inner:
        _walk(step.inner, value, branches)
    if step.branches and (step.has_arrays or not isinstance(value, list)):
        branch = step.branches.get(_key_of(value))
        if branch is not None:
            branches.append(branch)
