"""What a DNG says of colours: the matrix from XYZ to the camera, its light, and the neutral of the balance.

A raw that is a DNG keeps what it says itself. Of others the matrix is the one that the pictures are developed
with, turned back: the balance of daylight tells how strong each channel is under D65. Tags as in the DNG
specification 1.4.
"""

from collections.abc import Mapping
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.io.colour import XYZ_FROM_SRGB
from demosaic_ntc.io.exif import Fields
from demosaic_ntc.io.header import LINEAR_RAW, FileHeader
from demosaic_ntc.io.tiff_tags import (
    ASCII,
    BYTE,
    LONG,
    RATIONAL,
    SHORT,
    SRATIONAL,
    Directory,
    Field,
    fits,
    numbers,
    write_directory,
)
from demosaic_ntc.raw.photo import Multipliers, RawPhoto

UNIQUE_CAMERA_MODEL, BASELINE_EXPOSURE = 50708, 50730
_MATRIX, _SECOND_MATRIX, _ANALOG_BALANCE, _NEUTRAL, _WHITE_XY, _LIGHT, _SECOND_LIGHT = (
    50721,
    50722,
    50727,
    50728,
    50729,
    50778,
    50779,
)
_D65 = 21

# Colour matrices and calibrations, forward matrices: three by three each.
_NINE = (_MATRIX, _SECOND_MATRIX, 50723, 50724, 50964, 50965)
_OF_SECOND_LIGHT = (_SECOND_MATRIX, _SECOND_LIGHT, 50724, 50965)
_SIGNATURES = (50931, 50932)
_LARGEST_DENOMINATOR = 1_000_000

# All that LibRaw makes colours of, with its type: names of the camera, matrices, lights and the balance.
_OF_COLOURS = {
    **dict.fromkeys((271, 272, UNIQUE_CAMERA_MODEL, *_SIGNATURES), ASCII),
    **dict.fromkeys(_NINE, SRATIONAL),
    **dict.fromkeys((_ANALOG_BALANCE, _NEUTRAL, _WHITE_XY), RATIONAL),
    **dict.fromkeys((_LIGHT, _SECOND_LIGHT), SHORT),
}
_STANDIN_SIDE = 32
_STANDIN_BYTES = 6 * _STANDIN_SIDE**2
_STANDIN = {
    254: Field(LONG, (0,)),
    256: Field(LONG, (_STANDIN_SIDE,)),
    257: Field(LONG, (_STANDIN_SIDE,)),
    258: Field(SHORT, (16,) * 3),
    259: Field(SHORT, (1,)),
    262: Field(SHORT, (LINEAR_RAW,)),
    273: Field(LONG, (8,)),
    277: Field(SHORT, (3,)),
    278: Field(LONG, (_STANDIN_SIDE,)),
    279: Field(LONG, (_STANDIN_BYTES,)),
    50706: Field(BYTE, bytes((1, 4, 0, 0))),
}


def read_colours(header: FileHeader) -> Fields:
    """What a DNG says of its camera's colours; nothing where its matrix cannot be taken as it stands."""
    first = header.tags.first()
    if len(numbers(first, _MATRIX)) != 9 or set(numbers(first, _ANALOG_BALANCE)) - {1}:
        return {}
    lights = {tag: numbers(first, tag) for tag in (_LIGHT, _SECOND_LIGHT)}
    known = {tag: Field(SHORT, (int(kind[0]),)) for tag, kind in lights.items() if kind and kind[0] > 0}
    stated = {**_matrices(first), **known, **_texts(first)}
    if len(exposure := numbers(first, BASELINE_EXPOSURE)) == 1:
        stated[BASELINE_EXPOSURE] = _numbers(SRATIONAL, np.array([float(exposure[0])]))
    if not {_SECOND_MATRIX, _SECOND_LIGHT} <= stated.keys():
        stated = {tag: field for tag, field in stated.items() if tag not in _OF_SECOND_LIGHT}
    return {tag: field for tag, field in stated.items() if fits(field)}


def colour_standin(header: FileHeader) -> bytes:
    """A small linear DNG that states of its colours what a DNG states, for LibRaw to read them there."""
    first = header.tags.first()
    stated = {tag: Field(kind, first[tag]) for tag, kind in _OF_COLOURS.items() if first.get(tag)}
    fields = {
        **_STANDIN,
        **{tag: field for tag, field in stated.items() if fits(field)},
    }
    return (
        b"II*\0"
        + (8 + _STANDIN_BYTES).to_bytes(4, "little")
        + bytes(_STANDIN_BYTES)
        + write_directory(fields, 8 + _STANDIN_BYTES)
    )


def colour_fields(photo: RawPhoto, balance: Multipliers) -> Fields:
    """The tags of a picture in the colours of a photo's camera, which these multipliers make neutral.

    Of a monochrome camera there is nothing but its name to tell.
    """
    camera = photo.exif.camera or "unknown camera"
    named = {UNIQUE_CAMERA_MODEL: Field(ASCII, camera.encode() + b"\0")}
    if photo.is_monochrome:
        return named
    if photo.matrix.source == "DNG" and _MATRIX in photo.stated:
        own = dict(photo.stated)
    else:
        own = {_MATRIX: _numbers(SRATIONAL, camera_from_xyz(photo, balance))}
    return {
        **named,
        _LIGHT: Field(SHORT, (_D65,)),
        **own,
        _NEUTRAL: _numbers(RATIONAL, neutral(balance)),
    }


def neutral(balance: Multipliers) -> NDArray[np.float64]:
    """The red, green and blue, the largest 1, that a neutral thing has before it is balanced."""
    return np.asarray(min(balance[:3]) / np.asarray(balance[:3]))


def camera_from_xyz(photo: RawPhoto, balance: Multipliers) -> NDArray[np.float64]:
    """XYZ to camera colours that are not balanced.

    Where daylight is not known, what was balanced is taken for daylight.
    """
    known = photo.matrix.source in ("DNG", "camera table") and photo.daylight_balance is not None
    white = (
        1 / np.asarray(photo.daylight_balance[:3]) if known and photo.daylight_balance else neutral(balance)
    )
    return np.asarray(white[:, None] * np.linalg.inv(XYZ_FROM_SRGB @ photo.matrix.to_srgb))


def _matrices(first: Directory) -> dict[int, Field]:
    """The matrices that are whole."""
    found = {tag: numbers(first, tag) for tag in _NINE}
    return {
        tag: _numbers(SRATIONAL, np.array([float(value) for value in values]))
        for tag, values in found.items()
        if len(values) == 9
    }


def _texts(first: Mapping[int, object]) -> dict[int, Field]:
    """The camera's name, and the signatures that make calibrations valid."""
    found = {tag: first.get(tag) for tag in (UNIQUE_CAMERA_MODEL, *_SIGNATURES)}
    return {
        tag: Field(ASCII, text.split(b"\0")[0] + b"\0")
        for tag, text in found.items()
        if isinstance(text, bytes) and text.strip(b"\0 ")
    }


def _numbers(kind: int, values: NDArray[np.float64]) -> Field:
    """Rationals of an array, row by row, as far as tags can hold them."""
    rationals = (Fraction(float(value)) for value in values.ravel())
    return Field(kind, tuple(each.limit_denominator(_LARGEST_DENOMINATOR) for each in rationals))
