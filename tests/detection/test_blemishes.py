"""Blemishes are found where they are drawn, and nowhere else."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter, label
from scipy.spatial import KDTree

from demosaic_ntc import find_blemishes
from demosaic_ntc.detection import candidates
from demosaic_ntc.detection.candidates import halve_plane, shapes
from demosaic_ntc.errors import InputError

Picture = NDArray[np.float64]
SHAPE = (160, 200)
ROWS, COLUMNS = np.mgrid[: SHAPE[0], : SHAPE[1]]


def calm() -> Picture:
    """A slope with a little grain."""
    grain = np.random.default_rng(1).normal(0, 0.006, SHAPE)
    return np.asarray(0.35 + 0.25 * COLUMNS / SHAPE[1] + 0.1 * ROWS / SHAPE[0] + grain)


def texture() -> Picture:
    """Rough all over, with spots and strokes of its own."""
    noise = gaussian_filter(np.random.default_rng(2).standard_normal(SHAPE), 1.2)
    return np.asarray(np.clip(0.5 + 0.15 * noise / noise.std(), 0, 1))


def spot(row: float, column: float, diameter: float, rim: float) -> Picture:
    """The opacity of a round grain with a rim so wide."""
    away = np.hypot(ROWS - row, COLUMNS - column)
    return np.asarray(np.clip((diameter / 2 + rim / 2 - away) / rim, 0, 1))


def stroke(start: tuple[int, int], end: tuple[int, int], width: float, bow: float = 0.0) -> Picture:
    """The opacity of a line, bent by so many pixels."""
    along = np.linspace(0, 1, 400)
    rows = start[0] + along * (end[0] - start[0]) + bow * np.sin(np.pi * along)
    columns = start[1] + along * (end[1] - start[1])
    away, _ = KDTree(np.column_stack([rows, columns])).query(np.stack([ROWS, COLUMNS], axis=2))
    return np.asarray(np.clip(width / 2 + 0.5 - away, 0, 1))


def covered(mask: NDArray[np.bool_], opacity: Picture) -> float:
    """The share of what is changed visibly that is marked."""
    return float(mask[opacity > 0.1].mean())


@pytest.mark.parametrize("target", [0.0, 1.0], ids=["dark", "light"])
@pytest.mark.parametrize(("diameter", "rim"), [(4, 1), (8, 3), (16, 6), (38, 16)])
def test_a_spot_is_found_with_its_soft_rim_and_nothing_else(
    target: float, diameter: float, rim: float
) -> None:
    opacity = 0.6 * spot(80, 100, diameter, rim)
    mask = find_blemishes(calm() + opacity * (target - calm()))
    assert covered(mask, opacity) == 1
    assert label(mask, np.ones((3, 3)))[1] == 1
    assert mask.sum() < 5 * (diameter + rim + 3) ** 2


@pytest.mark.parametrize("target", [0.0, 1.0], ids=["dark", "light"])
@pytest.mark.parametrize("bow", [0.0, 12.0], ids=["scratch", "hair"])
def test_a_scratch_and_a_hair_are_found(target: float, bow: float) -> None:
    opacity = 0.6 * stroke((20, 30), (130, 160), 2, bow)
    mask = find_blemishes(calm() + opacity * (target - calm()), ("scratches",))
    assert covered(mask, opacity) > 0.97
    assert mask.mean() < 0.07


def test_clean_surfaces_and_textures_have_none() -> None:
    for picture in (calm(), texture(), np.full(SHAPE, 0.4), np.where(COLUMNS // 12 % 2, 0.3, 0.7)):
        assert not find_blemishes(picture).any()


def test_kinds_are_told_apart() -> None:
    dust, line = 0.6 * spot(40, 50, 9, 2), 0.6 * stroke((100, 20), (120, 180), 2)
    picture = calm() * (1 - dust - line)
    only_dust, only_lines = find_blemishes(picture, ("dust",)), find_blemishes(picture, ["scratches"])
    assert covered(only_dust, dust) == 1
    assert covered(only_lines, line) > 0.97
    assert not only_dust[90:].any()
    assert not only_lines[:70].any()
    assert np.array_equal(find_blemishes(picture), only_dust | only_lines)
    assert not find_blemishes(picture, ()).any()


def test_more_sensitivity_never_finds_less() -> None:
    ground = calm() + 0.25 * (texture() - 0.5) * (COLUMNS > 90)
    picture = ground * (1 - sum(0.4 * spot(40, column, 8, 3) for column in range(20, 190, 24)))
    picture *= 1 - 0.4 * stroke((110, 20), (130, 180), 2)
    masks = [find_blemishes(picture, sensitivity=value) for value in (0, 0.25, 0.5, 0.75, 1)]
    for fewer, more in pairwise(masks):
        assert not (fewer & ~more).any()
    assert masks[-1].sum() > masks[0].sum()


@pytest.mark.parametrize(
    ("dtype", "white"),
    [(np.uint8, 255), (np.uint16, 65535), (np.int32, 4095), (np.float32, 1), (np.float64, 1)],
)
@pytest.mark.parametrize("channels", [None, 1, 3])
def test_any_type_and_shape_gives_the_same(dtype: type[Any], white: int, channels: int | None) -> None:
    picture = calm() * (1 - 0.6 * spot(80, 100, 9, 2)) + 0.35 * (COLUMNS == 3)  # something is nearly white
    expected = find_blemishes(picture)
    scaled = picture / picture.max() * white
    given = (np.rint(scaled) if white > 1 else scaled).astype(dtype)
    mask = find_blemishes(given if channels is None else np.repeat(given[..., None], channels, axis=2))
    assert mask.shape == SHAPE
    assert mask.dtype == np.bool_
    assert mask[76:85, 96:105].all()
    assert (mask != expected).mean() < 0.01


def test_a_tiny_picture_is_searched_as_well() -> None:
    for shape in ((1, 1), (3, 50), (9, 9), (40, 33, 3)):
        assert find_blemishes(np.full(shape, 7, np.uint8)).shape == shape[:2]


@pytest.mark.parametrize(
    ("image", "options", "reason"),
    [
        (np.zeros(4), {}, "shape"),
        (np.zeros((2, 0)), {}, "shape"),
        (np.array([[np.nan, 1.0]]), {}, "NaN"),
        (np.zeros((4, 4), bool), {}, "not numbers"),
        (np.zeros((4, 4)), {"kinds": ("dirt",)}, "unknown kind of blemish 'dirt'"),
        (np.zeros((4, 4)), {"sensitivity": 1.5}, "from 0 to 1"),
        (np.zeros((4, 4)), {"sensitivity": float("nan")}, "from 0 to 1"),
        (np.zeros((4, 4)), {"sensitivity": "high"}, "from 0 to 1"),
    ],
)
def test_what_makes_no_sense_is_refused(image: NDArray[Any], options: dict[str, Any], reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        find_blemishes(image, **options)


def test_bands_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    plane = (texture() + 0.4 * spot(64, 60, 7, 2)).astype(np.float32)
    whole = [(shape.box, shape.area) for shape in shapes(plane)]
    monkeypatch.setattr(candidates, "_BAND", 32)
    assert [(shape.box, shape.area) for shape in shapes(plane)] == whole
    assert whole


def test_half_the_size_is_means_of_four_with_ends_repeated() -> None:
    plane = np.array([[0, 2, 4], [6, 8, 10], [1, 3, 5]], np.float32)
    assert halve_plane(plane).tolist() == [[4, 7], [2, 5]]
