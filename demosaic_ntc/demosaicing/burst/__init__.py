"""Several mosaics of one scene: aligned, checked for movement, and merged into one picture."""
