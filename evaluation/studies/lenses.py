"""How straight, sharp, free of fringes and even pictures are once their lens is corrected.

*Made lens.* A grid and slanted edges are drawn as a lens of known WarpRectilinear shows them, written as DNGs
that state it, and developed. Lines are told from straight ones by the centres of their profiles. Sharpness is
the MTF50 of an edge (ISO 12233: an edge of five degrees, four samples to a pixel) by that of the same edge
without any lens, in pixels of the photo.

*Raws.* Developed in the camera's own colours, which no matrix mixes. Red and blue are laid over green in
blocks of 48 pixels: how far each lies off along the radius, by least squares of differences over gradients.
Corners are compared with darktable's picture of the same file, as light. Both get a copy that
states one matrix, for D65: where none of a file's two lights is D65, darktable takes a matrix of its own, and
colours differ all over the picture. Where a fisheye leaves corners dark, places in its circle are compared.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf

from demosaic_ntc.arrays import Float64
from demosaic_ntc.choices import Quality
from demosaic_ntc.io.pixels import orient
from demosaic_ntc.raw.opcodes.warps import WarpRectilinear
from demosaic_ntc.raw.reading import read_photo
from demosaic_ntc.workflows.api import develop

from ..methods.highlights import run_darktable
from ..methods.programs import run_program
from ..report.tables import DataTable, table_of
from ..siblings import Camera, linear_dng, opcode_fields

LENS = WarpRectilinear(
    ((0.951, 0.06, -0.01, 0, 0, 0), (0.95, 0.06, -0.01, 0, 0, 0), (0.949, 0.06, -0.01, 0, 0, 0)), (0.5, 0.48)
)
SIZE = (480, 640)
BLURS = (0.4, 0.5, 0.8)  # pixels: deviations of the Gaussian that edges are blurred by, pixels included
_SPACING, _LINE = 64, 1.5  # pixels: between lines of the grid, and the deviation of their profile
_SLANT = np.tan(np.radians(5))
_ROI = 40  # pixels on both sides of an edge, and above and below its middle
_BLOCK = 48
_RINGS, _LEAST_BLOCKS = 4, 10
_CORNER = 0.1  # of a picture's sides
_DARK, _REACH = 0.1, 0.8  # of the mean: corners that see nothing; of the radius: blocks of a circle
_AROUND = ("top", "top right", "right", "bottom right", "bottom", "bottom left", "left", "top left")
_ONE_MATRIX = ("-ColorMatrix1<ColorMatrix2", "-CalibrationIlluminant1=D65", "-CalibrationIlluminant2=D65")
_PLAIN: dict[str, Any] = {"look": "neutral", "linear": True, "bits": "float", "denoise": "off", "threads": 1}
_CAMERA = Camera(black=0, white=65535, neutral=(1.0, 1.0, 1.0))

_GRID = {"grid": "", "lines": "d", "largest deviation px": ".3f", "rms px": ".3f"}
_EDGES = {
    "edge, blur px": ".2f",
    "MTF50 before": ".3f",
    "after": ".3f",
    "ratio %": ".1f",
    "overshoot %": ".1f",
}
_FRINGES = {
    **{"raw": "", "ring": "", "blocks": "d", "colour": "", "mean before px": ".3f", "mean after": ".3f"},
    **{"median before": ".3f", "median after": ".3f"},
}
_EVEN = {"raw": "", "block": "", "red %": ".1f", "green %": ".1f", "blue %": ".1f"}
Row = dict[str, Any]
Scene = Callable[[Float64, Float64], Float64]


def measure_grid() -> list[Row]:
    """The rows of a grid without and with correction."""
    rows = []
    ways: dict[str, Literal["auto", "off"]] = {"as photographed": "off", "corrected": "auto"}
    for name, lens in ways.items():
        picture = _photograph(_grid, lens)
        off = [*_deviations(picture), *_deviations(picture.T)]
        largest = max(np.abs(each).max() for each in off)
        squares = np.concatenate([each**2 for each in off])
        rows.append(
            {
                **{"grid": name, "lines": len(off)},
                **{"largest deviation px": largest, "rms px": float(np.sqrt(squares.mean()))},
            }
        )
    return rows


def measure_edge(blur: float) -> Row:
    """The row of an edge: its sharpness without a lens, and corrected."""
    middle = (0.3 * SIZE[0], 0.3 * SIZE[1])
    part, scale = tuple(slice(int(place) - _ROI, int(place) + _ROI) for place in middle), _magnify(middle)
    before = _photograph(_edge(middle, blur), None)[part]
    after = _photograph(_edge(middle, blur / scale), "auto")[part]
    sharp, kept = _mtf50(before), _mtf50(after) / scale
    overshoot = max(after.max() - 0.65, 0.15 - after.min()) / 0.5
    return {
        **{"edge, blur px": blur, "MTF50 before": sharp, "after": kept},
        **{"ratio %": 100 * kept / sharp, "overshoot %": 100 * overshoot},
    }


def measure_fringes(path: Path, quality: Quality) -> list[Row]:
    """The rows of a raw: how far red and blue lie off green along the radius, by rings."""
    lenses: tuple[Literal["auto", "off"], ...] = ("off", "auto")
    how: dict[str, Any] = {**_PLAIN, "color_space": "camera", "rotate": False, "crop": "visible"}
    pictures = [develop(path, **how, quality=quality, lens=lens) for lens in lenses]
    rows = []
    for colour, name in ((0, "red"), (2, "blue")):
        off = [_radial_shifts(each.image.astype(np.float64), colour) for each in pictures]
        for ring in range(_RINGS):
            inside = [each[np.floor(each[:, 0] * _RINGS) == ring] for each in off]
            if min(map(len, inside)) >= _LEAST_BLOCKS:
                rows.append({"raw": path.name, "colour": name, **_ring_facts(ring, *inside)})
    return rows


def _ring_facts(ring: int, before: Float64, after: Float64) -> Row:
    """How far a colour lies off green in a ring, before and after correction."""
    means = [np.average(each[:, 1], weights=each[:, 2]) for each in (before, after)]
    medians = [np.median(each[:, 1]) for each in (before, after)]
    return {
        **{"ring": f"{ring / _RINGS:.2f} to {(ring + 1) / _RINGS:.2f}", "blocks": len(after)},
        **{"mean before px": means[0], "mean after": means[1]},
        **{"median before": medians[0], "median after": medians[1]},
    }


def compare_corners(path: Path, quality: Quality) -> list[Row]:
    """The rows of a raw: light in its corners and at its sides, by that in darktable's."""
    how: dict[str, Any] = {
        **_PLAIN,
        "rotate": False,
        "highlights": "clip",
        "white": "metadata",
        "lens": "auto",
    }
    with TemporaryDirectory() as folder:
        same = Path(folder, path.name)
        run_program(["exiftool", "-q", *_ONE_MATRIX, "-o", str(same), str(path)], same)
        own = develop(same, **how, quality=quality).image.astype(np.float64)
        turned = read_photo(same).orientation
        theirs = orient(run_darktable(same.read_bytes()), {6: 8, 8: 6}.get(turned, turned))  # as it lay
    height, width = (min(sides) for sides in zip(own.shape[:2], theirs.shape[:2], strict=True))
    own, theirs = own[:height, :width], theirs[:height, :width]
    inside = (np.minimum(own, theirs).min(axis=2) > 0.002) & (np.maximum(own, theirs).max(axis=2) < 0.9)
    places = _blocks_of_circle(height, width) if _has_circle(own) else _blocks(height, width)
    rows = []
    for place, (y, x) in places.items():
        part = inside[y, x]
        if part.sum() < 100:
            continue
        ratio = own[y, x][part].mean(axis=0) / theirs[y, x][part].mean(axis=0)
        red, green, blue = 100 * (ratio - 1)
        rows.append({"raw": path.name, "block": place, "red %": red, "green %": green, "blue %": blue})
    return rows


def tables(
    grid: Iterable[Row], edges: Iterable[Row], fringes: Iterable[Row], corners: Iterable[Row]
) -> list[DataTable]:
    """All tables that have rows."""
    made = [
        table_of("a grid through a made lens", _GRID, grid, "centres of lines against straight ones"),
        table_of("slanted edges through it", _EDGES, edges, "cycles per pixel of the photo"),
        table_of("red and blue against green", _FRINGES, fringes, "pixels outwards; means by edges' weights"),
        table_of("light against darktable's", _EVEN, corners, "ours by theirs, unclipped pixels of a block"),
    ]
    return [table for table in made if table.rows]


def _photograph(scene: Scene, lens: Literal["auto", "off"] | None) -> Float64:
    """The green of a scene photographed through the made lens and developed, or without any lens."""
    y, x = np.meshgrid(*(np.arange(side) + 0.5 for side in SIZE), indexing="ij")
    planes = []
    for plane in range(3):
        down, across = (y, x) if lens is None else _invert(y, x, plane)
        planes.append(scene(down, across))
    codes = np.rint(np.stack(planes, axis=2) * 65535).astype(np.uint16)
    changed = {} if lens is None else opcode_fields(pixels=(LENS,))
    with TemporaryDirectory() as folder:
        path = Path(folder, "made.dng")
        path.write_bytes(linear_dng(codes, _CAMERA, changed=changed))
        made = develop(path, **_PLAIN, color_space="camera", white="metadata", lens=lens or "off")
    return np.asarray(made.image[..., 1], np.float64)


def _invert(y: Float64, x: Float64, plane: int) -> tuple[Float64, Float64]:
    """The places of the scene that pixels of the photo show, by iteration."""
    down, across = y, x
    for _ in range(40):
        found = LENS.find_sources((down, across), SIZE, plane)
        down, across = down - (found[0] - y), across - (found[1] - x)
    return down, across


def _magnify(middle: tuple[float, float]) -> float:
    """How many pixels of the photo make one of the scene, across an edge at a place."""
    y, x = np.full(2, middle[0]), middle[1] + np.array([-0.5, 0.5])
    down, across = LENS.find_sources((y, x), SIZE, 1)
    return float(np.hypot(np.diff(down), np.diff(across))[0])


def _grid(y: Float64, x: Float64) -> Float64:
    """Dark lines on grey."""
    off = [np.abs((place + _SPACING / 2) % _SPACING - _SPACING / 2) for place in (y, x)]
    lines = [np.exp(-((each / _LINE) ** 2) / 2) for each in off]
    return np.asarray(0.6 - 0.5 * np.maximum(*lines))


def _edge(middle: tuple[float, float], blur: float) -> Scene:
    """A slanted edge through a place."""

    def draw(y: Float64, x: Float64) -> Float64:
        across = ((x - middle[1]) - _SLANT * (y - middle[0])) / np.hypot(1, _SLANT)
        return np.asarray(0.4 + 0.25 * erf(across / (blur * np.sqrt(2))))

    return draw


def _deviations(picture: Float64) -> list[Float64]:
    """How far the centres of upright lines lie off straight ones, line by line, away from crossings."""
    height, width = picture.shape
    rows = np.arange(16, height - 16)
    rows = rows[np.abs((rows + 0.5 + _SPACING / 2) % _SPACING - _SPACING / 2) > 3 * _LINE + 5]
    found = []
    for line in range(_SPACING, width - 20, _SPACING):
        centres = _trace(picture, rows, line)
        found.append(centres - np.polynomial.Polynomial.fit(rows, centres, 1)(rows))
    return found


def _trace(picture: Float64, rows: NDArray[np.int64], line: int) -> Float64:
    """The centres of a dark line in some rows; the window follows it from where it should be."""
    centres = np.full(len(rows), float(line))
    for _ in range(8):
        columns = np.rint(centres - 0.5).astype(int)[:, None] + np.arange(-6, 7)
        columns = np.clip(columns, 0, picture.shape[1] - 1)
        depth = np.maximum(0.6 - picture[rows[:, None], columns], 0) ** 2
        centres = (depth * (columns + 0.5)).sum(axis=1) / np.maximum(depth.sum(axis=1), 1e-9)
    return np.asarray(centres)


def _mtf50(part: Float64) -> float:
    """The frequency at which an upright slanted edge has half its contrast, in cycles per pixel."""
    profile = _edge_profile(part)
    spread = np.diff(profile) * np.hanning(len(profile) - 1)
    response = np.abs(np.fft.rfft(spread, 4096))
    response /= response[0]
    frequency = np.fft.rfftfreq(4096, 0.25)
    first = int(np.argmax(response < 0.5))
    low, high = response[first - 1], response[first]
    return float(frequency[first - 1] + (low - 0.5) / (low - high) * (frequency[1] - frequency[0]))


def _edge_profile(part: Float64) -> Float64:
    """The mean across an edge, four entries to a pixel, 16 pixels on both sides."""
    weights = np.diff(part, axis=1) ** 2
    centres = (weights * (np.arange(weights.shape[1]) + 1.0)).sum(axis=1) / weights.sum(axis=1)
    rows = np.arange(len(part)) + 0.5
    line = np.polynomial.Polynomial.fit(rows, centres, 1).convert()
    across = (np.arange(part.shape[1])[None, :] + 0.5 - line(rows)[:, None]) / np.hypot(1, line.coef[1])
    bins = np.floor(across * 4).astype(int) + 64
    inside = (bins >= 0) & (bins < 128)
    counts = np.bincount(bins[inside], minlength=128)
    return np.asarray(np.bincount(bins[inside], part[inside], minlength=128) / np.maximum(counts, 1))


def _radial_shifts(picture: Float64, colour: int) -> Float64:
    """Rows of relative radius, shift outwards and weight, of blocks with edges."""
    height, width = picture.shape[:2]
    found = []
    for top in range(8, height - _BLOCK - 8, _BLOCK):
        for left in range(8, width - _BLOCK - 8, _BLOCK):
            part = slice(top, top + _BLOCK), slice(left, left + _BLOCK)
            y, x = top + _BLOCK / 2 - height / 2, left + _BLOCK / 2 - width / 2
            shift = _block_shift(picture[(*part, 1)], picture[(*part, colour)], y, x)
            if shift is not None:
                found.append((np.hypot(y, x) / (min(height, width) / 2), *shift))
    return np.array(found).reshape(-1, 3)


def _block_shift(green: Float64, other: Float64, y: float, x: float) -> tuple[float, float] | None:
    """How far a colour lies outwards of green, and the energy of edges; None where there is too little."""
    if max(green.max(), other.max()) > 0.95:
        return None
    down, across = np.gradient(green)
    radial = (down * y + across * x) / max(np.hypot(y, x), 1.0)
    energy = float((radial**2).sum())
    if (
        energy < green.size * (0.02 * green.mean()) ** 2
        or np.corrcoef(green.ravel(), other.ravel())[0, 1] < 0.97
    ):
        return None
    # other ≈ a + b·green − b·shift·radial
    terms = np.stack([np.ones(green.size), green.ravel(), -radial.ravel()], axis=1)
    (_, gain, moved), *_ = np.linalg.lstsq(terms, other.ravel(), rcond=None)
    return float(moved / gain), energy / float(green.mean() ** 2)


def _blocks(height: int, width: int) -> dict[str, tuple[slice, slice]]:
    """The corners of a picture, and the middles of its top and bottom."""
    tall, wide = round(_CORNER * height), round(_CORNER * width)
    rows = {"top": slice(0, tall), "bottom": slice(height - tall, height)}
    middle = (width - wide) // 2
    columns = {
        "left": slice(0, wide),
        "middle": slice(middle, middle + wide),
        "right": slice(width - wide, width),
    }
    return {f"{y} {x}": (rows[y], columns[x]) for y in rows for x in columns}


def _has_circle(picture: Float64) -> bool:
    """Whether the corners of a picture see nothing."""
    blocks = _blocks(*picture.shape[:2])
    corners = [picture[(*blocks[place], 1)].mean() for place in blocks if "middle" not in place]
    return bool(max(corners) < _DARK * picture[..., 1].mean())


def _blocks_of_circle(height: int, width: int) -> dict[str, tuple[slice, slice]]:
    """Blocks around the border of the circle within a picture, and above and below its middle."""
    half, side = min(height, width) / 2, round(_CORNER * min(height, width))
    found = {}
    for name, angle in zip(_AROUND, np.radians(np.arange(0, 360, 45)), strict=True):
        y, x = height / 2 - _REACH * half * np.cos(angle), width / 2 + _REACH * half * np.sin(angle)
        top, left = round(y - side / 2), round(x - side / 2)
        found[name] = (slice(top, top + side), slice(left, left + side))
    return found
