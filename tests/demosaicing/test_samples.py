"""Samples as they are stored: values of numbers by site, window by window."""

import numpy as np
import pytest

from demosaic_ntc.arrays import Float32
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.demosaicing.interpolation.dead_samples import fill_dead_samples, replace_missing_samples
from demosaic_ntc.demosaicing.quantised_planes import MosaicSamples

NUMBERS = np.random.default_rng(0).integers(0, 100, (90, 47)).astype(np.uint16)
TABLES = {
    (y, x): ((np.arange(100) + 100 * (2 * y + x)) / 400).astype(np.float32) for y in (0, 1) for x in (0, 1)
}
TABLED = MosaicSamples(NUMBERS, TABLES, (2, 2))


def values() -> Float32:
    """Return all values by a plain loop."""
    return np.array(
        [[TABLES[y % 2, x % 2][NUMBERS[y, x]] for x in range(47)] for y in range(90)], dtype=np.float32
    )


@pytest.mark.parametrize("rows", [slice(0, 90), slice(3, 8), slice(88, 90), slice(5, 6)])
@pytest.mark.parametrize("columns", [slice(0, 47), slice(1, 2), slice(4, 11)])
def test_every_window_has_the_values_of_its_sites(rows: slice, columns: slice) -> None:
    assert np.array_equal(TABLED.window(rows, columns), values()[rows, columns])
    assert np.array_equal(TABLED[:, rows, columns], values()[None, rows, columns])


def test_plain_values_are_read_as_they_are() -> None:
    plain = MosaicSamples(values())
    assert np.array_equal(plain.window(slice(1, 5), slice(2, 9)), values()[1:5, 2:9])
    assert plain.window(slice(0, 90), slice(2, 9)).flags.c_contiguous
    assert (plain.shape, plain.size) == ((1, 90, 47), 90 * 47)
    assert np.array_equal(TABLED.whole(), plain.whole())


def test_mended_values_stand_in_every_window_that_holds_them() -> None:
    missing = np.random.default_rng(1).random((90, 47)) < 0.02
    cfa, before = Cfa.from_name("RGGB"), values().copy()
    for samples in (TABLED, MosaicSamples(values())):
        better = fill_dead_samples(samples, missing, cfa)
        expected = replace_missing_samples(values(), missing, cfa)
        assert np.array_equal(better.whole(), np.where(missing, expected, values()))
        part = slice(10, 61), slice(7, 30)
        assert np.array_equal(better.window(*part), better.whole()[part])
        assert np.array_equal(samples.whole(), before)


def test_bands_are_mended_by_what_they_see(monkeypatch: pytest.MonkeyPatch) -> None:
    cfa, rows = Cfa.from_name("RGGB"), np.arange(90, dtype=np.float32)[:, None]
    smooth = (0.5 + 0.3 * np.sin(rows / 9) * np.cos(np.arange(47) / 11)).astype(np.float32)
    missing = np.random.default_rng(2).random((90, 47)) < 0.01
    monkeypatch.setattr("demosaic_ntc.demosaicing.interpolation.dead_samples.BAND", 24)
    found = fill_dead_samples(MosaicSamples(np.where(missing, np.float32(0), smooth)), missing, cfa).whole()
    assert np.abs(found - smooth).max() < 0.03


@pytest.mark.parametrize("array", ["GRBG", "XTRANS"])
def test_extremes_are_those_of_each_colour_without_what_is_missing(array: str) -> None:
    cfa = Cfa.from_name(array)
    channels, missing = cfa.channel_map((90, 47)), values() > 0.5
    for dead in (None, missing):
        low, high = TABLED.extremes(cfa, dead)
        for channel in range(3):
            own = values()[(channels == channel) & (True if dead is None else ~missing)]
            assert (low[channel], high[channel]) == (own.min(), own.max())
    low, high = TABLED.extremes(cfa, np.ones((90, 47), np.bool_))
    assert np.isposinf(low).all()
    assert np.isneginf(high).all()
