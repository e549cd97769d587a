"""What is used of the packages `samples` and `cli`, which lie beside this one.

All are packages of their own in a checkout and subpackages of the product once installed.
"""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING or __package__ == "evaluation":
    from samples.dng import Camera, camera_from_srgb, dng, write_dng
    from samples.linear_dng import linear_dng
    from samples.opcodes import opcode_fields
else:
    from ..samples.dng import Camera, camera_from_srgb, dng, write_dng
    from ..samples.linear_dng import linear_dng
    from ..samples.opcodes import opcode_fields

#: A small raw whose truth is known.
SAMPLE = Path(__file__).resolve().parents[1] / "samples" / "scene_rggb.dng"

#: The module of the program.
PROGRAM = f"{__name__.removesuffix('evaluation.siblings')}cli.app"

__all__ = [
    "PROGRAM",
    "SAMPLE",
    "Camera",
    "camera_from_srgb",
    "dng",
    "linear_dng",
    "opcode_fields",
    "write_dng",
]
