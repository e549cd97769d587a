"""Pictures into files, finished or repaired: in their depth, with all that describes them."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.errors import OutputError
from demosaic_ntc.images import fits_writing, jpeg, lossy, png_writing, tiff_writing
from demosaic_ntc.images.lossy import CHROMA_KEPT, JPEG_LARGEST_SIDE
from demosaic_ntc.images.picture import (
    DecodedImage,
    Indexed,
    JpegForm,
    Palette,
    TiffOrigin,
)
from demosaic_ntc.images.png_writing import PngChunks, PngForm
from demosaic_ntc.io.atomic import whole_file
from demosaic_ntc.io.exif import ORIENTATION, Fields, for_tiff
from demosaic_ntc.io.formats import Loss, format_of
from demosaic_ntc.io.pixels import ImageLike, ReportRows
from demosaic_ntc.io.tiff_tags import BYTE, SHORT, XMP, Field

_UNASSOCIATED_ALPHA = 2
_REPAIRED = ("PNG", "TIFF", "JPEG")


def repair_format(target: Path) -> str:
    """The format that a repaired picture is to be written in."""
    return format_of(target, _REPAIRED)


def check_fits(picture: DecodedImage, target: Path) -> None:
    """Refuse, before any work is done, a format that cannot hold what the picture has."""
    kind, colours = repair_format(target), picture.colours
    if kind == "JPEG" and picture.alpha is not None:
        raise OutputError(f"{target}: JPEG cannot hold the picture's transparency; write a PNG or TIFF")
    if kind == "JPEG" and colours.dtype != np.uint8:
        raise OutputError(f"{target}: JPEG has 8 bits, the picture is {picture.depth}; write a PNG or TIFF")
    if kind == "PNG" and colours.dtype not in (np.uint8, np.uint16):
        raise OutputError(f"{target}: PNG cannot hold the picture's {picture.depth} samples; write a TIFF")
    if kind == "JPEG" and max(picture.size) > JPEG_LARGEST_SIDE:
        raise OutputError(f"{target}: JPEG allows {JPEG_LARGEST_SIDE} pixels a side; write a PNG or TIFF")


def changes(picture: DecodedImage, target: Path) -> Iterator[str]:
    """What a user should know about writing the picture in the format of a target."""
    kind = repair_format(target)
    if kind == "JPEG":
        yield "JPEG codes all pixels again, so known ones change a little too; a PNG or TIFF keeps them"
    if kind != picture.format:
        yield f"from {picture.format} to {kind}, of the metadata only EXIF and profile are carried over"
    if kind == "JPEG" and picture.format != kind and jpeg.is_too_long(picture.block):
        yield "the EXIF block is too long for JPEG and was left out"
    if picture.indexed is not None and _expands(picture.indexed.palette, kind):
        yield f"the palette was expanded to colours for {kind}"


def write_picture(
    target: Path,
    picture: DecodedImage,
    *,
    overwrite: bool,
    report: ReportRows,
    loss: Loss | None = None,
    threads: int = 1,
) -> None:
    """Write the picture in the format of its target's extension, whole or not at all."""
    kind, loss = format_of(target, {*_BY_ROWS, *_AT_ONCE}), loss or Loss()
    with whole_file(target, overwrite=overwrite) as file:
        if kind in _BY_ROWS:
            _BY_ROWS[kind](file, picture, report, threads)
        else:
            _AT_ONCE[kind](file, picture, loss)
            report(1, 1)


def _write_png(file: BinaryIO, picture: DecodedImage, report: ReportRows, threads: int) -> None:
    """Write a PNG."""
    own = picture.own
    described = png_writing.make_chunks(picture.profile, picture.block, picture.xmp)
    kept = own if isinstance(own, PngChunks) else described
    if picture.indexed is None:
        pixels = _channels(picture)
        png_writing.write_png_as(file, pixels, PngForm.of(pixels), kept, report, threads)
        return
    palette = picture.indexed.palette
    if palette.is_grey:
        numbers, form = _levels(picture.indexed), PngForm(palette.bits, png_writing.GREY)
    else:
        numbers, form = picture.indexed.numbers, PngForm(palette.bits, png_writing.PALETTE)
        if not isinstance(own, PngChunks):
            kept = replace(kept, before=kept.before + png_writing.chunk(b"PLTE", palette.colours.tobytes()))
    png_writing.write_png_as(file, numbers, form, kept, report, threads)


def _levels(indexed: Indexed) -> NDArray[np.uint8]:
    """The numbers of grey levels, counted from black."""
    palette = indexed.palette
    is_reversed = palette.colours[0] > palette.colours[-1]
    return np.asarray(2**palette.bits - 1 - indexed.numbers if is_reversed else indexed.numbers)


def _write_tiff(file: BinaryIO, picture: DecodedImage, report: ReportRows, threads: int) -> None:
    """Write a TIFF; palettes with transparency become colours with alpha, as TIFF has no such palettes."""
    own = picture.own if isinstance(picture.own, TiffOrigin) else None
    if picture.indexed is not None and not _expands(picture.indexed.palette, "TIFF"):
        pixels: ImageLike = picture.indexed.numbers
        form = _make_indexed_form(picture.indexed.palette, own)
    else:
        pixels = _channels(picture)
        extra = () if picture.alpha is None else (own.extra if own and own.extra else (_UNASSOCIATED_ALPHA,))
        form = tiff_writing.TiffForm(
            tiff_writing.RGB if picture.colours.ndim == 3 else tiff_writing.BLACK_IS_ZERO, extra
        )
        if own and own.photometric == tiff_writing.WHITE_IS_ZERO:
            pixels, form = (
                _invert_levels(np.asarray(pixels)),
                replace(form, photometric=tiff_writing.WHITE_IS_ZERO),
            )
    form = replace(form, fields={**form.fields, **_collect_tags(picture)})
    tiff_writing.write_tiff(file, pixels, picture.profile, for_tiff(picture.exif), report, form, threads)


def _collect_tags(picture: DecodedImage) -> Fields:
    """The tags to be kept of a TIFF; how others are turned, which finished ones say in their EXIF; XMP."""
    if isinstance(picture.own, TiffOrigin):
        return picture.own.fields
    if picture.kind is None:
        return {XMP: Field(BYTE, picture.xmp)} if picture.xmp else {}
    return {ORIENTATION: Field(SHORT, (picture.orientation,))}


def _invert_levels(pixels: NDArray[Any]) -> NDArray[Any]:
    """Levels counted from white, as they were stored; a channel of transparency as it is."""
    stored = pixels.copy()
    levels = stored if stored.ndim == 2 else stored[..., 0]
    np.subtract(np.iinfo(stored.dtype).max, levels, out=levels)
    return stored


def _expands(palette: Palette, kind: str) -> bool:
    """Whether a format has no place for a palette."""
    return kind == "JPEG" or (kind == "TIFF" and palette.alpha is not None)


def _make_indexed_form(palette: Palette, own: TiffOrigin | None) -> tiff_writing.TiffForm:
    """The form of numbers, with the map of their colours."""
    bits = palette.bits if palette.bits < 8 else None
    if palette.is_grey:
        return tiff_writing.TiffForm(own.photometric if own else tiff_writing.BLACK_IS_ZERO, bits=bits)
    table = np.zeros((3, 2**palette.bits), np.uint16)
    table[:, : len(palette.colours)] = palette.colours.T.astype(np.uint16) * 257
    return tiff_writing.TiffForm(
        tiff_writing.PALETTE, bits=bits, fields={320: Field(SHORT, tuple(table.ravel().tolist()))}
    )


def _write_jpeg(file: BinaryIO, picture: DecodedImage, loss: Loss) -> None:
    """Write a JPEG: one that was a JPEG before with its own tables, finished ones as other lossy formats."""
    own = picture.own
    if picture.kind is None:
        lossy.write_jpeg(file, picture, loss)
    elif isinstance(own, JpegForm):
        coding = {"qtables": own.tables, "subsampling": own.sampling, "progressive": own.progressive}
        file.write(jpeg.encode_jpeg(picture.pixels, own.segments, **coding))
    else:  # EXIF that is too long is left out here, where Pillow would refuse it
        segments = jpeg.make_segments(picture.profile, picture.block)
        file.write(jpeg.encode_jpeg(picture.pixels, segments, quality=loss.quality, subsampling=CHROMA_KEPT))


def _channels(picture: DecodedImage) -> ImageLike:
    """Colours and alpha side by side."""
    if picture.alpha is None:
        return picture.colours
    return np.dstack([picture.pixels, picture.alpha])


_BY_ROWS = {"PNG": _write_png, "TIFF": _write_tiff}
_AT_ONCE = {
    "JPEG": _write_jpeg,
    "WebP": lossy.write_webp,
    "AVIF": lossy.write_avif,
    "JPEG XL": lossy.write_jpeg_xl,
    "FITS": fits_writing.write_fits,
}
