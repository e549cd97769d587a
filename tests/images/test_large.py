"""A 24-megapixel raw: memory stays bounded. What it costs in time is measured by `benchmark convert`."""

from pathlib import Path

import numpy as np
import pytest

from demosaic_ntc.cfa import Cfa
from demosaic_ntc.developing.settings import Engine
from evaluation.methods.programs import programs
from samples.dng import Camera, exposed, write_dng
from samples.make_samples import light_of, rounded
from samples.scene import scene


@pytest.fixture(scope="module")
def big(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A raw of 4000×6000."""
    cfa, target = Cfa.from_name("RGGB"), tmp_path_factory.mktemp("raw") / "big.dng"
    tile = exposed(light_of(rounded(scene(400, 600))), cfa, Camera())
    write_dng(target, np.tile(tile, (10, 10)), cfa, Camera())
    return target


@pytest.mark.slow
def test_24_megapixels_fit_in_little_memory(tmp_path: Path, small: Path, big: Path) -> None:
    (ours,) = programs(["demosaic-ntc"], Engine(quality="fast"), small)
    assert ours.run(big, tmp_path).peak_bytes < 1.2 * 2**30
