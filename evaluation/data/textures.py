"""A chart of textures and flats, drawn from a seed, and what a camera makes of it.

Dead leaves, grey and coloured, have edges of all sizes and contrasts, as photographs do; skin, a weave and
hair are what people miss when it is gone. The chart is drawn three times as large and averaged in linear
light. The camera sees sRGB with unequal channels; the variance of its samples is a·x + a/1000 + 1e-7.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.arrays import Flags, Float64
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.io.colour import SRGB_CURVE
from demosaic_ntc.io.exif import Exif
from demosaic_ntc.io.tiff_tags import DOUBLE, Field
from demosaic_ntc.raw.noise import NOISE_PROFILE

from ..siblings import Camera, camera_from_srgb, dng

CFA = Cfa.from_name("RGGB")
PANEL = 256  # pixels across
FLATS = "flats"
NEUTRAL = Camera().neutral  # what the camera's channels see of grey

_LARGER = 3  # times, while drawn
_SMALLEST, _LARGEST = 1.2, 50.0  # radii of leaves, in pixels
_DARKEST, _LIGHTEST = 0.28, 0.68  # of leaves, under the sRGB curve
_LEVEL = 1 / 255
_FLAT_COLOURS = ((0.25,) * 3, (0.5,) * 3, (0.76, 0.6, 0.52), (0.42, 0.58, 0.78))

Panel = Float64  # (PANEL, PANEL, 3), under the sRGB curve
Generator = np.random.Generator


@dataclass(frozen=True, slots=True, eq=False)
class Chart:
    """Six panels side by side, under the sRGB curve, and where each lies."""

    pixels: Float64  # (2 · PANEL, 3 · PANEL, 3)
    places: dict[str, tuple[slice, slice]]

    @property
    def textures(self) -> dict[str, tuple[slice, slice]]:
        """Where the textures are."""
        return {name: place for name, place in self.places.items() if name != FLATS}

    @property
    def flats(self) -> list[tuple[slice, slice]]:
        """Where the flats are, four in their panel."""
        rows, columns = self.places[FLATS]
        half = PANEL // 2
        return [
            (slice(rows.start + y, rows.start + y + half), slice(columns.start + x, columns.start + x + half))
            for y in (0, half)
            for x in (0, half)
        ]


def draw_chart(seed: int) -> Chart:
    """Draw the chart of a seed."""
    generators = np.random.default_rng(seed).spawn(len(PANELS))
    drawn = [draw(generator) for draw, generator in zip(PANELS.values(), generators, strict=True)]
    rows = [np.concatenate(drawn[first : first + 3], axis=1) for first in (0, 3)]
    places = {
        name: tuple(slice(PANEL * n, PANEL * (n + 1)) for n in divmod(which, 3))
        for which, name in enumerate(PANELS)
    }
    return Chart(np.concatenate(rows), {name: (place[0], place[1]) for name, place in places.items()})


def expose_noisily(
    linear: Float64, slope: float, told: float | None, seed: int, exif: Exif | None = None
) -> bytes:
    """Linear light as a noisy DNG that states ``told`` times the deviation of its noise; None: nothing.

    Noise stays within the codes of the file: black lies far above zero.
    """
    floor, camera = slope / 1000 + 1e-7, Camera(black=1024)
    light = CFA.sample(linear @ camera_from_srgb().T * np.array(camera.neutral))
    drawn = np.random.default_rng((seed, 1)).standard_normal(light.shape)
    noisy = light + np.sqrt(slope * np.maximum(light, 0) + floor) * drawn
    codes = np.clip(np.round(noisy * (camera.white - camera.black) + camera.black), 0, camera.white)
    stated = {}
    if told is not None:
        stated = {NOISE_PROFILE: Field(DOUBLE, (told**2 * slope, told**2 * floor))}
    return dng(codes.astype(np.uint16), CFA, camera, exif=exif, changed=stated)


def _leaves(generator: Generator, *, coloured: bool) -> Panel:
    """Discs that hide each other, as many of each size as scale invariance asks for: density r⁻³."""
    side = PANEL * _LARGER
    light, bare = np.zeros((side, side, 3)), np.ones((side, side), np.bool_)
    smallest, largest = _SMALLEST * _LARGER, _LARGEST * _LARGER
    while bare.any():
        share = generator.random()
        radius = (smallest**-2 - share * (smallest**-2 - largest**-2)) ** -0.5
        y, x = generator.uniform(-radius, side + radius, 2)
        colour = generator.uniform(_DARKEST, _LIGHTEST, 3 if coloured else 1)
        _draw_leaf(light, bare, (y, x), radius, SRGB_CURVE.decode(np.broadcast_to(colour, 3)))
    return _shrink(light)


def _draw_leaf(
    light: Float64, bare: Flags, middle: tuple[float, float], radius: float, colour: Float64
) -> None:
    """Draw a disc behind what is drawn already."""
    rows, columns = (slice(max(int(at - radius), 0), max(int(at + radius) + 2, 0)) for at in middle)
    seen = bare[rows, columns]
    down, across = np.ogrid[: seen.shape[0], : seen.shape[1]]
    y, x = middle[0] - rows.start, middle[1] - columns.start
    leaf = seen & ((down - y) ** 2 + (across - x) ** 2 <= radius**2)
    light[rows, columns][leaf] = colour
    seen[leaf] = False


def _shrink(light: Float64) -> Panel:
    """Average light that was drawn larger, and encode it."""
    side = light.shape[0] // _LARGER
    means = light.reshape(side, _LARGER, side, _LARGER, 3).mean(axis=(1, 3))
    return np.asarray(SRGB_CURVE.encode(means), np.float64)


def _skin(generator: Generator) -> Panel:
    """Pores and folds: noise whose amplitude falls with the frequency, on the colour of skin."""
    down, across = _frequencies()
    frequency = np.hypot(down, across)
    amplitude = 1 / np.maximum(frequency, 1 / 32)
    return _paint((0.74, 0.58, 0.5), _shape_noise(amplitude, generator), 3.0)


def _weave(generator: Generator) -> Panel:
    """Threads over and under each other, none quite like the next."""
    rows, columns = np.mgrid[:PANEL, :PANEL] / 4.4
    uneven = 1 + 0.35 * _shape_noise(np.exp(-((np.hypot(*_frequencies()) / 0.08) ** 2)), generator)
    warp, weft = np.cos(2 * np.pi * columns), np.cos(2 * np.pi * rows)
    over = np.cos(np.pi * columns) * np.cos(np.pi * rows)
    fibres = 0.35 * _shape_noise(np.ones((PANEL, PANEL)), generator)
    return _paint((0.4, 0.44, 0.55), (0.6 * (warp + weft) + over) * uneven + fibres, 4.0)


def _hair(generator: Generator) -> Panel:
    """Strands along one direction, a pixel or a few across."""
    down, across = _frequencies()
    angle = generator.uniform(0.2, 0.5)
    along, between = (
        down * np.cos(angle) - across * np.sin(angle),
        across * np.cos(angle) + down * np.sin(angle),
    )
    amplitude = np.exp(-((along / 0.02) ** 2) - (between / 0.35) ** 2)
    return _paint((0.36, 0.28, 0.22), _shape_noise(amplitude + 0.03, generator), 6.0)


def _flats(_: Generator) -> Panel:
    """Four even colours."""
    quarters = [np.broadcast_to(np.array(colour), (PANEL // 2, PANEL // 2, 3)) for colour in _FLAT_COLOURS]
    return np.concatenate([np.concatenate(quarters[n : n + 2], axis=1) for n in (0, 2)])


def _frequencies() -> tuple[Float64, Float64]:
    """Cycles per pixel down and across."""
    steps = np.fft.fftfreq(PANEL)
    down, across = np.meshgrid(steps, steps, indexing="ij")
    return down, across


def _shape_noise(amplitude: NDArray[np.float64], generator: Generator) -> Float64:
    """White noise with these amplitudes of its frequencies, of mean 0 and deviation 1."""
    spectrum = np.fft.fft2(generator.standard_normal((PANEL, PANEL))) * amplitude
    spectrum[0, 0] = 0
    noise = np.fft.ifft2(spectrum).real
    return np.asarray(noise / noise.std())


def _paint(colour: tuple[float, ...], relief: Float64, deviation: float) -> Panel:
    """A relief of brightness on a colour, of a deviation in 255ths under the sRGB curve."""
    relief = relief / relief.std() * deviation * _LEVEL
    return np.asarray(np.array(colour) + relief[..., None])


PANELS: dict[str, Callable[[Generator], Panel]] = {
    "grey leaves": lambda generator: _leaves(generator, coloured=False),
    "coloured leaves": lambda generator: _leaves(generator, coloured=True),
    "skin": _skin,
    "weave": _weave,
    "hair": _hair,
    FLATS: _flats,
}
