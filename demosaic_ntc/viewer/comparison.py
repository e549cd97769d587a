"""A photographer's own raws in several versions: the same samples and colours, another interpolation.

Every method gets the same mosaic (black subtracted, white-balanced, under the sRGB curve, at 16 bits), and
what it returns is finished the same way (camera matrix, exposure, sRGB). So whatever differs between two
versions is the interpolation. Of a part that is shown, the mosaic around it is used as well.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.cfa import Cfa
from demosaic_ntc.demosaicing.demosaic import demosaic
from demosaic_ntc.developing.framing import cut, finish_of
from demosaic_ntc.developing.preprocess import prepare
from demosaic_ntc.developing.render import Finish, expand_channels, finish
from demosaic_ntc.developing.settings import Development, Settings
from demosaic_ntc.engine.result import Restored
from demosaic_ntc.io.atomic import whole_file
from demosaic_ntc.io.pixels import ignore_share, orient, unorient_point

from .crops import CropBox, most_detailed
from .page import Page, PageScene, Version, page_html
from .pictures import Bytes, address, lossless, thumbnail, write_beside

PAGE, PICTURES = "index.html", "pictures"

#: How much of the mosaic around a part is used: more than the search for similar patches reaches.
MARGIN = 64
#: The value of a saturated sample in the mosaics that methods get.
WHITE = 65535

# What methods are called where photographers look: ours by its quality.
_OURS = {
    "gaussian": "ours, normal",
    "gaussian-fast": "ours, fast",
    "gaussian-best": "ours, best",
    "ntc": "ours, completed",
}

_MOST_NAMED = 3  # raws in the title

_INTRODUCTION = (
    "The same raw samples, interpolated in different ways and finished alike. There is no truth to compare "
    "with, so there are no figures: look at fine lines, coloured edges and small print."
)

Report = Callable[[str], None]


class Interpolation(Protocol):
    """A way from a mosaic to a picture: its name, its settings, and a function of mosaic and array."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def settings(self) -> str:
        """How it is used, in words."""

    @property
    def run(self) -> Callable[..., Any]:
        """Returns something with the picture, (height, width, 3) in the mosaic's scale, as its `image`."""


@dataclass(frozen=True, slots=True)
class AsMeasured:
    """The only version of a raw that needs no demosaicing."""

    name: str = "as measured"
    settings: str = "no demosaicing: linear or monochrome"

    def run(self, samples: NDArray[Any], _array: None) -> Restored:
        """Return the samples as a picture."""
        return Restored(expand_channels(samples.astype(np.float32)))


@dataclass(frozen=True, slots=True)
class Parts:
    """Which parts of a picture are shown: given ones, or the most detailed squares."""

    boxes: tuple[CropBox, ...] = ()
    count: int = 3
    side: int = 256

    def of(self, upright: Bytes) -> list[CropBox]:
        """The parts of a picture."""
        given = [box.check(upright.shape) for box in self.boxes]
        return given or most_detailed(upright, self.side, self.count)


@dataclass(frozen=True, slots=True)
class Negative:
    """A raw ready to be demosaiced and finished by anything."""

    name: str
    mosaic: NDArray[np.uint16]
    cfa: Cfa | None  # None where there is nothing to interpolate
    white: float  # of the encoded samples
    lift: float
    look: Finish
    orientation: int
    overview: Bytes  # the whole picture, upright, by plain interpolation

    @property
    def whole(self) -> CropBox:
        """All of the picture."""
        return CropBox(0, 0, self.overview.shape[1], self.overview.shape[0])

    def restore(self, box: CropBox, method: Interpolation) -> Bytes:
        """A part of the upright picture by one method."""
        inner = locate_on_sensor(box, self.orientation, self.mosaic.shape)
        top, left = max(0, inner.top - MARGIN), max(0, inner.left - MARGIN)
        rows = slice(top, inner.top + inner.height + MARGIN)
        columns = slice(left, inner.left + inner.width + MARGIN)
        array = None if self.cfa is None else self.cfa.shift(top, left)
        picture = method.run(self.mosaic[rows, columns], array).image
        place = CropBox(inner.left - left, inner.top - top, inner.width, inner.height).place
        return self.finish(picture[place] * np.float32(self.white / WHITE))

    def finish(self, image: NDArray[np.float32]) -> Bytes:
        """Upright 8-bit pixels of an encoded picture."""
        pixels = finish(image, self.lift, self.look, ignore_share)
        return np.asarray(orient(pixels, self.orientation), dtype=np.uint8)


def read_negative(source: Path, development: Development) -> Negative:
    """Read a raw and decide how all versions of it will look."""
    ready = prepare(source, Settings(development=replace(development, denoise="off", lens="off")))
    encoded, photo = ready.mosaic, ready.photo
    box, cfa = photo.frame(development.crop), photo.cfa
    cfa = None if cfa is not None and cfa.is_mono else cfa
    guess = expand_channels(encoded.samples)
    if cfa is not None:
        guess = demosaic(encoded.samples, cfa, method="bilinear", white=encoded.white).image
    look = finish_of(guess, ready, development, bits=8)
    pixels = cut(finish(guess, encoded.lift, look, ignore_share), photo, development)
    samples = cut(encoded.samples, photo, development)
    white = max(encoded.white, float(samples.max()))  # completed highlights lie above
    return Negative(
        name=source.stem,
        mosaic=np.rint(samples * (WHITE / white)).astype(np.uint16),
        cfa=cfa and cfa.shift(box.top, box.left),
        white=white,
        lift=encoded.lift,
        look=look,
        orientation=photo.orientation,
        overview=np.ascontiguousarray(orient(pixels, photo.orientation), dtype=np.uint8),
    )


def locate_on_sensor(box: CropBox, orientation: int, shape: tuple[int, ...]) -> CropBox:
    """Where a part of the upright picture lies on the sensor."""
    corners = ((box.top, box.left), (box.top + box.height - 1, box.left + box.width - 1))
    places = [unorient_point(corner, (shape[0], shape[1]), orientation) for corner in corners]
    down, right = (sorted(place[axis] for place in places) for axis in (0, 1))
    return CropBox(right[0], down[0], right[1] - right[0] + 1, down[1] - down[0] + 1)


def write_comparison(
    sources: Sequence[Path],
    folder: Path,
    methods: Callable[[Cfa], Sequence[Interpolation]],
    parts: Parts | None,
    development: Development,
    facts: Mapping[str, str],
    report: Report,
) -> Path:
    """Make the page for some raws, by the methods that know their arrays; returns where it is.

    Without parts whole pictures are shown, in files beside the page.
    """
    shown, told = list[PageScene](), dict(facts)
    for name, source in zip(_names(sources), sources, strict=True):
        negative = replace(read_negative(source, development), name=name)
        chosen = (AsMeasured(),) if negative.cfa is None else methods(negative.cfa)
        told |= {f"method {method.name}": method.settings for method in chosen}
        shown += _scenes(negative, chosen, parts, folder / PICTURES, report)
    content = page_html(Page(_title(sources), _INTRODUCTION, told, tuple(shown)))
    with whole_file(folder / PAGE, overwrite=True) as file:
        file.write(content.encode(errors="backslashreplace"))  # names of files may be no text
    return folder / PAGE


def _scenes(
    negative: Negative, methods: Sequence[Interpolation], parts: Parts | None, folder: Path, report: Report
) -> Iterator[PageScene]:
    """The parts of a picture, or all of it, each in all versions."""
    boxes = parts.of(negative.overview) if parts else [negative.whole]
    small = thumbnail(negative.overview)
    for number, box in enumerate(boxes, start=1):
        versions = []
        for method in methods:
            content, file = lossless(negative.restore(box, method)), f"{negative.name}-{method.name}.webp"
            place = address(content) if parts else write_beside(folder, file, content)
            versions.append(Version(_OURS.get(method.name, method.name), place))
            report(f"{negative.name}: {method.name}")
        name = f"{negative.name}, part {number}" if len(boxes) > 1 else negative.name
        share = box.share(negative.overview.shape) if parts else None
        yield PageScene(name, box.width, box.height, tuple(versions), small, share)


def _names(sources: Iterable[Path]) -> list[str]:
    """What the pictures are called: by their files, numbered where two are called the same."""
    counts, names = Counter[str](), []
    for source in sources:
        counts[source.stem] += 1
        number = counts[source.stem]
        names.append(source.stem if number == 1 else f"{source.stem} ({number})")
    return names


def _title(sources: Sequence[Path]) -> str:
    """What the page is called."""
    names = [source.name for source in sources]
    if len(names) > _MOST_NAMED:
        names[_MOST_NAMED:] = [f"{len(names) - _MOST_NAMED} more"]
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]
