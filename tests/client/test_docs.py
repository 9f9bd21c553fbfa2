"""Every block of docs/clients.md runs as it stands, but for the ports."""

import re
from pathlib import Path

import pytest

from penstock.testing import Broker

PAGE = Path(__file__).resolve().parents[2] / "docs" / "clients.md"
BLOCKS = re.findall(r"^## (.*?)$|^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
DEFAULT_PORTS = {"54321": "mqks", "54322": "sevx", "2201": "smqs", "47774": "mqmq", "13700": "rq", "7700": "any"}


def named_blocks() -> list[tuple[str, str]]:
    heading = ""
    found: list[tuple[str, str]] = []
    for title, code in BLOCKS:
        heading = title or heading
        if code:
            found.append((f"{heading} {len(found) + 1}", code))
    return found


@pytest.mark.parametrize(("name", "code"), named_blocks(), ids=[name for name, _ in named_blocks()])
def test_a_block_of_the_page_runs(name: str, code: str, broker: Broker) -> None:
    for port, protocol in DEFAULT_PORTS.items():
        code = re.sub(rf"127\.0\.0\.1:{port}\b", broker.address(protocol), code)
    exec(compile(code, f"{PAGE.name}: {name}", "exec"), {"__name__": "example"})


def test_the_page_has_blocks() -> None:
    assert len(named_blocks()) >= 10
