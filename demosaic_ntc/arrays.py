"""The types of arrays, by what they hold; docstrings give shapes, ranges and units."""

import numpy as np
from numpy.typing import NDArray

Float32 = NDArray[np.float32]
Float64 = NDArray[np.float64]
Flags = NDArray[np.bool_]
Bits = NDArray[np.uint8]  # one bit per channel: bit c of a pixel stands for its entry in channel c
Depths = NDArray[np.uint8]
Places = NDArray[np.int64]  # (…, 2): row and column
Offsets = NDArray[np.int8]  # (…, 2): rows and columns relative to a reference patch
Sums = NDArray[np.int64]

Planes = Float32  # (channels, height, width), full scale 1
