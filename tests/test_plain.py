"""What is shown on a terminal shows itself, and does nothing."""

import io
import json
import sys

import pytest

from penstock.plain import plain, plain_json, plain_lines
from penstock.server.logs import start_logs

NASTY = "a\x1b]0;owned\x07\x1b[2Jb\x9b1mc\x7f\u202egpj.exe\r\n\td"
OBEYED = ("\x1b", "\x07", "\x9b", "\x7f", "\u202e", "\r")


def test_what_a_terminal_obeys_is_shown_as_escapes() -> None:
    shown = plain(NASTY)
    assert shown.isprintable()
    assert shown == r"a\x1b]0;owned\x07\x1b[2Jb\x9b1mc\x7f\u202egpj.exe\r\n\td"
    assert plain("Größe 注文 заказ 🙂") == "Größe 注文 заказ 🙂"


def test_lines_stay_lines_where_they_are_meant_to_be() -> None:
    assert plain_lines(NASTY) == plain(NASTY).replace(r"\n", "\n").replace(r"\t", "\t")


def test_json_means_the_same() -> None:
    document = {NASTY: [NASTY, "Größe", "\U000e0041"]}
    shown = plain_json(json.dumps(document, ensure_ascii=False))
    assert shown.isprintable()
    assert json.loads(shown) == document


@pytest.mark.parametrize("style", ["console", "json"])
def test_the_log_shows_names_and_obeys_none(style: str, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    report = start_logs("info", style)
    report("warning", "request.refused", {"queue": NASTY, "traceback": "one\ntwo\x1b[2J"})
    written = stream.getvalue()
    # The renderer has colours of its own, which begin with ESC [ and are of digits.
    assert "\x1b]0" not in written
    assert "\x1b[2J" not in written
    assert not [mark for mark in OBEYED[1:] if mark in written]
    assert r"\x1b]0;owned" in written or r"\u001b]0;owned" in written
