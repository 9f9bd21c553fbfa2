"""The dashboard and the alert rules speak of metrics that are there."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]

from penstock.config import Config

from ..server.conftest import RunningBroker
from .conftest import Open

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
METRIC = re.compile(r"\b((?:penstock|process)_\w+)")


@pytest.fixture
def families(start_broker, open_api: Open, tmp_path: Path) -> set[str]:
    """The names of all samples of a broker with a log; and of families that have none without TLS and users."""
    broker: RunningBroker = start_broker(memory=False, data=tmp_path)
    text = open_api(broker).get("/metrics").text
    without_samples = {"penstock_tls_certificate_expiry_timestamp_seconds"}
    without_samples |= {f"penstock_user_{name}_total" for name in ("published", "paused", "denied")}
    assert all(f"# TYPE {name} " in text for name in without_samples)
    return without_samples | {re.split(r"[{ ]", line)[0] for line in text.splitlines() if not line.startswith("#")}


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


UNIT = DEPLOY / "systemd" / "penstock.service"


def unit_section(name: str) -> list[tuple[str, str]]:
    """The lines of a section of the unit; a key may be there several times."""
    found, section = [], ""
    for line in UNIT.read_text().splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif section == name and "=" in line and not line.startswith("#"):
            key, _, value = line.partition("=")
            found.append((key, value))
    return found


def test_the_systemd_unit_starts_a_broker_that_may_do_little(tmp_path: Path) -> None:
    service = dict(unit_section("Service"))
    command = service["ExecStart"].split()
    assert command[1:3] == ["serve", "--config"]
    assert service["ExecReload"] == "/bin/kill -HUP $MAINPID"
    for key in (
        "NoNewPrivileges",
        "ProtectHome",
        "PrivateTmp",
        "PrivateDevices",
        "ProtectKernelModules",
        "PrivateUsers",
    ):
        assert service[key] == "true"
    assert service["ProtectSystem"] == "strict"
    most = int(service["MemoryMax"].removesuffix("M")) << 20
    assert most >= 2 * Config().memory_bytes_max + (512 << 20)
    assert service["CapabilityBoundingSet"] == ""
    assert dict(unit_section("Install"))["WantedBy"] == "multi-user.target"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not here")
def test_systemd_finds_nothing_wrong_with_the_unit(tmp_path: Path) -> None:
    # The program is elsewhere on this machine, and a unit whose program is not there is complained about.
    copy = tmp_path / UNIT.name
    copy.write_text(re.sub(r"^ExecStart=\S+", "ExecStart=/bin/true", UNIT.read_text(), flags=re.MULTILINE))
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", copy], capture_output=True, text=True, timeout=50)
    complaints = [line for line in done.stderr.splitlines() if UNIT.name in line]
    assert complaints == []
    rated = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", copy], capture_output=True, text=True, timeout=50
    )
    exposure = re.search(r"Overall exposure level for \S+: ([\d.]+)", rated.stdout)
    assert exposure is not None, rated.stderr
    assert float(exposure[1]) < 2.0


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
