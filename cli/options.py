"""The options that commands share, and how their values are read."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from demosaic_ntc.files.settings import Engine
    from demosaic_ntc.imaging.noise import NoiseModel

_INPUT = "Input"
_OUTPUT = "Output"
_RAW = "Raw development"
_ENGINE = "Engine"
_RUNNING = "Running"


def _numbers(text: str, what: str) -> tuple[float, ...]:
    """Numbers separated by commas."""
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not {what}") from None


def parse_balance(text: str) -> str | tuple[float, float, float]:
    """A kind of white balance or three multipliers."""
    if text in ("camera", "auto", "daylight"):
        return text
    values = _numbers(text, "camera, auto, daylight or R,G,B such as 2.1,1,1.5")
    if len(values) != 3 or min(values) <= 0:
        raise typer.BadParameter(f"{text!r} is not three positive multipliers R,G,B such as 2.1,1,1.5")
    return values[0], values[1], values[2]


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
    from demosaic_ntc.errors import InputError
    from demosaic_ntc.imaging.noise import NoiseModel

    values = _numbers(text, "slope and floor A,B such as 1e-4,2e-6")
    try:
        return NoiseModel.of_pairs(values)
    except InputError as error:
        raise typer.BadParameter(f"{text!r}: {error}") from error


def parse_box(text: str) -> tuple[int, int, int, int]:
    """Left, top, width and height."""
    try:
        left, top, width, height = (int(part) for part in text.split(","))
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not LEFT,TOP,WIDTH,HEIGHT such as 800,600,256,256") from None
    return left, top, width, height


def engine_from(options: Mapping[str, Any], methods: Collection[str]) -> "Engine":
    """How missing samples are completed; a method that is none of these is wrong usage."""
    from demosaic_ntc.files.settings import Engine

    if options["method"] not in methods:
        raise typer.BadParameter(f"unknown method {options['method']!r}; use one of {', '.join(methods)}")
    return Engine(**{name: options[name] for name in ("method", "quality", "seed", "threads", "time_limit")})


Source = Annotated[Path, typer.Argument(metavar="IN", help="A raw file, or a mosaic with --cfa.")]
Target = Annotated[Path, typer.Argument(metavar="OUT", help="The picture to write: .png, .tif or .jpg.")]

Array = Annotated[
    str | None,
    typer.Option(
        "--cfa",
        help="Colour array of a plain mosaic (16-bit TIFF or PNG), or to use instead of a raw's own: "
        "RGGB, BGGR, GRBG, GBRG, X-Trans, or rows such as RG/GB.",
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
    Literal["visible", "camera"],
    typer.Option(help="Keep all visible pixels, or the camera's own crop.", rich_help_panel=_OUTPUT),
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
JpegQuality = Annotated[int, typer.Option(min=1, max=100, help="Quality of JPEG.", rich_help_panel=_OUTPUT)]

WhiteBalance = Annotated[
    str,
    typer.Option(
        "--wb",
        parser=parse_balance,
        metavar="camera|auto|daylight|R,G,B",
        help="White balance.",
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
Brightness = Annotated[
    str,
    typer.Option(
        "--exposure",
        parser=parse_exposure,
        metavar="EV|auto",
        help="Brighten by stops; auto lets one percent reach white.",
        rich_help_panel=_RAW,
    ),
]
Highlights = Annotated[
    Literal["clip", "blend"],
    typer.Option(
        help="Clip to white where the first channel clips, or keep what the others still show (darker).",
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
    Path | None,
    typer.Option(
        metavar="FILE", help="Text file of dead pixels, `column row` per line.", rich_help_panel=_RAW
    ),
]

Method = Annotated[
    str, typer.Option(help="ntc, or an interpolation such as bilinear.", rich_help_panel=_ENGINE)
]
Quality = Annotated[
    Literal["fast", "normal", "best"], typer.Option(help="Effort of ntc.", rich_help_panel=_ENGINE)
]
Seed = Annotated[int, typer.Option(min=0, help="Seed of ntc.", rich_help_panel=_ENGINE)]
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
