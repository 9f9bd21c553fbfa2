"""What a session lets its user do, on sessions without a socket: claims in bodies, changes of user, locked doors."""

import pytest

from penstock.auth.directory import Directory
from penstock.auth.users import Users
from penstock.core.broker import Broker
from penstock.core.limits import Limits
from penstock.core.patterns import event_claimed_by
from penstock.core.policy import Rule
from penstock.core.subscription import Inbox
from penstock.log.memory import MemoryLog
from penstock.message import Message
from penstock.risp import CONSUME, QUEUEID
from penstock.wire.detect import ProtocolDetector
from penstock.wire.dialects import DIALECTS
from penstock.wire.named import NamingDialect
from penstock.wire.session import Dialect, Hub, Session
from penstock.wire.state import StateView

NOW = 1_000_000


class World:
    """A broker with users, its doors, and what was reported."""

    def __init__(self, **grants: list[str]) -> None:
        self.reports: list[tuple[str, dict[str, object]]] = []
        self.broker = Broker(MemoryLog(), Limits())
        self.hub = Hub(self.broker, self.report)
        self.doors: dict[str, Dialect] = {door.name: door for door in [make(self.hub) for make in DIALECTS]}
        self.doors["any"] = ProtocolDetector(self.hub, list(self.doors.values()))
        self.users = Users()
        self.tokens: dict[str, bytes] = {}
        for name, texts in grants.items():
            self.users.add(name)
            for text in texts:
                self.users.grant(name, text)
            self.tokens[name] = self.users.create_token(name, 0).encode()
        self.access = Directory()
        self.access.replace(self.users.by_name)
        self.hub.access = self.access

    def report(self, level: str, event: str, details: dict[str, object]) -> None:
        self.reports.append((event, details))

    def open(self, protocol: str, user: str = "") -> Session:
        """A client that its door knows, or nobody knows yet."""
        session = self.doors[protocol].open("192.0.2.1:5", NOW)
        session.enter(self.access.by_default(user) if user else None, NOW)
        return session

    def say(self, session: Session, data: bytes) -> bytes:
        session.feed(data, NOW)
        self.hub.run_awake(NOW)
        return session.drain()


# -- events that a body claims to be -----------------------------------------------------------------------------------

PAID = b"orders.paid"
CLAIMS = [
    b'{"event":"orders.paid"}',
    b' \t{"a":1,"event" : "orders.paid"}',
    b'{"\\u0065vent":"orders.paid"}',
    b'{"event":"\\u006frders.paid"}',
    b'{"event":"public","event":"orders.paid"}',
]


@pytest.mark.parametrize("body", CLAIMS)
def test_the_event_that_patterns_see_is_found_however_it_is_spelled(body: bytes) -> None:
    assert event_claimed_by(body) == PAID


@pytest.mark.parametrize(
    "body",
    [b"", b"orders.paid", b'"event"', b'["event"]', b'{"event":1}', b'{"a":{"event":"x"}}', b'{"event":"x"', b"{}"],
)
def test_a_body_that_names_no_event_claims_none(body: bytes) -> None:
    assert event_claimed_by(body) is None


def receiver(world: World, pattern: bytes) -> Session:
    session = world.open("sevx", "reader")
    assert world.say(session, b'R recv {"queue":"q","pattern":%s}\n' % pattern) == b"R ok \n"
    return session


READER = ["consume *", "declare *"]


@pytest.mark.parametrize("body", CLAIMS)
@pytest.mark.parametrize("flags", [b"", b"--ttl=60 "])
def test_nobody_publishes_by_its_body_what_it_may_not_publish(body: bytes, flags: bytes) -> None:
    world = World(low=["publish event:public"], reader=READER)
    reader = receiver(world, b'{"event":"orders.paid"}')
    writer = world.open("mqks", "low")
    assert world.say(writer, b"1 publish %spublic %s\n" % (flags, body)).startswith(b"1 error ")
    assert reader.drain() == b""
    assert "publish event 'orders.paid'" in str(world.reports[-1][1]["reason"])
    assert world.access.users["low"].denied == 1


def test_a_body_may_claim_what_its_user_may_publish() -> None:
    world = World(
        two=["publish event:public", "publish event:orders.*"],
        every=["publish event:*"],
        one=["publish event:public"],
        reader=READER,
    )
    reader = receiver(world, b'{"event":"orders.paid"}')
    for user in ("two", "every"):
        assert world.say(world.open("mqks", user), b'1 publish public {"event":"orders.paid"}\n') == b""
        assert b"orders.paid" in reader.drain()
    one = world.open("mqks", "one")
    assert (
        world.say(one, b'1 publish public {"event":"public"}\n2 publish public {"event":5}\n3 publish public text\n')
        == b""
    )


def test_where_no_pattern_looks_a_body_is_free() -> None:
    world = World(low=["publish event:public"])
    assert world.say(world.open("mqks", "low"), b'1 publish public {"event":"orders.paid"}\n') == b""
    assert world.broker.published == 1


@pytest.mark.parametrize("event", ["orders paid", "заказ оплачен", "orders.\\u0000", "x" * 70_000])
def test_a_sevx_event_that_is_no_name_needs_the_right_on_its_text(event: str) -> None:
    world = World(low=["publish event:sevx"], every=["publish *"], reader=READER)
    reader = receiver(world, b'{"a":1}' if len(event) > 60_000 else b'{"event":"%s"}' % event.encode())
    line = b'1 send {"a":1,"event":"%s"}\n' % event.encode()
    assert world.say(world.open("sevx", "low"), line).startswith(b"1 error ")
    assert reader.drain() == b""
    assert world.say(world.open("sevx", "every"), line) == b"1 ok \n"
    assert reader.drain()


def test_a_sevx_event_that_is_no_name_may_be_granted_by_its_text() -> None:
    world = World(low=["publish event:sevx", "publish event:orders*"])
    assert (
        world.say(world.open("sevx", "low"), b'1 send {"event":"orders paid"}\n2 send {"event":5}\n')
        == b"1 ok \n2 ok \n"
    )


# -- another user on the same connection -------------------------------------------------------------------------------


def frame(*values: bytes) -> bytes:
    body = b"".join([len(value).to_bytes(4, "big") + value for value in values])
    return len(body).to_bytes(4, "big") + body


def auth(protocol: str, token: bytes) -> bytes:
    """How a token is shown."""
    if protocol == "sevx":
        return b'a auth {"token":"%s"}\n' % token
    if protocol == "smqs":
        return b"A:%s\n" % token
    if protocol == "rq":
        return b"\x01\xb0%c%s" % (len(token), token)
    return frame(b"Auth", token) if protocol == "mqmq" else b"a auth %s\n" % token


# What starts a consumer of q, what ends it, and how a refusal begins.
CONSUMERS = {
    "mqks": (b"c consume q e\n", b"d delete_consumer c\n", b"a error denied"),
    "sevx": (
        b'c recv {"queue":"q","pattern":{"event":"e"}}\n',
        b'd delete_receiver {"receiver_id":"c"}\n',
        b"a error denied",
    ),
    "rq": (b"\x01\xa0\x01q\x14", b"\x01\xa0\x01q\x15", b"\x01\x1b"),
}
ALL = ["consume *", "declare *", "publish *"]


@pytest.mark.parametrize("protocol", [*CONSUMERS, "smqs"])
def test_nobody_becomes_another_user_while_it_has_consumers(protocol: str) -> None:
    world = World(ann=ALL, bob=ALL)
    session = world.open(protocol)
    start = CONSUMERS[protocol][0] if protocol in CONSUMERS else b"C:q\n"
    refusal = CONSUMERS[protocol][2] if protocol in CONSUMERS else b"UNKNOWN_TYPE\n"
    world.say(session, auth(protocol, world.tokens["ann"]) + start)
    assert world.broker.queues[b"q"].consumer_count() == 1
    # Its own token, shown again, is no other user's.
    world.say(session, auth(protocol, world.tokens["ann"]))
    assert session.user is world.access.users["ann"]
    said = world.say(session, auth(protocol, world.tokens["bob"]))
    assert said.startswith(refusal)
    assert session.closing
    session.end(NOW)
    assert b"q" not in world.broker.queues or world.broker.queues[b"q"].consumer_count() == 0
    assert [user.connections for user in world.access.users.values()] == [0, 0]
    assert "cannot become another" in str([details for event, details in world.reports if event == "audit.auth_failed"])


@pytest.mark.parametrize("protocol", CONSUMERS)
def test_a_client_without_consumers_may_become_another_user(protocol: str) -> None:
    world = World(ann=ALL, bob=ALL)
    start, stop, _ = CONSUMERS[protocol]
    session = world.open(protocol)
    world.say(session, auth(protocol, world.tokens["ann"]) + start + stop + auth(protocol, world.tokens["bob"]))
    assert not session.closing
    assert session.user is world.access.users["bob"]


def test_a_get_that_waits_is_over_before_another_user_is_looked_at() -> None:
    world = World(ann=ALL, bob=ALL)
    session = world.open("mqmq")
    world.say(
        session, auth("mqmq", world.tokens["ann"]) + frame(b"Get", b"q", b"60") + auth("mqmq", world.tokens["bob"])
    )
    assert session.subscriptions()
    assert session.user is world.access.users["ann"]
    world.broker.tick(NOW + 100_000)
    assert not session.subscriptions()
    assert session.user is world.access.users["bob"]


# -- the port for all protocols ----------------------------------------------------------------------------------------


def test_who_is_refused_is_not_handed_over_in_the_same_moment() -> None:
    """The time to say who it is and the rest that decides on a protocol are over at once: the door closes for good."""
    world = World(ann=ALL)
    session = world.open("any")
    session.feed(b"S", NOW + world.access.auth_time - 100_000 + 300)
    world.broker.tick(NOW + world.access.auth_time + 500)
    assert session.closing
    assert session.successor is None
    session.end(NOW)
    assert len(world.access.throttle.pending) == 0
    assert world.broker.deadlines.next_due() == -1


def test_who_took_over_is_shown_out_also_before_the_owner_of_the_socket_sees_it() -> None:
    world = World(ann=ALL)
    world.hub.access = None
    session = world.doors["any"].open("192.0.2.1:5", NOW)
    session.feed(b"1 ping x\n", NOW)
    world.hub.access = world.access
    assert not session.may_stay(NOW)
    session.revoke(NOW)
    successor = session.successor
    assert successor is not None
    assert successor.closing
    session.feed(b"2 publish e x\n", NOW)
    assert world.broker.published == 0


def test_who_came_in_through_the_port_for_all_is_looked_at_by_who_it_is() -> None:
    world = World(ann=ALL)
    session = world.open("any")
    session.feed(b"1 auth %s\n" % world.tokens["ann"], NOW)
    assert session.may_stay(NOW)
    world.access.replace({})
    assert not session.may_stay(NOW)


# -- SMQS: a line that was left unfinished -----------------------------------------------------------------------------


def ready(world: World, queue: bytes) -> int:
    found = world.broker.queues.get(queue)
    return 0 if found is None else found.ready


@pytest.mark.parametrize("grants", [["publish q", "declare q"], ["admin"]])
def test_a_last_message_without_its_line_end_is_put_as_its_user(grants: list[str]) -> None:
    world = World(ann=grants)
    session = world.open("smqs")
    session.feed(b'A:%s\nM:q:{"a":1}' % world.tokens["ann"], NOW)
    session.end(NOW)
    assert ready(world, b"q") == 1
    assert world.access.users["ann"].connections == 0
    assert session.user is None


def test_a_last_message_without_its_line_end_is_not_put_where_its_user_may_not() -> None:
    world = World(ann=["publish other"])
    session = world.open("smqs")
    session.feed(b'A:%s\nM:q:{"a":1}' % world.tokens["ann"], NOW)
    session.end(NOW)
    assert b"q" not in world.broker.queues
    assert world.access.users["ann"].denied == 1
    assert session.user is None


@pytest.mark.parametrize("behind", [b"C:q", b'M:q:{"a":1}', b"D:p:1"])
def test_a_line_left_unfinished_behind_a_wrong_token_is_not_done(behind: bytes) -> None:
    world = World(ann=ALL)
    session = world.open("smqs", "ann")
    session.feed(b"C:p\nM:p:x\nS", NOW)
    session.drain()
    session.feed(b"\nA:wrong\n" + behind, NOW)
    session.drain()
    world.broker.tick(NOW + 60_000)
    assert session.drain() == b""
    assert b"q" not in world.broker.queues
    session.end(NOW + 60_000)
    assert b"q" not in world.broker.queues
    assert ready(world, b"p") == 1  # nobody was done with it


def test_a_wrong_token_ends_the_wait_for_the_end_of_a_line() -> None:
    world = World(ann=ALL)
    session = world.open("smqs", "ann")
    session.feed(b"C:q", NOW)
    assert world.broker.deadlines.next_due() == NOW + 50_000
    session.feed(b"2\nA:wrong\nC:q3", NOW)
    assert world.broker.deadlines.next_due() > NOW + 50_000


# -- RQ: numbers of queues ---------------------------------------------------------------------------------------------


def test_a_refusal_names_no_queue_that_was_asked_for_by_a_number_nobody_told() -> None:
    world = World(ann=ALL, low=["publish nothing"])
    ann = world.open("rq")
    world.say(ann, auth("rq", world.tokens["ann"]) + b"\x01\xa0\x06secret\x14")
    low = world.open("rq")
    world.say(low, auth("rq", world.tokens["low"]))
    for number in range(4):
        assert world.say(low, bytes([1, QUEUEID]) + number.to_bytes(2, "big") + bytes([CONSUME])) == b""
    assert world.say(low, b"\x01\xa0\x06secret\x14") == b"\x01\xa0\x06secret\x1b"
    assert world.broker.queues[b"secret"].consumer_count() == 1


# -- logs --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", ["mqks", "sevx", "smqs", "mqmq", "rq"])
def test_no_reason_that_is_logged_has_the_secret_of_a_token(protocol: str) -> None:
    world = World(ann=["publish other"])
    token = world.tokens["ann"]
    requests = {
        "mqks": b"1 publish %s x\n",
        "sevx": b'1 recv {"queue":"%s","pattern":{}}\n',
        "smqs": b"C:%s\n",
        "mqmq": b"",
        "rq": b"\x01\xa0%c%%s\x14" % len(token),
    }
    request = frame(b"Get", token) if protocol == "mqmq" else requests[protocol] % token
    session = world.open(protocol, "ann")
    for _ in range(300):  # the first are told in full, the rest in few words
        world.say(session, request)
    session.end(NOW)
    assert len(world.reports) > 1
    assert token[:12].decode() in str(world.reports)
    assert token[13:].decode() not in str(world.reports)


# -- dead letters ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", ["mqks", "sevx"])
def test_a_redrive_to_where_its_user_may_put_nothing_is_refused_in_its_protocols_words(protocol: str) -> None:
    world = World(ann=["consume queue:dead", "consume event:*", "publish queue:mine"])
    world.broker.set_policies([Rule([b"mine", b"secret"], dead_letter=b"dead")])
    for queue in (b"mine", b"secret"):
        worker = Inbox(manual=True)
        world.broker.subscribe(queue, worker, None, NOW)
        world.broker.put(queue, Message(b"m", queue, b"{}", NOW, "test"))
        world.broker.bury(worker.deliveries[0])
        world.broker.cancel(worker, NOW)
    session = world.open(protocol, "ann")
    ask = b"r redrive dead\n" if protocol == "mqks" else b'r redrive {"queue": "dead"}\n'
    answer = world.say(session, ask)
    for _ in range(10):
        world.broker.tick(NOW)
        answer += session.drain()
    assert answer.startswith(b"r error denied")
    assert answer.count(b"\n") == 1
    assert (ready(world, b"dead"), ready(world, b"secret"), ready(world, b"mine")) == (2, 0, 0)


# -- queues that go away -----------------------------------------------------------------------------------------------


def test_whoever_may_not_delete_a_queue_may_not_change_when_it_goes_away() -> None:
    world = World(ann=ALL, bob=["consume *", "declare *"])
    session = world.open("mqks", "bob")
    consume = b"c consume --confirm --delete-queue-when-unused=%d q e\n"
    assert world.say(session, consume % 5) == b"c ok \n"  # a new one
    assert world.say(session, consume % 5) == b"c ok \n"  # nothing changes
    assert world.say(session, consume % 6).startswith(b"c error denied")
    assert world.broker.queues[b"q"].expires_after == 5_000_000


def test_a_user_has_no_more_consumers_than_it_may_have_un_acked() -> None:
    world = World(ann=ALL)
    world.users.set_quota("ann", "unacked=2")
    world.access.replace(world.users.by_name)
    session = world.open("mqks", "ann")
    answers = [world.say(session, b"c%d consume --confirm --manual-ack q e\n" % number) for number in range(3)]
    assert answers[:2] == [b"c0 ok \n", b"c1 ok \n"]
    assert answers[2].startswith(b"c2 error")
    assert world.broker.queues[b"q"].consumer_count() == 2


@pytest.mark.parametrize("protocol", ["mqks", "sevx", "smqs", "mqmq", "rq", "any"])
def test_a_client_that_has_said_nothing_has_nothing_pending(protocol: str) -> None:
    world = World(ann=ALL)
    assert world.open(protocol).pending() == 0


@pytest.mark.parametrize("protocol", [*CONSUMERS, "smqs"])
def test_a_consumer_whose_code_fails_breaks_its_session_and_no_other(protocol: str) -> None:
    world = World(ann=ALL)
    session, other = world.open(protocol, "ann"), world.open(protocol, "ann")
    world.say(session, CONSUMERS[protocol][0] if protocol in CONSUMERS else b"C:q\n")
    (consumer,) = world.broker.queues[b"q"].consumers.active
    error = ValueError("a mistake of ours")
    consumer.failed(error)
    assert world.hub.broken == [(session, error)]
    assert consumer.suspended
    assert not other.closing


# -- a known client that shows a wrong token ---------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", ["mqks", "sevx", "smqs", "mqmq", "rq"])
def test_who_waits_to_be_told_that_its_token_is_wrong_goes_when_its_user_does(protocol: str) -> None:
    world = World(ann=ALL)
    stranger, known = world.open(protocol), world.open(protocol, "ann")
    world.say(known, auth(protocol, b"wrong"))
    assert known.preauth is not None
    assert not known.closing
    assert known.may_stay(NOW)
    world.access.replace({})
    assert stranger.may_stay(NOW)  # it may still say who it is
    assert not known.may_stay(NOW)
    known.revoke(NOW)
    assert is_closing(known)
    known.end(NOW)
    stranger.end(NOW)
    assert len(world.access.throttle.pending) == 0


REBUFFS = {"mqks": b"error", "sevx": b"error", "smqs": b"UNKNOWN_TYPE", "mqmq": b"Error", "rq": b"\x1b"}


@pytest.mark.parametrize("together", [True, False], ids=["in one read", "one by one"])
@pytest.mark.parametrize("known", [True, False], ids=["known", "unknown"])
@pytest.mark.parametrize("protocol", ["mqks", "sevx", "smqs", "mqmq", "rq"])
def test_a_right_token_after_a_wrong_one_is_not_looked_at(protocol: str, known: bool, together: bool) -> None:
    """Else a client could try as many as it likes while it waits to be refused."""
    world = World(ann=ALL, bob=ALL)
    session = world.open(protocol, "ann" if known else "")
    before = session.user
    wrong, right = auth(protocol, b"wrong"), auth(protocol, world.tokens["bob"])
    world.reports.clear()
    for data in [wrong + right] if together else [wrong, right, wrong, right[:5], right[5:]]:
        assert world.say(session, data) == b""
    assert session.user is before
    assert session.preauth is not None
    assert world.access.throttle.failures == 1
    assert [event for event, _ in world.reports if event.startswith("audit.")] == ["audit.auth_failed"]
    world.broker.tick(NOW + 10_000_000)
    assert REBUFFS[protocol] in session.drain()
    assert is_closing(session)
    assert world.say(session, right) == b""
    assert session.user is before
    session.end(NOW)
    assert (len(world.access.throttle.pending), [user.connections for user in world.access.users.values()]) == (
        0,
        [0, 0],
    )


def is_closing(session: Session) -> bool:
    return session.closing


# -- consumers by name ------------------------------------------------------------------------------------------------


class Names:
    """What a client of MQKS or SEVX says about consumers, and what it is told."""

    def __init__(self, protocol: str) -> None:
        self.protocol = protocol

    def consume(self, name: str, queue: str) -> bytes:
        if self.protocol == "mqks":
            return f"{name} consume --confirm {queue} of.{queue} --manual-ack\n".encode()
        pattern = f'{{"event": "of.{queue}"}}'
        return f'{name} recv {{"queue": "{queue}", "pattern": {pattern}, "manual_ack": true}}\n'.encode()

    def publish(self, id: str, queue: str) -> bytes:
        if self.protocol == "mqks":
            return f'{id} publish of.{queue} {{"for":"{queue}"}}\n'.encode()
        return f'{id} send {{"event":"of.{queue}"}}\n'.encode()

    def settle(self, action: str, name: str, message: str) -> bytes:
        if self.protocol == "mqks":
            return f"x {action} --confirm {name} {message or '--all'}\n".encode()
        which = f'"event_id": "{message}"' if message else '"all": true'
        return f'x {action} {{"receiver_id": "{name}", {which}}}\n'.encode()

    def delete(self, name: str) -> bytes:
        if self.protocol == "mqks":
            return f"x delete_consumer --confirm {name}\n".encode()
        return f'x delete_receiver {{"receiver_id": "{name}"}}\n'.encode()


HERS = ["consume hers", "consume event:of.hers", "declare hers", "publish event:of.hers"]
HIS = ["consume his", "consume event:of.his", "declare his", "publish event:of.his"]


@pytest.fixture(params=["mqks", "sevx"])
def names(request: pytest.FixtureRequest) -> Names:
    return Names(request.param)


def test_two_users_may_have_a_consumer_of_the_same_name_on_queues_of_their_own(names: Names) -> None:
    world = World(ann=HERS, bob=HIS)
    ann, bob = world.open(names.protocol, "ann"), world.open(names.protocol, "bob")
    alone = World(bob=HIS)
    unknown = alone.say(alone.open(names.protocol, "bob"), names.consume("c1", "his"))
    assert world.say(ann, names.consume("c1", "hers")) == b"c1 ok \n"
    assert world.say(bob, names.consume("c1", "his")) == unknown == b"c1 ok \n"
    world.say(ann, names.publish("m1", "hers"))
    world.say(bob, names.publish("m2", "his"))
    for queue in (b"hers", b"his"):
        assert world.broker.queues[queue].consumer_count() == 1
        assert world.broker.queues[queue].unacked == 1


def test_what_is_said_of_another_users_consumer_is_said_of_none(names: Names) -> None:
    """It reaches nothing, and it is answered as if there were no such consumer anywhere."""
    world = World(ann=HERS, bob=HIS)
    ann, bob = world.open(names.protocol, "ann"), world.open(names.protocol, "bob")
    world.say(ann, names.consume("c1", "hers"))
    world.say(ann, names.publish("m1", "hers"))
    hers = world.broker.queues[b"hers"]
    for words in (
        names.settle("ack", "c1", "m1"),
        names.settle("ack", "c1", ""),
        names.settle("reject", "c1", "m1"),
        names.settle("reject", "c1", ""),
        names.delete("c1"),
    ):
        assert world.say(bob, words) == world.say(bob, words.replace(b"c1", b"c9")) == b"x ok \n"
        assert (hers.unacked, hers.consumer_count(), ann.drain()) == (1, 1, b"")
    assert world.say(bob, names.consume("c1", "his") + names.delete("c1")) == b"c1 ok \nx ok \n"
    assert (hers.unacked, hers.consumer_count()) == (1, 1)
    assert not [details for event, details in world.reports if event == "request.refused"]
    assert world.say(ann, names.settle("ack", "c1", "m1")) == b"x ok \n"
    assert hers.unacked == 0


def test_one_user_settles_and_takes_over_from_all_of_its_connections(names: Names) -> None:
    world = World(ann=HERS, bob=HIS)
    first, second = world.open(names.protocol, "ann"), world.open(names.protocol, "ann")
    world.say(first, names.consume("c1", "hers"))
    world.say(first, names.publish("m1", "hers"))
    world.say(first, names.publish("m2", "hers"))
    world.say(second, names.settle("ack", "c1", "m1"))
    assert world.broker.queues[b"hers"].unacked == 1
    assert b"m2" in world.say(second, names.consume("c1", "hers"))
    first.end(NOW)
    assert world.broker.queues[b"hers"].consumer_count() == 1
    assert world.say(second, names.settle("ack", "c1", "m2")) == b"x ok \n"
    assert world.broker.queues[b"hers"].unacked == 0


def test_who_becomes_another_user_in_the_middle_of_a_read_has_that_ones_consumers(names: Names) -> None:
    world = World(ann=HERS, bob=HIS)
    ann, other = world.open(names.protocol, "ann"), world.open(names.protocol, "bob")
    world.say(ann, names.consume("c1", "hers"))
    world.say(ann, names.publish("m1", "hers"))
    token = world.tokens["ann"]
    auth = b"a auth " + (token if names.protocol == "mqks" else b'{"token": "%s"}' % token)
    ack = b"x ack c1 m1\n" if names.protocol == "mqks" else names.settle("ack", "c1", "m1")
    world.say(other, ack)
    assert world.broker.queues[b"hers"].unacked == 1
    world.say(other, ack + auth + b"\n" + ack)
    assert world.broker.queues[b"hers"].unacked == 0


def test_a_user_who_is_gone_leaves_no_names_behind(names: Names) -> None:
    world = World(ann=HERS, bob=HIS)
    door = world.doors[names.protocol]
    assert isinstance(door, NamingDialect)
    ann = world.open(names.protocol, "ann")
    world.say(ann, names.consume("c1", "hers"))
    ann.end(NOW)
    world.open(names.protocol, "bob")
    assert [user.name for user in door.by_user] == ["bob"]


def test_operators_see_each_consumer_where_two_users_have_one_of_a_name(names: Names) -> None:
    world = World(ann=HERS, bob=HIS, root=["admin"])
    for user, queue in (("ann", "hers"), ("bob", "his")):
        world.say(world.open(names.protocol, user), names.consume("c1", queue))
    view = StateView(world.hub)
    assert view.queues_by_consumer_ids == {"c1": "hers", "c1 of bob": "his"}
    assert view.messages_by_consumer_ids == {"c1": {}, "c1 of bob": {}}


# -- bindings that others have made -----------------------------------------------------------------------------------

OTHERS_BINDINGS = (b"orders", (b"orders.paid", b"public"), (b'{"event":"orders.paid"}', b'{"total":5}'))


@pytest.mark.parametrize(
    ("protocol", "request_line"),
    [
        ("mqks", b"c consume --confirm orders public\n"),
        ("sevx", b'c recv {"queue":"orders","pattern":{"event":"public"}}\n'),
    ],
)
def test_a_consumer_takes_no_binding_from_a_queue_that_is_not_its_users(protocol: str, request_line: bytes) -> None:
    world = World(
        low=["consume queue:orders", "consume event:public"],
        named=["consume queue:orders", "consume event:public", "consume event:orders.*"],  # the other pattern is of all
        owner=["consume queue:orders", "consume event:public", "delete queue:orders"],
        every=["consume *"],
    )
    world.broker.bind(*OTHERS_BINDINGS)
    queue = world.broker.queues[b"orders"]
    for user in ("low", "named"):
        assert world.say(world.open(protocol, user), request_line).startswith(b"c error denied")
        assert (queue.events, queue.patterns) == OTHERS_BINDINGS[1:]
        assert queue.consumer_count() == 0
        reason = str(world.reports[-1][1]["reason"])
        assert "bindings of queue 'orders'" in reason
        assert "orders.paid" not in reason  # it is told nothing of what it may not see
    for user in ("owner", "every"):
        world.broker.bind(*OTHERS_BINDINGS)
        assert world.say(world.open(protocol, user), request_line) == b"c ok \n"
        assert len(queue.events) + len(queue.patterns) == 1


def test_a_consumer_whose_bindings_are_there_already_needs_no_more() -> None:
    world = World(low=["consume queue:orders", "consume event:public"])
    world.broker.bind(b"orders", (b"public",))
    assert world.say(world.open("mqks", "low"), b"c consume --confirm orders public\n") == b"c ok \n"
    world.broker.bind(b"orders", (), (b'{"event":"public"}',))
    assert (
        world.say(world.open("sevx", "low"), b'c recv {"queue":"orders","pattern":{"event":"public"}}\n') == b"c ok \n"
    )
