"""Every protocol x {no token, wrong, revoked, right} x {each right there, missing}: exactly the allowed is possible.

One broker, a few dozen users, and a table of everything that can be asked by each protocol with the rights it needs.
For each line of the table come, one after the other: users who have just these rights on just these names, the same
rights on other names, everything but one right, one right alone, everything, nothing.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import pytest

from penstock.auth.rights import ADMIN, RIGHTS, ROLES
from penstock.auth.users import Users
from penstock.message import Message

from .conftest import DIALECTS, Dialect, GuardedBroker, IdentityProvider, Mqks, Mqmq, Rq, Sevx, Smqs, frame

OTHERS = [right for right in RIGHTS if right != ADMIN]

Effect = Callable[[GuardedBroker, bytes, bytes], bool]  # broker, name, what was said: whether it was done


class Line(NamedTuple):
    """One thing that can be asked. `{n}` in grants, and `name` in functions, is a name made up for each try."""

    label: str
    dialect: type[Dialect]
    request: Callable[[bytes], bytes]
    needs: tuple[str, ...]
    done: Effect
    refusal: bytes | Callable[[bytes], bytes]  # what the answer has when it is refused; empty where nothing is said
    there: tuple[bytes, ...] = ()  # queues that are there before; a `%s` is the name

    def rights(self) -> set[str]:
        return {need.partition(" ")[0] for need in self.needs}


def published(broker: GuardedBroker, name: bytes, said: bytes) -> bool:
    """Told by what the broker counts, see the test."""
    raise AssertionError


def consumed(broker: GuardedBroker, name: bytes, said: bytes) -> bool:
    return broker.consumers(name) == 1


def deleted(broker: GuardedBroker, name: bytes, said: bytes) -> bool:
    return not broker.has_queue(name)


def put(broker: GuardedBroker, name: bytes, said: bytes) -> bool:
    return broker.has_queue(name) and broker.ready(name) == 1


def moved(broker: GuardedBroker, name: bytes, said: bytes) -> bool:
    return broker.has_queue(name + b".to") and broker.ready(name + b".to") == 1


def shown(broker: GuardedBroker, name: bytes, said: bytes) -> bool:
    return name in said


def evaluated(broker: GuardedBroker, name: bytes, said: bytes) -> bool:
    return b"1 ok " in said


def got(broker: GuardedBroker, name: bytes, said: bytes) -> bool:
    """An empty queue: the answer is Timeout, and a queue that was not there is."""
    return frame(b"Timeout") in said and broker.has_queue(name)


ERROR = b"1 error "
DENIED = frame(b"Error", b"REQUEST_DENIED")

TABLE = [
    Line("publish", Mqks, lambda n: b"1 publish %s hello\n" % n, ("publish event:{n}",), published, ERROR),
    Line(
        "publish confirmed",
        Mqks,
        lambda n: b"1 publish --confirm %s hello\n" % n,
        ("publish event:{n}",),
        published,
        ERROR,
    ),
    Line(
        "consume",
        Mqks,
        lambda n: b"1 consume %s %s.e %s.f\n" % (n, n, n),
        ("consume queue:{n}", "consume event:{n}.[ef]"),
        consumed,
        ERROR,
        (b"%s",),
    ),
    Line(
        "consume a new queue",
        Mqks,
        lambda n: b"1 consume %s %s\n" % (n, n),
        ("consume {n}", "declare queue:{n}"),
        consumed,
        ERROR,
    ),
    Line(
        "consume, delete when unused",
        Mqks,
        lambda n: b"1 consume --delete-queue-when-unused=5 %s %s\n" % (n, n),
        ("consume {n}", "delete queue:{n}"),
        consumed,
        ERROR,
        (b"%s",),
    ),
    Line("delete_queue", Mqks, lambda n: b"1 delete_queue %s\n" % n, ("delete queue:{n}",), deleted, ERROR, (b"%s",)),
    Line(
        "redrive",
        Mqks,
        lambda n: b"1 redrive %s --to=%s.to\n" % (n, n),
        ("consume queue:{n}", "publish queue:{n}.to"),
        moved,
        ERROR,
        (b"%s", b"%s.to"),
    ),
    Line(
        "redrive to a new queue",
        Mqks,
        lambda n: b"1 redrive %s --to=%s.to\n" % (n, n),
        ("consume queue:{n}", "publish queue:{n}.to", "declare queue:{n}.to"),
        moved,
        ERROR,
        (b"%s",),
    ),
    Line("_eval", Mqks, lambda n: b"1 _eval 1\n", ("admin",), evaluated, ERROR),
    Line("send", Sevx, lambda n: b'1 send {"event": "%s"}\n' % n, ("publish event:{n}",), published, ERROR),
    Line(
        "send with flags",
        Sevx,
        lambda n: b'1 send --ttl=60 {"event": "%s"}\n' % n,
        ("publish event:{n}",),
        published,
        ERROR,
    ),
    Line(
        "recv",
        Sevx,
        lambda n: b'1 recv {"queue": "%s", "pattern": {"event": "%s", "a": 1}}\n' % (n, n),
        ("consume {n}",),
        consumed,
        ERROR,
        (b"%s",),
    ),
    Line(
        "recv of any event",
        Sevx,
        lambda n: b'1 recv {"queue": "%s", "pattern": {"a": {"event": "%s"}}}\n' % (n, n),
        ("consume queue:{n}", "consume event:*"),
        consumed,
        ERROR,
        (b"%s",),
    ),
    Line(
        "recv of a new queue",
        Sevx,
        lambda n: b'1 recv {"queue": "%s", "pattern": {"event": "%s"}}\n' % (n, n),
        ("consume {n}", "declare queue:{n}"),
        consumed,
        ERROR,
    ),
    Line(
        "delete_queue",
        Sevx,
        lambda n: b'1 delete_queue {"queue": "%s"}\n' % n,
        ("delete queue:{n}",),
        deleted,
        ERROR,
        (b"%s",),
    ),
    Line(
        "redrive",
        Sevx,
        lambda n: b'1 redrive {"queue": "%s", "to": "%s.to"}\n' % (n, n),
        ("consume queue:{n}", "publish queue:{n}.to"),
        moved,
        ERROR,
        (b"%s", b"%s.to"),
    ),
    Line("_eval", Sevx, lambda n: b'1 _eval {"code": "1"}\n', ("admin",), evaluated, ERROR),
    Line("M", Smqs, Smqs.publish, ("publish queue:{n}",), put, b"", (b"%s",)),
    Line("M to a new queue", Smqs, Smqs.publish, ("publish queue:{n}", "declare queue:{n}"), put, b""),
    Line("C", Smqs, Smqs.consume, ("consume queue:{n}",), consumed, b"UNKNOWN_TYPE\n", (b"%s",)),
    Line(
        "C of a new queue",
        Smqs,
        Smqs.consume,
        ("consume queue:{n}", "declare queue:{n}"),
        consumed,
        b"UNKNOWN_TYPE\n",
    ),
    Line("S", Smqs, lambda n: b"", ("browse queue:{n}",), shown, b"", (b"%s",)),
    Line("Put", Mqmq, Mqmq.publish, ("publish queue:{n}",), put, DENIED, (b"%s",)),
    Line("Put into a new queue", Mqmq, Mqmq.publish, ("publish queue:{n}", "declare queue:{n}"), put, DENIED),
    Line("Get", Mqmq, Mqmq.consume, ("consume queue:{n}",), got, DENIED, (b"%s",)),
    Line("Get from a new queue", Mqmq, Mqmq.consume, ("consume queue:{n}", "declare queue:{n}"), got, DENIED),
    Line("Info", Mqmq, lambda n: b"", ("browse queue:{n}",), shown, b"", (b"%s",)),
    Line("REQUEST", Rq, Rq.publish, ("publish queue:{n}",), put, b"\x01\x80\0\0\0\x07\x10", (b"%s",)),
    Line(
        "REQUEST to a new queue",
        Rq,
        Rq.publish,
        ("publish queue:{n}", "declare queue:{n}"),
        put,
        b"\x01\x80\0\0\0\x07\x10",
    ),
    Line(
        "BROADCAST",
        Rq,
        lambda n: b"\x01\xa0%c%s\xe0\0\0\0\5hello\x0e" % (len(n), n),
        ("publish queue:{n}",),
        published,
        b"",
    ),
    Line(
        "CONSUME",
        Rq,
        Rq.consume,
        ("consume queue:{n}",),
        consumed,
        lambda n: b"\x01\xa0%c%s\x1b" % (len(n), n),
        (b"%s",),
    ),
    Line(
        "CONSUME of a new queue",
        Rq,
        Rq.consume,
        ("consume queue:{n}", "declare queue:{n}"),
        consumed,
        lambda n: b"\x01\xa0%c%s\x1b" % (len(n), n),
    ),
]
IDS = [f"{line.dialect.name} {line.label}" for line in TABLE]


def name_for(line: Line, kind: str) -> bytes:
    return f"{TABLE.index(line)}-{kind}".encode()


def grants_for(line: Line, kind: str) -> list[str]:
    """What a user of that kind is granted, for this line of the table."""
    if kind == "exact":
        return [need.replace("{n}", name_for(line, kind).decode()) for need in line.needs]
    if kind == "elsewhere":
        elsewhere = [need.replace("{n}", "elsewhere") for need in line.needs if need != ADMIN]
        return [need.replace("event:*", "event:elsewhere*") for need in elsewhere]
    raise ValueError(kind)


KINDS = ["exact", "elsewhere", "nothing", ADMIN, *(f"without-{r}" for r in OTHERS), *(f"only-{r}" for r in OTHERS)]
KINDS += [f"{way}-{role}" for way in ("role", "jwt") for role in ROLES] + ["jwt-admin"]


def is_allowed(line: Line, kind: str) -> bool:
    needs = line.rights()
    way, _, role = kind.partition("-")
    if way in ("role", "jwt") and role in ROLES:
        return needs <= set(ROLES[role])
    if kind in ("exact", ADMIN, "jwt-admin"):
        return True
    if kind.startswith("without-"):
        return ADMIN not in needs and kind.removeprefix("without-") not in needs
    if kind.startswith("only-"):
        return needs == {kind.removeprefix("only-")}
    return False


def all_users(users: Users) -> dict[str, str]:
    """The token of each, by the name of the user."""
    wanted: dict[str, list[str]] = {"nothing": [], ADMIN: [ADMIN]}
    for role in ROLES:
        wanted[f"role-{role}"] = [f"{role} *"]
    for right in OTHERS:
        wanted[f"only-{right}"] = [right if right == "read-log" else f"{right} *"]
        wanted[f"without-{right}"] = [r if r == "read-log" else f"{r} *" for r in OTHERS if r != right]
    for index, line in enumerate(TABLE):
        for kind in ("exact", "elsewhere"):
            wanted[f"{kind}-{index}"] = grants_for(line, kind)
    tokens: dict[str, str] = {}
    for name, grants in wanted.items():
        users.add(name)
        for grant in grants:
            users.grant(name, grant)
        tokens[name] = users.create_token(name, 0)
    users.add("revoked")
    tokens["revoked"] = users.create_token("revoked", 0)
    users.revoke_token(tokens["revoked"].split("_")[1])
    return tokens


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GuardedBroker]:
    folder = tmp_path_factory.mktemp("matrix")
    provider = IdentityProvider(folder)
    broker = GuardedBroker(folder / "users.json", auth="on", http="off", **provider.settings)
    with broker.file.edit() as users:
        broker.tokens = all_users(users)
    for role in (*ROLES, ADMIN):
        broker.tokens[f"jwt-{role}"] = provider.token(role)
    broker.start()
    yield broker
    broker.stop()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("line", TABLE, ids=IDS)
def test_exactly_what_was_granted_is_possible(guarded: GuardedBroker, line: Line, kind: str) -> None:
    index = TABLE.index(line)
    token = guarded.tokens[f"{kind}-{index}" if kind in ("exact", "elsewhere") else kind]
    name = name_for(line, kind)
    guarded.declare(*[queue.replace(b"%s", name) for queue in line.there])
    if line.done is moved:
        source = Message(b"id", name, b"dead", 0, "mqks")
        guarded.call(lambda: guarded.node.broker.put(name, source))
    dialect = line.dialect
    client = guarded.connect(dialect.name)
    before = guarded.published()
    said = dialect.ask(client, dialect.auth(token) + line.request(name))
    if line.done is published:
        was_done = guarded.published() == before + 1
    else:
        was_done = line.done(guarded, name, said)
    refusal = line.refusal if isinstance(line.refusal, bytes) else line.refusal(name)
    assert was_done == is_allowed(line, kind), said
    assert said.startswith(dialect.welcome())
    if refusal:
        assert (refusal in said) != was_done, said
    assert dialect.ask(client, b"")  # the connection goes on, whatever was refused
    client.close()


# -- who ---------------------------------------------------------------------------------------------------------------

DOORS = [(dialect, door) for dialect in DIALECTS for door in (dialect.name, "any")]
DOOR_IDS = [f"{dialect.name} at {door}" for dialect, door in DOORS]
NOBODYS = "pst_AAAAAAAA_" + "x" * 43


@pytest.mark.parametrize(("dialect", "door"), DOORS, ids=DOOR_IDS)
@pytest.mark.parametrize("kind", ["wrong", "wrong secret", "misshapen", "revoked"])
def test_a_wrong_token_is_refused_once_and_the_door_closes(
    guarded: GuardedBroker, dialect: type[Dialect], door: str, kind: str
) -> None:
    right = guarded.tokens[ADMIN]
    wrong_secret = right[:13] + NOBODYS[13:]
    token = {"wrong": NOBODYS, "wrong secret": wrong_secret, "misshapen": "hello", "revoked": guarded.tokens["revoked"]}
    client = guarded.connect(door)
    before = guarded.published()
    client.send(dialect.auth(token[kind]) + dialect.publish(b"never") + dialect.fence)
    assert client.closed_by_peer()
    assert client.buffer.startswith(dialect.auth_error)
    assert client.buffer.removeprefix(dialect.auth_error).strip().isalnum() == (dialect.auth_error == b"a error ")
    assert guarded.published() == before
    client.close()


@pytest.mark.parametrize(("dialect", "door"), DOORS, ids=DOOR_IDS)
def test_without_a_token_nothing_is_done(guarded: GuardedBroker, dialect: type[Dialect], door: str) -> None:
    client = guarded.connect(door)
    before = guarded.published()
    client.send(dialect.publish(b"never") + dialect.publish(b"never") + dialect.fence)
    assert client.closed_by_peer()
    if dialect.silent:
        assert client.buffer == b""
    elif dialect.name in ("mqks", "sevx"):
        assert client.buffer.startswith(b"1 error ")
        assert client.buffer.count(b"\n") == 1
    else:
        assert client.buffer == dialect.auth_error
    assert guarded.published() == before
    client.close()


@pytest.mark.parametrize(("dialect", "door"), DOORS, ids=DOOR_IDS)
@pytest.mark.parametrize("step", [1, 7, 10**6])
def test_a_right_token_opens_the_door_wherever_the_reads_are_cut(
    guarded: GuardedBroker, dialect: type[Dialect], door: str, step: int
) -> None:
    client = guarded.connect(door)
    before = guarded.published()
    data = dialect.auth(guarded.tokens[ADMIN]) + dialect.publish(b"e") + dialect.publish(b"e")
    for at in range(0, len(data), step):
        client.send(data[at : at + step])
    said = dialect.ask(client, b"")
    assert said.startswith(dialect.welcome())
    assert guarded.published() == before + 2
    client.close()
