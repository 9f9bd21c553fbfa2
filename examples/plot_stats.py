"""Plots the output of the `stats` pipeline: messages, latency, retries and dead letters, by window.

    penstock pipeline run stats --server http://127.0.0.1:7780 --to stats --once
    python examples/plot_stats.py stats plot.html      a self-contained HTML page
    python examples/plot_stats.py stats plot.png       a screenshot of that page, taken with Chromium

The output of `stats` is plain Parquet: plotting needs neither Spark nor the broker.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from datetime import datetime
from importlib.resources import files
from itertools import cycle
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

COLOURS = ("#2a6f97", "#c9622d", "#5b8c5a", "#8a5a9e", "#7a7a7a", "#d4a72c", "#3aa6a6", "#b0486b")
LATENCIES = {"latency_p50": "half of them (p50)", "latency_p95": "95 % (p95)", "latency_p99": "99 % (p99)"}
SIZE = (1200, 640)  # of the screenshot, in pixels
STYLE = (
    "body{font:15px system-ui,sans-serif;margin:16px 24px;color:#222}h1{font-size:22px;margin:0 0 8px}"
    "main{display:grid;grid-template-columns:repeat(auto-fit,minmax(480px,1fr));gap:12px 32px}h2{font-size:15px}"
)

Row = dict[str, Any]


def rows_in(directory: Path) -> list[Row]:
    """The rows that `stats` wrote, oldest window first."""
    found: list[Row] = pq.read_table(directory).to_pylist()
    return sorted(found, key=lambda row: (row["window_start"], row["event"] or "", row["queue"] or ""))


def by_window(rows: list[Row], windows: list[datetime], count: str) -> dict[str, list[int]]:
    """The count per window for each event. Events with no messages are left out."""
    found: dict[str, dict[datetime, int]] = {}
    for row in rows:
        counts = found.setdefault(row["event"], dict.fromkeys(windows, 0))
        counts[row["window_start"]] += row[count]
    return {event: list(counts.values()) for event, counts in sorted(found.items()) if any(counts.values())}


def slowest(rows: list[Row], windows: list[datetime], name: str) -> list[float | None]:
    """The latency of the slowest queue in each window, in milliseconds."""
    found: dict[datetime, float | None] = dict.fromkeys(windows)
    for row in rows:
        if row[name] is not None:
            found[row["window_start"]] = max(found[row["window_start"]] or 0.0, row[name] * 1000)
    return list(found.values())


def charts(rows: list[Row]) -> dict[str, dict[str, Any]]:
    """The charts: a title and the Chart.js configuration of each."""
    windows = sorted({row["window_start"] for row in rows})
    whole_minutes = all(window.second == 0 for window in windows)
    labels = [f"{window:%H:%M}" if whole_minutes else f"{window:%H:%M:%S}" for window in windows]
    bars = {"Messages published": by_window(rows, windows, "published")}
    bars["Messages acknowledged"] = by_window(rows, windows, "accepted")
    trouble = {f"{event}, again": counts for event, counts in by_window(rows, windows, "retries").items()}
    trouble |= {f"{event}, dead": counts for event, counts in by_window(rows, windows, "dead_letters").items()}
    bars["Retries and dead letters"] = trouble
    found: dict[str, dict[str, Any]] = {}
    for title, series in bars.items():
        sets = [
            {"label": label, "data": counts, "backgroundColor": colour, "stack": "all"}
            for (label, counts), colour in zip(series.items(), cycle(COLOURS), strict=False)
        ]
        found[title] = {"type": "bar", "data": {"labels": labels, "datasets": sets}}
    lines = [
        {"label": label, "data": slowest(rows, windows, name), "borderColor": colour, "tension": 0.2, "spanGaps": True}
        for (name, label), colour in zip(LATENCIES.items(), COLOURS, strict=False)
    ]
    found["Milliseconds from publish to acknowledge"] = {"type": "line", "data": {"labels": labels, "datasets": lines}}
    for chart in found.values():
        stacked = {"stacked": chart["type"] == "bar", "beginAtZero": True}
        chart["options"] = {"animation": False, "aspectRatio": 2.5, "scales": {"x": stacked, "y": stacked}}
    return {title: chart for title, chart in found.items() if chart["data"]["datasets"]}


def page_of(rows: list[Row], title: str) -> str:
    """A single HTML file with the data and Chart.js inlined."""
    library = files("penstock.http").joinpath("console", "vendor", "chart.js").read_text()
    parts = [f"<!doctype html><meta charset=utf-8><title>{title}</title><style>{STYLE}</style><h1>{title}</h1>"]
    parts.append(f"<script>{library}</script><main>")
    for number, (name, chart) in enumerate(charts(rows).items()):
        parts.append(f"<div><h2>{name}</h2><canvas id=chart{number}></canvas></div>")
        parts.append(f"<script>new Chart(document.getElementById('chart{number}'), {json.dumps(chart)})</script>\n")
    return "".join(parts)


def draw(directory: Path, target: Path, title: str = "Messages by window") -> None:
    page = page_of(rows_in(directory), title)
    if target.suffix != ".png":
        target.write_text(page)
        return
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        raise SystemExit("a picture needs Chromium (apt-get install chromium); plot.html needs nothing")
    with tempfile.TemporaryDirectory() as scratch:
        (Path(scratch) / "plot.html").write_text(page)
        command = [chromium, "--headless", "--no-sandbox", "--hide-scrollbars", f"--user-data-dir={scratch}/profile"]
        command += [f"--window-size={SIZE[0]},{SIZE[1]}", f"--screenshot={target.absolute()}"]
        subprocess.run([*command, f"file://{scratch}/plot.html"], check=True, capture_output=True, timeout=120)


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__)
        return 2
    draw(Path(sys.argv[1]), Path(sys.argv[2]))
    print(sys.argv[2])
    return 0


if __name__ == "__main__":
    sys.exit(main())
