"""A real standalone Spark cluster on loopback: a master and two workers, each a process; nothing is downloaded.

with Cluster(directory) as cluster:
    ... --master cluster.address
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pyspark

SPARK_CLASS = Path(pyspark.__file__).parent / "bin" / "spark-class"
JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
START_SECONDS = 120
WORKERS = 2
# Settings of a driver outside the cluster, with everything on one small machine.
SETTINGS = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.driver.extraJavaOptions": JAVA_OPTIONS,
    "spark.executor.memory": "512m",
    "spark.executor.extraJavaOptions": JAVA_OPTIONS,
    "spark.sql.shuffle.partitions": "2",
}


class Cluster:
    """Use with `with`. The directory holds its logs and those of its applications."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.address = ""
        self._processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Cluster:
        self.directory.mkdir(parents=True, exist_ok=True)
        try:
            log = self._start("master", "master.Master")
            self.address = _found_in(log, r"Starting Spark master at (spark://\S+)")
            room = ("--cores", "1", "--memory", "1g", "--work-dir", str(self.directory / "work"))
            logs = [self._start(f"worker-{n}", "worker.Worker", *room, self.address) for n in range(WORKERS)]
            for log in logs:
                _found_in(log, r"Successfully registered with master (\S+)")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        tasks = [*self.executors(), *self.python_workers()]
        for process in self._processes:
            process.kill()
            process.wait()
        for pid in tasks:
            kill(pid)

    def executors(self) -> list[int]:
        """The Java processes that run tasks."""
        return [pid for pid, line in self._below() if b"CoarseGrainedExecutorBackend" in line]

    def python_workers(self) -> list[int]:
        """The Python processes that the executors have started."""
        return [pid for pid, line in self._below() if b"pyspark.daemon" in line]

    def executors_ever(self) -> int:
        """How many executors there were, over all applications."""
        return len(list((self.directory / "work").glob("app-*/*")))

    def _start(self, name: str, kind: str, *arguments: str) -> Path:
        environment = os.environ | {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
        environment |= {"SPARK_NO_DAEMONIZE": "1", "SPARK_DAEMON_JAVA_OPTS": JAVA_OPTIONS}
        environment["SPARK_DAEMON_MEMORY"] = "256m"
        place = ("--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        log = self.directory / f"{name}.log"
        command = [str(SPARK_CLASS), f"org.apache.spark.deploy.{kind}", *place, *arguments]
        with log.open("wb") as out:
            self._processes.append(subprocess.Popen(command, stdout=out, stderr=out, env=environment))
        return log

    def _below(self) -> list[tuple[int, bytes]]:
        """All descendants of our processes, with their command lines."""
        parents: dict[int, int] = {}
        for path in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError, ValueError, IndexError):
                parents[int(path.name)] = int((path / "stat").read_text().rpartition(")")[2].split()[1])
        ours = {process.pid for process in self._processes}
        while more := {pid for pid, parent in parents.items() if parent in ours and pid not in ours}:
            ours |= more
        found = []
        for pid in sorted(ours & set(parents)):
            with contextlib.suppress(OSError):
                found.append((pid, Path("/proc", str(pid), "cmdline").read_bytes()))
        return found


def kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, 9)


def _found_in(log: Path, pattern: str) -> str:
    deadline = time.monotonic() + START_SECONDS
    while (found := re.search(pattern, log.read_text(errors="replace"))) is None:
        if time.monotonic() > deadline:
            raise TimeoutError(f"the cluster does not start:\n{log.read_text(errors='replace')}")
        time.sleep(0.1)
    return found[1]
