"""Promises that a version of this program once broke: damage is told, bombs are refused, numbers are ours."""

import io
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from demosaic_ntc import Solution, complete, demosaic
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.detection.blemishes import find_blemishes
from demosaic_ntc.errors import DemosaicNtcError, InputError
from demosaic_ntc.io.tiff_tags import ASCII, DOUBLE, SHORT, Field
from samples.dng import Camera, write_dng
from tests.faults.regressions.program import SIDE, Answer, run

pytestmark = pytest.mark.fault
QUICK = ("--method", "bilinear")


def _jpeg(**coding: Any) -> bytes:
    """A picture of 96×96 pixels with some detail."""
    waves = np.sin(np.arange(96)[:, None] * np.arange(96) / 40) * 60 + 128
    buffer = io.BytesIO()
    Image.fromarray(np.dstack([waves, waves.T, waves]).astype(np.uint8)).save(buffer, "JPEG", **coding)
    return buffer.getvalue()


def _repair(folder: Path, content: bytes) -> Answer:
    (folder / "a.jpg").write_bytes(content)
    mask = np.zeros((96, 96), np.uint8)
    mask[40:44, 40:60] = 255
    Image.fromarray(mask).save(folder / "mask.png")
    return run("inpaint", folder / "a.jpg", folder / "mask.png", folder / "o.png", "--method", "biharmonic")


@pytest.mark.parametrize("coding", [{}, {"progressive": True}], ids=["baseline", "progressive"])
@pytest.mark.parametrize("damage", ["cut", "bytes"])
def test_damaged_jpeg_is_refused(tmp_path: Path, coding: dict[str, Any], damage: str) -> None:
    whole = _jpeg(quality=95, **coding)
    if damage == "cut":
        content = whole[: int(0.4 * len(whole))] + b"\xff\xd9"
    else:
        middle = len(whole) // 2
        content = whole[:middle] + bytes(20) + whole[middle + 20 :]
    answer = _repair(tmp_path, content)
    assert (answer.code, "damaged JPEG" in answer.errors) == (3, True), answer.errors
    assert not (tmp_path / "o.png").exists()


@pytest.mark.parametrize("coding", [{}, {"progressive": True}, {"restart_marker_rows": 1}])
def test_whole_jpegs_are_read_as_they_are(tmp_path: Path, coding: dict[str, Any]) -> None:
    whole = _jpeg(quality=95, **coding) + b"what a phone appends"
    assert _repair(tmp_path, whole).code == 0
    before, after = (np.asarray(Image.open(tmp_path / name)) for name in ("a.jpg", "o.png"))
    known = np.asarray(Image.open(tmp_path / "mask.png")) == 0
    assert np.array_equal(before[known], after[known])


def test_jpeg_of_very_many_passes_is_refused(tmp_path: Path) -> None:
    whole = _jpeg(progressive=True)
    scan = whole.rindex(b"\xff\xda")
    answer = _repair(tmp_path, whole[:scan] + 120 * whole[scan:-2] + b"\xff\xd9")
    assert (answer.code, "passes" in answer.errors) == (3, True), answer.errors


WithTags = Callable[[dict[int, Field]], Path]


@pytest.fixture
def with_tags(tmp_path: Path) -> WithTags:
    """A small raw, ``a.dng``, in which some tags are changed."""

    def write(changed: dict[int, Field]) -> Path:
        cfa, path = Cfa.from_name("RGGB"), tmp_path / "a.dng"
        samples = np.random.default_rng(0).integers(1000, 3000, (36, 48), dtype=np.uint16)
        write_dng(path, samples, cfa, Camera(), changed=changed)
        return path

    return write


@pytest.mark.parametrize("side", [16, 64, 128])
def test_large_patterns_of_black_are_refused(with_tags: WithTags, side: int) -> None:
    levels = Field(SHORT, (64,) * side**2)
    raw = with_tags({50713: Field(SHORT, (side, side)), 50714: levels})
    answer = run(raw, raw.with_suffix(".png"), *QUICK)
    assert (answer.code, f"{side}×{side}" in answer.errors) == (3, True), answer.errors


def test_profile_of_boundless_noise_is_a_notice(with_tags: WithTags) -> None:
    raw = with_tags({51041: Field(DOUBLE, (1e300, 1e300))})
    answer = run(raw, raw.with_suffix(".png"), *QUICK)
    assert (answer.code, "noise profile is not used" in answer.errors) == (0, True), answer.errors
    assert "Warning" not in answer.errors


@pytest.mark.parametrize("stated", [0, 9, 60000])
def test_no_orientation_is_upright(with_tags: WithTags, stated: int) -> None:
    raw = with_tags({274: Field(SHORT, (stated,))})
    answer = run(raw, raw.with_suffix(".png"), *QUICK)
    with Image.open(raw.with_suffix(".png")) as picture:
        assert (answer.code, picture.size) == (0, (48, 36)), answer.errors


def test_picture_below_black_is_told(with_tags: WithTags) -> None:
    raw = with_tags({50713: Field(SHORT, (1, 1)), 50714: Field(SHORT, (9000,))})
    answer = run(raw, raw.with_suffix(".png"), *QUICK)
    assert (answer.code, "no sample lies above the black level" in answer.errors) == (0, True), answer.errors


@pytest.mark.parametrize("moment", ["²", "1000000000.5", "9" * 30, "253402300800000", "-1e9"])
def test_odd_moments_are_ignored(source: Path, moment: str) -> None:
    answer = run(source / "a.dng", source / "o.png", *QUICK, SOURCE_DATE_EPOCH=moment)
    assert answer.code == 0, answer.errors


def test_long_names_of_cameras_are_shortened(with_tags: WithTags, out: Path) -> None:
    raw = with_tags({272: Field(ASCII, b"M" * 2000 + b"\0")})
    answer = run("batch", raw, "-o", out, *QUICK, "--name", "{camera}_{stem}")
    assert answer.code == 0, answer.errors
    assert len(list(out.glob("*_a.png"))) == 1


def _fit(scale: float) -> Any:
    index = np.array([[0, 0, 0], [1, 1, 1], [2, 2, 2]])
    return complete((3, 3, 3), index, np.array([0.5, 0.2, 0.1]) * scale)


@pytest.mark.parametrize("scale", [1e-161, 1e-200, 1e-320])
def test_values_whose_squares_vanish_are_refused(scale: float) -> None:
    with pytest.raises(InputError, match="scale it"):
        _fit(scale)


def test_small_values_are_fitted_as_others() -> None:
    small, plain = _fit(1e-100), _fit(1.0)
    assert np.allclose(small.dense() * 1e100, plain.dense())


CALLS: dict[str, Callable[[], Any]] = {
    "many modes": lambda: complete((2,) * 16, np.array([[0] * 16, [1] * 16]), np.array([0.5, 0.2])),
    "strength": lambda: demosaic(np.ones((SIDE, SIDE)), "RGGB", noise=1, denoise=1e300),
    "negative": lambda: find_blemishes(np.full((30, 30), -5)),
}


@pytest.mark.parametrize("call", CALLS)
def test_no_foreign_exception_escapes(call: str) -> None:
    with suppress(DemosaicNtcError):
        CALLS[call]()


def test_solution_whose_weights_are_no_weights_is_refused(tmp_path: Path) -> None:
    with open(tmp_path / "s.npz", "wb") as file:
        _fit(1.0).save(file)
    with np.load(tmp_path / "s.npz") as kept:
        arrays = dict(kept)
    np.savez_compressed(tmp_path / "t.npz", **{**arrays, "weights": 0.5 * arrays["weights"]})
    with open(tmp_path / "t.npz", "rb") as file, pytest.raises(InputError, match="weights"):
        Solution.load(file)
    with open(tmp_path / "s.npz", "rb") as file:
        assert Solution.load(file).radius > 0


def test_solution_that_unfolds_without_end_is_refused(tmp_path: Path) -> None:
    with open(tmp_path / "s.npz", "wb") as file:
        _fit(1.0).save(file)
    with np.load(tmp_path / "s.npz") as kept:
        arrays = dict(kept)
    bomb = {**arrays, "shape": np.array([1 << 19, 1, 1]), "factors": np.zeros((1 << 11, 1 << 16), np.uint8)}
    np.savez_compressed(tmp_path / "t.npz", **bomb)
    with open(tmp_path / "t.npz", "rb") as file, pytest.raises(InputError, match="unfolds"):
        Solution.load(file)


@pytest.mark.data
def test_decoders_do_not_speak_for_themselves(tmp_path: Path, data: Path) -> None:
    """LibRaw says on standard error where samples are damaged."""
    content = bytearray((data / "raw" / "IMG_0848.CR2").read_bytes())
    middle = len(content) // 2
    content[middle : middle + 4000] = b"\xff\x55" * 2000
    (tmp_path / "a.cr2").write_bytes(content)
    answer = run("info", tmp_path / "a.cr2")
    assert answer.code == 3
    assert len(answer.errors.splitlines()) == 1, answer.errors
    assert answer.errors.startswith("demosaic-ntc: ")
