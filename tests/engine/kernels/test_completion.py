"""The completion of groups as a whole, beside the same steps in plain numpy."""

import numpy as np
import pytest

from demosaic_ntc.arrays import Float32, Float64, Offsets, Planes, Sums
from demosaic_ntc.engine.kernels.completion import LeastNorm, complete_groups
from demosaic_ntc.engine.kernels.face_mean import average_face, empty_draws
from demosaic_ntc.engine.kernels.group_pass import KernelImage, Pass
from demosaic_ntc.engine.kernels.least_norm import empty_tensor, find_least_norm
from demosaic_ntc.engine.kernels.products import LEAST_WEIGHT
from demosaic_ntc.engine.kernels.vertex_oracles import empty_search
from demosaic_ntc.engine.kernels.vertex_set import empty_vertex_set
from demosaic_ntc.engine.passes import completion
from tests.engine.kernels.drawn import patch_of, random_planes, said_in, shown_in

HEIGHT, WIDTH, AT = 16, 18, (2, 1)
OFFSETS: Offsets = np.array([[0, 0], [4, 0], [0, 5], [5, 5], [9, 0], [9, 6], [0, 10], [5, 11]], np.int8)
NORM = LeastNorm(1e-2, 1e-6, 1.05, 0.5, 100)
EXACT: Planes = np.zeros((0, 0, 0), np.float32)


def picture_of(seed: int, channels: int, noise: float = 0.0) -> KernelImage:
    """Draw a picture of which every pixel shows one channel, with measurements apart where they are noisy."""
    random = np.random.default_rng(seed)
    planes = random_planes(seed, (channels, HEIGHT, WIDTH))
    known = (1 << random.integers(0, channels, (HEIGHT, WIDTH))).astype(np.uint8)
    depth, levels = np.ones((HEIGHT, WIDTH), np.uint8), np.full((channels, 1), noise, np.float32)
    measured = planes + np.float32(0.05) * random_planes(seed + 1, planes.shape) if noise else EXACT
    return KernelImage(planes, known, depth, measured, levels)


def run(picture: KernelImage, size: int, norm: LeastNorm = NORM, groups: int = 1) -> tuple[Sums, Float32]:
    """Complete the same group so many times."""
    sums = np.zeros((1, len(picture.planes), HEIGHT, WIDTH), np.int64)
    bounds = np.tile(np.array([0, np.inf, 0], np.float32), (groups, 1))
    settings: Pass = completion(len(OFFSETS))
    references, found = np.array([AT] * groups), np.stack([OFFSETS] * groups)
    complete_groups(picture, references, found, size, settings, norm, 0, sums, bounds)
    return sums, bounds


def twin(picture: KernelImage, size: int, norm: LeastNorm) -> tuple[Float64, Float64, tuple[float, ...]]:
    """Return the completed patches, (channels, patches, pixels), the errors of channels, and the bounds."""
    places = [(AT[0] + int(dy), AT[1] + int(dx)) for dy, dx in OFFSETS]
    channels, patches = len(picture.planes), len(places)

    def tensor_of(planes: Planes) -> Float64:
        rows = np.stack([patch_of(planes, *place, size) for place in places])
        return rows.reshape(patches, channels, size * size).transpose(1, 0, 2)

    bits = np.stack(
        [patch_of(picture.known[None].astype(np.float32), *place, size) for place in places]
    ).astype(np.uint8)
    shown = shown_in(bits, channels).reshape(patches, channels, -1).transpose(1, 0, 2)
    estimate = tensor_of(picture.planes)
    seen = tensor_of(picture.measured) if picture.measured.size else estimate
    level = estimate.mean(axis=(1, 2), keepdims=True)
    gain = estimate.std(axis=(1, 2), keepdims=True) + 2 / 255
    bright, mixed = (estimate - level).mean(axis=0), 0.7 * (picture.noise[:, 0] + norm.floor).mean()
    spread = bright.var(axis=0, ddof=1)
    kept = np.maximum(spread - mixed, 0) / spread
    bright = bright.mean(axis=0) + kept * (bright - bright.mean(axis=0))
    base = norm.brightness * bright / (np.sqrt((bright**2).mean()) + 2 / 255)
    scaled = (seen - level) / gain - base
    shift = scaled[shown].min()
    value = np.where(shown, scaled - shift, 0)
    variance = (picture.noise[:, 0] + norm.floor)[:, None, None] / gain**2
    misfit = max(norm.misfit * (value**2).sum(), float((shown * variance).sum()))
    turned = size * size < patches
    axes = (0, 2, 1) if turned else (0, 1, 2)
    tensor = empty_tensor(*value.transpose(axes).shape)
    tensor.value[:] = value.transpose(axes)
    word = np.uint64(1) << np.arange(tensor.value.shape[2], dtype=np.uint64)
    tensor.mask[:] = (shown.transpose(axes) * word).sum(axis=2, dtype=np.uint64)
    active, whole = empty_vertex_set(norm.vertices + 1), np.empty_like(tensor.value)
    bounds = find_least_norm(tensor, misfit, norm.ratio, empty_search(*tensor.value.shape), active)
    average_face(tensor.mask, active, bounds.vertices, empty_draws(*tensor.value.shape), whole)
    full = whole.astype(np.float64).transpose(axes)
    left = np.where(shown, value - full, 0).sum(axis=(1, 2)) / shown.sum(axis=(1, 2))
    said = (full + shift + left[:, None, None] + base) * gain + level
    return said, 1e-3 * (bounds.upper * gain.ravel()) ** 2, tuple(bounds)


@pytest.mark.parametrize("size", [2, 3, 4])
@pytest.mark.parametrize("noise", [0.0, 4e-4])
def test_a_group_is_completed_as_in_plain_numpy(size: int, noise: float) -> None:
    picture = picture_of(5, 3, noise)
    sums, bounds = run(picture, size)
    expected, error, proven = twin(picture, size, NORM)
    assert bounds[0, :2] == pytest.approx(proven[:2], rel=3e-2)
    misses = []
    for k, (dy, dx) in enumerate(OFFSETS.astype(int)):
        here = np.s_[:, AT[0] + dy : AT[0] + dy + size, AT[1] + dx : AT[1] + dx + size]
        mass, value = said_in(sums[0][here])
        assert mass[:, 0, 0] == pytest.approx(np.maximum(1 / (error + 1e-5), LEAST_WEIGHT), rel=0.06, abs=1.5)
        said = (value / mass).reshape(3, -1)
        misses.append(np.abs(said - expected[:, k]))
    assert np.mean(misses) < 0.03  # rounding may lead to other vertices, as good ones
    assert np.median(misses) < 0.02


def test_estimates_at_entries_without_samples_say_nothing_but_levels() -> None:
    picture = picture_of(6, 3)
    plain = NORM._replace(brightness=0.0)
    expected, _, _ = twin(picture, 4, plain)
    shown = np.stack([(picture.known >> channel) & 1 for channel in range(3)]).astype(np.bool_)
    turned = np.where(shown, picture.planes, 1 - picture.planes)
    other, _, _ = twin(picture._replace(planes=turned.astype(np.float32)), 4, plain)
    assert np.abs(expected - other).mean() < 0.1 * np.abs(picture.planes - turned)[~shown].mean()


def test_groups_that_show_nothing_say_nothing() -> None:
    picture = picture_of(7, 3)
    picture.known[:] = 0
    sums, bounds = run(picture, 4)
    assert not sums.any()
    assert bounds.tolist() == [[0, np.inf, 0]]


def test_groups_add_up_and_do_not_depend_on_those_before_them() -> None:
    picture = picture_of(8, 3)
    (one, alone), (three, together) = run(picture, 3), run(picture, 3, groups=3)
    assert np.array_equal(three, 3 * one)
    assert np.array_equal(together, np.repeat(alone, 3, axis=0))


@pytest.mark.parametrize("channels", [1, 2, 4])
def test_any_number_of_channels_is_completed(channels: int) -> None:
    picture = picture_of(9, channels)
    picture.known[::3, ::2] = 0
    sums, bounds = run(picture, 3)
    assert sums.any()
    assert bounds[0, 1] <= 1.05 * bounds[0, 0]
