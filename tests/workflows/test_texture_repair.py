"""Files whose wide holes get texture: what is written, what is told, and what is refused."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tifffile
from numpy.typing import NDArray
from PIL import Image

from demosaic_ntc import inpaint
from demosaic_ntc.batch.batch import plan_batch
from demosaic_ntc.batch.operations import Inpaint
from demosaic_ntc.batch.spec import BatchTask, Workers
from demosaic_ntc.developing.repair_settings import RepairSettings
from demosaic_ntc.developing.settings import Engine
from demosaic_ntc.errors import BadMask, Clash, InputError
from demosaic_ntc.images.mask import grow_flags
from demosaic_ntc.run import Progress
from demosaic_ntc.workflows.costs import find_repair_costs
from demosaic_ntc.workflows.repair import repair_file
from tests.images.picture_files import write_mask
from tests.inpainting.test_wide_holes import SIDE, bricks, square

pytestmark = pytest.mark.slow

FAST = Engine(quality="fast")
TEXTURE = RepairSettings(engine=FAST, fill="auto", grain="off")


@pytest.fixture
def mask(tmp_path: Path) -> Path:
    return write_mask(tmp_path / "mask.png", square(60))


def _write(path: Path, pixels: NDArray[Any]) -> Path:
    if path.suffix == ".tif":
        extra: dict[str, Any] = {"extrasamples": [2]} if pixels.ndim == 3 and pixels.shape[2] == 4 else {}
        tifffile.imwrite(path, pixels, photometric="minisblack" if pixels.ndim == 2 else "rgb", **extra)
    else:
        Image.fromarray(pixels).save(path)
    return path


def _read(path: Path) -> NDArray[Any]:
    return np.asarray(tifffile.imread(path) if path.suffix == ".tif" else Image.open(path))


def _with_alpha(pixels: NDArray[Any]) -> NDArray[Any]:
    alpha = np.full((SIDE, SIDE, 1), np.iinfo(pixels.dtype).max, pixels.dtype)
    alpha[:20] //= 2
    return np.concatenate([pixels, alpha], axis=2)


KINDS: dict[str, Callable[[], NDArray[Any]]] = {
    "rgb8.png": bricks,
    "grey8.png": lambda: bricks()[..., 0],
    "alpha8.png": lambda: _with_alpha(bricks()),
    "rgb16.tif": lambda: bricks().astype(np.uint16) * 257,
    "alpha16.tif": lambda: _with_alpha(bricks().astype(np.uint16) * 257),
    "grey16.tif": lambda: bricks()[..., 0].astype(np.uint16) * 257,
    "float.tif": lambda: bricks().astype(np.float32) / 255,
}


@pytest.mark.parametrize("name", KINDS)
def test_any_kind_of_file_gets_what_inpaint_makes(name: str, tmp_path: Path, mask: Path) -> None:
    pixels, missing = KINDS[name](), square(60)
    target = tmp_path / f"out{Path(name).suffix}"
    done = repair_file(_write(tmp_path / name, pixels), mask, target, TEXTURE)
    made = _read(target)
    np.testing.assert_array_equal(made[~missing], pixels[~missing])
    colours = pixels[..., :3] if pixels.ndim == 3 else pixels
    expected = inpaint(colours, missing, quality="fast", fill="auto").image
    np.testing.assert_array_equal(made[..., :3] if made.ndim == 3 else made, expected)
    assert done.copied == done.missing == missing.sum()
    assert any("100% of what was restored is texture copied" in notice for notice in done.notices)
    assert any("neither measured nor certified" in notice for notice in done.notices)


def test_smooth_is_the_default_of_files(tmp_path: Path, mask: Path) -> None:
    source = _write(tmp_path / "a.png", bricks())
    done = repair_file(source, mask, tmp_path / "b.png", RepairSettings(engine=FAST, grain="off"))
    np.testing.assert_array_equal(
        _read(tmp_path / "b.png"), inpaint(bricks(), square(60), quality="fast").image
    )
    assert done.copied == 0


def test_the_source_map_tells_where_pixels_came_from(tmp_path: Path, mask: Path) -> None:
    source, missing = _write(tmp_path / "a.png", bricks()), square(60)
    allowed = np.zeros_like(missing)
    allowed[150:230, 10:200] = True
    settings = RepairSettings(
        engine=FAST, fill="auto", source=write_mask(tmp_path / "from.png", allowed), grain="off"
    )
    done = repair_file(source, mask, tmp_path / "b.png", settings, source_map=tmp_path / "map.tif")
    places = tifffile.imread(tmp_path / "map.tif")
    assert done.source_map == tmp_path / "map.tif"
    assert places.dtype == np.int32
    assert places.shape == (SIDE, SIDE, 2)
    np.testing.assert_array_equal((places >= 0).all(axis=2), missing)
    assert (places[~missing] == -1).all()
    assert allowed[tuple(places[missing].T)].all()


def test_a_source_map_is_written_where_nothing_was_copied(tmp_path: Path) -> None:
    source, mask = _write(tmp_path / "a.png", bricks()), write_mask(tmp_path / "m.png", square(8))
    repair_file(source, mask, tmp_path / "b.png", TEXTURE, source_map=tmp_path / "map.tif")
    assert (tifffile.imread(tmp_path / "map.tif") == -1).all()


def test_maps_and_sources_that_make_no_sense_are_refused(tmp_path: Path, mask: Path) -> None:
    source, target = _write(tmp_path / "a.png", bricks()), tmp_path / "b.png"
    with pytest.raises(InputError, match=r"ends in \.tif"):
        repair_file(source, mask, target, TEXTURE, source_map=tmp_path / "map.png")
    with pytest.raises(InputError, match="nothing is copied"):
        repair_file(source, mask, target, RepairSettings(), source_map=tmp_path / "map.tif")
    with pytest.raises(InputError, match="nothing is copied"):
        RepairSettings(source=mask)
    settings = RepairSettings(fill="auto", source=tmp_path / "same.tif")
    with pytest.raises(Clash):
        repair_file(source, mask, target, settings, source_map=tmp_path / "same.tif")
    small = write_mask(tmp_path / "small.png", square(10)[:50])
    with pytest.raises(BadMask, match=r"small.png: the mask is 240×50"):
        repair_file(source, mask, target, RepairSettings(fill="auto", source=small))
    assert not target.exists()


def test_a_mask_grows_by_pixels_all_around() -> None:
    flags = np.zeros((40, 50), np.bool_)
    flags[10, 20] = flags[39, 49] = True
    y, x = np.mgrid[0:40, 0:50]
    for pixels in (1, 3, 8):
        near = ((y - 10) ** 2 + (x - 20) ** 2 <= pixels**2) | ((y - 39) ** 2 + (x - 49) ** 2 <= pixels**2)
        np.testing.assert_array_equal(grow_flags(flags, pixels), near)
    np.testing.assert_array_equal(grow_flags(flags, 0), flags)
    assert not grow_flags(np.zeros((3, 3), np.bool_), 5).any()


def test_what_is_repaired_grows_as_asked(tmp_path: Path) -> None:
    source, mask = _write(tmp_path / "a.png", bricks()), write_mask(tmp_path / "m.png", square(10))
    settings = RepairSettings(engine=Engine(method="biharmonic"), grow=4, grain="off")
    done = repair_file(source, mask, tmp_path / "b.png", settings, save_mask=tmp_path / "used.png")
    used = _read(tmp_path / "used.png") > 0
    np.testing.assert_array_equal(used, grow_flags(square(10), 4))
    assert done.missing == used.sum()
    changed = (_read(tmp_path / "b.png") != bricks()).any(axis=2)
    assert changed[~square(10)].any()
    assert not changed[~used].any()


@pytest.mark.parametrize("pixels", [-1, 101])
def test_growth_has_its_limits(pixels: int) -> None:
    with pytest.raises(InputError, match="cannot grow"):
        RepairSettings(grow=pixels)


def test_every_stage_has_its_share_of_the_bar(tmp_path: Path, mask: Path) -> None:
    seen: list[Progress] = []
    repair_file(_write(tmp_path / "a.png", bricks()), mask, tmp_path / "b.png", TEXTURE, seen.append)
    assert {progress.stage for progress in seen} == find_repair_costs("auto").keys()


def test_batches_copy_texture_and_tell_it(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    _write(folder / "a.png", bricks())
    write_mask(folder / "a.mask.png", square(60))
    task = BatchTask.repair(folder, tmp_path / "out", TEXTURE, workers=Workers(jobs=1))
    with plan_batch(task).begin() as begun:
        list(begun.events())
    alone = inpaint(bricks(), square(60), quality="fast", fill="auto").image
    np.testing.assert_array_equal(_read(tmp_path / "out" / "a.png"), alone)
    assert "texture copied" in task.report.path.read_text()


def test_batches_know_a_source_by_its_content(tmp_path: Path) -> None:
    path = write_mask(tmp_path / "s.png", square(60))
    settings = RepairSettings(fill="auto", source=path)
    first = Inpaint(settings, None).fingerprint
    moved = path.rename(tmp_path / "other.png")
    assert Inpaint(RepairSettings(fill="auto", source=moved), None).fingerprint == first
    write_mask(moved, square(50))
    assert Inpaint(RepairSettings(fill="auto", source=moved), None).fingerprint != first
