"""Files that appear: taken when they are complete, not before, and not twice."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from demosaic_ntc.batch.discovery import RAW_SUFFIXES, FoundInput, InputSearch
from demosaic_ntc.batch.watch import Arrivals
from demosaic_ntc.errors import InputError
from tests.batch.batches import PATIENCE

SETTLE = 0.3


class Clock:
    """Seconds that pass when the test says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock by which files settle: a busy machine would not be told from a file that is complete."""
    ours = Clock()
    monkeypatch.setattr("demosaic_ntc.batch.watch.time", ours)
    return ours


def _arrivals(folder: Path, settle: float = SETTLE, **options: bool) -> Arrivals:
    recursive = options.pop("recursive", False)
    search = InputSearch(RAW_SUFFIXES, recursive, folder / "out")
    return Arrivals(folder, search, settle=settle, **options)


def _next(files: Iterator[FoundInput[Path] | None], seconds: float = PATIENCE) -> str | None:
    """The next file that is complete, if one is within the time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if (found := next(files)) is not None:
            return found.source.name
        time.sleep(0.01)
    return None


@pytest.mark.parametrize("poll", [False, True])
def test_new_file_is_taken_once(tmp_path: Path, poll: bool) -> None:
    (tmp_path / "old.dng").write_bytes(b"old")
    with _arrivals(tmp_path, poll=poll) as arrivals:
        files = iter(arrivals)
        assert _next(files, 0.5) is None
        (tmp_path / "new.dng").write_bytes(b"new")
        (tmp_path / "notes.txt").write_bytes(b"no raw")
        assert _next(files) == "new.dng"
        assert _next(files, 0.7) is None


def test_what_is_there_is_taken_when_asked(tmp_path: Path) -> None:
    (tmp_path / "old.dng").write_bytes(b"old")
    with _arrivals(tmp_path, existing=True) as arrivals:
        assert _next(iter(arrivals)) == "old.dng"


def _looked(arrivals: Arrivals, files: Iterator[FoundInput[Path] | None]) -> str | None:
    """What is complete when the folder is looked at now."""
    arrivals._bell.set()
    found = next(files)
    return None if found is None else found.source.name


def test_growing_file_is_waited_for(tmp_path: Path, clock: Clock) -> None:
    path = tmp_path / "a.dng"
    with _arrivals(tmp_path) as arrivals:
        files = iter(arrivals)
        for _ in range(8):
            with open(path, "ab") as file:
                file.write(b"more")
            assert _looked(arrivals, files) is None
            clock.now += 0.9 * SETTLE
        clock.now += 0.2 * SETTLE
        assert _looked(arrivals, files) == "a.dng"
        assert path.stat().st_size == 32


def test_file_that_changes_later_comes_again(tmp_path: Path) -> None:
    with _arrivals(tmp_path) as arrivals:
        files = iter(arrivals)
        (tmp_path / "a.dng").write_bytes(b"half")
        assert _next(files) == "a.dng"
        (tmp_path / "a.dng").write_bytes(b"half and the rest")
        assert _next(files) == "a.dng"


def test_file_that_vanishes_is_forgotten(tmp_path: Path, clock: Clock) -> None:
    with _arrivals(tmp_path) as arrivals:
        files = iter(arrivals)
        (tmp_path / "a.dng").write_bytes(b"a")
        assert _looked(arrivals, files) is None
        (tmp_path / "a.dng").unlink()
        clock.now += 2 * SETTLE
        assert _looked(arrivals, files) is None
        clock.now += 2 * SETTLE
        assert _looked(arrivals, files) is None


def test_folders_within_are_watched_when_asked(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    with _arrivals(tmp_path, recursive=True) as arrivals:
        files = iter(arrivals)
        assert _next(files, 0.1) is None
        (tmp_path / "sub" / "a.dng").write_bytes(b"a")
        assert _next(files) == "a.dng"


def test_folder_that_vanishes_ends_the_watch(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    with _arrivals(folder) as arrivals:
        folder.rmdir()
        with pytest.raises(InputError, match="the watched folder is gone"):
            next(iter(arrivals))
