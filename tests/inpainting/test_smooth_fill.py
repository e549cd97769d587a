"""Smooth fills against the published solver, cases with a known answer, and holes of every size."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy.ndimage import laplace
from skimage.restoration import inpaint_biharmonic

from demosaic_ntc.inpainting.smooth_fill import Biharmonic, fill_by_blur, plainly_filled
from demosaic_ntc.run import Deadline

Planes = NDArray[np.float32]
Flags = NDArray[np.bool_]

STEPS, ACCURACY = 2000, 1e-6  # enough for the holes below to be solved


def holes(shape: tuple[int, int], *parts: tuple[slice | int, slice | int]) -> Flags:
    missing = np.zeros(shape, np.bool_)
    for part in parts:
        missing[part] = True
    return missing


INSIDE = holes((24, 26), np.s_[8:13, 9:16], np.s_[17, 4:20], np.s_[4, 5])
AT_THE_BORDER = holes((24, 26), np.s_[:4, :3], np.s_[10:14, 23:], np.s_[23, 8:15])


def texture(seed: int, shape: tuple[int, ...] = (2, 24, 26)) -> Planes:
    """Draw values around the middle, so that no solution is clipped at the known extremes."""
    planes = np.random.default_rng(seed).uniform(0.4, 0.6, shape).astype(np.float32)
    planes[:, 0, -1], planes[:, -1, 0] = 0.0, 1.0
    return planes


def filled(planes: Planes, missing: Flags) -> Planes:
    return Biharmonic(missing).fill(fill_by_blur(planes, missing), STEPS, ACCURACY)


def test_many_steps_reach_the_published_solution_away_from_the_border() -> None:
    planes = texture(0)
    expected = [inpaint_biharmonic(plane.astype(np.float64), INSIDE) for plane in planes]
    np.testing.assert_allclose(filled(planes, INSIDE), expected, atol=2e-4)


@pytest.mark.parametrize("missing", [INSIDE, AT_THE_BORDER])
def test_the_mirrored_picture_is_biharmonic_in_its_holes(missing: Flags) -> None:
    for plane in filled(texture(1), missing).astype(np.float64):
        twice = laplace(laplace(plane, mode="reflect"), mode="reflect")
        assert np.abs(twice[missing]).max() < 1e-3 < np.abs(twice[~missing]).max()


@pytest.mark.parametrize("missing", [INSIDE, AT_THE_BORDER])
def test_the_equation_is_symmetric_and_positive_definite(missing: Flags) -> None:
    matrix = Biharmonic(missing)._matrix.toarray()
    assert np.array_equal(matrix, matrix.T)
    assert np.linalg.eigvalsh(matrix).min() > 0


def test_ramps_come_back() -> None:
    y, x = np.mgrid[:24, :26] / 50
    ramps = np.stack([y, x, 0.2 + 0.5 * y + 0.3 * x]).astype(np.float32)
    damaged = np.where(INSIDE, np.float32(0), ramps)
    np.testing.assert_allclose(filled(damaged, INSIDE), ramps, atol=1e-5)


def test_the_fill_starts_where_the_planes_stand() -> None:
    planes = texture(2)
    assert np.array_equal(Biharmonic(INSIDE).fill(planes, 0, ACCURACY), planes)


def test_steps_stop_at_the_accuracy() -> None:
    equation, planes = Biharmonic(INSIDE), texture(3)
    solved = equation.fill(planes, STEPS, ACCURACY)
    assert np.array_equal(equation.fill(solved, STEPS, 1e-3), solved)


def test_a_few_steps_come_closer() -> None:
    equation, planes = Biharmonic(INSIDE), texture(4)
    solution = equation.fill(planes, STEPS, ACCURACY)
    few, more = (np.abs(equation.fill(planes, steps, 0.0) - solution).mean() for steps in (2, 10))
    assert more < few < np.abs(planes - solution).mean()


def test_channels_do_not_mix() -> None:
    planes = texture(5)
    together = filled(planes, INSIDE)
    for plane, one in zip(planes, together, strict=True):
        np.testing.assert_allclose(filled(plane[None], INSIDE)[0], one, atol=1e-5)


def test_a_blur_takes_the_mean_of_what_is_near() -> None:
    planes = np.zeros((1, 9, 40), np.float32)
    planes[:, :, 20:] = 1.0
    missing = holes((9, 40), np.s_[4, 5], np.s_[4, 35])
    assert fill_by_blur(np.where(missing, np.float32(0.5), planes), missing) == pytest.approx(
        planes, abs=1e-6
    )


@pytest.mark.parametrize("side", [3, 40, 160, 600])
@pytest.mark.slow
def test_a_blur_fills_holes_of_any_size(side: int) -> None:
    planes = np.full((1, side + 4, side + 4), 0.25, np.float32)
    missing = holes(planes.shape[1:], np.s_[2:, 2:])
    damaged = np.where(missing, np.float32(7), planes)
    assert fill_by_blur(damaged, missing) == pytest.approx(planes, abs=1e-6)


@settings(max_examples=40, deadline=None)
@given(arrays(np.bool_, st.tuples(st.integers(1, 9), st.integers(1, 9))), st.integers(0, 99))
def test_fills_keep_what_is_known_and_its_range(missing: Flags, seed: int) -> None:
    missing[0, 0] = False
    planes = np.random.default_rng(seed).random((2, *missing.shape)).astype(np.float32)
    damaged = np.where(missing, np.float32(9), planes)
    start = fill_by_blur(damaged, missing)
    for fill in (start, Biharmonic(missing).fill(start, 30, 1e-4)):
        assert np.array_equal(fill[:, ~missing], planes[:, ~missing])
        for plane, shown in zip(fill, planes[:, ~missing], strict=True):
            assert shown.min() - 1e-5 <= plane.min() <= plane.max() <= shown.max() + 1e-5


def test_a_blur_that_is_out_of_time_is_a_plain_fill(monkeypatch: pytest.MonkeyPatch) -> None:
    planes, missing = np.random.default_rng(0).random((2, 30, 20), np.float32), np.zeros((30, 20), np.bool_)
    missing[4:28, 2:19] = True
    blur = "demosaic_ntc.inpainting.smooth_fill.gaussian_filter"
    monkeypatch.setattr(blur, lambda *_arguments, **_named: pytest.fail("takes time"))
    known = np.broadcast_to(~missing, planes.shape)
    found = fill_by_blur(planes, missing, Deadline(0.0, lambda: 1.0))
    assert (found == plainly_filled(planes, known)).all()


def test_a_plain_fill_leaves_what_nothing_is_known_of() -> None:
    planes, known = np.full((2, 9, 9), 0.3, np.float32), np.zeros((2, 9, 9), np.bool_)
    known[0, 0, 0], planes[0, 0, 0] = True, 0.9
    filled = plainly_filled(planes, known)
    assert np.allclose(filled[0], 0.9)
    assert np.allclose(filled[1], 0.3)
