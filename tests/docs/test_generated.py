"""Pages that are made from the code say what the code says."""

import shutil
import subprocess
from pathlib import Path

import pytest
from scripts.pages.__main__ import ROOT, pages

MADE = pages()


@pytest.mark.parametrize("path", MADE, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_page_is_as_the_code_has_it(path: Path) -> None:
    assert path.read_text() == MADE[path], "run: make pages"


@pytest.mark.process
@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_the_man_page_is_set_without_a_warning() -> None:
    command = ["groff", "-ww", "-man", "-Tutf8", "-P-c", "-P-b", "-P-u", str(ROOT / "man" / "penstock.1")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert "penstock bench" in done.stdout
    assert "EXIT STATUS" in done.stdout
