"""``inpaint --detect``: blemishes are found, repaired and told of, alone and together with a mask."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image
from typer.testing import CliRunner

from cli.app import app
from demosaic_ntc.batch.records.report import DEFAULT_NAME

SHAPE = (96, 128)
ROWS, COLUMNS = np.mgrid[: SHAPE[0], : SHAPE[1]]


def clean() -> NDArray[np.uint8]:
    """A smooth colour picture."""
    return np.stack([90 + ROWS / 2, 80 + COLUMNS / 2, 140 - COLUMNS / 4], axis=2).astype(np.uint8)


def dusty() -> NDArray[np.uint8]:
    """The same with a grain of dust and a scratch."""
    picture = clean()
    picture[np.hypot(ROWS - 30, COLUMNS - 40) < 5] = 20
    picture[np.abs(ROWS - 70 - COLUMNS // 16) <= 1] = 240
    return picture


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    Image.fromarray(dusty()).save(tmp_path / "photo.png")
    return tmp_path / "photo.png"


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out.png"


def _run(*arguments: object, command: str = "inpaint") -> Any:
    return CliRunner().invoke(app, [command, *map(str, arguments), "--method", "biharmonic"])


def _pixels(path: Path) -> NDArray[np.uint8]:
    return np.asarray(Image.open(path))


def test_what_is_found_is_repaired_and_told(photo: Path, out: Path, tmp_path: Path) -> None:
    result = _run(photo, out, "--detect", "dust,scratches", "--save-mask", tmp_path / "m.png")
    assert result.exit_code == 0, result.stderr
    assert "note: 2 blemishes found (dust or scratches), " in result.stderr
    assert np.abs(_pixels(out).astype(int) - clean()).max() < 12
    mask = _pixels(tmp_path / "m.png")
    assert set(np.unique(mask)) == {0, 255}
    assert np.array_equal(_pixels(out)[mask == 0], dusty()[mask == 0])


def test_the_saved_mask_gives_the_same_picture(photo: Path, out: Path, tmp_path: Path) -> None:
    mask, again = tmp_path / "m.png", tmp_path / "again.png"
    assert _run(photo, out, "--detect", "dust", "--save-mask", mask).exit_code == 0
    assert _run(photo, mask, again).exit_code == 0
    assert out.read_bytes() == again.read_bytes()


def test_a_mask_of_a_turned_picture_is_saved_as_it_is_seen(out: Path, tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[274] = 6
    Image.fromarray(dusty()).save(tmp_path / "turned.png", exif=exif)
    mask = tmp_path / "m.png"
    assert _run(tmp_path / "turned.png", out, "--detect", "dust", "--save-mask", mask).exit_code == 0
    assert _pixels(mask).shape == SHAPE[::-1]
    assert _run(tmp_path / "turned.png", mask, tmp_path / "again.png").exit_code == 0
    assert out.read_bytes() == (tmp_path / "again.png").read_bytes()


def test_json_counts(photo: Path, out: Path, tmp_path: Path) -> None:
    words = ("--detect", "scratches", "--sensitivity", 0.4, "--save-mask", tmp_path / "m.png", "--json")
    told = json.loads(_run(photo, out, *words).stdout)
    assert told["detected"]["kinds"] == ["scratches"]
    assert told["detected"]["blemishes"] == 1
    assert told["detected"]["share"] == pytest.approx(told["missing_share"])
    assert told["mask"] == str(tmp_path / "m.png")
    assert (
        told["parameters"] == "method=biharmonic quality=normal grain=auto detect=scratches sensitivity=0.4"
    )


def test_a_mask_is_repaired_as_well(photo: Path, out: Path, tmp_path: Path) -> None:
    marked = np.zeros(SHAPE, np.uint8)
    marked[4:8, 100:110] = 255
    Image.fromarray(marked).save(tmp_path / "mask.png")
    saved = tmp_path / "m.png"
    assert _run(photo, tmp_path / "mask.png", out, "--detect", "dust", "--save-mask", saved).exit_code == 0
    assert _pixels(saved)[4:8, 100:110].all()
    assert _pixels(saved)[30, 40]


def test_nothing_found_is_said_and_the_picture_is_the_same_file(tmp_path: Path, out: Path) -> None:
    Image.fromarray(clean()).save(tmp_path / "clean.png")
    result = _run(tmp_path / "clean.png", out, "--detect", "dust")
    assert result.exit_code == 0, result.stderr
    assert "no dust found" in result.stderr
    assert "nothing is repaired, the picture stays as it is" in result.stderr
    assert out.read_bytes() == (tmp_path / "clean.png").read_bytes()


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--detect", "dirt"), "unknown kind of blemish 'dirt'"),
        (("--detect", ","), "nothing to look for"),
        (("--detect", "dust", "--sensitivity", "2"), "2 is not a sensitivity; give 0 to 1"),
        (("--detect", "dust", "--save-mask", "m.jpg"), "a mask is a PNG"),
        (("--detect", "dust", "--save-mask", "OUT"), "is another result of this run"),
    ],
)
def test_wrong_usage(words: tuple[str, ...], reason: str, photo: Path, out: Path) -> None:
    result = _run(photo, out, *(str(out) if word == "OUT" else word for word in words))
    assert result.exit_code == 2
    assert reason in " ".join(result.stderr.replace("│", " ").split())
    assert not out.exists()


def test_an_existing_mask_is_not_overwritten(photo: Path, out: Path, tmp_path: Path) -> None:
    (tmp_path / "m.png").write_bytes(b"mine")
    result = _run(photo, out, "--detect", "dust", "--save-mask", tmp_path / "m.png")
    assert result.exit_code == 4
    assert "exists already" in result.stderr
    assert (tmp_path / "m.png").read_bytes() == b"mine"
    assert not out.exists()


def test_a_batch_looks_into_every_picture(photo: Path, tmp_path: Path) -> None:
    Image.fromarray(clean()).save(tmp_path / "clean.png")
    batch = (tmp_path, "-o", tmp_path / "out", "--inpaint", "--detect", "dust,scratches", "--jobs", 1)
    plan = _run(*batch, "--dry-run", command="batch")
    assert plan.exit_code == 0, plan.stderr
    assert "no mask" not in plan.stderr
    assert not (tmp_path / "out").exists()
    result = _run(*batch, command="batch")
    assert result.exit_code == 0, result.stderr
    assert np.abs(_pixels(tmp_path / "out" / "photo.png").astype(int) - clean()).max() < 12
    lines = [json.loads(line) for line in (tmp_path / "out" / DEFAULT_NAME).read_text().splitlines()]
    told = json.dumps(lines)
    assert "2 blemishes found" in told
    assert "no dust or scratches found" in told


def test_a_batch_is_resumed_unless_the_search_is_another(photo: Path, tmp_path: Path) -> None:
    batch = (tmp_path, "-o", tmp_path / "out", "--inpaint", "--jobs", 1, "--resume")
    assert _run(*batch, "--detect", "dust", command="batch").exit_code == 0
    again = _run(*batch, "--detect", "dust", "--dry-run", command="batch")
    other = _run(*batch, "--detect", "dust", "--sensitivity", 0.7, "--dry-run", command="batch")
    assert again.exit_code == other.exit_code == 0
    assert again.stdout != other.stdout
