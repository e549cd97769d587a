"""A photographer's own raws in several versions: the same samples and colours, another interpolation.

Every method gets the same mosaic (black subtracted, white-balanced, under the sRGB curve, at 16 bits), and
what it returns is finished the same way (camera matrix, exposure, sRGB). So whatever differs between two
versions is the interpolation. Of a part that is shown, the mosaic around it is used as well.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.files.developing.finishing import finish_of
from demosaic_ntc.files.developing.prepared import prepare
from demosaic_ntc.files.developing.render import Finish, finish
from demosaic_ntc.files.pixels import oriented, under, unheard
from demosaic_ntc.files.settings import Development, Settings
from demosaic_ntc.imaging.cfa import Cfa
from demosaic_ntc.imaging.demosaic import demosaic

from ..data.crops import CropBox, most_detailed
from ..measure.likeness import Bytes
from ..methods.method import Method
from .embedding import address, beside, lossless, thumbnail
from .page import Scene, Version

#: How much of the mosaic around a part is used: more than the search for similar patches reaches.
MARGIN = 64
#: The value of a saturated sample in the mosaics that methods get.
WHITE = 65535

_OURS = {"ntc": "ours, normal", "ntc-fast": "ours, fast", "ntc-best": "ours, best"}

#: The page opens with the first two.
BAYER_METHODS = (
    *("ntc", "libraw-ahd", "ntc-best", "ntc-fast", "libraw-dcb", "libraw-dht"),
    *("libraw-aahd", "libraw-vng", "libraw-ppg", "libraw-linear"),
)
OTHER_METHODS = (
    *("ntc", "libraw-markesteijn-3", "ntc-best", "ntc-fast"),
    *("libraw-markesteijn-1", "libraw-vng", "libraw-linear"),
)


@dataclass(frozen=True, slots=True)
class Parts:
    """Which parts of a picture are shown: given ones, or the most detailed squares."""

    boxes: tuple[CropBox, ...] = ()
    count: int = 3
    side: int = 256

    def of(self, upright: Bytes) -> list[CropBox]:
        """The parts of a picture."""
        given = [box.checked(upright.shape) for box in self.boxes]
        return given or most_detailed(upright, self.side, self.count)


@dataclass(frozen=True, slots=True)
class Negative:
    """A raw ready to be demosaiced and finished by anything."""

    name: str
    mosaic: NDArray[np.uint16]
    cfa: Cfa
    white: float  # of the encoded samples
    lift: float
    look: Finish
    orientation: int
    overview: Bytes  # the whole picture, upright, by plain interpolation

    @property
    def whole(self) -> CropBox:
        """All of the picture."""
        return CropBox(0, 0, self.overview.shape[1], self.overview.shape[0])

    def restored(self, box: CropBox, method: Method) -> Bytes:
        """A part of the upright picture by one method."""
        inner = on_sensor(box, self.orientation, self.mosaic.shape)
        top, left = max(0, inner.top - MARGIN), max(0, inner.left - MARGIN)
        rows = slice(top, inner.top + inner.height + MARGIN)
        columns = slice(left, inner.left + inner.width + MARGIN)
        picture = method.run(self.mosaic[rows, columns], self.cfa.shifted(top, left)).image
        place = CropBox(inner.left - left, inner.top - top, inner.width, inner.height).place
        return self.finished(picture[place] * np.float32(self.white / WHITE))

    def finished(self, image: NDArray[np.float32]) -> Bytes:
        """Upright 8-bit pixels of an encoded picture."""
        pixels = finish(image, self.lift, self.look, unheard)
        return np.asarray(oriented(pixels, self.orientation), dtype=np.uint8)


def read_negative(source: Path, development: Development) -> Negative:
    """Read a raw and decide how all versions of it will look."""
    ready = prepare(source, Settings(development=replace(development, denoise="off")))
    encoded = ready.mosaic
    guess = demosaic(encoded.samples, ready.photo.cfa, method="bilinear", white=encoded.white).image
    look = finish_of(guess, ready, development, bits=8)
    orientation = ready.photo.orientation
    pixels = finish(guess, encoded.lift, look, unheard)
    return Negative(
        name=source.stem,
        mosaic=np.rint(encoded.samples * (WHITE / encoded.white)).astype(np.uint16),
        cfa=ready.photo.cfa,
        white=encoded.white,
        lift=encoded.lift,
        look=look,
        orientation=orientation,
        overview=np.ascontiguousarray(oriented(pixels, orientation), dtype=np.uint8),
    )


def on_sensor(box: CropBox, orientation: int, shape: tuple[int, ...]) -> CropBox:
    """Where a part of the upright picture lies on the sensor."""
    corners = ((box.top, box.left), (box.top + box.height - 1, box.left + box.width - 1))
    places = [under(corner, (shape[0], shape[1]), orientation) for corner in corners]
    down, right = (sorted(place[axis] for place in places) for axis in (0, 1))
    return CropBox(right[0], down[0], right[1] - right[0] + 1, down[1] - down[0] + 1)


def _called(method: str) -> str:
    """What a method is called where photographers look: ours by its quality."""
    return _OURS.get(method, method)


def scenes(
    negative: Negative, parts: Parts, methods: Iterable[Method], report: Callable[[str], None]
) -> Iterator[Scene]:
    """The parts of a picture, each in all versions, within the page."""
    methods, small = list(methods), thumbnail(negative.overview)
    boxes = parts.of(negative.overview)
    for number, box in enumerate(boxes, start=1):
        versions = []
        for method in methods:
            versions.append(Version(_called(method.name), address(lossless(negative.restored(box, method)))))
            report(f"{negative.name}: {method.name}")
        name = f"{negative.name}, part {number}" if len(boxes) > 1 else negative.name
        yield Scene(name, box.width, box.height, tuple(versions), small, box.share(negative.overview.shape))


def whole_scene(
    negative: Negative, methods: Iterable[Method], folder: Path, report: Callable[[str], None]
) -> Scene:
    """The whole picture in all versions, in files beside the page."""
    versions = []
    for method in methods:
        content = lossless(negative.restored(negative.whole, method))
        address_of = beside(folder, f"{negative.name}-{method.name}.webp", content)
        versions.append(Version(_called(method.name), address_of))
        report(f"{negative.name}: {method.name}")
    whole = negative.whole
    return Scene(
        negative.name, whole.width, whole.height, tuple(versions), thumbnail(negative.overview), None
    )
