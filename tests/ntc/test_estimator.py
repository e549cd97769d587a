"""The estimator: scikit-learn's protocol, with and without that library."""

import inspect
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
        ([[0, 0]], None, "X to be a sparse array"),
        ([0, 1], [1.0, 1.0], "give \\(samples, modes\\)"),
        (scipy_sparse.eye_array(2).tocoo(), [1.0, 1.0], "without y"),
        ([["a", "b"]], [1.0], "could not convert"),
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


#: Checks of scikit-learn that do not suit indices, and why.
EXCEPTIONS = {
    "check_sample_weight_equivalence_on_dense_data": "draws real numbers for X, which holds indices here",
    "check_supervised_y_2d": "a column for y is refused; scikit-learn ravels it with a warning",
}


@pytest.mark.filterwarnings("ignore:.*does not inherit from.*BaseEstimator")  # which would need the library
def test_scikit_learn_has_no_more_complaints_than_these() -> None:
    checks = pytest.importorskip("sklearn.utils.estimator_checks")
    if "on_fail" not in inspect.signature(checks.check_estimator).parameters:
        pytest.skip("scikit-learn before 1.6 cannot be told of exceptions")
    model = NonnegativeTensorCompletion(oracle="heuristic")  # proofs take their time on tensors of order ten
    results = checks.check_estimator(model, on_fail=None, on_skip=None)
    failed = {each["check_name"]: str(each["exception"]) for each in results if each["status"] == "failed"}
    assert set(failed) <= set(EXCEPTIONS), failed
    assert sum(each["status"] == "passed" for each in results) > 40


def test_what_is_not_fitted_is_said_in_the_words_of_both_libraries() -> None:
    exceptions = pytest.importorskip("sklearn.exceptions")
    with pytest.raises(exceptions.NotFittedError) as caught:
        NonnegativeTensorCompletion().predict([[0, 0]])
    assert isinstance(caught.value, InputError)
