"""Compiled filters of the first guesses.

Every output pixel is the same short sum in the same order wherever it lies, so a picture computed in
tiles equals the picture computed at once, bit for bit: no running sums, no reordering of floating point.
"""

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.compiled import kernel

Floats = NDArray[np.float32]


@kernel
def filter_rows(image: Floats, taps: Floats) -> Floats:
    """Correlate every row with an odd number of taps, zeros beyond the border."""
    height, width = image.shape
    reach = taps.size // 2
    out = np.zeros((height, width), np.float32)
    for i in range(height):
        source, target = image[i], out[i]
        for k in range(taps.size):
            shift = k - reach
            weight = taps[k]
            for j in range(max(0, -shift), min(width, width - shift)):
                target[j] += weight * source[j + shift]
    return out


@kernel
def filter_columns(image: Floats, taps: Floats) -> Floats:
    """Correlate every column with an odd number of taps, zeros beyond the border."""
    height, width = image.shape
    reach = taps.size // 2
    out = np.zeros((height, width), np.float32)
    for i in range(height):
        target = out[i]
        for k in range(max(0, reach - i), min(taps.size, height + reach - i)):
            source = image[i + k - reach]
            weight = taps[k]
            for j in range(width):
                target[j] += weight * source[j]
    return out
