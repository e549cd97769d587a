from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from demosaic_ntc.cfa import Cfa
from demosaic_ntc.demosaicing.demosaic import FIRST_GUESSES, demosaic
from demosaic_ntc.engine.checks import full_scale
from demosaic_ntc.engine.pass_tables import PLANS
from demosaic_ntc.errors import BadMask, InputError, Unsupported
from demosaic_ntc.run import Progress

Floats = NDArray[np.float32]


@pytest.mark.parametrize("method", FIRST_GUESSES)
def test_the_picture_keeps_samples_and_scale_of_integers(method: Any, scene: Floats) -> None:
    mosaic = np.rint(Cfa.from_name("RGGB").sample(scene) * 4095).astype(np.uint16)
    result = demosaic(mosaic, method=method)
    assert result.image.dtype == np.float32
    assert result.certificate is None
    assert np.array_equal(Cfa.from_name("RGGB").sample(result.image), mosaic)
    assert np.abs(result.image / 4095 - scene).mean() < 0.04


@pytest.mark.parametrize("scale", [1, 255, 65535])
def test_the_scale_of_the_samples_scales_the_picture(scale: int, scene: Floats) -> None:
    mosaic = Cfa.from_name("GRBG").sample(scene)[:40, :50].astype(np.float64)
    unit = demosaic(mosaic, "GRBG", method="blend").image
    scaled = demosaic(mosaic * scale, "GRBG", method="blend", white=scale).image
    assert scaled == pytest.approx(unit * scale, abs=1e-5 * scale)


def test_threads_do_not_change_the_picture(scene: Floats) -> None:
    mosaic = Cfa.from_name("RGGB").sample(scene)
    one, two = (demosaic(mosaic, method="blend", threads=threads).image for threads in (1, 2))
    assert np.array_equal(one, two)


def test_progress_is_reported() -> None:
    events: list[Progress] = []
    demosaic(np.zeros((4, 4), np.uint8), method="bilinear", progress=events.append)
    assert events == [Progress("bilinear", 1, 1)]


@pytest.mark.parametrize(
    ("largest", "dtype", "white"),
    [
        (200, "uint8", 255),
        (256, "uint16", 511),
        (16383, "uint16", 16383),
        (0, "uint16", 255),
        (1.0, "f4", 1),
        (3, "f4", 255),
    ],
)
def test_white_is_the_full_scale_of_the_bits_in_use(largest: float, dtype: str, white: float) -> None:
    assert full_scale(np.array([[0, largest]], dtype=dtype)) == white


BLACK = np.zeros((6, 6), np.float32)


@pytest.mark.parametrize(
    ("mosaic", "options", "complaint"),
    [
        (np.zeros((4, 4, 3)), {}, "two dimensions, not 3"),
        (np.zeros((1, 4)), {}, "smaller than one 2×2 period"),
        (np.zeros((0, 0)), {}, "smaller than one 2×2 period"),
        (BLACK, {"cfa": "RGBX"}, "unknown colour array 'RGBX'"),
        (BLACK, {"cfa": "RG/GR"}, "never shows B"),
        (np.full((4, 4), np.nan), {}, "NaN or infinite"),
        (np.full((4, 4), np.inf), {}, "NaN or infinite"),
        (np.full((4, 4), -1), {}, "negative samples"),
        (np.full((4, 4), True), {}, "not numbers"),
        (np.full((4, 4), 1j), {}, "not numbers"),
        (BLACK, {"method": "magic"}, "unknown method 'magic'"),
        (BLACK, {"quality": "good"}, "unknown quality 'good'"),
        (BLACK, {"threads": 0}, "0 threads"),
        (BLACK, {"white": 0.0}, "white level"),
    ],
)
def test_bad_input_is_refused_with_one_clear_error(
    mosaic: NDArray[Any], options: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(InputError, match=complaint):
        demosaic(mosaic, **{"method": "bilinear", **options})


def test_a_bayer_method_on_another_array_is_unsupported() -> None:
    with pytest.raises(Unsupported, match="lmmse is defined on Bayer arrays, not on XTRANS"):
        demosaic(BLACK, "XTRANS", method="lmmse")


@pytest.mark.parametrize("quality", PLANS)
def test_a_constant_picture_comes_back(quality: Any) -> None:
    truth = np.broadcast_to(np.array([0.2, 0.5, 0.7], np.float32), (24, 26, 3))
    restored = demosaic(Cfa.from_name("RGGB").sample(truth), quality=quality)
    np.testing.assert_allclose(restored.image, truth, atol=1e-4)


@pytest.mark.parametrize("tint", [(1.0, 1.0, 1.0), (0.9, 0.7, 0.5)])
def test_a_ramp_comes_back(tint: tuple[float, float, float]) -> None:
    ramp = np.linspace(0.1, 0.9, 40, dtype=np.float32)[None, :, None]
    truth = np.broadcast_to(ramp, (32, 40, 3)) * np.array(tint, np.float32)
    restored = demosaic(Cfa.from_name("RGGB").sample(truth), white=1.0)
    np.testing.assert_allclose(restored.image[4:-4, 4:-4], truth[4:-4, 4:-4], atol=3e-3)


@pytest.mark.parametrize("cfa", ["RGGB", "GBRG", "XTRANS", "QUAD_RGGB"])
def test_measured_samples_are_kept(cfa: str, scene: Floats) -> None:
    mosaic = (Cfa.from_name(cfa).sample(scene[:30, :34]) * 4000).astype(np.uint16)
    image = demosaic(mosaic, cfa, quality="fast").image
    assert (Cfa.from_name(cfa).sample(image) == mosaic).all()


def test_nothing_restored_leaves_the_range_of_its_channel() -> None:
    stripes = (np.indices((40, 44)).sum(axis=0) % 5 < 2)[..., None] * np.array([0.8, 0.6, 0.4]) + 0.1
    mosaic = Cfa.from_name("RGGB").sample(stripes.astype(np.float32))
    image = demosaic(mosaic, white=1.0).image
    for channel, measured in enumerate(np.moveaxis(Cfa.from_name("RGGB").masks(mosaic.shape), 2, 0)):
        assert image[..., channel].min() >= mosaic[measured].min() - 1e-5  # half a step of what is stored
        assert image[..., channel].max() <= mosaic[measured].max() + 1e-5


@pytest.mark.parametrize("shape", [(2, 2), (3, 5), (4, 4), (5, 31), (33, 7)])
def test_any_size_from_one_period_on_works(shape: tuple[int, int], scene: Floats) -> None:
    restored = demosaic(Cfa.from_name("RGGB").sample(scene[: shape[0], : shape[1]]), error=True)
    assert restored.image.shape == (*shape, 3)
    assert np.isfinite(restored.image).all()
    assert restored.error is not None
    assert np.isfinite(restored.error).all()


@pytest.mark.parametrize("array", ["RGGB", "XTRANS"])
def test_completed_groups_have_a_norm_known_within_a_tenth(array: str, scene: Floats) -> None:
    truth = scene[:48, :56]
    mosaic = Cfa.from_name(array).sample(truth)
    done = demosaic(mosaic, array, method="ntc", white=1.0)
    assert done.certificate is not None
    assert done.certificate.groups >= done.certificate.completed >= 12 * 14
    assert done.certificate.share > 0.95
    assert 1 <= done.certificate.median_ratio < 1.1
    assert done.certificate.vertices > 2
    plain = demosaic(mosaic, array, method="bilinear", white=1.0)
    ours, theirs = (np.square(each.image - truth).mean() for each in (done, plain))
    assert ours < 0.6 * theirs
    assert (Cfa.from_name(array).sample(done.image) == mosaic).all()


def test_random_numbers_need_far_larger_norms_than_pictures(scene: Floats) -> None:
    noise = np.random.default_rng(0).random((40, 40, 3)).astype(np.float32)
    vertices = [
        demosaic(Cfa.from_name("RGGB").sample(picture), method="ntc", white=1.0).certificate
        for picture in (scene[:40, :40], noise)
    ]
    assert vertices[0] is not None
    assert vertices[1] is not None
    assert vertices[1].vertices > 1.2 * vertices[0].vertices


def test_only_completion_is_certified(scene: Floats) -> None:
    mosaic = Cfa.from_name("RGGB").sample(scene[:40, :40])
    assert demosaic(mosaic).certificate is None
    assert demosaic(mosaic, method="blend").certificate is None


def test_an_old_name_is_told_the_new_one() -> None:
    old: Any = "predict-only"
    with pytest.raises(InputError, match="predict-only is now called gaussian"):
        demosaic(np.ones((8, 8), np.uint8), method=old)


@pytest.mark.parametrize("array", ["RGGB", "XTRANS"])
@pytest.mark.parametrize("method", ["gaussian", "ntc"])
def test_groups_do_not_depend_on_the_number_of_threads(array: str, method: Any, scene: Floats) -> None:
    mosaic = Cfa.from_name(array).sample(np.tile(scene[:, :40], (2, 1, 1)))
    how: Any = {"method": method, "quality": "fast", "error": True}
    one, two, four = (demosaic(mosaic, array, threads=number, **how) for number in (1, 2, 4))
    for other in (two, four):
        assert np.array_equal(one.image, other.image)
        assert one.error is not None
        assert other.error is not None
        assert np.array_equal(one.error, other.error)
        assert one.certificate == other.certificate


@pytest.mark.parametrize("method", ["gaussian", "ntc"])
def test_missing_samples_are_completed_whatever_stands_there(method: Any, scene: Floats) -> None:
    mosaic = Cfa.from_name("RGGB").sample(scene[:72, :80])
    missing = np.zeros(mosaic.shape, bool)
    missing[10:60:7, 12:70:9] = True
    dead, hot = np.where(missing, np.float32(0), mosaic), np.where(missing, np.float32(1), mosaic)
    restored = [demosaic(wrong, method=method, missing=missing, white=1.0).image for wrong in (dead, hot)]
    assert (restored[0] == restored[1]).all()
    error = np.abs(Cfa.from_name("RGGB").sample(restored[0]) - mosaic)
    nearest = sum(np.roll(mosaic, step, axis) for step in (-2, 2) for axis in (0, 1)) / 4
    assert error[missing].mean() < 0.65 * np.abs(nearest - mosaic)[missing].mean()
    assert error[~missing].max() == 0


def test_after_the_time_limit_a_plain_estimate_stands_uncertified(scene: Floats) -> None:
    mosaic = Cfa.from_name("RGGB").sample(scene[:40, :40])
    restored = demosaic(mosaic, method="ntc", time_limit=1e-9)
    assert restored.certificate is not None
    assert restored.certificate.groups > 0
    assert restored.certificate.completed == 0
    plain = demosaic(mosaic, method="bilinear").image
    assert restored.image == pytest.approx(np.clip(plain, *_bounds(mosaic)), abs=1e-4)


def _bounds(mosaic: Floats) -> tuple[Floats, Floats]:
    """Return the least and the largest sample of every channel."""
    channels = [mosaic[measured] for measured in np.moveaxis(Cfa.from_name("RGGB").masks(mosaic.shape), 2, 0)]
    return np.array([part.min() for part in channels]), np.array([part.max() for part in channels])


@pytest.mark.parametrize(
    ("missing", "words"),
    [
        (np.zeros((3, 3), bool), "booleans, or 0 and 255, of the mosaic's shape"),
        (np.zeros((20, 20), int), "booleans, or 0 and 255, of the mosaic's shape"),
        (np.ones((20, 20), bool), "every sample is missing"),
    ],
)
def test_bad_flags_of_missing_samples_are_refused(missing: NDArray[np.bool_], words: str) -> None:
    with pytest.raises(BadMask, match=words):
        demosaic(np.zeros((20, 20), np.float32), missing=missing)


@pytest.mark.parametrize("method", ["ntc-whole", "ntc-tiled"])
def test_single_tensors_fit_the_samples_with_a_bounded_norm(method: Any, scene: Floats) -> None:
    mosaic = Cfa.from_name("RGGB").sample(scene[:24, :28])
    restored = demosaic(mosaic, method=method)
    assert restored.certificate is not None
    assert restored.certificate.groups == restored.certificate.completed == 1
    assert 1 <= restored.certificate.median_ratio < 50  # by a heuristic oracle little is proven
    assert (Cfa.from_name("RGGB").sample(restored.image) == mosaic).all()
    assert np.abs(restored.image - scene[:24, :28]).mean() < 0.3


@pytest.mark.parametrize("cfa", ["RGGB", "XTRANS"])
def test_noise_that_is_told_is_taken_off(cfa: str, scene: Floats) -> None:
    truth, sigma = scene[:96, :96], 10 / 255
    mosaic = Cfa.from_name(cfa).sample(truth)
    mosaic = mosaic + np.random.default_rng(1).normal(0, sigma, mosaic.shape).astype(np.float32)
    errors = [
        np.square(demosaic(mosaic - low, cfa, noise=noise, white=1).image + low - truth).mean()
        for noise, low in ((None, mosaic.min()), (sigma, 0), ([sigma] * 3, 0), (np.full((3, 4), sigma), 0))
    ]
    assert errors[1] < 0.5 * errors[0]
    assert errors[2:] == [errors[1]] * 2


def test_noise_that_vanishes_brings_the_exact_picture_back(scene: Floats) -> None:
    mosaic = Cfa.from_name("RGGB").sample(scene)[:64, :64]
    exact, nearly = demosaic(mosaic).image, demosaic(mosaic, noise=1e-6).image
    assert nearly == pytest.approx(exact, abs=2e-4)


def test_noise_leaves_missing_samples_to_be_restored_and_threads_without_a_say(scene: Floats) -> None:
    mosaic = Cfa.from_name("RGGB").sample(scene)[:80, :80].copy()
    missing = np.zeros(mosaic.shape, np.bool_)
    missing[20:60:7, 21:60:5] = True
    mosaic[missing] = 1.0
    one, two = (demosaic(mosaic, missing=missing, noise=0.02, threads=n, error=True) for n in (1, 2))
    assert np.array_equal(one.image, two.image)
    assert np.abs(one.image - scene[:80, :80])[missing].max() < 0.5
    assert one.error is not None
    assert (one.error > 0).all()


@pytest.mark.parametrize("noise", [-1.0, np.nan, [1.0, 2.0], np.zeros((3, 2, 2)), []])
def test_noise_that_cannot_be_is_refused(noise: Any) -> None:
    with pytest.raises(InputError, match="noise"):
        demosaic(np.zeros((16, 16), np.float32), noise=noise)


def test_noise_may_lift_samples_above_white() -> None:
    assert full_scale(np.array([0.0, 1.05]), 0.02) == 1.0
    assert full_scale(np.array([0.0, 1.05])) == 255.0


def test_a_colour_that_is_measured_once_is_denoised_without_dividing_by_nothing() -> None:
    cell = np.random.default_rng(0).random((2, 2)).astype(np.float32)
    assert np.isfinite(demosaic(cell, "RGGB", quality="fast", noise=0.05).image).all()
