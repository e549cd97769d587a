"""How far a restored picture is from the truth.

The convention of the demosaicing literature: both pictures are 8 bit, the peak is 255, and the composite
PSNR pools the squared errors of all three channels before the logarithm,

    CPSNR = 10 log10(255² / mean over pixels and channels of (restored − truth)²),

which is not the mean of the three channels' PSNRs. SSIM after Z. Wang, A. C. Bovik, H. R. Sheikh,
E. P. Simoncelli, *Image Quality Assessment: From Error Visibility to Structural Similarity*, IEEE
Transactions on Image Processing 13 (2004), 600-612, doi:10.1109/TIP.2003.819861: a Gaussian window of
deviation 1.5, the mean over pixels and channels.
"""

from dataclasses import dataclass
from math import inf, log10
from typing import Any

import numpy as np
from numpy.typing import NDArray
from skimage.metrics import structural_similarity

from demosaic_ntc import Restored
from demosaic_ntc.errors import Unsupported

Bytes = NDArray[np.uint8]
Mosaic = NDArray[np.uint8] | NDArray[np.uint16]

PEAK = 255.0

#: The window of SSIM: a picture must be at least this high and wide.
SSIM_WINDOW = 11


@dataclass(frozen=True, slots=True)
class Likeness:
    """How alike a restored picture and the truth are; ratios in decibels."""

    cpsnr: float
    red: float
    green: float
    blue: float
    ssim: float
    nmse: float


def eight_bit(picture: NDArray[Any]) -> Bytes:
    """The picture clipped to 0 … 255 and rounded to the nearest integer."""
    return np.asarray(np.rint(np.clip(picture, 0.0, PEAK)), dtype=np.uint8)


def comparable(restored: Restored, truth: Bytes) -> Bytes:
    """The result in 8 bit; one of another size or with NaN cannot be compared."""
    if restored.image.shape != truth.shape:
        raise Unsupported(f"the method returned {restored.image.shape} for {truth.shape}; leave it out")
    if not np.isfinite(restored.image).all():
        raise Unsupported("the method returned samples that are NaN or infinite; leave it out")
    return eight_bit(restored.image)


def cropped(picture: Bytes, crop: int) -> Bytes:
    """The picture without `crop` pixels on each side."""
    height, width = picture.shape[:2]
    return picture[crop : height - crop, crop : width - crop]


def likeness(restored: Bytes, truth: Bytes, crop: int) -> Likeness:
    """Compare two 8-bit pictures away from a border of `crop` pixels."""
    inner, original = cropped(restored, crop), cropped(truth, crop)
    squared = np.square(inner.astype(np.float64) - original)
    red, green, blue = (_decibels(squared[..., channel]) for channel in range(3))
    error, size = float(squared.sum()), float(np.square(original.astype(np.float64)).sum())
    nmse = error / size if size else (inf if error else 0.0)  # the truth may be black
    return Likeness(_decibels(squared), red, green, blue, structural_likeness(inner, original), nmse)


def cpsnr(restored: Bytes, truth: Bytes) -> float:
    """The composite peak signal-to-noise ratio of whole pictures."""
    return _decibels(np.square(restored.astype(np.float64) - truth))


def _decibels(squared_errors: NDArray[np.float64]) -> float:
    """The peak signal-to-noise ratio; infinite where nothing differs."""
    mean = float(squared_errors.mean())
    return 10.0 * log10(PEAK**2 / mean) if mean > 0.0 else inf


def structural_likeness(restored: Bytes, truth: Bytes) -> float:
    """The mean structural similarity over pixels and channels."""
    similarity = structural_similarity(  # type: ignore[no-untyped-call]
        restored,
        truth,
        channel_axis=2,
        data_range=PEAK,
        gaussian_weights=True,
        sigma=1.5,
        use_sample_covariance=False,
    )
    return float(similarity)
