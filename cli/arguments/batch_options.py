"""The options of commands that work on many files."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

_FILES = "Files"
_WORKERS = "Workers"
_RUNNING = "Running"

Suffix = Literal["png", "tif", "jpg", "webp", "avif", "jxl", "dng", "fits"]

Sources = Annotated[
    list[str],
    typer.Argument(
        metavar="SRC...",
        help="Files, folders, patterns in quotes such as 'shoot/**/*.nef', or addresses such as "
        "s3://bucket/shoot.",
    ),
]
OutputFolder = Annotated[
    str,
    typer.Option(
        "--output",
        "-o",
        metavar="DIR",
        help="Where results go; a folder, or an address such as s3://bucket/pictures.",
        rich_help_panel=_FILES,
    ),
]
Recursive = Annotated[
    bool,
    typer.Option("--recursive", "-r", help="Include subfolders.", rich_help_panel=_FILES),
]
Inpainting = Annotated[
    bool,
    typer.Option(
        "--inpaint",
        help="Repair pictures, with masks NAME.mask.png or NAME_mask.png beside them, --mask-color or "
        "--detect.",
        rich_help_panel=_FILES,
    ),
]
Format = Annotated[
    Suffix | None,
    typer.Option(
        help="Format of the results.", show_default="png; with --inpaint the input's", rich_help_panel=_FILES
    ),
]
Name = Annotated[
    str,
    typer.Option(
        metavar="TEXT",
        help="Name of a result: {stem}, {ext} and {parent} of the input, {date}, {camera}, {lens} and "
        "{iso} of the photo, {counter}; such as {date:%Y%m%d}_{counter:04}.",
        rich_help_panel=_FILES,
    ),
]
Report = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Where a JSON line per file is added.",
        show_default="demosaic-ntc-report.jsonl in DIR, or here if that is an address",
        rich_help_panel=_FILES,
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Files at a time; they share the processors.",
        show_default="as many as processors and memory allow",
        rich_help_panel=_WORKERS,
    ),
]
Timeout = Annotated[
    float,
    typer.Option(min=0.1, metavar="S", help="Give up on a file after S seconds.", rich_help_panel=_WORKERS),
]
Memory = Annotated[
    float | None,
    typer.Option(
        min=0.01, metavar="GB", help="Give up on a file that needs more memory.", rich_help_panel=_WORKERS
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS|FILE",
        help="Run on the workers of a Dask scheduler, such as tcp://host:8786 (extra `cluster`).",
        rich_help_panel=_WORKERS,
    ),
]
Resume = Annotated[
    bool,
    typer.Option(
        "--resume",
        help="Continue where an earlier run stopped; redo results whose input or settings have changed, "
        "unless somebody edited the result.",
        rich_help_panel=_RUNNING,
    ),
]
OverwriteOurs = Annotated[
    bool,
    typer.Option(
        "--overwrite-ours",
        help="Redo everything, but replace only results that nobody has changed since a recorded run.",
        rich_help_panel=_RUNNING,
    ),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Only list what would be done.", rich_help_panel=_RUNNING)
]


Folders = Annotated[
    bool,
    typer.Option(
        "--folders",
        help="Make a picture of each folder of raws, or with --gap of each burst in them.",
        rich_help_panel=_FILES,
    ),
]
MergedFolder = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="DIR",
        help="Where the pictures of --folders go.",
        show_default="`merged` in the first folder",
        rich_help_panel=_FILES,
    ),
]
Gap = Annotated[
    float | None,
    typer.Option(
        min=0,
        metavar="SECONDS",
        help="Raws of a folder belong together if they were taken at most so far apart.",
        rich_help_panel=_FILES,
    ),
]
MergedFormat = Annotated[
    Suffix,
    typer.Option(help="Format of the pictures of --folders.", rich_help_panel=_FILES),
]


@dataclass(frozen=True)
class OfMany:
    """Options of every command that works on many files."""

    recursive: Recursive = False
    format: Format = None
    name: Name = "{stem}"
    report: Report = None
    jobs: Jobs = None
    timeout: Timeout = 7200.0
    memory: Memory = None


@dataclass(frozen=True)
class OfBatch:
    """Options of a batch alone."""

    scheduler: Scheduler = None
    resume: Resume = False
    overwrite_ours: OverwriteOurs = False
    dry_run: DryRun = False


@dataclass(frozen=True)
class OfFolders:
    """Options of bursts that are looked for in folders."""

    folders: Folders = False
    recursive: Recursive = False
    output: MergedFolder = None
    gap: Gap = None
    format: MergedFormat = "png"
