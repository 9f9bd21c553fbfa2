"""`penstock serve`: options and their help texts come from the fields of Config."""

import inspect
import os
from pathlib import Path
from typing import Annotated, Literal, get_args, get_origin

import typer
from pydantic import BeforeValidator

from penstock.cli.main import command_app
from penstock.config import (
    Config,
    count_of,
    env_of,
    file_of,
    flag_of,
    maybe_size_of,
    message_size_of,
    path_of,
    port_of,
    proxies_of,
    seconds_of,
    size_of,
    span_of,
    text_of,
    user_of,
)

METAVARS = {
    port_of: "PORT",
    count_of: "COUNT",
    size_of: "SIZE",
    message_size_of: "SIZE",
    maybe_size_of: "SIZE",
    seconds_of: "SECONDS",
    span_of: "SECONDS",
    path_of: "DIR",
    file_of: "FILE",
    user_of: "USER",
    proxies_of: "ADDRESSES",
}


EPILOG = (
    "Every option can also be set as an environment variable (PENSTOCK_LINE_SIZE_MAX for --line-size-max) "
    "or a key in the TOML file (line_size_max). Flags override the environment, which overrides the file."
)


def serve(config: Path | None, **flags: object) -> None:
    loaded = Config.load(flags, os.environ, config)
    # Imported only now, so that an invalid setting is reported at once.
    from penstock.node import serve as run

    raise typer.Exit(run(loaded))


def app() -> typer.Typer:
    """The command with an option for every setting."""
    options = [_config_option(), *(_option(key) for key in Config.options())]
    serve.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    return command_app((serve, EPILOG))


def _config_option() -> inspect.Parameter:
    info = typer.Option("--config", metavar="FILE", envvar=env_of("config"), help="TOML file with settings.")
    return _parameter("config", Annotated[Path | None, info])


def _option(key: str) -> inspect.Parameter:
    """The option of one setting. It accepts any text; Config validates it and reports errors."""
    field = Config.model_fields[key]
    if field.annotation is bool:
        return _parameter(key, Annotated[bool | None, typer.Option(flag_of(key), help=field.description)])
    default = "" if field.default is None else f"  [default: {text_of(key, field.default)}]"
    info = typer.Option(flag_of(key), metavar=_metavar(key), help=f"{field.description}{default}")
    return _parameter(key, Annotated[str | None, info])


def _parameter(name: str, annotation: object) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def _metavar(key: str) -> str:
    field = Config.model_fields[key]
    if get_origin(field.annotation) is Literal:
        return "|".join(get_args(field.annotation))
    for rule in field.metadata:
        if isinstance(rule, BeforeValidator):
            return METAVARS[rule.func]  # type: ignore[index]
    return key.upper()
