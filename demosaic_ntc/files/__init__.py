"""Bytes: the only layer that opens paths. Raws and pictures in, pictures out."""
