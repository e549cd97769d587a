"""How the inpainting figures were made: what must stand beside every mean."""

from collections.abc import Iterable

from .datasets import PictureSet
from .inpaint_benchmark import Damage
from .inpainters import Inpainter
from .protocol import measured_on, versions

_PACKAGES = ("demosaic-ntc", "numpy", "numba", "scipy", "scikit-image", "opencv-python-headless")


def protocol(damages: Iterable[Damage], methods: Iterable[Inpainter]) -> dict[str, str]:
    """What holds for all sets, line by line."""
    damages = list(damages)
    return {
        "masks": f"{', '.join(damage.mask for damage in damages)}; drawn by seed {damages[0].seed}, whole "
        "pixels, the same for all methods and for all pictures of one size",
        "part": "left,top,width,height " + damages[0].place if damages[0].box else "whole pictures",
        "rounding": "results clipped to 0 … 255 and rounded to 8 bit before they are compared",
        "PSNR": "peak 255, squared errors pooled over pixels and R, G, B; over the part with its known "
        "pixels, and over missing pixels alone",
        "SSIM": "scikit-image, Gaussian window of deviation 1.5, mean over pixels and channels of the part",
        "averaging": "mean over pictures of the per-picture figure (decibels, not errors)",
        "time": "wall and CPU seconds (all threads) per megapixel of the part, from the 8-bit picture to the "
        "result; kernels are compiled in an untimed call before",
        "memory": "peak resident memory of the process during a call, interpreter and libraries included",
        "versions": versions(_PACKAGES),
        **{f"method {method.name}": method.settings for method in methods},
    }


def set_protocol(each: PictureSet, damages: Iterable[Damage], machines: Iterable[str]) -> str:
    """The conditions of one set's means in a line."""
    damage = next(iter(damages))
    return (
        f"{each.name}: {len(each.pictures)} pictures, part {damage.place}, seed {damage.seed}, rounded to "
        f"8 bit, mean over pictures of decibels, measured on {measured_on(machines)}"
    )
