"""Requests to the stream's servers: each gets exactly one answer, or the reason why there is none.

All answers arrive on one inbox, where each request has a number of its own. So any number of requests may be under way,
and they reach the servers in the order of the calls.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from penstock.cluster.connection import Arrival, Connection

ANSWER_SECONDS: Final = 5.0

NO_RESPONDERS: Final = 503


class NoAnswer(Exception):
    """Nobody answered, or the servers refused: `code` is their error code, 0 if there is none."""

    def __init__(self, reason: str, code: int = 0) -> None:
        super().__init__(reason)
        self.code = code


Answered = Callable[[dict[str, Any] | NoAnswer], None]


@dataclass(slots=True)
class _Open:
    answered: Answered
    timer: asyncio.TimerHandle


class Requests:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._loop = asyncio.get_running_loop()
        self._inbox = f"_INBOX.{secrets.token_hex(11)}"
        self._numbers = itertools.count(1)
        self._open: dict[str, _Open] = {}
        connection.subscribe(f"{self._inbox}.*", self._on_arrival)
        connection.on_down.append(lambda: self._fail_all("the connection to NATS was lost"))

    def send(
        self,
        subject: str,
        data: bytes,
        headers: dict[str, str] | None,
        answered: Answered,
        seconds: float = ANSWER_SECONDS,
    ) -> None:
        """Send a request. `answered` gets the answer, a JSON object, later."""
        reply = f"{self._inbox}.{next(self._numbers)}"

        def failed(reason: str) -> None:
            self._end(reply, NoAnswer(reason))

        timer = self._loop.call_later(seconds, failed, "no answer from NATS")
        self._open[reply] = _Open(answered, timer)
        self._connection.send(subject, data, reply, headers, failed)

    async def call(self, name: str, request: Mapping[str, Any], seconds: float = ANSWER_SECONDS) -> dict[str, Any]:
        """Call a function of the JetStream API. Raises NoAnswer."""
        future: asyncio.Future[dict[str, Any] | NoAnswer] = self._loop.create_future()

        def answered(answer: dict[str, Any] | NoAnswer) -> None:
            if not future.done():  # the caller may have been cancelled
                future.set_result(answer)

        self.send(f"$JS.API.{name}", json.dumps(request).encode(), None, answered, seconds)
        answer = await future
        if isinstance(answer, NoAnswer):
            raise answer
        return answer

    def _on_arrival(self, arrival: Arrival) -> None:
        if arrival.status == str(NO_RESPONDERS):
            self._end(arrival.subject, NoAnswer("nobody in NATS answers for the stream", NO_RESPONDERS))
            return
        try:
            answer = json.loads(arrival.data)
            error = answer.get("error")
        except (ValueError, AttributeError):
            self._end(arrival.subject, NoAnswer("NATS gave an answer that is not a JSON object"))
            return
        if error is None:
            self._end(arrival.subject, answer)
        else:
            reason = str(error.get("description", "NATS refused"))
            self._end(arrival.subject, NoAnswer(reason, int(error.get("err_code", error.get("code", 0)))))

    def _fail_all(self, reason: str) -> None:
        for reply in list(self._open):
            self._end(reply, NoAnswer(reason))

    def _end(self, reply: str, answer: dict[str, Any] | NoAnswer) -> None:
        request = self._open.pop(reply, None)
        if request is not None:
            request.timer.cancel()
            request.answered(answer)
