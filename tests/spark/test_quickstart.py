"""The quickstart does what it says, with the Spark that is there."""

import json

import pytest

pytest.importorskip("pyspark")

import pyarrow.parquet as pq
from examples.spark_quickstart import quickstart


def test_the_quickstart_makes_a_page_of_what_it_counted(spark, tmp_path, capsys) -> None:
    page = quickstart(spark, tmp_path, bursts=3).read_text()
    orders = int(capsys.readouterr().out.split()[0])
    chart = json.loads(page[page.rindex("'chart'), ") + len("'chart'), ") : page.rindex(")</script>")])
    latency, *bars = chart["data"]["datasets"]
    counted = {bar["label"]: sum(bar["data"]) for bar in bars}
    assert counted == {"order.placed": orders, "shop.closed": 1, "shop.visited": 3}
    assert any(value is not None for value in latency["data"])
    assert len(chart["data"]["labels"]) == len(latency["data"])
    assert "Chart.js" in page
    found = pq.read_table(tmp_path / "stats").to_pylist()
    assert sum(row["accepted"] for row in found if row["queue"] == "orders") == orders
