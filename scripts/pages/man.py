"""`man penstock`, made of the commands and settings themselves."""

import re
from pathlib import Path

from scripts.pages.cli import described

from penstock import __version__
from penstock.cli import main
from penstock.cli.exits import EXITS
from penstock.config import DATA_DEFAULT, Config, flag_of, text_of

PAGE = Path(__file__).resolve().parents[2] / "man" / "penstock.1"
SECTIONS = re.compile(r"^(Arguments|Options|Commands):$")
ITEM = re.compile(r"^  (\S.*?)(?:  +(\S.*))?$")


def page() -> str:
    parts = [
        '.\\" Written by `make pages`.',
        f'.TH PENSTOCK 1 "" "penstock {__version__}" "User Commands"',
        ".SH NAME",
        "penstock, mqmq \\- one message broker for five small queue protocols",
        ".SH SYNOPSIS",
        ".B penstock",
        "[\\fB\\-\\-version\\fR] [\\fB\\-\\-help\\fR] \\fIcommand\\fR [\\fIoptions\\fR]",
        ".br",
        ".B mqmq",
        "\\fBstart\\fR|\\fBinfo\\fR [\\fB\\-addr\\fR \\fIhost:port\\fR]",
        ".SH DESCRIPTION",
        DESCRIPTION,
        ".PP",
        "\\fBmqmq\\fR is the command of the original MQMQ, implemented with this broker: MQMQ only, in memory.",
        ".SH COMMANDS",
    ]
    helps = described()
    for name in main.COMMANDS:
        if name == "serve":
            parts += [".SS penstock serve", text(main.COMMANDS[name] + " Its options are the settings below.")]
        else:
            paths = [path for path in helps if path == name or path.startswith(name + " ")]
            for path in paths[:1] if len(paths) == 1 else paths[1:]:
                parts += command(path, helps[path])
    parts += [".SH SETTINGS", text(SETTINGS)]
    for setting in Config().describe():
        default = "" if setting.default in (None, "") else f" Default: {text_of(setting.key, setting.default)}."
        parts += [
            ".TP",
            f"\\fB{text(flag_of(setting.key))}\\fR, \\fB{text(setting.env)}\\fR",
            text(setting.help + default),
        ]
    parts.append(".SH EXIT STATUS")
    for code, meaning in EXITS.items():
        parts += [".TP", f"\\fB{code}\\fR", text(meaning[0].upper() + meaning[1:] + ".")]
    parts += [
        ".SH FILES",
        ".TP",
        f"\\fI{DATA_DEFAULT}\\fR",
        "The data directory, relative to where the broker was started, unless \\fB\\-\\-data\\fR sets another.",
        ".SH EXAMPLES",
        ".EX",
        "penstock serve &",
        text("penstock put jobs '{\"n\": 1}'"),
        text("penstock consume jobs -n 1"),
        ".EE",
    ]
    return "\n".join(parts) + "\n"


DESCRIPTION = """\
Penstock is a message broker that speaks MQKS, SMQS, SEVX, MQMQ and RQ over one core: you can put a message into a queue
over any of them and take it out over any other. Everything it accepts goes into one durable log, which Spark reads."""
SETTINGS = """\
Each setting is a flag of serve, an environment variable, and a key in the TOML file given with --config (the flag
without its leading dashes, with _ for -). Flags override the environment, which overrides the file."""


def command(path: str, help: str) -> list[str]:
    """What a command says of itself, as a man page has it."""
    usage, *lines = help.splitlines()
    found = [f".SS penstock {path}", text(usage.removeprefix("Usage: ")), ".PP"]
    listing = False
    for line in lines:
        if SECTIONS.match(line):
            listing = True
        elif not line.strip():
            found.append(".PP")
            listing = False
        elif listing and (item := ITEM.match(line)) and not line.startswith("    "):
            found += [".TP", f"\\fB{text(item[1])}\\fR", text(item[2] or "")]
        else:
            found.append(text(line.strip()))
    return [line for n, line in enumerate(found) if line and not (line == ".PP" and found[n - 1 : n] == [".PP"])]


def text(line: str) -> str:
    """As troff takes it literally."""
    escaped = line.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + escaped if escaped.startswith((".", "'")) else escaped
