"""What worker processes do when a picture is opened or a raw developed: it is laid out to be looked at.

A picture's folder holds `facts.json`; `before/`, the levels of the picture as it is seen; and `picture.npy`,
its colours as they are stored, for repairs. A raw has no such colours.
"""

import json
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.batch.job import WorkResult
from demosaic_ntc.errors import DemosaicNtcError, InputError
from demosaic_ntc.images.picture import DecodedImage
from demosaic_ntc.images.reading import read_picture
from demosaic_ntc.images.writing import check_fits
from demosaic_ntc.io.atomic import whole_file
from demosaic_ntc.io.header import InputLimits
from demosaic_ntc.io.pixels import orient
from demosaic_ntc.raw.preview import decode_preview
from demosaic_ntc.raw.reading import read_photo
from demosaic_ntc.run import Progress, ReportProgress, Timings
from demosaic_ntc.studio.canvas.pyramid import sizes_of, write_pyramid
from demosaic_ntc.studio.canvas.tile_images import resize, view_of, white_shown
from demosaic_ntc.studio.work.base import StudioWork
from demosaic_ntc.workflows.conversion import develop_photo
from demosaic_ntc.workflows.costs import DECODING

if TYPE_CHECKING:
    from demosaic_ntc.developing.settings import Settings

FACTS, BEFORE, PICTURE, PROFILE = "facts.json", "before", "picture.npy", "profile.icc"

#: The stage from which on a picture can be looked at.
SHOWN = "shown"

#: Raws are looked at at half their size: one pixel per cell of a Bayer array.
RAW_LEVEL = 1

_FORMATS = ("png", "tif", "jpg")
_EMBEDDED_SIDE = 2048  # enough of the camera's own picture for a first look
_PATIENCE, _GLANCE_SECONDS = 120.0, 0.05
_BITS = 8
_GREY = 118  # shown of a raw that holds no picture until ours is made


@dataclass(frozen=True, slots=True)
class PictureFacts:
    """What is known of a picture once it is open."""

    size: tuple[int, int]  # height and width as it is seen
    orientation: int
    depth: str
    white: float  # the value shown as white
    formats: tuple[str, ...]  # that it can be saved in
    is_raw: bool
    notices: tuple[str, ...]
    camera: str = ""

    @classmethod
    def read(cls, folder: Path) -> "PictureFacts":
        """The facts that a worker has written."""
        plain = json.loads((folder / FACTS).read_text(encoding="utf-8"))
        height, width = (int(side) for side in plain["size"])
        lists = {name: tuple(map(str, plain[name])) for name in ("formats", "notices")}
        return cls(**{**plain, **lists, "size": (height, width)})

    def write(self, target: Path) -> None:
        """Write them, whole or not at all."""
        with whole_file(target, overwrite=True) as file:
            file.write(json.dumps(asdict(self)).encode())


@dataclass(frozen=True, slots=True)
class OpenPicture(StudioWork):
    """Read a picture that can be repaired; the target is the file of its facts.

    Its colours are written last: by then the picture is looked at, which a stage of its own tells.
    """

    picture: Path = Path()
    limits: InputLimits = field(default_factory=InputLimits)

    def run(self, source: Path, target: Path, threads: int, progress: ReportProgress) -> WorkResult:
        """Lay the picture out in the target's folder."""
        progress(Progress(DECODING, 0, 1))
        picture, folder = read_picture(self.picture, self.limits), target.parent
        white = white_shown(picture.pixels)
        view = view_of(orient(picture.pixels, picture.orientation), white, threads)
        write_pyramid(folder / BEFORE, view, threads=threads)
        if picture.profile:
            (folder / PROFILE).write_bytes(picture.profile)
        seen = picture.size[::-1] if picture.orientation >= 5 else picture.size
        formats = tuple(name for name in _FORMATS if _fits(picture, name))
        facts = PictureFacts(seen, picture.orientation, picture.depth, white, formats, False, picture.notices)
        facts.write(target)
        progress(Progress(SHOWN, 1, 1))
        with whole_file(folder / PICTURE, overwrite=True) as file:
            np.save(file, picture.colours)
        return WorkResult(seen[0] * seen[1], {})


def _fits(picture: DecodedImage, suffix: str) -> bool:
    """Whether a format holds all that a picture has."""
    try:
        check_fits(picture, Path(f"any.{suffix}"))
    except DemosaicNtcError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class OpenRaw(StudioWork):
    """Read the camera's own picture in a raw, for a first look; the target is the file of its facts."""

    raw: Path
    limits: InputLimits = field(default_factory=InputLimits)

    def run(self, source: Path, target: Path, threads: int, progress: ReportProgress) -> WorkResult:
        """Lay the camera's picture out in the target's folder."""
        progress(Progress(DECODING, 0, 1))
        photo = read_photo(self.raw, limits=self.limits)
        embedded = decode_preview(photo.preview, _EMBEDDED_SIDE, isolate=photo.isolated)
        size = photo.size[::-1] if photo.orientation >= 5 else photo.size
        half = sizes_of(size, RAW_LEVEL)[RAW_LEVEL]
        view = _grey(half) if embedded is None else resize(orient(embedded, photo.orientation), half)
        write_pyramid(target.parent / BEFORE, view, RAW_LEVEL)
        camera = str(photo.exif.facts.get("camera", ""))
        PictureFacts(size, photo.orientation, "raw", 255.0, _FORMATS, True, photo.notices, camera).write(
            target
        )
        return WorkResult(size[0] * size[1], {})


def _grey(size: tuple[int, int]) -> NDArray[Any]:
    """A grey picture."""
    return np.full((*size, 3), _GREY, np.uint8)


def load_colours(folder: Path) -> NDArray[Any]:
    """The colours of an opened picture as they are stored; those still being written are waited for."""
    end = time.monotonic() + _PATIENCE
    while not (folder / PICTURE).exists():
        if time.monotonic() > end:
            raise InputError("the picture was not read to its end; open it again")
        time.sleep(_GLANCE_SECONDS)
    return np.asarray(np.load(folder / PICTURE, mmap_mode="r", allow_pickle=False))


@dataclass(frozen=True, slots=True)
class Preview(StudioWork):
    """Develop a raw by cells; levels appear in a folder, and the target when they are complete."""

    settings: "Settings"
    size: tuple[int, int]  # of the raw as it is seen
    folder: Path

    def run(self, source: Path, target: Path, threads: int, progress: ReportProgress) -> WorkResult:
        """Develop it as the command does with --half."""
        done = develop_photo(source, self.settings, _BITS, progress, Timings())
        half = sizes_of(self.size, RAW_LEVEL)[RAW_LEVEL]
        pixels = np.ascontiguousarray(done.picture.colours, np.uint8)
        write_pyramid(self.folder, pixels if pixels.shape[:2] == half else resize(pixels, half), RAW_LEVEL)
        with whole_file(target, overwrite=True) as file:
            file.write(b"done")
        return WorkResult(half[0] * half[1], {}, notices=done.facts.notices)
