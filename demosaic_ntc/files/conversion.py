"""From a raw file to a finished picture: the whole way, with what was done on it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.metadata import version
from math import log2
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.files.atomic import check_target
from demosaic_ntc.files.bad_pixels import read_bad_pixels, without_bad_pixels
from demosaic_ntc.files.colour import LINEAR_CURVE, output_space
from demosaic_ntc.files.denoising import AS_IT_IS, Strengths, denoised, stabilised_for
from demosaic_ntc.files.error_map import ErrorMap, Expected, check_map, written_beside
from demosaic_ntc.files.icc import icc_profile
from demosaic_ntc.files.image import FinishedPicture, write_picture
from demosaic_ntc.files.journal import Journal, rows_as
from demosaic_ntc.files.levels import Exposure, expose, with_levels
from demosaic_ntc.files.metadata import finished
from demosaic_ntc.files.noise import FoundNoise, noise_of, span_of
from demosaic_ntc.files.photo import RawPhoto
from demosaic_ntc.files.reading import read_photo
from demosaic_ntc.files.render import (
    EncodedMosaic,
    Finish,
    Pixels,
    brightening,
    encode_mosaic,
    finish,
    finish_error,
    is_dark,
    oriented,
)
from demosaic_ntc.files.settings import Development, Engine, Settings
from demosaic_ntc.files.sniff import named
from demosaic_ntc.imaging.checks import silently
from demosaic_ntc.imaging.demosaic import demosaic
from demosaic_ntc.imaging.restored import GroupCertificate, Progress, ReportProgress, Restored

# The methods that take noise off; interpolations show it.
DENOISING_METHODS = ("ntc", "predict-only")

# The hint about dark pictures looks at every n-th row and column.
_GLANCE = 8


@dataclass(frozen=True, slots=True)
class Prepared:
    """A photo ready for the engine."""

    photo: RawPhoto
    exposure: Exposure
    mosaic: EncodedMosaic
    missing: NDArray[np.bool_] | None  # samples that are not to be used
    noise: FoundNoise | None = None  # where it was looked for
    strengths: Strengths = AS_IT_IS  # how much of it is taken off, if the mosaic is stabilised for that


@dataclass(frozen=True, slots=True)
class Conversion:
    """What was done."""

    source: Path
    target: Path
    camera: str
    size: tuple[int, int]
    cfa: str
    exposure: Exposure
    stops: float
    matrix_source: str
    certificate: GroupCertificate | None
    seconds: dict[str, float]
    notices: tuple[str, ...]
    error_map: ErrorMap | None = None
    noise: dict[str, Any] | None = None  # as found and as taken off; None where it was not looked for


def convert_file(
    source: Path,
    target: Path,
    settings: Settings,
    progress: ReportProgress | None = None,
    error_map: Path | None = None,
) -> Conversion:
    """Read, develop and write one photo; nothing appears at the target unless all went well.

    With a place for an error map, the standard deviations expected of its pixels are written there as well.
    """
    report, output = progress or silently, settings.output
    bits = output.depth(target)
    check_target(target)
    check_map(error_map, settings.engine.method, (source, target), overwrite=output.overwrite)
    journal = Journal()
    with journal.stage("decode"):
        report(Progress("decoding", 0, 1))
        ready = prepare(source, settings)
        journal.notices += _notices(ready, settings.development)
        report(Progress("decoding", 1, 1))
    with journal.stage("demosaic"), named(source):
        restored = complete_mosaic(ready, settings.engine, report, error=error_map is not None)
    with journal.stage("render"):
        look = _look(restored, ready, settings.development, bits)
        pixels = _render(restored, ready, look, settings.development, report)
        expected = _expected(restored, ready, look, settings.development)
        picture = _described(pixels, ready, look, settings)
        journal.notices += _brightness_notices(restored, ready, look, settings.development)
    beside = written_beside(error_map, expected, overwrite=output.overwrite)
    with journal.stage("write"), beside as mapped:
        rows, quality = rows_as("writing", report), output.jpeg_quality
        write_picture(target, picture, overwrite=output.overwrite, jpeg_quality=quality, report=rows)
    return Conversion(
        source=source,
        target=target,
        camera=ready.photo.exif.camera,
        size=(picture.pixels.shape[0], picture.pixels.shape[1]),
        cfa=ready.photo.cfa.name,
        exposure=ready.exposure,
        stops=log2(look.gain),
        matrix_source=ready.photo.matrix.source,
        certificate=restored.certificate,
        seconds=journal.seconds,
        notices=tuple(journal.notices),
        error_map=mapped,
        noise=_noise_facts(ready),
    )


def prepare(source: Path, settings: Settings) -> Prepared:
    """Read a photo and bring its samples into the form the engine wants."""
    how = settings.development
    photo = read_photo(source, settings.layout, settings.limits)
    with named(source):
        photo = with_levels(photo, how.black, how.white)
    missing = None
    if how.bad_pixels is not None:
        missing = read_bad_pixels(how.bad_pixels, photo.size)
        photo = without_bad_pixels(photo, missing)
    exposure = expose(photo, how.balance, how.white, keep_highlights=how.highlights == "blend")
    strengths = how.strengths if settings.engine.method in DENOISING_METHODS else None
    unasked = photo.is_plain and how.denoise == "auto" and how.noise is None
    if strengths is None or unasked:  # of a mosaic without a camera nothing is guessed
        return Prepared(photo, exposure, encode_mosaic(photo, exposure), missing)
    noise = noise_of(photo, how.noise)
    stabilised = stabilised_for(noise.model, photo, exposure, always=how.denoise != "auto")
    return Prepared(photo, exposure, encode_mosaic(photo, exposure, stabilised), missing, noise, strengths)


def complete_mosaic(
    ready: Prepared, engine: Engine, report: ReportProgress, *, error: bool = False
) -> Restored:
    """Let the engine restore the full colours, and say how far off they may be if that is wanted."""
    mosaic, cfa = ready.mosaic, ready.photo.cfa

    def restore(noise: NDArray[np.float64] | None, strength: float = 1.0) -> Restored:
        return demosaic(
            mosaic.samples,
            cfa,
            method=engine.method,
            quality=engine.quality,
            seed=engine.seed,
            threads=engine.threads,
            progress=report,
            white=mosaic.white,
            missing=ready.missing,
            time_limit=engine.time_limit,
            error=error,
            noise=noise,
            denoise=strength,
        )

    if mosaic.stabilised is None:
        return restore(None)
    return denoised(mosaic.samples, cfa, mosaic.stabilised, ready.strengths, restore)


def _look(restored: Restored, ready: Prepared, how: Development, bits: int) -> Finish:
    """Colour space, gain and highlights of the finished picture."""
    space = output_space(how.space, ready.photo.matrix.to_srgb)
    if how.linear:
        space = replace(space, curve=LINEAR_CURVE)
    blend_above = min(ready.exposure.balance) if how.highlights == "blend" else None
    look = Finish(space, ready.photo.matrix.to_srgb, bits=bits, blend_above=blend_above)
    gain = brightening(restored.image, ready.mosaic.lift, look) if how.exposure == "auto" else 2**how.exposure
    return replace(look, gain=gain)


def _render(
    restored: Restored, ready: Prepared, look: Finish, how: Development, report: ReportProgress
) -> Pixels:
    """The finished pixels, cut and turned as asked."""
    image = _cut(restored.image, ready.photo, how)
    return _turned(finish(image, ready.mosaic.lift, look, rows_as("rendering", report)), ready.photo, how)


def _expected(restored: Restored, ready: Prepared, look: Finish, how: Development) -> Expected | None:
    """The errors expected of the finished pixels, cut and turned alike; None if they were not wanted."""
    if restored.error is None:
        return None
    photo = ready.photo
    image, error = _cut(restored.image, photo, how), _cut(restored.error, photo, how)
    codes = _turned(finish_error(image, error, ready.mosaic.lift, look), photo, how)
    return Expected(codes, _orientation(photo, how), 2**look.bits - 1)


def _cut(image: NDArray[Any], photo: RawPhoto, how: Development) -> NDArray[Any]:
    """The part of a picture that is kept."""
    box = photo.camera_crop
    if how.crop != "camera" or box is None:
        return image
    return image[box.top : box.top + box.height, box.left : box.left + box.width]


def _turned(pixels: NDArray[Any], photo: RawPhoto, how: Development) -> NDArray[Any]:
    """The pixels as they are stored: upright, unless they are to stay as the sensor lay."""
    return oriented(pixels, photo.orientation) if how.rotate else pixels


def _orientation(photo: RawPhoto, how: Development) -> int:
    """What EXIF says of the pixels as they are stored."""
    return 1 if how.rotate else photo.orientation


def _noise_facts(ready: Prepared) -> dict[str, Any] | None:
    """The noise that was found, and the strengths it was taken off with, zero where it was left alone."""
    if ready.noise is None:
        return None
    taken = ready.strengths if ready.mosaic.stabilised else AS_IT_IS
    found = ready.noise.described(span_of(ready.photo))
    return {**found, "removed": {"brightness": taken.brightness, "color": taken.colour}}


def _noise_note(ready: Prepared) -> str:
    """The noise in green that was taken off, for the picture's comment."""
    if ready.noise is None or ready.mosaic.stabilised is None:
        return ""
    model = ready.noise.model
    return f" noise={model.slope[1]:.3g},{model.floor[1]:.3g} ({ready.noise.source})"


def _described(pixels: Pixels, ready: Prepared, look: Finish, settings: Settings) -> FinishedPicture:
    """The pixels with their profile and metadata."""
    photo, profile = ready.photo, icc_profile(look.space)
    if not settings.output.metadata:
        return FinishedPicture(pixels, profile, None)
    how = settings.development
    exif = finished(
        photo.exif,
        size=(pixels.shape[0], pixels.shape[1]),
        orientation=_orientation(photo, how),
        srgb=how.space == "srgb" and not how.linear,
        parameters=settings.described() + _noise_note(ready),
        software=f"demosaic-ntc {version('demosaic-ntc')}",
    )
    return FinishedPicture(pixels, profile, exif)


def _notices(ready: Prepared, how: Development) -> Iterator[str]:
    """What a user should know about the photo and the colours chosen for it."""
    yield from ready.photo.notices
    source = ready.exposure.balance_source
    if source not in (how.balance, "given"):
        used = "none was applied" if source == "none" else f"{source} balance was used"
        yield f"no {how.balance} white balance is stored; {used} (choose one with --wb)"
    if ready.photo.matrix.source == "none" and how.space != "camera":
        yield "no camera profile is known; colours are shown as if the sensor were sRGB"
    if how.crop == "camera" and ready.photo.camera_crop is None:
        yield "the camera stored no crop; the whole visible area is kept"


def _brightness_notices(restored: Restored, ready: Prepared, look: Finish, how: Development) -> Iterator[str]:
    """A hint where nothing was brightened and the picture ends far below white."""
    gain = brightening(restored.image, ready.mosaic.lift, look, every=_GLANCE)
    if how.exposure == 0 and is_dark(gain):
        yield f"the picture ends {log2(gain):.1f} stops below white; --exposure auto would brighten it"
