import csv
import json
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner, Result

from cli.app import app
from evaluation.data.reference import demosaic_reference
from evaluation.measure.case import Case, Measurement
from evaluation.measure.demosaic import DemosaicBenchmark
from evaluation.measure.metrics import Bytes
from evaluation.methods.demosaicers import menon
from tests.cli.waves import save_waves

pytestmark = pytest.mark.usefixtures("thread_variables")

FAST = "malvar,bilinear"


def benchmark(*options: object) -> Result:
    return CliRunner().invoke(app, ["benchmark", "demosaic", *map(str, options)])


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """Three small pictures, one of another size."""
    return save_waves(tmp_path / "waves", [(40, 48), (48, 40), (40, 48)], pace=9.0)


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is measured, in order: picture and method."""
    measure, calls = DemosaicBenchmark.measure, list[str]()

    def recorded(part: DemosaicBenchmark, case: Case, loaded: Bytes) -> Measurement:
        calls.append(f"{case.image} {case.method.name}")
        return measure(part, case, loaded)

    monkeypatch.setattr(DemosaicBenchmark, "measure", recorded)
    return calls


def rows(text: str, method: str) -> list[list[str]]:
    """The cells of the lines of a method, table by table."""
    return [line.split() for line in text.splitlines() if line.startswith(f"  {method} ")]


def test_means_stand_beside_their_conditions(pictures: Path) -> None:
    result = benchmark(pictures, "--methods", FAST, "--crop", "4")
    assert result.exit_code == 0, result.stderr
    by_picture, parts, means = rows(result.stdout, "malvar")
    assert float(parts[2]) == pytest.approx(np.median([float(cell) for cell in by_picture[1:]]), abs=0.01)
    assert float(means[1]) == pytest.approx(np.mean([float(cell) for cell in by_picture[1:]]), abs=0.01)
    line = next(line for line in result.stdout.splitlines() if line.startswith("waves: 3 pictures"))
    for fact in (
        "2 of 48×40, 1 of 40×48",
        "RGGB",
        "crop 4",
        "rounded to 8 bit",
        "mean over pictures",
        "cores",
    ):
        assert fact in line
    for fact in ("versions: Python", "averaging:", "method malvar: 1 thread, demosaic-ntc"):
        assert fact in result.stdout
    assert result.stderr == ""


def test_the_table_ends_with_what_completion_adds_and_where_a_peer_comes_closest(pictures: Path) -> None:
    result = benchmark(pictures, "--methods", "gaussian,ntc,bilinear", "--quality", "fast")
    assert result.exit_code == 0, result.stderr
    assert re.search(
        r"gaussian over ntc on waves: [+-]\d+\.\d\d dB on the mean, better on \d of 3 pictures",
        result.stdout,
    )
    assert re.search(
        r"gaussian against the best peer .* at worst [+-]\S+ dB on \d \(\S+ dB, bilinear", result.stdout
    )
    assert re.search(r" \d+ of \d+", result.stdout)


def test_a_limited_set_has_no_mean_and_says_what_is_missing(pictures: Path) -> None:
    result = benchmark(pictures, "--methods", FAST, "--limit", "1")
    assert result.exit_code == 0
    assert len(rows(result.stdout, "malvar")) == 1
    assert "means" not in result.stdout
    assert "no mean over waves without 2, 3: malvar, bilinear" in result.stdout


def test_a_method_that_refuses_is_explained_and_the_others_go_on(pictures: Path) -> None:
    result = benchmark(pictures, "--cfa", "XTRANS", "--methods", "menon,bilinear")
    assert result.exit_code == 0
    assert "menon: colour-demosaicing knows Bayer arrays, not XTRANS" in result.stdout
    assert [set(cells[1:]) for cells in rows(result.stdout, "menon")] == [{"–"}, {"–"}]
    assert len(rows(result.stdout, "bilinear")) == 3


def test_a_peer_that_fails_on_a_picture_keeps_its_place_and_is_tried_again(
    tmp_path: Path, pictures: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(mosaic: Any, cfa: Any) -> Any:
        if mosaic.shape == (48, 40):
            raise ValueError("math\ndomain error")
        return menon(mosaic, cfa)

    monkeypatch.setattr("evaluation.methods.demosaicers.menon", failing)
    files = {name: tmp_path / f"r.{name}" for name in ("json", "csv")}
    options = ("--methods", "menon,bilinear", "--json", files["json"], "--csv", files["csv"])
    result = benchmark(pictures, *options)
    assert result.exit_code == 0, result.stderr
    by_picture, means = rows(result.stdout, "menon")
    assert ([cell == "–" for cell in by_picture[1:]], set(means[1:])) == ([False, True, False], {"–"})
    assert "menon: failed (ValueError: math domain error); its figures are left out" in result.stdout
    assert [(r["method"], r["reason"][:6]) for r in json.loads(files["json"].read_text())["refusals"]] == [
        ("menon", "failed")
    ]
    lines = list(csv.DictReader(files["csv"].read_text().splitlines()))
    refused = [(line["method"], line["image"], line["cpsnr_crop10"]) for line in lines if line["reason"]]
    assert refused == [("menon", "2", "")]
    assert "menon *" in {row["method"] for row in demosaic_reference(files["csv"], 10)}
    monkeypatch.setattr("evaluation.methods.demosaicers.menon", menon)
    again = benchmark(pictures, *options)
    assert "–" not in [cell for row in rows(again.stdout, "menon") for cell in row[:4]]
    assert json.loads(files["json"].read_text())["refusals"] == []


@pytest.mark.parametrize("method", ["ntc", "blend"])
def test_a_failure_of_ours_is_an_error(pictures: Path, monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise ValueError("math domain error")

    monkeypatch.setattr("evaluation.methods.demosaicers.demosaic", broken)
    monkeypatch.setattr("cli.failures.write_log", lambda _: None)
    assert benchmark(pictures, "--methods", method).exit_code == 70


def test_a_second_run_measures_only_what_is_missing(
    tmp_path: Path, pictures: Path, measured: list[str]
) -> None:
    target = tmp_path / "r.json"
    benchmark(pictures, "--methods", "bilinear", "--limit", "2", "--json", target)
    assert measured == ["1 bilinear", "2 bilinear"]
    measured.clear()
    pictures = pictures.rename(tmp_path / "renamed")
    result = benchmark(pictures, "--methods", FAST, "--json", target)
    assert measured == ["1 malvar", "2 malvar", "3 malvar", "3 bilinear"]
    assert len(rows(result.stdout, "bilinear")[0]) == 4
    measured.clear()
    again = benchmark(pictures, "--methods", FAST, "--json", target)
    assert (measured, again.stdout) == ([], result.stdout)
    benchmark(pictures, "--methods", "bilinear", "--crop", "5", "--limit", "1", "--json", target)
    assert measured == ["1 bilinear"]
    assert len(json.loads(target.read_text())["results"]) == 7


def test_an_interruption_keeps_and_prints_what_is_finished(
    tmp_path: Path, pictures: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measure = DemosaicBenchmark.measure

    def interrupted(part: DemosaicBenchmark, case: Case, loaded: Bytes) -> Measurement:
        if case.image == "2" and case.method.name == "bilinear":
            raise KeyboardInterrupt
        return measure(part, case, loaded)

    monkeypatch.setattr(DemosaicBenchmark, "measure", interrupted)
    files = tmp_path / "r.json", tmp_path / "r.csv"
    result = benchmark(pictures, "--methods", FAST, "--json", files[0], "--csv", files[1])
    assert result.exit_code == 130
    assert [len(row) for row in rows(result.stdout, "malvar")] == [4]
    assert "no mean over waves without 3: malvar" in result.stdout
    stored = [(row["image"], row["method"]) for row in json.loads(files[0].read_text())["results"]]
    assert stored == [("1", "malvar"), ("1", "bilinear"), ("2", "malvar")]
    assert [
        (row["image"], row["method"]) for row in csv.DictReader(files[1].read_text().splitlines())
    ] == stored


def test_reference_figures_are_more_rows_where_set_and_picture_match(tmp_path: Path, pictures: Path) -> None:
    reference = tmp_path / "peers.csv"
    name = "a method whose name takes all the room there is in a table of usual width"
    lines = [f"{name},waves,{n},50.5,51.25,56.0" for n in (1, 2, 3)]
    lines += [f"ARI,waves,{n},50.5,51.25,56.0" for n in (1, 2, 3)] + [
        "RI,waves,1,40,41,1",
        "RI,other,1,4,4,1",
    ]
    reference.write_text("\n".join(["method,set,image,cpsnr_crop0,cpsnr_crop10,cpu_s_per_mp", *lines]))
    result = benchmark(pictures, "--methods", "bilinear", "--reference", reference)
    assert "…" not in result.stdout.partition("mosaic:")[0]
    assert rows(result.stdout, "ARI")[2][:4] == ["ARI", "*", "51.25", "50.50"]
    assert len(rows(result.stdout, "RI")) == 1
    assert "no mean over waves without 2, 3: RI *" in result.stdout
    other = benchmark(pictures, "--reference", reference, "--cfa", "XTRANS")
    assert other.exit_code == 2
    assert "leave --reference out" in re.sub(r"[│\s]+", " ", other.stderr)


def test_details_show_every_quantity_of_every_picture(pictures: Path) -> None:
    result = benchmark(pictures, "--methods", FAST, "--limit", "2", "--details")
    details = [
        line.split() for line in result.stdout.splitlines() if re.match(r"  [12] +(malvar|bilinear)", line)
    ]
    assert [len(cells) for cells in details] == [12] * 4


def test_libraries_get_the_same_number_of_threads_unless_told_otherwise(
    pictures: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    benchmark(pictures, "--methods", "bilinear", "--limit", "1", "--threads", "3")
    assert (os.environ["OMP_NUM_THREADS"], os.environ["OPENBLAS_NUM_THREADS"]) == ("5", "3")


def test_bad_folders_are_bad_input(tmp_path: Path) -> None:
    empty, grey = tmp_path / "empty", tmp_path / "grey"
    empty.mkdir()
    grey.mkdir()
    Image.new("L", (40, 40)).save(grey / "a.png")
    for folder, reason in (
        (empty, "no pictures"),
        (grey, "not 8-bit RGB"),
        (tmp_path / "none", "no such folder"),
    ):
        result = benchmark(folder)
        assert result.exit_code == 3
        assert reason in result.stderr


def test_other_files_are_never_overwritten_as_results(tmp_path: Path, pictures: Path) -> None:
    target = tmp_path / "r.json"
    target.write_text('{"my": "notes"}')
    result = benchmark(pictures, "--methods", "bilinear", "--json", target)
    assert result.exit_code == 3
    assert "holds no results of this benchmark" in result.stderr
    assert target.read_text() == '{"my": "notes"}'


@pytest.mark.parametrize(
    ("options", "reason"), [(("--methods", "amaze"), "no method amaze"), (("--cfa", "RGBW"), "array")]
)
def test_what_does_not_exist_is_wrong_usage(pictures: Path, options: tuple[str, str], reason: str) -> None:
    result = benchmark(pictures, *options)
    assert result.exit_code == 2
    assert reason in result.stderr


def test_a_target_that_cannot_be_written_fails_before_the_work(tmp_path: Path, pictures: Path) -> None:
    result = benchmark(pictures, "--csv", tmp_path / "missing" / "r.csv")
    assert result.exit_code == 4
    assert "CPSNR" not in result.stdout
