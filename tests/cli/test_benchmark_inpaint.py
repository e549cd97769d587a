import csv
import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from cli.app import app
from evaluation.measure.case import Case, Measurement
from evaluation.measure.inpaint import InpaintBenchmark
from evaluation.measure.metrics import Bytes
from tests.cli.waves import save_waves

pytestmark = pytest.mark.usefixtures("thread_variables")

QUICK = ("--methods", "biharmonic,telea", "--masks", "random:20,dead")


def benchmark(*options: object) -> Result:
    return CliRunner().invoke(app, ["benchmark", "inpaint", *map(str, options)])


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """Three small pictures."""
    return save_waves(tmp_path / "waves", [(64, 72)] * 3, pace=12.0)


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is measured, in order: picture, mask and method."""
    measure, calls = InpaintBenchmark.measure, list[str]()

    def recorded(part: InpaintBenchmark, case: Case, loaded: Bytes) -> Measurement:
        calls.append(f"{case.image} {case.task} {case.method.name}")
        return measure(part, case, loaded)

    monkeypatch.setattr(InpaintBenchmark, "measure", recorded)
    return calls


def cells(text: str, mask: str) -> list[list[str]]:
    """The lines of a mask, table by table."""
    return [line.split() for line in text.splitlines() if line.startswith(f"  {mask} (")]


def test_masks_are_rows_and_methods_are_columns(pictures: Path) -> None:
    result = benchmark(pictures, *QUICK)
    assert result.exit_code == 0, result.stderr
    whole, nmse, missing, ssim, cost = cells(result.stdout, "random:20")
    assert 0 < float(nmse[2]) < 0.1
    assert whole[1] == "(20.0%)"
    assert float(whole[2]) == pytest.approx(float(missing[2]) + 10 * np.log10(5), abs=0.02)
    assert 0.5 < float(ssim[2]) <= 1
    assert float(cost[3]) > 0
    for fact in ("3 pictures, part whole, seed 0", "the same for all methods", "method telea: opencv"):
        assert fact in result.stdout


def test_gains_stand_beside_the_worst_picture(pictures: Path) -> None:
    result = benchmark(
        pictures, "--methods", "gaussian,ntc,biharmonic", "--masks", "random:20", "--quality", "fast"
    )
    assert result.exit_code == 0, result.stderr
    whole, *_, gains = cells(result.stdout, "random:20")
    assert float(gains[2]) == pytest.approx(float(whole[2]) - float(whole[4]), abs=0.011)
    assert float(gains[3]) <= float(gains[2])
    assert gains[4] in "123"
    assert float(gains[5]) == pytest.approx(float(whole[2]) - float(whole[3]), abs=0.011)


def test_all_methods_see_the_same_damage(pictures: Path, tmp_path: Path) -> None:
    target = tmp_path / "r.json"
    assert benchmark(pictures, *QUICK, "--seed", 7, "--json", target).exit_code == 0
    results = json.loads(target.read_text())["results"]
    assert {result["seed"] for result in results} == {7}
    masks = {(result["mask"], result["mask_sha256"]) for result in results}
    assert sorted(name for name, _ in masks) == ["dead", "random:20"]


def test_a_part_of_some_pictures(pictures: Path, tmp_path: Path) -> None:
    options = ("--crop-box", "8,16,32,40", "--images", "2-3", "--csv", tmp_path / "r.csv")
    result = benchmark(pictures, *QUICK, *options)
    assert result.exit_code == 0, result.stderr
    assert "waves 2-3: 2 pictures, part 8,16,32,40" in result.stdout
    rows = list(csv.DictReader((tmp_path / "r.csv").read_text().splitlines()))
    assert len(rows) == 2 * 2 * 2
    assert {(row["height"], row["width"]) for row in rows} == {("40", "32")}
    assert {row["image"] for row in rows} == {"2", "3"}


def test_results_are_continued(pictures: Path, tmp_path: Path, measured: list[str]) -> None:
    target = tmp_path / "r.json"
    assert benchmark(pictures, *QUICK, "--images", "1", "--json", target).exit_code == 0
    assert measured == [
        "1 random:20 biharmonic",
        "1 random:20 telea",
        "1 dead biharmonic",
        "1 dead telea",
    ]
    measured.clear()
    assert benchmark(pictures, *QUICK, "--images", "1-2", "--json", target).exit_code == 0
    assert {call.split()[0] for call in measured} == {"2"}
    assert len(json.loads(target.read_text())["results"]) == 8
    measured.clear()
    assert benchmark(pictures, *QUICK, "--images", "1", "--seed", 1, "--json", target).exit_code == 0
    assert len(measured) == 4, "another seed is another mask"


def test_an_interruption_keeps_and_prints_what_is_finished(
    pictures: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measure = InpaintBenchmark.measure

    def interrupted(part: InpaintBenchmark, case: Case, loaded: Bytes) -> Measurement:
        if case.image == "2":
            raise KeyboardInterrupt
        return measure(part, case, loaded)

    monkeypatch.setattr(InpaintBenchmark, "measure", interrupted)
    result = benchmark(pictures, *QUICK, "--json", tmp_path / "r.json")
    assert result.exit_code == 130
    assert len(json.loads((tmp_path / "r.json").read_text())["results"]) == 4
    assert "random:20: no mean, since pictures are missing" in result.stdout


def test_a_peer_that_fails_has_no_mean_and_the_others_go_on(
    pictures: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError

    monkeypatch.setattr("evaluation.methods.inpainters.biharmonic", broken)
    result = benchmark(pictures, *QUICK, "--csv", tmp_path / "r.csv", "--details")
    assert result.exit_code == 0, result.stderr
    whole, *_ = cells(result.stdout, "random:20")
    assert whole[2] == "–"
    assert float(whole[3]) > 0
    assert "biharmonic: failed (RuntimeError); its figures are left out" in result.stdout
    rows = list(csv.DictReader((tmp_path / "r.csv").read_text().splitlines()))
    assert [(row["method"], row["cpsnr"]) for row in rows if row["reason"]] == [("biharmonic", "")] * 6


def test_details_show_every_picture(pictures: Path) -> None:
    result = benchmark(pictures, "--methods", "telea", "--masks", "dead", "--details")
    assert "waves, dead: by picture" in result.stdout
    rows = [line.split() for line in result.stdout.splitlines()]
    assert [row[0] for row in rows if row[1:2] == ["telea"] and row[0] != "mask"] == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("options", "code", "reason"),
    [
        (("--masks", "rain"), 2, "there is no mask 'rain'"),
        (("--methods", "magic"), 2, "there is no method magic"),
        (("--crop-box", "1,2,3"), 2, "is not LEFT,TOP,WIDTH,HEIGHT"),
        (("--images", "1-9"), 3, "has pictures 1 to 3"),
        (("--images", "one"), 3, "'one' is not the number of a picture"),
        (("--json", "nowhere/r.json"), 4, "there is no folder"),
    ],
)
def test_wrong_usage(options: tuple[str, ...], code: int, reason: str, pictures: Path) -> None:
    result = benchmark(pictures, *options)
    assert result.exit_code == code
    assert reason in " ".join(result.stderr.replace("│", " ").split())


def test_a_part_outside_the_pictures_is_refused_by_every_method(pictures: Path) -> None:
    result = benchmark(pictures, *QUICK, "--crop-box", "0,0,500,500")
    assert "leaves the picture of 72×64" in result.stdout
