"""Headers and changes as JSON. A byte string is written with one character per byte (latin-1)."""

import orjson

from penstock.log.interface import Change


def latin1_text(value: bytes) -> str:
    return value.decode("latin-1")


def latin1_bytes(text: str) -> bytes:
    return text.encode("latin-1")


def encode_headers(headers: dict[bytes, bytes]) -> bytes:
    return orjson.dumps({latin1_text(key): latin1_text(value) for key, value in headers.items()})


def decode_headers(text: bytes) -> dict[bytes, bytes]:
    return {latin1_bytes(key): latin1_bytes(value) for key, value in orjson.loads(text).items()}


def encode_changes(changes: list[Change]) -> bytes:
    return orjson.dumps([_change_to_json(change) for change in changes])


def decode_changes(text: bytes) -> list[Change]:
    return [_change_from_json(item) for item in orjson.loads(text)]


def _change_to_json(change: Change) -> dict[str, object]:
    found: dict[str, object] = {
        "kind": change.kind,
        "queue": latin1_text(change.queue),
        "number": change.number,
        "names": [latin1_text(name) for name in change.names],
        "patterns": [latin1_text(pattern) for pattern in change.patterns],
    }
    if change.at:
        found["at"] = change.at
    return found


def _change_from_json(item: dict[str, object]) -> Change:
    names, patterns, number, at = item["names"], item["patterns"], item["number"], item.get("at", 0)
    assert isinstance(names, list)
    assert isinstance(patterns, list)
    assert isinstance(number, int)
    assert isinstance(at, int)
    return Change(
        str(item["kind"]),
        latin1_bytes(str(item["queue"])),
        number=number,
        names=tuple([latin1_bytes(str(name)) for name in names]),
        patterns=tuple([latin1_bytes(str(pattern)) for pattern in patterns]),
        at=at,
    )
