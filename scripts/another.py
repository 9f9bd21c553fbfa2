"""Finds an interpreter for `scripts/suite another`: a different patch release of Python than the one in .venv.

    .venv/bin/python -m scripts.another      prints its path; nothing when there is no other

A change between two patch releases has made clients fail on one and pass on the other. The candidates are the
system's own Python and each `python3` on the PATH. The packages of .venv must fit, so it has the same minor version
(3.11). The printed path is in a separate virtual environment that borrows the packages of .venv.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

HOME = Path(sys.prefix) / "another-python"
ASK = "import sys; print(sys.implementation.cache_tag, sys.version.split()[0], getattr(sys, '_base_executable', ''))"


def main() -> None:
    for candidate in candidates():
        tag, version, executable = ask(candidate)
        if tag == sys.implementation.cache_tag and version != sys.version.split()[0]:
            print(environment(executable))
            return


def candidates() -> Iterator[Path]:
    """The system's own Python comes first: it is what most people have."""
    folders = ["/usr/bin", *os.environ.get("PATH", "").split(os.pathsep)]
    found = (Path(folder) / "python3" for folder in dict.fromkeys(folders) if folder)
    yield from (path for path in found if os.access(path, os.X_OK))


def ask(python: Path) -> tuple[str, str, str]:
    """Version and real path of an interpreter: the one on the PATH may be a script that starts another."""
    done = subprocess.run([str(python), "-I", "-c", ASK], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    tag, version, executable, *_ = (*done.stdout.split(), "", "", "")
    return tag, version, executable


def environment(python: str) -> Path:
    """A virtual environment of that interpreter, with the packages of this one and without its own pip."""
    command = [python, "-I", "-m", "venv", "--without-pip", "--clear", str(HOME)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    (packages,) = HOME.glob("lib/python*/site-packages")
    (packages / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return HOME / "bin" / "python"


if __name__ == "__main__":
    main()
