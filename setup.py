"""Builds the package: mypyc compiles the modules listed in `[tool.penstock]` in pyproject.toml, unless PENSTOCK_PURE=1.

Everything else (name, dependencies, version) is declared in pyproject.toml.
"""

import os
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

from setuptools import setup

ROOT = Path(__file__).parent


def compiled_sources() -> list[Path]:
    """The files to compile, relative to the checkout, in a stable order."""
    globs = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["penstock"]["compiled"]
    package = ROOT / "src" / "penstock"
    found = {path.relative_to(ROOT) for glob in globs for path in package.glob(glob)}
    return sorted(path for path in found if path.name != "__init__.py")


def extensions() -> Sequence[object]:
    """One extension that holds all the code, and a small one per module that makes it importable."""
    no_build = {"egg_info", "dist_info", "sdist"} & set(sys.argv)  # metadata and sdists need no compilation
    if no_build or os.environ.get("PENSTOCK_PURE") == "1":
        return []
    from mypyc.build import mypycify

    sources = [str(path) for path in compiled_sources()]
    print(f"Translating {len(sources)} modules to C", flush=True)  # `make setup` shows this, and the next line
    found: Sequence[object] = mypycify(sources, opt_level="3", debug_level="1", group_name="penstock")
    print(f"Compiling the C code of {len(sources)} modules", flush=True)
    return found


if __name__ == "__main__":  # when run by the build backend; scripts/origins.py imports compiled_sources
    setup(ext_modules=extensions())
