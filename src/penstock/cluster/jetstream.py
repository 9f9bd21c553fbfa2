"""The replicated stream on NATS JetStream.

The servers of NATS keep one stream per cluster, on several machines. It has one subject, `penstock.NAME.log`, and no
limits. Beats go over plain NATS, on `penstock.NAME.beat`. What a message means is in its headers (`encoding.py`).

The id of an append is checked before the number that it must follow. So an append that comes again is answered with the
number of the first one, whatever came in between, for as long as the servers remember ids: DUPLICATES_SECONDS. Later it
is refused, because its place is taken.

A refusal is not always final. The stream's leader also counts what it has not agreed on with the other servers yet; if
it is cut off from them, they never will. And an append behind a lost one is refused until the lost one is sent again.
So whoever is refused looks at what the stream has in that place.
"""

from __future__ import annotations

import asyncio
import base64
import re
import secrets
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeVar

from penstock.cluster.connection import Arrival, Connection, NatsOptions
from penstock.cluster.encoding import decode_beat, decode_headers, decode_message, encode_beat, encode_headers
from penstock.cluster.reading import JetStreamReading
from penstock.cluster.requests import NO_RESPONDERS, NoAnswer, Requests
from penstock.cluster.stream import Answer, Beat, Extent, Found, Refused, Stored, StreamMessage, Unknown
from penstock.errors import ClusterError
from penstock.report import Report

DATA_MAX: Final = 512 << 10
HEADERS_MAX: Final = 4 << 10  # names of nodes and segments are short

# Without a leader nobody answers. What may be sent again is therefore not waited for as long as an election may take.
APPEND_SECONDS: Final = 2.5
QUESTION_SECONDS: Final = 1.5

DUPLICATES_SECONDS: Final = 120
NANOSECONDS: Final = 1_000_000_000

CONNECT_SECONDS: Final = 10.0
ELECTION_SECONDS: Final = 20.0  # servers that have just started first elect a leader
NOBODY_SECONDS: Final = 3.0  # servers that have just started may not know yet that others have JetStream
PAUSE_SECONDS: Final = 0.25

DELETE_AGAIN_SECONDS: Final = 5.0

LOG_ID: Final = "penstock-log"  # in the stream's metadata

NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")

# Error codes of JetStream.
NO_SUITABLE_SERVERS: Final = 10005
INSUFFICIENT_RESOURCES: Final = 10023
NO_MESSAGE: Final = 10037
NOT_ENABLED: Final = (10039, 10076)  # for the account, for the server
NO_SUCH_SEQUENCE: Final = 10043
DELETE_FAILED: Final = 10057
NAME_IN_USE: Final = 10058
NO_STREAM: Final = 10059
SUBJECTS_OVERLAP: Final = 10065
WRONG_LAST_SEQUENCE: Final = (10071, 10164)
TOO_FEW_SERVERS: Final = 10074

T = TypeVar("T")


class JetStream:
    """Connect with `connect`. Everything is called on the loop that it was connected on, callbacks as well."""

    def __init__(self, connection: Connection, name: str, report: Report) -> None:
        self.log_id = ""  # a new stream has another one, even if it has the same name
        self.replicas = 0
        self._connection = connection
        self._requests = Requests(connection)
        self._report = report
        self._name = f"penstock-{name}"
        self._subject = f"penstock.{name}.log"
        self._beats = f"penstock.{name}.beat"
        self._hears: list[Callable[[Beat], None]] = []
        self._deletes: deque[tuple[int, int]] = deque()
        self._is_deleting = False
        connection.subscribe(self._beats, self._on_beat)

    def __repr__(self) -> str:
        return f"<JetStream {self._name} on {self._connection!r}>"

    @classmethod
    async def connect(
        cls, options: NatsOptions, name: str, report: Report, seconds: float = CONNECT_SECONDS
    ) -> JetStream:
        """Connect to NATS, and create the stream of this cluster if there is none. Raises ClusterError."""
        if not NAME.fullmatch(name):
            raise ClusterError(f"{name!r} cannot be the name of a cluster: use letters, digits, - and _, 64 at most")
        connection = await Connection.open(options, f"penstock {name}", report, seconds)
        try:
            stream = cls(connection, name, report)
            await stream._open(options.replicas)
        except BaseException:
            await connection.close()
            raise
        return stream

    async def close(self) -> None:
        """Answer what is not answered yet with Unknown, and leave NATS."""
        await self._connection.close()

    @property
    def is_connected(self) -> bool:
        """Whether there is a connection to a server of NATS. The stream itself may still have no leader."""
        return self._connection.is_up

    @property
    def data_max(self) -> int:
        return min(DATA_MAX, self._connection.payload_max - HEADERS_MAX)

    # -- the stream -------------------------------------------------------------------------------------------------

    def append(self, message: StreamMessage, after: int, answer: Callable[[Answer], None]) -> None:
        assert len(message.data) <= DATA_MAX, message

        def answered(said: dict[str, Any] | NoAnswer) -> None:
            if isinstance(said, NoAnswer):
                answer(Refused() if said.code in WRONG_LAST_SEQUENCE else Unknown(str(said)))
            elif said.get("stream") == self._name and isinstance(said.get("seq"), int):
                answer(Stored(said["seq"]))
            else:
                answer(Unknown("what answered is not the stream"))

        headers = encode_headers(message, after)
        self._requests.send(self._subject, message.data, headers, answered, APPEND_SECONDS)

    def read(self, after: int, take: Callable[[int, StreamMessage], None]) -> JetStreamReading:
        return JetStreamReading(self._connection, self._name, after, take, self._report)

    def look(self, sequence: int, answer: Callable[[Found | Unknown], None]) -> None:
        # The stream's leader is asked. Any server could answer a direct get, and one that is behind would say that
        # there is nothing.
        self._call(self._look(sequence), answer)

    def extent(self, answer: Callable[[Extent | Unknown], None]) -> None:
        self._call(self._extent(), answer)

    def delete(self, first: int, end: int) -> None:
        if first < end:
            self._deletes.append((first, end))
            if not self._is_deleting:
                self._is_deleting = True
                self._connection.run(self._delete_all())

    def beat(self, beat: Beat) -> None:
        self._connection.send(self._beats, encode_beat(beat))

    def hear(self, take: Callable[[Beat], None]) -> None:
        self._hears.append(take)

    def _on_beat(self, arrival: Arrival) -> None:
        beat = decode_beat(arrival.data)
        if beat is not None:
            for take in self._hears:
                take(beat)

    # -- questions --------------------------------------------------------------------------------------------------

    def _call(self, question: Coroutine[Any, Any, T], answer: Callable[[T | Unknown], None]) -> None:
        """Answer with what a coroutine returns, and with Unknown if there is no answer."""

        def done(task: asyncio.Task[T]) -> None:
            if task.cancelled():
                answer(Unknown("the stream was closed"))
            elif (error := task.exception()) is not None:
                answer(Unknown(str(error) or type(error).__name__))
            else:
                answer(task.result())

        self._connection.run(question).add_done_callback(done)

    async def _look(self, sequence: int) -> Found:
        try:
            answer = await self._requests.call(f"STREAM.MSG.GET.{self._name}", {"seq": sequence}, QUESTION_SECONDS)
        except NoAnswer as error:
            if error.code == NO_MESSAGE:
                return Found(None)
            raise
        message = answer["message"]
        headers = decode_headers(base64.b64decode(message.get("hdrs", "")))
        return Found(decode_message(headers, base64.b64decode(message.get("data", ""))))

    async def _extent(self) -> Extent:
        state = (await self._info())["state"]
        last = int(state["last_seq"])
        return Extent(int(state["first_seq"]) if state["messages"] else last + 1, last)

    async def _info(self, seconds: float = QUESTION_SECONDS) -> dict[str, Any]:
        return await self._requests.call(f"STREAM.INFO.{self._name}", {}, seconds)

    # -- deleting ---------------------------------------------------------------------------------------------------

    async def _delete_all(self) -> None:
        """Delete what was asked for, one range after another, until it is done."""
        is_reported = False
        while self._deletes:
            try:
                await self._delete(*self._deletes[0])
                self._deletes.popleft()
                is_reported = False
            except NoAnswer as error:
                first, end = self._deletes[0]
                if not is_reported:
                    details = {"first": first, "end": end, "reason": str(error)}
                    self._report("warning", "cluster.delete_failed", details)
                is_reported = True
                await asyncio.sleep(DELETE_AGAIN_SECONDS)
        self._is_deleting = False

    async def _delete(self, first: int, end: int) -> None:
        """Delete a range: at once if nothing comes before it, otherwise one message after another, the last one first.

        So what is left at any time, even for ever if this process ends, begins as the range does and has no gaps, and
        there is always a gap before what follows. A node that joins knows by it that something else begins there.
        """
        oldest = (await self._extent()).first
        if oldest >= end:
            return
        if oldest >= first:
            await self._requests.call(f"STREAM.PURGE.{self._name}", {"seq": end})
            return
        for sequence in reversed(range(first, end)):
            try:
                await self._requests.call(f"STREAM.MSG.DELETE.{self._name}", {"seq": sequence, "no_erase": True})
            except NoAnswer as error:
                if error.code not in (NO_MESSAGE, NO_SUCH_SEQUENCE, DELETE_FAILED):
                    raise

    # -- opening ----------------------------------------------------------------------------------------------------

    async def _open(self, replicas: int) -> None:
        """Find the stream or create it, and check that it is ours. Raises ClusterError."""
        loop = asyncio.get_running_loop()
        begun = loop.time()
        config = self._config(replicas)
        info = None
        while info is None:
            try:
                info = await self._find_or_create(config)
            except NoAnswer as error:
                if loop.time() - begun > _patience(error):
                    raise ClusterError(self._why_not(error, replicas)) from error
                await asyncio.sleep(PAUSE_SECONDS)
        self._check(info["config"])

    async def _find_or_create(self, config: dict[str, object]) -> dict[str, Any]:
        try:
            return await self._info()
        except NoAnswer as error:
            if error.code != NO_STREAM:
                raise
        try:
            return await self._requests.call(f"STREAM.CREATE.{self._name}", config)
        except NoAnswer as error:
            if error.code != NAME_IN_USE:
                raise
            return await self._info()  # another node was faster

    def _config(self, replicas: int) -> dict[str, object]:
        return {
            "name": self._name,
            "subjects": [self._subject],
            "retention": "limits",
            "storage": "file",
            "num_replicas": replicas,
            "discard": "new",
            "max_consumers": -1,
            "max_msgs": -1,
            "max_msgs_per_subject": -1,
            "max_bytes": -1,
            "max_age": 0,
            "max_msg_size": -1,
            "duplicate_window": DUPLICATES_SECONDS * NANOSECONDS,
            "allow_direct": True,
            "metadata": {LOG_ID: secrets.token_hex(16)},
        }

    def _check(self, config: dict[str, Any]) -> None:
        """Take what we need to know of the stream. Raises ClusterError if it is not ours."""
        self.log_id = (config.get("metadata") or {}).get(LOG_ID, "")
        if not self.log_id or config.get("subjects") != [self._subject]:
            raise ClusterError(f"the JetStream stream {self._name} is not a log of Penstock: use another cluster name")
        self.replicas = int(config["num_replicas"])
        if self.replicas < 3:
            details = {"stream": self._name, "replicas": self.replicas, "do": "use three servers and three replicas"}
            self._report("warning", "cluster.few_replicas", details)

    def _why_not(self, error: NoAnswer, replicas: int) -> str:
        places = self._connection.options.places
        if error.code in (*NOT_ENABLED, NO_RESPONDERS):
            return f"JetStream is not enabled in NATS at {places}"
        if error.code == SUBJECTS_OVERLAP:
            return f"the subject {self._subject} belongs to another JetStream stream: use another cluster name"
        if error.code in (TOO_FEW_SERVERS, NO_SUITABLE_SERVERS, INSUFFICIENT_RESOURCES):
            return f"NATS at {places} cannot keep {replicas} replicas of the stream: {error}"
        return f"the JetStream stream {self._name} cannot be opened at {places}: {error}"


def _patience(error: NoAnswer) -> float:
    """For how many seconds to try again."""
    if error.code in (*NOT_ENABLED, TOO_FEW_SERVERS, SUBJECTS_OVERLAP):
        return 0.0
    return NOBODY_SECONDS if error.code == NO_RESPONDERS else ELECTION_SECONDS
