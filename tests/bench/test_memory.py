"""One client does not get a broker above its memory: some of the attacks of `bench.memory`, on a smaller scale.

What a process takes that does nothing is measured first, since it is another one where the core is not compiled: the
bar is what twice `memory_bytes_max` may add to that, and Arrow's library.
"""

import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from bench.attacking import Target, field_of, wait_for_http
from bench.memory import MIB, broker_on
from bench.memory_attacks import ATTACKS
from bench.memory_backlog import fill

from penstock.testing import BrokerProcess

LIMIT = 32 * MIB
BACKLOG_BYTES = 150_000_000
LARGEST_BODY = 2_000_000  # one message may take some times its size, whatever the limit is
SECONDS = 1.5
ARROW = 50 * MIB  # what its library takes, which the first lease loads

pytestmark = pytest.mark.timeout(600)  # the first test of the module builds the backlog for all

CHOSEN = [
    "mqks: reads all, acks nothing, every queue",
    "sevx: reads all, acks nothing, small",
    "smqs: reads nothing, every queue",
    "mqks: redrive --limit=1 of what is not dead",
    "http: one lease of 100,000 small",
    "http: one lease of 100,000 medium",
    "http: searches for what is not there",
    "http: moves nothing by a search",
]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory with a backlog of more than twice what the broker may hold."""
    directory = tmp_path_factory.mktemp("memory") / "data"
    directory.mkdir()
    broker = broker_on(directory, LIMIT).start()
    try:
        fill(broker.ports, BACKLOG_BYTES, LARGEST_BODY)
    finally:
        broker.stop()
    return directory


@pytest.fixture
def broker(built: Path, tmp_path: Path) -> Iterator[BrokerProcess]:
    data = tmp_path / "data"
    shutil.copytree(built, data)
    running = broker_on(data, LIMIT).start()
    try:
        yield running
    finally:
        running.kill()


@pytest.mark.parametrize("name", CHOSEN)
def test_no_client_gets_the_process_above_what_its_limit_allows(broker: BrokerProcess, name: str) -> None:
    assert broker.process is not None
    pid = broker.process.pid
    wait_for_http(broker.ports["http"])
    idle = field_of(pid, "VmRSS")
    Path(f"/proc/{pid}/clear_refs").write_text("5")  # the peak is counted from here on: a start has its own
    target = Target(broker.ports, time.time() + SECONDS)
    try:
        ATTACKS[name](target)
    finally:
        target.close()
    assert broker.process.poll() is None
    peak = field_of(pid, "VmHWM")
    allowed = 2 * LIMIT + (ARROW if "lease" in name else 0)
    assert peak < idle + allowed, f"{peak / MIB:.0f} MiB, {idle / MIB:.0f} MiB before"
