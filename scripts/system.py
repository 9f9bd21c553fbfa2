"""Checks what the build needs from the system, and installs it.

A virtual environment needs ensurepip; compiling needs a C compiler and Python's headers; Spark needs Java. Each is
found by trying it, not by asking the package manager, so a compiler from elsewhere counts. Missing packages are
installed with apt-get when we are root; otherwise one line says what to install. Everything but Spark works without
Java, so setup continues without it.

The output of commands is kept back until one fails. `step` shows meanwhile that they are running.

This runs before anything is installed: standard library only.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

PYTHON_MIN = (3, 11)
VERSIONED = f"python{sys.version_info[0]}.{sys.version_info[1]}"  # as in Debian's package names: python3.11-venv

CHROMIUM = "chromium"  # both Debian's package and its command

JAVA_MIN = 17
JAVA_MODULE = "jdk.incubator.vector"  # Spark 4.3 requires it by name; trimmed runtimes lack it
JAVA_PACKAGE = "openjdk-17-jre-headless"

BEAT_SECONDS = 10.0
ACTIVITIES = (  # lines of pip, of setup.py and of apt-get
    *("Collecting ", "Downloading ", "Using cached ", "Building ", "Installing ", "Translating ", "Compiling "),
    *("Get:", "Unpacking ", "Setting up "),
)
ACTIVITY_LENGTH_MAX = 72

PROGRAM = "int main(void) { return 0; }\n"
EXTENSION = "#include <Python.h>\n"


def fail(line: str) -> NoReturn:
    """Exits with one line that says why."""
    sys.exit(f"penstock: {line}")


class Activity:
    """What the running command does, as far as its output tells."""

    now = ""

    def heard(self, line: str) -> None:
        line = line.strip()
        if line.startswith(ACTIVITIES):
            self.now = line if len(line) <= ACTIVITY_LENGTH_MAX else line[:ACTIVITY_LENGTH_MAX] + "..."


activity = Activity()


@contextmanager
def step(title: str) -> Iterator[None]:
    """Prints what starts, every ten seconds what it does, and at the end how long it took."""
    print(f"penstock: {title}", flush=True)
    activity.now = ""
    started = time.monotonic()
    ended = threading.Event()

    def show() -> None:
        while not ended.wait(BEAT_SECONDS):
            print(f"penstock: {time.monotonic() - started:5.0f} s  {activity.now}".rstrip(), flush=True)

    shown = threading.Thread(target=show, daemon=True)
    shown.start()
    try:
        yield
    finally:
        ended.set()
        shown.join()
    print(f"penstock: {time.monotonic() - started:5.0f} s  done", flush=True)


def attempt(command: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs a command and captures its output, with `environment` added to ours."""
    with subprocess.Popen(
        command,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        errors="replace",
    ) as process:
        assert process.stdout is not None
        lines = []
        for line in process.stdout:
            lines.append(line)
            activity.heard(line)
    return subprocess.CompletedProcess(command, process.returncode, "".join(lines))


def run(command: list[str], **environment: str) -> None:
    """Runs a command that must succeed; its output is shown only when it fails."""
    done = attempt(command, **environment)
    if done.returncode != 0:
        print(done.stdout, end="", flush=True)
        fail(f"failed with status {done.returncode}: {shlex.join(command)}")


def require_python() -> None:
    if sys.version_info < PYTHON_MIN:
        wanted = ".".join(map(str, PYTHON_MIN))
        found = ".".join(map(str, sys.version_info[:3]))
        fail(f"Python {wanted} or newer is needed, {sys.executable} is {found}; name another: make setup PYTHON=...")


def require(*, venv: bool, compiler: bool) -> bool:
    """Prepares the system, or exits. Returns whether C can be compiled."""
    packages = _missing(venv=venv, compiler=compiler)
    if not packages:
        return compiler
    if shutil.which("apt-get") is None:
        if venv and not can_make_venv():
            fail(f"{sys.executable} cannot make a virtual environment: its ensurepip module is missing")
        print("penstock: no C compiler with Python's headers here, so the package stays interpreted", flush=True)
        return False
    if os.geteuid() != 0:
        fail(_instruction(packages))
    _apt_install(packages)
    still_missing = _missing(venv=venv, compiler=compiler)
    if still_missing:
        fail(f"installed {' '.join(packages)}, yet {sys.executable} still lacks {' '.join(still_missing)}")
    return compiler


def require_chromium() -> None:
    """Installs the browser for its tests, or prints one line about what is missing; the rest works without."""
    if shutil.which(CHROMIUM) is not None or shutil.which("apt-get") is None:
        return
    if os.geteuid() != 0:
        install = f"apt-get update && apt-get install -y --no-install-recommends {CHROMIUM}"
        print(f"penstock: the browser tests need Chromium; as root: {install}", flush=True)
    else:
        _apt_install([CHROMIUM])


def require_java() -> None:
    """Installs Java for Spark, or prints one line about what is missing; the rest works without."""
    if has_java():
        return
    if shutil.which("apt-get") is None:
        print(f"penstock: no Java {JAVA_MIN} or newer here, so there is no Spark", flush=True)
    elif os.geteuid() != 0:
        install = f"apt-get update && apt-get install -y --no-install-recommends {JAVA_PACKAGE}"
        print(f"penstock: Spark needs Java {JAVA_MIN} or newer; as root: {install}", flush=True)
    else:
        _apt_install([JAVA_PACKAGE])
        if not has_java():
            fail(f"installed {JAVA_PACKAGE}, yet `java` is not Java {JAVA_MIN} or newer; is JAVA_HOME right?")


def has_java() -> bool:
    """Whether the Java that Spark would start is recent enough and complete."""
    home = os.environ.get("JAVA_HOME")
    try:
        done = attempt([str(Path(home, "bin", "java")) if home else "java", "--version"])
        modules = attempt([str(Path(home, "bin", "java")) if home else "java", "--list-modules"])
    except OSError:
        return False
    version = re.search(r"\b(\d+)[.\d+-]", done.stdout)
    return version is not None and int(version[1]) >= JAVA_MIN and JAVA_MODULE in modules.stdout


def can_make_venv() -> bool:
    importlib.invalidate_caches()
    return importlib.util.find_spec("ensurepip") is not None


def can_compile(source: str, *flags: str) -> bool:
    """Whether the compiler used for extensions accepts `source`."""
    command = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")
    includes = [f"-I{sysconfig.get_path(name)}" for name in ("include", "platinclude")]
    with tempfile.TemporaryDirectory(prefix="penstock-") as scratch:
        path = Path(scratch, "probe.c")
        path.write_text(source)
        try:
            done = attempt([*command, *includes, *flags, str(path), "-o", str(path.with_suffix(".out"))])
        except OSError:
            return False
    return done.returncode == 0


def _missing(*, venv: bool, compiler: bool) -> list[str]:
    packages = []
    if venv and not can_make_venv():
        packages.append(f"{VERSIONED}-venv")
    if compiler and not can_compile(PROGRAM):
        packages += ["gcc", "libc6-dev"]
    if compiler and not Path(sysconfig.get_path("include"), "Python.h").exists():
        packages.append(f"{VERSIONED}-dev")
    if compiler and not packages and not can_compile(EXTENSION, "-c"):
        packages.append(f"{VERSIONED}-dev")
    return packages


def _instruction(packages: list[str]) -> str:
    line = f"to set up, run as root: apt-get update && apt-get install -y --no-install-recommends {' '.join(packages)}"
    if f"{VERSIONED}-venv" in packages:
        return line
    return f"{line} (or do without a compiler: PENSTOCK_PURE=1 make setup)"


def _apt_install(packages: list[str]) -> None:
    """Installs from the existing package lists; fetches the lists first when there are none or they are out of date."""
    install = ["apt-get", "install", "-y", "-q", "--no-install-recommends", *packages]
    with step(f"installing {' '.join(packages)} with apt-get"):
        if attempt(install, DEBIAN_FRONTEND="noninteractive").returncode != 0:
            run(["apt-get", "update", "-q"])
            run(install, DEBIAN_FRONTEND="noninteractive")
