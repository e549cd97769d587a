"""Groups over a picture: where they lie, how they are cut, and that nothing but the input decides."""

from dataclasses import replace
from itertools import count
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from demosaic_ntc.arrays import Bits, Flags, Float32, Places, Planes
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.engine import groups
from demosaic_ntc.engine.groups import (
    GroupInput,
    GroupPass,
    References,
    _runs,
    bands_of,
    count_references,
    reference_positions,
    tiles_of_references,
    unproven,
)
from demosaic_ntc.engine.kernels.completion import LeastNorm
from demosaic_ntc.engine.kernels.group_pass import LEAST_SPREAD
from demosaic_ntc.engine.passes import ObservedPixels, PatchGrid, Step, bits_of, completion, gaussian, mean
from demosaic_ntc.run import Deadline, Run
from tests.waves import waves

SHAPE = (70, 44)
PATCHES = PatchGrid(size=4, stride=3, count=8, reach=5)
MOSAIC = Step(PATCHES, gaussian(6, correction=2.0))
HOLES = Step(PATCHES, gaussian(6), trust=(0.3, 0.3))
MEANS = Step(PATCHES, mean(6), trust=(0.05, 0.01))
NOWHERE: Float32 = np.zeros((0, 0), np.float32)
ANY: Float32 = np.zeros(3, np.float32)  # bounds, which groups do not ask for


def picture_of(known: Bits) -> GroupInput:
    """Return waves with a little noise, as if these bits of it were known."""
    noise = np.random.default_rng(0).normal(0, 0.02, (3, *SHAPE))
    planes = (waves(3, *SHAPE) + noise).astype(np.float32)
    ones, exact = np.ones(SHAPE, np.uint8), np.zeros((3, 1), np.float32)
    return GroupInput(planes, ObservedPixels(known, ones, ANY, ANY, exact), NOWHERE)


def mosaic() -> GroupInput:
    return picture_of(bits_of(np.moveaxis(Cfa.from_name("RGGB").masks(SHAPE), 2, 0)))


def scattered() -> Flags:
    return np.random.default_rng(1).random(SHAPE) < 0.2


def holes() -> GroupInput:
    return picture_of(np.where(scattered(), 0, 7).astype(np.uint8))


def pass_over(picture: GroupInput, step: Step, threads: int = 1, errors: bool = True) -> GroupPass:
    if step.trust[0] < 1:
        confidence = np.where(picture.known.entries[:, :] == 7, 1, step.trust[0]).astype(np.float32)
        picture = replace(picture, confidence=confidence)
    return GroupPass(picture, step, Run(threads, want_error=errors))


class All(NamedTuple):
    """What groups say of a whole picture."""

    planes: Planes
    expected: Planes
    spread: Planes
    bounds: Float32


def said_by(groups: GroupPass, wanted: Flags, **options: Any) -> All:
    """Put together what groups say, overwriting the rows of the picture that were yielded."""
    planes = np.array(groups._scene.planes[:, :, :])
    gone = planes.copy()
    groups._scene = replace(groups._scene, planes=gone)
    run = {name: options.pop(name) for name in ("deadline", "report") if name in options}
    groups._run = replace(groups._run, **run)
    errors = np.zeros((2, *planes.shape), np.float32)
    for said in groups.restore(wanted, **options):
        assert np.array_equal(said.before, planes[:, said.rows])
        planes[:, said.rows] = said.planes
        gone[:, said.rows, :] = np.nan
        if said.spread.size:
            errors[0][:, said.rows], errors[1][:, said.rows] = said.expected, said.spread
        else:
            errors = errors[:, :0]
    return All(planes, errors[0], errors[1], np.concatenate([unproven(0), *groups.bounds]))


NOISY = Step(PATCHES, gaussian(6, noise=12.0))
COMPLETED = Step(PATCHES, completion(8), norm=LeastNorm(3e-3, 1e-6, 1.1, 0.5, 140))
CASES = [(mosaic, MOSAIC), (mosaic, NOISY), (holes, HOLES), (holes, MEANS), (mosaic, COMPLETED)]


def wanted_in(picture: GroupInput) -> Flags:
    return np.asarray(picture.known.entries[:, :] != 7)


def assert_same(one: All, other: All) -> None:
    for name in ("planes", "expected", "spread", "bounds"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name


@pytest.mark.parametrize(("make", "step"), CASES)
@pytest.mark.parametrize("band_rows", [1, 30, 1000])
def test_neither_bands_nor_threads_change_a_bit(make: Any, step: Step, band_rows: int) -> None:
    picture = make()
    wanted = wanted_in(picture)
    whole = said_by(pass_over(picture, step), wanted)
    for threads in (1, 2, 4):
        assert_same(said_by(pass_over(picture, step, threads), wanted, band_rows=band_rows), whole)


@pytest.mark.parametrize(("make", "step"), CASES)
def test_tiles_do_not_change_a_bit(make: Any, step: Step, monkeypatch: pytest.MonkeyPatch) -> None:
    picture = make()
    whole = said_by(pass_over(picture, step), wanted_in(picture))
    monkeypatch.setattr(groups, "_TILE", (9, 11))
    tiled = said_by(pass_over(picture, step, 2), wanted_in(picture))
    for name in ("planes", "expected", "spread"):
        assert np.array_equal(getattr(tiled, name), getattr(whole, name))
    one, other = (each.bounds[np.lexsort(each.bounds.T)] for each in (tiled, whole))
    assert np.array_equal(one, other)


def test_bands_of_wide_pictures_have_fewer_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    def pieces() -> int:
        return sum(1 for _ in pass_over(mosaic(), MOSAIC).restore(wanted_in(mosaic())))

    assert pieces() == 2
    monkeypatch.setattr(groups, "_BAND_PIXELS", 30 * SHAPE[1])
    assert pieces() == 3


def test_there_are_bands_to_be_joined() -> None:
    references = References.of(np.ones(SHAPE, np.bool_), PATCHES)
    assert len(bands_of(references, SHAPE[0], PATCHES, 1)) > 2
    assert len(bands_of(references, SHAPE[0], PATCHES, 1000)) == 1


@pytest.mark.parametrize(("length", "starts"), [(10, [0, 3, 6]), (11, [0, 3, 6, 7]), (4, [0]), (5, [0, 1])])
def test_the_last_reference_ends_at_the_border(length: int, starts: list[int]) -> None:
    assert reference_positions(length, PATCHES).tolist() == starts


@settings(max_examples=60, deadline=None)
@given(
    arrays(np.bool_, st.tuples(st.integers(1, 30), st.integers(1, 30))),
    st.integers(1, 8),
    st.integers(1, 4),
)
def test_references_are_those_whose_patch_holds_a_wanted_pixel(wanted: Flags, size: int, stride: int) -> None:
    patches = PatchGrid(size, stride, 5, 6).fit_to(wanted.shape)
    rows, columns = (reference_positions(length, patches) for length in wanted.shape)
    expected = [
        [row, column]
        for row in rows
        for column in columns
        if wanted[row : row + patches.size, column : column + patches.size].any()
    ]
    assert References.of(wanted, patches).places.tolist() == expected
    assert count_references(wanted, patches) == len(expected)


@settings(max_examples=60, deadline=None)
@given(arrays(np.bool_, st.tuples(st.integers(8, 90), st.integers(4, 6))), st.integers(1, 60))
def test_bands_hold_all_references_and_all_rows_they_touch(wanted: Flags, band_rows: int) -> None:
    wanted[wanted.shape[0] // 2] = True
    references, height = References.of(wanted, PATCHES), wanted.shape[0]
    bands = bands_of(references, height, PATCHES, band_rows)
    together = np.concatenate([band.references.places for band in bands])
    assert together.tolist() == references.places.tolist()
    for band, after in zip(bands, [*bands[1:], None], strict=True):
        rows = band.references.places[:, 0]
        assert 0 <= band.top <= max(rows.min() - PATCHES.reach, 0)
        assert min(rows.max() + PATCHES.reach + PATCHES.size, height) <= band.bottom <= height
        assert band.next_top == (after.top if after else band.bottom)
        if after:
            assert band.bottom <= after.next_top  # what is carried over ends within the next band


@settings(max_examples=40, deadline=None)
@given(arrays(np.bool_, st.tuples(st.integers(1, 70), st.integers(1, 200))))
def test_tiles_hold_every_reference_once_in_order_and_leave_gaps_out(wanted: Flags) -> None:
    references = np.argwhere(wanted)
    if len(references) == 0:
        return
    tiles = list(tiles_of_references(references))
    together = np.concatenate(tiles)
    assert sorted(map(tuple, together.tolist())) == sorted(map(tuple, references.tolist()))
    for tile in tiles:
        assert tile.tolist() == sorted(tile.tolist())
        assert np.diff(np.unique(tile[:, 1])).max(initial=0) <= 64


@pytest.mark.parametrize(("wanted", "lengths"), [(40, [16, 16, 16]), (100, [100]), (500, [100]), (16, [16])])
def test_runs_of_references_are_spread_over_all(wanted: int, lengths: list[int]) -> None:
    patches = PatchGrid(size=2, stride=2, count=4, reach=3)
    shape = (40, 10)  # five times twenty references
    runs, everywhere = _runs(shape, patches, wanted), References.of(np.ones(shape, np.bool_), patches).places
    assert [len(run) for run in runs] == lengths
    assert runs[0][0].tolist() == [0, 0]
    for run in runs:
        first = int(np.flatnonzero((everywhere == run[0]).all(axis=1))[0])
        assert np.array_equal(run, everywhere[first : first + len(run)])
    if len(runs) > 1:
        assert runs[-1][-1].tolist() == [38, 8]


def test_the_prior_is_the_mean_shape_of_covariances() -> None:
    picture = mosaic()
    prior = pass_over(picture, MOSAIC).prior(10**6)
    passing, references = pass_over(picture, MOSAIC), References.of(np.ones(SHAPE, np.bool_), PATCHES).places
    shapes = np.zeros((48, 48))
    found = passing._match(passing._around(references), references)
    for (row, column), offsets in zip(references, found, strict=True):
        patches = np.stack(
            [
                picture.planes[:, row + dy : row + dy + 4, column + dx : column + dx + 4].ravel()
                for dy, dx in offsets.astype(int)
            ]
        ).astype(np.float64)
        z = patches - patches.mean(axis=0)
        shapes += z.T @ z / (len(z) * ((z**2).mean() + LEAST_SPREAD))
    assert len(references) < 1024  # all of them tell
    assert prior == pytest.approx(shapes / len(references), abs=1e-3)


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_the_prior_is_symmetric_and_does_not_depend_on_order(
    threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = pass_over(mosaic(), MOSAIC).prior(10)
    assert np.array_equal(plain, plain.T)
    assert np.array_equal(pass_over(mosaic(), MOSAIC, threads).prior(10), plain)
    forwards = groups._runs
    monkeypatch.setattr(groups, "_runs", lambda *options: forwards(*options)[::-1])
    assert np.array_equal(pass_over(mosaic(), MOSAIC, threads).prior(10), plain)


def test_means_have_no_prior() -> None:
    assert pass_over(holes(), MEANS).prior(10).size == 0


def test_what_is_hardly_known_hardly_decides_which_patches_are_alike() -> None:
    planes = np.tile(np.random.default_rng(3).random((1, 6, 6)).astype(np.float32), (1, 5, 5))
    planes[0, 13:15, 13:15] = 9.0  # a bad guess, within a pattern that repeats every six pixels
    confidence = np.ones((30, 30), np.float32)
    confidence[13:15, 13:15] = 1e-6
    ones = np.ones((30, 30), np.uint8)
    picture = GroupInput(
        planes, ObservedPixels(ones, ones, ANY, ANY, np.zeros((3, 1), np.float32)), confidence
    )
    step = Step(PatchGrid(size=4, stride=4, count=5, reach=6), gaussian(4))
    for trust, alike in ((confidence, True), (NOWHERE, False)):
        groups, places = GroupPass(replace(picture, confidence=trust), step, Run()), np.array([[12, 12]])
        (found,) = groups._match(groups._around(places), places)
        assert (found % 6 == 0).all() == alike


def test_only_groups_that_hold_a_wanted_pixel_are_restored() -> None:
    missing = np.zeros(SHAPE, np.bool_)
    missing[30, 20] = True
    picture = picture_of(np.where(missing, 0, 7).astype(np.uint8))
    said = said_by(pass_over(picture, HOLES), missing)
    assert 0 < count_references(missing, PATCHES) < 5
    reach = PATCHES.reach + PATCHES.size
    far = np.ones(SHAPE, np.bool_)
    far[30 - reach : 30 + reach, 20 - reach : 20 + reach] = False
    assert np.array_equal(said.planes[:, far], picture.planes[:, :, :][:, far])
    assert not said.expected[:, far].any()
    assert not np.array_equal(said.planes, picture.planes[:, :, :])


def test_groups_bring_a_wrong_estimate_back_to_the_texture() -> None:
    truth, missing = waves(3, *SHAPE), scattered()
    wrong = np.where(missing, np.float32(0.5), truth)
    said = said_by(pass_over(replace(holes(), planes=wrong), MEANS), missing)
    before, after = (np.abs(one - truth)[:, missing].mean() for one in (wrong, said.planes))
    assert after < 0.4 * before


def test_completed_groups_are_bounded_and_others_are_not() -> None:
    picture = mosaic()
    lower, upper, vertices = said_by(pass_over(picture, COMPLETED), wanted_in(picture)).bounds.T
    assert (lower > 0).all()
    assert (lower <= upper).all()
    assert (upper <= 1.1001 * lower).mean() > 0.95
    assert (vertices > 1).all()
    assert len(lower) == count_references(wanted_in(picture), PATCHES)
    assert len(said_by(pass_over(picture, MOSAIC), wanted_in(picture)).bounds) == 0


def test_completed_groups_come_closer_to_the_truth_than_a_wrong_estimate() -> None:
    truth, picture = waves(3, *SHAPE), mosaic()
    noise = np.random.default_rng(4).normal(0, 0.05, truth.shape).astype(np.float32)
    shown = np.stack([(picture.known.entries[:, :] >> channel) & 1 for channel in range(3)]).astype(np.bool_)
    wrong = np.where(shown, truth, truth + noise)
    said = said_by(pass_over(replace(picture, planes=wrong), COMPLETED), wanted_in(picture))
    before, after = (np.square(one - truth)[~shown].mean() for one in (wrong, said.planes))
    assert after < 0.6 * before


def test_bands_begun_after_the_deadline_say_nothing() -> None:
    picture, ticks = mosaic(), count().__next__
    wanted = wanted_in(picture)
    whole = said_by(pass_over(picture, COMPLETED), wanted, band_rows=1)
    part = said_by(pass_over(picture, COMPLETED), wanted, band_rows=1, deadline=Deadline(2, ticks))
    done = np.isfinite(part.bounds[:, 1])
    assert 0 < done.sum() < done.size
    assert np.array_equal(np.sort(done)[::-1], done)  # the first bands, none after
    assert np.array_equal(part.bounds[done], whole.bounds[done])
    assert np.array_equal(part.planes[:, 60:], picture.planes[:, 60:, :])
    assert not part.expected[:, 60:].any()
    assert np.array_equal(part.planes[:, :10], whole.planes[:, :10])
    late = Deadline(2, count().__next__)
    assert len(said_by(pass_over(picture, MOSAIC), wanted, band_rows=1, deadline=late).bounds) == 0


def test_shares_rise_to_one() -> None:
    shares: list[float] = []
    picture = mosaic()
    said_by(pass_over(picture, MOSAIC, 2), wanted_in(picture), band_rows=1, report=shares.append)
    assert len(shares) > 1
    assert shares == sorted(set(shares))
    assert shares[-1] == 1


def test_errors_are_told_only_when_asked_for() -> None:
    picture = mosaic()
    with_errors = said_by(pass_over(picture, MOSAIC), wanted_in(picture))
    plain = said_by(pass_over(picture, MOSAIC, errors=False), wanted_in(picture))
    assert plain.expected.size == plain.spread.size == 0
    assert np.array_equal(plain.planes, with_errors.planes)
    assert (with_errors.expected > 0).all()
    assert (with_errors.spread >= 0).all()


@pytest.mark.parametrize("shape", [(1, 1), (1, 30), (30, 1), (2, 3), (5, 5)])
@pytest.mark.parametrize("step", [HOLES, MEANS])
def test_pictures_smaller_than_a_patch_are_covered(shape: tuple[int, int], step: Step) -> None:
    planes: Planes = np.full((1, *shape), 0.25, np.float32)
    known = np.ones(shape, np.uint8)
    known[-1, -1] = 0
    noise, trust = np.zeros((3, 1), np.float32), np.ones(shape, np.float32)
    picture = GroupInput(planes, ObservedPixels(known, 1 - known, ANY, ANY, noise), trust)
    said = list(GroupPass(picture, step, Run()).restore(known == 0))
    assert all(piece.planes == pytest.approx(0.25, abs=1e-4) for piece in said)
    assert said[-1].anything[-1, -1]


def test_a_group_has_the_share_of_the_correction_that_is_told_for_its_middle() -> None:
    step = Step(PatchGrid(4, 4, 16, 5), gaussian(6, correction=3.0))
    places = list[Places]()

    def told(where: Places) -> Float32:
        places.append(where)
        return (where[:, 1] > 18).astype(np.float32)

    everywhere = np.ones(SHAPE, np.bool_)
    said, none, whole = (
        np.concatenate([one.planes for one in groups.restore(everywhere)], 1)
        for groups in (
            GroupPass(mosaic(), step, Run(), told),
            GroupPass(mosaic(), replace(step, does=step.does._replace(correction=0.0)), Run()),
            GroupPass(mosaic(), step, Run()),
        )
    )
    expected = References.of(everywhere, step.patches).places + 2
    assert np.array_equal(np.unique(np.concatenate(places), axis=0), np.unique(expected, axis=0))
    assert np.array_equal(said[:, :, :10], none[:, :, :10])
    assert np.array_equal(said[:, :, -10:], whole[:, :, -10:])
    assert not np.array_equal(none, whole)
