"""What is corrected of a photo's lens: chosen from what its file states and from a profile, and done.

Shading that list 2 states belongs to the raw, and is in every picture made of it. What list 3 or a profile
says is done to finished pictures alone; readers of a linear DNG do it themselves.

Lateral colour of a Bayer array is corrected in its samples: red and blue are moved to where green shows the
same before anything is demosaiced; what moves pixels later then moves all colours alike. Statements are round
numbers for all lenses of a kind: what they leave is found in the samples and added, so that every sample is
moved once. A GoPro FUSION states a little more than half of what its lens does.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import inf
from typing import TypeAlias

import numpy as np

from demosaic_ntc.arrays import Flags, Float32, Float64
from demosaic_ntc.choices import LensPart
from demosaic_ntc.io.pixels import ImageLike
from demosaic_ntc.lens.gains import (
    GainField,
    SiteGains,
    mosaic_gains,
    multiply_error,
    multiply_picture,
    plane_gains,
)
from demosaic_ntc.lens.lensfun import Profile, ProfileWarp, find_profile
from demosaic_ntc.lens.pixel_steps import apply_step, as_lazy
from demosaic_ntc.lens.sample_opcodes import PreparedSamples, trim_box
from demosaic_ntc.raw.opcodes.parameters import Opcode
from demosaic_ntc.raw.opcodes.pixel_opcodes import Gain, PixelOpcode
from demosaic_ntc.raw.opcodes.sensor_opcodes import TrimBounds
from demosaic_ntc.raw.opcodes.warps import Warp, keep_parts
from demosaic_ntc.raw.photo import GREEN, Box, RawPhoto

Parts: TypeAlias = frozenset[LensPart]

NOTHING_MOVED = 0.005  # pixels
_GLANCE = 65  # rows and columns at which it is looked how far pixels are moved


@dataclass(frozen=True, slots=True)
class PixelStep:
    """An opcode of pixels, and the part of the photo that it takes for the image."""

    opcode: PixelOpcode
    box: Box


@dataclass(frozen=True, slots=True)
class WarpStep:
    """What moves pixels, and the part of the photo that it takes for the image."""

    warp: Warp | ProfileWarp
    box: Box


@dataclass(frozen=True, slots=True, eq=False)
class LensCorrection:
    """All that is corrected of a photo's lens, in the order in which it is done."""

    size: tuple[int, int] = (0, 0)  # of the photo
    sites: SiteGains | None = None  # in samples, before the engine
    shading: GainField | None = None  # of the engine's picture
    before: tuple[PixelStep, ...] = ()  # of finished pictures, before pixels are moved
    warps: tuple[WarpStep, ...] = ()
    after: tuple[PixelStep, ...] = ()
    in_samples: tuple[str, ...] = ()  # names of what is in every picture
    profile: str = ""  # the name of the one that was used
    remarks: tuple[str, ...] = ()  # on what was done to samples
    is_flat: bool = False  # shading is that of flat frames
    aligned: float = 0.0  # pixels by which red or blue samples were moved: all colours then move as green

    @property
    def applied(self) -> tuple[str, ...]:
        """The names of all of it."""
        pixels = [each.opcode.name for each in (*self.before, *self.after)]
        return tuple(dict.fromkeys((*self.in_samples, *pixels, *(each.warp.name for each in self.warps))))

    @property
    def raw(self) -> "LensCorrection":
        """What of it is in the samples of a linear DNG: nothing that is for finished pictures."""
        return replace(self, before=(), warps=(), after=(), profile="")

    @property
    def notices(self) -> tuple[str, ...]:
        """What was done, and how it is left out."""
        if not self.applied and self.shading is None:
            return self.remarks
        said = describe_correction(self)
        source = f"the profile {self.profile}" if self.profile else "the file"
        done = f"lens corrected as {source} states: {said} (`lens=off` leaves it out)"
        if self.is_flat:
            done = f"lens corrected by flat frames: {said}"
        return *self.remarks, done

    @property
    def largest_gain(self) -> float:
        """How many times brighter shading makes light, at most."""
        return 1.0 if self.shading is None else max(1.0, self.shading.extremes[1])

    def brighten(self, image: ImageLike, lift: float, most: float = inf) -> ImageLike:
        """The engine's picture, under the lifted sRGB curve, without the shading of the lens."""
        if self.shading is None:
            return image
        return multiply_picture(as_lazy(image), lift, self.shading, self._step(image), most)

    def brighten_error(self, error: Float32, image: ImageLike, lift: float) -> Float32:
        """The deviations of that picture, from those before and the picture before."""
        return error if self.shading is None else multiply_error(error, as_lazy(image), lift, self.shading)

    def finish(self, image: ImageLike, lift: float, scale: Float64) -> ImageLike:
        """A picture for the eye: pixels brightened and moved; `scale` is the light of raw white by colour."""
        for each in self.before:
            image = apply_step(as_lazy(image), lift, each.opcode, each.box, self._step(image), scale)
        image = self._move(image) if self.warps else image
        for each in self.after:
            image = apply_step(as_lazy(image), lift, each.opcode, each.box, self._step(image), scale)
        return image

    def finish_error(self, error: Float32, image: ImageLike, lift: float) -> ImageLike:
        """The deviations of such a picture, moved with its pixels; `image` is the one that is not."""
        for each in (*self.before, *self.after):
            if isinstance(each.opcode, Gain) and (field := plane_gains((each.opcode,), self.size)):
                error = multiply_error(error, as_lazy(image), lift, field)
        return self._move(error, is_signed=False) if self.warps else error

    def find_sources(self, down: Float64, across: Float64, channel: int) -> tuple[Float64, Float64]:
        """Where the light of places in the photo comes from, through all that moves pixels."""
        channel = GREEN if self.aligned else channel
        for each in reversed(self.warps):
            box = each.box
            places = down - box.top, across - box.left
            down, across = each.warp.find_sources(places, (box.height, box.width), channel)
            down, across = down + box.top, across + box.left
        return down, across

    def _move(self, image: ImageLike, *, is_signed: bool = True) -> ImageLike:
        """A picture whose pixels are moved, all at once; what is not signed stays at or above zero."""
        from demosaic_ntc.lens.resampling import (  # noqa: PLC0415 (loads kernels; `info` does without)
            lanczos_weights,
            linear_weights,
            warp_picture,
        )

        step = self._step(image)

        def find(down: Float64, across: Float64, channel: int) -> tuple[Float64, Float64]:
            y, x = self.find_sources(down * step, across * step, channel)
            return y / step, x / step

        return warp_picture(image, find, lanczos_weights() if is_signed else linear_weights())

    def _step(self, image: ImageLike) -> int:
        """How many of the photo's rows make one of a picture's."""
        return max(1, self.size[0] // int(image.shape[0]))


def correct_lens(
    photo: RawPhoto, prepared: PreparedSamples, parts: Parts, profile: str | None = None
) -> LensCorrection:
    """Choose what is corrected: the parts that are wanted of what the file states, the rest by a profile."""
    box = photo.frame("visible")
    steps = list[PixelStep | WarpStep]()
    for opcode in photo.opcodes.pixels.opcodes:
        if isinstance(opcode, TrimBounds):
            box = trim_box(box, opcode)
        else:
            steps += _keep(opcode, parts, box)
    found = None
    if profile is not None and (open_parts := _find_open_parts(photo, parts)):
        found = find_profile(photo, profile, open_parts)
        steps += _profile_steps(found, photo.frame("camera"))
    shading, sites = _shade(photo, prepared.gains) if prepared.gains else (None, None)
    first = next((n for n, each in enumerate(steps) if isinstance(each, WarpStep)), len(steps))
    return LensCorrection(
        photo.size,
        sites,
        shading,
        tuple(each for each in steps[:first] if isinstance(each, PixelStep)),
        tuple(each for each in steps if isinstance(each, WarpStep)),
        tuple(each for each in steps[first:] if isinstance(each, PixelStep)),
        prepared.applied,
        found.description if found else "",
        prepared.notices,
        prepared.is_flat,
    )


def _profile_steps(found: Profile, box: Box) -> Iterator[PixelStep | WarpStep]:
    """What a profile knows, for the part of the photo that a camera shows."""
    if found.gains is not None:
        yield PixelStep(found.gains, box)
    if found.warp is not None:
        yield WarpStep(found.warp, box)


def _find_open_parts(photo: RawPhoto, parts: Parts) -> Parts:
    """The parts that are wanted and of which the file says nothing."""
    stated = (*photo.opcodes.linear.opcodes, *photo.opcodes.pixels.opcodes)
    known = {"vignetting"} if any(isinstance(each, Gain) for each in stated) else set[str]()
    if any(isinstance(each, Warp) for each in stated):
        known |= {"distortion", "ca"}
    return frozenset(part for part in parts if part not in known)


def _keep(opcode: Opcode, parts: Parts, box: Box) -> Iterator[PixelStep | WarpStep]:
    """An opcode as far as it is wanted."""
    if isinstance(opcode, Warp):
        kept = keep_parts(opcode, distortion="distortion" in parts, ca="ca" in parts)
        if kept is not None:
            yield WarpStep(kept, box)
    elif isinstance(opcode, PixelOpcode) and ("vignetting" in parts or not isinstance(opcode, Gain)):
        yield PixelStep(opcode, box)


def _shade(photo: RawPhoto, gains: tuple[Gain, ...]) -> tuple[GainField | None, SiteGains | None]:
    """The gains of the second list, of planes or of the sites of a mosaic."""
    if photo.cfa is None:
        return plane_gains(gains, photo.size), None
    return mosaic_gains(gains, photo.cfa, photo.size)


def describe_correction(lens: LensCorrection) -> str:
    """What is corrected, in words; empty if nothing is."""
    said = list(lens.applied)
    if lens.shading is not None:
        said.append(f"up to {lens.largest_gain:.2f} times brighter")
    moved, apart = measure_moves(lens)
    if moved > NOTHING_MOVED:
        said.append(f"pixels moved by up to {moved:.1f}")
    if apart > NOTHING_MOVED:
        said.append(f"red or blue by {apart:.2f} pixels more or less than green")
    return ", ".join(said)


def measure_moves(lens: LensCorrection) -> tuple[float, float]:
    """How far green is moved at most, and how far from it red or blue, in pixels."""
    if not lens.warps:
        return 0.0, lens.aligned
    down, across = np.meshgrid(*(np.linspace(0, side, _GLANCE) for side in lens.size), indexing="ij")
    red, green, blue = (lens.find_sources(down, across, channel) for channel in range(3))
    moved = np.hypot(green[0] - down, green[1] - across).max()
    apart = max(np.hypot(each[0] - green[0], each[1] - green[1]).max() for each in (red, blue))
    return float(moved), lens.aligned or float(apart)


def align_colours(
    photo: RawPhoto, lens: LensCorrection, missing: Flags | None, threads: int = 1
) -> tuple[RawPhoto, LensCorrection]:
    """The photo and its lens with lateral colour corrected in samples; as they are where there is none."""
    from demosaic_ntc.raw.chromatic_aberration import align_samples  # noqa: PLC0415 (loads kernels; `info` does without)

    moved, apart = measure_moves(lens)
    if photo.cfa is None or not photo.cfa.is_bayer or apart <= NOTHING_MOVED:
        return photo, lens

    def find_offsets(rows: Float64, columns: Float64, channel: int) -> tuple[Float64, Float64]:
        return find_lateral_offsets(lens, rows, columns, channel)

    aligned, found = align_samples(photo, missing, find_offsets, threads)
    said = (
        f"the file's lateral colour leaves {found.red:+.3%} of red's radius and {found.blue:+.3%} of blue's"
    )
    return aligned, replace(
        lens,
        in_samples=lens.applied,
        warps=lens.warps if moved > NOTHING_MOVED else (),
        aligned=apart,
        remarks=(*lens.remarks, f"{said}; corrected as well") if found.red or found.blue else lens.remarks,
    )


def find_lateral_offsets(
    lens: LensCorrection, rows: Float64, columns: Float64, channel: int
) -> tuple[Float64, Float64]:
    """How far a colour lies from where green shows the same, at the centres of pixels.

    Light that green shows at p belongs at q, which is found in one step of Newton's method.
    """
    down, across = np.asarray(rows) + 0.5, np.asarray(columns) + 0.5
    y, x = lens.find_sources(down, across, GREEN)
    y, x = 2 * down - y, 2 * across - x
    own, green = lens.find_sources(y, x, channel), lens.find_sources(y, x, GREEN)
    return own[0] - green[0], own[1] - green[1]
