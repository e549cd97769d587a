"""Opcodes that change the values of pixels where they are (DNG specification 1.4, chapter 7).

Values are linear, 0 at black and 1 at white, (rows, columns, planes); they are changed in place. None of the
gains cuts what exceeds white: that is for those who deal with highlights.
"""

from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.arrays import Float32, Float64
from demosaic_ntc.raw.opcodes.area import Area, Window

_LAST_ENTRY = 65535  # of tables, at white


@dataclass(frozen=True, slots=True, eq=False)
class GainMap:
    """Gains at points of a grid, bilinear between them and constant beyond."""

    name: ClassVar[str] = "GainMap"
    area: Area
    spacing: tuple[float, float]  # vertical and horizontal, in heights and widths of the image
    origin: tuple[float, float]
    gains: Float32  # (rows, columns, planes)

    def apply(self, values: Float32, window: Window) -> None:
        """Multiply by the gains."""
        chosen = self.area.choose(window, values.shape[2])
        down, across = window.centres()
        gains = self.interpolate(down[chosen.rows], across[chosen.columns], window.size)
        planes = np.arange(chosen.planes.stop - chosen.planes.start)
        values[chosen.place] *= gains[..., np.minimum(planes, gains.shape[2] - 1)].astype(values.dtype)

    def of_plane(self, plane: int) -> "GainMap | None":
        """The gains of one plane; None if it has none."""
        number = plane - self.area.plane
        if not 0 <= number < self.area.planes:
            return None
        own = min(number, self.gains.shape[2] - 1)
        return GainMap(self.area, self.spacing, self.origin, self.gains[..., own : own + 1])

    def interpolate(self, down: Float64, across: Float64, size: tuple[int, int]) -> Float64:
        """Gains, (rows, columns, planes), at places of an image of this size."""
        (top, v), (left, u) = (
            _between((place / length - origin) / spacing, count)
            for place, length, origin, spacing, count in zip(
                (down, across), size, self.origin, self.spacing, self.gains.shape[:2], strict=True
            )
        )
        below, right = (
            np.minimum(first + 1, count - 1)
            for first, count in zip((top, left), self.gains.shape[:2], strict=True)
        )
        v, u = v[:, None, None], u[None, :, None]
        rows = self.gains[top] * (1 - v) + self.gains[below] * v
        return np.asarray(rows[:, left] * (1 - u) + rows[:, right] * u)

    @property
    def extremes(self) -> tuple[float, float]:
        """The least and the largest gain."""
        return float(self.gains.min()), float(self.gains.max())


@dataclass(frozen=True, slots=True)
class FixVignetteRadial:
    """A gain 1 + k₀r² + k₁r⁴ + … + k₄r¹⁰, where r is 1 in the corner that is farthest from the centre."""

    name: ClassVar[str] = "FixVignetteRadial"
    coefficients: tuple[float, ...]
    centre: tuple[float, float]  # x and y, in widths and heights

    def apply(self, values: Float32, window: Window) -> None:
        """Multiply by the gain."""
        down, across = window.centres()
        values *= self.interpolate(down, across, window.size).astype(values.dtype)

    def interpolate(self, down: Float64, across: Float64, size: tuple[int, int]) -> Float64:
        """Gains, (rows, columns, 1), at places of an image of this size."""
        x, y, radius = centre_of(self.centre, size)
        square = (((down - y) / radius) ** 2)[:, None] + (((across - x) / radius) ** 2)[None, :]
        gains = np.polynomial.polynomial.polyval(square, (1.0, *self.coefficients))
        return np.asarray(gains[..., None], np.float64)

    @property
    def extremes(self) -> tuple[float, float]:
        """The least and the largest gain in a picture."""
        along = np.polynomial.polynomial.polyval(np.linspace(0, 1, 257), (1.0, *self.coefficients))
        return float(along.min()), float(along.max())


@dataclass(frozen=True, slots=True, eq=False)
class MapTable:
    """A table of values at 0, 1, … of 65535; beyond its end the last one holds."""

    name: ClassVar[str] = "MapTable"
    area: Area
    table: NDArray[np.uint16]

    def apply(self, values: Float32, window: Window) -> None:
        """Look values up."""
        place = self.area.choose(window, values.shape[2]).place
        values[place] = self.curve(values[place])

    def curve(self, light: NDArray[np.floating]) -> NDArray[np.floating]:
        """What the table makes of values."""
        entry = np.clip(np.rint(light * _LAST_ENTRY), 0, len(self.table) - 1).astype(np.intp)
        return np.asarray(self.table[entry] / np.float64(_LAST_ENTRY), light.dtype)


@dataclass(frozen=True, slots=True)
class MapPolynomial:
    """A polynomial of values, the constant first; its results are cut at 0 and 1."""

    name: ClassVar[str] = "MapPolynomial"
    area: Area
    coefficients: tuple[float, ...]

    def apply(self, values: Float32, window: Window) -> None:
        """Take values by the polynomial."""
        place = self.area.choose(window, values.shape[2]).place
        values[place] = self.curve(values[place])

    def curve(self, light: NDArray[np.floating]) -> NDArray[np.floating]:
        """What the polynomial makes of values."""
        exact = np.polynomial.polynomial.polyval(light.astype(np.float64), self.coefficients)
        return np.asarray(np.clip(exact, 0, 1), light.dtype)


@dataclass(frozen=True, slots=True, eq=False)
class DeltaPerRow:
    """A number that is added to each row."""

    name: ClassVar[str] = "DeltaPerRow"
    area: Area
    rows: Float32

    def apply(self, values: Float32, window: Window) -> None:
        """Add the numbers."""
        chosen = self.area.choose(window, values.shape[2])
        values[chosen.place] += self.rows[chosen.row_numbers][:, None, None]


@dataclass(frozen=True, slots=True, eq=False)
class DeltaPerColumn:
    """A number that is added to each column."""

    name: ClassVar[str] = "DeltaPerColumn"
    area: Area
    columns: Float32

    def apply(self, values: Float32, window: Window) -> None:
        """Add the numbers."""
        chosen = self.area.choose(window, values.shape[2])
        values[chosen.place] += self.columns[chosen.column_numbers][None, :, None]


@dataclass(frozen=True, slots=True, eq=False)
class ScalePerRow:
    """A factor of each row."""

    name: ClassVar[str] = "ScalePerRow"
    area: Area
    rows: Float32

    def apply(self, values: Float32, window: Window) -> None:
        """Multiply by the factors."""
        chosen = self.area.choose(window, values.shape[2])
        values[chosen.place] *= self.rows[chosen.row_numbers][:, None, None]


@dataclass(frozen=True, slots=True, eq=False)
class ScalePerColumn:
    """A factor of each column."""

    name: ClassVar[str] = "ScalePerColumn"
    area: Area
    columns: Float32

    def apply(self, values: Float32, window: Window) -> None:
        """Multiply by the factors."""
        chosen = self.area.choose(window, values.shape[2])
        values[chosen.place] *= self.columns[chosen.column_numbers][None, :, None]


Gain: TypeAlias = GainMap | FixVignetteRadial
Curve: TypeAlias = MapTable | MapPolynomial
PixelOpcode: TypeAlias = Gain | Curve | DeltaPerRow | DeltaPerColumn | ScalePerRow | ScalePerColumn


def centre_of(centre: tuple[float, float], size: tuple[int, int]) -> tuple[float, float, float]:
    """Return x and y of a centre in pixels of an image, and how far its farthest corner lies from there."""
    (x, y), (height, width) = centre, size
    x, y = x * width, y * height
    return x, y, float(np.hypot(max(x, width - x), max(y, height - y)))


def _between(place: Float64, count: int) -> tuple[NDArray[np.intp], Float64]:
    """Return the point of a grid before each place, and how far it lies beyond, up to 1."""
    within = np.clip(place, 0, count - 1)
    first = np.minimum(within.astype(np.intp), max(count - 2, 0))
    return first, within - first
