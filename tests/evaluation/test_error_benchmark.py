"""Which entries are counted, what is kept of them, and what tables and report say."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from demosaic_ntc import Restored
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.errors import InputError
from evaluation.data.sets import ImageSet, SetImage, read_set
from evaluation.measure.case import Measurement, Row, run
from evaluation.measure.errors import ErrorBenchmark, bins_of, check_task, sum_entries
from evaluation.measure.results import Results
from evaluation.measure.store import ReportFile, Store
from evaluation.methods.method import Method
from evaluation.report.gallery import Gallery
from evaluation.report.plots import reliability
from evaluation.report.report import _scenes, load_results
from tests.cli.waves import save_waves

RGGB = Cfa.from_name("RGGB")
PICTURES = tuple(SetImage(Path(f"{name}.png"), f"sha {name}", 40, 48) for name in "abc")
TRUTH = np.random.default_rng(0).integers(50, 200, (40, 48, 3), dtype=np.uint8)


def _part(error: Any, off: Any, crop: int = 10, tasks: tuple[str, ...] = ("RGGB",)) -> ErrorBenchmark:
    """A method that is off by what is said, expects what is said, and knows the samples of a mosaic."""

    def restore(truth: NDArray[np.uint8], task: str) -> tuple[Restored, NDArray[np.bool_]]:
        image = (truth + np.broadcast_to(off, truth.shape)).astype(np.float32)
        expected = None if error is None else np.broadcast_to(error, truth.shape).astype(np.float32)
        return Restored(image, error=expected), RGGB.masks((truth.shape[0], truth.shape[1]))

    sets = (ImageSet("set", PICTURES[:1]),)
    return ErrorBenchmark(sets, (Method("ntc", "settings", "ours", restore),), tasks, crop)


def _row(error: Any, off: Any, crop: int = 10) -> Row:
    """The figures of one picture."""
    part = _part(error, off, crop)
    return part.measure(part.cases[0], TRUTH).figures


def _bins(row: Row) -> pd.DataFrame:
    return bins_of(sum_entries(row))


def _results(rows: Iterable[Row], part: ErrorBenchmark) -> Results:
    """The results of the first cases of a part."""
    store = Store(None, part)
    for case, row in zip(part.cases, rows, strict=False):
        store.add(case, row)
    return Results.of(store)


def test_restored_entries_inside_the_border_are_counted() -> None:
    assert sum(_row(1.0, 1.0)["counts"]) == 20 * 28 * 2, "two of three channels are restored"
    assert sum(_row(1.0, 1.0, crop=0)["counts"]) == 40 * 48 * 2


def test_neither_the_border_nor_measured_samples_matter() -> None:
    off, plain = np.ones((40, 48, 3)), _row(2.0, 1.0)
    off[RGGB.masks((40, 48))] = 50
    off[:10], off[-10:], off[:, :10], off[:, -10:] = 70, 70, 70, 70
    assert _row(2.0, off) == plain
    assert _bins(plain)["ratio"][0] == pytest.approx(0.5)


def test_results_are_compared_unrounded() -> None:
    assert _bins(_row(1.0, 0.3))["true"][0] == pytest.approx(0.3, rel=1e-3)


def test_expected_and_true_errors_belong_to_the_same_entry() -> None:
    steps = np.arange(1, 49) / 8
    assert list(_bins(_row(steps[:, None], 3 * steps[:, None]))["ratio"]) == pytest.approx([3] * 10, rel=0.02)


def test_results_survive_the_file(tmp_path: Path) -> None:
    part, row = _part(1.0, 1.0), _row(np.arange(1, 49)[:, None] / 8, 1.0)
    Store(tmp_path / "r.json", part).add(part.cases[0], row)
    (again,) = Store(tmp_path / "r.json", part)
    assert {name: again[name] for name in row} == row
    assert sum_entries(again) == pytest.approx(sum_entries(row))
    assert again["first"] > 0, "classes without entries are left out"


def test_a_method_without_errors_is_refused() -> None:
    with pytest.raises(InputError, match="does not know its errors"):
        _row(None, 0.0)


def test_pictures_are_taken_together() -> None:
    """Half of all entries is off by less than expected: bins of the whole, not of each picture."""
    part = replace(_part(1.0, 1.0), sets=(ImageSet("set", PICTURES),))
    results = _results([_row(2.0, 1.0), _row(1.0, 1.0)], part)
    found = part.calibrate(results)["RGGB"]
    assert list(found["expected"]) == pytest.approx([1.0] * 5 + [2.0] * 5)
    assert list(found["ratio"]) == pytest.approx([1.0] * 5 + [0.5] * 5)
    (table,) = part.tables(results)
    for words in ("pictures of set: 2 of 3", "in 5 of the 10 bins", "ratios 0.50 to 1.00"):
        assert words in table.notes[0]
    assert table.columns == ("bin", "expected RMSE", "true RMSE", "true / expected", "share of squared error")
    assert [cell.text for cell in table.rows[9]] == ["10", "2", "1", "0.50", "10.0%"]
    assert table.title == "Expected and true errors, RGGB"


def test_results_of_other_tasks_and_settings_are_left_out() -> None:
    part = _part(1.0, 1.0)
    store = Store(None, part)
    store.add(part.cases[0], _row(1.0, 1.0))
    (row,) = store
    for changed in ({"task": "XTRANS"}, {"settings": "old"}):
        other = Store(None, part)
        other._rows[tuple((row | changed)[name] for name in part.keys)] = row | changed
        assert part.calibrate(Results.of(other)) == {}
    (table,) = part.tables(Results.of(store))
    assert "pictures of set: 1;" in table.notes[0]


@pytest.fixture
def waves(tmp_path: Path) -> ImageSet:
    return read_set(save_waves(tmp_path / "waves", [(48, 56)] * 2, pace=5.0))


def test_mosaics_and_masks_are_restored_with_their_errors(waves: ImageSet) -> None:
    part = ErrorBenchmark.of([waves], masks="random:50", quality="fast")
    assert [(case.image, case.task) for case in part.cases] == [
        *(("1", "RGGB"), ("1", "random:50"), ("2", "RGGB"), ("2", "random:50")),
    ]
    found = [result.figures for _, result in run(part, part.cases) if isinstance(result, Measurement)]
    counts = [sum(each["counts"]) for each in found]
    assert counts[0] == counts[2] == 28 * 36 * 2
    assert 0.4 < counts[1] / (28 * 36 * 3) < 0.6
    for bins in part.calibrate(_results(found, part)).values():
        assert (np.diff(bins["expected"]) > -1e-9).all()
        assert bins["expected"][0] > 0


def test_masks_in_files_are_refused() -> None:
    with pytest.raises(InputError, match="drawn masks"):
        check_task("irregular:mine.png")
    with pytest.raises(InputError, match="no mask"):
        check_task("holes")


def test_a_report_needs_only_what_is_kept(tmp_path: Path) -> None:
    part, file = _part(1.0, 1.0), ReportFile(tmp_path / "results.json")
    file.put("errors plan", part.plan)
    store = Store(file, part)
    store.add(part.cases[0], _row(np.arange(1, 49)[:, None] / 8, 1.0))
    again = load_results(ReportFile(file.path))["errors"]
    gallery = Gallery(tmp_path, whole=False)
    shown = list(again.part.tables(again))
    assert shown == list(part.tables(Results.of(store)))
    assert len(shown) == 1
    assert [drawing.name for drawing in again.part.drawings(again, gallery)] == ["reliability"]
    assert (list(_scenes(again, gallery, file)), again.refusals) == ([], [])
    assert list(part.drawings(Results.of(Store(None, part)), gallery)) == []


def test_the_drawing_has_expected_errors_across_and_true_ones_upwards() -> None:
    (panel,) = reliability({"RGGB": _bins(_row(1.0, 2.0))}).axes
    across, upwards = np.array(panel.lines[-1].get_data())[:, 0]
    assert (across, upwards) == (pytest.approx(1.0), pytest.approx(2.0))
    assert (panel.get_xscale(), panel.get_yscale(), panel.get_xlim()) == ("log", "log", panel.get_ylim())
    (band,) = panel.collections
    heights = np.array(band.get_paths()[0].vertices)[:, 1]
    left, right = panel.get_xlim()
    assert (heights.min(), heights.max()) == (pytest.approx(0.7 * left), pytest.approx(1.3 * right))
