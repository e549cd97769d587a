"""The estimator: scikit-learn's protocol, with and without that library."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse as scipy_sparse

from demosaic_ntc import NonnegativeTensorCompletion, complete
from demosaic_ntc.errors import InputError


def test_predicts_what_complete_finds(instances: Any) -> None:
    index, value = instances.samples((5, 4, 3), 60, 0, noise=0.0)
    model = NonnegativeTensorCompletion(radius="least", shape=(5, 4, 3)).fit(index, value)
    solution = complete((5, 4, 3), index, value, radius="least")
    np.testing.assert_array_equal(model.predict(index), solution.at(index))
    assert model.n_features_in_ == 3
    assert model.score(index, value) > 0.99


def test_shape_follows_from_the_indices_where_it_is_not_given() -> None:
    model = NonnegativeTensorCompletion(radius=1.0).fit([[0, 3], [2, 1]], [0.5, 0.25])
    assert model.solution_.shape == (3, 4)


def test_parameters_are_read_changed_and_shown() -> None:
    model = NonnegativeTensorCompletion("least", seed=3)
    assert model.get_params()["radius"] == "least"
    assert model.set_params(gap=1e-3, spread=2) is model
    assert (model.gap, model.spread) == (1e-3, 2)
    assert repr(model) == "NonnegativeTensorCompletion(radius='least', gap=0.001, spread=2, seed=3)"
    with pytest.raises(InputError, match="no parameter 'depth'"):
        model.set_params(depth=3)


def test_a_clone_by_the_protocol_has_the_same_parameters_and_nothing_learnt() -> None:
    model = NonnegativeTensorCompletion(radius=1.0).fit([[0, 0]], [0.5])
    copy = type(model)(**model.get_params())
    assert copy.get_params() == model.get_params()
    with pytest.raises(InputError, match="call fit first"):
        copy.predict([[0, 0]])


class Coo:
    """What `sparse.COO` offers."""

    shape = (3, 3, 2)
    coords = np.array([[0, 1, 2], [0, 1, 2], [0, 1, 1]])
    data = np.array([0.5, 0.25, 1.0])


@pytest.mark.parametrize(
    "given",
    [
        scipy_sparse.coo_matrix(([0.5, 0.25], ([0, 1], [2, 0])), shape=(4, 4)),
        scipy_sparse.csr_array(scipy_sparse.coo_array(([0.5, 0.25], ([0, 1], [2, 0])), shape=(4, 4))),
        Coo(),
    ],
)
def test_sparse_arrays_bring_shape_and_values(given: Any) -> None:
    model = NonnegativeTensorCompletion(radius=1.0).fit(given)
    assert model.solution_.shape == given.shape
    form = given.tocoo() if hasattr(given, "tocoo") else given
    index = np.stack(form.coords if hasattr(form, "coords") else (form.row, form.col), axis=1)
    np.testing.assert_allclose(model.predict(index), form.data, atol=1e-2)


@pytest.mark.parametrize(
    ("index", "value", "words"),
    [
        ([[0, 0]], None, "no sparse array"),
        ([0, 1], [1.0, 1.0], "give \\(samples, modes\\)"),
        ([[-1, 0]], [1.0], "count from 0"),
        ([[0.5, 0.0]], [1.0], "whole numbers"),
    ],
)
def test_bad_input_is_explained(index: Any, value: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        NonnegativeTensorCompletion(radius=1.0).fit(index, value)


def test_scikit_learn_clones_it_and_searches_its_parameters(instances: Any) -> None:
    base = pytest.importorskip("sklearn.base")
    selection = pytest.importorskip("sklearn.model_selection")
    index, value = instances.samples((5, 4, 3), 60, 1, noise=0.0)
    model = NonnegativeTensorCompletion(shape=(5, 4, 3))
    assert base.clone(model).get_params() == model.get_params()
    search = selection.GridSearchCV(model, {"radius": [0.1, 1.0]}, cv=3).fit(index, value)
    assert search.best_params_ == {"radius": 1.0}
