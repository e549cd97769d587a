"""Every setting of a conversion, checked when it is made; `demosaic_ntc.recipe` says how they are described.

Nothing is loaded for them but their own checks, so that help answers at once.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from demosaic_ntc.choices import (
    BadPixels,
    Banding,
    Compression,
    Crop,
    Ghosts,
    Highlights,
    Lens,
    LookName,
    MotionKind,
    Quality,
    Space,
    White,
)
from demosaic_ntc.developing.setting_values import (
    check_balance,
    check_black,
    check_lens,
    check_noise,
    check_raws,
    check_white,
    parse_bad_pixels,
    parse_balance,
    parse_black,
    parse_lens,
    parse_noise,
    parse_raws,
)
from demosaic_ntc.errors import InputError, check_choice
from demosaic_ntc.io.formats import SHALLOW, Layout, Loss, format_of
from demosaic_ntc.io.header import InputLimits
from demosaic_ntc.recipe import CheckedSettings, Slider, build, part, setting

if TYPE_CHECKING:
    from demosaic_ntc.demosaicing.noise import NoiseModel
    from demosaic_ntc.raw.levels import Balance

_RAW, _OUTPUT, _ENGINE, _RUNNING = "Raw development", "Output", "Engine", "Running"
_MERGING = "Merging"

_ADDED = {"low": -100, "high": 100, "metavar": "-100…100", "slider": Slider(step=5)}  # to the look's
_STRENGTH = {"low": 0, "high": 10, "wrong": "{} is not a denoising strength"}  # times the noise there is


@dataclass(frozen=True, slots=True)
class Development(CheckedSettings):
    """How samples become a picture."""

    look: LookName | None = setting(
        None,
        "A tone curve that suits the photo (auto), no tone curve (neutral), or the tone curve and saturation "
        "of the embedded preview (camera).",
        _RAW,
        shown="auto; plain mosaics and --linear neutral",
        label="Look",
    )
    exposure: float | Literal["auto"] = setting(
        0.0,
        "Exposure correction in stops, on top of the look; auto lets one percent of the pixels reach white.",
        _RAW,
        low=-10,
        high=10,
        unit=" stops",
        what="a number of stops",
        metavar="EV|auto",
        label="Exposure",
        slider=Slider(-3, 3, 0.1),
    )
    contrast: float = setting(0.0, "More or less contrast.", _RAW, label="Contrast", **_ADDED)
    saturation: float = setting(0.0, "More or less saturation.", _RAW, label="Saturation", **_ADDED)
    balance: "Balance" = setting(
        "camera",
        "White balance: camera, auto, daylight, cloudy, shade, tungsten, fluorescent, flash; a light and its "
        "tint such as 5200K or 5200K,+8; or multipliers.",
        _RAW,
        name="wb",
        parse=parse_balance,
        check=check_balance,
        metavar="NAME|KELVIN|R,G,B",
        label="Balance",
    )
    black: tuple[float, ...] | None = setting(
        None,
        "Black level instead of the file's.",
        _RAW,
        parse=parse_black,
        check=check_black,
        metavar="N|R,G,B,G2",
    )
    white: White = setting(
        "auto",
        "White level: from the file, lowered to where samples saturate (auto), from the file unchanged "
        "(metadata), or a number.",
        _RAW,
        check=check_white,
        what="a white level",
        metavar="auto|metadata|N",
    )
    highlights: Highlights | None = setting(
        None,
        "Reconstruct clipped samples from their surroundings (reconstruct), keep the detail of unclipped "
        "channels (blend, darker), or clip to white where the first channel clips (clip).",
        _RAW,
        what="highlight mode",
        shown="reconstruct; plain mosaics, --linear and --look neutral clip",
        label="Highlights",
    )
    fringes: Literal["auto", "off"] = setting(
        "off",
        "Detect and correct lateral chromatic aberration (Bayer arrays).",
        _RAW,
        name="ca",
        what="chromatic aberration mode",
    )
    lens: Lens = setting(
        "auto",
        "Lens corrections from a DNG's opcodes or from --lens-profile: all (auto), none (off), or some of "
        "distortion, vignetting and ca.",
        _RAW,
        parse=parse_lens,
        check=check_lens,
        metavar="auto|off|PARTS",
        label="Lens",
    )
    lens_profile: str | None = setting(
        None,
        "Use lensfun's database for corrections that the file lacks: auto looks up camera and lens by EXIF, "
        "NAME looks up that lens; needs the extra `lens`.",
        _RAW,
        metavar="auto|NAME",
    )
    denoise: float | Literal["auto", "texture", "off"] = setting(
        "auto",
        "Remove noise where it shows (auto), less of it to keep skin, hair and fabric (texture), none "
        "(off), or STRENGTH times as much as usual.",
        _RAW,
        what="a strength such as 0.7",
        metavar="auto|texture|off|STRENGTH",
        **_STRENGTH,
    )
    denoise_color: float | None = setting(
        None, "Chroma denoising strength.", _RAW, metavar="STRENGTH", shown="1.1 × luma", **_STRENGTH
    )
    noise: "NoiseModel | None" = setting(
        None,
        "Noise model instead of the file's profile or an estimate: variance A·x + B for light x from 0 "
        "(black) to 1 (white); or three such pairs, for R, G and B.",
        _RAW,
        parse=parse_noise,
        check=check_noise,
        metavar="A,B",
    )
    bad_pixels: BadPixels = setting(
        None,
        "Hot and dead pixels: find them, leave them, or take a list, `column row` per line.",
        _RAW,
        parse=parse_bad_pixels,
        metavar="auto|off|FILE",
        shown="auto; off for mosaics without a camera",
    )
    dark: tuple[Path, ...] | None = setting(
        None,
        "Dark frames, taken with the lens covered at the same exposure time and ISO: subtract their mean and "
        "replace their hot pixels. A file, a folder, or a pattern in quotes.",
        _RAW,
        parse=parse_raws,
        check=check_raws,
        metavar="RAWS",
    )
    flat: tuple[Path, ...] | None = setting(
        None,
        "Flat frames, of an evenly lit surface through the same lens: remove their shading and dust, instead "
        "of what the file states. A file, a folder, or a pattern in quotes.",
        _RAW,
        parse=parse_raws,
        check=check_raws,
        metavar="RAWS",
    )
    banding: Banding | None = setting(
        None,
        "Row and column noise, and stripes of phase-detection pixels: remove what is certain (auto), or keep "
        "them (off).",
        _RAW,
        what="banding mode",
        shown="auto; off for mosaics without a camera",
    )
    space: Space = setting(
        "srgb", "Colour space of the picture.", _OUTPUT, name="color_space", what="colour space"
    )
    linear: bool = setting(False, "Write linear light.", _OUTPUT)
    crop: Crop | None = setting(
        None,
        "The frame of the camera's own picture, the default, or all visible pixels.",
        _OUTPUT,
        shown=False,
    )
    rotate: bool = setting(True, "Keep the orientation of the sensor.", _OUTPUT)
    longest_side: int | None = setting(
        None,
        "Scale down so that the longer side has this many pixels.",
        _OUTPUT,
        name="resize",
        low=1,
        wrong="no picture has a side of {} pixels",
        metavar="PIXELS",
    )

    def check_together(self) -> None:
        """Refuse a look of linear light."""
        if self.linear and self.look in ("auto", "camera"):
            raise InputError("linear light has no look; leave out `linear` or give `look=neutral`")

    @property
    def denoises_where_seen(self) -> bool:
        """Whether noise is removed only where it shows, and was not removed before."""
        return self.denoise in ("auto", "texture")


@dataclass(frozen=True, slots=True)
class Engine(CheckedSettings):
    """How what is missing is completed, of a mosaic or of a damaged picture, each by methods of its own."""

    method: Any = setting(
        "gaussian",
        "gaussian; ntc (tensor completion of patch groups); ntc-tiled or ntc-whole (one tensor, for study); "
        "or an interpolation: blend, mlri, lmmse, malvar, bilinear.",
        _ENGINE,
    )
    quality: Quality = setting("normal", "How much effort gaussian and ntc spend.", _ENGINE, label="Quality")
    half: bool = setting(
        False,
        "A quick preview at half the size, one pixel per cell of the array (X-Trans: a third).",
        _ENGINE,
    )
    threads: int | None = setting(
        None, "Processors to use.", _ENGINE, low=1, wrong="{} threads cannot work", shown="all processors"
    )
    time_limit: float | None = setting(
        None, "Stop the engine after S seconds; the picture is still written.", _ENGINE, low=0, metavar="S"
    )


@dataclass(frozen=True, slots=True)
class Merging(CheckedSettings):
    """How several frames of one scene become one picture."""

    reference: str = setting(
        "sharpest",
        "The frame that sets position, time, colours and look: the sharpest (of the middle exposure), the "
        "first, or one by its name.",
        _MERGING,
        metavar="sharpest|first|NAME",
    )
    motion: MotionKind = setting(
        "auto",
        "How frames moved: estimated, even where parts move on their own (auto); not at all, on a tripod "
        "(none); or by whole pixels (pixel-shift).",
        _MERGING,
    )
    ghosts: Ghosts = setting(
        "normal",
        "Use the reference alone where frames disagree (normal), where they may (strict), or nowhere (off).",
        _MERGING,
        what="ghost mode",
    )


@dataclass(frozen=True, slots=True)
class Output(CheckedSettings):
    """How the picture is written."""

    bits: int | None = setting(
        None,
        "Bits per channel of the picture. For headerless data (--width, --height) without --raw-bits, it is "
        "the number of bits per sample, 8 to 16.",
        _OUTPUT,
        low=8,
        high=16,
        metavar="8|16",
        shown="16; JPEG, WebP and AVIF 8",
    )
    loss: Loss = part(Loss)
    metadata: bool = setting(True, "Write no EXIF (the profile stays).", _OUTPUT)
    compress: Compression | None = setting(
        None,
        "Compress a DNG: lossless JPEG (the default if no word follows), which all readers know, or JPEG XL "
        "(DNG 1.7), rounded to 2048 steps under the sRGB curve.",
        _OUTPUT,
        what="compression",
        metavar="[jpeg|jxl]",
        bare="jpeg",
        shown=False,
    )
    jxl_distance: float | None = setting(
        None,
        "How much JPEG XL may lose instead: 0 nothing, 0.1 hardly anything, 1 what is just visible.",
        _OUTPUT,
        low=0,
        high=15,
        wrong="{} is not a distance of JPEG XL",
        metavar="0…15",
    )
    overwrite: bool = setting(False, "Replace OUT where it exists.", _RUNNING)

    def check_together(self) -> None:
        """Check that such pictures exist."""
        if self.bits not in (None, 8, 16):
            raise InputError(f"pictures have 8 or 16 bits per channel, not {self.bits}; give `bits` 8 or 16")
        if self.jxl_distance is not None and self.compress != "jxl":
            raise InputError("`jxl_distance` is for `compress=jxl`; give both")


@dataclass(frozen=True, slots=True)
class Settings:
    """How a file is read, developed, completed and written."""

    layout: Layout = part(Layout)
    limits: InputLimits = part(InputLimits)
    development: Development = part(Development)
    engine: Engine = part(Engine)
    output: Output = part(Output)

    @classmethod
    def of(cls, chosen: Mapping[str, Any]) -> "Settings":
        """Return the settings that some values stand for, by name; see `build`."""
        from demosaic_ntc.demosaicing.demosaic import METHODS  # noqa: PLC0415 (help does without)

        if (method := chosen.get("method")) is not None:
            check_choice("method", method, METHODS)
        return build(cls, chosen)

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

    def describe(self, **known: object) -> str:
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
            "highlights": how.highlights,
            "denoise": how.denoise if how.denoise_color is None else f"{how.denoise},{how.denoise_color:g}",
            "ca": how.fringes,
            "space": how.space + (" linear" if how.linear else ""),
        }
        return " ".join(f"{name}={value}" for name, value in {**parameters, **known}.items())
