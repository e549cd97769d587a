import numpy as np
import pytest
from numpy.typing import NDArray


@pytest.fixture(scope="session")
def scene() -> NDArray[np.float32]:
    """A generated picture, 120×132: fine grey texture, soft coloured blobs and slanted coloured edges."""
    y, x = np.mgrid[0:120, 0:132].astype(np.float64)
    texture = 0.5 + 0.2 * np.cos(0.011 * ((x - 60) ** 2 + (y - 50) ** 2))
    blobs = np.stack([np.sin(x / 17 + phase) * np.cos(y / 23 - phase) for phase in (0.0, 1.0, 2.5)], axis=2)
    edges = (0.7 * x + y > 110)[..., None] * np.array([0.15, -0.1, 0.05])
    picture: NDArray[np.float32] = np.clip(texture[..., None] + 0.12 * blobs + edges, 0, 1).astype(np.float32)
    return picture
