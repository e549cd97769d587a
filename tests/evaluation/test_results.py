"""Means over whole sets, what they say, and results that survive their files."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from evaluation.data.reference import demosaic_reference, select_sets
from evaluation.data.sets import ImageSet, SetImage
from evaluation.measure.benchmark import cannot_run
from evaluation.measure.demosaic import DemosaicBenchmark, findings
from evaluation.measure.inpaint import InpaintBenchmark
from evaluation.measure.results import Results, SetResults, add_costs
from evaluation.measure.store import Store
from evaluation.methods.inpainters import BASELINE
from evaluation.methods.method import COMPLETED, OURS, Method, Role
from evaluation.report.tables import cells


def method(name: str, role: Role) -> Method:
    return Method(name, "settings", role, cannot_run)


METHODS = (
    method("gaussian", "ours"),
    method("ntc", "part"),
    method("menon", "peer"),
    method("vng", "peer"),
)
PAIR = ImageSet("pair", tuple(SetImage(Path(f"{name}.png"), f"sha {name}", 500, 1000) for name in "ab"))
PART = DemosaicBenchmark((PAIR,), METHODS)
COST = {"seconds": 2.0, "cpu_seconds": 4.0, "peak_bytes": 2**20, "machine": "a machine"}
PROOF: dict[str, Any] = {"groups": None, "norms_known": None, "vertices": None}

ALL = {
    ("gaussian", "a"): 40.0, ("gaussian", "b"): 30.0,
    ("ntc", "a"): 39.0, ("ntc", "b"): 30.5,
    ("menon", "a"): 38.0, ("menon", "b"): 31.0,
    ("vng", "a"): 35.0, ("vng", "b"): 32.0,
}  # fmt: skip


def store(
    figures: Mapping[tuple[str, str], float], part: Any = PART, path: Path | None = None, **more: Any
) -> Store:
    """What methods reached on pictures, in decibels."""
    kept = Store(path, part, {"crop": "10"})
    for case in part.cases:
        if (decibels := figures.get((case.method.name, case.image))) is not None:
            row = {"height": 500, "width": 1000, "cpsnr": decibels, "cpsnr_crop0": decibels - 1, "nmse": 0.01}
            kept.add(case, row | COST | PROOF | more)
    return kept


def summary(figures: Mapping[tuple[str, str], float], part: Any = PART, **more: Any) -> SetResults:
    return Results.of(store(figures, part, **more)).of_set(part.sets[0])


def test_means_are_over_pictures_and_costs_per_megapixel() -> None:
    found = summary(ALL)
    assert found.means("cpsnr")["gaussian"] == 35.0
    assert found.means("cpsnr_crop0")["gaussian"] == 34.0
    assert (found.means("s_per_mp")["gaussian"], found.means("cpu_s_per_mp")["gaussian"]) == (4.0, 8.0)
    assert found.most("mib")["gaussian"] == 1.0
    *_, means = PART.tables(Results.of(store(ALL)))
    row = next(row for row in cells(means) if row["method"] == "gaussian")
    assert (row["CPSNR crop 10"], row["NMSE"], row["lowest CPSNR"]) == (35.0, 0.01, 30.0)
    assert row["norms known"] == ""


@pytest.mark.parametrize("lost", ["seconds", "cpu_seconds", "peak_bytes", "height", "width"])
def test_a_table_that_lacks_a_column_has_no_costs(lost: str) -> None:
    frame = pd.DataFrame([dict.fromkeys(("seconds", "cpu_seconds", "peak_bytes", "height", "width"), 1)])
    assert "mib" in add_costs(frame)
    assert "mib" not in add_costs(frame.drop(columns=lost))


def test_an_incomplete_set_has_no_mean() -> None:
    found = summary({("gaussian", "a"): 40.0})
    assert found.find_missing() == {"gaussian": ["b"]}
    assert pd.isna(found.means("cpsnr")["gaussian"])
    assert pd.isna(found.most("mib")["gaussian"])
    (by_picture,) = PART.tables(Results.of(store({("gaussian", "a"): 40.0})))
    assert [row["b"] for row in cells(by_picture)] == [""]


def test_pictures_left_out_by_a_limit_make_the_set_incomplete() -> None:
    found = summary(ALL, replace(PART, sets=(replace(PAIR, left_out=("c",)),)))
    assert found.find_missing()["gaussian"] == ["c"]
    assert pd.isna(found.means("cpsnr")["gaussian"])


def test_what_completion_adds_is_told_with_where_it_does_not_help() -> None:
    (words, _) = findings(summary(ALL))
    assert "+0.25 dB on the mean, better on 1 of 2 pictures, least -0.50 dB (b)" in words
    (partial, _) = findings(summary({key: value for key, value in ALL.items() if key != ("gaussian", "b")}))
    assert "no mean, better on 1 of 1 pictures" in partial
    assert list(findings(summary({("gaussian", "a"): 40.0, ("gaussian", "b"): 30.0}))) == []


def test_the_worst_picture_is_the_one_furthest_below_the_best_peer_on_it() -> None:
    *_, worst = findings(summary(ALL))
    assert "at worst -2.00 dB on b (30.00 dB, vng 32.00 dB)" in worst


def test_known_norms_are_counted_over_the_set() -> None:
    *_, means = PART.tables(Results.of(store(ALL, groups=10, norms_known=9, vertices=4.0)))
    assert cells(means)[0]["norms known"] == "18 of 20"


@pytest.mark.parametrize(("crop", "expected"), [(10, 41.0), (0, 40.0), (5, None)])
def test_a_reference_is_shown_only_at_the_crops_it_has(
    tmp_path: Path, crop: int, expected: float | None
) -> None:
    lines = [f"ARI,pair,{name},40.0,41.0,56.0" for name in "ab"]
    path = tmp_path / "r.csv"
    path.write_text("\n".join(["method,set,image,cpsnr_crop0,cpsnr_crop10,cpu_s_per_mp", *lines]))
    part = replace(PART, crop=crop)
    more = select_sets(demosaic_reference(path, crop), [PAIR])
    found = Results.of(store(ALL, part), more=more).of_set(PAIR)
    assert found.list_methods("reference") == ["ARI *"]
    mean = found.means("cpsnr")["ARI *"]
    assert mean == expected if expected else pd.isna(mean)
    assert found.means("cpu_s_per_mp")["ARI *"] == 56.0


def test_results_survive_the_file_even_when_a_picture_is_exact(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    store({("gaussian", "a"): float("inf")}, path=path)
    assert "Infinity" not in path.read_text()
    (row,) = Store(path, PART, {})
    assert (row["cpsnr"], row["method"], row["image"]) == (float("inf"), "gaussian", "a")
    assert PART.cases[0] in Store(path, PART, {})
    assert PART.cases[1] not in Store(path, PART, {})


def test_our_own_csv_serves_as_a_reference(tmp_path: Path) -> None:
    Results.of(store(ALL)).write_csv(tmp_path / "r.csv")
    rows = demosaic_reference(tmp_path / "r.csv", 10)
    (row,) = [row for row in rows if (row["method"], row["image"]) == ("menon *", "b")]
    assert (row["cpsnr_crop0"], row["cpsnr"], row["cpu_s_per_mp"]) == (30.0, 31.0, 8.0)


def test_a_file_of_gains_has_the_worst_picture_of_either_comparison() -> None:
    methods = (method(OURS, "ours"), method(BASELINE, "peer"), method(COMPLETED, "part"))
    part = InpaintBenchmark((PAIR,), methods, ("dead",))
    figures = {(OURS, "a"): 32.0, (OURS, "b"): 40.0, (BASELINE, "a"): 30.0, (BASELINE, "b"): 39.0}
    figures |= {(COMPLETED, "a"): 31.75, (COMPLETED, "b"): 39.5}
    *_, gained = part.tables(Results.of(store(figures, part)))
    assert cells(gained) == [
        {
            "mask": "dead",
            "over biharmonic": 1.5,
            "least over biharmonic": 1.0,
            "on (biharmonic)": "b",
            "over group mean": 0.375,
            "least over group mean": 0.25,
            "on (group mean)": "a",
        }
    ]
