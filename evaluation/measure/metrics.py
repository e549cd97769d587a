"""How far a restored picture is from the truth, how bright a picture is, and how much of it is clipped.

The convention of the demosaicing literature: both pictures are 8 bit, the peak is 255, and the composite
PSNR pools the squared errors of all three channels before the logarithm,

    CPSNR = 10 log10(255² / mean over pixels and channels of (restored − truth)²),

which is not the mean of the three channels' PSNRs. SSIM after Z. Wang, A. C. Bovik, H. R. Sheikh,
E. P. Simoncelli, *Image Quality Assessment: From Error Visibility to Structural Similarity*, IEEE
Transactions on Image Processing 13 (2004), 600-612, doi:10.1109/TIP.2003.819861: a Gaussian window of
deviation 1.5, the mean over pixels and channels.
"""

from math import inf, log10
from typing import Any

import numpy as np
from numpy.typing import NDArray
from skimage.metrics import structural_similarity

from demosaic_ntc import Restored
from demosaic_ntc.errors import Unsupported
from demosaic_ntc.io.colour import SPACES

Bytes = NDArray[np.uint8]
Mosaic = NDArray[np.uint8] | NDArray[np.uint16]

PEAK = 255.0

#: The window of SSIM: a picture must be at least this high and wide.
SSIM_WINDOW = 11

_LUMINANCE = SPACES["srgb"].to_xyz[1]
_SSIM: Any = {"gaussian_weights": True, "sigma": 1.5, "use_sample_covariance": False}


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


def crop_border(picture: NDArray[Any], crop: int) -> NDArray[Any]:
    """The picture without `crop` pixels on each side."""
    height, width = picture.shape[:2]
    return picture[crop : height - crop, crop : width - crop]


def likeness(restored: Bytes, truth: Bytes, crop: int) -> dict[str, float]:
    """How alike two 8-bit pictures (height, width, 3) are away from a border; ratios in decibels."""
    inner, original = crop_border(restored, crop), crop_border(truth, crop)
    squared = np.square(inner.astype(np.float64) - original)
    error, size = float(squared.sum()), float(np.square(original.astype(np.float64)).sum())
    similarity = structural_similarity(inner, original, channel_axis=2, data_range=PEAK, **_SSIM)  # type: ignore[no-untyped-call]
    return {
        "cpsnr": decibels(squared),
        **{f"psnr_{name}": decibels(squared[..., i]) for i, name in enumerate(("red", "green", "blue"))},
        "ssim": float(similarity),
        "nmse": error / size if size else (inf if error else 0.0),  # the truth may be black
    }


def cpsnr(restored: Bytes, truth: Bytes) -> float:
    """The composite peak signal-to-noise ratio of whole pictures."""
    return decibels(np.square(restored.astype(np.float64) - truth))


def decibels(squared_errors: NDArray[np.float64]) -> float:
    """The peak signal-to-noise ratio; infinite where nothing differs."""
    mean = float(squared_errors.mean())
    return 10.0 * log10(PEAK**2 / mean) if mean > 0.0 else inf


def luma(pixels: Bytes) -> float:
    """The median luma of a picture in sRGB, of 255."""
    return float(np.median(pixels @ _LUMINANCE))


def measure_clipping(pixels: Bytes) -> float:
    """The share of the pixels with any channel at its end."""
    return float((pixels == PEAK).any(axis=-1).mean())


def newly_clipped(pixels: Bytes, neutral: Bytes) -> float:
    """The share of the pixels with a channel that is at its end and was not in the neutral picture."""
    return float(((pixels == PEAK) & (neutral < PEAK)).any(axis=-1).mean())
