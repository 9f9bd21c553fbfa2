"""The shape of the house: imports point one way, and the core speaks no protocol's language."""

import ast
import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parent.parent / "src" / "penstock"

ARCHITECTURE = SOURCE.parent.parent / "ARCHITECTURE.md"


def layers() -> dict[str, set[str]]:
    """What each package may import of ours, as ARCHITECTURE.md says. A package may always import itself."""
    found = re.search(r"```layers\n(.*?)```", ARCHITECTURE.read_text(), re.DOTALL)
    assert found is not None
    allowed: dict[str, set[str]] = {}
    for line in found.group(1).splitlines():
        names, _, imported = line.partition("<-")
        for name in names.replace(",", " ").split():
            allowed[name] = set(imported.split())
    return allowed


ALLOWED = layers()
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
        elif isinstance(node, ast.ImportFrom) and node.module == "penstock":
            found |= {alias.name for alias in node.names if alias.name != "__version__"}
        elif isinstance(node, ast.Import):
            found |= {
                alias.name.removeprefix("penstock.") for alias in node.names if alias.name.startswith("penstock.")
            }
    return found


def room_of(module: str) -> str:
    return module.partition(".")[0]


def test_every_package_has_its_layer_above_all_that_it_imports() -> None:
    assert set(ALLOWED) == {room_of(name_of(path)) for path in MODULES}
    order = list(ALLOWED)
    for room, imported in ALLOWED.items():
        assert all(order.index(other) < order.index(room) for other in imported), room


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_imports_point_one_way(path: Path) -> None:
    room = room_of(name_of(path))
    for imported in imports_of(path):
        assert room_of(imported) in {room, *ALLOWED[room]}, f"{room} must not import {imported}"


def test_no_layer_lists_a_package_it_does_not_import() -> None:
    used: dict[str, set[str]] = {room: set() for room in ALLOWED}
    for path in MODULES:
        room = room_of(name_of(path))
        used[room] |= {room_of(imported) for imported in imports_of(path)} - {room}
    assert used == ALLOWED


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
