"""Guided group completion as a whole: exactness on simple pictures, seams, threads, quality floors."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from demosaic_ntc import demosaic
from demosaic_ntc.errors import BadMask
from demosaic_ntc.imaging.cfa import Cfa
from demosaic_ntc.imaging.groups import GroupRestoration, Patches, bands_of, reference_positions
from demosaic_ntc.imaging.guided import COMPLETION_PASS, PLANS, first_scene
from demosaic_ntc.imaging.restored import Progress

Floats = NDArray[np.float32]


def scene(height: int = 72, width: int = 80) -> Floats:
    """Draw a picture with fine grey texture, soft colours and edges, in [0, 1]."""
    y, x = np.mgrid[0:height, 0:width].astype(np.float64)
    texture = 0.5 + 0.2 * np.cos(0.015 * ((x - 40) ** 2 + (y - 30) ** 2))
    tints = np.stack([np.sin(x / 17 + phase) * np.cos(y / 23 - phase) for phase in (0.0, 1.0, 2.5)], axis=2)
    edges = (0.7 * x + y > 70)[..., None] * np.array([0.15, -0.1, 0.05])
    picture: Floats = np.clip(texture[..., None] + 0.12 * tints + edges, 0, 1).astype(np.float32)
    return picture


def psnr(image: Floats, truth: Floats, border: int = 4) -> float:
    inside = (slice(border, -border),) * 2
    return float(-10 * np.log10(np.mean((image[inside] - truth[inside]) ** 2)))


def quietly(_: Progress) -> None:
    return None


@pytest.mark.parametrize("quality", PLANS)
def test_a_constant_picture_comes_back(quality: str) -> None:
    truth = np.broadcast_to(np.array([0.2, 0.5, 0.7], np.float32), (24, 26, 3))
    restored = demosaic(Cfa.named("RGGB").sample(truth), quality=quality)
    np.testing.assert_allclose(restored.image, truth, atol=1e-4)


def test_a_grey_ramp_comes_back() -> None:
    ramp = np.linspace(0.1, 0.9, 40, dtype=np.float32)
    truth = np.broadcast_to(ramp[None, :, None], (32, 40, 3))
    restored = demosaic(Cfa.named("RGGB").sample(truth))
    np.testing.assert_allclose(restored.image[4:-4, 4:-4], truth[4:-4, 4:-4], atol=2e-3)


def test_a_colour_ramp_comes_back() -> None:
    ramp = np.linspace(0.1, 0.9, 40, dtype=np.float32)[None, :, None]
    truth = np.broadcast_to(ramp, (32, 40, 3)) * np.array([0.9, 0.7, 0.5], np.float32)
    restored = demosaic(Cfa.named("RGGB").sample(truth))
    np.testing.assert_allclose(restored.image[4:-4, 4:-4], truth[4:-4, 4:-4], atol=3e-3)


@pytest.mark.parametrize("cfa", ["RGGB", "GBRG", "XTRANS", "QUAD_RGGB"])
def test_measured_samples_are_kept(cfa: str) -> None:
    mosaic = (Cfa.named(cfa).sample(scene(30, 34)) * 4000).astype(np.uint16)
    image = demosaic(mosaic, cfa, quality="fast").image
    assert (Cfa.named(cfa).sample(image) == mosaic).all()


def test_the_four_phases_agree_up_to_the_shift() -> None:
    truth = scene(60, 64)
    whole = demosaic(Cfa.named("RGGB").sample(truth)).image
    for dy, dx in ((0, 1), (1, 0), (1, 1)):
        cfa = Cfa.named("RGGB").shifted(dy, dx)
        shifted = demosaic(cfa.sample(truth[dy:, dx:]), cfa).image
        assert abs(psnr(shifted, truth[dy:, dx:], 8) - psnr(whole, truth, 8)) < 1.0


@pytest.mark.parametrize(("cfa", "least"), [("RGGB", 8.0), ("XTRANS", 6.0), ("QUAD_RGGB", 3.0)])
def test_completion_beats_bilinear_by_far(cfa: str, least: float) -> None:
    truth = scene()
    mosaic = Cfa.named(cfa).sample(truth)
    gain = psnr(demosaic(mosaic, cfa).image, truth) - psnr(
        demosaic(mosaic, cfa, method="bilinear").image, truth
    )
    assert gain > least


def test_the_control_stops_at_the_mean_and_certifies_nothing() -> None:
    mosaic = Cfa.named("RGGB").sample(scene(40, 40))
    control, completed = demosaic(mosaic, method="group-mean"), demosaic(mosaic)
    assert control.certificate is None
    assert (control.image != completed.image).any()
    assert np.abs(control.image - completed.image).max() < 0.2


def test_completion_lowers_the_misfit_that_the_mean_leaves() -> None:
    truth = scene()
    mosaic = Cfa.named("RGGB").sample(truth)
    start = first_scene(mosaic, Cfa.named("RGGB"), PLANS["normal"], 1, quietly)
    groups = GroupRestoration(start, Patches(), 1)
    groups.match(start, lambda done, total: None)
    misfits = []
    for settings in (COMPLETION_PASS._replace(vertices=0), COMPLETION_PASS):
        planes, _ = groups.restored(start, settings, lambda done, total: None)
        misfits.append(np.mean((Cfa.named("RGGB").sample(np.moveaxis(planes, 0, 2)) - mosaic) ** 2))
    assert misfits[1] < 0.7 * misfits[0]


@pytest.mark.parametrize("shape", [(2, 2), (3, 5), (4, 4), (5, 31), (33, 7)])
def test_any_size_from_one_period_on_works(shape: tuple[int, int]) -> None:
    image = demosaic(Cfa.named("RGGB").sample(scene(*shape))).image
    assert image.shape == (*shape, 3)
    assert np.isfinite(image).all()


def test_every_group_has_a_proven_gap() -> None:
    certificate = demosaic(Cfa.named("RGGB").sample(scene())).certificate
    assert certificate is not None
    assert certificate.groups == len(reference_positions(72, Patches())) * len(
        reference_positions(80, Patches())
    )
    assert certificate.certified == certificate.groups
    assert 0 <= certificate.median_gap <= certificate.worst_gap < np.inf
    assert certificate.within_tolerance > 0


def test_results_do_not_depend_on_the_number_of_threads() -> None:
    mosaic = Cfa.named("RGGB").sample(scene(150, 60))
    assert (demosaic(mosaic, threads=1).image == demosaic(mosaic, threads=3).image).all()


def test_seams_between_bands_are_exact() -> None:
    mosaic = Cfa.named("RGGB").sample(scene(150, 48))
    start = first_scene(mosaic, Cfa.named("RGGB"), PLANS["normal"], 1, quietly)
    results = []
    for band_rows in (1, 60, 1000):
        groups = GroupRestoration(start, Patches(reach=6), 2, band_rows)
        groups.match(start, lambda done, total: None)
        results.append(groups.restored(start, COMPLETION_PASS, lambda done, total: None))
    assert len(bands_of(150, Patches(reach=6), 1)) > len(bands_of(150, Patches(reach=6), 60)) > 1
    for planes, gaps in results[1:]:
        assert (planes == results[0][0]).all()
        assert (gaps == results[0][1]).all()


def test_seams_between_tiles_are_exact() -> None:
    mosaic = Cfa.named("RGGB").sample(scene(150, 140))
    whole = first_scene(mosaic, Cfa.named("RGGB"), PLANS["normal"], 1, quietly)
    tiled = first_scene(mosaic, Cfa.named("RGGB"), PLANS["normal"], 1, quietly, side=40)
    for one, other in zip(whole, tiled, strict=True):
        np.testing.assert_array_equal(one, other)


def test_missing_samples_are_completed_whatever_stands_there() -> None:
    truth = scene()
    mosaic = Cfa.named("RGGB").sample(truth)
    missing = np.zeros(mosaic.shape, bool)
    missing[10:60:7, 12:70:9] = True
    dead, hot = np.where(missing, np.float32(0), mosaic), np.where(missing, np.float32(1), mosaic)
    restored = [demosaic(wrong, missing=missing, white=1.0).image for wrong in (dead, hot)]
    assert (restored[0] == restored[1]).all()
    error = np.abs(Cfa.named("RGGB").sample(restored[0]) - mosaic)
    nearest = sum(np.roll(mosaic, step, axis) for step in (-2, 2) for axis in (0, 1)) / 4
    assert error[missing].mean() < 0.65 * np.abs(nearest - mosaic)[missing].mean()
    assert error[~missing].max() == 0


def test_after_the_time_limit_groups_stop_at_their_means_uncertified() -> None:
    mosaic = Cfa.named("RGGB").sample(scene(40, 40))
    restored = demosaic(mosaic, time_limit=1e-9)
    assert restored.certificate is not None
    assert restored.certificate.certified == 0
    assert (restored.image == demosaic(mosaic, method="group-mean").image).all()


@pytest.mark.parametrize(
    ("missing", "words"),
    [
        (np.zeros((3, 3), bool), "booleans of the mosaic's shape"),
        (np.zeros((20, 20), int), "booleans of the mosaic's shape"),
        (np.ones((20, 20), bool), "every sample is missing"),
    ],
)
def test_bad_flags_of_missing_samples_are_refused(missing: NDArray[np.bool_], words: str) -> None:
    with pytest.raises(BadMask, match=words):
        demosaic(Cfa.named("RGGB").sample(scene(20, 20)), missing=missing)


def test_progress_names_every_stage_and_ends_complete() -> None:
    events: list[Progress] = []
    demosaic(Cfa.named("RGGB").sample(scene(40, 40)), progress=events.append)
    stages = list(dict.fromkeys(event.stage for event in events))
    assert stages == ["first estimate", "matching", "pass 1", "pass 2"]
    for stage in stages:
        last = [event for event in events if event.stage == stage][-1]
        assert last.done == last.total


@pytest.mark.parametrize("tensor", ["whole", "tiled"])
def test_plain_tensors_fit_the_samples_and_are_certified(tensor: str) -> None:
    truth = scene(24, 28)
    mosaic = Cfa.named("RGGB").sample(truth)
    restored = demosaic(mosaic, tensor=tensor)
    assert restored.certificate is not None
    assert restored.certificate.groups == 1
    assert (Cfa.named("RGGB").sample(restored.image) == mosaic).all()
    assert psnr(restored.image, truth) > 10


def test_plans_differ_in_effort_only_where_they_say() -> None:
    control = PLANS["normal"].without_completion
    assert [one.vertices for one in control.passes] == [0, 0]
    assert replace(control, passes=PLANS["normal"].passes) == PLANS["normal"]
