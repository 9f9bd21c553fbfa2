"""Which permissions an operation needs, for a user and a table of queues."""

import pytest

from penstock.auth.authorizer import Authorizer, event_of
from penstock.auth.rights import parse_grant
from penstock.auth.user import User
from penstock.errors import DENIED, OVER_LIMIT, Refused


class Bound:
    def __init__(self, events: tuple[bytes, ...] = (), patterns: tuple[bytes, ...] = (), expires_after: int = -1):
        self.events = events
        self.patterns = patterns
        self.expires_after = expires_after


def authorizer(*grants: str, **queues: Bound) -> Authorizer:
    user = User("ann")
    user.grants = [parse_grant(grant) for grant in grants]
    return Authorizer(user, {name.encode(): queue for name, queue in queues.items()}, 20)


def test_without_a_user_everything_is_allowed() -> None:
    open_ = Authorizer(None, {b"old": Bound((b"e",))}, 20)
    open_.check_publish(b"e")
    open_.check_claimed(b"e" * 21)
    open_.check_put(b"new", True)
    open_.check_targets([b"old", b"new"])
    open_.check_consume(b"new")
    open_.check_get(b"new")
    open_.check_unacked(1 << 40)
    open_.check_declare(b"new")
    open_.check_bind([b"e"], [{}])
    open_.check_rebind(b"old", (), ())
    open_.check_expiry(b"old", 5)
    open_.check_delete(b"old")
    open_.check_admin()
    assert open_.may_publish_all()
    assert open_.may_put(b"new")
    assert open_.may_browse(b"old")


@pytest.mark.parametrize(
    ("grants", "lacks"),
    [
        ((), "publish queue 'jobs'"),
        (("publish jobs",), "declare queue 'jobs'"),
        (("publish jobs", "declare jobs"), None),
    ],
)
def test_a_put_that_creates_a_queue_needs_two_permissions(grants: tuple[str, ...], lacks: str | None) -> None:
    asked = authorizer(*grants)
    if lacks is None:
        asked.check_put(b"jobs", True)
        assert asked.may_put(b"jobs")
    else:
        assert not asked.may_put(b"jobs")
        with pytest.raises(Refused, match=f"lacks the right: {lacks}") as refused:
            asked.check_put(b"jobs", True)
        assert refused.value.code == DENIED


def test_a_name_that_is_known_is_not_asked_about_again() -> None:
    asked = authorizer("publish *", "declare *", "consume *")
    assert asked.user is not None
    asked.check_put(b"jobs", True)
    asked.check_publish(b"e")
    asked.check_get(b"jobs")
    asked.user.grants = []  # without `forget_decisions`
    asked.check_put(b"jobs", True)
    asked.check_publish(b"e")
    assert (list(asked.user.puttable), list(asked.user.publishable)) == ([b"jobs"], [b"e"])


def test_a_new_queue_counts_towards_the_quota_however_it_comes_to_be() -> None:
    asked = authorizer("writer *", "consume *", old=Bound())
    assert asked.user is not None
    asked.user.quotas.queues = 2
    asked.check_put(b"a", True)
    asked.check_consume(b"b")
    asked.check_put(b"old", False)
    asked.queues = {name: Bound() for name in (b"old", b"a", b"b")}
    for check in (asked.check_consume, asked.check_declare, lambda name: asked.check_targets([name])):
        with pytest.raises(Refused, match="queues is 2") as refused:
            check(b"c")
        assert refused.value.code == OVER_LIMIT


def test_consumers_need_a_share_of_the_unacked_quota() -> None:
    asked = authorizer("consume *")
    assert asked.user is not None
    asked.check_unacked(5)
    asked.user.quotas.unacked = 5
    asked.check_unacked(4)
    with pytest.raises(Refused, match="unacked is 5"):
        asked.check_unacked(5)


@pytest.mark.parametrize(
    ("pattern", "event"),
    [({"event": "a.b"}, b"a.b"), ({"event": 1}, None), ({}, None), ([], None), ({"x": {"event": "a"}}, None)],
)
def test_a_pattern_is_for_one_event_or_for_all(pattern: object, event: bytes | None) -> None:
    assert event_of(pattern) == event
    one = authorizer("consume event:a.*")
    if event is None:
        with pytest.raises(Refused, match=r"consume event '\*'"):
            one.check_bind((), [pattern])
    else:
        one.check_bind((), [pattern])
    authorizer("consume *").check_bind((), [pattern])


def test_bindings_are_taken_away_by_whom_they_could_be_made() -> None:
    bound = Bound((b"a", b"b"), (b'{"event":"c"}',))
    low = authorizer("consume a", q=bound)
    low.check_rebind(b"q", (b"a", b"b"), (b'{"event":"c"}',))
    low.check_rebind(b"q", (b"b",), (b'{"event":"c"}',))
    low.check_rebind(b"new", (), ())
    for events, patterns in (((b"a",), (b'{"event":"c"}',)), ((b"a", b"b"), ())):
        with pytest.raises(Refused, match="to remove bindings of queue 'q'"):
            low.check_rebind(b"q", events, patterns)
        authorizer("delete q", q=bound).check_rebind(b"q", events, patterns)
        authorizer("consume *", q=bound).check_rebind(b"q", events, patterns)


def test_a_changed_expiry_needs_the_permission_to_delete() -> None:
    low = authorizer("declare *", q=Bound(expires_after=5))
    low.check_expiry(b"q", 5)
    low.check_expiry(b"new", 6)
    with pytest.raises(Refused, match="delete queue 'q'"):
        low.check_expiry(b"q", 6)


def test_an_event_that_is_too_long_to_remember_needs_them_all() -> None:
    low = authorizer("publish e*")
    low.check_claimed(b"e" * 20)
    with pytest.raises(Refused, match=r"publish event '\*'"):
        low.check_claimed(b"e" * 21)
    authorizer("publish *").check_claimed(b"e" * 21)
