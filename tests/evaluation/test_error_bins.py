"""Expected errors in bins: sizes, order, ratios and shares are those that sorting all entries gives."""

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from evaluation.measure.errors import BINS, CLASSES, bins_of, histogram, judge_bins

Floats = NDArray[np.float32]


def _entries(number: int, factor: float = 1.0, seed: int = 0) -> tuple[Floats, Floats]:
    """Expected errors of very different sizes, and errors that are a factor larger than expected."""
    generator = np.random.default_rng(seed)
    expected = np.exp(generator.normal(0, 1, number)).astype(np.float32)
    return expected, (factor * expected * generator.standard_normal(number)).astype(np.float32)


def _rms(values: Floats) -> float:
    return float(np.sqrt(np.square(values, dtype=np.float64).mean()))


def test_bins_are_those_of_all_entries_sorted_by_expected_error() -> None:
    expected, true = _entries(100_000)
    order = np.argsort(expected)
    found = bins_of(histogram(expected, true))
    assert len(found) == BINS
    for each, part in zip(found.itertuples(), np.split(order, BINS), strict=True):
        assert each.entries == pytest.approx(part.size)
        assert each.expected == pytest.approx(_rms(expected[part]), rel=0.01)
        assert each.true == pytest.approx(_rms(true[part]), rel=0.03)
        assert each.share == pytest.approx(np.square(true[part]).sum() / np.square(true).sum(), rel=0.05)


def test_the_ratio_is_true_over_expected() -> None:
    found = bins_of(histogram(*_entries(50_000, factor=2.0)))
    for each in found.itertuples():
        assert each.ratio == pytest.approx(2, rel=0.05)
        assert not each.agrees


def test_bins_go_from_small_to_large_expected_errors_whatever_the_true_ones_are() -> None:
    expected = np.array([8, 1, 4, 2], np.float32)
    true = np.array([1, 8, 2, 4], np.float32)
    found = bins_of(histogram(expected, true), 4)
    assert list(found["expected"]) == pytest.approx([1, 2, 4, 8])
    assert list(found["true"]) == pytest.approx([8, 4, 2, 1])
    assert list(found["share"]) == pytest.approx(np.array([64, 16, 4, 1]) / 85)


def test_histograms_of_pictures_add_up_to_that_of_all_entries() -> None:
    expected, true = _entries(9000)
    whole = histogram(expected, true)
    parts = [histogram(expected[k::3], true[k::3]) for k in range(3)]
    assert sum(parts) == pytest.approx(whole)
    assert parts[0][0].sum() == 3000


def test_a_class_across_a_cut_is_shared() -> None:
    found = bins_of(histogram(np.full(30, 2, np.float32), np.full(30, 3, np.float32)))
    for name, value in {"entries": 3.0, "expected": 2.0, "true": 3.0, "share": 0.1}.items():
        assert list(found[name]) == pytest.approx([value] * BINS)


def test_errors_beyond_all_classes_are_counted_in_the_outermost() -> None:
    extremes = np.array([0, 1e-9, 1e9], np.float32)
    found = histogram(extremes, np.ones(3, np.float32))
    counts, expected, _ = found
    assert (counts[0], counts[CLASSES - 1], counts.sum()) == (2, 1, 3)
    assert expected[CLASSES - 1] == pytest.approx(1e18)


def test_where_no_error_is_expected_there_is_no_ratio() -> None:
    only = bins_of(histogram(np.zeros(4, np.float32), np.ones(4, np.float32)), 1)
    assert (pd.isna(only["ratio"][0]), only["agrees"][0], only["true"][0]) == (True, False, 1.0)
    assert bins_of(np.zeros((3, CLASSES))).empty


@pytest.mark.parametrize(
    ("true", "share", "counts", "agrees"),
    [
        (1.29, 0.5, True, True),
        (1.31, 0.5, True, False),
        (0.71, 0.01, True, True),
        (0.69, 0.0099, False, False),
    ],
)
def test_bins_are_judged_within_thirty_percent_from_one_percent_on(
    true: float, share: float, counts: bool, agrees: bool
) -> None:
    found = judge_bins(pd.DataFrame([{"entries": 100, "expected": 1.0, "true": true, "share": share}]))
    assert (found["counts"][0], found["agrees"][0]) == (counts, agrees)
