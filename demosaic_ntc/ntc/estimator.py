"""Completion in the manner of scikit-learn: ``fit`` on some entries, ``predict`` others.

The class follows that library's protocol (parameters are the arguments of ``__init__``, stored as they are;
what is learnt ends with an underscore) without needing it, so that grids of parameters, cross-validation and
``clone`` work where it is installed.
"""

import inspect
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from demosaic_ntc.arrays import Float64
from demosaic_ntc.errors import InputError
from demosaic_ntc.ntc.complete import SPREAD, complete
from demosaic_ntc.ntc.solution import Solution
from demosaic_ntc.ntc.sparse import sparse_samples


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
        self, index: Any, value: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> "NonnegativeTensorCompletion":
        """Complete the tensor from samples.

        Parameters
        ----------
        index
            (n, modes) whole numbers from 0; or, without ``value``, a sparse array in COO form, of
            ``scipy.sparse`` (a matrix) or of ``sparse`` (any order), whose stored entries are the samples.
        value
            (n,) nonnegative samples.
        sample_weight
            (n,) how much each sample counts.

        Returns
        -------
        The estimator itself.
        """
        shape = self.shape
        if value is None:
            sizes, index, value = sparse_samples(index)
            shape = sizes if shape is None else shape
        where = _whole(index)
        if shape is None:
            if not where.size or where.min() < 0:
                raise InputError("indices count from 0, and at least one is needed to know the shape")
            shape = tuple(int(largest) + 1 for largest in where.max(axis=0))
        chosen = {name: own for name, own in self.get_params().items() if name != "shape"}
        self.solution_ = complete(shape, where, value, weight=sample_weight, **chosen)
        self.n_features_in_ = len(shape)
        return self

    def predict(self, index: Any) -> Float64:
        """Return the completed entries at an (n, modes) array of indices."""
        return self._fitted().at(_whole(index))

    def score(self, index: Any, value: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the coefficient of determination R² of the predictions: 1 at best, 0 for the mean."""
        truth = np.asarray(value, np.float64)
        weight = np.ones(truth.size) if sample_weight is None else np.asarray(sample_weight, np.float64)
        error = float(weight @ (self.predict(index) - truth) ** 2)
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
        """Tell scikit-learn (1.6 or newer, which alone asks) that this is a regressor."""
        from sklearn.utils import RegressorTags, Tags, TargetTags  # noqa: PLC0415 - not a dependency

        return Tags(
            estimator_type="regressor", target_tags=TargetTags(required=False), regressor_tags=RegressorTags()
        )

    def __repr__(self) -> str:
        """Return the call that makes an equal estimator, what is left at its default left out."""
        defaults = inspect.signature(type(self).__init__).parameters
        changed = [
            f"{name}={own!r}" for name, own in self.get_params().items() if own != defaults[name].default
        ]
        return f"{type(self).__name__}({', '.join(changed)})"

    def _fitted(self) -> Solution:
        if not hasattr(self, "solution_"):
            raise InputError("nothing was fitted yet; call fit first")
        return self.solution_


def _whole(index: Any) -> NDArray[Any]:
    """Return indices as whole numbers; floats that are whole are taken for what they mean."""
    where = np.asarray(index)
    if where.ndim != 2:
        raise InputError(f"index has shape {where.shape}; give (samples, modes)")
    if where.dtype.kind == "f" and np.isfinite(where).all() and (where == np.floor(where)).all():
        return where.astype(np.int64)
    return where
