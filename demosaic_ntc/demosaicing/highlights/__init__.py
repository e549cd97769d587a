"""Highlights: clipped samples of a mosaic, completed before it is demosaiced."""
