"""The whole report on tiny pictures: what is written, kept, continued and made anew."""

import csv
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from cli.app import app
from evaluation.data.paper_tables import Row
from evaluation.measure.case import Case, Measurement
from evaluation.measure.demosaic import DemosaicBenchmark
from evaluation.measure.inpaint import InpaintBenchmark
from evaluation.measure.paper import PaperBenchmark
from tests.cli.waves import save_waves

pytestmark = pytest.mark.usefixtures("thread_variables")

METHODS = ("--methods", "malvar,bilinear")
NOISE = ("--denoisers", "lmmse", "--sigma", "5")
COSTS = ("--qualities", "fast", "--sizes", "0.02", "--programs", "libraw-ahd")
REPAIRS = (*NOISE, *COSTS, "--repairs", "biharmonic", "--masks", "dead,random:20")
TENSORS = ("--tables", "1", "--rows", "10", "--reps", "2")
SMALL = (*METHODS, *REPAIRS, *TENSORS)


def benchmark(*options: object) -> Result:
    return CliRunner().invoke(app, ["benchmark", *map(str, options)])


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """One small tensor instead of two for convergence, one plain tensor, and no real raws."""
    monkeypatch.delenv("DEMOSAIC_NTC_DATA", raising=False)
    monkeypatch.setattr("evaluation.measure.convergence.ROWS", (Row(4, 3, 60, 0.02),))
    monkeypatch.setattr("evaluation.measure.paper.METHODS", ("ntc", "als"))
    monkeypatch.setattr("evaluation.methods.demosaicers.TENSORS", ("als",))


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """Two small pictures."""
    return save_waves(tmp_path / "waves", [(40, 48)] * 2, pace=5.0)


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is measured, in order."""
    calls: list[str] = []

    def noted(kind: Any, describe: Any) -> None:
        original = kind.measure

        def call(part: Any, case: Case, loaded: Any) -> Measurement:
            if part.name == kind.name:
                calls.append(describe(case))
            measured: Measurement = original(part, case, loaded)
            return measured

        monkeypatch.setattr(kind, "measure", call)

    noted(DemosaicBenchmark, lambda case: f"{case.image} {case.method.name}")
    noted(InpaintBenchmark, lambda case: f"{case.image} {case.task} {case.method.name}")
    noted(PaperBenchmark, lambda case: f"{case.key['size']} {case.method.name} {case.key['seed']}")
    return calls


def scenes(folder: Path) -> list[dict[str, Any]]:
    (data,) = re.findall(r'id="scenes">(.*?)</script>', (folder / "index.html").read_text(), re.DOTALL)
    found: list[dict[str, Any]] = json.loads(data)
    return found


def test_a_report_has_a_page_tables_plots_and_results(tmp_path: Path, pictures: Path) -> None:
    folder = tmp_path / "report"
    result = benchmark("all", pictures, "-o", folder, *SMALL)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.strip() == str(folder / "index.html")
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*.*")}
    for table in (
        "waves-means-over-2-pictures",
        "waves-cpsnr-in-db-crop-10",
        "table-1-order-3-tensors-n-500",
        "waves-1-2-cpsnr-in-db-of-noisy-mosaics",
        "waves-1-2-noise-estimated",
        "expected-and-true-errors-rggb",
        "expected-and-true-errors-random-50",
    ):
        assert {f"tables/{table}.md", f"tables/{table}.csv"} <= names
    for plot in ("quality-and-time", "paper", "convergence", "reliability"):
        assert {f"plots/{plot}.svg", f"plots/{plot}.png"} <= names
    shown = scenes(folder)
    assert [scene["name"] for scene in shown] == ["waves 1", "waves 2", "1, dead", "2, random:20"]
    assert {version["name"] for version in shown[0]["versions"]} == {"malvar", "bilinear", "truth"}
    assert {version["name"] for version in shown[2]["versions"]} == {"biharmonic", "damaged", "truth"}
    page = (folder / "index.html").read_text()
    for fact in (
        "machine",
        "commit",
        "demosaic: mosaic",
        "noise: noise",
        "inpaint: masks",
        "errors: bins",
        "paper: versions",
    ):
        assert f"<dt>{fact}</dt>" in page


def test_a_rerun_measures_only_what_is_missing(tmp_path: Path, pictures: Path, done: list[str]) -> None:
    folder = tmp_path / "report"
    benchmark("all", pictures, "-o", folder, *REPAIRS, *TENSORS, "--methods", "bilinear", "--limit", 1)
    assert done == [
        *("1 bilinear", "1 dead biharmonic", "1 random:20 biharmonic"),
        *("10 ntc 0", "10 als 0", "10 ntc 1", "10 als 1"),
    ]
    done.clear()
    benchmark("all", pictures, "-o", folder, *METHODS, *REPAIRS, "--masks", "dead", *TENSORS)
    assert done == ["1 malvar", "2 malvar", "2 bilinear", "2 dead biharmonic"]
    done.clear()
    again = benchmark("all", pictures, "-o", folder, *SMALL)
    assert (again.exit_code, done) == (0, ["2 random:20 biharmonic"])
    done.clear()
    benchmark("all", pictures, "-o", folder, *METHODS, "--parts", "demosaic", "--fresh")
    assert len(done) == 4


def test_an_interruption_leaves_a_report_and_the_rest_for_the_next_run(
    tmp_path: Path, pictures: Path, done: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, measure = tmp_path / "report", DemosaicBenchmark.measure

    def interrupted(part: DemosaicBenchmark, case: Case, loaded: Any) -> Measurement:
        if case.image == "2" and case.method.name == "bilinear":
            raise KeyboardInterrupt
        return measure(part, case, loaded)

    monkeypatch.setattr(DemosaicBenchmark, "measure", interrupted)
    result = benchmark("all", pictures, "-o", folder, *SMALL)
    assert result.exit_code == 130
    assert len(json.loads((folder / "results.json").read_text())["demosaic"]["results"]) == 3
    assert len(scenes(folder)) == 2
    monkeypatch.setattr(DemosaicBenchmark, "measure", measure)
    done.clear()
    assert benchmark("all", pictures, "-o", folder, *SMALL).exit_code == 0
    assert done[0] == "2 bilinear"
    assert not [call for call in done if call.startswith("1 ") and call.count(" ") == 1]


def test_tables_are_made_from_the_results_alone(tmp_path: Path, pictures: Path) -> None:
    folder, copy = tmp_path / "report", tmp_path / "copy"
    benchmark("all", pictures, "-o", folder, *SMALL)
    copy.mkdir()
    (copy / "results.json").write_bytes((folder / "results.json").read_bytes())
    for path in pictures.iterdir():
        path.unlink()
    result = benchmark("report", copy)
    assert result.exit_code == 0, result.stderr
    names = sorted(path.name for path in (folder / "tables").iterdir())
    assert names == sorted(path.name for path in (copy / "tables").iterdir())
    for name in names:
        assert (copy / "tables" / name).read_bytes() == (folder / "tables" / name).read_bytes()
    for name in ("quality-and-time.svg", "convergence.svg", "paper.svg", "reliability.svg"):
        assert (copy / "plots" / name).read_bytes() == (folder / "plots" / name).read_bytes()
    assert scenes(copy) == []


def test_figures_of_the_tables_are_those_of_the_results(tmp_path: Path, pictures: Path) -> None:
    folder = tmp_path / "report"
    benchmark("all", pictures, "-o", folder, *METHODS, "--parts", "demosaic")
    records = json.loads((folder / "results.json").read_text())["demosaic"]["results"]
    mean = np.mean([record["cpsnr"] for record in records if record["method"] == "malvar"])
    rows = csv.DictReader((folder / "tables" / "waves-means-over-2-pictures.csv").read_text().splitlines())
    (row,) = [row for row in rows if row["method"] == "malvar"]
    assert float(row["CPSNR crop 10"]) == pytest.approx(mean)
    assert f"| malvar | {mean:.2f} |" in (folder / "tables" / "waves-means-over-2-pictures.md").read_text()


def test_whole_pictures_stay_files_beside_the_page(tmp_path: Path, pictures: Path) -> None:
    folder = tmp_path / "report"
    benchmark("all", pictures, "-o", folder, *METHODS, "--parts", "demosaic", "--full")
    for scene in scenes(folder):
        assert (scene["width"], scene["height"], scene["box"]) == (48, 40, None)
        for version in scene["versions"]:
            assert (folder / version["source"]).is_file()


def test_a_method_that_refuses_is_told_and_the_others_go_on(tmp_path: Path, pictures: Path) -> None:
    folder = tmp_path / "report"
    options = ("--cfa", "XTRANS", "--methods", "menon,bilinear", "--parts", "demosaic")
    assert benchmark("all", pictures, "-o", folder, *options).exit_code == 0
    assert "menon: colour-demosaicing knows Bayer arrays" in (folder / "index.html").read_text()


def test_peers_that_fail_are_told_beneath_the_tables_and_tried_again(
    tmp_path: Path, pictures: Path, done: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ValueError("math domain error")

    folder = tmp_path / "report"
    options = ("--methods", "menon,bilinear", *REPAIRS, *TENSORS)
    with monkeypatch.context() as patch:
        patch.setattr("evaluation.methods.demosaicers.menon", broken)
        patch.setattr("evaluation.methods.inpainters.biharmonic", broken)
        patch.setattr("evaluation.methods.als.als", broken)
        result = benchmark("all", pictures, "-o", folder, *options)
    assert result.exit_code == 0, result.stderr
    words = "failed (ValueError: math domain error); its figures are left out"
    means = (folder / "tables" / "waves-means-over-2-pictures.md").read_text()
    assert "| menon | – | – |" in means
    assert f"menon: {words}" in means
    paper = (folder / "tables" / "table-1-order-3-tensors-n-500.md").read_text()
    assert "| 500 | als | 0 | – |" in paper
    assert f"als: {words}" in paper
    page = (folder / "index.html").read_text()
    assert "not run" in page
    assert f"biharmonic: {words}" in page
    again = tmp_path / "again"
    again.mkdir()
    (again / "results.json").write_bytes((folder / "results.json").read_bytes())
    assert benchmark("report", again).exit_code == 0
    assert (again / "tables" / "waves-means-over-2-pictures.md").read_text() == means
    done.clear()
    assert benchmark("all", pictures, "-o", folder, *options).exit_code == 0
    assert done == [
        *("1 menon", "2 menon", "1 dead biharmonic", "1 random:20 biharmonic", "2 dead biharmonic"),
        *("2 random:20 biharmonic", "10 als 0", "10 als 1"),
    ]
    assert "not run" not in (folder / "index.html").read_text()


@pytest.mark.parametrize(
    ("options", "code", "reason"),
    [
        (("--parts", "sound"), 2, "no part"),
        (("--methods", "amaze"), 2, "no method amaze"),
        (("--tables", "9"), 2, "no table 9"),
        (("--masks", "holes"), 2, "holes"),
    ],
)
def test_wrong_usage_is_explained_before_the_work(
    tmp_path: Path, pictures: Path, options: tuple[str, ...], code: int, reason: str
) -> None:
    result = benchmark("all", pictures, "-o", tmp_path / "report", *options)
    assert result.exit_code == code
    assert reason in result.stderr
    assert not (tmp_path / "report").exists()


def test_a_folder_without_a_report_is_refused(tmp_path: Path) -> None:
    result = benchmark("report", tmp_path)
    assert result.exit_code == 3
    assert "holds no results.json" in result.stderr
    (tmp_path / "results.json").write_text('{"my": "notes"}')
    assert "holds no report" in benchmark("report", tmp_path).stderr
