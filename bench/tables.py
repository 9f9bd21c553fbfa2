"""From the log to Parquet with Spark: runs `bench.spark` in a process of its own, since it starts Java.

It can thus be killed when it takes too long, and the rest of the bench needs neither Spark nor Java.
"""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys

from bench.results import Results, Tables
from bench.turns import directory, say

CEILING = "memory (ceiling)"
FILES = "log files"
HTTP = "broker, HTTP"
PARQUET = "spark.read.parquet"
SECONDS_MAX = 600.0
"""How long all of it may take."""


def run_tables(rows: int, rounds: int, results: Results) -> None:
    """Measures the rows per second of each feed; without Spark or Java, records why there are none."""
    reason = why_not()
    if reason:
        results.missing["spark"] = reason
        say(f"spark: {reason}")
        return
    say(f"spark: {rows:,} rows to Parquet, {rounds} rounds")
    found = measured(rows, rounds)
    results.tables = found
    say(f"spark: {found.failure or ', '.join(f'{name} {found.rate(name):,.0f}' for name in found.feeds)}")


def why_not() -> str:
    """What is missing; empty when Spark can start."""
    for name in ("pyspark", "pyarrow"):
        if importlib.util.find_spec(name) is None:
            return f"{name} is not installed: pip install 'penstock-mq[spark]'"
    from penstock.spark.session import NoJava, require_java

    try:
        require_java()
    except NoJava as error:
        return str(error)
    return ""


def measured(rows: int, rounds: int, seconds_max: float = SECONDS_MAX) -> Tables:
    """Runs for at most `seconds_max`, and leaves no process behind."""
    with directory() as scratch:
        command = [sys.executable, "-m", "bench.spark", "--rows", str(rows), "--rounds", str(rounds)]
        command += ["--json", str(scratch / "figures.json")]
        errors = scratch / "errors"
        with errors.open("wb") as told:
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=told, start_new_session=True)
            try:
                process.wait(seconds_max)
            except subprocess.TimeoutExpired:
                return Tables(rows, failure=f"not done after {seconds_max:g} s")
            finally:
                # Kill the whole session: Spark's Java and the broker would outlive a killed parent.
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
        if process.returncode:
            lines = errors.read_text(errors="replace").strip().splitlines()
            return Tables(rows, failure=lines[-1] if lines else f"exit code {process.returncode}")
        figures = json.loads((scratch / "figures.json").read_text())
    return Tables(rows, figures["size"], figures["rows_per_second"])
