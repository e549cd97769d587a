"""Masks: what is white, what is refused, and where the first fault is."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tifffile
from numpy.typing import NDArray
from PIL import Image

from demosaic_ntc.errors import BadMask, InputError, TooLarge
from demosaic_ntc.images.mask import read_mask
from demosaic_ntc.images.mask_rule import MaskRule, parse_colour
from demosaic_ntc.images.picture import DecodedImage
from demosaic_ntc.io.header import InputLimits

FLAGS = np.array([[True, False, False], [False, True, True]])
PLAIN = DecodedImage(np.zeros((2, 3), np.uint8))
STRICT = MaskRule()


def _read(path: Path, levels: NDArray[Any], rule: MaskRule = STRICT) -> NDArray[np.bool_]:
    """The flags of a mask with these levels."""
    if path.suffix == ".tif":
        tifffile.imwrite(path, levels, photometric="rgb" if levels.ndim == 3 else "minisblack")
    else:
        Image.fromarray(levels).save(path)
    return read_mask(path, PLAIN, rule, InputLimits())


@pytest.mark.parametrize(
    ("dtype", "white"),
    [("uint8", 255), ("uint8", 1), ("uint16", 65535), ("uint16", 255), ("float32", 1), ("float64", 255)],
)
def test_white_is_to_be_repaired(dtype: str, white: int, tmp_path: Path) -> None:
    levels = (FLAGS * white).astype(dtype)
    assert np.array_equal(_read(tmp_path / "m.tif", levels), FLAGS)
    assert np.array_equal(_read(tmp_path / "m.tif", levels, MaskRule(invert=True)), ~FLAGS)


def test_single_bits_are_a_mask(tmp_path: Path) -> None:
    Image.fromarray(FLAGS).save(tmp_path / "m.png")
    assert np.array_equal(read_mask(tmp_path / "m.png", PLAIN, STRICT, InputLimits()), FLAGS)


def test_a_mask_in_three_equal_channels_is_one(tmp_path: Path) -> None:
    levels = np.repeat((FLAGS * 255).astype(np.uint8)[..., None], 3, axis=2)
    assert np.array_equal(_read(tmp_path / "m.png", levels), FLAGS)


def test_a_black_mask_marks_nothing_and_a_white_one_everything(tmp_path: Path) -> None:
    assert not _read(tmp_path / "m.png", np.zeros((2, 3), np.uint8)).any()
    assert _read(tmp_path / "m.png", np.full((2, 3), 255, np.uint8)).all()


def test_greys_need_a_threshold(tmp_path: Path) -> None:
    levels = np.array([[0, 255, 0], [128, 200, 255]], np.uint8)
    with pytest.raises(BadMask, match=r"at 2 places, the first at row 1, column 0 \(value 128\).*`threshold"):
        _read(tmp_path / "m.png", levels)
    expected = np.array([[False, True, False], [False, True, True]])
    assert np.array_equal(_read(tmp_path / "m.png", levels, MaskRule(threshold=0.6)), expected)


def test_a_threshold_is_a_share_of_white_in_every_depth(tmp_path: Path) -> None:
    shares = np.array([[0.0, 0.49, 0.51], [0.2, 0.8, 1.0]])
    for levels in (shares, np.rint(shares * 255).astype(np.uint8), np.rint(shares * 65535).astype(np.uint16)):
        assert np.array_equal(_read(tmp_path / "m.tif", levels, MaskRule(threshold=0.5)), shares > 0.5)


def test_colours_are_refused_with_their_place_unless_a_threshold_decides(tmp_path: Path) -> None:
    levels = np.zeros((2, 3, 3), np.uint8)
    levels[1, 2, 0] = 255
    with pytest.raises(BadMask, match="has colours, the first at row 1, column 2"):
        _read(tmp_path / "m.png", levels)
    assert np.argwhere(_read(tmp_path / "m.png", levels, MaskRule(threshold=0.3))).tolist() == [[1, 2]]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_values_that_are_no_levels_are_refused_with_their_place(value: float, tmp_path: Path) -> None:
    levels = np.zeros((2, 3))
    levels[1, 1] = value
    with pytest.raises(BadMask, match="NaN or infinite: 1, the first at row 1, column 1"):
        _read(tmp_path / "m.tif", levels, MaskRule(threshold=0.5))


LAYER = np.zeros((2, 3, 4), np.uint8)
LAYER[FLAGS, 3] = 255


@pytest.mark.parametrize("paint", [(255, 255, 255), (0, 0, 0), (200, 30, 90)])
@pytest.mark.parametrize("name", ["m.png", "m.tif", "m.webp"])
def test_what_is_painted_on_a_transparent_layer_counts_in_any_colour(
    name: str, paint: tuple[int, int, int], tmp_path: Path
) -> None:
    levels = LAYER.copy()
    levels[FLAGS, :3] = paint
    Image.fromarray(levels).save(tmp_path / name, lossless=True)
    assert np.array_equal(read_mask(tmp_path / name, PLAIN, STRICT, InputLimits()), FLAGS)
    assert np.array_equal(read_mask(tmp_path / name, PLAIN, MaskRule(invert=True), InputLimits()), ~FLAGS)


def test_thin_paint_counts_unless_a_threshold_says_otherwise(tmp_path: Path) -> None:
    levels = LAYER.copy()
    levels[0, 1, 3] = 100
    thin = FLAGS.copy()
    thin[0, 1] = True
    assert np.array_equal(_read(tmp_path / "m.png", levels), thin)
    assert np.array_equal(_read(tmp_path / "m.png", levels, MaskRule(threshold=0.5)), FLAGS)


def test_black_and_white_on_a_layer_mean_what_they_do_in_a_mask(tmp_path: Path) -> None:
    levels = np.zeros((2, 3, 4), np.uint8)
    levels[..., 3] = 255
    levels[FLAGS, :3] = 255
    levels[0, 1, 3] = 0
    assert np.array_equal(_read(tmp_path / "m.png", levels), FLAGS)


def test_layers_of_many_colours_could_mean_either(tmp_path: Path) -> None:
    levels = LAYER.copy()
    levels[..., 0] = np.arange(6).reshape(2, 3) * 40
    with pytest.raises(BadMask, match=r"a layer of 3 colours, partly transparent.*`mask_from=alpha`"):
        _read(tmp_path / "m.png", levels)
    assert np.array_equal(_read(tmp_path / "m.png", levels, MaskRule(origin="alpha")), ~FLAGS)
    assert np.array_equal(_read(tmp_path / "m.png", levels, MaskRule(invert=True, origin="alpha")), FLAGS)


def test_transparency_needs_an_alpha_channel(tmp_path: Path) -> None:
    with pytest.raises(BadMask, match="no alpha channel"):
        _read(tmp_path / "m.png", np.zeros((2, 3), np.uint8), MaskRule(origin="alpha"))
    with pytest.raises(InputError, match="painted colour"):
        MaskRule(colour=(1, 2, 3), origin="alpha")


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB"])
@pytest.mark.parametrize("kind", ["bmp", "gif", "webp"])
def test_masks_of_other_formats_are_read(kind: str, mode: str, tmp_path: Path) -> None:
    mask = Image.fromarray((FLAGS * 255).astype(np.uint8)).convert(mode)
    mask.save(tmp_path / f"m.{kind}", lossless=True)
    assert np.array_equal(read_mask(tmp_path / f"m.{kind}", PLAIN, STRICT, InputLimits()), FLAGS)


def test_other_formats_are_refused_where_they_cannot_be_masks(tmp_path: Path) -> None:
    frames = [Image.new("L", (3, 2), level) for level in (0, 255)]
    frames[0].save(tmp_path / "m.gif", save_all=True, append_images=frames[1:])
    with pytest.raises(BadMask, match="a GIF of 2 frames"):
        read_mask(tmp_path / "m.gif", PLAIN, STRICT, InputLimits())
    frames[1].save(tmp_path / "m.bmp")
    with pytest.raises(TooLarge):
        read_mask(tmp_path / "m.bmp", PLAIN, STRICT, InputLimits(pixels=5))
    (tmp_path / "m.bmp").write_bytes((tmp_path / "m.bmp").read_bytes()[:40])
    with pytest.raises(InputError, match=r"m\.bmp: .*damaged"):
        read_mask(tmp_path / "m.bmp", PLAIN, STRICT, InputLimits())


def test_an_opaque_alpha_is_no_matter(tmp_path: Path) -> None:
    levels = np.dstack([*[(FLAGS * 255).astype(np.uint8)] * 3, np.full((2, 3), 255, np.uint8)])
    assert np.array_equal(_read(tmp_path / "m.png", levels), FLAGS)


def test_another_size_is_refused_with_both(tmp_path: Path) -> None:
    Image.fromarray(np.zeros((3, 2), np.uint8)).save(tmp_path / "m.png")
    with pytest.raises(BadMask, match=r"m\.png: the mask is 2×3, the picture 3×2; "):
        read_mask(tmp_path / "m.png", PLAIN, STRICT, InputLimits())


def test_a_mask_of_the_stored_shape_of_a_turned_picture_is_refused(tmp_path: Path) -> None:
    turned = DecodedImage(np.zeros((2, 3), np.uint8), orientation=6)
    Image.fromarray(np.zeros((2, 3), np.uint8)).save(tmp_path / "m.png")
    with pytest.raises(BadMask, match="the mask is 3×2, the picture 2×3 as it is seen"):
        read_mask(tmp_path / "m.png", turned, STRICT, InputLimits())


@pytest.mark.parametrize("text", ["#ff00ff", "FF00FF"])
def test_colours_are_read(text: str) -> None:
    assert parse_colour(text) == (255, 0, 255)


@pytest.mark.parametrize("text", ["", "pink", "#ff00f", "#ff00ff00", "#gg0000"])
def test_other_texts_are_no_colours(text: str) -> None:
    with pytest.raises(InputError, match="is not a colour; give one such as"):
        parse_colour(text)


@pytest.mark.parametrize("threshold", [0.0, -1.0, 1.5, float("nan")])
def test_thresholds_are_shares(threshold: float) -> None:
    with pytest.raises(InputError, match="not a share of white"):
        MaskRule(threshold=threshold)


def test_a_painted_colour_goes_without_the_rules_of_a_mask() -> None:
    with pytest.raises(InputError, match="a painted colour is not a mask"):
        MaskRule(invert=True, colour=(1, 2, 3))
