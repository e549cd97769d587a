"""Dust found in the infrared channel of made scans, whose dust is known."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import ndimage

from demosaic_ntc import find_dust_in_infrared
from demosaic_ntc.errors import InputError

SHAPE = (230, 310)
Flags = NDArray[np.bool_]


def dust() -> Flags:
    """Specks of 2 to 12 pixels across, and a hair."""
    y, x = np.mgrid[: SHAPE[0], : SHAPE[1]]
    flags = np.zeros(SHAPE, np.bool_)
    for row, column, radius in ((30, 40, 1), (60, 200, 3), (150, 90, 6), (2, 280, 2), (200, 250, 4)):
        flags |= (y - row) ** 2 + (x - column) ** 2 <= radius**2
    hair = (np.abs(y - 110 - 20 * np.sin(x / 30)) < 1) & (x > 120) & (x < 260)
    return np.asarray(flags | hair)


def scan(flags: Flags, dye: float = 0.04, noise: float = 0.01, opacity: float = 0.6) -> NDArray[np.uint16]:
    """An infrared channel: uneven light, a faint trace of the picture, noise, and dust."""
    y, x = np.mgrid[: SHAPE[0], : SHAPE[1]]
    light = 0.7 - 0.25 * ((y / SHAPE[0] - 0.5) ** 2 + (x / SHAPE[1] - 0.5) ** 2)
    picture = 1 - dye * ((x // 40 + y // 30) % 2)
    grains = 1 + noise * np.random.default_rng(5).normal(size=SHAPE)
    blocked = 1 - opacity * ndimage.gaussian_filter(flags.astype(np.float64), 0.6)
    return np.asarray(np.rint(65535 * light * picture * grains * blocked), np.uint16)


def test_dust_is_found_and_little_else() -> None:
    found = find_dust_in_infrared(scan(dust()))
    assert found[dust()].mean() > 0.99
    near = ndimage.binary_dilation(dust(), np.ones((3, 3)), iterations=4)
    assert not (found & ~near).any()


def test_a_clean_scan_has_none_even_with_a_trace_of_the_picture() -> None:
    none = np.zeros(SHAPE, np.bool_)
    for dye in (0.0, 0.04, 0.08):
        assert not find_dust_in_infrared(scan(none, dye)).any()
    assert not find_dust_in_infrared(scan(none, noise=0.04)).any()
    assert not find_dust_in_infrared(np.full((5, 7), 9, np.uint8)).any()


def test_thin_dust_is_found_where_noise_allows_it() -> None:
    thin = find_dust_in_infrared(scan(dust(), dye=0.0, opacity=0.25))
    assert thin[dust()].mean() > 0.8


def test_dust_is_found_with_its_faint_rim_and_two_pixels_around() -> None:
    channel = np.full(SHAPE, 0.8, np.float32)
    channel[98:106, 118:126] *= 0.93
    channel[100:104, 120:124] *= 0.5
    channel[40:48, 40:48] *= 0.93  # as faint as the rim, but no dust is near
    expected = np.zeros(SHAPE, np.bool_)
    expected[96:108, 116:128] = True
    np.testing.assert_array_equal(find_dust_in_infrared(channel), expected)


@pytest.mark.parametrize("kind", [np.uint8, np.float32])
def test_any_type_finds_the_same(kind: type) -> None:
    channel = scan(dust())
    expected = find_dust_in_infrared(channel)
    given = (channel // 257).astype(np.uint8) if kind is np.uint8 else (channel / 65535).astype(np.float32)
    assert (find_dust_in_infrared(given) != expected).mean() < 0.002


def test_a_film_holder_is_no_dust() -> None:
    channel = scan(dust())
    channel[:, :96] = 300
    found = find_dust_in_infrared(channel)
    assert not found[:, :48].any()
    assert found[dust() & (np.arange(SHAPE[1]) > 130)].mean() > 0.99


def test_silver_is_told_from_dust() -> None:
    checks = scan(np.zeros(SHAPE, np.bool_), dye=0.0)
    y, x = np.mgrid[: SHAPE[0], : SHAPE[1]]
    checks[(x // 9 + y // 9) % 3 == 0] //= 4
    with pytest.raises(InputError, match="black-and-white film"):
        find_dust_in_infrared(checks)


@pytest.mark.parametrize("channel", [np.zeros((3, 4, 5)), np.zeros((0, 4)), np.array([[np.nan, 1.0]])])
def test_what_is_no_channel_is_refused(channel: NDArray[np.float64]) -> None:
    with pytest.raises(InputError, match="infrared channel"):
        find_dust_in_infrared(channel)
