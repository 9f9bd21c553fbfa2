"""Rosetta over HTTP: a message of one's own, and one that is in a queue."""

from base64 import b64decode, b64encode
from typing import Any

import pytest

from .conftest import Answer, Api


def bytes_of(rendering: Any) -> bytes:
    return b"".join(b64decode(part["base64"]) for part in rendering["parts"])


def by_protocol(answer: Answer) -> dict[str, Any]:
    assert answer.status == 200, answer.data
    return {rendering["protocol"]: rendering for rendering in answer.json["renderings"]}


def test_a_message_of_ones_own(api: Api) -> None:
    body = b64encode(b"\0\n").decode()
    found = by_protocol(
        api.post("/v1/rosetta", {"queue": "q", "event": "e", "id": "m1", "body_base64": body, "retries": 2})
    )
    assert bytes_of(found["mqks"]) == b"c1 ok m1 event=e,retry=2,encoding=base64 AAo=\n"
    assert bytes_of(found["smqs"]) == b'{"base64": "AAo="}\n'
    assert found["smqs"]["fates"]["body"]["outcome"] == "coded"
    assert found["rq"]["fates"]["body"]["outcome"] == "same"
    assert all(rendering["size"] == len(bytes_of(rendering)) for rendering in found.values())


def test_a_message_of_a_queue_as_its_consumers_will_get_it(api: Api) -> None:
    api.put("jobs/eu", "hello")
    found = by_protocol(api.get("/v1/queues/jobs%2Feu/messages/0/rosetta"))
    assert bytes_of(found["smqs"]) == b"hello\n"
    assert b" event=jobs/eu hello\n" in bytes_of(found["mqks"])
    assert api.queue("jobs/eu")["ready"] == 1


def test_long_parts_are_cut_for_looking_at(api: Api) -> None:
    found = by_protocol(api.post("/v1/rosetta", {"body": "x" * 10_000}))
    (body,) = [part for part in found["mqmq"]["parts"] if part["role"] == "body"]
    assert (len(b64decode(body["base64"])), body["size"], found["mqmq"]["size"]) == (4096, 10_000, 10_014)


@pytest.mark.parametrize(
    ("asked", "status", "names"),
    [
        ({"body": "a", "body_base64": "YQ=="}, 422, "body.body_base64"),
        ({"body_base64": "?"}, 422, "body.body_base64"),
        ({"body": "a\nb", "protocol": "mqks"}, 422, "MQKS cannot send"),
        ({"body": "a", "protocol": "sevx"}, 422, "SEVX cannot send"),
        ({"protocol": "amqp"}, 422, "body.protocol"),
        ({"retries": -1}, 422, "body.retries"),
        ({"queue": ""}, 422, "body.queue"),
        ({"queue": "ü" * 600}, 413, "name_size_max"),
        ({"body": "x" * (1 << 17) + "y"}, 413, "131073"),
        ({"colour": "red"}, 422, "body.colour"),
    ],
)
def test_what_is_wrong_is_named(api: Api, asked: dict[str, Any], status: int, names: str) -> None:
    refused = api.post("/v1/rosetta", asked)
    assert refused.status == status
    assert names in refused.json["detail"]


def test_a_message_that_is_not_there(api: Api) -> None:
    api.declare("jobs")
    assert api.get("/v1/queues/jobs/messages/7/rosetta").problem == "not-found"
    assert api.get("/v1/queues/none/messages/0/rosetta").problem == "not-found"
    assert api.get("/v1/queues/jobs/messages/x/rosetta").problem == "invalid"
