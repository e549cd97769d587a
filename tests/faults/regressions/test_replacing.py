"""Promises that a version of this program once broke: nothing is replaced that is not proven to be ours."""

import json
import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import tifffile
from PIL import Image

from tests.faults.regressions.mounts import mounted
from tests.faults.regressions.program import customise, end_of, run, shell, start, write_picture

pytestmark = pytest.mark.fault
QUICK = ("--method", "bilinear")

_PLACES = ["usual", "fat", *(pytest.param(name, marks=pytest.mark.load) for name in ("ext4", "tmpfs"))]


@pytest.fixture(params=_PLACES)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """A folder of a file system: the usual one of this machine, or one that is made."""
    if request.param == "usual":
        yield tmp_path
        return
    with ExitStack() as stack:
        try:
            yield stack.enter_context(mounted(request.param, tmp_path))
        except OSError as error:
            pytest.skip(str(error))


@pytest.fixture
def source(place: Path, small: Path) -> Path:
    """A folder with one small raw, ``a.dng``."""
    (place / "in").mkdir()
    (place / "in" / "a.dng").write_bytes(small.read_bytes())
    return place / "in"


@pytest.fixture
def out(place: Path) -> Path:
    """A folder for results."""
    (place / "out").mkdir()
    return place / "out"


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


def _link(name: Path, target: Path) -> None:
    try:
        name.symlink_to(target)
    except OSError:
        pytest.skip("there are no links on this file system")


@pytest.mark.parametrize("linked", [False, True])
@pytest.mark.parametrize("what", ["target", "error map"])
def test_list_of_bad_pixels_is_no_place_for_results(source: Path, what: str, linked: bool) -> None:
    hot, name = source / "hot.tif", source / ("link.tif" if linked else "hot.tif")
    hot.write_text("3 4\n", encoding="ascii")
    if linked:
        _link(name, hot)
    before = hot.read_bytes()
    written = (name,) if what == "target" else (source / "o.png", "--error-map", name)
    answer = run(source / "a.dng", *written, "--bad-pixels", hot, "--overwrite")
    assert (answer.code, hot.read_bytes()) == (2, before), answer.errors


def test_list_of_bad_pixels_is_no_place_for_results_of_a_batch(source: Path) -> None:
    hot = source / "a.tif"
    hot.write_text("3 4\n", encoding="ascii")
    before = hot.read_bytes()
    words = ("--format", "tif", "--bad-pixels", hot, "--overwrite", *QUICK)
    answer = run("batch", source / "a.dng", "-o", source, *words)
    assert (answer.code, hot.read_bytes()) == (2, before), answer.errors


def test_mask_is_no_place_for_an_error_map(place: Path) -> None:
    write_picture(place / "a.png")
    Image.open(place / "a.mask.png").save(place / "mask.tif")
    before = (place / "mask.tif").read_bytes()
    words = (place / "a.png", place / "mask.tif", place / "o.png")
    answer = run("inpaint", *words, "--error-map", place / "mask.tif", "--overwrite")
    assert (answer.code, (place / "mask.tif").read_bytes()) == (2, before), answer.errors


@pytest.mark.parametrize("words", ["PROGRAM in/a.dng out/a.png", "PROGRAM batch in -o out --resume"])
def test_empty_picture_does_not_last(source: Path, out: Path, words: str) -> None:
    """What a power cut leaves on a card without links and journals."""
    (out / "a.png").touch()
    assert shell(f"{words} --method bilinear", source.parent).code == 0
    assert (out / "a.png").stat().st_size > 0


# Where a name cannot be taken in one step, a picture is moved onto it: what if that goes wrong?
_MOVES = """
import os, signal
replace = os.replace
def move(source, target, **more):
    if os.fspath(target).endswith(".png"):
        {fault}
    return replace(source, target, **more)
os.replace = move
"""
_FAULTS = {"dies": "os.kill(os.getpid(), signal.SIGKILL)", "fails": "raise OSError(5, 'Input/output error')"}


@pytest.mark.parametrize("fault", _FAULTS)
def test_picture_that_was_not_put_into_place_does_not_last(
    tmp_path: Path, source: Path, out: Path, fault: str
) -> None:
    path = customise(tmp_path, _MOVES.format(fault=_FAULTS[fault]))
    words = (source / "a.dng", out / "a.png", *QUICK)
    first = run(*words, PYTHONPATH=path)
    if first.code == 0:  # it was put there in one step
        assert (out / "a.png").stat().st_size > 0
    elif fault == "fails":
        assert (first.code, os.listdir(out)) == (4, [])
    again = run(*words)
    assert again.code == 0, again.errors
    assert (out / "a.png").stat().st_size > 0
    assert run("batch", source, "-o", out, *QUICK, "--resume").code == 0
    assert not list(out.glob("*.partial")), "what a dead run left is cleared by the next batch"


def test_one_of_two_takes_a_name(source: Path, out: Path) -> None:
    words = (source / "a.dng", out / "a.png", *QUICK)
    answers = [end_of(process) for process in [start(*words), start(*words)]]
    assert 0 in [answer.code for answer in answers], answers
    assert not any(answer.is_crash for answer in answers), answers
    assert os.listdir(out) == ["a.png"]
    with Image.open(out / "a.png") as picture:
        picture.load()


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
