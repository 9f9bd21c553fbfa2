"""The pages as a site: built without a warning, whole, and without a word to any other host."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from .blocks import ROOT, pages

LOADED = re.compile(r"<(?:script|img|iframe)[^>]* src=\"?([^\s\">]+)|<link[^>]* href=\"?([^\s\">]+)")
STYLE = re.compile(r"url\(\s*[\"']?(https?:|//)|@import")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("site")
    # Without --quiet, which hides the warnings from --strict as well.
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(directory)]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | {
        "NO_MKDOCS_2_WARNING": "1"
    }
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    return directory


@pytest.mark.process
def test_every_page_is_there_and_in_the_navigation(site: Path) -> None:
    index = (site / "index.html").read_text()
    for page in pages()[1:]:
        name = str(page.relative_to(ROOT / "docs").with_suffix(".html"))
        assert (site / name).exists()
        assert name == "index.html" or f'href="{name}"' in index, f"{name} is not in mkdocs.yml's nav"


@pytest.mark.process
def test_it_asks_no_other_host_for_anything(site: Path) -> None:
    for page in site.rglob("*.html"):
        for found in LOADED.finditer(page.read_text()):
            assert not re.match(r"https?:|//", found[1] or found[2]), f"{page.name}: {found[0]}"
    for style in site.rglob("*.css"):
        assert not STYLE.search(style.read_text()), style.name
