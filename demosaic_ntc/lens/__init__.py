"""Lenses: what files and profiles know of them, corrected: shading, distortion and lateral colour."""
