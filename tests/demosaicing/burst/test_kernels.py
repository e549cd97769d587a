"""The kernels of frames against plain twins."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter, map_coordinates

from demosaic_ntc.arrays import Float32, Float64, Planes
from demosaic_ntc.demosaicing.burst.agreement import judge_cells
from demosaic_ntc.demosaicing.burst.alignment import start_equations, step_affine
from demosaic_ntc.demosaicing.burst.information_kernels import LANCZOS, add_agreement, add_information
from demosaic_ntc.demosaicing.burst.motion import (
    IDENTITY,
    NO_FLOW,
    Motion,
    average_cells,
    pool,
    view_picture,
)
from demosaic_ntc.demosaicing.burst.motion_kernels import (
    CELL,
    FLOW_CELL,
    FrameRows,
    ReferenceView,
    add_affine_equations,
    add_flow_equations,
)
from tests.demosaicing.burst.scenes import RGGB

_ROWS, _COLUMNS, _TOP = 22, 26, 4
_AFFINE = np.array([[0.7, 0.99, 0.02], [-1.3, -0.03, 1.01]])


def _view(seed: int) -> ReferenceView:
    random = np.random.default_rng(seed)
    y, x = np.mgrid[0:_ROWS, 0:_COLUMNS]
    planes = np.stack([0.5 + 0.2 * np.sin(y / 3 + k) + 0.2 * np.cos(x / 4 - k) for k in range(3)])
    cells = (3, -(-_ROWS // CELL), -(-_COLUMNS // CELL))
    return ReferenceView(
        np.ascontiguousarray(planes, np.float32),
        random.uniform(1e-4, 1e-3, cells).astype(np.float32),
        random.uniform(1e-4, 1e-3, cells).astype(np.float32),
    )


def _frame(seed: int, flow: Float32 = NO_FLOW) -> FrameRows:
    random, rows = np.random.default_rng(seed), _ROWS - _TOP
    noise = np.array([[1e-3, 3e-3], [2e-3, 2e-3], [4e-3, 1e-3]], np.float32)
    samples = random.random((rows, _COLUMNS)).astype(np.float32)
    missing = random.random((rows, _COLUMNS)) < 0.1
    return FrameRows(samples, missing, _TOP, RGGB.pattern, noise, _AFFINE, flow)


def _flow(seed: int) -> Float32:
    grid = (2, _ROWS // FLOW_CELL + 2, _COLUMNS // FLOW_CELL + 2)
    return np.random.default_rng(seed).uniform(-0.5, 0.5, grid).astype(np.float32)


def _places(frame: FrameRows) -> tuple[Float64, Float64]:
    """Rows and columns of the reference at which samples lie."""
    y, x = np.mgrid[frame.top : frame.top + len(frame.samples), 0 : frame.samples.shape[1]].astype(float)
    rows, columns = (start + down * y + across * x for start, down, across in frame.affine)
    if frame.flow.size:
        moved = [map_coordinates(each, [y / FLOW_CELL, x / FLOW_CELL], order=1) for each in frame.flow]
        rows, columns = rows + moved[0], columns + moved[1]
    return rows, columns


def _channels(frame: FrameRows) -> NDArray[np.int64]:
    return RGGB.channel_map((_TOP + len(frame.samples), _COLUMNS))[_TOP:].astype(np.int64)


def _lanczos(plane: Float32, row: float, column: float) -> float:
    """The plane at a place, by the kernel's formula; its border goes on outside."""
    i, j = int(np.floor(row)), int(np.floor(column))

    def weights(share: float) -> Float64:
        far = np.arange(-2, 4) - np.round(share * 1024) / 1024
        found = np.sinc(far) * np.sinc(far / 3)
        return np.asarray(found / found.sum())

    rows = np.clip(np.arange(i - 2, i + 4), 0, plane.shape[0] - 1)
    columns = np.clip(np.arange(j - 2, j + 4), 0, plane.shape[1] - 1)
    return float(weights(row - i) @ plane[np.ix_(rows, columns)] @ weights(column - j))


def _variance(frame: FrameRows, channel: int | np.int64, level: float) -> float:
    low, high = frame.noise[channel]
    return float(low + (high - low) * np.clip(level, 0, 1))


@pytest.mark.parametrize("flow", [NO_FLOW, _flow(3)], ids=["affine", "flow"])
def test_information_is_that_of_the_samples_nearest_to_a_pixel(flow: Float32) -> None:
    frame, view, top, count = _frame(0, flow), _view(1), 6, 9
    rejected = (np.random.default_rng(2).random(view.detail.shape[1:]) < 0.2).astype(np.uint8)
    found = np.zeros((6, count, _COLUMNS), np.float32)
    add_information(frame, view, LANCZOS, rejected, top, found)
    expected = np.zeros((6, count, _COLUMNS))
    rows, columns = _places(frame)
    for place, channel in np.ndenumerate(_channels(frame)):
        row, column = float(rows[place]), float(columns[place])
        at, to = int(np.floor(row + 0.5)), int(np.floor(column + 0.5))
        if not (top <= at < top + count and 0 <= to < _COLUMNS) or frame.missing[place]:
            continue
        if rejected[at // CELL, to // CELL]:
            continue
        level = _lanczos(view.planes[channel], row, column)
        far = (row - at) ** 2 + (column - to) ** 2
        variance = _variance(frame, channel, level) + 2 * far * view.detail[channel, at // CELL, to // CELL]
        expected[channel, at - top, to] += (frame.samples[place] - level) / variance
        expected[3 + channel, at - top, to] += 1 / variance
    assert np.allclose(found, expected, rtol=1e-3, atol=1e-2)
    assert np.count_nonzero(found) > 100


def _agreement(frame: FrameRows, view: ReferenceView) -> Planes:
    sums = np.zeros((14, *view.detail.shape[1:]))
    rows, columns = _places(frame)
    for place, channel in np.ndenumerate(_channels(frame)):
        row, column = float(rows[place]), float(columns[place])
        at, to = int(np.floor(row + 0.5)), int(np.floor(column + 0.5))
        if not (0 <= at < _ROWS and 0 <= to < _COLUMNS) or frame.missing[place]:
            continue
        cell = at // CELL, to // CELL
        level = _lanczos(view.planes[channel], row, column)
        noise = _variance(frame, channel, level)
        far = (row - at) ** 2 + (column - to) ** 2
        doubt = view.error[channel][cell] + (2 * far + 1) * view.detail[channel][cell]
        rest = frame.samples[place] - level
        sums[(slice(0, 2), *cell)] += (1, rest**2 / (noise + doubt))
        sums[(slice(2 + 4 * channel, 6 + 4 * channel), *cell)] += (1, rest, noise, doubt)
    return sums


def test_agreement_is_summed_in_cells() -> None:
    frame, view = _frame(0, _flow(3)), _view(1)
    found = np.zeros((14, 4, view.detail.shape[2]), np.float32)
    add_agreement(frame, view, LANCZOS, 3, found)
    assert np.allclose(found, _agreement(frame, view)[:, 3:7], rtol=1e-3, atol=1e-4)
    assert found[0].max() > 2


def _slopes(view: ReferenceView, channel: int | np.int64, row: float, column: float) -> Float64:
    """The value of the reference at a place and its two slopes, linear between pixels."""
    plane = view.planes[channel].astype(float)
    moves = np.array([(0, 0), (0.7, 0), (-0.7, 0), (0, 0.7), (0, -0.7)])
    values = map_coordinates(plane, np.array([row, column])[:, None] + moves.T, order=1, mode="nearest")
    return np.array([values[0], (values[1] - values[2]) / 1.4, (values[3] - values[4]) / 1.4])


def _misfits(frame: FrameRows, view: ReferenceView) -> list[tuple[tuple[int, int], float, float, Float64]]:
    """Place in the frame, weight, rest and slopes of every sample that is looked at."""
    rows, columns = _places(frame)
    found = []
    for place, channel in np.ndenumerate(_channels(frame)):
        row, column = float(rows[place]), float(columns[place])
        if frame.missing[place] or not (1 <= row <= _ROWS - 2 and 1 <= column <= _COLUMNS - 2):
            continue
        level, *slopes = _slopes(view, channel, row, column)
        rest = frame.samples[place] - level
        detail = view.detail[channel, int(row) // CELL, int(column) // CELL]
        weight = 1 / (_variance(frame, channel, level) + detail / 2)
        y, x = _TOP + place[0], place[1]
        found.append(((y, x), weight / (1 + rest**2 * weight / 4), rest, np.array(slopes)))
    return found


@pytest.mark.parametrize("step", [1, 2])
def test_affine_equations_are_those_of_least_squares(step: int) -> None:
    frame, view, found = _frame(0, _flow(3)), _view(1), start_equations()
    add_affine_equations(frame, view, step, found)
    expected = start_equations()
    for (y, x), weight, rest, (down, across) in _misfits(frame, view):
        if (y // 2) % step == 0 and (x // 2) % step == 0:
            row = np.array([down, down * y, down * x, across, across * y, across * x, rest])
            expected += weight * np.outer(row, row)
    assert np.allclose(np.tril(found), np.tril(expected), rtol=2e-3, atol=1e-3 * np.abs(expected).max())


def test_a_step_solves_the_equations() -> None:
    random = np.random.default_rng(0)
    jacobian, truth = random.random((40, 6)), random.random(6)
    table = np.column_stack([jacobian, jacobian @ truth])
    assert np.allclose(step_affine(np.tril(table.T @ table)), truth.reshape(2, 3), atol=1e-5)
    assert not step_affine(start_equations()).any()


def test_flow_equations_are_summed_in_cells() -> None:
    frame, view = _frame(0), _view(1)
    found = np.zeros((5, 3, 3), np.float32)
    add_flow_equations(frame, view, found)
    expected = np.zeros((5, 3, 3))
    for (y, x), weight, rest, (down, across) in _misfits(frame, view):
        told = (down * down, down * across, across * across, down * rest, across * rest)
        expected[:, y // FLOW_CELL, x // FLOW_CELL] += weight * np.array(told)
    assert np.allclose(found, expected, rtol=2e-3, atol=1e-3 * np.abs(expected).max())


def test_places_of_rows_are_found_again() -> None:
    motion, shape = Motion(_AFFINE), (60, 50)
    rows = slice(20, 31)
    source = motion.source_rows(rows, shape)
    y, x = np.mgrid[0 : shape[0], 0 : shape[1]]
    row = np.floor(_AFFINE[0, 0] + _AFFINE[0, 1] * y + _AFFINE[0, 2] * x + 0.5)
    needed = np.unique(y[(row >= rows.start) & (row < rows.stop)])
    assert source.start <= needed.min()
    assert needed.max() < source.stop
    assert source.stop - source.start < rows.stop - rows.start + 12


def test_detail_is_the_energy_beside_a_blur() -> None:
    planes = np.random.default_rng(0).random((2, 151, 37)).astype(np.float32)  # more rows than a band
    rest = [np.square(plane - gaussian_filter(plane, 1.0)) for plane in planes]
    expected = [gaussian_filter(average_cells(each), 1.0) for each in rest]
    assert np.allclose(view_picture(planes).detail, expected, atol=1e-6)


def test_nearly_whole_shifts_are_whole() -> None:
    near = IDENTITY + np.array([[1.02, 0, 0], [-2.98, 0, 0]])
    assert Motion(near).snap((40, 40)).shift((40, 40)) == (1.0, -3.0)
    off = IDENTITY + np.array([[1.3, 0, 0], [-3, 0, 0]])
    assert Motion(off).snap((40, 40)).affine is off


def test_cells_are_means() -> None:
    plane = np.arange(35, dtype=np.float32).reshape(5, 7)
    assert np.array_equal(pool(plane, 2), plane[:4, :6].reshape(2, 2, 3, 2).mean(axis=(1, 3)))
    padded = np.pad(plane, ((0, 1), (0, 1)), mode="edge")
    assert np.array_equal(average_cells(plane), pool(padded, 2))


def test_cells_that_disagree_are_rejected_and_grown() -> None:
    sums = np.zeros((14, 40, 40), np.float32)
    for first in (2, 6, 10):
        sums[first], sums[first + 2], sums[first + 3] = 4 / 3, 4 / 3 * 1e-3, 4 / 3 * 1e-4
    sums[0], sums[1] = 4.0, 4.0
    assert not judge_cells(sums, "normal").any()
    moved = sums.copy()
    moved[7, 18:22, 18:22] += 0.2  # green differs in the mean, hardly in squares
    rejected = judge_cells(moved, "normal")
    assert rejected[15:25, 15:25].sum() > 36
    assert not rejected[:8].any()
    wild = sums.copy()
    wild[1] *= 1.8
    assert judge_cells(wild, "normal").all()
    assert judge_cells(wild / 1.2, "strict").all()
    assert not judge_cells(wild, "off").any()
    sums[:, :, 30:] = 0  # the frame ends there
    assert judge_cells(sums, "off")[:, 33:].all()
