"""The camera's own picture out of a raw, in a process of its own: a decoder may crash."""

import sys
from pathlib import Path

from PIL import Image

from demosaic_ntc.io.header import InputLimits
from demosaic_ntc.raw.reading import read_embedded

from .processes import python_command

_LARGEST = 1 << 16  # pixels a side: previews are decoded as large as they are


def embedded_command(source: Path, target: Path) -> list[str]:
    """The command that writes the camera's own picture; without one it writes nothing."""
    return python_command(f"from {__name__} import main; main()", str(source), str(target))


def main() -> None:
    """Write the camera's own picture of a raw, both named on the command line, if there is one."""
    source, target = map(Path, sys.argv[1:])
    pixels = read_embedded(source, InputLimits(), side=_LARGEST)
    if pixels is not None:
        Image.fromarray(pixels).save(target, compress_level=1)
