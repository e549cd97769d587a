"""A repaired picture into a file: in its own depth and kind of colours, with all that described it."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.errors import OutputError
from demosaic_ntc.files.atomic import whole_file
from demosaic_ntc.files.developing.render import ReportRows
from demosaic_ntc.files.metadata import ORIENTATION, Exif, exif_block
from demosaic_ntc.files.pictures import jpeg, png_writing, tiff_writing
from demosaic_ntc.files.pictures.image import format_of
from demosaic_ntc.files.pictures.lossy import CHROMA_KEPT, JPEG_LARGEST_SIDE
from demosaic_ntc.files.pictures.picture import (
    Indexed,
    JpegForm,
    Palette,
    StoredPicture,
    TiffOrigin,
    expanded,
)
from demosaic_ntc.files.pictures.png_writing import PngChunks, PngForm
from demosaic_ntc.files.tags import SHORT, Field

_JPEG_QUALITY = 95
_UNASSOCIATED_ALPHA = 2
_BLOCK = 1 << 14  # pixels compared with a palette at a time


def repair_format(target: Path) -> str:
    """The format that a repaired picture is to be written in."""
    return format_of(target, _WRITERS)


def check_fits(picture: StoredPicture, target: Path) -> None:
    """Refuse, before any work is done, a format that cannot hold what the picture has."""
    kind, colours = repair_format(target), picture.colours
    if kind == "JPEG" and picture.alpha is not None:
        raise OutputError(f"{target}: JPEG has no transparency, which the picture has; write a PNG or TIFF")
    if kind == "JPEG" and colours.dtype != np.uint8:
        raise OutputError(f"{target}: JPEG has 8 bits, the picture is {picture.depth}; write a PNG or TIFF")
    if kind == "PNG" and colours.dtype not in (np.uint8, np.uint16):
        raise OutputError(f"{target}: PNG has no {picture.depth} samples, the picture has; write a TIFF")
    if kind == "JPEG" and max(picture.size) > JPEG_LARGEST_SIDE:
        raise OutputError(f"{target}: JPEG ends at {JPEG_LARGEST_SIDE} pixels a side; write a PNG or TIFF")


def changes(picture: StoredPicture, target: Path) -> Iterator[str]:
    """What a user should know about writing the picture in the format of a target."""
    kind = repair_format(target)
    if kind == "JPEG":
        yield "JPEG codes all pixels again, so known ones change a little too; a PNG or TIFF keeps them"
    if kind != picture.kind.value:
        yield f"from {picture.kind.value} to {kind}, of the metadata EXIF and profile are carried over only"
    if kind == "JPEG" and picture.kind.value != kind and jpeg.is_too_long(_block(picture)):
        yield "the EXIF block is too long for JPEG and was left out"
    if picture.indexed is not None and _expands(picture.indexed.palette, kind):
        yield f"the palette was expanded to colours for {kind}"


def repaired(picture: StoredPicture, colours: NDArray[Any], missing: NDArray[np.bool_]) -> StoredPicture:
    """The picture with other colours where they were missing; palettes give the nearest they have."""
    if picture.indexed is None:
        return replace(picture, colours=colours)
    numbers, palette = picture.indexed.numbers.copy(), picture.indexed.palette
    numbers[missing] = _nearest(palette, colours[missing], numbers[missing])
    indexed = Indexed(numbers, palette)
    return replace(picture, colours=expanded(indexed), indexed=indexed)


def made_opaque(picture: StoredPicture, missing: NDArray[np.bool_]) -> StoredPicture:
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


def write_stored(target: Path, picture: StoredPicture, *, overwrite: bool, report: ReportRows) -> None:
    """Write the picture in the format of its target's extension, whole or not at all."""
    with whole_file(target, overwrite=overwrite) as file:
        _WRITERS[repair_format(target)](file, picture, report)


def _write_png(file: BinaryIO, picture: StoredPicture, report: ReportRows) -> None:
    """Write a PNG."""
    own = picture.own
    kept = own if isinstance(own, PngChunks) else png_writing.described(picture.profile, _block(picture))
    if picture.indexed is None:
        pixels = _channels(picture)
        png_writing.write_png_as(file, pixels, PngForm.of(pixels), kept, report)
        return
    palette = picture.indexed.palette
    if palette.is_grey:
        numbers, form = _levels(picture.indexed), PngForm(palette.bits, png_writing.GREY)
    else:
        numbers, form = picture.indexed.numbers, PngForm(palette.bits, png_writing.PALETTE)
        if not isinstance(own, PngChunks):
            kept = replace(kept, before=kept.before + png_writing.chunk(b"PLTE", palette.colours.tobytes()))
    png_writing.write_png_as(file, numbers, form, kept, report)


def _levels(indexed: Indexed) -> NDArray[np.uint8]:
    """The numbers of grey levels, counted from black."""
    palette = indexed.palette
    is_reversed = palette.colours[0] > palette.colours[-1]
    return np.asarray(2**palette.bits - 1 - indexed.numbers if is_reversed else indexed.numbers)


def _write_tiff(file: BinaryIO, picture: StoredPicture, report: ReportRows) -> None:
    """Write a TIFF; palettes with transparency become colours with alpha, as TIFF has no such palettes."""
    own = picture.own if isinstance(picture.own, TiffOrigin) else None
    fields = own.fields if own else {ORIENTATION: Field(SHORT, (picture.orientation,))}
    exif = picture.exif if any((picture.exif.image, picture.exif.photo, picture.exif.gps)) else None
    if picture.indexed is not None and not _expands(picture.indexed.palette, "TIFF"):
        pixels: NDArray[Any] = picture.indexed.numbers
        form = _indexed_form(picture.indexed.palette, own)
    else:
        pixels = _channels(picture)
        extra = () if picture.alpha is None else (own.extra if own and own.extra else (_UNASSOCIATED_ALPHA,))
        form = tiff_writing.TiffForm(
            tiff_writing.RGB if picture.colours.ndim == 3 else tiff_writing.BLACK_IS_ZERO, extra
        )
        if own and own.photometric == tiff_writing.WHITE_IS_ZERO:
            pixels, form = _from_white(pixels), replace(form, photometric=tiff_writing.WHITE_IS_ZERO)
    form = replace(form, fields={**form.fields, **fields})
    tiff_writing.write_tiff(file, pixels, picture.profile, exif, report, form)


def _from_white(pixels: NDArray[Any]) -> NDArray[Any]:
    """Levels counted from white, as they were stored; a channel of transparency as it is."""
    stored = pixels.copy()
    levels = stored if stored.ndim == 2 else stored[..., 0]
    np.subtract(np.iinfo(stored.dtype).max, levels, out=levels)
    return stored


def _expands(palette: Palette, kind: str) -> bool:
    """Whether a format has no place for a palette."""
    return kind == "JPEG" or (kind == "TIFF" and palette.alpha is not None)


def _indexed_form(palette: Palette, own: TiffOrigin | None) -> tiff_writing.TiffForm:
    """The form of numbers, with the map of their colours."""
    bits = palette.bits if palette.bits < 8 else None
    if palette.is_grey:
        return tiff_writing.TiffForm(own.photometric if own else tiff_writing.BLACK_IS_ZERO, bits=bits)
    table = np.zeros((3, 2**palette.bits), np.uint16)
    table[:, : len(palette.colours)] = palette.colours.T.astype(np.uint16) * 257
    return tiff_writing.TiffForm(
        tiff_writing.PALETTE, bits=bits, fields={320: Field(SHORT, tuple(table.ravel().tolist()))}
    )


def _write_jpeg(file: BinaryIO, picture: StoredPicture, report: ReportRows) -> None:
    """Write a JPEG: one that was a JPEG before with its own tables, others at full colour resolution."""
    own = picture.own
    if isinstance(own, JpegForm):
        coding = {"qtables": own.tables, "subsampling": own.sampling, "progressive": own.progressive}
        content = jpeg.coded(picture.colours, own.segments, **coding)
    else:
        segments = jpeg.described(picture.profile, _block(picture))
        content = jpeg.coded(picture.colours, segments, quality=_JPEG_QUALITY, subsampling=CHROMA_KEPT)
    file.write(content)
    report(1, 1)


def _block(picture: StoredPicture) -> bytes | None:
    """The metadata as PNG and JPEG carry it; None where there is nothing to say."""
    if picture.exif_block is not None:
        return picture.exif_block
    exif, turned = picture.exif, picture.orientation != 1
    if not (exif.image or exif.photo or exif.gps or turned):
        return None
    return exif_block(_with_orientation(exif, picture.orientation))


def _with_orientation(exif: Exif, orientation: int) -> Exif:
    """The metadata with an orientation."""
    return replace(exif, image={**exif.image, ORIENTATION: Field(SHORT, (orientation,))})


def _channels(picture: StoredPicture) -> NDArray[Any]:
    """Colours and alpha side by side."""
    if picture.alpha is None:
        return picture.colours
    return np.dstack([picture.colours, picture.alpha])


_WRITERS = {"PNG": _write_png, "TIFF": _write_tiff, "JPEG": _write_jpeg}
