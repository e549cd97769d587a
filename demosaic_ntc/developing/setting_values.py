"""Values of settings that are more than a number or a word: how they are written, and which make sense."""

from glob import glob
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from demosaic_ntc.choices import BALANCES, LENS_PARTS
from demosaic_ntc.errors import InputError, as_number, check_choice
from demosaic_ntc.recipe import read_numbers

if TYPE_CHECKING:
    from demosaic_ntc.demosaicing.noise import NoiseModel
    from demosaic_ntc.raw.levels import GreyPatch
    from demosaic_ntc.raw.temperature import Temperature

_MOST_UNEQUAL = 1e4  # of multipliers: beyond, nothing but one colour is left
_WHITEST = 1e6  # samples have 16 bits: under a far higher white the picture would be black


def parse_balance(text: str) -> "str | tuple[float, float, float] | Temperature":
    """A kind of white balance, the temperature and tint of a light, or three multipliers."""
    if text in BALANCES:
        return text
    kelvin, unit, tint = text.lower().partition("k")
    if unit:
        return _parse_light(text, kelvin, tint.lstrip(","))
    values = read_numbers(text, f"{', '.join(BALANCES)}, a light such as 5200K, or R,G,B such as 2.1,1,1.5")
    if len(values) != 3 or min(values) <= 0:
        raise InputError(f"{text!r} is not three positive multipliers R,G,B such as 2.1,1,1.5")
    return values[0], values[1], values[2]


def _parse_light(text: str, kelvin: str, tint: str) -> "Temperature":
    """A light such as 5200K or 5200K,+8."""
    from demosaic_ntc.raw.temperature import Temperature  # noqa: PLC0415 (help does without)

    try:
        numbers = float(kelvin), float(tint or 0)
    except ValueError:
        raise InputError(f"{text!r} is not a light; give kelvin and tint such as 5200K or 5200K,+8") from None
    return Temperature(*numbers)


def parse_patch(text: str) -> "GreyPatch":
    """A grey patch of the picture: x,y or x,y,radius."""
    from demosaic_ntc.raw.levels import GreyPatch  # noqa: PLC0415 (help does without)

    try:
        place = [int(part) for part in text.split(",")]
    except ValueError:
        place = []
    if not 2 <= len(place) <= 3:
        raise InputError(f"{text!r} is not x,y or x,y,radius in pixels such as 1200,800")
    return GreyPatch(*place)


def parse_black(text: str) -> tuple[float, ...]:
    """One black level, or four."""
    values = read_numbers(text, "a black level N or R,G,B,G2")
    if len(values) not in (1, 4):
        raise InputError(f"{text!r} is not one black level or four R,G,B,G2")
    return values


def parse_noise(text: str) -> "NoiseModel":
    """Slope and floor of the variance of samples, for all colours or for each."""
    from demosaic_ntc.demosaicing.noise import NoiseModel  # noqa: PLC0415 (help does without)

    return NoiseModel.of_pairs(read_numbers(text, "slope and floor A,B such as 1e-4,2e-6"))


def parse_bad_pixels(text: str) -> str | Path:
    """A rule for bad pixels, or the file that lists them."""
    return text if text in ("auto", "off") else Path(text)


def parse_raws(text: str) -> tuple[Path, ...]:
    """Files: one, those of a folder, or those of a pattern such as darks/*.dng."""
    path = Path(text)
    if any(sign in text for sign in "*?[") and not path.exists():
        found = [Path(each) for each in sorted(glob(text, recursive=True))]
    elif path.is_dir():
        found = sorted(path.iterdir())
    else:
        return (path,)
    files = tuple(each for each in found if each.is_file() and not each.name.startswith("."))
    if not files:
        raise InputError(f"{text}: there is no file; name raws, their folder, or a pattern in quotes")
    return files


def check_raws(paths: Any) -> None:
    """Refuse what is no list of files."""
    if not isinstance(paths, tuple) or not paths or not all(isinstance(each, Path) for each in paths):
        raise InputError(f"{paths!r} are not files; give paths of raws")


def parse_lens(text: str) -> str | tuple[str, ...]:
    """A word for all or no lens corrections, or some of them."""
    return text if text in ("auto", "off") else tuple(text.split(","))


def check_lens(lens: Any) -> None:
    """Refuse lens corrections that do not exist."""
    if lens in ("auto", "off"):
        return
    for part in (lens,) if isinstance(lens, str) else lens:
        check_choice("part of lens corrections", part, ("auto", "off", *LENS_PARTS))
        if part in ("auto", "off"):
            raise InputError(f"`lens={part}` stands alone; give it, or some of {', '.join(LENS_PARTS)}")


def check_balance(balance: Any) -> None:
    """Refuse a white balance that no light needs."""
    from demosaic_ntc.raw.levels import GreyPatch  # noqa: PLC0415 (help does without)
    from demosaic_ntc.raw.temperature import Temperature  # noqa: PLC0415 (likewise)

    if isinstance(balance, Temperature | GreyPatch):
        return
    if not isinstance(balance, tuple):
        check_choice("white balance", balance, BALANCES)
    elif len(balance) != 3 or not all(0 < as_number(value) < inf for value in balance):
        raise InputError("white balance multipliers are positive numbers; give R,G,B such as 2.1,1,1.5")
    elif max(balance) > _MOST_UNEQUAL * min(balance):
        raise InputError(f"no light needs multipliers {_MOST_UNEQUAL:g}-fold apart; give e.g. 2.1,1,1.5")


def check_white(white: Any) -> None:
    """Refuse a white level that no samples have."""
    is_level = 0 < as_number(white) <= _WHITEST
    if not (is_level or (isinstance(white, str) and white in ("auto", "metadata"))):
        raise InputError(f"no samples have a white level of {white}; give 1 to {_WHITEST:g}")


def check_black(black: tuple[float, ...]) -> None:
    """Refuse black levels that no samples have."""
    if not all(abs(as_number(level)) <= _WHITEST for level in black):
        raise InputError(f"no samples have such a black level; give 0 to {_WHITEST:g}")


def check_noise(noise: Any) -> None:
    """Refuse what is no model of noise."""
    from demosaic_ntc.demosaicing.noise import NoiseModel  # noqa: PLC0415 (help does without)

    if not isinstance(noise, NoiseModel):
        raise InputError(f"noise is {noise!r}; give a `NoiseModel`, or None to have it found")
