"""Raw files by LibRaw: decoded behind header checks, with everything needed to develop them.

LibRaw's answers are checked where they are known to mislead: colour arrays that it does not know come
back as wrong ones, large black patterns as their minimum, and its arrays point into memory that it frees.
"""

import io
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

import numpy as np
import rawpy
from numpy.typing import NDArray

from demosaic_ntc.errors import InputError, NotAnImage, TooLarge, Truncated, Unsupported, damage_explained
from demosaic_ntc.io.exif import ORIENTATION, Exif, photo_fields, read_jpeg_exif
from demosaic_ntc.io.header import FileHeader, FileKind, check_pixels
from demosaic_ntc.io.tiff_tags import Directory, numbers
from demosaic_ntc.raw.c_stderr import capture_c_stderr
from demosaic_ntc.raw.camera_matrix import camera_matrix
from demosaic_ntc.raw.checks import (
    check_black_pattern,
    looks_like_photo,
    refuse_picture,
    refuse_unknown_header,
)
from demosaic_ntc.raw.dng.colours import read_colours
from demosaic_ntc.raw.noise import noise_profile
from demosaic_ntc.raw.opcodes.lists import StatedOpcodes, read_stated
from demosaic_ntc.raw.photo import (
    GREEN,
    LINEAR,
    MONO,
    NO_MATRIX,
    SECOND_GREEN,
    Box,
    Mosaic,
    Multipliers,
    RawPhoto,
)
from demosaic_ntc.raw.preview import Preview

_CFA_DIMENSIONS, _CFA_PATTERN, _CFA_COLOURS = 33421, 33422, 50710
_BLACK_DIMENSIONS, _BLACK, _ACTIVE_AREA = 50713, 50714, 50829

# LibRaw's flips 0..7 (1 mirrors, 2 turns upside down, 4 transposes) as orientations of EXIF.
_ORIENTATIONS = (1, 2, 4, 3, 5, 8, 6, 7)

# A date before digital cameras is LibRaw's way of saying that there is none.
_OLDEST_YEAR = 1980

_BY_LENGTH = (
    "no header: taken for a raw by its length alone; "
    "give `width` `height` `bits` `cfa` if the picture is wrong"
)


def decode_raw(header: FileHeader, exif: Exif) -> RawPhoto:
    """Decode a raw, whose header was checked, of any camera that LibRaw knows."""
    complaints, data = list[str](), header.read()
    tags = header.mosaic_tags if header.is_dng else {}
    with open_libraw(header, data, complaints) as raw:
        check_pixels(raw.sizes.raw_width, raw.sizes.raw_height, header.limits)
        preview = extract_preview(raw)  # before `unpack`, after which rawpy no longer holds the buffer
        raw.unpack()
        by_length = header.kind is FileKind.UNKNOWN and _is_known_by_length(data)
        if by_length and not (raw.raw_type == rawpy.RawType.Flat and looks_like_photo(raw.raw_image_visible)):
            raise refuse_unknown_header()
        photo = _photo(raw, _complete_exif(raw, exif, preview), tags, is_dng=header.is_dng)
        orientation = orientation_of(raw, header)
    stated = read_colours(header) if header.is_dng else {}
    notices = (*photo.notices, *_complaint_notice(complaints), *((_BY_LENGTH,) if by_length else ()))
    return replace(photo, orientation=orientation, preview=preview, stated=stated, notices=notices)


def orientation_of(raw: Any, header: FileHeader) -> int:
    """The orientation as in EXIF; upright for DNGs that state none of the eight, which LibRaw would turn."""
    stated = numbers(header.tags.first(), ORIENTATION) if header.is_dng else ()
    return 1 if stated and stated[0] not in range(1, 9) else _ORIENTATIONS[raw.sizes.flip & 7]


def _is_known_by_length(data: bytes) -> bool:
    """Whether LibRaw recognises a file by its length alone: with one more byte it no longer does."""
    longer = _Buffer(data + b"\0")
    try:
        with rawpy.RawPy() as raw:
            raw.open_buffer(longer)
    except rawpy.LibRawError:
        return True
    return False


def complete_from_header(header: FileHeader, exif: Exif) -> Exif:
    """The metadata of a raw, completed as `decode_raw` does by what LibRaw reads in its header."""
    with suppress(InputError), open_libraw(header, header.read(), []) as raw:
        return _complete_exif(raw, exif, extract_preview(raw))
    return exif


def read_preview(header: FileHeader) -> Preview | None:
    """The picture a camera stored in its raw; None where there is none that can be read."""
    with suppress(InputError), open_libraw(header, header.read(), []) as raw:
        return extract_preview(raw)
    return None


class _Buffer(io.BytesIO):
    """The bytes of a file for LibRaw, which reads from them as long as it is open, whatever rawpy holds."""

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self._data = data

    def read(self, _size: int | None = -1, /) -> bytes:
        """Return the bytes themselves, no copy."""
        return self._data


@contextmanager
def open_libraw(header: FileHeader, data: bytes, complaints: list[str]) -> Iterator[Any]:
    """Open the bytes of a raw with LibRaw, for as long as the block runs; its errors become ours."""
    buffer = _Buffer(data)
    try:
        with capture_c_stderr(complaints), rawpy.RawPy() as raw:
            raw.open_buffer(buffer)
            yield raw
    except rawpy.LibRawError as error:
        raise _explain(header, error) from error
    except Exception:
        with damage_explained("raw"):
            raise


def extract_preview(raw: Any) -> Preview | None:
    """The camera's own picture, a copy; None where there is none of a kind that is known."""
    with suppress(rawpy.LibRawError):
        found = raw.extract_thumb()
        return found.data if isinstance(found.data, bytes) else np.array(found.data)
    return None


def _explain(header: FileHeader, error: Exception) -> InputError | MemoryError:
    """What an error of LibRaw's means."""
    match error:
        case rawpy.LibRawUnsufficientMemoryError():
            return MemoryError()
        case _ if header.kind is FileKind.UNKNOWN:
            return refuse_unknown_header()
        case rawpy.LibRawTooBigError():
            return TooLarge("too large for the decoder; give a smaller raw")
        case rawpy.LibRawFileUnsupportedError() | rawpy.LibRawNotImplementedError():
            if header.picture_kind is not None:
                return refuse_picture(header.picture_kind)
            return NotAnImage(
                "is not a raw that LibRaw knows, or is truncated or damaged; convert it to uncompressed DNG"
            )
        case _:
            words = error.args[0] if error.args else type(error).__name__
            reason = words.decode("ascii", "replace") if isinstance(words, bytes) else str(words)
            return Truncated(f"truncated or damaged ({reason}); copy it again from its source")


def _photo(raw: Any, exif: Exif, dng_tags: Directory, *, is_dng: bool) -> RawPhoto:
    """Everything of an unpacked raw; nothing in it points into LibRaw's memory."""
    channels = _channels(raw, dng_tags)
    seen = raw.raw_image_visible[..., :3] if channels.ndim == 3 else raw.raw_image_visible
    mosaic: Mosaic = np.array(seen, dtype=np.uint16, order="C")
    is_mono = channels is MONO
    black, white = _black(raw, channels, dng_tags), float(raw.white_level)
    noise, unused = noise_profile(dng_tags)
    ratio = raw.sizes.pixel_aspect
    squeezed = f"pixels are not square (ratio {ratio:g}); the picture is not stretched"
    return RawPhoto(
        mosaic=mosaic,
        channels=channels,
        black=black,
        white=white,
        camera_balance=None if is_mono else multipliers(raw.camera_whitebalance),
        daylight_balance=None if is_mono else multipliers(raw.daylight_whitebalance),
        camera_crop=_camera_crop(raw.sizes),
        exif=exif,
        noise=noise,
        opcodes=_read_opcodes(raw.sizes, dng_tags, mosaic),
        notices=(*((squeezed,) if ratio != 1 else ()), *unused),
        # Last: it may overwrite the samples.
        matrix=NO_MATRIX if is_mono else camera_matrix(raw, channels, is_dng=is_dng),
    )


def _read_opcodes(sizes: Any, tags: Directory, mosaic: Mosaic) -> StatedOpcodes:
    """What a DNG asks to be done to the samples of a mosaic, or of a linear raw."""
    return read_stated(
        tags,
        (sizes.raw_height, sizes.raw_width),
        (sizes.top_margin, sizes.left_margin),
        (mosaic.shape[0], mosaic.shape[1]),
        mosaic.shape[2] if mosaic.ndim == 3 else 1,
    )


def _channels(raw: Any, dng_tags: Directory) -> NDArray[np.uint8]:
    """One period of the colour array at the top left of the visible area, or an error for other sensors."""
    try:
        pattern = raw.raw_pattern  # only its shape is used; None where there is none
    except NotImplementedError as error:
        raise Unsupported("unsupported colour filter array; only Bayer and X-Trans are read") from error
    if raw.num_colors == 1 and raw.raw_type == rawpy.RawType.Flat:
        return MONO
    if raw.num_colors != 3 or raw.color_desc not in (b"RGBG", b"RGB\0", b"RGB"):
        filters = raw.color_desc.decode("ascii", "replace")
        raise Unsupported(f"unsupported colour filters {filters}; only red, green and blue are known")
    if raw.raw_type == rawpy.RawType.Stack:
        return LINEAR
    if pattern is None:
        raise Unsupported("has no colour filter array that LibRaw knows; convert it to a DNG")
    period = 6 if pattern.shape == (6, 6) else 2
    top, left = raw.sizes.top_margin, raw.sizes.left_margin
    # Asked sample by sample: LibRaw's own pattern array is wrong for X-Trans with margins above 6.
    rows = [[raw.raw_color(top + y, left + x) for x in range(period)] for y in range(period)]
    channels = np.array(rows, dtype=np.uint8)
    if not _is_known_array(channels) or not _agrees_with_tags(channels, dng_tags, top, left):
        raise Unsupported("unsupported colour filter array; only Bayer and X-Trans are read")
    return channels


def _is_known_array(channels: NDArray[np.uint8]) -> bool:
    """Whether this is a Bayer phase, or has the 8 red, 20 green and 8 blue sites of X-Trans."""
    colours = np.where(channels == SECOND_GREEN, GREEN, channels)
    counts = tuple(int((colours == colour).sum()) for colour in range(3))
    if channels.shape == (6, 6):
        return counts == (8, 20, 8)
    diagonal_greens = bool(colours[0, 0] == colours[1, 1] == GREEN or colours[0, 1] == colours[1, 0] == GREEN)
    return counts == (1, 2, 1) and diagonal_greens


def _agrees_with_tags(channels: NDArray[np.uint8], tags: Directory, top: int, left: int) -> bool:
    """Whether a DNG's own tags give the same array; LibRaw reads 3×3 and 4×4 arrays as wrong ones."""
    dimensions = tuple(int(n) for n in numbers(tags, _CFA_DIMENSIONS))
    pattern = numbers(tags, _CFA_PATTERN)
    if not pattern or numbers(tags, _CFA_COLOURS) not in ((), (0, 1, 2)):
        return True
    if dimensions != channels.shape or len(pattern) != channels.size:
        return False
    stored = np.array([int(colour) for colour in pattern]).reshape(dimensions)
    shifted = np.roll(stored, _offset_in_active_area(tags, top, left), axis=(0, 1))
    return np.array_equal(shifted, np.where(channels == SECOND_GREEN, GREEN, channels))


def _offset_in_active_area(tags: Directory, top: int, left: int) -> tuple[int, int]:
    """How far to roll a pattern anchored at the active area so that it starts at the visible area."""
    area = numbers(tags, _ACTIVE_AREA) or (0, 0)
    return int(area[0]) - top, int(area[1]) - left


def _black(raw: Any, channels: NDArray[np.uint8], tags: Directory) -> NDArray[np.float64]:
    """One period of black levels; LibRaw tells only the least of a pattern larger than 2×2."""
    by_channel = np.asarray(raw.black_level_per_channel, dtype=np.float64)
    dimensions = tuple(int(n) for n in numbers(tags, _BLACK_DIMENSIONS)) or (1, 1)
    levels = numbers(tags, _BLACK)
    check_black_pattern(*dimensions[:2])
    if max(dimensions) <= 2 or len(levels) != dimensions[0] * dimensions[1]:
        return by_channel[channels]
    stored = np.array([float(level) for level in levels]).reshape(dimensions)
    offset = _offset_in_active_area(tags, raw.sizes.top_margin, raw.sizes.left_margin)
    return np.roll(stored - stored.min() + by_channel.min(), offset, axis=(0, 1))


def multipliers(stored: Any) -> Multipliers | None:
    """A white balance as LibRaw stores it, made complete; None where the camera gave none."""
    red, green, blue, second_green = (float(value) for value in stored)
    if red <= 1e-5 or blue <= 1e-5:
        return None
    green = green or 1.0
    return red, green, blue, second_green or green


def _camera_crop(sizes: Any) -> Box | None:
    """The area the camera itself would show, within the visible area; None where it says nothing usable."""
    top, left = sizes.crop_top_margin - sizes.top_margin, sizes.crop_left_margin - sizes.left_margin
    height = min(sizes.crop_height, sizes.height - top)
    width = min(sizes.crop_width, sizes.width - left)
    usable = sizes.crop_width > 0 and sizes.crop_height > 0 and min(top, left) >= 0 and min(height, width) > 0
    return Box(top, left, height, width) if usable else None


def _complete_exif(raw: Any, exif: Exif, preview: Preview | None) -> Exif:
    """The file's own metadata; what it lacks from its preview, then from what LibRaw found."""
    if not exif.image and isinstance(preview, bytes):
        exif = read_jpeg_exif(preview)
    other = raw.other
    found = photo_fields(
        iso=other.iso_speed,
        exposure=other.shutter_speed,
        aperture=other.aperture,
        focal_length=other.focal_length,
        taken=other.timestamp if other.timestamp.year > _OLDEST_YEAR else None,
        lens_make=raw.lens.make,
        lens_model=raw.lens.model,
    )
    return replace(exif, photo={**found, **exif.photo})


def _complaint_notice(complaints: list[str]) -> Iterator[str]:
    """What LibRaw or its libjpeg printed of a file that they decoded all the same."""
    if complaints:
        complaint = complaints[0].removeprefix("unknown file: ")
        yield f"the decoder complains ({complaint}); the file may be damaged"
