"""What options say about mosaics that do not describe themselves."""

from collections.abc import Mapping
from typing import Any

from demosaic_ntc.files.raw.plain import Layout
from demosaic_ntc.imaging.cfa import Cfa


def layout_from(options: Mapping[str, Any]) -> Layout:
    """What the options say about a mosaic without a header of its own."""
    cfa = Cfa.parse(options["cfa"]) if options["cfa"] else None
    bits = options["bits"] if bits_are_of_samples(options) else options["raw_bits"]
    return Layout(cfa, options["width"], options["height"], bits)


def bits_are_of_samples(options: Mapping[str, Any]) -> bool:
    """Whether ``--bits`` speaks of the samples, as in ``--width W --height H --bits 12 --cfa RGGB``."""
    return options["width"] is not None and options["raw_bits"] is None and options.get("bits") is not None
