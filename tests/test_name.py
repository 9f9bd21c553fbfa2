"""What we are called where packages are installed from.

The import and the command are `penstock`. The distribution is not: that name belongs to somebody else's package, and
anyone who installed it because one of our pages said so would run a stranger's code. This file puts the words it looks
for together from parts, so that it contains none of them.
"""

import os
import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
OURS = "penstock"
NAME = f"{OURS}-mq"
INSTALL = r"\b(?:pip3?|pipx|uv|poetry|conda)\s+(?:install|add|download|wheel|run)\b"
STRANGER = re.compile(
    rf"{INSTALL}[^\n;&|]*?\s['\"]?{OURS}(?![\w/.-])"  # installed by its bare name, whatever options come first
    rf"|{INSTALL}\s+['\"`]?{OURS}(?![\w/.-])"  # the same over the end of a line
    rf"|(?<![\w./-]){OURS}\[[a-z]"  # an extra of it
    rf"|(?<![\w./-]){OURS}\s?[=~<>!]=\s?\d"  # a version of it
)


def tracked() -> Iterator[Path]:
    """The files of the checkout; without git, everything in it that is not hidden or made."""
    try:
        done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
        yield from (ROOT / name for name in done.stdout.split("\0") if name and (ROOT / name).is_file())
    except (OSError, subprocess.CalledProcessError):
        made = {"build", "dist", "site", "__pycache__", f"{OURS}-data"}
        for folder, folders, names in os.walk(ROOT):
            folders[:] = [name for name in folders if name not in made and (name == ".ci" or not name.startswith("."))]
            yield from (Path(folder, name) for name in names if not name.endswith((".pyc", ".so")))


def test_nothing_tells_people_to_install_the_package_of_somebody_else() -> None:
    read, found = 0, []
    for path in tracked():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # a picture, or the bytes of a log
        read += 1
        for hit in STRANGER.finditer(text):
            line = text.count("\n", 0, hit.start()) + 1
            found.append(f"{path.relative_to(ROOT)}:{line}: {hit[0]}")
    assert found == []
    assert read > 300


@pytest.mark.parametrize(
    "wrong",
    [
        f"pip install {OURS}",
        f"bin/pip install --upgrade '{OURS}'",
        f"python3 -m pip install\n{OURS}",
        f"uv add {OURS}",
        f"needs {OURS}[spark]",
        f"{OURS}==1.0",
    ],
)
def test_the_search_finds_each_way_to_say_it(wrong: str) -> None:
    assert STRANGER.search(wrong)


@pytest.mark.parametrize(
    "right",
    [
        f"pip install {NAME}",
        f"pip install '{NAME}[spark]'",
        f"/opt/{OURS}/bin/pip install dist/{OURS}_mq-*.whl",
        f"/opt/{OURS}/bin/pip install --no-index wheel/*.whl",
        f"{OURS} serve",
    ],
)
def test_the_search_leaves_the_rest_alone(right: str) -> None:
    assert not STRANGER.search(right)


def test_the_project_and_its_locks_have_the_name() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["name"] == NAME
    assert OURS in project["scripts"]
    for lock in (ROOT / "requirements").glob("*.txt"):
        assert f"{NAME} (pyproject.toml" in lock.read_text()
