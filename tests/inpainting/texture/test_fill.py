"""What was copied meets what the engine made: the rim, and low frequencies that are drawn near."""

import numpy as np
import pytest
from numpy.typing import NDArray

from demosaic_ntc.inpainting.texture import fill
from demosaic_ntc.inpainting.texture.parts import find_parts
from demosaic_ntc.run import Run

SIDE = 96
HOLE = 30
Float64 = NDArray[np.float64]


def _blur(plane: Float64) -> Float64:
    """A Gaussian of ten pixels, cut off at four deviations, with nothing outside."""
    steps = np.arange(-40, 41)
    weights = np.exp(-0.5 * (steps / 10) ** 2)
    wide = np.pad(plane, 40)
    for axis in (0, 1):
        wide = np.apply_along_axis(np.convolve, axis, wide, weights / weights.sum(), mode="same")
    return np.asarray(wide[40:-40, 40:-40])


def _mix(engine: Float64, copy: Float64, missing: NDArray[np.bool_]) -> Float64:
    """Both joined, pixel by pixel; (channels, height, width)."""
    low = np.stack(
        [_blur(np.where(missing, one - other, 0)) for one, other in zip(engine, copy, strict=True)]
    )
    drawn = copy + 0.5 * low / (1 + (low**2).mean(axis=0) / 0.08**2)
    known, made = np.argwhere(~missing), engine.copy()
    for row, column in np.argwhere(missing):
        depth = np.sqrt(((known - (row, column)) ** 2).sum(axis=1).min())
        share = min(depth / 2, 1)
        made[:, row, column] += share * (drawn[:, row, column] - engine[:, row, column])
    return made


@pytest.mark.parametrize("place", [0, 33])
def test_rim_and_low_frequencies_are_those_of_the_engine(place: int, monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(3)
    planes = generator.random((2, SIDE, SIDE)).astype(np.float32)
    missing = np.zeros((SIDE, SIDE), np.bool_)
    missing[place : place + HOLE, 40 : 40 + HOLE] = True
    planes[:, missing] = np.linspace(0.2, 0.5, HOLE**2)
    copy = generator.random((2, SIDE, SIDE)).astype(np.float32)
    expected = _mix(planes.astype(np.float64), copy.astype(np.float64), missing)
    monkeypatch.setattr(fill, "blend", lambda *_: np.ascontiguousarray(copy[:, missing].T))
    (part,) = find_parts(missing, (12, 16))
    made = fill.fill_part(part, planes, missing, None, Run.start(1, None, None, False))
    assert made is not None
    assert made.count == HOLE**2
    np.testing.assert_allclose(planes, expected, atol=1e-5)
