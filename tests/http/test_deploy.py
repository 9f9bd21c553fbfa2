"""The dashboard and the alert rules speak of metrics that are there."""

import json
import re
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]

from ..server.conftest import RunningBroker
from .conftest import Open

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
METRIC = re.compile(r"\b((?:penstock|process)_\w+)")


@pytest.fixture
def families(start_broker, open_api: Open, tmp_path: Path) -> set[str]:
    """The names of all samples of a broker with a log."""
    broker: RunningBroker = start_broker(memory=False, data=tmp_path)
    text = open_api(broker).get("/metrics").text
    return {re.split(r"[{ ]", line)[0] for line in text.splitlines() if not line.startswith("#")}


def check(expression: str, families: set[str]) -> None:
    used = set(METRIC.findall(expression))
    assert used, expression
    assert used <= families, expression
    for opening, closing in ("()", "[]", "{}"):
        assert expression.count(opening) == expression.count(closing), expression
    for counter in re.findall(r"(\w+_total|\w+_bucket)", expression):
        assert re.search(rf"(rate|increase)\({counter}", expression), f"{counter} only grows: {expression}"


def test_the_dashboard_shows_what_there_is(families: set[str]) -> None:
    dashboard = json.loads((DEPLOY / "grafana" / "penstock.json").read_text())
    panels = [panel for panel in dashboard["panels"] if panel["type"] != "row"]
    assert len({panel["id"] for panel in dashboard["panels"]}) == len(dashboard["panels"])
    assert len(panels) > 10
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        assert panel["title"]
        assert panel["targets"]
        for target in panel["targets"]:
            check(target["expr"].replace("$__rate_interval", "1m"), families)
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken, panel["title"]
        taken |= cells
    shown = METRIC.findall(json.dumps(panels))
    for needed in (
        "ready",
        "unacked",
        "oldest",
        "retried",
        "dead_lettered",
        "fsync",
        "loop_lag",
        "connections",
        "publishers",
    ):
        assert any(needed in metric for metric in shown), needed


def test_alerts_speak_of_what_there_is(families: set[str]) -> None:
    (group,) = yaml.safe_load((DEPLOY / "prometheus" / "penstock.rules.yml").read_text())["groups"]
    names = [rule["alert"] for rule in group["rules"]]
    assert len(names) == len(set(names))
    for rule in group["rules"]:
        assert rule["labels"]["severity"] in ("info", "warning", "critical")
        assert rule["annotations"]["summary"].endswith(".")
        if rule["alert"] != "PenstockDown":
            check(rule["expr"], families)
        assert re.fullmatch(r"\d+[sm]", rule.get("for", "1m"))
