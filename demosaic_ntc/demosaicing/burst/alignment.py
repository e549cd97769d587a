"""Alignment: where the samples of each frame lie in the reference picture.

Phase correlation of small pictures tells the shift. Gauss and Newton's method then finds an affine map on
pictures of growing size, and at last on the raw samples themselves, each compared with the reference picture
in its own colour (Lucas and Kanade, 1981). Where a frame still disagrees, a flow is added that varies slowly.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from demosaic_ntc.arrays import Flags, Float32, Float64, Planes
from demosaic_ntc.demosaicing.burst.motion_kernels import (
    FLOW_CELL,
    PARAMETERS,
    add_affine_equations,
    add_flow_equations,
)
from demosaic_ntc.demosaicing.group_demosaic import MeasuredMosaic
from demosaic_ntc.run import Run

_ROWS = 128  # of a frame that are worked on together; always as many, whatever the threads
_SMALLEST = 48  # pixels across the smallest picture that is compared
_COARSE_ROUNDS, _ROUNDS = 6, 4
_SAMPLES = 1_500_000  # of a frame that tell where it lies: more change nothing
_SNAP = 0.05  # pixels from whole ones at which a shift is taken for a sensor's
_FLOW_ROUNDS = 3
_FLOW_PRIOR = 0.3  # pixels: the deviation expected of a flow
_FLOW_WINDOW = 0.7  # cells over which a flow is even

NO_FLOW = np.zeros((2, 0, 0), np.float32)
IDENTITY = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])


@dataclass(frozen=True, slots=True, eq=False)
class Motion:
    """Where the samples of a frame lie in the reference picture."""

    affine: Float64 = field(default_factory=lambda: IDENTITY.copy())  # (2, 3): of 1, row and column
    flow: Float32 = field(default_factory=lambda: NO_FLOW)  # (2, rows, columns): see `motion_kernels`

    def shift(self, shape: tuple[int, int]) -> tuple[float, float]:
        """Return how far the centre of the frame is shifted, in rows and columns."""
        centre = np.array([1.0, (shape[0] - 1) / 2, (shape[1] - 1) / 2])
        row, column = self.affine @ centre - centre[1:]
        return float(row), float(column)

    @property
    def rotation(self) -> float:
        """By how many degrees the frame is turned."""
        (_, a, b), (_, c, d) = self.affine
        return float(np.degrees(np.arctan2(c - b, a + d)))

    def snap(self, shape: tuple[int, int]) -> "Motion":
        """Return a shift by whole pixels where this is nearly one, all over the frame; else the same."""
        corners = np.array([[1.0, y, x] for y in (0, shape[0] - 1) for x in (0, shape[1] - 1)])
        moved = corners @ self.affine.T - corners[:, 1:]
        whole = np.rint(moved.mean(axis=0))
        if np.abs(moved - whole).max() > _SNAP:
            return self
        return Motion(IDENTITY + np.outer(whole, [1.0, 0.0, 0.0]))

    def source_rows(self, rows: slice, shape: tuple[int, int]) -> slice:
        """Return the rows of the frame whose samples may lie in some rows of the reference."""
        inverse = np.linalg.inv(self.affine[:, 1:])
        corners = np.array([[y, x] for y in (rows.start, rows.stop) for x in (0, shape[1])], np.float64)
        found = (corners - self.affine[:, 0]) @ inverse.T
        margin = 2 + (float(np.abs(self.flow).max()) if self.flow.size else 0.0)
        low, high = found[:, 0].min() - margin, found[:, 0].max() + margin
        return slice(int(np.clip(low, 0, shape[0])), int(np.clip(np.ceil(high), 0, shape[0])))


@dataclass(frozen=True, slots=True, eq=False)
class ReferencePicture:
    """What frames are compared with."""

    planes: Planes
    detail: Planes  # (channels, rows, columns): the energy of detail in cells
    cell: int  # pixels across these


def pool(values: Float32, side: int) -> Float32:
    """Return the means of square cells of (height, width); what remains at the ends is left out."""
    height, width = (length // side * side for length in values.shape)
    cells = values[:height, :width].reshape(height // side, side, width // side, side)
    return np.ascontiguousarray(cells.mean(axis=(1, 3), dtype=np.float32))


def measure_detail(planes: Planes) -> Planes:
    """Return the energy of detail in cells of 2 × 2 pixels, blurred: the squared distance from a blur."""
    from scipy.ndimage import gaussian_filter  # noqa: PLC0415 (slow to load)

    cells = [pool(np.square(plane - gaussian_filter(plane, 1.0)), 2) for plane in planes]
    return np.stack([gaussian_filter(each, 1.0) for each in cells])


def align(frame: MeasuredMosaic, picture: ReferencePicture, start: Motion, run: Run) -> Motion:
    """Return where the raw samples of a frame lie, from a start that is off by a pixel or two."""
    _, height, width = frame.samples.shape
    period = max(frame.cfa.period)
    step = max(1, round((height * width / _SAMPLES) ** 0.5))
    variance = mean_variance(frame)
    motion = start
    for _ in range(_ROUNDS):
        normal = np.zeros((PARAMETERS + 1, PARAMETERS + 1))
        work = _affine_work(frame, picture, motion, variance, step)
        for part in run.map(work, list(_bands(height, period))):
            normal += part
        motion = replace(motion, affine=motion.affine + _solve(normal))
    return motion


def mean_variance(frame: MeasuredMosaic) -> Float32:
    """Return the variance of the noise of each channel in the mean over levels; at least that of rounding."""
    least = np.float32((0.1 / 255) ** 2)
    if frame.noise is None:
        return np.full(3, least, np.float32)
    return np.maximum(frame.noise.mean(axis=1), least).astype(np.float32)


def _affine_work(
    frame: MeasuredMosaic, picture: ReferencePicture, motion: Motion, variance: Float32, step: int
):
    pattern = frame.cfa.pattern

    def work(rows: slice) -> Float64:
        normal = np.zeros((PARAMETERS + 1, PARAMETERS + 1))
        samples, missing = read_rows(frame, rows)
        add_affine_equations(
            samples,
            missing,
            pattern,
            picture.planes,
            picture.detail,
            picture.cell,
            variance,
            motion.affine,
            motion.flow,
            rows.start,
            step,
            normal,
        )
        return normal

    return work


def read_rows(frame: MeasuredMosaic, rows: slice) -> tuple[Float32, Flags]:
    """Return some rows of a frame, and which of their samples are not to be used."""
    samples = frame.samples.window(rows, slice(None))
    missing = np.zeros(samples.shape, np.bool_) if frame.missing is None else frame.missing[rows]
    return samples, np.ascontiguousarray(missing)


def _bands(height: int, period: int) -> Iterator[slice]:
    """Cut rows into bands that start at multiples of the array's period."""
    tall = -(-_ROWS // period) * period
    return (slice(start, min(start + tall, height)) for start in range(0, height, tall))


def _solve(normal: Float64) -> Float64:
    """Return the step of Gauss and Newton's method, (2, 3); none where the equations tell nothing."""
    lower = np.tril(normal[:PARAMETERS, :PARAMETERS])
    matrix = lower + np.tril(lower, -1).T
    scale = np.sqrt(np.maximum(np.diag(matrix), 1e-30))
    matrix = matrix / np.outer(scale, scale) + 1e-9 * np.eye(PARAMETERS)
    found = np.linalg.solve(matrix, normal[PARAMETERS, :PARAMETERS] / scale) / scale
    return np.asarray(found.reshape(2, 3))


def align_coarsely(frame: Float32, reference: Float32, side: int) -> Motion:
    """Return where a frame lies, from grey pictures of both in cells of ``side`` pixels across.

    Phase correlation at the smallest size, then affine maps from size to size.
    """
    from skimage.registration import phase_cross_correlation  # noqa: PLC0415 (slow to load)

    pyramid = [(frame, reference)]
    while min(pyramid[-1][0].shape) >= 2 * _SMALLEST:
        pyramid.append((pool(pyramid[-1][0], 2), pool(pyramid[-1][1], 2)))
    # Shifts of many pixels show at any size, and best where noise is averaged out but detail is left.
    level = max(0, len(pyramid) - 3)
    moving, fixed = (_flatten(each) for each in pyramid[level])
    shift, _, _ = phase_cross_correlation(fixed, moving, upsample_factor=4, normalization="phase")
    affine = IDENTITY.copy()
    affine[:, 0] = shift * 2.0**level
    best = min((IDENTITY, affine), key=lambda each: _distance(pyramid[level], each, 2.0**level))
    motion = Motion(best.copy())
    for depth in range(level, -1, -1):
        motion = _refine_grey(*pyramid[depth], motion, 2**depth)
    return Motion(_enlarge(motion.affine, side))


def _flatten(picture: Float32) -> Float32:
    """Return a picture without its mean that fades out at the border."""
    rows, columns = (np.hanning(length + 2)[1:-1] for length in picture.shape)
    return np.asarray((picture - picture.mean()) * np.outer(rows, columns), np.float32)


def _distance(pair: tuple[Float32, Float32], affine: Float64, side: float) -> float:
    """Return how far two pictures differ where they overlap when one is shifted, by the median."""
    moving, fixed = pair
    dy, dx = (round(float(value) / side) for value in affine[:, 0])
    height, width = fixed.shape
    a = fixed[max(dy, 0) : height + min(dy, 0), max(dx, 0) : width + min(dx, 0)]
    b = moving[max(-dy, 0) : height - max(dy, 0), max(-dx, 0) : width - max(dx, 0)]
    return float(np.mean(np.abs(a - b))) if a.size > fixed.size / 4 else np.inf


def _refine_grey(frame: Float32, reference: Float32, motion: Motion, side: int) -> Motion:
    """Improve an affine map on grey pictures whose pixels are ``side`` across."""
    affine = _shrink(motion.affine, side)
    planes, missing = reference[None], np.zeros(frame.shape, np.bool_)
    detail = measure_detail(planes)
    variance = np.array([np.float32((1 / 255) ** 2)])
    for _ in range(_COARSE_ROUNDS):
        normal = np.zeros((PARAMETERS + 1, PARAMETERS + 1))
        add_affine_equations(
            frame,
            missing,
            np.zeros((1, 1), np.uint8),
            planes,
            detail,
            2,
            variance,
            affine,
            NO_FLOW,
            0,
            1,
            normal,
        )
        affine = affine + _solve(normal)
    return Motion(_enlarge(affine, side))


def _shrink(affine: Float64, side: int) -> Float64:
    """Return a map between pixels as one between cells, whose centres lie (side − 1) / 2 further in."""
    inner = (side - 1) / 2
    start = affine[:, 0] + inner * affine[:, 1:].sum(axis=1) - inner
    return np.column_stack([start / side, affine[:, 1:]])


def _enlarge(affine: Float64, side: int) -> Float64:
    """Return a map between cells as one between pixels."""
    inner = (side - 1) / 2
    start = affine[:, 0] * side + inner - inner * affine[:, 1:].sum(axis=1)
    return np.column_stack([start, affine[:, 1:]])


def add_flow(frame: MeasuredMosaic, picture: ReferencePicture, motion: Motion, run: Run) -> Motion:
    """Return where the samples of a frame lie if parts of it moved by themselves, a little."""
    from scipy.ndimage import gaussian_filter  # noqa: PLC0415 (slow to load)

    _, height, width = frame.samples.shape
    grid = tuple(-(-length // FLOW_CELL) + 1 for length in (height, width))
    flow = motion.flow if motion.flow.size else np.zeros((2, *grid), np.float32)
    variance, bands = mean_variance(frame), list(_bands(height, FLOW_CELL * max(frame.cfa.period)))
    prior = 1 / _FLOW_PRIOR**2
    for _ in range(_FLOW_ROUNDS):
        current = replace(motion, flow=flow)

        def work(rows: slice, current: Motion = current) -> Float32:
            normal = np.zeros((5, *grid), np.float32)
            samples, missing = read_rows(frame, rows)
            add_flow_equations(
                samples,
                missing,
                frame.cfa.pattern,
                picture.planes,
                picture.detail,
                picture.cell,
                variance,
                current.affine,
                current.flow,
                rows.start,
                FLOW_CELL,
                normal,
            )
            return normal

        normal = np.zeros((5, *grid), np.float32)
        for part in run.map(work, bands):
            normal += part
        a, b, c, r, s = (gaussian_filter(each, _FLOW_WINDOW) for each in normal)
        # What was told of the middle of cells is taken for their corners' after averaging the four around.
        a, b, c, r, s = (_corner_means(each) for each in (a, b, c, r, s))
        a, c = a + prior, c + prior
        r, s = r - prior * flow[0], s - prior * flow[1]
        determinant = a * c - b * b
        flow = flow + np.stack([(c * r - b * s) / determinant, (a * s - b * r) / determinant]).astype(
            np.float32
        )
    return replace(motion, flow=np.ascontiguousarray(flow, np.float32))


def _corner_means(cells: Float32) -> Float32:
    """Return the means of the four cells around each corner."""
    padded = np.pad(cells[:-1, :-1], 1, mode="edge")
    return (padded[1:, 1:] + padded[:-1, 1:] + padded[1:, :-1] + padded[:-1, :-1]) / 4


def grey_cells(frame: MeasuredMosaic) -> Float32:
    """Return a frame as a grey picture: the means of cells of the array's period, but at least of two."""
    return pool(np.ascontiguousarray(frame.samples.whole()), max(frame.cfa.period))
