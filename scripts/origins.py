"""Prints whether the interpreter runs the compiled modules or their sources, and fails when it is not the expected one.

Use: `.venv/bin/python -m scripts.origins compiled` or `... interpreted`, with the environment of the run that follows.
"""

import importlib
import sys
from pathlib import Path

from setup import compiled_sources

SUFFIXES = {"compiled": ".so", "interpreted": ".py"}


def main() -> None:
    run = sys.argv[1]
    origins = {name: _origin(name) for name in map(_module_name, compiled_sources())}
    strays = [f"{name} comes from {origin}" for name, origin in origins.items() if not origin.endswith(SUFFIXES[run])]
    if strays:
        sys.exit(f"penstock: this is not the {run} package:\n  " + "\n  ".join(strays))
    example = origins["penstock.core.broker"]
    print(f"==> {run} run: {len(origins)} modules end in {SUFFIXES[run]}, as {example}", flush=True)


def _module_name(source: Path) -> str:
    return ".".join(source.relative_to("src").with_suffix("").parts)


def _origin(name: str) -> str:
    return importlib.import_module(name).__file__ or "nowhere"


if __name__ == "__main__":
    main()
