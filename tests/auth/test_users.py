"""Users, rights, tokens and the file they are kept in."""

import os
import stat
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from argon2 import PasswordHasher, extract_parameters

from penstock.auth.certificates import names_of
from penstock.auth.directory import Directory, Identity
from penstock.auth.file import UsersFile, decode, encode
from penstock.auth.passwords import hash_password, is_password
from penstock.auth.pending import PendingConnections
from penstock.auth.quotas import Meter
from penstock.auth.rights import BROWSE, CONSUME, DECLARE, EVENT, PUBLISH, QUEUE, parse_grant
from penstock.auth.throttle import KEYS_MAX, AuthThrottle, FailureCounter, address_of
from penstock.auth.tokens import id_of
from penstock.auth.user import NAME_KNOWN_SIZE_MAX, NAMES_KNOWN_MAX, User
from penstock.auth.users import Users
from penstock.errors import CONFLICT, DENIED, INVALID, NOT_FOUND, AccessError, Refused

SECOND = 1_000_000


def user_with(*grants: str) -> User:
    user = User("ann")
    user.grants = [parse_grant(text) for text in grants]
    return user


def directory_of(users: Users) -> Directory:
    directory = Directory()
    directory.replace(decode(encode(users)).by_name)
    return directory


def known(directory: Directory, token: str, now: int = 0) -> Identity:
    found = directory.authenticate(token.encode(), now)
    assert found is not None
    return found


# -- rights ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("grant", "scope", "name", "allowed"),
    [
        ("publish orders.*", EVENT, b"orders.new", True),
        ("publish orders.*", QUEUE, b"orders.new", True),
        ("publish orders.*", EVENT, b"order", False),
        ("publish queue:jobs", QUEUE, b"jobs", True),
        ("publish queue:jobs", EVENT, b"jobs", False),
        ("publish event:*", EVENT, b"x\xff\n", True),
        ("publish event:*", QUEUE, b"x", False),
        ("publish [ab]?", EVENT, b"b7", True),
        ("publish \u00e9*", EVENT, "\u00e9t\u00e9".encode(), True),
        ("consume *", EVENT, b"x", False),
        ("admin", QUEUE, b"anything", True),
    ],
)
def test_a_grant_covers_what_its_glob_and_scope_say(grant: str, scope: str, name: bytes, allowed: bool) -> None:
    user = user_with(grant)
    assert [user.may(PUBLISH, scope, name) for _ in range(2)] == [allowed, allowed]


def test_a_refusal_names_user_right_and_name() -> None:
    with pytest.raises(Refused) as caught:
        user_with("publish a").check(CONSUME, QUEUE, b"jobs")
    assert caught.value.code == DENIED
    assert "ann" in caught.value.detail
    assert "consume queue 'jobs'" in caught.value.detail


@pytest.mark.parametrize(
    "text", ["", "fly *", "publish", "publish event:", "admin queue:x", "read-log orders.*", "publish " + "x" * 1025]
)
def test_what_is_no_grant_is_refused(text: str) -> None:
    with pytest.raises(AccessError) as caught:
        parse_grant(text)
    assert caught.value.code == INVALID


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda users: users.remove("bob"), NOT_FOUND),
        (lambda users: users.revoke("ann", "publish a"), NOT_FOUND),
        (lambda users: users.remove_certificate("ann", "CN:other"), NOT_FOUND),
        (lambda users: users.revoke_token("12345678"), NOT_FOUND),
        (lambda users: users.add("ann"), CONFLICT),
        (lambda users: users.add_certificate("joe", "CN:worker"), CONFLICT),
        (lambda users: users.add("there is no such name"), INVALID),
        (lambda users: users.set_quota("ann", "connections=many"), INVALID),
    ],
)
def test_an_impossible_change_has_a_code(change: Callable[[Users], object], code: str) -> None:
    users = Users()
    users.add("ann")
    users.add("joe")
    users.add_certificate("ann", "CN:worker")
    with pytest.raises(AccessError) as caught:
        change(users)
    assert caught.value.code == code


@pytest.mark.parametrize("text", ["publish orders.*", "consume queue:jobs", "browse event:*", "admin", "read-log"])
def test_a_grant_is_written_as_it_was_read(text: str) -> None:
    assert parse_grant(text).text == text


def test_all_names_are_not_many_names() -> None:
    assert user_with("consume event:*").may_all(CONSUME, EVENT)
    assert user_with("admin").may_all(CONSUME, EVENT)
    assert not user_with("consume queue:*").may_all(CONSUME, EVENT)
    assert not user_with("consume ?*").may_all(CONSUME, EVENT)


def test_what_was_decided_is_remembered_for_so_many_names_and_no_more() -> None:
    user = user_with("publish *")
    for number in range(NAMES_KNOWN_MAX + 10):
        user.check_publish(b"%d" % number)
    assert 0 < len(user.publishable) <= NAMES_KNOWN_MAX


def test_what_was_decided_of_a_long_name_is_decided_anew() -> None:
    user = user_with("publish *", "declare *", "consume *")
    for name in (b"x" * NAME_KNOWN_SIZE_MAX, b"y" * (NAME_KNOWN_SIZE_MAX + 1)):
        user.check_publish(name)
        user.check_put(name, is_new=True)
        user.remember_get(name)
        assert user.may(PUBLISH, EVENT, name)
        assert not user.may(BROWSE, EVENT, name)
    for names in (user.publishable, user.puttable, user.gettable):
        assert list(names) == [b"x" * NAME_KNOWN_SIZE_MAX]
    assert {name for _, _, name in user._decided} == {b"x" * NAME_KNOWN_SIZE_MAX}


def test_a_new_queue_needs_declare_and_one_that_is_there_does_not() -> None:
    user = user_with("publish queue:jobs")
    user.check_put(b"jobs", is_new=False)
    assert not user.puttable  # to be asked again: it may be gone by then
    with pytest.raises(Refused):
        user.check_put(b"jobs", is_new=True)
    user = user_with("publish queue:jobs", "declare queue:jobs")
    user.check_put(b"jobs", is_new=True)
    assert b"jobs" in user.puttable
    assert user.may(DECLARE, QUEUE, b"jobs")
    assert not user.may(BROWSE, QUEUE, b"jobs")


# -- tokens ------------------------------------------------------------------------------------------------------------


def test_a_token_is_its_users_and_no_other_text_is() -> None:
    users = Users()
    users.add("ann")
    users.add("bob")
    token = users.create_token("ann", 5)
    other = users.create_token("bob", 5)
    directory = directory_of(users)
    assert known(directory, token).user.name == "ann"
    assert known(directory, other).user.name == "bob"
    mixed = token[:13] + other[13:]
    for wrong in (
        "",
        "pst_",
        token[:-1],
        token + "x",
        token[:-1] + "~",
        mixed,
        "pst_AAAAAAAA_" + token[13:],
        "\u00e9" * 28,
    ):
        assert directory.authenticate(wrong.encode(), 0) is None
    assert id_of(token.encode()) == known(directory, token).which


def test_the_file_has_the_hash_and_not_the_secret(tmp_path: Path) -> None:
    file = UsersFile(tmp_path / "users.json")
    with file.edit() as users:
        users.add("ann").password = hash_password("correct horse")
        token = users.create_token("ann", 5, note="laptop")
    text = file.path.read_text()
    assert token[13:] not in text
    assert "correct horse" not in text
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600


def test_a_token_ends_with_its_time() -> None:
    users = Users()
    users.add("ann")
    token = users.create_token("ann", 5, expires_at=100)
    directory = directory_of(users)
    identity = known(directory, token, 99 * SECOND)
    assert directory.next_expiry(99 * SECOND) == 100
    assert directory.still_holds(identity, 99 * SECOND)
    assert not directory.still_holds(identity, 100 * SECOND)
    assert directory.authenticate(token.encode(), 100 * SECOND) is None
    assert directory.next_expiry(100 * SECOND) == 0


# -- what is taken away ------------------------------------------------------------------------------------------------


def test_whoever_lost_something_has_to_come_again_and_nobody_else() -> None:
    users = Users()
    for name in ("ann", "bob", "cid"):
        users.add(name)
        users.grant(name, "publish *")
        users.add_certificate(name, f"CN:{name}")
    tokens = {name: users.create_token(name, 0) for name in users.by_name}
    second = users.create_token("bob", 0)
    directory = directory_of(users)
    came = {name: known(directory, token) for name, token in tokens.items()}
    again = known(directory, second)
    by_certificate = directory.by_certificate(["DNS:nobody", "CN:cid"])
    assert by_certificate is not None
    publishable = came["ann"].user.publishable
    came["ann"].user.check_publish(b"e")

    users.grant("ann", "consume *")  # more is no reason to go
    users.revoke_token(came["bob"].which)
    users.remove_certificate("cid", "CN:cid")
    directory.replace(decode(encode(users)).by_name)
    assert directory.still_holds(came["ann"], 0)
    assert not publishable  # decided anew
    assert not directory.still_holds(came["bob"], 0)
    assert directory.still_holds(again, 0)
    assert directory.still_holds(came["cid"], 0)
    assert not directory.still_holds(by_certificate, 0)

    users.revoke("ann", "publish *")
    users.remove("bob")
    directory.replace(decode(encode(users)).by_name)
    assert not directory.still_holds(came["ann"], 0)
    assert directory.still_holds(known(directory, tokens["ann"]), 0)
    assert not directory.still_holds(again, 0)
    assert directory.authenticate(second.encode(), 0) is None


def test_a_new_password_ends_what_came_in_by_the_old_one() -> None:
    users = Users()
    users.add("ann").password = hash_password("correct horse")
    directory = directory_of(users)
    user = directory.users["ann"]
    assert is_password(user.password, "correct horse")
    assert not is_password(user.password, "correct horsf")
    assert not is_password("", "correct horse")
    identity = directory.by_password(user)
    assert directory.still_holds(identity, 0)
    users.user("ann").password = hash_password("battery staple")
    directory.replace(decode(encode(users)).by_name)
    assert not directory.still_holds(identity, 0)
    with pytest.raises(AccessError):
        hash_password("short")


def test_checking_a_password_takes_little_memory_and_one_core() -> None:
    """Anybody can have one checked. Hashes that ask for more, as those of 0.1.0 do, are still accepted."""
    asked = extract_parameters(hash_password("correct horse"))
    assert asked.memory_cost <= 20 << 10
    assert asked.parallelism == 1
    older = PasswordHasher(time_cost=3, memory_cost=64 << 10, parallelism=4).hash("correct horse")
    assert is_password(older, "correct horse")
    assert not is_password(older, "correct horsf")


# -- the file ----------------------------------------------------------------------------------------------------------


def test_everything_survives_the_file() -> None:
    users = Users()
    users.add("ann")
    for grant in ("publish orders.*", "consume queue:jobs", "admin"):
        users.grant("ann", grant)
    users.grant("ann", "admin")
    users.set_quota("ann", "connections=3")
    users.set_quota("ann", "bytes=1000")
    users.add_certificate("ann", "sha256:" + "AB:cd:" * 15 + "AB:cd")
    users.create_token("ann", 7, 9, "laptop")
    back = decode(encode(users))
    assert encode(back) == encode(users)
    assert [grant.text for grant in back.user("ann").grants] == ["publish orders.*", "consume queue:jobs", "admin"]
    assert back.user("ann").certificates == ["sha256:" + "abcd" * 16]
    assert back.user("ann").quotas.said() == {"connections": 3, "bytes": 1000}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b'{"version": 2, "users": {}}',
        b'{"version": 1, "users": []}',
        b'{"version": 1, "users": {"a b": {}}}',
        b'{"version": 1, "users": {"a": {"grants": ["fly *"]}}}',
        b'{"version": 1, "users": {"a": {"grants": "admin"}}}',
        b'{"version": 1, "users": {"a": {"rights": []}}}',
        b'{"version": 1, "users": {"a": {"quotas": {"connections": "1"}}}}',
        b'{"version": 1, "users": {"a": {"quotas": {"cows": 1}}}}',
        b'{"version": 1, "users": {"a": {"tokens": [{"id": "x"}]}}}',
        b'{"version": 1, "users": {"a": {"tokens": [{"id": "abcdefgh", "sha256": "\xc3\xa9"}]}}}',
        b'{"version": 1, "users": {"a": {"certificates": ["worker"]}}}',
        b'{"version": 1, "users": {"a": {"certificates": ["CN:x"]}, "b": {"certificates": ["CN:x"]}}}',
    ],
)
def test_a_file_that_makes_no_sense_is_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "users.json"
    path.write_bytes(data)
    with pytest.raises(AccessError, match=r"users\.json"):
        UsersFile(path).load()


def test_changes_that_make_no_sense_change_nothing(tmp_path: Path) -> None:
    file = UsersFile(tmp_path / "users.json")
    with file.edit() as users:
        users.add("ann")
    before = file.path.read_bytes()
    for change in (
        lambda users: users.add("ann"),
        lambda users: users.add("a b"),
        lambda users: users.remove("bob"),
        lambda users: users.revoke("ann", "publish *"),
        lambda users: users.revoke_token("abcdefgh"),
        lambda users: users.set_quota("ann", "connections"),
        lambda users: users.set_quota("ann", "cows=1"),
        lambda users: users.create_token("ann", 0, note="x" * 201),
        lambda users: users.add_certificate("ann", "sha256:::"),
        lambda users: users.add_certificate("ann", "sha256:" + "a" * 63),
        lambda users: users.add_certificate("ann", "sha256:" + "g" * 64),
        lambda users: users.add_certificate("ann", "CN:\udcff"),
        lambda users: users.user("ann").certificates.append("sha256:"),  # by whatever mistake: it could not be read
    ):
        with pytest.raises(AccessError), file.edit() as users:
            change(users)
    assert file.path.read_bytes() == before


@pytest.mark.parametrize("kind", ["symlink", "hard link", "pipe"])
def test_a_lock_that_is_another_file_is_not_touched(tmp_path: Path, kind: str) -> None:
    """Root edits the file of a broker that is somebody else, and who could have put anything there."""
    target, directory = tmp_path / "secret", tmp_path / "data"
    directory.mkdir()
    target.write_text("mine")
    target.chmod(0o640)
    file = UsersFile(directory / "users.json")
    lock = directory / "users.json.lock"
    if kind == "symlink":
        lock.symlink_to(target)
    elif kind == "hard link":
        lock.hardlink_to(target)
    else:
        os.mkfifo(lock)
    before = target.stat()
    with pytest.raises(AccessError, match=r"users\.json\.lock: is .*remove it"), file.edit() as users:
        users.add("ann")
    after = target.stat()
    assert target.read_text() == "mine"
    assert (after.st_uid, after.st_gid, after.st_mode) == (before.st_uid, before.st_gid, before.st_mode)
    assert not file.path.exists()


@pytest.mark.parametrize("kind", ["symlink", "hard link", "left over"])
def test_what_is_in_the_way_of_a_new_file_is_removed_and_not_followed(tmp_path: Path, kind: str) -> None:
    target, directory = tmp_path / "secret", tmp_path / "data"
    directory.mkdir()
    target.write_text("mine")
    target.chmod(0o640)
    new = directory / "users.json.new"
    if kind == "symlink":
        new.symlink_to(target)
    elif kind == "hard link":
        new.hardlink_to(target)
    else:
        new.write_text("half a fi")
    file = UsersFile(directory / "users.json")
    with file.edit() as users:
        users.add("ann")
    assert target.read_text() == "mine"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert list(file.load().by_name) == ["ann"]
    assert file.path.is_file()
    assert not file.path.is_symlink()


def test_changes_from_many_sides_are_all_kept(tmp_path: Path) -> None:
    path = tmp_path / "users.json"

    def add(first: int) -> None:
        for number in range(first, first + 5):
            with UsersFile(path).edit() as users:
                users.add(f"user{number}")

    threads = [threading.Thread(target=add, args=(first,)) for first in (0, 10, 20, 30)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    users = UsersFile(path).load()
    assert len(users.by_name) == 20
    assert users.serial == 20


def test_whoever_changes_the_file_can_wait_for_the_broker_that_uses_it(tmp_path: Path) -> None:
    mine, its = UsersFile(tmp_path / "users.json"), UsersFile(tmp_path / "users.json")
    assert mine.wait_until_seen(1, 0)  # nobody uses it
    its.say_seen(0)
    assert not mine.wait_until_seen(1, 0)
    its.say_seen(1)
    assert mine.wait_until_seen(1, 0)
    its.stop_seeing()
    assert mine.wait_until_seen(2, 0)
    assert stat.S_IMODE(its.seen_path.stat().st_mode) == 0o600


# -- the rest ----------------------------------------------------------------------------------------------------------


def test_a_certificate_has_a_fingerprint_its_alternative_names_and_its_common_name() -> None:
    certificate = {
        "subject": ((("organizationName", "x"),), (("commonName", "worker-1"),)),
        "subjectAltName": (("DNS", "w.example"), ("email", "w@example"), ("IP Address", "::1"), ("URI", "spiffe://w")),
    }
    names = names_of(certificate, b"der")
    assert names[0].startswith("sha256:")
    assert names[1:] == ["DNS:w.example", "email:w@example", "URI:spiffe://w", "CN:worker-1"]
    assert names_of(None) == []


def test_an_address_waits_longer_with_each_failure_and_is_forgiven_after_a_while() -> None:
    throttle = AuthThrottle(2)
    assert [throttle.failed("a", now * SECOND) // SECOND for now in range(12)] == [*range(1, 11), 10, 10]
    assert throttle.failed("b", 0) == SECOND
    assert throttle.failed("a", 200 * SECOND) == SECOND
    throttle.pending.add("a", 1)
    assert not throttle.is_full("a")
    throttle.pending.add("a", 2)
    assert throttle.is_full("a")
    assert not throttle.is_full("b")
    throttle.pending.remove("a", 1)
    assert not throttle.is_full("a")


def test_who_has_failed_is_closed_before_who_is_pending_and_the_oldest_first() -> None:
    pending: PendingConnections[int] = PendingConnections()
    for connection in range(4):
        pending.add("a" if connection else "b", connection)
    assert (len(pending), pending.first(), pending.first_of("a"), pending.first_of("c")) == (4, 0, 1, None)
    assert [pending.count(address) for address in "abc"] == [3, 1, 0]
    pending.put_first("a", 3)
    pending.put_first("a", 2)
    assert pending.all() == [3, 2, 0, 1]
    closed: list[int] = []
    while (first := pending.first()) is not None:
        closed.append(first)
        pending.remove("a" if first else "b", first)
        pending.remove("a", first)  # again, which does nothing
    assert closed == [3, 2, 0, 1]
    assert not pending._by_address


def test_failures_are_counted_by_key_forgiven_and_bounded() -> None:
    failures = FailureCounter(10.0)
    assert [failures.add("a", now) for now in (1.0, 2.0, 12.0, 22.5)] == [1, 2, 3, 1]
    assert failures.recent("a", 32.5) == (1, 22.5)
    assert failures.recent("a", 33.0) == (0, 0.0)
    assert (failures.take_back("a"), failures.take_back("a")) == (1, 0)
    failures.add("b", 1.0)
    failures.add("b", 2.0)
    assert failures.take_back("b") == 2
    assert failures.recent("b", 2.0) == (1, 2.0)
    failures.forget("b")
    assert failures.names() == []
    for number in range(KEYS_MAX):
        failures.add(str(number), 1.0)
    failures.add("0", 2.0)  # the most recent one now
    failures.add("one more", 2.0)
    assert len(failures) == KEYS_MAX
    assert (failures.recent("0", 2.0)[0], failures.recent("1", 2.0)[0]) == (2, 0)


def test_what_counts_as_one_address() -> None:
    assert address_of("10.0.0.1:4711") == "10.0.0.1"
    assert address_of("2001:db8:1:2:3:4:5:6:4711") == address_of("2001:db8:1:2::9:4712") == "2001:db8:1:2::"
    assert address_of("::ffff:10.0.0.1:4711") == "10.0.0.1"
    assert address_of("fe80::1%eth0:4711") == "fe80::"
    assert address_of("local") == "local"


def test_a_meter_lets_a_second_s_worth_go_at_once_and_the_rest_wait() -> None:
    meter = Meter()
    assert meter.charge(10**9, 0) == 0
    meter.set_rate(100)
    assert meter.charge(100, 10 * SECOND) == 0
    assert meter.charge(50, 10 * SECOND) == pytest.approx(0.5)
    assert meter.charge(0, 11 * SECOND) == 0
