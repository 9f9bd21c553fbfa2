"""The quickstart does what it says, with the Spark that is there, and what it counted is drawn."""

import json
import re
import shutil
from pathlib import Path

import pytest

pytest.importorskip("pyspark")

import pyarrow.parquet as pq
from examples import plot_stats
from examples.spark_quickstart import VISITS, quickstart


def drawn(page: str) -> dict[str, dict[str, int]]:
    """For each chart its series, each with the sum of what is drawn."""
    titles = re.findall(r"<h2>(.*?)</h2>", page)
    charts = [json.loads(text) for text in re.findall(r"'chart\d+'\), (\{.*\})\)</script>", page)]
    assert len(titles) == len(charts)
    found = {}
    for title, chart in zip(titles, charts, strict=True):
        data = chart["data"]
        assert all(len(series["data"]) == len(data["labels"]) for series in data["datasets"])
        found[title] = {series["label"]: sum(filter(None, series["data"])) for series in data["datasets"]}
    return found


def test_the_quickstart_makes_a_page_of_what_it_counted(spark, tmp_path: Path, capsys) -> None:
    page = quickstart(spark, tmp_path, bursts=3).read_text()
    orders = int(capsys.readouterr().out.split()[0])
    found = pq.read_table(tmp_path / "stats").to_pylist()
    retries = sum(row["retries"] for row in found)
    assert sum(row["accepted"] for row in found if row["queue"] == "orders") == orders
    shown = drawn(page)
    assert shown["Messages published"] == {"order.placed": orders, "shop.closed": 1, "shop.visited": 3 * VISITS}
    assert shown["Messages acknowledged"] == {"order.placed": orders}
    assert shown.get("Retries and dead letters", {"order.placed, again": 0}) == {"order.placed, again": retries}
    assert list(shown["Milliseconds from publish to acknowledge"]) == list(plot_stats.LATENCIES.values())
    assert "Chart.js" in page
    if shutil.which("chromium"):
        plot_stats.draw(tmp_path / "stats", tmp_path / "plot.png")
        assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")
