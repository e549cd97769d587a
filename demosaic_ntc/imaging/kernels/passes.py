"""One pass over the groups of a band: gather, guide, mean, completion, and adding up what came out.

Sums are kept in whole numbers, so that they do not depend on the order of their terms: results are the
same bit for bit whatever the bands and the number of threads.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.compiled import fast_kernel
from demosaic_ntc.imaging.kernels.group import Tensor, complete_group
from demosaic_ntc.imaging.kernels.matching import Offsets, Planes

Sums = NDArray[np.int64]

VALUE_UNIT = 2.0**24  # of the sums of values; weights are whole multiples of WEIGHT_UNIT
WEIGHT_UNIT = 16.0
UNMEASURED = 3  # the channel of a pixel whose sample is not to be used
_ZERO, _ONE = np.float32(0.0), np.float32(1.0)


class PassSettings(NamedTuple):
    """What a pass does; pairs hold for rough (w = 0) and smooth (w = 1) colour differences."""

    ridge: tuple[float, float]  # ρ of the guide's regression
    unseen: tuple[float, float]  # weight of unmeasured entries in the mean
    unseen_fit: tuple[float, float]  # their weight in the completion
    radius: tuple[float, float]  # λ over the largest entry of the shifted tensor
    tolerance: float  # on the gap of a completion, as a mean squared error of full scale 1
    vertices: int  # at most so many are tried; with none the pass stops at the mean
    shrinkage: float  # κ: the fit moves towards the estimate by V / (V + κ e); 0: it does not
    floor: float  # added to a patch's mean squared misfit before its inverse becomes its weight


class Scene(NamedTuple):
    """The picture as it is known: the estimate, what was measured, and how far each is to be trusted."""

    planes: Planes
    mosaic: NDArray[np.float32]
    channels: NDArray[np.uint8]  # the channel measured at each pixel, or UNMEASURED
    confidence: NDArray[np.float32]  # w: are colour differences smooth here?
    errors: NDArray[np.float32]  # the expected squared error of the first estimate


class Group(NamedTuple):
    """The tensors of one group, (channel, patch, pixel)."""

    estimate: Tensor
    seen: Tensor  # 1 where measured, else 0
    data: Tensor  # the measured value, else the estimate
    fit: Tensor
    rest: Tensor  # what guide and mean leave, shifted to be nonnegative
    weight: Tensor
    start: Tensor
    residual: Tensor


@fast_kernel
def _between(pair: tuple[float, float], smooth: float) -> float:
    """Interpolate log-linearly between the values for rough and for smooth colour differences."""
    value: float = pair[0] * (pair[1] / pair[0]) ** smooth
    return value


@fast_kernel
def _gather(scene: Scene, row: int, column: int, offsets: Offsets, size: int, group: Group) -> None:
    """Copy a group's patches: the estimate, where it was measured, and the data made of both."""
    for k in range(offsets.shape[0]):
        top, left = row + offsets[k, 0], column + offsets[k, 1]
        for i in range(size):
            for j in range(size):
                q = i * size + j
                for channel in range(3):
                    value = scene.planes[channel, top + i, left + j]
                    group.estimate[channel, k, q] = value
                    group.data[channel, k, q] = value
                    group.seen[channel, k, q] = _ZERO
                measured = scene.channels[top + i, left + j]
                if measured != UNMEASURED:
                    group.data[measured, k, q] = scene.mosaic[top + i, left + j]
                    group.seen[measured, k, q] = _ONE


@fast_kernel
def _slopes(group: Group, channel: int, ridge: float, prior: float) -> tuple[float, float]:
    """Regress a channel's measured samples on the two other channels of the estimate.

    With S and s the sums of centred products over the samples, the slopes are
    (S + ρ I)⁻¹ (s + ρ a₀ (1, 1)): the ridge ρ draws them towards the prior a₀.
    """
    here = group.seen[channel].ravel()
    a, b = group.estimate[(channel + 1) % 3].ravel(), group.estimate[(channel + 2) % 3].ravel()
    y = group.data[channel].ravel()
    count, mean_a, mean_b, mean_y = np.float32(1e-6), _ZERO, _ZERO, _ZERO
    for entry in range(here.shape[0]):
        count += here[entry]
        mean_a += here[entry] * a[entry]
        mean_b += here[entry] * b[entry]
        mean_y += here[entry] * y[entry]
    mean_a, mean_b, mean_y = mean_a / count, mean_b / count, mean_y / count
    aa, ab, bb, ay, by = _ZERO, _ZERO, _ZERO, _ZERO, _ZERO
    for entry in range(here.shape[0]):
        da, db = here[entry] * (a[entry] - mean_a), here[entry] * (b[entry] - mean_b)
        dy = y[entry] - mean_y
        aa += da * da
        ab += da * db
        bb += db * db
        ay += da * dy
        by += db * dy
    saa, sbb, sab = float(aa) + ridge, float(bb) + ridge, float(ab)
    ta, tb = float(ay) + ridge * prior, float(by) + ridge * prior
    determinant = saa * sbb - sab * sab
    return (sbb * ta - sab * tb) / determinant, (saa * tb - sab * ta) / determinant


@fast_kernel
def _guide(group: Group, ridge: float, prior: float) -> None:
    """Write every channel's prediction from the two others into the fit."""
    for channel in range(3):
        slopes = _slopes(group, channel, ridge, prior)
        slope_a, slope_b = np.float32(slopes[0]), np.float32(slopes[1])
        a, b = group.estimate[(channel + 1) % 3].ravel(), group.estimate[(channel + 2) % 3].ravel()
        fit = group.fit[channel].ravel()
        for entry in range(fit.shape[0]):
            fit[entry] = slope_a * a[entry] + slope_b * b[entry]


@fast_kernel
def _add_mean(group: Group, unseen: float) -> None:
    """Add to the guide, per channel and pixel, the weighted mean over the patches of what it leaves."""
    share = np.float32(unseen)
    channels, patches, pixels = group.data.shape
    total, mass = np.empty(pixels, np.float32), np.empty(pixels, np.float32)
    for channel in range(channels):
        total[:], mass[:] = _ZERO, _ZERO
        for k in range(patches):
            seen, data, fit = group.seen[channel, k], group.data[channel, k], group.fit[channel, k]
            for q in range(pixels):
                weight = share + seen[q] * (_ONE - share)
                total[q] += weight * (data[q] - fit[q])
                mass[q] += weight
        for k in range(patches):
            fit = group.fit[channel, k]
            for q in range(pixels):
                fit[q] += total[q] / mass[q]


@fast_kernel
def _shift_rest(group: Group, unseen: float) -> float:
    """Write what guide and mean leave, shifted to be nonnegative, and its weights; return the largest."""
    share, largest, mass = np.float32(unseen), _ZERO, _ZERO
    for channel in range(group.data.shape[0]):
        seen, data = group.seen[channel].ravel(), group.data[channel].ravel()
        fit, rest, weight = (
            group.fit[channel].ravel(),
            group.rest[channel].ravel(),
            group.weight[channel].ravel(),
        )
        low, high = _ZERO, _ZERO
        for entry in range(data.shape[0]):
            rest[entry] = data[entry] - fit[entry]
            low, high = min(low, rest[entry]), max(high, rest[entry])
            weight[entry] = share + seen[entry] * (_ONE - share)
            mass += weight[entry]
        largest = max(largest, high - low)
        for entry in range(data.shape[0]):
            rest[entry] -= low
        group.start[channel, :, :] = -low
    weights = group.weight.ravel()
    for entry in range(weights.shape[0]):
        weights[entry] /= mass
    return float(largest)


@fast_kernel
def _complete_rest(group: Group, unseen: float, reach: float, settings: PassSettings) -> float:
    """Complete what guide and mean leave and add it to them; return the certified gap.

    The shifts, where the completion starts, stand for the mean: an optimum over the face of the vertices
    that hold all patches.
    """
    largest = _shift_rest(group, unseen)
    _, gap = complete_group(
        group.rest,
        group.weight,
        group.start,
        reach * largest,
        settings.tolerance,
        settings.vertices,
        group.residual,
    )
    fit, data, residual = group.fit.ravel(), group.data.ravel(), group.residual.ravel()
    for entry in range(fit.shape[0]):
        fit[entry] = data[entry] + residual[entry]
    return gap


@fast_kernel
def _shrink(group: Group, error: float) -> None:
    """Move the fit of each channel towards the estimate by V / (V + e).

    V is the misfit at the channel's measured entries, e the expected error of the estimate: the weights of
    two independent guesses by inverse variance.
    """
    for channel in range(group.data.shape[0]):
        seen, data, fit = group.seen[channel].ravel(), group.data[channel].ravel(), group.fit[channel].ravel()
        misfit, count = _ZERO, np.float32(1e-6)
        for entry in range(data.shape[0]):
            miss = data[entry] - fit[entry]
            misfit += seen[entry] * miss * miss
            count += seen[entry]
        misfit /= count
        share = np.float32(misfit / (misfit + error + 1e-12))
        for entry in range(data.shape[0]):
            fit[entry] += share * (data[entry] - fit[entry])


@fast_kernel
def _add_up(
    group: Group,
    row: int,
    column: int,
    offsets: Offsets,
    size: int,
    floor: float,
    values: Sums,
    weights: Sums,
) -> None:
    """Add each patch of the fit to the sums, weighted by how well it meets its measured samples."""
    channels, patches, pixels = group.fit.shape
    for k in range(patches):
        error = _ZERO
        for channel in range(channels):
            seen, data, fit = group.seen[channel, k], group.data[channel, k], group.fit[channel, k]
            for q in range(pixels):
                miss = data[q] - fit[q]
                error += seen[q] * miss * miss
        share = np.int64(WEIGHT_UNIT / (error / pixels + floor))
        top, left = row + offsets[k, 0], column + offsets[k, 1]
        for i in range(size):
            for j in range(size):
                weights[top + i, left + j] += share
                for channel in range(channels):
                    value = np.int64(group.fit[channel, k, i * size + j] * VALUE_UNIT)
                    values[channel, top + i, left + j] += share * value


@fast_kernel
def _mean_of_patch(picture: NDArray[np.float32], row: int, column: int, size: int) -> float:
    total = 0.0
    for i in range(size):
        for j in range(size):
            total += picture[row + i, column + j]
    return total / (size * size)


@fast_kernel
def restore_groups(
    scene: Scene,
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    found: Offsets,
    size: int,
    settings: PassSettings,
    top: int,
    values: Sums,
    weights: Sums,
    gaps: NDArray[np.float32],
) -> None:
    """Restore every group whose reference patch lies at these rows and columns, and add its patches up.

    ``values`` and ``weights`` start at row ``top`` of the picture; ``gaps`` receives the certified gaps.
    """
    shape = (3, found.shape[2], size * size)
    group = Group(
        np.empty(shape, np.float32),
        np.empty(shape, np.float32),
        np.empty(shape, np.float32),
        np.empty(shape, np.float32),
        np.empty(shape, np.float32),
        np.empty(shape, np.float32),
        np.empty(shape, np.float32),
        np.empty(shape, np.float32),
    )
    for down in range(rows.shape[0]):
        for across in range(columns.shape[0]):
            row, column, offsets = rows[down], columns[across], found[down, across]
            smooth = _mean_of_patch(scene.confidence, row, column, size)
            _gather(scene, row, column, offsets, size, group)
            _guide(group, _between(settings.ridge, smooth), smooth / 2)
            _add_mean(group, _between(settings.unseen, smooth))
            if settings.vertices > 0:
                unseen, reach = _between(settings.unseen_fit, smooth), _between(settings.radius, smooth)
                gaps[down, across] = _complete_rest(group, unseen, reach, settings)
            if settings.shrinkage > 0:
                _shrink(group, settings.shrinkage * _mean_of_patch(scene.errors, row, column, size))
            _add_up(group, row - top, column, offsets, size, settings.floor, values, weights)
