"""Segments written by earlier versions of the format are read for ever.

A directory below tests/vectors/log/ holds a small data directory as that version wrote it, and what is in it. It is
never written again; a new version of the format gets a directory of its own. See docs/log.md.
"""

import json
import shutil
from pathlib import Path

import pytest

from penstock.core.replay import durable_state
from penstock.log.header import begins_batch
from penstock.log.interface import Change
from penstock.message import DeliveryOptions
from penstock.storage.reader import LogReader
from penstock.storage.verify import Check

from ..storage.histories import recovered

VECTORS = sorted((Path(__file__).resolve().parent.parent / "vectors" / "log").iterdir())


def described(directory: Path) -> dict[str, object]:
    """All a log says, as JSON; bytes are text with a character for each."""

    def text(value: bytes) -> str:
        return value.decode("latin-1")

    entries: list[dict[str, object]] = []
    for entry in LogReader(directory).entries():
        if isinstance(entry, Change):
            entries.append(
                {
                    "kind": entry.kind,
                    "queue": text(entry.queue),
                    "offset": entry.offset,
                    "number": entry.number,
                    "names": [text(name) for name in entry.names],
                    "patterns": [text(pattern) for pattern in entry.patterns],
                    "due_at": entry.due_at,
                }
            )
        else:
            terms = entry.options or DeliveryOptions()
            headers = entry.headers or {}
            entries.append(
                {
                    "offset": entry.offset,
                    "id": text(entry.id),
                    "event": text(entry.event),
                    "body": text(entry.body),
                    "headers": {text(key): text(value) for key, value in headers.items()},
                    "protocol": entry.protocol,
                    "route": entry.route,
                    "published_at": entry.published_at,
                    "due_at": terms.due_at,
                    "expires_at": terms.expires_at,
                    "deliveries_max": terms.deliveries_max,
                    "dedup_seconds": terms.dedup_seconds,
                    "target": text(terms.target),
                    **({"owner": text(terms.owner)} if terms.owner else {}),
                }
            )
    state = {
        text(name): {
            "events": [text(event) for event in events],
            "patterns": [text(pattern) for pattern in patterns],
            "expires_after": expires_after,
            "owed": owed,
            "delayed": delayed,
        }
        for name, (events, patterns, expires_after, owed, delayed, _) in durable_state(recovered(directory)).items()
    }
    return json.loads(json.dumps({"entries": entries, "state": state}))


@pytest.mark.parametrize("vector", VECTORS, ids=lambda path: path.name)
def test_what_an_earlier_version_wrote_is_read(vector: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    shutil.copytree(vector, data)
    check = Check(data)
    assert {begins_batch(block.data) for block in check.blocks()} == {False, True}
    assert check.damages == []
    assert described(data) == json.loads((vector / "expected.json").read_text())


def test_version_3_says_what_was_out_who_committed_when_and_which_queue_was_used() -> None:
    broker = recovered(VECTORS[0].parent / "v3")
    assert [(lost.queue.name, len(lost.offsets)) for lost in broker.lost][-1:] == [(b"temporary", 2)]
    assert (broker.writers.batches, broker.writers.times) == ({b"ann\0daily": 7}, {b"ann\0daily": 3_000_000})
    assert broker.queues[b"temporary"].used
