"""Source and queue mode against a real broker over HTTP."""

import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

pytest.importorskip("pyspark")

from pyspark.errors import PySparkException
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows
from tests.spark.readers import reader, rows

from penstock.spark.client import BrokerClient, BrokerRefused, BrokerUnreachable
from penstock.spark.listener import PenstockListener, Report
from penstock.spark.options import Connection, OptionError, SourceOptions
from penstock.spark.queues import QueueStreamReader
from penstock.spark.schema import schema_of
from penstock.spark.source import LogStreamReader


def test_the_log_of_a_broker_is_a_table(spark, broker) -> None:
    broker.publish("a", *map(str, range(10)))
    broker.put("jobs", "last")
    frame = spark.read.format("penstock").options(servers=broker.url, payload="string", minPartitions=3).load()
    found = sorted((row.offset, row.event, row.queue, row.body) for row in frame.collect())
    assert found == [(n, "a", None, str(n)) for n in range(10)] + [(10, "jobs", "jobs", "last")]


def test_latest_is_where_the_cursor_began_however_often_it_is_asked(broker) -> None:
    broker.publish("e", "before", "before")
    first = reader(broker, startingOffsets="latest", cursor="job")
    assert first.initialOffset() == {"log": 2}
    broker.publish("e", "after", "after")
    assert first.initialOffset() == {"log": 2}
    again = reader(broker, startingOffsets="latest", cursor="job")  # another process, after a crash
    start = again.initialOffset()
    end = again.latestOffset(start, ReadAllAvailable())
    assert (start, end) == ({"log": 2}, {"log": 4})
    assert [row["body"] for row in rows(again, start, end)] == [b"after", b"after"]


def test_a_cursor_outlives_the_broker_and_says_how_far_its_reader_is(broker, tmp_path) -> None:
    broker.publish("e", "0", "1", "2")
    stream = reader(broker, cursor="job")
    assert stream.latestOffset({"log": 0}, ReadMaxRows(2)) == {"log": 2}
    assert stream.latestOffset({"log": 2}, ReadMaxRows(2)) == {"log": 3}
    (row,) = broker.ask("GET", "/v1/cursors")["cursors"]
    assert (row["name"], row["reached"], row["lag"]) == ("job", 2, 1)
    assert stream.reportLatestOffset() == {"log": 3}


def test_a_limit_in_bytes_is_asked_of_the_broker(broker) -> None:
    for _ in range(5):
        broker.publish("e", "x" * 3000)
    stream = reader(broker, maxBytesPerTrigger=7000)
    places = [{"log": 0}]
    while (place := stream.latestOffset(places[-1], stream.getDefaultReadLimit())) != places[-1]:
        places.append(place)
    assert [place["log"] for place in places] == [0, 2, 4, 5]


def test_a_queue_gives_each_message_once_and_is_acknowledged_batch_by_batch(broker) -> None:
    broker.put("jobs", *map(str, range(5)))
    stream = reader(broker, QueueStreamReader, mode="queue", queues="jobs")
    stream.prepareForTriggerAvailableNow()
    broker.put("jobs", "later")
    first = stream.latestOffset({"batch": 0}, ReadMaxRows(3))
    assert [row["body"] for row in rows(stream, {"batch": 0}, first)] == [b"0", b"1", b"2"]
    assert broker.ask("GET", "/v1/queues/jobs")["unacked"] == 3
    second = stream.latestOffset(first, ReadMaxRows(3))
    assert [row["body"] for row in rows(stream, first, second)] == [b"3", b"4"]
    queue = broker.ask("GET", "/v1/queues/jobs")
    assert (queue["ready"], queue["unacked"]) == (1, 2)
    assert stream.latestOffset(second, ReadMaxRows(3)) == second  # what came later is for the next run
    assert broker.ask("GET", "/v1/queues/jobs")["unacked"] == 0


def test_what_a_dead_driver_held_comes_to_the_next_one_of_its_name(broker) -> None:
    broker.put("jobs", "0", "1")
    options = {"mode": "queue", "queues": "jobs", "cursor": "loader"}
    dead = reader(broker, QueueStreamReader, **options)
    held = dead.latestOffset({"batch": 0}, ReadMaxRows(10))
    assert len(rows(dead, {"batch": 0}, held)) == 2
    alive = reader(broker, QueueStreamReader, **options)
    assert rows(alive, {"batch": 0}, held) == []  # the batch Spark runs again is empty
    end = alive.latestOffset(held, ReadMaxRows(10))
    assert [row["body"] for row in rows(alive, held, end)] == [b"0", b"1"]


def test_an_unknown_queue_is_told(broker) -> None:
    with pytest.raises(BrokerRefused, match="there is no queue 'nobody'"):
        reader(broker, QueueStreamReader, mode="queue", queues="nobody").latestOffset({"batch": 0}, ReadMaxRows(1))


def test_a_broker_that_is_away_is_waited_for_and_then_named() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{unused.getsockname()[1]}"
    began = time.monotonic()
    with pytest.raises(BrokerUnreachable, match=r"tried (once|\d+ times in .* s); option retryFor"):
        BrokerClient(Connection((address,), retry_for=0.5)).get("/healthz")
    assert time.monotonic() - began < 30


def test_another_server_of_the_list_answers_in_its_place(broker) -> None:
    client = BrokerClient(Connection(("http://127.0.0.1:1", broker.url)))
    assert client.get("/healthz") == {"status": "ok"}


def test_a_connection_that_was_closed_for_being_idle_is_no_broker_that_is_away(broker) -> None:
    client = BrokerClient(Connection((broker.url,), retry_for=0))
    client.get("/healthz")
    assert client._connection is not None
    client._connection.sock.shutdown(socket.SHUT_RDWR)
    assert client.get("/healthz") == {"status": "ok"}


class CuttingProxy(threading.Thread):
    """Passes bytes on to a broker, and cuts each connection after so many of them."""

    def __init__(self, port: int, after: int) -> None:
        super().__init__(daemon=True)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.port, self.after, self.cuts = port, after, 0

    def run(self) -> None:
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            with client, socket.create_connection(("127.0.0.1", self.port)) as server:
                server.sendall(client.recv(1 << 16))
                left = self.after
                while left > 0 and (data := server.recv(min(left, 1 << 16))):
                    client.sendall(data)
                    left -= len(data)
                self.cuts += 1

    def close(self) -> None:
        self.listener.close()


def test_a_stream_that_breaks_goes_on_where_it_was(broker) -> None:
    for _ in range(20):
        broker.publish("e", "x" * 400_000)
    stream = reader(broker)
    proxy = CuttingProxy(broker.ports["http"], 3_000_000)  # a batch or two
    proxy.start()
    cut = LogStreamReader(SourceOptions.of({"servers": proxy.url}), schema_of(stream.options))
    found = [row["offset"] for batch in cut.rows(0, 20) for row in batch.to_pylist()]
    proxy.close()
    assert found == list(range(20))
    assert proxy.cuts > 2


def test_a_checkpoint_of_another_log_is_noticed(broker) -> None:
    broker.publish("e", "0")
    with pytest.raises(Exception, match="the checkpoint is at offset 50, but the log ends at 1"):
        reader(broker).latestOffset({"log": 50}, ReadAllAvailable())


def test_a_listener_tells_the_broker_how_a_query_is_doing(spark, broker, tmp_path) -> None:
    broker.publish("e", *map(str, range(20)))
    told: list[Report] = []
    listener = PenstockListener(broker.url, "copy", tell=told.append)
    spark.streams.addListener(listener)
    try:
        stream = spark.readStream.format("penstock").options(servers=broker.url, maxOffsetsPerTrigger=10).load()
        query = stream.writeStream.format("noop").option("checkpointLocation", str(tmp_path / "c"))
        query.trigger(availableNow=True).start().awaitTermination()
        assert listener.ended.wait(60)
    finally:
        spark.streams.removeListener(listener)
    assert [(report.rows, report.lag) for report in told if report.rows] == [(10, 10), (10, 0)]
    (pipeline,) = broker.ask("GET", "/v1/pipelines")["pipelines"]
    assert (pipeline["name"], pipeline["state"], pipeline["lag"]) == ("copy", "done", 0)
    assert (pipeline["rows_total"], pipeline["batches"]) == (20, 2)


def test_a_report_goes_with_the_token_that_was_given(tmp_path) -> None:
    seen: list[tuple[str, str | None]] = []

    class Door(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            seen.append((self.path, self.headers["authorization"]))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    (tmp_path / "token").write_text("tell-nobody\n")
    with HTTPServer(("127.0.0.1", 0), Door) as door:
        threading.Thread(target=door.handle_request, daemon=True).start()
        url = f"http://127.0.0.1:{door.server_port}"
        listener = PenstockListener(url, "copy", tokenFile=str(tmp_path / "token"))
        listener._send(Report("copy", 0, 1, 1.0, 1.0, 1, 1, "running"))
    assert seen == [("/v1/pipelines/copy", "Bearer tell-nobody")]
    with pytest.raises(OptionError, match="colour"):
        PenstockListener(url, "copy", colour="red")


def test_a_broken_query_says_why(spark, broker) -> None:
    with pytest.raises(PySparkException, match="is after the end of the log, 0"):
        spark.read.format("penstock").options(servers=broker.url, startingOffsets=5).load().count()


def test_latest_on_a_moving_log_has_no_gap(spark, broker, tmp_path) -> None:
    """Messages come all the time, also between the calls with which Spark asks where a query begins and ends."""
    over = threading.Event()

    def publish() -> None:
        while not over.is_set():
            broker.publish("e", "x")

    publisher = threading.Thread(target=publish)
    publisher.start()
    seen: list[int] = []
    try:
        for _ in range(2):
            options = {"servers": broker.url, "startingOffsets": "latest", "cursor": "moving"}
            stream = spark.readStream.format("penstock").options(**options, columns="offset").load()
            query = stream.writeStream.option("checkpointLocation", str(tmp_path / "c")).foreachBatch(
                lambda frame, _: seen.extend(row.offset for row in frame.collect())
            )
            query.trigger(availableNow=True).start().awaitTermination()
    finally:
        over.set()
        publisher.join()
    (cursor,) = broker.ask("GET", "/v1/cursors")["cursors"]
    assert len(seen) > 1
    assert sorted(seen) == list(range(cursor["start"], cursor["start"] + len(seen)))
