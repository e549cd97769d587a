"""An opened picture: what is shown of it, its mask, and what was repaired so far.

Layers are `before`, `after`, `mask`, `source`, from where texture is copied, and `doubt`, the error that is
expected of what was repaired. All places are those of the picture as it is seen. Whoever uses a sheet holds
its lock.
"""

import shutil
from collections.abc import Iterable
from pathlib import Path
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.arrays import Flags
from demosaic_ntc.errors import InputError
from demosaic_ntc.studio.canvas.boxes import PixelBox
from demosaic_ntc.studio.canvas.mask import Mask, read_flags, write_flags
from demosaic_ntc.studio.canvas.pyramid import TILE, Pyramid, brightest
from demosaic_ntc.studio.canvas.tile_images import alpha_png, png, view_of
from demosaic_ntc.studio.work.opening import BEFORE, PROFILE, PictureFacts
from demosaic_ntc.studio.work.repairing import Patch

# The expected error that is shown in full colour, as a share of white.
DOUBTFUL = 0.1

_ALPHA_LAYERS = ("mask", "source", "doubt")


class Document:
    """One picture on the table."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.lock = RLock()
        self.facts = PictureFacts.read(folder)
        self.before = Pyramid(folder / BEFORE)
        self.after = self.before
        self.mask = Mask(folder / "mask", self.facts.size, self.before.first)
        self.source = Mask(
            folder / "source", self.facts.size, self.before.first
        )  # may be copied; all if none
        self.doubt = Pyramid.empty(folder / "doubt", self.facts.size, brightest)
        self.touched: dict[tuple[int, int], int] = {}  # tiles of the finest level that differ, and since when
        self._repaired: NDArray[np.bool_] = np.lib.format.open_memmap(
            folder / "repaired.npy", mode="w+", dtype=np.bool_, shape=self.facts.size
        )
        profile = folder / PROFILE
        self._profile = profile.read_bytes() if profile.exists() else None
        self._preview: Path | None = None
        self._version = 0

    # What is shown ---------------------------------------------------------------------------------------

    def tile(self, layer: str, level: int, column: int, row: int) -> bytes | None:
        """A tile as PNG; None where there is none."""
        pyramids = {
            "before": self.before,
            "after": self.after,
            "mask": self.mask.pyramid,
            "source": self.source.pyramid,
            "doubt": self.doubt,
        }
        with self.lock:
            pixels = pyramids[layer].tile(level, column, row) if layer in pyramids else None
            content = None if pixels is None else np.array(pixels)
        if content is None:
            return None
        return alpha_png(content) if layer in _ALPHA_LAYERS else png(content, self._profile)

    def plain(self) -> dict[str, Any]:
        """What a page must know, in types that JSON has."""
        with self.lock:
            facts = self.facts
            return {
                "width": facts.size[1],
                "height": facts.size[0],
                "tile": TILE,
                "first": self.before.first,
                "levels": max(self.mask.pyramid.levels) + 1,
                "depth": facts.depth,
                "camera": facts.camera,
                "raw": facts.is_raw,
                "formats": list(facts.formats),
                "notices": list(facts.notices),
                "mask": self.describe_mask(),
                "touched": [[*place, since] for place, since in self.touched.items()],
            }

    def describe_mask(self) -> dict[str, Any]:
        """What a page must know of the mask."""
        return {
            "version": self.mask.version,
            "pixels": self.mask.count,
            "undo": self.mask.can_undo,
            "redo": self.mask.can_redo,
            "allowed": self.source.count and self.source.version,  # 0 where all may be copied
        }

    # The mask --------------------------------------------------------------------------------------------

    def forget(self, box: PixelBox) -> None:
        """Show again what was there where the mask no longer marks it."""
        with self.lock:
            gone = self._repaired[box.slices] & ~self.mask.flags(box)
            if not gone.any():
                return
            self._repaired[box.slices] &= ~gone
            if not self.facts.is_raw:
                self._show(
                    box, np.asarray(self.before.finest[box.slices]), gone, np.zeros(gone.shape, np.uint8)
                )

    def take_source(self) -> PixelBox:
        """Copy texture from what is marked from now on, from everywhere if nothing is; mark nothing then."""
        with self.lock:
            self.source.replace(self.mask.flags())
            return self.mask.clear()

    def take_flags(self, source: Path, name: str, *, add: bool) -> PixelBox:
        """Take over a mask that was read, or add what was found."""
        flags, whole = read_flags(source, name), PixelBox.of(self.facts.size)
        if flags.shape != self.facts.size:
            raise InputError("what was found does not fit the picture; open it again")
        with self.lock:
            box = self.mask.add(whole, flags) if add else self.mask.replace(flags)
            self.forget(box)
        return box

    # Repairs ---------------------------------------------------------------------------------------------

    def write_wanted(self, target: Path, *, only_new: bool) -> Flags:
        """Write for a worker what is missing and what of it is wanted; return what is missing."""
        with self.lock:
            missing = self.mask.flags()
            wanted = missing & ~self._repaired if only_new else missing
        if not wanted.any():
            words = "nothing is new" if only_new and missing.any() else "nothing is marked"
            raise InputError(f"{words}; paint over what is to be repaired")
        source = {"source": self.source.flags()} if self.source.count else {}
        write_flags(target, missing=missing, wanted=wanted, **source)
        return missing

    def apply(self, patches: Iterable[Patch], missing: Flags) -> None:
        """Show what was repaired of `missing`, where it is still marked."""
        with self.lock:
            self._copy_levels()
            for patch in patches:
                self._apply(patch, missing)

    def _apply(self, patch: Patch, missing: Flags) -> None:
        """Show one patch."""
        rows, columns = patch.box.slices
        flags = missing[rows, columns] & self.mask.flags(patch.box)
        if flags.shape != patch.colours.shape[:2] or flags.shape != patch.error.shape:
            raise InputError("the repair does not fit the picture; repair it again")
        view = view_of(patch.colours, self.facts.white)
        share = np.clip(patch.error / (DOUBTFUL * self.facts.white), 0, 1)
        self._repaired[rows, columns] |= flags
        self._show(patch.box, view, flags, np.rint(255 * share).astype(np.uint8))

    def _show(self, box: PixelBox, view: NDArray[np.uint8], where: Flags, doubt: NDArray[np.uint8]) -> None:
        """Write pixels into what is shown as repaired, and how doubtful they are."""
        self.after.finest[box.slices][where] = view[where]
        self.doubt.finest[box.slices][where] = doubt[where]
        self.after.renew(box)
        self.doubt.renew(box)
        self._version += 1
        self.touched |= dict.fromkeys(box.tiles(TILE), self._version)

    def _copy_levels(self) -> None:
        """Make a copy of the picture's levels that may be changed."""
        if self.after is self.before:
            shutil.copytree(self.folder / BEFORE, self.folder / "after")
            self.after = Pyramid(self.folder / "after", changing=True)

    # Raws ------------------------------------------------------------------------------------------------

    def take_preview(self, folder: Path) -> None:
        """Show a raw as it was developed last."""
        with self.lock:
            self.after = Pyramid(folder)
            if self._preview is not None:
                shutil.rmtree(self._preview, ignore_errors=True)
            self._preview = folder
            self._version += 1
            self.touched = dict.fromkeys(PixelBox.of(self.facts.size).tiles(TILE), self._version)
