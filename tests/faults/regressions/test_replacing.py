"""Promises that a version of this program once broke: nothing is replaced that is not proven to be ours."""

import json
import os
from pathlib import Path

import pytest
import tifffile
from PIL import Image

from tests.faults.regressions.program import run, shell, write_picture

pytestmark = pytest.mark.fault
QUICK = ("--method", "bilinear")


@pytest.mark.parametrize("again", ["--resume", "--overwrite-ours"])
def test_edit_in_place_is_kept(source: Path, out: Path, again: str) -> None:
    """Some programs edit pixels in place and set the old time again."""
    assert run("batch", source, "-o", out, *QUICK, "--format", "tif").code == 0
    result = out / "a.tif"
    before = result.stat()
    with tifffile.TiffFile(result) as file:
        (offset, *_) = file.pages[0].dataoffsets
    content = bytearray(result.read_bytes())
    content[offset : offset + 6] = bytes(255 - value for value in content[offset : offset + 6])
    result.write_bytes(content)
    os.utime(result, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert run("batch", source, "-o", out, *QUICK, "--format", "tif", again, "--exposure", 1).code == 0
    assert result.read_bytes() == bytes(content)


@pytest.mark.parametrize("linked", [False, True])
@pytest.mark.parametrize("place", ["target", "error map"])
def test_list_of_bad_pixels_is_no_place_for_results(source: Path, place: str, linked: bool) -> None:
    hot, name = source / "hot.tif", source / ("link.tif" if linked else "hot.tif")
    hot.write_text("3 4\n", encoding="ascii")
    if linked:
        name.symlink_to(hot)
    before = hot.read_bytes()
    written = (name,) if place == "target" else (source / "o.png", "--error-map", name)
    answer = run(source / "a.dng", *written, "--bad-pixels", hot, "--overwrite")
    assert (answer.code, hot.read_bytes()) == (2, before), answer.errors


def test_list_of_bad_pixels_is_no_place_for_results_of_a_batch(source: Path) -> None:
    hot = source / "a.tif"
    hot.write_text("3 4\n", encoding="ascii")
    before = hot.read_bytes()
    words = ("--format", "tif", "--bad-pixels", hot, "--overwrite", *QUICK)
    answer = run("batch", source / "a.dng", "-o", source, *words)
    assert (answer.code, hot.read_bytes()) == (2, before), answer.errors


def test_mask_is_no_place_for_an_error_map(tmp_path: Path) -> None:
    write_picture(tmp_path / "a.png")
    Image.open(tmp_path / "a.mask.png").save(tmp_path / "mask.tif")
    before = (tmp_path / "mask.tif").read_bytes()
    words = (tmp_path / "a.png", tmp_path / "mask.tif", tmp_path / "o.png")
    answer = run("inpaint", *words, "--error-map", tmp_path / "mask.tif", "--overwrite")
    assert (answer.code, (tmp_path / "mask.tif").read_bytes()) == (2, before), answer.errors


@pytest.mark.parametrize("words", ["PROGRAM in/a.dng out/a.png", "PROGRAM batch in -o out --resume"])
def test_empty_picture_does_not_last(source: Path, out: Path, words: str) -> None:
    """What a power cut leaves on a card without links and journals."""
    (out / "a.png").touch()
    assert shell(f"{words} --method bilinear", source.parent).code == 0
    assert (out / "a.png").stat().st_size > 0


def test_equal_names_of_another_folder_replace_nothing(source: Path, out: Path, samples: Path) -> None:
    assert run("batch", source, "-o", out, *QUICK).code == 0
    before = (out / "a.png").read_bytes()
    other = source.with_name("other")
    other.mkdir()
    (other / "a.dng").write_bytes((samples / "scene_rggb.dng").read_bytes())
    assert run("batch", other, "-o", out, *QUICK, "--resume").code == 0
    assert (out / "a.png").read_bytes() == before
    last = json.loads((out / "demosaic-ntc-report.jsonl").read_text().splitlines()[-1])
    assert (last["status"], f"made of {source / 'a.dng'}" in last["reason"]) == ("kept", True)


def test_results_of_an_earlier_batch_are_no_inputs(source: Path) -> None:
    words = ("batch", source, "-r", *QUICK, "--format", "dng")
    assert run(*words, "-o", source / "out").code == 0
    assert run(*words, "-o", source / "out2").code == 0
    assert [path.name for path in (source / "out2").rglob("*.dng")] == ["a.dng"]
    assert run("batch", source / "out", "-o", source / "out3", *QUICK).code == 0
    assert (source / "out3" / "a.png").exists(), "a folder that is named is taken at its word"
