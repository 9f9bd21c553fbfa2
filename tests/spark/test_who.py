"""Source, sink, listener and pipelines with a token over https: let in, not let in, and nothing secret left behind."""

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from pyspark.errors import PySparkException

from penstock.spark.client import BrokerClient, BrokerDistrusted, BrokerRefused
from penstock.spark.listener import PenstockListener, Report
from penstock.spark.options import Connection, OptionError, SourceOptions, parse
from penstock.spark.schema import schema_of
from penstock.spark.source import LogStreamReader
from penstock.testing import Broker

RIGHTS = ["publish *", "declare *", "read-log", "browse *", "consume *"]


@pytest.fixture(scope="module")
def secure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    data = str(tmp_path_factory.mktemp("secure"))
    with Broker(http=0, data=data, users={"alice": RIGHTS, "bob": []}, tls=True, client="carol") as running:
        running.people.add({"carol": RIGHTS})
        running.people.certify("carol", "CN:carol")
        yield running


def said(broker: Broker, user: str = "alice") -> dict[str, str]:
    # It would be waited for a long time, if a refusal were something to wait for.
    who = {"tokenFile": broker.token_file(user)} if user else {}
    return {"servers": broker.url, "caFile": broker.ca_file, "retryFor": "10m", **who}


def test_rows_go_in_and_come_out_and_leave_no_secret(spark, secure, tmp_path, capfd) -> None:
    told: list[Report] = []
    listener = PenstockListener(name="copy", tell=told.append, **said(secure))
    spark.streams.addListener(listener)
    try:
        spark.createDataFrame([("x",), ("y",)], "body string").write.format("penstock").mode("append").options(
            **said(secure), event="copied"
        ).save()
        stream = spark.readStream.format("penstock").options(**said(secure), events="copied", payload="string").load()
        stream.explain(True)
        query = (
            stream.selectExpr("'again' as event", "body")
            .writeStream.format("penstock")
            .options(**said(secure), checkpointLocation=str(tmp_path / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        assert query.awaitTermination(120)
        query.explain(True)
        progress = str(query.lastProgress) + str(query.status)
        frame = spark.read.format("penstock").options(**said(secure), payload="string").load()
        frame.explain(True)
        assert [(row.event, row.body) for row in frame.sort("offset").collect()] == [
            *(("copied", body) for body in "xy"),
            *(("again", body) for body in "xy"),
        ]
        assert listener.ended.wait(30)
    finally:
        spark.streams.removeListener(listener)
    out, err = capfd.readouterr()
    secret = secure.people.tokens["alice"][13:]
    written = b"".join(path.read_bytes() for path in (tmp_path / "checkpoint").rglob("*") if path.is_file())
    plan = frame._jdf.queryExecution().toString()
    assert "penstock" in plan.lower()
    for place in (out, err, progress, plan, repr(frame), repr(told), str(secure.reports), written.decode("latin1")):
        assert secret not in place


@pytest.fixture
def wrong(secure: Broker, tmp_path: Path) -> Path:
    file = tmp_path / "wrong"
    file.write_text(secure.people.tokens["alice"][:-4] + "AAAA")
    return file


def test_a_wrong_token_ends_a_query_at_once(spark, secure, wrong) -> None:
    rows = spark.createDataFrame([("x",)], "body string").write.format("penstock").mode("append")
    with pytest.raises(PySparkException, match=rf"refused the request \(401 .*{wrong.read_text()[:12]}") as refused:
        rows.options(**{**said(secure), "tokenFile": str(wrong)}, event="e").save()
    assert wrong.read_text()[13:] not in str(refused.value)


def test_what_is_refused_is_not_asked_again(secure, wrong) -> None:
    for options, reason in (
        ({**said(secure), "tokenFile": str(wrong)}, rf"refused the request \(401 .*{wrong.read_text()[:12]}"),
        (said(secure, ""), r"refused the request \(401 .*no token was sent: set tokenFile"),
        (said(secure, "bob"), r"refused the request \(403 .*bob"),
    ):
        began = len(secure.reports)
        with pytest.raises(BrokerRefused, match=reason) as refused:
            LogStreamReader(SourceOptions.of(options), schema_of(SourceOptions.of(options))).initialOffset()
        assert wrong.read_text()[13:] not in str(refused.value)
        assert sum(event == "audit.auth_failed" for _, event, _ in secure.reports[began:]) <= 1
    with pytest.raises(BrokerRefused, match=r"refused the request \(403 .*bob"):
        BrokerClient(parse(Connection, said(secure, "bob"))).post("/v1/publish", {"event": "e", "body": "x"})


def test_a_broker_that_is_not_believed_is_not_waited_for(secure, tmp_path) -> None:
    def ask(**given: str) -> object:
        return BrokerClient(parse(Connection, {**said(secure), **given})).get("/v1/overview")

    assert ask()
    assert ask(servers=secure.url.replace("127.0.0.1", "localhost"))
    with pytest.raises(BrokerDistrusted, match=r"its certificate is not trusted: .*option caFile"):
        ask(caFile=str(secure.files / "client.pem"))
    with pytest.raises(OptionError, match="nowhere cannot be read"):
        ask(caFile=str(tmp_path / "nowhere"))
    # A certificate instead of a token.
    files = {"certFile": str(secure.files / "client.pem"), "keyFile": str(secure.files / "client.key")}
    connection = parse(Connection, {**said(secure, ""), **files})
    assert BrokerClient(connection).get("/v1/overview")


def test_the_environment_says_who_comes(secure, monkeypatch) -> None:
    def ask(**given: str) -> object:
        return BrokerClient(parse(Connection, {"servers": secure.url, **given})).get("/v1/overview")

    monkeypatch.setenv("PENSTOCK_CA_FILE", secure.ca_file)
    with pytest.raises(BrokerRefused, match="no token was sent"):
        ask()
    monkeypatch.setenv("PENSTOCK_TOKEN", secure.people.tokens["alice"])
    assert ask()
    with pytest.raises(BrokerRefused, match=r"refused the request \(403"):
        ask(tokenFile=str(Path(secure.token_file("bob"))))
