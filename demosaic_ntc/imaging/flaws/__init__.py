"""Flaws, found by what surrounds them: pixels of a sensor, dust and scratches, fringes of a lens."""
