"""Options that the benchmarks of pictures share."""

from pathlib import Path
from typing import Annotated, Literal

import typer

Folders = Annotated[
    list[Path],
    typer.Argument(metavar="DIR|SET...", help="Folders of 8-bit RGB pictures, or kodak and mcmaster."),
]
Array = Annotated[str, typer.Option("--cfa", help="RGGB, BGGR, GRBG, GBRG, XTRANS or rows such as RG/GB.")]
Crop = Annotated[int, typer.Option(min=0, help="Pixels left out on each side.")]
Limit = Annotated[
    int | None, typer.Option(min=1, help="Only the first pictures of each set; then there are no means.")
]
Masks = Annotated[
    str | None,
    typer.Option(
        help="What is taken away: random:50, dead, lines, strokes, text, blocks:8, irregular, "
        "irregular:FILE (white) or irregular-inv:FILE (black).",
        show_default="all kinds",
    ),
]
Images = Annotated[
    str | None, typer.Option(metavar="1-8,23", help="Only the pictures of these numbers in each set.")
]
Sigmas = Annotated[
    str, typer.Option(metavar="5,10,20", help="Noise added to mosaics, in 255ths of white; also its seed.")
]
Quality = Annotated[Literal["fast", "normal", "best"], typer.Option(help="Effort of ntc and its control.")]
Details = Annotated[bool, typer.Option("--details", help="Print every quantity of every picture.")]
Threads = Annotated[int, typer.Option(min=1, help="Threads of each method.")]
Json = Annotated[
    Path | None, typer.Option(help="Keep all results in this file; a file that is there is continued.")
]
Csv = Annotated[Path | None, typer.Option(help="Write a line per result to this CSV file.")]
