"""A hole and its surroundings at several scales: what is known, what is to be filled, where to copy from."""

from dataclasses import dataclass
from math import ceil, log2

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import binary_erosion, convolve1d, distance_transform_edt, maximum_filter

from demosaic_ntc.arrays import Flags, Float32
from demosaic_ntc.inpainting.texture.kernels import PATCH, REACH, Places

_TRUST = 1.1  # what a step into the hole takes from a pixel's weight
_LEAST_TRUST = 0.02
_SHALLOW = 6  # pixels: a hole no deeper than this is not reduced further
_LEAST_SIDE = 28  # of the coarsest scale
_LEAST_SOURCES = 64  # patches to copy from that every scale has
_BINOMIAL = np.array([1, 3, 3, 1]) / 8


@dataclass(frozen=True, slots=True)
class Scene:
    """A picture around a hole: what it shows and what may be done with its pixels."""

    values: Float32  # (height, width, channels)
    hole: Flags  # to be filled with texture
    shown: Flags  # values are to be looked at
    source: Flags  # values may be copied

    def reduce(self) -> "Scene":
        """Return the scene at half the scale: means of what is shown under a binomial window.

        A pixel is shown if two of its four are, and may be copied if all of them may.
        """
        height, width = self.hole.shape
        pads = ((0, height % 2), (0, width % 2))
        values = np.pad(self.values, (*pads, (0, 0)), mode="edge")
        hole, shown, source = (
            np.pad(each, pads, mode="edge") for each in (self.hole, self.shown, self.source)
        )
        means = _mean_shown(values, shown[..., None])
        seen = _block_sums(shown) >= 2
        return Scene(
            np.where(seen[..., None], means, np.float32(0)),
            ~seen & (_block_sums(hole) > 0),
            seen,
            seen & (_block_sums(source) == 4),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """A scale at which patches are searched: arrays of a scene with a border of `REACH` pixels."""

    values: Float32  # (height, width, channels)
    hole: Flags
    shown: Flags
    source: Flags
    weight: Float32  # how far a pixel is to be trusted; 0 where nothing is shown
    is_source: Flags  # centres of patches that may be copied
    targets: Places  # centres of patches that cover some of the hole
    pixels: Places  # of the hole

    @property
    def sources(self) -> Places:
        """Centres of patches that may be copied."""
        return places_of(self.is_source)

    @classmethod
    def of(cls, scene: Scene) -> "Level":
        """Return the level of a scene."""
        hole, shown, source = (np.pad(each, REACH) for each in (scene.hole, scene.shown, scene.source))
        values = np.pad(scene.values, ((REACH, REACH), (REACH, REACH), (0, 0)))
        depth = np.asarray(distance_transform_edt(np.pad(scene.hole, REACH, mode="edge")), np.float32)
        trust = np.maximum(np.float32(_TRUST) ** -depth, np.float32(_LEAST_TRUST))
        weight = np.where(hole, trust, shown.astype(np.float32))
        covered = maximum_filter(hole, PATCH)
        covered[:REACH], covered[-REACH:], covered[:, :REACH], covered[:, -REACH:] = (
            False,
            False,
            False,
            False,
        )
        values[hole] = 0
        return cls(
            values,
            hole,
            shown,
            source,
            np.ascontiguousarray(weight, np.float32),
            find_sources(source),
            places_of(covered),
            places_of(hole),
        )


def find_sources(source: Flags) -> Flags:
    """Return the centres of patches of which every pixel may be copied."""
    return np.asarray(binary_erosion(source, np.ones((PATCH, PATCH))))


def places_of(flags: Flags) -> Places:
    """Return the rows and columns of flags that are set."""
    return np.argwhere(flags).astype(np.int32)


def make_pyramid(scene: Scene) -> list[Scene]:
    """Return a scene at all its scales, the finest first: until the hole is shallow."""
    depth = float(distance_transform_edt(np.pad(scene.hole, 1, mode="edge")).max())
    scenes = [scene]
    for _ in range(count_reductions(depth)):
        smaller = scenes[-1].reduce()
        few = np.count_nonzero(find_sources(smaller.source)) < _LEAST_SOURCES
        if few or min(smaller.hole.shape) < _LEAST_SIDE or not smaller.hole.any():
            break
        scenes.append(smaller)
    return scenes


def count_reductions(depth: float) -> int:
    """Return how often a hole of some depth in pixels is halved."""
    return max(ceil(log2(max(depth, 1.0) / _SHALLOW)), 0)


def _mean_shown(values: Float32, shown: Flags) -> Float32:
    """Return the means of what is shown under the binomial window, of every second pixel."""
    weight = _blur(shown.astype(np.float32))
    return np.asarray(_blur(values * shown) / np.maximum(weight, np.float32(1e-6)))


def _blur(values: Float32) -> Float32:
    """Return every second pixel of values under the binomial window."""
    padded = np.pad(values, ((1, 1), (1, 1), (0, 0)), mode="edge")
    rows = convolve1d(padded, _BINOMIAL, axis=0, origin=1)[: len(values) : 2]
    return np.asarray(convolve1d(rows, _BINOMIAL, axis=1, origin=1)[:, : values.shape[1] : 2], np.float32)


def _block_sums(flags: Flags) -> NDArray[np.int_]:
    """Return how many flags of each block of 2 × 2 are set."""
    height, width = flags.shape
    return np.asarray(flags.reshape(height // 2, 2, width // 2, 2).sum(axis=(1, 3)))
