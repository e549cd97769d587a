"""Seams blended: the equation solved is the one that stands there."""

import numpy as np

from demosaic_ntc.inpainting.texture.blending import blend, measure_seams

SIDE = 24


def test_the_blend_is_the_least_of_its_sum() -> None:
    """No small change of any pixel makes the sum smaller."""
    generator = np.random.default_rng(5)
    values = generator.random((SIDE, SIDE, 2)).astype(np.float32) * 0.2
    hole = np.zeros((SIDE, SIDE), np.bool_)
    hole[8:14, 9:15] = True
    labels = np.zeros((SIDE, SIDE, 2), np.int32)
    labels[hole] = (7, 0)
    labels[8:14, 12:15] = (-8, 2)
    labels[~hole] = 0
    made = values.copy()
    made[hole] = blend(values, hole, ~hole, labels)
    least = _total(made, values, hole, labels)
    for place in np.argwhere(hole)[::5]:
        for change in (-0.02, 0.02):
            other = made.copy()
            other[tuple(place)] += change
            assert _total(other, values, hole, labels) > least


def _total(made: np.ndarray, values: np.ndarray, hole: np.ndarray, labels: np.ndarray) -> float:
    """The sum that is to be least, pixel by pixel."""
    total = 0.0
    for row, column in np.argwhere(hole):
        here = np.array([row, column])
        copied = values[tuple(here + labels[row, column])]
        total += 0.05 * float(((made[row, column] - copied) ** 2).sum())
        for step in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            near = here + step
            both = hole[tuple(near)]
            own, other = labels[row, column], labels[tuple(near)]
            told = [
                values[tuple(here + label)] - values[tuple(near + label)]
                for label in (own, other)
                if not hole[tuple(here + label)] and not hole[tuple(near + label)]
            ]
            gap = sum(
                float(((values[tuple(pixel + own)] - values[tuple(pixel + other)]) ** 2).sum())
                for pixel in (here, near)
                if not hole[tuple(pixel + own)] and not hole[tuple(pixel + other)]
            )
            slope = np.mean(told, axis=0)
            weight = 1 / (1 + gap / 0.03**2)
            distance = float(((made[row, column] - made[tuple(near)] - slope) ** 2).sum())
            total += weight * distance * (0.5 if both else 1.0)  # pairs within the hole are met twice
    return total


def test_a_copy_without_seams_has_no_energy() -> None:
    y, x = np.mgrid[0:SIDE, 0:SIDE]
    values = np.stack([(x % 4) / 4, (y % 4) / 4], axis=2).astype(np.float32)
    hole = np.zeros((SIDE, SIDE), np.bool_)
    hole[8:12, 8:12] = True
    labels = np.zeros((SIDE, SIDE, 2), np.int32)
    labels[hole] = (4, 4)
    assert measure_seams(values, hole, ~hole, labels) == 0
    labels[9:11, 9:11] = (4, 5)
    assert measure_seams(values, hole, ~hole, labels) > 0
