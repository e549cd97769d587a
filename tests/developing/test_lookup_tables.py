"""Tables of smooth functions, of which few entries are computed."""

import numpy as np
import pytest
from numpy.typing import NDArray

from demosaic_ntc.io.colour import tabulate


@pytest.mark.parametrize(("count", "exact"), [(1, 0), (16, 0), (17, 0), (1000, 0), (1000, 100), (50, 80)])
def test_a_table_has_the_values_of_its_function(count: int, exact: int) -> None:
    table = tabulate(lambda step: np.square(step / 1000), count, exact)
    assert table == pytest.approx(np.square(np.arange(count) / 1000), abs=0.5 * (8 / 1000) ** 2 * 2.01)
    assert len(table) == count


def test_what_is_to_be_exact_is() -> None:
    table = tabulate(np.sqrt, 500, 200)
    assert np.array_equal(table[:200], np.sqrt(np.arange(200.0)))
    assert table[200] == np.sqrt(200)
    assert not np.array_equal(table[200:], np.sqrt(np.arange(200.0, 500)))


def test_few_values_are_computed() -> None:
    asked: list[int] = []

    def counted(step: NDArray[np.float64]) -> NDArray[np.float64]:
        asked.append(step.size)
        return step

    assert np.array_equal(tabulate(counted, 16_000, 160), np.arange(16_000.0))
    assert sum(asked) < 160 + 16_000 / 16 + 2
