"""Frames that wait in a file until they are wanted: however many there are, memory holds one at a time."""

from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.demosaicing.group_demosaic import MeasuredMosaic
from demosaic_ntc.developing.preprocess import CleanPhoto
from demosaic_ntc.io.scratch import ScratchFile, StoredArray
from demosaic_ntc.raw.preview import Preview


def store_frame(frame: CleanPhoto, file: ScratchFile) -> CleanPhoto:
    """The same frame, whose samples, flags and preview lie in a file; `load_frame` reads them again."""
    photo, shown = frame.photo, frame.photo.preview
    if shown is not None:
        pixels = np.frombuffer(shown, np.uint8) if isinstance(shown, bytes) else shown
        shown = _keep(pixels, file)
    photo = replace(photo, mosaic=_keep(photo.mosaic, file), preview=shown)
    return replace(frame, photo=photo, missing=None if frame.missing is None else _keep(frame.missing, file))


def load_frame(frame: CleanPhoto) -> CleanPhoto:
    """A frame in memory."""
    photo, missing = frame.photo, frame.missing
    photo = replace(photo, mosaic=np.asarray(photo.mosaic), preview=_load_preview(photo.preview))
    return replace(frame, photo=photo, missing=None if missing is None else np.asarray(missing))


def _load_preview(preview: Preview | None) -> Preview | None:
    """A preview as it was: a JPEG is one row of bytes."""
    if not isinstance(preview, StoredArray):
        return preview
    pixels: NDArray[np.uint8] = np.asarray(preview)
    return pixels.tobytes() if pixels.ndim == 1 else pixels


def store_measured(mosaic: MeasuredMosaic, file: ScratchFile) -> MeasuredMosaic:
    """A mosaic whose samples and flags are read from a file, a few rows at a time."""
    samples, missing = mosaic.samples, mosaic.missing
    samples = replace(samples, stored=_keep(samples.stored, file))
    return replace(mosaic, samples=samples, missing=None if missing is None else _keep(missing, file))


def _keep(array: NDArray[Any], file: ScratchFile) -> NDArray[Any]:
    """An array in a file; its rows are read as those of any other."""
    return array if isinstance(array, StoredArray) else cast(NDArray[Any], file.keep(array))
