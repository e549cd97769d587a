"""The options of commands that work on many files."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer

_in_files = partial(typer.Option, rich_help_panel="Files")
_in_workers = partial(typer.Option, rich_help_panel="Workers")
_in_running = partial(typer.Option, rich_help_panel="Running")

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
    _in_files(
        "--output",
        "-o",
        metavar="DIR",
        help="Where results go; a folder, or an address such as s3://bucket/pictures.",
    ),
]
Recursive = Annotated[bool, _in_files("--recursive", "-r", help="Include subfolders.")]
Inpainting = Annotated[
    bool,
    _in_files(
        "--inpaint",
        help="Repair pictures, with masks NAME.mask.png or NAME_mask.png beside them, --mask-color or "
        "--detect.",
    ),
]


@dataclass(frozen=True)
class OfMany:
    """Options of every command that works on many files."""

    recursive: Recursive = False
    format: Annotated[
        Suffix | None,
        _in_files(help="Format of the results.", show_default="png; with --inpaint the input's"),
    ] = None
    name: Annotated[
        str,
        _in_files(
            metavar="TEXT",
            help="Name of a result: {stem}, {ext} and {parent} of the input, {date}, {camera}, {lens} and "
            "{iso} of the photo, {counter}; such as {date:%Y%m%d}_{counter:04}.",
        ),
    ] = "{stem}"
    report: Annotated[
        str | None,
        _in_files(
            metavar="FILE",
            help="The file that gets a JSON line for each input.",
            show_default="demosaic-ntc-report.jsonl in DIR, or here if that is an address",
        ),
    ] = None
    jobs: Annotated[
        int | None,
        _in_workers(
            min=1,
            help="Files at a time; they share the processors.",
            show_default="as many as processors and memory allow",
        ),
    ] = None
    timeout: Annotated[
        float, _in_workers(min=0.1, metavar="S", help="Give up on a file after S seconds.")
    ] = 7200.0
    memory: Annotated[
        float | None,
        _in_workers(min=0.01, metavar="GB", help="Give up on a file that needs more memory than this."),
    ] = None


@dataclass(frozen=True)
class OfBatch:
    """Options of a batch alone."""

    scheduler: Annotated[
        str | None,
        _in_workers(
            metavar="ADDRESS|FILE",
            help="Run on the workers of a Dask scheduler, such as tcp://host:8786 (extra `cluster`).",
        ),
    ] = None
    resume: Annotated[
        bool,
        _in_running(
            "--resume",
            help="Continue where an earlier run stopped; redo results whose input or settings have changed, "
            "unless somebody edited the result.",
        ),
    ] = False
    overwrite_ours: Annotated[
        bool,
        _in_running(
            "--overwrite-ours",
            help="Redo everything, but replace only results that nobody has changed since a recorded run.",
        ),
    ] = False
    dry_run: Annotated[bool, _in_running("--dry-run", help="Only list what would be done.")] = False


@dataclass(frozen=True)
class OfFolders:
    """Options of bursts that are looked for in folders."""

    folders: Annotated[
        bool,
        _in_files(
            "--folders", help="Make one picture of each folder of raws, or with --gap of each burst in it."
        ),
    ] = False
    recursive: Recursive = False
    output: Annotated[
        Path | None,
        _in_files(
            "--output",
            "-o",
            metavar="DIR",
            help="Where the pictures of --folders go.",
            show_default="`merged` in the first folder",
        ),
    ] = None
    gap: Annotated[
        float | None,
        _in_files(
            min=0,
            metavar="SECONDS",
            help="Raws of a folder form one burst if they were taken at most this far apart.",
        ),
    ] = None
    format: Annotated[Suffix, _in_files(help="Format of the pictures of --folders.")] = "png"
