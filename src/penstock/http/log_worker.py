"""The process that reads the log for HTTP clients: separate from the broker, so that a large read delays no message.

    broker                                     this process
    {"id": 7, "do": "stream", ...} + fd  ───►  writes an Arrow stream into the fd, and closes it
                                         ◄───  {"id": 7, "ok": true}       or {"id": 7, "error": "...", "begun": false}

The control channel is a socket pair. Each request is one packet. An answer takes as many packets as it needs, since the
system limits their size; each carries the request's id and whether it is the last (`pieces_of`). The fd is the client's
own socket if possible (then the request has a `head`, and the stream is written as the rest of an HTTP response), or a
socket to the broker. The process runs at a lower priority than the broker, reads the log as any other reader does, and
exits with the broker.
"""

import os
import queue
import select
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import orjson

from penstock.errors import Error
from penstock.log.block import Block
from penstock.storage.disk import Disk
from penstock.storage.offset_gaps import offset_gaps_of
from penstock.storage.reader import LogReader, rows_of
from penstock.storage.segments import first_header, segments_of
from penstock.storage.time_index import offset_at

PACKET_MAX = 64 << 10  # well below what a socket accepts in one packet, however it is configured
PIECE_HEAD = struct.Struct("<q?")  # the request's id, and whether this is the last piece of its answer
NICENESS = 10
END_OF_STREAM = b"\xff\xff\xff\xff\x00\x00\x00\x00"
# Bytes per second of one stream. Faster readers take CPU time from the broker and its clients; at this rate they keep
# nine tenths of their speed on a machine with two cores.
PACE = 400_000_000
PACE_SLACK = 0.002  # seconds
STALLED_MS = 30_000  # a client that reads nothing for this long has left
CHUNK_BYTES = 1 << 20  # small batches are written together up to this size


class Reading:
    """Answers requests about one data directory."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.disk = Disk(directory)
        self._idle: queue.SimpleQueue[LogReader] = queue.SimpleQueue()

    def stream(self, request: dict[str, Any], target: int) -> dict[str, object]:
        """Messages `from` up to `to` as an Arrow stream."""
        from penstock.log.arrow import Gathering, schema

        start, end = request["from"], request["to"]
        out = Outlet(target, request.get("head", "").encode(), request)
        reader = self._take_reader()
        gathering = Gathering()
        pieces: list[Any] = [schema().serialize()]
        size = pieces[0].size
        with blocks_of(reader, start, end) as blocks:
            for block in blocks:
                first, bound = rows_of(block, start, end)
                for batch in gathering.add(block, first, bound):
                    pieces.append(batch.serialize())
                    size += pieces[-1].size
                if size >= CHUNK_BYTES:
                    out.write(pieces)
                    pieces, size = [], 0
        pieces += [batch.serialize() for batch in gathering.rest()]
        out.write([*pieces, END_OF_STREAM])
        out.end()
        self._idle.put(reader)
        return {}

    def lifecycle(self, request: dict[str, Any], target: int) -> dict[str, object]:
        """Settlements in the blocks that begin in the range."""
        from penstock.storage.lifecycle import lifecycle_batches, lifecycle_schema

        reader = self._take_reader()
        out = Outlet(target, request.get("head", "").encode(), request)
        out.write([lifecycle_schema().serialize()])
        batches = cast("Generator[Any, None, None]", lifecycle_batches(reader, request["from"], request["to"]))
        with closing(batches):
            for batch in batches:
                out.write([batch.serialize()])
        out.write([END_OF_STREAM])
        out.end()
        self._idle.put(reader)
        return {}

    def offset_after(self, request: dict[str, Any], _: int) -> dict[str, object]:
        """The end of a range that starts at `from` and has up to `bytes` bytes of the log, but at least one block."""
        start, left = request["from"], request["bytes"]
        reader = self._take_reader()
        reached = start
        with blocks_of(reader, start, request["to"]) as blocks:
            for block in blocks:
                left -= len(block.data)
                if left < 0 and reached > start:
                    break
                reached = max(reached, block.end_offset)
                if left < 0:
                    break
        self._idle.put(reader)
        return {"offset": min(reached, request["to"])}

    def offset_at(self, request: dict[str, Any], _: int) -> dict[str, object]:
        """The first message before `to` that was published at `time` or later."""
        reader = self._take_reader()
        offset = offset_at(reader, request["time"], request["to"])
        self._idle.put(reader)
        return {"offset": offset if offset >= 0 else None}

    def segments(self, _: dict[str, Any], __: int) -> dict[str, object]:
        """The files of the log, oldest first."""
        rows = []
        for segment in segments_of(self.disk):
            try:
                header = first_header(self.disk, segment)
                size = self.disk.file_size(segment)
            except FileNotFoundError:
                continue  # deleted by retention after it was listed
            if header is not None:
                rows.append(
                    {
                        "name": segment,
                        "first_offset": header.first_offset,
                        "first_position": header.first_position,
                        "begun_at": header.closed_at,
                        "bytes": size,
                    }
                )
        return {"segments": rows}

    def offset_gaps(self, _: dict[str, Any], __: int) -> dict[str, object]:
        """The offset ranges missing from the middle of the log."""
        reader = self._take_reader()
        found = offset_gaps_of(reader)
        self._idle.put(reader)
        return {"offset_gaps": [{"first_offset": first, "end_offset": end} for first, end in found]}

    def _take_reader(self) -> LogReader:
        """A reader for one request. An idle one is reused: its index is loaded already."""
        try:
            return self._idle.get_nowait()
        except queue.Empty:
            return LogReader(self.directory)


def blocks_of(reader: LogReader, start: int, end: int) -> "closing[Generator[Block, None, None]]":
    """Close it when done, or its file stays open."""
    return closing(cast("Generator[Block, None, None]", reader.blocks(start, end)))


class Outlet:
    """The target of a stream: raw to the broker, or as chunks of an HTTP response to a client's socket."""

    def __init__(self, target: int, head: bytes, request: dict[str, Any]) -> None:
        self._target = target
        self._head = head
        self._is_answer = bool(head)
        self._request = request
        self._begun_at = time.monotonic()
        self._written = 0
        self._room = select.poll()
        self._room.register(target, select.POLLOUT)

    def write(self, pieces: list[Any]) -> None:
        views = [memoryview(piece).cast("B") for piece in pieces]
        if self._is_answer:
            size = sum(len(view) for view in views)
            views = [memoryview(self._head + b"%x\r\n" % size), *views, memoryview(b"\r\n")]
            self._head = b""
        self._write_all(views)
        early = self._written / PACE - (time.monotonic() - self._begun_at)
        if early > PACE_SLACK:
            time.sleep(early)

    def end(self) -> None:
        if self._is_answer:
            self._write_all([memoryview(b"0\r\n\r\n")])

    def _write_all(self, views: list[memoryview]) -> None:
        self._request["begun"] = True
        while views:
            try:
                written = os.writev(self._target, views[:64])
            except BlockingIOError:
                if not self._room.poll(STALLED_MS):
                    raise TimeoutError("the reader takes nothing") from None
                continue
            self._written += written
            while views and written >= len(views[0]):
                written -= len(views.pop(0))
            if written:
                views[0] = views[0][written:]


def pieces_of(number: int, answer: bytes) -> Iterator[bytes]:
    """The packets of an answer."""
    room = PACKET_MAX - PIECE_HEAD.size
    for place in range(0, len(answer), room):
        piece = answer[place : place + room]
        yield PIECE_HEAD.pack(number, place + room >= len(answer)) + piece


class Answers:
    """Reassembles answers. The pieces of an answer arrive in order, interleaved with those of others."""

    def __init__(self) -> None:
        self._pieces: dict[int, list[bytes]] = {}

    def add(self, packet: bytes) -> dict[str, Any] | None:
        """The answer, if this is its last piece."""
        number, is_last = PIECE_HEAD.unpack_from(packet)
        self._pieces.setdefault(number, []).append(packet[PIECE_HEAD.size :])
        if not is_last:
            return None
        found: dict[str, Any] = orjson.loads(b"".join(self._pieces.pop(number)))
        return found


def answer_to(work: Callable[[dict[str, Any], int], dict[str, object]], request: dict[str, Any], target: int) -> bytes:
    try:
        return orjson.dumps({"id": request["id"], "ok": True, **work(request, target)})
    except (BrokenPipeError, ConnectionResetError, TimeoutError):
        reason = "the reader has left"
    except (Error, OSError) as error:
        reason = str(error)
    except Exception as error:  # a bug: report it, and fail only this request
        reason = repr(error)
    finally:
        if target >= 0:
            os.close(target)
    return orjson.dumps({"id": request["id"], "error": reason, "begun": request.get("begun", False)})


def main(control_fd: int, directory: str) -> None:
    os.nice(NICENESS)
    control = socket.socket(fileno=control_fd)
    reading = Reading(Path(directory))
    works = {
        "stream": reading.stream,
        "lifecycle": reading.lifecycle,
        "offset_at": reading.offset_at,
        "offset_after": reading.offset_after,
        "segments": reading.segments,
        "offset_gaps": reading.offset_gaps,
    }

    def serve(request: dict[str, Any], target: int) -> None:
        for piece in pieces_of(request["id"], answer_to(works[request["do"]], request, target)):
            control.send(piece)

    while True:
        packet, fds, _, _ = socket.recv_fds(control, PACKET_MAX, 1)
        if not packet:
            os._exit(0)  # the broker has exited; nobody needs what the threads still do
        request = orjson.loads(packet)
        threading.Thread(target=serve, args=(request, fds[0] if fds else -1), daemon=True).start()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
