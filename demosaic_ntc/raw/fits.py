"""FITS files of astronomers' cameras read into photos, by astropy, an optional library.

The first image of two axes is the mosaic. BAYERPAT is its colour array, as rows are stored: four letters, or
36 of X-Trans; XBAYROFF and YBAYROFF say where in it the first sample lies. Without it a sensor has no
colours. Rows are stored from the bottom up, as is usual in FITS, unless ROWORDER says otherwise; keywords as
Siril, N.I.N.A. and others write them.
"""

import io
import warnings
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import numpy as np

from demosaic_ntc.cfa import Cfa
from demosaic_ntc.errors import InputError, NotAnImage, Unsupported, damage_explained
from demosaic_ntc.io.exif import MODEL, Exif, photo_fields
from demosaic_ntc.io.formats import Layout
from demosaic_ntc.io.header import FileHeader, check_pixels
from demosaic_ntc.io.tiff_tags import ASCII, Field
from demosaic_ntc.raw.photo import MONO, Mosaic, RawPhoto

#: What reading takes besides other decoders; astropy is slow to load, and loads the second when it is used.
ASTROPY = ("astropy.io.fits", "numpy.rec")

_FULL = 65535
_UPRIGHT, _UPSIDE_DOWN = 1, 4  # orientations of EXIF
_SIDES = {4: 2, 36: 6}  # of an array, by its letters
_MOST_IMAGES = 64


def load_astropy() -> Any:
    """The part of astropy that knows FITS."""
    try:
        from astropy.io import fits  # noqa: PLC0415 (an extra)
    except ImportError as error:
        raise InputError("FITS files need astropy; pip install 'demosaic-ntc[astro]'") from error
    return fits


def read_fits(header: FileHeader, layout: Layout) -> RawPhoto:
    """The mosaic of a FITS file, with what its keywords say; nothing of its levels or balance is guessed."""
    fits = load_astropy()
    with warnings.catch_warnings(), damage_explained("FITS"):
        warnings.simplefilter("ignore")  # of keywords that are not as the standard wants them
        with fits.open(io.BytesIO(header.read()), memmap=False, lazy_load_hdus=True) as units:
            unit = _find_image(units)
            words = dict(unit.header)
            height, width = unit.shape[-2:]
            check_pixels(width, height, header.limits)
            stored = np.asarray(unit.data).reshape(height, width)
    mosaic, white = _as_samples(stored, words)
    cfa, notices = _find_array(layout, words)
    is_top_down = str(words.get("ROWORDER", "")).strip().upper() == "TOP-DOWN"
    return RawPhoto(
        mosaic=mosaic,
        channels=MONO if cfa is None else cfa.pattern,
        black=np.zeros((1, 1)),
        white=white,
        is_plain=True,
        orientation=_UPRIGHT if is_top_down else _UPSIDE_DOWN,
        exif=_read_exif(words),
        notices=notices,
    )


def _find_image(units: Any) -> Any:
    """The first image of two axes; a third of one plane counts as none."""
    for number, unit in enumerate(units):
        shape = tuple(getattr(unit, "shape", ()) or ())
        if unit.is_image and len(shape) >= 2 and int(np.prod(shape[:-2])) == 1:
            return unit
        if unit.is_image and len(shape) == 3:
            raise Unsupported(f"is a FITS of {shape[0]} planes, no mosaic; give the file of the camera")
        if number >= _MOST_IMAGES:
            break
    raise NotAnImage("has no image of two axes; give the FITS file of a camera")


def _as_samples(stored: Any, words: Mapping[str, Any]) -> tuple[Mosaic, float]:
    """Samples of 16 bits and their white; those of floating point reach it at 1, or are such numbers."""
    if stored.dtype.kind == "f":
        known = np.nan_to_num(stored.astype(np.float64), nan=0.0, posinf=_FULL, neginf=0.0)
        if known.max(initial=0) <= 1:
            return np.rint(np.clip(known, 0, 1) * _FULL).astype(np.uint16), float(_FULL)
        stored = np.rint(known)
    if stored.max(initial=0) > _FULL:
        raise Unsupported(f"has samples up to {stored.max():g}; those of 16 bits are read")
    saturated = words.get("SATURATE", words.get("DATAMAX"))
    is_level = isinstance(saturated, int | float) and 0 < saturated <= _FULL
    usual = 255.0 if stored.dtype == np.uint8 else float(_FULL)
    return np.clip(stored, 0, _FULL).astype(np.uint16), float(saturated) if is_level else usual


def _find_array(layout: Layout, words: Mapping[str, Any]) -> tuple[Cfa | None, tuple[str, ...]]:
    """The colour array that was given or is stated; None of a sensor without colours."""
    if layout.cfa is not None:
        return (None if layout.cfa.is_mono else layout.cfa), ()
    stated = str(words.get("BAYERPAT", "")).strip().upper()
    if not stated:
        return None, ("states no BAYERPAT: taken for a sensor without colours (`cfa` gives an array)",)
    side = _SIDES.get(len(stated))
    rows = "/".join(stated[n : n + side] for n in range(0, len(stated), side)) if side else stated
    down, across = (int(words.get(name, 0) or 0) for name in ("YBAYROFF", "XBAYROFF"))
    return Cfa.parse(rows).shift(down, across), ()


def _read_exif(words: Mapping[str, Any]) -> Exif:
    """What keywords say of the exposure, as EXIF has it."""
    named = str(words.get("INSTRUME", "")).strip()
    fields = photo_fields(
        iso=_number(words, "ISOSPEED"),
        exposure=_number(words, "EXPTIME") or _number(words, "EXPOSURE"),
        aperture=0,
        focal_length=_number(words, "FOCALLEN"),
        taken=_moment(str(words.get("DATE-OBS", ""))),
    )
    image = {MODEL: Field(ASCII, named.encode("ascii", "replace") + b"\0")} if named else {}
    return Exif(image, fields)


def _number(words: Mapping[str, Any], name: str) -> float:
    """The number of a keyword; 0 where there is none."""
    value = words.get(name, 0)
    return float(value) if isinstance(value, int | float) else 0.0


def _moment(text: str) -> datetime | None:
    """A date as FITS writes it."""
    try:
        return datetime.fromisoformat(text.strip()[:19])
    except ValueError:
        return None
