"""The picture of a raw that needs no demosaicing: linear ones have all colours, monochrome ones none.

Where nothing is to be removed and nothing is missing it is what was measured, to the bit. Noise and bad
pixels are the engine's, as in mosaics. A monochrome picture has three equal channels.
"""

import numpy as np

from demosaic_ntc.arrays import Flags, Float32, Planes
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.demosaicing.denoise import denoise_stored
from demosaic_ntc.developing.denoising import DENOISING_METHODS, Stabilised, Strengths
from demosaic_ntc.developing.render import (
    EncodedMosaic,
    RestoredPhoto,
    expand_channels,
    finish_stored,
    read_later,
)
from demosaic_ntc.developing.settings import Engine
from demosaic_ntc.raw.photo import GREEN
from demosaic_ntc.run import Run

_SIDE = 2  # pixels that become one in a picture of half the size


def complete_planes(
    mosaic: EncodedMosaic, missing: Flags | None, strengths: Strengths, engine: Engine, run: Run
) -> RestoredPhoto:
    """Remove noise and restore missing pixels, as far as either is there; else take samples as they are."""
    if engine.half:
        return RestoredPhoto(_halve(mosaic.samples))
    if mosaic.stabilised is not None:
        return _denoise_planes(mosaic, mosaic.stabilised, missing, strengths, engine, run)
    if missing is not None and engine.method in DENOISING_METHODS:
        return _inpaint_planes(mosaic, missing, engine, run)
    white = np.float32(mosaic.white)
    image = read_later(mosaic.stored).map(lambda part, *_: part * white)
    return RestoredPhoto(image, error=np.zeros(image.shape, np.float32) if run.want_error else None)


def _denoise_planes(
    mosaic: EncodedMosaic,
    stabilised: Stabilised,
    missing: Flags | None,
    strengths: Strengths,
    engine: Engine,
    run: Run,
) -> RestoredPhoto:
    """Let the engine remove the noise; the picture comes under the sRGB curve, to be read later."""
    levels = stabilised.levels()
    stored = denoise_stored(
        mosaic.stored,
        levels[GREEN : GREEN + 1] if mosaic.stored.shape[0] == 1 else levels,
        run,
        quality=engine.quality,
        missing=missing,
        strength=strengths.engine,
    )
    return finish_stored(stored, mosaic, Cfa.from_name("MONO"), strengths.grain, strengths.removed)


def _inpaint_planes(mosaic: EncodedMosaic, missing: Flags, engine: Engine, run: Run) -> RestoredPhoto:
    """Let the engine restore missing pixels; all others stay as they were measured."""
    from demosaic_ntc.inpainting.inpaint import inpaint_picture  # noqa: PLC0415 (loads filters; mosaics do without)

    white, how = np.float32(mosaic.white), {"method": engine.method, "quality": engine.quality}
    restored = inpaint_picture(mosaic.stored.whole(), missing, run, **how)
    deviation = None if restored.error is None else expand_channels(restored.error * white)
    image = expand_channels(restored.image * white)
    return RestoredPhoto(image, restored.certificate, restored.notices, deviation)


def _halve(samples: Float32) -> Planes:
    """The means of squares of pixels, (height // 2, width // 2, 3); what they leave at the border is cut."""
    picture = expand_channels(samples)
    height, width = (side // _SIDE for side in picture.shape[:2])
    if min(height, width) == 0:
        return picture
    squares = picture[: height * _SIDE, : width * _SIDE].reshape(height, _SIDE, width, _SIDE, 3)
    return np.asarray(squares.mean(axis=(1, 3)), np.float32)
