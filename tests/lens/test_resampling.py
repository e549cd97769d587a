"""Resampling against a plain sum over pixels, and its promises: one way for all windows, edges kept sharp."""

import numpy as np
import pytest

from demosaic_ntc.arrays import Float32, Float64
from demosaic_ntc.io.pixels import LazyImage
from demosaic_ntc.lens.resampling import FindSources, lanczos_weights, linear_weights, warp_picture
from demosaic_ntc.raw.opcodes.warps import Warp, WarpFisheye, WarpRectilinear

SIZE = (150, 290)
RECTILINEAR = WarpRectilinear(
    ((1.0, -0.1, 0.02, 0, 0.001, 0.002), (0.99, -0.1, 0.02, 0, 0.001, 0), (1.2, -0.1, 0, 0, 0, 0)),
    (0.5, 0.45),
)
FISHEYE = WarpFisheye(((0.9, 0.1, 0, 0), (0.91, 0.1, 0, 0), (0.92, 0.1, 0, 0)), (0.5, 0.5))


def _picture() -> Float32:
    y, x = np.mgrid[: SIZE[0], : SIZE[1]]
    waves = [0.5 + 0.4 * np.sin(x / (3 + k)) * np.cos(y / (4 + k)) for k in range(3)]
    return np.stack(waves, axis=2).astype(np.float32)


def _sources(warp: Warp) -> FindSources:
    def find(down: Float64, across: Float64, channel: int) -> tuple[Float64, Float64]:
        return warp.find_sources((down, across), SIZE, channel)

    return find


def _lanczos(distance: Float64) -> Float64:
    return np.asarray(np.where(np.abs(distance) < 5, np.sinc(distance) * np.sinc(distance / 5), 0))


def _linear(distance: Float64) -> Float64:
    return np.asarray(np.maximum(1 - np.abs(distance), 0), np.float64)


def _plain(picture: Float32, warp: Warp, filter_: object) -> Float64:
    """Every pixel from its own place, by a weighted sum over ten rows and columns around it."""
    result = np.empty(picture.shape)
    y, x = np.meshgrid(*(np.arange(side) + 0.5 for side in SIZE), indexing="ij")
    for channel in range(3):
        down, across = (place - 0.5 for place in warp.find_sources((y, x), SIZE, channel))
        total, weight = np.zeros(SIZE), np.zeros(SIZE)
        for p in range(-4, 6):
            for q in range(-4, 6):
                row, column = np.floor(down) + p, np.floor(across) + q
                share = filter_(row - down) * filter_(column - across)  # type: ignore[operator]
                rows, columns = (
                    np.clip(place, 0, side - 1).astype(int)
                    for place, side in zip((row, column), SIZE, strict=True)
                )
                total += share * picture[rows, columns, channel]
                weight += share
        result[..., channel] = total / weight
    return result


@pytest.mark.parametrize("warp", [RECTILINEAR, FISHEYE])
@pytest.mark.parametrize(("filter_", "weights"), [(_lanczos, lanczos_weights), (_linear, linear_weights)])
def test_pixels_are_weighted_sums_around_their_sources(warp: Warp, filter_: object, weights: object) -> None:
    picture = _picture()
    warped = np.asarray(warp_picture(picture, _sources(warp), weights()))  # type: ignore[operator]
    assert np.abs(warped - _plain(picture, warp, filter_)).max() < 2e-3
    assert np.abs(warped - picture).max() > 0.1


def test_what_is_not_moved_keeps_its_bits() -> None:
    picture = _picture()
    still = WarpRectilinear(((1.0, 0, 0, 0, 0, 0),), (0.5, 0.5))
    assert np.array_equal(np.asarray(warp_picture(picture, _sources(still), lanczos_weights())), picture)


def test_any_window_has_the_bits_of_the_whole_from_arrays_and_lazy_pictures() -> None:
    picture = _picture()
    lazy = LazyImage(SIZE, np.float32, lambda rows, columns: picture[rows, columns])
    whole = np.asarray(warp_picture(picture, _sources(RECTILINEAR), lanczos_weights()))
    warped = warp_picture(lazy, _sources(RECTILINEAR), lanczos_weights())
    for rows, columns in (
        (slice(0, 1), slice(0, 290)),
        (slice(63, 66), slice(250, 261)),
        (slice(149, 150), slice(1, 2)),
    ):
        assert np.array_equal(np.asarray(warped[rows, columns]), whole[rows, columns])


def test_an_even_picture_stays_even_beyond_its_borders() -> None:
    even = np.full((*SIZE, 3), 0.7, np.float32)
    outward = WarpRectilinear(((2.0, 0.5, 0, 0, 0, 0),), (0.5, 0.5))
    assert np.abs(np.asarray(warp_picture(even, _sources(outward), lanczos_weights())) - 0.7).max() < 1e-6


def test_deviations_stay_at_or_above_zero() -> None:
    spikes = np.zeros((*SIZE, 3), np.float32)
    spikes[::7, ::5] = 1
    warped = np.asarray(warp_picture(spikes, _sources(RECTILINEAR), linear_weights()))
    assert warped.min() >= 0
