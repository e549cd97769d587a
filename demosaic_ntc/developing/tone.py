"""The look of a picture: brightness, contrast and colour as people expect them of a photograph.

Light shown as the sensor measured it is true, dark and flat: cameras expose for the highlights and leave the
rest to a curve. Ours has two steps, both from 0 to 1 and rising:

* exposure, in odds: light y has the odds yⁿ / (1 − yⁿ), and brightening by g multiplies them by gⁿ. Dark
  tones grow by g, white stays white, and between them lies a shoulder that n makes round or sharp. Two such
  steps are one of the product of their gains.
* contrast k around mid grey p: p (y/p)ᵏ below it and its mirror image towards white above. Of the distance
  to white a share may stay as it is: then white is reached at a slope and not level.

The automatic look is as sharp as it can be without clipping what was not clipped before: where its shoulder
would, it is rounder and ends steeper, and where that does not suffice the photo is brightened less.

Both act on one number per pixel, its brightness, and scale the three colours alike: hue and saturation stay,
grey stays grey. Brightness is between luminance, which would drive vivid colours out of the gamut, and the
largest channel, which would leave them dark. What still leaves the gamut is drawn towards grey of the same
luminance.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.arrays import Float32
from demosaic_ntc.io.colour import SRGB_CURVE, tabulate

Tones = NDArray[np.float64]
Tone = Callable[[Tones], Tones]

MID_GREY = 0.18

# How sharp the shoulder is (n above): 1 is soft and dull, from 4 on bright tones run into a wall.
_SHOULDER, _ROUNDEST = 2.5, 1.0

# Where the shoulder is roundest: the slope at which contrast ends, and the slope at which the last bit, this
# much, is left to what is really white.
_CONTRAST_END, _TIP_END, _TIP = 0.8, 3.0, 0.04

# The S-curve and the saturation of the automatic look, chosen by eye beside cameras' own pictures, and the
# weight of the largest channel in its brightness.
_CONTRAST, _SATURATION, _PEAK = 1.3, 1.1, 0.5

# Where the automatic look puts the median: at this light for a photo whose median is at a tenth of white, and
# by this power of it for others. Cameras do about that: they lift dark photos, but leave them darker than
# bright ones.
_AIM, _POWER = 0.18, 0.45

# No photo's median is lifted by more than four stops: what is that dark was meant to be, or is noise.
_MOST = 16.0

# From these lights on 8 bits have two codes left to white, one, and none. The curve may lift so large a share
# of the pixels over each of them: half of what is promised, for the sample that decides is not the picture.
_ENDS = SRGB_CURVE.decode(np.array([252.5, 253.5, 254.5]) / 255)
_NEWLY_CLIPPED = 0.001

# How often the way to the sharpest shoulder, and to the brightest picture, is halved.
_HALVINGS = 6

# One in so many pixels tells where the median comes to lie, and how often the aim is put right by that.
_FEW, _CORRECTIONS = 8, 3

# White is this much above the light that all but a thousandth of the pixels stay below, but never lower than
# this.
_HEADROOM, _LOWEST_WHITE, _BRIGHTEST = 1.5, 0.5, 0.999

# Colours are drawn back from this share of the way to the gamut's edge on, which lies just before white.
_KNEE, _EDGE = 0.8, 0.995

# Where the neutral look begins to roll off, if there is light above white.
_FOOT = 0.7

# Equal steps of the root of brightness in the table of factors, per unit, and the largest root it covers.
_STEPS, _LARGEST_ROOT = 1 << 18, 1.5
_DARK = 1 << 13  # steps of it from black on, where factors change fastest

# Parts of the pixels at whose luminance a camera's picture is compared with ours.
_QUANTILES = np.array([0.005, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.995])

# A camera's picture is never taken for more or less vivid than this beside ours.
_LEAST_VIVID, _MOST_VIVID = 0.7, 1.6


@dataclass(frozen=True, slots=True)
class Adjustments:
    """What a person adds to a look: stops of exposure; contrast and saturation from −100 to 100."""

    exposure: float = 0.0
    contrast: float = 0.0
    saturation: float = 0.0

    def adjust(self, tone: Tone, top: float = 1.0) -> Tone:
        """A curve with the exposure before it and the contrast after it."""
        gain, power = 2.0**self.exposure, 2 ** (self.contrast / 100)
        return lambda light: add_contrast(tone(top * brighten(light / top, gain)), power)


@dataclass(frozen=True, slots=True)
class ToneMapping:
    """A tone curve and a saturation for linear light of some colour space."""

    luminance: Float32  # of the three primaries
    factors: Float32  # what light is multiplied by, at equal steps of the root of its brightness
    peak: float  # the weight of the largest channel in brightness; the rest is luminance's
    saturation: float

    def __call__(self, light: Float32) -> Float32:
        """The light to be shown, (…, 3), of measured light; 1 is white in both."""

        def factors(brightness: Float32) -> Float32:
            root = np.sqrt(np.maximum(brightness, 0))
            index = (root * np.float32(_STEPS) + np.float32(0.5)).astype(np.int32)
            return np.take(self.factors, index, mode="clip")

        return _apply_tone(light, self.luminance, self.peak, self.saturation, factors)


def _apply_tone(
    light: Float32, weights: Float32, peak: float, saturation: float, factors: Callable[[Float32], Float32]
) -> Float32:
    """Light (…, 3) times the factor of its brightness, made vivid and drawn into the gamut."""
    red, green, blue = planes = np.ascontiguousarray(np.moveaxis(light, -1, 0))
    luminance = weights[0] * red + weights[1] * green + weights[2] * blue
    largest = np.maximum(np.maximum(red, green), blue)
    factor = factors(np.float32(peak) * largest + np.float32(1 - peak) * luminance)
    grey = luminance * factor
    lift = np.float32(1 - saturation) * grey
    factor *= np.float32(saturation)
    shown = planes * factor + lift
    _draw_into_gamut(shown, grey, largest * factor + lift)
    return np.moveaxis(shown, 0, -1)


def neutral_look(luminance: Tones, added: Adjustments, top: float = 1.0) -> ToneMapping | None:
    """Light as it was measured; None if nothing is added to it. Exposure is a plain gain there, not ours.

    Light above white, up to a top, rolls off.
    """
    if added.contrast == 0 and added.saturation == 0 and top <= 1:
        return None

    def tone(light: Tones) -> Tones:
        return light if top <= 1 else roll_off(light, top)

    contrasted = Adjustments(contrast=added.contrast).adjust(tone, top)
    return _look(contrasted, luminance, _PEAK, 1.0, added, top)


def roll_off(light: Tones, top: float) -> Tones:
    """Light as it is up to the foot of a shoulder, which takes a top above white to white."""
    width = (top - _FOOT) / (1 - _FOOT)
    above = np.clip((light - _FOOT) / (1 - _FOOT), 0, width)
    return np.asarray(np.minimum(light, _FOOT) + (1 - _FOOT) * above * (1 + above / width**2) / (1 + above))


def _shoulder(roundness: float) -> float:
    """How sharp a shoulder is, by its roundness from 0 to 1."""
    return _SHOULDER + (_ROUNDEST - _SHOULDER) * roundness


@dataclass(frozen=True, slots=True)
class _Curve:
    """The curve of the automatic look."""

    white: float
    gain: float
    roundness: float  # of the shoulder: sharp at 0, round at 1

    @classmethod
    def through(cls, white: float, median: float, aim: float, roundness: float) -> "_Curve":
        """The curve that takes a median to an aim."""
        straight = cls(white, 1.0, roundness)
        tones = np.linspace(0, 1, 4097)
        whole = aim / float(straight._below_tip(np.array(median / white)))
        wanted = float(np.interp(whole, add_contrast(tones, _CONTRAST, _CONTRAST_END * roundness), tones))
        power, ends = _shoulder(roundness), (min(median / white, 0.95), min(wanted, 0.95))
        odds, asked = (light**power / (1 - light**power) for light in ends)
        return replace(straight, gain=float((asked / odds) ** (1 / power)))

    def __call__(self, measured: Tones) -> Tones:
        """The brightness to be shown of measured brightness."""
        light = np.minimum(measured / self.white, 1.0)
        bright = brighten(light, self.gain, _shoulder(self.roundness))
        shown = add_contrast(bright, _CONTRAST, _CONTRAST_END * self.roundness)
        return np.asarray(shown * self._below_tip(light))

    def _below_tip(self, light: Tones) -> Tones:
        """What is left of tones that are not white: one at white, and without the tip far below it."""
        rising = _TIP_END * self.roundness * (1 - light)
        return np.asarray(1 - _TIP * rising / (rising + _TIP))

    def show(self, light: Float32, luminance: Tones) -> Float32:
        """Light (count, 3) as the automatic look shows it, without a table."""

        def factors(brightness: Float32) -> Float32:
            above = np.maximum(brightness, 1e-9)
            return np.asarray(self(above) / above, dtype=np.float32)

        return _apply_tone(light, np.asarray(luminance, np.float32), _PEAK, _SATURATION, factors)


def automatic_look(
    light: Float32, luminance: Tones, added: Adjustments, aim: float | None = None, top: float = 1.0
) -> ToneMapping:
    """The look that suits a picture by its own histogram; `light` is a sample of its pixels, (count, 3).

    `aim` is the median luminance that is wanted, where it is known, and `top` the light, from 1 up, that may
    be shown as white.
    """
    median = float(np.clip(np.median(light @ luminance), 1e-4, 0.9))
    if aim is None:
        usual = min(max(_AIM * (median / 0.1) ** _POWER, median), _MOST * median)
        curve = _fit_unclipping_curve(light, median, usual, top)
    else:
        curve = _fit_guided_curve(light, luminance, median, min(aim, _MOST * median), top)
    tone = added.adjust(curve, max(curve.white, 1.0))
    return _look(tone, luminance, _PEAK, _SATURATION, added, top)


def _fit_guided_curve(light: Float32, luminance: Tones, median: float, aim: float, top: float) -> _Curve:
    """The curve that shows colours, which it brightens less than grey, with a median luminance."""
    few, corrected = light[::_FEW], aim
    for _ in range(_CORRECTIONS):
        curve = _fit_unclipping_curve(light, median, corrected, top)
        shown = float(np.median(curve.show(few, luminance) @ luminance))
        corrected = min(corrected * aim / max(shown, 1e-6), 0.9)
    return _fit_unclipping_curve(light, median, corrected, top)


def _fit_unclipping_curve(light: Float32, median: float, aim: float, top: float) -> _Curve:
    """The curve with the sharpest shoulder, or the brightest one, that clips few pixels newly."""
    largest = light.max(axis=-1)
    white = float(np.clip(_HEADROOM * np.quantile(largest, _BRIGHTEST), _LOWEST_WHITE, top))
    full = max(white, 1.0)
    kept = full * np.array([_below_end(largest / np.float32(full), end) for end in _ENDS])

    def clips_few(curve: _Curve) -> bool:
        return bool((curve(kept) < _ENDS).all())

    def sharp(sharpness: float) -> _Curve:
        return _Curve.through(white, median, aim, 1 - sharpness)

    def lift(share: float) -> _Curve:
        return _Curve.through(white, median, median + share * (aim - median), 1.0)

    return _last(sharp, clips_few) if clips_few(sharp(0)) else _last(lift, clips_few)


def _below_end(largest: Float32, end: float) -> float:
    """The light that only few of the pixels below an end exceed."""
    below = np.sort(largest[largest < end])
    allowed = round(_NEWLY_CLIPPED * largest.size)
    return float(below[-1 - allowed]) if below.size > allowed else 0.0


def _last(curve: Callable[[float], _Curve], holds: Callable[[_Curve], bool]) -> _Curve:
    """The last curve that holds as its parameter goes from 0, where it does, to 1; by bisection."""
    if holds(curve(1)):
        return curve(1)
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(curve(middle)) else (low, middle)
    return curve(low)


def camera_look(
    light: Float32, shown: Float32, luminance: Tones, added: Adjustments, top: float = 1.0
) -> ToneMapping:
    """The look of the camera's own picture; both are linear light, samples of pixels as (count, 3).

    One scene has one order of luminances, so equal parts of the pixels lie below corresponding ones; the
    curve goes through those pairs, monotonically, and through black and white, which lies at `top`.
    """
    from scipy.interpolate import PchipInterpolator  # noqa: PLC0415 (slow to load; other looks do without)

    end = float(np.sqrt(top))
    measured = np.sqrt(np.clip(np.quantile(light @ luminance, _QUANTILES), 0, top))
    wanted = np.sqrt(np.clip(np.quantile(shown @ luminance, _QUANTILES), 0, 1))
    kept = np.flatnonzero(np.diff(measured, prepend=0.0) > 1e-3)
    kept = kept[measured[kept] < end - 1e-3]
    curve = PchipInterpolator([0.0, *measured[kept], end], [0.0, *np.maximum.accumulate(wanted[kept]), 1.0])
    vivid = float(np.clip(_vividness(shown) / max(_vividness(light), 1e-6), _LEAST_VIVID, _MOST_VIVID))

    def tone(measured: Tones) -> Tones:
        return np.asarray(curve(np.sqrt(np.clip(measured, 0, top))) ** 2)

    return _look(added.adjust(tone, top), luminance, 0.0, vivid, added, top)


def brighten(light: Tones, gain: float, shoulder: float = _SHOULDER) -> Tones:
    """Exposure in odds: dark tones grow by the gain, white stays white, what is above it becomes white."""
    power = np.clip(light, 0, 1) ** shoulder
    gained = gain**shoulder
    return np.asarray((gained * power / (1 + (gained - 1) * power)) ** (1 / shoulder))


def add_contrast(light: Tones, power: float, end: float = 0.0) -> Tones:
    """Contrast around mid grey, which stays; so do black and white, which is reached at this slope.

    The slope at mid grey is the power on both sides.
    """
    within = np.clip(light, 0, 1)
    below = MID_GREY * (within / MID_GREY) ** power
    distance = (1 - within) / (1 - MID_GREY)
    steeper = (power - end) / (1 - end)
    above = 1 - (1 - MID_GREY) * (end * distance + (1 - end) * distance**steeper)
    return np.where(within < MID_GREY, below, above)


def _look(
    tone: Tone, luminance: Tones, peak: float, vivid: float, added: Adjustments, top: float = 1.0
) -> ToneMapping:
    """The look of a curve, as a table of factors, which reaches further for light above white.

    Colours are multiplied by how vivid they are to be, and by what a person adds: from grey to twice that.
    """
    saturation = vivid * (1 + added.saturation / 100)
    reach = _LARGEST_ROOT if top <= 1 else _LARGEST_ROOT * float(np.sqrt(top))

    def factor(step: Tones) -> Tones:
        brightness = np.square(np.maximum(step, 1) / _STEPS)
        return np.asarray(tone(brightness) / brightness)

    table = tabulate(factor, round(reach * _STEPS) + 1, _DARK).astype(np.float32)
    return ToneMapping(np.asarray(luminance, dtype=np.float32), table, peak, saturation)


def _vividness(light: Float32) -> float:
    """How far the channels of pixels lie apart, in the mean, as a share of the largest."""
    largest = light.max(axis=-1)
    return float(((largest - light.min(axis=-1)) / np.maximum(largest, 1e-3)).mean())


def _draw_into_gamut(shown: Float32, grey: Float32, largest: Float32) -> None:
    """Draw colours with a channel near or above white towards grey of their luminance; none becomes white.

    A colour whose largest channel lies r times the way from grey to white stays up to the knee and then
    follows a hyperbola that touches there and tends to the edge. Channels come first: (3, …).
    """
    room = np.maximum(np.maximum(np.float32(_EDGE) - grey, (1 - grey) / 2), 0)
    far = largest - grey > np.float32(_KNEE) * room
    if far.any():
        way = (largest[far] - grey[far]) / np.maximum(room[far], np.float32(1e-6))
        excess, rest = way - _KNEE, 1 - _KNEE
        kept = ((_KNEE + rest * excess / (excess + rest)) / way).astype(np.float32)
        shown[:, far] = grey[far] + (shown[:, far] - grey[far]) * kept
