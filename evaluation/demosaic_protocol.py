"""How the demosaicing figures were made: what must stand beside every mean."""

from collections.abc import Iterable

from demosaic_ntc.imaging.cfa import Cfa

from .datasets import PictureSet
from .demosaicers import Demosaicer
from .protocol import measured_on, versions

_PACKAGES = (
    "demosaic-ntc",
    "numpy",
    "numba",
    "scikit-image",
    "rawpy",
    "opencv-python-headless",
    "colour-demosaicing",
)


def protocol(cfa: Cfa, crop: int, methods: Iterable[Demosaicer]) -> dict[str, str]:
    """What holds for all sets, line by line."""
    return {
        "mosaic": f"8-bit RGB sampled by {cfa.name} ({cfa.rows}), gamma-encoded as the files are, no noise",
        "rounding": "results clipped to 0 … 255 and rounded to 8 bit before they are compared",
        "crop": f"{crop} pixels left out on each side, and 0 where it says so",
        "CPSNR": "peak 255, squared errors pooled over pixels and R, G, B; R, G, B: each channel's own",
        "SSIM": "scikit-image, Gaussian window of deviation 1.5, mean over pixels and channels",
        "NMSE": "sum of squared errors over sum of squares of the truth, all channels",
        "averaging": "mean over pictures of the per-picture figure (decibels, not errors)",
        "time": "wall and CPU seconds (all threads) per megapixel, from the 8-bit mosaic to the picture; "
        "kernels are compiled in an untimed call before; LibRaw's include a raw written and read in memory",
        "memory": "peak resident memory of the process during a call, interpreter and libraries included",
        "versions": versions(_PACKAGES),
        **{f"method {method.name}": method.settings for method in methods},
    }


def set_protocol(each: PictureSet, cfa: Cfa, crop: int, machines: Iterable[str]) -> str:
    """The conditions of one set's means in a line."""
    count = f"{len(each.pictures)} pictures"
    if each.left_out:
        count = f"{len(each.pictures)} of {each.size} pictures"
    return (
        f"{each.name}: {count} ({each.sizes}), {cfa.name}, crop {crop}, clipped and rounded to 8 bit, "
        f"mean over pictures of decibels, measured on {measured_on(machines)}"
    )
