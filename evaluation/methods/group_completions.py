"""The ways to complete the tensor of a group of patches, by name: functions of `PatchTensor`.

Completions see its samples alone. The engine's Gaussian and the first estimate are there to compare with:
both know the estimate of every entry.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

import numpy as np

from demosaic_ntc.engine.kernels.completion import empty_group_tensor
from demosaic_ntc.engine.kernels.covariance import empty_gaussian
from demosaic_ntc.engine.kernels.face_mean import average_face
from demosaic_ntc.engine.kernels.gather import empty_group
from demosaic_ntc.engine.kernels.gaussian import predict_by_gaussian
from demosaic_ntc.engine.kernels.least_norm import find_least_norm
from demosaic_ntc.engine.passes import bits_of

from ..measure.protocol import engine
from . import als, low_rank, tncp
from .group_tensors import PatchTensor
from .method import Method, Role, index_by_name
from .tensors import Floats, RankOneSum, TensorSamples, constant_mean

# Settings that suit groups: of each method the best of seven or more on forty groups of mosaics, in the form
# of the method ntc, of four Kodak and four McMaster pictures. Ours are those of the product.
ALS = als.AlsSettings(rank=3, ridge=0.3)
SILRTC = low_rank.SilrtcSettings(gamma=100.0, iterations=300, tolerance=1e-4)
HALRTC = low_rank.HalrtcSettings(step=3.0)
TNCP = replace(tncp.CORRECTED, rank=3, step=0.3)

DEFAULT = (
    *("ntc", "als", "als-tuned", "silrtc", "silrtc-tuned", "tncp", "tncp-tuned", "halrtc", "halrtc-tuned"),
    *("mean", "gaussian", "estimate"),
)

_room = lru_cache(empty_group_tensor)  # for tensors of a shape


def complete_ours(group: PatchTensor) -> Floats:
    """Our kernels: the least norm that explains the samples, the mean over the optimal face."""
    samples, (channels, patches, pixels) = group.samples, group.known.shape
    room, is_turned = _room(channels, patches, pixels, group.norm.vertices), patches > pixels
    dense, known = np.zeros(samples.shape, np.float32), group.known
    dense[tuple(samples.index.T)] = samples.value
    if is_turned:
        dense, known = dense.transpose(0, 2, 1), known.transpose(0, 2, 1)
    room.tensor.value[:] = dense
    powers = np.left_shift(np.uint64(1), np.arange(known.shape[2], dtype=np.uint64))
    room.tensor.mask[:] = np.where(known, powers, np.uint64(0)).sum(axis=2, dtype=np.uint64)
    misfit = max(group.norm.misfit * float(samples.value @ samples.value), _noise(group))
    bounds = find_least_norm(room.tensor, misfit, group.norm.ratio, room.search, room.active)
    average_face(room.tensor.mask, room.active, bounds.vertices, room.draws, room.complete)
    complete = room.complete.astype(np.float64)
    return complete.transpose(0, 2, 1) if is_turned else complete


def _noise(group: PatchTensor) -> float:
    """The least noise that is reckoned with, summed over the samples, in entries of the tensor."""
    variance = group.norm.floor / np.square(group.form.gain * group.form.scale)
    return float((variance * group.known.sum(axis=(1, 2), keepdims=True)).sum())


def predict(group: PatchTensor) -> Floats:
    """The engine's Gaussian: mean and covariance of the group's estimate, given the samples."""
    channels, patches, pixels = group.known.shape
    entries, does = channels * pixels, group.does
    room = empty_group(patches, patches, patches, pixels, channels, False)
    room.data[:, :entries] = group.estimate.transpose(1, 0, 2).reshape(patches, entries)
    room.known[:] = bits_of(group.known)
    room.whole[:] = False
    model, exact = empty_gaussian(patches, patches, group.prior, patches), np.zeros((channels, 1), np.float32)
    predict_by_gaussian(room, model, channels, does.strength, does.floor, exact, does.noise, does.correction)
    return room.fit[:, :entries].reshape(patches, channels, pixels).transpose(1, 0, 2).astype(np.float64)


def catalogue() -> dict[str, Method]:
    """All methods by name; each returns the values of the whole group."""
    how, code = "least norm within the misfit of the method ntc, mean over the face", engine()
    return index_by_name(
        (
            Method("ntc", f"{how}, {code}", "ours", lambda g: g.restore(complete_ours(g))),
            _peer("als", "rank 10, ridge .1, published", lambda s: als.als(s, 0, als.PUBLISHED)),
            _peer("als-tuned", "rank 3, ridge .3", lambda s: als.als(s, 0, ALS)),
            _peer("silrtc", "published settings", lambda s: low_rank.silrtc(s, low_rank.PUBLISHED)),
            _peer("silrtc-tuned", "shrinkage 1/300", lambda s: low_rank.silrtc(s, SILRTC)),
            _peer("tncp", "rank 10, step 1e-4, soft thresholds", lambda s: tncp.tncp(s, 0, tncp.CORRECTED)),
            _peer("tncp-tuned", "rank 3, step .3, soft thresholds", lambda s: tncp.tncp(s, 0, TNCP)),
            _peer("halrtc", "step .01, growing by 1.1", low_rank.halrtc),
            _peer("halrtc-tuned", "step 3, growing by 1.1", lambda s: low_rank.halrtc(s, HALRTC)),
            _peer("mean", "the mean of the samples everywhere", constant_mean, "part"),
            Method(
                "gaussian", f"the engine's prediction, covariance of the estimate, {code}", "ours", predict
            ),
            Method("estimate", f"the first estimate as it is, {code}", "part", lambda g: g.estimate),
        )
    )


def _peer(
    name: str, settings: str, solve: Callable[[TensorSamples], RankOneSum | Floats], role: Role = "peer"
) -> Method:
    """A completion from samples alone."""

    def run(group: PatchTensor) -> Floats:
        entries = solve(group.samples)
        return group.restore(entries.dense() if isinstance(entries, RankOneSum) else entries)

    return Method(name, settings, role, run)
