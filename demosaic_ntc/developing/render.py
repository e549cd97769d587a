"""From samples to what the engine works on, and from its picture to finished pixels.

The engine gets white-balanced values under the sRGB curve, where equal steps look equal: interpolating
linear light costs every method several decibels. Noise below black stays below black (the curve goes
straight on), so the whole mosaic is lifted by a constant to be nonnegative; both are undone exactly.
Everything runs over bands of rows in float32, with tables for the curves, so memory stays bounded.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from math import inf

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.arrays import Float32
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.demosaicing.measured_planes import PlaneSamples
from demosaic_ntc.demosaicing.quantised_planes import MosaicSamples
from demosaic_ntc.developing.denoising import Stabilised, add_grain, convert_to_srgb_curve, steepness_of_way
from demosaic_ntc.developing.highlights import BRIGHTEST, CompletedHighlights
from demosaic_ntc.developing.tone import ToneMapping
from demosaic_ntc.engine.result import NormCertificate, Restored, SampleCheck, StoredPicture
from demosaic_ntc.engine.tiles import Windowed
from demosaic_ntc.io.colour import SRGB_CURVE, ColourSpace, make_space_matrix, tabulate
from demosaic_ntc.io.pixels import Image, ImageLike, LazyImage, Part, Pixels, ReportRows, ignore_share
from demosaic_ntc.lens.gains import SiteGains
from demosaic_ntc.raw.levels import Exposure
from demosaic_ntc.raw.photo import GREEN, RawPhoto, Sites, place_of

# Rows per step: few enough for a band of a large picture to stay in the processor's cache.
_BAND = 16

# Rows that are read together where few of a picture's are: single ones take longer.
_STRIP = 8

# Resolution of the two curve tables: an eighth of a 16-bit code where the curve is steepest.
_DECODE_STEPS = 1 << 18
_ENCODE_STEPS = (1 << 20) - 1
_STEEP = 1 << 14  # steps from black on in which curves of pictures are bent most

# The lowest and highest value the table of the decoding curve covers; the engine stays well within.
_LOWEST, _HIGHEST = -1.0, 2.0

# How far light is moved to see what a look makes of a change; some steps of its table.
_NUDGE = np.float32(1e-3)

# How dark a picture must end, in stops below white, to be worth a hint.
_DARK_STOPS = 1.0

# The share of pixels that brightening may clip (LibRaw's rule).
_CLIPPED_SHARE = 0.01

# No picture is brightened by more than eight stops.
_LARGEST_GAIN = 256.0


@dataclass(frozen=True, slots=True)
class EncodedMosaic:
    """Balanced samples under the sRGB curve, plus a constant that makes them nonnegative.

    Where noise is to be removed they are signed, under the curve that stabilises its variance.
    """

    stored: MosaicSamples | PlaneSamples  # with full scale 1: divided by the value of a saturated sample
    lift: float
    stabilised: Stabilised | None = None

    @property
    def samples(self) -> Float32:
        """All samples, (height, width) or (height, width, 3)."""
        return self.stored.whole() * np.float32(self.white)

    def plane(self, channel: int = GREEN) -> MosaicSamples:
        """Return the one plane of a mosaic, or that of a channel where there are three."""
        if isinstance(self.stored, MosaicSamples):
            return self.stored
        return MosaicSamples(self.stored.stored[..., channel], {(0, 0): self.stored.tables[channel]})

    @property
    def white(self) -> float:
        """The value of a saturated sample."""
        return 1.0 + self.lift


def encode_mosaic(
    photo: RawPhoto,
    exposure: Exposure,
    stabilised: Stabilised | None = None,
    highlights: CompletedHighlights | None = None,
    shading: SiteGains | None = None,
    most: float = 1.0,
) -> EncodedMosaic:
    """The samples as the engine wants them: black subtracted, balanced, under a curve.

    They are clipped at the `most` light, unless their highlights were completed. What shading differs by from
    colour to colour is taken off as they are read; what is clipped stays white.
    """
    curve = stabilised.curve if stabilised else SRGB_CURVE
    tables = _build_light_tables(photo.sites, exposure, highlights, most)
    least, lift = _least_light(photo, tables), 0.0
    if not stabilised:
        below = -float(np.float32(curve.encode(np.array(least))))
        lift = max(0.0, below) * (shading.largest if shading else 1.0)

    def encode(light: NDArray[np.float64]) -> Float32:
        code = curve.encode(light).astype(np.float32)
        return np.asarray((code + np.float32(lift)) / np.float32(1 + lift), np.float32)

    if photo.is_linear:
        planes = tuple(encode(table) for table in tables.values())
        return EncodedMosaic(PlaneSamples(photo.mosaic, planes), lift, stabilised)
    if shading is None:
        adjust, convert = None, encode
    else:
        white = exposure.clip if highlights is None and most <= 1 else inf
        adjust, convert = shading.encode_light(encode, least, BRIGHTEST, white), _as_float32
    made = {id(table): convert(table) for table in tables.values()}
    by_place = {(y, x): made[id(table)] for (y, x), table in tables.items()}
    return EncodedMosaic(MosaicSamples(photo.mosaic, by_place, photo.sites.period, adjust), lift, stabilised)


def _as_float32(light: NDArray[np.float64]) -> Float32:
    """Light as it is."""
    return light.astype(np.float32)


def _least_light(photo: RawPhoto, tables: dict[tuple[int, ...], NDArray[np.float64]]) -> float:
    """The least light of a photo's samples: tables rise."""
    period = photo.sites.channels.shape
    return min(float(table[photo.mosaic[place_of(site, period)].min()]) for site, table in tables.items())


def _build_light_tables(
    sites: Sites, exposure: Exposure, highlights: CompletedHighlights | None, most: float
) -> dict[tuple[int, ...], NDArray[np.float64]]:
    """For each site of the period, the light of each of the 65536 sample values; sites alike share theirs."""
    made = dict[tuple[float, float, int], NDArray[np.float64]]()
    tables = dict[tuple[int, ...], NDArray[np.float64]]()
    for place in np.ndindex(sites.channels.shape):
        first = 0 if highlights is None else int(highlights.first[place])
        level = (float(sites.black[place]), exposure.gains[sites.channels[place]], first)
        if level not in made and highlights is not None:
            made[level] = highlights.light(sites, exposure, place)
        elif level not in made:
            made[level] = np.minimum((np.arange(65536) - level[0]) * level[1], most)
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
    look: ToneMapping | None = None  # None: as it was measured

    @property
    def matrix(self) -> Float32:
        """Row vectors of camera colours times this are linear colours of the space, with the gain applied."""
        matrix = make_space_matrix(self.camera_to_srgb, self.space) * self.gain
        return np.ascontiguousarray(matrix.T, dtype=np.float32)


def camera_light(
    image: ImageLike, lift: float, blend_above: float | None
) -> Iterator[tuple[slice, NDArray[np.float32]]]:
    """Bands of rows of the engine's picture as balanced linear light in the camera's colours."""
    for rows in _bands(image.shape[0]):
        light = _decode(np.asarray(image[rows]), lift)
        yield rows, light if blend_above is None else blend_highlights(light, blend_above)


def finish(image: Image, lift: float, how: Finish, report: ReportRows) -> Image:
    """Undo the engine's encoding, apply matrix, gain, look and transfer curve, and round.

    A lazy picture is finished as it is read, and nothing is reported.
    """
    table = _output_table(how.space, how.bits)

    def finish_part(part: Float32, *_: slice) -> Pixels:
        pixels: Pixels = np.empty(part.shape, dtype=table.dtype)
        for rows in _bands(part.shape[0]):
            light = light_of(part[rows], lift, how)
            if how.look is not None:
                light = how.look(light)
            index = light * np.float32(_ENCODE_STEPS) + np.float32(0.5)
            pixels[rows] = np.take(table, index.astype(np.intp), mode="clip")
            report(rows.stop, part.shape[0])
        return pixels

    if isinstance(image, LazyImage):
        report = ignore_share
        return image.map(finish_part, table.dtype)
    return finish_part(image)


def finish_error(image: ImageLike, error: ImageLike, lift: float, how: Finish) -> Float32:
    """The standard deviations of finished pixels in code values, from those of the engine's picture.

    `image` and `error` are (height, width, 3), encoded and lifted; so is the result, from 0 up. To first
    order: decoding divides a deviation by the steepness of the engine's curve, the matrix (with the gain) and
    the look add the variances of three independent channels, and the transfer curve multiplies by its own
    steepness; values that are clipped take that at the clip. The blending of highlights and rounding are left
    out.
    """
    codes = np.empty(image.shape, dtype=np.float32)
    top = np.float32(2**how.bits - 1)
    for rows in _bands(image.shape[0]):
        light = _decode(np.asarray(image[rows]), lift)
        shown, variance = _render_with_variance(
            light, np.asarray(error[rows], np.float32) / SRGB_CURVE.steepness(light), how
        )
        steepness = how.space.curve.steepness(np.clip(shown, 0, 1))
        codes[rows] = np.sqrt(variance) * steepness * top
    return codes


def _render_with_variance(light: Float32, deviation: Float32, how: Finish) -> tuple[Float32, Float32]:
    """The light that is shown, and its variance, of camera light whose channels deviate independently.

    A look bends light, so that a channel acts on all three: its effect is measured by moving it both ways.
    """
    shown = light @ how.matrix
    if how.look is None:
        return shown, np.square(deviation) @ np.square(how.matrix)
    variance = np.zeros_like(light)
    for channel, row in enumerate(how.matrix):  # what a channel of the camera adds to the three of the space
        slope = (how.look(shown + _NUDGE * row) - how.look(shown - _NUDGE * row)) / (2 * _NUDGE)
        variance += np.square(slope * deviation[..., channel, None])
    return how.look(shown), variance


def light_of(band: Float32, lift: float, how: Finish) -> Float32:
    """Linear light in the output space of a part of the engine's picture, before any look."""
    light = _decode(band, lift)
    if how.blend_above is not None:
        light = blend_highlights(light, how.blend_above)
    return np.asarray(light @ how.matrix)


def _decode(band: Float32, lift: float) -> Float32:
    """The linear light of encoded values."""
    index = (band - np.float32(lift + _LOWEST)) * np.float32(_DECODE_STEPS) + np.float32(0.5)
    return np.take(_build_decoding_table(), index.astype(np.intp), mode="clip")


@cache
def _build_decoding_table() -> Float32:
    """Linear light at equal steps of the encoded value."""
    steps = round((_HIGHEST - _LOWEST) * _DECODE_STEPS)
    values = tabulate(lambda step: SRGB_CURVE.decode(_LOWEST + step / _DECODE_STEPS), steps + 1)
    return values.astype(np.float32)


def _output_table(space: ColourSpace, bits: int) -> Pixels:
    """Code values at equal steps of linear light."""
    top = 2**bits - 1
    values = tabulate(lambda step: space.curve.encode(step / _ENCODE_STEPS), _ENCODE_STEPS + 1, _STEEP)
    codes: Pixels = np.round(values * top).astype(np.uint16 if bits == 16 else np.uint8)
    return codes


def blend_highlights(light: Float32, clip: float) -> Float32:
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


def find_auto_gain(image: ImageLike, lift: float, how: Finish, *, every: int = 1) -> float:
    """The gain that makes one percent of the pixels reach white, from every n-th row and column."""
    counts = np.zeros((3, 8192), dtype=np.int64)
    for rows in _bands(image.shape[0]):
        light = light_of(np.asarray(image[rows])[::every, ::every], lift, how)
        bins = (np.clip(light, 0, 1) * np.float32(8191)).astype(np.int32)
        for channel in range(3):
            counts[channel] += np.bincount(bins[..., channel].ravel(), minlength=8192)
    allowed = _CLIPPED_SHARE * counts[0].sum()
    above = counts[:, ::-1].cumsum(axis=1)[:, ::-1]
    white = max(int(np.flatnonzero(channel > allowed)[-1]) for channel in above)
    return min(8192.0 / max(white, 1), _LARGEST_GAIN)


def subsample(image: ImageLike, every: int) -> Float32:
    """About one in n rows of a picture, in strips of a few, and every n-th column of those."""
    tops = range(0, image.shape[0], _STRIP * every)
    return np.concatenate([np.asarray(image[top : top + _STRIP])[:, ::every] for top in tops])


def is_dark(gain: float) -> bool:
    """Whether a picture that this gain would brighten to white ends far below it."""
    return gain > 2**_DARK_STOPS


def _bands(height: int) -> Iterator[slice]:
    """Slices of rows, a few at a time."""
    return (slice(top, min(top + _BAND, height)) for top in range(0, height, _BAND))


@dataclass(frozen=True, slots=True, eq=False)
class RestoredPhoto:
    """A restored picture that may be made as it is read; see `Restored`."""

    image: ImageLike  # (height, width, 3), under the sRGB curve
    certificate: NormCertificate | None = None
    notices: tuple[str, ...] = ()
    error: Float32 | None = None
    check: SampleCheck | None = None

    @classmethod
    def of(cls, restored: Restored) -> "RestoredPhoto":
        """Return a picture that stands in memory."""
        return cls(restored.image, restored.certificate, restored.notices, restored.error, restored.check)


def finish_stored(
    stored: StoredPicture, mosaic: EncodedMosaic, cfa: Cfa, grain: float, removed: float
) -> RestoredPhoto:
    """Return the engine's picture of a mosaic under the sRGB curve, to be read later.

    Where noise was removed, a share of it is given back as grain; ``removed`` is the share of its variance
    that is gone in the end.
    """
    image, stabilised = read_later(stored.planes), mosaic.stabilised
    deviation = None
    if stored.variance.size:
        deviation = expand_channels(np.moveaxis(np.sqrt(stored.variance), 0, 2))
    if stabilised is None:
        white = np.float32(mosaic.white)
        image = image.map(lambda part, *_: part * white)
        deviation = None if deviation is None else deviation * white
    else:
        if deviation is not None:
            deviation = deviation * steepness_of_way(np.asarray(image), stabilised)
        if grain > 0:
            image = add_grain(image, mosaic.plane(), cfa, grain, stabilised.levels())
        back = convert_to_srgb_curve(stabilised, removed)
        image = image.map(lambda part, *_: back(part))
    return RestoredPhoto(image, stored.certificate, stored.notices, deviation, stored.check)


def read_later(planes: Windowed) -> LazyImage:
    """Return planes as a picture with its channels last, three of them."""

    def read(rows: slice, columns: slice) -> Part:
        return np.ascontiguousarray(expand_channels(np.moveaxis(planes[:, rows, columns], 0, 2)))

    _, height, width = planes.shape
    return LazyImage((height, width), np.float32, read)


def expand_channels(picture: Float32) -> Float32:
    """Return a picture of three channels, which are equal where it had one."""
    planes = picture if picture.ndim == 3 else picture[..., None]
    return np.broadcast_to(planes, (*planes.shape[:2], 3))
