"""Noise that is stabilised, taken off, and brought back as grain; the light it belongs to stays."""

import numpy as np
import pytest
from numpy.typing import NDArray

from demosaic_ntc.cfa import Cfa
from demosaic_ntc.demosaicing.noise import NoiseModel
from demosaic_ntc.demosaicing.quantised_planes import MosaicSamples
from demosaic_ntc.developing.denoising import (
    AS_IT_IS,
    FOR_TEXTURE,
    Root,
    Stabilised,
    Strengths,
    add_grain,
    convert_to_srgb_curve,
    leave_hardly_seen,
    stabilise_noise,
    steepness_of_way,
    strengths_of,
)
from demosaic_ntc.developing.preprocess import Prepared, complete_mosaic
from demosaic_ntc.developing.render import encode_mosaic
from demosaic_ntc.developing.settings import Development, Engine
from demosaic_ntc.errors import InputError
from demosaic_ntc.io.colour import SRGB_CURVE
from demosaic_ntc.io.pixels import LazyImage
from demosaic_ntc.raw.levels import Exposure, expose
from demosaic_ntc.raw.photo import RawPhoto
from demosaic_ntc.run import Progress, Run

RGGB = Cfa.from_name("RGGB")
BLACK, WHITE = 1000.0, 16000.0
BALANCE = (2.0, 1.0, 1.5, 1.0)


def photo_of(light: NDArray[np.float64]) -> RawPhoto:
    """A sensor that saw this raw light, (height, width), black 0 and white 1."""
    samples = np.clip(np.rint(BLACK + light * (WHITE - BLACK)), 0, 65535).astype(np.uint16)
    channels = np.array([[0, 1], [3, 2]], np.uint8)
    return RawPhoto(samples, channels, np.full((1, 1), BLACK), WHITE, camera_balance=BALANCE)


def exposed(photo: RawPhoto) -> Exposure:
    return expose(photo, "camera", "metadata", keep_highlights=False)


def unheard(_: Progress) -> None:
    pass


@pytest.mark.parametrize("shift", [1e-4, 3e-3, 0.05])
def test_the_curve_goes_from_black_to_white_and_back_without_a_kink(shift: float) -> None:
    curve, light = Root(shift), np.linspace(-0.2, 1.2, 4001)
    code = curve.encode(light)
    assert curve.encode(np.array([0.0, 1.0])) == pytest.approx([0, 1], abs=1e-12)
    assert curve.decode(code) == pytest.approx(light, abs=1e-9)
    assert (np.diff(code) > 0).all()
    at = np.linspace(-0.1, 1.0, 1001)
    slope = (curve.encode(at + 1e-7) - curve.encode(at - 1e-7)) / 2e-7
    assert curve.steepness(at) == pytest.approx(slope, rel=1e-3)


def test_under_the_curve_noise_is_alike_at_every_level_and_as_told() -> None:
    noise = NoiseModel.from_user(2e-4, 1e-6)
    photo = photo_of(np.zeros((8, 8)))
    stabilised = Stabilised.of(noise, photo, exposed(photo))
    told, draw = stabilised.levels(), np.random.default_rng(0).normal(size=200_000)
    assert np.ptp(told[1]) < 0.3 * told[1].mean()
    for channel, gain in enumerate(BALANCE[:3]):
        for raw in (0.002, 0.05, 0.4):
            seen = gain * (raw + noise.deviation(raw, channel) * draw)
            code = stabilised.curve.encode(seen)
            level = stabilised.curve.encode(np.array([gain * raw]))[0]
            expected = np.interp(level, np.linspace(0, 1, told.shape[1]), told[channel])
            assert code.std() == pytest.approx(expected, rel=0.06)


@pytest.mark.parametrize("floor", [1e-7, 1e-5, 1e-4])
def test_the_way_back_keeps_the_mean_of_light_in_the_dark(floor: float) -> None:
    photo = photo_of(np.zeros((8, 8)))
    stabilised = Stabilised.of(NoiseModel.from_user(3e-4, floor), photo, exposed(photo))
    draw = np.random.default_rng(1).normal(size=400_000)
    for light in (0.0, 0.003, 0.02, 0.3):
        image = np.empty((1, 1, 3), np.float32)
        for channel in range(3):
            at = np.array([light])
            image[..., channel] = stabilised.curve.encode(
                light + stabilised.deviation(at, channel) * draw
            ).mean()
        image = convert_to_srgb_curve(stabilised, 1.0)(image)
        assert SRGB_CURVE.decode(image.astype(np.float64))[0, 0] == pytest.approx([light] * 3, abs=1e-4)


def test_what_was_not_averaged_goes_back_by_the_inverse_of_the_curve() -> None:
    photo = photo_of(np.zeros((8, 8)))
    stabilised = Stabilised.of(NoiseModel.from_user(3e-4, 1e-5), photo, exposed(photo))
    light = np.linspace(-0.02, 1.1, 300).reshape(10, 10, 3)
    image = stabilised.curve.encode(light).astype(np.float32)
    steep = steepness_of_way(image, stabilised)
    moved = image + np.float32(1e-3)
    back = convert_to_srgb_curve(stabilised, 0.0)
    image, moved = back(image), back(moved)
    assert image == pytest.approx(SRGB_CURVE.encode(light), abs=1e-4)
    bright = light > 0.01
    assert ((moved - image) / 1e-3)[bright] == pytest.approx(steep[bright], rel=0.05)


def dark_field(raw: float, sigma: float, seed: int) -> RawPhoto:
    draw = np.random.default_rng(seed).normal(raw, sigma, (96, 96))
    return photo_of(draw)


@pytest.mark.parametrize(("raw", "sigma"), [(0.0, 0.002), (0.002, 0.004), (0.01, 0.02)])
def test_a_dark_field_keeps_its_mean_and_shows_no_phase(raw: float, sigma: float) -> None:
    photo = dark_field(raw, sigma, 3)
    exposure = exposed(photo)
    noise = NoiseModel.from_user(1e-6, sigma**2)
    stabilised = stabilise_noise(noise, photo, exposure, always=True)
    assert stabilised is not None
    ready = Prepared(photo, exposure, encode_mosaic(photo, exposure, stabilised), None, None, Strengths())
    image = complete_mosaic(ready, Engine(threads=1), Run()).image
    light = SRGB_CURVE.decode(np.asarray(image, np.float64))
    samples = (photo.mosaic - BLACK) / (WHITE - BLACK)
    for channel in range(3):
        own = RGGB.channel_map(samples.shape) == channel
        mean = samples[own].mean() * BALANCE[channel]
        assert light[..., channel].mean() == pytest.approx(mean, abs=1e-3)
    # Grain, a part of the noise, is the same at red, green and blue sites.
    grain = [np.std(light[y::2, x::2, 1]) for y in (0, 1) for x in (0, 1)]
    assert max(grain) < 1.2 * min(grain)


def grained(
    image: NDArray[np.float32], samples: NDArray[np.float32], deviations: NDArray[np.float64]
) -> NDArray[np.float32]:
    """Give half of what was lost back, row by row."""
    later = LazyImage((len(image), image.shape[1]), np.float32, lambda rows, columns: image[rows, columns])
    given = add_grain(later, MosaicSamples(samples), RGGB, 0.5, deviations)
    return np.concatenate([np.asarray(given[row : row + 1]) for row in range(len(image))])


def test_grain_of_a_colour_that_is_noisier_than_said_is_that_of_green() -> None:
    image, random = np.full((192, 192, 3), 0.5, np.float32), np.random.default_rng(4)
    spread = np.array([0.013, 0.01, 0.008])[RGGB.channel_map((192, 192))]
    samples = (image[..., 0] + spread * random.normal(size=(192, 192))).astype(np.float32)
    image = grained(image, samples, np.full((3, 4), 0.01))
    grain = [image[y::2, x::2, 1].std() for y in (0, 1) for x in (0, 1)]
    assert grain == pytest.approx([0.005] * 4, rel=0.08)


def test_grain_is_grey_and_scaled_to_green() -> None:
    image = np.full((4, 6, 3), 0.5, np.float32)
    samples = image[..., 0] + np.where(RGGB.channel_map((4, 6)) == 0, 0.2, 0.1).astype(np.float32)
    image = grained(image, samples, np.array([[9, 0.02, 0.02], [9, 0.01, 0.01], [9, 0.01, 0.01]]))
    assert image == pytest.approx(np.full((4, 6, 3), 0.55), abs=1e-6)


def test_noise_that_hardly_shows_is_left_alone_unless_asked_for() -> None:
    photo = photo_of(np.full((8, 8), 0.2))
    faint, zero = NoiseModel.from_user(1e-8, 1e-9), NoiseModel.from_user(0, 0)
    assert stabilise_noise(faint, photo, exposed(photo), always=False) is None
    assert stabilise_noise(faint, photo, exposed(photo), always=True) is not None
    assert stabilise_noise(zero, photo, exposed(photo), always=True) is None


@pytest.mark.parametrize(
    ("how", "expected", "grain"),
    [
        (Development(), Strengths(1.0, 1.1), 1 / 11),
        (Development(denoise="texture"), FOR_TEXTURE, 0.25 / 0.95),
        (Development(denoise="texture", denoise_color=1.0), Strengths(0.7, 1.0), 0.3),
        (Development(denoise=0.5), Strengths(0.5, 0.55), 1 / 11),
        (Development(denoise=0.5, denoise_color=1.0), Strengths(0.5, 1.0), 0.5),
        (Development(denoise=2.0), Strengths(2.0, 2.2), 1 / 11),
        (Development(denoise=2.0, denoise_color=1.0), Strengths(2.0, 1.0), 0.0),
        (Development(denoise=0.0, denoise_color=1.0), Strengths(0.0, 1.0), 1.0),
        (Development(denoise=0.0), None, 0.0),
        (Development(denoise="off", denoise_color=1.0), None, 0.0),
    ],
)
def test_strengths(how: Development, expected: Strengths | None, grain: float) -> None:
    assert strengths_of(how.denoise, how.denoise_color) == expected
    if expected:
        assert expected.grain == pytest.approx(grain)
        assert expected.engine == pytest.approx(0.77 * max(expected.brightness, expected.colour))


@pytest.mark.parametrize(("levels", "left"), [(0.7, True), (0.95, True), (1.05, False)])
def test_fast_leaves_noise_below_a_level(levels: float, left: bool) -> None:
    photo = photo_of(np.zeros((8, 8)))
    one = Stabilised.of(NoiseModel.from_user(0.0, 1e-6), photo, exposed(photo)).display_deviation()
    floor = 1e-6 * (levels / 255 / one) ** 2
    stabilised = Stabilised.of(NoiseModel.from_user(0.0, floor), photo, exposed(photo))
    assert leave_hardly_seen(Strengths(), stabilised, "fast") == (AS_IT_IS if left else Strengths())
    assert leave_hardly_seen(Strengths(), stabilised, "normal") == Strengths()
    assert leave_hardly_seen(Strengths(), None, "fast") == Strengths()


def test_what_is_gone_of_the_noise() -> None:
    assert Strengths(0.5, 1.0).removed == pytest.approx(0.75)
    assert Strengths(1.0, 1.0).removed == 1.0
    assert AS_IT_IS.removed == 0.0


@pytest.mark.parametrize("strength", [-1.0, float("nan"), 11.0])
def test_impossible_strengths_are_refused(strength: float) -> None:
    with pytest.raises(InputError, match="not a denoising strength"):
        Development(denoise=strength)
    with pytest.raises(InputError, match="not a denoising strength"):
        Development(denoise_color=strength)
