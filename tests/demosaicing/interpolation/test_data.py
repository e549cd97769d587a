"""Floors on two crops of the classic test sets, in dB of colour PSNR at 8 bits."""

import os
from pathlib import Path
from typing import Any

import imageio.v3 as imageio
import numpy as np
import pytest

from demosaic_ntc.cfa import Cfa
from demosaic_ntc.demosaicing.demosaic import demosaic

DATA = os.environ.get("DEMOSAIC_NTC_DATA")


@pytest.mark.data
@pytest.mark.skipif(DATA is None, reason="set DEMOSAIC_NTC_DATA to the folder with kodak/ and mcmaster/")
@pytest.mark.parametrize(
    ("file", "array", "method", "floor"),
    [
        ("kodak/kodim19.png", "RGGB", "lmmse", 39.4),
        ("kodak/kodim19.png", "RGGB", "mlri", 38.4),
        ("kodak/kodim19.png", "RGGB", "blend", 39.9),
        ("kodak/kodim19.png", "XTRANS", "blend", 40.4),
        ("mcmaster/1.tif", "RGGB", "lmmse", 23.6),
        ("mcmaster/1.tif", "RGGB", "mlri", 26.2),
        ("mcmaster/1.tif", "RGGB", "blend", 26.0),
        ("mcmaster/1.tif", "XTRANS", "blend", 24.7),
    ],
)
def test_quality_on_a_crop(file: str, array: str, method: Any, floor: float) -> None:
    truth = imageio.imread(Path(str(DATA)) / file)[200:340, 200:340, :3]
    picture = demosaic(Cfa.from_name(array).sample(truth), array, method=method).image
    rounded = np.clip(np.rint(picture), 0, 255)[10:-10, 10:-10]
    error = np.mean((rounded - truth[10:-10, 10:-10]) ** 2)
    assert 10 * np.log10(255**2 / error) > floor
