"""Samples left out and predicted by others: the kernel, what its sums amount to, and what shows."""

import numpy as np
import pytest

from demosaic_ntc import Restored, demosaic
from demosaic_ntc.arrays import Float32
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.engine.kernels.group_pass import KernelImage
from demosaic_ntc.engine.kernels.left_out import (
    LEAST_PATCHES,
    PRECISION_UNIT,
    RATIO_UNIT,
    SQUARE_UNIT,
    add_left_out,
)
from demosaic_ntc.engine.result import SampleCheck, notices_of
from tests.waves import waves

SIZE, PATCHES, SHARE, LEAST = 3, 60, 0.6, 1e-5
RGGB = Cfa.from_name("RGGB")


def _picture(noisy: bool) -> KernelImage:
    rng, shape = np.random.default_rng(4), (24, 26)
    planes = waves(3, *shape) + rng.normal(0, 0.01, (3, *shape)).astype(np.float32)
    known = np.left_shift(np.uint8(1), RGGB.channel_map(shape))
    known[::5, ::4] = 0
    measured = rng.random((1, *shape)).astype(np.float32) if noisy else np.zeros((0, 0, 0), np.float32)
    noise = np.array([[1e-4, 4e-4], [2e-4, 2e-4], [3e-4, 9e-4]], np.float32) * np.float32(noisy)
    return KernelImage(planes, known, np.ones(shape, np.uint8), measured, noise)


def _plain(picture: KernelImage, place: tuple[int, int], offsets: Float32) -> list[float]:
    """The sums of one group, as NumPy writes them."""
    corners = [(place[0] + int(y), place[1] + int(x)) for y, x in offsets]
    parts = [(slice(y, y + SIZE), slice(x, x + SIZE)) for y, x in corners]
    data = np.array([picture.planes[:, *part] for part in parts], np.float64)
    known = np.array([[(picture.known[part] >> c) & 1 for c in range(3)] for part in parts], np.bool_)
    seen = np.array([picture.measured[:1, *part] for part in parts]) if picture.measured.size else data
    seen = np.broadcast_to(seen, data.shape)
    levels = data.mean(axis=(0, 2, 3))
    noise = [SHARE * np.interp(level, [0, 1], picture.noise[c]) + LEAST for c, level in enumerate(levels)]
    sums = [0.0] * 13
    for entry in np.ndindex(data.shape[1:]):
        own, channel = (slice(None), *entry), entry[0]
        others = data[own][~known[own]]
        samples = seen[own][known[own]]
        if min(len(others), len(samples)) < LEAST_PATCHES:
            continue
        spread, far = others.var(ddof=1), samples.mean() - others.mean()
        expected = spread / len(others) + (spread + noise[channel]) / len(samples)
        added = [1, far**2 / expected, 1 / expected, np.square(samples - others.mean()).sum()]
        for number, term in enumerate(added):
            sums[number] += term
        for number, term in enumerate((len(samples), samples.sum(), np.square(samples).sum())):
            sums[4 + 3 * channel + number] += term
    return sums


@pytest.mark.parametrize("noisy", [False, True])
def test_the_kernel_adds_up_what_numpy_does(noisy: bool) -> None:
    picture, rng = _picture(noisy), np.random.default_rng(1)
    places = np.array([[9, 10], [12, 8]])
    found = rng.integers(-7, 8, (2, PATCHES, 2)).astype(np.int8)
    sums = np.zeros(13, np.int64)
    add_left_out(picture, places, found, SIZE, SHARE, LEAST, sums)
    plain = np.sum([_plain(picture, tuple(places[k]), found[k]) for k in range(2)], axis=0)
    units = np.array([1, RATIO_UNIT, PRECISION_UNIT, SQUARE_UNIT, *(1, SQUARE_UNIT, SQUARE_UNIT) * 3])
    assert sums[0] == plain[0] > 20
    assert sums / units == pytest.approx(plain, rel=2e-3)


def _restored(mosaic: Float32, cfa: str = "RGGB", threads: int = 1) -> Restored:
    return demosaic(mosaic, cfa, quality="fast", threads=threads, white=1.0)


@pytest.fixture(scope="module")
def colourful() -> Float32:
    """Waves in three colours that follow each other, red far above blue."""
    grey = waves(1, 160, 160)[0]
    return np.stack([0.3 + 0.6 * grey, 0.2 + 0.5 * grey, 0.05 + 0.2 * grey], axis=2).astype(np.float32)


def test_a_picture_is_predicted_as_expected(colourful: Float32) -> None:
    done = _restored(RGGB.sample(colourful))
    assert done.check is not None
    assert done.check.ratio < 1.4
    assert done.check.unexplained < 0.6
    assert done.check.ratio == pytest.approx(done.check.error / done.check.expected)
    assert not done.notices
    assert "predicted within" in done.check.facts["left-out samples"]


def test_a_wrong_array_shows(colourful: Float32) -> None:
    done = _restored(RGGB.sample(colourful), "GRBG")
    assert done.check is not None
    assert done.check.ratio > 1.5
    assert any("colour array may be wrong" in notice for notice in done.notices)


def test_random_numbers_show() -> None:
    done = _restored(np.random.default_rng(0).random((96, 96), np.float32))
    assert done.check is not None
    assert done.check.unexplained > 0.8
    assert 255 * done.check.error > 15
    assert any("hardly follow" in notice for notice in done.notices)


def test_threads_and_bands_change_nothing(colourful: Float32, monkeypatch: pytest.MonkeyPatch) -> None:
    mosaic = RGGB.sample(colourful)
    one = _restored(mosaic).check
    monkeypatch.setattr("demosaic_ntc.engine.groups._TILE", (8, 64))
    assert one == _restored(mosaic, threads=3).check is not None


def test_interpolations_and_few_samples_tell_nothing(colourful: Float32) -> None:
    mosaic = RGGB.sample(colourful)
    assert demosaic(mosaic, method="bilinear").check is None
    assert _restored(mosaic[:12, :12]).check is None
    assert SampleCheck.of([]) is None
    assert notices_of(None) == ()
