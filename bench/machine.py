"""The machine the figures were measured on, and what the servers used of it. Read from /proc; Linux only."""

from __future__ import annotations

import os
import platform
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

PROC = Path("/proc")
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Machine:
    cpu: str
    cores: int
    memory_mb: int
    kernel: str
    python: str
    load_1min: float


def this_machine() -> Machine:
    return Machine(
        cpu=_field(PROC / "cpuinfo", "model name") or platform.processor() or "unknown CPU",
        cores=len(os.sched_getaffinity(0)),
        memory_mb=_kib(PROC / "meminfo", "MemTotal") // 1024,
        kernel=f"{platform.system()} {platform.release()}",
        python=f"{platform.python_implementation()} {platform.python_version()}",
        load_1min=os.getloadavg()[0],
    )


def process_tree(root_pid: int) -> list[int]:
    """The process and all its running descendants."""
    children: dict[int, list[int]] = {}
    for entry in PROC.iterdir():
        if entry.name.isdigit() and (fields := _stat(int(entry.name))):
            children.setdefault(int(fields[1]), []).append(int(entry.name))
    tree = [root_pid]
    for pid in tree:  # The list grows during the iteration, which makes this a breadth-first walk.
        tree.extend(children.get(pid, []))
    return tree


def rss_mb(root_pid: int) -> float:
    """Resident memory of a process and its descendants."""
    return sum(_kib(PROC / str(pid) / "status", "VmRSS") for pid in process_tree(root_pid)) / 1024


def peak_rss_mb(root_pid: int) -> float:
    return sum(_kib(PROC / str(pid) / "status", "VmHWM") for pid in process_tree(root_pid)) / 1024


def sync_ms(directory: Path, tries: int = 200) -> float:
    """The time to make 4 KiB durable on the disk of a directory: write plus fdatasync, the median of `tries`."""
    seconds = []
    file = os.open(directory / "sync", os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
    try:
        for _ in range(tries):
            started = time.perf_counter()
            os.write(file, bytes(4096))
            os.fdatasync(file)
            seconds.append(time.perf_counter() - started)
    finally:
        os.close(file)
        (directory / "sync").unlink()
    return median(seconds) * 1000


@dataclass(frozen=True)
class BrokerContext:
    """Seconds that a process and its descendants spent running, and spent runnable while waiting for a core."""

    cpu: float
    waited: float

    def since(self, before: BrokerContext) -> BrokerContext:
        return BrokerContext(self.cpu - before.cpu, self.waited - before.waited)


NO_USAGE = BrokerContext(0.0, 0.0)


def usage(root_pid: int) -> BrokerContext:
    ticks = waited_ns = 0
    for pid in process_tree(root_pid):
        if fields := _stat(pid):
            ticks += int(fields[11]) + int(fields[12])  # utime and stime, see proc(5).
        waited_ns += sum(_waited_ns(task) for task in (PROC / str(pid) / "task").glob("*"))
    return BrokerContext(ticks / _TICKS, waited_ns / 1e9)


def _waited_ns(task: Path) -> int:
    """The second field of a thread's schedstat; zero when the thread has exited or the kernel does not count it."""
    try:
        return int((task / "schedstat").read_text().split()[1])
    except (OSError, IndexError):
        return 0


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat after the command's name (state first), or nothing when the process has exited."""
    try:
        return (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _kib(path: Path, key: str) -> int:
    return int((_field(path, key) or "0 kB").split()[0])


def _field(path: Path, key: str) -> str | None:
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return None
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(key)), None)
