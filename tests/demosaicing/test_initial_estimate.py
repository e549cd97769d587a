"""The first estimate of a mosaic: seams between tiles, samples, and the error that is expected."""

from typing import Any

import numpy as np
import pytest

from demosaic_ntc.arrays import Float32
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.demosaicing.initial_estimate import Guesses, SubsampledMap, Trials, _blend, first_estimate
from demosaic_ntc.demosaicing.interpolation.bayer import kiku2014, zhang_wu2005
from demosaic_ntc.demosaicing.interpolation.blend import MethodSelection, apart, blend, try_both, try_quickly
from demosaic_ntc.demosaicing.quantised_planes import MosaicSamples, Quantiser, encode_difference
from demosaic_ntc.engine import tiles
from demosaic_ntc.engine.tiles import close_to
from demosaic_ntc.run import Run
from tests.waves import waves


def scene(height: int, width: int) -> Float32:
    return np.moveaxis(waves(3, height, width), 0, 2)


@pytest.mark.parametrize("array", ["RGGB", "XTRANS"])
@pytest.mark.parametrize("trial", [try_both, try_quickly])
@pytest.mark.parametrize("least", [-1.0, 0.01])
@pytest.mark.slow
def test_seams_between_tiles_are_exact(array: str, trial: MethodSelection, least: float) -> None:
    cfa = Cfa.from_name(array)
    mosaic = MosaicSamples(cfa.sample(scene(150, 140)))
    shares: list[float] = []
    far = 0.019 if cfa.is_bayer else 0.062  # about what guesses differ by in the middle
    whole = first_estimate(mosaic, cfa, trial, Run(want_error=True), least, far)
    tiled = first_estimate(mosaic, cfa, trial, Run(3, want_error=True, report=shares.append), least, far, 40)
    assert np.array_equal(whole.picture, tiled.picture)
    assert np.array_equal(whole.error, tiled.error)
    everywhere = slice(0, 150), slice(0, 140)
    assert np.array_equal(whole.confidence.read(*everywhere), tiled.confidence.read(*everywhere))
    assert np.array_equal(whole.differing[:, :], tiled.differing[:, :])
    assert 0 < whole.differing[:, :].mean() < 1
    assert len(shares) > 4
    assert shares == sorted(shares)
    assert shares[-1] == 1


def test_samples_stand_in_their_place_and_the_rest_is_the_blend() -> None:
    cfa = Cfa.from_name("GRBG")
    mosaic = cfa.sample(scene(40, 44))
    first = first_estimate(MosaicSamples(mosaic), cfa, try_both, Run(want_error=True))
    picture = np.moveaxis(np.asarray(first.picture), 0, 2)
    assert np.array_equal(cfa.sample(picture), mosaic)
    exact = blend(mosaic, cfa, 1)
    spacing = np.abs(exact.trial.smooth - exact.trial.residual)  # differences are kept in a byte each
    assert (np.abs(picture - exact.image) <= 1e-4 + 0.04 * spacing).all()
    assert np.sqrt(np.square(picture - exact.image).mean()) < 0.02 * np.sqrt(np.square(spacing).mean())
    assert first.error.shape == mosaic.shape
    confidence = exact.confidence[::4, ::4]
    places = np.argwhere(np.ones(confidence.shape)) * 4
    assert first.confidence.at(places) == pytest.approx(confidence.ravel(), abs=0.02)
    assert (first.error >= 0).all()


def test_guesses_differ_by_the_most_of_three_channels_in_the_mean_around() -> None:
    cfa = Cfa.from_name("RGGB")
    mosaic = cfa.sample(scene(40, 44))
    trial = try_both(mosaic, cfa)
    most = np.pad(np.abs(trial.smooth - trial.residual).max(axis=2), 3, mode="reflect")
    around = np.lib.stride_tricks.sliding_window_view(most, (7, 7)).mean(axis=(2, 3))
    assert apart(trial.smooth, trial.residual) == pytest.approx(around, abs=1e-6)
    middle = float(np.median(around))
    found = first_estimate(MosaicSamples(mosaic), cfa, try_both, Run(), far=middle).differing[:, :]
    clear = np.abs(around - middle) > 1e-6
    assert np.array_equal(found[clear], (around > middle)[clear])


@pytest.mark.slow
def test_trials_are_held_where_guesses_differ_and_the_rest_has_their_difference_for_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cfa, picture = Cfa.from_name("RGGB"), np.full((200, 160, 3), 0.4, np.float32)
    picture[60:90, 40:70] = np.random.default_rng(0).random((30, 30, 3), np.float32)
    mosaic, tried = cfa.sample(picture), list[tuple[int, ...]]()
    held = MethodSelection.errors

    def counted(contest: MethodSelection, *given: Any) -> Any:
        tried.append(given[1].shape)
        return held(contest, *given)

    monkeypatch.setattr(MethodSelection, "errors", counted)
    first = first_estimate(MosaicSamples(mosaic), cfa, try_both, Run(want_error=True), 0.01)
    ((height, width),) = tried
    assert height < 200
    assert width <= 160
    far = np.s_[170:, :]
    guesses = try_both.guesses(mosaic, cfa)
    assert first.error[far] == pytest.approx(np.square(apart(*guesses)[far]))
    whole = first_estimate(MosaicSamples(mosaic), cfa, try_both, Run())
    assert np.asarray(first.picture) == pytest.approx(np.asarray(whole.picture), abs=0.02)
    assert whole.error.size == 0
    tried.clear()
    flat = MosaicSamples(np.full((64, 64), 0.5, np.float32))
    first_estimate(flat, cfa, try_both, Run(), 0.01)
    assert not tried


@pytest.mark.parametrize(("smooth", "residual"), [(0, 3000), (3000, 0), (62000, 65535), (65535, 62000)])
def test_blends_of_guesses_stay_within_the_codes(smooth: int, residual: int) -> None:
    cfa, shape = Cfa.from_name("RGGB"), (4, 300)
    samples, steps = MosaicSamples(np.full(shape, 0.5, np.float32)), Quantiser.from_range(0.0, 1.0)
    guesses = Guesses.empty(samples, cfa, steps, errors=False)
    codes = np.broadcast_to(np.linspace(smooth, residual, 300).astype(np.uint16), (2, *shape))
    guesses.smooth.others[...] = codes
    guesses.difference[...] = encode_difference(np.full((2, *shape), residual, np.uint16), codes)
    worse, better = SubsampledMap(shape), SubsampledMap(shape)
    rows, columns = slice(0, 4), slice(0, 300)
    worse.write(rows, columns, np.ones(shape, np.float32))  # so that the residual guess alone counts
    _blend(
        guesses, Trials((worse, better), (1.0, 0.0)), rows, np.empty((0, 0), np.float32), SubsampledMap(shape)
    )
    off = np.abs(guesses.smooth.others.astype(np.float64) - residual)
    assert (off <= 2 + np.hypot(codes - float(residual), 40) / 30).all()


def spots() -> Float32:
    """A grey picture's mosaic with two corners of detail, far apart."""
    picture = np.full((240, 300, 3), 0.4, np.float32)
    for place in (np.s_[10:30, 10:30], np.s_[205:225, 265:285]):
        picture[place] = np.random.default_rng(0).random((20, 20, 3), np.float32)
    return Cfa.from_name("RGGB").sample(picture)


@pytest.mark.parametrize("contest", [try_both, MethodSelection(quick=True, sparing=True)])
def test_trials_in_small_tiles_come_to_the_same(
    contest: MethodSelection, monkeypatch: pytest.MonkeyPatch
) -> None:
    mosaic, seen = MosaicSamples(spots()), list[tuple[int, ...]]()
    held = MethodSelection.errors

    def counted(contest: MethodSelection, *given: Any) -> Any:
        seen.append(given[1].shape)
        return held(contest, *given)

    monkeypatch.setattr(MethodSelection, "errors", counted)
    results = []
    for small in ((64, 32), ()):
        monkeypatch.setattr(tiles, "_SMALL", small)
        cfa = Cfa.from_name("RGGB")
        results.append(first_estimate(mosaic, cfa, contest, Run(want_error=True), 0.01))
    assert len(seen) > 2  # one tile at last
    assert sum(height * width for height, width in seen[:-1]) < seen[-1][0] * seen[-1][1]
    assert np.array_equal(np.asarray(results[0].picture), np.asarray(results[1].picture))
    assert np.array_equal(results[0].error, results[1].error)


def test_sparing_guesses_are_refined_close_to_where_they_differ_whatever_the_tiles() -> None:
    cfa, contest, mosaic = Cfa.from_name("RGGB"), MethodSelection(quick=True, sparing=True), spots()
    whole, tiled, refined = (
        first_estimate(MosaicSamples(mosaic), cfa, each, Run(2), 9.0, far, side=side)
        for each, far, side in ((contest, 0.01, 1280), (contest, 0.01, 64), (try_quickly, 0.01, 1280))
    )
    assert np.array_equal(np.asarray(whole.picture), np.asarray(tiled.picture))
    plain = contest.guesses(mosaic, cfa)
    assert np.array_equal(plain[0], zhang_wu2005(mosaic, cfa))
    assert np.array_equal(plain[1], kiku2014(mosaic, cfa))
    near = close_to(apart(*plain) > 0.01, 12)
    assert 0 < near.mean() < 0.5
    spread, full = np.asarray(whole.picture), np.asarray(refined.picture)
    assert np.array_equal(spread[:, near], full[:, near])
    never = first_estimate(MosaicSamples(mosaic), cfa, contest, Run(), 9.0, 9.0)
    assert np.array_equal(spread[:, ~near], np.asarray(never.picture)[:, ~near])
    assert not np.array_equal(spread[:, near], np.asarray(never.picture)[:, near])
