"""EXIF: what of a raw file's metadata is kept, how it is read, and how it is written.

A whitelist, because most tags of a raw describe the raw itself (strips, thumbnails, maker notes with
absolute offsets) and would be wrong in a finished picture. Tag numbers and types as in the Exif 2.32
standard (CIPA DC-008), tables 4 to 15.
"""

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from fractions import Fraction
from math import inf
from typing import Any

from demosaic_ntc.io.tiff_tags import (
    ASCII,
    BYTE,
    EXIF_DIRECTORY,
    GPS_DIRECTORY,
    LONG,
    RATIONAL,
    SHORT,
    SRATIONAL,
    UNDEFINED,
    Directory,
    Field,
    TagReader,
    Values,
    fits,
    number,
    read_block,
    write_directory,
)

Fields = Mapping[int, Field]

MAKE, MODEL, ORIENTATION, SOFTWARE = 271, 272, 274, 305
EXPOSURE_TIME, F_NUMBER, ISO, DATE_TAKEN, FOCAL_LENGTH = 33434, 33437, 34855, 36867, 37386
LENS_SPECIFICATION, LENS_MAKE, LENS_MODEL = 42034, 42035, 42036
LENS_INFO = 50736  # of a DNG
EXIF_VERSION, USER_COMMENT, COLOR_SPACE, PIXEL_WIDTH, PIXEL_HEIGHT = 36864, 37510, 40961, 40962, 40963

# The standard asks for a resolution even where it means nothing.
_RESOLUTION, _RESOLUTION_UNIT, _DOTS_PER_INCH, _INCH = (282, 283), 296, 300, 2
_FLASHPIX_VERSION, _YCBCR_POSITION, _COMPONENTS = 40960, 531, 37121

# All texts together must fit in the 64 KiB that JPEG gives to EXIF.
_LONGEST_TEXT = 2000

_MODIFIED, _WHITE_BALANCE, _BY_HAND = 306, 41987, 1

# Description, make, model, date, artist, copyright.
_IMAGE = dict.fromkeys((270, MAKE, MODEL, 306, 315, 33432), ASCII)
_PHOTO = {
    **dict.fromkeys((36867, 36868, 36880, 36881, 36882, 37520, 37521, 37522), ASCII),  # dates and offsets
    **dict.fromkeys((EXPOSURE_TIME, F_NUMBER, 37378, 37381, 37382, FOCAL_LENGTH), RATIONAL),
    **dict.fromkeys((37377, 37379, 37380), SRATIONAL),  # shutter speed, brightness, bias
    **dict.fromkeys((34850, ISO, 34864, 37383, 37384, 37385), SHORT),  # program, ISO, metering, light, flash
    **dict.fromkeys((41986, 41987, 41989, 41990), SHORT),  # mode, balance, 35 mm equivalent, scene
    **dict.fromkeys((34865, 34866, 34867), LONG),  # sensitivities
    **dict.fromkeys((42032, 42033, 42035, LENS_MODEL, 42037), ASCII),  # owner, serial numbers, lens
    LENS_SPECIFICATION: RATIONAL,
}
# Exposure time, apertures, ISO, focal lengths, lens: zero is how cameras write "unknown".
_NEVER_ZERO = {EXPOSURE_TIME, F_NUMBER, ISO, 37377, 37378, 37381, FOCAL_LENGTH, 41989, LENS_SPECIFICATION}
_GPS = {
    **dict.fromkeys((1, 3, 8, 9, 10, 12, 14, 16, 18, 19, 21, 23, 25, 29), ASCII),
    **dict.fromkeys((2, 4, 6, 7, 11, 13, 15, 17, 20, 22, 24, 26, 31), RATIONAL),
    **dict.fromkeys((0, 5), BYTE),
}


@dataclass(frozen=True, slots=True)
class Exif:
    """The fields of the three directories that EXIF has."""

    image: Fields = field(default_factory=dict)
    photo: Fields = field(default_factory=dict)
    gps: Fields = field(default_factory=dict)

    def __bool__(self) -> bool:
        """Whether they say anything."""
        return bool(self.image or self.photo or self.gps)

    @property
    def camera(self) -> str:
        """Make and model, without saying the make twice."""
        make, model = _text(self.image.get(MAKE)), _text(self.image.get(MODEL))
        named_in_model = make and model.lower().startswith(make.split()[0].lower())
        return model if named_in_model else f"{make} {model}".strip()

    @property
    def facts(self) -> dict[str, Any]:
        """What is known of how the photo was taken, as plain values."""
        lens = _text(self.photo.get(LENS_MODEL))
        taken = _moment(_text(self.photo.get(DATE_TAKEN)))
        numbers = {
            "iso": ISO,
            "exposure_seconds": EXPOSURE_TIME,
            "f_number": F_NUMBER,
            "focal_length_mm": FOCAL_LENGTH,
        }
        values = {name: _value(self.photo.get(tag)) for name, tag in numbers.items()}
        known = {"camera": self.camera, "lens": lens, "date": taken, **values}
        return {name: value for name, value in known.items() if value}


def read_exif(tags: TagReader) -> Exif:
    """The fields we keep of a TIFF-like raw or of a block; empty where there are none."""
    first = tags.first()
    photo = tags.directory(number(first, EXIF_DIRECTORY))
    gps = tags.directory(number(first, GPS_DIRECTORY))
    # Some raws keep fields of the photo in their first directory.
    strays = {tag: first[tag] for tag in (EXPOSURE_TIME, F_NUMBER, ISO, DATE_TAKEN) if tag in first}
    # DNGs say under a number of their own what a lens is.
    if LENS_INFO in first:
        strays[LENS_SPECIFICATION] = first[LENS_INFO]
    return keep_known(first, {**strays, **photo}, gps)


def keep_known(image: Directory, photo: Directory, gps: Directory) -> Exif:
    """The fields we keep of three directories, those of the photo without zeros that mean "unknown"."""
    kept = _filter_tags(photo, _PHOTO)
    known = {tag: field for tag, field in kept.items() if tag not in _NEVER_ZERO or any(field.values)}
    return Exif(_filter_tags(image, _IMAGE), known, _filter_tags(gps, _GPS))


def orientation_in(directory: Directory) -> int:
    """The orientation that a directory states; upright where it states none or nonsense."""
    stated = number(directory, ORIENTATION, 1)
    return stated if stated in range(1, 9) else 1


def read_jpeg_exif(jpeg: bytes) -> Exif:
    """The fields we keep of the EXIF block of a JPEG preview; empty where there is none."""
    start = jpeg.find(b"Exif\0\0", 0, 1 << 16)
    return read_exif(read_block(jpeg[start + 6 : start + 6 + (1 << 16)])) if start >= 0 else Exif()


def photo_fields(
    *,
    iso: float,
    exposure: float,
    aperture: float,
    focal_length: float,
    taken: datetime | None,
    lens_make: str = "",
    lens_model: str = "",
) -> Fields:
    """Fields for what a decoder told; zeros and blanks mean unknown."""
    values: dict[int, Field] = {}
    if 0 < iso < inf:
        values[ISO] = Field(SHORT, (min(round(iso), 65535),))
    for tag, value in ((EXPOSURE_TIME, exposure), (F_NUMBER, aperture), (FOCAL_LENGTH, focal_length)):
        if 0 < value < inf:
            values[tag] = Field(RATIONAL, (Fraction(value).limit_denominator(100_000),))
    if taken is not None:
        values[DATE_TAKEN] = _date(taken)
    for tag, text in ((LENS_MAKE, lens_make), (LENS_MODEL, lens_model)):
        if text.strip():
            values[tag] = Field(ASCII, text.strip().encode("ascii", "replace")[:_LONGEST_TEXT] + b"\0")
    return {tag: field for tag, field in values.items() if fits(field)}


def _moment(text: str) -> datetime | None:
    """A date as EXIF writes it; None for anything else."""
    try:
        return datetime.strptime(text, "%Y:%m:%d %H:%M:%S")
    except ValueError:
        return None


def _value(field: Field | None) -> float | None:
    """The first number of a field; None where there is none."""
    values = () if field is None or isinstance(field.values, bytes) else field.values
    return float(values[0]) if values else None


def _filter_tags(directory: Directory, types: Mapping[int, int]) -> Fields:
    """The whitelisted tags of a directory that say something, with the types the standard gives them."""
    fields = {tag: _make_field(directory[tag], kind) for tag, kind in types.items() if tag in directory}
    return {tag: field for tag, field in fields.items() if field is not None and fits(field)}


def _make_field(values: Values, kind: int) -> Field | None:
    """A field of the given type; None for blanks and for values that do not fit the type."""
    if kind == ASCII:
        text = values.split(b"\0")[0].strip()[:_LONGEST_TEXT] if isinstance(values, bytes) else b""
        return Field(ASCII, text + b"\0") if text else None
    if isinstance(values, bytes) or not values:
        return None
    if kind == BYTE:
        return Field(BYTE, bytes(int(value) & 255 for value in values))
    if kind in (RATIONAL, SRATIONAL):
        return Field(kind, tuple(Fraction(value).limit_denominator(1 << 30) for value in values))
    return Field(kind, tuple(int(value) for value in values))


def _text(field: Field | None) -> str:
    """The text of a field; empty when it is absent."""
    return (
        field.values.rstrip(b"\0").decode("utf-8", "replace")
        if field and isinstance(field.values, bytes)
        else ""
    )


def finish_metadata(
    exif: Exif,
    *,
    size: tuple[int, int],
    orientation: int,
    srgb: bool,
    parameters: str,
    hand_balanced: bool,
    software: str,
) -> Exif:
    """The metadata of a finished picture: the photo's own, and what is true of the picture.

    SOURCE_DATE_EPOCH fixes the time at which it was made, for results that are equal byte by byte.
    """
    height, width = size
    modified = datetime.now()
    with suppress(ValueError, OverflowError, OSError):  # what is no moment is ignored
        modified = datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "")), UTC)
    balanced = {_WHITE_BALANCE: Field(SHORT, (_BY_HAND,))} if hand_balanced else {}
    image = {
        **exif.image,
        ORIENTATION: Field(SHORT, (orientation,)),
        SOFTWARE: Field(ASCII, software.encode() + b"\0"),
        _MODIFIED: _date(modified),
        **dict.fromkeys(_RESOLUTION, Field(RATIONAL, (_DOTS_PER_INCH,))),
        _RESOLUTION_UNIT: Field(SHORT, (_INCH,)),
    }
    photo = {
        **exif.photo,
        **balanced,
        EXIF_VERSION: Field(UNDEFINED, b"0232"),
        _FLASHPIX_VERSION: Field(UNDEFINED, b"0100"),
        COLOR_SPACE: Field(SHORT, (1 if srgb else 65535,)),
        PIXEL_WIDTH: Field(LONG, (width,)),
        PIXEL_HEIGHT: Field(LONG, (height,)),
        USER_COMMENT: Field(UNDEFINED, b"ASCII\0\0\0" + parameters.encode("ascii", "replace")),
    }
    return replace(exif, image=image, photo=photo)


def _date(moment: datetime) -> Field:
    """A moment as EXIF writes it."""
    return Field(ASCII, moment.strftime("%Y:%m:%d %H:%M:%S").encode() + b"\0")


def for_jpeg(exif: Exif) -> Exif:
    """The metadata with what the standard asks for in JPEG alone: the place and order of its components."""
    image = {**exif.image, _YCBCR_POSITION: Field(SHORT, (1,))}
    return replace(
        exif, image=image, photo={**exif.photo, _COMPONENTS: Field(UNDEFINED, bytes((1, 2, 3, 0)))}
    )


def for_tiff(exif: Exif) -> Exif:
    """The metadata without the size, which TIFF states in tags of its own."""
    photo = {tag: field for tag, field in exif.photo.items() if tag not in (PIXEL_WIDTH, PIXEL_HEIGHT)}
    return replace(exif, photo=photo)


def directory_block(exif: Exif, image: Fields, offset: int) -> bytes:
    """The three directories for position `offset` of a file; the first one points to the others."""
    pointers = {EXIF_DIRECTORY: Field(LONG, (0,))}
    if exif.gps:
        pointers[GPS_DIRECTORY] = Field(LONG, (0,))
    photo_at = offset + len(write_directory({**image, **pointers}, 0))
    photo = write_directory(exif.photo, photo_at)
    pointers[EXIF_DIRECTORY] = Field(LONG, (photo_at,))
    if not exif.gps:
        return write_directory({**image, **pointers}, offset) + photo
    gps_at = photo_at + len(photo)
    pointers[GPS_DIRECTORY] = Field(LONG, (gps_at,))
    return write_directory({**image, **pointers}, offset) + photo + write_directory(exif.gps, gps_at)


def exif_block(exif: Exif) -> bytes:
    """The metadata as the bare TIFF block that PNG and JPEG carry."""
    return b"II*\0\x08\0\0\0" + directory_block(exif, exif.image, 8)
