"""Folders of small pictures for the benchmarks."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from PIL import Image

from evaluation.measure.metrics import eight_bit


def save_waves(folder: Path, sizes: Iterable[tuple[int, int]], pace: float) -> Path:
    """Make a folder of coloured waves, 1.png and so on, each steeper than the one before."""
    folder.mkdir()
    for number, (height, width) in enumerate(sizes, start=1):
        y, x = np.mgrid[0:height, 0:width] * number / pace
        waves = np.stack([np.sin(x), np.sin(x + 0.4 * y), np.cos(y)], axis=-1)
        Image.fromarray(eight_bit(127 + 80 * waves)).save(folder / f"{number}.png")
    return folder
