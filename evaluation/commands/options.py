"""Options that the benchmarks of pictures share."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer


def parse_box(text: str) -> tuple[int, int, int, int]:
    """Left, top, width and height."""
    try:
        left, top, width, height = (int(part) for part in text.split(","))
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not LEFT,TOP,WIDTH,HEIGHT such as 800,600,256,256") from None
    return left, top, width, height


def part(shown: str) -> Any:
    """The option for a part of each picture, and what is taken without it."""
    return typer.Option(
        "--crop-box",
        parser=parse_box,
        metavar="LEFT,TOP,WIDTH,HEIGHT",
        help="Only this part of each picture.",
        show_default=shown,
    )


#: What is taken where no folders are named.
KNOWN_SETS = (Path("kodak"), Path("mcmaster"))


def _numbers(what: str, shown: str | bool) -> Any:
    """An option for numbers of pictures."""
    return typer.Option(metavar="1-8,23", help=what, show_default=shown)


Folders = Annotated[
    list[Path],
    typer.Argument(metavar="DIR|SET...", help="Folders of 8-bit RGB pictures, or kodak and mcmaster."),
]
MaybeFolders = Annotated[
    list[Path] | None,
    typer.Argument(metavar="[DIR|SET...]", help="Folders of 8-bit RGB pictures, kodak, mcmaster."),
]
CleanFolders = Annotated[
    list[Path] | None,
    typer.Argument(metavar="[DIR|SET...]", help="Clean 8-bit RGB pictures, or kodak and mcmaster."),
]
RawsOrFolders = Annotated[
    list[Path] | None,
    typer.Argument(metavar="[DIR|SET|RAW...]", help="Raws, folders of 8-bit RGB pictures, kodak, mcmaster."),
]
Array = Annotated[str, typer.Option("--cfa", help="RGGB, BGGR, GRBG, GBRG, XTRANS or rows such as RG/GB.")]
Crop = Annotated[int, typer.Option(min=0, help="Pixels left out on each side.")]
Limit = Annotated[
    int | None, typer.Option(min=1, help="Only the first N pictures of each set; then no means are shown.")
]
Masks = Annotated[
    str | None,
    typer.Option(
        help="What is taken away: random:50, dead, lines, strokes, text, blocks:8, irregular, "
        "irregular:FILE (white) or irregular-inv:FILE (black).",
        show_default="all kinds",
    ),
]
Images = Annotated[str | None, _numbers("Only the pictures of these numbers in each set.", True)]
Sigmas = Annotated[
    str,
    typer.Option(
        metavar="5,10,20", help="Standard deviations of added noise, in 255ths of white; also seeds."
    ),
]
Boxed = Annotated[str | None, part("all of it")]
Quality = Annotated[Literal["fast", "normal", "best"], typer.Option(help="Effort of gaussian and ntc.")]
Details = Annotated[bool, typer.Option("--details", help="Print every quantity of every picture.")]
Threads = Annotated[int, typer.Option(min=1, help="Threads of each method.")]
Json = Annotated[
    Path | None, typer.Option(help="Keep all results in this file; an existing one is continued.")
]
Csv = Annotated[Path | None, typer.Option(help="Write a line per result to this CSV file.")]
Qualities = Annotated[str, typer.Option(help="Qualities to measure: fast, normal, best.")]
Sizes = Annotated[str, typer.Option(metavar="6,24,100", help="Megapixels of synthetic raws; '' for none.")]
Programs = Annotated[str, typer.Option(help="Programs to compare; those that are not installed are skipped.")]
NoisyPart = Annotated[str | None, part("128,128,192,192, or all of it where one is smaller")]
NoiseReference = Annotated[
    Path | None,
    typer.Option(
        help="CSV file of set, image, sigma and a column per method, to show beside ours; without "
        "--images only its pictures are measured."
    ),
]
_INTEREST = "the usual ones"
Methods = Annotated[str | None, typer.Option(help="Demosaicing methods.", show_default=_INTEREST)]
Denoisers = Annotated[str | None, typer.Option(help="Methods for noise.", show_default=_INTEREST)]
Repairs = Annotated[str | None, typer.Option(help="Inpainting methods.", show_default=_INTEREST)]
RepairedImages = Annotated[str | None, _numbers("Pictures of each set for inpainting.", "the first eight")]
SpeedImages = Annotated[str | None, _numbers("Pictures of each set for stages.", "all")]
Report = Annotated[Path, typer.Option("--output", "-o", metavar="REPORT", help="The folder of the report.")]
Full = Annotated[bool, typer.Option("--full", help="Show whole pictures, in files beside the page.")]
