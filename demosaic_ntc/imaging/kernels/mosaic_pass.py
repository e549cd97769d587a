"""One pass of demosaicing over the groups of a band: gather, guide, mean, completion, adding up."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.compiled import fast_kernel
from demosaic_ntc.imaging.kernels.group import Tensor
from demosaic_ntc.imaging.kernels.matching import Offsets, Planes
from demosaic_ntc.imaging.kernels.steps import (
    Group,
    Sums,
    add_mean,
    add_patch,
    complete_rest,
    empty_group,
    weighted_misfit,
)

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


@fast_kernel
def _between(pair: tuple[float, float], smooth: float) -> float:
    """Interpolate log-linearly between the values for rough and for smooth colour differences."""
    value: float = pair[0] * (pair[1] / pair[0]) ** smooth
    return value


@fast_kernel
def _gather(
    scene: Scene,
    row: int,
    column: int,
    offsets: Offsets,
    size: int,
    estimate: Tensor,
    seen: Tensor,
    group: Group,
) -> None:
    """Copy a group's patches: the estimate, where it was measured, and the data made of both."""
    for k in range(offsets.shape[0]):
        top, left = row + offsets[k, 0], column + offsets[k, 1]
        for i in range(size):
            for j in range(size):
                q = i * size + j
                for channel in range(3):
                    value = scene.planes[channel, top + i, left + j]
                    estimate[channel, k, q] = value
                    group.data[channel, k, q] = value
                    seen[channel, k, q] = _ZERO
                measured = scene.channels[top + i, left + j]
                if measured != UNMEASURED:
                    group.data[measured, k, q] = scene.mosaic[top + i, left + j]
                    seen[measured, k, q] = _ONE


@fast_kernel
def _slopes(
    group: Group, estimate: Tensor, seen: Tensor, channel: int, ridge: float, prior: float
) -> tuple[float, float]:
    """Regress a channel's measured samples on the two other channels of the estimate.

    With S and s the sums of centred products over the samples, the slopes are
    (S + ρ I)⁻¹ (s + ρ a₀ (1, 1)): the ridge ρ draws them towards the prior a₀.
    """
    here = seen[channel].ravel()
    a, b = estimate[(channel + 1) % 3].ravel(), estimate[(channel + 2) % 3].ravel()
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
def _guide(group: Group, estimate: Tensor, seen: Tensor, ridge: float, prior: float) -> None:
    """Write every channel's prediction from the two others into the fit."""
    for channel in range(3):
        slopes = _slopes(group, estimate, seen, channel, ridge, prior)
        slope_a, slope_b = np.float32(slopes[0]), np.float32(slopes[1])
        a, b = estimate[(channel + 1) % 3].ravel(), estimate[(channel + 2) % 3].ravel()
        fit = group.fit[channel].ravel()
        for entry in range(fit.shape[0]):
            fit[entry] = slope_a * a[entry] + slope_b * b[entry]


@fast_kernel
def _trust(group: Group, seen: Tensor, unseen: float) -> None:
    """Give measured entries the weight 1 and the others a smaller one."""
    share = np.float32(unseen)
    here, weight = seen.ravel(), group.weight.ravel()
    for entry in range(weight.shape[0]):
        weight[entry] = share + here[entry] * (_ONE - share)


@fast_kernel
def _shrink(group: Group, seen: Tensor, error: float) -> None:
    """Move the fit of each channel towards the estimate by V / (V + e).

    V is the misfit at the channel's measured entries, e the expected error of the estimate: the weights of
    two independent guesses by inverse variance.
    """
    for channel in range(group.data.shape[0]):
        here, data, fit = seen[channel].ravel(), group.data[channel].ravel(), group.fit[channel].ravel()
        misfit, count = _ZERO, np.float32(1e-6)
        for entry in range(data.shape[0]):
            miss = data[entry] - fit[entry]
            misfit += here[entry] * miss * miss
            count += here[entry]
        misfit /= count
        share = np.float32(misfit / (misfit + error + 1e-12))
        for entry in range(data.shape[0]):
            fit[entry] += share * (data[entry] - fit[entry])


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
    group = empty_group(*shape)
    estimate, seen = np.empty(shape, np.float32), np.empty(shape, np.float32)
    for down in range(rows.shape[0]):
        for across in range(columns.shape[0]):
            row, column, offsets = rows[down], columns[across], found[down, across]
            smooth = _mean_of_patch(scene.confidence, row, column, size)
            _gather(scene, row, column, offsets, size, estimate, seen, group)
            _guide(group, estimate, seen, _between(settings.ridge, smooth), smooth / 2)
            _trust(group, seen, _between(settings.unseen, smooth))
            add_mean(group)
            if settings.vertices > 0:
                _trust(group, seen, _between(settings.unseen_fit, smooth))
                reach = _between(settings.radius, smooth)
                gaps[down, across] = complete_rest(group, reach, settings.tolerance, settings.vertices)
            if settings.shrinkage > 0:
                _shrink(group, seen, settings.shrinkage * _mean_of_patch(scene.errors, row, column, size))
            for k in range(offsets.shape[0]):
                error, _ = weighted_misfit(group, seen, k)
                top_row, left = row - top + offsets[k, 0], column + offsets[k, 1]
                error = error / (size * size) + settings.floor
                add_patch(group.fit, k, error, top_row, left, size, values, weights)
