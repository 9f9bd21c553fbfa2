"""What happens at the doors while users, rights and tokens change, and to those who take too long or too much."""

import json
import stat
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from penstock.auth.users import Users

from ..server.conftest import Client
from .conftest import DIALECTS, Dialect, GuardedBroker, Mqks, Mqmq, Rq, Sevx, Smqs, frame

Start = Callable[..., GuardedBroker]
EVERY = pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
NOBODYS = "pst_AAAAAAAA_" + "x" * 43
PATIENCE = 20.0


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it did not come true"
        time.sleep(0.01)


def is_left(broker: GuardedBroker, queue: bytes, count: int) -> bool:
    return broker.ready(queue) == count


def come_in(broker: GuardedBroker, dialect: type[Dialect], token: str) -> Client:
    client = broker.connect(dialect.name)
    said = dialect.ask(client, dialect.auth(token))
    assert said.startswith(dialect.welcome())
    return client


def is_still_in(dialect: type[Dialect], client: Client) -> bool:
    return bool(dialect.ask(client, b""))


# -- before a client has said who it is --------------------------------------------------------------------------------


@EVERY
def test_whoever_says_nothing_is_shown_out_in_time(start_guarded: Start, dialect: type[Dialect]) -> None:
    broker = start_guarded(auth_seconds=100)
    beginning = dialect.auth(NOBODYS)[:9]
    client = broker.connect(dialect.name)
    slow = broker.connect(dialect.name)
    slow.send(beginning)
    until(lambda: broker.call(lambda: held_of(broker)) == [0, len(beginning)])
    broker.call(lambda: pass_time(broker, 99))
    assert broker.call(lambda: held_of(broker)) == [0, len(beginning)]
    broker.call(lambda: pass_time(broker, 200))
    for waiting in (client, slow):
        assert waiting.closed_by_peer()
        assert dialect.silent or waiting.buffer
    assert len(broker.reported("audit.auth_failed")) == 2
    assert "auth_seconds" in str(broker.reported("audit.auth_failed")[0]["reason"])
    until(lambda: broker.call(lambda: len(broker.node.user_reloader.directory.throttle.pending)) == 0)


def held_of(broker: GuardedBroker) -> list[int]:
    """How much is held of each client that waits at its gate; what an RQ client says in between is not held."""
    gates = [session.preauth for session in broker.node.reactor.connections]
    return sorted(len(preauth.held) + preauth.spent for preauth in gates if preauth is not None and not preauth.failing)


def pass_time(broker: GuardedBroker, seconds: int) -> None:
    """As if so many seconds had passed since the broker started."""
    broker.node.broker.tick(broker.node.clock.now() + seconds * 1_000_000)
    broker.node.reactor.plan_flush()


@EVERY
def test_whoever_sends_much_before_its_token_is_shown_out(start_guarded: Start, dialect: type[Dialect]) -> None:
    broker = start_guarded(unauthenticated_bytes_max=500)
    client = broker.connect(dialect.name)
    whole = dialect.auth("x" * 200) * 3
    client.send(frame(b"Auth", b"x" * 5000)[:600] if dialect is Mqmq else whole[:9] + b"x" * 600)
    assert client.closed_by_peer()
    reasons = [str(details["reason"]) for details in broker.reported("audit.auth_failed")]
    # RQ tells by the first byte that it is no token.
    assert any("unauthenticated_bytes_max" in reason for reason in reasons) or dialect is Rq


def test_pings_are_answered_and_counted(start_guarded: Start) -> None:
    broker = start_guarded(unauthenticated_bytes_max=500)
    for dialect in (Mqks, Sevx, Rq):
        client = broker.connect(dialect.name)
        assert is_still_in(dialect, client)
        client.send(dialect.fence * 501)
        assert client.closed_by_peer()


def test_one_address_has_so_many_unknown_connections_and_the_oldest_goes_for_one_more(start_guarded: Start) -> None:
    broker = start_guarded(unauthenticated_per_address_max=3)
    token = broker.add("ann", "admin")
    known = come_in(broker, Mqks, token)
    waiting = [broker.connect("mqks") for _ in range(3)]
    until(lambda: broker.call(lambda: len(broker.node.user_reloader.directory.throttle.pending)) == 3)
    one_more = broker.connect("any")
    assert waiting[0].closed_by_peer()
    assert "unauthenticated_per_address_max" in str(broker.reported("connection.crowded_out")[0]["limit"])
    assert is_still_in(Mqks, known)
    assert is_still_in(Mqks, waiting[2])  # a ping says nothing of who it is
    one_more.close()
    until(lambda: broker.call(lambda: len(broker.node.user_reloader.directory.throttle.pending)) == 2)
    come_in(broker, Mqks, token)
    assert broker.call(lambda: len(broker.node.user_reloader.directory.throttle.pending)) == 2


@EVERY
def test_silent_connections_keep_no_right_token_out(start_guarded: Start, dialect: type[Dialect]) -> None:
    broker = start_guarded()
    token = broker.add("ann", "admin")
    crowd = [broker.connect(dialect.name) for _ in range(150)]
    come_in(broker, dialect, token)
    assert int(str(broker.call(lambda: len(broker.node.user_reloader.directory.throttle.pending)))) <= 100
    for client in crowd:
        client.close()


@EVERY
def test_wrong_tokens_keep_no_right_one_out_or_waiting(start_guarded: Start, dialect: type[Dialect]) -> None:
    broker = start_guarded(unauthenticated_per_address_max=10)
    throttle = broker.node.user_reloader.directory.throttle
    throttle.delay_step = 3_600_000_000
    token = broker.add("ann", "admin")
    early = broker.connect(dialect.name)  # slow to show its token, which is right
    until(lambda: broker.call(lambda: len(throttle.pending)) == 1)
    wrong = []
    for number in range(15):
        wrong.append(broker.connect(dialect.name))
        wrong[-1].send(dialect.auth(NOBODYS))
        until(lambda: len(broker.reported("audit.auth_failed")) > number)  # noqa: B023
    come_in(broker, dialect, token)
    assert dialect.ask(early, dialect.auth(token)).startswith(dialect.welcome())
    assert wrong[0].closed_by_peer()
    assert wrong[0].buffer.startswith(dialect.auth_error)  # it is told so all the same
    assert wrong[-1].quiet()


def test_who_has_not_said_who_it_is_makes_room_where_every_place_is_taken(start_guarded: Start) -> None:
    broker = start_guarded(connections_max=3)
    token = broker.add("ann", "admin")
    known = come_in(broker, Mqks, token)
    silent = [broker.connect("mqks") for _ in range(2)]
    until(lambda: broker.call(lambda: len(broker.node.user_reloader.directory.throttle.pending)) == 2)
    another = come_in(broker, Mqks, token)
    assert silent[0].closed_by_peer()
    come_in(broker, Mqks, token)
    assert broker.connect("mqks").closed_by_peer()  # those who are in stay
    assert is_still_in(Mqks, known)
    assert is_still_in(Mqks, another)


def test_one_user_does_not_take_every_place(start_guarded: Start) -> None:
    broker = start_guarded(connections_max=20)
    token, other = broker.add("ann", "admin"), broker.add("bob")
    clients = [come_in(broker, Mqks, token) for _ in range(18)]
    refused = broker.connect("mqks")
    refused.send(Mqks.auth(token))
    assert refused.closed_by_peer()
    assert "connections_max" in str(broker.reported("audit.auth_failed")[-1]["reason"])
    come_in(broker, Mqks, other)
    assert all(is_still_in(Mqks, client) for client in clients)


@EVERY
def test_the_answer_to_a_failure_waits_and_nothing_is_read_meanwhile(
    start_guarded: Start, dialect: type[Dialect]
) -> None:
    broker = start_guarded()
    throttle = broker.node.user_reloader.directory.throttle
    throttle.delay_step = 3_600_000_000
    client = broker.connect(dialect.name)
    client.send(dialect.auth(NOBODYS))
    until(lambda: broker.reported("audit.auth_failed"))
    client.send(b"x" * 100)
    assert client.quiet()
    assert broker.call(lambda: [c.reading_pauses for c in broker.node.reactor.connections.values()]) == [1]
    throttle.delay_step = 0
    other = broker.connect(dialect.name)
    other.send(dialect.auth(NOBODYS))
    assert other.closed_by_peer()
    assert other.buffer.startswith(dialect.auth_error)


# -- while it is in ----------------------------------------------------------------------------------------------------


@EVERY
@pytest.mark.parametrize("what", ["token", "right", "user"])
def test_what_is_revoked_ends_the_sessions_it_let_in_and_no_other(
    start_guarded: Start, dialect: type[Dialect], what: str
) -> None:
    broker = start_guarded()
    token = broker.add("ann", "publish *", "consume *", "declare *")
    other = broker.add("bob", "admin")
    broker.change(lambda users: users.grant("bob", "publish *"))
    mine, its = come_in(broker, dialect, token), come_in(broker, dialect, other)

    def revoke(users: Users) -> None:
        if what == "token":
            users.revoke_token(token.split("_")[1])
        elif what == "right":
            users.revoke("ann", "publish *")
        else:
            users.remove("ann")

    broker.change(revoke)
    assert mine.closed_by_peer()
    expected = {"mqks": b"None error ", "smqs": b"", "mqmq": Mqmq.auth_error, "rq": Rq.auth_error}
    assert mine.buffer.startswith(expected.get(dialect.name, b"")) or b" error " in mine.buffer
    assert is_still_in(dialect, its)
    again = broker.connect(dialect.name)
    again.send(dialect.auth(token) + dialect.fence)
    if what == "right":
        assert dialect.ask(again, b"").startswith(dialect.welcome())
    else:
        assert again.closed_by_peer()
        assert again.buffer.startswith(dialect.auth_error)


def test_more_rights_hold_at_once_and_end_nobody(start_guarded: Start) -> None:
    broker = start_guarded()
    client = come_in(broker, Mqks, broker.add("ann"))
    assert b"1 error " in Mqks.ask(client, Mqks.publish(b"e"))
    broker.change_unseen(lambda users: users.grant("ann", "publish e"))
    assert b"error" not in Mqks.ask(client, Mqks.publish(b"e"))
    assert broker.published() == 1


def test_what_a_revoked_consumer_held_goes_back(start_guarded: Start) -> None:
    broker = start_guarded()
    token = broker.add("ann", "admin")
    other = broker.add("bob", "admin")
    for dialect in (Mqks, Sevx, Smqs, Rq):
        queue = dialect.name.encode()
        client = come_in(broker, dialect, token)
        dialect.ask(client, dialect.consume(queue) + dialect.publish(queue))
        until(partial(is_left, broker, queue, 0))
    broker.change(lambda users: users.revoke_token(token.split("_")[1]))
    for dialect in (Mqks, Smqs, Rq):
        until(partial(is_left, broker, dialect.name.encode(), 1))
    assert is_still_in(Mqks, come_in(broker, Mqks, other))


def test_a_token_that_expires_ends_its_sessions(start_guarded: Start) -> None:
    broker = start_guarded()
    token = broker.add("ann", "admin")
    client = come_in(broker, Mqks, token)

    def end_soon(users: Users) -> None:
        users.user("ann").tokens[token.split("_")[1]].expires_at = int(time.time()) + 1

    broker.change(end_soon)
    assert client.closed_by_peer()
    assert client.buffer.startswith(b"None error ")


def test_nobody_settles_or_replaces_the_consumer_of_another_user(start_guarded: Start) -> None:
    broker = start_guarded()
    ann = come_in(broker, Mqks, broker.add("ann", "admin"))
    bob = come_in(broker, Mqks, broker.add("bob", "admin"))
    assert Mqks.ask(ann, b"c consume --manual-ack q e\n1 publish e hello\n").startswith(b"c ok 1 event=e hello\n")
    held = b"3 _eval state.messages_by_consumer_ids\n"
    for request in (
        b"2 ack c 1\n",
        b"2 ack c --all\n",
        b"2 reject c 1\n",
        b"2 delete_consumer c\n",
        b"c consume p f\n",
    ):
        assert b" error " not in Mqks.ask(bob, request), request
    assert b"3 ok {'c': {'1': 'e'}}\n" in Mqks.ask(bob, held)
    assert Mqks.ask(ann, b"2 ack --confirm c 1\n").startswith(b"2 ok ")
    assert b"3 ok {'c': {}}\n" in Mqks.ask(bob, held)
    ann = come_in(broker, Sevx, broker.tokens["ann"])
    seen = bob
    bob = come_in(broker, Sevx, broker.tokens["bob"])
    Sevx.ask(ann, b'd recv {"queue": "s", "pattern": {"event": "e"}, "manual_ack": true}\n1 send {"event": "e"}\n')
    for request in (
        b'2 ack {"receiver_id": "d", "event_id": "1"}\n',
        b'2 ack {"receiver_id": "d", "all": true}\n',
        b'2 reject {"receiver_id": "d", "event_id": "1"}\n',
        b'2 delete_receiver {"receiver_id": "d"}\n',
    ):
        assert b"2 ok " in Sevx.ask(bob, request), request
    assert b"'d': {'1': 'e'}" in Mqks.ask(seen, held)
    assert b"2 ok " in Sevx.ask(ann, b'2 ack {"receiver_id": "d", "event_id": "1"}\n')
    assert b"'d': {}" in Mqks.ask(seen, held)


def test_a_redrive_moves_nothing_to_where_the_user_may_put_nothing(start_guarded: Start) -> None:
    """Also not what comes behind messages that stay where they are, which are not among the first."""
    broker = start_guarded()
    grants = ("consume queue:dead", "publish queue:mine", "consume queue:mine", "consume event:*", "publish event:*")
    ann = come_in(broker, Mqks, broker.add("ann", *grants))
    root = come_in(broker, Mqks, broker.add("root", "admin"))
    Smqs.ask(come_in(broker, Smqs, broker.tokens["root"]), b"M:dead:never died\n")
    for queue in (b"mine", b"secret"):
        Mqks.ask(root, b"c consume --manual-ack %s %s\n1 publish %s hello\n" % (queue, queue, queue))
        Mqks.ask(root, b"2 reject --confirm c 1 --dead\n")
    assert b"error" not in Mqks.ask(ann, b"1 redrive dead --to=mine --limit=1\n")
    assert not broker.has_queue(b"secret") or broker.ready(b"secret") == 0


# -- those who can present nothing -------------------------------------------------------------------------------------


@EVERY
@pytest.mark.parametrize("door", ["own", "any"])
def test_a_listener_has_a_user_for_clients_that_present_nothing(
    start_guarded: Start, dialect: type[Dialect], door: str
) -> None:
    broker = start_guarded(**{f"{dialect.name if door == 'own' else 'any'}_user": "old"})
    broker.add("old", "publish jobs", "declare jobs", "browse jobs")
    admin = broker.add("root", "admin")
    client = broker.connect(dialect.name if door == "own" else "any")
    dialect.ask(client, dialect.publish(b"jobs"))
    assert broker.published() == 1
    dialect.ask(client, dialect.publish(b"other"))
    assert broker.published() == 1
    # It may still show a token, and is somebody else from then on.
    said = dialect.ask(client, dialect.auth(admin) + dialect.publish(b"other"))
    assert said.startswith(dialect.welcome())
    assert broker.published() == 2
    assert broker.call(lambda: [user.connections for user in broker.node.user_reloader.directory.users.values()]) == [
        0,
        1,
    ]
    # A wrong one ends it, and what comes behind is not done.
    client.send(dialect.auth(NOBODYS) + dialect.publish(b"other"))
    assert client.closed_by_peer()
    assert client.buffer.startswith(dialect.auth_error)
    assert broker.published() == 2


@EVERY
def test_where_nobody_has_to_say_who_it_is_a_token_is_taken(start_guarded: Start, dialect: type[Dialect]) -> None:
    broker = start_guarded(auth="off")
    client = broker.connect(dialect.name)
    assert dialect.ask(client, dialect.auth(NOBODYS) + dialect.publish(b"e")).startswith(dialect.welcome())
    assert broker.published() == 1


# -- on and off --------------------------------------------------------------------------------------------------------


def test_authentication_comes_on_with_the_first_user_and_never_goes_off_by_itself(start_guarded: Start) -> None:
    broker = start_guarded(auth="auto")
    before = broker.connect("mqks")
    assert b"error" not in Mqks.ask(before, Mqks.publish(b"e"))
    token = str(broker.change_unseen(lambda users: (users.add("ann"), users.create_token("ann", 0))[1]))
    until(lambda: broker.node.hub.access is not None)
    assert before.closed_by_peer()
    client = come_in(broker, Mqks, token)
    broker.file.path.unlink()
    until(lambda: broker.reported("users.not_reloaded"))
    assert is_still_in(Mqks, client)
    broker.change(lambda users: users.add("bob"))
    assert client.closed_by_peer()
    broker.change(lambda users: users.remove("bob"))
    assert not broker.file.load().by_name
    nobody = broker.connect("mqks")
    nobody.send(Mqks.publish(b"e"))
    assert nobody.closed_by_peer()


def test_a_bad_file_changes_nothing_and_is_told(start_guarded: Start) -> None:
    broker = start_guarded()
    token = broker.add("ann", "admin")
    client = come_in(broker, Mqks, token)
    good = broker.file.path.read_bytes()
    broker.file.path.write_bytes(good[:-20])
    until(lambda: broker.reported("users.not_reloaded"))
    assert token[13:] not in str(broker.reports)
    assert is_still_in(Mqks, client)
    broker.file.path.write_bytes(good)
    until(lambda: len(broker.reported("users.loaded")) >= 2)
    assert is_still_in(Mqks, client)


def test_users_are_there_after_a_restart(start_guarded: Start, tmp_path: Path) -> None:
    broker = start_guarded(memory=False, data=str(tmp_path / "data"), users=None)
    broker.file = type(broker.file)(tmp_path / "data" / "users.json")
    token = broker.add("ann", "admin")
    come_in(broker, Mqks, token)
    broker.stop()
    again = start_guarded(memory=False, data=str(tmp_path / "data"), users=None, auth="auto")
    come_in(again, Mqks, token)


def test_whoever_came_in_by_the_door_for_all_a_moment_ago_is_shown_out_as_well(start_guarded: Start) -> None:
    broker = start_guarded()
    token = broker.add("ann", "admin")
    client = broker.connect("any")
    reactor = broker.node.reactor
    until(lambda: broker.call(lambda: len(reactor.connections)) == 1)

    def come_and_lose() -> bool:
        """In one turn of the loop, before the connection has seen that another session took over."""
        (session,) = reactor.connections
        session.feed(Mqks.auth(token), broker.node.clock.now())
        with broker.file.edit() as users:
            users.remove("ann")
        broker.node.user_reloader.reload()
        return session.successor is not None and session.successor.closing

    assert broker.call(come_and_lose)
    assert client.closed_by_peer()


@EVERY
def test_whoever_is_known_and_shows_a_wrong_token_is_not_heard_any_longer(
    start_guarded: Start, dialect: type[Dialect]
) -> None:
    broker = start_guarded(**{f"{dialect.name}_user": "guest"})
    broker.add("guest", "admin")
    broker.node.user_reloader.directory.throttle.delay_step = (
        600 * 1_000_000
    )  # it fails for as long as this test looks at it
    client = broker.connect(dialect.name)
    client.send(dialect.auth(NOBODYS))
    until(lambda: broker.reported("audit.auth_failed"))

    def hearing() -> tuple[bool, bool]:
        (connection,) = broker.node.reactor.connections.values()
        return connection.deaf, connection.transport.is_reading()

    assert broker.call(hearing) == (True, False)


# -- quotas ------------------------------------------------------------------------------------------------------------


@EVERY
def test_a_user_has_so_many_connections_and_no_more(start_guarded: Start, dialect: type[Dialect]) -> None:
    broker = start_guarded()
    token = broker.add("ann", "admin", connections=2)
    first, second = come_in(broker, dialect, token), come_in(broker, dialect, token)
    third = broker.connect(dialect.name)
    third.send(dialect.auth(token))
    assert third.closed_by_peer()
    assert third.buffer.startswith(dialect.auth_error)
    first.close()
    user = broker.node.user_reloader.directory.users["ann"]
    until(lambda: broker.call(lambda: user.connections) == 1)
    come_in(broker, dialect, token)
    assert is_still_in(dialect, second)


def test_a_user_makes_so_many_queues_and_no_more(start_guarded: Start) -> None:
    broker = start_guarded()
    token = broker.add("ann", "publish *", "consume *", "declare *", "delete *", queues=2)
    client = come_in(broker, Mqmq, token)
    for name in (b"a", b"b", b"a"):
        assert Mqmq.ask(client, Mqmq.publish(name)).startswith(frame(b"OK"))
    assert Mqmq.ask(client, Mqmq.publish(b"c")).startswith(frame(b"Error", b"REQUEST_TOO_MANY_QUEUES"))
    assert not broker.has_queue(b"c")
    broker.call(lambda: broker.node.broker.delete(b"a"))
    assert Mqmq.ask(client, Mqmq.publish(b"c")).startswith(frame(b"OK"))
    assert Mqmq.ask(client, Mqmq.publish(b"a")).startswith(frame(b"Error", b"REQUEST_TOO_MANY_QUEUES"))


def test_the_first_read_at_the_door_for_all_counts_as_any_other(start_guarded: Start) -> None:
    broker = start_guarded()
    token = broker.add("ann", "admin", messages=1)
    client = broker.connect("any")
    said = Mqks.auth(token) + b"".join(b"%d publish --confirm e x\n" % number for number in range(3))
    client.send(said)
    assert client.lines(4) == [b"a ok ", b"0 ok ", b"1 ok ", b"2 ok "]
    user = broker.node.user_reloader.directory.users["ann"]
    assert (user.published, user.received_bytes, user.paused) == (3, len(said), 1)


@pytest.mark.parametrize("quota", ["messages", "bytes"])
def test_a_publisher_above_its_rate_waits_and_loses_nothing(start_guarded: Start, quota: str) -> None:
    broker = start_guarded()
    amount = 100 if quota == "messages" else 1800
    client = come_in(broker, Mqks, broker.add("ann", "admin", **{quota: amount}))
    free = come_in(broker, Mqks, broker.add("bob", "admin"))
    begun = time.monotonic()
    client.send(Mqks.publish(b"e") * 150)  # 18 bytes each, and one read: half as much again as a second's worth
    user = broker.node.user_reloader.directory.users["ann"]
    until(lambda: broker.call(lambda: user.paused))
    client.send(Mqks.publish(b"e") * 10)
    assert is_still_in(Mqks, free)
    assert is_still_in(Mqks, client)
    assert time.monotonic() - begun > 0.4
    assert broker.published() == 160


@pytest.mark.parametrize("dialect", [Mqks, Sevx, Smqs, Rq], ids=lambda dialect: dialect.name)
def test_a_user_has_so_much_un_acked_and_its_consumers_share_it(start_guarded: Start, dialect: type[Dialect]) -> None:
    broker = start_guarded()
    token = broker.add("ann", "admin", unacked=4)
    broker.add("root", "admin")
    client = come_in(broker, dialect, token)
    dialect.ask(client, dialect.consume(b"a"))
    second = come_in(broker, dialect, token)
    dialect.ask(second, dialect.consume(b"b"))
    publisher = come_in(broker, dialect, broker.tokens["root"])
    dialect.ask(publisher, (dialect.publish(b"a") + dialect.publish(b"b")) * 10)
    assert (broker.ready(b"a"), broker.ready(b"b")) == (8, 8)
    second.close()
    until(lambda: broker.ready(b"a") == 6)
    broker.change(lambda users: users.set_quota("ann", "unacked=7"))
    assert broker.ready(b"a") == 3
    broker.change(lambda users: users.set_quota("ann", "unacked=0"))
    assert broker.ready(b"a") == 0


# -- what is written down ----------------------------------------------------------------------------------------------


def test_the_audit_log_tells_who_came_and_who_failed_and_no_secret(start_guarded: Start, tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    broker = start_guarded(audit=str(path))
    token = broker.add("ann", "admin")
    wrong = token[:13] + NOBODYS[13:]
    for dialect in DIALECTS:
        client = come_in(broker, dialect, token)
        dialect.ask(client, b"")
        failing = broker.connect(dialect.name)
        failing.send(dialect.auth(wrong))
        assert failing.closed_by_peer()
    misspelt = come_in(broker, Mqks, token)
    Mqks.ask(misspelt, b"1 aut %s\n" % token.encode())
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["protocol"] for line in lines if line["event"] == "audit.auth"][:5] == [d.name for d in DIALECTS]
    failed = [line for line in lines if line["event"] == "audit.auth_failed"]
    assert {line["token"] for line in failed} == {token[4:12]}
    assert all(line["peer"].startswith("127.0.0.1:") for line in failed)
    for secret in (token[13:], wrong[13:]):
        assert secret not in path.read_text()
        assert secret not in repr(broker.reports)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_broker_does_not_start_with_users_it_cannot_read(tmp_path: Path) -> None:
    path = tmp_path / "users.json"
    path.write_text("{")
    from penstock.errors import AccessError
    from penstock.testing import Broker

    with pytest.raises(AccessError, match=r"users\.json"):
        Broker(users=str(path)).start()
