"""How the values of options are read: numbers, lights, places, rules."""

from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ..flags import replace_flags

if TYPE_CHECKING:
    from demosaic_ntc.demosaicing.noise import NoiseModel
    from demosaic_ntc.raw.levels import GreyPatch
    from demosaic_ntc.raw.temperature import Temperature

# Those of `demosaic_ntc.raw.levels`, which takes too long to load for --help; a test compares them.
BALANCES = ("camera", "auto", "daylight", "cloudy", "shade", "tungsten", "fluorescent", "flash")


def _numbers(text: str, what: str) -> tuple[float, ...]:
    """Numbers separated by commas."""
    try:
        numbers = tuple(float(part) for part in text.split(","))
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not {what}") from None
    if not all(map(isfinite, numbers)):
        raise typer.BadParameter(f"{text!r} is not {what}: numbers are finite")
    return numbers


def parse_balance(text: str) -> "str | tuple[float, float, float] | Temperature":
    """A kind of white balance, the temperature and tint of a light, or three multipliers."""
    if text in BALANCES:
        return text
    kelvin, unit, tint = text.lower().partition("k")
    if unit:
        return _temperature(text, kelvin, tint.lstrip(","))
    values = _numbers(text, f"{', '.join(BALANCES)}, a light such as 5200K, or R,G,B such as 2.1,1,1.5")
    if len(values) != 3 or min(values) <= 0:
        raise typer.BadParameter(f"{text!r} is not three positive multipliers R,G,B such as 2.1,1,1.5")
    return values[0], values[1], values[2]


def _temperature(text: str, kelvin: str, tint: str) -> "Temperature":
    """A light such as 5200K or 5200K,+8."""
    from demosaic_ntc.errors import InputError
    from demosaic_ntc.raw.temperature import Temperature

    try:
        return Temperature(float(kelvin), float(tint or 0))
    except ValueError:
        raise typer.BadParameter(
            f"{text!r} is no light; give kelvin and tint such as 5200K or 5200K,+8"
        ) from None
    except InputError as error:
        raise typer.BadParameter(replace_flags(str(error))) from error


def parse_patch(text: str) -> "GreyPatch":
    """A grey patch of the picture: x,y or x,y,radius."""
    from demosaic_ntc.errors import InputError
    from demosaic_ntc.raw.levels import GreyPatch

    try:
        place = [int(part) for part in text.split(",")]
        if not 2 <= len(place) <= 3:
            raise ValueError
        return GreyPatch(*place)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not x,y or x,y,radius in pixels such as 1200,800") from None
    except InputError as error:
        raise typer.BadParameter(replace_flags(str(error))) from error


def parse_black(text: str) -> tuple[float, ...]:
    """One black level, or four."""
    values = _numbers(text, "a black level N or R,G,B,G2")
    if len(values) not in (1, 4):
        raise typer.BadParameter(f"{text!r} is not one black level or four R,G,B,G2")
    return values


def parse_white(text: str) -> str | float:
    """A rule for the white level, or the level."""
    return text if text in ("auto", "metadata") else _numbers(text, "auto, metadata or a white level")[0]


def parse_exposure(text: str) -> str | float:
    """A number of stops, or the rule that finds one."""
    if text == "auto":
        return text
    stops = _numbers(text, "auto or a number of stops")[0]
    if not -10 <= stops <= 10:
        raise typer.BadParameter(f"{text!r} is not between -10 and 10 stops")
    return stops


def parse_denoise(text: str) -> str | float:
    """A rule for the strength of denoising, or the strength."""
    if text in ("auto", "off"):
        return text
    strength = _numbers(text, "auto, off or a strength such as 0.7")[0]
    if not 0 <= strength <= 10:
        raise typer.BadParameter(f"{text!r} is not a strength from 0 to 10")
    return strength


def parse_noise(text: str) -> "NoiseModel":
    """Slope and floor of the variance of samples, for all colours or for each."""
    from demosaic_ntc.demosaicing.noise import NoiseModel
    from demosaic_ntc.errors import InputError

    values = _numbers(text, "slope and floor A,B such as 1e-4,2e-6")
    try:
        return NoiseModel.of_pairs(values)
    except InputError as error:
        raise typer.BadParameter(f"{text!r}: {error}") from error


def parse_bad_pixels(text: str) -> str | Path:
    """A rule for bad pixels, or the file that lists them."""
    return text if text in ("auto", "off") else Path(text)
