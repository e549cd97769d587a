"""Pictures of which every entry was measured: their samples, and their estimate in few bytes."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.arrays import Float32, Planes
from demosaic_ntc.demosaicing.quantised_planes import Codes, Quantiser
from demosaic_ntc.engine.tiles import Windowed, row_bands


@dataclass(frozen=True, slots=True, eq=False)
class PlaneSamples:
    """Planes with full scale 1, stored as numbers of 16 bits with a table of values for each plane."""

    stored: NDArray[Any]  # (height, width, planes)
    tables: tuple[Float32, ...]

    @property
    def shape(self) -> tuple[int, int, int]:
        """Planes, height and width."""
        height, width, planes = self.stored.shape
        return planes, height, width

    @property
    def size(self) -> int:
        """How many samples there are."""
        return int(self.stored.size)

    def __getitem__(self, place: tuple[slice, slice, slice], /) -> Planes:
        """Return a window, (planes, rows, columns)."""
        part = self.stored[place[1:]]
        tables = enumerate(self.tables[place[0]])
        return np.stack([np.take(table, part[..., plane]) for plane, table in tables])

    def whole(self) -> Float32:
        """Return all values, (height, width, planes)."""
        values = np.empty(self.stored.shape, np.float32)
        for plane, table in enumerate(self.tables):
            np.take(table, self.stored[..., plane], out=values[..., plane], mode="clip")
        return values


@dataclass(frozen=True, slots=True, eq=False)
class CodedPlanes:
    """A picture, (planes, height, width), as codes of 16 bits that are read and written window by window."""

    codes: Codes
    steps: Quantiser

    @classmethod
    def of(cls, samples: Windowed) -> "CodedPlanes":
        """Return a picture that is as the samples are."""
        low, high = extremes_of(samples)
        picture = cls(
            np.empty(samples.shape, np.uint16), Quantiser.from_range(float(low.min()), float(high.max()))
        )
        for rows in row_bands(samples.shape[1]):
            picture[:, rows, :] = samples[:, rows, :]
        return picture

    @property
    def shape(self) -> tuple[int, ...]:
        """Planes, height and width."""
        return self.codes.shape

    @property
    def size(self) -> int:
        """How many entries there are."""
        return int(self.codes.size)

    def __getitem__(self, place: tuple[slice, slice, slice], /) -> Planes:
        """Return a window of all planes."""
        return self.steps.values(self.codes[place])

    def __setitem__(self, place: tuple[slice, slice, slice], values: Planes, /) -> None:
        """Write a window of all planes."""
        self.codes[place] = self.steps.encode(values)


def extremes_of(samples: Windowed) -> tuple[Float32, Float32]:
    """Return the least and the largest value of each plane."""
    parts = [samples[:, rows, :] for rows in row_bands(samples.shape[1])]
    low = np.min([part.min(axis=(1, 2)) for part in parts], axis=0)
    high = np.max([part.max(axis=(1, 2)) for part in parts], axis=0)
    return np.asarray(low, np.float32), np.asarray(high, np.float32)
