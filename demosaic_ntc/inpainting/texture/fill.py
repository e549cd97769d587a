"""Wide holes filled with texture, part by part: every pixel is copied from somewhere in the picture."""

import numpy as np
from scipy.ndimage import distance_transform_edt

from demosaic_ntc.arrays import Flags, Float32, Planes
from demosaic_ntc.engine.result import CopiedPixels
from demosaic_ntc.inpainting.texture.blending import blend, measure_seams
from demosaic_ntc.inpainting.texture.copying import choose_labels
from demosaic_ntc.inpainting.texture.kernels import REACH, Places
from demosaic_ntc.inpainting.texture.level import Level, Scene, find_sources, make_pyramid
from demosaic_ntc.inpainting.texture.parts import WidePart, Widths, make_scene, region_of
from demosaic_ntc.inpainting.texture.starts import start_inwards, start_smoothly
from demosaic_ntc.inpainting.texture.synthesis import ROUNDS, Filled, refine, synthesise
from demosaic_ntc.run import Run

# Below the limit of "auto" what the engine tells is closer to the truth, and texture only loses. "texture" is
# for those who want it wherever there is room for any.
WIDTHS: dict[str, Widths] = {"auto": (12, 16), "texture": (2, 4)}

_RIM = (1.0, 4.0)  # depths: up to the first the engine's values stay, from the second on it is all texture


def fill_part(
    part: WidePart, planes: Planes, missing: Flags, allowed: Flags | None, run: Run
) -> CopiedPixels | None:
    """Fill a wide part of a picture in place; return what was copied, or nothing where nothing can be.

    ``planes`` are (channels, height, width) with what the engine made of all that is ``missing``. What may be
    copied is known, and ``allowed`` if that is given.
    """
    region = region_of(part, missing.shape, allowed)
    scene = make_scene(part, region, planes, missing, allowed)
    if not find_sources(scene.source).any():
        return None
    if (made := _fill_scene(scene, len(planes), run)) is None:
        return None
    labels, values = made
    here = np.argwhere(scene.hole)
    rows, columns = (here + np.array([axis.start for axis in region])).T
    before, share = planes[:, rows, columns], _share_of_texture(scene.hole)[scene.hole]
    planes[:, rows, columns] = before + share * (values.T - before)
    targets = np.stack([rows, columns], axis=1).astype(np.int32)
    return CopiedPixels(targets, targets + labels)


def _fill_scene(scene: Scene, colours: int, run: Run) -> tuple[Places, Float32] | None:
    """Return labels and colours of a hole's pixels, from the start that fits best; None out of time."""
    levels = [Level.of(each) for each in reversed(make_pyramid(scene))]
    shown, source = np.pad(scene.shown, REACH), np.pad(scene.source, REACH)
    finest, found = levels[-1], []
    values = np.ascontiguousarray(finest.values[..., :colours])
    for start in (start_smoothly, start_inwards):
        filled = _descend_levels(start(levels[0], run), levels, run)
        labels = choose_labels(filled, colours, shown, source, run)
        found.append((filled.mean_cost + measure_seams(values, finest.hole, shown, labels), labels))
        if run.deadline.is_over():
            return None
    labels = min(found, key=lambda each: each[0])[1]
    return labels[finest.hole], blend(values, finest.hole, shown, labels)


def _descend_levels(start: Filled, levels: list[Level], run: Run) -> Filled:
    """Return the finest level filled, from a start at the coarsest."""
    filled = start
    for number, level in enumerate(levels):
        if number > 0:
            filled = refine(filled, level, run)
        filled = synthesise(filled, ROUNDS[min(number, len(ROUNDS) - 1)], run)
    return filled


def _share_of_texture(hole: Flags) -> Float32:
    """Return how much of each pixel is texture: less at the rim."""
    first, last = _RIM
    depth = distance_transform_edt(np.pad(hole, 1, mode="edge"))[1:-1, 1:-1]
    return np.asarray(np.clip((depth - first) / (last - first), 0, 1), np.float32)
