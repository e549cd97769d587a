"""The pictures of a report: a detailed part of each, or all of it, in every version.

Each is a file named after what it depends on, so that a rerun finds it again and another code's is another.
"""

from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

import numpy as np
from PIL import Image

from demosaic_ntc.viewer.crops import CropBox, most_detailed
from demosaic_ntc.viewer.pictures import Bytes, address, lossless, write_beside

from ..data.sets import SetImage

#: The side of the part that is shown of a picture.
SIDE = 112


@dataclass(slots=True)
class Gallery:
    """The folder of a report's pictures; `whole` ones stay files, parts go into the page."""

    folder: Path
    whole: bool
    _boxes: dict[tuple[str, CropBox], CropBox] = field(default_factory=dict)

    def box(self, picture: SetImage, within: CropBox | None = None) -> CropBox:
        """What is shown of a picture, or of a part of it, counted from that part's corner."""
        frame = within or CropBox(0, 0, picture.width, picture.height)
        key = (picture.sha256, frame)
        if key not in self._boxes:
            whole = CropBox(0, 0, frame.width, frame.height)
            chosen = whole if self.whole else most_detailed(picture.pixels()[frame.place], SIDE)[0]
            self._boxes[key] = chosen
        return self._boxes[key]

    def keep(self, key: object, pixels: Bytes, box: CropBox) -> None:
        """Keep what is shown of a version."""
        write_beside(self.folder, self._name(key), lossless(np.ascontiguousarray(pixels[box.place])))

    def has(self, key: object) -> bool:
        """Whether a version is kept."""
        return (self.folder / self._name(key)).is_file()

    def source(self, key: object) -> str | None:
        """The address of a version on the page; None if it is not kept."""
        path = self.folder / self._name(key)
        address_of = f"{self.folder.name}/{path.name}" if self.whole else None
        return address_of or address(path.read_bytes()) if self.has(key) else None

    def pixels(self, key: object) -> Bytes | None:
        """What is kept of a version, (height, width, 3); None if nothing is."""
        if not self.has(key):
            return None
        with Image.open(self.folder / self._name(key)) as image:
            return np.array(image.convert("RGB"))

    def _name(self, key: object) -> str:
        """A file name that stands for a key and for what is shown."""
        digest = sha256(repr(key).encode()).hexdigest()[:20]
        return f"{digest}{'' if self.whole else '-part'}.webp"
