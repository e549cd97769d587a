"""The files of one run: what it writes must be neither what it reads nor another of its results."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from demosaic_ntc.errors import Clash
from demosaic_ntc.io.remote import Place, RemotePath


def file_key(path: Place) -> tuple[int, int] | str:
    """What tells a file from others whatever it is called: device and number, or the place it will have."""
    if isinstance(path, RemotePath):
        return str(path)
    try:
        status = os.stat(path)
    except OSError:
        return os.path.normcase(os.path.realpath(path))
    return status.st_dev, status.st_ino


def find_paths(settings: Any) -> Iterator[Path]:
    """All paths that settings hold, at any depth: files that a run reads besides its input."""
    match settings:
        case Path():
            yield settings
        case tuple() | list():
            for each in settings:
                yield from find_paths(each)
        case _ if is_dataclass(settings):
            for field in fields(settings):
                yield from find_paths(getattr(settings, field.name))


def check_distinct(reads: Iterable[Any], writes: Iterable[Path | None]) -> None:
    """Refuse to write over a file that the same run reads or writes, under whatever name.

    What is read are all paths in `reads`, those of settings too; see `find_paths`.
    """
    read = {file_key(path) for path in find_paths(tuple(reads))}
    written: set[tuple[int, int] | str] = set()
    for path in writes:
        if path is None:
            continue
        key = file_key(path)
        if key in read:
            raise Clash(f"{path}: input and output are the same file; choose another name")
        if key in written:
            raise Clash(f"{path}: is another result of this run; choose another name")
        written.add(key)
