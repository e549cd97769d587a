"""Groups of similar patches as tensors, of which a colour array or a mask shows some entries.

Groups are found on a first estimate, as the method `ntc` finds them, and have its form: the tensor (channel,
patch, pixel), each channel brought to mean 0 and deviation 1 of the group's estimate, a share of its
brightness taken off, shifted so that the least sample is 0. Here the largest is 1 in addition, for which the
settings of other methods are meant; a least norm is scaled with it. The plain form is the values themselves.
Around a mask the groups are those of the kind of hole that most of its pixels belong to.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc import demosaic, inpaint
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.engine.groups import References
from demosaic_ntc.engine.kernels.completion import LeastNorm
from demosaic_ntc.engine.kernels.group_pass import GAUSSIAN, SHAPE_UNIT, KernelImage, Pass, add_shapes
from demosaic_ntc.engine.kernels.matching import match_patches
from demosaic_ntc.engine.pass_tables import COMPLETIONS, PLANS
from demosaic_ntc.engine.passes import DEEPEST, HoleKind, PatchGrid, Step, bits_of
from demosaic_ntc.inpainting.classification import depths, kinds_of

from ..data.masks import make_mask
from ..measure.metrics import PEAK, Bytes
from .tensors import Flags, Floats, TensorSamples

Planes = NDArray[np.float32]
Places = NDArray[np.int64]
Offsets = NDArray[np.int8]

MOSAIC, PLAIN = "mosaic", "plain"  # tasks; others are masks

_QUALITY = "normal"
_LEAST_CONFIDENCE = 1e-6
_LEAST_DEVIATION = 2 / 255  # added to that of a channel, as the method does
_SHAPES = 256  # groups whose covariances make the prior of Gaussians


@dataclass(frozen=True, slots=True, eq=False)
class Form:
    """How values become entries of a tensor: ((value − level) / gain − brightness − shift) / scale."""

    level: Floats  # (channels, 1, 1)
    gain: Floats  # (channels, 1, 1)
    brightness: Floats  # (patches, pixels)
    shift: float
    scale: float

    @classmethod
    def of(cls, estimate: Floats, known: Flags, share: float) -> "Form":
        """The method's form of a group, (channels, patches, pixels), without a share of its brightness."""
        level = estimate.mean(axis=(1, 2), keepdims=True)
        gain = estimate.std(axis=(1, 2), keepdims=True) + _LEAST_DEVIATION
        bright = (estimate - level).mean(axis=0)
        brightness = share * bright / (float(np.sqrt(np.square(bright).mean())) + _LEAST_DEVIATION)
        return cls(level, gain, brightness, 0.0, 1.0).fit_to(estimate, known)

    @classmethod
    def plain(cls, estimate: Floats, known: Flags) -> "Form":
        """The values themselves, the largest sample 1."""
        channels = (len(estimate), 1, 1)
        largest = float(estimate[known].max())
        return cls(np.zeros(channels), np.ones(channels), np.zeros(estimate.shape[1:]), 0.0, largest or 1.0)

    def fit_to(self, values: Floats, known: Flags) -> "Form":
        """The same form, shifted and scaled so that samples go from 0 to 1."""
        samples = self.apply(values)[known]
        shift, scale = float(samples.min()), float(np.ptp(samples))
        return Form(self.level, self.gain, self.brightness, shift, scale or 1.0)

    def apply(self, values: Floats) -> Floats:
        """Values as entries of the tensor."""
        return np.asarray(((values - self.level) / self.gain - self.brightness - self.shift) / self.scale)

    def invert(self, entries: Floats) -> Floats:
        """Entries of the tensor as values."""
        return np.asarray(
            (entries * self.scale + self.shift + self.brightness) * self.gain + self.level, dtype=np.float64
        )


@dataclass(frozen=True, slots=True, eq=False)
class PatchTensor:
    """A group of patches, (channels, patches, pixels), full scale 1: what is known of it, and the truth."""

    truth: Floats
    estimate: Floats  # the first one, with what is known in its place
    known: Flags
    form: Form
    norm: LeastNorm  # how our method completes it
    does: Pass  # how the engine predicts it
    prior: Planes = field(repr=False)  # (entry, entry): the shape of covariances in the whole picture

    @property
    def samples(self) -> TensorSamples:
        """All that completions are told."""
        values = self.form.apply(self.estimate)[self.known]
        return TensorSamples(self.known.shape, np.argwhere(self.known), values)

    def restore(self, entries: Floats) -> Floats:
        """The values of a completed tensor; what it leaves of a channel's samples in the mean is added."""
        left = np.where(self.known, self.form.apply(self.estimate) - entries, 0.0)
        count = np.maximum(self.known.sum(axis=(1, 2), keepdims=True), 1)
        return self.form.invert(entries + left.sum(axis=(1, 2), keepdims=True) / count)


@dataclass(frozen=True, slots=True, eq=False)
class GroupSource:
    """A picture in which groups are found, (channels, height, width), with full scale 1."""

    truth: Planes
    estimate: Planes  # with what is known in its place
    known: Flags
    step: Step  # of the method that completes groups
    does: Pass  # of the one that predicts them
    is_plain: bool = False
    confidence: Planes = field(default_factory=lambda: np.zeros((0, 0), np.float32))

    def draw(self, count: int, seed: int) -> list[PatchTensor]:
        """Groups of references drawn by seed among those whose patch lacks anything, or all of these."""
        grid = self.step.patches.fit_to(self.truth.shape[1:])
        places = References.of(~np.logical_and.reduce(self.known), grid).places
        generator = np.random.default_rng(seed)
        shapes = places[np.sort(generator.permutation(len(places))[:_SHAPES])]
        chosen = places[np.sort(generator.permutation(len(places))[:count])]
        prior = self._prior(shapes, grid)
        groups = (self._gather(place, self._match(place, grid), grid, prior) for place in chosen)
        return [group for group in groups if group is not None]

    def _match(self, place: Places, grid: PatchGrid) -> Offsets:
        """The offsets of the patches of a group, (patches, 2)."""
        found = np.empty((1, grid.count, 2), np.int8)
        match_patches(self.estimate, self.confidence, place[None], grid.size, grid.offsets, found)
        offsets: Offsets = found[0]
        return offsets

    def _prior(self, places: Places, grid: PatchGrid) -> Planes:
        """The mean shape of the covariances of some groups."""
        entries, nothing = len(self.truth) * grid.size**2, np.zeros((0, 0, 0), np.float32)
        total, bits = np.zeros((entries, entries), np.int64), bits_of(self.known)
        picture = KernelImage(self.estimate, bits, bits, nothing, np.zeros((len(self.truth), 1), np.float32))
        found = np.array([self._match(place, grid) for place in places])
        add_shapes(picture, places, found, grid.size, total)
        lower = total * (SHAPE_UNIT / len(places))
        return np.asarray(lower + np.tril(lower, -1).T, np.float32)

    def _gather(self, place: Places, offsets: Offsets, grid: PatchGrid, prior: Planes) -> PatchTensor | None:
        """The group of a reference; None where it shows nothing."""
        steps = np.arange(grid.size)
        rows = (place[0] + offsets[:, 0].astype(np.int64))[:, None, None] + steps[:, None]
        columns = (place[1] + offsets[:, 1].astype(np.int64))[:, None, None] + steps
        shape = (len(self.truth), grid.count, grid.size**2)
        truth, estimate = (
            each[:, rows, columns].reshape(shape).astype(np.float64) for each in (self.truth, self.estimate)
        )
        known = self.known[:, rows, columns].reshape(shape)
        if not known.any() or self.step.norm is None:
            return None
        norm = self.step.norm
        form = Form.plain(estimate, known) if self.is_plain else Form.of(estimate, known, norm.brightness)
        return PatchTensor(truth, estimate, known, form, norm, self.does, prior)


def make_source(task: str, picture: Bytes, cfa: Cfa, seed: int) -> GroupSource:
    """A task on a picture, (height, width, 3)."""
    if task in (MOSAIC, PLAIN):
        return sample_mosaic(picture, cfa, is_plain=task == PLAIN)
    return cut_holes(picture, make_mask(task, (picture.shape[0], picture.shape[1]), seed))


def sample_mosaic(picture: Bytes, cfa: Cfa, *, is_plain: bool = False) -> GroupSource:
    """The samples of a colour array, and the first estimate of the rest."""
    kind = HoleKind.BAYER if cfa.is_bayer else HoleKind.ARRAY
    truth = to_planes(picture)
    known = np.ascontiguousarray(cfa.masks(picture.shape[:2]).transpose(2, 0, 1))
    first = to_planes(demosaic(cfa.sample(picture), cfa, method="blend", threads=1).image)
    estimate = np.where(known, truth, first)
    return GroupSource(truth, estimate, known, COMPLETIONS[_QUALITY][kind][-1], _predictor(kind), is_plain)


def cut_holes(picture: Bytes, missing: Flags) -> GroupSource:
    """What a mask leaves, and its holes filled smoothly."""
    kind = HoleKind(int(np.bincount(kinds_of(missing)[missing]).argmax()))
    truth, step = to_planes(picture), COMPLETIONS[_QUALITY][kind][-1]
    damaged = np.where(missing[..., None], 0.0, picture / PEAK)
    first = inpaint(damaged, missing, method="biharmonic", threads=1).image
    known = np.ascontiguousarray(np.broadcast_to(~missing, truth.shape))
    estimate = np.where(known, truth, to_planes(PEAK * first))
    return GroupSource(truth, estimate, known, step, _predictor(kind), confidence=_confidence(missing, step))


def to_planes(picture: NDArray[Any]) -> Planes:
    """A picture as channels of full scale 1."""
    return np.ascontiguousarray(np.moveaxis(picture, 2, 0), dtype=np.float32) / np.float32(PEAK)


def _predictor(kind: HoleKind) -> Pass:
    """The engine's last prediction by Gaussians for a kind of hole."""
    return next(step.does for step in reversed(PLANS[_QUALITY][kind]) if step.does.predictor == GAUSSIAN)


def _confidence(missing: Flags, step: Step) -> Planes:
    """The trust in pixels when patches are compared: less the deeper in a hole."""
    trust = step.compute_trust(0)[np.minimum(depths(missing), DEEPEST)]
    return np.maximum(np.where(missing, trust, 1.0), _LEAST_CONFIDENCE).astype(np.float32)
