"""Linear DNGs read into photos: their samples are decoded here, LibRaw reads their header and colours."""

from dataclasses import replace

from demosaic_ntc.io.exif import Exif
from demosaic_ntc.io.header import FileHeader
from demosaic_ntc.raw.camera_matrix import camera_matrix
from demosaic_ntc.raw.dng.colours import colour_standin, read_colours
from demosaic_ntc.raw.dng.linear_reading import camera_crop, check_linear, read_linear
from demosaic_ntc.raw.libraw import extract_preview, multipliers, open_libraw, orientation_of
from demosaic_ntc.raw.noise import is_denoised, noise_profile
from demosaic_ntc.raw.photo import LINEAR, MONO, RawPhoto


def read_linear_photo(header: FileHeader, exif: Exif) -> RawPhoto:
    """Everything of a linear DNG; LibRaw need not know its samples."""
    tags = header.mosaic_tags
    check_linear(tags)
    with open_libraw(header, header.read(), []) as raw:
        preview, orientation = extract_preview(raw), orientation_of(raw, header)
    read = read_linear(header.file, tags)
    noise, unused = noise_profile(tags)
    photo = RawPhoto(
        mosaic=read.samples,
        channels=LINEAR if read.samples.ndim == 3 else MONO,
        black=read.black,
        white=read.white,
        orientation=orientation,
        camera_crop=camera_crop(tags, read.samples.shape[:2]),
        exif=exif,
        noise=noise,
        opcodes=read.opcodes,
        is_denoised=is_denoised(tags, header.tags.first()),
        notices=unused,
        preview=preview,
    )
    return photo if photo.is_monochrome else _add_colours(photo, header)


def _add_colours(photo: RawPhoto, header: FileHeader) -> RawPhoto:
    """The photo with its colours as LibRaw understands them in a small DNG that states the same."""
    with open_libraw(header, colour_standin(header), []) as raw:
        return replace(
            photo,
            camera_balance=multipliers(raw.camera_whitebalance),
            daylight_balance=multipliers(raw.daylight_whitebalance),
            matrix=camera_matrix(raw, photo.channels, is_dng=True),
            stated=read_colours(header),
        )
