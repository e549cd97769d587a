"""Scenes as a lens draws them, in linear light, for hot, dead and stuck pixels to be found in.

Stars of all brightnesses, colours and sizes, shapes of vivid colours, and texture as fine as a pixel; all are
blurred a little, as every lens and filter does. White is 1.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

Scene = NDArray[np.float64]  # (side, side, 3)

_STARS, _SHAPES = 1400.0, 380.0  # per megapixel
_BLUR = 0.6  # pixels


def stars(side: int, generator: np.random.Generator) -> Scene:
    """A night sky that brightens downwards."""
    rows, columns = np.mgrid[:side, :side]
    scene = (0.015 + 0.01 * rows / side)[..., None] * np.array([1.1, 1.0, 0.9])
    for _ in range(round(_STARS * side * side / 1e6)):
        y, x = generator.uniform(0, side, 2)
        width, colour = generator.uniform(0.6, 1.2), generator.uniform(0.5, 1.3, 3)
        peak = np.exp(generator.uniform(np.log(0.01), np.log(1.5)))
        near = tuple(slice(max(int(place) - 6, 0), int(place) + 7) for place in (y, x))
        squares = (rows[near] - y) ** 2 + (columns[near] - x) ** 2
        scene[near] += peak * np.exp(-squares / (2 * width**2))[..., None] * colour
    return np.asarray(np.clip(scene, 0, 1))


def vivid_edges(side: int, generator: np.random.Generator) -> Scene:
    """Rectangles and ellipses of any colour, one over the other."""
    rows, columns = np.mgrid[:side, :side]
    scene = np.full((side, side, 3), 0.3)
    for _ in range(round(_SHAPES * side * side / 1e6)):
        (y, x), angle = generator.uniform(0, side, 2), generator.uniform(0, np.pi)
        colour, (height, width) = generator.uniform(0.02, 0.95, 3), generator.uniform(6, 90, 2)
        along = (rows - y) * np.cos(angle) + (columns - x) * np.sin(angle)
        across = (columns - x) * np.cos(angle) - (rows - y) * np.sin(angle)
        if generator.random() < 0.6:
            inside = (np.abs(along) < height) & (np.abs(across) < width)
        else:
            inside = (along / height) ** 2 + (across / width) ** 2 < 1
        scene[inside] = colour
    return np.asarray(gaussian_filter(scene, (_BLUR, _BLUR, 0)))


def texture(side: int, generator: np.random.Generator) -> Scene:
    """A surface that is rough at all sizes, nearly grey."""
    common = _rough(side, 1.2, generator)
    channels = [0.35 + 0.12 * (0.97 * common + 0.24 * _rough(side, 1.4, generator)) for _ in range(3)]
    blur = _BLUR + 0.1
    return np.asarray(np.clip(gaussian_filter(np.stack(channels, axis=2), (blur, blur, 0)), 0.01, 1))


def _rough(side: int, fall: float, generator: np.random.Generator) -> NDArray[np.float64]:
    """Noise whose amplitude falls with a power of the frequency, of mean 0 and deviation 1."""
    steps = np.fft.fftfreq(side)
    frequency = np.hypot(steps[:, None], steps)
    frequency[0, 0] = 1
    field = np.fft.ifft2(np.fft.fft2(generator.standard_normal((side, side))) / frequency**fall).real
    return np.asarray((field - field.mean()) / field.std())


SCENES: dict[str, Callable[[int, np.random.Generator], Scene]] = {
    "stars": stars,
    "vivid edges": vivid_edges,
    "texture": texture,
}
