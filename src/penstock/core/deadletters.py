"""Dead letters: how a message that its queue gives up is stored, and how it returns.

A dead letter is a separate message in another queue: it has the id, event and body of the original, and headers that
say what happened. It is logged before the end of the original, so a crash in between leaves both.

    dead-reason          deliveries, expired, full or rejected
    dead-queue           the queue it died in
    dead-at              when, RFC 3339
    dead-retries         how often it had come back by then
    dead-published-at    when it was first published, RFC 3339
    dead-history         earlier deaths, a JSON list of objects with reason, queue, at, retries; the oldest first
"""

from datetime import UTC, datetime, timedelta
from typing import Final

import orjson

from penstock.message import TO_QUEUE, DeliveryOptions, Message

# Why a message was given up.
DELIVERIES: Final = "deliveries"  # its tries were used up
EXPIRED: Final = "expired"  # its time to live was over
FULL: Final = "full"  # its queue needed the room
REJECTED: Final = "rejected"  # its consumer gave it up

REASON: Final = b"dead-reason"
QUEUE: Final = b"dead-queue"
AT: Final = b"dead-at"
RETRIES: Final = b"dead-retries"
PUBLISHED_AT: Final = b"dead-published-at"
HISTORY: Final = b"dead-history"
OF_LAST_DEATH: Final = (REASON, QUEUE, AT, RETRIES)

HISTORY_MAX: Final = 20  # the most deaths in the history; the last ones are kept
TEXT_MAX: Final = 4096  # characters of a reason, a queue or a time in the history
DIGITS_MAX: Final = 18  # of a number of retries
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def dead_letter(message: Message, queue: bytes, retry: int, reason: str, target: bytes, now: int) -> Message:
    """The message to put into the dead-letter queue `target` for one that died in `queue`."""
    headers = _buried(message.headers)
    headers[REASON] = reason.encode()
    headers[QUEUE] = queue
    headers[AT] = rfc3339(now)
    headers[RETRIES] = b"%d" % retry
    if PUBLISHED_AT not in headers:
        headers[PUBLISHED_AT] = rfc3339(message.published_at)
    return sent_on(message, headers, target, now)


def revived(message: Message, target: bytes, now: int) -> Message:
    """The message to put back into a queue for a dead letter: as if just published, with its history."""
    return sent_on(message, _buried(message.headers), target, now)


def origin_of(message: Message) -> bytes:
    """The queue that a dead letter died in; empty if it is not a dead letter."""
    headers = message.headers
    return b"" if headers is None else headers.get(QUEUE, b"")


def sent_on(message: Message, headers: dict[bytes, bytes], target: bytes, now: int) -> Message:
    """The same message for another queue."""
    sent = Message(message.id, message.event, message.body, now, message.protocol, headers or None)
    sent.route = TO_QUEUE
    sent.line_fit = message.line_fit
    if message.event != target:
        sent.options = DeliveryOptions(target=target)
    return sent


def rfc3339(microseconds: int) -> bytes:
    try:
        time = EPOCH + timedelta(microseconds=microseconds)
    except OverflowError:
        return b"%d" % microseconds  # out of range for datetime
    return time.isoformat(timespec="microseconds").replace("+00:00", "Z").encode()


def _buried(headers: dict[bytes, bytes] | None) -> dict[bytes, bytes]:
    """The headers with the last death, if there was one, moved into the history."""
    if headers is None:
        return {}
    kept = {key: value for key, value in headers.items() if key not in OF_LAST_DEATH}
    if REASON in headers:
        history = _history(headers.get(HISTORY, b""))
        retries = headers.get(RETRIES, b"")
        history.append(
            {
                "reason": _text(headers[REASON]),
                "queue": _text(headers.get(QUEUE, b"")),
                "at": _text(headers.get(AT, b"")),
                "retries": int(retries) if retries.isdigit() and len(retries) <= DIGITS_MAX else 0,
            }
        )
        kept[HISTORY] = orjson.dumps(history[-HISTORY_MAX:])
    return kept


def _history(text: bytes) -> list[dict[str, str | int]]:
    """The deaths listed in a header. A client may have sent a header of this name, with anything in it.

    Only entries in the format of this module are kept, so whatever was read can be written again: the JSON library
    reads more deeply nested lists than it writes.
    """
    try:
        value: object = orjson.loads(text) if text else []
    except ValueError:
        return []
    if not isinstance(value, list):
        return []
    return [death for death in [_death(item) for item in value[-HISTORY_MAX:]] if death is not None]


def _death(item: object) -> dict[str, str | int] | None:
    """One entry of a history; None when the broker did not write it."""
    if not isinstance(item, dict) or len(item) != 4:
        return None
    reason, queue, at, retries = item.get("reason"), item.get("queue"), item.get("at"), item.get("retries")
    if not (isinstance(reason, str) and isinstance(queue, str) and isinstance(at, str)):
        return None
    if not isinstance(retries, int) or isinstance(retries, bool) or not 0 <= retries < 10**DIGITS_MAX:
        return None
    return {"reason": reason[:TEXT_MAX], "queue": queue[:TEXT_MAX], "at": at[:TEXT_MAX], "retries": retries}


def _text(value: bytes) -> str:
    return value[:TEXT_MAX].decode("utf-8", "backslashreplace")[:TEXT_MAX]
