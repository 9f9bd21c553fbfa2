"""Files that are replaced are on the disk, whole and under their name, when the call is back."""

import ast
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

import penstock
from penstock.auth.file import UsersFile
from penstock.files import replace_file
from penstock.storage.cursors import Cursors

SOURCE = Path(penstock.__file__).parent


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was asked of the disk, in order."""
    said: list[str] = []
    sync, replace = os.fsync, Path.replace

    def fsync(handle: int) -> None:
        said.append("sync directory" if stat.S_ISDIR(os.fstat(handle).st_mode) else "sync file")
        sync(handle)

    def rename(self: Path, target: Path) -> Path:
        said.append(f"rename to {target.name}")
        return replace(self, target)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(Path, "replace", rename)
    return said


def by_the_function(directory: Path) -> str:
    replace_file(directory / "file", b"new")
    return "file"


def by_cursors(directory: Path) -> str:
    cursors = Cursors(directory)
    cursors.begin("job", 5, 0)
    cursors.write(cursors.encode())
    return "cursors.json"


def by_users(directory: Path) -> str:
    with UsersFile(directory / "users.json").edit():
        pass
    return "users.json"


@pytest.mark.parametrize("write", [by_the_function, by_cursors, by_users])
def test_content_is_synced_before_it_gets_its_name_and_the_name_behind_that(
    write: Callable[[Path], str], done: list[str], tmp_path: Path
) -> None:
    name = write(tmp_path)
    assert done[-3:] == ["sync file", f"rename to {name}", "sync directory"]
    assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600
    assert not list(tmp_path.glob("*.new"))


def test_what_somebody_left_half_way_is_in_nobodys_way(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"old")
    (tmp_path / "file.new").symlink_to(tmp_path / "elsewhere")
    replace_file(tmp_path / "file", b"new")
    assert (tmp_path / "file").read_bytes() == b"new"
    assert not (tmp_path / "elsewhere").exists()


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"old")

    def refuse(handle: int, path: Path) -> None:
        raise PermissionError(path)

    with pytest.raises(PermissionError):
        replace_file(tmp_path / "file", b"new", refuse)
    assert (tmp_path / "file").read_bytes() == b"old"


# `user_reloader.py` replaces users in memory; the log's own disk is synced by whoever renames on it, which the
# simulation checks.
MAY_RENAME = {"files.py", "storage/disk.py", "server/user_reloader.py"}


def test_nobody_else_gives_files_their_names() -> None:
    """So nobody forgets to sync: a rename is `replace` with one argument, or of `os`."""
    for path in SOURCE.rglob("*.py"):
        if path.relative_to(SOURCE).as_posix() in MAY_RENAME:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                name, count = node.func.attr, len(node.args)
                is_rename = (name == "replace" and count == 1) or (name in ("rename", "renames", "move") and count == 1)
                of_os = isinstance(node.func.value, ast.Name) and node.func.value.id in ("os", "shutil")
                assert not is_rename, f"{path}:{node.lineno}"
                assert not (of_os and name in ("replace", "rename", "move")), f"{path}:{node.lineno}"
