"""Pictures that are made when they are read."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from demosaic_ntc.developing.render import Finish, find_auto_gain, finish
from demosaic_ntc.io.colour import SPACES
from demosaic_ntc.io.pixels import LazyImage, orient
from demosaic_ntc.run import Timings

PICTURE = np.random.default_rng(0).random((23, 17, 3)).astype(np.float32)


def later(seen: list[tuple[int, int]] | None = None) -> LazyImage:
    """Return the picture, and note which rows are read."""

    def read(rows: slice, columns: slice) -> NDArray[Any]:
        if seen is not None:
            seen.append((rows.start, rows.stop))
        return PICTURE[rows, columns]

    return LazyImage((23, 17), np.float32, read)


def test_it_is_like_an_array() -> None:
    picture = later()
    assert (picture.shape, picture.ndim, len(picture)) == (PICTURE.shape, 3, 23)
    assert (picture.dtype, picture.itemsize, picture.nbytes) == (PICTURE.dtype, 4, PICTURE.nbytes)
    assert np.array_equal(picture, PICTURE)
    assert np.array_equal(picture[3:9], PICTURE[3:9])
    assert np.array_equal(picture[3:9, 2:][2:4, 1:5], PICTURE[5:7, 3:7])


def test_only_what_is_read_is_made() -> None:
    seen = list[tuple[int, int]]()
    part = later(seen)[4:20][2:5]
    assert not seen
    assert part.shape == (3, 17, 3)
    np.asarray(part)
    assert seen == [(6, 9)]


def test_work_is_told_where_it_is() -> None:
    index = np.arange(23)[:, None, None]
    picture = later().map(lambda part, rows, columns: part + index[rows] + columns.start, np.float64)
    assert picture.dtype == np.float64
    assert np.array_equal(picture[7:9, 3:5], (PICTURE + index)[7:9, 3:5] + 3)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_it_is_turned_like_an_array(orientation: int) -> None:
    whole, turned = orient(PICTURE, orientation), orient(later(), orientation)
    assert isinstance(turned, LazyImage)
    assert np.array_equal(turned, whole)
    assert np.array_equal(turned[5:8, 2:4], whole[5:8, 2:4])


def test_it_is_finished_and_brightened_like_an_array() -> None:
    look = Finish(SPACES["srgb"], np.eye(3))
    pixels = finish(later(), 0.0, look, lambda done, total: pytest.fail("nothing was done yet"))
    assert isinstance(pixels, LazyImage)
    assert np.array_equal(pixels[2:22], finish(PICTURE, 0.0, look, lambda done, total: None)[2:22])
    assert pixels.itemsize == 2
    assert find_auto_gain(later(), 0.0, look, every=2) == find_auto_gain(PICTURE, 0.0, look, every=2)


def test_it_is_read_within_a_context() -> None:
    entered = list[int]()

    @contextmanager
    def context() -> Iterator[None]:
        entered.append(1)
        yield

    picture = later().within(context)
    assert not entered
    np.asarray(picture[:2])
    assert len(entered) == 1


def test_the_time_of_a_part_is_that_of_its_own_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = iter([0.0, 1.0, 4.0, 5.0, 6.0, 10.0])
    monkeypatch.setattr("demosaic_ntc.run.read_work_clock", lambda: next(ticks))
    journal = Timings()
    with journal.stage("write"):
        for _ in range(2):
            with journal.part("render"):
                pass
    assert journal.seconds == {"render": 4.0, "write": 6.0}


def test_an_array_is_made_a_few_rows_at_a_time() -> None:
    read: list[int] = []

    def window(rows: slice, columns: slice) -> NDArray[np.float32]:
        read.append(rows.stop - rows.start)
        return np.broadcast_to(np.arange(rows.start, rows.stop)[:, None, None], (read[-1], 5, 3)).astype("f4")

    whole = np.asarray(LazyImage((150, 5), np.float32, window))
    assert np.array_equal(whole[:, 2, 1], np.arange(150))
    assert (max(read), sum(read)) == (64, 150)
