"""From a damaged picture file to a whole one: the whole way, with what was done on it."""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.detection.infrared import find_dust_in_infrared
from demosaic_ntc.developing.repair_settings import RepairSettings
from demosaic_ntc.engine.result import NOTHING_COPIED, NormCertificate, Restored
from demosaic_ntc.errors import InputError
from demosaic_ntc.images.blemish_detection import (
    Detected,
    check_mask_target,
    detect,
    mask_written_beside,
)
from demosaic_ntc.images.error_map import ErrorMap, Expected, check_map, white_of, write_error_map
from demosaic_ntc.images.mask import find_painted, grow_flags, read_mask, transparent
from demosaic_ntc.images.mask_rule import MaskRule
from demosaic_ntc.images.picture import DecodedImage, apply_palette, made_opaque, replace_missing
from demosaic_ntc.images.reading import read_picture, read_scan
from demosaic_ntc.images.source_map import check_source_map, write_source_map
from demosaic_ntc.images.writing import (
    changes,
    check_fits,
    repair_format,
    write_picture,
)
from demosaic_ntc.inpainting.inpaint import inpaint_picture
from demosaic_ntc.io.atomic import check_distinct, check_target, whole_file
from demosaic_ntc.io.header import FileHeader, FileKind, open_header, prefix_path
from demosaic_ntc.run import Progress, ReportProgress, Run, Timings, ignore_progress, rows_as
from demosaic_ntc.workflows.costs import DECODING

Flags = NDArray[np.bool_]

# More than this share of a picture is seldom damaged: the mask may be the wrong way round.
_MOST = 0.5


@dataclass(frozen=True, slots=True)
class Repair:
    """What was done."""

    source: Path
    target: Path
    size: tuple[int, int]
    depth: str
    missing: int  # pixels
    certificate: NormCertificate | None
    seconds: dict[str, float]
    notices: tuple[str, ...]
    error_map: ErrorMap | None = None
    detected: Detected | None = None
    mask: Path | None = None  # written, of what was repaired
    copied: int = 0  # pixels that came from elsewhere in the picture
    source_map: Path | None = None  # written, of where from


def repair_file(
    source: Path | FileHeader,
    mask: Path | None,
    target: Path,
    settings: RepairSettings,
    progress: ReportProgress | None = None,
    error_map: Path | None = None,
    save_mask: Path | None = None,
    source_map: Path | None = None,
) -> Repair:
    """Repair one picture; nothing appears at the target unless all went well.

    A mask, a painted colour or transparency tells what is missing, and what a detection finds is as well.
    """
    report, timings, overwrite = progress or ignore_progress, Timings(), settings.overwrite
    repair_format(target)
    check_target(target)
    with open_header(source, settings.limits) as header:
        _check_files(header.path, mask, target, settings, (error_map, save_mask, source_map))
        with timings.stage("decode"):
            report(Progress(DECODING, 0, 1))
            by_alpha = settings.mask.alpha and mask is None
            read = (read_scan if settings.mask.infrared else read_picture)(header, settings.limits)
            picture = apply_palette(read) if by_alpha else read
            check_fits(picture, target)
            missing, detected = _find_missing(header.path, picture, mask, settings)
            allowed = _read_source(settings.source, picture, settings) if settings.source else None
            timings.notices += _notices(picture, missing, target, settings.mask, detected)
            report(Progress(DECODING, 1, 1))
        with timings.stage("inpaint"), prefix_path(header.path):
            restored = _complete_colours(picture, missing, allowed, settings, report, error_map is not None)
            timings.notices += restored.notices
        mapped, copied = None, restored.copied or NOTHING_COPIED
        with timings.stage("write"), ExitStack() as beside:  # what is written beside the picture
            if error_map is not None and restored.error is not None:
                told = Expected(restored.error, picture.orientation, white_of(picture.colours.dtype))
                mapped = beside.enter_context(write_error_map(error_map, told, overwrite=overwrite))
            if save_mask is not None:
                beside.enter_context(mask_written_beside(save_mask, missing, picture, overwrite=overwrite))
            if source_map is not None:
                beside.enter_context(write_source_map(source_map, copied, picture, overwrite=overwrite))
            if _is_copy(picture, missing, target):
                _copy(header, target, settings)
            else:
                whole = replace_missing(picture, restored.image, missing)
                whole = made_opaque(whole, missing) if by_alpha else whole
                write_picture(target, whole, overwrite=overwrite, report=rows_as("writing", report))
    about = (header.path, target, picture.size, picture.depth, int(missing.sum()))
    run = (restored.certificate, timings.seconds, tuple(timings.notices))
    return Repair(*about, *run, mapped, detected, save_mask, copied.count, source_map)


def _check_files(
    source: Path,
    mask: Path | None,
    target: Path,
    settings: RepairSettings,
    beside: tuple[Path | None, Path | None, Path | None],
) -> None:
    """Refuse, before any work is done, files that cannot be written, or that are read or written already."""
    (error_map, save_mask, source_map), overwrite = beside, settings.overwrite
    check_distinct((mask, settings), (target, *beside))
    check_distinct((source,), beside)  # the studio may replace its source
    if error_map is not None:
        check_map(error_map, settings.engine.method, overwrite=overwrite)
    if save_mask is not None:
        check_mask_target(save_mask, overwrite=overwrite)
    if source_map is not None:
        check_source_map(source_map, settings.fill, overwrite=overwrite)


def _complete_colours(
    picture: DecodedImage,
    missing: Flags,
    allowed: Flags | None,
    settings: RepairSettings,
    report: ReportProgress,
    want_error: bool,
) -> Restored:
    """Let the engine restore the missing pixels."""
    engine = settings.engine
    how = {"method": engine.method, "quality": engine.quality, "grain": settings.grain, "fill": settings.fill}
    run = Run.start(engine.threads, report, engine.time_limit, want_error)
    return inpaint_picture(picture.pixels, missing, run, **how, source=allowed)


def _read_source(source: Path, picture: DecodedImage, settings: RepairSettings) -> Flags:
    """The pixels that may be copied, as a mask says."""
    return read_mask(source, picture, MaskRule(threshold=settings.mask.threshold), settings.limits)


def _find_missing(
    source: Path, picture: DecodedImage, mask: Path | None, settings: RepairSettings
) -> tuple[Flags, Detected | None]:
    """The pixels to repair, grown as the settings say: those that are marked, and those that were found."""
    found, told = list[Flags](), None
    with prefix_path(source):
        if settings.detection is not None:
            flags, told = detect(picture, settings.detection)
            found.append(flags)
        if picture.infrared is not None:
            found.append(find_dust_in_infrared(picture.infrared))
    if mask is not None or not found or settings.mask.is_in_colours:
        found.append(_find_marked(source, picture, mask, settings))
    damaged = np.logical_or.reduce(found)
    return grow_flags(damaged, settings.grow) if settings.grow else damaged, told


def _find_marked(source: Path, picture: DecodedImage, mask: Path | None, settings: RepairSettings) -> Flags:
    """The pixels that a mask, a painted colour or transparency marks."""
    if mask is not None:
        return read_mask(mask, picture, settings.mask, settings.limits)
    if settings.mask.alpha:
        with prefix_path(source):
            return transparent(picture, settings.mask)
    if settings.mask.colour is None:
        raise InputError(
            "nothing says what to repair; give a mask, or a painted colour with `mask_color`, or `detect`"
        )
    return find_painted(picture, settings.mask.colour)


def _notices(
    picture: DecodedImage, missing: Flags, target: Path, rule: MaskRule, detected: Detected | None
) -> Iterator[str]:
    """What a user should know about the picture, its mask and the target."""
    yield from picture.notices
    if detected is not None:
        yield str(detected)
    if detected is not None and not missing.any():
        yield "nothing is repaired, the picture stays as it is"
    if rule.colour is not None and picture.kind is FileKind.JPEG:
        yield "JPEG blurs painted colours, so some pixels no longer match exactly; a mask file marks them all"
    if rule.colour is not None and not missing.any():
        yield "no pixel has exactly the painted colour"
    share = float(missing.mean())
    if share > _MOST:
        yield f"{share:.0%} of the picture is made anew; if the mask is the wrong way round, change `invert`"
    if picture.infrared is not None and not missing.any():
        yield "nothing is dark in infrared, the picture stays as it is"
    if not _is_copy(picture, missing, target):
        if picture.infrared is not None:
            yield "the infrared channel is left out: it would still show the dust"
        yield from changes(picture, target)


def _is_copy(picture: DecodedImage, missing: Flags, target: Path) -> bool:
    """Whether the target is to be the source, byte by byte: nothing to repair, nothing to convert."""
    return not missing.any() and repair_format(target) == picture.format


def _copy(header: FileHeader, target: Path, settings: RepairSettings) -> None:
    """Write the source itself to the target."""
    with prefix_path(header.path), whole_file(target, overwrite=settings.overwrite) as file:
        header.file.seek(0)
        shutil.copyfileobj(header.file, file)
