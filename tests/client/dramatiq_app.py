"""Actors for a real dramatiq worker. The environment says where the broker is, and which file to write into."""

import os
import signal
from pathlib import Path

import dramatiq

from penstock.adapters.dramatiq import PenstockBroker

broker = PenstockBroker(os.environ["PENSTOCK_TEST_ADDRESS"])
dramatiq.set_broker(broker)


def say(text: str) -> None:
    with Path(os.environ["PENSTOCK_TEST_FILE"]).open("a") as file:
        file.write(text + "\n")


@dramatiq.actor
def add(x: int, y: int) -> None:
    say(f"{x} + {y} = {x + y}")


@dramatiq.actor(max_retries=3, min_backoff=10, max_backoff=20)
def third_time(key: str) -> None:
    tries = Path(os.environ["PENSTOCK_TEST_FILE"]).read_text().count(f"try {key}\n")
    say(f"try {key}")
    if tries < 2:
        raise RuntimeError("not yet")


@dramatiq.actor(max_retries=0)
def fail() -> None:
    raise RuntimeError("never")


@dramatiq.actor
def die_once(marker: str) -> None:
    """Kills its worker, with all its processes, the first time it is run."""
    try:
        Path(marker).touch(exist_ok=False)
    except FileExistsError:
        say("survived")
        return
    os.killpg(os.getpgid(0), signal.SIGKILL)
