"""Files that are followed: what counts as a change, and what happens to whoever wants to hear of it."""

import asyncio
from pathlib import Path

from penstock.server.watch import Watcher


def test_a_poke_takes_everything_as_changed(tmp_path: Path) -> None:
    reports: list[str] = []
    called: list[str] = []
    watcher = Watcher(lambda level, event, details: reports.append(event))

    def fail() -> None:
        raise ValueError("no good")

    watcher.add([tmp_path / "a"], lambda: called.append("a"))
    watcher.add([tmp_path / "b"], fail)
    watcher.add([tmp_path / "c"], lambda: called.append("c"))
    watcher.poke()
    assert (called, reports) == (["a", "c"], ["file.not_reloaded"])


def test_a_change_is_told_once_and_one_that_was_poked_for_is_known(tmp_path: Path) -> None:
    called: list[str] = []
    path = tmp_path / "a"

    async def run() -> None:
        told = asyncio.Event()

        def changed() -> None:
            called.append(path.read_text())
            told.set()

        watcher = Watcher(lambda level, event, details: None, 0.001)
        watcher.add([path], changed)
        path.write_text("1")
        watcher.poke()
        assert called == ["1"]
        told.clear()
        watcher.start(asyncio.get_running_loop())
        path.write_text("22")
        await asyncio.wait_for(told.wait(), 10)
        watcher.stop()
        assert called in (["1", "22"], ["1", "", "22"])  # it may have been seen before it was written

    asyncio.run(run())
