"""From a noisy picture, every entry of which was measured, to one without its noise."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from demosaic_ntc.arrays import Flags, Float32, Planes
from demosaic_ntc.demosaicing.flat_regions import settle_calm
from demosaic_ntc.demosaicing.group_demosaic import SHOWS, check_strength
from demosaic_ntc.demosaicing.measured_planes import CodedPlanes, extremes_of
from demosaic_ntc.engine.checks import check_missing, check_noise
from demosaic_ntc.engine.pass_tables import NOISY
from demosaic_ntc.engine.passes import ObservedPixels
from demosaic_ntc.engine.restore import Estimate, MaskedPass, restore
from demosaic_ntc.engine.result import StoredPicture, out_of_time
from demosaic_ntc.engine.tiles import Windowed
from demosaic_ntc.run import Run


def denoise_stored(
    samples: Windowed,
    noise: ArrayLike,
    run: Run,
    *,
    quality: str = "normal",
    missing: NDArray[np.bool_] | None = None,
    strength: float = 1.0,
) -> StoredPicture:
    """Remove the noise of planes (channels, height, width) with full scale 1 by groups of similar patches.

    ``noise`` are standard deviations, one for each channel, or those at equal steps of the level from 0 to 1,
    (channels, steps); ``strength`` is how strongly, as if there were so many times the noise. ``missing`` are
    flags of pixels, (height, width), that are restored as well: samples there are but a first guess.
    """
    times, (channels, height, width) = check_strength(strength), samples.shape
    dead = None if missing is None else check_missing(missing, "picture", (height, width))
    variance = check_noise(noise, 1.0, channels)
    picture, wanted = CodedPlanes.of(samples), np.ones((height, width), np.bool_)
    if quality != "best" and variance.mean() > SHOWS:
        wanted = ~settle_calm(picture, samples, None, variance, times, run)
        wanted |= False if dead is None else dead
    doubt = _first_variance(samples, variance) if run.want_error else np.zeros((0, 0, 0), np.float32)
    estimate, _, _ = restore(
        Estimate(picture, doubt),
        _make_observed(samples, dead, variance * np.float32(times**2)),
        [MaskedPass(step, wanted) for step in NOISY[quality]],
        run.stage("groups"),
    )
    return StoredPicture(estimate.planes, None, estimate.variance, out_of_time(run.deadline))


def _make_observed(samples: Windowed, missing: Flags | None, noise: Float32) -> ObservedPixels:
    """Return what is known: all entries, but for pixels that are missing, as exact as the noise is."""
    channels, height, width = samples.shape
    entries = np.full((height, width), (1 << channels) - 1, np.uint8)
    if missing is not None:
        entries[missing] = 0
    depth = np.broadcast_to(np.uint8(1), (height, width))
    return ObservedPixels(entries, depth, *extremes_of(samples), noise, samples)


def _first_variance(samples: Windowed, noise: Float32) -> Planes:
    """Return the expected squared error of the samples, (channels, height, width)."""
    return np.broadcast_to(noise.mean(axis=1)[:, None, None], samples.shape).copy()
