"""The colour of light as a temperature and a tint, and the white balance of a camera under it.

Lights lie near the colours of glowing bodies: the temperature says which of them, in kelvin, and the tint how
far to the side, in 3000ths of the CIE 1960 (u, v) diagram; above zero the light is greener and the picture is
made more magenta. These are the scales of the DNG specification, so numbers mean what they do in other
programs. The colours of glowing bodies follow Krystek, Color Research & Application 10 (1985), doi
10.1002/col.5080100109.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.errors import InputError
from demosaic_ntc.io.colour import XYZ_FROM_SRGB
from demosaic_ntc.raw.photo import UNBALANCED, Multipliers, RawPhoto
from demosaic_ntc.recipe import CheckedSettings, Slider, setting

Colour = NDArray[np.float64]

COOLEST, HOTTEST = 1500.0, 25000.0
MOST_TINT = 150.0
_TINT_SCALE = 3000.0

# Finer than anybody sees: a hundredth of a mired.
_MIREDS = np.arange(1e6 / HOTTEST, 1e6 / COOLEST, 0.01)

# How far the normal of the locus is looked for, in mireds.
_ASIDE = 0.1


@dataclass(frozen=True, slots=True)
class Temperature(CheckedSettings):
    """A light by its temperature in kelvin and its tint."""

    kelvin: float = setting(
        5500.0,
        "Temperature of the light.",
        "Raw development",
        low=COOLEST,
        high=HOTTEST,
        unit=" K",
        wrong="{} K is not a light",
        label="Kelvin",
        slider=Slider(2000, 12000, 50, " K"),
    )
    tint: float = setting(
        0.0,
        "Tint of the light; above zero it is greener.",
        "Raw development",
        low=-MOST_TINT,
        high=MOST_TINT,
        wrong="a tint of {} is too large",
        label="Tint",
        slider=Slider(-100, 100, 2),
    )

    def __str__(self) -> str:
        """As it is given on the command line."""
        return f"{self.kelvin:g}K" + (f",{self.tint:+g}" if self.tint else "")


#: Lights by name, as programs set them. Daylight is not among them: the camera's own matrix is made for it.
PRESETS = {
    "cloudy": Temperature(6500, 10),
    "shade": Temperature(7500, 10),
    "tungsten": Temperature(2850, 0),
    "fluorescent": Temperature(3800, 21),
    "flash": Temperature(5500, 0),
}


def balance_under(light: Temperature, photo: RawPhoto) -> Multipliers:
    """The multipliers that make grey things grey under a light; for unknown cameras as if they saw sRGB."""
    seen = np.linalg.solve(photo.matrix.to_srgb, np.linalg.solve(XYZ_FROM_SRGB, _xyz(light)))
    red, green, blue = seen / np.array((photo.daylight_balance or UNBALANCED)[:3])
    if min(red, green, blue) <= 0:
        raise InputError(
            f"this camera's colours do not reach a light of {light}; give one nearer to daylight"
        )
    return float(green / red), 1.0, float(green / blue), 1.0


def light_under(balance: Multipliers, photo: RawPhoto) -> Temperature | None:
    """The light that a balance makes grey; None where it is none, or the camera's colours are not known."""
    if photo.matrix.source == "none":
        return None
    seen = np.array((photo.daylight_balance or UNBALANCED)[:3]) / np.array(balance[:3])
    x, y, z = XYZ_FROM_SRGB @ photo.matrix.to_srgb @ seen
    place = np.array([4 * x, 6 * y]) / (x + 15 * y + 3 * z)
    locus = _locus(_MIREDS)
    nearest = int(np.argmin(np.square(locus - place).sum(axis=1)))
    mired = _MIREDS[nearest]
    tint = float((place - locus[nearest]) @ _normal(mired)) * _TINT_SCALE
    if nearest in (0, _MIREDS.size - 1) or abs(tint) > MOST_TINT:
        return None
    return Temperature(1e6 / mired, tint)


def _xyz(light: Temperature) -> Colour:
    """The colour of a light in XYZ, with Y = 1."""
    mired = 1e6 / light.kelvin
    u, v = _locus(np.array(mired)) + _normal(mired) * (light.tint / _TINT_SCALE)
    x, y = 3 * u / (2 * u - 8 * v + 4), 2 * v / (2 * u - 8 * v + 4)
    return np.array([x / y, 1.0, (1 - x - y) / y])


def _locus(mired: Colour) -> Colour:
    """The colour (u, v) of a body that glows at these mireds (a million by kelvin), along a last axis."""
    kelvin = 1e6 / mired
    u = (0.860117757 + 1.54118254e-4 * kelvin + 1.28641212e-7 * kelvin**2) / (
        1 + 8.42420235e-4 * kelvin + 7.08145163e-7 * kelvin**2
    )
    v = (0.317398726 + 4.22806245e-5 * kelvin + 4.20481691e-8 * kelvin**2) / (
        1 - 2.89741816e-5 * kelvin + 1.61456053e-7 * kelvin**2
    )
    return np.stack([u, v], axis=-1)


def _normal(mired: float) -> Colour:
    """The unit vector across the locus, towards green."""
    along = _locus(np.array(mired + _ASIDE)) - _locus(np.array(mired - _ASIDE))
    across = np.array([-along[1], along[0]])
    return np.asarray(across / np.linalg.norm(across))
