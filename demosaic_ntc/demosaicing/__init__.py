"""Demosaicing: colour arrays, interpolation, the initial estimate and its refinement by groups."""
