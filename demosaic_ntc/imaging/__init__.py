"""Pixels: colour arrays, first guesses and the demosaicing of a mosaic; knows arrays, opens no files."""
