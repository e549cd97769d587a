"""A picture for tests that any channel, size and hole suits."""

import numpy as np
from numpy.typing import NDArray


def waves(channels: int, height: int, width: int) -> NDArray[np.float32]:
    """Draw waves across and down, shifted from channel to channel, in [0.2, 0.8]."""
    y, x = np.mgrid[:height, :width]
    planes = [np.sin(x / 3 + phase) * np.cos(y / 4 - phase) for phase in range(channels)]
    return (0.5 + 0.3 * np.stack(planes)).astype(np.float32)
