"""Entries of unequal worth against plain twins."""

import numpy as np

from demosaic_ntc.arrays import Bits, Offsets, Planes
from demosaic_ntc.engine.kernels.covariance import Gaussian, empty_gaussian
from demosaic_ntc.engine.kernels.gather import CLASS_SHIFT, PatchGroup, empty_group, gather
from demosaic_ntc.engine.kernels.gaussian import predict_by_gaussian
from demosaic_ntc.engine.kernels.weights import CLASSES, enforce_weighted_consistency, gather_weighted
from demosaic_ntc.jit.compiled import fast_kernel
from tests.engine.kernels.drawn import patch_of, random_planes

_OFFSETS = np.array([[0, 0], [1, 2], [2, 2], [-1, 3], [4, -2], [2, 0], [3, 3], [0, 1]], np.int8)
_SIZE, _ROW, _COLUMN, _LEAST = 3, 2, 3, 1e-4
_ENTRIES = 3 * _SIZE**2


@fast_kernel
def _gather(measured: Planes, offsets: Offsets, channels: int, least: float, group: PatchGroup) -> None:
    gather_weighted(measured, _ROW, _COLUMN, offsets, _SIZE, channels, least, group)


@fast_kernel
def _gather_plain(planes: Planes, known: Bits, offsets: Offsets, group: PatchGroup) -> None:
    gather(planes, known, _ROW, _COLUMN, offsets, _SIZE, group)


def _told(seed: int) -> tuple[Planes, Planes]:
    """An estimate, and information about it: a third of the entries have none."""
    planes, random = random_planes(seed, (3, 12, 14)), np.random.default_rng(seed)
    weights = random.uniform(100, 2000, planes.shape) * (random.random(planes.shape) < 0.7)
    weights[2, :, ::2] = 0.0  # blue is never measured there
    rests = 0.05 * random.normal(size=planes.shape)
    return planes, np.concatenate([weights * rests, weights]).astype(np.float32)


def _group(planes: Planes, measured: Planes) -> PatchGroup:
    count = len(_OFFSETS)
    group = empty_group(count, count, count, _SIZE**2, 3, True, CLASSES)
    _gather_plain(planes, np.zeros(planes.shape[1:], np.uint8), _OFFSETS, group)
    _gather(measured, _OFFSETS, 3, _LEAST, group)
    return group


def test_patches_of_a_parity_share_their_weights() -> None:
    planes, measured = _told(0)
    group, width = _group(planes, measured), empty_group(1, 1, 1, _SIZE**2, 3, False).data.shape[1]
    places = [(_ROW + dy, _COLUMN + dx) for dy, dx in _OFFSETS.tolist()]
    classes = np.array([2 * (row % 2) + column % 2 for row, column in places])
    data, information, weights = (
        np.array([patch_of(each, row, column, _SIZE) for row, column in places])
        for each in (planes, measured[:3], measured[3:])
    )
    shared = np.array(
        [
            weights[classes == own].mean(axis=0) if (classes == own).any() else weights[0] * 0
            for own in range(CLASSES)
        ]
    )
    for k, own in enumerate(classes):
        shown = shared[own] > 1e-3
        worth = np.maximum(shared[own], weights[k])
        expected = np.where(shown, data[k] + information[k] / np.where(shown, worth, 1), data[k])
        assert np.allclose(group.seen[k, :_ENTRIES], expected, atol=1e-5)
        bits = np.concatenate([(group.known[k] >> channel) & 1 for channel in range(3)])
        assert np.array_equal(bits, shown)
        assert (group.known[k] >> CLASS_SHIFT == own).all()
        noise = group.noise[own * width : own * width + _ENTRIES]
        assert np.allclose(noise[shown], 1 / shared[own][shown] + _LEAST, rtol=1e-4)
    assert not all((shared[own] > 1e-3).all() for own in classes)  # the case of nothing known was met


def test_each_class_is_predicted_with_its_own_variances() -> None:
    planes, measured = _told(1)
    group = _group(planes, measured)
    group.whole[:] = False
    count, width = len(_OFFSETS), group.data.shape[1]
    prior = np.eye(_ENTRIES, dtype=np.float32)
    model = empty_gaussian(count, count, prior, count)
    _predict(group, model)
    data = group.data[:, :_ENTRIES].astype(float)
    mean = data.mean(axis=0)
    spread = data - mean
    scale = np.square(spread).sum() / (count * _ENTRIES)
    covariance = (spread.T @ spread + 5 * scale * np.eye(_ENTRIES)) / (count + 5) + 1e-4 * np.eye(_ENTRIES)
    for k in range(count):
        shown = np.concatenate([(group.known[k] >> channel) & 1 for channel in range(3)]).astype(bool)
        own = int(group.known[k, 0]) >> CLASS_SHIFT
        noise = group.noise[own * width : own * width + _ENTRIES][shown]
        gain = covariance[:, shown] @ np.linalg.inv(covariance[np.ix_(shown, shown)] + np.diag(noise))
        expected = mean + gain @ (group.seen[k, :_ENTRIES][shown] - mean[shown])
        assert np.allclose(group.fit[k, :_ENTRIES], expected, atol=2e-3)


@fast_kernel
def _predict(group: PatchGroup, model: Gaussian) -> None:
    noise = np.full((3, 2), np.float32(np.nan))  # what weights tell stands: this would spoil everything
    predict_by_gaussian(group, model, 3, 5.0, 1e-4, noise, 1e-4, 0.0)


def test_estimates_are_moved_to_what_is_exact() -> None:
    before, measured = _told(2)
    planes, least = random_planes(3, before.shape), 1e-3
    wanted = np.random.default_rng(4).random(before.shape[1:]) < 0.7
    weight = measured[3:].astype(float)
    sample = before + measured[:3] / np.maximum(weight, 1e-9)
    share = 1 / (1 + least * weight)
    moved = np.where((weight > 1e-3) & wanted, sample + share * (planes - sample), planes)
    enforce_weighted_consistency(before, planes, wanted, measured, least)
    assert np.allclose(planes, moved, atol=1e-5)
