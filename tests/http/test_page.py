"""The console's files: served whole, from here alone, and told apart from a new version."""

import gzip
import hashlib
import re

from penstock.http import page

from .conftest import Api


def test_the_console_is_at_the_root(api: Api) -> None:
    page = api.get("/")
    assert page.status == 200
    assert page.headers["content-type"].startswith("text/html")
    assert "<title>Penstock</title>" in page.text


def test_every_file_the_page_names_is_there(api: Api) -> None:
    seen: set[str] = set()
    todo = re.findall(r'(?:src|href)="(console/[^"]+)"', api.get("/").text)
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        part = api.get(f"/{name}")
        assert part.status == 200, name
        folder = name.rpartition("/")[0]
        if name.endswith(".js") and "vendor" not in name:
            for found in re.findall(r'^import .* from "(\.[^"]+)"', part.text, re.MULTILINE):
                path = f"{folder}/{found}".replace("/./", "/")
                todo.append(re.sub(r"/[^/]+/\.\./", "/", path))
    assert {"console/vendor/chart.js", "console/views/queue.js", "console/console.css"} <= seen


def test_vendored_files_are_unchanged_and_licensed(api: Api) -> None:
    vendor = page.FOLDER / "vendor"
    notice = (vendor / "README.md").read_text()
    assert hashlib.sha256((vendor / "chart.js").read_bytes()).hexdigest() in notice
    licences = re.findall(r"`(LICENSE-[^`]+)`", notice)
    assert len(licences) == 4
    assert all("Permission is hereby granted" in (vendor / name).read_text() for name in licences)
    assert {str(path.name) for path in vendor.iterdir()} == {"README.md", "chart.js", *licences}
    assert api.get("/console/vendor/README.md").status == 404


def test_nothing_but_its_own_files_may_run(api: Api) -> None:
    page = api.get("/")
    assert page.headers["content-security-policy"].startswith("default-src 'self';")
    assert "unsafe" not in page.headers["content-security-policy"]
    assert not re.search(r"<script(?![^>]*\bsrc=)|\sstyle=|\son\w+=|//[a-z]+\.[a-z]", page.text)


def test_a_browser_that_has_a_file_is_not_sent_it_again(api: Api) -> None:
    first = api.get("/console/main.js")
    again = api.get("/console/main.js", if_none_match=first.headers["etag"])
    assert (again.status, again.data) == (304, b"")


def test_files_are_compressed_for_who_can_read_that(api: Api) -> None:
    plain = api.get("/console/vendor/chart.js")
    zipped = api.get("/console/vendor/chart.js", accept_encoding="gzip")
    assert zipped.headers["content-encoding"] == "gzip"
    assert gzip.decompress(zipped.data) == plain.data
    assert len(zipped.data) < 200_000


def test_no_other_file_is_served(api: Api) -> None:
    for path in ("/console/../page.py", "/console/%2e%2e/page.py", "/console/main.py", "/console/", "/console/views"):
        assert api.get(path).problem == "not-found"
