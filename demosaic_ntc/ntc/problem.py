"""What is observed, and the objective it defines: eq. (nntcon) of the paper, restricted to the cells U.

Samples ``(x⟨i⟩, y⟨i⟩)`` that fall on one cell u are merged: with m_u their total weight and ȳ_u their
weighted mean, the objective of the paper splits into a part that no ψ can change and a weighted fit,

    1/n Σ (y⟨i⟩ − ψ_x⟨i⟩)²  =  noise  +  Σ_u w_u (λ x_u − ȳ_u)²,      w_u = m_u / Σ m,

where ψ = λ x and x is a point of the polytope C₁ projected onto the observed cells. ``noise`` is the
variance within cells; it is a lower bound on the objective before any work is done.
"""

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from demosaic_ntc.arrays import Float64
from demosaic_ntc.errors import InputError, TooLarge

Bits = NDArray[np.uint8]
Slots = NDArray[np.int32]

LARGEST_SLOT_COUNT = 10_000_000
"""A vertex stores one byte per slice of every mode; more than this many slices is refused."""

LARGEST_NUMBER, SMALLEST_NUMBER = 1e120, 1e-120  # squares of others are no numbers, or zero
"""Objectives are sums of squares times weights, which must not overflow."""


@dataclass(frozen=True, slots=True)
class Observations:
    """The known cells of a nonnegative tensor, each once, in lexicographic order."""

    shape: tuple[int, ...]
    columns: Slots  # (modes, cells): where, as positions in the concatenated factors of all modes
    value: Float64  # (cells,): the weighted mean of what was seen there
    weight: Float64  # (cells,): its share of all the weight; sums to one
    noise: float  # the variance within cells, which no completion can fit
    energy: float = field(init=False)  # the weighted mean square: the scale that gaps are relative to
    offsets: NDArray[np.int64] = field(init=False)  # where each mode starts in the factors; their length

    def __post_init__(self) -> None:
        """Compute once what every step asks for."""
        object.__setattr__(self, "energy", float(np.einsum("u,u,u", self.weight, self.value, self.value)))
        object.__setattr__(self, "offsets", np.cumsum((0, *self.shape), dtype=np.int64))

    @property
    def slots(self) -> Slots:
        """The (cells, modes) positions in the concatenated factors: mode i starts at offsets[i]."""
        return self.columns.T

    @property
    def index(self) -> NDArray[np.int64]:
        """The (cells, modes) indices, each counted from 0."""
        return self.slots - self.offsets[:-1]

    def subset(self, chosen: NDArray[np.bool_]) -> "Observations":
        """Return some of the cells, their weights scaled to sum to one again."""
        weight = self.weight[chosen]
        columns = np.ascontiguousarray(self.columns[:, chosen])
        return Observations(self.shape, columns, self.value[chosen], weight / weight.sum(), self.noise)


@dataclass(frozen=True, slots=True)
class Problem:
    """Observations and the radius λ that bounds the norm of their completion."""

    observed: Observations
    radius: float

    def objective(self, point: Float64) -> float:
        """Return the mean squared error of ψ = λ x at the observed cells, noise included."""
        residual = self.radius * point - self.observed.value
        return self.observed.noise + float(self.observed.weight @ (residual * residual))


def observe(
    shape: tuple[int, ...], index: ArrayLike, value: ArrayLike, weight: ArrayLike | None = None
) -> Observations:
    """Check samples of a tensor and merge those that share a cell."""
    shape = _check_shape(shape)
    where = _check_index(shape, index)
    seen = _check_numbers("value", value, len(where))
    counts = np.ones(len(where)) if weight is None else _check_numbers("weight", weight, len(where))
    where, seen, counts = where[counts > 0], seen[counts > 0], counts[counts > 0]
    if not len(where):
        raise InputError("all weights are zero; give at least one sample with a positive weight")
    if 0 < seen.max() < SMALLEST_NUMBER:
        raise InputError(f"value goes up to {seen.max():g} only; scale it to at least {SMALLEST_NUMBER:g}")
    return _merge(shape, where, seen, counts)


def _merge(shape: tuple[int, ...], index: NDArray[np.int64], value: Float64, weight: Float64) -> Observations:
    if math.prod(shape) < 2**62:
        flat = np.ravel_multi_index(tuple(index.T), shape)
        _, first, cell = np.unique(flat, return_index=True, return_inverse=True)
    else:
        _, first, cell = np.unique(index, axis=0, return_index=True, return_inverse=True)
    cell = cell.reshape(-1)
    mass = np.bincount(cell, weight)
    mean = np.bincount(cell, weight * value) / mass
    noise = float(weight @ (value - mean[cell]) ** 2 / weight.sum())
    starts = np.concatenate(([0], np.cumsum(shape)[:-1]))
    columns = np.array([index[first, mode] + start for mode, start in enumerate(starts)], np.int32)
    return Observations(shape, columns, mean, mass / mass.sum(), noise)


def _check_shape(shape: tuple[int, ...]) -> tuple[int, ...]:
    try:
        sizes = tuple(int(size) for size in shape)
    except (TypeError, ValueError):
        raise InputError(f"shape {shape!r} is not a tuple of whole numbers; give one size per mode") from None
    if not sizes or any(size < 1 or size != given for size, given in zip(sizes, shape, strict=True)):
        raise InputError(f"shape {shape!r} is not a tensor shape; give one whole size of at least 1 per mode")
    if sum(sizes) > LARGEST_SLOT_COUNT:
        raise TooLarge(
            f"shape {sizes} has {sum(sizes)} slices in all, more than {LARGEST_SLOT_COUNT}; "
            "renumber the slices that are never observed away"
        )
    return sizes


def _check_index(shape: tuple[int, ...], index: ArrayLike) -> NDArray[np.int64]:
    try:
        where = np.asarray(index)
    except (TypeError, ValueError):
        raise InputError("index is not an array of whole numbers; give one row per sample") from None
    if where.ndim != 2 or where.shape[1] != len(shape):
        raise InputError(
            f"index has shape {where.shape}; give (samples, {len(shape)}), one column per mode of {shape}"
        )
    if not where.shape[0]:
        raise InputError("there are no observations; give at least one sample")
    if where.dtype.kind not in "iu":
        raise InputError(f"index is of type {where.dtype}; give whole numbers")
    outside = np.flatnonzero(((where < 0) | (where >= np.array(shape))).any(axis=1))
    if outside.size:
        raise InputError(
            f"index of sample {outside[0]} is {tuple(int(i) for i in where[outside[0]])}, outside the shape "
            f"{shape} ({outside.size} samples are); indices count from 0"
        )
    return where.astype(np.int64)


def _check_numbers(name: str, given: ArrayLike, count: int) -> Float64:
    try:
        plain = np.asarray(given)
        numbers = plain.astype(np.float64) if plain.dtype.kind != "c" else None
    except (TypeError, ValueError, OverflowError):
        numbers = None
    if numbers is None or isinstance(given, np.ma.MaskedArray):
        raise InputError(f"{name} is not an array of numbers; give one number per sample")
    if numbers.shape != (count,):
        raise InputError(f"{name} has shape {numbers.shape}; give ({count},), one number per sample")
    bad = np.flatnonzero(~(np.isfinite(numbers) & (numbers >= 0)))
    if bad.size:
        raise InputError(
            f"{name} of sample {bad[0]} is {numbers[bad[0]]} ({bad.size} are negative or not finite); "
            "give finite numbers of at least 0"
        )
    if numbers.max(initial=0.0) > LARGEST_NUMBER:
        raise InputError(f"{name} goes up to {numbers.max():g}; scale it to at most {LARGEST_NUMBER:g}")
    return numbers
