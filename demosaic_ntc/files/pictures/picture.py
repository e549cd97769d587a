"""A picture file as it is stored: its pixels, and everything around them that a repair must not lose."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.files.metadata import Exif, Fields
from demosaic_ntc.files.pictures.png_writing import PngChunks
from demosaic_ntc.files.sniff import Kind

FULL = 255


@dataclass(frozen=True, slots=True)
class Palette:
    """The colours that numbers stand for: of a palette, or the grey levels of fewer than eight bits."""

    colours: NDArray[np.uint8]  # (entries, 3), or (entries,) for grey
    alpha: NDArray[np.uint8] | None  # (entries,)
    bits: int  # of a number in the file

    @classmethod
    def of_grey(cls, bits: int, *, white_is_zero: bool = False) -> "Palette":
        """The levels from black to white, or from white to black, at equal steps."""
        levels = np.rint(np.linspace(0, FULL, 2**bits)).astype(np.uint8)
        return cls(levels[::-1].copy() if white_is_zero else levels, None, bits)

    @property
    def is_grey(self) -> bool:
        """Whether the entries are levels, not colours."""
        return self.colours.ndim == 1


@dataclass(frozen=True, slots=True)
class Indexed:
    """Numbers instead of colours, and what they stand for."""

    numbers: NDArray[np.uint8]
    palette: Palette


def expanded(indexed: Indexed) -> NDArray[np.uint8]:
    """The colours that numbers stand for."""
    return indexed.palette.colours[indexed.numbers]


@dataclass(frozen=True, slots=True)
class JpegForm:
    """How a JPEG is coded, so that coding it again changes as little as possible."""

    segments: bytes  # metadata and profile, whole segments
    tables: dict[int, list[int]]
    sampling: int
    progressive: bool


@dataclass(frozen=True, slots=True)
class TiffOrigin:
    """What only TIFF says: the meaning of black, the kinds of further channels, and tags to be kept."""

    photometric: int
    extra: tuple[int, ...]
    fields: Fields


@dataclass(frozen=True, slots=True)
class StoredPicture:
    """Colours (height × width, or × 3) and alpha in the depth of their file, not turned upright."""

    kind: Kind
    colours: NDArray[Any]
    alpha: NDArray[Any] | None = None
    indexed: Indexed | None = None  # then colours are what the numbers stand for
    profile: bytes | None = None
    exif: Exif = field(default_factory=Exif)
    exif_block: bytes | None = None  # as PNG and JPEG carry it
    orientation: int = 1
    own: PngChunks | JpegForm | TiffOrigin | None = None  # for a target in the same format
    notices: tuple[str, ...] = ()

    @property
    def size(self) -> tuple[int, int]:
        """Height and width as stored."""
        return self.colours.shape[0], self.colours.shape[1]

    @property
    def depth(self) -> str:
        """The depth of a channel in words."""
        kinds = {"f": "floating-point", "i": "signed"}
        prefix = kinds.get(self.colours.dtype.kind, "")
        return f"{prefix} {8 * self.colours.itemsize}-bit".strip()


def without_palette(picture: StoredPicture) -> StoredPicture:
    """The picture in colours: numbers of a palette cannot become opaque one by one."""
    if picture.indexed is None or picture.indexed.palette.alpha is None:
        return picture
    remark = "the palette, whose entries are transparent or not, was expanded to colours"
    return replace(picture, indexed=None, own=None, notices=(*picture.notices, remark))
