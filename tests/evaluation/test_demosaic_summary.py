from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from demosaic_ntc import Restored
from demosaic_ntc.imaging.cfa import Cfa
from evaluation.datasets import Picture, PictureSet
from evaluation.demosaic_benchmark import Record
from evaluation.demosaic_results import Store, write_csv
from evaluation.demosaic_summary import SetSummary, gain, shortfalls, summarise
from evaluation.demosaicers import Demosaicer, Role
from evaluation.pictures import Mosaic
from evaluation.reference import Figures, read_reference


def method(name: str, role: Role) -> Demosaicer:
    def unused(mosaic: Mosaic, cfa: Cfa) -> Restored:
        return Restored(np.zeros((*mosaic.shape, 3), np.float32))

    return Demosaicer(name, "settings", role, unused)


METHODS = [
    method("ntc", "ours"),
    method("predict-only", "part"),
    method("menon", "peer"),
    method("vng", "peer"),
]
PAIR = PictureSet("pair", tuple(Picture(Path(f"{name}.png"), f"sha {name}", 500, 1000) for name in "ab"))


def record(name: str, image: str, cpsnr: float) -> Record:
    about = (name, "settings", "RGGB", 10, f"sha {image}", "pair", image, 500, 1000)
    figures = (cpsnr, cpsnr - 1, cpsnr, cpsnr, cpsnr, 0.9, 0.01)
    return Record(*about, *figures, 2.0, 4.0, 2**20, None, None, None, "a machine")


ALL = [
    record("ntc", "a", 40.0), record("ntc", "b", 30.0),
    record("predict-only", "a", 39.0), record("predict-only", "b", 30.5),
    record("menon", "a", 38.0), record("menon", "b", 31.0),
    record("vng", "a", 35.0), record("vng", "b", 32.0),
]  # fmt: skip


def summary(records: list[Record], pictures: PictureSet = PAIR) -> SetSummary:
    (only,) = summarise([pictures], METHODS, records, {}, 10)
    return only


def test_means_are_over_pictures_and_costs_per_megapixel() -> None:
    line = summary(ALL).line("ntc")
    assert line is not None
    assert line.mean("cpsnr") == 35.0
    assert line.mean("cpsnr_crop0") == 34.0
    assert (line.mean("s_per_mp"), line.mean("cpu_s_per_mp"), line.most("mib")) == (4.0, 8.0, 1.0)
    assert line.lowest() == ("b", 30.0)
    assert line.certified() is None


def test_an_incomplete_set_has_no_mean() -> None:
    line = summary(ALL[:1]).line("ntc")
    assert line is not None
    assert line.missing == ("b",)
    assert (line.mean("cpsnr"), line.most("mib"), line.lowest()) == (None, None, None)


def test_pictures_left_out_by_a_limit_make_the_set_incomplete() -> None:
    line = summary(ALL, replace(PAIR, left_out=("c",))).line("ntc")
    assert line is not None
    assert line.missing == ("c",)
    assert line.mean("cpsnr") is None


def test_what_completion_adds_is_told_with_where_it_does_not_help() -> None:
    found = gain(summary(ALL))
    assert found is not None
    assert found.mean == pytest.approx(0.25)
    assert (found.helped, found.compared, found.lowest) == (1, 2, ("b", -0.5))
    partial = gain(summary([ALL[0], *ALL[2:]]))
    assert partial is not None
    assert (partial.mean, partial.helped, partial.compared) == (None, 1, 1)
    assert gain(summary(ALL[:2])) is None


def test_the_worst_picture_is_the_one_furthest_below_the_best_peer_on_it() -> None:
    (worst,) = shortfalls(summary(ALL))
    assert (worst.method, worst.image, worst.cpsnr, worst.peer, worst.peer_cpsnr) == (
        "ntc",
        "b",
        30.0,
        "vng",
        32.0,
    )


def test_certified_groups_are_counted_over_the_set() -> None:
    proven = [
        replace(each, groups=10, certified=9, worst_gap=gap)
        for each, gap in zip(ALL, (0.1, 0.2), strict=False)
    ]
    line = summary(proven).line("ntc")
    assert line is not None
    assert line.certified() == (18, 20)
    assert line.most("worst_gap") == 0.2


@pytest.mark.parametrize(("crop", "expected"), [(10, 41.0), (0, 40.0), (5, None)])
def test_a_reference_is_shown_only_at_the_crops_it_has(crop: int, expected: float | None) -> None:
    known = {"pair": {"ARI": {name: Figures(40.0, 41.0, 56.0) for name in "ab"}}}
    (only,) = summarise([PAIR], METHODS, [], known, crop)
    (line,) = only.lines
    assert (line.role, line.mean("cpsnr"), line.mean("cpu_s_per_mp")) == ("reference", expected, 56.0)


def test_results_survive_the_file_even_when_a_picture_is_exact(tmp_path: Path) -> None:
    path, exact = tmp_path / "r.json", record("ntc", "a", float("inf"))
    Store(path, {"crop": "10"}).add(exact)
    assert "Infinity" not in path.read_text()
    assert Store(path, {}).get(exact.key) == exact


def test_our_own_csv_serves_as_a_reference(tmp_path: Path) -> None:
    write_csv(tmp_path / "r.csv", ALL)
    figures = read_reference(tmp_path / "r.csv")["pair"]["menon"]["b"]
    assert (figures.cpsnr_crop0, figures.cpsnr_crop10, figures.cpu_s_per_mp) == (30.0, 31.0, 8.0)
