"""The names in a verified client certificate, in the form that is assigned to users: `CN:worker-1`."""

import hashlib
import re
from collections.abc import Mapping
from typing import Any

from penstock.errors import AccessError

KINDS = ("CN", "DNS", "URI", "email", "sha256")
FINGERPRINT = re.compile(r"[0-9a-f]{64}")


def names_of(certificate: Mapping[str, Any] | None, der: bytes | None = None) -> list[str]:
    """All names of a certificate as returned by `ssl`, most specific first: its fingerprint, its SANs, its CN."""
    names = [] if der is None else ["sha256:" + hashlib.sha256(der).hexdigest()]
    if certificate:
        names += [f"{kind}:{value}" for kind, value in certificate.get("subjectAltName", ()) if kind in KINDS]
        for part in certificate.get("subject", ()):
            names += [f"CN:{value}" for kind, value in part if kind == "commonName"]
    return names


def checked_name(text: str) -> str:
    """Normalise a certificate name for storage. Raises AccessError if no certificate can have it."""
    kind, colon, value = text.partition(":")
    if not colon or kind not in KINDS or not value:
        raise AccessError(f"{text!r} is not a certificate name: use {':..., '.join(KINDS)}:... such as CN:worker-1")
    if kind != "sha256":
        return text
    digest = value.replace(":", "").lower()
    if not FINGERPRINT.fullmatch(digest):
        raise AccessError(f"{text!r} is not a fingerprint: use sha256: and 64 hex digits, with or without colons")
    return f"{kind}:{digest}"
