"""Raw files from Python: ``develop`` makes the picture that the command does, ``read_mosaic`` the samples."""

import os
from base64 import b64encode
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.demosaicing.cfa import Cfa, make_cfa
from demosaic_ntc.demosaicing.demosaic import Method
from demosaic_ntc.demosaicing.noise import NoiseModel
from demosaic_ntc.developing.settings import HighlightsName, LookName, Settings, settings_named
from demosaic_ntc.engine.checks import Quality, ignore_progress
from demosaic_ntc.engine.notebook_preview import preview
from demosaic_ntc.engine.result import GroupCertificate, ReportProgress
from demosaic_ntc.errors import InputError, as_number
from demosaic_ntc.html_repr import html_table
from demosaic_ntc.images.formats import format_of
from demosaic_ntc.images.lossy import Loss
from demosaic_ntc.images.picture import DecodedImage
from demosaic_ntc.images.writing import write_picture
from demosaic_ntc.io.pixels import ignore_share
from demosaic_ntc.io.timings import Timings
from demosaic_ntc.raw.levels import Balance, White
from demosaic_ntc.raw.photo import Crop, RawPhoto
from demosaic_ntc.raw.plain import Layout
from demosaic_ntc.raw.reading import read_photo
from demosaic_ntc.raw.temperature import Temperature
from demosaic_ntc.workflows.conversion import ConversionFacts, develop_photo

FilePath = str | os.PathLike[str]
Space = Literal["srgb", "adobe", "prophoto", "rec2020", "p3", "camera"]


@dataclass(frozen=True, slots=True, repr=False)
class Developed:
    """A developed photo: its picture, and what was done to get there."""

    image: NDArray[Any]  # (height, width, 3), upright: uint8, uint16, or float32 from 0 to 1
    source: Path
    picture: DecodedImage  # as it is written, in 8 or 16 bits
    facts: ConversionFacts

    @property
    def certificate(self) -> GroupCertificate | None:
        """What is proven about the completion; None of interpolations and previews."""
        return self.facts.certificate

    @property
    def metadata(self) -> dict[str, Any]:
        """Camera, exposure and what was done, as plain values."""
        facts = self.facts
        return {
            **facts.taken,
            "cfa": facts.cfa,
            "white_balance": facts.exposure.description,
            "look": facts.look,
            "noise": facts.noise,
            "seconds": dict(facts.seconds),
            "notices": facts.notices,
        }

    def save(self, path: FilePath, *, overwrite: bool = False, quality: int = 95) -> Path:
        """Write the picture with its metadata and profile, in the format of the path's extension."""
        target = Path(path)
        if self.picture.colours.dtype == np.uint16 and Settings().depth(target) == 8:
            raise InputError(f"{format_of(target)} has 8 bits per channel; develop with bits=8")
        write_picture(target, self.picture, overwrite=overwrite, loss=Loss(quality), report=ignore_share)
        return target

    def __repr__(self) -> str:
        """Show what it is, not its pixels."""
        size = "×".join(map(str, self.image.shape))
        return f"Developed({self.source.name!r}, {size} {self.image.dtype}, {self.facts.look} look)"

    def _repr_png_(self) -> bytes | None:
        """Show the picture in a notebook."""
        return preview(self.image)

    def _repr_html_(self) -> str:
        """Show the picture in a notebook, with what was done."""
        png = preview(self.image)
        picture = f'<img alt="" src="data:image/png;base64,{b64encode(png).decode()}">' if png else ""
        return picture + html_table({name: str(value) for name, value in self.metadata.items()})


def develop(
    path: FilePath,
    *,
    look: LookName | None = None,
    exposure: float | Literal["auto"] = 0.0,
    contrast: float = 0.0,
    saturation: float = 0.0,
    wb: Balance | float = "camera",
    black: tuple[float, ...] | None = None,
    white: White = "auto",
    highlights: HighlightsName | None = None,
    ca: Literal["auto", "off"] = "off",
    denoise: float | Literal["auto", "off"] = "auto",
    noise: NoiseModel | None = None,
    color_space: Space = "srgb",
    linear: bool = False,
    crop: Crop | None = None,
    rotate: bool = True,
    resize: int | None = None,
    half: bool = False,
    bits: Literal[8, 16, "float"] = 16,
    method: Method = "ntc",
    quality: Quality = "normal",
    threads: int | None = None,
    time_limit: float | None = None,
    cfa: Cfa | str | None = None,
    progress: ReportProgress | None = None,
) -> Developed:
    """Turn a raw file into a finished picture, as ``demosaic-ntc photo.dng out.png`` does.

    Settings are the command's: ``look`` is ``"auto"``, ``"neutral"`` or ``"camera"``, by default auto for
    raws of cameras; ``exposure`` in stops; ``contrast`` and ``saturation`` from -100 to 100; ``wb`` a name
    such as ``"camera"`` or ``"shade"``, a temperature in kelvin, multipliers (R, G, B), a `Temperature` or a
    `GreyPatch`; ``ca="auto"`` puts colour fringes back; ``crop`` is ``"camera"``, by default where the file
    states one, or ``"visible"``; ``resize`` the most pixels of the longer side;
    ``half`` a quick preview from cells of the array. ``bits`` is 8, 16 or ``"float"``, float32 from 0 to 1.
    ``cfa`` replaces the array that the file states.
    """
    chosen = {**locals(), "cfa": None if cfa is None else make_cfa(cfa), "bits": None}  # all by their names
    if isinstance(wb, (int, float)):
        chosen["wb"] = Temperature(as_number(wb))
    settings = settings_named(chosen)
    done = develop_photo(Path(path), settings, _depth(bits), progress or ignore_progress, Timings())
    pixels: NDArray[Any] = np.ascontiguousarray(done.picture.colours)  # they may be made as they are read
    image = pixels.astype(np.float32) / np.float32(65535) if bits == "float" else pixels
    return Developed(image, Path(path), replace(done.picture, colours=pixels), done.facts)


def read_mosaic(
    path: FilePath,
    *,
    cfa: Cfa | str | None = None,
    width: int | None = None,
    height: int | None = None,
    bits: int | None = None,
) -> RawPhoto:
    """Read the samples of a sensor: a raw file, a grey picture with ``cfa``, or headerless data with its
    size.

    The result has ``mosaic`` (height × width uint16, as stored), ``cfa``, ``black``, ``white``, the camera's
    balance and matrix; its ``light`` is what `demosaic` takes: float32 above black, 1 at white.
    """
    layout = Layout(None if cfa is None else make_cfa(cfa), width, height, bits)
    return read_photo(Path(path), layout)


def _depth(bits: Literal[8, 16, "float"]) -> int:
    """The bits that pixels are finished in."""
    if bits not in (8, 16, "float"):
        raise InputError(f"pictures have 8 or 16 bits or are 'float', not {bits!r}")
    return 16 if bits == "float" else int(bits)
