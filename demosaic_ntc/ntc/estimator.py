"""Completion in the manner of scikit-learn: ``fit`` on some entries, ``predict`` others.

The class follows that library's protocol (parameters are the arguments of ``__init__``, stored as they are;
what is learnt ends with an underscore) without needing it, so that grids of parameters, cross-validation and
``clone`` work where it is installed.
"""

import inspect
import sys
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from demosaic_ntc.arrays import Float64
from demosaic_ntc.errors import InputError
from demosaic_ntc.ntc.array import is_sparse, sparse_samples
from demosaic_ntc.ntc.complete import SPREAD, complete
from demosaic_ntc.ntc.solution import Solution


class NonnegativeTensorCompletion:
    """A nonnegative tensor fitted to some of its entries.

    Parameters
    ----------
    radius, noise, gap, oracle, descent, deadline, spread, seed
        As for `complete`.
    shape
        The size of each mode; when left out, just large enough for the indices of `fit`.

    Attributes
    ----------
    solution_
        The `Solution`, after `fit`: radius, certificate, factors.
    n_features_in_
        The number of modes.
    """

    _estimator_type = "regressor"  # how scikit-learn asked before 1.6

    def __init__(
        self,
        radius: float | str = "auto",
        *,
        shape: tuple[int, ...] | None = None,
        noise: float = 0.0,
        gap: float | None = None,
        oracle: str = "auto",
        descent: str = "corrective",
        deadline: float | None = None,
        spread: int = SPREAD,
        seed: int = 0,
    ) -> None:
        self.radius = radius
        self.shape = shape
        self.noise = noise
        self.gap = gap
        self.oracle = oracle
        self.descent = descent
        self.deadline = deadline
        self.spread = spread
        self.seed = seed

    def fit(
        self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> "NonnegativeTensorCompletion":
        """Complete the tensor from samples.

        Parameters
        ----------
        X
            (n, modes) whole numbers from 0, where the samples lie; or, without ``y``, a sparse array of
            ``scipy.sparse`` (a matrix) or of ``sparse`` (any order), whose stored entries are the samples.
        y
            (n,) nonnegative samples.
        sample_weight
            (n,) how much each sample counts.

        Returns
        -------
        The estimator itself.
        """
        shape = self.shape
        if y is None:
            sizes, X, y = sparse_samples(X)
            shape = sizes if shape is None else shape
        where = _whole(X)
        if shape is None:
            shape = tuple(int(largest) + 1 for largest in where.max(axis=0))
        chosen = {name: own for name, own in self.get_params().items() if name != "shape"}
        self.solution_ = complete(shape, where, y, weight=sample_weight, **chosen)
        self.n_features_in_ = len(shape)
        return self

    def predict(self, X: Any) -> Float64:
        """Return the completed entries at an (n, modes) array of indices."""
        solution, where = self._check_fitted(), _whole(X)
        if where.shape[1] != self.n_features_in_:
            raise InputError(
                f"X has {where.shape[1]} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input"
            )
        return solution.at(where)

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the coefficient of determination R² of the predictions: 1 at best, 0 for the mean."""
        truth = np.asarray(y, np.float64)
        weight = np.ones(truth.size) if sample_weight is None else np.asarray(sample_weight, np.float64)
        error = float(weight @ (self.predict(X) - truth) ** 2)
        spread = float(weight @ (truth - np.average(truth, weights=weight)) ** 2)
        return 1.0 - error / spread if spread > 0 else float(error == 0.0)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name; none of them is an estimator, so ``deep`` changes nothing."""
        names = list(inspect.signature(type(self).__init__).parameters)[1:]
        return {name: getattr(self, name) for name in names}

    def set_params(self, **chosen: Any) -> "NonnegativeTensorCompletion":
        """Change parameters by name, and return the estimator itself."""
        known = self.get_params()
        for name, own in chosen.items():
            if name not in known:
                raise InputError(f"there is no parameter {name!r}; choose from {', '.join(known)}")
            setattr(self, name, own)
        return self

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn (1.6 or newer, which alone asks) that this is a regressor on categories."""
        from sklearn.utils import InputTags, RegressorTags, Tags, TargetTags  # noqa: PLC0415 - no dependency

        return Tags(
            estimator_type="regressor",
            target_tags=TargetTags(required=True, positive_only=True),
            regressor_tags=RegressorTags(poor_score=True),  # indices of random features have no structure
            input_tags=InputTags(categorical=True, positive_only=True),
        )

    def __repr__(self) -> str:
        """Return the call that makes an equal estimator, what is left at its default left out."""
        defaults = inspect.signature(type(self).__init__).parameters
        changed = [
            f"{name}={own!r}" for name, own in self.get_params().items() if own != defaults[name].default
        ]
        return f"{type(self).__name__}({', '.join(changed)})"

    def _check_fitted(self) -> Solution:
        if not hasattr(self, "solution_"):
            raise _make_not_fitted_error("nothing was fitted yet; call fit first")
        return self.solution_


def _make_not_fitted_error(words: str) -> InputError:
    """Return the error of this package, which is scikit-learn's as well where that is loaded."""
    if "sklearn" not in sys.modules:
        return InputError(words)
    from sklearn.exceptions import NotFittedError  # noqa: PLC0415 - no dependency

    return type("NotFitted", (InputError, NotFittedError), {})(words)  # type: ignore[no-any-return]


def _whole(given: Any) -> NDArray[np.int64]:
    """Return indices as whole numbers; what cannot be one is refused in scikit-learn's words."""
    if is_sparse(given):
        raise InputError("sparse input is not supported for indices; give a sparse tensor alone, without y")
    where = np.asarray(given)
    shape = where.shape
    if where.ndim != 2:
        raise InputError(f"X has shape {shape}; give (samples, modes). Reshape your data")
    if not where.size:
        raise InputError(f"{shape[1]} feature(s) (shape={shape}) while a minimum of 1 is required.")
    if where.dtype.kind == "c":
        raise InputError("Complex data not supported; give whole numbers")
    numbers = where if where.dtype.kind in "iu" else _numbers(where)
    if (numbers < 0).any():
        raise InputError("Negative values in data: X holds indices, which count from 0")
    return numbers.astype(np.int64)


def _numbers(given: NDArray[Any]) -> Float64:
    """Return whole numbers that are held as floats or objects."""
    try:
        numbers = given.astype(np.float64)
    except ValueError as error:
        raise InputError(f"X does not hold whole numbers ({error}); give indices") from None
    if not np.isfinite(numbers).all():
        raise InputError("X holds NaN or inf; give indices, which are whole numbers")
    if (numbers != np.floor(numbers)).any():
        raise InputError("X holds fractions; give indices, which are whole numbers")
    return numbers
