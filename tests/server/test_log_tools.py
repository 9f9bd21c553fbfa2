"""The tools of the log beside a broker that writes."""

import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from penstock.storage.reader import LogReader

from .conftest import RunningBroker


def frame(*values: bytes) -> bytes:
    body = b"".join(len(value).to_bytes(4, "big") + value for value in values)
    return len(body).to_bytes(4, "big") + body


def tool(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "penstock.cli.main", *arguments], capture_output=True, text=True, timeout=30, check=False
    )


@pytest.mark.process
def test_a_reader_and_a_backup_beside_a_writing_broker(
    start_broker: Callable[..., RunningBroker], tmp_path: Path
) -> None:
    """Publishers go on all the time; each look at the log sees an exact prefix, and so does the backup."""
    data, copy = tmp_path / "data", tmp_path / "copy"
    broker = start_broker(memory=False, data=str(data), segment_bytes_max=65536, sync="off")
    client = broker.connect("mqmq")
    sent = 0
    stop = threading.Event()

    def publish() -> None:
        nonlocal sent
        while not stop.is_set():
            client.send(b"".join(frame(b"Put", b"q", b"%d" % (sent + step)) for step in range(20)))
            client.read(20 * len(frame(b"OK")))
            sent += 20

    producer = threading.Thread(target=publish)
    producer.start()
    try:
        reader = LogReader(data)
        cursor = reader.cursor()
        seen = 0
        while seen < 2000:
            block = cursor.next_block()
            for index in range(0 if block is None else block.message_count):
                assert block is not None
                assert block.message(index).body == b"%d" % seen
                seen += 1
        cursor.close()
        confirmed = sent
        done = tool("backup", str(data), str(copy))
        assert (done.returncode, done.stderr) == (0, "")
        assert tool("log", "verify", str(data)).returncode == 0
    finally:
        stop.set()
        producer.join(10)
    bodies = [message.body for message in LogReader(copy).messages()]
    assert len(bodies) >= confirmed
    assert bodies == [b"%d" % number for number in range(len(bodies))]
    refused = tool("log", "repair", str(data))
    assert (refused.returncode, "in use by another process" in refused.stderr) == (1, True)
    restored = tool("restore", str(copy), str(tmp_path / "new"))
    assert restored.returncode == 0
    again = start_broker(memory=False, data=str(tmp_path / "new"), sync="off")
    assert again.call(lambda: again.node.broker.queues[b"q"].ready) == len(bodies)
