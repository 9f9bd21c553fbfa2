"""Reading a JetStream stream in order, whatever happens to its servers.

    ask for what is behind `after`  ─►  a batch of messages, then its end  ─►  ask again at once
                                    ─►  nothing                            ─►  ask again a little later

Batches are direct gets: any server that has a copy of the stream answers, without asking anybody else and without
remembering us. So reading goes on while the servers elect leaders, which a consumer, being made and kept by them, does
not. A server that is behind answers with less, and soon another one is asked. A batch has a size, so a reader that is
slow does not make anybody hold the whole stream for it.

Each message of a batch names the one before it. If one is missing, the rest is not taken, and asked for again.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import secrets
from collections.abc import Callable
from typing import Final

from penstock.cluster.connection import Arrival, Connection
from penstock.cluster.encoding import decode_message
from penstock.cluster.stream import StreamMessage
from penstock.report import Report

BATCH_BYTES: Final = 8 << 20  # while they arrive nothing else can be asked for, which costs nothing at this size
BATCH_MESSAGES: Final = 10_000

PAUSE_SECONDS: Final = 0.01  # when there is nothing new
PAUSE_SECONDS_MAX: Final = 0.05  # when there has been nothing new for a while: it takes half of it to notice something

LOOK_SECONDS: Final = 0.5
SILENT_MAX: Final = 4  # looks in a row without a sign of a batch, until it is asked for again
STALLED_MAX: Final = 5  # batches in a row that nobody answered, until that is reported

END: Final = "204"
NOTHING: Final = "404"


class JetStreamReading:
    def __init__(
        self,
        connection: Connection,
        stream: str,
        after: int,
        take: Callable[[int, StreamMessage], None],
        report: Report,
    ) -> None:
        self.after = after  # the number of the last message that was handed out
        self._connection = connection
        self._stream = stream
        self._take = take
        self._report = report
        self._inbox = f"_INBOX.{secrets.token_hex(11)}"
        self._numbers = itertools.count(1)
        self._reply = ""  # where the batch arrives that we wait for
        self._ended: asyncio.Future[bool] | None = None  # whether anybody answered
        self._before = 0  # the message of this batch that came last
        self._is_heard = False
        self._unsubscribe = connection.subscribe(f"{self._inbox}.*", self._on_arrival)
        self._task = connection.run(self._run())

    def __repr__(self) -> str:
        return f"<JetStreamReading of {self._stream} behind {self.after}>"

    def stop(self) -> None:
        self._reply = ""
        self._unsubscribe()
        self._task.cancel()

    async def _run(self) -> None:
        pause = PAUSE_SECONDS
        unanswered = 0
        while True:
            after = self.after
            is_answered = await self._read_batch()
            unanswered = 0 if is_answered else unanswered + 1
            if unanswered == STALLED_MAX:
                details = {"stream": self._stream, "after": self.after}
                self._report("warning", "cluster.reading_stalled", details)
            if self.after > after:
                pause = PAUSE_SECONDS
            else:
                await asyncio.sleep(pause)
                pause = min(pause * 1.1, PAUSE_SECONDS_MAX)

    async def _read_batch(self) -> bool:
        """Ask for what comes next, and hand it out. Whether anybody answered."""
        self._ended = ended = asyncio.get_running_loop().create_future()
        self._reply = f"{self._inbox}.{next(self._numbers)}"
        self._before = 0
        request = {"seq": self.after + 1, "batch": BATCH_MESSAGES, "max_bytes": BATCH_BYTES}
        subject = f"$JS.API.DIRECT.GET.{self._stream}"
        self._connection.send(subject, json.dumps(request).encode(), self._reply, failed=lambda _: self._end(False))
        silent = 0
        while not ended.done() and silent < SILENT_MAX:
            # Looks are counted, not seconds: this program may have been busy itself.
            self._is_heard = False
            await asyncio.wait({ended}, timeout=LOOK_SECONDS)
            silent = 0 if self._is_heard else silent + 1
        self._reply = ""
        return ended.done() and ended.result()

    def _end(self, is_answered: bool) -> None:
        if self._ended is not None and not self._ended.done():
            self._ended.set_result(is_answered)

    def _on_arrival(self, arrival: Arrival) -> None:
        if arrival.subject != self._reply:
            return
        self._is_heard = True
        headers = arrival.headers
        if "Nats-Sequence" not in headers:
            self._end(arrival.status in (END, NOTHING))
            return
        sequence, before = int(headers["Nats-Sequence"]), int(headers.get("Nats-Last-Sequence", -1))
        if before != self._before or sequence <= self.after:
            self._reply = ""
            self._end(False)
            return
        self._before = self.after = sequence
        self._take(sequence, decode_message(headers, arrival.data))
