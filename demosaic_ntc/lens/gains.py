"""Gains that vary smoothly over a picture: what they are at each pixel, and pictures multiplied by them.

The engine works on samples as they were measured, whose noise is the same everywhere: gains multiply its
picture, and with it noise and saturation. Only what they differ by from colour to colour is in the samples
before, lest grey have a tint where colours are interpolated.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf
from typing import TypeAlias

import numpy as np

from demosaic_ntc.arrays import Float32, Float64
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.io.colour import SRGB_CURVE
from demosaic_ntc.io.pixels import LazyImage
from demosaic_ntc.raw.opcodes.area import Window
from demosaic_ntc.raw.opcodes.pixel_opcodes import FixVignetteRadial, Gain, GainMap
from demosaic_ntc.raw.photo import GREEN

Product: TypeAlias = tuple[Gain, ...]

_ALIKE = 5e-4  # gains that differ by less are the same
_GLANCE = 33  # rows and columns at which they are compared

# From this share of the light at which samples saturate on, gains of sites are drawn to 1 up to saturation:
# what is saturated in all colours is white.
_NEARLY_SATURATED = 0.9
_NEVER = 1e6  # light that no sample has: where none is saturated
_CODES = 1 << 14  # of light at equal steps of its root: straight lines between them are off by 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class GainField:
    """The gains of an image: for all planes, or for each, the mean of some products."""

    planes: tuple[tuple[Product, ...], ...]  # one, or three
    size: tuple[int, int]

    def evaluate(self, rows: slice, columns: slice, step: int = 1) -> Float32:
        """Gains of a part, (rows, columns, 1 or 3); see `Window` for the step."""
        down, across = Window(rows, columns, self.size, step).centres()
        made = [_mean_product(products, down, across, self.size) for products in self.planes]
        return np.stack(made, axis=-1).astype(np.float32)

    @property
    def extremes(self) -> tuple[float, float]:
        """The least and the largest gain, about: at some rows and columns."""
        seen = [_mean_product(products, *_glance(self.size), self.size) for products in self.planes]
        return float(np.min(seen)), float(np.max(seen))


@dataclass(frozen=True, slots=True, eq=False)
class SiteGains:
    """What the gains of the sites of a mosaic differ by from those of green."""

    sites: Mapping[tuple[int, int], Product]
    green: GainField
    period: tuple[int, int]
    largest: float

    def evaluate(self, rows: slice, columns: slice) -> Float32:
        """Ratios of a part of the mosaic, (rows, columns)."""
        down, across = Window(rows, columns, self.green.size).centres()
        ratios = np.empty((len(down), len(across)), np.float32)
        for site in self.sites:
            y, x = site
            first = (y - rows.start) % self.period[0], (x - columns.start) % self.period[1]
            places = slice(first[0], None, self.period[0]), slice(first[1], None, self.period[1])
            ratios[places] = self._ratios(site, down[places[0]], across[places[1]])
        return ratios

    def nodes(self, step: int) -> Float32:
        """Ratios of each site every few pixels, one node beyond the mosaic: see `multiply_samples`."""
        down, across = (
            np.arange(-(-length // step) + 1, dtype=np.float64) * step + 0.5 for length in self.green.size
        )
        made = [self._ratios(site, down, across) for site in np.ndindex(*self.period)]
        return np.stack(made).reshape(*self.period, len(down), len(across)).astype(np.float32)

    def _ratios(self, site: tuple[int, ...], down: Float64, across: Float64) -> Float64:
        """Ratios of a site at some rows and columns."""
        here = down, across, self.green.size
        product = self.sites[site[0], site[1]]
        return _mean_product((product,), *here) / _mean_product(self.green.planes[0], *here)

    def encode_light(
        self, encode: Callable[[Float64], Float64 | Float32], least: float, most: float, saturated: float
    ) -> Callable[[Float32, slice, slice], Float32]:
        """Return what multiplies the light of a window of a mosaic by the ratios, and encodes it, in place.

        Light is from the ``least`` there is up to ``most``, to which it is cut. What is saturated, if
        anything, stays as it is.
        """
        from demosaic_ntc.lens.gain_kernels import (  # noqa: PLC0415 (loads kernels; `info` does without)
            NODE,
            multiply_samples,
        )

        low = min(least * self.largest, least, 0.0)
        codes = encode(low + (most - low) * np.linspace(0, 1, _CODES) ** 2).astype(np.float32)
        end = min(saturated, _NEVER)
        nodes, bounds = self.nodes(NODE), np.array([_NEARLY_SATURATED * end, end, most, low], np.float32)

        def multiply(light: Float32, rows: slice, columns: slice) -> Float32:
            multiply_samples(light, np.array([rows.start, columns.start]), nodes, bounds, codes)
            return light

        return multiply


def is_smooth(gain: Gain, size: tuple[int, int], period: tuple[int, int]) -> bool:
    """Whether a gain covers an image, at the same sites of every period."""
    return isinstance(gain, FixVignetteRadial) or gain.area.covers(size, period)


def plane_gains(gains: Product, size: tuple[int, int]) -> GainField | None:
    """The gains of an image of three planes; None where there are none."""
    if not gains:
        return None
    by_plane = [_in_plane(gains, plane) for plane in range(3)]
    alike = not any(isinstance(gain, GainMap) for gain in gains)
    return GainField(tuple((product,) for product in by_plane[: 1 if alike else 3]), size)


def mosaic_gains(
    gains: Product, cfa: Cfa, size: tuple[int, int]
) -> tuple[GainField | None, SiteGains | None]:
    """The gains of a mosaic's green, and what those of its sites differ by from them; None without any."""
    if not gains:
        return None, None
    sites = {site: _at_site(gains, site) for site in np.ndindex(*cfa.period)}
    greens = tuple(product for site, product in sites.items() if cfa.pattern[site] == GREEN)
    green = GainField((greens,), size)
    at = (*_glance(size), size)
    ratios = [_mean_product((product,), *at) / _mean_product(greens, *at) for product in sites.values()]
    if np.abs(np.stack(ratios) - 1).max() < _ALIKE:
        return green, None
    return green, SiteGains(sites, green, cfa.period, float(np.max(ratios)))


def multiply_picture(
    image: LazyImage, lift: float, field: GainField, step: int, most: float = inf
) -> LazyImage:
    """A picture under the lifted sRGB curve, its light multiplied, and cut at the `most` there may be."""

    def multiply(part: Float32, rows: slice, columns: slice) -> Float32:
        gain = field.evaluate(rows, columns, step)
        return multiply_encoded(part - np.float32(lift), gain, most) + np.float32(lift)

    return image.map(multiply)


def multiply_encoded(code: Float32, gain: Float32, most: float = inf) -> Float32:
    """Values under the sRGB curve whose light is multiplied; both may be any.

    Above the toe the curve is a power, of which a gain is a factor.
    """
    curve = SRGB_CURVE
    offset, knee = np.float32(curve.offset), np.float32(curve.slope * curve.toe)
    result = (code + offset) * gain ** np.float32(1 / curve.gamma) - offset
    dark = (code < knee) | (result < knee)
    if dark.any():
        light = curve.decode(code[dark].astype(np.float64)) * np.broadcast_to(gain, code.shape)[dark]
        result[dark] = curve.encode(light)
    if most < inf:
        np.minimum(result, np.float32(curve.encode(np.array(most))), out=result)
    return np.asarray(result, np.float32)


def multiply_error(error: Float32, image: LazyImage, lift: float, field: GainField) -> Float32:
    """Deviations of a picture under the lifted sRGB curve, (height, width, 3), once it is multiplied."""
    scaled = np.empty_like(error)
    for top in range(0, error.shape[0], 64):
        rows, columns = slice(top, min(top + 64, error.shape[0])), slice(0, error.shape[1])
        gain = field.evaluate(rows, columns)
        code = np.asarray(image[rows], np.float64) - lift
        light = SRGB_CURVE.decode(code).astype(np.float32)
        slope = gain * SRGB_CURVE.steepness(light * gain) / SRGB_CURVE.steepness(light)
        scaled[rows] = error[rows] * slope
    return scaled


def _at_site(gains: Product, site: tuple[int, int]) -> Product:
    """The gains that hold at a site of a mosaic."""
    return tuple(gain for gain in gains if isinstance(gain, FixVignetteRadial) or gain.area.holds_site(site))


def _in_plane(gains: Product, plane: int) -> Product:
    """The gains that hold in a plane."""
    own = (gain if isinstance(gain, FixVignetteRadial) else gain.of_plane(plane) for gain in gains)
    return tuple(gain for gain in own if gain is not None)


def _mean_product(
    products: tuple[Product, ...], down: Float64, across: Float64, size: tuple[int, int]
) -> Float64:
    """The mean of products of gains at some rows and columns, (rows, columns)."""
    total = np.zeros((len(down), len(across)))
    different = dict.fromkeys(products)
    for product in different:
        made = np.ones_like(total)
        for gain in product:
            made *= gain.interpolate(down, across, size)[..., 0]
        total += made * products.count(product)
    return np.asarray(total / len(products))


def _glance(size: tuple[int, int]) -> tuple[Float64, Float64]:
    """Some rows and columns of an image, its borders among them."""
    down, across = (np.linspace(0, length, _GLANCE) for length in size)
    return down, across
