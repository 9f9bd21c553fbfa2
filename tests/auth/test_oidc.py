"""Bearer tokens of an identity provider: a provider of our own signs them, and publishes its keys over HTTP."""

import base64
import hashlib
import hmac
import http.client
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from penstock.auth import jwks, oidc
from penstock.auth.directory import BY_ISSUER, Directory
from penstock.auth.jwks import fetch_keys, keys_in
from penstock.auth.oidc import Oidc, Rules
from penstock.auth.tokens import redacted
from penstock.config import Config
from penstock.errors import AccessError, ConfigError
from penstock.server import user_reloader as reloader_module
from penstock.server.user_reloader import UserReloader

from ..server.conftest import Client
from .conftest import DIALECTS, Dialect, GuardedBroker, Mqks, Rq

ISSUER = "https://login.example/realms/penstock"
AUDIENCE = "penstock"
RIGHTS = "penstock.write = writer orders.*; penstock.read = reader orders.*, consume event:orders.*; ops = operator *"
SECOND = 1_000_000
NOW = 1_700_000_000

RSA_KEY = rsa.generate_private_key(65537, 2048)
SECOND_KEY = rsa.generate_private_key(65537, 2048)
OTHER_KEY = rsa.generate_private_key(65537, 2048)
EC_KEY = ec.generate_private_key(ec.SECP256R1())
ED_KEY = ed25519.Ed25519PrivateKey.generate()
Private = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey


def jwk(key: Private, kid: str | None, **more: object) -> dict[str, object]:
    maker: Any = {
        rsa.RSAPrivateKey: jwt.algorithms.RSAAlgorithm,
        ec.EllipticCurvePrivateKey: jwt.algorithms.ECAlgorithm,
        ed25519.Ed25519PrivateKey: jwt.algorithms.OKPAlgorithm,
    }[next(kind for kind in Private.__args__ if isinstance(key, kind))]
    found: dict[str, object] = json.loads(maker.to_jwk(key.public_key()))
    return {**found, **({} if kid is None else {"kid": kid}), **more}


def jwk_set(*keys: dict[str, object]) -> bytes:
    return json.dumps({"keys": list(keys)}).encode()


ALL_KEYS = jwk_set(jwk(RSA_KEY, "rsa"), jwk(SECOND_KEY, "rsa-2"), jwk(EC_KEY, "ec"), jwk(ED_KEY, "ed"))


def token(
    key: Private = RSA_KEY, algorithm: str = "RS256", kid: str | None = "rsa", now: float = NOW, **claims: Any
) -> str:
    said: dict[str, object] = {
        "iss": ISSUER,
        "aud": AUDIENCE,
        "sub": "ann",
        "exp": int(now) + 600,
        "scope": "openid penstock.write",
        **claims,
    }
    said = {name: value for name, value in said.items() if value is not None}
    return jwt.encode(said, key, algorithm, headers=None if kid is None else {"kid": kid})


def made(**options: Any) -> Oidc:
    issuer = Oidc(ISSUER, [AUDIENCE], Rules(RIGHTS), **options)
    issuer.use_keys(keys_in(ALL_KEYS))
    return issuer


# -- one token ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "algorithm", "kid"),
    [
        (RSA_KEY, "RS256", "rsa"),
        (RSA_KEY, "PS512", "rsa"),
        (EC_KEY, "ES256", "ec"),
        (ED_KEY, "EdDSA", "ed"),
        (ED_KEY, "EdDSA", None),
    ],
)
def test_a_token_of_the_issuer_is_somebody_with_the_rights_of_its_claims(
    key: Private, algorithm: str, kid: str | None
) -> None:
    directory = Directory()
    directory.issuer = made()
    identity = directory.authenticate(token(key, algorithm, kid, jti="7").encode(), NOW * SECOND)
    assert identity is not None
    assert (identity.user.name, identity.how, identity.which) == ("oidc:ann", BY_ISSUER, "7")
    assert [grant.text for grant in identity.user.grants] == ["writer orders.*"]
    assert identity.user.may("publish", "event", b"orders.paid")
    assert not identity.user.may("publish", "event", b"salaries")
    assert not identity.user.may("consume", "queue", b"orders.paid")
    again = directory.authenticate(token(key, algorithm, kid, jti="8").encode(), NOW * SECOND)
    assert again is not None
    assert again.user is identity.user  # one person with the same rights is one user


def forged_with_public_key() -> str:
    """HS256 with the public key as the secret, as a verifier would fall for that asks the token how to check it."""
    secret = RSA_KEY.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )

    def part(value: bytes) -> bytes:
        return base64.urlsafe_b64encode(value).rstrip(b"=")

    claims = {"iss": ISSUER, "aud": AUDIENCE, "sub": "ann", "exp": NOW + 600, "scope": "penstock.write"}
    signed = part(b'{"alg":"HS256","typ":"JWT","kid":"rsa"}') + b"." + part(json.dumps(claims).encode())
    return (signed + b"." + part(hmac.new(secret, signed, hashlib.sha256).digest())).decode()


def unsigned() -> str:
    return jwt.encode(
        {"iss": ISSUER, "aud": AUDIENCE, "sub": "ann", "exp": NOW + 600, "scope": "ops"},
        "",
        "none",
        headers={"kid": "rsa"},
    )


def changed() -> str:
    head, _, tail = token().partition(".")
    body, _, signature = tail.partition(".")
    claims = json.loads(base64.urlsafe_b64decode(body + "=="))
    forged = base64.urlsafe_b64encode(json.dumps({**claims, "scope": "ops"}).encode()).rstrip(b"=").decode()
    return f"{head}.{forged}.{signature}"


WRONG = {
    "signed with another key": lambda: token(OTHER_KEY),
    "changed": changed,
    "unsigned": unsigned,
    "checked with the public key as a secret": forged_with_public_key,
    "another algorithm than the key's": lambda: token(EC_KEY, "ES256", "rsa"),
    "a key that is not known": lambda: token(kid="other"),
    "no key named, and more than one fits": lambda: token(kid=None),
    "expired": lambda: token(exp=NOW - 31),
    "expires never": lambda: token(exp=None),
    "expires when nobody can say": lambda: token(exp=1e300),
    "not yet": lambda: token(nbf=NOW + 31),
    "another issuer": lambda: token(iss="https://evil.example"),
    "no issuer": lambda: token(iss=None),
    "another audience": lambda: token(aud="payroll"),
    "no audience": lambda: token(aud=None),
    "nobody": lambda: token(sub=None),
    "a number": lambda: token(sub="\x1b[2J"),
    "a long name": lambda: token(sub="x" * 200),
    "no rights here": lambda: token(scope="openid email"),
    "huge": lambda: token(sub="ann", padding="x" * 9000),
    "many values": lambda: token(scope="a " * 1500),
    "half of one": lambda: token()[:-40],
    "dots": lambda: "eyJ..",
    "no text": lambda: "eyJhbGciOiJSUzI1NiJ9.\xff.\xff",
}


@pytest.mark.parametrize("what", WRONG)
def test_a_token_that_is_wrong_is_nobodys_and_the_broker_knows_why(what: str) -> None:
    directory = Directory()
    directory.issuer = made(size_max=4096 if what != "many values" else 8192)
    assert directory.authenticate(WRONG[what]().encode("latin-1"), NOW * SECOND) is None
    assert directory.why
    assert not directory.oidc_users


def test_clocks_may_differ_by_the_leeway() -> None:
    issuer = made()
    near: list[dict[str, Any]] = [{"exp": NOW - 29}, {"nbf": NOW + 29}, {"iat": NOW + 5000}]
    for claims in near:
        assert issuer.verify(token(**claims).encode(), NOW) is not None
    late = token(exp=NOW + 5).encode()
    assert issuer.verify(late, NOW) is not None
    assert issuer.verify(late, NOW + 36) is None  # also one that was checked before
    assert issuer.why == "it has expired"


def test_two_tokens_of_one_person_have_each_its_own_rights() -> None:
    directory = Directory()
    directory.issuer = made()
    few, many = (
        directory.authenticate(token(scope=scope).encode(), NOW * SECOND) for scope in ("penstock.read", "ops")
    )
    assert few is not None
    assert many is not None
    assert few.user.name == many.user.name
    assert not few.user.may("delete", "queue", b"q")
    assert many.user.may("delete", "queue", b"q")


@pytest.mark.parametrize(
    ("claims", "paths"),
    [
        ({"scope": "a penstock.write b"}, ["scope"]),
        ({"scp": "penstock.write"}, ["scope", "scp"]),  # Entra
        ({"roles": ["x", "penstock.write"]}, ["roles"]),  # Entra
        ({"realm_access": {"roles": ["penstock.write"]}}, ["realm_access.roles"]),  # Keycloak
        ({"https://example.com/roles": ["penstock.write"]}, ["https://example.com/roles"]),
    ],
)
def test_rights_come_from_claims_as_providers_write_them(claims: dict[str, Any], paths: list[str]) -> None:
    verified = made(rights_claims=paths).verify(token(**{"scope": None, **claims}).encode(), NOW)
    assert verified is not None
    assert [grant.text for grant in verified.grants] == ["writer orders.*"]


@pytest.mark.parametrize("claims", [{"scope": {"penstock.write": 1}}, {"scope": [["penstock.write"]]}, {"scope": 5}])
def test_claims_of_another_shape_give_nothing(claims: dict[str, Any]) -> None:
    assert made().verify(token(**claims).encode(), NOW) is None


def test_keys_that_prove_nothing_are_not_taken() -> None:
    small = rsa.generate_private_key(65537, 1024)
    secret: dict[str, object] = {"kty": "oct", "k": "c2VjcmV0", "kid": "secret", "alg": "HS256"}
    useless: list[dict[str, object]] = [jwk(small, "small"), secret, jwk(RSA_KEY, "enc", use="enc")]
    useless += [{"kty": "RSA"}, {"kty": "EC", "crv": "P-1"}]
    with pytest.raises(AccessError, match="no key that can verify tokens"):
        keys_in(json.dumps({"keys": [*useless, 5]}).encode())
    (only,) = keys_in(jwk_set(*useless, jwk(RSA_KEY, "rsa", alg="RS512")))
    assert (only.id, only.algorithms) == ("rsa", ("RS512",))
    for text in (b"", b"[]", b'{"keys": 5}', jwk_set(*[jwk(EC_KEY, "x")] * 101)):
        with pytest.raises(AccessError):
            keys_in(text)


def test_a_private_key_in_the_set_is_used_as_a_public_one() -> None:
    private = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(RSA_KEY))
    (key,) = keys_in(jwk_set({**private, "kid": "rsa"}))
    assert isinstance(key.public, rsa.RSAPublicKey)


def test_a_key_that_is_withdrawn_lets_nobody_in_any_longer() -> None:
    issuer = made()
    shown = token().encode()
    assert issuer.verify(shown, NOW) is not None
    issuer.use_keys(keys_in(jwk_set(jwk(EC_KEY, "ec"))))
    assert issuer.verify(shown, NOW) is None


def test_made_up_names_of_keys_do_not_ask_for_keys_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float] = []
    now = [1000.0]
    monkeypatch.setattr("penstock.auth.oidc.time.monotonic", lambda: now[0])
    issuer = made(want_keys=lambda: asked.append(now[0]))
    for _ in range(50):
        now[0] += 1
        issuer.verify(token(kid=f"made-up-{now[0]}").encode(), NOW)
    assert len(asked) == 5


def test_no_more_tokens_are_remembered_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oidc, "KNOWN_MAX", 3)
    issuer = made()
    for number in range(6):
        assert issuer.verify(token(EC_KEY, "ES256", "ec", jti=str(number)).encode(), NOW) is not None
    assert len(issuer._known) == 3


def test_no_log_line_has_a_token_of_an_issuer() -> None:
    shown = token()
    for text in (shown, f'a auth {{"token":"{shown}"}}', shown[:60]):
        assert shown.split(".")[2][:20].encode() not in redacted(text.encode())
        assert shown.split(".")[1][:20].encode() not in redacted(text.encode())


@pytest.mark.parametrize(
    "rules", ["", "  ;  ", "ops", "ops =", " = admin", "ops = dance *", "ops = publish", "ops=admin"]
)
def test_rules_that_make_no_sense_are_refused(rules: str) -> None:
    with pytest.raises(AccessError):
        Rules(rules)


# -- settings ----------------------------------------------------------------------------------------------------------


def settings(**changed: object) -> dict[str, Any]:
    return {
        "memory": True,
        "oidc_issuer": ISSUER,
        "oidc_jwks": "https://login.example/keys",
        "oidc_audience": AUDIENCE,
        "oidc_rights": RIGHTS,
        **changed,
    }


@pytest.mark.parametrize(
    ("changed", "key"),
    [
        ({"oidc_jwks": ""}, "oidc_jwks"),
        ({"oidc_jwks": "http://login.example/keys"}, "oidc_jwks"),
        ({"oidc_audience": " "}, "oidc_audience"),
        ({"oidc_rights": ""}, "oidc_rights"),
        ({"oidc_user_prefix": "oidc-"}, "oidc_user_prefix"),
        ({"oidc_quotas": "connections=x"}, "oidc_quotas"),
        ({"auth": "off"}, "oidc_issuer"),
    ],
)
def test_settings_that_would_let_strangers_in_are_refused(changed: dict[str, object], key: str) -> None:
    with pytest.raises(ConfigError) as refused:
        UserReloader(Config(**settings(**changed)))
    assert refused.value.key == key


def test_without_the_library_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reloader_module, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"penstock-mq\[oidc\]"):
        UserReloader(Config(**settings()))


# -- a broker beside a provider ----------------------------------------------------------------------------------------


class Provider:
    """Publishes keys over HTTP, as quickly as it likes."""

    def __init__(self) -> None:
        self.keys = ALL_KEYS
        self.status = 200
        self.asked = 0
        self.hold = threading.Event()
        self.hold.set()
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                provider.asked += 1
                provider.hold.wait(20)
                self.send_response(provider.status)
                self.send_header("location", "/elsewhere")
                self.end_headers()
                with suppress(OSError):  # who asked may have given up
                    self.wfile.write(provider.keys)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/keys"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))
        self.thread.start()

    def stop(self) -> None:
        self.hold.set()
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


@pytest.fixture
def provider() -> Iterator[Provider]:
    running = Provider()
    yield running
    running.stop()


def until(wanted: Callable[[], object]) -> None:
    deadline = time.monotonic() + 20
    while not wanted():
        assert time.monotonic() < deadline
        time.sleep(0.005)


Start = Callable[..., GuardedBroker]


def with_provider(start: Start, jwks: str, **more: object) -> GuardedBroker:
    broker = start(**{**settings(oidc_jwks=jwks), "auth": "auto", **more})
    until(lambda: broker.node.user_reloader.oidc is not None and broker.node.user_reloader.oidc._keys)
    return broker


def now() -> float:
    return time.time()


def rest_of(client: Client) -> bytes:
    """All that comes until the broker closes."""
    assert client.closed_by_peer()
    return client.buffer


def shown(dialect: type[Dialect], text: str) -> bytes:
    return b"\x01\xd0%s%s" % (len(text).to_bytes(2, "big"), text.encode()) if dialect is Rq else dialect.auth(text)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_token_of_the_issuer_is_shown_in_every_protocol_as_ours_is(
    start_guarded: Start, provider: Provider, dialect: type[Dialect]
) -> None:
    broker = with_provider(start_guarded, provider.url)
    with closing(broker.connect(dialect.name)) as client:
        client.send(shown(dialect, token(now=now())))
        assert dialect.ask(client, dialect.publish(b"orders.new")).startswith(dialect.welcome())
        assert broker.published() == 1
        dialect.ask(client, dialect.publish(b"salaries"))
        assert broker.published() == 1
    (came,) = [entry for entry in broker.reported("audit.auth") if entry.get("protocol") == dialect.name]
    assert (came["user"], came["by"]) == ("oidc:ann", "oidc")
    for wrong in (token(OTHER_KEY, now=now()), token(now=now() - 5000), token(now=now(), padding="x" * 9000)):
        with closing(broker.connect(dialect.name)) as client:
            client.send(shown(dialect, wrong))
            refused = rest_of(client)
            # One that is too long is refused before its request is whole, so not under its id.
            assert refused.startswith(dialect.auth_error) if len(wrong) < 8192 else refused or dialect is Rq
    assert broker.published() == 1
    assert not [entry for entry in broker.reports if token().split(".")[2] in str(entry)]


@pytest.mark.parametrize("dialect", [Mqks, Rq])
def test_a_token_that_expires_ends_its_sessions(
    start_guarded: Start, provider: Provider, dialect: type[Dialect]
) -> None:
    broker = with_provider(start_guarded, provider.url, oidc_leeway_seconds=0)
    with closing(broker.connect(dialect.name)) as long, closing(broker.connect(dialect.name)) as short:
        long.send(shown(dialect, token(now=now())))
        dialect.ask(long, b"")
        assert broker.published() == 0
        short.send(shown(dialect, token(now=now(), exp=int(now()) + 2)))
        dialect.ask(short, b"")
        rest_of(short)
        dialect.ask(long, dialect.publish(b"orders.still"))
        assert broker.published() == 1
    assert len(broker.reported("audit.shown_out")) == 1


def test_a_provider_that_is_down_or_slow_stops_nobody_with_a_known_key(
    start_guarded: Start, provider: Provider
) -> None:
    broker = with_provider(start_guarded, provider.url)
    provider.hold.clear()  # it answers nobody
    for kid in ("new", "rsa"):
        with closing(broker.connect("mqks")) as client:
            client.send(Mqks.auth(token(now=now(), kid=kid)))
            if kid == "rsa":
                assert Mqks.ask(client, b"").startswith(Mqks.welcome())
            else:
                assert rest_of(client).startswith(b"a error denied")
    until(lambda: provider.asked == 2)
    provider.status = 500
    provider.hold.set()
    until(lambda: broker.reported("oidc.no_keys"))
    with closing(broker.connect("mqks")) as client:
        client.send(Mqks.auth(token(now=now())))
        assert Mqks.ask(client, b"").startswith(Mqks.welcome())


def test_a_new_key_is_fetched_when_somebody_comes_with_it(start_guarded: Start, provider: Provider) -> None:
    broker = with_provider(start_guarded, provider.url)
    provider.keys = jwk_set(jwk(OTHER_KEY, "next"), jwk(RSA_KEY, "rsa"))
    fresh = token(OTHER_KEY, kid="next", now=now())
    with closing(broker.connect("mqks")) as client:
        client.send(Mqks.auth(fresh))
        assert rest_of(client).startswith(b"a error denied")
    until(lambda: {key.id for key in broker.node.user_reloader.oidc._keys} == {"next", "rsa"})  # type: ignore[union-attr]
    with closing(broker.connect("mqks")) as client:
        client.send(Mqks.auth(fresh))
        assert Mqks.ask(client, b"").startswith(Mqks.welcome())


def test_keys_in_a_file_are_read_again_when_it_changes(start_guarded: Start, tmp_path: Path) -> None:
    path = tmp_path / "jwks.json"
    path.write_bytes(jwk_set(jwk(EC_KEY, "ec")))
    broker = with_provider(start_guarded, str(path))
    oidc_of_broker = broker.node.user_reloader.oidc
    assert oidc_of_broker is not None
    path.write_bytes(b"nonsense")
    until(lambda: broker.reported("oidc.no_keys"))
    assert [key.id for key in oidc_of_broker._keys] == ["ec"]
    path.write_bytes(ALL_KEYS)
    until(lambda: len(oidc_of_broker._keys) == 4)


def test_it_is_the_bearer_token_of_http(start_guarded: Start, provider: Provider) -> None:
    broker = with_provider(start_guarded, provider.url, http=0, oidc_quotas="messages=1000")

    def ask(shown: str, method: str, path: str, body: object = None) -> tuple[int, Any]:
        connection = http.client.HTTPConnection("127.0.0.1", broker.ports["http"], timeout=20)
        headers = {"authorization": f"Bearer {shown}", "content-type": "application/json"}
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        found = json.loads(answer.read())
        connection.close()
        return answer.status, found

    right = token(now=now(), jti="t-1")
    status, me = ask(right, "GET", "/v1/me")
    assert (status, me["user"], me["by"], me["which"], me["admin"]) == (200, "oidc:ann", "oidc", "t-1", False)
    assert me["roles"] == [{"role": "writer", "grant": "writer orders.*", "rights": ["publish", "declare"]}]
    assert me["quotas"] == {"messages": 1000}
    assert me["expires_at"]
    assert ask(right, "POST", "/v1/publish", {"event": "orders.x", "body": "x"})[0] == 201
    assert ask(right, "POST", "/v1/publish", {"event": "salaries", "body": "x"})[0] == 403
    assert ask(right, "GET", "/v1/users")[0] == 403
    for wrong in (token(OTHER_KEY, now=now()), token(now=now() - 5000), unsigned(), token(now=now(), aud="payroll")):
        status, problem = ask(wrong, "GET", "/v1/me")
        assert (status, problem["type"]) == (401, "/problems/wrong-token")
    assert [entry["why"] for entry in broker.reported("audit.auth_failed") if "why" in entry]
    status, session = ask(right, "POST", "/v1/session", {"token": right})  # and of the console
    assert (status, session["user"]) == (200, "oidc:ann")


@pytest.mark.parametrize("status", [302, 404, 500])
def test_keys_come_from_where_they_were_configured_to(provider: Provider, status: int) -> None:
    provider.status = status
    with pytest.raises(AccessError):
        fetch_keys(provider.url)
    assert provider.asked == 1


def test_keys_that_are_too_much_or_too_slow_are_given_up(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    provider.keys = b"x" * (jwks.SIZE_MAX + 1)
    with pytest.raises(AccessError, match="larger than"):
        fetch_keys(provider.url)
    provider.hold.clear()
    with pytest.raises(AccessError):
        fetch_keys(provider.url, 0.05)
