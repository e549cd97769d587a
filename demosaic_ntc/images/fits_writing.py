"""Finished pictures as FITS, by astropy, an optional library: three planes, and deviations as an extension.

Rows are stored from the top down, which ROWORDER tells; codes are those of a PNG or TIFF.
"""

import io
from typing import Any, BinaryIO

import numpy as np

from demosaic_ntc.errors import OutputError, explain_encoding
from demosaic_ntc.images.picture import DecodedImage
from demosaic_ntc.io.exif import USER_COMMENT
from demosaic_ntc.io.formats import Loss

ERRORS = "ERROR"  # the name of the extension

_FACTS = {
    "camera": "INSTRUME",
    "exposure_seconds": "EXPTIME",
    "iso": "ISOSPEED",
    "focal_length_mm": "FOCALLEN",
}


def check_astropy() -> None:
    """Refuse to begin what could not be written."""
    try:
        import astropy.io.fits  # noqa: F401, PLC0415 (an extra)
    except ImportError as error:
        raise OutputError("FITS files need astropy; pip install 'demosaic-ntc[astro]'") from error


def write_fits(file: BinaryIO, picture: DecodedImage, _loss: Loss) -> None:
    """Write a picture with its planes first, and the deviations expected of its values behind it."""
    check_astropy()
    from astropy.io import fits  # noqa: PLC0415 (an extra)

    with explain_encoding("FITS"):
        first = fits.PrimaryHDU(_planes(np.asarray(picture.colours)))
        _describe(first.header, picture)
        units = [first]
        if picture.errors is not None:
            units.append(fits.ImageHDU(_planes(picture.errors), name=ERRORS))
            units[-1].header["ROWORDER"] = "TOP-DOWN"
            units[-1].header["BUNIT"] = ("code value", "standard deviation of the first image")
        content = io.BytesIO()
        fits.HDUList(units).writeto(content)
    file.write(content.getbuffer())


def _planes(pixels: Any) -> Any:
    """Pixels with their planes first."""
    return pixels if pixels.ndim == 2 else np.ascontiguousarray(np.moveaxis(pixels, 2, 0))


def _describe(header: Any, picture: DecodedImage) -> None:
    """What is known of the photo, in keywords."""
    header["ROWORDER"] = "TOP-DOWN"
    if picture.colours.ndim == 3:
        header["CTYPE3"] = ("RGB", "planes are red, green and blue")
    facts = picture.exif.facts
    for name, keyword in _FACTS.items():
        if name in facts:
            value = facts[name]
            header[keyword] = value.encode("ascii", "replace").decode() if isinstance(value, str) else value
    if "date" in facts:
        header["DATE-OBS"] = facts["date"].isoformat()
    comment = picture.exif.photo.get(USER_COMMENT)
    if comment is not None and isinstance(comment.values, bytes):
        header.add_history(comment.values[8:].decode("ascii", "replace"))
