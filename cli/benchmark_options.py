"""Options that the benchmarks of pictures share."""

from pathlib import Path
from typing import Annotated, Literal

import typer

Folders = Annotated[
    list[Path],
    typer.Argument(metavar="DIR|SET...", help="Folders of 8-bit RGB pictures, or kodak and mcmaster."),
]
Quality = Annotated[Literal["fast", "normal", "best"], typer.Option(help="Effort of ntc and its control.")]
Details = Annotated[bool, typer.Option("--details", help="Print every quantity of every picture.")]
Threads = Annotated[int, typer.Option(min=1, help="Threads of each method.")]
Json = Annotated[
    Path | None, typer.Option(help="Keep all results in this file; a file that is there is continued.")
]
Csv = Annotated[Path | None, typer.Option(help="Write a line per result to this CSV file.")]
