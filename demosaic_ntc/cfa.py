"""Colour filter arrays: which of red, green and blue each pixel of a mosaic has measured.

Any periodic array of the three colours is one small matrix of channel numbers (0 red, 1 green, 2 blue):
the four Bayer phases (2×2, US patent 3971065), Fujifilm's X-Trans (6×6) and Quad-Bayer (4×4) have names;
any other array is written row by row, ``"RGB/GBR/BRG"``. A monochrome sensor has no array: its samples all
count as green, which is called MONO.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.choices import ArrayKind
from demosaic_ntc.errors import InputError

CHANNELS = "RGB"

BAYER_ROWS = {"RGGB": "RG/GB", "BGGR": "BG/GR", "GRBG": "GR/BG", "GBRG": "GB/RG"}
NAMED_ROWS = {
    **BAYER_ROWS,
    "XTRANS": "GBGGRG/RGRBGB/GBGGRG/GRGGBG/BGBRGR/GRGGBG",
    "QUAD_RGGB": "RRGG/RRGG/GGBB/GGBB",
    "QUAD_BGGR": "BBGG/BBGG/GGRR/GGRR",
    "QUAD_GRBG": "GGRR/GGRR/BBGG/BBGG",
    "QUAD_GBRG": "GGBB/GGBB/RRGG/RRGG",
    "MONO": "G",
}


_MONO = [[CHANNELS.index("G")]]


@dataclass(frozen=True, slots=True)
class Cfa:
    """A periodic colour filter array, kept as its smallest period; `pattern[0, 0]` is the top left pixel.

    Two arrays are equal when they measure the same channel everywhere.
    """

    pattern: NDArray[np.uint8] = field(compare=False)
    rows: str = field(init=False)  # the pattern as text that `parse` reads back
    period: tuple[int, int] = field(init=False, compare=False)  # its height and width
    is_bayer: bool = field(init=False, compare=False)  # whether it is one of the four phases of Bayer's
    is_mono: bool = field(init=False, compare=False)  # without colours: all samples measure the same light

    def __post_init__(self) -> None:
        """Check the pattern and reduce it to one period."""
        matrix = np.asarray(self.pattern)
        if matrix.ndim != 2 or matrix.size == 0 or not np.isin(matrix, (0, 1, 2)).all():
            raise InputError(
                "a colour array is a matrix of 0 (red), 1 (green), 2 (blue); give e.g. [[0, 1], [1, 2]]"
            )
        missing = [CHANNELS[channel] for channel in range(3) if channel not in matrix]
        if missing and matrix.tolist() != _MONO:
            raise InputError(f"the colour array never shows {' or '.join(missing)}; give one with R, G and B")
        reduced = _smallest_period(matrix.astype(np.uint8))
        reduced.setflags(write=False)
        rows = "/".join("".join(CHANNELS[channel] for channel in row) for row in reduced)
        known = {"pattern": reduced, "rows": rows, "period": reduced.shape, "is_mono": reduced.size == 1}
        for name, value in {**known, "is_bayer": rows in BAYER_ROWS.values()}.items():
            object.__setattr__(self, name, value)

    @classmethod
    def from_name(cls, name: str) -> "Cfa":
        """Return the array with a known name, e.g. ``RGGB``, ``X-Trans`` or ``quad-rggb``."""
        key = name.strip().upper().replace("-", "_").replace(" ", "_").replace("X_TRANS", "XTRANS")
        if key not in NAMED_ROWS:
            known = ", ".join(NAMED_ROWS)
            raise InputError(f"unknown colour array {name!r}; use {known} or rows such as RG/GB")
        return cls._from_rows(NAMED_ROWS[key])

    @classmethod
    def parse(cls, text: str) -> "Cfa":
        """Return the array a user wrote: a known name, or rows of the letters R, G, B separated by ``/``."""
        return cls._from_rows(text) if "/" in text or text.strip().upper() == "G" else cls.from_name(text)

    @classmethod
    def _from_rows(cls, text: str) -> "Cfa":
        """Return the array whose rows are written."""
        rows = [row.strip().upper() for row in text.split("/")]
        if len({len(row) for row in rows}) != 1 or not rows[0] or set("".join(rows)) - set(CHANNELS):
            raise InputError(f"colour array {text!r} is not rows of R, G, B of one length; write e.g. RG/GB")
        return cls(np.array([[CHANNELS.index(letter) for letter in row] for row in rows], dtype=np.uint8))

    @property
    def name(self) -> str:
        """The known name of this very phase, or its rows."""
        return next((name for name, rows in NAMED_ROWS.items() if rows == self.rows), self.rows)

    @property
    def kind(self) -> ArrayKind:
        """Bayer, without colours, or any other."""
        return "bayer" if self.is_bayer else "mono" if self.is_mono else "other"

    def shift(self, dy: int, dx: int) -> "Cfa":
        """Return the array of a crop whose top left pixel lies at row `dy` and column `dx`."""
        return Cfa(np.roll(self.pattern, (-dy, -dx), axis=(0, 1)))

    def transpose(self) -> "Cfa":
        """Return the array with rows and columns exchanged."""
        return Cfa(self.pattern.T)

    def channel_map(self, shape: tuple[int, ...]) -> NDArray[np.uint8]:
        """Return the channel number measured at each pixel of an image of this height and width."""
        height, width = self.check_shape(shape)
        down, across = self.period
        tiled = np.tile(self.pattern, (-(-height // down), -(-width // across)))
        return np.ascontiguousarray(tiled[:height, :width])

    def window(self, rows: slice, columns: slice) -> NDArray[np.uint8]:
        """Return the channel numbers in a window of an image, of any size; slices have their bounds."""
        down, across = self.period
        tall, wide = rows.stop - rows.start, columns.stop - columns.start
        pattern = np.roll(self.pattern, (-rows.start, -columns.start), axis=(0, 1))
        return np.tile(pattern, (-(-tall // down), -(-wide // across)))[:tall, :wide]

    def masks(self, shape: tuple[int, ...]) -> NDArray[np.bool_]:
        """Return height × width × 3 flags: which channel is measured where."""
        channels = self.channel_map(shape)
        masks = np.empty((*channels.shape, 3), np.bool_)
        for channel in range(3):
            np.equal(channels, channel, out=masks[..., channel])
        return masks

    def sample(self, picture: NDArray[Any]) -> NDArray[Any]:
        """Return the mosaic that this array measures of a height × width × 3 picture."""
        if picture.ndim != 3 or picture.shape[2] != 3:
            raise InputError(
                f"a picture of shape {picture.shape} is not height × width × 3; give an RGB array"
            )
        mosaic = np.empty(self.check_shape(picture.shape[:2]), picture.dtype)
        down, across = self.period
        for (i, j), channel in np.ndenumerate(self.pattern):
            mosaic[i::down, j::across] = picture[i::down, j::across, channel]
        return mosaic

    def replace_measured(self, picture: NDArray[Any], mosaic: NDArray[Any]) -> None:
        """Write the samples of a mosaic into their places in a height × width × 3 picture."""
        down, across = self.period
        for (i, j), channel in np.ndenumerate(self.pattern):
            picture[i::down, j::across, channel] = mosaic[i::down, j::across]

    def check_shape(self, shape: tuple[int, ...]) -> tuple[int, int]:
        """Return height and width, or raise when they are not two or do not hold one period."""
        if len(shape) != 2:
            raise InputError(f"a mosaic has two dimensions, not {len(shape)}; give height × width samples")
        if shape[0] < self.period[0] or shape[1] < self.period[1]:
            least = "×".join(map(str, self.period))
            raise InputError(
                f"a mosaic of {shape[0]}×{shape[1]} is smaller than one {least} period of {self.name}; "
                "give a larger one"
            )
        return shape[0], shape[1]

    def __repr__(self) -> str:
        """Show the name or the rows."""
        return f"Cfa({self.name})"


def make_cfa(cfa: Cfa | str) -> Cfa:
    """Return the colour array itself or the one its name or rows describe."""
    if isinstance(cfa, Cfa):
        return cfa
    if not isinstance(cfa, str):
        raise InputError(
            f"colour array {cfa!r} is not a name; give one such as 'RGGB', rows such as 'RG/GB', or a Cfa"
        )
    return Cfa.parse(cfa)


def _smallest_period(pattern: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Cut a pattern that repeats itself down to one period along both axes."""
    for axis in (0, 1):
        length = pattern.shape[axis]
        divisors = (step for step in range(1, length + 1) if length % step == 0)
        step = next(step for step in divisors if np.array_equal(np.roll(pattern, step, axis), pattern))
        pattern = np.take(pattern, range(step), axis)
    return np.ascontiguousarray(pattern)
