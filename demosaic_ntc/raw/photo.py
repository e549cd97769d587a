"""A decoded photo: the samples of a sensor and everything it takes to develop them."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.cfa import Cfa
from demosaic_ntc.choices import Crop
from demosaic_ntc.demosaicing.noise import NoiseModel
from demosaic_ntc.io.exif import Exif, Fields
from demosaic_ntc.raw.opcodes.lists import StatedOpcodes
from demosaic_ntc.raw.preview import Preview

Mosaic = NDArray[np.uint16]
Multipliers = tuple[float, float, float, float]

RED, GREEN, BLUE, SECOND_GREEN = range(4)
UNBALANCED: Multipliers = (1.0, 1.0, 1.0, 1.0)

#: One period of a linear raw and of a monochrome one.
LINEAR: NDArray[np.uint8] = np.arange(3, dtype=np.uint8).reshape(1, 1, 3)
MONO: NDArray[np.uint8] = np.full((1, 1), GREEN, np.uint8)


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle of pixels."""

    top: int
    left: int
    height: int
    width: int


@dataclass(frozen=True, slots=True)
class CameraMatrix:
    """Takes balanced camera colours to linear sRGB; its rows sum to one, so neutral stays neutral."""

    to_srgb: NDArray[np.float64]
    source: str


NO_MATRIX = CameraMatrix(np.eye(3), "none")


@dataclass(frozen=True, slots=True, repr=False, eq=False, weakref_slot=True)
class RawPhoto:
    """The visible area of a sensor, with its levels, colours and orientation.

    `channels` and `black` are one period each, anchored at the top left sample. Channels are 0 red,
    1 green, 2 blue and 3 for the green of the other rows, which may have a level and gain of its own.
    A linear raw has all three colours at every pixel: its samples are (height, width, 3), and the periods
    (1, 1, 3). Of a monochrome one all samples count as green.
    """

    mosaic: Mosaic
    channels: NDArray[np.uint8]
    black: NDArray[np.float64]
    white: float
    camera_balance: Multipliers | None = None
    daylight_balance: Multipliers | None = None
    is_plain: bool = False  # a mosaic without a camera: nothing about its levels or balance is guessed
    matrix: CameraMatrix = NO_MATRIX
    orientation: int = 1  # as in EXIF
    camera_crop: Box | None = None
    exif: Exif = field(default_factory=Exif)
    xmp: bytes | None = None  # the packet as it is stored
    noise: NoiseModel | None = None  # as the file states it; its light is 0 at black and 1 at white
    is_denoised: bool = False  # as the file states it
    stated: Fields = field(default_factory=dict)  # what a DNG says of its camera's colours
    opcodes: StatedOpcodes = field(default_factory=StatedOpcodes)  # what a DNG asks to be done
    notices: tuple[str, ...] = ()
    preview: Preview | None = None  # the camera's own picture
    isolated: bool = False  # whether it was decoded in a process apart, as its preview is to be

    def __repr__(self) -> str:
        """Show what it is, not its samples."""
        camera = f"{self.exif.camera}, " if self.exif.camera else ""
        return f"RawPhoto({camera}{self.size[1]}×{self.size[0]}, {self.array_name}, white {self.white:g})"

    @property
    def light(self) -> NDArray[np.float32]:
        """The samples above black, 1 at white, as they lie; noise below black is below zero."""
        height, width = self.size
        black = _repeat_period(self.black, height, width)
        lifted = self.mosaic - black[:height, :width].astype(np.float32)
        return np.asarray(lifted / np.float32(self.span), dtype=np.float32)

    @property
    def span(self) -> float:
        """How far white lies above the lowest black level, which is what light is scaled by, as in LibRaw.

        What is told of noise goes by the mean black level; see `raw.noise.span_of`.
        """
        return self.white - float(self.black.min())

    @property
    def blacks(self) -> NDArray[np.float32]:
        """The mean black level of red, green and blue."""
        sites = self.sites
        colours = np.where(sites.channels == SECOND_GREEN, GREEN, sites.channels)
        return np.array([sites.black[colours == colour].mean() for colour in range(3)], dtype=np.float32)

    @property
    def cfa(self) -> Cfa | None:
        """The colour array, in which both greens are one; None of a linear raw, which has none."""
        if self.is_linear:
            return None
        return Cfa(np.where(self.channels == SECOND_GREEN, GREEN, self.channels).astype(np.uint8))

    @property
    def array_name(self) -> str:
        """The name of the colour array, or ``linear``."""
        return "linear" if self.cfa is None else self.cfa.name

    @property
    def is_linear(self) -> bool:
        """Whether every pixel has all colours."""
        return self.mosaic.ndim == 3

    @property
    def is_monochrome(self) -> bool:
        """Whether no pixel has a colour."""
        return self.cfa is not None and self.cfa.is_mono

    @property
    def size(self) -> tuple[int, int]:
        """Height and width of the visible area."""
        return self.mosaic.shape[0], self.mosaic.shape[1]

    def frame(self, crop: Crop | None) -> Box:
        """The part that a picture keeps: the camera's own crop where it is stated, or all that is visible."""
        whole = Box(0, 0, *self.size)
        return whole if crop == "visible" else self.camera_crop or whole

    @property
    def sites(self) -> "Sites":
        """Channel and black level of every site of the smallest period that holds both."""
        height = np.lcm(self.channels.shape[0], self.black.shape[0])
        width = np.lcm(self.channels.shape[1], self.black.shape[1])
        return Sites(_repeat_period(self.channels, height, width), _repeat_period(self.black, height, width))


@dataclass(frozen=True, slots=True)
class Sites:
    """One period of a sensor: what each of its sites measures, and what it reads in the dark.

    Of a linear raw the planes are sites, too.
    """

    channels: NDArray[np.uint8]
    black: NDArray[np.float64]

    @property
    def period(self) -> tuple[int, int]:
        """Height and width of the period."""
        return self.channels.shape[0], self.channels.shape[1]


def place_of(site: tuple[int, ...], period: tuple[int, ...]) -> tuple[slice | int, ...]:
    """The index of all samples of a site: every n-th row and column, and the plane of a linear raw."""
    down, across = (slice(first, None, step) for first, step in zip(site[:2], period[:2], strict=True))
    return down, across, *site[2:]


def _repeat_period(period: NDArray[Any], height: int, width: int) -> NDArray[Any]:
    """A period repeated until it covers a size."""
    repeats = (-(-height // period.shape[0]), -(-width // period.shape[1]), 1)
    return np.tile(period, repeats[: period.ndim])
