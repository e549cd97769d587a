"""First guesses: published interpolations of a mosaic, in our own code.

Each takes a float32 mosaic in [0, 1] and its colour array, and returns a float32 picture that keeps the
measured samples exactly.
"""
