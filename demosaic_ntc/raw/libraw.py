"""Raw files by LibRaw: decoded behind header checks, with everything needed to develop them.

LibRaw's answers are checked where they are known to mislead: colour arrays that it does not know come
back as wrong ones, large black patterns as their minimum, and its arrays point into memory that it frees.
"""

import io
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any, BinaryIO

import numpy as np
import rawpy
from numpy.typing import NDArray

from demosaic_ntc.demosaicing.noise import middle
from demosaic_ntc.errors import InputError, NotAnImage, TooLarge, Truncated, Unsupported
from demosaic_ntc.io.error_boundary import damage_explained
from demosaic_ntc.io.exif import Exif, photo_fields, read_jpeg_exif
from demosaic_ntc.io.identify import (
    FileKind,
    InputLimits,
    check_directory,
    check_is_complete,
    check_is_raw,
    check_pixels,
    is_dng,
    is_linear,
    kind_of,
    main_directory,
    picture_kind,
    refuse_unknown_header,
)
from demosaic_ntc.io.tiff_tags import Directory, numbers
from demosaic_ntc.raw.c_stderr import capture_c_stderr
from demosaic_ntc.raw.camera_matrix import camera_matrix
from demosaic_ntc.raw.containers import read_raw_exif
from demosaic_ntc.raw.dng.colours import colour_standin, read_colours
from demosaic_ntc.raw.dng.linear_reading import camera_crop, check_linear, read_linear
from demosaic_ntc.raw.dng.noise_profile import is_denoised, noise_profile
from demosaic_ntc.raw.photo import (
    GREEN,
    NO_MATRIX,
    SECOND_GREEN,
    Box,
    Mosaic,
    Multipliers,
    RawPhoto,
)
from demosaic_ntc.raw.plausible import looks_like_photo
from demosaic_ntc.raw.preview import Preview

_CFA_DIMENSIONS, _CFA_PATTERN, _CFA_COLOURS = 33421, 33422, 50710
_BLACK_DIMENSIONS, _BLACK, _ACTIVE_AREA = 50713, 50714, 50829

# One period of a linear raw and of a monochrome one.
_LINEAR: NDArray[np.uint8] = np.arange(3, dtype=np.uint8).reshape(1, 1, 3)
_MONO: NDArray[np.uint8] = np.full((1, 1), GREEN, np.uint8)

# LibRaw's flips 0..7 (1 mirrors, 2 turns upside down, 4 transposes) as orientations of EXIF.
_ORIENTATIONS = (1, 2, 4, 3, 5, 8, 6, 7)

# A date before digital cameras is LibRaw's way of saying that there is none.
_OLDEST_YEAR = 1980

# From this share of constant rows on, a file is probably damaged: cameras have noise in every row.
_SUSPICIOUS_ROWS = 0.05

_BY_LENGTH = (
    "no header: taken for a raw by its length alone; "
    "give `width` `height` `bits` `cfa` if the picture is wrong"
)

# The two greens of a sensor differ by a percent; from this ratio on, one of them is no green.
_SUSPICIOUS_GREENS = 1.1


def read_raw(file: BinaryIO, limits: InputLimits) -> RawPhoto:
    """Decode a raw file of any camera that LibRaw knows, or a linear DNG."""
    check_is_raw(file)
    tags = main_directory(file) or {}
    if tags:
        check_directory(tags, limits)
    check_is_complete(file)
    exif = read_raw_exif(file)
    dng = is_dng(file)
    if dng and is_linear(tags):
        check_linear(tags)
        return _linear_photo(file, tags, exif)
    complaints: list[str] = []
    with _opened(file, complaints) as raw:
        check_pixels(raw.sizes.raw_width, raw.sizes.raw_height, limits)
        preview = _extract_preview(raw)  # before `unpack`, after which rawpy no longer holds the buffer
        raw.unpack()
        by_length = kind_of(file) is FileKind.UNKNOWN and _is_known_by_length(file)
        if by_length and not (raw.raw_type == rawpy.RawType.Flat and looks_like_photo(raw.raw_image_visible)):
            raise refuse_unknown_header()
        photo = _photo(raw, _complete_exif(raw, exif, preview), tags if dng else {}, is_dng=dng)
    stated = read_colours(file) if dng else {}
    notices = (*photo.notices, *_complaint_notice(complaints), *((_BY_LENGTH,) if by_length else ()))
    return replace(photo, preview=preview, stated=stated, notices=notices)


def _is_known_by_length(file: BinaryIO) -> bool:
    """Whether LibRaw knows a file by nothing but its length: with a byte more it does not."""
    longer = _Buffer(file, b"\0")
    try:
        with rawpy.RawPy() as raw:
            raw.open_buffer(longer)
    except rawpy.LibRawError:
        return True
    return False


def complete_from_header(file: BinaryIO, exif: Exif) -> Exif:
    """The metadata of a raw, completed as `read_raw` does by what LibRaw reads in its header."""
    with suppress(InputError), _opened(file, []) as raw:
        return _complete_exif(raw, exif, _extract_preview(raw))
    return exif


def read_preview(file: BinaryIO) -> Preview | None:
    """The picture a camera stored in its raw; None where there is none that can be read."""
    with suppress(InputError), _opened(file, []) as raw:
        return _extract_preview(raw)
    return None


class _Buffer(io.BytesIO):
    """The bytes of a file for LibRaw, which reads from them as long as it is open, whatever rawpy holds."""

    def __init__(self, file: BinaryIO, more: bytes = b"") -> None:
        super().__init__()
        file.seek(0)
        self._data = file.read() + more

    def read(self, _size: int | None = -1, /) -> bytes:
        """Return the bytes themselves, no copy."""
        return self._data


@contextmanager
def _opened(file: BinaryIO, complaints: list[str]) -> Iterator[Any]:
    """Open a raw with LibRaw, for as long as the block runs; its errors become ours."""
    buffer = _Buffer(file)
    with _libraw_explained(file), capture_c_stderr(complaints), rawpy.RawPy() as raw:
        raw.open_buffer(buffer)
        yield raw


def _extract_preview(raw: Any) -> Preview | None:
    """The camera's own picture, a copy; None where there is none of a kind that is known."""
    with suppress(rawpy.LibRawError):
        found = raw.extract_thumb()
        return found.data if isinstance(found.data, bytes) else np.array(found.data)
    return None


@contextmanager
def _libraw_explained(file: BinaryIO) -> Iterator[None]:
    """Turn LibRaw's errors into ours."""
    try:
        yield
    except rawpy.LibRawError as error:
        raise _explain(file, error) from error
    except Exception:
        with damage_explained("raw"):
            raise


def _explain(file: BinaryIO, error: Exception) -> InputError | MemoryError:
    """What an error of LibRaw's means."""
    match error:
        case rawpy.LibRawUnsufficientMemoryError():
            return MemoryError()
        case _ if kind_of(file) is FileKind.UNKNOWN:
            return refuse_unknown_header()
        case rawpy.LibRawTooBigError():
            return TooLarge("too large for the decoder; give a smaller raw")
        case rawpy.LibRawFileUnsupportedError() | rawpy.LibRawNotImplementedError():
            return _explain_unsupported(file)
        case _:
            return Truncated(f"truncated or damaged ({_reason(error)}); copy it again from its source")


def _explain_unsupported(file: BinaryIO) -> NotAnImage | Unsupported:
    """Why LibRaw does not know a file that looks like a raw."""
    picture = picture_kind(file)
    if picture is not None:
        advice = "repair pictures with `inpaint`, or give `cfa` if it is a plain mosaic"
        return Unsupported(f"is {picture}, not a raw file; {advice}")
    return NotAnImage(
        "is not a raw that LibRaw knows, or truncated or damaged; convert it to an uncompressed DNG"
    )


def _reason(error: Exception) -> str:
    """LibRaw's own words, which it gives as bytes."""
    words = error.args[0] if error.args else type(error).__name__
    return words.decode("ascii", "replace") if isinstance(words, bytes) else str(words)


def _linear_photo(file: BinaryIO, tags: Directory, exif: Exif) -> RawPhoto:
    """Everything of a linear DNG; LibRaw, which need not know its samples, reads its header and colours."""
    with _opened(file, []) as raw:
        preview, orientation = _extract_preview(raw), _ORIENTATIONS[raw.sizes.flip & 7]
    read = read_linear(file, tags)
    noise, unused = noise_profile(tags)
    photo = RawPhoto(
        mosaic=read.samples,
        channels=_LINEAR if read.samples.ndim == 3 else _MONO,
        black=read.black,
        white=read.white,
        orientation=orientation,
        camera_crop=camera_crop(tags, read.samples.shape[:2]),
        exif=exif,
        noise=noise,
        is_denoised=is_denoised(file, tags),
        notices=(*_row_notice(read.samples, read.white), *unused),
        preview=preview,
    )
    return photo if photo.is_monochrome else _add_colours(photo, file)


def _add_colours(photo: RawPhoto, file: BinaryIO) -> RawPhoto:
    """The photo with its colours as LibRaw understands them in a small DNG that states the same."""
    with _opened(io.BytesIO(colour_standin(file)), []) as raw:
        return replace(
            photo,
            camera_balance=_multipliers(raw.camera_whitebalance),
            daylight_balance=_multipliers(raw.daylight_whitebalance),
            matrix=camera_matrix(raw, photo.channels, is_dng=True),
            stated=read_colours(file),
        )


def _photo(raw: Any, exif: Exif, dng_tags: Directory, *, is_dng: bool) -> RawPhoto:
    """Everything of an unpacked raw; nothing in it points into LibRaw's memory."""
    channels = _channels(raw, dng_tags)
    seen = raw.raw_image_visible[..., :3] if channels.ndim == 3 else raw.raw_image_visible
    mosaic: Mosaic = np.array(seen, dtype=np.uint16, order="C")
    is_mono = channels is _MONO
    black, white = _black(raw, channels, dng_tags), float(raw.white_level)
    noise, unused = noise_profile(dng_tags)
    return RawPhoto(
        mosaic=mosaic,
        channels=channels,
        black=black,
        white=white,
        camera_balance=None if is_mono else _multipliers(raw.camera_whitebalance),
        daylight_balance=None if is_mono else _multipliers(raw.daylight_whitebalance),
        orientation=_ORIENTATIONS[raw.sizes.flip & 7],
        camera_crop=_camera_crop(raw.sizes),
        exif=exif,
        noise=noise,
        notices=(*_notices(raw, mosaic, white), *unused),
        # Last: it may overwrite the samples.
        matrix=NO_MATRIX if is_mono else camera_matrix(raw, channels, is_dng=is_dng),
    )


def _channels(raw: Any, dng_tags: Directory) -> NDArray[np.uint8]:
    """One period of the colour array at the top left of the visible area, or an error for other sensors."""
    pattern = _pattern(raw)
    if raw.num_colors == 1 and raw.raw_type == rawpy.RawType.Flat:
        return _MONO
    if raw.num_colors != 3 or raw.color_desc not in (b"RGBG", b"RGB\0", b"RGB"):
        filters = raw.color_desc.decode("ascii", "replace")
        raise Unsupported(f"unsupported colour filters {filters}; only red, green and blue are known")
    if raw.raw_type == rawpy.RawType.Stack:
        return _LINEAR
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


def _pattern(raw: Any) -> NDArray[np.uint8] | None:
    """LibRaw's own pattern, of which only the shape is used; None where there is none."""
    try:
        pattern: NDArray[np.uint8] | None = raw.raw_pattern
    except NotImplementedError as error:
        raise Unsupported("unsupported colour filter array; only Bayer and X-Trans are read") from error
    return pattern


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
    if max(dimensions) <= 2 or len(levels) != dimensions[0] * dimensions[1]:
        return by_channel[channels]
    stored = np.array([float(level) for level in levels]).reshape(dimensions)
    offset = _offset_in_active_area(tags, raw.sizes.top_margin, raw.sizes.left_margin)
    return np.roll(stored - stored.min() + by_channel.min(), offset, axis=(0, 1))


def _multipliers(stored: Any) -> Multipliers | None:
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
    return exif.add_photo_fields(
        photo_fields(
            iso=other.iso_speed,
            exposure=other.shutter_speed,
            aperture=other.aperture,
            focal_length=other.focal_length,
            taken=other.timestamp if other.timestamp.year > _OLDEST_YEAR else None,
            lens_make=raw.lens.make,
            lens_model=raw.lens.model,
        )
    )


def _complaint_notice(complaints: list[str]) -> Iterator[str]:
    """What LibRaw or its libjpeg printed of a file that they decoded all the same."""
    if complaints:
        said = complaints[0].removeprefix("unknown file: ")
        yield f"the decoder complains ({said}); the file may be damaged"


def _notices(raw: Any, mosaic: Mosaic, white: float) -> Iterator[str]:
    """What a user should know about a file that decodes but may not be right."""
    yield from _row_notice(mosaic, white)
    if raw.sizes.pixel_aspect != 1:
        yield f"pixels are not square (ratio {raw.sizes.pixel_aspect:g}); the picture is not stretched"


def _row_notice(mosaic: Mosaic, white: float) -> Iterator[str]:
    """A warning where many rows are constant and not clipped."""
    constant = ((mosaic.min(axis=1) == mosaic.max(axis=1)) & (mosaic[:, 0] < white)).reshape(len(mosaic), -1)
    share = constant.all(axis=1).mean()
    if share >= _SUSPICIOUS_ROWS:
        yield f"constant rows: {share:.0%} of the picture; the file may be damaged"


def warn_of_greens(photo: RawPhoto) -> Iterator[str]:
    """A warning where the two greens of a Bayer array differ more than any sensor's do."""
    if photo.cfa is None or not photo.cfa.is_bayer or photo.black.shape != (2, 2):
        return
    (y, x), (v, u) = np.argwhere((photo.channels == GREEN) | (photo.channels == SECOND_GREEN))
    first = middle(photo.mosaic[y::8, x::8]) - photo.black[y, x]
    second = middle(photo.mosaic[v::8, u::8]) - photo.black[v, u]
    if min(first, second) > 0 and max(first, second) / min(first, second) > _SUSPICIOUS_GREENS:
        difference = max(first, second) / min(first, second) - 1
        others = "RGGB or BGGR" if y == x else "GRBG or GBRG"
        yield f"the two greens differ by {difference:.0%}; the colour array may be wrong, try `cfa={others}`"
