"""Everything a page can see: the pictures that were named or uploaded, and who is told when they change."""

import os
import shutil
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import RLock
from typing import Any

from demosaic_ntc.batch.discovery import MASK_ENDINGS, PICTURE_SUFFIXES, RAW_SUFFIXES, InputSearch
from demosaic_ntc.errors import InputError
from demosaic_ntc.io.header import InputLimits
from demosaic_ntc.studio.document import Document
from demosaic_ntc.studio.looks import LookSettings

Listener = Callable[[dict[str, Any]], None]

_MOST_PICTURES = 2000

_LONGEST_STEM = 120  # bytes: as many as file systems take together with what results are called


@dataclass(slots=True, eq=False)
class Entry:
    """A picture that was named or uploaded."""

    number: int
    source: Path
    folder: Path  # of its own, for what is made to show it
    is_upload: bool
    sheet: Document | None = None
    opening: bool = False
    failure: str = ""
    wish: LookSettings = field(default_factory=LookSettings)
    signs: tuple[int, int] = (0, 0)  # length and time of the file that was opened
    result: Path | None = None  # what was saved last; of an upload it is downloaded

    @property
    def is_raw(self) -> bool:
        """Whether it is developed before it is looked at."""
        return self.source.suffix.lower() in RAW_SUFFIXES

    @property
    def name(self) -> str:
        """What it is called."""
        return self.source.name

    def plain(self) -> dict[str, Any]:
        """The picture in types that JSON has."""
        return {
            "number": self.number,
            "name": self.name,
            "upload": self.is_upload,
            "raw": self.is_raw,
            "opening": self.opening,
            "failure": self.failure,
            "wish": self.wish.plain(),
            "sheet": None if self.sheet is None else self.sheet.plain(),
        }

    def check_unchanged(self) -> None:
        """Refuse to work on a file that is no longer the one that is seen."""
        if signs_of(self.source) != self.signs:
            raise InputError(f"{self.source}: has changed since it was opened; open it again")


def signs_of(path: Path) -> tuple[int, int]:
    """Length and time of a file; zeros once it is gone."""
    with suppress(OSError):
        status = path.stat()
        return status.st_size, status.st_mtime_ns
    return (0, 0)


class Session:
    """The pictures of one run of the studio."""

    def __init__(self, folder: Path, limits: InputLimits) -> None:
        self.folder, self.limits = folder, limits
        self.entries: dict[int, Entry] = {}
        self.lock = RLock()
        self._listeners: list[Listener] = []

    # Pictures ----------------------------------------------------------------------------------------------

    def name(self, sources: Iterable[Path]) -> None:
        """Take files, and the pictures and raws of folders."""
        search = InputSearch(PICTURE_SUFFIXES | RAW_SUFFIXES, False, self.folder, MASK_ENDINGS)
        for found in search.files(sources):
            self.add(found.source, is_upload=False)

    def new_upload(self, name: str) -> Path:
        """A place for a file to be uploaded; of its name only the last part is taken, without tricks."""
        plain = os.path.basename(name.replace("\\", "/")).lstrip(".")
        cleaned = "".join(letter for letter in plain if letter.isprintable() and letter not in '/:*?"<>|')
        suffix = os.path.splitext(cleaned)[1].lower()
        if suffix not in PICTURE_SUFFIXES | RAW_SUFFIXES:
            raise InputError(
                f"{cleaned or 'this file'}: is not named as a picture or raw; give PNG, TIFF, JPEG or a raw"
            )
        with self.lock:
            place = self.folder / f"upload{len(self.entries) + 1}-{os.urandom(4).hex()}"
        place.mkdir()
        stem = os.fsencode(cleaned[: -len(suffix)])[-_LONGEST_STEM:].decode("utf-8", "ignore")
        return place / f"{stem or 'upload'}{suffix}"

    def add(self, source: Path, *, is_upload: bool) -> Entry:
        """Take a file."""
        with self.lock:
            if len(self.entries) >= _MOST_PICTURES:
                raise InputError(f"more than {_MOST_PICTURES} pictures at once; give a smaller folder")
            number = len(self.entries) + 1
            entry = Entry(number, source, self.folder / str(number), is_upload)
            self.entries[number] = entry
        self.notify("picture", picture=entry.plain())
        return entry

    def entry(self, number: int) -> Entry:
        """The picture of a number."""
        if number not in self.entries:
            raise InputError("there is no such picture; reload the page")
        return self.entries[number]

    def sheet(self, number: int) -> Document:
        """An opened picture."""
        sheet = self.entry(number).sheet
        if sheet is None:
            raise InputError("the picture is not open; open it first")
        return sheet

    def fresh_folder(self, entry: Entry) -> Path:
        """An empty folder for a picture that is opened, or opened again."""
        shutil.rmtree(entry.folder, ignore_errors=True)
        entry.folder.mkdir(parents=True)
        return entry.folder

    def plain(self) -> dict[str, Any]:
        """Everything, in types that JSON has."""
        with self.lock:
            return {"pictures": [entry.plain() for entry in self.entries.values()]}

    # Telling -----------------------------------------------------------------------------------------------

    def subscribe(self, listener: Listener) -> None:
        """Tell somebody of everything from now on."""
        with self.lock:
            self._listeners.append(listener)

    def leave(self, listener: Listener) -> None:
        """Tell somebody nothing any more."""
        with self.lock, suppress(ValueError):
            self._listeners.remove(listener)

    def notify(self, kind: str, **facts: Any) -> None:
        """Tell everybody."""
        with self.lock:
            listeners = list(self._listeners)
        for listener in listeners:
            listener({"kind": kind, **facts})

    def tell_mask(self, number: int, box: list[int]) -> None:
        """Tell everybody that a mask has changed, and what of the picture with it."""
        sheet = self.sheet(number)
        state = sheet.plain()
        self.notify("mask", number=number, box=box, mask=state["mask"], touched=state["touched"])
