"""A tile with its halo gives the same pixels, bit for bit, as the whole picture."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from demosaic_ntc.cfa import Cfa
from demosaic_ntc.demosaicing.interpolation import any_array, bayer, blend
from demosaic_ntc.demosaicing.interpolation.bilinear import bilinear, reach

Floats = NDArray[np.float32]
Method = Callable[[Floats, Cfa], Floats]

CASES = [
    (bayer.malvar2004, "RGGB", bayer.MALVAR_HALO),
    (bayer.zhang_wu2005, "GRBG", bayer.LMMSE_HALO),
    (bayer.kiku2014, "GBRG", bayer.MLRI_HALO),
    (bilinear, "XTRANS", reach(Cfa.from_name("XTRANS"))),
    (any_array.smooth_difference, "XTRANS", any_array.halo(Cfa.from_name("XTRANS"))),
    (any_array.interpolate_residuals, "QUAD_RGGB", any_array.halo(Cfa.from_name("QUAD_RGGB"))),
]


CORE = 12


def mosaic_and_tile(halo: int, cfa: Cfa) -> tuple[Floats, Floats, tuple[slice, slice], tuple[slice, slice]]:
    """Return a random mosaic, a crop of it in phase, and where the same core lies in each of them."""
    side = 2 * halo + 60
    mosaic = np.random.default_rng(halo).random((side, side + 3), dtype=np.float32)
    period = cfa.period[0]
    row, column, margin = 3 * period, 2 * period, -(-halo // period) * period
    tile = mosaic[row : row + 2 * margin + CORE, column : column + 2 * margin + CORE + 1]
    in_tile = np.s_[margin : margin + CORE, margin : margin + CORE]
    in_mosaic = np.s_[row + margin : row + margin + CORE, column + margin : column + margin + CORE]
    return mosaic, np.ascontiguousarray(tile), in_mosaic, in_tile


@pytest.mark.parametrize(("method", "array", "halo"), CASES)
def test_the_core_of_a_tile_equals_the_whole(method: Method, array: str, halo: int) -> None:
    cfa = Cfa.from_name(array)
    mosaic, tile, in_mosaic, in_tile = mosaic_and_tile(halo, cfa)
    assert np.array_equal(method(mosaic, cfa)[in_mosaic], method(tile, cfa)[in_tile])


@pytest.mark.parametrize("array", ["RGGB", "XTRANS"])
@pytest.mark.slow
def test_the_core_of_a_blended_tile_equals_the_whole_given_the_same_means(array: str) -> None:
    cfa = Cfa.from_name(array)
    mosaic, tile, in_mosaic, in_tile = mosaic_and_tile(blend.halo(cfa), cfa)
    whole = blend.weigh(blend.try_both(mosaic, cfa), 0.01, 0.02)
    core = blend.weigh(blend.try_both(tile, cfa), 0.01, 0.02)
    assert np.array_equal(whole.image[in_mosaic], core.image[in_tile])
    assert np.array_equal(whole.confidence[in_mosaic], core.confidence[in_tile])
