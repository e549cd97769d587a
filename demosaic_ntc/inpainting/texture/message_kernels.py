"""The best labels of all: messages between the pixels of a hole about what each label would cost.

Tree-reweighted message passing: Kolmogorov 2006, doi:10.1109/TPAMI.2006.200. Seams cost what two labels side
by side differ at both pixels: Kwatra et al. 2003, doi:10.1145/882262.882264.
"""

import numpy as np
from numba import float32, int32, int64

from demosaic_ntc.arrays import Float32
from demosaic_ntc.inpainting.texture.kernels import Places
from demosaic_ntc.jit.compiled import fast_kernel, fast_step, precompile

# Neighbours of a pixel: those before it in reading order, then those behind it; each with its opposite.
_UP, _LEFT, _RIGHT, _DOWN = 0, 1, 2, 3


@precompile(float32[:, :, ::1], float32[:, :, ::1])
@fast_kernel
def compare_labels(told: Float32, gaps: Float32) -> None:
    """Write for each pixel how much any two labels differ there, (pixels, labels, labels).

    ``told`` is what the labels say, (pixels, labels, channels).
    """
    for pixel in range(told.shape[0]):
        for a in range(told.shape[1]):
            for b in range(told.shape[1]):
                total = np.float32(0.0)
                for channel in range(told.shape[2]):
                    gap = told[pixel, a, channel] - told[pixel, b, channel]
                    total += gap * gap
                gaps[pixel, a, b] = total


@fast_step
def _send(gaps: Float32, own: Float32, source: int, target: int, message: Float32) -> None:
    """Write the message of a pixel to a neighbour: the least cost of each label there, from 0 up."""
    labels, lowest = len(own), np.float32(1e30)
    for b in range(labels):
        least = np.float32(1e30)
        for a in range(labels):
            cost = own[a] + gaps[source, b, a] + gaps[target, b, a]
            least = min(least, cost)
        message[b] = least
        lowest = min(lowest, least)
    for b in range(labels):
        message[b] -= lowest


@fast_step
def _visit(
    costs: Float32, gaps: Float32, near: Places, messages: Float32, pixel: int, first: int, own: Float32
) -> None:
    """Send the messages of a pixel to its two neighbours behind it, or before it, from the ``first`` on."""
    labels, ahead, behind = costs.shape[1], 0, 0
    for side in range(4):
        if near[pixel, side] >= 0:
            if side < 2:
                ahead += 1
            else:
                behind += 1
    share = np.float32(1.0 / max(ahead, behind, 1))
    for side in range(first, first + 2):
        target = near[pixel, side]
        if target < 0:
            continue
        for a in range(labels):
            total = costs[pixel, a]
            for other in range(4):
                if near[pixel, other] >= 0:
                    total += messages[pixel, other, a]
            own[a] = share * total - messages[pixel, side, a]
        _send(gaps, own, pixel, target, messages[target, 3 - side])


@precompile(float32[:, ::1], float32[:, :, ::1], int32[:, ::1], int64, int32[::1])
@fast_kernel
def find_labels(costs: Float32, gaps: Float32, near: Places, rounds: int, chosen: Places) -> None:
    """Write the label of each pixel, in reading order, for which costs and seams together are small.

    ``costs`` are (pixels, labels), ``gaps`` those of `compare_labels`, ``near`` the numbers of the pixels
    above, left, right and below, negative where there is none.
    """
    pixels, labels = costs.shape
    messages = np.zeros((pixels, 4, labels), np.float32)
    own = np.empty(labels, np.float32)
    for _ in range(rounds):
        for pixel in range(pixels):
            _visit(costs, gaps, near, messages, pixel, _RIGHT, own)
        for back in range(pixels):
            _visit(costs, gaps, near, messages, pixels - 1 - back, _UP, own)
    for pixel in range(pixels):
        for a in range(labels):
            own[a] = costs[pixel, a]
            for side in range(4):
                other = near[pixel, side]
                if other < 0:
                    continue
                if side < _RIGHT:
                    own[a] += gaps[pixel, chosen[other], a] + gaps[other, chosen[other], a]
                else:
                    own[a] += messages[pixel, side, a]
        best = 0
        for a in range(1, labels):
            if own[a] < own[best]:
                best = a
        chosen[pixel] = best
