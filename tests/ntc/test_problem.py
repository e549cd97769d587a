from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from demosaic_ntc import complete
from demosaic_ntc.errors import InputError, TooLarge
from demosaic_ntc.ntc.kernels.supports import slope_at
from demosaic_ntc.ntc.problem import Problem, observe


def test_repeated_samples_merge_to_their_weighted_mean() -> None:
    observed = observe((2, 2), [[0, 1], [1, 0], [0, 1]], [1.0, 5.0, 4.0], [1.0, 1.0, 2.0])
    assert observed.index.tolist() == [[0, 1], [1, 0]]
    np.testing.assert_allclose(observed.value, [3.0, 5.0])
    np.testing.assert_allclose(observed.weight, [0.75, 0.25])
    assert observed.noise == pytest.approx((1 * 4 + 2 * 1) / 4)


def test_objective_is_the_mean_squared_error_over_the_samples() -> None:
    values = np.array([1.0, 5.0, 4.0])
    observed = observe((2, 2), [[0, 1], [1, 0], [0, 1]], values)
    fitted = 2.0 * np.array([0.5, 0.25])[[0, 1, 0]]
    assert Problem(observed, 2.0).objective(np.array([0.5, 0.25])) == pytest.approx(
        np.mean((values - fitted) ** 2)
    )


def test_gradient_is_the_derivative_of_the_objective() -> None:
    problem = Problem(observe((3, 2), [[0, 1], [1, 0], [2, 1]], [0.5, 0.1, 0.9], [1.0, 2.0, 3.0]), 1.5)
    point, step = np.array([0.2, 0.7, 0.4]), 1e-6
    numeric = [
        (problem.objective(point + step * unit) - problem.objective(point - step * unit)) / (2 * step)
        for unit in np.eye(3)
    ]
    gradient, observed = np.empty(3), problem.observed
    misfit, here, negative = slope_at(observed.weight, observed.value, 1.5, point, gradient)
    np.testing.assert_allclose(gradient, numeric, atol=1e-8)
    assert observed.noise + misfit == pytest.approx(problem.objective(point))
    assert here == pytest.approx(gradient @ point)
    assert negative == pytest.approx(np.minimum(gradient, 0.0).sum())
    assert negative < 0 < gradient.max()


@given(st.permutations(range(6)))
def test_order_of_samples_does_not_matter(order: list[int]) -> None:
    index = np.array([[0, 0], [1, 1], [0, 0], [2, 1], [1, 0], [1, 1]])
    value = np.array([0.1, 0.5, 0.3, 0.9, 0.2, 0.7])
    one, other = observe((3, 2), index, value), observe((3, 2), index[order], value[order])
    assert one.index.tolist() == other.index.tolist()
    np.testing.assert_allclose(one.value, other.value)
    np.testing.assert_allclose(one.weight, other.weight)


def test_shapes_with_more_cells_than_a_machine_word_counts_are_merged_too() -> None:
    shape = (1000,) * 30
    index = np.zeros((3, 30), int)
    index[1, 29] = 999
    observed = observe(shape, index, [1.0, 2.0, 3.0])
    np.testing.assert_allclose(np.sort(observed.value), [2.0, 2.0])


GOOD: dict[str, Any] = {"shape": (3, 3), "index": [[0, 0], [1, 2]], "value": [0.5, 1.0], "radius": 1.0}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"value": [0.5, -1.0]}, "sample 1 is -1.0"),
        ({"value": [np.nan, 1.0]}, "sample 0 is nan"),
        ({"value": [0.5, np.inf]}, "sample 1 is inf"),
        ({"value": [0.5]}, "one number per sample"),
        ({"value": ["a", "b"]}, "not an array of numbers"),
        ({"index": [[0, 0], [1, 3]]}, r"sample 1 is \(1, 3\)"),
        ({"index": [[0, 0], [-1, 0]]}, r"sample 1 is \(-1, 0\)"),
        ({"index": [[0.0, 0.0], [1.0, 1.0]]}, "whole numbers"),
        ({"index": [0, 1]}, "one column per mode"),
        ({"index": np.zeros((0, 2), int), "value": []}, "no observations"),
        ({"weight": [0.0, 0.0]}, "positive weight"),
        ({"weight": [1.0, -1.0]}, "weight of sample 1"),
        ({"shape": ()}, "not a tensor shape"),
        ({"shape": (3, 0)}, "not a tensor shape"),
        ({"shape": (3, 2.5)}, "not a tensor shape"),
        ({"shape": "ab"}, "not a tuple of whole numbers"),
        ({"radius": 0.0}, "radius is 0.0"),
        ({"radius": -1.0}, "radius is -1.0"),
        ({"radius": float("nan")}, "radius is nan"),
        ({"radius": "wide"}, "radius is 'wide'"),
        ({"radius": None}, "radius is None"),
        ({"gap": 0.0}, "gap is 0.0"),
        ({"oracle": "magic"}, "'magic' is not known"),
        ({"deadline": 0.0}, "deadline is 0.0"),
    ],
)
def test_bad_input_is_explained(change: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        complete(**{**GOOD, **change})


def test_absurd_shapes_are_refused_with_their_size() -> None:
    with pytest.raises(TooLarge, match="200000000 slices"):
        complete(**{**GOOD, "shape": (10**8, 10**8)})
