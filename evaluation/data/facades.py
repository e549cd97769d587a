"""Generated pictures of façades: rows of windows, bricks, louvres and railings, seen at an angle.

They repeat themselves and are as fine as a pixel, as pictures of cities are. Their truth is exact: drawn at
four times the size and averaged over blocks of four by four, which is what a sensor does.
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

COUNT = 6
_HEIGHT, _WIDTH, _FINER = 384, 512, 4

Floats = NDArray[np.float64]


def make_set(folder: Path) -> Path:
    """Write the pictures into a folder, where they are not there yet, and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(1, COUNT + 1):
        path = folder / f"{number}.png"
        if not path.is_file():
            Image.fromarray(draw_facade(number)).save(path)
    return folder


def draw_facade(seed: int) -> NDArray[np.uint8]:
    """Draw a façade, (height, width, 3)."""
    random = np.random.default_rng(seed)
    u, v = _look_at_wall(random)
    picture = _lay_bricks(u, v, random)
    wide, tall = random.uniform(26, 44), random.uniform(34, 56)
    across, down = (u / wide) % 1, (v / tall) % 1
    louvred = _hash(np.floor(u / wide), np.floor(v / tall), seed) < 0.4
    pane, trim = random.uniform(0.05, 0.35, 3), random.uniform(0.6, 0.95, 3)
    frame = (np.abs(across - 0.5) < 0.32) & (np.abs(down - 0.5) < 0.36)
    glass = (np.abs(across - 0.5) < 0.28) & (np.abs(down - 0.5) < 0.32) & (np.abs(across - 0.5) > 0.02)
    slats = _stripes(v, random.uniform(1.8, 3.2))[..., None]
    picture = np.where(frame[..., None], trim, picture)
    picture = np.where((glass & ~louvred)[..., None], pane * (1.3 - 0.6 * down[..., None]), picture)
    picture = np.where((glass & louvred)[..., None], trim * (0.35 + 0.65 * slats), picture)
    bars = _stripes(u, random.uniform(2.2, 4.0)) > 0.6
    railing = (down > 0.86) & (bars | (down < 0.88) | (down > 0.98))
    picture = np.where(railing[..., None], random.uniform(0.02, 0.2, 3), picture)
    blocks = picture.reshape(_HEIGHT, _FINER, _WIDTH, _FINER, 3).mean(axis=(1, 3))
    return np.asarray(np.rint(255 * np.clip(blocks, 0, 1) ** (1 / 2.2)), np.uint8)


def _look_at_wall(random: np.random.Generator) -> tuple[Floats, Floats]:
    """Return the place on the wall, in pixels, that every fine pixel shows."""
    fine = (np.arange(_HEIGHT * _FINER) + 0.5) / _FINER, (np.arange(_WIDTH * _FINER) + 0.5) / _FINER
    y, x = np.meshgrid(*fine, indexing="ij")
    angle, (lean, fall) = random.uniform(-0.2, 0.2), random.uniform(-8e-4, 8e-4, 2)
    depth = 1 + lean * (x - _WIDTH / 2) + fall * (y - _HEIGHT / 2)
    u = (x * np.cos(angle) - y * np.sin(angle)) / depth
    v = (x * np.sin(angle) + y * np.cos(angle)) / depth
    return u + 1000, v + 1000


def _lay_bricks(u: Floats, v: Floats, random: np.random.Generator) -> Floats:
    """Return a wall, each brick of a shade of its own, in linear light."""
    high, long = random.uniform(3.0, 5.0), random.uniform(7.0, 12.0)
    row = np.floor(v / high)
    place = u / long + 0.5 * (row % 2)
    shade = 0.75 + 0.5 * _hash(np.floor(place), row, int(random.integers(1000)))
    joint = (v / high % 1 < 0.18) | (place % 1 < 0.08)
    brick, mortar = random.uniform(0.15, 0.6, 3), random.uniform(0.4, 0.8)
    return np.asarray(np.where(joint[..., None], mortar, brick * shade[..., None]))


def _stripes(place: Floats, period: float) -> Floats:
    """Return waves between 0 and 1."""
    return np.asarray(0.5 + 0.5 * np.sin(2 * np.pi * place / period))


def _hash(column: Floats, row: Floats, seed: int) -> Floats:
    """Return a number between 0 and 1 for every cell, the same wherever it is asked for."""
    mixed = (column.astype(np.int64) * 73856093) ^ (row.astype(np.int64) * 19349663) ^ (seed * 83492791)
    return np.asarray((mixed * 2654435761 % 2**32) / 2**32)
