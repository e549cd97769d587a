"""Opcodes of pixels done to a demosaiced picture, as it is read."""

import numpy as np

from demosaic_ntc.arrays import Float32, Float64
from demosaic_ntc.io.colour import SRGB_CURVE
from demosaic_ntc.io.pixels import ImageLike, LazyImage
from demosaic_ntc.lens.gains import multiply_encoded
from demosaic_ntc.raw.opcodes.area import Window
from demosaic_ntc.raw.opcodes.pixel_opcodes import FixVignetteRadial, PixelOpcode
from demosaic_ntc.raw.photo import Box


def as_lazy(image: ImageLike) -> LazyImage:
    """A picture that is read window by window, whatever it is."""
    if isinstance(image, LazyImage):
        return image
    return LazyImage(
        (image.shape[0], image.shape[1]), image.dtype, lambda rows, columns: image[rows, columns]
    )


def apply_step(
    image: LazyImage, lift: float, opcode: PixelOpcode, box: Box, step: int, scale: Float64
) -> LazyImage:
    """A picture under the lifted sRGB curve after one opcode, whose image is a box of the photo.

    A pixel stands for `step` × `step` of the photo; `scale` is the light of raw white, by colour.
    """

    def work(part: Float32, rows: slice, columns: slice) -> Float32:
        window = _window(rows, columns, box, step)
        code = part - np.float32(lift)
        if isinstance(opcode, FixVignetteRadial):
            gain = opcode.interpolate(*window.centres(), window.size).astype(np.float32)
            return multiply_encoded(code, gain) + np.float32(lift)
        values = np.asarray(SRGB_CURVE.decode(code.astype(np.float64)) / scale, np.float32)
        opcode.apply(values, window)
        return np.asarray(SRGB_CURVE.encode(values * scale) + lift, np.float32)

    return image.map(work)


def _window(rows: slice, columns: slice, box: Box, step: int) -> Window:
    """A part of a picture, counted from where a box of the photo begins."""
    down, across = box.top // step, box.left // step
    return Window(
        slice(rows.start - down, rows.stop - down),
        slice(columns.start - across, columns.stop - across),
        (box.height, box.width),
        step,
    )
