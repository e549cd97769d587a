"""Small random problems, and the slow but obvious answers to them."""

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

from demosaic_ntc.ntc.problem import Observations, observe

Numbers = NDArray[np.float64]


class Instances:
    """Random observations, and brute force over every vertex."""

    def observations(
        self, shape: tuple[int, ...], samples: int, seed: int, noise: float = 0.02
    ) -> Observations:
        return observe(shape, *self.samples(shape, samples, seed, noise))

    def samples(
        self, shape: tuple[int, ...], samples: int, seed: int, noise: float = 0.02
    ) -> tuple[NDArray[np.int64], Numbers]:
        """Sample a convex combination of five random vertices with noise."""
        random = np.random.default_rng(seed)
        factors = [random.integers(0, 2, (5, size)) for size in shape]
        index = np.stack([random.integers(0, size, samples) for size in shape], axis=1)
        weights = random.dirichlet(np.ones(5))
        product = np.ones((5, samples))
        for mode, factor in enumerate(factors):
            product *= factor[:, index[:, mode]]
        return index, np.maximum(weights @ product + noise * random.normal(size=samples), 0.0)

    def vertices(self, observed: Observations) -> Numbers:
        """Return every vertex of the polytope at the observed cells, as rows."""
        rows = []
        for bits in itertools.product((0, 1), repeat=sum(observed.shape)):
            rows.append(np.prod(np.array(bits)[observed.slots], axis=1))
        return np.unique(np.array(rows, float), axis=0)

    def optimum(self, observed: Observations, radius: float) -> float:
        """Minimise over all vertices by many away-step iterations: slow, and independent of the solver."""
        vertices = self.vertices(observed)
        points = (radius * vertices - observed.value) * np.sqrt(observed.weight)
        weights = np.zeros(len(points))
        weights[0] = 1.0
        for _ in range(20_000):
            point = weights @ points
            slopes = points @ point
            best, worst = int(slopes.argmin()), int(np.where(weights > 0, slopes, -np.inf).argmax())
            direction = points[best] - points[worst]
            if slopes[worst] - slopes[best] < 1e-13:
                break
            step = min(-(point @ direction) / (direction @ direction), weights[worst])
            weights[best] += step
            weights[worst] -= step
        return observed.noise + float(point @ point)


@pytest.fixture
def instances() -> Instances:
    return Instances()
