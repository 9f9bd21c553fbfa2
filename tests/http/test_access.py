"""Who may do what over HTTP: every operation, with no token, a wrong one, without the right, with it."""

import asyncio
import http.client
import json
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from fastapi import APIRouter

from penstock.auth.directory import Directory
from penstock.auth.passwords import hash_password
from penstock.auth.rights import ADMIN, NAMELESS, OPERATOR, READ_LOG, RIGHTS, ROLES
from penstock.auth.throttle import FORGIVEN_SECONDS, KEYS_MAX, LoginThrottle
from penstock.auth.user import User
from penstock.cli import main as cli
from penstock.http import authenticator as authenticator_module
from penstock.http import leases as leases_module
from penstock.http import publish
from penstock.http.console_sessions import LOGINS_OF_USER_MAX, ConsoleSessions, digest_of
from penstock.http.permissions import (
    HEALTH_PATHS,
    OPEN_FOLDERS,
    OPEN_PATHS,
    PERMISSIONS,
    PROBE_PATHS,
    AuthorizedRoute,
    is_open,
)
from penstock.http.problems import Problem
from penstock.message import Message
from penstock.wire.ids import random_id

from ..auth.conftest import GuardedBroker, IdentityProvider
from .conftest import Answer, Api, Open

PASSWORD = "correct horse battery"
WRONG = "pst_" + "0" * 8 + "_" + "A" * 43
COOKIE = re.compile(r"(\S+?)=([^;]*); (.*)")

# What an operation needs besides, for the example that the document has of it.
MORE = {
    "PUT /v1/queues/{name}": ["consume event:*"],
    "POST /v1/queues/{name}/move": ["publish *", "declare *"],
    "POST /v1/queues/{name}/copy": ["publish *", "declare *"],
}
# The page and the document itself.
UNDOCUMENTED = ("GET /", "GET /console/{name:path}", "GET /openapi.json")
# What a path and a query need to be whole.
WORDS = {"name": "orders", "id": "none", "offset": "0", "writer": "w"}
QUERIES = {
    "GET /metrics/detail": {"queue": "orders"},
    "DELETE /v1/leases": {"owner": "nobody"},
    "DELETE /v1/users/{name}/grants": {"grant": "admin"},
    "DELETE /v1/users/{name}/certificates": {"certificate": "CN:none"},
}


def granted(right: str) -> str:
    return right if right in NAMELESS else f"{right} *"


def all_but(rights: tuple[str, ...]) -> list[str]:
    """Every right there is besides those; not admin, which includes them."""
    return [granted(right) for right in RIGHTS if right not in (*rights, ADMIN)]


class Guarded(GuardedBroker):
    """A broker that knows users, and asks as any of them."""

    @property
    def authenticator(self) -> Any:
        server = self.node.http._server  # type: ignore[union-attr]
        assert server is not None
        return server.context.authenticator

    def api(self) -> Api:
        api = Api(self.ports["http"])
        api.get("/healthz")  # it is loaded now
        return api

    def add_person(self, name: str, *grants: str) -> None:
        """With a password."""
        self.add(name, *grants)
        self.change(lambda users: setattr(users.user(name), "password", HASHED))


HASHED = hash_password(PASSWORD)


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    folder = tmp_path_factory.mktemp("guarded")
    provider = IdentityProvider(folder)
    broker = Guarded(folder / "users.json", memory=False, data=folder / "data", **provider.settings)
    broker.start()
    for role in (*ROLES, ADMIN):
        broker.tokens[f"jwt {role}"] = provider.token(role)
    broker.add("root", ADMIN)
    yield broker
    broker.stop()


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Guarded]:
    """One that may be hurt."""
    broker = Guarded(tmp_path / "users.json")
    broker.start()
    broker.add("root", ADMIN)
    yield broker
    broker.stop()


@pytest.fixture
def api(guarded: Guarded) -> Iterator[Api]:
    api = guarded.api()
    yield api
    api.close()


# -- every operation ---------------------------------------------------------------------------------------------------


def status_of(port: int, method: str, path: str, body: object, headers: dict[str, str]) -> tuple[int, Any]:
    """Without reading an answer that does not end."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        data = None if body is None else json.dumps(body).encode()
        connection.request(method, path, data, {**headers, "content-type": "application/json"})
        response = connection.getresponse()
        problem = response.headers.get("content-type") == "application/problem+json"
        return response.status, json.loads(response.read()) if problem else dict(response.headers)
    finally:
        connection.close()


def test_every_operation_has_a_need_and_keeps_to_it(guarded: Guarded, api: Api) -> None:
    root = bearer(guarded.tokens["root"])
    document = api.get("/openapi.json").json
    operations = {f"{m.upper()} {p}": o for p, item in document["paths"].items() for m, o in item.items()}
    assert set(operations) == set(PERMISSIONS) - set(UNDOCUMENTED)
    inside = guarded.authenticator
    inside.of_tokens.free = 10**9  # this is about rights
    tokens: dict[str, str] = {}

    def add_users(users: Any) -> None:
        for place, (operation, need) in enumerate(PERMISSIONS.items()):
            for kind, grants in {
                "with": [*[granted(right) for right in need.rights[:1]], *MORE.get(operation, [])],
                "without": all_but(need.rights),
            }.items():
                users.add(f"{kind}{place}")
                for grant in grants:
                    users.grant(f"{kind}{place}", grant)
                tokens[f"{kind} {operation}"] = users.create_token(f"{kind}{place}", 0)
        users.revoke_token(users.create_token("root", 0).split("_")[1])

    guarded.change(add_users)
    revoked = str(guarded.change(lambda users: users.create_token("root", 0)))
    guarded.change(lambda users: users.revoke_token(revoked.split("_")[1]))
    for name in ("orders", "orders.slow"):
        assert api.ask("PUT", f"/v1/queues/{name}", {}, **root).status == 201

    for operation, described in operations.items():
        need = PERMISSIONS[operation]
        method, path = operation.split(" ")
        for word, value in WORDS.items():
            path = path.replace(f"{{{word}}}", value)
        path += f"?{urlencode(QUERIES[operation])}" if operation in QUERIES else ""
        content = described.get("requestBody", {}).get("content", {}).get("application/json", {})
        body = content.get("example")
        assert described["x-penstock-needs"] == need.text
        assert ("security" in described) is not need.is_open

        def ask(headers: dict[str, str], method: str = method, path: str = path, body: Any = body) -> tuple[int, Any]:
            return status_of(guarded.ports["http"], method, path, body, headers)

        if need.is_open:
            assert ask({})[0] in (200, 401), operation  # the login itself, with a wrong password
            continue
        status, problem = ask({})
        assert (status, problem["type"]) == (401, "/problems/unknown-user"), operation
        for token in (WRONG, revoked, "", "short"):
            status, problem = ask(bearer(token))
            assert (status, problem["type"]) == (401, "/problems/wrong-token"), operation
            assert not token or token not in json.dumps(problem)
        status, problem = ask(bearer(tokens[f"without {operation}"]))
        if need.rights:
            assert (status, problem["type"]) == (403, "/problems/denied"), operation
            assert "user 'without" in problem["detail"]
            assert need.rights[0] in problem["detail"]
        else:
            assert status not in (401, 403), (operation, problem)
        status, problem = ask(bearer(tokens[f"with {operation}"]))
        assert status not in (401, 403, 500), (operation, problem)
        if method == "DELETE" and path == "/v1/queues/orders":
            assert api.ask("PUT", "/v1/queues/orders", {}, **root).status == 201
    assert not guarded.reported("http.failed")


@pytest.mark.parametrize("way", ["role", "jwt"])
@pytest.mark.parametrize("role", ROLES)
def test_a_role_does_what_its_rights_do_and_nothing_else(guarded: Guarded, api: Api, way: str, role: str) -> None:
    """By a token of ours, and by one of an identity provider: every operation there is."""
    token = guarded.tokens[f"jwt {role}"] if way == "jwt" else guarded.add(f"a-{role}", f"{role} *")
    root = bearer(guarded.tokens["root"])
    rights = {*ROLES[role], *([READ_LOG] if role == OPERATOR else [])}
    allowed: set[str] = set()
    document = api.get("/openapi.json", **root).json
    for operation, need in PERMISSIONS.items():
        if need.is_open or operation == "GET /v1/live":
            continue
        api.ask("PUT", "/v1/queues/orders", {}, **root)
        method, path = operation.split(" ")
        described = document["paths"].get(path, {}).get(method.lower(), {})
        body = described.get("requestBody", {}).get("content", {}).get("application/json", {}).get("example")
        for word, value in WORDS.items():
            path = path.replace(f"{{{word}}}", value)
        path += f"?{urlencode(QUERIES[operation])}" if operation in QUERIES else ""
        status, answer = status_of(guarded.ports["http"], method, path, body, bearer(token))
        assert status not in (401, 500), (operation, answer)
        if need.rights and not rights & set(need.rights):
            assert status == 403, (operation, answer)
        elif operation not in MORE or role == OPERATOR:
            assert status != 403, (operation, answer)
            allowed.add(operation)
    assert ("POST /v1/queues/{name}/pause" in allowed) == (role == OPERATOR)
    assert not [operation for operation in allowed if "/users" in operation or "/tokens" in operation]


def test_what_is_open_to_everybody_is_the_table_and_the_document(guarded: Guarded) -> None:
    ask = partial(status_of, guarded.ports["http"], "GET", body=None, headers={})
    assert {path for path in OPEN_PATHS if ask(path=path)[0] == 200} == set(OPEN_PATHS)
    assert OPEN_FOLDERS == ("/console/",)
    assert (("/healthz", "/readyz"), (*HEALTH_PATHS, "/metrics", "/metrics/detail")) == (HEALTH_PATHS, PROBE_PATHS)
    assert not is_open("/metrics", False)
    assert is_open("/metrics", True)
    assert not any(is_open(path, True) for path in ("/metrics/detail", "/console", "/healthz/", "/v1/session/x", ""))
    text = (Path(__file__).parents[2] / "docs" / "http.md").read_text()
    (row,) = [line for line in text.splitlines() if line.startswith("| none |")]
    assert set(re.findall(r"`(/\S+)`", row)) == set(OPEN_PATHS) - {"/"}


def test_an_operation_nobody_decided_on_cannot_be_made() -> None:
    with pytest.raises(KeyError, match="/v1/new"):
        APIRouter(route_class=AuthorizedRoute).get("/v1/new")(lambda: None)


def test_where_nobody_is_known_nothing_has_changed(fresh: Guarded, start_broker: Any, open_api: Open) -> None:
    api = open_api(start_broker())
    assert api.get("/v1/queues").status == 200
    assert api.get("/v1/queues", authorization=f"Bearer {WRONG}").status == 200
    assert api.get("/v1/me").json == {
        "authentication": False,
        "user": None,
        "by": None,
        "which": None,
        "admin": True,
        "grants": ["admin"],
        "roles": [],
        "quotas": {},
        "use": None,
        "expires_at": None,
    }
    assert api.post("/v1/users", {"name": "ada"}).problem == "conflict"  # the first one is made by a command
    assert api.get("/v1/users").json["authentication"] is False
    assert api.post("/v1/session", {"user": "ada", "password": PASSWORD}).problem == "conflict"


# -- names in bodies ---------------------------------------------------------------------------------------------------


def test_what_names_are_in_a_body_is_checked_as_well(guarded: Guarded, api: Api) -> None:
    some = bearer(guarded.add("some", "publish a.*", "consume a.*", "browse a.*", "declare a.*", "delete queue:a.old"))
    root = bearer(guarded.tokens["root"])
    for name in ("a.in", "a.out", "a.old", "b"):
        assert api.ask("PUT", f"/v1/queues/{name}", {}, **root).status == 201

    before = guarded.published()

    def refused(answer: Answer, what: str) -> None:
        assert answer.problem == "denied"
        assert answer.json["detail"] == f"user 'some' lacks the right: {what}"

    refused(api.post("/v1/publish", {"event": "b.x", "body": ""}, **some), "publish event 'b.x'")
    refused(api.post("/v1/publish", {"queue": "b", "body": ""}, **some), "publish queue 'b'")
    refused(api.post("/v1/stages", {"queue": "b", "body": ""}, **some), "publish queue 'b'")
    refused(api.ask("PUT", "/v1/queues/a.in", {"events": ["a.x", "b.x"]}, **some), "consume event 'b.x'")
    refused(api.ask("PUT", "/v1/queues/a.in", {"patterns": [{"event": "b"}]}, **some), "consume event 'b'")
    refused(api.ask("PUT", "/v1/queues/a.in", {"patterns": [{"x": 1}]}, **some), "consume event '*'")
    refused(api.ask("PUT", "/v1/queues/a.in", {"expires_after_seconds": 1}, **some), "delete queue 'a.in'")
    for verb in ("move", "copy"):
        refused(api.post(f"/v1/queues/a.in/{verb}", {"to": "b"}, **some), "publish queue 'b'")
    refused(api.post("/v1/queues/a.in/redrive", {"to": "b"}, **some), "publish queue 'b'")
    refused(api.get("/metrics/detail?queue=a.in&queue=b", **some), "browse queue 'b'")
    refused(api.get("/v1/bindings?queue=b", **some), "browse queue 'b'")
    refused(api.get("/v1/live?queue=b", **some), "browse queue 'b'")
    assert guarded.published() == before
    assert guarded.ready(b"b") == 0

    assert api.post("/v1/publish", {"event": "a.x", "body": ""}, **some).status == 201
    assert api.post("/v1/publish", {"queue": "a.new", "body": ""}, **some).status == 201
    assert api.ask("PUT", "/v1/queues/a.in", {"events": ["a.x"], "patterns": [{"event": "a.y"}]}, **some).status == 200
    assert api.ask("PUT", "/v1/queues/a.old", {"expires_after_seconds": 3600}, **some).status == 200
    assert api.post("/v1/queues/a.new/move", {"to": "a.out"}, **some).json["moved"] == 1
    # A new queue is declared by whoever puts something into it.
    only = bearer(guarded.add("only", "publish *", "consume queue:*"))
    assert api.post("/v1/publish", {"queue": "c", "body": ""}, **only).problem == "denied"
    assert api.post("/v1/publish", {"queue": "b", "body": ""}, **only).status == 201
    assert api.post("/v1/queues/b/move", {"to": "c"}, **only).problem == "denied"


def test_a_batch_with_one_message_too_many_is_refused_whole(guarded: Guarded, api: Api) -> None:
    pa = pytest.importorskip("pyarrow")
    token = bearer(guarded.add("batcher", "publish event:ok"))
    before = guarded.published()
    table = pa.table({"event": ["ok"] * 3 + ["not"], "body": [b""] * 4})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    arrow = {"content_type": "application/vnd.apache.arrow.stream"}
    assert api.post("/v1/publish", sink.getvalue().to_pybytes(), **token, **arrow).problem == "denied"
    assert guarded.published() == before


def test_lists_show_what_may_be_browsed(guarded: Guarded, api: Api) -> None:
    root = bearer(guarded.tokens["root"])
    some = bearer(guarded.add("looker", "browse shown.*", "publish event:seen"))
    for name in ("shown.1", "shown.2", "hidden.1"):
        api.ask("PUT", f"/v1/queues/{name}", {"events": ["seen"]}, **root)
    client = guarded.connect("mqks")
    client.send(
        b"a auth %s\nc consume --confirm hidden.1 seen\nd consume --confirm shown.1 seen\n" % root_token(guarded)
    )
    client.lines(3)

    assert [row["name"] for row in api.get("/v1/queues", **some).json["queues"]] == ["shown.1", "shown.2"]
    assert api.get("/v1/queues", **some).json["total"] == 2
    assert {row["queue"] for row in api.get("/v1/bindings", **some).json["bindings"]} == {"shown.1", "shown.2"}
    assert {row["queue"] for row in api.get("/v1/bindings?event=seen", **some).json["bindings"]} == {
        "shown.1",
        "shown.2",
    }
    consumers = api.get("/v1/consumers", **some).json
    assert (consumers["total"], [row["queue"] for row in consumers["consumers"]]) == (1, ["shown.1"])
    reached = api.post("/v1/route", {"event": "seen", "body": ""}, **some).json["queues"]
    assert [row["name"] for row in reached] == ["shown.1", "shown.2"]
    assert api.get("/v1/connections", **some).json["total"] == 0
    rows = api.get("/v1/connections", **root).json["connections"]
    assert [row["user"] for row in rows if row["protocol"] == "mqks"] == ["root"]
    assert api.get("/v1/queues/hidden.1", **some).problem == "denied"
    assert api.get("/v1/queues/hidden.none", **some).problem == "denied"  # whether it is there is nobody's business
    assert api.get("/v1/overview", **some).json["storage"]["directory"] is None
    assert api.get("/v1/overview", **root).json["storage"]["directory"]
    client.close()


def root_token(guarded: Guarded) -> bytes:
    return guarded.tokens["root"].encode()


def test_stages_and_leases_are_their_users_own(guarded: Guarded, api: Api) -> None:
    one = bearer(guarded.add("one", "publish *", "declare *", "consume *"))
    other = bearer(guarded.add("other", "publish *", "declare *", "consume *"))
    stage = api.post("/v1/stages", {"queue": "own", "body": "x"}, **one).json["stage"]
    commit = {"writer": "w", "batch": 1, "stages": [stage]}
    assert api.post("/v1/commits", commit, **other).problem == "not-found"
    assert api.ask("DELETE", f"/v1/stages/{stage}", **other).problem == "not-found"
    assert api.post("/v1/commits", commit, **one).status == 201
    lease = api.post("/v1/queues/own/leases", {"owner": "o"}, **one).headers["penstock-lease"]
    assert api.post(f"/v1/leases/{lease}/accept", **other).problem == "not-found"
    assert api.ask("DELETE", "/v1/leases?owner=o", **other).json["leases"] == 0
    assert api.ask("DELETE", "/v1/leases?owner=o", **bearer(guarded.tokens["root"])).json["messages"] == 1


def test_metrics_need_browse_on_everything_or_a_word_in_the_settings(
    guarded: Guarded, api: Api, tmp_path: Path
) -> None:
    assert api.get("/metrics").problem == "unknown-user"
    assert api.get("/metrics", **bearer(guarded.add("part", "browse a.*"))).problem == "denied"
    text = api.get("/metrics", **bearer(guarded.add("prometheus", "browse *"))).text
    assert 'penstock_user_denied_total{user="part"} 1' in text
    assert "penstock_users " in text
    assert "pst_" not in text
    opened = Guarded(tmp_path / "users.json", metrics_open=True)
    opened.start()
    try:
        opened.add("root", ADMIN)
        api = opened.api()
        assert api.get("/metrics").status == 200
        assert api.get("/v1/queues").status == 401
        api.close()
    finally:
        opened.stop()


def test_quotas_hold_over_http(guarded: Guarded, api: Api) -> None:
    token = bearer(guarded.add("busy", "publish *", "declare *", bytes=10))
    assert api.post("/v1/publish", {"event": "e", "body": "x" * 5000}, **token).status == 201
    late = api.post("/v1/publish", {"event": "e", "body": "x"}, **token)
    assert late.problem == "over-quota"
    assert int(late.headers["retry-after"]) > 60
    maker = bearer(guarded.add("maker", "declare *", queues=1))
    assert api.ask("PUT", "/v1/queues/made.1", {}, **maker).status == 201
    refused = api.ask("PUT", "/v1/queues/made.2", {}, **maker)
    assert (refused.problem, "queues is 1" in refused.json["detail"]) == ("over-limit", True)


def test_a_token_is_shown_though_its_user_goes_at_the_same_time(fresh: Guarded, monkeypatch: Any) -> None:
    api = fresh.api()
    fresh.add("short")
    user_reloader = fresh.node.user_reloader
    reload = user_reloader.reload

    def go_first() -> None:
        """Once the token is made: the broker also comes here by itself, when it sees that the file has changed."""
        with fresh.file.edit() as users:
            if "short" in users.by_name and len(users.user("short").tokens) == 2:
                users.remove("short")
        reload()

    monkeypatch.setattr(user_reloader, "reload", go_first)
    made = api.post("/v1/tokens", {"user": "short"}, **bearer(fresh.tokens["root"]))
    monkeypatch.undo()
    assert (made.status, made.json["user"]) == (201, "short")
    assert "short" not in fresh.file.load().by_name
    assert made.json["token"].split("_")[1] == made.json["id"]
    api.close()


def test_a_writers_name_is_its_users_own(tmp_path: Path) -> None:
    def start() -> tuple[Guarded, Api]:
        broker = Guarded(tmp_path / "users.json", memory=False, data=tmp_path / "data")
        broker.start()
        return broker, broker.api()

    api: Api

    def commit(batch: int, who: dict[str, str], body: str = "x") -> Answer:
        stage = api.post("/v1/stages", {"queue": "own", "body": body}, **who).json["stage"]
        return api.post("/v1/commits", {"writer": "w", "batch": batch, "stages": [stage]}, **who)

    broker, api = start()
    # Before users had names.
    assert commit(3, {}).status == 201
    one, other = (bearer(broker.add(name, "publish *", "declare *")) for name in ("one", "other"))
    assert commit(3, one).json["duplicate"] is True
    assert commit(1000, other).status == 201
    assert api.get("/v1/commits/w", **one).json["batch"] == 3
    assert api.get("/v1/commits/other%00w", **one).status == 422
    assert commit(4, one).json["duplicate"] is False
    nothing = api.post("/v1/commits", {"writer": "w", "batch": 2000, "stages": []}, **other)
    assert (nothing.problem, nothing.json["errors"][0]["field"]) == ("invalid", "body.stages")
    api.close()
    broker.stop()
    broker, api = start()
    assert commit(4, one).json["duplicate"] is True
    assert [api.get("/v1/commits/w", **who).json["batch"] for who in (one, other)] == [4, 1000]
    api.close()
    broker.stop()


def test_what_the_broker_says_of_a_message_nobody_else_does(guarded: Guarded, api: Api) -> None:
    root = bearer(guarded.tokens["root"])
    headers = {"dead-queue": "elsewhere", "trace": "1"}
    assert api.post("/v1/publish", {"queue": "headed", "body": "", "headers": headers}, **root).status == 201
    (message,) = api.get("/v1/queues/headed/messages", **root).json["messages"]
    assert message["headers"] == {"trace": "1"}
    refused = api.post("/v1/publish", {"queue": "headed", "body": "", "headers": {".id": "x"}}, **root)
    assert (refused.problem, refused.json["errors"][0]["field"]) == ("invalid", "body.headers")


def arrow_of(**columns: list[str]) -> bytes:
    pa = pytest.importorskip("pyarrow")
    table = pa.table(columns)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def test_a_batch_is_checked_once_for_each_name_and_in_slices(guarded: Guarded, api: Api, monkeypatch: Any) -> None:
    many = bearer(guarded.add("many", "publish queue:one", "declare *"))
    checked: list[bytes] = []
    check_message = publish.check_message

    def counted(message: Message, authorizer: Any, broker: Any) -> None:
        checked.append(message.event)
        check_message(message, authorizer, broker)

    monkeypatch.setattr(publish, "check_message", counted)
    send = {"content_type": "application/vnd.apache.arrow.stream", **many}
    assert api.post("/v1/publish", arrow_of(queue=["one"] * 1200), **send).json["published"] == 1200
    assert checked == [b"one"]
    assert api.post("/v1/publish", arrow_of(queue=["one"] * 1199 + ["two"]), **send).problem == "denied"
    assert guarded.node.broker.queues[b"one"].ready == 1200
    # An event is not the queue of its name.
    assert api.post("/v1/stages", arrow_of(event=["one"]), **send).problem == "denied"


def test_to_declare_is_not_to_see_nor_to_take_away(guarded: Guarded, api: Api) -> None:
    root = bearer(guarded.tokens["root"])
    bound = {"events": ["bound.a", "bound.b"], "patterns": [{"event": "bound.c"}, {"type": "x"}]}
    assert api.ask("PUT", "/v1/queues/bound", bound, **root).json["bindings"]["events"] == bound["events"]
    low = bearer(guarded.add("declarer", "declare *", "consume event:bound.a", "consume event:bound.c"))
    told = api.ask("PUT", "/v1/queues/bound", {}, **low)
    assert (told.status, told.json) == (200, {"name": "bound", "href": "/v1/queues/bound"})
    less: object
    for less in ({"events": ["bound.a"]}, {"events": []}, {"patterns": []}, {"patterns": [{"event": "bound.c"}]}):
        assert api.ask("PUT", "/v1/queues/bound", less, **low).problem == "denied"
    assert api.ask("PUT", "/v1/queues/bound", {}, **root).json["bindings"] == bound
    # With the events that are taken away, or with the queue.
    all_events = bearer(guarded.add("binder", "declare *", "consume event:*"))
    assert api.ask("PUT", "/v1/queues/bound", {"events": ["bound.a"], "patterns": []}, **all_events).status == 200
    owner = bearer(guarded.add("owner", "declare *", "delete queue:bound"))
    assert api.ask("PUT", "/v1/queues/bound", {"events": []}, **owner).status == 200
    assert api.ask("PUT", "/v1/queues/bound", {}, **root).json["bindings"] == {"events": [], "patterns": []}


def test_a_lease_does_not_outlive_the_right(guarded: Guarded, api: Api, monkeypatch: Any) -> None:
    pytest.importorskip("pyarrow")
    monkeypatch.setattr(leases_module, "LOOK_SECONDS", 0.05)
    root = bearer(guarded.tokens["root"])

    def take(token: str) -> str:
        taken = api.post("/v1/queues/leased/leases", {"seconds": 600}, **bearer(token))
        return str(taken.headers["penstock-lease"])

    def ready() -> int:
        return int(api.get("/v1/queues/leased", **root).json["ready"])

    assert api.post("/v1/publish", {"queue": "leased", "body": "x"}, **root).status == 201
    token = guarded.add("lessee", "consume *")
    take(token)
    guarded.change(lambda users: users.revoke_token(token.split("_")[1]))
    until(lambda: ready() == 1)  # by itself
    monkeypatch.setattr(leases_module, "LOOK_SECONDS", 600.0)
    again = str(guarded.change(lambda users: users.create_token("lessee", 0)))
    guarded.change(lambda users: users.grant("lessee", "consume event:*"))
    lease = take(again)
    guarded.change(lambda users: users.revoke("lessee", "consume *"))
    assert api.post(f"/v1/leases/{lease}/accept", **bearer(again)).problem == "not-found"
    until(lambda: ready() == 1)
    assert api.post(f"/v1/leases/{take(guarded.tokens['root'])}/accept", **root).json == {"accepted": 1}


@pytest.mark.parametrize("way", ["move", "copy", "redrive"])
def test_what_is_moved_counts_as_published(guarded: Guarded, api: Api, way: str) -> None:
    root = bearer(guarded.tokens["root"])
    for _ in range(2):
        assert api.post("/v1/publish", {"queue": f"{way}.from", "body": "x" * 5000}, **root).status == 201
    mover = bearer(guarded.add(f"mover-{way}", "publish *", "declare *", "consume *", "browse *", bytes=10))
    path, wanted = f"/v1/queues/{way}.from/{way}", {"to": f"{way}.to", "limit": 1, "dry_run": False}
    # How long a name may be is asked before who may use it.
    assert api.post(path, {**wanted, "to": "n" * 5000}, **mover).problem == "too-large"
    assert api.post(path, {**wanted, "dry_run": True}, **mover).status == 200
    assert api.post(path, wanted, **mover).status == 200
    assert api.get(f"/v1/queues/{way}.to", **root).json["ready"] == 1
    late = api.post(path, wanted, **mover)
    assert (late.status, late.problem) == (429, "over-quota")
    assert api.get(f"/v1/queues/{way}.to", **root).json["ready"] == 1


def test_a_name_that_is_too_long_is_that_before_it_is_denied(guarded: Guarded, api: Api) -> None:
    low = bearer(guarded.add("long-winded", "declare *"))
    assert api.ask("PUT", "/v1/queues/long", {"events": ["e" * 5000]}, **low).problem == "too-large"
    assert api.ask("PUT", "/v1/queues/long", {"events": ["e"]}, **low).problem == "denied"


# -- failures ----------------------------------------------------------------------------------------------------------


def until(wanted: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not wanted():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_failures_are_slowed_told_and_locked_out(fresh: Guarded) -> None:
    api = fresh.api()
    throttle = fresh.node.user_reloader.directory.throttle
    throttle.delay_step = 60_000
    begun = time.monotonic()
    wrong = api.get("/v1/queues", **bearer(WRONG))
    assert time.monotonic() - begun >= 0.05  # timers of the loop count milliseconds, and may be one early
    assert wrong.problem == "wrong-token"
    assert wrong.headers["www-authenticate"].startswith("Bearer")
    assert "penstock token create" in wrong.json["hint"]
    (told,) = fresh.reported("audit.auth_failed")
    assert told["token"] == "00000000"
    assert WRONG not in str(fresh.reports)
    throttle.delay_step = 0
    while (answer := api.get("/v1/queues", **bearer(WRONG))).status == 401:
        pass
    assert (answer.problem, answer.status) == ("locked-out", 429)
    assert 0 < int(answer.headers["retry-after"]) <= 30
    assert len(fresh.reported("audit.auth_failed")) == 20
    assert api.get("/v1/queues", **bearer(fresh.tokens["root"])).status == 200  # a right one is right from anywhere
    assert "penstock_auth_failures_total 21" in api.get("/metrics", **bearer(fresh.tokens["root"])).text
    # Wrong tokens keep nobody of the same address from logging in.
    fresh.add_person("ada")
    assert api.post("/v1/session", {"user": "ada", "password": PASSWORD}).status == 200
    api.close()


def test_who_is_no_proxy_of_ours_is_counted_by_its_own_address(fresh: Guarded, monkeypatch: Any) -> None:
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "*")  # nor is the environment asked
    api = fresh.api()
    fresh.authenticator.of_tokens.free = 2
    answers = [api.get("/v1/me", x_forwarded_for=f"192.0.2.{n}", **bearer(WRONG)).status for n in range(4)]
    assert answers == [401, 401, 429, 429]
    assert all(re.fullmatch(r"127\.0\.0\.1:\d+", str(told["peer"])) for told in fresh.reported("audit.auth_failed"))
    api.close()


@pytest.fixture
def proxied(tmp_path: Path) -> Iterator[Guarded]:
    """One that believes a proxy on its own machine."""
    broker = Guarded(tmp_path / "users.json", http_proxies="192.0.2.128/25, 127.0.0.1")
    broker.start()
    broker.add("root", ADMIN)
    yield broker
    broker.stop()


def test_a_proxy_names_its_clients_and_is_named_itself(proxied: Guarded) -> None:
    fresh = proxied
    api = fresh.api()
    fresh.authenticator.of_tokens.free = 2
    for _ in range(2):
        assert api.get("/v1/me", x_forwarded_for="192.0.2.7", **bearer(WRONG)).status == 401
    assert api.get("/v1/me", x_forwarded_for="192.0.2.7", **bearer(WRONG)).status == 429
    assert api.get("/v1/me", x_forwarded_for="192.0.2.8", **bearer(WRONG)).status == 401
    told = fresh.reported("audit.auth_failed")
    assert re.fullmatch(r"192\.0\.2\.7:0 via 127\.0\.0\.1:\d+", str(told[0]["peer"]))
    api.close()


def test_which_proxy_is_believed_is_not_up_to_the_environment(proxied: Guarded, monkeypatch: Any) -> None:
    fresh = proxied
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "192.0.2.1")  # before it is loaded
    api = fresh.api()
    assert api.get("/v1/me", x_forwarded_for="192.0.2.7", **bearer(WRONG)).status == 401
    assert str(fresh.reported("audit.auth_failed")[0]["peer"]).startswith("192.0.2.7:0 via 127.0.0.1:")
    api.close()


def test_a_password_cannot_be_guessed(fresh: Guarded) -> None:
    api = fresh.api()
    fresh.add_person("ada", "browse *")
    authenticator = fresh.authenticator
    authenticator.of_users.free = 2  # each guess takes its time
    for name in ("ada", "nobody"):
        for _ in range(2):
            answer = api.post("/v1/session", {"user": name, "password": "wrong wrong"})
            assert (answer.problem, answer.json["detail"]) == ("wrong-password", "user or password is wrong")
            assert "set-cookie" not in answer.headers
        locked = api.post("/v1/session", {"user": name, "password": PASSWORD})
        assert locked.problem == "locked-out"
        assert "wait" in locked.json["detail"]
        assert int(locked.headers["retry-after"]) > 0
    assert "wrong wrong" not in str(fresh.reports)
    assert fresh.call(authenticator.locked) == 2
    api.close()


def test_whoever_guesses_at_a_name_does_not_lock_its_user_out(fresh: Guarded, monkeypatch: Any) -> None:
    fresh.add_person("ada")
    fresh.api().close()
    monkeypatch.setattr(authenticator_module, "is_password", lambda kept, given: given == PASSWORD)
    monkeypatch.setattr(authenticator_module, "SLOWER_SECONDS", 0.001)
    authenticator, access = fresh.authenticator, fresh.node.user_reloader.directory

    def log_in(password: str, peer: str) -> int:
        async def run() -> int:
            try:
                await authenticator.by_password(access, "ada", password, peer)
            except Problem as problem:
                return problem.status
            return 200

        return asyncio.run_coroutine_threadsafe(run(), fresh._loop).result(20)

    assert [log_in("wrong wrong", "192.0.2.1:1") for _ in range(6)] == [401] * 5 + [429]
    assert log_in(PASSWORD, "192.0.2.1:2") == 429  # where it was guessed
    assert log_in(PASSWORD, "192.0.2.2:1") == 200  # and not elsewhere
    for number in range(30):
        assert log_in("wrong wrong", f"198.51.100.{number}:1") == 401
    assert (
        authenticator.of_names.excess("ada", authenticator._seconds()) > 10
    )  # whoever comes from anywhere waits a little
    assert log_in(PASSWORD, "203.0.113.1:1") == 200
    for _ in range(30):  # others behind one's own address lock nobody out who was there before
        authenticator.of_addresses.failed("192.0.2.2", authenticator._seconds())
    assert log_in("wrong wrong", "203.0.113.1:1") == 401
    assert log_in(PASSWORD, "192.0.2.2:1") == 200


@pytest.mark.skipif(sys.platform != "linux", reason="threads have a priority of their own on Linux")
def test_passwords_are_checked_at_low_priority(fresh: Guarded, monkeypatch: Any) -> None:
    def priority(password: str) -> str:
        return str(os.getpriority(os.PRIO_PROCESS, threading.get_native_id()))

    monkeypatch.setattr(authenticator_module, "hash_password", priority)
    fresh.api().close()
    before = os.getpriority(os.PRIO_PROCESS, 0)
    found = asyncio.run_coroutine_threadsafe(fresh.authenticator.hash_password(PASSWORD), fresh._loop).result(20)
    assert int(found) == max(10, before)
    assert os.getpriority(os.PRIO_PROCESS, 0) == before


def test_passwords_at_once_are_not_more_than_one_after_the_other(fresh: Guarded, monkeypatch: Any) -> None:
    fresh.add_person("ada")
    fresh.api().close()
    compared: list[str] = []

    def is_password(kept: str, given: str) -> bool:
        compared.append(given)
        return given == PASSWORD

    monkeypatch.setattr(authenticator_module, "is_password", is_password)
    guesses = ["wrong wrong"] * 15
    authenticator, access = fresh.authenticator, fresh.node.user_reloader.directory

    async def log_in(*passwords: str, peer: str) -> list[object]:
        wanted = [authenticator.by_password(access, "ada", password, peer) for password in passwords]
        return await asyncio.gather(*wanted, return_exceptions=True)

    def run(*passwords: str, peer: str = "192.0.2.1:1") -> list[object]:
        return asyncio.run_coroutine_threadsafe(log_in(*passwords, peer=peer), fresh._loop).result(20)

    assert not any(isinstance(found, Exception) for found in [*run(PASSWORD) * 3, *run(PASSWORD, PASSWORD)])
    assert authenticator.of_addresses.failures.names() == []  # what was right is taken back
    compared.clear()
    statuses = sorted(found.status for found in run(*guesses))  # type: ignore[attr-defined]
    assert statuses == [401] * 5 + [429] * 10
    assert len(compared) == 5


def test_strangers_of_one_address_are_not_too_many(tmp_path: Path) -> None:
    broker = Guarded(tmp_path / "users.json", unauthenticated_per_address_max=3)
    broker.start()
    try:
        api = broker.api()
        root = bearer(broker.add("root", ADMIN))
        # Those who have said who they are do not count.
        known = []
        for _ in range(4):
            known.append(broker.api())
            assert known[-1].get("/v1/me", **root).status == 200
        strangers = [broker.connect("http") for _ in range(3)]
        waiting = broker.node.http._server.context.unauthenticated  # type: ignore[union-attr]
        until(lambda: len(waiting) == 3)
        assert "penstock_connections_unauthenticated 3" in api.get("/metrics", **root).text
        one_more = broker.connect("http")
        assert strangers[0].closed_by_peer()  # the oldest of them goes
        assert len(waiting) == 3
        one_more.send(b"GET /v1/me HTTP/1.1\r\nhost: localhost\r\n\r\n")
        assert b"401" in one_more.line()
        assert one_more.closed_by_peer()  # with its answer
        assert b"connection: close" in one_more.buffer
        until(lambda: len(waiting) == 2)
        assert len(broker.node.user_reloader.directory.throttle.pending) == 0  # which is the message ports' own
        assert api.get("/v1/me", **root).headers.get("connection") != "close"
        for each in (api, *known):
            each.close()
    finally:
        broker.stop()


def test_a_stranger_does_not_stay(tmp_path: Path) -> None:
    broker = Guarded(tmp_path / "users.json", auth_seconds=1)  # a busy machine may take a part of it to say a word
    broker.start()
    try:
        api = broker.api()
        root = bearer(broker.add("root", ADMIN))
        assert api.get("/v1/me", **root).status == 200
        silent, slow = broker.connect("http"), broker.connect("http")
        slow.send(b"POST /v1/session HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n{")
        assert silent.closed_by_peer()
        assert slow.closed_by_peer()
        broker.node.user_reloader.directory.throttle.delay_step = 1_500_000
        held_back = broker.connect("http")
        held_back.send(b"GET /v1/me HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer x\r\n\r\n")
        assert b"401" in held_back.line()  # who is being answered is answered
        assert held_back.closed_by_peer()
        api.connection.auto_open = 0  # the known one is still there
        assert api.get("/v1/me", **root).status == 200
        api.close()
    finally:
        broker.stop()


# -- logins ------------------------------------------------------------------------------------------------------------


class Browser:
    """Keeps the cookie, and sends what the console sends."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self.cookie = ""

    def log_in(self, **given: str) -> Answer:
        answer = self.api.post("/v1/session", given)
        if answer.status == 200:
            found = COOKIE.match(answer.headers["set-cookie"])
            assert found is not None
            self.cookie = f"{found[1]}={found[2]}"
        return answer

    def ask(self, method: str, path: str, body: object = None, **headers: str) -> Answer:
        return self.api.ask(method, path, body, cookie=self.cookie, **{"x_penstock_console": "1", **headers})


def test_a_login_is_a_cookie_that_scripts_cannot_read(guarded: Guarded, api: Api) -> None:
    guarded.add_person("ann", "browse *", "declare a.*")
    browser = Browser(api)
    answer = browser.log_in(user="ann", password=PASSWORD)
    assert answer.json == {"authentication": True, "user": "ann"}
    kept = answer.headers["set-cookie"].lower()
    assert kept.startswith(f"penstock-{guarded.ports['http']}=")
    for word in ("httponly", "samesite=strict", "path=/", "max-age=43200"):
        assert word in kept
    assert "secure" not in kept  # there is no TLS here
    assert browser.ask("GET", "/v1/session").json["user"] == "ann"
    assert browser.ask("GET", "/v1/me").json["grants"] == ["browse *", "declare a.*"]
    assert browser.ask("PUT", "/v1/queues/a.b", {}).status == 201
    # What a page elsewhere could send.
    assert api.ask("PUT", "/v1/queues/a.c", {}, cookie=browser.cookie).problem == "not-the-console"
    assert browser.ask("PUT", "/v1/queues/a.c", {}, origin="http://evil.example").problem == "cross-origin"
    assert not guarded.has_queue(b"a.c")
    # A token in the header is asked before the cookie.
    assert browser.ask("GET", "/v1/me", **bearer(WRONG)).status == 401

    assert browser.ask("DELETE", "/v1/session").json == {"left": True}
    assert browser.ask("GET", "/v1/queues").problem == "unknown-user"
    assert browser.ask("GET", "/v1/session").json == {"authentication": True, "user": None}
    secret = browser.cookie.split("=")[1]
    assert secret not in str(guarded.reports)
    assert [told["user"] for told in guarded.reported("audit.left")] == ["ann"]


def test_a_login_ends_with_what_it_began_with(guarded: Guarded, api: Api) -> None:
    token = guarded.add("eve", "browse *")
    browser = Browser(api)
    assert browser.log_in(token=token).status == 200
    assert browser.ask("GET", "/v1/me").json["by"] == "token"
    stream = http.client.HTTPConnection("127.0.0.1", guarded.ports["http"], timeout=20)
    stream.request("GET", "/v1/live", headers={"cookie": browser.cookie})
    answer = stream.getresponse()
    assert answer.status == 200
    assert answer.readline() == b"event: sample\n"
    guarded.change(lambda users: users.revoke_token(token.split("_")[1]))
    assert browser.ask("GET", "/v1/queues").problem == "unknown-user"
    answer.read()  # the stream ends by itself
    stream.close()
    assert browser.log_in(token=token).problem == "wrong-token"
    assert browser.log_in(token="x" * (33 << 10)).status == 422
    assert browser.log_in(user="eve").status == 422

    guarded.add_person("bob", "browse *")
    for end in (
        lambda users: setattr(users.user("bob"), "password", hash_password("another one")),
        lambda users: users.remove("bob"),
    ):
        guarded.change(lambda users: setattr(users.user("bob"), "password", HASHED))
        assert browser.log_in(user="bob", password=PASSWORD).status == 200
        assert browser.ask("GET", "/v1/queues").status == 200
        guarded.change(end)
        assert browser.ask("GET", "/v1/queues").status == 401


def test_one_changes_ones_own_password(guarded: Guarded, api: Api) -> None:
    guarded.add_person("gil", "browse *")
    browser = Browser(api)
    assert browser.log_in(user="gil", password=PASSWORD).status == 200
    wrong = browser.ask("PUT", "/v1/me/password", {"current": "a guess", "password": "a better one"})
    assert wrong.problem == "wrong-password"
    assert browser.ask("PUT", "/v1/me/password", {"current": PASSWORD, "password": "short"}).problem == "invalid"
    assert browser.ask("PUT", "/v1/me/password", {"current": PASSWORD, "password": "a better one"}).status == 200
    assert browser.ask("GET", "/v1/me").status == 401  # as all logins by the old one
    assert browser.log_in(user="gil", password=PASSWORD).status == 401
    assert browser.log_in(user="gil", password="a better one").status == 200
    root = bearer(guarded.tokens["root"])
    own = {"current": "", "password": "a better one"}
    assert api.ask("PUT", "/v1/me/password", own, **root).problem == "conflict"  # it has none


def test_logins_end_with_time_and_are_not_without_number() -> None:
    access = Directory()
    user = User("ada")
    user.password = "kept"
    access.replace({"ada": user})
    logins = ConsoleSessions(100, 10)
    second = 1_000_000
    secret = digest_of(logins.begin(access.by_password(user), 0))
    assert logins.find(secret, access, 9 * second) is not None
    assert logins.holds(secret, access, 18 * second)
    assert logins.find(secret, access, 20 * second) is None
    secret = digest_of(logins.begin(access.by_password(user), 0))
    for at in range(0, 99, 9):
        assert logins.find(secret, access, at * second) is not None
    assert logins.find(secret, access, 100 * second) is None
    assert len(logins) == 0
    begun = [digest_of(logins.begin(access.by_password(user), 0)) for _ in range(LOGINS_OF_USER_MAX + 1)]
    assert len(logins) == LOGINS_OF_USER_MAX
    assert logins.find(begun[0], access, 0) is None
    assert logins.find(begun[-1], access, 0) is not None
    logins.tidy(access, 11 * second)
    assert len(logins) == 0


def test_guesses_are_forgiven_later_and_later() -> None:
    guesses = LoginThrottle(3)
    for _ in range(2):
        guesses.failed("a", 0)
    assert guesses.wait("a", 0) == 0
    guesses.failed("a", 0)
    assert guesses.wait("a", 0) == 30
    assert guesses.wait("a", 31) == 0
    guesses.failed("a", 31)
    assert guesses.wait("a", 31) == 60
    for now in range(100, 4000, 300):
        guesses.failed("a", now)
    assert guesses.wait("a", 3700) == 900
    assert guesses.wait("b", 0) == 0
    guesses.failed("a", 4000 + FORGIVEN_SECONDS)
    assert guesses.wait("a", 4000 + FORGIVEN_SECONDS) == 0
    guesses.succeeded("a")
    for number in range(KEYS_MAX + 10):
        guesses.failed(str(number), 0)
    assert len(guesses.failures) == KEYS_MAX


# -- users and tokens --------------------------------------------------------------------------------------------------


def test_users_and_tokens_are_made_and_taken_away(guarded: Guarded, api: Api) -> None:
    root = bearer(guarded.tokens["root"])
    new = {"name": "carl", "grants": ["publish orders.*"], "quotas": {"connections": 5}, "password": PASSWORD}
    made = api.post("/v1/users", {**new, "certificates": ["CN:carl"]}, **root)
    assert made.status == 201
    assert made.json["grants"] == ["publish orders.*"]
    assert made.json["quotas"] == {"connections": 5}
    assert made.json["certificates"] == ["CN:carl"]
    assert made.json["password"] is True
    assert "argon2" not in made.text
    assert api.post("/v1/users", new, **root).problem == "conflict"
    assert api.post("/v1/users", {"name": "no name"}, **root).problem == "invalid"
    assert api.post("/v1/users", {"name": "dora", "grants": ["fly"]}, **root).problem == "invalid"
    assert api.get("/v1/users/dora", **root).problem == "not-found"

    token = api.post("/v1/tokens", {"user": "carl", "expires_seconds": 60, "note": "laptop"}, **root)
    assert token.status == 201
    text, id = token.json["token"], token.json["id"]
    assert text.startswith(f"pst_{id}_")
    carl = bearer(text)
    assert api.get("/v1/me", **carl).json["expires_at"] == token.json["expires_at"]
    listed = api.get("/v1/tokens?user=carl", **root).json
    assert [row["note"] for row in listed["tokens"]] == ["laptop"]
    assert text[13:] not in json.dumps(listed)
    assert text[13:] not in str(guarded.reports)

    assert api.post("/v1/publish", {"event": "x", "body": ""}, **carl).status == 403
    assert api.post("/v1/users/carl/grants", {"grant": "publish x"}, **root).json["grants"][-1] == "publish x"
    assert api.post("/v1/publish", {"event": "x", "body": ""}, **carl).status == 201
    assert api.ask("DELETE", f"/v1/users/carl/grants?grant={quote('publish x')}", **root).status == 200
    assert api.post("/v1/publish", {"event": "x", "body": ""}, **carl).status == 403
    assert api.ask("DELETE", f"/v1/users/carl/grants?grant={quote('publish x')}", **root).problem == "not-found"
    assert api.ask("PUT", "/v1/users/carl/quotas", {"connections": 0, "messages": 7}, **root).json["quotas"] == {
        "messages": 7
    }
    assert api.ask("PUT", "/v1/users/carl/quotas", {"messages": -1}, **root).problem == "invalid"
    assert api.post("/v1/users/carl/certificates", {"certificate": "DNS:carl.example"}, **root).status == 200
    assert api.post("/v1/users/root/certificates", {"certificate": "CN:carl"}, **root).problem == "conflict"
    assert api.ask("DELETE", "/v1/users/carl/certificates?certificate=CN:carl", **root).json["certificates"] == [
        "DNS:carl.example"
    ]
    assert api.ask("PUT", "/v1/users/carl/password", {"password": "short"}, **root).problem == "invalid"
    assert api.ask("PUT", "/v1/users/carl/password", {"password": "long enough"}, **root).status == 200
    assert api.ask("DELETE", "/v1/users/carl/password", **root).json["password"] is False

    client = guarded.connect("mqks")
    client.send(b"a auth %s\n" % text.encode())
    assert client.line() == b"a ok "
    assert api.ask("DELETE", f"/v1/tokens/{id}", **root).json == {"revoked": True, "user": "carl"}
    assert client.closed_by_peer()
    assert api.get("/v1/me", **carl).status == 401
    assert api.ask("DELETE", f"/v1/tokens/{id}", **root).problem == "not-found"
    assert api.ask("DELETE", "/v1/users/carl", **root).json == {"removed": True}
    assert api.ask("DELETE", "/v1/users/carl", **root).problem == "not-found"
    done = [told for told in guarded.reported("audit.changed") if told.get("user") == "carl"]
    assert (done[0]["what"], done[-1]["what"]) == ("user added", "user removed")
    assert {told["by"] for told in done} == {"root"}
    assert PASSWORD not in str(guarded.reports)


def test_an_admin_uses_the_commands_from_elsewhere(
    guarded: Guarded, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown, secret = tmp_path / "root.token", tmp_path / "secret"
    shown.write_text(guarded.tokens["root"] + "\n")
    secret.write_text(PASSWORD + "\n")
    there = ("--server", f"http://127.0.0.1:{guarded.ports['http']}", "--token-file", str(shown))

    def run(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            cli.main(list(arguments))
        out, err = capsys.readouterr()
        return int(ended.value.code or 0), out.rstrip("\n"), err

    def does(*arguments: str) -> str:
        code, out, err = run(*arguments, *there)
        assert (code, err) == (0, "")
        return out

    given = ("--grant", "publish a", "--quota", "queues=3", "--certificate", "CN:fay")
    does("user", "add", "fay", *given, "--password-file", str(secret))
    does("user", "grant", "fay", "consume", "b", "browse", "*")
    does("user", "revoke", "fay", "publish", "a")
    does("user", "quota", "fay", "messages=7", "queues=0")
    does("user", "certificate", "fay", "CN:fay", "--remove")
    token = does("token", "create", "fay", "--note", "laptop", "--expires", "90d")
    assert json.loads(does("user", "list", "fay", "--json")) == {
        "user": "fay",
        "grants": ["consume b", "browse *"],
        "quotas": {"messages": 7},
        "certificates": [],
        "tokens": 1,
        "password": True,
    }
    assert token[4:12] in does("token", "list", "fay")
    does("user", "password", "fay", "--remove")
    does("token", "revoke", token)
    does("user", "remove", "fay")
    for arguments, says in (
        (("user", "remove", "fay", *there), "there is no user 'fay'"),
        (("user", "add", "fay", "--grant", "fly", *there), "'fly' is not a right"),
        (("user", "list", *there[:2]), "--token-file"),
    ):
        code, out, err = run(*arguments)
        assert code in (1, 5), err
        assert (out, says in err) == ("", True), err


def test_the_last_admin_stays(fresh: Guarded) -> None:
    api = fresh.api()
    root = bearer(fresh.tokens["root"])
    assert api.ask("DELETE", "/v1/users/root", **root).problem == "conflict"
    assert api.ask("DELETE", "/v1/users/root/grants?grant=admin", **root).problem == "conflict"
    assert api.get("/v1/me", **root).json["admin"] is True
    api.close()


# -- headers -----------------------------------------------------------------------------------------------------------


def test_every_answer_says_how_it_is_to_be_treated(guarded: Guarded, api: Api) -> None:
    root = bearer(guarded.tokens["root"])
    for path in ("/v1/queues", "/v1/none", "/metrics", "/healthz", "/v1/log"):
        headers = api.get(path, **root).headers
        assert headers["cache-control"] == "no-store", path
        assert headers["x-content-type-options"] == "nosniff", path
    assert api.get("/v1/queues").headers["cache-control"] == "no-store"
    page = api.get("/")
    assert page.status == 200  # the page tells nothing; what it shows is asked for
    assert page.headers["cache-control"] == "no-cache"
    assert "default-src 'self'" in page.headers["content-security-policy"]
    assert "unsafe" not in page.headers["content-security-policy"]
    assert "strict-transport-security" not in page.headers


def test_a_name_is_as_good_as_another(guarded: Guarded, api: Api) -> None:
    """What is no text, no token, or a hundred of them, is a wrong one."""
    guarded.authenticator.of_tokens.free = 10**9
    for given in ("", "Bearer", "bearer  ", "Basic eA==", "Bearer " + "x" * 5000, "Bearer \xff\xfe"):
        assert api.get("/v1/queues", authorization=given).problem == "wrong-token"
    assert api.get("/v1/queues", authorization=f"bearer {guarded.tokens['root']}").status == 200
    assert api.get("/v1/queues", cookie=f"penstock-{guarded.ports['http']}={random_id(43).decode()}").status == 401


def test_what_a_body_claims_to_be_needs_its_right(fresh: Guarded) -> None:
    """Patterns look at the event that a body names, whatever event it was published as."""
    api = fresh.api()
    root = bearer(fresh.add("boss", "admin"))
    low = bearer(fresh.add("low", "publish event:mine"))
    pattern = {"patterns": [{"event": "payments"}]}
    assert api.ask("PUT", "/v1/queues/paid", pattern, **root).status == 201
    claimed = {"event": "mine", "body": '{"event": "payments"}'}
    assert api.post("/v1/publish", claimed, **low).problem == "denied"
    assert api.post("/v1/stages", claimed, **low).problem == "denied"
    assert api.post("/v1/publish", {"event": "mine", "body": '{"event": "mine"}'}, **low).status == 201
    assert api.post("/v1/publish", claimed, **root).status == 201
    assert api.get("/v1/queues/paid", **root).json["ready"] == 1
    api.close()


# -- names that are not to be seen -------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_a_writer_with_a_nul_in_its_name_is_nobodys_to_ask_for(guarded: Guarded, api: Api, method: str) -> None:
    low = bearer(guarded.add(f"nul-{method.lower()}", "publish event:public"))
    guarded.call(lambda: guarded.node.broker.commit(b"victim\0nightly", 7, []))
    answer = api.ask(method, "/v1/commits/victim%00nightly", **low)
    assert (answer.status, answer.problem) == (422, "invalid")
    assert "7" not in answer.json["detail"]


def test_where_nobody_is_known_a_nul_opens_no_ones_writer(start_broker: Any, open_api: Open) -> None:
    broker = start_broker()
    broker.call(lambda: broker.node.broker.commit(b"victim\0nightly", 7, []))
    assert open_api(broker).get("/v1/commits/victim%00nightly").status == 422
    assert open_api(broker).ask("DELETE", "/v1/commits/victim%00nightly").status == 422
    assert broker.node.broker.committed[b"victim\0nightly"] == 7


def test_policies_name_no_queue_that_may_not_be_browsed(tmp_path: Path) -> None:
    rules = (
        {"queues": ["orders.*", "salaries"], "length_max": 5, "dead_letter": "orders.dead"},
        {"queues": ["orders.eu"], "dead_letter": "morgue"},
        {"queues": ["salaries"], "length_max": 1},
        {"queues": ["*"], "ttl": 5},
    )
    broker = Guarded(tmp_path / "users.json", policy=rules)
    broker.start()
    broker.add("root", ADMIN)
    low = bearer(broker.add("low", "browse orders.*"))
    api = broker.api()
    everything = api.get("/v1/policies", **bearer(broker.tokens["root"])).json["policies"]
    assert [table["queues"] for table in everything] == [["orders.*", "salaries"], ["orders.eu"], ["salaries"], ["*"]]
    assert api.get("/v1/policies", **low).json["policies"] == [
        {"queues": ["orders.*"], "length_max": 5, "dead_letter": "orders.dead"},
        {"queues": ["orders.eu"]},
    ]
    broker.declare(b"orders.eu")
    assert api.get("/v1/queues/orders.eu", **low).json["policy"]["dead_letter"] is None
    api.close()
    broker.stop()


@pytest.mark.parametrize(
    "host", ["[::1]evil.example", "[::1", "[::1]:80x", "[]", "127.0.0.1:80:evil", "evil@127.0.0.1", "[evil.example]"]
)
def test_a_host_that_only_begins_like_ours_is_not_answered(guarded: Guarded, api: Api, host: str) -> None:
    assert api.get("/v1/me", host=host, **bearer(guarded.tokens["root"])).problem == "wrong-host"


@pytest.mark.parametrize("host", ["[::1]", "[::1]:7780", "127.0.0.1:1", "localhost", "a.localhost:80", "localhost:"])
def test_a_host_that_is_ours_is_answered_with_any_port(guarded: Guarded, api: Api, host: str) -> None:
    assert api.get("/v1/me", host=host, **bearer(guarded.tokens["root"])).status == 200


@pytest.mark.parametrize("depth", [33, 200, 300, 600, 1000])
@pytest.mark.parametrize("bound", [True, False])
def test_a_pattern_that_is_nested_too_deep_is_refused_by_the_limits_name(
    guarded: Guarded, api: Api, depth: int, bound: bool
) -> None:
    queue = b"deep-%d" % bound
    if bound:
        guarded.call(lambda: guarded.node.broker.bind(queue, (), (b'{"a":{"a":1}}',)))
    pattern = '{"a":' * depth + "1" + "}" * depth
    for name in ("root", "binder"):
        if name not in guarded.tokens:
            guarded.add(name, "declare *", "consume event:*")
        sent = {"content_type": "application/json", **bearer(guarded.tokens[name])}
        answer = api.ask("PUT", f"/v1/queues/{queue.decode()}", b'{"patterns":[%s]}' % pattern.encode(), **sent)
        assert answer.status == 429
        assert "pattern_depth_max is 32" in answer.json["detail"]
