"""What is known of a picture: the values, which entries they are, how deep the holes are, how noisy it is."""

from dataclasses import dataclass, field
from functools import partial

import numpy as np

from demosaic_ntc.arrays import Bits, Depths, Flags, Float32, Planes
from demosaic_ntc.engine.tiles import Windowed

DEEPEST = 48  # pixels into a hole; trust falls no further, or it would vanish in single precision
_MOST_CHANNELS = 8  # one bit for each


@dataclass(frozen=True, slots=True, eq=False)
class ObservedPixels:
    """The known entries of a picture with full scale 1."""

    entries: Bits  # (height, width): bit c is set where channel c is known
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

    @property
    def is_weighted(self) -> bool:
        """Whether every entry has a weight of its own."""
        return self.measured.shape[0] == 2 * len(self.low)

    def flags(self, channel: int) -> Flags:
        """Return which entries of a channel are known, (height, width)."""
        return np.asarray((self.entries >> channel) & 1, np.bool_)


def bits_of(known: Flags) -> Bits:
    """Return flags (channels, height, width) as one byte per pixel."""
    if len(known) > _MOST_CHANNELS:
        raise ValueError(f"{len(known)} channels do not fit into a byte")
    bits = np.zeros(known.shape[1:], np.uint8)
    for channel, flags in enumerate(known):
        bits |= flags.astype(np.uint8) << channel
    return bits
