"""From the engine's picture to the one that is shown: its look, and the part and size that are kept."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from PIL import Image as PillowImage

from demosaic_ntc.arrays import Float32, Float64
from demosaic_ntc.developing.preprocess import Prepared, is_neutral
from demosaic_ntc.developing.render import Finish, find_auto_gain, light_of, subsample
from demosaic_ntc.developing.settings import Development
from demosaic_ntc.developing.tone import Adjustments, ToneMapping, automatic_look, camera_look, neutral_look
from demosaic_ntc.io.colour import LINEAR_CURVE, linearise, output_space
from demosaic_ntc.io.pixels import Image, ImageLike
from demosaic_ntc.raw.photo import RawPhoto
from demosaic_ntc.raw.preview import shows_scene

# A look is chosen by one in n rows and columns, so that about this many pixels decide.
_DECIDING = 1 << 17

# The share of pixels that white lies above, where highlights were completed.
_NEARLY_ALL = 0.9999


def finish_of(image: ImageLike, ready: Prepared, how: Development, bits: int) -> Finish:
    """Colour space, exposure, look and highlights of the finished picture.

    `image` is the engine's, (height, width, 3), encoded and lifted.
    """
    photo, lift = ready.photo, ready.mosaic.lift
    space = output_space(how.space, photo.matrix.to_srgb)
    if how.linear:
        space = replace(space, curve=LINEAR_CURVE)
    blend_above = ready.exposure.clip if how.highlights == "blend" else None
    plain = Finish(space, photo.matrix.to_srgb, bits=bits, blend_above=blend_above)
    luminance = np.asarray(space.to_xyz[1] / space.to_xyz[1].sum())  # of the primaries
    name, added = look_name(ready, how), Adjustments(0.0, how.contrast, how.saturation)
    if how.exposure == "auto":
        plain = replace(plain, gain=find_auto_gain(image, lift, plain))
    elif name == "neutral":
        plain = replace(plain, gain=2.0**how.exposure)
    else:
        added = replace(added, exposure=how.exposure)
    if how.linear:
        return replace(plain, look=neutral_look(luminance, added, 1.0))
    every = max(1, round((image.shape[0] * image.shape[1] / _DECIDING) ** 0.5))
    seen, top = light_of(subsample(image, every), lift, plain), 1.0
    brightened = ready.lens.largest_gain
    if ready.highlights is not None and ready.highlights.largest * brightened > 1:
        top = _find_top(seen, plain, float(ready.highlights.limits.max()) * brightened)
    if name == "neutral":
        return replace(plain, look=neutral_look(luminance, added, top))
    return replace(plain, look=_look(seen, luminance, plain, ready, added, name, top))


def look_name(ready: Prepared, how: Development) -> str:
    """The look that is used: by default neutral for mosaics without a camera and for linear light."""
    if is_neutral(ready.photo, how):
        return "neutral"
    return "auto" if how.look is None or ready.embedded is None else how.look


def _look(
    seen: Float32,
    luminance: Float64,
    plain: Finish,
    ready: Prepared,
    added: Adjustments,
    name: str,
    top: float,
) -> ToneMapping:
    """The automatic look, as bright as the camera's own picture if there is one, or the look of that.

    `seen` is the light of the pixels that decide, (rows, columns, 3), and `top` what may be shown as white.
    """
    light = seen.reshape(-1, 3)
    if ready.embedded is None:
        return automatic_look(light, luminance, added, top=top)
    own = linearise(ready.embedded, plain.space)
    if name == "camera":
        return camera_look(light, own, luminance, added, top)
    return automatic_look(light, luminance, added, _brightness(own, seen, luminance, ready), top)


def _find_top(light: Float32, plain: Finish, limit: float) -> float:
    """The light that may be shown as white, from 1 up, given that of the pixels that decide.

    Nearly all pixels stay below it. It is at most the limit that saturates all channels, which is white by
    any measure.
    """
    most = limit * plain.gain
    return float(np.clip(np.quantile(light.max(axis=-1), _NEARLY_ALL), 1.0, max(most, 1.0)))


def _brightness(own: Float32, seen: Float32, luminance: NDArray[np.float64], ready: Prepared) -> float | None:
    """The median luminance of the camera's own picture; None if it shows something else."""
    assert ready.embedded is not None
    shown = (own @ luminance).reshape(ready.embedded.shape[:2])
    return float(np.median(shown)) if shows_scene(shown, seen @ luminance, ready.photo.orientation) else None


def cut(image: Image, photo: RawPhoto, how: Development) -> Image:
    """The part that is kept of a picture of the whole visible area, at full size or at that of cells."""
    box = photo.frame(how.crop)
    if (box.height, box.width) == photo.size:
        return image
    side = photo.size[0] // image.shape[0]
    top, left = box.top // side, box.left // side
    return image[top : top + max(1, box.height // side), left : left + max(1, box.width // side)]


def shrink(image: ImageLike, longest: int) -> ImageLike:
    """A picture (height, width, 3) whose longer side has at most so many pixels, by the filter of Lanczos."""
    height, width = image.shape[:2]
    if max(height, width) <= longest:
        return image
    whole = np.asarray(image)  # it may be one that is made as it is read
    scale = longest / max(height, width)
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    smaller = np.empty((size[1], size[0], 3), dtype=np.float32)
    for channel in range(3):  # one at a time: Pillow has no floating-point colours
        plane = PillowImage.fromarray(np.ascontiguousarray(whole[..., channel]))
        smaller[..., channel] = np.asarray(plane.resize(size, PillowImage.Resampling.LANCZOS))
    return smaller
