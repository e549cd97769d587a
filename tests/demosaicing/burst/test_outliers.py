"""Lone samples of the reference: those that no other frame confirms, and no others, are left out."""

from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
import pytest

from demosaic_ntc.arrays import Float32, Float64
from demosaic_ntc.demosaicing.burst.motion import Motion
from demosaic_ntc.demosaicing.burst.outliers import find_lone, leave_out_outliers
from demosaic_ntc.demosaicing.group_demosaic import MeasuredMosaic
from demosaic_ntc.demosaicing.quantised_planes import MosaicSamples
from demosaic_ntc.io.scratch import ScratchFile
from demosaic_ntc.run import Run
from tests.demosaicing.burst.scenes import MOVES, RGGB, SIDE, burst

_NOISE = 5 / 255
_MOTIONS = [Motion(affine) for affine in MOVES]
_RAY, _PLACE = 0.5, (23, 31)


def _measure(samples: Float32, missing: np.ndarray | None = None) -> MeasuredMosaic:
    return MeasuredMosaic.check(MosaicSamples(samples), RGGB, missing, _NOISE)


def _find(frames: list[Float32], motions: list[Motion] = _MOTIONS) -> list[tuple[int, ...]]:
    """Where samples of the first frame are left out."""
    left = leave_out_outliers([_measure(each) for each in frames], 0, motions, Run())
    return [] if left.missing is None else list(map(tuple, np.argwhere(left.missing).tolist()))


def _place_in(number: int) -> tuple[int, int]:
    """The sample of a frame nearest to the ray in the reference, of its colour."""
    affine = MOVES[number]
    row, column = np.linalg.solve(affine[:, 1:], np.array(_PLACE) - affine[:, 0])
    return (2 * round((row - 1) / 2) + 1, 2 * round((column - 1) / 2) + 1)


def test_still_scenes_lose_no_sample() -> None:
    for deviation in (1 / 255, _NOISE, 15 / 255):
        frames = [
            MeasuredMosaic.check(MosaicSamples(each), RGGB, None, deviation) for each in burst(deviation)
        ]
        assert leave_out_outliers(frames, 0, _MOTIONS, Run()) is frames[0]


@pytest.mark.parametrize("change", [_RAY, -_RAY])
@pytest.mark.parametrize("place", [_PLACE, (0, 10), (24, 31), (70, 80)])
def test_a_lone_sample_is_left_out_and_no_other(change: float, place: tuple[int, int]) -> None:
    frames = burst(_NOISE)
    frames[0][place] += change
    assert _find(frames) == [place]


def test_what_is_left_out_is_filled_and_what_was_missing_stays_so() -> None:
    frames, dead = burst(_NOISE), np.zeros((SIDE, SIDE), np.bool_)
    dead[50, 50] = True
    frames[0][_PLACE] += _RAY
    mosaics = [_measure(frames[0], dead), *map(_measure, frames[1:])]
    left = leave_out_outliers(mosaics, 0, _MOTIONS, Run())
    assert left.missing is not None
    assert np.argwhere(left.missing).tolist() == [list(_PLACE), [50, 50]]
    assert abs(left.samples.window(slice(None), slice(None))[_PLACE] - burst(0.0)[0][_PLACE]) < 0.2


@pytest.mark.parametrize("number", [1, 2, 3])
def test_one_frame_that_saw_it_too_confirms_it(number: int) -> None:
    frames = burst(_NOISE)
    frames[0][_PLACE] += _RAY
    frames[number][_place_in(number)] += _RAY
    assert _find(frames) == []


def test_a_frame_that_misses_the_place_has_no_say() -> None:
    """Flags of other frames may lie in a file."""
    frames, dead = burst(_NOISE), np.zeros((SIDE, SIDE), np.bool_)
    frames[0][_PLACE] += _RAY
    row, column = _place_in(3)
    for reach, found in ((1, True), (4, False)):  # some of its samples around, or all
        dead[row - reach : row + reach + 1, column - reach : column + reach + 1] = True
        last: Any = replace(_measure(frames[3], dead), missing=ScratchFile().keep(dead))  # type: ignore[arg-type]
        mosaics = [*map(_measure, frames[:3]), last]
        assert (leave_out_outliers(mosaics, 0, _MOTIONS, Run()).missing is not None) == found


def test_two_other_frames_are_too_few() -> None:
    frames = burst(_NOISE)
    frames[0][_PLACE] += _RAY
    assert _find(frames[:3], _MOTIONS[:3]) == []


def test_a_place_that_two_other_frames_saw_stays() -> None:
    """One of them was moved by so much that it does not reach it."""
    frames = burst(_NOISE)
    frames[0][_PLACE] += _RAY
    frames[3] = np.ascontiguousarray(np.roll(frames[0], -40, axis=0))
    frames[3][-40:] = 0.4
    away = Motion(np.array([[40.0, 1.0, 0.0], [0.0, 0.0, 1.0]]))
    assert _find(frames, [*_MOTIONS[:3], away]) == []


def test_what_a_lens_has_spread_stays() -> None:
    """A glint in the reference alone: half of it next to its middle."""
    frames = burst(_NOISE)
    y, x = np.mgrid[0:SIDE, 0:SIDE]
    far = np.square(y - _PLACE[0]) + np.square(x - _PLACE[1])
    frames[0] += (_RAY * np.exp(-far / (2 * 0.85**2))).astype(np.float32)
    assert _find(frames) == []


def test_what_noise_or_detail_may_do_stays() -> None:
    """A sample is left out once it is out of the range around by five deviations, and by half that range."""
    frames = [np.full((SIDE, SIDE), 0.4, np.float32) for _ in range(4)]
    for frame in frames:
        frame[:, SIDE // 2 :] = 0.6  # for frames without any structure have no say
    for off, found in ((4.5 * _NOISE, []), (5.5 * _NOISE, [_PLACE])):
        frames[0][_PLACE] = 0.4 + off
        assert _find(frames, [Motion()] * 4) == found
    frames[2][_PLACE] = 0.7  # the range is .3 now
    for sample, found in ((0.83, []), (0.87, [_PLACE])):
        frames[0][_PLACE] = sample
        assert _find(frames, [Motion()] * 4) == found


def test_the_noisiest_frame_says_what_noise_may_do() -> None:
    frames = burst(1 / 255)
    frames[0][_PLACE] += _RAY
    for deviation, found in ((_NOISE, True), (0.15, False)):
        told = [1 / 255, 1 / 255, deviation, 1 / 255]
        mosaics = [
            MeasuredMosaic.check(MosaicSamples(each), RGGB, None, noise)
            for each, noise in zip(frames, told, strict=True)
        ]
        assert (leave_out_outliers(mosaics, 0, _MOTIONS, Run()) is not mosaics[0]) == found


def test_noise_that_is_to_stay_is_noise_and_exact_samples_are_not_doubted() -> None:
    frames = burst(_NOISE)
    for noise, off in ((_NOISE, _RAY), (_NOISE, 0.0), (None, _RAY)):
        frames[0][_PLACE] = burst(_NOISE)[0][_PLACE] + off
        mosaics = [MeasuredMosaic.check(MosaicSamples(each), RGGB, None, noise, 0.0) for each in frames]
        found = leave_out_outliers(mosaics, 0, _MOTIONS, Run()) is not mosaics[0]
        assert found == (noise is not None and off > 0)


def test_a_frame_of_another_scene_has_no_say() -> None:
    frames = burst(_NOISE)
    frames[0][_PLACE] += _RAY
    frames[3] = np.ascontiguousarray(frames[3][::-1, ::-1])
    assert _find(frames) == []  # two are left


def test_lone_samples_are_those_of_a_plain_search_whatever_the_bands() -> None:
    random, frames = np.random.default_rng(3), burst(_NOISE)
    for frame in frames:
        struck = random.random((SIDE, SIDE)) < 0.02
        frame[struck] += random.choice([-1, 1], struck.sum()) * random.uniform(0.1, 0.6, struck.sum())
    mosaics, dead = [_measure(each) for each in frames], random.random((SIDE, SIDE)) < 0.1
    mosaics[2] = _measure(frames[2], dead)
    others = list(zip(mosaics[1:], _MOTIONS[1:], strict=True))
    found = [
        tuple(place)
        for top in range(0, SIDE, 7)
        for place in find_lone(mosaics[0], slice(top, min(top + 7, SIDE)), others).tolist()
    ]
    plain = [place for place in np.ndindex(SIDE, SIDE) if _is_lone(mosaics, place)]
    assert found == plain
    assert len(plain) > 40


def _is_lone(mosaics: list[MeasuredMosaic], place: tuple[int, ...]) -> bool:
    """The rule, sample by sample."""
    samples = mosaics[0].samples.window(slice(None), slice(None)).astype(np.float64)
    apart = [(y, x) for y in (-2, 0, 2) for x in (-2, 0, 2) if (y, x) != (0, 0)]

    def like(row: int, column: int) -> list[float]:
        return [samples[_mirror(row + y), _mirror(column + x)] for y, x in apart]

    def far(row: int, column: int) -> float:
        own = samples[_mirror(row), _mirror(column)]
        return float(abs(own - np.median(like(row, column))))

    row, column = place
    own = samples[place]
    if not _is_out(own, like(row, column)):
        return False
    if max(far(row + y // 2, column + x // 2) for y, x in apart) >= 0.5 * far(row, column):
        return False
    told = [
        _near(mosaic, motion.affine, place) for mosaic, motion in zip(mosaics[1:], _MOTIONS[1:], strict=True)
    ]
    enough = sum(map(bool, told)) >= 3
    return enough and _is_out(own, like(row, column) + list(chain(*told)))


def _mirror(at: int) -> int:
    return (SIDE - 1) - abs((SIDE - 1) - abs(at))


def _is_out(own: float, others: list[float]) -> bool:
    low, high = min(others), max(others)
    return max(own - high, low - own) > max(5 * _NOISE, 0.5 * (high - low))


def _near(mosaic: MeasuredMosaic, affine: Float64, place: tuple[int, ...]) -> list[float]:
    """The samples of a frame around a place, of the colour that the reference has there."""
    samples, colours = mosaic.samples.window(slice(None), slice(None)), RGGB.channel_map((SIDE, SIDE))
    row, column = np.rint(np.linalg.solve(affine[:, 1:], np.array(place) - affine[:, 0])).astype(int)
    return [
        float(samples[y, x])
        for y in range(row - 2, row + 3)
        for x in range(column - 2, column + 3)
        if 0 <= y < SIDE and 0 <= x < SIDE and colours[y, x] == colours[place]
        if mosaic.missing is None or not mosaic.missing[y, x]
    ]
