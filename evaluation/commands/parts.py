"""What is to be measured as options have it; what makes no sense is refused before any of it starts."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from demosaic_ntc.errors import InputError

from .running import chosen_masks, chosen_sigmas, split_names

if TYPE_CHECKING:
    from ..data.crops import Box
    from ..data.sets import PictureSet
    from ..measure.part import Part
    from ..methods.method import Effort

# Of each picture of a report the part that is measured: as much as time allows.
_REPAIRED, _NOISY, _COMPLETED = (128, 128, 256, 256), (128, 128, 192, 192), (128, 128, 128, 128)
# The pictures of known sets that are used for noise, and how many of others and for repairs.
_NOISY_IMAGES = {"kodak": "1,5,8,13,19,23", "mcmaster": "1,5,9,12,17,18"}
_FIRST_NOISY, _FIRST_REPAIRED = 6, 8


def demosaic_part(
    sets: Sequence["PictureSet"], methods: str | None, cfa: str, crop: int, effort: "Effort"
) -> "Part":
    """Demosaicing."""
    from demosaic_ntc.imaging.cfa import Cfa

    from ..data.sets import check_crop
    from ..measure.demosaic import DemosaicPart
    from ..methods.demosaicers import catalogue, default_names
    from ..methods.method import picked

    array = Cfa.parse(cfa)
    names = default_names(array) if methods is None else split_names(methods)
    chosen = picked(catalogue(effort), names)
    check_crop(sets, crop)
    return DemosaicPart(tuple(sets), tuple(chosen), array.rows, crop)


def tensors_part(
    sets: Sequence["PictureSet"], methods: str | None, crop: int, effort: "Effort", box: "Box | None" = None
) -> "Part":
    """Completions of plain tensors beside ours, on a part of all pictures; all of them where one is small."""
    from ..data.sets import check_crop
    from ..measure.demosaic import TensorPart
    from ..methods.demosaicers import TENSORS, catalogue
    from ..methods.method import picked

    names = ("ntc", "bilinear", *TENSORS) if methods is None else split_names(methods)
    chosen = picked(catalogue(effort), names)
    check_crop(sets, crop)
    return TensorPart(tuple(sets), tuple(chosen), "RG/GB", crop, box or _fitting(_COMPLETED, sets))


def noise_part(
    sets: Sequence["PictureSet"],
    methods: str | None,
    sigma: str,
    crop: int,
    effort: "Effort",
    *,
    poisson: bool = False,
    box: "Box | None" = None,
) -> "Part":
    """Noisy mosaics of a part of all pictures; of all of them where one is too small for that."""
    from ..data.sets import check_crop
    from ..measure.noise import NoisePart
    from ..methods.denoisers import DEFAULT, catalogue
    from ..methods.method import picked

    names = DEFAULT if methods is None else split_names(methods)
    sigmas, chosen = chosen_sigmas(sigma), picked(catalogue(effort), names)
    check_crop(sets, crop)
    place = box or _fitting(_NOISY, sets)
    return NoisePart(tuple(sets), tuple(chosen), sigmas, poisson, place, crop)


def noisy_sets(sets: Iterable["PictureSet"]) -> list["PictureSet"]:
    """The usual pictures of known sets, or the first few."""
    from ..data.sets import numbered

    def some(each: "PictureSet") -> "PictureSet":
        usual = _NOISY_IMAGES.get(each.name, "")
        enough = len(each.pictures) >= max((int(number) for number in usual.split(",") if number), default=0)
        return numbered(each, usual if usual and enough else _first(each, _FIRST_NOISY))

    return [some(each) for each in sets]


def inpaint_part(
    sets: Sequence["PictureSet"],
    methods: str | None,
    masks: str | None,
    effort: "Effort",
    *,
    seed: int = 0,
    box: "Box | None" = None,
) -> "Part":
    """Inpainting."""
    from ..measure.inpaint import InpaintPart
    from ..methods.inpainters import DEFAULT, catalogue
    from ..methods.method import picked

    chosen = picked(catalogue(effort), DEFAULT if methods is None else split_names(methods))
    return InpaintPart(tuple(sets), tuple(chosen), chosen_masks(masks), seed, box)


def repaired_part(
    sets: Iterable["PictureSet"], images: str | None, methods: str | None, masks: str | None, effort: "Effort"
) -> "Part":
    """Inpainting of the pictures of these numbers, or of the first few, on a part that all of them have."""
    from ..data.sets import numbered

    some = [numbered(each, images or _first(each, _FIRST_REPAIRED)) for each in sets]
    return inpaint_part(some, methods, masks, effort, box=_fitting(_REPAIRED, some))


def errors_part(
    sets: Sequence["PictureSet"], cfa: str, masks: str | None, crop: int, effort: "Effort"
) -> "Part":
    """Expected errors of demosaicing, and of inpainting under masks."""
    from demosaic_ntc.imaging.cfa import Cfa

    from ..data.sets import check_crop
    from ..measure.errors import ErrorPart, check_task, ours_with_errors

    tasks = (Cfa.parse(cfa).name, *map(check_task, split_names(masks or "")))
    check_crop(sets, crop)
    return ErrorPart(tuple(sets), (ours_with_errors(effort),), tasks, crop)


def speed_part(sets: Sequence["PictureSet"], qualities: str) -> "Part":
    """The stages of the engine."""
    from ..measure.speed import SpeedPart, efforts

    return SpeedPart(tuple(sets), tuple(efforts(split_names(qualities))))


def convert_part(raws: Iterable[Path] | None, sizes: str, programs: str, **engine: Any) -> "Part":
    """Whole conversions; without raws those of the test data."""
    from demosaic_ntc.files.settings import Engine

    from ..beside import SAMPLE
    from ..data.raws import real_raws, synthetic_raws
    from ..measure.convert import ConvertPart
    from ..methods.programs import programs as known

    chosen = known(split_names(programs), Engine(**engine), SAMPLE)
    sources = real_raws(raws or _test_data()) + synthetic_raws(split_names(sizes))
    if not sources:
        raise InputError("there are no raws; give some, or --sizes of synthetic ones")
    return ConvertPart.of(sources, chosen)


def paper_part(
    tables: str, rows: str, seeds: Iterable[int], methods: Iterable[str] = (), **solver: Any
) -> "Part":
    """The paper's experiments."""
    from ..measure import paper
    from ..methods.completions import Solver, catalogue
    from ..methods.method import picked

    experiments = paper.select(split_names(tables), split_names(rows))
    chosen = picked(catalogue(Solver(**solver)), methods or paper.METHODS)
    return paper.PaperPart((), tuple(chosen), tuple(experiments), tuple(seeds), Solver(**solver))


def _test_data() -> list[Path]:
    """The folder of raws of the test data, if there is one."""
    from ..data.fetching import DATA_VARIABLE

    kept = os.environ.get(DATA_VARIABLE)
    return [Path(kept) / "raw"] if kept and (Path(kept) / "raw").is_dir() else []


def _first(each: "PictureSet", count: int) -> str:
    """The numbers of the first pictures."""
    return f"1-{min(count, len(each.pictures))}"


def _fitting(box: "Box", sets: Iterable["PictureSet"]) -> "Box | None":
    """A box, unless a picture is too small for it."""
    sides = (min(picture.width, picture.height) for each in sets for picture in each.pictures)
    return box if min(sides, default=0) >= box[0] + box[2] else None
