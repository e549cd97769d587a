"""What options say about mosaics that do not describe themselves."""

from collections.abc import Mapping
from typing import Any

from demosaic_ntc.demosaicing.cfa import Cfa
from demosaic_ntc.raw.plain import Layout


def resolve_layout(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options with their colour array read, and bits as raw bits where they speak of the samples.

    They do in ``--width W --height H --bits 12 --cfa RGGB``.
    """
    bits, of_raw = options.get("bits"), options["raw_bits"]
    if options["width"] is not None and of_raw is None:
        bits, of_raw = None, bits
    array = Cfa.parse(options["cfa"]) if options["cfa"] else None
    return {**options, "cfa": array, "bits": bits, "raw_bits": of_raw}


def layout_from(options: Mapping[str, Any]) -> Layout:
    """What the options say about a mosaic without a header of its own."""
    read = resolve_layout(options)
    return Layout(read["cfa"], read["width"], read["height"], read["raw_bits"])
