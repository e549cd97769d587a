"""Mosaics without a camera's metadata: one-channel TIFF and PNG pictures, and data without any header."""

import struct

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.errors import InputError, Truncated, Unsupported, damage_explained
from demosaic_ntc.io.exif import orientation_in
from demosaic_ntc.io.formats import Layout
from demosaic_ntc.io.header import FileHeader, FileKind, check_pixels
from demosaic_ntc.io.tiff_tags import number
from demosaic_ntc.raw.photo import Mosaic, RawPhoto


def read_plain(header: FileHeader, layout: Layout) -> RawPhoto:
    """A mosaic stored as a one-channel picture."""
    is_png = header.kind is FileKind.PNG
    samples = _read_png(header) if is_png else _read_tiff(header)
    orientation = 1 if is_png else orientation_in(header.tags.first())
    return _photo(samples, layout, layout.bits or 8 * samples.itemsize, orientation)


def read_headerless(header: FileHeader, layout: Layout) -> RawPhoto:
    """A mosaic stored as nothing but its samples, row by row."""
    if layout.cfa is None or layout.width is None or layout.height is None:
        raise InputError("headerless data needs its layout; give `width` `height` `bits` `cfa`")
    check_pixels(layout.width, layout.height, header.limits)
    data = np.frombuffer(header.read(), dtype=np.uint8)
    samples, bits = _unpack(data, layout.height, layout.width, layout.bits)
    return _photo(samples, layout, bits, orientation=1)


def _photo(samples: NDArray[np.unsignedinteger], layout: Layout, bits: int, orientation: int) -> RawPhoto:
    """A photo whose levels follow from its depth and whose colours are taken as they are."""
    if layout.cfa is None:
        raise InputError("a plain mosaic does not say its colour array; give `cfa`, e.g. `cfa=RGGB`")
    mosaic: Mosaic = np.ascontiguousarray(samples, dtype=np.uint16)
    return RawPhoto(
        mosaic=mosaic,
        channels=layout.cfa.pattern,
        black=np.zeros((1, 1)),
        white=float(2**bits - 1),
        is_plain=True,
        orientation=orientation,
    )


def _read_png(header: FileHeader) -> NDArray[np.unsignedinteger]:
    """The samples of a grey PNG of 8 or 16 bits."""
    head = header.head
    if len(head) < 26:
        raise Truncated("truncated or damaged PNG header; copy it again from its source")
    width, height = struct.unpack(">LL", head[16:24])
    check_pixels(width, height, header.limits)
    if head[25] != 0:
        raise Unsupported("is a PNG with colours or transparency; a mosaic has one grey channel")
    if head[24] < 8:
        raise Unsupported("is a PNG of fewer than 8 bits; a mosaic has 8 or 16 bits per sample")
    from demosaic_ntc.images.png_reading import read_grey_png  # noqa: PLC0415 (raws do without)

    return read_grey_png(header.file)


def _read_tiff(header: FileHeader) -> NDArray[np.unsignedinteger]:
    """The samples of a one-channel TIFF of 8 or 16 bits."""
    import tifffile  # noqa: PLC0415 (raws do without)

    from demosaic_ntc.images.tiff_reading import check_blocks  # noqa: PLC0415 (likewise)

    directories = list(header.tags.directories())
    if len(directories) != 1:
        raise Unsupported(f"is a TIFF of {len(directories)} frames; a mosaic has one")
    check_pixels(number(directories[0], 256), number(directories[0], 257), header.limits)
    header.file.seek(0)
    with damage_explained("TIFF, or one of an unknown compression"), tifffile.TiffFile(header.file) as tiff:
        check_blocks(tiff.pages.first, header.file)
        picture = np.asarray(tiff.pages.first.asarray())
    if picture.ndim != 2 or picture.dtype not in (np.uint8, np.uint16):
        shape = "×".join(map(str, picture.shape))
        raise Unsupported(f"is a TIFF of {shape} {picture.dtype}; a mosaic is height×width uint8 or uint16")
    return picture


def _unpack(
    data: NDArray[np.uint8], height: int, width: int, bits: int | None
) -> tuple[NDArray[np.unsignedinteger], int]:
    """Samples and their depth; the length of the data tells how they are packed."""
    pixels = height * width
    if data.size == pixels and bits in (None, 8):
        return data.reshape(height, width), 8
    if data.size == 2 * pixels and bits != 8:
        return data.view("<u2").reshape(height, width), bits or 16
    if 4 * data.size == 5 * pixels and width % 4 == 0 and bits in (None, 10):
        return _unpack_10(data).reshape(height, width), 10
    if 2 * data.size == 3 * pixels and width % 2 == 0 and bits in (None, 12):
        return _unpack_12(data).reshape(height, width), 12
    depth = f" at {bits} bits" if bits else ""
    raise InputError(
        f"has {data.size} bytes, which {width}×{height} samples{depth} do not fill; "
        "check `width` `height` `bits` (of the samples; `raw_bits` where `bits` is of the picture)"
    )


def _unpack_10(data: NDArray[np.uint8]) -> NDArray[np.uint16]:
    """Samples of 10 bits in MIPI CSI-2 packing: four high bytes, then one byte of low pairs."""
    groups = data.reshape(-1, 5).astype(np.uint16)
    low = (groups[:, 4:] >> np.arange(0, 8, 2, dtype=np.uint16)) & 3
    return np.asarray((groups[:, :4] << 2) | low, dtype=np.uint16)


def _unpack_12(data: NDArray[np.uint8]) -> NDArray[np.uint16]:
    """Samples of 12 bits in MIPI CSI-2 packing: two high bytes, then one byte of low halves."""
    groups = data.reshape(-1, 3).astype(np.uint16)
    low = (groups[:, 2:] >> np.array([0, 4], dtype=np.uint16)) & 15
    return np.asarray((groups[:, :2] << 4) | low, dtype=np.uint16)
