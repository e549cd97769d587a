"""Several mosaics of one scene: more than one tells, and nothing that one alone would not show."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from demosaic_ntc import demosaic, demosaic_burst
from demosaic_ntc.arrays import Float64
from demosaic_ntc.demosaicing.burst import agreement
from demosaic_ntc.errors import InputError
from tests.demosaicing.burst.scenes import MOVES, RGGB, SIDE, burst, decibels, draw, see, take, turn

_NOISE = 5 / 255


@pytest.fixture(scope="module")
def single() -> Float64:
    """The picture of the first frame alone."""
    return demosaic(burst(_NOISE)[0], white=1.0, noise=_NOISE).image


def test_one_frame_is_demosaiced_as_ever(single: Float64) -> None:
    merged = demosaic_burst(burst(_NOISE)[:1], white=1.0, noise=_NOISE)
    assert np.array_equal(merged.image, single)
    assert merged.frames[0].is_used


def test_four_frames_tell_more_than_one_whatever_the_threads(single: Float64) -> None:
    frames, truth = burst(_NOISE), see(MOVES[0])
    merged = demosaic_burst(frames, white=1.0, noise=_NOISE, reference=0, threads=1)
    assert decibels(merged.image, truth) > decibels(single, truth) + 1.5
    assert all(each.is_used and each.share > 0.8 for each in merged.frames)
    again = demosaic_burst(frames, white=1.0, noise=_NOISE, reference=0, threads=3)
    assert np.array_equal(again.image, merged.image)


def test_motion_is_found_within_a_tenth_of_a_pixel() -> None:
    merged = demosaic_burst(burst(_NOISE), white=1.0, noise=_NOISE, reference=0)
    centre = np.array([1.0, (SIDE - 1) / 2, (SIDE - 1) / 2])
    for affine, found in zip(MOVES, merged.frames, strict=True):
        assert found.shift == pytest.approx(affine @ centre - centre[1:], abs=0.1)


def test_the_reference_decides_what_the_picture_shows() -> None:
    merged = demosaic_burst(burst(_NOISE), white=1.0, noise=_NOISE, reference=2)
    assert decibels(merged.image, see(MOVES[2])) > decibels(merged.image, see(MOVES[0])) + 3


def test_four_exact_moves_without_noise_measure_the_truth() -> None:
    moves = [turn(0.0, shift) for shift in ((0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0))]
    frames = [np.asarray(RGGB.sample(see(each)), np.float32) for each in moves]
    for motion in ("auto", "pixel-shift"):
        merged = demosaic_burst(frames, white=1.0, reference=0, motion=motion)
        assert [each.shift for each in merged.frames] == [(0, 0), (0, 1), (1, 0), (1, 1)]
        inner = slice(2, -2)
        assert np.abs(merged.image - see(moves[0]))[inner, inner].max() < 1e-3


def test_what_moves_leaves_no_ghost() -> None:
    y, x = np.mgrid[0:SIDE, 0:SIDE]
    places = [(40, 30 + 9 * k) for k in range(4)]
    discs = [np.hypot(y - row, x - column) < 8 for row, column in places]
    frames = burst(_NOISE)
    for frame, disc in zip(frames, discs, strict=True):
        frame[disc] += 0.25
    truth, track = see(MOVES[0]), np.any(discs, axis=0)
    truth[discs[0]] += 0.25
    alone = demosaic(frames[0], white=1.0, noise=_NOISE).image

    def error(picture: Float64) -> float:
        return float(-10 * np.log10(np.mean(np.square(picture - truth)[track])))

    merged, blind = (
        demosaic_burst(frames, white=1.0, noise=_NOISE, reference=0, ghosts=ghosts).image
        for ghosts in ("normal", "off")
    )
    assert error(merged) > error(alone) - 0.3
    assert error(blind) < error(alone) - 6  # the rule is needed


def test_a_cosmic_ray_in_a_frame_does_not_show() -> None:
    """A single sample that is far off changes less than noise does; without the rules it is seen."""
    clean, struck = burst(_NOISE), burst(_NOISE)
    struck[0][23, 31] += 0.6  # the reference
    struck[1][40, 30] += 0.6
    struck[3][61, 70] += 0.6
    without = demosaic_burst(clean, white=1.0, noise=_NOISE, reference=0).image
    changes = {
        ghosts: np.abs(
            demosaic_burst(struck, white=1.0, noise=_NOISE, reference=0, ghosts=ghosts).image - without
        ).max()
        for ghosts in ("normal", "off")
    }
    assert changes["normal"] < 1.2 * _NOISE
    assert changes["off"] > 4 * _NOISE


def test_ghosts_are_the_same_whatever_the_bands(monkeypatch: pytest.MonkeyPatch) -> None:
    frames = burst(_NOISE)
    for frame, column in zip(frames, (20, 40, 60, 80), strict=True):
        frame[30:60, column : column + 12] += 0.2
    whole = demosaic_burst(frames, white=1.0, noise=_NOISE, reference=0, threads=1)
    cuts = (0, 7, 15, 16, 40, SIDE // 2)
    bands = [slice(*pair) for pair in pairwise(cuts)]
    monkeypatch.setattr(agreement, "row_bands", lambda *_: bands)
    cut = demosaic_burst(frames, white=1.0, noise=_NOISE, reference=0, threads=2)
    assert np.array_equal(cut.image, whole.image)
    assert min(each.share for each in whole.frames) < 0.95


def test_a_foreign_frame_changes_nothing() -> None:
    frames = burst(_NOISE)
    y, x = np.mgrid[0:SIDE, 0:SIDE].astype(np.float64)
    other = np.asarray(RGGB.sample(draw(2.7 * x + 11, 90 - 1.9 * y)), np.float32)
    merged = demosaic_burst([*frames, other], white=1.0, noise=_NOISE, reference=0)
    assert not merged.frames[-1].is_used
    assert np.array_equal(merged.image, demosaic_burst(frames, white=1.0, noise=_NOISE, reference=0).image)


def test_dead_samples_of_a_frame_are_not_used() -> None:
    frames, truth = burst(_NOISE), see(MOVES[0])
    dead = np.random.default_rng(0).random((SIDE, SIDE)) < 0.05
    frames[1][dead] = 1.0
    flags = [None, dead, None, None]
    merged = demosaic_burst(frames, white=1.0, noise=_NOISE, reference=0, missing=flags)
    whole = demosaic_burst(burst(_NOISE), white=1.0, noise=_NOISE, reference=0)
    assert decibels(merged.image, truth) > decibels(whole.image, truth) - 0.3


def test_errors_are_expected_where_they_are() -> None:
    merged = demosaic_burst(burst(_NOISE), white=1.0, noise=_NOISE, reference=0, error=True)
    assert merged.error is not None
    missed = np.sqrt(np.mean(np.square(merged.image - see(MOVES[0]))[8:-8, 8:-8]))
    expected = np.sqrt(np.mean(np.square(merged.error[8:-8, 8:-8])))
    assert 0.4 < missed / expected < 2.5


def test_the_sharpest_frame_is_the_reference() -> None:
    blurred = np.asarray(RGGB.sample(0.25 * see(MOVES[1]) + 0.35), np.float32)
    merged = demosaic_burst([blurred, take(MOVES[2], _NOISE, 2)], white=1.0, noise=_NOISE)
    assert merged.frames[1].shift == (0.0, 0.0)


def test_a_flow_is_found_where_rows_wobble() -> None:
    y, x = np.mgrid[0:SIDE, 0:SIDE].astype(np.float64)
    wobbled = draw(y, x + 1.2 * np.sin(y / 14.0))
    noise = _NOISE * np.random.default_rng(7).standard_normal((SIDE, SIDE))
    frames = [take(MOVES[0], _NOISE, 0), np.asarray(RGGB.sample(wobbled) + noise, np.float32)]
    shares = {
        motion: demosaic_burst(frames, white=1.0, noise=_NOISE, reference=0, motion=motion).frames[1].share
        for motion in ("auto", "pixel-shift")
    }
    assert shares["auto"] > shares["pixel-shift"] + 0.1


@pytest.mark.parametrize(
    ("frames", "options", "reason"),
    [
        ([np.zeros((8, 8)), np.zeros((8, 10))], {}, "another size"),
        ([np.ones((12, 12))] * 2, {"cfa": "XTRANS"}, "cannot be merged yet"),
        ([], {}, "0 mosaics"),
        ([np.ones((8, 8))] * 2, {"reference": 2}, "from 0 to 1"),
        ([np.ones((8, 8))] * 2, {"motion": "wild"}, "motion"),
        ([np.ones((8, 8))] * 2, {"ghosts": "wild"}, "ghosts"),
        ([np.ones((8, 8))] * 2, {"missing": [None]}, "sets of flags"),
    ],
)
def test_what_cannot_be_merged_is_refused(
    frames: list[Float64], options: dict[str, Any], reason: str
) -> None:
    with pytest.raises(InputError, match=reason):
        demosaic_burst(frames, **{"white": 1.0, "noise": _NOISE, **options})
