"""Sparse arrays of ``scipy.sparse`` and ``sparse``, known by what they offer, so that neither is needed."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.arrays import Float64
from demosaic_ntc.errors import InputError


def is_sparse(given: Any) -> bool:
    """Return whether something is a sparse array."""
    return hasattr(given, "tocoo") or (hasattr(given, "coords") and hasattr(given, "data"))


def sparse_samples(given: Any) -> tuple[tuple[int, ...], NDArray[np.int64], Float64]:
    """Return shape, (n, modes) indices and values, copied, of the stored entries of a sparse array."""
    form = given.tocoo() if hasattr(given, "tocoo") else given
    if hasattr(form, "row") and hasattr(form, "col"):
        coords = (form.row, form.col)
    elif hasattr(form, "coords") and hasattr(form, "data"):
        coords = tuple(form.coords)
    else:
        raise InputError("this requires y to be passed, but the target y is None; or X to be a sparse array")
    return tuple(form.shape), np.stack(coords, axis=1).astype(np.int64), np.array(form.data, np.float64)
