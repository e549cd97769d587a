"""What is filled in noisy pictures gets their grain: as strong, as coarse and as coloured."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import ndimage

from demosaic_ntc.inpainting.grain import measure_noise, measure_strength
from demosaic_ntc.inpainting.grain_fill import _make_noise, _truncated_means, _white_noise, find_grain
from demosaic_ntc.inpainting.inpaint import inpaint
from demosaic_ntc.inpainting.inpaint_parts import inpaint_parts
from demosaic_ntc.inpainting.scaling import Scale, planes_of

SIZE = (260, 300)
EIGHT_BITS = Scale(0.0, 255.0, 255.0)
Image = NDArray[Any]


def scene() -> Image:
    """A soft ramp in three colours."""
    y, x = np.mgrid[0 : SIZE[0], 0 : SIZE[1]]
    return np.stack([60 + x / 3, 80 + y / 4, 120 + 30 * np.sin(x / 60)], axis=2)


def white(rng: np.random.Generator) -> Image:
    """Noise as of a sensor: every entry by itself."""
    return 8 * rng.standard_normal((*SIZE, 3))


def film(rng: np.random.Generator) -> Image:
    """Coarse noise, mostly the same in all colours."""
    own, common = (ndimage.gaussian_filter(rng.standard_normal((*SIZE, n)), (1.2, 1.2, 0)) for n in (3, 1))
    mixed = own + 1.5 * common
    return np.asarray(8 * mixed / mixed.std())


def rounded(values: Image) -> NDArray[np.uint8]:
    return np.clip(np.rint(values), 0, 255).astype(np.uint8)


def spots() -> NDArray[np.bool_]:
    """Discs as of dust, a wide one and scratches."""
    y, x = np.mgrid[0 : SIZE[0], 0 : SIZE[1]]
    places = [(50, 60, 12), (60, 200, 20), (190, 70, 14), (200, 220, 9), (130, 150, 17)]
    flags = np.logical_or.reduce([(y - row) ** 2 + (x - column) ** 2 < r * r for row, column, r in places])
    return np.asarray(flags | (abs(x - 20) < 2) | (abs(y - 250) < 2))


def residual(image: Image) -> Image:
    return np.asarray(image - scene())


def correlations(noise: Image, where: NDArray[np.bool_]) -> Image:
    """Of a pixel with that to the right, two to the right and below, and of red with green."""
    red, green = noise[..., 0], noise[..., 1]
    inner = where & np.roll(where, (-1, -1), (0, 1)) & np.roll(where, -2, 1)
    pairs = [(red, np.roll(red, -1, 1)), (red, np.roll(red, -2, 1)), (red, np.roll(red, -1, 0)), (red, green)]
    return np.array([np.corrcoef(one[inner], other[inner])[0, 1] for one, other in pairs])


@pytest.mark.parametrize("noise", [white, film])
def test_grain_is_as_strong_coarse_and_coloured_as_the_noise_around(noise: Any) -> None:
    image, holes = rounded(scene() + noise(np.random.default_rng(1))), spots()
    smooth, grainy = (inpaint(image, holes, quality="fast", grain=how).image for how in ("off", "auto"))
    around, inside = residual(image)[~holes].std(axis=0), residual(grainy)[holes].std(axis=0)
    assert (residual(smooth)[holes].std(axis=0) < 0.7 * around).all()
    np.testing.assert_allclose(inside, around, rtol=0.2)
    deep = ndimage.binary_erosion(holes, iterations=2)
    wanted, made = correlations(residual(image), ~holes), correlations(residual(grainy), deep)
    np.testing.assert_allclose(made, wanted, atol=0.2)
    np.testing.assert_array_equal(grainy[~holes], image[~holes])


def test_scratches_get_what_they_lack() -> None:
    image, holes = rounded(scene() + white(np.random.default_rng(2))), np.zeros(SIZE, np.bool_)
    holes[:, 20:280:20] = holes[:, 21:280:20] = True
    made = inpaint(image, holes, quality="fast", grain="auto").image
    np.testing.assert_allclose(residual(made)[holes].std(), residual(image)[~holes].std(), rtol=0.2)


def test_grain_follows_the_level() -> None:
    """Noise that grows from left to right does so in holes."""
    x = np.arange(SIZE[1]) / SIZE[1]
    image = 40 + 170 * x + (4.5 + 6 * x) * np.random.default_rng(3).standard_normal(SIZE)
    holes = np.zeros(SIZE, np.bool_)
    holes[40:60, 10:290] = holes[200:220, 10:290] = True
    made = inpaint(rounded(image), holes, quality="fast", grain="auto").image - (40 + 170 * x)
    for columns in (slice(30, 90), slice(210, 270)):
        inside, known = (made[:, columns][flags[:, columns]].std() for flags in (holes, ~holes))
        assert inside == pytest.approx(known, rel=0.2)


def test_clean_pictures_keep_their_bytes() -> None:
    holes, (y, x) = spots(), np.mgrid[0 : SIZE[0], 0 : SIZE[1]]
    checks = 60.0 + 120 * ((x // 9 + y // 9) % 2)
    waves = 120 + 50 * np.sin(x / 3) * np.cos(y / 5)
    faint = scene() + 0.8 * np.random.default_rng(4).standard_normal((*SIZE, 3))
    for clean in (scene(), checks, waves, faint, np.full(SIZE, 130.0)):
        smooth, auto = (inpaint(rounded(clean), holes, quality="fast", grain=how) for how in ("off", "auto"))
        np.testing.assert_array_equal(auto.image, smooth.image)
        assert auto.notices == smooth.notices


def test_clipped_light_gets_no_grain() -> None:
    image = np.full(SIZE, 255.0)
    image[:, :200] = scene()[:, :200, 0] + white(np.random.default_rng(5))[:, :200, 0]
    holes = np.zeros(SIZE, np.bool_)
    holes[100:116, 240:256] = holes[100:116, 60:76] = True
    made = inpaint(rounded(image), holes, quality="fast", grain="auto").image
    assert (made[100:116, 240:256] == 255).all()
    assert made[100:116, 60:76].std() > 5


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
@pytest.mark.parametrize("channels", [1, 3])
def test_parts_threads_and_types_agree(dtype: type, channels: int) -> None:
    image = (scene() + film(np.random.default_rng(6)))[..., :channels]
    scaled = np.clip(image / 255, 0, 1) * (1 if dtype is np.float32 else np.iinfo(dtype).max)
    picture: Image = np.squeeze(scaled.astype(dtype))
    holes = spots()
    whole = inpaint(picture, holes, quality="fast", grain="auto", threads=2, error=True)
    alone = inpaint(picture, holes, quality="fast", grain="auto", threads=1)
    np.testing.assert_array_equal(whole.image, alone.image)
    made = picture.copy()
    for part in inpaint_parts(picture, holes, holes, quality="fast", grain="auto"):
        made[part.rows, part.columns] = part.image
    np.testing.assert_array_equal(made, whole.image)
    assert "grain" in whole.notices[0]
    off = inpaint(picture, holes, quality="fast", error=True)
    assert not np.array_equal(off.image, whole.image)
    assert off.error is not None
    assert whole.error is not None
    assert (whole.error[holes] >= off.error[holes]).all()
    assert whole.error[holes].mean() > 1.1 * off.error[holes].mean()


def test_a_smooth_part_of_a_noisy_picture_stays_smooth() -> None:
    """Where a picture was made smooth before, the noise of the rest does not belong."""
    image = scene() + white(np.random.default_rng(7))
    image[:, 160:] = scene()[:, 160:]
    profile = measure_noise(planes_of(rounded(image)), np.zeros(SIZE, np.bool_), EIGHT_BITS)
    if profile is not None:
        planes = (planes_of(image[:, 170:]) / 255).astype(np.float32)
        assert measure_strength(profile, planes, np.ones(planes.shape[1:], np.bool_)) < 0.2


def test_numbers_of_white_noise_are_hashes_of_their_places() -> None:
    def plain(row: int, column: int, channel: int) -> float:
        full = 2**64 - 1
        bits = ((row << 32) & full ^ (column & 0xFFFFFFFF)) + (channel + 1) * 0x9E3779B97F4A7C15 & full
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            bits = (bits ^ (bits >> shift)) * factor & full
        bits ^= bits >> 31
        total = sum(bits >> shift & 0xFFFF for shift in (0, 16, 32, 48))
        return float((total - 2 * 0xFFFF) / np.sqrt((2**32 - 1) / 3))

    made = _white_noise((-2, 5), (4, 3), 2)
    wanted = [[[plain(row, column, c) for column in range(5, 8)] for row in range(-2, 2)] for c in range(2)]
    np.testing.assert_allclose(made, wanted, rtol=1e-12)
    many = _white_noise((0, 0), (300, 300), 1)
    assert abs(many.mean()) < 0.02
    assert abs(many.std() - 1) < 0.02


def test_grain_is_the_same_wherever_a_picture_is_cut_and_has_variance_one() -> None:
    image = rounded(scene() + film(np.random.default_rng(8)))
    grain = find_grain(planes_of(image), np.zeros((3, *SIZE), np.bool_), EIGHT_BITS)
    assert grain is not None
    whole = _make_noise(grain, (slice(0, 200), slice(0, 180)))
    np.testing.assert_allclose(whole.std(axis=(1, 2)), 1, rtol=0.1)
    part = _make_noise(grain.at(slice(50, 90), slice(30, 70)), (slice(10, 30), slice(0, 40)))
    np.testing.assert_allclose(part, whole[:, 60:80, 30:70], atol=1e-9)


def test_means_of_truncated_squares_are_those_of_samples() -> None:
    shares, means = _truncated_means()
    samples = np.random.default_rng(9).standard_normal(200_000)
    for share, mean in list(zip(shares, means, strict=True))[::16]:
        assert np.minimum(share * samples**2, 1).mean() == pytest.approx(mean, abs=5e-3)
