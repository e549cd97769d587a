"""What a DNG says of colours: the matrix from XYZ to the camera, its light, and the neutral of the balance.

A raw that is a DNG keeps what it says itself. Of others the matrix is the one that the pictures are developed
with, turned back: the balance of daylight tells how strong each channel is under D65. Tags as in the DNG
specification 1.4.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.files.colour import XYZ_FROM_SRGB
from demosaic_ntc.files.metadata import Fields
from demosaic_ntc.files.raw.photo import Multipliers, RawPhoto
from demosaic_ntc.files.tags import (
    ASCII,
    RATIONAL,
    SHORT,
    SRATIONAL,
    Directory,
    Field,
    TagReader,
    fits,
    numbers,
)

UNIQUE_CAMERA_MODEL, BASELINE_EXPOSURE = 50708, 50730
_MATRIX, _SECOND_MATRIX, _ANALOG_BALANCE, _NEUTRAL, _LIGHT, _SECOND_LIGHT = (
    50721,
    50722,
    50727,
    50728,
    50778,
    50779,
)
_D65 = 21

# Colour matrices and calibrations, forward matrices: three by three each.
_NINE = (_MATRIX, _SECOND_MATRIX, 50723, 50724, 50964, 50965)
_OF_SECOND_LIGHT = (_SECOND_MATRIX, _SECOND_LIGHT, 50724, 50965)
_SIGNATURES = (50931, 50932)
_LARGEST_DENOMINATOR = 1_000_000


def stated_colours(file: BinaryIO) -> Fields:
    """What a DNG says of its camera's colours; nothing where its matrix cannot be taken as it stands."""
    first = TagReader(file).first()
    if len(numbers(first, _MATRIX)) != 9 or set(numbers(first, _ANALOG_BALANCE)) - {1}:
        return {}
    stated = {**_matrices(first), **_lights(first), **_texts(first)}
    if len(exposure := numbers(first, BASELINE_EXPOSURE)) == 1:
        stated[BASELINE_EXPOSURE] = Field(SRATIONAL, (_rounded(float(exposure[0])),))
    if not {_SECOND_MATRIX, _SECOND_LIGHT} <= stated.keys():
        stated = {tag: field for tag, field in stated.items() if tag not in _OF_SECOND_LIGHT}
    return {tag: field for tag, field in stated.items() if fits(field)}


def colour_fields(photo: RawPhoto, balance: Multipliers) -> Fields:
    """The tags of a picture in the colours of a photo's camera, which these multipliers make neutral."""
    if photo.matrix.source == "DNG" and _MATRIX in photo.stated:
        own = dict(photo.stated)
    else:
        own = {_MATRIX: _numbers(SRATIONAL, camera_from_xyz(photo, balance))}
    camera = photo.exif.camera or "unknown camera"
    return {
        UNIQUE_CAMERA_MODEL: Field(ASCII, camera.encode() + b"\0"),
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


def _lights(first: Directory) -> dict[int, Field]:
    """The kinds of light that the matrices are for; unknown ones are left out."""
    found = {tag: numbers(first, tag) for tag in (_LIGHT, _SECOND_LIGHT)}
    return {tag: Field(SHORT, (int(values[0]),)) for tag, values in found.items() if values and values[0] > 0}


def _texts(first: Mapping[int, object]) -> dict[int, Field]:
    """The camera's name, and the signatures that make calibrations valid."""
    found = {tag: first.get(tag) for tag in (UNIQUE_CAMERA_MODEL, *_SIGNATURES)}
    return {
        tag: Field(ASCII, text.split(b"\0")[0] + b"\0")
        for tag, text in found.items()
        if isinstance(text, bytes) and text.strip(b"\0 ")
    }


def _numbers(kind: int, values: NDArray[np.float64]) -> Field:
    """Rationals of an array, row by row."""
    return Field(kind, tuple(_rounded(float(value)) for value in values.ravel()))


def _rounded(value: float) -> Fraction:
    """A number as a fraction that tags can hold."""
    return Fraction(value).limit_denominator(_LARGEST_DENOMINATOR)
