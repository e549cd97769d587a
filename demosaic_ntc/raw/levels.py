"""Black, white and balance: the numbers that turn raw samples into light relative to white.

The rules are LibRaw's, so that pictures match; where those are known to fail (a single hot pixel or an
unsaturated frame changes the exposure), ours require a pile-up of saturated samples.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.choices import NamedBalance, White
from demosaic_ntc.errors import InputError
from demosaic_ntc.raw.fitted_balance import fit_balance
from demosaic_ntc.raw.photo import BLUE, GREEN, RED, SECOND_GREEN, UNBALANCED, Multipliers, RawPhoto, place_of
from demosaic_ntc.raw.saturation import Levels, bands, saturation
from demosaic_ntc.raw.temperature import PRESETS, Temperature, balance_under, light_under

_BLOCK = 8
_NEAR_WHITE = 25


@dataclass(frozen=True, slots=True)
class GreyPatch:
    """A place in the picture that is to be grey: its middle, and how far it reaches, in pixels."""

    x: int
    y: int
    radius: int = 8

    def __post_init__(self) -> None:
        """Refuse what lies in no picture."""
        if min(self.x, self.y, self.radius) < 0:
            raise InputError(f"no patch lies at {self}; give x,y or x,y,radius from 0 up, in pixels")

    def __str__(self) -> str:
        """As it is given on the command line."""
        return f"{self.x},{self.y},{self.radius}"


Balance = NamedBalance | tuple[float, float, float] | Temperature | GreyPatch


@dataclass(frozen=True, slots=True)
class Exposure:
    """How samples become light: subtract black, multiply by the channel's gain, clip at 1."""

    gains: Multipliers
    balance: Multipliers
    balance_source: str
    levels: Levels  # at which red, green and blue saturate
    clip: float = 1.0  # the light that every saturated sample reaches
    light: Temperature | None = None  # what the balance makes grey, where the camera's colours are known
    baseline: float = 0.0  # stops that the file asks for and the gains have, so that highlights lie above 1

    @property
    def white(self) -> float:
        """The level of the colour that reaches white first."""
        return min(zip(self.gains, self.levels, strict=False), key=lambda each: each[0] * each[1])[1]

    @property
    def description(self) -> dict[str, Any]:
        """The white balance as plain values."""
        return {
            "source": self.balance_source,
            "multipliers": list(self.balance),
            "kelvin": self.light and round(self.light.kelvin),
            "tint": self.light and round(self.light.tint, 1),
        }


def replace_levels(photo: RawPhoto, black: tuple[float, ...] | None, white: White) -> RawPhoto:
    """The photo with levels the user gave instead of its own: one black, or those of R, G, B and G2."""
    if black is not None:
        if len(black) not in (1, 4):
            raise InputError(f"{len(black)} black levels were given; give 1, or 4 for R,G,B,G2")
        levels = np.asarray(black * 4 if len(black) == 1 else black, dtype=np.float64)
        photo = replace(photo, black=levels[photo.channels])
    if isinstance(white, (int, float)):
        photo = replace(photo, white=float(white))
    if photo.white <= photo.black.min():
        raise InputError(f"white level {photo.white:g} is not above black; give a larger `white`")
    return photo


def expose(photo: RawPhoto, balance: Balance, white: White, *, keep_highlights: bool) -> Exposure:
    """Choose white levels and balance, and scale them into one gain per channel.

    Scaled by the least of the balanced white levels every saturated sample reaches 1 in every channel, and
    clips to white instead of pink; scaled by the largest nothing clips, and the highlights can be
    reconstructed.
    """
    is_guessed = white == "auto" and not photo.is_plain
    levels = saturation(photo) if is_guessed else (photo.white, photo.white, photo.white)
    multipliers, source = _choose_balance(photo, balance, min(levels) - float(photo.black.min()))
    saturated = [value * share for value, share in zip(multipliers, _shares(photo, levels), strict=True)]
    choose = max if keep_highlights else min
    return Exposure(
        gains=_divide_in_turn(multipliers, choose(saturated), photo.span),
        balance=_divide_in_turn(multipliers, choose(multipliers)),
        balance_source=source,
        levels=levels,
        clip=min(saturated) / choose(saturated),
        light=light_under(multipliers, photo),
    )


def _shares(photo: RawPhoto, levels: Levels) -> Multipliers:
    """How far above black each channel saturates, as a share of the distance to nominal white."""
    red, green, blue = (
        1.0 if level == photo.white else (level - _black_of(photo, colour)) / photo.span
        for colour, level in enumerate(levels)
    )
    return red, green, blue, green


def _black_of(photo: RawPhoto, colour: int) -> float:
    """The highest black level of a colour."""
    sites = photo.sites
    return float(sites.black[np.where(sites.channels == SECOND_GREEN, GREEN, sites.channels) == colour].max())


def _divide_in_turn(multipliers: Multipliers, *by: float) -> Multipliers:
    """Multipliers divided by one number after the other."""
    red, green, blue, second_green = multipliers
    for value in by:
        red, green, blue, second_green = red / value, green / value, blue / value, second_green / value
    return red, green, blue, second_green


def _choose_balance(photo: RawPhoto, balance: Balance, span: float) -> tuple[Multipliers, str]:
    """The multipliers that were asked for, or what stands in for them, and where they come from."""
    if photo.is_monochrome:
        return UNBALANCED, "none"
    if isinstance(balance, tuple):
        red, green, blue = balance
        return (red, green, blue, green), "given"
    if isinstance(balance, GreyPatch):
        return _grey_there(photo, balance, span), "patch"
    if isinstance(balance, Temperature):
        return balance_under(balance, photo), "temperature"
    if balance in PRESETS:
        return balance_under(PRESETS[balance], photo), balance
    if balance == "camera" and photo.camera_balance is not None:
        return photo.camera_balance, "camera"
    if balance == "camera" and photo.is_plain:
        return UNBALANCED, "none"
    if balance == "daylight" and photo.daylight_balance is not None:
        return photo.daylight_balance, "daylight"
    if balance == "camera" and (fitted := fit_balance(photo, span)) is not None:
        return fitted, "preview"
    return grey_world(photo, span), "auto"


def _grey_there(photo: RawPhoto, patch: GreyPatch, span: float) -> Multipliers:
    """Multipliers that make a patch of the sensor grey."""
    height, width = photo.size
    top, left = max(0, patch.y - patch.radius), max(0, patch.x - patch.radius)
    rows, columns = (slice(top, patch.y + patch.radius + 1), slice(left, patch.x + patch.radius + 1))
    sites = photo.sites
    places = np.ix_(np.arange(*rows.indices(height)), np.arange(*columns.indices(width)))
    within = tuple(place % period for place, period in zip(places, sites.period, strict=True))
    light = np.maximum(photo.mosaic[rows, columns] - sites.black[within], 0)
    if light.max() >= span:
        raise InputError(f"the grey patch {patch} is clipped; choose a darker one")
    channels = np.broadcast_to(
        np.where(sites.channels[within] == SECOND_GREEN, GREEN, sites.channels[within]), light.shape
    )
    means = [
        float(light[channels == channel].mean()) if (channels == channel).any() else 0.0
        for channel in range(3)
    ]
    if min(means) <= 0:
        raise InputError(f"the grey patch {patch} is black or too small; choose a brighter or larger one")
    return means[GREEN] / means[RED], 1.0, means[GREEN] / means[BLUE], 1.0


def grey_world(photo: RawPhoto, span: float) -> Multipliers:
    """Multipliers that make the mean of the photo grey, leaving out 8×8 blocks with a saturated sample."""
    sums, counts = np.zeros(4), np.zeros(4)
    sites = photo.sites
    for band in bands(photo.mosaic):
        light = _subtract_black(band, sites.black)
        kept = _find_unsaturated(light, span - _NEAR_WHITE)
        for site in np.ndindex(sites.channels.shape):
            place = place_of(site, sites.channels.shape)
            sums[sites.channels[site]] += light[place][kept[place[:2]]].sum(dtype=np.float64)
            counts[sites.channels[site]] += kept[place[:2]].sum()
    known = _estimate_grey_world(photo, sums, counts)
    return known[RED], known[GREEN], known[BLUE], known[SECOND_GREEN]


def _estimate_grey_world(
    photo: RawPhoto, sums: NDArray[np.float64], counts: NDArray[np.float64]
) -> list[float]:
    """Grey-world multipliers; daylight's where a channel has no light, green's for no second green."""
    daylight = photo.daylight_balance or UNBALANCED
    if (sums[:SECOND_GREEN] == 0).any():
        return list(daylight)
    values = [float(count / total) if total else 0.0 for count, total in zip(counts, sums, strict=True)]
    values[SECOND_GREEN] = values[SECOND_GREEN] or values[GREEN]
    return values


def _subtract_black(band: NDArray[np.uint16], black: NDArray[np.float64]) -> NDArray[np.float32]:
    """Samples above their site's black level; negative ones are zero."""
    height, width = black.shape[:2]
    repeats = (-(-band.shape[0] // height), -(-band.shape[1] // width), 1)[: band.ndim]
    tiled = np.tile(black.astype(np.float32), repeats)
    light: NDArray[np.float32] = np.maximum(band - tiled[: band.shape[0], : band.shape[1]], 0)
    return light


def _find_unsaturated(light: NDArray[np.float32], limit: float) -> NDArray[np.bool_]:
    """Which pixels, (height, width), lie in 8×8 blocks that stay below the limit."""
    light = light.max(axis=2) if light.ndim == 3 else light
    height, width = light.shape
    rows = np.maximum.reduceat(light, range(0, height, _BLOCK), axis=0)
    blocks = np.maximum.reduceat(rows, range(0, width, _BLOCK), axis=1) <= limit
    return blocks.repeat(_BLOCK, axis=0)[:height].repeat(_BLOCK, axis=1)[:, :width]
