"""What is shipped: the sdist has what it takes, and the wheel made from it runs where nothing else of ours is.

The wheel here is not compiled, which would take minutes; `make build` makes the one that is.
"""

import importlib.metadata
import json
import re
import subprocess
import sys
import tarfile
import textwrap
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest
from scripts.release_fixture import RELEASES
from scripts.setup import BUILD_FILES, ROOT, SDIST_FILES, build_sdist, build_wheel, copy_tree
from tests.test_name import tracked

from penstock import __version__
from penstock.config import LISTENERS

pytestmark = [pytest.mark.process, pytest.mark.timeout(240)]


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sdist, unpacked."""
    scratch = tmp_path_factory.mktemp("sdist")
    copy_tree(scratch / "tree", *BUILD_FILES, *SDIST_FILES)
    sdist = build_sdist(scratch / "tree", scratch)
    with tarfile.open(sdist) as archive:
        # Debian 12's Python 3.11.2 has no filters yet, and newer ones warn when none is chosen.
        archive.extraction_filter = getattr(tarfile, "data_filter", lambda member, _path: member)
        archive.extractall(scratch)
    return scratch / sdist.name.removesuffix(".tar.gz")


@pytest.fixture(scope="module")
def clean(sources: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new environment with the wheel of the sdist, and of everything else only what the runtime lock names."""
    scratch = tmp_path_factory.mktemp("wheel")
    wheel = build_wheel(sources, scratch, pure=True)
    home = scratch / "venv"
    venv.create(home, symlinks=True)
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(home / "bin" / "python")]
    subprocess.run([*command, "install", "--quiet", "--no-deps", "--no-index", str(wheel)], check=True)
    (packages,) = home.glob("lib/python*/site-packages")
    for entry in runtime_entries():
        (packages / entry.name).symlink_to(entry)
    return home


def runtime_entries() -> Iterator[Path]:
    """What the packages of the runtime lock have put beside each other into the environment of the suite."""
    for name in re.findall(r"^([\w.-]+)==", (ROOT / "requirements" / "runtime.txt").read_text(), re.MULTILINE):
        try:
            found = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue  # for another platform
        base = Path(str(found.locate_file("")))
        tops = {
            file.parts[0] for file in found.files or () if ".." not in file.parts and "__pycache__" not in file.parts
        }
        yield from (base / top for top in sorted(tops) if (base / top).exists())


def run(home: Path, *arguments: str) -> str:
    command = [str(home / "bin" / arguments[0]), *arguments[1:]]
    done = subprocess.run(command, env={"PATH": "/usr/bin:/bin"}, cwd=home, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(arguments)}\n{done.stdout}{done.stderr}"
    return done.stdout


def test_the_sdist_has_the_package_and_what_goes_with_it(sources: Path) -> None:
    wanted = [str(path.relative_to(ROOT)) for path in tracked() if path.is_relative_to(ROOT / "src")]
    wanted += ["setup.py", "pyproject.toml", "LICENSE", "README.md", "CHANGELOG.md", "man/penstock.1"]
    wanted += ["docs/index.md", "deploy/container/Containerfile", "requirements/runtime.txt", "examples/demo.py"]
    missing = [name for name in wanted if (ROOT / name).exists() and not (sources / name).exists()]
    assert missing == []
    assert not list(sources.rglob("*.so")) + list(sources.rglob("*.pyc"))


def test_the_wheel_is_installed_by_the_name_that_is_ours_and_imported_by_the_short_one(clean: Path) -> None:
    code = """
        import importlib.metadata, json, penstock
        ours = importlib.metadata.distribution("penstock-mq")
        names = sorted({found.metadata["Name"] for found in importlib.metadata.distributions(name="penstock")})
        print(json.dumps([ours.version == penstock.__version__, names, ours.metadata.get_all("Provides-Extra")]))
    """
    told = json.loads(run(clean, "python", "-c", textwrap.dedent(code)))
    assert told == [True, [], ["celery", "cluster", "dramatiq", "oidc", "postgres", "spark"]]


def test_a_broker_runs_from_the_wheel_alone(clean: Path) -> None:
    where = run(clean, "python", "-c", "import penstock; print(penstock.__file__)").strip()
    assert where.startswith(str(clean))
    assert run(clean, "penstock", "--version").startswith("penstock ")
    ports = [word for name in LISTENERS for word in (f"--{name}", "0")]
    command = [str(clean / "bin" / "penstock"), "serve", "--data", str(clean / "data"), *ports]
    broker = subprocess.Popen(command, env={"PATH": "/usr/bin:/bin"}, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        assert broker.stdout is not None
        word, _, told = broker.stdout.readline().decode().partition(" ")
        assert word == "ready"
        address = {name: f"127.0.0.1:{port}" for name, port in json.loads(told).items()}
        assert run(clean, "penstock", "put", "jobs", "hello", "--addr", address["mqmq"]) == "put 5 bytes into jobs\n"
        assert run(clean, "penstock", "consume", "jobs", "-n", "1", "--addr", address["rq"]) == "hello\n"
        assert "jobs" in run(clean, "mqmq", "info", "-addr", address["mqmq"])
        assert "jobs" in run(clean, "penstock", "queues", "--server", f"http://{address['http']}")
        broker.terminate()
        assert broker.wait(60) == 0
    finally:
        broker.kill()
        broker.wait()
        if broker.stdout is not None:
            broker.stdout.close()


def test_the_wheel_brings_its_man_page_and_its_console(clean: Path) -> None:
    assert (clean / "share" / "man" / "man1" / "penstock.1").read_text().startswith(".")
    (package,) = clean.glob("lib/python*/site-packages/penstock")
    assert (package / "py.typed").exists()
    assert (package / "http" / "console" / "index.html").exists()
    assert (package / "http" / "console" / "vendor" / "chart.js").exists()
    assert (package / "http" / "console" / "vendor" / "LICENSE-chart.js.txt").exists()
    assert any((package / "spark" / "template").rglob("*.yml"))


def released() -> list[str]:
    """The versions in the changelog, newest first."""
    headings = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    dated = [re.fullmatch(r"(\d+\.\d+\.\d+) - \d{4}-\d\d-\d\d", heading) for heading in headings]
    assert all(dated[1:]), f"a version without a date: {headings}"
    assert dated[0] or headings[0] == "Unreleased"
    return [found[1] for found in dated if found]


def test_the_version_is_the_newest_of_the_changelog_and_on_every_page_that_names_it() -> None:
    assert released()[0] == __version__
    assert f'"penstock {__version__}"' in (ROOT / "man" / "penstock.1").read_text()
    assert f'"version": "{__version__}"' in (ROOT / "docs" / "http.md").read_text()
    assert f"penstock_mq-{__version__}-" in (ROOT / "docs" / "howto" / "workers.md").read_text()


def test_each_earlier_release_has_left_a_data_directory_for_the_upgrade_test() -> None:
    kept = {path.name for path in RELEASES.iterdir()}
    assert [version for version in released()[1:] if version not in kept] == []


def test_the_container_file_names_what_there_is() -> None:
    lines = (ROOT / "deploy" / "container" / "Containerfile").read_text().replace("\\\n", " ").splitlines()
    steps = [line.split() for line in lines if line.strip() and not line.startswith("#")]
    images = [step[1] for step in steps if step[0] == "FROM"]
    assert set(images) == {"${BASE}"}  # by its digest, which has to be given, and is looked at
    assert steps[0] == ["ARG", "BASE"]
    assert any("*@sha256:*)" in step for step in steps if step[0] == "RUN")
    copied = [word for step in steps if step[0] == "COPY" and "--from" not in step[1] for word in step[1:-1]]
    assert copied
    assert [name for name in copied if not (ROOT / name).exists()] == []
    last = steps[max(n for n, step in enumerate(steps) if step[0] == "FROM") :]
    assert ["USER", "penstock"] in last
    assert any(step[0] == "VOLUME" for step in last)
    exposed = {int(port) for step in last if step[0] == "EXPOSE" for port in step[1:]}
    assert exposed == {54321, 2201, 54322, 47774, 13700, 7700, 7780}
    assert [step[0] for step in last[-2:]] == ["ENTRYPOINT", "CMD"]
