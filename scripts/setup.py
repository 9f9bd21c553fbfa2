"""`make setup`: creates .venv with the locked dependencies and the built package; repeats no work.

    python3 -m scripts.setup                 brings .venv up to date
    python3 -m scripts.setup --dev           with what only tests, checks, docs and benchmarks need
    python3 -m scripts.setup --dist DIR      and leaves wheel and sdist in DIR

Three stamps in .venv record its state: two the lock files it was installed from, one the sources the package was built
from and whether they were compiled. A stamp is removed before the work starts and written when it is done, so an
interrupted run is repeated.

The package is built from a copy in a temporary directory. Nothing the build leaves behind can reach `src/`, where a
stale compiled module would shadow its source, or be picked up by the next build.

This runs before anything is installed: standard library only.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from scripts import system

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
LOCK = ROOT / "requirements" / "setup.txt"
DEV_LOCK = ROOT / "requirements" / "dev.txt"  # the same versions, and more packages
DEPENDENCIES_STAMP = VENV / ".penstock-dependencies"
DEV_STAMP = VENV / ".penstock-dev"
PACKAGE_STAMP = VENV / ".penstock-package"  # "compiled <digest>" or "pure <digest>"

# Copied along with src/: the files the package is built from, and the other contents of the sdist (MANIFEST.in).
BUILD_FILES = ("setup.py", "pyproject.toml", "MANIFEST.in", "LICENSE", "README.md", "man")
SDIST_FILES = ("ARCHITECTURE.md", "CHANGELOG.md", "deploy", "docs", "examples", "requirements")
LEFTOVERS = shutil.ignore_patterns("__pycache__", "*.pyc", "*.so", "*.egg-info")


def main() -> None:
    parser = argparse.ArgumentParser(prog="make setup")
    parser.add_argument("--dev", action="store_true", help="install what only tests, checks, docs and benchmarks need")
    parser.add_argument("--dist", metavar="DIR", type=Path, help="leave wheel and sdist in DIR")
    arguments = parser.parse_args()

    system.require_python()
    checkout = os.open(ROOT, os.O_RDONLY)  # runs in one checkout take turns; the lock is released with the process
    fcntl.flock(checkout, fcntl.LOCK_EX)
    bring_up_to_date(dev=arguments.dev, dist=arguments.dist)


def bring_up_to_date(*, dev: bool, dist: Path | None = None) -> None:
    """Does what the stamps say is left to do."""
    compiler = os.environ.get("PENSTOCK_PURE") != "1"
    tag = _cache_tag()
    fresh = read_stamp(DEPENDENCIES_STAMP) == _dependencies_digest(LOCK, tag)
    dev_stamp = read_stamp(DEV_STAMP)
    dev_fresh = dev_stamp == _dependencies_digest(DEV_LOCK, tag)
    if dev and dev_stamp and not dev_fresh:
        fresh = False  # .venv has packages that the lock file may not name any more
    package = _package_digest()
    if not fresh or dist is not None or read_stamp(PACKAGE_STAMP) != f"{_mode(compiler)} {package}":
        compiler = system.require(venv=not fresh, compiler=compiler)
        if not fresh:
            system.require_java()
            _create_venv()
            tag = _cache_tag()
            _install_dependencies(LOCK, DEPENDENCIES_STAMP, tag)
        stamp = f"{_mode(compiler)} {package}"
        if dist is not None or read_stamp(PACKAGE_STAMP) != stamp:
            _install_package(_mode(compiler), stamp, dist)
    if dev and not (fresh and dev_fresh):
        system.require_chromium()
        _install_dependencies(DEV_LOCK, DEV_STAMP, tag)


def read_stamp(path: Path) -> str:
    try:
        return path.read_text().strip()
    except FileNotFoundError:
        return ""


def _mode(compiler: bool) -> str:
    return "compiled" if compiler else "pure"


def _digest(paths: Iterable[Path], *more: str) -> str:
    digest = hashlib.sha256("\0".join(more).encode())
    for path in paths:
        content = path.read_bytes()
        digest.update(f"\0{path.relative_to(ROOT)}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


def _cache_tag() -> str:
    """Names the version of the interpreter in .venv, or of this one, which creates .venv, if there is none."""
    asked = [str(PYTHON), "-I", "-S", "-c", "import sys; print(sys.implementation.cache_tag)"]
    try:
        return subprocess.run(asked, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        DEPENDENCIES_STAMP.unlink(missing_ok=True)
        return str(sys.implementation.cache_tag)


def _dependencies_digest(lock: Path, tag: str) -> str:
    """Covers the lock file, the interpreter inside .venv and its path: a moved or copied .venv cannot be trusted."""
    return _digest([lock], tag, str(VENV))


def _package_digest() -> str:
    sources = (path for path in sorted((ROOT / "src").rglob("*")) if path.is_file())
    wanted = [path for path in sources if path.suffix not in (".pyc", ".so") and ".egg-info" not in str(path)]
    return _digest([*wanted, ROOT / "setup.py", ROOT / "pyproject.toml", LOCK])


def _create_venv() -> None:
    """Starts from an empty .venv, so that it contains what the lock files name and nothing older."""
    with system.step("creating .venv"):
        system.run([sys.executable, "-m", "venv", "--clear", str(VENV)])


def _install_dependencies(lock: Path, stamp: Path, tag: str) -> None:
    count = len(re.findall("^[^ #\n]+==", lock.read_text(), re.MULTILINE))
    stamp.unlink(missing_ok=True)
    with system.step(f"installing {lock.relative_to(ROOT)}, up to {count} packages, into .venv"):
        _pip("install", "--require-hashes", "-r", str(lock))
    stamp.write_text(_dependencies_digest(lock, tag) + "\n")


def _install_package(mode: str, stamp: str, dist: Path | None) -> None:
    title = {"compiled": "compiling the package; this takes minutes", "pure": "building the package, not compiled"}
    PACKAGE_STAMP.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(prefix="penstock-") as scratch:
        tree = Path(scratch) / "tree"
        copy_tree(tree, *BUILD_FILES)
        with system.step(title[mode]):
            wheel = build_wheel(tree, Path(scratch) / "wheel", pure=mode == "pure")
            _pip("install", "--no-deps", "--no-index", "--force-reinstall", str(wheel))
        if dist is not None:
            dist.mkdir(parents=True, exist_ok=True)
            print(f"penstock: {shutil.copy2(wheel, dist)}", flush=True)
            copy_tree(Path(scratch) / "sources", *BUILD_FILES, *SDIST_FILES)
            print(f"penstock: {build_sdist(Path(scratch) / 'sources', dist)}", flush=True)
    PACKAGE_STAMP.write_text(stamp + "\n")


def copy_tree(tree: Path, *names: str) -> None:
    """Copies the sources and the named files to a directory of their own."""
    shutil.copytree(ROOT / "src", tree / "src", ignore=LEFTOVERS)
    for name in names:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tree / name, ignore=LEFTOVERS)
        else:
            shutil.copy2(ROOT / name, tree / name)


def build_wheel(tree: Path, out: Path, *, pure: bool) -> Path:
    """Builds the wheel of a source tree."""
    _pip(
        *("wheel", "--verbose", "--no-deps", "--no-index", "--no-build-isolation", "--wheel-dir", str(out), str(tree)),
        PENSTOCK_PURE="1" if pure else "0",
    )
    (wheel,) = out.glob("*.whl")
    return wheel


def build_sdist(tree: Path, out: Path) -> Path:
    """Builds the sdist of a source tree."""
    code = "import sys, setuptools.build_meta as backend; print(backend.build_sdist(sys.argv[1]))"
    command = [str(PYTHON), "-c", code, str(out.absolute())]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"penstock: the sdist cannot be built: {done.stderr.strip()[-2000:]}")
    return out / done.stdout.splitlines()[-1]


def _pip(*arguments: str, **environment: str) -> None:
    system.run([str(PYTHON), "-m", "pip", "--disable-pip-version-check", *arguments], **environment)


if __name__ == "__main__":
    main()
