"""Pictures made smaller, with the filter of Lanczos, which keeps edges sharp without steps."""

import numpy as np
from PIL import Image

from demosaic_ntc.io.lazy_image import ImageLike


def shrunk(image: ImageLike, longest: int | None) -> ImageLike:
    """A picture (height, width, 3) whose longer side has at most so many pixels; smaller ones stay."""
    height, width = image.shape[:2]
    if longest is None or max(height, width) <= longest:
        return image
    whole = np.asarray(image)  # it may be one that is made as it is read
    scale = longest / max(height, width)
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    smaller = np.empty((size[1], size[0], 3), dtype=np.float32)
    for channel in range(3):  # one at a time: Pillow has no floating-point colours
        plane = Image.fromarray(np.ascontiguousarray(whole[..., channel]))
        smaller[..., channel] = np.asarray(plane.resize(size, Image.Resampling.LANCZOS))
    return smaller
