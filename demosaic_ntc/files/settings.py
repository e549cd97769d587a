"""Everything a conversion depends on besides its file, checked when it is made; repairs share the engine."""

from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Literal

from demosaic_ntc.errors import InputError
from demosaic_ntc.files.colour import SPACE_NAMES
from demosaic_ntc.files.denoising import COLOUR_OVER_BRIGHTNESS, Strengths
from demosaic_ntc.files.image import format_of
from demosaic_ntc.files.levels import Balance, White
from demosaic_ntc.files.plain import Layout
from demosaic_ntc.files.sniff import Limits
from demosaic_ntc.imaging.noise import NoiseModel

_STRONGEST = 10.0  # times the noise there is


@dataclass(frozen=True, slots=True)
class Development:
    """How samples become a picture."""

    balance: Balance = "camera"
    black: tuple[float, ...] | None = None
    white: White = "auto"
    exposure: float | Literal["auto"] = 0.0
    highlights: Literal["clip", "blend"] = "clip"
    space: str = "srgb"
    linear: bool = False
    crop: Literal["visible", "camera"] = "visible"
    rotate: bool = True
    bad_pixels: Path | None = None
    denoise: float | Literal["auto", "off"] = "auto"  # strength, in multiples of the noise there is
    denoise_color: float | None = None  # that of colour noise; None: more than of brightness
    noise: NoiseModel | None = None  # None: as the photo tells

    def __post_init__(self) -> None:
        """Check the choices that have no type of their own."""
        if self.space not in SPACE_NAMES:
            raise InputError(f"unknown colour space {self.space!r}; use one of {', '.join(SPACE_NAMES)}")
        if isinstance(self.balance, tuple) and not all(isfinite(v) and v > 0 for v in self.balance):
            raise InputError("white balance multipliers are positive numbers; give R,G,B such as 2.1,1,1.5")
        for strength in (self.denoise, self.denoise_color):
            if isinstance(strength, (int, float)) and not (
                isfinite(strength) and 0 <= strength <= _STRONGEST
            ):
                raise InputError(f"denoising by {strength:g} is not possible; give 0 to {_STRONGEST:g}")

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


@dataclass(frozen=True, slots=True)
class Engine:
    """How what is missing is completed, of a mosaic or of a damaged picture."""

    method: str = "ntc"
    quality: str = "normal"
    seed: int = 0
    threads: int | None = None
    time_limit: float | None = None


@dataclass(frozen=True, slots=True)
class Output:
    """How the picture is written."""

    bits: int | None = None
    jpeg_quality: int = 95
    metadata: bool = True
    overwrite: bool = False

    def __post_init__(self) -> None:
        """Check that such pictures exist."""
        if self.bits not in (None, 8, 16):
            raise InputError(f"pictures have 8 or 16 bits per channel, not {self.bits}; give --bits 8 or 16")

    def depth(self, target: Path) -> int:
        """Bits per channel: 16 unless asked otherwise; JPEG has 8."""
        is_jpeg = format_of(target) == "JPEG"
        if is_jpeg and self.bits == 16:
            raise InputError("JPEG has 8 bits per channel; write a PNG or TIFF, or leave out --bits 16")
        return 8 if is_jpeg else self.bits or 16


@dataclass(frozen=True, slots=True)
class Settings:
    """How a file is read, developed, completed and written."""

    layout: Layout = field(default_factory=Layout)
    limits: Limits = field(default_factory=Limits)
    development: Development = field(default_factory=Development)
    engine: Engine = field(default_factory=Engine)
    output: Output = field(default_factory=Output)

    def described(self) -> str:
        """The parameters in one line, as they are recorded in the picture."""
        engine, how = self.engine, self.development
        balance = how.balance if isinstance(how.balance, str) else ",".join(f"{v:g}" for v in how.balance)
        parameters = {
            "method": engine.method,
            "quality": engine.quality,
            "seed": engine.seed,
            "wb": balance,
            "white": how.white,
            "exposure": how.exposure,
            "highlights": how.highlights,
            "denoise": how.denoise if how.denoise_color is None else f"{how.denoise},{how.denoise_color:g}",
            "space": how.space + (" linear" if how.linear else ""),
        }
        return " ".join(f"{name}={value}" for name, value in parameters.items())
