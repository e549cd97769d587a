"""Scans of film whose infrared channel says what to repair."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tifffile
from numpy.typing import NDArray

from demosaic_ntc import BatchTask, Workers, find_dust_in_infrared
from demosaic_ntc.batch.batch import plan_batch
from demosaic_ntc.developing.repair_settings import RepairSettings
from demosaic_ntc.developing.settings import Engine
from demosaic_ntc.errors import BadMask, InputError, TooLarge
from demosaic_ntc.images.mask_rule import MaskRule
from demosaic_ntc.io.header import InputLimits
from demosaic_ntc.workflows.repair import Repair, repair_file
from tests.detection.test_infrared import SHAPE, dust, scan

SETTINGS = RepairSettings(MaskRule(origin="ir"), engine=Engine(quality="fast"))


def scene() -> NDArray[np.uint16]:
    """A smooth picture."""
    y, x = np.mgrid[: SHAPE[0], : SHAPE[1]] / SHAPE[1]
    planes = [0.5 + 0.3 * np.sin(5 * x + k) * np.cos(4 * y) for k in range(3)]
    return np.asarray(np.rint(65535 * np.stack(planes, axis=2)), np.uint16)


def dusty() -> NDArray[np.uint16]:
    """The picture with the dust of its infrared channel."""
    return np.where(dust()[..., None], scene() // 4, scene()).astype(np.uint16)


def write_samples(path: Path, *, extra: int = 0, tagged: bool = True, separate: bool = False) -> Path:
    """Write colours and infrared as four samples of a page."""
    pixels: NDArray[Any] = np.dstack([dusty(), scan(dust())])
    how: dict[str, Any] = {"photometric": "rgb", "planarconfig": "contig"}
    if separate:
        pixels, how["planarconfig"] = np.moveaxis(pixels, 2, 0), "separate"
    tifffile.imwrite(path, pixels, extrasamples=[extra], **how)
    if not tagged:
        with tifffile.TiffFile(path) as tiff:
            place = tiff.pages.first.tags["ExtraSamples"].offset
        with path.open("r+b") as file:
            file.seek(place)
            file.write((338 - 1).to_bytes(2, "little"))  # TargetPrinter: says nothing of samples
    return path


def write_pages(path: Path, *more: NDArray[Any]) -> Path:
    """Write colours, a small preview, and more as pages of their own: grey, grey with alpha, or colours."""
    with tifffile.TiffWriter(path) as tiff:
        tiff.write(dusty(), photometric="rgb")
        tiff.write(dusty()[::8, ::8], photometric="rgb", subfiletype=1)
        for page in more:
            kind = "rgb" if page.shape[2:] == (3,) else "minisblack"
            tiff.write(page, photometric=kind, planarconfig="contig" if page.ndim == 3 else None)
    return path


def check_repaired(done: Repair) -> None:
    """Only what infrared marks has changed, and it is close to the truth; infrared is gone."""
    with tifffile.TiffFile(done.target) as tiff:
        assert len(tiff.pages) == 1
        made = tiff.pages.first.asarray()
    marked = find_dust_in_infrared(scan(dust()))
    assert made.shape == (*SHAPE, 3)
    np.testing.assert_array_equal(made[~marked], dusty()[~marked])
    assert np.abs(made.astype(int) - scene())[marked].max() < 0.03 * 65535
    assert any("infrared channel is left out" in notice for notice in done.notices)


@pytest.mark.parametrize("how", [{}, {"tagged": False}, {"separate": True}])
def test_a_sample_of_no_stated_kind_is_infrared(tmp_path: Path, how: dict[str, Any]) -> None:
    source = write_samples(tmp_path / "scan.tif", **how)
    check_repaired(repair_file(source, None, tmp_path / "out.tif", SETTINGS))


def test_a_second_page_of_grey_is_infrared(tmp_path: Path) -> None:
    source = write_pages(tmp_path / "scan.tif", scan(dust()))
    check_repaired(repair_file(source, None, tmp_path / "out.tif", SETTINGS))


def test_a_mask_counts_as_well(tmp_path: Path) -> None:
    source, painted = write_samples(tmp_path / "scan.tif"), np.zeros(SHAPE, np.uint8)
    painted[100:104, 20:24] = 255
    tifffile.imwrite(tmp_path / "mask.tif", painted)
    alone = repair_file(source, None, tmp_path / "a.tif", SETTINGS)
    both = repair_file(source, tmp_path / "mask.tif", tmp_path / "b.tif", SETTINGS)
    assert both.missing == alone.missing + 16


def test_a_clean_scan_stays_as_it_is(tmp_path: Path) -> None:
    source = tmp_path / "scan.tif"
    clean = np.dstack([scene(), scan(np.zeros(SHAPE, np.bool_))])
    tifffile.imwrite(source, clean, photometric="rgb", extrasamples=[0])
    done = repair_file(source, None, tmp_path / "out.tif", SETTINGS)
    assert done.target.read_bytes() == source.read_bytes()
    assert any("nothing is dark in infrared" in notice for notice in done.notices)


def test_batches_take_infrared(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    write_samples(folder / "one.tif")
    task = BatchTask.repair(folder, tmp_path / "out", SETTINGS, workers=Workers(jobs=1))
    with plan_batch(task).begin() as begun:
        list(begun.events())
    alone = repair_file(folder / "one.tif", None, tmp_path / "alone.tif", SETTINGS)
    assert (tmp_path / "out" / "one.tif").read_bytes() == alone.target.read_bytes()


def test_what_has_no_infrared_is_refused(tmp_path: Path) -> None:
    plain, alpha = tmp_path / "plain.tif", write_samples(tmp_path / "alpha.tif", extra=2)
    tifffile.imwrite(plain, scene(), photometric="rgb")
    small = write_pages(tmp_path / "small.tif", scan(dust())[1:])
    colours = write_pages(tmp_path / "colours.tif", scene())
    double = write_pages(tmp_path / "double.tif", np.dstack([scan(dust())] * 2))
    three = write_pages(tmp_path / "three.tif", scan(dust()), scan(dust()))
    for source in (plain, small, colours, double, three):
        with pytest.raises(BadMask, match=f"{source.name}: no infrared channel; scan to a TIFF"):
            repair_file(source, None, tmp_path / "out.tif", SETTINGS)
    with pytest.raises(BadMask, match="its last channel is transparency"):
        repair_file(alpha, None, tmp_path / "out.tif", SETTINGS)
    assert not (tmp_path / "out.tif").exists()
    with pytest.raises(InputError, match="mask_from=ir"):
        MaskRule(origin="ir", colour=(1, 2, 3))


def test_infrared_that_is_too_large_is_not_decoded(tmp_path: Path) -> None:
    source = write_pages(tmp_path / "scan.tif", np.zeros((400, 400), np.uint16))
    limits = InputLimits(pixels=SHAPE[0] * SHAPE[1])
    with pytest.raises(TooLarge, match="400×400"):
        repair_file(source, None, tmp_path / "out.tif", replace(SETTINGS, limits=limits))
