"""Builds a SparkSession with the settings that matter; a local one needs no configuration.

- Workers must run this Python, or they fail to connect back.
- A host name may resolve to an unreachable address, so a local master stays on loopback.
- Without Java, Spark's error is not helpful, so Java is checked first.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import subprocess
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path

from pyspark.sql import SparkSession

from penstock.errors import Error

JAVA_MIN = 17
LOG_SETTINGS = Path(__file__).with_name("log4j2.properties")
DEFAULTS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",  # what other readers of Parquet expect
    "spark.sql.parquet.compression.codec": "zstd",
    "spark.sql.maxConcurrentOutputFileWriters": "64",  # up to this many events are written without sorting first
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
}
LOCAL_DEFAULTS = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": str(max(os.cpu_count() or 1, 2)),
    "spark.driver.memory": "2g",
}


class NoJava(Error):
    """Spark cannot start, because there is no suitable Java."""


def spark_session(
    name: str, master: str = "", remote: str = "", settings: Mapping[str, str] | None = None
) -> SparkSession:
    """Create a pipeline's session. `remote` is a Spark Connect server, `master` a cluster; default is this machine."""
    if settings and "spark.pyspark.python" in settings:
        os.environ["PYSPARK_PYTHON"] = settings["spark.pyspark.python"]  # only spark-submit reads the setting
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    builder = SparkSession.builder.appName(name)
    chosen = dict(DEFAULTS)
    if remote:
        builder = builder.remote(remote)
        chosen = {key: value for key, value in chosen.items() if key.startswith("spark.sql.")}
    else:
        master = master or "local[*]"
        require_java()
        builder = builder.master(master)
        if master.startswith("local"):
            os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
            chosen |= LOCAL_DEFAULTS
    chosen |= dict(settings or {})
    if not remote:
        given = chosen.get("spark.driver.extraJavaOptions", "")
        chosen["spark.driver.extraJavaOptions"] = f"-Dlog4j2.configurationFile={LOG_SETTINGS.as_uri()} {given}".strip()
    for key, value in chosen.items():
        builder = builder.config(key, value)
    _quieten()
    return builder.getOrCreate()


def require_java() -> None:
    """Raise NoJava, with instructions, if there is no suitable Java."""
    home = os.environ.get("JAVA_HOME", "")
    program = str(Path(home, "bin", "java")) if home else shutil.which("java")
    if program is None:
        raise NoJava(f"Spark needs Java {JAVA_MIN} or newer: apt-get install -y openjdk-17-jre-headless")
    try:
        answer = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)  # noqa: S603
    except OSError as error:
        raise NoJava(f"Spark needs Java {JAVA_MIN} or newer, and {program} does not start: {error.strerror}") from None
    version = re.search(r"\b(\d+)[.\d+-]", answer.stdout)
    if version is None or int(version[1]) < JAVA_MIN:
        found = (answer.stdout or answer.stderr).split("\n")[0]
        raise NoJava(f"Spark needs Java {JAVA_MIN} or newer; {program} is {found!r}; set JAVA_HOME to use another")


def _quieten() -> None:
    """Silence the warnings and messages that Spark emits at every start."""
    warnings.filterwarnings("ignore", category=DeprecationWarning, module=r"pyspark\..*")
    logging.getLogger("py4j").setLevel(logging.ERROR)
