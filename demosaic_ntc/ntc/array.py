"""Complete arrays with missing entries: dense ones, masked ones, and sparse ones of scipy or ``sparse``.

The solver is loaded when it is first called, so that the import costs little.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from demosaic_ntc.arrays import Float64
from demosaic_ntc.errors import InputError


def complete_array(
    array: Any, mask: ArrayLike | None = None, *, return_solution: bool = False, **options: Any
) -> Any:
    """Fill the missing entries of a nonnegative array of any number of dimensions.

    Parameters
    ----------
    array
        A NumPy array whose missing entries are NaN, a `numpy.ma.MaskedArray`, or a sparse array of
        ``scipy.sparse`` or ``sparse``. Of a sparse array the stored entries are known, zeros included; stored
        NaN are to be filled, and what is not stored is unknown and stays so.
    mask
        True where an entry is missing, in the shape of a dense array. NaN are missing besides.
    return_solution
        Return the `Solution` as well: radius, certificate, and entries anywhere by `Solution.at`.
    options
        Those of `complete`: ``radius``, ``noise``, ``gap``, ``oracle``, ``descent``, ``deadline``…

    Returns
    -------
    A new array of the same kind with the missing entries filled and all others as they were; with
    ``return_solution`` a pair of it and the `Solution`.
    """
    if is_sparse(array):
        if mask is not None:
            raise InputError("mask goes with dense arrays; store NaN in a sparse array where to fill it")
        filled, solution = _complete_sparse(array, options)
    else:
        filled, solution = _complete_dense(array, mask, options)
    return (filled, solution) if return_solution else filled


def _complete_dense(array: Any, mask: ArrayLike | None, options: dict[str, Any]) -> tuple[Any, Any]:
    values = _convert_to_floats(array)
    missing = np.isnan(values) | np.ma.getmaskarray(array) | _convert_to_mask(mask, values.shape)
    solution = _solve(values.shape, np.argwhere(~missing), values[~missing], options)
    values[missing] = solution.at(np.argwhere(missing))
    return values, solution


def _complete_sparse(array: Any, options: dict[str, Any]) -> tuple[Any, Any]:
    form = array.tocoo() if hasattr(array, "tocoo") else array
    if hasattr(form, "sum_duplicates"):
        form = form.copy()
        form.sum_duplicates()  # what scipy means by them
    shape, index, values = sparse_samples(form)
    missing = np.isnan(values)
    solution = _solve(shape, index[~missing], values[~missing], options)
    values[missing] = solution.at(index[missing])
    if hasattr(array, "asformat") and hasattr(array, "format"):
        return type(form)((values, tuple(index.T)), shape=shape).asformat(array.format), solution
    return type(form)(index.T, values, shape=shape), solution


def _solve(shape: tuple[int, ...], index: NDArray[np.int64], values: Any, options: dict[str, Any]) -> Any:
    """Complete from the known entries."""
    from demosaic_ntc.ntc.complete import complete  # noqa: PLC0415 - compiled parts, which take time to load

    return complete(shape, index, values, **options)


def _convert_to_floats(array: Any) -> Any:
    """Return a copy as floats, in the precision it had."""
    try:
        plain = np.asarray(np.ma.getdata(array))
        kept = plain.dtype if plain.dtype.kind == "f" else np.float64
        if plain.dtype.kind == "c" or not plain.ndim:
            raise TypeError
        return np.array(plain, kept)
    except (TypeError, ValueError):
        raise InputError(
            "array is not an array of real numbers; give one of at least one dimension"
        ) from None


def _convert_to_mask(mask: ArrayLike | None, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Return the mask as booleans."""
    if mask is None:
        return np.zeros(shape, np.bool_)
    given = np.asarray(mask)
    if given.shape != shape or given.dtype.kind not in "bui":
        raise InputError(
            f"mask is {given.dtype} of shape {given.shape}; give booleans of shape {shape}, True for missing"
        )
    return given.astype(np.bool_)


def is_sparse(given: Any) -> bool:
    """Return whether something is an array of ``scipy.sparse`` or ``sparse``, by what it offers."""
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
