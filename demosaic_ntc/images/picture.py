"""A picture, read from a file or finished: its pixels, and everything around them that a file says."""

import struct
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.arrays import Float32
from demosaic_ntc.images.png_writing import PngChunks
from demosaic_ntc.io.exif import ORIENTATION, Exif, Fields, exif_block, orientation_in, read_exif
from demosaic_ntc.io.header import FileKind
from demosaic_ntc.io.pixels import ImageLike
from demosaic_ntc.io.tiff_tags import SHORT, Field, number, read_block

FULL = 255

_THUMBNAIL_PLACE, _THUMBNAIL_LENGTH = 513, 514
_STRIP_PLACES, _STRIP_LENGTHS = 273, 279

_BLOCK = 1 << 14  # pixels compared with a palette at a time


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
class DecodedImage:
    """Colours (height × width, or × 3) and alpha in the depth of a file, and what describes them.

    One that was read is as its file stores it, not turned upright. A finished one comes from no file; its
    colours may be made as their rows are read.
    """

    colours: ImageLike
    alpha: NDArray[Any] | None = None
    indexed: Indexed | None = None  # then colours are what the numbers stand for
    kind: FileKind | None = None  # of the file it was read from
    profile: bytes | None = None
    exif: Exif = field(default_factory=Exif)
    carried: bytes | None = None  # the block of EXIF that its PNG or JPEG had
    orientation: int = 1
    xmp: bytes | None = None  # the packet of a finished picture
    errors: Float32 | None = None  # deviations of its values, where they are to be a part of its file
    own: PngChunks | JpegForm | TiffOrigin | None = None  # for a target in the same format
    notices: tuple[str, ...] = ()

    @property
    def pixels(self) -> NDArray[Any]:
        """The colours in memory; those of a picture that is made as it is read are computed."""
        return np.asarray(self.colours)

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

    @property
    def format(self) -> str | None:
        """The name of the format it was read from."""
        return None if self.kind is None else self.kind.value

    @property
    def block(self) -> bytes | None:
        """The metadata as most formats carry it; None where there is nothing to say."""
        if self.carried is not None:
            return self.carried
        if not self.exif and self.orientation == 1:
            return None
        turned = {**self.exif.image, ORIENTATION: Field(SHORT, (self.orientation,))}
        return exif_block(replace(self.exif, image=turned))


def read_carried(block: bytes | None) -> tuple[Exif, int]:
    """What a block of EXIF says: the fields we keep, and the orientation; upright where there is none."""
    if not block:
        return Exif(), 1
    tags = read_block(block)
    return read_exif(tags), orientation_in(tags.first())


def strip_thumbnail(block: bytes) -> bytes:
    """A block of EXIF with its second directory unlinked and the picture it points to blanked.

    A repaired picture that still shows the damage, or what was removed, in its thumbnail betrays its user.
    """
    order = {b"II": "<", b"MM": ">"}.get(block[:2])
    if order is None or len(block) < 10:
        return block
    first = struct.unpack_from(order + "L", block, 4)[0]
    if first + 2 > len(block):
        return block
    link = first + 2 + 12 * struct.unpack_from(order + "H", block, first)[0]
    if link + 4 > len(block):
        return block
    second = struct.unpack_from(order + "L", block, link)[0]
    blanked = bytearray(block)
    blanked[link : link + 4] = bytes(4)
    directory = read_block(block).directory(second)
    for place_tag, length_tag in ((_THUMBNAIL_PLACE, _THUMBNAIL_LENGTH), (_STRIP_PLACES, _STRIP_LENGTHS)):
        place, length = number(directory, place_tag), number(directory, length_tag)
        stop = min(place + length, len(blanked))
        if 8 <= place < stop:
            blanked[place:stop] = bytes(stop - place)
    return bytes(blanked)


def apply_palette(picture: DecodedImage) -> DecodedImage:
    """The picture in colours: numbers of a palette cannot become opaque one by one."""
    if picture.indexed is None or picture.indexed.palette.alpha is None:
        return picture
    remark = "the palette, whose entries are transparent or not, was expanded to colours"
    return replace(picture, indexed=None, own=None, notices=(*picture.notices, remark))


def replace_missing(picture: DecodedImage, colours: NDArray[Any], missing: NDArray[np.bool_]) -> DecodedImage:
    """The picture with other colours where they were missing; palettes give the nearest they have."""
    if picture.indexed is None:
        return replace(picture, colours=colours)
    numbers, palette = picture.indexed.numbers.copy(), picture.indexed.palette
    numbers[missing] = _nearest(palette, colours[missing], numbers[missing])
    indexed = Indexed(numbers, palette)
    return replace(picture, colours=expanded(indexed), indexed=indexed)


def made_opaque(picture: DecodedImage, missing: NDArray[np.bool_]) -> DecodedImage:
    """The picture with no transparency where it was repaired."""
    if picture.alpha is None:
        return picture
    largest = 1 if picture.alpha.dtype.kind == "f" else np.iinfo(picture.alpha.dtype).max
    return replace(picture, alpha=np.where(missing, largest, picture.alpha).astype(picture.alpha.dtype))


def _nearest(palette: Palette, colours: NDArray[Any], numbers: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The entries closest to the colours, among those as transparent as the ones they replace."""
    alpha = np.zeros(len(palette.colours)) if palette.alpha is None else palette.alpha
    chosen = np.empty_like(numbers)
    for value in np.unique(alpha[numbers]):
        entries, pixels = np.flatnonzero(alpha == value), np.flatnonzero(alpha[numbers] == value)
        for start in range(0, pixels.size, _BLOCK):
            block = pixels[start : start + _BLOCK]
            chosen[block] = entries[_closest(colours[block], palette.colours[entries])]
    return chosen


def _closest(colours: NDArray[Any], entries: NDArray[np.uint8]) -> NDArray[np.intp]:
    """For each colour the entry at the smallest Euclidean distance."""
    pixels = colours.reshape(len(colours), 1, -1).astype(np.float32)
    distances = np.square(pixels - entries.reshape(1, len(entries), -1)).sum(axis=2)
    return np.asarray(distances.argmin(axis=1))
