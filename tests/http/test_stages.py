"""Staged and committed: whole, once, and remembered."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from ..server.conftest import RunningBroker
from .conftest import Answer, Api, Open


def stage(api: Api, count: int, queue: str = "q") -> str:
    table = pa.table({"queue": [queue] * count, "body": [b"%d" % number for number in range(count)]})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    answer = api.post("/v1/stages", sink.getvalue().to_pybytes(), content_type="application/vnd.apache.arrow.stream")
    assert (answer.status, answer.json["messages"]) == (201, count)
    return str(answer.json["stage"])


def commit(api: Api, batch: int, *stages: str, writer: str = "w") -> Answer:
    return api.post("/v1/commits", {"writer": writer, "batch": batch, "stages": list(stages)})


def test_what_is_staged_is_seen_once_committed(api: Api) -> None:
    first, second = stage(api, 3), stage(api, 2)
    assert api.get("/v1/queues").json["total"] == 0
    done = commit(api, 0, first, second)
    assert done.status == 201
    assert done.json == {
        "writer": "w",
        "batch": 0,
        "committed": True,
        "duplicate": False,
        "messages": 5,
        "deduplicated": 0,
        "first_offset": 0,
        "next_offset": 5,
    }
    assert api.queue("q")["ready"] == 5
    again = commit(api, 0, first, second)
    assert (again.status, again.json["duplicate"], again.json["messages"]) == (200, True, 0)
    assert api.queue("q")["ready"] == 5
    assert api.get("/v1/commits/w").json == {"writer": "w", "batch": 0}
    assert api.get("/v1/commits/other").json == {"writer": "other", "batch": None}


def test_a_batch_that_is_done_again_is_not_published_again(api: Api) -> None:
    """A writer that does not know whether its commit went through stages and commits once more."""
    commit(api, 7, stage(api, 3))
    assert commit(api, 7, stage(api, 3)).json["duplicate"] is True
    assert commit(api, 6, stage(api, 3)).json["duplicate"] is True
    assert commit(api, 8, stage(api, 1)).json["duplicate"] is False
    assert commit(api, 0, stage(api, 1), writer="other").json["duplicate"] is False
    assert api.queue("q")["ready"] == 5


def test_what_was_published_before_by_its_id_is_left_out_of_a_commit(api: Api) -> None:
    once = {"queue": "q", "body": "x", "id": "same", "dedup": True}
    assert api.post("/v1/publish", once).status == 201
    again = api.post("/v1/stages", once).json["stage"]
    done = commit(api, 0, stage(api, 2), again)
    assert (done.status, done.json["messages"], done.json["deduplicated"]) == (201, 2, 1)
    assert (done.json["first_offset"], done.json["next_offset"]) == (1, 3)
    only = commit(api, 1, api.post("/v1/stages", once).json["stage"])
    assert (only.status, only.json["messages"], only.json["first_offset"]) == (201, 0, None)
    assert api.queue("q")["ready"] == 3


def test_a_writer_that_is_done_is_forgotten_when_it_says_so(api: Api) -> None:
    assert commit(api, 3, stage(api, 1), writer="once/1").status == 201
    assert api.get("/v1/commits/once%2F1").json["batch"] == 3
    assert api.ask("DELETE", "/v1/commits/once%2F1").json == {"forgotten": True}
    assert api.get("/v1/commits/once%2F1").json["batch"] is None
    assert api.ask("DELETE", "/v1/commits/once%2F1").problem == "not-found"
    assert commit(api, 0, writer="a\0b").problem == "invalid"


def test_an_aborted_stage_is_gone_and_a_commit_of_it_is_refused_whole(api: Api) -> None:
    kept, gone = stage(api, 3), stage(api, 2)
    assert api.ask("DELETE", f"/v1/stages/{gone}").json == {"aborted": True}
    assert api.ask("DELETE", f"/v1/stages/{gone}").problem == "not-found"
    assert commit(api, 0, kept, gone).problem == "not-found"
    assert api.get("/v1/queues").json["total"] == 0
    assert commit(api, 0, kept, kept).problem == "invalid"
    assert commit(api, 0, kept).status == 201


def test_a_stage_goes_when_its_time_is_over(api: Api) -> None:
    answer = api.post("/v1/stages?expires_seconds=1", {"queue": "q", "body": "x"})
    id = answer.json["stage"]
    deadline = time.monotonic() + 10
    while api.post("/v1/commits", {"writer": "probe", "batch": 0, "stages": [id, "none"]}).json["detail"].find(id) < 0:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert commit(api, 0, id).problem == "not-found"


def test_a_full_queue_refuses_a_commit_and_the_stage_stays(
    start_broker: Callable[..., RunningBroker], open_api: Open
) -> None:
    api = open_api(start_broker(queue_length_max=2))
    api.put("q", "1", "2")
    staged = stage(api, 1)
    assert commit(api, 0, staged).problem == "over-limit"
    assert api.get("/v1/commits/w").json["batch"] is None
    assert api.post("/v1/queues/q/purge").json == {"purged": 2}
    assert commit(api, 0, staged).status == 201


def test_a_commit_survives_a_kill(start_process: Callable[..., Any], open_api: Open, tmp_path: Path) -> None:
    process = start_process("--data", str(tmp_path), memory=False)
    api = open_api(process)
    assert commit(api, 3, stage(api, 500)).status == 201
    staged = stage(api, 5)
    process.process.kill()
    process.process.wait()
    again = open_api(start_process("--data", str(tmp_path), memory=False))
    assert again.queue("q")["ready"] == 500
    assert again.get("/v1/commits/w").json["batch"] == 3
    assert commit(again, 3, stage(again, 500)).json["duplicate"] is True
    assert commit(again, 4, staged).problem == "not-found"
    assert again.queue("q")["ready"] == 500


@pytest.mark.parametrize(
    "wrong",
    [
        {"writer": "", "batch": 0, "stages": []},
        {"writer": "w", "batch": -1, "stages": []},
        {"writer": "w", "batch": 1 << 70, "stages": []},
        {"writer": "w", "batch": "1", "stages": []},
        {"writer": "w", "batch": 1, "stages": "x"},
        {"writer": "w", "batch": 1},
    ],
)
def test_a_wrong_commit_is_named(api: Api, wrong: dict[str, object]) -> None:
    assert api.post("/v1/commits", wrong).problem == "invalid"


def test_one_message_is_staged_as_json(api: Api) -> None:
    answer = api.post("/v1/stages", {"event": "e", "body": "x"})
    assert (answer.status, answer.json["messages"]) == (201, 1)
    assert commit(api, 0, answer.json["stage"]).json["messages"] == 1
    assert json.loads(answer.data)["expires_at"] > "2020"
