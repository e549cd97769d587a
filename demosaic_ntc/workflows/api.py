"""Raw files from Python: ``develop`` and ``merge`` make pictures, ``read_mosaic`` returns the samples."""

import os
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from inspect import Parameter, signature
from pathlib import Path
from typing import Any, Literal, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.cfa import Cfa, make_cfa
from demosaic_ntc.choices import (
    Banding,
    Crop,
    Ghosts,
    Highlights,
    Lens,
    LookName,
    MotionKind,
    Quality,
    Space,
    White,
)
from demosaic_ntc.demosaicing.demosaic import Method
from demosaic_ntc.demosaicing.noise import NoiseModel
from demosaic_ntc.developing.setting_values import parse_bad_pixels, parse_raws
from demosaic_ntc.developing.settings import Development, Engine, Merging, Settings
from demosaic_ntc.engine.notebook_preview import preview
from demosaic_ntc.engine.result import NormCertificate, SampleCheck
from demosaic_ntc.errors import InputError, as_number
from demosaic_ntc.html_repr import html_table
from demosaic_ntc.images.picture import DecodedImage
from demosaic_ntc.images.writing import write_picture
from demosaic_ntc.io.formats import Layout, Loss, format_of
from demosaic_ntc.io.header import InputLimits
from demosaic_ntc.io.pixels import ignore_share
from demosaic_ntc.raw.levels import Balance
from demosaic_ntc.raw.photo import RawPhoto
from demosaic_ntc.raw.reading import read_photo
from demosaic_ntc.raw.temperature import Temperature
from demosaic_ntc.recipe import build, settings_of
from demosaic_ntc.run import ReportProgress, Timings, ignore_progress
from demosaic_ntc.workflows.conversion import ConversionFacts, DevelopedPhoto, develop_photo
from demosaic_ntc.workflows.merging import MergedFrame, merge_photos

FilePath = str | os.PathLike[str]


@dataclass(frozen=True, slots=True, repr=False)
class Developed:
    """A developed photo: its picture, and what was done to get there."""

    image: NDArray[Any]  # (height, width, 3), upright: uint8, uint16, or float32 from 0 to 1
    source: Path
    picture: DecodedImage  # as it is written, in 8 or 16 bits
    facts: ConversionFacts

    @property
    def certificate(self) -> NormCertificate | None:
        """What is proven about the completion; None of interpolations and previews."""
        return self.facts.certificate

    @property
    def check(self) -> SampleCheck | None:
        """How well samples were predicted from others; None of interpolations and previews."""
        return self.facts.check

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
            "check": None if facts.check is None else asdict(facts.check),
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


@dataclass(frozen=True, slots=True, repr=False)
class Merged(Developed):
    """A picture of several frames; its source is the reference among them."""

    frames: tuple[MergedFrame, ...] = ()  # what became of each, in the order they were given

    def __repr__(self) -> str:
        """Show what it is, not its pixels."""
        used = sum(frame.is_used for frame in self.frames)
        return f"Merged({used} of {len(self.frames)} frames, {Developed.__repr__(self)})"


class Keywords(TypedDict, total=False):
    """The settings that `develop` takes, for type checkers; a test compares them with the recipe's."""

    look: LookName | None
    exposure: float | Literal["auto"]
    contrast: float
    saturation: float
    wb: Balance | float
    black: tuple[float, ...] | None
    white: White
    highlights: Highlights | None
    ca: Literal["auto", "off"]
    lens: Lens
    lens_profile: str | None
    denoise: float | Literal["auto", "texture", "off"]
    denoise_color: float | None
    noise: NoiseModel | None
    bad_pixels: FilePath | None
    dark: FilePath | Sequence[FilePath] | None
    flat: FilePath | Sequence[FilePath] | None
    banding: Banding | None
    color_space: Space
    linear: bool
    crop: Crop | None
    rotate: bool
    resize: int | None
    method: Method
    quality: Quality
    half: bool
    threads: int | None
    time_limit: float | None
    cfa: Cfa | str | None
    width: int | None
    height: int | None
    raw_bits: int | None
    max_pixels: int
    isolate: bool


class MergeKeywords(Keywords, total=False):
    """The settings that `merge` takes besides those of `develop`."""

    reference: str
    motion: MotionKind
    ghosts: Ghosts


def develop(
    path: FilePath,
    *,
    bits: Literal[8, 16, "float"] = 16,
    progress: ReportProgress | None = None,
    **chosen: Unpack[Keywords],
) -> Developed:
    """Turn a raw file into a finished picture, as ``demosaic-ntc photo.dng out.png`` does.

    Settings are the command's; ``wb`` may also be a temperature in kelvin, multipliers (R, G, B), a
    `Temperature` or a `GreyPatch`. ``bits`` is 8, 16 or ``"float"``, float32 from 0 to 1.
    """
    signature(develop).bind(path, **chosen)
    settings = Settings.of(_read_values(chosen))
    done = develop_photo(Path(path), settings, _depth(bits), progress or ignore_progress, Timings())
    image, picture = _read_pixels(done, bits)
    return Developed(image, Path(path), picture, done.facts)


def merge(
    paths: Sequence[FilePath],
    *,
    bits: Literal[8, 16, "float"] = 16,
    progress: ReportProgress | None = None,
    **chosen: Unpack[MergeKeywords],
) -> Merged:
    """Turn several raws of one scene into one picture, as ``demosaic-ntc merge a.dng b.dng out.png`` does.

    Frames are aligned to a reference, which decides place, colours and look; where they disagree with it,
    they are left out. One frame alone is developed as `develop` does.
    """
    signature(merge).bind(paths, **chosen)
    values = _read_values(chosen)
    sources, merging = [Path(path) for path in paths], build(Merging, values)
    steps = Settings.of(values), merging, _depth(bits), progress or ignore_progress, Timings()
    done = merge_photos(sources, *steps)
    image, picture = _read_pixels(done.developed, bits)
    source = next(frame.source for frame in done.frames if frame.is_reference)
    return Merged(image, source, picture, done.developed.facts, done.frames)


def _read_pixels(done: DevelopedPhoto, bits: Literal[8, 16, "float"]) -> tuple[NDArray[Any], DecodedImage]:
    """The pixels of a finished picture, which may be made as they are read, and the picture with them."""
    pixels: NDArray[Any] = np.ascontiguousarray(done.picture.colours)
    image = pixels.astype(np.float32) / np.float32(65535) if bits == "float" else pixels
    return image, replace(done.picture, colours=pixels)


def _read_values(chosen: Mapping[str, Any]) -> dict[str, Any]:
    """The settings with names of arrays, temperatures and paths made what they stand for."""
    values: dict[str, Any] = dict(chosen)
    if isinstance(values.get("wb"), int | float):
        values["wb"] = Temperature(as_number(values["wb"]))
    if values.get("cfa") is not None:
        values["cfa"] = make_cfa(values["cfa"])
    if isinstance(values.get("bad_pixels"), str | os.PathLike):
        values["bad_pixels"] = parse_bad_pixels(os.fspath(values["bad_pixels"]))
    for name in ("dark", "flat"):
        if isinstance(values.get(name), str | os.PathLike):
            values[name] = parse_raws(os.fspath(values[name]))
        elif values.get(name) is not None:
            values[name] = tuple(Path(each) for each in values[name])
    return values


def describe_keywords(function: Callable[..., Any], *kinds: type[Any]) -> None:
    """Give a function of `**chosen` the signature that the settings of some kinds make, and their help."""
    settings = [each for kind in kinds for each in settings_of(kind).values()]
    own = signature(function)
    first, *others = (each for each in own.parameters.values() if each.kind is not Parameter.VAR_KEYWORD)
    named = [
        Parameter(each.name, Parameter.KEYWORD_ONLY, default=each.default, annotation=each.kind)
        for each in settings
    ]
    function.__signature__ = own.replace(parameters=[first, *named, *others])  # type: ignore[attr-defined]
    helps = "\n".join(
        f"    * ``{each.name}``: {'if false: ' if each.default is True else ''}{each.help}"
        for each in settings
    )
    function.__doc__ = f"{function.__doc__}\n{helps}\n"


describe_keywords(develop, Development, Engine, Layout, InputLimits)
describe_keywords(merge, Merging, Development, Engine, Layout, InputLimits)


def read_mosaic(
    path: FilePath,
    *,
    cfa: Cfa | str | None = None,
    width: int | None = None,
    height: int | None = None,
    bits: int | None = None,
    isolate: bool = True,
) -> RawPhoto:
    """Read the samples of a sensor: a raw file, a grey picture with ``cfa``, or headerless data with its
    size.

    The result has ``mosaic`` (height × width uint16, as stored), ``cfa``, ``black``, ``white``, the camera's
    balance and matrix; its ``light`` is what `demosaic` takes: float32 above black, 1 at white. It is decoded
    in a process apart where the system can (Linux), unless ``isolate`` is false.
    """
    layout = Layout(None if cfa is None else make_cfa(cfa), width, height, bits)
    return read_photo(Path(path), layout, InputLimits(isolate=isolate))


def _depth(bits: Literal[8, 16, "float"]) -> int:
    """The bits that pixels are finished in."""
    if bits not in (8, 16, "float"):
        raise InputError(f"pictures have 8 or 16 bits or are 'float', not {bits!r}")
    return 16 if bits == "float" else int(bits)
