"""Reads a long log with Trigger.AvailableNow and a limit: no batch exceeds it, and memory does not grow with the log.

.venv/bin/python -m scripts.spark_backfill --rows 10000000 --limit 500000
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from bench.spark import write_log

from penstock.spark.session import spark_session


def peak_bytes() -> dict[str, int]:
    """Peak memory of this process, its JVM and its largest Python worker."""
    found: dict[str, int] = {}
    group = os.getpgid(0)
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if os.getpgid(int(path.name)) != group:
                continue
            name = "java" if b"java" in (path / "cmdline").read_bytes().split(b"\0")[0] else "python"
            lines = (path / "status").read_text().splitlines()
        except (OSError, ValueError):
            continue
        peak = next((int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM")), 0)
        found[name] = max(found.get(name, 0), peak)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--limit", type=int, default=500_000)
    options = parser.parse_args()
    os.setpgid(0, 0)
    with tempfile.TemporaryDirectory(prefix="penstock-backfill-") as scratch:
        write_log(Path(scratch, "data"), options.rows)
        spark = spark_session("backfill", "local[2]", settings={"spark.driver.memory": "1g"})
        source = spark.readStream.format("penstock").option("path", f"{scratch}/data")
        stream = source.option("maxOffsetsPerTrigger", options.limit).load()
        writer = stream.writeStream.format("noop").option("checkpointLocation", f"{scratch}/checkpoint")
        query = writer.trigger(availableNow=True).start()
        query.awaitTermination()
        sizes = [progress["numInputRows"] for progress in query.recentProgress if progress["numInputRows"]]
        peaks = peak_bytes()
        spark.stop()
    told = ", ".join(f"{name} {peak >> 20} MiB" for name, peak in sorted(peaks.items()))
    print(f"{sum(sizes):,} rows in {len(sizes)} batches, the largest {max(sizes):,}; at most {told}")
    return 0 if sum(sizes) == options.rows and max(sizes) <= options.limit else 1


if __name__ == "__main__":
    sys.exit(main())
