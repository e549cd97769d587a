"""A photo read and brought into the form the engine wants, and the engine's run on it."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.demosaicing.demosaic import demosaic
from demosaic_ntc.demosaicing.superpixels import cell_means
from demosaic_ntc.developing.denoising import AS_IT_IS, DENOISING_METHODS, Strengths, stabilise_noise
from demosaic_ntc.developing.engine_run import Developing
from demosaic_ntc.developing.highlights import Highlights, complete_photo
from demosaic_ntc.developing.linear_raws import complete_planes
from demosaic_ntc.developing.render import EncodedMosaic, encode_mosaic
from demosaic_ntc.developing.settings import Development, Engine, HighlightsName, Settings
from demosaic_ntc.engine.checks import check_threads
from demosaic_ntc.engine.result import ReportProgress, Restored
from demosaic_ntc.errors import InputError
from demosaic_ntc.io.identify import prefix_path
from demosaic_ntc.io.pixels import unorient_point
from demosaic_ntc.raw.bad_pixels import remove_bad_pixels
from demosaic_ntc.raw.chromatic_aberration import correct_photo_fringes
from demosaic_ntc.raw.levels import Balance, Exposure, GreyPatch, expose, replace_levels
from demosaic_ntc.raw.noise import FoundNoise, noise_of
from demosaic_ntc.raw.photo import GREEN, RawPhoto
from demosaic_ntc.raw.preview import decode_guide
from demosaic_ntc.raw.reading import read_photo

Bytes = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A photo ready for the engine."""

    photo: RawPhoto
    exposure: Exposure
    mosaic: EncodedMosaic
    missing: NDArray[np.bool_] | None  # samples that are not to be used
    noise: FoundNoise | None = None  # where it was looked for
    strengths: Strengths = AS_IT_IS  # how much of it is taken off, if the mosaic is stabilised for that
    embedded: Bytes | None = None  # the camera's own picture, sRGB and small, where a look is wanted
    highlights: Highlights | None = None  # where they were completed

    @property
    def denoise_strength(self) -> Strengths:
        """How much noise the engine takes off."""
        return self.strengths if self.mosaic.stabilised else AS_IT_IS


def prepare(source: Path, settings: Settings) -> Prepared:
    """Read a photo and bring its samples into the form the engine wants."""
    how = settings.development
    photo = read_photo(source, settings.layout, settings.limits)
    with prefix_path(source):
        photo = replace_levels(photo, how.black, how.white)
    photo, missing, noise = remove_bad_pixels(photo, how.bad_pixels, how.noise)
    with prefix_path(source):
        balance = locate_grey_patch(how.balance, photo, how)
        exposure = expose(photo, balance, how.white, keep_highlights=choose_highlights(photo, how) == "blend")
    if how.fringes == "auto":
        photo, noise = correct_photo_fringes(photo, exposure), None  # samples were moved
    engine = settings.engine
    strengths = how.strengths if engine.method in DENOISING_METHODS and not engine.half else None
    embedded = None if is_neutral(photo, how) else decode_guide(photo.preview)
    # Of a mosaic without a camera nothing is guessed, and no noise is removed twice.
    unasked = (photo.is_plain or photo.is_denoised) and how.denoise == "auto" and how.noise is None
    if photo.is_monochrome and strengths is not None:
        strengths = strengths.luma_only
    stabilised = None
    if strengths is None or unasked:
        noise, strengths = None, None
    else:
        noise = noise or noise_of(photo, how.noise)
        model = noise.model.of_channel(GREEN) if photo.is_monochrome else noise.model
        stabilised = stabilise_noise(model, photo, exposure, always=how.denoise != "auto")
    highlights = None
    if choose_highlights(photo, how) == "reconstruct":
        photo, highlights = complete_photo(photo, exposure, missing, check_threads(engine.threads))
        stabilised = stabilised and replace(stabilised, largest=highlights.largest)
    encoded = encode_mosaic(photo, exposure, stabilised, highlights)
    taken = strengths or AS_IT_IS
    return Prepared(photo, exposure, encoded, missing, noise, taken, embedded, highlights)


def choose_highlights(photo: RawPhoto, how: Development) -> HighlightsName:
    """What becomes of highlights: nothing is guessed where light is shown as it was measured.

    Without colours there is nothing to complete them from.
    """
    if how.highlights is None:
        return (
            "reconstruct" if how.may_reconstruct and not (photo.is_plain or photo.is_monochrome) else "clip"
        )
    return "clip" if photo.is_monochrome and how.highlights == "reconstruct" else how.highlights


def is_neutral(photo: RawPhoto, how: Development) -> bool:
    """Whether light is shown as it was measured; of mosaics without a camera nothing is guessed."""
    return how.look == "neutral" or (how.look is None and (photo.is_plain or how.linear))


def locate_grey_patch(balance: Balance, photo: RawPhoto, how: Development) -> Balance:
    """A grey patch of the finished picture as a place on the sensor; any other balance as it is."""
    if not isinstance(balance, GreyPatch):
        return balance
    box = photo.frame(how.crop)
    orientation = photo.orientation if how.rotate else 1
    height, width = (box.width, box.height) if orientation >= 5 else (box.height, box.width)
    if balance.x >= width or balance.y >= height:
        raise InputError(
            f"the grey patch {balance} lies outside of the picture, which has {width}×{height} pixels"
        )
    row, column = unorient_point((balance.y, balance.x), (box.height, box.width), orientation)
    return GreyPatch(box.left + column, box.top + row, balance.radius)


def complete_mosaic(
    ready: Prepared, engine: Engine, report: ReportProgress, *, error: bool = False
) -> Restored:
    """Let the engine restore the full colours, and say how far off they may be if that is wanted."""
    cfa = ready.photo.cfa
    if cfa is None or cfa.is_mono:
        return complete_planes(ready.mosaic, ready.missing, ready.strengths, engine, report, error=error)
    if engine.half:
        return Restored(cell_means(ready.mosaic.samples, cfa, ready.missing))
    if engine.method in DENOISING_METHODS:
        develop = Developing(ready.mosaic, cfa, ready.missing, ready.strengths, engine, error)
        return develop(report)
    return demosaic(
        ready.mosaic.samples,
        cfa,
        method=engine.method,
        threads=engine.threads,
        progress=report,
        white=ready.mosaic.white,
        missing=ready.missing,
    )
