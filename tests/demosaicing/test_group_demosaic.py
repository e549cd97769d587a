"""Completion of mosaics: what is known of them, what is kept, and what the errors are."""

from typing import Any

import numpy as np
import pytest

from demosaic_ntc.arrays import Flags, Float32
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.demosaicing import group_demosaic as module
from demosaic_ntc.demosaicing.group_demosaic import (
    TRIALS,
    Effort,
    MeasuredMosaic,
    complete_mosaic,
    find_refinement_mask,
)
from demosaic_ntc.demosaicing.initial_estimate import first_estimate
from demosaic_ntc.demosaicing.interpolation.blend import MethodSelection, try_both
from demosaic_ntc.demosaicing.quantised_planes import MosaicSamples
from demosaic_ntc.engine.groups import reference_positions
from demosaic_ntc.engine.kernels.completion import LeastNorm
from demosaic_ntc.engine.pass_tables import AGREED, PLANS, Plan
from demosaic_ntc.engine.passes import HoleKind, PatchGrid, Step, completion, gaussian
from demosaic_ntc.engine.restore import Estimate, MaskedPass, restore
from demosaic_ntc.engine.result import NormCertificate
from demosaic_ntc.run import Deadline, Progress, Run
from tests.waves import waves

PATCHES = PatchGrid(size=4, stride=4, count=8, reach=5)
STEP = Step(PATCHES, completion(8), norm=LeastNorm(1e-2, 1e-6, 1.1, 0.5, 80))
BOTH: Plan = {HoleKind.BAYER: (STEP,), HoleKind.ARRAY: (STEP, STEP)}
EVERYWHERE = Effort(try_both, BOTH, -1.0)


def completed(
    cfa: Cfa, missing: Flags | None = None, errors: bool = False, over: bool = False
) -> tuple[Estimate[Float32], NormCertificate, Float32, list[Progress]]:
    mosaic = cfa.sample(np.moveaxis(waves(3, 36, 38), 0, 2))
    events: list[Progress] = []
    run = Run(1, events.append, Deadline(1.0, clock=lambda: 2.0) if over else Deadline(), errors)
    done = complete_mosaic(MeasuredMosaic(MosaicSamples(mosaic), cfa, missing), EVERYWHERE, run)
    assert done.certificate is not None
    return Estimate(done.planes[:, :, :], done.variance), done.certificate, mosaic, events


@pytest.mark.parametrize(("array", "steps"), [("RGGB", 1), ("GBRG", 1), ("XTRANS", 2), ("QUAD_RGGB", 2)])
def test_arrays_have_steps_of_their_own_and_every_group_its_bounds(array: str, steps: int) -> None:
    estimate, proven, mosaic, _ = completed(Cfa.from_name(array))
    groups = len(reference_positions(36, PATCHES)) * len(reference_positions(38, PATCHES))
    assert proven.groups == proven.completed == steps * groups
    assert np.array_equal(Cfa.from_name(array).sample(np.moveaxis(estimate.planes, 0, 2)), mosaic)
    assert estimate.variance.size == 0


def test_missing_samples_are_not_kept_and_their_errors_are_not_zero() -> None:
    missing = np.zeros((36, 38), np.bool_)
    missing[5:30:6, 4:30:5] = True
    cfa = Cfa.from_name("RGGB")
    estimate, _, mosaic, _ = completed(cfa, missing, errors=True)
    sampled = cfa.sample(np.moveaxis(estimate.planes, 0, 2))
    assert np.array_equal(sampled[~missing], mosaic[~missing])
    assert (sampled[missing] != mosaic[missing]).mean() > 0.5
    measured = np.moveaxis(cfa.masks((36, 38)), 2, 0) & ~missing
    assert np.array_equal(estimate.variance > 0, ~measured)


def test_after_the_deadline_errors_are_those_of_the_first_estimate() -> None:
    cfa = Cfa.from_name("RGGB")
    estimate, proven, _, _ = completed(cfa, errors=True, over=True)
    measured = np.moveaxis(cfa.masks((36, 38)), 2, 0)
    assert proven.completed == 0 < proven.groups
    assert not estimate.variance[measured].any()
    assert (estimate.variance[~measured] > 0).all()


def test_progress_names_both_stages_and_ends_complete() -> None:
    _, _, _, events = completed(Cfa.from_name("RGGB"))
    assert list(dict.fromkeys(event.stage for event in events)) == ["first estimate", "groups"]
    for stage in ("first estimate", "groups"):
        last = [event for event in events if event.stage == stage][-1]
        assert last.done == last.total


@pytest.mark.parametrize(
    ("deviation", "apart", "told"),
    [
        (None, 1.5, (1.5, 1.5)),
        (0.2, 1.5, (1.8, 1.5)),  # too little to show
        (2.0, 1.5, (5.5, 2.5)),
        (2.0, 4.0, (7.0, 4.0)),
        (2.0, -255.0, (-255.0, -255.0)),
    ],
)
def test_guesses_may_differ_by_more_where_there_is_noise(
    deviation: float | None, apart: float, told: tuple[float, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    cfa, seen = Cfa.from_name("RGGB"), list[tuple[float, float]]()

    def noted(*given: Any, **more: Any) -> Any:
        seen.append((255 * given[4], 255 * given[5]))
        return first_estimate(*given, **more)

    monkeypatch.setattr(module, "first_estimate", noted)
    noise = None if deviation is None else np.full((3, 2), (deviation / 255) ** 2, np.float32)
    flat = MeasuredMosaic(MosaicSamples(np.full((36, 38), 0.4, np.float32)), cfa, noise=noise)
    complete_mosaic(flat, Effort(try_both, BOTH, apart / 255), Run())
    assert seen == [pytest.approx(told, abs=1e-4)]


def test_every_quality_has_a_first_estimate() -> None:
    assert TRIALS.keys() == PLANS.keys()


def test_groups_are_formed_where_guesses_differ_and_close_to_it() -> None:
    differing, expected, missing = np.zeros((3, 40, 40), np.bool_)
    differing[20, 12] = missing[3, 3] = True
    expected[15:26, 7:18] = True
    assert np.array_equal(find_refinement_mask(differing, None), expected)
    expected[3, 3] = True
    assert np.array_equal(find_refinement_mask(differing, missing), expected)


def test_where_guesses_agree_the_first_estimate_stands_and_is_counted() -> None:
    cfa, rng = Cfa.from_name("RGGB"), np.random.default_rng(0)
    picture = np.full((64, 96, 3), 0.4, np.float32)
    picture[:, :32] += 0.3 * rng.random((64, 32, 3), np.float32)
    mosaic = cfa.sample(picture)

    def done(apart: float, missing: Flags | None = None) -> tuple[NormCertificate, Float32]:
        given = MeasuredMosaic(MosaicSamples(mosaic), cfa, missing)
        made = complete_mosaic(given, Effort(try_both, BOTH, apart), Run())
        assert made.certificate is not None
        return made.certificate, made.planes[:, :, :]

    (part, some), (whole, _), (first, plain) = done(1.5 / 255), done(-1.0), done(9.0)
    assert 0.3 < part.groups / whole.groups < 0.7
    assert first.groups == 0
    assert first.groups == 0 < part.groups < whole.groups
    assert some[:, :, 60:] == pytest.approx(plain[:, :, 60:], abs=1e-3)
    assert not np.array_equal(some[:, :, :20], plain[:, :, :20])
    dead = np.zeros(mosaic.shape, np.bool_)
    dead[30, 80] = True
    assert done(9.0, dead)[0].groups > 0


def test_means_are_corrected_less_where_the_smooth_guess_is_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    cfa, seen = Cfa.from_name("RGGB"), list[MaskedPass]()
    mosaic = cfa.sample(np.moveaxis(waves(3, 36, 38), 0, 2))

    def spied(start: Any, what: Any, works: Any, *rest: Any) -> Any:
        seen[:] = works
        return restore(start, what, works, *rest)

    monkeypatch.setattr(module, "restore", spied)
    complete_mosaic(MeasuredMosaic(MosaicSamples(mosaic), cfa), EVERYWHERE, Run())
    first = first_estimate(MosaicSamples(mosaic), cfa, try_both, Run())
    places = np.array([[4, 9], [30, 17], [21, 20]])
    assert seen[0].shares(places) == pytest.approx(1 - 0.7 * first.confidence.at(places), abs=1e-6)


def test_noise_alone_is_no_reason_for_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    cfa, held = Cfa.from_name("RGGB"), list[tuple[int, ...]]()
    mosaic = np.random.default_rng(1).normal(0.5, 0.02, (96, 96)).astype(np.float32)
    errors = MethodSelection.errors

    def counted(contest: MethodSelection, *given: Any) -> Any:
        held.append(given[1].shape)
        return errors(contest, *given)

    monkeypatch.setattr(MethodSelection, "errors", counted)
    for noise, trials in ((None, True), (np.full((3, 1), 0.02**2, np.float32), False)):
        held.clear()
        given = MeasuredMosaic(MosaicSamples(mosaic), cfa, noise=noise)
        complete_mosaic(given, Effort(try_both, BOTH, 2 / 255), Run())
        assert bool(held) == trials


def test_noisy_texture_on_which_guesses_agree_is_worked_on_in_small_groups_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cfa, seen = Cfa.from_name("RGGB"), list[MaskedPass]()
    step = Step(PATCHES, gaussian(8))
    plan: Plan = {HoleKind.BAYER: (step, step)}
    grey = 0.5 + 0.1 * np.sin(np.arange(96) / 6)[None].repeat(96, axis=0)
    mosaic = (grey + np.random.default_rng(2).normal(0, 0.004, (96, 96))).astype(np.float32)
    noise = np.full((3, 1), 0.004**2, np.float32)

    def spied(start: Any, what: Any, works: Any, *rest: Any) -> Any:
        seen[:] = works
        return restore(start, what, works, *rest)

    monkeypatch.setattr("demosaic_ntc.demosaicing.group_demosaic.restore", spied)
    effort = Effort(try_both, plan, 8 / 255)
    complete_mosaic(MeasuredMosaic(MosaicSamples(mosaic), cfa, noise=noise), effort, Run())
    *both, small = seen
    assert all(work.wanted.mean() < 0.1 for work in both)
    assert small.wanted.mean() > 0.5
    assert not (small.wanted & both[0].wanted).any()
    assert small.step.patches == AGREED[HoleKind.BAYER].patches


def test_samples_stay_as_they_are_where_none_of_their_noise_is_removed() -> None:
    cfa = Cfa.from_name("RGGB")
    noisy = np.full((64, 64), 0.5) + np.random.default_rng(3).normal(0, 0.01, (64, 64))
    samples = MosaicSamples(noisy.astype(np.float32))
    noise = np.full((3, 1), 0.01**2, np.float32)
    effort = Effort.of("gaussian", "fast")
    kept, removed = (
        complete_mosaic(MeasuredMosaic(samples, cfa, noise=noise, strength=strength), effort, Run())
        for strength in (0.0, 1.0)
    )
    assert np.array_equal(cfa.sample(np.moveaxis(kept.planes[:, :, :], 0, 2)), samples.whole())
    assert np.std(removed.planes[:, :, :]) < 0.5 * np.std(kept.planes[:, :, :])
