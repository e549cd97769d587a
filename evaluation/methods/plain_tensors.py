"""General tensor completion on a picture: the height × width × 3 tensor of which some entries are known.

The picture is cut into tiles, each completed by itself: the singular value decompositions of SiLRTC grow with
the cube of a side, and a low rank fits a small tile better than a whole picture.
"""

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc import Restored, complete

from ..measure.protocol import SOLVER_LAYERS, engine
from . import als, low_rank, tncp
from .method import Method, Role
from .tensors import Floats, TensorSamples

#: The side of a block in a folded tile.
BLOCK = 8

#: λ over the largest sample: the norm lies between one and the nonnegative rank times that.
RADIUS = 2.0

#: The tolerance of our solver here.
GAP = 0.03

Completion = Callable[[TensorSamples], Floats]


def complete_known(
    picture: NDArray[Any], known: NDArray[np.bool_], complete: Completion, side: int
) -> NDArray[np.float32]:
    """Complete the tensor of a picture tile by tile; values are handed over as shares of full scale."""
    completed = np.empty(known.shape, np.float32)
    white = np.iinfo(picture.dtype).max
    for rows in _tiles(known.shape[0], side):
        for columns in _tiles(known.shape[1], side):
            tile = (rows, columns)
            index = np.argwhere(known[tile])
            shares = picture[tile][known[tile]] / white
            completed[tile] = white * complete(TensorSamples(known[tile].shape, index, shares))
    return completed


def _tiles(size: int, side: int) -> Iterator[slice]:
    """An axis in parts of nearly equal length, none above a side."""
    bounds = np.linspace(0, size, -(-size // side) + 1).astype(int)
    for start, stop in pairwise(bounds):
        yield slice(int(start), int(stop))


def complete_ours(samples: TensorSamples) -> Floats:
    """Our solver on such a tensor, for study: within twice the largest value, to GAP of the mean square.

    Nothing is proven here: on tensors of this size the proof takes longer than all the rest.
    """
    radius = RADIUS * max(float(samples.value.max()), 1e-6)
    how: Any = {"radius": radius, "gap": GAP, "oracle": "heuristic", "seed": 0}
    return complete(samples.shape, samples.index, samples.value, **how).dense()


def complete_ours_folded(samples: TensorSamples) -> Floats:
    """The same on the tensor (block row, block column, row, column, channel), whose blocks are 8 × 8.

    It ties places together that lie at the same spot of their block.
    """
    height, width, channels = samples.shape
    rows, columns, channel = samples.index.T
    index = np.stack([rows // BLOCK, columns // BLOCK, rows % BLOCK, columns % BLOCK, channel], axis=1)
    shape = (-(-height // BLOCK), -(-width // BLOCK), BLOCK, BLOCK, channels)
    folded = complete_ours(TensorSamples(shape, index, samples.value))
    flat = folded.transpose(0, 2, 1, 3, 4).reshape(shape[0] * BLOCK, shape[1] * BLOCK, channels)
    return flat[:height, :width]


_SOLVER = f"radius 2, gap {GAP}, {engine(SOLVER_LAYERS)}"

#: Completions with the settings that suit values in [0, 1], and whose they are.
COMPLETIONS: dict[str, tuple[str, Completion, Role]] = {
    "als": ("rank 10, ridge .03", lambda s: als.als(s, 0, als.TUNED).dense(), "peer"),
    "silrtc": ("shrinkage 1/30", lambda s: low_rank.silrtc(s, low_rank.TUNED), "peer"),
    "tncp": ("rank 10, soft thresholding", lambda s: tncp.tncp(s, 0, tncp.CORRECTED), "peer"),
    "ntc-whole": (_SOLVER, complete_ours, "part"),
    "ntc-tiled": (f"as blocks of 8×8, {_SOLVER}", complete_ours_folded, "part"),
}

#: Those that suit whole pictures.
PICTURE_COMPLETIONS = COMPLETIONS | {
    "silrtc": ("shrinkage 1/3", lambda s: low_rank.silrtc(s, low_rank.PICTURES), "peer"),
    "halrtc": ("step .01, growing by 1.1", low_rank.halrtc, "peer"),
}


def completion(
    name: str, entry: tuple[str, Completion, Role], side: int, run: Callable[[Completion, Any, Any], Any]
) -> Method:
    """A completion in tiles of a side; `run` makes a picture by it of what methods get."""
    settings, complete, role = entry
    tiled = f"height × width × 3 tensor in tiles of at most {side}×{side}, {settings}"
    return Method(name, tiled, role, lambda given, mask: Restored(run(complete, given, mask)))
