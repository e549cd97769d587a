"""Draw the figures of these pages, and of the README: ``python docs/make_figures.py [name …]``."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from demosaic_ntc import Solution, complete, develop, inpaint
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.choices import LookName
from demosaic_ntc.engine.kernels.matching import match_patches
from demosaic_ntc.engine.passes import PatchGrid
from demosaic_ntc.inpainting.inpaint import Method
from evaluation.measure.convergence import ROWS, trace_completion
from evaluation.measure.metrics import Bytes, cpsnr, eight_bit
from evaluation.methods.demosaicers import catalogue
from evaluation.methods.method import Effort, pick_methods
from evaluation.report.plots import convergence, draw

ROOT = Path(__file__).resolve().parents[1]
FIGURES = ROOT / "docs" / "figures"

ARRAY = Cfa.from_name("RGGB")
CLASSICAL = ("lmmse", "mlri", "menon", "malvar", "libraw-ahd", "libraw-dcb", "libraw-vng")
ENLARGED = 4
CROPS = ((slice(10, 74), slice(150, 214)), (slice(126, 190), slice(130, 194)))  # leaves and colours; print


def blocks() -> Figure:
    """A matrix of three blocks, what is seen of it, what is completed, and the vertices found."""
    truth, index, value = _three_blocks()
    solution = complete(truth.shape, index, value, radius=1.0)
    seen = np.full(truth.shape, np.nan)
    seen[tuple(index.T)] = value
    order = np.argsort(-solution.weights)[:4]
    figure = Figure(figsize=(8, 5.6), layout="constrained")
    grid = figure.add_gridspec(2, 12)
    shown = (("truth", truth), ("60 entries seen", seen), ("completed", solution.dense()))
    for number, (title, matrix) in enumerate(shown):
        _matrix(figure.add_subplot(grid[0, 4 * number : 4 * number + 4]), matrix, title)
    for number, vertex in enumerate(order):
        panel = figure.add_subplot(grid[1, 3 * number : 3 * number + 3])
        _matrix(
            panel, _vertex(solution, vertex), f"vertex, weight {solution.weights[vertex]:.2f}", largest=1.0
        )
    return figure


def _three_blocks() -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.float64]]:
    """The example of page 1: truth, positions seen, and their values."""
    rows, columns = np.zeros((3, 12)), np.zeros((3, 12))
    for block, (top, left) in enumerate([(0, 2), (4, 6), (7, 0)]):
        rows[block, top : top + 5] = columns[block, left : left + 5] = 1
    truth = np.einsum("b,bi,bj->ij", [0.5, 0.3, 0.2], rows, columns)
    seen = np.random.default_rng(0).choice(144, size=60, replace=False)
    index = np.stack(np.unravel_index(seen, truth.shape), axis=1)
    return truth, index, truth.ravel()[seen]


def _vertex(solution: Solution, number: int) -> NDArray[np.uint8]:
    """One of the blocks a matrix is made of."""
    rows, columns = (factors[number] for factors in solution.vertices)
    return np.outer(rows, columns)


def _matrix(panel: Any, matrix: NDArray[Any], title: str, largest: float = 0.6) -> None:
    """A matrix as squares; entries that are not known stay white."""
    panel.imshow(matrix, cmap="Blues", vmin=0, vmax=largest)
    panel.set_title(title, fontsize=9)
    panel.set_xticks([])
    panel.set_yticks([])


def converging() -> Figure:
    """Objective and proven lower bound by iteration."""
    return convergence([trace_completion(row) for row in ROWS])


def groups() -> Figure:
    """A reference patch and those like it in the picture, and the tensor they make."""
    truth = _sample()
    patches, (row, column) = PatchGrid(size=4, stride=4, count=8, reach=12), (72, 215)
    planes = np.ascontiguousarray(np.moveaxis(truth / np.float32(255), 2, 0), dtype=np.float32)
    offsets = _offsets(planes, patches, row, column)
    figure = Figure(figsize=(9, 4.2), layout="constrained")
    grid = figure.add_gridspec(2, 2, width_ratios=(1, 1.5))
    where = figure.add_subplot(grid[:, 0])
    _surroundings(where, truth, row, column, offsets, patches.size)
    masks = ARRAY.masks(truth.shape[:2])
    for place, (title, picture) in enumerate((("measured", np.where(masks, truth, 0)), ("truth", truth))):
        panel = figure.add_subplot(grid[place, 1])
        panel.imshow(_unrolled(picture, row, column, offsets, patches.size), interpolation="nearest")
        panel.set_title(f"the group: {title}, a patch per row", fontsize=9)
        panel.axis("off")
    return figure


def _offsets(planes: NDArray[np.float32], patches: PatchGrid, row: int, column: int) -> NDArray[np.int64]:
    """The patches of a group, as steps from the reference patch."""
    found = np.zeros((1, patches.count, 2), np.int8)
    alike = np.zeros((0, 0), np.float32)  # everything is known alike
    match_patches(planes, alike, np.array([[row, column]]), patches.size, patches.offsets, found)
    return np.asarray(found[0], dtype=np.int64)


def _surroundings(
    panel: Any, truth: Bytes, row: int, column: int, offsets: NDArray[np.int64], size: int
) -> None:
    """The picture around a group, with its patches framed."""
    top, left, side = row - 18, column - 18, 40
    panel.imshow(truth[top : top + side, left : left + side], interpolation="nearest")
    for number, (down, right) in enumerate(offsets):
        corner = (column + right - left - 0.5, row + down - top - 0.5)
        colour = "white" if number == 0 else "yellow"
        panel.add_patch(Rectangle(corner, size, size, fill=False, edgecolor=colour, linewidth=1.8))
    panel.axis("off")


def _unrolled(picture: Bytes, row: int, column: int, offsets: NDArray[np.int64], size: int) -> Bytes:
    """A patch per row, its pixels side by side."""
    lines = [
        picture[row + down : row + down + size, column + right : column + right + size].reshape(1, -1, 3)
        for down, right in offsets
    ]
    return np.concatenate(lines)


def crop() -> Image.Image:
    """The picture of the README: a part of a generated scene by bilinear, the best peer and ours."""
    truth = _sample()
    mosaic = ARRAY.sample(truth)
    found = {}
    for method in pick_methods(catalogue(Effort(threads=1)), ("bilinear", "gaussian", *CLASSICAL)):
        found[method.name] = eight_bit(method.run(mosaic, ARRAY).image)
    best = max(CLASSICAL, key=lambda name: cpsnr(found[name], truth))
    names = {"bilinear": "bilinear", best: f"best classical: {best}", "gaussian": "ours"}
    titles = {name: f"{title}, {cpsnr(found[name], truth):.1f} dB" for name, title in names.items()}
    first, *others = (
        [*((title, found[name][place]) for name, title in titles.items()), ("truth", truth[place])]
        for place in CROPS
    )
    return stacked([side_by_side(first), *(side_by_side([("", part) for _, part in row]) for row in others)])


def holes() -> Image.Image:
    """A damaged scene, filled, completed, and as it was."""
    truth, damaged = _sample(), _sample("_damaged")
    missing = _sample("_mask") > 127
    place = (slice(20, 148), slice(60, 188))
    panels = [("damaged", damaged[place])]
    methods: dict[str, Method] = {"biharmonic": "biharmonic", "ours": "gaussian"}
    for title, method in methods.items():
        repaired = np.asarray(inpaint(damaged, missing, method=method, threads=1).image)
        panels.append((f"{title}, {cpsnr(repaired[missing], truth[missing]):.1f} dB", repaired[place]))
    return side_by_side([*panels, ("truth", truth[place])], enlarged=2)


def looks() -> Image.Image:
    """A photo as measured, with the automatic look and with the camera's."""
    shown: tuple[LookName, ...] = ("neutral", "auto", "camera")
    panels = [
        (str(name), develop(_photo("IMG_0848.CR2"), look=name, half=True, resize=420, bits=8).image)
        for name in shown
    ]
    return side_by_side(panels, enlarged=1)


def grain() -> Image.Image:
    """A part of a photo with its noise and without."""
    place = (slice(820, 990), slice(560, 760))
    strengths: dict[str, Literal["off", "auto"]] = {"--denoise off": "off", "the default": "auto"}
    panels = [
        (
            title,
            develop(_photo("colorchart_tinydng.dng"), denoise=strength, exposure=1.0, bits=8).image[place],
        )
        for title, strength in strengths.items()
    ]
    return side_by_side(panels, enlarged=3)


def _photo(name: str) -> Path:
    """A photograph that others have given away; docs/photographers.md names them."""
    folder = os.environ.get("DEMOSAIC_NTC_DATA")
    if folder is None:
        raise SystemExit("this figure shows a raw of the test data; set DEMOSAIC_NTC_DATA to its folder")
    return Path(folder, "raw", name)


def side_by_side(panels: list[tuple[str, Bytes]], enlarged: int = ENLARGED) -> Image.Image:
    """Pictures beside each other, every pixel a square, their titles above."""
    gap, line = 8, 22 if any(title for title, _ in panels) else 8
    height, width = (enlarged * side for side in panels[0][1].shape[:2])
    sheet = Image.new("RGB", (len(panels) * (width + gap) - gap, height + line), "white")
    draw, font = ImageDraw.Draw(sheet), ImageFont.load_default(size=15)
    for number, (title, pixels) in enumerate(panels):
        left = number * (width + gap)
        draw.text((left + 2, 1), title, fill="black", font=font)
        enlarged_pixels = pixels.repeat(enlarged, axis=0).repeat(enlarged, axis=1)
        sheet.paste(Image.fromarray(enlarged_pixels), (left, line))
    return sheet


def stacked(sheets: list[Image.Image]) -> Image.Image:
    """Pictures below each other."""
    whole = Image.new("RGB", (sheets[0].width, sum(sheet.height for sheet in sheets)), "white")
    top = 0
    for sheet in sheets:
        whole.paste(sheet, (0, top))
        top += sheet.height
    return whole


def _sample(kind: str = "") -> Bytes:
    """A sample of this project."""
    return np.array(Image.open(ROOT / "samples" / f"scene{kind}.png"))


DRAWINGS: dict[str, Callable[[], Figure | Image.Image]] = {
    "blocks.svg": blocks,
    "convergence.svg": converging,
    "groups.png": groups,
    "crop.png": crop,
    "holes.png": holes,
    "looks.jpg": looks,
    "grain.jpg": grain,
}


def main(names: list[str]) -> None:
    """Draw the figures named, or all of them."""
    FIGURES.mkdir(exist_ok=True)
    for name in names or DRAWINGS:
        picture = DRAWINGS[name]()
        if isinstance(picture, Image.Image):
            picture.save(FIGURES / name, optimize=True, quality=88)
        else:
            (FIGURES / name).write_bytes(draw(picture)[Path(name).suffix[1:]])


if __name__ == "__main__":
    main(sys.argv[1:])
