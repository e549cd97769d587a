"""The matrix from balanced camera colours to linear sRGB, wherever LibRaw keeps it.

Raws of known cameras have a matrix from XYZ in LibRaw's table, DNGs bring their own, and for a few old
cameras LibRaw applies one that it does not show: that one is found by developing known colours.
"""

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.io.colour import XYZ_FROM_SRGB
from demosaic_ntc.raw.photo import GREEN, NO_MATRIX, SECOND_GREEN, CameraMatrix

Matrix = NDArray[np.float64]

# Below this LibRaw takes the first coefficient of a DNG's matrix for "absent" and uses its table.
_PRESENT = 0.125

# Levels of the probe: a step small enough for coefficients between -4 and +6 to stay within 16 bits.
_GREY, _STEP = 24000, 6000


def camera_matrix(raw: Any, channels: NDArray[np.uint8], *, is_dng: bool) -> CameraMatrix:
    """The matrix LibRaw would use; finding a hidden one overwrites the samples of `raw`: copy them before."""
    stored = np.asarray(raw.color_matrix, dtype=np.float64)[:, :3]
    if is_dng and stored[0, 0] > _PRESENT:
        return CameraMatrix(stored, "DNG")
    table = np.asarray(raw.rgb_xyz_matrix, dtype=np.float64)[:3]
    if np.any(table):
        return CameraMatrix(invert_xyz_matrix(table), "camera table")
    if channels.ndim == 3:  # no mosaic that known colours could be laid into
        return NO_MATRIX
    probed = _probe_matrix(raw, channels)
    is_identity = np.allclose(probed, np.eye(3), atol=1e-3)
    return NO_MATRIX if is_identity else CameraMatrix(probed, "decoder")


def invert_xyz_matrix(camera_from_xyz: Matrix) -> Matrix:
    """Camera to linear sRGB, given XYZ to camera; rows are scaled so that white stays white."""
    camera_from_srgb = camera_from_xyz @ XYZ_FROM_SRGB
    return np.asarray(np.linalg.inv(camera_from_srgb / camera_from_srgb.sum(axis=1, keepdims=True)))


def _probe_matrix(raw: Any, channels: NDArray[np.uint8]) -> Matrix:
    """What LibRaw makes of grey and of a little more red, green or blue: the columns of its matrix."""
    edges = np.linspace(0, raw.sizes.height, 5).astype(int) // 2 * 2
    _paint_bands(raw, channels, edges)
    developed = raw.postprocess(
        half_size=True,
        no_auto_scale=True,
        no_auto_bright=True,
        gamma=(1, 1),
        output_bps=16,
        user_flip=0,
        adjust_maximum_thr=0,
    ).astype(np.float64)
    middles = (edges[:-1] + edges[1:]) // 4
    colours = [developed[row, developed.shape[1] // 2] for row in middles]
    return np.stack([(colour - colours[0]) / _STEP for colour in colours[1:]], axis=1)


def _paint_bands(raw: Any, channels: NDArray[np.uint8], edges: NDArray[np.int_]) -> None:
    """Overwrite the visible samples by four bands: grey, then grey with more red, green or blue."""
    samples = raw.raw_image_visible
    black = np.asarray(raw.black_level_per_channel)
    for band, (top, bottom) in enumerate(pairwise(edges)):
        for y, x in np.ndindex(channels.shape):
            channel = channels[y, x]
            raised = band > 0 and (GREEN if channel == SECOND_GREEN else channel) == band - 1
            rows = slice(top + (y - top) % channels.shape[0], bottom, channels.shape[0])
            samples[rows, x :: channels.shape[1]] = _GREY + black[channel] + _STEP * raised
