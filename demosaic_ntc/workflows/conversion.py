"""From a raw file to a finished picture: the whole way, with what was done on it."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import version
from math import log2
from pathlib import Path
from typing import Any

import numpy as np

from demosaic_ntc.developing.dng_writing import LinearPicture, write_dng
from demosaic_ntc.developing.framing import (
    cut,
    finish_of,
    look_name,
    shrink,
)
from demosaic_ntc.developing.highlights import widen_error
from demosaic_ntc.developing.linear_dng import carried_opcodes, for_preview, linear_picture
from demosaic_ntc.developing.preprocess import Prepared, Restore, choose_highlights, complete_mosaic, prepare
from demosaic_ntc.developing.render import (
    Finish,
    RestoredPhoto,
    find_auto_gain,
    finish,
    finish_error,
    is_dark,
)
from demosaic_ntc.developing.settings import Development, Settings
from demosaic_ntc.engine.result import NormCertificate, SampleCheck
from demosaic_ntc.errors import InputError
from demosaic_ntc.images.error_map import (
    ErrorMap,
    Expected,
    check_asked,
    check_map,
    is_within,
    write_error_map,
)
from demosaic_ntc.images.fits_writing import check_astropy
from demosaic_ntc.images.picture import DecodedImage
from demosaic_ntc.images.writing import write_picture
from demosaic_ntc.io.atomic import check_distinct, check_target
from demosaic_ntc.io.colour import icc_profile
from demosaic_ntc.io.exif import finish_metadata
from demosaic_ntc.io.formats import format_of
from demosaic_ntc.io.header import FileHeader, open_header, prefix_path
from demosaic_ntc.io.pixels import ImageLike, LazyImage, orient
from demosaic_ntc.io.xmp import clean_xmp
from demosaic_ntc.raw.levels import Exposure
from demosaic_ntc.raw.noise import span_of
from demosaic_ntc.raw.photo import RawPhoto
from demosaic_ntc.run import Progress, ReportProgress, Run, Timings, check_threads, ignore_progress, rows_as
from demosaic_ntc.workflows.costs import DECODING


@dataclass(frozen=True, slots=True)
class ConversionFacts:
    """What was done to a photo."""

    camera: str  # make and model, empty if they are not known
    taken: dict[str, Any]  # camera, lens, date and exposure, as plain values
    size: tuple[int, int]
    cfa: str
    exposure: Exposure
    stops: float
    look: str
    matrix_source: str
    certificate: NormCertificate | None
    check: SampleCheck | None  # how well samples were predicted from others
    noise: dict[str, Any] | None  # as found and as removed; None where it was not looked for
    seconds: dict[str, float]
    notices: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Return what was done as an object for JSON; errors of the check are shares of full scale."""
        return {
            "camera": self.camera,
            "width": self.size[1],
            "height": self.size[0],
            "cfa": self.cfa,
            "white_balance": self.exposure.description,
            "white_level": self.exposure.white,
            "white_by_colour": list(self.exposure.levels),
            "matrix": self.matrix_source,
            "look": self.look,
            "exposure": self.stops,
            "noise": self.noise,
            "check": None if self.check is None else asdict(self.check),
        }


@dataclass(frozen=True, slots=True)
class DevelopedPhoto:
    """A finished picture that is not written yet."""

    picture: DecodedImage
    expected: Expected | None  # how far off it may be, where that was asked for
    facts: ConversionFacts
    linear: LinearPicture | None = (
        None  # what a DNG stores, where one is asked for: the picture is its preview
    )


@dataclass(frozen=True, slots=True)
class Conversion:
    """What was done, and where the picture is."""

    source: Path
    target: Path
    facts: ConversionFacts
    error_map: ErrorMap | None = None


@dataclass(frozen=True, slots=True)
class PhotoToDevelop:
    """A photo ready for the engine, and what restores its colours where that is not the engine alone."""

    ready: Prepared
    path: Path
    restore: Restore | None = None
    parameters: Mapping[str, object] = field(default_factory=dict)  # that are recorded besides the settings'


def convert_file(
    source: Path | FileHeader,
    target: Path,
    settings: Settings,
    progress: ReportProgress | None = None,
    error_map: Path | None = None,
) -> Conversion:
    """Read, develop and write one photo; nothing appears at the target unless all went well.

    With a place for an error map, the standard deviations expected of its pixels are written there as well.
    """
    report, timings = progress or ignore_progress, Timings()
    with open_header(source, settings.limits) as header:
        bits, wanted = check_outputs((header.path,), target, settings, error_map)
        done = develop_photo(header, settings, bits, report, timings, **wanted)
    mapped = write_developed(target, done, settings, report, timings, error_map)
    return Conversion(header.path, target, done.facts, mapped)


def check_names(
    sources: Sequence[Path], target: Path, settings: Settings, error_map: Path | None
) -> tuple[int, Path | None]:
    """Refuse outputs by their names alone; return the bits of the picture, and the map that lies beside it.

    The format must hold what the settings ask for, and no file may be written that is read as well.
    """
    bits, beside = settings.depth(target, error_map), error_map
    if error_map is not None and is_within(error_map, target):
        beside = None
    check_distinct((*sources, settings), (target, beside))
    return bits, beside


def check_outputs(
    sources: Sequence[Path], target: Path, settings: Settings, error_map: Path | None
) -> tuple[int, dict[str, bool]]:
    """Refuse what cannot be written; return the bits of the picture, and what else is to be made."""
    (bits, beside), method = check_names(sources, target, settings, error_map), settings.engine.method
    check_target(target)
    if error_map is not None and (settings.engine.half or settings.development.longest_side is not None):
        raise InputError(f"{error_map}: errors are known at full size only; leave out `resize` and `half`")
    if beside is not None:
        check_map(beside, method, overwrite=settings.output.overwrite)
    elif error_map is not None:
        check_asked(error_map, method, target)
    if format_of(target) == "FITS":
        check_astropy()
    return bits, {"error": error_map is not None, "linear": format_of(target) == "DNG"}


def write_developed(
    target: Path,
    done: DevelopedPhoto,
    settings: Settings,
    report: ReportProgress,
    timings: Timings,
    error_map: Path | None,
) -> ErrorMap | None:
    """Write a finished picture, and the errors expected of it where a place for them is given."""
    output, picture, expected, rows = settings.output, done.picture, done.expected, rows_as("writing", report)
    beside: AbstractContextManager[ErrorMap | None] = nullcontext()
    if error_map is not None and expected is not None and is_within(error_map, target):
        picture = replace(picture, errors=expected.deviations)
        beside = nullcontext(ErrorMap(target, expected.rms, expected.white))
    elif error_map is not None and expected is not None:
        beside = write_error_map(error_map, expected, overwrite=output.overwrite)
    with timings.stage("write"), beside as mapped:
        if done.linear is not None:
            write_dng(target, done.linear, picture, output, rows)
        else:
            write_picture(
                target,
                picture,
                overwrite=output.overwrite,
                loss=output.loss,
                report=rows,
                threads=check_threads(settings.engine.threads),
            )
    return mapped


def develop_photo(
    source: Path | FileHeader,
    settings: Settings,
    bits: int,
    report: ReportProgress,
    timings: Timings,
    *,
    error: bool = False,
    linear: bool = False,
) -> DevelopedPhoto:
    """Read a photo and develop it into pixels of `bits` bits; with `error`, also estimate their errors.

    With `linear`, the pixels are the preview of a DNG, whose own picture is returned beside them.
    """
    with timings.stage("decode"), open_header(source, settings.limits) as header:
        report(Progress(DECODING, 0, 1))
        photo = PhotoToDevelop(prepare(header, settings, linear=linear), header.path)
        report(Progress(DECODING, 1, 1))
    return develop_prepared(photo, settings, bits, report, timings, error=error, linear=linear)


def develop_prepared(
    photo: PhotoToDevelop,
    settings: Settings,
    bits: int,
    report: ReportProgress,
    timings: Timings,
    *,
    error: bool = False,
    linear: bool = False,
) -> DevelopedPhoto:
    """Develop a photo that was read and prepared; see `develop_photo`."""
    ready = photo.ready
    settings = for_preview(settings) if linear else settings
    how = settings.development
    timings.notices += photo_notices(ready, how)
    timings.notices += notices_of_dng(ready, how) if linear else ready.lens.notices
    with timings.stage("demosaic"), prefix_path(photo.path):
        run = Run.start(settings.engine.threads, report, settings.engine.time_limit, error)
        restored = complete_mosaic(ready, settings.engine, run, photo.restore)
        timings.notices += restored.notices
    with timings.stage("render"):
        look = finish_of(restored.image, ready, how, bits)
        seen = ready.lens.finish(restored.image, ready.mosaic.lift, ready.raw_white)
        kept = cut(seen, ready.photo, how)
        kept = kept if how.longest_side is None else shrink(kept, how.longest_side)
        pixels = finish(kept, ready.mosaic.lift, look, rows_as("rendering", report))
        pixels = orient(pixels, ready.photo.orientation) if how.rotate else pixels
        if isinstance(pixels, LazyImage):
            pixels = pixels.within(lambda: timings.part("render"))
        expected = None if restored.error is None else _orient_errors(restored, ready, look, how)
        picture = _describe_picture(pixels, photo, look, settings)
        timings.notices += brightness_notices(restored, ready, look, how)
        raw = linear_picture(restored.image, ready, settings, photo.path.name) if linear else None
    return DevelopedPhoto(picture, expected, _facts(picture, ready, restored, look, timings, how), raw)


def _facts(
    picture: DecodedImage,
    ready: Prepared,
    restored: RestoredPhoto,
    look: Finish,
    timings: Timings,
    how: Development,
) -> ConversionFacts:
    """What was done; `seconds` is the dict of the timings, to which the writing is still to be added."""
    noise, strength = None, ready.strengths
    if ready.noise is not None:
        removed = {"brightness": strength.brightness, "color": strength.colour}
        noise = {**ready.noise.describe(span_of(ready.photo)), "removed": removed}
    return ConversionFacts(
        camera=ready.photo.exif.camera,
        taken=ready.photo.exif.facts,
        size=(picture.colours.shape[0], picture.colours.shape[1]),
        cfa=ready.photo.array_name,
        exposure=ready.exposure,
        stops=log2(look.gain) if how.exposure == "auto" else how.exposure,
        look=look_name(ready, how),
        matrix_source=ready.photo.matrix.source,
        certificate=restored.certificate,
        check=restored.check,
        noise=noise,
        seconds=timings.seconds,
        notices=tuple(timings.notices),
    )


def _orient_errors(restored: RestoredPhoto, ready: Prepared, look: Finish, how: Development) -> Expected:
    """The errors expected of the finished pixels, cut and turned alike."""
    photo, lift, whole = ready.photo, ready.mosaic.lift, restored.error
    assert whole is not None
    if ready.highlights is not None:
        whole = widen_error(whole, restored.image, lift, photo, ready.highlights)
    image = cut(ready.lens.finish(restored.image, lift, ready.raw_white), photo, how)
    error = cut(ready.lens.finish_error(whole, restored.image, lift), photo, how)
    codes = finish_error(image, error, lift, look)
    if not how.rotate:
        return Expected(codes, photo.orientation, 2**look.bits - 1)
    return Expected(orient(codes, photo.orientation), 1, 2**look.bits - 1)


def _describe_picture(
    pixels: ImageLike, source: PhotoToDevelop, look: Finish, settings: Settings
) -> DecodedImage:
    """The pixels with their profile and metadata."""
    photo, profile, how = source.ready.photo, icc_profile(look.space), settings.development
    orientation, is_srgb = 1 if how.rotate else photo.orientation, how.space == "srgb" and not how.linear
    if not settings.output.metadata:
        return DecodedImage(pixels, profile=profile)
    exif = finish_metadata(
        photo.exif,
        size=(pixels.shape[0], pixels.shape[1]),
        orientation=orientation,
        srgb=is_srgb,
        parameters=_parameters(source, settings),
        hand_balanced=how.balance not in ("camera", "auto"),
        software=f"demosaic-ntc {version('demosaic-ntc')}",
    )
    xmp = clean_xmp(photo.xmp) if photo.xmp else None
    return DecodedImage(pixels, profile=profile, exif=exif, orientation=orientation, xmp=xmp)


def _parameters(source: PhotoToDevelop, settings: Settings) -> str:
    """The parameters as they were used, with the noise in green that was removed, for the comment."""
    ready, exposure = source.ready, source.ready.exposure
    balance = ",".join(f"{value:.4g}" for value in exposure.balance[:3])
    light = f" {exposure.light.kelvin:.0f}K,{exposure.light.tint:+.0f}" if exposure.light else ""
    how = settings.development
    known = {
        "look": look_name(ready, how),
        "highlights": choose_highlights(ready.photo, how),
        **source.parameters,
    }
    used = settings.describe(wb=f"{exposure.balance_source} ({balance}{light})", **known)
    if ready.noise is None or ready.strengths.strongest == 0:
        return used
    model = ready.noise.model
    return f"{used} noise={model.slope[1]:.3g},{model.floor[1]:.3g} ({ready.noise.source})"


# The hint about dark pictures looks at every n-th row and column.
_GLANCE = 8

# A likely black level: this share of the samples lies below it, and it is more than this share of white.
_DARKEST, _SEEN_BLACK = 0.001, 0.01


def photo_notices(ready: Prepared, how: Development) -> Iterator[str]:
    """What a user should know about the photo and the colours chosen for it."""
    yield from ready.photo.notices
    yield from ready.noise.notices if ready.noise else ()
    source = ready.exposure.balance_source
    if source == "preview":
        yield "no white balance is stored; it was fitted to the camera's own picture (`wb` chooses another)"
    elif how.balance in ("camera", "daylight") and source != how.balance and not ready.photo.is_monochrome:
        used = "none was applied" if source == "none" else f"{source} balance was used"
        advice = "`wb=auto` finds one" if source == "none" else "choose one with `wb`"
        yield f"no {how.balance} white balance is stored; {used} ({advice})"
    if how.black is None:
        yield from _black_notice(ready.photo)
    if ready.photo.matrix.source == "none" and how.space != "camera" and not ready.photo.is_monochrome:
        yield "no camera profile is known; colours are shown as if the sensor were sRGB"
    if how.crop == "camera" and ready.photo.camera_crop is None:
        yield "the camera stored no crop; the whole visible area is kept"
    if how.look == "camera" and ready.embedded is None:
        yield "holds no preview; the automatic look is used"


def notices_of_dng(ready: Prepared, how: Development) -> Iterator[str]:
    """What was corrected of the lens of a linear DNG, and what is left to its readers."""
    yield from ready.lens.raw.notices
    yield from carried_opcodes(ready, how).notices
    if ready.lens.profile:
        yield f"a linear DNG is not corrected by the profile {ready.lens.profile}; its readers have their own"


def _black_notice(photo: RawPhoto) -> Iterator[str]:
    """A hint where no sample lies above black, or a mosaic that states no black level seems to have one."""
    black = float(photo.black.min())
    if photo.mosaic.max(initial=0) <= black:
        yield f"no sample lies above the black level {black:g}; the picture is black (`black` gives another)"
    if not photo.is_plain:
        return
    seen = photo.mosaic[::_GLANCE, ::_GLANCE]
    darkest = float(np.quantile(seen, _DARKEST))
    if darkest > _SEEN_BLACK * float(seen.max()):  # white may be that of 16 bits, of which 14 are used
        yield f"the darkest samples read {darkest:.0f}; if that is black, give `black={darkest:.0f}`"


def brightness_notices(
    restored: RestoredPhoto, ready: Prepared, look: Finish, how: Development
) -> Iterator[str]:
    """A hint where nothing was brightened and the picture ends far below white."""
    if how.exposure != 0 or look_name(ready, how) != "neutral":
        return
    gain = find_auto_gain(restored.image, ready.mosaic.lift, look, every=_GLANCE)
    if is_dark(gain):
        yield f"the picture ends {log2(gain):.1f} stops below white; `exposure=auto` would brighten it"
