"""Noise of pictures of which every entry was measured."""

import numpy as np
import pytest
from numpy.typing import NDArray

from demosaic_ntc.demosaicing.denoise import denoise_stored
from demosaic_ntc.demosaicing.measured_planes import CodedPlanes, PlaneSamples, extremes_of
from demosaic_ntc.errors import InputError
from demosaic_ntc.run import Run

SIGMA = 6 / 255
_STEP = 1 / 32000


def _samples(picture: NDArray[np.float64]) -> PlaneSamples:
    """Samples whose codes reach half of full scale below zero."""
    codes = np.rint((picture + 0.5) / _STEP).astype(np.uint16)
    table = (np.arange(65536) * _STEP - 0.5).astype(np.float32)
    return PlaneSamples(codes, (table,) * picture.shape[2])


def _picture(channels: int, height: int = 80, width: int = 96) -> NDArray[np.float64]:
    y, x = np.mgrid[:height, :width]
    shapes = [np.sin(x / (2.5 + k)) * np.cos(y / (4 + k)) for k in range(channels)]
    edge = np.where(x + y > 90, 0.15, -0.1)
    return np.stack([0.5 + 0.2 * shape + edge for shape in shapes], axis=2)


def _noisy(picture: NDArray[np.float64], sigma: float = SIGMA) -> NDArray[np.float64]:
    return picture + np.random.default_rng(3).normal(0, sigma, picture.shape)


def _error(planes: NDArray[np.float32], truth: NDArray[np.float64]) -> float:
    return float(np.sqrt(np.square(np.moveaxis(planes, 0, 2) - truth).mean()))


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("quality", ["fast", "normal", "best"])
def test_most_of_the_noise_is_removed(channels: int, quality: str) -> None:
    truth = _picture(channels)
    done = denoise_stored(_samples(_noisy(truth)), SIGMA, Run(), quality=quality)
    assert _error(done.planes[:, :, :], truth) < 0.62 * SIGMA
    assert done.certificate is not None
    assert done.certificate.certified == done.certificate.groups > 0


@pytest.mark.parametrize("channels", [1, 3])
def test_what_shows_nothing_but_noise_becomes_smooth(channels: int) -> None:
    truth = np.full((96, 96, channels), 0.4) + np.linspace(0, 0.1, 96)[:, None, None]
    done = denoise_stored(_samples(_noisy(truth)), np.full((channels, 1), SIGMA), Run(), quality="fast")
    assert _error(done.planes[:, 16:-16, 16:-16], truth[16:-16, 16:-16]) < 0.12 * SIGMA
    assert done.certificate is not None
    assert done.certificate.left > 0.8


def test_noise_is_removed_by_its_strength() -> None:
    truth = _picture(3)
    samples = _samples(_noisy(truth))
    weak, whole = (
        denoise_stored(samples, SIGMA, Run(), strength=strength).planes[:, :, :] for strength in (0.3, 1.0)
    )
    before = samples[:, :, :]
    assert 0 < np.abs(weak - before).mean() < 0.8 * np.abs(whole - before).mean()
    nothing = denoise_stored(samples, 0.0, Run()).planes[:, :, :]
    assert nothing == pytest.approx(before, abs=0.5 / 255)


def test_missing_pixels_are_restored_with_the_rest() -> None:
    truth = _picture(3)
    noisy, missing = _noisy(truth), np.zeros(truth.shape[:2], np.bool_)
    missing[20:70:9, 15:80:11] = True
    noisy[missing] += 0.3
    samples = _samples(noisy)
    done, kept = denoise_stored(samples, SIGMA, Run(), missing=missing), denoise_stored(samples, SIGMA, Run())
    there, as_they_are = (np.moveaxis(each.planes[:, :, :], 0, 2)[missing] for each in (done, kept))
    assert np.abs(there - truth[missing]).mean() < 0.5 * np.abs(as_they_are - truth[missing]).mean()


def test_errors_are_expected_about_as_large_as_they_are() -> None:
    truth = _picture(3)
    done = denoise_stored(_samples(_noisy(truth)), SIGMA, Run(want_error=True))
    expected = np.sqrt(done.variance.mean())
    assert 0.5 < expected / _error(done.planes[:, :, :], truth) < 2


def test_threads_change_nothing() -> None:
    samples = _samples(_noisy(_picture(3)))
    one, two = (denoise_stored(samples, SIGMA, Run(threads)).planes[:, :, :] for threads in (1, 2))
    assert np.array_equal(one, two)


def test_no_time_leaves_the_samples() -> None:
    samples = _samples(_noisy(_picture(3)))
    done = denoise_stored(samples, SIGMA, Run.start(time_limit=1e-9), quality="best")
    assert done.planes[:, :, :] == pytest.approx(samples[:, :, :], abs=1e-4)
    assert done.notices


def test_noise_must_fit() -> None:
    with pytest.raises(InputError, match="fits no picture of 3 channels"):
        denoise_stored(_samples(_picture(3)), np.ones((2, 4)), Run())


def test_planes_are_read_and_written_window_by_window() -> None:
    samples = _samples(_picture(3))
    assert samples.shape == (3, 80, 96)
    assert samples[:, 3:9, 5:11] == pytest.approx(np.moveaxis(_picture(3), 2, 0)[:, 3:9, 5:11], abs=_STEP)
    assert samples.whole() == pytest.approx(_picture(3), abs=_STEP)
    low, high = extremes_of(samples)
    assert low == pytest.approx(_picture(3).min(axis=(0, 1)), abs=_STEP)
    assert high == pytest.approx(_picture(3).max(axis=(0, 1)), abs=_STEP)
    picture = CodedPlanes.of(samples)
    assert picture[:, :, :] == pytest.approx(samples[:, :, :], abs=2e-5)
    picture[:, 2:4, 6:8] = np.full((3, 2, 2), 0.25, np.float32)
    assert picture[:, 2:4, 6:8] == pytest.approx(0.25, abs=2e-5)
    assert picture[:, 4:, :] == pytest.approx(samples[:, 4:, :], abs=2e-5)
