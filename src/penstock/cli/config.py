"""`penstock config`: the settings a broker started here would use, and where each comes from."""

import os
import tomllib
from pathlib import Path
from typing import Annotated

import typer

from penstock.cli.connect import Json
from penstock.cli.main import group_app
from penstock.cli.output import print_json, print_line
from penstock.config import Config, env_of, text_of
from penstock.exposure import advice, open_doors
from penstock.server.certificates import load, paths_of

File = Annotated[
    Path | None, typer.Option("--config", metavar="FILE", envvar=env_of("config"), help="TOML file with settings.")
]


def app() -> typer.Typer:
    return group_app("config", show, check)


def show(
    config: File = None,
    changed: Annotated[bool, typer.Option("--changed", help="Only settings that differ from the default.")] = False,
    json: Json = False,
) -> None:
    """Show the settings that `penstock serve` would use. They come from the environment, the file and the defaults."""
    loaded = Config.load({}, os.environ, config)
    sources = _sources(config)
    for setting in loaded.describe():
        source = sources.get(setting.key, "default")
        if changed and source == "default":
            continue
        if json:
            value = str(setting.value) if isinstance(setting.value, Path) else setting.value
            print_json({"key": setting.key, "value": value, "source": source, "env": setting.env, "help": setting.help})
        else:
            print_line(f"{setting.key:<24} {text_of(setting.key, setting.value):<14} {source}")
    for policy in loaded.policy:
        rules = policy.model_dump(exclude_none=True)
        if json:
            print_json({"key": "policy", "value": rules, "source": f"file {config}"})
        else:
            text = ", ".join(f"{key} = {value}" for key, value in rules.items() if key != "queues")
            print_line(f"{'policy':<24} {' '.join(policy.queues)}: {text}  file {config}")


def check(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="TOML file to check.")],
    json: Json = False,
) -> None:
    """Check a config file. Ignores the environment, and lists listeners exposed without TLS or authentication.

    Exit code 2: the file is invalid, and the message says why. 1: a certificate or its key cannot be used.
    """
    loaded = Config.load({}, {}, file)
    paths = paths_of(loaded)
    if paths is not None:
        load(paths)
    doors = open_doors(loaded)
    count = len(tomllib.loads(file.read_text(encoding="utf-8")))
    if json:
        named = [{"door": str(door), "lacks": door.lacks} for door in doors]
        print_json({"file": str(file), "ok": True, "keys": count, "policies": len(loaded.policy), "open_doors": named})
    else:
        policies = f", {_counted(len(loaded.policy), 'policy', 'policies')}" if loaded.policy else ""
        print_line(f"{file} is valid: {_counted(count, 'key', 'keys')}{policies}")
        for door in doors:
            print_line(f"exposed: {door} lacks {' and '.join(door.lacks)}")
        if doors and not loaded.insecure:
            print_line("the broker would not start. " + advice(loaded, doors))


def _counted(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"


def _sources(config: Path | None) -> dict[str, str]:
    found: dict[str, str] = {}
    if config is not None:
        found = dict.fromkeys(tomllib.loads(config.read_text(encoding="utf-8")), f"file {config}")
    return found | {key: f"environment {env_of(key)}" for key in Config.options() if os.environ.get(env_of(key))}
