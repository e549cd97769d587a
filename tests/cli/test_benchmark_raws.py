"""The command ``benchmark raws``: figures of known pictures, failures by kind, and the page."""

import csv
import json
import struct
import sys
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner, Result

from cli.app import app
from demosaic_ntc import develop
from demosaic_ntc.errors import InputError
from demosaic_ntc.viewer.crops import CropBox
from evaluation.data.raws import find_raws
from evaluation.measure import raws as measuring
from evaluation.measure.metrics import luma, measure_clipping
from evaluation.measure.raws import RawsBenchmark, has_faults, middle, raw_rows, totals
from evaluation.measure.results import Results
from evaluation.measure.store import Store
from evaluation.methods import conversions
from evaluation.methods.conversions import Converter, outcome, reason, upright
from evaluation.methods.processes import ProcessResult

Fake = Callable[..., list[str]]

# A program that makes a known picture: 64×48, luma 100, a quarter of it clipped; less in the neutral look.
MAKES = """
import json, sys
import numpy as np
from PIL import Image
command, source, *more = sys.argv[1:]
told = {"camera": "Maker <1>", "width": 64, "height": 48, "look": "auto", "notices": ["first", "second"]}
if command == "info":
    print(json.dumps([{"orientation": 1, "estimated_megabytes": 250}]))
else:
    pixels = np.full((48, 64, 3), 100, np.uint8)
    pixels[:24, :32, 1] = 255
    if "neutral" in more:
        pixels[:12, :32, 1] = 90
    Image.fromarray(pixels).save(more[0])
    print(json.dumps(told))
"""
KILLS_ITSELF = "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"
SLEEPS = "import time; time.sleep(60)"
FAILS = "import sys; sys.exit('Traceback\\nValueError: a bug')"


def with_preview(raw: bytes, preview: np.ndarray) -> bytes:
    """A raw with another picture stored behind it as a JPEG, in a second directory."""
    buffer = BytesIO()
    Image.fromarray(preview).save(buffer, "JPEG", quality=100, subsampling=0)
    jpeg, start = buffer.getvalue(), len(raw)
    height, width = preview.shape[:2]
    bits = start + len(jpeg)
    tags = {254: (4, 1, 1), 256: (4, 1, width), 257: (4, 1, height), 258: (3, 3, bits), 259: (3, 1, 7)}
    tags |= {262: (3, 1, 6), 273: (4, 1, start), 277: (3, 1, 3), 278: (4, 1, height), 279: (4, 1, len(jpeg))}
    entries = b"".join(struct.pack("<HHLL", tag, *value) for tag, value in tags.items())
    directory = struct.pack("<H", len(tags)) + entries + struct.pack("<L", 0)
    first = struct.unpack_from("<L", raw, 4)[0]
    following = first + 2 + 12 * struct.unpack_from("<H", raw, first)[0]
    changed = raw[:following] + struct.pack("<L", bits + 6) + raw[following + 4 :]
    return changed + jpeg + struct.pack("<HHH", 8, 8, 8) + directory


@pytest.fixture
def folder(tmp_path: Path, samples: Path) -> Path:
    """A raw with a picture of the camera's own, of luma 80, an eighth of it clipped, and what is no raw."""
    place = tmp_path / "shoot"
    (place / "day").mkdir(parents=True)
    preview = np.full((64, 128, 3), 80, np.uint8)
    preview[:32, :32] = 255
    raw = (samples / "scene_rggb.dng").read_bytes()
    (place / "a.dng").write_bytes(with_preview(raw, preview))
    (place / "day" / "text.DNG").write_text("no raw at all, but a text that is named like one")
    (place / "notes.txt").write_text("not looked at")
    return place


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """A folder of three files, which a stand-in for the program takes for raws."""
    place = tmp_path / "shoot"
    place.mkdir()
    for name in ("a.cr2", "b.cr2", "c.cr2"):
        (place / name).write_text(name)
    return place


def stand_in(monkeypatch: pytest.MonkeyPatch, faults: dict[str, str] | None = None) -> Fake:
    """Let another program be run; for some files one that goes wrong."""

    def command(*words: str) -> list[str]:
        program = (faults or {}).get(Path(words[1]).name, MAKES)
        return [sys.executable, "-c", program, *words]

    monkeypatch.setattr(conversions, "make_command", command)
    monkeypatch.setattr(conversions, "embedded_command", lambda *_: [sys.executable, "-c", ""])
    return command


def benchmark(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["benchmark", "raws", *map(str, arguments)])


@pytest.mark.slow
@pytest.mark.usefixtures("thread_variables")
def test_raws_stand_beside_the_pictures_of_their_cameras(folder: Path, tmp_path: Path) -> None:
    page, kept, lines = tmp_path / "page", tmp_path / "kept.json", tmp_path / "lines.csv"
    words = (folder, "-o", page, "--quality", "fast", "--threads", 1, "--json", kept, "--csv", lines)
    result = benchmark(*words)
    assert result.exit_code == 0, result.stderr
    made, refused = json.loads(kept.read_text())["results"]
    picture = np.asarray(develop(folder / "a.dng", quality="fast", bits=8).image, dtype=np.uint8)
    assert made["luma"] == pytest.approx(luma(picture))
    assert made["clipped"] == pytest.approx(measure_clipping(picture))
    assert made["camera_luma"] == pytest.approx(80, abs=1)
    assert made["camera_clipped"] == pytest.approx(1 / 8, abs=0.01)
    assert 0 <= made["newly_clipped"] < 0.2
    assert 50e6 < made["peak_bytes"] < 2e9
    assert 50e6 < made["estimated_bytes"] < 2e9
    assert refused["outcome"] == "refused"
    assert refused["reason"].startswith("is not a raw file")
    assert "2 raws: 1 converted, 1 refused for a stated reason" in result.stdout
    assert [row["file"] for row in csv.DictReader(lines.read_text().splitlines())] == [
        "a.dng",
        "day/text.DNG",
    ]
    shown = (page / "index.html").read_text()
    assert_shows(page, shown, {"ours": (600, 600), "camera": (128, 64), "middle": (540, 405)}, picture)
    assert "is not a raw file" in shown
    before = kept.read_text()
    assert benchmark(*words).exit_code == 0
    assert kept.read_text() == before  # nothing is measured twice


def assert_shows(page: Path, shown: str, most: dict[str, tuple[int, int]], picture: np.ndarray) -> None:
    """The page shows pictures of these names, which are there, and the middle as it is."""
    for name, size in most.items():
        (file,) = (page / "pictures").glob(f"*-{name}.webp")
        assert f'src="pictures/{file.name}"' in shown
        with Image.open(file) as image:
            pixels = np.asarray(image.convert("RGB"))
        assert pixels.shape[1] <= size[0]
        assert pixels.shape[0] <= size[1]
        if name == "middle":
            np.testing.assert_array_equal(pixels, picture[: pixels.shape[0], : pixels.shape[1]])


@pytest.mark.usefixtures("thread_variables")
def test_a_crash_ends_nothing_but_itself(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(monkeypatch, {"a.cr2": KILLS_ITSELF})
    (made / "c.cr2").unlink()
    result = benchmark(made, "-o", tmp_path / "page")
    assert result.exit_code == 1
    assert "2 raws: 1 crashed (signal 11), 1 converted" in result.stdout
    shown = (tmp_path / "page" / "index.html").read_text()
    assert '<dt>a.cr2</dt><dd class="fault">crashed: signal 11</dd>' in shown


@pytest.mark.usefixtures("thread_variables")
def test_what_takes_too_long_is_given_up(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(monkeypatch, dict.fromkeys(("a.cr2", "b.cr2", "c.cr2"), SLEEPS))
    monkeypatch.setattr(measuring, "run_command", lambda *_, **__: None)  # nothing is warmed up
    result = benchmark(made, "-o", tmp_path / "page", "--timeout", 0.6)
    assert result.exit_code == 1
    assert "3 raws: 3 timed out" in result.stdout
    assert "timed out: ended after" in (tmp_path / "page" / "index.html").read_text()


def test_figures_of_a_known_picture(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(monkeypatch)
    row, shown = Converter().convert(made / "a.cr2", tmp_path)
    assert row["luma"] == pytest.approx(100)
    assert row["clipped"] == pytest.approx(1 / 4)
    assert row["newly_clipped"] == pytest.approx(1 / 8)
    assert row["estimated_bytes"] == 250e6
    assert row["notices"] == "first\nsecond"
    assert (row["camera_luma"], row["camera_clipped"]) == (None, None)
    assert shown is not None
    assert shown.ours.shape == (48, 64, 3)


@pytest.mark.parametrize("step", ["info", "embedded", "neutral"])
def test_a_crash_after_the_conversion_is_one_as_well(
    step: str, made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = stand_in(monkeypatch)
    crash = [sys.executable, "-c", KILLS_ITSELF]
    if step == "embedded":
        monkeypatch.setattr(conversions, "embedded_command", lambda *_: crash)
    else:
        monkeypatch.setattr(
            conversions, "make_command", lambda *words: crash if step in words else usual(*words)
        )
    row, shown = Converter().convert(made / "a.cr2", tmp_path)
    assert (row["outcome"], shown) == ("crashed", None)
    assert row["reason"].endswith(": signal 11")


def ended(code: int, errors: str = "", exceeded: str = "") -> ProcessResult:
    return ProcessResult(code, 9.6, 1.0, 2_500_000_000, "", errors, exceeded)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("how", "kind", "why"),
    [
        (ended(0), "converted", ""),
        (ended(3, "demosaic-ntc: a.cr2: no raw; give another\n"), "refused", "no raw; give another"),
        (ended(-11, "words of a library"), "crashed", "signal 11"),
        (ended(-9, exceeded="time"), "timed out", "ended after 10 s"),
        (ended(-9, exceeded="memory"), "out of memory", "ended at 2.5 GB"),
        (ended(6, "demosaic-ntc: no memory"), "out of memory", "exit code 6: demosaic-ntc: no memory"),
        (ended(70, "trace\nValueError: a bug"), "failed", "exit code 70: ValueError: a bug"),
        (ended(1), "failed", "exit code 1: it says nothing"),
    ],
)
def test_failures_are_told_apart(how: ProcessResult, kind: str, why: str) -> None:
    assert (outcome(how), reason(how, Path("a.cr2"))) == (kind, why)


def test_pictures_are_turned_unless_they_are_upright() -> None:
    lying, standing = np.zeros((2, 3, 3), np.uint8), np.zeros((3, 2, 3), np.uint8)
    assert upright(lying, 6, (30, 20, 3)).shape == (3, 2, 3)
    assert upright(standing, 6, (30, 20, 3)).shape == (3, 2, 3)
    lying[0, 0] = 9
    assert upright(lying, 3, (20, 30, 3))[1, 2, 0] == 9


def test_the_part_shown_as_it_is_lies_in_the_middle() -> None:
    assert middle(np.zeros((1405, 1000, 3), np.uint8)) == CropBox(230, 500, 540, 405)
    assert middle(np.zeros((40, 1540, 3), np.uint8)) == CropBox(500, 0, 540, 40)


def test_raws_are_those_of_a_batch_and_of_all_folders(folder: Path) -> None:
    (folder / ".hidden.dng").touch()
    (folder / "page").mkdir()
    (folder / "page" / "made.dng").touch()
    names = [raw.name for raw in find_raws([folder], folder / "page")]
    assert names == ["a.dng", "day/text.DNG"]
    (alone,) = find_raws([folder / "notes.txt"], folder / "page")
    assert alone.name == "notes.txt"


def test_without_raws_those_of_the_test_data_are_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEMOSAIC_NTC_DATA", str(tmp_path))
    with pytest.raises(InputError, match="there are no raws"):
        RawsBenchmark.of()
    for name in ("raw", "raw_more"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.nef").touch()
    assert [raw.name for raw in find_raws(None, tmp_path / "page")] == ["raw/a.nef", "raw_more/a.nef"]


def test_a_file_that_cannot_be_read_has_no_checksum(tmp_path: Path) -> None:
    (tmp_path / "a.nef").symlink_to(tmp_path / "gone.nef")
    assert [raw.sha256 for raw in find_raws([tmp_path], tmp_path / "page")] == [""]


def results_of(part: RawsBenchmark, *rows: dict[str, object]) -> Results:
    store = Store(None, part)
    costs = {"seconds": 2.0, "cpu_seconds": 3.0, "peak_bytes": 300_000_000, "machine": "a machine"}
    for case, row in zip(part.cases, rows, strict=True):
        store.add(case, costs | row)
    return Results.of(store)


def picture_of(luma: float, camera: float | None) -> dict[str, object]:
    known = {"outcome": "converted", "reason": "", "camera": "Maker", "width": 2000, "height": 1000}
    shares = {"clipped": 0.01, "camera_clipped": 0.02, "newly_clipped": 0.003, "estimated_bytes": 250e6}
    return known | shares | {"notices": "first\nsecond", "luma": luma, "camera_luma": camera}


def test_pictures_of_another_brightness_are_marked(made: Path, tmp_path: Path) -> None:
    part = RawsBenchmark.of((), [made], tmp_path / "page")
    results = results_of(part, picture_of(113, 100), picture_of(111, 100), picture_of(111, None))
    converted, _ = part.tables(results)
    by_title = [
        dict(zip(converted.columns, (cell.text for cell in row), strict=True)) for row in converted.rows
    ]
    assert [row["difference"] for row in by_title] == ["+13% !", "+11%", ""]
    assert converted.emphasised == ("a.cr2",)
    first = by_title[0]
    assert (first["MP"], first["CPU s/MP"], first["peak MB"], first["info: MB"]) == (
        "2.0",
        "1.50",
        "300",
        "250",
    )
    assert (first["clipped"], first["camera's clipped"], first["newly clipped"]) == (
        "1.00%",
        "2.00%",
        "0.30%",
    )
    assert first["notices"] == "2"
    lines = list(totals(raw_rows(results)))
    assert lines[1] == "median luma further than 12% from the camera's own: 1 of 2"
    assert lines[2] == "9 CPU seconds, 6 seconds in all"


@pytest.mark.parametrize("kind", ["crashed", "timed out", "out of memory", "failed", "refused"])
def test_only_refusals_are_no_fault(kind: str, made: Path, tmp_path: Path) -> None:
    part = RawsBenchmark.of((), [made / "a.cr2"], tmp_path / "page")
    results = results_of(part, {"outcome": kind, "reason": "why"})
    assert has_faults(results) == (kind != "refused")
    table, _ = part.tables(results)
    assert [cell.text for cell in table.rows[0]] == ["a.cr2", kind, "why"]


def test_names_and_notices_are_text_on_the_page(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(monkeypatch, {"c.cr2": FAILS})
    (made / "b.cr2").rename(made / "<b>.cr2")
    monkeypatch.setattr(measuring, "run_command", lambda *_, **__: None)
    assert benchmark(made, "-o", tmp_path / "page").exit_code == 1
    shown = (tmp_path / "page" / "index.html").read_text()
    assert "<b>" not in shown
    assert "&lt;b&gt;.cr2 – Maker &lt;1&gt;, 64×48" in shown
    assert "<dt>notice</dt><dd>second</dd>" in shown
    assert "failed: exit code 1: ValueError: a bug" in shown


def test_a_revived_part_has_the_same_cases(made: Path, tmp_path: Path) -> None:
    part = RawsBenchmark.of((), [made], tmp_path / "page", timeout=5, memory=2)
    assert "at most 5 s and 2 GB" in part.methods[0].settings
    again = RawsBenchmark.from_plan(json.loads(json.dumps(part.plan)))
    assert [case.key for case in again.cases] == [case.key for case in part.cases]
