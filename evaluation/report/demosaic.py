"""What the demosaicing benchmark found, as tables and sentences."""

from collections.abc import Iterator
from typing import cast

import pandas as pd

from ..measure.case import refusal_words
from ..measure.demosaic import DemosaicPart
from ..measure.likeness import Bytes
from ..measure.results import Results, SetResults
from ..methods.method import CONTROL, OURS
from .drawing import Drawing
from .gallery import Gallery
from .plots import error_maps, gains, quality_and_time
from .tables import Cell, DataTable, rows_of

_CPSNR = ("cpsnr", "cpsnr_crop0")

# Columns after the CPSNRs: title, quantity, format.
_COLUMNS = (
    ("NMSE", "nmse", ".2e"),
    ("R", "psnr_red", ".2f"),
    ("G", "psnr_green", ".2f"),
    ("B", "psnr_blue", ".2f"),
    ("SSIM", "ssim", ".4f"),
    ("s/MP", "s_per_mp", ".3g"),
    ("CPU s/MP", "cpu_s_per_mp", ".3g"),
    ("MiB", "mib", ".0f"),
)
_QUANTITIES = (*_CPSNR, *(quantity for _, quantity, _ in _COLUMNS))
_FORMS = (".2f", ".2f", *(form for _, _, form in _COLUMNS))


def tables(results: Results, *, details: bool = False) -> Iterator[DataTable]:
    """Of every set each picture, and the means with how they were made and what they say."""
    part = cast(DemosaicPart, results.part)
    for each in part.sets:
        found = results.of_set(each)
        conditions = part.conditions(each, found.machines)
        told = (conditions, *_gaps(found), *findings(found), *refusal_words(found.refusals))
        means = _means(found, part.crop, told)
        if found.methods:
            notes = () if means else told
            yield _details(found, part.crop, notes) if details else _by_picture(found, part.crop, notes)
        if means:
            yield means


def _by_picture(found: SetResults, crop: int, notes: tuple[str, ...]) -> DataTable:
    """The CPSNR of each method on each picture."""
    names = [picture.name for picture in found.set.pictures]
    figures = found.by_picture("cpsnr")[names]
    rows = tuple(rows_of(found.methods, [figures[name] for name in names], [".2f"] * len(names)))
    title, ours = f"{_name(found)}: CPSNR in dB, crop {crop}", tuple(found.named("ours"))
    return DataTable(title, ("method", *names), rows, notes, ours, details=True)


def _details(found: SetResults, crop: int, notes: tuple[str, ...]) -> DataTable:
    """All quantities of each method on each picture."""
    figures = [found.by_picture(quantity) for quantity in _QUANTITIES]
    rows = [
        (Cell(picture.name), *row)
        for picture in found.set.pictures
        for row in rows_of(found.methods, [each[picture.name] for each in figures], _FORMS)
    ]
    columns = ("picture", "method", *_titles(crop))
    return DataTable(f"{_name(found)}: by picture", columns, tuple(rows), notes, details=True)


def _name(found: SetResults) -> str:
    """What a set is called in titles, each of which is a file of its own."""
    return f"{cast(DemosaicPart, found.part).prefix}{found.set.name}"


def _titles(crop: int) -> tuple[str, ...]:
    """What the columns are called."""
    return f"CPSNR crop {crop}", "crop 0", *(title for title, _, _ in _COLUMNS)


def _means(found: SetResults, crop: int, notes: tuple[str, ...]) -> DataTable | None:
    """The means over the whole set, of memory the most, the best method first; None where there are none.

    A method that refused a picture has no means, but its place among those that have.
    """
    means = found.means("cpsnr")
    refused = {refusal.case.method.name for refusal in found.refusals}
    lacking = found.missing()
    shown = [name for name in found.methods if name not in lacking or name in refused]
    if all(name in lacking for name in shown):
        return None
    order = sorted(shown, key=lambda name: -means[name] if means[name] == means[name] else float("inf"))
    figures = [found.most(q) if q == "mib" else found.means(q) for q in _QUANTITIES]
    lowest, proofs = found.by_picture("cpsnr"), _proofs(found)
    rows = tuple(
        (*row, _lowest(lowest.loc[row[0].text]), Cell(proofs.get(row[0].text, "")))
        for row in rows_of(order, figures, _FORMS)
    )
    columns = ("method", *_titles(crop), "lowest CPSNR", "groups certified")
    title = f"{_name(found)}: means over {found.set.size} pictures"
    return DataTable(title, columns, rows, notes, tuple(found.named("ours")))


def _lowest(figures: pd.Series) -> Cell:
    """The picture on which a method is worst."""
    if figures.isna().any():
        return Cell("")
    return Cell(f"{figures.min():.2f} {figures.idxmin()}", float(figures.min()))


def _proofs(found: SetResults) -> dict[str, str]:
    """How many groups of the whole set have a proven gap, by methods that prove any."""
    certified, groups = (found.by_picture(name).sum(axis=1, skipna=False) for name in ("certified", "groups"))
    proven = pd.DataFrame({"certified": certified, "groups": groups, "gap": found.most("worst_gap")}).dropna()
    return {
        str(row.Index): f"{row.certified:.0f} of {row.groups:.0f}, gap ≤ {row.gap:.1e}"
        for row in proven.itertuples()
    }


def _gaps(found: SetResults) -> Iterator[str]:
    """Which pictures keep which methods from having a mean."""
    by_missing: dict[tuple[str, ...], list[str]] = {}
    for method, missing in found.missing().items():
        by_missing.setdefault(tuple(missing), []).append(method)
    for pictures, methods in by_missing.items():
        yield f"no mean over {found.set.name} without {', '.join(pictures)}: {', '.join(methods)}"
    if found.named("reference"):
        yield "* figures of the reference, measured elsewhere"


def findings(found: SetResults) -> Iterator[str]:
    """What completion adds to its own control, and where a peer is closest or ahead."""
    added = found.gains(OURS, [CONTROL])
    if len(added):
        whole = not {OURS, CONTROL} & set(found.missing())
        mean = f"{added.mean():+.2f} dB on the mean" if whole else "no mean"
        yield (
            f"{OURS} over {CONTROL} on {found.set.name}: {mean}, better on {(added > 0).sum()} of "
            f"{len(added)} pictures, least {added.min():+.2f} dB ({added.idxmin()})"
        )
    figures, peers = found.by_picture("cpsnr"), found.named("peer")
    for method in found.named("ours"):
        gained = found.gains(method, peers)
        if len(gained):
            image = gained.idxmin()
            peer = figures.loc[peers, image].idxmax()
            yield (
                f"{method} against the best peer of the run on each picture of {found.set.name}: at worst "
                f"{gained[image]:+.2f} dB on {image} ({figures.loc[method, image]:.2f} dB, {peer} "
                f"{figures.loc[peer, image]:.2f} dB)"
            )


def drawings(results: Results, gallery: Gallery) -> Iterator[Drawing]:
    """What quality costs, what is gained, and what is wrong."""
    sets = [results.of_set(each) for each in results.part.sets]
    whole = [found for found in sets if found.means("cpsnr").notna().any()]
    if whole:
        caption = "mean CPSNR against CPU seconds per megapixel; blue ours, green its parts, grey peers"
        yield Drawing("quality-and-time", "Quality against time", caption, quality_and_time(whole))
    gained = [found for found in sets if len(found.gains(OURS, found.named("peer")))]
    if gained:
        caption = f"{OURS} against the best peer of the run on each picture"
        yield Drawing("gains", "Gains by picture", caption, gains(gained, OURS))
    if rows := [row for found in gained for row in _errors(found, gallery)]:
        caption = "of each set the picture with the largest and with the smallest gain over the best peer"
        yield Drawing("errors", "Errors", caption, error_maps(rows), kind="png")


def _errors(found: SetResults, gallery: Gallery) -> Iterator[tuple[str, Bytes, list[tuple[str, Bytes]]]]:
    """Truth, ours and the best peer where we gain most and least."""
    gained = found.gains(OURS, found.named("peer"))
    figures = found.by_picture("cpsnr")
    for name in dict.fromkeys((gained.idxmax(), gained.idxmin())):
        picture = next(picture for picture in found.set.pictures if picture.name == name)
        methods = (OURS, figures.loc[found.named("peer"), name].idxmax())
        cases = {case.method.name: case for case in found.part.cases if case.scene == picture.sha256}
        truth = gallery.pixels(f"truth {picture.sha256}")
        versions = [(m, pixels) for m in methods if (pixels := gallery.pixels(cases[m].key)) is not None]
        if truth is not None:
            yield str(name), truth, versions
