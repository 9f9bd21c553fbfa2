"""A lake takes batches whole and once, whatever dies in between."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from penstock.spark.lake import Lake, LakeError


def stage(lake: Lake, batch: int, *offsets: int, folder: str = "date=2025-11-15/event=e") -> None:
    """What Spark leaves in staging: a file, and things of its own."""
    place = Path(lake.staging(batch), folder)
    place.mkdir(parents=True)
    table = pa.table({"offset": pa.array(offsets, pa.int64()), "body": [b"x"] * len(offsets)})
    pq.write_table(table, place / f"part-{offsets[0]}.zstd.parquet")
    (Path(lake.staging(batch + 1000)).parent / str(batch) / "_SUCCESS").touch()


def opened(path: Path) -> Lake:
    lake = Lake(str(path))
    lake.open()
    return lake


def offsets(path: Path) -> list[int]:
    return sorted(pq.read_table(path).column("offset").to_pylist())


def test_a_batch_is_there_once_under_a_name_that_says_its_offsets(tmp_path) -> None:
    lake = opened(tmp_path)
    stage(lake, 0, 3, 5, 9)
    assert not lake.has("w", 0)
    assert lake.commit("w", 0) == ["date=2025-11-15/event=e"]
    assert lake.has("w", 0)
    assert lake.paths() == ["date=2025-11-15/event=e/0000000000000003-0000000000000009.parquet"]
    assert lake.state()["next_offset"] == 10
    assert not lake.has("another", 0)


def test_what_is_only_staged_is_forgotten(tmp_path) -> None:
    stage(opened(tmp_path), 0, 1, 2)
    lake = opened(tmp_path)
    assert lake.paths() == []
    assert not list((tmp_path / ".penstock").glob("staging/*"))


class Killed(BaseException):
    """The process dies here."""


class DyingFiles:
    """A file system that dies at its nth change."""

    def __init__(self, files: object, moves: int) -> None:
        self._files = files
        self._moves = moves

    def __getattr__(self, name: str) -> object:
        if name in ("move", "delete_file", "delete_dir"):
            self._moves -= 1
            if self._moves < 0:
                raise Killed
        return getattr(self._files, name)


def test_a_death_at_any_moment_leaves_a_batch_whole_or_away(tmp_path) -> None:
    outcomes = set()
    for moment in range(20):
        path = tmp_path / str(moment)
        lake = opened(path)
        stage(lake, 0, 0, 1)
        lake.commit("w", 0)
        stage(lake, 1, 2, 3)
        stage_more = Path(lake.address, ".penstock/staging/1/date=2025-11-15/event=f")
        stage_more.mkdir()
        pq.write_table(pa.table({"offset": [4]}), stage_more / "part.parquet")
        lake.files = DyingFiles(lake.files, moment)
        try:
            lake.commit("w", 1)
            outcomes.add("done")
        except Killed:
            outcomes.add("died")
        again = opened(path)
        found = offsets(path)
        assert found == ([0, 1, 2, 3, 4] if again.has("w", 1) else [0, 1])
    assert outcomes == {"done", "died"}


def test_small_files_become_one_and_a_death_loses_and_doubles_nothing(tmp_path) -> None:
    for moment in range(20):
        path = tmp_path / str(moment)
        lake = opened(path)
        for batch in range(4):
            stage(lake, batch, batch * 10, batch * 10 + 1)
            lake.commit("w", batch)
        (folder,) = lake.folders()
        assert lake.compact(folder, count=5) == 0
        lake.files = DyingFiles(lake.files, moment)
        try:
            assert lake.compact(folder, count=4) == 4
            assert len(lake.paths()) == 1
        except Killed:
            pass
        again = opened(path)
        assert offsets(path) == [0, 1, 10, 11, 20, 21, 30, 31]
        assert len(again.paths()) in (1, 4)


def test_an_address_that_cannot_be_used_is_told(tmp_path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(LakeError, match="cannot use"):
        Lake(str(tmp_path / "file"))
    with pytest.raises(LakeError, match="cannot use"):
        Lake("gopher://x/y")
