"""The OpenAPI document: what it says is what is served, whatever is asked."""

import re
from collections.abc import Iterator

import hypothesis
import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from ..server.conftest import RunningBroker
from .conftest import Api

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
EXAMPLES = 5  # for each operation, of which there are many
OPERATION = re.compile(r"^(get|put|post|delete)$")

# Operations that never end are looked at elsewhere.
ENDLESS = {"/v1/live"}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBroker]:
    """A broker with a log and something of everything in it."""
    running = RunningBroker(memory=False, data=tmp_path_factory.mktemp("data"))
    running.start()
    api = Api(running.ports["http"])
    api.declare("orders", "order.created")
    api.put("orders", "one", "two")
    consumer = running.connect("mqks")
    consumer.send(b"c consume --confirm work e --manual-ack\n1 publish e x\n")
    consumer.lines(2)
    api.close()
    yield running
    running.stop()


@pytest.fixture(scope="module")
def document(served: RunningBroker) -> dict:
    return requests.get(f"http://127.0.0.1:{served.ports['http']}/openapi.json", timeout=10).json()


def operations(document: dict) -> Iterator[tuple[str, str, dict]]:
    for path, item in document["paths"].items():
        for method, operation in item.items():
            assert OPERATION.match(method)
            yield path, method, operation


def test_every_operation_says_what_it_is_for_and_how_it_fails(document: dict) -> None:
    for path, _, operation in operations(document):
        assert operation["summary"]
        assert operation["tags"]
        for status, answer in operation["responses"].items():
            assert answer["description"]
            if status >= "400" and path != "/readyz":
                assert list(answer["content"]) == ["application/problem+json"], (path, status)
        body = operation.get("requestBody")
        assert body is None or "example" in body["content"]["application/json"], path


def test_every_reference_leads_somewhere(document: dict) -> None:
    names = set(re.findall(r"#/components/schemas/(\w+)", str(document)))
    assert names <= set(document["components"]["schemas"])


@hypothesis.settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@hypothesis.given(data=hypothesis.strategies.data())
def ask_anything(
    operation: schemathesis.APIOperation, mode: GenerationMode, data: hypothesis.strategies.DataObject
) -> None:
    case = data.draw(operation.as_strategy(generation_mode=mode))
    case.call_and_validate(checks=CHECKS, timeout=20)


@pytest.mark.slow
@pytest.mark.timeout(300)  # several hundred requests, each made up at length: a minute is too short on a busy machine
def test_no_answer_is_a_surprise(served: RunningBroker) -> None:
    """Whatever the document allows, and some of what it does not, gets an answer that the document has."""
    schema = schemathesis.openapi.from_url(f"http://127.0.0.1:{served.ports['http']}/openapi.json")
    asked = 0
    for result in schema.get_all_operations():
        assert isinstance(result, Ok)
        operation = result.ok()
        if operation.path not in ENDLESS:
            ask_anything(operation, GenerationMode.POSITIVE)
            if operation.body or operation.query:
                ask_anything(operation, GenerationMode.NEGATIVE)
            asked += 1
    assert asked > 30
    assert not served.reported("http.failed")


def test_the_document_is_encoded_once_and_not_for_each_who_asks(
    served: RunningBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.http.app.document_of", None)  # whoever asked for it now would fail
    api = Api(served.ports["http"])
    told = api.get("/openapi.json")
    api.close()
    assert told.status == 200
    assert told.json["info"]["title"] == "Penstock"
