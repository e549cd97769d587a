"""Which entries are counted, what is kept of them, and what tables and report say."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from demosaic_ntc import Restored
from demosaic_ntc.errors import InputError
from demosaic_ntc.imaging.cfa import Cfa
from evaluation.datasets import Picture, PictureSet, read_set
from evaluation.demosaicers import Effort
from evaluation.error_benchmark import Estimator, Job, Record, measure, of_damages, of_mosaics, plan, run
from evaluation.error_bins import bins_of
from evaluation.error_results import Store
from evaluation.error_tables import calibration_table, calibrations, conclusion, protocol
from evaluation.report_errors import ErrorPart, ErrorView, described, revived
from evaluation.running import Refusal
from tests.cli.waves import save_waves

RGGB = Cfa.named("RGGB")
FAST = Effort("fast")
PICTURE = Picture(Path("a.png"), "sha", 40, 48)
TRUTH = np.random.default_rng(0).integers(50, 200, (40, 48, 3), dtype=np.uint8)


def _job(error: Any, off: Any, crop: int = 10, task: str = "RGGB") -> Job:
    """A method that is off by what is said, expects what is said, and knows the samples of a mosaic."""

    def restore(truth: NDArray[np.uint8]) -> tuple[Restored, NDArray[np.bool_]]:
        image = (truth + np.broadcast_to(off, truth.shape)).astype(np.float32)
        expected = None if error is None else np.broadcast_to(error, truth.shape).astype(np.float32)
        return Restored(image, error=expected), RGGB.masks((truth.shape[0], truth.shape[1]))

    return Job("set", PICTURE, Estimator(task, "ntc", "settings", restore), crop)


def _record(error: Any, off: Any, crop: int = 10) -> Record:
    found = measure(_job(error, off, crop), TRUTH)
    assert isinstance(found, Record)
    return found


def test_restored_entries_inside_the_border_are_counted() -> None:
    assert sum(_record(1.0, 1.0).counts) == 20 * 28 * 2, "two of three channels are restored"
    assert sum(_record(1.0, 1.0, crop=0).counts) == 40 * 48 * 2


def test_neither_the_border_nor_measured_samples_matter() -> None:
    off, plain = np.ones((40, 48, 3)), _record(2.0, 1.0)
    off[RGGB.masks((40, 48))] = 50
    off[:10], off[-10:], off[:, :10], off[:, -10:] = 70, 70, 70, 70
    assert _record(2.0, off) == plain
    assert bins_of(plain.histogram)[0].ratio == pytest.approx(0.5)


def test_results_are_compared_unrounded() -> None:
    assert bins_of(_record(1.0, 0.3).histogram)[0].true == pytest.approx(0.3, rel=1e-3)


def test_expected_and_true_errors_belong_to_the_same_entry() -> None:
    steps = np.arange(1, 49) / 8
    for each in bins_of(_record(steps[:, None], 3 * steps[:, None]).histogram):
        assert each.ratio == pytest.approx(3, rel=0.02)


def test_records_survive_the_file(tmp_path: Path) -> None:
    record = _record(np.arange(1, 49)[:, None] / 8, 1.0)
    Store(tmp_path / "r.json", {"crop": "10"}).add(record)
    again = Store(tmp_path / "r.json", {}).get(record.key)
    assert again == record
    assert again is not None
    for kept, column in zip(again.histogram.columns, record.histogram.columns, strict=True):
        assert kept == pytest.approx(column)
    assert again.first > 0, "classes without entries are left out"


def test_a_method_without_errors_is_refused() -> None:
    with pytest.raises(InputError, match="does not know its errors"):
        measure(_job(None, 0.0), TRUTH)


def test_pictures_are_taken_together() -> None:
    """Half of all entries is off by less than expected: bins of the whole, not of each picture."""
    good = replace(_record(1.0, 1.0), image="a", sha256="1")
    bad = replace(_record(2.0, 1.0), image="b", sha256="2")
    (found,) = calibrations([bad, good], [_job(1.0, 1.0).method], 3)
    assert [each.expected for each in found.bins] == pytest.approx([1.0] * 5 + [2.0] * 5)
    assert [each.ratio for each in found.bins] == pytest.approx([1.0] * 5 + [0.5] * 5)
    assert "pictures of set: 2 of 3" in conclusion(found)
    assert "in 5 of the 10 bins" in conclusion(found)
    assert "ratios 0.50 to 1.00" in conclusion(found)
    table = calibration_table(found)
    assert table.columns == ("bin", "expected RMSE", "true RMSE", "true / expected", "share of squared error")
    assert [cell.text for cell in table.rows[9]] == ["10", "2", "1", "0.50", "10.0%"]
    assert table.title == "Expected and true errors, RGGB"


def test_results_of_other_tasks_and_settings_are_left_out() -> None:
    record, method = _record(1.0, 1.0), _job(1.0, 1.0).method
    assert calibrations([replace(record, task="XTRANS"), replace(record, settings="old")], [method], 1) == []
    assert calibrations([record], [method], 1)[0].pictures == 1


@pytest.fixture
def waves(tmp_path: Path) -> PictureSet:
    return read_set(save_waves(tmp_path / "waves", [(48, 56)] * 2, pace=5.0))


def test_mosaics_and_masks_are_restored_with_their_errors(waves: PictureSet) -> None:
    methods = [of_mosaics(RGGB, FAST), of_damages("random:50", FAST)]
    jobs = plan([waves], methods, 10)
    assert [(job.picture.name, job.method.task) for job in jobs] == [
        *(("1", "RGGB"), ("1", "random:50"), ("2", "RGGB"), ("2", "random:50")),
    ]
    found = list(run(jobs))
    assert not [each for each in found if isinstance(each, Refusal)]
    counts = [sum(each.counts) for each in found if isinstance(each, Record)]
    assert counts[0] == counts[2] == 28 * 36 * 2
    assert 0.4 < counts[1] / (28 * 36 * 3) < 0.6
    for found_for in calibrations([each for each in found if isinstance(each, Record)], methods, 2):
        expected = np.array([each.expected for each in found_for.bins])
        assert (np.diff(expected) > -1e-9).all()
        assert expected[0] > 0


def test_masks_in_files_are_refused() -> None:
    with pytest.raises(InputError, match="drawn masks"):
        of_damages("irregular:mine.png", FAST)
    with pytest.raises(InputError, match="no mask"):
        of_damages("holes", FAST)


def test_a_report_needs_only_what_is_kept(tmp_path: Path) -> None:
    pictures = PictureSet("set", (PICTURE,))
    part = ErrorPart((pictures,), (_job(1.0, 1.0).method,), 10)
    store = Store(tmp_path / "r.json", protocol(part.methods, 10))
    store.add(_record(np.arange(1, 49)[:, None] / 8, 1.0))
    fresh = ErrorView(part, store)
    again = ErrorView(revived(described(part)), Store(tmp_path / "r.json", {}))
    assert list(again.tables) == list(fresh.tables)
    assert len(list(again.tables)) == 1
    assert [drawing.name for drawing in again.drawings] == ["reliability"]
    assert (list(again.scenes), again.refused) == ([], [])
    assert list(ErrorView(part, Store(None, {})).drawings) == []


def test_the_drawing_has_expected_errors_across_and_true_ones_upwards() -> None:
    (found,) = calibrations([_record(1.0, 2.0)], [_job(1.0, 1.0).method], 1)
    from evaluation.report_plots import reliability

    (panel,) = reliability([found]).axes
    across, upwards = np.array(panel.lines[-1].get_data())[:, 0]
    assert (across, upwards) == (pytest.approx(1.0), pytest.approx(2.0))
    assert (panel.get_xscale(), panel.get_yscale(), panel.get_xlim()) == ("log", "log", panel.get_ylim())
    (band,) = panel.collections
    heights = np.array(band.get_paths()[0].vertices)[:, 1]
    left, right = panel.get_xlim()
    assert (heights.min(), heights.max()) == (pytest.approx(0.7 * left), pytest.approx(1.3 * right))
