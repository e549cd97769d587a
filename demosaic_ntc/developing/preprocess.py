"""A photo read and brought into the form the engine wants, and the engine's run on it."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.choices import LENS_PARTS, Highlights
from demosaic_ntc.demosaicing.demosaic import demosaic
from demosaic_ntc.demosaicing.group_demosaic import demosaic_stored
from demosaic_ntc.demosaicing.superpixels import cell_means
from demosaic_ntc.developing.denoising import (
    AS_IT_IS,
    DENOISING_METHODS,
    Stabilised,
    Strengths,
    leave_hardly_seen,
    stabilise_noise,
    strengths_of,
)
from demosaic_ntc.developing.highlights import BRIGHTEST, CompletedHighlights, complete_photo
from demosaic_ntc.developing.linear_raws import complete_planes
from demosaic_ntc.developing.render import EncodedMosaic, RestoredPhoto, encode_mosaic, finish_stored
from demosaic_ntc.developing.settings import Development, Engine, Settings
from demosaic_ntc.errors import InputError
from demosaic_ntc.io.header import FileHeader, open_header, prefix_path
from demosaic_ntc.io.pixels import unorient_point
from demosaic_ntc.lens.correction import LensCorrection, Parts, align_colours, correct_lens
from demosaic_ntc.lens.sample_opcodes import prepare_samples
from demosaic_ntc.raw.bad_pixels import remove_bad_pixels
from demosaic_ntc.raw.calibration import FrameReader, flat_gains, remove_banding, subtract_dark
from demosaic_ntc.raw.chromatic_aberration import correct_photo_fringes
from demosaic_ntc.raw.dng.colours import BASELINE_EXPOSURE
from demosaic_ntc.raw.levels import Exposure, GreyPatch, expose, replace_levels
from demosaic_ntc.raw.noise import FoundNoise, noise_of
from demosaic_ntc.raw.photo import GREEN, RawPhoto
from demosaic_ntc.raw.preview import decode_guide
from demosaic_ntc.raw.reading import read_photo
from demosaic_ntc.run import Run, check_threads

Bytes = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A photo ready for the engine."""

    photo: RawPhoto
    exposure: Exposure
    mosaic: EncodedMosaic
    missing: NDArray[np.bool_] | None  # samples that are not to be used
    noise: FoundNoise | None = None  # where it was looked for
    strengths: Strengths = AS_IT_IS  # how much of it is removed
    embedded: Bytes | None = None  # the camera's own picture, sRGB and small, where a look is wanted
    highlights: CompletedHighlights | None = None  # where they are reconstructed
    lens: LensCorrection = field(default_factory=LensCorrection)

    @property
    def raw_white(self) -> NDArray[np.float64]:
        """The light that red, green and blue reach at the file's white level."""
        return np.array(self.exposure.gains[:3]) * self.photo.span


#: What restores the full colours of a photo.
Restore = Callable[[Prepared, Engine, Run], RestoredPhoto]


@dataclass(frozen=True, slots=True)
class CleanPhoto:
    """A photo whose levels, banding and bad pixels have been seen to; its colours are not chosen yet."""

    photo: RawPhoto
    path: Path
    missing: NDArray[np.bool_] | None
    noise: FoundNoise | None  # where it was looked for
    lens: LensCorrection

    def find_noise(self, how: Development) -> FoundNoise:
        """The noise of its samples."""
        return self.noise or noise_of(self.photo, how.noise)


def prepare(source: Path | FileHeader, settings: Settings, *, linear: bool = False) -> Prepared:
    """Read a photo and bring its samples into the form the engine wants.

    With `linear`, for a DNG, lateral colour that the file states is left to its readers.
    """
    return prepare_clean(read_clean(source, settings), settings, linear=linear)


def read_clean(source: Path | FileHeader, settings: Settings) -> CleanPhoto:
    """Read a photo and do what its samples need by themselves."""
    how = settings.development
    with open_header(source, settings.limits) as header:
        photo = read_photo(header, settings.layout)
    reader = FrameReader(settings.layout, settings.limits, how.black)
    threads = check_threads(settings.engine.threads)
    with prefix_path(header.path):
        photo, hot = replace_levels(photo, how.black, how.white), None
        if how.dark:
            photo, hot = subtract_dark(photo, how.dark, reader, hot=how.bad_pixels != "off")
        photo = remove_banding(photo, how.banding, threads)
        flat = flat_gains(photo, how.flat, reader) if how.flat else ()
    parts = lens_parts(how)
    stated = prepare_samples(photo, shading="vignetting" in parts, bad_pixels=how.bad_pixels != "off")
    stated = replace(stated, gains=(*stated.gains, *flat), is_flat=bool(flat))
    photo, found, noise = remove_bad_pixels(stated.photo, how.bad_pixels, how.noise, threads)
    flags = [each for each in (found, stated.bad, hot) if each is not None]
    missing = np.logical_or.reduce(flags) if flags else None
    with prefix_path(header.path):
        lens = correct_lens(photo, stated, parts, how.lens_profile)
    return CleanPhoto(photo, header.path, missing, noise, lens)


def prepare_clean(
    clean: CleanPhoto, settings: Settings, strengths: Strengths | None = None, *, linear: bool = False
) -> Prepared:
    """Choose how a photo is exposed, and encode its samples; `linear` as in `prepare`.

    Where strengths are given, they stand under a curve that makes noise alike, however little there is: the
    photo is one of several, which see lateral colour alike.
    """
    how, photo, missing, noise, lens = (
        settings.development,
        clean.photo,
        clean.missing,
        clean.noise,
        clean.lens,
    )
    is_merged, threads = strengths is not None, check_threads(settings.engine.threads)
    with prefix_path(clean.path):
        balance = how.balance
        if isinstance(balance, GreyPatch):
            balance = locate_grey_patch(balance, photo, how)
        way = choose_highlights(photo, how)
        exposure = expose(photo, balance, how.white, keep_highlights=way == "blend")
        if photo.is_linear and way != "blend":
            exposure = apply_baseline(photo, exposure)
    if how.fringes == "auto":
        photo, noise = correct_photo_fringes(photo, missing, threads), None  # samples were moved
    elif lens.warps and not (linear or is_merged):
        photo, lens = align_colours(photo, lens, missing, threads)
        noise = noise if lens is clean.lens else None
    embedded = None
    if photo.preview is not None and not is_neutral(photo, how):
        embedded = decode_guide(photo.preview, isolate=photo.isolated)
    stabilised, highlights = None, None
    strengths = strengths or choose_strengths(photo, settings)
    noise = None if strengths is None else noise or noise_of(photo, how.noise)
    if noise is not None:
        model = noise.model.of_channel(GREEN) if photo.is_monochrome else noise.model
        stabilised = stabilise_noise(model, photo, exposure, always=not how.denoises_where_seen)
        if how.denoises_where_seen and not is_merged and photo.cfa is not None and not photo.is_monochrome:
            strengths = leave_hardly_seen(strengths, stabilised, settings.engine.quality)
        if is_merged:
            stabilised = stabilised or Stabilised.of(model, photo, exposure)
    if way == "reconstruct":
        photo, highlights = complete_photo(photo, exposure, missing, threads, lens.sites)
        stabilised = stabilised and replace(stabilised, largest=highlights.largest)
    encoded = encode_mosaic(photo, exposure, stabilised, highlights, lens.sites)
    strengths = strengths if strengths and stabilised else AS_IT_IS
    return Prepared(photo, exposure, encoded, missing, noise, strengths, embedded, highlights, lens)


def choose_strengths(photo: RawPhoto, settings: Settings) -> Strengths | None:
    """How much noise is removed; None if none is.

    Of a mosaic without a camera nothing is guessed, and no noise is removed twice.
    """
    how, engine = settings.development, settings.engine
    unasked = (photo.is_plain or photo.is_denoised) and how.denoises_where_seen and how.noise is None
    if unasked or engine.method not in DENOISING_METHODS or engine.half:
        return None
    strengths = strengths_of(how.denoise, how.denoise_color)
    return strengths.luma_only if strengths and photo.is_monochrome else strengths


def lens_parts(how: Development) -> Parts:
    """What is corrected of what a file states of its lens.

    That is no lateral colour where it is measured, and no shading where flat frames show it.
    """
    words = (how.lens,) if isinstance(how.lens, str) else how.lens
    wanted = {"auto": LENS_PARTS, "off": ()}.get(words[0], words)
    others = {"ca": how.fringes == "auto", "vignetting": bool(how.flat)}
    return frozenset(part for part in LENS_PARTS if part in wanted and not others.get(part))


def choose_highlights(photo: RawPhoto, how: Development) -> Highlights:
    """Choose how highlights are treated; they are clipped where light is shown as it was measured.

    Without colours there is nothing to reconstruct them from.
    """
    if how.highlights is None:
        return "clip" if photo.is_plain or photo.is_monochrome or is_neutral(photo, how) else "reconstruct"
    return "clip" if photo.is_monochrome and how.highlights == "reconstruct" else how.highlights


def apply_baseline(photo: RawPhoto, exposure: Exposure) -> Exposure:
    """Brighten a linear raw as its file asks for: it was stored darker to keep highlights."""
    stated = photo.stated.get(BASELINE_EXPOSURE)
    stops = max(float(stated.values[0]), 0.0) if stated else 0.0
    red, green, blue, second_green = (gain * 2.0**stops for gain in exposure.gains)
    return replace(exposure, gains=(red, green, blue, second_green), baseline=stops)


def is_neutral(photo: RawPhoto, how: Development) -> bool:
    """Whether light is shown as it was measured; of mosaics without a camera nothing is guessed."""
    return how.look == "neutral" or (how.look is None and (photo.is_plain or how.linear))


def locate_grey_patch(balance: GreyPatch, photo: RawPhoto, how: Development) -> GreyPatch:
    """A grey patch of the finished picture as a place on the sensor."""
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
    ready: Prepared, engine: Engine, run: Run, restore: Restore | None = None
) -> RestoredPhoto:
    """Let the engine restore the full colours, and say how far off they may be if that is wanted.

    Lens shading that the file states is undone here, since it belongs to the raw and to every output.
    """
    restored, lens, lift = (restore or restore_mosaic)(ready, engine, run), ready.lens, ready.mosaic.lift
    if lens.shading is None:
        return restored
    error = restored.error
    if error is not None:
        error = lens.brighten_error(error, restored.image, lift)
    most = 1.0 if ready.highlights is None else BRIGHTEST
    return replace(restored, image=lens.brighten(restored.image, lift, most), error=error)


def restore_mosaic(ready: Prepared, engine: Engine, run: Run) -> RestoredPhoto:
    """The engine's picture of a mosaic or of planes."""
    cfa, mosaic = ready.photo.cfa, ready.mosaic
    if cfa is None or cfa.is_mono:
        return complete_planes(mosaic, ready.missing, ready.strengths, engine, run)
    if engine.half:
        return RestoredPhoto(cell_means(mosaic.samples, cfa, ready.missing))
    if engine.method in DENOISING_METHODS:
        noise = None if mosaic.stabilised is None else mosaic.stabilised.levels()
        strength = 1.0 if noise is None else ready.strengths.engine
        stored = demosaic_stored(
            mosaic.plane(),
            cfa,
            run,
            method=engine.method,
            quality=engine.quality,
            missing=ready.missing,
            noise=noise,
            strength=strength,
        )
        return finish_stored(stored, mosaic, cfa, ready.strengths.grain, ready.strengths.removed)
    plain = demosaic(
        mosaic.samples,
        cfa,
        method=engine.method,
        quality=engine.quality,
        threads=run.threads,
        progress=run.progress,
        white=mosaic.white,
        missing=ready.missing,
        time_limit=engine.time_limit,
    )
    return RestoredPhoto.of(plain)
