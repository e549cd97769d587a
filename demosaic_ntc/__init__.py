"""Demosaicing and inpainting by nonnegative tensor completion over a 0-1 polytope."""

from demosaic_ntc.ntc.complete import complete
from demosaic_ntc.ntc.solution import Certificate, Solution, Status

__all__ = ["Certificate", "Solution", "Status", "complete"]
