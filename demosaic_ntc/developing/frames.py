"""Frames of one scene: which is the reference, and each of them measured in the light and curve of that."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from demosaic_ntc.arrays import Float32
from demosaic_ntc.choices import MotionKind
from demosaic_ntc.demosaicing.burst.coarse_alignment import align_coarsely
from demosaic_ntc.demosaicing.burst.motion import pool
from demosaic_ntc.demosaicing.group_demosaic import MeasuredMosaic
from demosaic_ntc.developing.denoising import AS_IT_IS, Stabilised, Strengths, strengths_of
from demosaic_ntc.developing.highlights import BRIGHTEST, find_clipped
from demosaic_ntc.developing.preprocess import CleanPhoto, Prepared
from demosaic_ntc.developing.render import encode_mosaic
from demosaic_ntc.developing.settings import Development
from demosaic_ntc.developing.stored_frames import load_frame
from demosaic_ntc.errors import InputError, Unsupported
from demosaic_ntc.raw.chromatic_aberration import correct_photo_fringes
from demosaic_ntc.raw.levels import Exposure
from demosaic_ntc.raw.noise import noise_of, span_of
from demosaic_ntc.raw.photo import GREEN, RawPhoto
from demosaic_ntc.raw.saturation import Levels, saturation

_SAME = 2.0 ** (1 / 6)  # times the light: exposures that differ by less are one
_SHUTTER = 2.0**0.25  # times the light that EXIF may be off by
_BLOCK = 8  # cells of the array, across, whose mean is compared
_DARK, _BRIGHT, _FEWEST_BLOCKS = 0.01, 0.8, 8  # of white; blocks


def check_frame(frame: CleanPhoto, first: CleanPhoto) -> None:
    """Raise unless a frame can be merged with the first: Bayer's array, and the same camera and size."""
    photo, other = frame.photo, first.photo
    if photo.cfa is None or not photo.cfa.is_bayer:
        kind = "linear raws" if photo.cfa is None else f"raws of the array {photo.array_name}"
        raise Unsupported(f"{frame.path}: {kind} cannot be merged yet; those of Bayer's array can")
    for what, own, known in (
        ("camera", photo.exif.camera, other.exif.camera),
        ("size", f"{photo.size[1]}×{photo.size[0]}", f"{other.size[1]}×{other.size[0]}"),
        ("colour array", photo.array_name, other.array_name),
    ):
        if own != known:
            told = f"({own or 'unknown'}) than {first.path.name} ({known or 'unknown'})"
            raise InputError(f"{frame.path}: has another {what} {told}; merge frames of one camera")


def light_gathered(photo: RawPhoto) -> float:
    """What the exposure of a photo makes of light, in any unit: time times sensitivity over aperture².

    What EXIF does not tell counts as 1, as it does of frames that tell as little.
    """
    taken = photo.exif.facts
    stop = float(taken.get("f_number", 1.0))
    return float(taken.get("exposure_seconds", 1.0)) * float(taken.get("iso", 1.0)) / stop**2


def is_brighter(gain: float) -> bool:
    """Whether the reference has gathered more light than a frame, by so many times, and clips sooner."""
    return gain >= _SAME


def find_gains(frames: Sequence[CleanPhoto], reference: int, motion: MotionKind = "auto") -> list[float]:
    """How many times the light of each frame the reference has gathered: by EXIF, and by their samples.

    Shutters are not exact, and cameras round what they write. Of frames that EXIF calls alike nothing is
    measured.
    """
    base = frames[reference]
    stated = [light_gathered(base.photo) / light_gathered(each.photo) for each in frames]
    return [
        gain if gain == 1 else gain * _measure_gain(each, base, gain, motion)
        for each, gain in zip(frames, stated, strict=True)
    ]


def _measure_gain(frame: CleanPhoto, base: CleanPhoto, gain: float, motion: MotionKind) -> float:
    """What the gain of a frame must be taken by, from blocks that both have exposed well; near 1, or 1.

    The light of the reference is read where the frame lies: what moves by a part of a block would show as a
    change of light.
    """
    from scipy.ndimage import affine_transform  # noqa: PLC0415 (slow to load)

    own, other = _green_cells(frame) * np.float32(gain), _green_cells(base)
    if motion != "none":
        most = _BRIGHT * min(1.0, gain)
        seen, fixed = (np.sqrt(np.clip(each, 0, most)) for each in (own, other))
        lies = align_coarsely(seen, fixed, 1).affine
        other = affine_transform(other, lies[:, 1:], lies[:, 0], order=1, cval=np.inf)
    blocks = pool(own, _BLOCK), pool(other, _BLOCK)
    clipped = pool(((own > _BRIGHT * gain) | (other > _BRIGHT)).astype(np.float32), _BLOCK)
    well = (blocks[0] > _DARK * max(1.0, gain)) & (blocks[1] > _DARK * max(1.0, gain)) & (clipped == 0)
    if np.count_nonzero(well) < _FEWEST_BLOCKS:
        return 1.0
    found = float(np.median(blocks[1][well] / blocks[0][well]))
    return found if 1 / _SHUTTER < found < _SHUTTER else 1.0


def share_noise(frames: Sequence[CleanPhoto], how: Development) -> list[CleanPhoto]:
    """Give frames of one sensitivity the noise of the middle one of them: it is one camera's.

    Frames that are dark or clipped show too little of it.
    """
    found = [each.noise or load_frame(each).find_noise(how) for each in frames]
    speeds = [each.photo.exif.facts.get("iso") for each in frames]
    shared = {}
    for speed in set(speeds):
        own = [noise for noise, other in zip(found, speeds, strict=True) if other == speed]
        seen = [noise for noise in own if not noise.model.is_zero] or own
        seen.sort(key=lambda noise: noise.model.typical_deviation())
        shared[speed] = seen[len(seen) // 2]
    return [replace(each, noise=shared[speed]) for each, speed in zip(frames, speeds, strict=True)]


def choose_reference(frames: Sequence[CleanPhoto], wanted: str, how: Development) -> int:
    """The number of the reference frame: by name, the first, or the sharpest of the middle exposure."""
    if wanted == "first":
        return 0
    if wanted != "sharpest":
        return _find_named(frames, wanted)
    light = [light_gathered(each.photo) for each in frames]
    middle = sorted(light)[(len(light) - 1) // 2]
    candidates = [k for k, own in enumerate(light) if 1 / _SAME < own / middle < _SAME]
    if len(candidates) == 1:
        return candidates[0]
    return max(candidates, key=lambda k: measure_sharpness(frames[k], how))


def _find_named(frames: Sequence[CleanPhoto], wanted: str) -> int:
    """The number of the frame with a name, with or without its folder and extension."""
    for k, each in enumerate(frames):
        if wanted in (str(each.path), each.path.name, each.path.stem):
            return k
    names = ", ".join(each.path.name for each in frames)
    raise InputError(f"no frame is called {wanted!r}; `reference` is sharpest, first or one of {names}")


def measure_sharpness(frame: CleanPhoto, how: Development) -> float:
    """The energy of steps between neighbouring cells in green light, without that of noise."""
    frame = load_frame(frame)
    light = _green_cells(frame)
    steps = np.square(np.diff(light, axis=0)).mean() + np.square(np.diff(light, axis=1)).mean()
    noise, level = frame.find_noise(how).model, np.maximum(light, 0)
    # A cell is the mean of two greens, and a step, in either direction, the difference of two cells.
    variance = (noise.slope[GREEN] * float(level.mean()) + noise.floor[GREEN]) / 2
    brightness = max(float(level.mean()), 1e-6)
    return float(steps - 4 * variance) / brightness**2


def _green_cells(frame: CleanPhoto) -> Float32:
    """The mean of the two greens of each cell of Bayer's array, as light from black 0 to white 1."""
    photo = load_frame(frame).photo
    assert photo.cfa is not None
    height, width = (side // 2 * 2 for side in photo.size)
    black, total = float(photo.blacks[GREEN]), np.zeros((height // 2, width // 2), np.float32)
    for y, x in np.argwhere(photo.cfa.pattern[:2, :2] == GREEN):
        total += photo.mosaic[y:height:2, x:width:2]
    return np.asarray((total / 2 - np.float32(black)) / np.float32(span_of(photo)), np.float32)


@dataclass(frozen=True, slots=True)
class ReferenceFrame:
    """The reference, ready for the engine, and what it decides for the other frames."""

    ready: Prepared
    how: Development

    @property
    def stabilised(self) -> Stabilised:
        """The noise of its light and the curve of all frames."""
        assert self.ready.mosaic.stabilised is not None
        return self.ready.mosaic.stabilised

    def measure(self) -> MeasuredMosaic:
        """The reference itself; its completed highlights count as samples."""
        ready, cfa = self.ready, self.ready.photo.cfa
        assert cfa is not None
        noise = self.stabilised.levels()
        return MeasuredMosaic.check(
            ready.mosaic.plane(), cfa, ready.missing, noise, engine_strength(self.ready)
        )

    def measure_frame(self, frame: CleanPhoto, gain: float) -> MeasuredMosaic:
        """Another frame in the reference's light, which is so many times its own; clipped samples miss."""
        ready, how, frame = self.ready, self.how, load_frame(frame)
        exposure, photo = scale_exposure(ready.exposure, gain), frame.photo
        clipped, noise = find_clipped(photo, frame_levels(frame, how)), frame.noise
        if how.fringes == "auto":
            photo, noise = correct_photo_fringes(photo, frame.missing), None
        noise = noise or noise_of(photo, how.noise)
        stabilised = replace(Stabilised.of(noise.model, photo, exposure), curve=self.stabilised.curve)
        most = 1.0 if ready.highlights is None else BRIGHTEST
        encoded = encode_mosaic(photo, exposure, stabilised, None, frame.lens.sites, most)
        assert photo.cfa is not None
        measured = MeasuredMosaic.check(
            encoded.plane(), photo.cfa, frame.missing, stabilised.levels(), engine_strength(ready)
        )
        missing = frame.missing
        if clipped.any():
            missing = clipped if missing is None else missing | clipped
        return replace(measured, missing=missing)


def frame_levels(frame: CleanPhoto, how: Development) -> Levels:
    """The levels at which red, green and blue of a frame saturate."""
    white = frame.photo.white
    is_guessed = how.white == "auto" and not frame.photo.is_plain
    return saturation(frame.photo) if is_guessed else (white, white, white)


def scale_exposure(exposure: Exposure, gain: float) -> Exposure:
    """The exposure of a frame that has gathered less light, by so many times."""
    red, green, blue, second_green = (each * gain for each in exposure.gains)
    return replace(exposure, gains=(red, green, blue, second_green), clip=exposure.clip * gain)


def strengths_of_merge(how: Development) -> Strengths:
    """How much noise is removed of frames: what they leave, unless more is asked for or less."""
    if how.denoise == "auto" and how.denoise_color is None:
        return Strengths(1.0, 1.0)
    return strengths_of(how.denoise, how.denoise_color) or AS_IT_IS


def engine_strength(ready: Prepared) -> float:
    """The deviations that the engine reckons with, in multiples of what there is: never less."""
    return max(1.0, ready.strengths.engine)


def choose_grain(ready: Prepared, used: int) -> float:
    """The share of the reference's noise that brightness gets back: as much as a mean of frames has."""
    strongest = max(1.0, ready.strengths.strongest)
    return (1 - ready.strengths.brightness / strongest) / math.sqrt(used)
