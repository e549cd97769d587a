"""Frames of several exposures: highlights of the reference that a frame with less light has measured.

They stand in the numbers that clipped samples had (`developing.highlights`), instead of what would be guessed
for them. Where the shorter frame shows less light than clips, something has moved, and the guess stays.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from demosaic_ntc.arrays import Flags, Float32, Float64
from demosaic_ntc.demosaicing.burst.coarse_alignment import align_coarsely, draw_grey
from demosaic_ntc.demosaicing.burst.motion import Motion
from demosaic_ntc.demosaicing.group_demosaic import MeasuredMosaic
from demosaic_ntc.developing.frames import (
    ReferenceFrame,
    choose_reference,
    find_gains,
    is_brighter,
    scale_exposure,
    strengths_of_merge,
)
from demosaic_ntc.developing.highlights import BRIGHTEST, number_light
from demosaic_ntc.developing.preprocess import CleanPhoto, Prepared, prepare_clean
from demosaic_ntc.developing.render import encode_mosaic
from demosaic_ntc.developing.settings import Merging, Settings
from demosaic_ntc.raw.levels import Exposure
from demosaic_ntc.raw.photo import Sites, place_of

_AGREES = 0.9  # of the light that clips: less is not what the reference saw
_SEEN = 1e-3  # the share of missing samples at most between which light is read


@dataclass(frozen=True, slots=True)
class PreparedBurst:
    """Frames that are ready for the engine; all else is as of the reference."""

    ready: Prepared
    frames: Sequence[CleanPhoto]
    mosaics: list[MeasuredMosaic]
    reference: int
    gains: list[float]  # times the light of each frame that the reference has gathered

    @property
    def base(self) -> CleanPhoto:
        """The reference as it was read."""
        return self.frames[self.reference]


def prepare_burst(frames: Sequence[CleanPhoto], settings: Settings, merging: Merging) -> PreparedBurst:
    """Choose a reference, and bring all frames into its light; highlights are those of shorter frames."""
    how = settings.development
    reference = choose_reference(frames, merging.reference, how)
    gains = find_gains(frames, reference)
    ready = prepare_clean(frames[reference], settings, strengths_of_merge(how))
    base = ReferenceFrame(ready, how)
    mosaics = [
        base.measure() if k == reference else base.measure_frame(frame, gain)
        for k, (frame, gain) in enumerate(zip(frames, gains, strict=True))
    ]
    shorter = [k for k, gain in enumerate(gains) if is_brighter(gain)]
    if ready.highlights is not None and shorter:
        shorter.sort(key=lambda k: gains[k])
        views = [_view(frames[k], mosaics[k], mosaics[reference], gains[k], merging) for k in shorter]
        ready = take_highlights(ready, views)
        base = ReferenceFrame(ready, how)
        mosaics[reference] = _replace_brightest(base.measure(), [mosaics[k] for k in shorter])
    return PreparedBurst(ready, frames, mosaics, reference, gains)


def _replace_brightest(mosaic: MeasuredMosaic, sources: Sequence[MeasuredMosaic]) -> MeasuredMosaic:
    """A mosaic whose samples from white on are as noisy as those of the frames that they come from."""
    assert mosaic.noise is not None
    noise = mosaic.noise.copy()
    for each in sources:
        if each.noise is not None:
            noise[:, -1] = np.maximum(noise[:, -1], each.noise[:, -1])
    return replace(mosaic, noise=noise)


@dataclass(frozen=True, slots=True)
class _ShorterFrame:
    """A frame that has gathered less light than the reference, and where it lies."""

    frame: CleanPhoto
    missing: Flags
    motion: Motion
    gain: float


def _view(
    frame: CleanPhoto, mosaic: MeasuredMosaic, base: MeasuredMosaic, gain: float, merging: Merging
) -> _ShorterFrame:
    """A frame that has gathered less light, and about where it lies."""
    still = merging.motion == "none"
    motion = Motion() if still else align_coarsely(draw_grey(mosaic), draw_grey(base), 2)
    missing = np.zeros(frame.photo.size, np.bool_) if mosaic.missing is None else mosaic.missing
    return _ShorterFrame(frame, missing, motion, gain)


def take_highlights(ready: Prepared, shorter: Sequence[_ShorterFrame]) -> Prepared:
    """The reference with the light of shorter frames, the longest of them first, where it is clipped."""
    found, sites = ready.highlights, ready.photo.sites
    assert found is not None
    codes, largest = ready.photo.mosaic.copy(), found.largest
    for place in np.ndindex(sites.channels.shape):
        part, first = codes[place_of(place, sites.channels.shape)], int(found.first[place])
        clipped = np.argwhere(part >= first)
        if not len(clipped):
            continue
        light = _measure_light(
            (clipped * sites.period + place).astype(np.float64), place, ready.exposure, shorter
        )
        seen = light >= _AGREES * found.limits[place]
        rows, columns = clipped[seen].T
        least = (first - float(sites.black[place])) * ready.exposure.gains[sites.channels[place]]
        part[rows, columns] = number_light(light[seen], least, first)
        largest = max(largest, float(light[seen].max(initial=0)))
    highlights = replace(found, largest=min(largest, BRIGHTEST))
    photo, stabilised = replace(ready.photo, mosaic=codes), ready.mosaic.stabilised
    stabilised = stabilised and replace(stabilised, largest=highlights.largest)
    encoded = encode_mosaic(photo, ready.exposure, stabilised, highlights, ready.lens.sites)
    return replace(ready, photo=photo, highlights=highlights, mosaic=encoded)


def _measure_light(
    places: Float64, site: tuple[int, ...], exposure: Exposure, shorter: Sequence[_ShorterFrame]
) -> Float32:
    """The light that shorter frames have measured at places of the reference, (count, 2); else 0."""
    light = np.zeros(len(places), np.float32)
    for each in shorter:
        open_ones = np.flatnonzero(light == 0)
        if len(open_ones):
            light[open_ones] = _read_light(each, places[open_ones], site, exposure)
    return light


def _read_light(view: _ShorterFrame, places: Float64, site: tuple[int, ...], exposure: Exposure) -> Float32:
    """The light of a frame at places of the reference, between samples of one site; 0 where some miss."""
    from scipy.ndimage import binary_dilation, map_coordinates  # noqa: PLC0415 (slow to load)

    photo, affine = view.frame.photo, view.motion.affine
    sites: Sites = photo.sites
    here = place_of(site, sites.channels.shape)
    own = np.linalg.solve(affine[:, 1:], (places - affine[:, 0]).T)
    at = (own - np.array(site)[:, None]) / np.array(sites.period)[:, None]
    gains = scale_exposure(exposure, view.gain).gains
    samples = (photo.mosaic[here] - np.float32(sites.black[site])) * np.float32(gains[sites.channels[site]])
    missing = binary_dilation(view.missing[here]).astype(np.float32)
    unseen = map_coordinates(missing, at, order=1, cval=1.0)
    light = map_coordinates(samples.astype(np.float32), at, order=3, mode="nearest")
    return np.where(unseen < _SEEN, np.maximum(light, 1e-6), 0).astype(np.float32)
