"""Several raws of one scene: a better picture than of one, and what does not belong together refused."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter, label

from demosaic_ntc import develop, merge
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.developing.settings import Merging
from demosaic_ntc.errors import InputError, Unsupported
from demosaic_ntc.io.colour import SRGB_CURVE
from demosaic_ntc.raw.calibration import FrameReader
from demosaic_ntc.raw.photo import RawPhoto
from samples.dng import Camera
from samples.linear_dng import linear_dng
from tests.bursts import MOVES, Light, Shot, clouded_light, moved_light, still_light, take, take_all

MEASURED: dict[str, Any] = {"look": "neutral", "highlights": "clip", "quality": "fast", "bits": "float"}


@pytest.fixture(scope="module")
def scene() -> Light:
    return still_light()


@pytest.fixture(scope="module")
def burst(tmp_path_factory: pytest.TempPathFactory, scene: Light) -> list[Path]:
    """Four frames that moved by parts of pixels."""
    return take_all(tmp_path_factory.mktemp("burst"), scene, [Shot(move) for move in MOVES])


def psnr(image: NDArray[Any], scene: Light) -> float:
    truth = SRGB_CURVE.encode(np.clip(moved_light(scene, (0, 0)), 0, 1))
    return float(-10 * np.log10(np.square(image - truth)[8:-8, 8:-8].mean()))


def test_four_frames_are_nearer_to_the_truth_than_one(burst: list[Path], scene: Light) -> None:
    merged = merge(burst, reference="first", **MEASURED)
    assert psnr(merged.image, scene) > psnr(develop(burst[0], **MEASURED).image, scene) + 1.2
    assert merged.source == burst[0]
    for frame, (down, right) in zip(merged.frames, MOVES, strict=True):
        assert frame.is_used
        assert frame.shift == pytest.approx((-down, -right), abs=0.15)


def test_one_frame_is_developed_as_ever(burst: list[Path]) -> None:
    alone = merge(burst[:1], quality="fast")
    assert np.array_equal(alone.image, develop(burst[0], quality="fast").image)
    assert repr(alone).startswith("Merged(1 of 1 frames, Developed('frame0.dng', 96×128×3 uint16")


def test_another_scene_is_left_out_by_name(burst: list[Path], tmp_path: Path) -> None:
    foreign = take(tmp_path / "foreign.dng", clouded_light(), Shot(seed=9))
    with_foreign = merge([*burst, foreign], reference="first", **MEASURED)
    assert [frame.is_used for frame in with_foreign.frames] == [True] * 4 + [False]
    assert any(notice.startswith("foreign.dng was left out") for notice in with_foreign.facts.notices)
    without = merge(burst, reference="first", **MEASURED)
    assert np.abs(with_foreign.image - without.image).max() < 1e-6


def test_cosmic_rays_show_in_no_picture(tmp_path: Path, scene: Light) -> None:
    """Bright single samples, which no search for bad pixels finds before: none is seen amid soft detail."""
    soft, shots = 0.5 * gaussian_filter(scene, (3, 3, 0)), [Shot(move) for move in MOVES]
    clean = take_all(tmp_path / "clean", soft, shots)
    struck = []
    for number, path in enumerate(clean):
        rays = np.random.default_rng(number).integers((8, 8), (88, 120), (6, 2))
        struck.append(strike(path, tmp_path / path.name, rays))
    how = {**MEASURED, "bad_pixels": "off"}
    pictures = [merge(paths, reference="first", **how).image for paths in (clean, struck)]
    assert psnr(pictures[1], soft) > psnr(pictures[0], soft) - 0.5
    alone = develop(struck[0], **how).image
    assert count_seen(pictures[1], pictures[0]) == 0
    assert count_seen(alone, pictures[0]) >= 6


def count_seen(image: NDArray[Any], truth: NDArray[Any]) -> int:
    """How many spots are far off: rays reach white."""
    return int(label(np.abs(image - truth).max(axis=-1) > 0.2)[1])


def strike(source: Path, target: Path, places: NDArray[np.int64]) -> Path:
    """A copy of a raw whose samples at some places are white: they stand first in the file."""
    content = bytearray(source.read_bytes())
    for row, column in places:
        start = 8 + 2 * (128 * int(row) + int(column))
        content[start : start + 2] = (16383).to_bytes(2, "little")
    target.write_bytes(bytes(content))
    return target


def test_the_frames_of_calibration_are_read_once(
    burst: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dark, read = take(tmp_path / "dark.dng", np.zeros((192, 256, 3)), Shot()), list[Path]()
    plain = FrameReader.read

    def note(reader: FrameReader, path: Path) -> RawPhoto:
        read.append(path)
        return plain(reader, path)

    monkeypatch.setattr(FrameReader, "read", note)
    merge(burst, dark=dark, **MEASURED)
    assert read == [dark]


def test_the_sharpest_frame_is_the_reference(tmp_path: Path, scene: Light) -> None:
    blurred = np.asarray((scene + np.roll(scene, 3, axis=1) + np.roll(scene, 6, axis=1)) / 3)
    paths = [
        take(tmp_path / f"{name}.dng", light, Shot(seed=k))
        for k, (name, light) in enumerate([("a", blurred), ("b", scene), ("c", blurred)])
    ]
    assert merge(paths, **MEASURED).source.name == "b.dng"
    assert merge(paths, reference="c", **MEASURED).source.name == "c.dng"
    assert merge(paths, reference="first", **MEASURED).source.name == "a.dng"


def test_frames_that_do_not_belong_together_are_refused_by_name(
    burst: list[Path], tmp_path: Path, scene: Light, samples: Path
) -> None:
    camera = take(tmp_path / "camera.dng", scene, Shot(model="Other camera"))
    array = take(tmp_path / "array.dng", scene, Shot(), Cfa.from_name("GRBG"))
    size = take(tmp_path / "size.dng", scene[:160], Shot())
    linear = tmp_path / "linear.dng"
    linear.write_bytes(linear_dng(np.zeros((96, 128, 3), np.uint16), Camera()))
    for path, words in (
        (camera, r"camera.dng: has another camera \(demosaic-ntc Other camera\) than frame0.dng"),
        (array, r"array.dng: has another colour array \(GRBG\) than frame0.dng \(RGGB\)"),
        (size, r"size.dng: has another size \(128×80\) than frame0.dng \(128×96\)"),
    ):
        with pytest.raises(InputError, match=words):
            merge([burst[0], path])
    for path, words in ((samples / "small_xtrans.dng", "array XTRANS"), (linear, "linear raws")):
        with pytest.raises(Unsupported, match=f"{path.name}: .*{words} cannot be merged yet"):
            merge([path, burst[0]])


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"reference": "nobody"}, "no frame is called 'nobody'"),
        ({"motion": "wild"}, "unknown motion 'wild'"),
        ({"ghosts": "many"}, "unknown ghost mode"),
        ({"method": "ntc"}, "by the method gaussian"),
        ({"half": True}, "at full size"),
    ],
)
def test_what_cannot_be_is_said(burst: list[Path], given: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        merge(burst[:2], **given)


def test_frames_are_named_once_and_there_are_some(burst: list[Path]) -> None:
    with pytest.raises(InputError, match=r"frame1.dng: is given twice"):
        merge([burst[0], burst[1], burst[1]])
    with pytest.raises(InputError, match="no frame"):
        merge([])


def test_denoising_off_keeps_the_noise_of_a_mean_of_frames(burst: list[Path], scene: Light) -> None:
    noisy = merge(burst, reference="first", denoise="off", **MEASURED)
    single = develop(burst[0], denoise="off", **MEASURED)
    assert psnr(single.image, scene) + 2 < psnr(noisy.image, scene)
    assert psnr(noisy.image, scene) < psnr(merge(burst, reference="first", **MEASURED).image, scene)


def test_settings_are_checked_when_they_are_made() -> None:
    assert Merging() == replace(Merging(), reference="sharpest")
    with pytest.raises(InputError, match="motion"):
        Merging(motion="up")  # type: ignore[arg-type]
