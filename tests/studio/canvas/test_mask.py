"""The painted mask, its steps, and the levels it is shown at."""

from pathlib import Path

import numpy as np
import pytest

from demosaic_ntc.errors import InputError
from demosaic_ntc.studio.canvas.boxes import PixelBox
from demosaic_ntc.studio.canvas.mask import Mask
from demosaic_ntc.studio.canvas.pyramid import TILE, Pyramid, brightest, sizes_of, write_pyramid

SIZE = (700, 1301)


@pytest.fixture
def mask(tmp_path: Path) -> Mask:
    return Mask(tmp_path / "mask", SIZE)


def filled(box: PixelBox) -> np.ndarray:
    return np.ones((box.bottom - box.top, box.right - box.left), np.bool_)


def test_steps_are_undone_and_taken_again_one_by_one(mask: Mask) -> None:
    first, second = PixelBox(10, 20, 30, 40), PixelBox(15, 30, 35, 60)
    mask.add(first, filled(first))
    once = mask.flags()
    mask.add(second, filled(second))
    twice = mask.flags()
    mask.erase(first, filled(first))
    erased = mask.flags()
    for wanted in (twice, once, np.zeros(SIZE, np.bool_)):
        mask.undo()
        np.testing.assert_array_equal(mask.flags(), wanted)
        assert mask.count == wanted.sum()
    assert not mask.can_undo
    with pytest.raises(InputError, match="nothing to undo"):
        mask.undo()
    for wanted in (once, twice, erased):
        mask.redo()
        np.testing.assert_array_equal(mask.flags(), wanted)
    assert not mask.can_redo


def test_a_new_step_forgets_what_was_undone(mask: Mask) -> None:
    box = PixelBox(0, 5, 0, 5)
    mask.add(box, filled(box))
    mask.undo()
    mask.add(PixelBox(8, 9, 8, 9), filled(PixelBox(8, 9, 8, 9)))
    assert not mask.can_redo


def test_a_step_that_changes_nothing_is_none(mask: Mask) -> None:
    box = PixelBox(0, 5, 0, 5)
    mask.erase(box, filled(box))
    assert not mask.can_undo
    assert mask.version == 0


def test_clearing_and_inverting_can_be_undone(mask: Mask) -> None:
    box = PixelBox(100, 300, 100, 900)
    mask.add(box, filled(box))
    before = mask.flags()
    mask.invert()
    np.testing.assert_array_equal(mask.flags(), ~before)
    mask.undo()
    mask.clear()
    assert mask.count == 0
    mask.undo()
    np.testing.assert_array_equal(mask.flags(), before)


def test_a_single_pixel_is_seen_at_every_level(mask: Mask) -> None:
    box = PixelBox(699, 700, 1300, 1301)
    mask.add(box, filled(box))
    levels = mask.pyramid.levels
    assert [level.shape for level in levels.values()] == sizes_of(SIZE)
    for level in levels.values():
        assert level[-1, -1] == 255
        assert np.count_nonzero(level) == 1
    mask.undo()
    assert not any(level.any() for level in levels.values())


def test_levels_changed_in_a_box_are_those_made_anew(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    pixels = generator.integers(256, size=(*SIZE, 3), dtype=np.uint8)
    write_pyramid(tmp_path / "a", pixels)
    box = PixelBox(333, 401, 77, 502)
    changed = pixels.copy()
    changed[box.slices] = 255 - changed[box.slices]
    write_pyramid(tmp_path / "b", changed)
    pyramid, wanted = Pyramid(tmp_path / "a", changing=True), Pyramid(tmp_path / "b")
    pyramid.finest[box.slices] = changed[box.slices]
    pyramid.renew(box)
    for level, values in wanted.levels.items():
        np.testing.assert_array_equal(pyramid.levels[level], values)


def test_tiles_cover_the_picture_and_nothing_beyond(tmp_path: Path) -> None:
    pyramid = Pyramid.empty(tmp_path / "p", SIZE, brightest)
    shapes = [pyramid.tile(0, column, row) for row in (0, 1) for column in (0, 1, 2)]
    assert [part.shape for part in shapes if part is not None] == [
        (TILE, TILE),
        (TILE, TILE),
        (TILE, 277),
        (188, TILE),
        (188, TILE),
        (188, 277),
    ]
    assert pyramid.tile(0, 3, 0) is None
    assert pyramid.tile(0, -1, 0) is None
    assert pyramid.tile(9, 0, 0) is None
