"""Stream messages as headers of NATS messages, and beats as JSON.

The stream's servers look at two headers. `Nats-Expected-Last-Sequence` is the number of the message to append behind,
`Nats-Msg-Id` the id that makes them append a message once. Ours begin with `Penstock-`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from penstock.cluster.stream import Beat, StreamMessage

# The kind of a message that somebody else published on the subject of the log. It belongs to no leadership.
FOREIGN: Final = ""


def encode_headers(message: StreamMessage, after: int) -> dict[str, str]:
    return {
        "Nats-Expected-Last-Sequence": str(after),
        "Nats-Msg-Id": message.id,
        "Penstock-Kind": message.kind,
        "Penstock-Lead": message.lead,
        "Penstock-Term": str(message.term),
        "Penstock-Number": str(message.number),
        "Penstock-Position": str(message.position),
        "Penstock-Segment": message.segment,
        "Penstock-Place": str(message.place),
        "Penstock-Part": f"{message.part}/{message.parts}",
    }


def decode_message(headers: Mapping[str, str], data: bytes) -> StreamMessage:
    """The message with these headers; one of the kind FOREIGN if they are not ours."""
    try:
        part, _, parts = headers["Penstock-Part"].partition("/")
        return StreamMessage(
            kind=headers["Penstock-Kind"],
            lead=headers["Penstock-Lead"],
            term=int(headers["Penstock-Term"]),
            number=int(headers["Penstock-Number"]),
            position=int(headers["Penstock-Position"]),
            segment=headers["Penstock-Segment"],
            place=int(headers["Penstock-Place"]),
            part=int(part),
            parts=int(parts),
            data=data,
        )
    except (KeyError, ValueError):
        return StreamMessage(kind=FOREIGN, lead="", term=0, number=0, position=0, data=data)


def decode_headers(raw: bytes) -> dict[str, str]:
    """The headers of a stored message as the servers keep them: `NATS/1.0`, then a line each."""
    found = {}
    for line in raw.decode(errors="replace").split("\r\n")[1:]:
        name, colon, value = line.partition(":")
        if colon:
            found[name.strip()] = value.strip()
    return found


def encode_beat(beat: Beat) -> bytes:
    fields = {
        "lead": beat.lead,
        "term": beat.term,
        "node": beat.node,
        "position": beat.position,
        "addresses": beat.addresses,
    }
    return json.dumps(fields).encode()


def decode_beat(data: bytes) -> Beat | None:
    """The beat; None if it is malformed."""
    try:
        fields = json.loads(data)
        lead, term, node, position, addresses = (
            fields[name] for name in ("lead", "term", "node", "position", "addresses")
        )
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    if not isinstance(addresses, dict) or not all(isinstance(address, str) for address in addresses.values()):
        return None
    if not (isinstance(lead, str) and isinstance(node, str) and type(term) is int and type(position) is int):
        return None
    return Beat(lead, term, node, position, addresses)
