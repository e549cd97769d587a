"""Where the samples of a frame lie in the reference picture, and frames and pictures as kernels want them."""

from dataclasses import dataclass, field

import numpy as np

from demosaic_ntc.arrays import Float32, Float64, Planes
from demosaic_ntc.demosaicing.burst.motion_kernels import CELL, FrameRows, ReferenceView
from demosaic_ntc.demosaicing.group_demosaic import MeasuredMosaic
from demosaic_ntc.engine.tiles import row_bands

_HALO = 6  # rows around a band that its blur looks at
_SNAP = 0.05  # pixels from whole ones at which a shift is taken for a sensor's
_LEAST_VARIANCE = np.float32((0.02 / 255) ** 2)  # of a sample: less is lost in rounding

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


def read_frame(frame: MeasuredMosaic, motion: Motion, rows: slice) -> FrameRows:
    """Return some rows of a frame for kernels."""
    samples = frame.samples.window(rows, slice(None))
    missing = np.zeros(samples.shape, np.bool_) if frame.missing is None else frame.missing[rows]
    flags = np.ascontiguousarray(missing)
    return FrameRows(
        samples, flags, rows.start, frame.cfa.pattern, list_variances(frame), motion.affine, motion.flow
    )


def list_variances(frame: MeasuredMosaic) -> Float32:
    """Return the variance of a frame's samples, (3, levels), as strong as it is to be removed."""
    if frame.noise is None:
        return np.full((3, 1), _LEAST_VARIANCE, np.float32)
    return np.asarray(np.maximum(frame.noise * np.float32(frame.strength**2), _LEAST_VARIANCE), np.float32)


def view_picture(planes: Planes, error: Planes | None = None) -> ReferenceView:
    """Return a picture with its detail, and the errors expected of its cells, none by default."""
    detail = _measure_detail(planes)
    return ReferenceView(planes, detail, np.zeros_like(detail) if error is None else error)


def _measure_detail(planes: Planes) -> Planes:
    """Return the energy of detail in cells, blurred: the squared distance from a blurred picture."""
    from scipy.ndimage import gaussian_filter  # noqa: PLC0415 (slow to load)

    def measure(plane: Float32, rows: slice) -> Float32:
        first = max(rows.start - _HALO, 0)
        seen = plane[first : rows.stop + _HALO]
        rest = seen - gaussian_filter(seen, 1.0)
        return average_cells(np.square(rest[rows.start - first : rows.stop - first]))

    energies = (np.concatenate([measure(plane, rows) for rows in row_bands(len(plane))]) for plane in planes)
    return np.stack([gaussian_filter(each, 1.0) for each in energies])


def average_cells(plane: Float32) -> Float32:
    """Return the means of cells; those at the ends repeat what they have."""
    height, width = plane.shape
    return pool(np.pad(plane, ((0, height % CELL), (0, width % CELL)), mode="edge"), CELL)


def pool(values: Float32, side: int) -> Float32:
    """Return the means of square cells of (height, width); what remains at the ends is left out."""
    height, width = (length // side * side for length in values.shape)
    cells = values[:height, :width].reshape(height // side, side, width // side, side)
    return np.ascontiguousarray(cells.mean(axis=(1, 3), dtype=np.float32))
