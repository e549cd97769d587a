"""Frames of several exposures: highlights of the reference that a frame with less light has measured.

They stand in the numbers that clipped samples had (`developing.highlights`), instead of what would be guessed
for them. Where the shorter frame shows less light than clips, something has moved, and the guess stays.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.arrays import Flags, Float32, Float64
from demosaic_ntc.demosaicing.burst.coarse_alignment import align_coarsely, draw_grey
from demosaic_ntc.demosaicing.burst.motion import Motion
from demosaic_ntc.demosaicing.demosaic import demosaic
from demosaic_ntc.demosaicing.group_demosaic import MeasuredMosaic
from demosaic_ntc.developing.frames import (
    ReferenceFrame,
    choose_reference,
    find_gains,
    is_brighter,
    share_noise,
    strengths_of_merge,
)
from demosaic_ntc.developing.highlights import BRIGHTEST, number_light
from demosaic_ntc.developing.preprocess import CleanPhoto, Prepared, prepare_clean
from demosaic_ntc.developing.render import encode_mosaic
from demosaic_ntc.developing.settings import Merging, Settings
from demosaic_ntc.developing.stored_frames import load_frame, store_measured
from demosaic_ntc.engine.tiles import close_to
from demosaic_ntc.io.scratch import ScratchFile
from demosaic_ntc.raw.photo import GREEN, SECOND_GREEN, place_of
from demosaic_ntc.run import check_threads

_AGREES = 0.9  # of the light that clips: less is not what the reference saw
_INTERPOLATED = 9.0  # times the variance of the samples that light is interpolated from
_SEEN = 1e-3  # the share of missing samples at most between which light is read


@dataclass(frozen=True, slots=True)
class PreparedBurst:
    """Frames that are ready for the engine; all else is as of the reference."""

    ready: Prepared
    paths: list[Path]
    mosaics: list[MeasuredMosaic]
    reference: int
    gains: list[float]  # times the light of each frame that the reference has gathered


def prepare_burst(frames: Sequence[CleanPhoto], settings: Settings, merging: Merging) -> PreparedBurst:
    """Choose a reference, and bring all frames into its light; highlights are those of shorter frames.

    All but the reference lie in a file.
    """
    how, file = settings.development, ScratchFile()
    frames = share_noise(frames, how)
    reference = choose_reference(frames, merging.reference, how)
    gains = find_gains(frames, reference, merging.motion)
    ready = prepare_clean(load_frame(frames[reference]), settings, strengths_of_merge(how))
    base = ReferenceFrame(ready, how)
    mosaics = [
        base.measure() if k == reference else store_measured(base.measure_frame(frame, gain), file)
        for k, (frame, gain) in enumerate(zip(frames, gains, strict=True))
    ]
    burst = PreparedBurst(ready, [each.path for each in frames], mosaics, reference, gains)
    return burst if ready.highlights is None else _complete_highlights(burst, settings, merging)


def _complete_highlights(burst: PreparedBurst, settings: Settings, merging: Merging) -> PreparedBurst:
    """The burst with the light that shorter frames have seen in the highlights of its reference."""
    base, gains = burst.mosaics[burst.reference], burst.gains
    order = sorted((k for k, gain in enumerate(gains) if is_brighter(gain)), key=lambda k: gains[k])
    shorter = [burst.mosaics[k] for k in order]
    if not shorter:
        return burst
    views = [_ShorterFrame.align(each, base, merging) for each in shorter]
    ready = take_highlights(burst.ready, views, check_threads(settings.engine.threads))
    mosaics = list(burst.mosaics)
    mosaics[burst.reference] = _replace_brightest(
        ReferenceFrame(ready, settings.development).measure(), shorter
    )
    return replace(burst, ready=ready, mosaics=mosaics)


def _replace_brightest(mosaic: MeasuredMosaic, sources: Sequence[MeasuredMosaic]) -> MeasuredMosaic:
    """A mosaic whose samples from white on are as noisy as those of the frames that they come from."""
    assert mosaic.noise is not None
    noise = mosaic.noise.copy()
    for each in sources:
        if each.noise is not None:
            noise[:, -1] = np.maximum(noise[:, -1], _INTERPOLATED * each.noise[:, -1])
    return replace(mosaic, noise=noise)


@dataclass(frozen=True, slots=True)
class _ShorterFrame:
    """A frame that has gathered less light than the reference, and where it lies."""

    mosaic: MeasuredMosaic
    motion: Motion

    @classmethod
    def align(cls, mosaic: MeasuredMosaic, base: MeasuredMosaic, merging: Merging) -> "_ShorterFrame":
        """Find about where a frame lies."""
        if merging.motion == "none":
            return cls(mosaic, Motion())
        return cls(mosaic, align_coarsely(draw_grey(mosaic), draw_grey(base), max(base.cfa.period)))

    def draw(self, threads: int) -> Float32:
        """A picture of the frame, (height, width, 3), by interpolation."""
        samples = np.maximum(self.mosaic.samples.whole(), 0)
        white, cfa = max(float(samples.max()), 1.0), self.mosaic.cfa
        return demosaic(samples, cfa, method="lmmse", white=white, threads=threads).image

    def unseen(self) -> Float32:
        """Where samples of the frame miss, or next to it, (height, width): 1, elsewhere 0."""
        missing = self.mosaic.missing
        if missing is None:
            return np.zeros(self.mosaic.samples.shape[1:], np.float32)
        return close_to(np.asarray(missing), 2).astype(np.float32)

    def locate(self, places: Float64) -> Float64:
        """Where places of the reference, (count, 2), lie in the frame, (2, count)."""
        affine = self.motion.affine
        return np.asarray(np.linalg.solve(affine[:, 1:], (places - affine[:, 0]).T), np.float64)


def take_highlights(ready: Prepared, shorter: Sequence[_ShorterFrame], threads: int) -> Prepared:
    """The reference with the light of shorter frames, the longest of them first, where it is clipped."""
    found = ready.highlights
    assert found is not None
    codes = ready.photo.mosaic.copy()
    clipped, largest = found.flags(codes, 0), found.largest
    for each in shorter:
        if clipped.any():
            largest = max(largest, _put_light(codes, clipped, each, ready, threads))
    highlights = replace(found, largest=min(largest, BRIGHTEST))
    photo, stabilised = replace(ready.photo, mosaic=codes), ready.mosaic.stabilised
    stabilised = stabilised and replace(stabilised, largest=highlights.largest)
    encoded = encode_mosaic(photo, ready.exposure, stabilised, highlights, ready.lens.sites)
    return replace(ready, photo=photo, highlights=highlights, mosaic=encoded)


def _put_light(
    codes: NDArray[np.uint16], clipped: Flags, frame: _ShorterFrame, ready: Prepared, threads: int
) -> float:
    """Put the light of a frame in the place of clipped samples, which are so no more; return the largest."""
    found, sites, largest = ready.highlights, ready.photo.sites, 0.0
    assert found is not None
    picture, unseen = frame.draw(threads), frame.unseen()
    for place in np.ndindex(sites.channels.shape):
        here, first = place_of(place, sites.channels.shape), int(found.first[place])
        rows, columns = np.nonzero(clipped[here])
        if not len(rows):
            continue
        places = np.stack([rows, columns], axis=1) * np.array(sites.period) + np.array(place)
        channel = GREEN if sites.channels[place] == SECOND_GREEN else int(sites.channels[place])
        light = _read_light(picture[..., channel], unseen, frame.locate(places.astype(np.float64)), ready)
        seen = light >= _AGREES * found.limits[place]
        rows, columns, light = rows[seen], columns[seen], light[seen]
        least = (first - float(sites.black[place])) * ready.exposure.gains[sites.channels[place]]
        codes[here][rows, columns] = number_light(light, least, first)
        clipped[here][rows, columns] = False
        largest = max(largest, float(light.max(initial=0)))
    return largest


def _read_light(plane: Float32, unseen: Float32, places: Float64, ready: Prepared) -> Float32:
    """The light of an encoded plane at places, (2, count), between pixels; 0 where samples miss."""
    from scipy.ndimage import map_coordinates  # noqa: PLC0415 (slow to load)

    assert ready.mosaic.stabilised is not None
    missing = map_coordinates(unseen, places, order=1, cval=1.0)
    code = map_coordinates(plane, places, order=3, mode="nearest")
    light = ready.mosaic.stabilised.curve.decode(code.astype(np.float64))
    return np.where(missing < _SEEN, light, 0).astype(np.float32)
