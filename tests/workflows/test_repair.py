"""Repaired files: nothing but the missing pixels changes, whatever the kind of the file."""

import shutil
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
import tifffile
from numpy.typing import NDArray
from PIL import Image

from demosaic_ntc.developing.repair_settings import RepairSettings
from demosaic_ntc.developing.settings import Engine
from demosaic_ntc.errors import InputError, OutputError
from demosaic_ntc.images.mask_rule import MaskRule
from demosaic_ntc.images.reading import read_picture
from demosaic_ntc.io.header import InputLimits
from demosaic_ntc.run import Progress
from demosaic_ntc.workflows.repair import Repair, repair_file
from tests.images.picture_files import HEIGHT, KINDS, WIDTH, alpha, opened, rgb, scratch, whole, write_mask

QUICK = RepairSettings(engine=Engine(method="biharmonic"))
EXACT = [name for name in KINDS if not name.endswith(".jpg")]


@pytest.fixture
def mask(tmp_path: Path) -> Path:
    return write_mask(tmp_path / "mask.png", scratch())


def _repair(source: Path, mask: Path | None, target: Path, settings: RepairSettings = QUICK) -> Repair:
    return repair_file(source, mask, target, settings)


def _read_independently(path: Path) -> NDArray[Any]:
    """The pixels as another library reads them."""
    if path.suffix == ".tif":
        return np.asarray(tifffile.imread(path))
    if opened(path).mode in ("1", "P", "L", "LA"):
        return np.asarray(opened(path))
    read = cv2.imread(str(path), cv2.IMREAD_UNCHANGED)
    assert read is not None
    return np.asarray(read)


@pytest.mark.parametrize("name", EXACT)
def test_known_pixels_depth_and_mode_survive(name: str, tmp_path: Path, mask: Path) -> None:
    source, target = tmp_path / name, tmp_path / f"out{Path(name).suffix}"
    KINDS[name](source)
    _repair(source, mask, target)
    before, after = _read_independently(source), _read_independently(target)
    if name == "planar.tif":
        before = np.moveaxis(before, 0, 2)
    assert after.shape == before.shape
    assert after.dtype == before.dtype.newbyteorder("=")
    assert np.array_equal(after[~scratch()], before[~scratch()])
    if source.suffix == ".png":
        assert opened(target).mode == opened(source).mode
        assert source.read_bytes()[24:26] == target.read_bytes()[24:26], "bits and kind of colours"


@pytest.mark.parametrize("name", EXACT)
def test_missing_pixels_come_close_to_the_truth(name: str, tmp_path: Path, mask: Path) -> None:
    source, target = tmp_path / name, tmp_path / f"out{Path(name).suffix}"
    KINDS[name](source)
    truth = read_picture(source, InputLimits()).pixels.astype(np.float64)
    _repair(source, mask, target)
    restored = read_picture(target, InputLimits()).pixels.astype(np.float64)
    error = np.abs(restored - truth)[scratch()].mean() / truth.max()
    assert error < 0.05


@pytest.mark.parametrize("name", ["rgba8.png", "la8.png", "rgba16.png", "la16.png", "rgba8.tif"])
def test_alpha_is_kept_at_missing_pixels_too(name: str, tmp_path: Path, mask: Path) -> None:
    source, target = tmp_path / name, tmp_path / f"out{Path(name).suffix}"
    KINDS[name](source)
    _repair(source, mask, target)
    kept = read_picture(target, InputLimits()).alpha
    assert kept is not None
    assert np.array_equal(kept, whole(alpha(), 255 if "8" in name else 65535))


def test_palette_entries_as_transparent_as_before_are_chosen(tmp_path: Path, mask: Path) -> None:
    source, target = tmp_path / "clear_palette.png", tmp_path / "out.png"
    KINDS[source.name](source)
    _repair(source, mask, target)
    before, after = (np.asarray(opened(path).convert("RGBA")) for path in (source, target))
    assert np.array_equal(after[..., 3], before[..., 3])
    assert not np.array_equal(after[scratch()], before[scratch()])


@pytest.mark.parametrize("suffix", [".png", ".tif"])
@pytest.mark.parametrize(
    "name", ["rgb8.png", "rgba16.png", "palette4.png", "bits1.tif", "rgb8.jpg", "rgb16.tif"]
)
def test_other_formats_hold_the_same_pixels(name: str, suffix: str, tmp_path: Path, mask: Path) -> None:
    source, target = tmp_path / name, tmp_path / f"out{suffix}"
    KINDS[name](source)
    _repair(source, mask, target)
    before, after = read_picture(source, InputLimits()), read_picture(target, InputLimits())
    assert np.array_equal(after.pixels[~scratch()], before.pixels[~scratch()])
    assert after.colours.dtype == before.colours.dtype
    assert (after.alpha is None) == (before.alpha is None)


@pytest.mark.parametrize("photometric", ["minisblack", "miniswhite"])
def test_white_may_be_zero_in_a_tiff(photometric: Any, tmp_path: Path, mask: Path) -> None:
    dark = np.full((HEIGHT, WIDTH), 30, np.uint8)
    stored = dark if photometric == "minisblack" else 255 - dark
    tifffile.imwrite(tmp_path / "a.tif", stored, photometric=photometric)
    _repair(tmp_path / "a.tif", mask, tmp_path / "out.png")
    assert (np.asarray(opened(tmp_path / "out.png")) == 30).all()


@pytest.mark.parametrize(
    ("name", "target", "reason"),
    [
        ("rgba8.png", "out.jpg", "JPEG cannot hold the picture's transparency"),
        ("rgb16.png", "out.jpg", "JPEG has 8 bits, the picture is 16-bit"),
        ("rgbf32.tif", "out.png", "PNG cannot hold the picture's floating-point 32-bit samples"),
        ("grey32.tif", "out.png", "PNG cannot hold the picture's 32-bit samples"),
        ("rgb8.png", "out.gif", "unknown picture format"),
    ],
)
def test_formats_that_would_lose_something_are_refused_before_any_work(
    name: str, target: str, reason: str, tmp_path: Path, mask: Path
) -> None:
    KINDS[name](tmp_path / name)
    events: list[Progress] = []
    with pytest.raises(OutputError, match=reason):
        repair_file(tmp_path / name, mask, tmp_path / target, QUICK, events.append)
    assert not (tmp_path / target).exists()
    assert all(event.stage == "decoding" for event in events)


def test_a_jpeg_is_coded_again_with_its_own_tables(tmp_path: Path) -> None:
    rgb().save(tmp_path / "a.jpg", quality=71, subsampling=1, progressive=True)
    missing = np.zeros((HEIGHT, WIDTH), np.bool_)
    missing[4:6, 4:6] = True
    done = _repair(tmp_path / "a.jpg", write_mask(tmp_path / "m.png", missing), tmp_path / "out.jpg")
    before, after = opened(tmp_path / "a.jpg"), opened(tmp_path / "out.jpg")
    assert getattr(after, "quantization", None) == getattr(before, "quantization", 0)
    assert "progressive" in after.info
    far = np.s_[20:, 16:]  # blocks that the hole does not touch
    difference = np.abs(np.asarray(after).astype(int) - np.asarray(before).astype(int))
    assert difference[far].mean() < 2
    assert any("JPEG codes all pixels again" in notice for notice in done.notices)


def test_nothing_to_repair_copies_the_file_byte_by_byte(tmp_path: Path) -> None:
    nothing = write_mask(tmp_path / "m.png", np.zeros((HEIGHT, WIDTH), np.bool_))
    for name in ("rgb8.jpg", "palette4.png", "rgb16.tif"):
        KINDS[name](tmp_path / name)
        target = tmp_path / f"out{Path(name).suffix}"
        done = _repair(tmp_path / name, nothing, target)
        assert target.read_bytes() == (tmp_path / name).read_bytes()
        assert done.missing == 0
        assert done.notices == ("nothing is missing, nothing to do",)


def test_everything_to_repair_is_refused(tmp_path: Path) -> None:
    KINDS["rgb8.png"](tmp_path / "a.png")
    everything = write_mask(tmp_path / "m.png", np.ones((HEIGHT, WIDTH), np.bool_))
    with pytest.raises(InputError, match="nothing is known, cannot complete"):
        _repair(tmp_path / "a.png", everything, tmp_path / "out.png")


@pytest.mark.parametrize("name", ["rgb8.png", "grey8.png", "rgb16.png", "palette8.png", "rgbf32.tif"])
def test_a_painted_colour_stands_for_a_mask(name: str, tmp_path: Path) -> None:
    source = tmp_path / name
    KINDS[name](source)
    picture = read_picture(source, InputLimits())
    white = 1.0 if picture.colours.dtype.kind == "f" else float(np.iinfo(picture.colours.dtype).max)
    colour = (255, 255, 255)
    pixels = picture.pixels.copy()
    pixels[scratch()] = white
    if name.endswith(".tif"):
        tifffile.imwrite(source, pixels, photometric="rgb")
    elif pixels.dtype == np.uint16:
        cv2.imwrite(str(source), np.ascontiguousarray(pixels[..., ::-1]))
    else:
        Image.fromarray(pixels).save(source)
    settings = RepairSettings(mask=MaskRule(colour=colour), engine=Engine(method="biharmonic"))
    target = tmp_path / f"out{source.suffix}"
    done = _repair(source, None, target, settings)
    assert done.missing == scratch().sum()
    after = read_picture(target, InputLimits()).pixels
    assert np.array_equal(after[~scratch()], pixels[~scratch()])
    assert (after[scratch()] < white).all()


def test_a_colour_that_nobody_painted_is_told(tmp_path: Path) -> None:
    KINDS["rgb8.jpg"](tmp_path / "a.jpg")
    settings = RepairSettings(mask=MaskRule(colour=(255, 0, 255)))
    done = _repair(tmp_path / "a.jpg", None, tmp_path / "out.jpg", settings)
    assert any("no pixel has exactly the painted colour" in notice for notice in done.notices)
    assert any("JPEG blurs painted colours" in notice for notice in done.notices)


def test_without_mask_and_colour_there_is_nothing_to_do(tmp_path: Path) -> None:
    KINDS["rgb8.png"](tmp_path / "a.png")
    with pytest.raises(InputError, match="give a mask, or a painted colour"):
        _repair(tmp_path / "a.png", None, tmp_path / "out.png")


def test_an_old_output_stays_without_overwrite(tmp_path: Path, mask: Path) -> None:
    KINDS["rgb8.png"](tmp_path / "a.png")
    (tmp_path / "out.png").write_bytes(b"old")
    with pytest.raises(OutputError, match="`overwrite`"):
        _repair(tmp_path / "a.png", mask, tmp_path / "out.png")
    assert (tmp_path / "out.png").read_bytes() == b"old"


def test_the_result_says_what_was_done(tmp_path: Path, mask: Path) -> None:
    shutil.copy(mask, tmp_path / "m.png")
    KINDS["grey16.png"](tmp_path / "a.png")
    events: list[Progress] = []
    done = repair_file(tmp_path / "a.png", tmp_path / "m.png", tmp_path / "out.png", QUICK, events.append)
    assert (done.size, done.depth, done.missing) == ((HEIGHT, WIDTH), "16-bit", int(scratch().sum()))
    assert set(done.seconds) == {"decode", "inpaint", "write"}
    assert events[0].stage == "decoding"
    assert events[-1] == Progress("writing", HEIGHT, HEIGHT)


def _erased(path: Path, mode: str = "RGBA") -> Path:
    """A picture whose scratch is transparent, its rim half so."""
    opacity = np.where(scratch(), 0, 255).astype(np.uint8)
    opacity[0, 0] = 128
    layered = Image.fromarray(np.dstack([np.asarray(rgb()), opacity]))
    if mode == "P":
        layered = layered.quantize(64)
    layered.save(path)
    return path


@pytest.mark.parametrize(("mode", "suffix"), [("RGBA", ".png"), ("RGBA", ".tif"), ("P", ".png")])
def test_what_is_transparent_is_repaired_and_becomes_opaque(tmp_path: Path, mode: str, suffix: str) -> None:
    source, target = _erased(tmp_path / f"in{suffix}", mode), tmp_path / f"out{suffix}"
    before = np.asarray(opened(source).convert("RGBA"))
    settings = RepairSettings(MaskRule(alpha=True), engine=QUICK.engine)
    done = _repair(source, None, target, settings)
    after = np.asarray(opened(target).convert("RGBA"))
    known = before[..., 3] == 255
    assert done.missing == (~known).sum() > 0
    assert (after[..., 3] == 255).all()
    assert np.array_equal(after[known], before[known])
    assert np.abs(after[scratch()][:, :3].astype(int) - np.asarray(rgb())[scratch()]).mean() < 20


def test_threshold_is_the_share_that_is_missing(tmp_path: Path) -> None:
    settings = RepairSettings(MaskRule(alpha=True, threshold=0.9), engine=QUICK.engine)
    done = _repair(_erased(tmp_path / "in.png"), None, tmp_path / "out.png", settings)
    assert done.missing == scratch().sum()
    assert np.asarray(opened(tmp_path / "out.png"))[0, 0, 3] == 128


def test_pictures_without_transparency_say_so(tmp_path: Path) -> None:
    KINDS["rgb8.png"](tmp_path / "in.png")
    with pytest.raises(InputError, match=r"in\.png: nothing in it is transparent"):
        _repair(tmp_path / "in.png", None, tmp_path / "out.png", RepairSettings(MaskRule(alpha=True)))


def test_masks_that_may_be_the_wrong_way_round_are_told(tmp_path: Path, mask: Path) -> None:
    KINDS["rgb8.png"](tmp_path / "in.png")
    inverted = RepairSettings(MaskRule(invert=True), engine=QUICK.engine)
    told = _repair(tmp_path / "in.png", mask, tmp_path / "out.png", inverted).notices
    assert any("of the picture is made anew" in notice and "`invert`" in notice for notice in told)
    untold = _repair(tmp_path / "in.png", mask, tmp_path / "right.png").notices
    assert not any("made anew" in notice for notice in untold)
