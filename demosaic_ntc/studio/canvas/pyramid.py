"""A picture at its full size, at half of it, and so on, on the disk, so that any part is shown at once.

Level n has one pixel for every 2ⁿ × 2ⁿ of the picture. Levels are files of bytes that are mapped into memory:
what nobody looks at takes none.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.run import imap_threads
from demosaic_ntc.studio.canvas.boxes import PixelBox
from demosaic_ntc.studio.canvas.tile_images import Bytes, halve

Halve = Callable[[Bytes], Bytes]

TILE = 512  # pixels a side

_BAND = 512  # rows halved at a time


def brightest(pixels: Bytes) -> Bytes:
    """A map (height, width) at half its size, every pixel the largest of up to four: nothing thin is lost."""
    rows = pixels[::2].copy()
    np.maximum(rows[: pixels.shape[0] // 2], pixels[1::2], out=rows[: pixels.shape[0] // 2])
    columns = rows[:, ::2].copy()
    np.maximum(columns[:, : rows.shape[1] // 2], rows[:, 1::2], out=columns[:, : rows.shape[1] // 2])
    return columns


def sizes_of(size: tuple[int, int], least: int = 0) -> list[tuple[int, int]]:
    """Height and width of all levels down to one that fits into a tile, and to a level at least."""
    sizes = [size]
    while max(sizes[-1]) > TILE or len(sizes) <= least:
        sizes.append((-(-sizes[-1][0] // 2), -(-sizes[-1][1] // 2)))
    return sizes


def write_pyramid(folder: Path, pixels: Bytes, first: int = 0, threads: int = 1) -> None:
    """Write the levels of a picture (height, width) or (height, width, 3), which is that of the first."""
    folder.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(1) as writer:  # writes one level while the next is made
        writes = [writer.submit(np.save, folder / f"{first}.npy", pixels)]
        while max(pixels.shape[:2]) > TILE:
            pixels, first = _halve_in_bands(pixels, threads), first + 1
            writes.append(writer.submit(np.save, folder / f"{first}.npy", pixels))
    for write in writes:
        write.result()


def _halve_in_bands(pixels: Bytes, threads: int) -> Bytes:
    """The picture at half its size, some rows at a time: Pillow copies what it is given."""
    bands = [pixels[top : top + _BAND] for top in range(0, pixels.shape[0], _BAND)]
    return np.concatenate(list(imap_threads(halve, bands, threads)))


class Pyramid:
    """The levels of a picture; one that is made here may be changed."""

    def __init__(self, folder: Path, halve: Halve = halve, *, changing: bool = False) -> None:
        self._halve = halve
        mode: Literal["r", "r+"] = "r+" if changing else "r"
        files = sorted(folder.glob("*.npy"), key=lambda path: int(path.stem))
        self.levels: dict[int, NDArray[np.uint8]] = {
            int(path.stem): np.load(path, mmap_mode=mode, allow_pickle=False) for path in files
        }

    @classmethod
    def empty(cls, folder: Path, size: tuple[int, int], halve: Halve, least: int = 0) -> "Pyramid":
        """A map of zeros that may be changed, down to a level at least; holes in its files take no room."""
        folder.mkdir(parents=True, exist_ok=True)
        for level, shape in enumerate(sizes_of(size, least)):
            np.lib.format.open_memmap(folder / f"{level}.npy", mode="w+", dtype=np.uint8, shape=shape)
        return cls(folder, halve, changing=True)

    @property
    def first(self) -> int:
        """The finest level there is."""
        return min(self.levels)

    @property
    def finest(self) -> NDArray[np.uint8]:
        """Its pixels."""
        return self.levels[self.first]

    def tile(self, level: int, column: int, row: int) -> Bytes | None:
        """The pixels of a tile; None where there is none."""
        pixels = self.levels.get(level)
        if pixels is None or min(column, row) < 0:
            return None
        part = pixels[row * TILE : (row + 1) * TILE, column * TILE : (column + 1) * TILE]
        return part if part.size else None

    def renew(self, box: PixelBox) -> None:
        """Make all coarser levels anew where the finest one has changed."""
        for level in sorted(self.levels)[1:]:
            finer, coarser = self.levels[level - 1], self.levels[level]
            box = box.halve()
            whole = PixelBox(2 * box.top, 2 * box.bottom, 2 * box.left, 2 * box.right).within(finer.shape[:2])
            coarser[box.slices] = self._halve(np.asarray(finer[whole.slices]))
