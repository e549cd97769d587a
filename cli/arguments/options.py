"""The options that commands share."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from .values import (
    parse_bad_pixels,
    parse_balance,
    parse_black,
    parse_denoise,
    parse_exposure,
    parse_noise,
    parse_patch,
    parse_white,
)

_INPUT = "Input"
_OUTPUT = "Output"
_RAW = "Raw development"
_ENGINE = "Engine"
_RUNNING = "Running"


def check_method(name: str, known: Collection[str]) -> None:
    """Take a method that is none of these for wrong usage."""
    if name not in known:
        raise typer.BadParameter(f"unknown method {name!r}; use one of {', '.join(known)}")


Source = Annotated[Path, typer.Argument(metavar="IN", help="A raw file, or a mosaic with --cfa.")]
Target = Annotated[
    Path | None,
    typer.Argument(
        metavar="OUT",
        help="The picture to write: .png .tif .jpg .webp .avif .jxl, or .dng for other converters.",
        show_default="IN's name with .png",
    ),
]

Array = Annotated[
    str | None,
    typer.Option(
        "--cfa",
        help="Colour array of a plain mosaic (16-bit TIFF or PNG), or to use instead of a raw's own: "
        "RGGB, BGGR, GRBG, GBRG, X-Trans, rows such as RG/GB, or mono for a sensor without colours.",
        rich_help_panel=_INPUT,
    ),
]
Width = Annotated[int | None, typer.Option(min=1, help="Width of headerless data.", rich_help_panel=_INPUT)]
Height = Annotated[int | None, typer.Option(min=1, help="Height of headerless data.", rich_help_panel=_INPUT)]
_SAMPLE_BITS = (
    "Bits per sample of headerless data or of a plain mosaic; packed 10 and 12 bits are recognised."
)
RawBits = Annotated[int | None, typer.Option(min=8, max=16, help=_SAMPLE_BITS, rich_help_panel=_INPUT)]
SampleBits = Annotated[
    int | None,
    typer.Option("--raw-bits", "--bits", min=8, max=16, help=_SAMPLE_BITS, rich_help_panel=_INPUT),
]
MaxPixels = Annotated[
    int, typer.Option(min=1, help="Refuse larger files before decoding.", rich_help_panel=_INPUT)
]

Bits = Annotated[
    int | None,
    typer.Option(
        min=8,
        max=16,
        metavar="8|16",
        help="Bits per channel of the picture. Without --raw-bits, headerless data (--width, --height) takes "
        "it for the bits of its samples, 8 to 16.",
        show_default="16; JPEG 8",
        rich_help_panel=_OUTPUT,
    ),
]
Space = Annotated[
    Literal["srgb", "adobe", "prophoto", "rec2020", "p3", "camera"],
    typer.Option("--color-space", help="Colour space of the picture.", rich_help_panel=_OUTPUT),
]
Linear = Annotated[bool, typer.Option("--linear", help="Write linear light.", rich_help_panel=_OUTPUT)]
Crop = Annotated[
    Literal["camera", "visible"] | None,
    typer.Option(
        help="Keep the camera's own crop, the default, or all visible pixels.",
        show_default=False,
        rich_help_panel=_OUTPUT,
    ),
]
NoRotate = Annotated[
    bool,
    typer.Option("--no-rotate", help="Leave the pixels as the sensor lay.", rich_help_panel=_OUTPUT),
]
NoMetadata = Annotated[
    bool, typer.Option("--no-metadata", help="Write no EXIF (the profile stays).", rich_help_panel=_OUTPUT)
]
ErrorMap = Annotated[
    Path | None,
    typer.Option(
        metavar="MAP.tif",
        help="Also write the standard deviation expected of each value, as a floating-point TIFF; errors of "
        "neighbouring pixels are correlated.",
        rich_help_panel=_OUTPUT,
    ),
]
JpegQuality = Annotated[
    int,
    typer.Option(
        "--jpeg-quality",
        min=1,
        max=100,
        metavar="1…100",
        help="Quality of JPEG, WebP, AVIF and JPEG XL; 100 is lossless in WebP and JPEG XL.",
        rich_help_panel=_OUTPUT,
    ),
]
JpegSubsampling = Annotated[
    Literal["4:4:4", "4:2:2", "4:2:0"],
    typer.Option(
        "--jpeg-subsampling",
        help="Resolution of colours in JPEG and AVIF: full, half or a quarter.",
        rich_help_panel=_OUTPUT,
    ),
]
Resize = Annotated[
    int | None,
    typer.Option(min=1, metavar="PIXELS", help="Make the longer side that small.", rich_help_panel=_OUTPUT),
]
Half = Annotated[
    bool,
    typer.Option(
        "--half",
        help="A quick preview at half the size, one pixel per cell of the array (X-Trans: a third).",
        rich_help_panel=_ENGINE,
    ),
]

Compress = Annotated[
    bool, typer.Option("--compress", help="Compress a DNG without loss.", rich_help_panel=_OUTPUT)
]

WhiteBalance = Annotated[
    str,
    typer.Option(
        "--wb",
        parser=parse_balance,
        metavar="NAME|KELVIN|R,G,B",
        help="White balance: camera, auto, daylight, cloudy, shade, tungsten, fluorescent, flash; a light "
        "and its tint such as 5200K or 5200K,+8; or multipliers.",
        rich_help_panel=_RAW,
    ),
]
WhiteBalanceFrom = Annotated[
    str | None,
    typer.Option(
        "--wb-from",
        parser=parse_patch,
        metavar="X,Y[,R]",
        help="White balance that makes this place of the picture grey (R pixels around it; 8).",
        rich_help_panel=_RAW,
    ),
]
Black = Annotated[
    str | None,
    typer.Option(
        parser=parse_black,
        metavar="N|R,G,B,G2",
        help="Black level instead of the file's.",
        rich_help_panel=_RAW,
    ),
]
White = Annotated[
    str,
    typer.Option(
        parser=parse_white,
        metavar="auto|metadata|N",
        help="White level: the file's, lowered to where samples crowd (auto), as it is (metadata), or given.",
        rich_help_panel=_RAW,
    ),
]
Look = Annotated[
    Literal["auto", "neutral", "camera"] | None,
    typer.Option(
        help="Brightness and contrast by the photo's own histogram (auto), as measured (neutral), or as in "
        "the camera's own picture within the raw (camera).",
        show_default="auto; plain mosaics and --linear neutral",
        rich_help_panel=_RAW,
    ),
]
Brightness = Annotated[
    str,
    typer.Option(
        "--exposure",
        parser=parse_exposure,
        metavar="EV|auto",
        help="Brighten by stops on top of the look; auto lets one percent reach white.",
        rich_help_panel=_RAW,
    ),
]
Contrast = Annotated[
    float,
    typer.Option(min=-100, max=100, metavar="-100…100", help="More or less contrast.", rich_help_panel=_RAW),
]
Saturation = Annotated[
    float,
    typer.Option(min=-100, max=100, metavar="-100…100", help="More or less colour.", rich_help_panel=_RAW),
]
Fringes = Annotated[
    Literal["auto", "off"],
    typer.Option(
        "--ca",
        help="Look for lateral colour fringes of the lens and put red and blue back (Bayer arrays).",
        rich_help_panel=_RAW,
    ),
]
Highlights = Annotated[
    Literal["reconstruct", "blend", "clip"] | None,
    typer.Option(
        help="Complete clipped samples from their neighbours (the default for raws of cameras), keep what "
        "unclipped channels still show (darker), or clip to white where the first channel clips.",
        rich_help_panel=_RAW,
    ),
]
Noise = Annotated[
    str | None,
    typer.Option(
        parser=parse_noise,
        metavar="A,B",
        help="Noise of the samples instead of a profile or an estimate: variance A·x + B at light x, "
        "black 0 and white 1; or three such pairs, for R, G and B.",
        rich_help_panel=_RAW,
    ),
]
Denoise = Annotated[
    str,
    typer.Option(
        parser=parse_denoise,
        metavar="auto|off|STRENGTH",
        help="Take noise off: auto where it shows, off, or a strength; less than 1 keeps grain.",
        rich_help_panel=_RAW,
    ),
]
DenoiseColor = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=10,
        metavar="STRENGTH",
        help="Take colour noise off by another strength.",
        show_default="a quarter more",
        rich_help_panel=_RAW,
    ),
]
BadPixels = Annotated[
    str | None,
    typer.Option(
        parser=parse_bad_pixels,
        metavar="auto|off|FILE",
        help="Hot and dead pixels: find them, leave them, or take a list, `column row` per line.",
        show_default="auto; off for mosaics without a camera",
        rich_help_panel=_RAW,
    ),
]

Method = Annotated[
    str, typer.Option(help="ntc, or an interpolation such as bilinear.", rich_help_panel=_ENGINE)
]
Quality = Annotated[
    Literal["fast", "normal", "best"], typer.Option(help="Effort of ntc.", rich_help_panel=_ENGINE)
]
Threads = Annotated[
    int | None,
    typer.Option(min=1, help="Threads.", show_default="all processors", rich_help_panel=_ENGINE),
]
TimeLimit = Annotated[
    float | None,
    typer.Option(min=0.01, metavar="S", help="Stop the engine after S seconds.", rich_help_panel=_ENGINE),
]

Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Replace OUT where it exists.", rich_help_panel=_RUNNING)
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Errors only.", rich_help_panel=_RUNNING)]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Say more.", rich_help_panel=_RUNNING)]
Json = Annotated[
    bool, typer.Option("--json", help="Print what was done as one JSON object.", rich_help_panel=_RUNNING)
]
Debug = Annotated[
    bool, typer.Option("--debug", help="Show the traceback of a failure.", rich_help_panel=_RUNNING)
]


@dataclass(frozen=True)
class OfInput:
    """Options of what is read."""

    cfa: Array = None
    width: Width = None
    height: Height = None
    raw_bits: RawBits = None
    max_pixels: MaxPixels = 150_000_000


@dataclass(frozen=True)
class OfOutput:
    """Options of what is written."""

    bits: Bits = None
    space: Space = "srgb"
    linear: Linear = False
    crop: Crop = None
    no_rotate: NoRotate = False
    no_metadata: NoMetadata = False
    jpeg_quality: JpegQuality = 95
    jpeg_subsampling: JpegSubsampling = "4:4:4"
    resize: Resize = None
    compress: Compress = False
    error_map: ErrorMap = None


@dataclass(frozen=True)
class OfDevelopment:
    """Options of how samples become a picture."""

    wb: WhiteBalance = "camera"
    wb_from: WhiteBalanceFrom = None
    black: Black = None
    white: White = "auto"
    look: Look = None
    exposure: Brightness = "0"
    contrast: Contrast = 0.0
    saturation: Saturation = 0.0
    highlights: Highlights = None
    ca: Fringes = "off"
    denoise: Denoise = "auto"
    denoise_color: DenoiseColor = None
    noise: Noise = None
    bad_pixels: BadPixels = None


@dataclass(frozen=True)
class OfEngine:
    """Options of how missing samples are completed."""

    method: Method = "ntc"
    quality: Quality = "normal"
    half: Half = False
    threads: Threads = None
    time_limit: TimeLimit = None


@dataclass(frozen=True)
class OfRunning:
    """Options of how a command runs, and what it says."""

    overwrite: Overwrite = False
    quiet: Quiet = False
    verbose: Verbose = False
    json: Json = False
    debug: Debug = False
