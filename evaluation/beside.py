"""What is used of the package `samples`, which lies beside this one.

Both are packages of their own in a checkout and subpackages of the product once installed.
"""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING or __package__ == "evaluation":
    from samples.dng import Camera, dng, write_dng
else:
    from ..samples.dng import Camera, dng, write_dng

#: A small raw whose truth is known.
SAMPLE = Path(__file__).resolve().parents[1] / "samples" / "scene_rggb.dng"

__all__ = ["SAMPLE", "Camera", "dng", "write_dng"]
