"""A scene that can be sampled at any place, and the mosaics that a moving camera takes of it."""

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.arrays import Float64
from demosaic_ntc.cfa import Cfa

RGGB = Cfa.from_name("RGGB")
SIDE = 96


def draw(rows: Float64, columns: Float64) -> Float64:
    """The colours at some places, (…, 3): waves, soft edges of a disc, and a slanted edge."""
    waves = 0.1 * np.sin(rows / 3.1 + 0.4 * columns / 3.1) + 0.08 * np.sin(columns / 2.3 - rows / 5.0)
    disc = 1 / (1 + np.exp((np.hypot(rows - 40, columns - 50) - 18) / 0.7))
    edge = 1 / (1 + np.exp((0.35 * rows - columns + 45) / 0.6))
    grey = 0.45 + waves
    return np.stack(
        [grey + 0.2 * disc - 0.1 * edge, grey + 0.1 * edge, grey - 0.15 * disc + 0.12 * edge], axis=-1
    )


def see(affine: Float64) -> Float64:
    """The picture of a frame whose pixels lie at other places of the scene, (SIDE, SIDE, 3)."""
    y, x = np.mgrid[0:SIDE, 0:SIDE].astype(np.float64)
    rows, columns = (start + down * y + across * x for start, down, across in affine)
    return draw(rows, columns)


def turn(angle: float, shift: tuple[float, float]) -> Float64:
    """An affine map: a turn about the middle, and a shift."""
    centre, cosine, sine = (SIDE - 1) / 2, np.cos(angle), np.sin(angle)
    matrix = np.array([[cosine, -sine], [sine, cosine]])
    start = np.array(shift) + centre - matrix @ [centre, centre]
    return np.column_stack([start, matrix])


MOVES = [turn(0.0, (0.0, 0.0)), turn(0.002, (1.4, -2.3)), turn(-0.003, (-3.6, 0.8)), turn(0.001, (2.2, 4.7))]


def take(affine: Float64, deviation: float, seed: int) -> NDArray[np.float32]:
    """The noisy mosaic of a frame."""
    noise = deviation * np.random.default_rng(seed).standard_normal((SIDE, SIDE))
    return np.asarray(RGGB.sample(see(affine)) + noise, np.float32)


def burst(deviation: float) -> list[NDArray[np.float32]]:
    """The mosaics of all moves."""
    return [take(affine, deviation, seed) for seed, affine in enumerate(MOVES)]


def decibels(picture: Float64, truth: Float64, border: int = 8) -> float:
    """The PSNR without a border."""
    inner = slice(border, -border)
    return float(-10 * np.log10(np.mean(np.square((picture - truth)[inner, inner]))))
