"""Row and column noise of a photo: told, and removed where it is beyond doubt."""

from dataclasses import dataclass, replace
from typing import Any

from demosaic_ntc.choices import Banding
from demosaic_ntc.detection.banding import LineNoise, find_line_noise, remove_line_noise
from demosaic_ntc.raw.noise import span_of
from demosaic_ntc.raw.photo import Mosaic, RawPhoto
from demosaic_ntc.raw.saturation import lowest_saturation
from demosaic_ntc.run import imap_threads

_LINES = ("rows", "columns")
_CODES = 255.0  # in which offsets are told to people
_BELOW = 0.98  # of the way from black to saturation: samples above count as saturated


@dataclass(frozen=True, slots=True)
class FoundBanding:
    """Offsets of the rows and columns of a photo, and its samples without those that are beyond doubt."""

    lines: tuple[LineNoise, ...]
    mosaic: Mosaic
    span: float  # how far white lies above black

    def describe(self) -> dict[str, Any]:
        """Return how strong offsets are, of 255, and how far both ends of lines agree, for JSON."""
        told = zip(_LINES, self.lines, strict=True)
        return {
            name: {
                "deviation": _CODES * each.deviation / self.span,
                "correlation": each.correlation,
                "removed": each.is_found,
            }
            for name, each in told
        }


def find_banding(photo: RawPhoto, threads: int = 1) -> FoundBanding | None:
    """The offsets of a photo's rows, and those of its columns without these; None of linear raws."""
    cfa, mosaic = photo.cfa, photo.mosaic
    if cfa is None:
        return None
    limit = _find_limit(photo)
    rows, columns = imap_threads(lambda axis: find_line_noise(mosaic, cfa, limit, axis), (0, 1), threads)
    cleaned = mosaic.copy() if rows.is_found or columns.is_found else mosaic
    if rows.is_found:
        remove_line_noise(cleaned, cfa, rows, limit, 0)
        columns = find_line_noise(cleaned, cfa, limit, 1)
    if columns.is_found:
        remove_line_noise(cleaned, cfa, columns, limit, 1)
    return FoundBanding((rows, columns), cleaned, span_of(photo))


def remove_banding(photo: RawPhoto, wanted: Banding | None, threads: int = 1) -> RawPhoto:
    """The photo without row and column noise, with a notice; one without any is returned as it is.

    Unless asked for, none is looked for in a mosaic without a camera.
    """
    if wanted == "off" or (wanted is None and photo.is_plain):
        return photo
    found = find_banding(photo, threads)
    if found is None or found.mosaic is photo.mosaic:
        return photo
    removed = ((name, each["deviation"]) for name, each in found.describe().items() if each["removed"])
    told = ", ".join(f"{name} by {deviation:.2g} of 255" for name, deviation in removed)
    remark = f"banding was found and removed: {told} (`banding=off` keeps it)"
    return replace(photo, mosaic=found.mosaic, notices=(*photo.notices, remark))


def _find_limit(photo: RawPhoto) -> float:
    """The sample value from which a photo may be saturated."""
    lowest = lowest_saturation(photo)
    black = float(photo.black.max())
    return black + _BELOW * (lowest - black)
