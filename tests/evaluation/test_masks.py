from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image
from scipy import ndimage

from demosaic_ntc.errors import BadMask, InputError
from evaluation.data.masks import DEFAULT, check_mask, make_mask

SHAPE = (256, 256)


def _deepest(mask: NDArray[np.bool_]) -> float:
    """How far the innermost missing pixel is from a known one."""
    return float(ndimage.distance_transform_edt(mask).max())


@pytest.mark.parametrize("spec", DEFAULT.split(","))
def test_a_seed_gives_the_same_mask_and_another_one_another(spec: str) -> None:
    first, again, other = (make_mask(spec, (96, 120), seed) for seed in (0, 0, 1))
    assert first.shape == (96, 120)
    assert first.dtype == np.bool_
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert set(np.unique(first.view(np.uint8))) == {0, 1}, "flags of other bytes break compiled code"


@pytest.mark.parametrize(
    ("spec", "least", "most"),
    [
        ("random:20", 0.1999, 0.2001),
        ("random:80", 0.7999, 0.8001),
        ("dead", 0.0099, 0.0101),
        ("lines", 0.08, 0.1),
        ("strokes", 0.09, 0.2),
        ("text", 0.09, 0.14),
        ("blocks:8", 0.035, 0.046),
        ("blocks:16", 0.035, 0.05),
        ("irregular", 0.32, 0.36),
    ],
)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_each_kind_takes_about_its_share(spec: str, least: float, most: float, seed: int) -> None:
    assert least <= make_mask(spec, SHAPE, seed).mean() <= most


def test_larger_pictures_are_damaged_as_densely() -> None:
    for spec in ("strokes", "blocks:8", "text", "lines"):
        small, large = (make_mask(spec, (side, side), 0).mean() for side in (256, 640))
        assert large == pytest.approx(small, rel=0.25), spec


def test_kinds_differ_in_the_depth_of_their_holes() -> None:
    depth = {spec: _deepest(make_mask(spec, SHAPE, 0)) for spec in ("lines", "text", "strokes", "irregular")}
    assert depth["lines"] <= 3
    assert depth["text"] <= 3
    assert 2 < depth["strokes"] < 8
    assert depth["irregular"] > 8


def test_lines_are_whole_rows_and_columns() -> None:
    mask = make_mask("lines", (60, 80), 0)
    rows, columns = np.asarray(mask.all(axis=1)), np.asarray(mask.all(axis=0))
    assert rows.any()
    assert columns.any()
    assert np.array_equal(mask, rows[:, None] | columns)


def test_blocks_are_squares_of_their_side() -> None:
    mask = make_mask("blocks:8", (64, 64), 3)
    opened = ndimage.binary_opening(mask, np.ones((8, 8)))
    assert np.array_equal(opened, mask)


def test_files_are_resized_and_their_polarity_is_named(tmp_path: Path) -> None:
    levels = np.zeros((10, 20), np.uint8)
    levels[:, :5] = 255
    Image.fromarray(levels).save(tmp_path / "mask.bmp")
    white = make_mask(f"irregular:{tmp_path / 'mask.bmp'}", (40, 40), 0)
    assert white.shape == (40, 40)
    assert white[:, :10].all()
    assert not white[:, 10:].any()
    assert np.array_equal(make_mask(f"irregular-inv:{tmp_path / 'mask.bmp'}", (40, 40), 0), ~white)


@pytest.mark.parametrize(
    "spec",
    [
        "",
        "rain",
        "random",
        "random:0",
        "random:100",
        "random:x",
        "blocks:0",
        "blocks:-1",
        "irregular-inv",
        "text:x",
    ],
)
def test_what_names_no_mask_is_refused(spec: str) -> None:
    with pytest.raises(InputError, match=r"; (choose|give)"):
        check_mask(spec)


@pytest.mark.parametrize("spec", ["irregular:", "lines:", "random:"])
def test_a_colon_with_nothing_behind_it_is_refused(spec: str) -> None:
    with pytest.raises(InputError, match="behind the colon; add it"):
        check_mask(spec)


def test_files_that_are_no_masks_are_refused(tmp_path: Path) -> None:
    (tmp_path / "mask.png").write_text("no picture")
    with pytest.raises(BadMask, match=r"mask\.png: is not a mask that can be read"):
        check_mask(f"irregular:{tmp_path / 'mask.png'}")
    with pytest.raises(InputError, match="there is no such file"):
        check_mask(f"irregular:{tmp_path / 'gone.png'}")


def test_a_mask_that_leaves_nothing_is_refused() -> None:
    with pytest.raises(BadMask, match="leaves no pixel of 8×8"):
        make_mask("blocks:8", (8, 8), 0)
