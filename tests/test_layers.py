"""The shape of the house: imports point one way, and the core speaks no protocol's language."""

import ast
import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parent.parent / "src" / "penstock"

# What each room may import of ours. A room may always import itself.
ALLOWED = {
    "message": set[str](),
    "errors": set[str](),
    "clock": set[str](),
    "globs": set[str](),
    "files": set[str](),
    "plain": set[str](),
    "access": {"message", "errors", "globs", "files"},
    "log": {"message", "errors", "files"},
    "core": {
        "message",
        "errors",
        "clock",
        "globs",
        "log.port",
        "log.block",
        "log.span",
        "log.snapshot",
        "log.tuning",
        "log.ids",
    },
    "wire": {"message", "errors", "clock", "access", "core", "log.port"},
    "config": {"errors"},
    "doors": {"config", "errors"},
    # The node puts everything together, HTTP with it; HTTP knows the node's parts, and not the node.
    "server": {
        "message",
        "errors",
        "files",
        "plain",
        "clock",
        "access",
        "core",
        "log",
        "wire",
        "config",
        "doors",
        "http.door",
    },
    "http": {
        *("message", "errors", "clock", "access", "core", "log", "wire", "config"),
        *("server.accepting", "server.connection", "server.cursors", "server.doorstep", "server.keeper"),
        *("server.line", "server.memory", "server.storage", "server.timings"),
    },
    "spark": {
        *("message", "errors", "files", "log.holes", "log.reader", "log.lifecycle", "log.moments"),
        *("client", "client._credentials", "client._options", "client.errors"),  # who comes is said in one way
    },
    "cli": {
        "message",
        "errors",
        "files",
        "plain",
        "access",
        "config",
        "doors",
        "core",
        "log",
        "server",
        "spark",
        "client",
    },
    "client": {"errors"},  # clients work against any server of their protocol, so they know none
    "adapters": {"client"},
    "testing": {"config", "server", "access", "client", "cli.tls"},
}
QUIET_ROOMS = ("core", "wire", "log")
PROTOCOL_WORDS = re.compile(r"mqks|smqs|sevx|mqmq|\brq\b|risp", re.IGNORECASE)

MODULES = sorted(path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py")


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts)


def imports_of(path: Path) -> set[str]:
    """The modules of ours that a file imports, without the leading package name."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("penstock."):
            found.add(node.module.removeprefix("penstock."))
        elif isinstance(node, ast.Import):
            found |= {
                alias.name.removeprefix("penstock.") for alias in node.names if alias.name.startswith("penstock.")
            }
    return found


def inside(module: str, room: str) -> bool:
    return module == room or module.startswith(room + ".")


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_imports_point_one_way(path: Path) -> None:
    room = name_of(path).partition(".")[0]
    for imported in imports_of(path):
        allowed = inside(imported, room) or any(inside(imported, other) for other in ALLOWED[room])
        assert allowed, f"{room} must not import {imported}"


@pytest.mark.parametrize("path", sorted((SOURCE / "wire").glob("*/*.py")), ids=name_of)
def test_no_protocol_imports_another(path: Path) -> None:
    own = path.parent.name
    for imported in imports_of(path):
        parts = imported.split(".")
        assert not (parts[0] == "wire" and len(parts) > 2 and parts[1] != own), f"{own} must not import {imported}"


@pytest.mark.parametrize("path", sorted((SOURCE / "client").glob("[a-z]*.py")), ids=name_of)
def test_no_client_imports_that_of_another_protocol(path: Path) -> None:
    for imported in imports_of(path):
        parts = imported.split(".")
        assert parts[0] != "client" or len(parts) == 1 or parts[1].startswith("_") or parts[1] == "errors"


@pytest.mark.parametrize("path", sorted((SOURCE / "core").rglob("*.py")), ids=name_of)
def test_the_core_speaks_no_protocol(path: Path) -> None:
    assert not PROTOCOL_WORDS.search(path.read_text())


@pytest.mark.parametrize("path", [p for p in MODULES if p.relative_to(SOURCE).parts[0] in QUIET_ROOMS], ids=name_of)
def test_only_the_server_waits(path: Path) -> None:
    tree = ast.parse(path.read_text())
    waiting = [node for node in ast.walk(tree) if isinstance(node, ast.AsyncFunctionDef | ast.Await)]
    modules = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert not waiting
    assert not modules & {"asyncio", "socket", "time", "threading"}


def test_compiled_modules_never_lie_in_the_source_tree() -> None:
    assert not [path for suffix in ("*.so", "*.pyd") for path in SOURCE.parent.rglob(suffix)]
