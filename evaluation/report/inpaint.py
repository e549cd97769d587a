"""What the inpainting benchmark found, as tables and sentences."""

from collections.abc import Iterator, Sequence
from typing import cast

from ..measure.case import refusal_words
from ..measure.inpaint import InpaintPart
from ..measure.results import Results, SetResults
from ..methods.inpainters import BASELINE
from ..methods.method import CONTROL, OURS
from .drawing import Drawing
from .gallery import Gallery
from .plots import mask_gains
from .tables import Cell, DataTable, figure, rows_of

# Title, quantity, format.
_TABLES = (
    ("PSNR in dB over the whole picture", "cpsnr", ".2f"),
    ("NMSE over the whole picture", "nmse", ".2e"),
    ("PSNR in dB over the missing pixels", "psnr_missing", ".2f"),
    ("SSIM", "ssim", ".4f"),
    ("CPU seconds per megapixel", "cpu_s_per_mp", ".3g"),
)
_COLUMNS = (
    ("PSNR", "cpsnr", ".2f"),
    ("NMSE", "nmse", ".2e"),
    ("missing", "psnr_missing", ".2f"),
    ("SSIM", "ssim", ".4f"),
    ("s/MP", "s_per_mp", ".3g"),
    ("CPU s/MP", "cpu_s_per_mp", ".3g"),
    ("MiB", "mib", ".0f"),
)
_GAINS = (  # each name once, or a file would lose some
    *("mask", "over biharmonic", "least over biharmonic", "on (biharmonic)"),
    *("over group mean", "least over group mean", "on (group mean)"),
)

#: What is known under one mask: its name, and the results.
Masked = tuple[str, SetResults]


def tables(results: Results, *, details: bool = False) -> Iterator[DataTable]:
    """Of every set the means, a mask per row and a method per column, and what is gained."""
    part = cast(InpaintPart, results.part)
    for each in part.sets:
        found = results.of_set(each)
        masks = by_mask(found, part)
        if details:
            yield from (_details(mask, under) for mask, under in masks)
        conditions = part.conditions(each, found.machines)
        told = (conditions, *_gaps(masks), *refusal_words(found.refusals))
        shown = [table for table in (*_means(found, masks), _gained(found, masks)) if not table.is_empty]
        shown = shown or [DataTable(f"Inpainting {each.name}", ("mask",), ())]
        last = shown[-1]
        yield from shown[:-1]
        yield DataTable(last.title, last.columns, last.rows, told, last.emphasised)


def by_mask(found: SetResults, part: InpaintPart) -> list[Masked]:
    """The results of a set, mask by mask."""
    return [(mask, found.where("mask", mask)) for mask in part.masks]


def mask_name(mask: str, under: SetResults) -> str:
    """A mask and how much it takes."""
    shares = under.frame.get("missing_share", ())
    return f"{mask} ({sum(shares) / len(shares):.1%})" if len(shares) else mask


def _means(found: SetResults, masks: Sequence[Masked]) -> Iterator[DataTable]:
    """The means over the whole set, quantity by quantity."""
    for title, quantity, form in _TABLES:
        rows = []
        for mask, under in masks:
            means = under.means(quantity).reindex(found.methods)
            rows.append((Cell(mask_name(mask, under)), *(figure(mean, form) for mean in means)))
        yield DataTable(f"Inpainting {found.set.name}: {title}", ("mask", *found.methods), tuple(rows))


def _gained(found: SetResults, masks: Sequence[Masked]) -> DataTable:
    """By how much ours is above biharmonic and above the group mean, with the worst picture of each mask."""
    rows = tuple(
        (Cell(mask_name(mask, under)), *_gain(under, BASELINE), *_gain(under, CONTROL))
        for mask, under in masks
        if len(under.gains(OURS, [BASELINE])) or len(under.gains(OURS, [CONTROL]))
    )
    return DataTable(f"Inpainting {found.set.name}: gains of ntc in dB", _GAINS, rows)


def _gain(under: SetResults, other: str) -> tuple[Cell, Cell, Cell]:
    """A gain on the mean, the least one, and where."""
    gained = under.gains(OURS, [other])
    if not len(gained):
        return Cell(""), Cell(""), Cell("")
    return figure(mean_gain(under, other), "+.2f"), figure(gained.min(), "+.2f"), Cell(str(gained.idxmin()))


def mean_gain(under: SetResults, other: str) -> float:
    """By how much ours is above another method on the mean over the whole set; NaN without one."""
    gained = under.gains(OURS, [other])
    whole = len(gained) and not {OURS, other} & set(under.missing())
    return float(gained.mean()) if whole else float("nan")


def _details(mask: str, under: SetResults) -> DataTable:
    """All quantities of each method on each picture under one mask."""
    forms = [form for _, _, form in _COLUMNS]
    figures = [under.by_picture(quantity) for _, quantity, _ in _COLUMNS]
    certified, groups = under.by_picture("certified"), under.by_picture("groups")
    rows = [
        (Cell(picture.name), *row, Cell(_proven(certified, groups, row[0].text, picture.name)))
        for picture in under.set.pictures
        for row in rows_of(under.methods, [each[picture.name] for each in figures], forms)
    ]
    columns = ("picture", "method", *(title for title, _, _ in _COLUMNS), "groups certified")
    return DataTable(f"{under.set.name}, {mask}: by picture", columns, tuple(rows), details=True)


def _proven(certified: object, groups: object, method: str, image: str) -> str:
    """How many groups have a proven gap, where there are any."""
    proven, of = (float(frame.loc[method, image]) for frame in (certified, groups))  # type: ignore[attr-defined]
    return f"{proven:.0f} of {of:.0f}" if of == of else ""


def _gaps(masks: Sequence[Masked]) -> Iterator[str]:
    """Which masks have methods without a mean."""
    for mask, under in masks:
        if methods := list(under.missing()):
            yield f"{mask}: no mean, since pictures are missing, for {', '.join(methods)}"


def drawings(results: Results, _: Gallery) -> Iterator[Drawing]:
    """What is gained, mask by mask."""
    part = cast(InpaintPart, results.part)
    for each in part.sets:
        masks = by_mask(results.of_set(each), part)
        bars = {
            "over biharmonic": [mean_gain(under, BASELINE) for _, under in masks],
            "over the group mean": [mean_gain(under, CONTROL) for _, under in masks],
        }
        if any(len(under.gains(OURS, [BASELINE])) for _, under in masks):
            caption = f"{each.name}: mean gains of ntc, mask by mask"
            name = f"inpaint-gains-{each.name.replace(' ', '-')}"
            drawn = mask_gains([mask for mask, _ in masks], bars)
            yield Drawing(name, f"Inpainting {each.name}: gains", caption, drawn)
