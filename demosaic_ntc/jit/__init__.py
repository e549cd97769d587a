"""Compilation: kernels compiled once, cached on the disk, or shipped with the wheel."""
