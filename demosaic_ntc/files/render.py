"""From samples to what the engine works on, and from its picture to finished pixels.

The engine gets white-balanced values under the sRGB curve, where equal steps look equal: interpolating
linear light costs every method several decibels. Noise below black stays below black (the curve goes
straight on), so the whole mosaic is lifted by a constant to be nonnegative; both are undone exactly.
Everything runs over bands of rows in float32, with tables for the curves, so memory stays bounded.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.files.colour import SRGB_CURVE, ColourSpace, Curve, to_space
from demosaic_ntc.files.levels import Exposure
from demosaic_ntc.files.photo import RawPhoto, Sites
from demosaic_ntc.files.stabilised import Root, Stabilised

Floats = NDArray[np.float32]
Pixels = NDArray[np.uint16] | NDArray[np.uint8]
ReportRows = Callable[[int, int], None]

# Rows per step: few enough for a band of a large picture to stay in the processor's cache.
_BAND = 16

# Resolution of the two curve tables: an eighth of a 16-bit code where the curve is steepest.
_DECODE_STEPS = 1 << 18
_ENCODE_STEPS = (1 << 20) - 1

# The lowest and highest value the table of the decoding curve covers; the engine stays well within.
_LOWEST, _HIGHEST = -1.0, 2.0

# How dark a picture must end, in stops below white, to be worth a hint.
_DARK_STOPS = 1.0

# The share of pixels that brightening may clip (LibRaw's rule).
_CLIPPED_SHARE = 0.01

# No picture is brightened by more than eight stops.
_LARGEST_GAIN = 256.0


@dataclass(frozen=True, slots=True)
class EncodedMosaic:
    """Balanced samples under the sRGB curve, plus a constant that makes them nonnegative.

    Where their noise is to be taken off they are signed, under the curve that makes it alike everywhere.
    """

    samples: Floats
    lift: float
    stabilised: Stabilised | None = None

    @property
    def white(self) -> float:
        """The value of a saturated sample."""
        return 1.0 + self.lift


def encode_mosaic(photo: RawPhoto, exposure: Exposure, stabilised: Stabilised | None = None) -> EncodedMosaic:
    """The samples as the engine wants them: black subtracted, balanced, clipped at white, under a curve."""
    samples = np.empty(photo.size, dtype=np.float32)
    curve = stabilised.curve if stabilised else SRGB_CURVE
    tables = _encoding_tables(photo.sites, exposure, curve)
    down, across = photo.sites.period
    for top in range(0, photo.size[0], _BAND * down):
        band, encoded = photo.mosaic[top : top + _BAND * down], samples[top : top + _BAND * down]
        for (y, x), table in tables.items():
            place = (slice(y, None, down), slice(x, None, across))
            encoded[place] = np.take(table, band[place], mode="clip")
    lift = 0.0 if stabilised else max(0.0, -float(samples.min()))
    samples += np.float32(lift)
    return EncodedMosaic(samples, lift, stabilised)


def _encoding_tables(sites: Sites, exposure: Exposure, curve: Curve | Root) -> dict[tuple[int, ...], Floats]:
    """For each site of the period, the encoded value of each of the 65536 sample values."""
    made, tables = dict[tuple[float, float], Floats](), dict[tuple[int, ...], Floats]()
    for place in np.ndindex(sites.period):
        level = (float(sites.black[place]), exposure.gains[sites.channels[place]])
        if level not in made:
            light = np.minimum((np.arange(65536) - level[0]) * level[1], 1.0)
            made[level] = curve.encode(light).astype(np.float32)
        tables[place] = made[level]
    return tables


@dataclass(frozen=True, slots=True)
class Finish:
    """How the engine's picture becomes pixels."""

    space: ColourSpace
    camera_to_srgb: NDArray[np.float64]
    gain: float = 1.0
    bits: int = 16
    blend_above: float | None = None  # the light from which highlights are reconstructed

    @property
    def matrix(self) -> Floats:
        """Camera colours as rows, times this, are linear colours of the space, brightened."""
        matrix = to_space(self.camera_to_srgb, self.space) * self.gain
        return np.ascontiguousarray(matrix.T, dtype=np.float32)


def finish(image: Floats, lift: float, how: Finish, report: ReportRows) -> Pixels:
    """Undo the engine's encoding, apply matrix, gain and transfer curve, and round."""
    pixels: Pixels = np.empty(image.shape, dtype=np.uint16 if how.bits == 16 else np.uint8)
    table, matrix = _output_table(how.space, how.bits), how.matrix
    for rows in _bands(image.shape[0]):
        light = _output_light(image[rows], lift, matrix, how.blend_above)
        index = light * np.float32(_ENCODE_STEPS) + np.float32(0.5)
        pixels[rows] = np.take(table, index.astype(np.intp), mode="clip")
        report(rows.stop, image.shape[0])
    return pixels


def finish_error(image: Floats, error: Floats, lift: float, how: Finish) -> Floats:
    """The standard deviations of finished pixels in code values, from those of the engine's picture.

    `image` and `error` are (height, width, 3), encoded and lifted; so is the result, from 0 up. To first
    order: decoding divides a deviation by the steepness of the engine's curve, the matrix (with the gain)
    adds the variances of three independent channels, and the transfer curve multiplies by its own steepness;
    values that are clipped take that at the clip. The blending of highlights and rounding are left out.
    """
    codes = np.empty(image.shape, dtype=np.float32)
    matrix, top = how.matrix, np.float32(2**how.bits - 1)
    for rows in _bands(image.shape[0]):
        light = _decoded(image[rows], lift)
        variance = np.square(error[rows] / SRGB_CURVE.steepness(light)) @ np.square(matrix)
        steepness = how.space.curve.steepness(np.clip(light @ matrix, 0, 1))
        codes[rows] = np.sqrt(variance) * steepness * top
    return codes


def _output_light(band: Floats, lift: float, matrix: Floats, blend_above: float | None) -> Floats:
    """Linear light in the output space of a band of the engine's picture."""
    light = _decoded(band, lift)
    if blend_above is not None:
        light = blend_highlights(light, blend_above)
    return np.asarray(light @ matrix)


def _decoded(band: Floats, lift: float) -> Floats:
    """The linear light of encoded values."""
    index = (band - np.float32(lift + _LOWEST)) * np.float32(_DECODE_STEPS) + np.float32(0.5)
    return np.take(_DECODING_TABLE, index.astype(np.intp), mode="clip")


def _decoding_table() -> Floats:
    """Linear light at equal steps of the encoded value."""
    steps = round((_HIGHEST - _LOWEST) * _DECODE_STEPS)
    return SRGB_CURVE.decode(_LOWEST + np.arange(steps + 1) / _DECODE_STEPS).astype(np.float32)


_DECODING_TABLE = _decoding_table()


def _output_table(space: ColourSpace, bits: int) -> Pixels:
    """Code values at equal steps of linear light."""
    top = 2**bits - 1
    codes: Pixels = np.round(space.curve.encode(np.arange(_ENCODE_STEPS + 1) / _ENCODE_STEPS) * top).astype(
        np.uint16 if bits == 16 else np.uint8
    )
    return codes


def blend_highlights(light: Floats, clip: float) -> Floats:
    """Where a channel has clipped, keep the brightness and take the colour of the clipped value.

    The light and its copy clipped at the level all channels reach are split into lightness (r + g + b) and
    two colour axes, √3 (r − g) and 2b − r − g; the colour axes are scaled by the ratio of their lengths.
    """
    touched = (light > clip).any(axis=-1)
    if not touched.any():
        return light
    pixel = light[touched].astype(np.float64)
    axes = np.array([[1, 1, 1], [np.sqrt(3), -np.sqrt(3), 0], [-1, -1, 2]])
    whole, clipped = pixel @ axes.T, np.minimum(pixel, clip) @ axes.T
    length, wanted = np.hypot(whole[:, 1], whole[:, 2]), np.hypot(clipped[:, 1], clipped[:, 2])
    whole[:, 1:] *= np.divide(wanted, length, out=np.ones_like(length), where=length > 0)[:, None]
    blended = light.copy()
    blended[touched] = np.linalg.solve(axes, whole.T).T
    return blended


def brightening(image: Floats, lift: float, how: Finish, *, every: int = 1) -> float:
    """The gain that makes one percent of the pixels reach white, from every n-th row and column."""
    counts = np.zeros((3, 8192), dtype=np.int64)
    matrix = how.matrix
    for rows in _bands(image.shape[0]):
        light = _output_light(image[rows][::every, ::every], lift, matrix, how.blend_above)
        bins = (np.clip(light, 0, 1) * np.float32(8191)).astype(np.int32)
        for channel in range(3):
            counts[channel] += np.bincount(bins[..., channel].ravel(), minlength=8192)
    allowed = _CLIPPED_SHARE * counts[0].sum()
    above = counts[:, ::-1].cumsum(axis=1)[:, ::-1]
    white = max(int(np.flatnonzero(channel > allowed)[-1]) for channel in above)
    return min(8192.0 / max(white, 1), _LARGEST_GAIN)


def is_dark(gain: float) -> bool:
    """Whether a picture that this gain would brighten to white ends far below it."""
    return gain > 2**_DARK_STOPS


def oriented(pixels: NDArray[Any], orientation: int) -> NDArray[Any]:
    """A view of the pixels turned the way EXIF's orientation (1 to 8) says."""
    transposed = pixels.swapaxes(0, 1) if orientation >= 5 else pixels
    upside_down = orientation in (3, 4, 7, 8)
    mirrored = orientation in (2, 3, 6, 7)
    return transposed[:: -1 if upside_down else 1, :: -1 if mirrored else 1]


def _bands(height: int) -> Iterator[slice]:
    """Slices of rows, a few at a time."""
    return (slice(top, min(top + _BAND, height)) for top in range(0, height, _BAND))
