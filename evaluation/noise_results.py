"""Results of the benchmark of noise as files, continued from them, and what others measured."""

import csv
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path

from demosaic_ntc.errors import InputError
from demosaic_ntc.files.sniff import Limits, named, open_regular

from .datasets import PictureSet, numbered
from .noise_benchmark import Key, Record
from .running import NO_COST, Refusal, empty_row, per_megapixel
from .store import ResultStore
from .writing import write_rows

FORMAT = "demosaic-ntc benchmark noise 1"

#: Figures by set, method, noise (its deviation in 255ths) and picture.
Reference = Mapping[str, Mapping[str, Mapping[int, Mapping[str, float]]]]

_NAMES = ("set", "image", "sigma")


class Store(ResultStore[Record]):
    """The results of this benchmark."""

    form = FORMAT
    kind = Record
    key_kind = Key
    unbounded = ("cpsnr",)


def write_csv(target: Path, records: Iterable[Record], refusals: Iterable[Refusal] = ()) -> None:
    """Write one line per result, and per refusal one with the reason instead of figures."""
    done = [asdict(record) | per_megapixel(record) | {"reason": None} for record in records]
    refused = [empty_row(Record, each) | NO_COST | {"reason": each.reason} for each in refusals]
    write_rows(target, [*done, *refused])


def read_reference(path: Path) -> Reference:
    """Read a CSV file of set, image, sigma, and a column of decibels for each method."""
    with named(path), open_regular(path, Limits()) as file:
        rows = csv.DictReader(file.read().decode("utf-8", errors="replace").splitlines())
        methods = [name for name in rows.fieldnames or () if name not in _NAMES]
        if len(methods) != len(rows.fieldnames or ()) - len(_NAMES) or not methods:
            raise InputError(f"has not the columns {', '.join(_NAMES)} and one per method; give such a file")
        found: dict[str, dict[str, dict[int, dict[str, float]]]] = {}
        for number, row in enumerate(rows, start=2):
            for method in methods:
                of_method = found.setdefault(row["set"], {}).setdefault(method, {})
                try:
                    of_method.setdefault(int(row["sigma"]), {})[Path(row["image"]).stem] = float(row[method])
                except (TypeError, ValueError):
                    raise InputError(f"line {number} has a figure that is no number; mend it") from None
    return found


def of_reference(each: PictureSet, reference: Reference) -> PictureSet:
    """The pictures of a set that a reference has figures for; all of them where it knows none."""
    known = {
        image
        for by_noise in reference.get(each.name, {}).values()
        for images in by_noise.values()
        for image in images
    }
    chosen = [str(n) for n, picture in enumerate(each.pictures, start=1) if picture.name in known]
    return numbered(each, ",".join(chosen)) if chosen else each
