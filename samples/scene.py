"""A generated scene of what demosaicing finds hard: fine lines, coloured edges, strokes, cloth."""

import numpy as np
from numpy.typing import NDArray

Picture = NDArray[np.float64]

# Sub-pixels per pixel and direction: edges come out as an optical system would show them.
_FINE = 4


def scene(height: int, width: int, seed: int = 7) -> Picture:
    """A height × width × 3 picture of display values between 0 and 1."""
    generator = np.random.default_rng(seed)
    y, x = np.mgrid[0 : height * _FINE, 0 : width * _FINE] / (height * _FINE)
    picture = _sky(y, x)
    _paint_cloth(picture, y, x)
    _paint_star(picture, y, x)
    _paint_fan(picture, y, x)
    _paint_strokes(picture, generator)
    _paint_leaves(picture, y, x, generator)
    sharp = picture.reshape(height, _FINE, width, _FINE, 3).mean(axis=(1, 3))
    return np.clip(_softened(sharp), 0.02, 1.0)


def _sky(y: Picture, x: Picture) -> Picture:
    """A smooth gradient behind everything."""
    return np.stack([0.35 + 0.25 * y, 0.45 + 0.2 * y + 0.05 * x, 0.75 - 0.25 * y], axis=-1)


def _paint_cloth(picture: Picture, y: Picture, x: Picture) -> None:
    """A striped cloth whose stripes narrow to the right."""
    inside = (y > 0.62) & (x < 0.62)
    phase = np.sin(2 * np.pi * (14 * x + 38 * x**2)) * np.cos(2 * np.pi * 22 * (y - 0.3 * x))
    pattern = np.array([0.72, 0.30, 0.24]) + phase[..., None] * np.array([0.16, 0.20, 0.12])
    picture[inside] = pattern[inside]


def _paint_star(picture: Picture, y: Picture, x: Picture) -> None:
    """A star of 36 black and white rays, finer towards its centre."""
    down, right = y - 0.31, x - 0.31
    radius, angle = np.hypot(down, right), np.arctan2(down, right)
    inside = (radius < 0.26) & (radius > 0.03)
    rays = 0.55 + 0.45 * np.sign(np.sin(18 * angle))
    picture[inside] = rays[inside][:, None]


def _paint_fan(picture: Picture, y: Picture, x: Picture) -> None:
    """A fan of saturated colours."""
    down, right = y - 0.58, x - 1.02
    radius, angle = np.hypot(down, right), np.arctan2(down, right)
    inside = (radius < 0.30) & (down < 0)
    hue = np.floor((angle + np.pi) / np.pi * 9) / 9
    turns = hue[..., None] + np.array([0.0, 1 / 3, 2 / 3])
    colours = 0.45 + 0.4 * np.cos(2 * np.pi * turns)
    picture[inside] = colours[inside]


def _paint_strokes(picture: Picture, generator: np.random.Generator) -> None:
    """Rows of thin dark and coloured strokes on paper, like lines of print."""
    height, width = picture.shape[:2]
    top, bottom = round(0.66 * height), round(0.97 * height)
    left, right = round(0.50 * width), round(0.97 * width)
    picture[top:bottom, left:right] = (0.88, 0.86, 0.80)
    inks = np.array([[0.08, 0.08, 0.10], [0.60, 0.10, 0.12], [0.10, 0.16, 0.55]])
    line = max(1, round(0.045 * height))
    for row, y in enumerate(range(top + line, bottom - line, round(1.6 * line))):
        x = left + line
        while x < right - line:
            stroke = round(line * generator.uniform(0.10, 0.28))
            tall = round(line * generator.uniform(0.5, 1.0))
            picture[y + line - tall : y + line, x : x + max(stroke, 1)] = inks[row % 3]
            if generator.random() < 0.4:
                picture[y + line // 2 : y + line // 2 + max(stroke // 2, 1), x : x + 3 * stroke] = inks[
                    row % 3
                ]
            x += stroke + round(line * generator.uniform(0.25, 0.7))


def _paint_leaves(picture: Picture, y: Picture, x: Picture, generator: np.random.Generator) -> None:
    """Small leaves in many greens in the upper right corner."""
    for _ in range(160):
        down, right = generator.uniform(0.0, 0.24), generator.uniform(0.62, 1.33)
        size, turn = generator.uniform(0.008, 0.024), generator.uniform(0, np.pi)
        along = (y - down) * np.sin(turn) + (x - right) * np.cos(turn)
        across = (y - down) * np.cos(turn) - (x - right) * np.sin(turn)
        shade = generator.uniform(0.15, 0.65)
        leaf = (along / size) ** 2 + (across / (0.4 * size)) ** 2 < 1
        picture[leaf] = (0.55 * shade, shade, generator.uniform(0.1, 0.4) * shade)


def _softened(picture: Picture) -> Picture:
    """A little blur, as every lens has: no picture of a camera is sharp to the pixel."""
    padded = np.pad(picture, ((1, 1), (1, 1), (0, 0)), mode="edge")
    rows = 0.2 * padded[:-2] + 0.6 * padded[1:-1] + 0.2 * padded[2:]
    return np.asarray(0.2 * rows[:, :-2] + 0.6 * rows[:, 1:-1] + 0.2 * rows[:, 2:])
