"""A 24-megapixel raw: memory stays bounded, and everything around the engine is cheap."""

from pathlib import Path

import numpy as np
import pytest

from demosaic_ntc.files.settings import Engine
from demosaic_ntc.imaging.cfa import Cfa
from evaluation.whole_conversion import measure
from samples.dng import Camera, exposed, write_dng
from samples.make_samples import light_of, rounded
from samples.scene import scene


@pytest.mark.slow
def test_24_megapixels_fit_in_memory_and_cost_less_than_the_decoders_own_demosaicing(
    tmp_path: Path, small: Path
) -> None:
    cfa = Cfa.named("RGGB")
    tile = exposed(light_of(rounded(scene(400, 600))), cfa, Camera())
    write_dng(tmp_path / "big.dng", np.tile(tile, (10, 10)), cfa, Camera())
    cost = measure(tmp_path / "big.dng", small, tmp_path, Engine(method="bilinear"))
    assert cost.size == (4000, 6000)
    assert cost.peak_bytes < 2.5 * 2**30
    assert cost.ratio <= 1, "CPU seconds around the engine over those of AHD"
