"""What a step over groups begins with, how groups are formed, what is done with them, and what comes of it.

What is known of a picture: the values, which entries they are, how deep the holes are, how noisy it is.
"""

from dataclasses import dataclass, field, replace
from enum import IntEnum
from functools import partial
from typing import Any, Protocol

import numpy as np

from demosaic_ntc.arrays import Bits, Depths, Flags, Float32, Places, Planes
from demosaic_ntc.engine.kernels.completion import LeastNorm
from demosaic_ntc.engine.kernels.group_pass import COMPLETION, GAUSSIAN, MEAN, Pass
from demosaic_ntc.engine.tiles import Windowed

_DECAY = 0.65  # of trust, with every pixel further into a hole
_LEVEL = 1 / 255


class HoleKind(IntEnum):
    """What is missing around a pixel: kinds of holes, in the order of their repair, and of mosaics."""

    KNOWN = 0
    SPARSE = 1  # dead pixels, thin writing, light random loss: most of a patch is known
    LINES = 2  # dead rows and columns, hairs: one pixel wide, so that much of what is lost can be told
    SCATTERED = 3  # random loss, writing, thin scratches
    WIDE = 4  # strokes and blocks of several pixels; random loss of most pixels
    DEEP = 5  # holes wider than what patches span
    BAYER = 6  # a mosaic of Bayer's array: groups show few patterns of samples
    ARRAY = 7  # a mosaic of another array: groups show many


@dataclass(frozen=True, slots=True)
class PatchGrid:
    """How groups are formed."""

    size: int  # pixels across a patch
    stride: int  # pixels from one reference patch to the next; beyond the size there are gaps between them
    count: int  # patches in a group
    reach: int  # of the search, in each direction
    dense: int = 127  # how far out the search looks at every place; beyond, at every second row and column

    @property
    def offsets(self) -> Places:
        """Where the search looks, (candidates, 2), nearest first."""
        steps = np.arange(-self.reach, self.reach + 1)
        dy, dx = np.meshgrid(steps, steps, indexing="ij")
        near = np.maximum(abs(dy), abs(dx)) <= self.dense
        kept = (near | ((dy % 2 == 0) & (dx % 2 == 0))) & ((dy != 0) | (dx != 0))
        places = np.stack([dy[kept], dx[kept]], axis=1).astype(np.int64)
        return places[np.argsort(np.square(places).sum(axis=1), kind="stable")]

    def fit_to(self, shape: tuple[int, ...]) -> "PatchGrid":
        """Return patches that fit into a picture of a height and a width."""
        size = min(self.size, *shape)
        return self if size == self.size else replace(self, size=size, stride=min(self.stride, size))


@dataclass(frozen=True, slots=True)
class Step:
    """One pass over the groups of a picture."""

    patches: PatchGrid
    does: Pass
    relaxed: float = 1.0  # ω: how far to go from the estimate to what the groups say, where samples are exact
    noisy: float = 1.0  # ω where noise dominates
    noisy_strength: float | None = None  # of the prior where noise dominates; None: as without noise
    trust: tuple[float, float] = (1.0, 1.0)  # in unknown entries: when comparing patches, when taking means
    norm: LeastNorm | None = None  # how groups are completed, where they are
    least_move: float = 0.0  # of full scale: pixels that the step before moved by less are left as they are
    spread: float = 0.0  # pixels: how far what groups leave at known entries is felt in holes; 0: nowhere

    @property
    def dense(self) -> "Step":
        """The same step with a reference patch for every pixel."""
        patches = replace(self.patches, stride=min(self.patches.stride, self.patches.size))
        return replace(self, patches=patches)

    def adapt_to_noise(self, variance: float) -> "Step":
        """Return the step for samples of a variance: ω and the prior go to their other limits, ε² to none.

        Noise makes a model regular by itself, and what ε² lets pass of it would show the sites of samples.
        """
        does, share = self.does, variance / (variance + self.does.noise)
        relaxed = self.relaxed + share * (self.noisy - self.relaxed)
        limit = does.strength if self.noisy_strength is None else self.noisy_strength
        strength = does.strength + share * (limit - does.strength)
        return replace(
            self, relaxed=relaxed, does=does._replace(floor=does.floor * (1 - share), strength=strength)
        )

    def compute_trust(self, which: int) -> Float32:
        """Return the trust in missing entries by their depth, (DEEPEST + 1)."""
        falling = self.trust[which] * _DECAY ** (np.arange(DEEPEST + 1) - 1.0)
        return np.asarray(np.minimum(falling, 1.0), np.float32)


def gaussian(
    restored: int, strength: float = 5.0, floor: float = 0.3, noise: float = 0.5, correction: float = 0.0
) -> Pass:
    """Return a pass that predicts by Gaussians; floor ε and noise σ are in 255ths of full scale."""
    return Pass(
        predictor=GAUSSIAN,
        restored=restored,
        strength=strength,
        floor=(floor * _LEVEL) ** 2,
        correction=correction,
        noise=(noise * _LEVEL) ** 2,
        least=1e-5,
    )


def mean(restored: int) -> Pass:
    """Return a pass that predicts by trusted means."""
    return gaussian(restored)._replace(predictor=MEAN, least=3e-5)


def completion(restored: int) -> Pass:
    """Return a pass that completes groups."""
    return gaussian(restored)._replace(predictor=COMPLETION)


DEEPEST = 48  # pixels into a hole; trust falls no further, or it would vanish in single precision
_MOST_CHANNELS = 8  # one bit for each


class WindowedBits(Protocol):
    """Bits of the pixels of a picture, (height, width), that are read window by window."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Height and width."""

    def __getitem__(self, place: tuple[slice, slice], /) -> Any:
        """Return the bits of a window."""


@dataclass(frozen=True, slots=True, eq=False)
class ObservedPixels:
    """The known entries of a picture with full scale 1."""

    entries: WindowedBits  # (height, width): bit c is set where channel c is known
    depth: Depths  # (height, width): pixels to the nearest one that is known in all it can be; 0 is known
    low: Float32  # (channels): no entry of a channel lies below, nor above the next
    high: Float32
    noise: Float32  # (channels, levels): the variance of known entries, at equal steps from level 0 to 1
    measured: Windowed = field(default_factory=partial(np.zeros, (0, 0, 0), np.float32))
    """What is known, where it is noisy and not to be kept: (channels or 1, height, width); else empty.

    Of twice the channels where entries are of unequal worth: information about the estimate, then weights.
    """
    noise_share: float = 1.0  # the share of that noise that is really there: more may be assumed

    @classmethod
    def of(
        cls, planes: Planes, known: Flags, depth: Depths, noise: Float32 | None = None
    ) -> "ObservedPixels":
        """Return what is known of planes; ``known`` are flags of their shape, without ``noise`` exact."""
        low = planes.min(axis=(1, 2), initial=np.inf, where=known)
        high = planes.max(axis=(1, 2), initial=-np.inf, where=known)
        unseen = low > high  # nothing is known of such a channel: the estimate bounds it
        low, high = (
            np.where(unseen, planes.min(axis=(1, 2)), low),
            np.where(unseen, planes.max(axis=(1, 2)), high),
        )
        exact = np.zeros((len(planes), 1), np.float32)
        noise = exact if noise is None else noise
        return cls(bits_of(known), depth, low.astype(np.float32), high.astype(np.float32), noise)

    def flags(self, channel: int) -> Flags:
        """Return which entries of a channel are known, (height, width)."""
        return np.asarray((self.entries[:, :] >> channel) & 1, np.bool_)


def bits_of(known: Flags) -> Bits:
    """Return flags (channels, height, width) as one byte per pixel."""
    if len(known) > _MOST_CHANNELS:
        raise ValueError(f"{len(known)} channels do not fit into a byte")
    bits = np.zeros(known.shape[1:], np.uint8)
    for channel, flags in enumerate(known):
        bits |= flags.astype(np.uint8) << channel
    return bits
