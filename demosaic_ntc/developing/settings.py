"""Everything a conversion depends on besides its file, checked when it is made; repairs share the engine."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from math import inf, ulp
from numbers import Integral
from pathlib import Path
from typing import Any, Literal, get_args

from demosaic_ntc.demosaicing.noise import NoiseModel
from demosaic_ntc.developing.denoising import COLOUR_OVER_BRIGHTNESS, Strengths
from demosaic_ntc.engine.checks import Quality
from demosaic_ntc.errors import InputError, as_number, check_choice
from demosaic_ntc.images.formats import SHALLOW, format_of
from demosaic_ntc.images.lossy import Loss
from demosaic_ntc.io.colour import SPACE_NAMES
from demosaic_ntc.io.identify import InputLimits
from demosaic_ntc.raw.bad_pixels import BadPixels
from demosaic_ntc.raw.levels import BALANCES, Balance, GreyPatch, White
from demosaic_ntc.raw.photo import Crop
from demosaic_ntc.raw.plain import Layout
from demosaic_ntc.raw.temperature import Temperature

LookName = Literal["auto", "neutral", "camera"]
HighlightsName = Literal["reconstruct", "blend", "clip"]

_STRONGEST = 10.0  # times the noise there is
_MOST_UNEQUAL = 1e4  # of multipliers: beyond, nothing but one colour is left
_WHITEST = 1e6  # samples have 16 bits, so that a higher white would leave blackness
_MOST_ADDED = 100.0
_MOST_STOPS = 10.0


@dataclass(frozen=True, slots=True)
class Development:
    """How samples become a picture."""

    balance: Balance = "camera"
    black: tuple[float, ...] | None = None
    white: White = "auto"
    look: LookName | None = None  # None: auto for raws of cameras, else neutral
    exposure: float | Literal["auto"] = 0.0
    contrast: float = 0.0  # from -100 to 100, added to the look's
    saturation: float = 0.0  # from -100 to 100, added to the look's
    highlights: HighlightsName | None = None  # None: reconstruct where a look is made of a camera's raw
    space: str = "srgb"
    linear: bool = False
    crop: Crop | None = None  # None: the camera's where it is stated, or all that is visible
    rotate: bool = True
    longest_side: int | None = None  # larger pictures are made that small, in pixels
    fringes: Literal["auto", "off"] = "off"  # lateral colour fringes of the lens, looked for and put back
    bad_pixels: BadPixels = None  # None: found in raws, left alone in mosaics without a camera
    denoise: float | Literal["auto", "off"] = "auto"  # strength, in multiples of the noise there is
    denoise_color: float | None = None  # that of colour noise; None: more than of brightness
    noise: NoiseModel | None = None  # None: as the photo tells

    def __post_init__(self) -> None:
        """Check what has no type of its own, and that numbers are some."""
        self._check_choices()
        self._check_balance()
        self._check_levels()
        self._check_numbers()

    def _check_choices(self) -> None:
        """Refuse words that are not known, and those that exclude each other."""
        check_choice("colour space", self.space, SPACE_NAMES)
        check_choice("look", "auto" if self.look is None else self.look, get_args(LookName))
        check_choice("way with highlights", self.highlights or "clip", get_args(HighlightsName))
        check_choice("way with fringes", self.fringes, ("auto", "off"))
        check_choice("crop", self.crop or "camera", get_args(Crop))
        if self.linear and self.look in ("auto", "camera"):
            raise InputError("linear light has no look; leave out `linear` or give `look=neutral`")
        if not isinstance(self.noise, NoiseModel | None):
            raise InputError(
                f"noise is {self.noise!r}; give a `NoiseModel`, or None for what the photo tells"
            )

    def _check_balance(self) -> None:
        """Refuse a white balance that no light needs."""
        if isinstance(self.balance, Temperature | GreyPatch):
            return
        if not isinstance(self.balance, tuple):
            check_choice("white balance", self.balance, BALANCES)
        elif len(self.balance) != 3 or not all(0 < as_number(value) < inf for value in self.balance):
            raise InputError("white balance multipliers are positive numbers; give R,G,B such as 2.1,1,1.5")
        elif max(self.balance) > _MOST_UNEQUAL * min(self.balance):
            raise InputError(
                f"no light needs multipliers {_MOST_UNEQUAL:g} times apart; give such as 2.1,1,1.5"
            )

    def _check_levels(self) -> None:
        """Refuse levels that no samples have."""
        if not _fits(self.white, ulp(0.0), _WHITEST, "auto", "metadata"):
            raise InputError(f"no samples have a white level of {self.white}; give 1 to {_WHITEST:g}")
        if self.black is not None and not all(abs(as_number(level)) <= _WHITEST for level in self.black):
            raise InputError(f"no samples have such a black level; give 0 to {_WHITEST:g}")

    def _check_numbers(self) -> None:
        """Refuse sizes and strengths out of range."""
        side = self.longest_side
        if side is not None and not (isinstance(side, Integral) and side >= 1):
            raise InputError(f"no picture has a side of {side} pixels; give at least 1")
        if not _fits(self.exposure, -_MOST_STOPS, _MOST_STOPS, "auto"):
            raise InputError(f"exposure is {self.exposure}; give -{_MOST_STOPS:g} to {_MOST_STOPS:g} stops")
        for name, value in (("contrast", self.contrast), ("saturation", self.saturation)):
            if not _fits(value, -_MOST_ADDED, _MOST_ADDED):
                raise InputError(f"{name} is added from -100 to 100, not {value}")
        for strength in (self.denoise, 0.0 if self.denoise_color is None else self.denoise_color):
            if not _fits(strength, 0.0, _STRONGEST, "auto", "off"):
                raise InputError(f"denoising by {strength} is not possible; give 0 to {_STRONGEST:g}")

    @property
    def may_reconstruct(self) -> bool:
        """Whether highlights of cameras' raws are completed: where light is shown as it is, if that is asked."""
        is_shown_as_it_is = self.look == "neutral" or (self.look is None and self.linear)
        return self.highlights == "reconstruct" or (self.highlights is None and not is_shown_as_it_is)

    @property
    def strengths(self) -> Strengths | None:
        """How much noise is taken off; None if none is."""
        if self.denoise == "off":
            return None
        brightness = 1.0 if self.denoise == "auto" else self.denoise
        colour = self.denoise_color
        if colour is None:  # weak denoising is for grain: blotches of colour go all the same
            colour = COLOUR_OVER_BRIGHTNESS * max(brightness, 1.0) if brightness > 0 else 0.0
        return Strengths(brightness, colour) if max(brightness, colour) > 0 else None


def _fits(value: object, low: float, high: float, *words: str) -> bool:
    """Whether a setting is a number in a range, or one of the words that may stand there."""
    return value in words if isinstance(value, str) else low <= as_number(value) <= high


@dataclass(frozen=True, slots=True)
class Engine:
    """How what is missing is completed, of a mosaic or of a damaged picture."""

    method: Any = "ntc"  # `Method` of demosaic or of inpaint
    quality: Quality = "normal"
    threads: int | None = None
    time_limit: float | None = None
    half: bool = False  # no engine at all: one pixel per cell of the colour array, for a quick preview


@dataclass(frozen=True, slots=True)
class Output:
    """How the picture is written."""

    bits: int | None = None
    loss: Loss = field(default_factory=Loss)
    metadata: bool = True
    overwrite: bool = False
    compress: bool = False  # a DNG's picture

    def __post_init__(self) -> None:
        """Check that such pictures exist."""
        if self.bits not in (None, 8, 16):
            raise InputError(f"pictures have 8 or 16 bits per channel, not {self.bits}; give `bits` 8 or 16")


@dataclass(frozen=True, slots=True)
class Settings:
    """How a file is read, developed, completed and written."""

    layout: Layout = field(default_factory=Layout)
    limits: InputLimits = field(default_factory=InputLimits)
    development: Development = field(default_factory=Development)
    engine: Engine = field(default_factory=Engine)
    output: Output = field(default_factory=Output)

    def depth(self, target: Path, error_map: Path | None = None) -> int:
        """Bits per channel of the picture at a target: 16 unless asked otherwise, of some formats 8.

        Those of a DNG are its preview's. What the format has no place for is refused.
        """
        kind, bits, how = format_of(target), self.output.bits, self.development
        is_dng = kind == "DNG"
        if kind in SHALLOW and bits == 16:
            raise InputError(f"{kind} has 8 bits per channel; write a PNG or TIFF, or leave out `bits=16`")
        if self.output.compress and not is_dng:
            raise InputError("`compress` is for a linear DNG; leave it out")
        if is_dng and bits == 8:
            raise InputError("a linear DNG has 16 bits per channel; leave out `bits=8`")
        if is_dng and error_map is not None:
            raise InputError("an error map is for finished pictures; write a PNG, TIFF or JPEG")
        if is_dng and (self.engine.half or how.longest_side is not None):
            raise InputError("a DNG has the size of the sensor; leave out `half` and `resize`")
        if is_dng and (how.space != "srgb" or how.linear):
            raise InputError("a DNG is linear, in the camera's colours; leave out `color_space` and `linear`")
        return 8 if is_dng or kind in SHALLOW else bits or 16

    def described(self, **known: object) -> str:
        """The parameters in one line, as the picture records them, with what is `known` better."""
        engine, how = self.engine, self.development
        multipliers = how.balance if isinstance(how.balance, tuple) else ()
        balance = ",".join(f"{value:g}" for value in multipliers) or str(how.balance)
        parameters = {
            "method": "cells" if engine.half else engine.method,
            "quality": engine.quality,
            "wb": balance,
            "white": how.white,
            "look": how.look or "default",
            "exposure": how.exposure,
            "contrast": f"{float(how.contrast):g}",
            "saturation": f"{float(how.saturation):g}",
            "highlights": how.highlights or "default",
            "denoise": how.denoise if how.denoise_color is None else f"{how.denoise},{how.denoise_color:g}",
            "ca": how.fringes,
            "space": how.space + (" linear" if how.linear else ""),
        }
        return " ".join(f"{name}={value}" for name, value in {**parameters, **known}.items())


# The parts of the settings; what people call a setting where that is not the name of its field.
_PARTS: dict[str, tuple[type[Any], dict[str, str]]] = {
    "layout": (Layout, {"bits": "raw_bits"}),
    "limits": (InputLimits, {"pixels": "max_pixels"}),
    "development": (
        Development,
        {"balance": "wb", "fringes": "ca", "space": "color_space", "longest_side": "resize"},
    ),
    "engine": (Engine, {}),
    "output": (Output, {}),
}


def settings_named(chosen: Mapping[str, Any]) -> Settings:
    """The settings that some values stand for, by the names of `develop` and of the command's options.

    What is not among them stays as by default, and names that are no settings are passed over.
    """
    parts = {}
    for part, (kind, called) in _PARTS.items():
        names = {each.name: called.get(each.name, each.name) for each in fields(kind)}
        parts[part] = kind(**{name: chosen[word] for name, word in names.items() if word in chosen})
    return Settings(**parts)
