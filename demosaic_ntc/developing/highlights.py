"""Highlights of a photo: its clipped samples completed, and kept in the numbers that clipped samples had.

From a first number on, all samples of a site are clipped. Once they are completed these numbers are free:
they stand for light from there up to the largest that is kept, at equal steps of its cube root.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.arrays import Flags, Float32, Float64
from demosaic_ntc.demosaicing.highlights.completion import ClippedMosaic, complete_rows, dilate
from demosaic_ntc.demosaicing.highlights.window_kernels import CLIPPED_SHARE, LOWERED_SHARE, raise_lowered
from demosaic_ntc.io.colour import SRGB_CURVE
from demosaic_ntc.io.pixels import ImageLike
from demosaic_ntc.lens.gains import SiteGains
from demosaic_ntc.raw.levels import Exposure
from demosaic_ntc.raw.photo import GREEN, SECOND_GREEN, RawPhoto, Sites, place_of
from demosaic_ntc.raw.saturation import Levels

#: The largest light that is kept, white being 1.
BRIGHTEST = 4.9

_CODES = 65536
_BAND = 64  # rows

# Root mean squares of relative errors of channels completed in pixels with one, two and three of them
# clipped, over the thirty scenes of `benchmark highlights`, each of the same weight.
_ERRORS = np.array([0.0, 0.082, 0.247, 0.42], np.float32)


@dataclass(frozen=True, slots=True)
class CompletedHighlights:
    """What numbers of a photo mean whose clipped samples were completed."""

    first: NDArray[np.int64]  # for each site of the period, the first number of clipped samples
    limits: Float32  # the light at which each site saturates
    largest: float  # light among the samples, at most `BRIGHTEST`

    def light(self, sites: Sites, exposure: Exposure, place: tuple[int, ...]) -> Float64:
        """The light that every number stands for at a site."""
        plain = _measure(sites, exposure, place)
        first = int(self.first[place])
        if first < _CODES:
            low, step = _root_scale(plain[first], first)
            plain[first:] = (low + step * np.arange(_CODES - first)) ** 3
        return np.minimum(plain, BRIGHTEST)

    def flags(self, codes: NDArray[np.uint16], row: int) -> Flags:
        """Tell which samples of some rows were completed, (rows, width) or (rows, width, 3)."""
        if codes.ndim == 3:
            return np.asarray(codes >= self.first)
        down, across = np.arange(row, row + len(codes)), np.arange(codes.shape[1])
        period = self.first.shape
        return np.asarray(codes >= self.first[np.ix_(down % period[0], across % period[1])])


def complete_photo(
    photo: RawPhoto,
    exposure: Exposure,
    missing: Flags | None,
    threads: int,
    shading: SiteGains | None = None,
) -> tuple[RawPhoto, CompletedHighlights]:
    """Complete the clipped samples of a photo; one without any is returned as it is.

    Samples saturate as they were measured; colours are compared, and grey is grey, without the ``shading``
    that sites differ by. It is not taken off here.
    """
    sites = photo.sites
    places = list(np.ndindex(sites.channels.shape))
    tables = {place: _measure(sites, exposure, place).astype(np.float32) for place in places}
    channels = np.where(sites.channels == SECOND_GREEN, GREEN, sites.channels).astype(np.uint8)
    limits = np.empty(channels.shape, np.float32)
    for place in places:
        level = exposure.levels[channels[place]] - sites.black[place]
        limits[place] = level * exposure.gains[sites.channels[place]]
    first = _first_numbers(tables, limits * CLIPPED_SHARE)
    found = CompletedHighlights(first, limits, 0.0)
    if photo.mosaic.max() >= first.min():
        lowered = _first_numbers(tables, limits * LOWERED_SHARE)
        photo = _raise_samples(photo, channels, lowered, first)
        photo, found = _complete_samples(photo, channels, found, tables, missing, threads, shading)
    largest = max(found.largest, _largest_unclipped(photo, first, tables))
    largest *= shading.largest if shading else 1.0
    return photo, replace(found, largest=min(largest, BRIGHTEST))


def _complete_samples(
    photo: RawPhoto,
    channels: NDArray[np.uint8],
    found: CompletedHighlights,
    tables: dict[tuple[int, ...], Float32],
    missing: Flags | None,
    threads: int,
    shading: SiteGains | None,
) -> tuple[RawPhoto, CompletedHighlights]:
    """The photo with its clipped samples completed, and the largest light among them."""
    sites = photo.sites

    def read(rows: slice) -> Float32:
        light = np.empty(photo.mosaic[rows].shape, np.float32)
        for place, table in tables.items():
            here = _place_in(rows, place, sites)
            light[here] = np.take(table, photo.mosaic[rows][here])
        return light

    across = slice(0, photo.size[1])
    even = None if shading is None else lambda rows: shading.evaluate(rows, across)
    clipped = ClippedMosaic(read, photo.size, channels, found.limits, missing, threads, even)
    codes, largest = photo.mosaic, 0.0
    for rows, light in complete_rows(clipped):
        codes = codes.copy() if codes is photo.mosaic else codes
        largest = max(largest, float(light.max()))
        for place, table in tables.items():
            here = _place_in(rows, place, sites)
            _put_codes(codes[rows][here], light[here], int(found.first[place]), table)
    return replace(photo, mosaic=codes), replace(found, largest=largest)


def find_clipped(photo: RawPhoto, levels: Levels) -> Flags:
    """Flags of the samples of a mosaic that are clipped, given the levels at which the colours saturate."""
    flags, sites = np.zeros(photo.size, np.bool_), photo.sites
    for place in np.ndindex(sites.channels.shape):
        black = float(sites.black[place])
        channel = int(sites.channels[place])
        level = levels[GREEN if channel == SECOND_GREEN else channel]
        limit = black + float(CLIPPED_SHARE) * (level - black)
        here = place_of(place, sites.channels.shape)
        flags[here] = photo.mosaic[here] >= limit
    return flags


def _first_numbers(tables: dict[tuple[int, ...], Float32], light: Float32) -> NDArray[np.int64]:
    """Return the first number of each site that stands for so much light."""
    first = np.empty(light.shape, np.int64)
    for place, table in tables.items():
        first[place] = np.searchsorted(table, light[place])
    return first


def _raise_samples(
    photo: RawPhoto, channels: NDArray[np.uint8], lowered: NDArray[np.int64], first: NDArray[np.int64]
) -> RawPhoto:
    """Return a photo whose lowered samples amid clipped ones count as clipped; linear photos stay."""
    if channels.ndim == 3:
        return photo
    raised = np.empty_like(photo.mosaic)
    raise_lowered(
        np.ascontiguousarray(photo.mosaic), channels, lowered, np.minimum(first, _CODES - 1), raised
    )
    return replace(photo, mosaic=raised)


def _put_codes(codes: NDArray[np.uint16], light: Float32, first: int, table: Float32) -> None:
    """Write the numbers that stand for completed light of a site, in place; none stands for less."""
    clipped = codes >= first
    if clipped.any():
        codes[clipped] = number_light(light[clipped], float(table[first]), first)


def number_light(light: Float32, least: float, first: int) -> NDArray[np.uint16]:
    """Return the numbers that stand for completed light, the first of them for the least; see `light`."""
    low, step = _root_scale(least, first)
    number = first + np.ceil((np.cbrt(light.astype(np.float64)) - low) / step - 1e-3)
    return np.asarray(np.clip(number, first, _CODES - 1), np.uint16)


def _largest_unclipped(
    photo: RawPhoto, first: NDArray[np.int64], tables: dict[tuple[int, ...], Float32]
) -> float:
    """Return the largest light among samples that are not clipped."""
    largest, period = 0.0, photo.sites.channels.shape
    for place, table in tables.items():
        samples = photo.mosaic[place_of(place, period)]
        below = samples[samples < first[place]] if samples.max() >= first[place] else samples
        if below.size:
            largest = max(largest, float(table[int(below.max())]))
    return largest


def _measure(sites: Sites, exposure: Exposure, place: tuple[int, ...]) -> Float64:
    """The balanced light of every number at a site."""
    black, gain = float(sites.black[place]), exposure.gains[sites.channels[place]]
    return np.asarray((np.arange(_CODES) - black) * gain, np.float64)


def _root_scale(light: float, first: int) -> tuple[float, float]:
    """Return the root of light at a first number, and the step from one number to the next."""
    low = float(np.cbrt(light))
    high = max(float(np.cbrt(BRIGHTEST)), low + 1e-3)
    return low, (high - low) / max(_CODES - 1 - first, 1)


def _place_in(rows: slice, place: tuple[int, ...], sites: Sites) -> tuple[slice | int, ...]:
    """Where the samples of a site lie among some rows."""
    down, across = sites.period
    return slice((place[0] - rows.start) % down, None, down), slice(place[1], None, across), *place[2:]


def widen_error(
    error: Float32, image: ImageLike, lift: float, photo: RawPhoto, found: CompletedHighlights
) -> Float32:
    """Return the deviations of the engine's picture, (height, width, 3), wider where it was completed.

    Both are under the sRGB curve, the picture lifted. A channel counts as completed where a sample of it next
    to the pixel was.
    """
    wide = error.copy()
    for rows, flags in _flag_channels(photo, found):
        light = SRGB_CURVE.decode(np.asarray(image[rows], np.float64) - lift).astype(np.float32)
        relative = _ERRORS[flags.sum(axis=2)][..., None] * flags
        wide[rows] = np.hypot(wide[rows], relative * light * SRGB_CURVE.steepness(light))
    return wide


def _flag_channels(photo: RawPhoto, found: CompletedHighlights) -> Iterator[tuple[slice, Flags]]:
    """Yield bands of rows with flags of completed channels, (rows, width, 3)."""
    height, width = photo.size
    channels = photo.cfa
    for top in range(0, height, _BAND):
        rows = slice(top, min(top + _BAND, height))
        start, stop = max(top - 1, 0), min(rows.stop + 1, height)
        flags = found.flags(photo.mosaic[start:stop], start)
        if channels is not None:
            shown = channels.window(slice(start, stop), slice(0, width))[..., None] == np.arange(3)
            flags = dilate(flags[..., None] & shown, 1)
        yield rows, flags[top - start : top - start + rows.stop - top]
