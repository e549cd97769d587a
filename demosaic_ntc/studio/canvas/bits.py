"""Flags of a whole picture in a file: packed, eight to a byte."""

from pathlib import Path
from typing import Any

import numpy as np

from demosaic_ntc.arrays import Flags
from demosaic_ntc.io.atomic import whole_file


def write_flags(target: Path, **flags: Flags) -> None:
    """Write flags (height, width) under their names, whole or not at all."""
    packed: dict[str, Any] = {name: np.packbits(each) for name, each in flags.items()}
    sizes: dict[str, Any] = {f"{name}_size": np.array(each.shape) for name, each in flags.items()}
    with whole_file(target, overwrite=True) as file:
        np.savez(file, **packed, **sizes)


def read_flags(source: Path, name: str) -> Flags:
    """Read flags that were written under a name."""
    with np.load(source, allow_pickle=False) as stored:
        height, width = (int(side) for side in stored[f"{name}_size"])
        bits = np.unpackbits(stored[name], count=height * width)
    return bits.astype(np.bool_).reshape(height, width)
