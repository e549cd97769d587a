"""Opcodes that move pixels: where in an image the light of each pixel is found."""

from dataclasses import dataclass, replace
from typing import ClassVar, TypeAlias

import numpy as np

from demosaic_ntc.arrays import Float64
from demosaic_ntc.raw.opcodes.pixel_opcodes import centre_of

_STRAIGHT = 1e-8  # radius below which θ / r is 1

Places: TypeAlias = tuple[Float64, Float64]  # y and x in pixels; the first pixel reaches from 0 to 1


@dataclass(frozen=True, slots=True)
class WarpRectilinear:
    """A lens that bends straight lines, by radial and tangential terms for each plane, or one set for all.

    With d from the centre, 1 in the farthest corner, f = kr₀ + kr₁r² + kr₂r⁴ + kr₃r⁶: light of d comes from
    (f·dx + 2kt₀·dx·dy + kt₁(r² + 2dx²), f·dy + 2kt₁·dx·dy + kt₀(r² + 2dy²)).
    """

    name: ClassVar[str] = "WarpRectilinear"
    planes: tuple[tuple[float, ...], ...]  # kr₀ … kr₃, kt₀, kt₁
    centre: tuple[float, float]  # x and y, in widths and heights

    def find_sources(self, places: Places, size: tuple[int, int], plane: int) -> Places:
        """Where the light of places in an image of this size comes from."""
        *radial, down_term, across_term = self.planes[min(plane, len(self.planes) - 1)]
        x, y, radius = centre_of(self.centre, size)
        dy, dx = (places[0] - y) / radius, (places[1] - x) / radius
        square = dx * dx + dy * dy
        f = np.polynomial.polynomial.polyval(square, radial)
        return (
            y + radius * (f * dy + 2 * across_term * dx * dy + down_term * (square + 2 * dy * dy)),
            x + radius * (f * dx + 2 * down_term * dx * dy + across_term * (square + 2 * dx * dx)),
        )

    @property
    def is_straight(self) -> bool:
        """Whether the plane of green moves nothing."""
        return self._green == (1.0, 0.0, 0.0, 0.0, 0.0, 0.0)

    @property
    def _green(self) -> tuple[float, ...]:
        return self.planes[min(1, len(self.planes) - 1)]


@dataclass(frozen=True, slots=True)
class WarpFisheye:
    """A fisheye lens: light at radius r comes from kr₀θ + kr₁θ³ + kr₂θ⁵ + kr₃θ⁷, θ = arctan r."""

    name: ClassVar[str] = "WarpFisheye"
    planes: tuple[tuple[float, ...], ...]  # kr₀ … kr₃
    centre: tuple[float, float]

    def find_sources(self, places: Places, size: tuple[int, int], plane: int) -> Places:
        """Where the light of places in an image of this size comes from."""
        terms = self.planes[min(plane, len(self.planes) - 1)]
        x, y, radius = centre_of(self.centre, size)
        dy, dx = (places[0] - y) / radius, (places[1] - x) / radius
        r = np.hypot(dx, dy)
        angle = np.arctan(r)
        share = np.divide(angle, r, out=np.ones_like(r), where=r > _STRAIGHT)
        f = share * np.polynomial.polynomial.polyval(angle * angle, terms)
        return y + radius * f * dy, x + radius * f * dx

    @property
    def is_straight(self) -> bool:
        """Whether the plane of green moves nothing: a fisheye's does."""
        return False


Warp: TypeAlias = WarpRectilinear | WarpFisheye


def keep_parts(warp: Warp, *, distortion: bool, ca: bool) -> Warp | None:
    """A warp without its lateral colour or without all that moves green; None if nothing is left.

    Without distortion, red and blue move as far as they differ from green, to first order in that.
    """
    planes = warp.planes if len(warp.planes) > 1 else warp.planes * 3
    green = planes[min(1, len(planes) - 1)]
    if distortion:
        return warp if ca else replace(warp, planes=(green,))
    if not ca or all(plane == green for plane in planes) or not isinstance(warp, WarpRectilinear):
        return None
    return replace(warp, planes=tuple(_relate(plane, green) for plane in planes))


def _relate(plane: tuple[float, ...], green: tuple[float, ...]) -> tuple[float, ...]:
    """The terms of a plane less those of green, by green's scale; 1 is added to the first."""
    first, *others = (own - that for own, that in zip(plane, green, strict=True))
    scale = green[0] or 1.0
    return 1.0 + first / scale, *(term / scale for term in others)
