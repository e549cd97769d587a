"""The command ``benchmark noise``: what is printed, kept, compared and refused."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from cli.app import app
from evaluation.measure.case import Case, Measurement
from evaluation.measure.noise import NoiseBenchmark
from tests.cli.waves import save_waves

pytestmark = pytest.mark.usefixtures("thread_variables")

QUICK = ("--methods", "lmmse,mlri")


def benchmark(*options: object) -> Result:
    return CliRunner().invoke(app, ["benchmark", "noise", *map(str, options)])


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """Two small pictures."""
    return save_waves(tmp_path / "waves", [(64, 72)] * 2, pace=5.0)


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is measured, in order."""
    calls, original = list[str](), NoiseBenchmark.measure

    def noted(part: NoiseBenchmark, case: Case, loaded: Any) -> Measurement:
        calls.append(f"{case.image} {case.task.name} {case.method.name}")
        return original(part, case, loaded)

    monkeypatch.setattr(NoiseBenchmark, "measure", noted)
    return calls


def row(result: Result, name: str) -> list[str]:
    """The cells of a row after its name."""
    (line,) = [line for line in result.stdout.splitlines() if line.split(" (")[0].split()[:1] == [name]]
    return line.replace("(reference)", "").split()[1:]


def test_means_fall_with_the_noise_and_stand_beside_their_protocol(pictures: Path) -> None:
    result = benchmark(pictures, *QUICK, "--sigma", "5,20")
    assert result.exit_code == 0, result.stderr
    assert "waves: CPSNR in dB of noisy mosaics" in result.stdout
    for method in ("lmmse", "mlri"):
        weak, strong, cost = map(float, row(result, method))
        assert 25 < weak < 40
        assert weak - strong > 5
        assert cost > 0
    for words in ("default_rng(σ)", "part: whole pictures", "waves: noise estimated"):
        assert words in result.stdout


def test_ours_is_measured_at_every_quality_and_with_its_controls(pictures: Path, measured: list[str]) -> None:
    ours = ["gaussian", "gaussian-fast", "ntc", "gaussian-estimated"]
    names = [*ours, "gaussian-off", "gaussian-off+nl-means"]
    result = benchmark(pictures, "--sigma", "20", "--images", "1", "--methods", ",".join(names))
    assert result.exit_code == 0, result.stderr
    assert measured == [f"1 σ 20 {name}" for name in names]
    told, off = float(row(result, "gaussian")[0]), float(row(result, "gaussian-off")[0])
    assert told > off + 1  # the noise is taken away
    assert "gaussian over ntc" in result.stdout


def test_figures_of_a_reference_stand_beside_ours_and_choose_the_pictures(
    tmp_path: Path, pictures: Path, measured: list[str]
) -> None:
    reference = tmp_path / "r.csv"
    reference.write_text("set,image,sigma,peer\nwaves,2.png,5,31.25\nwaves,2.png,10,28\nother,9.png,5,1\n")
    result = benchmark(pictures, "--methods", "lmmse", "--sigma", "5", "--reference", reference)
    assert result.exit_code == 0, result.stderr
    assert measured == ["2 σ 5 lmmse"]
    assert row(result, "peer") == ["31.25", "–"]
    both = benchmark(
        pictures, "--methods", "lmmse", "--sigma", "5", "--reference", reference, "--images", "1-2"
    )
    assert row(both, "peer") == ["–", "–"]  # one picture's figure is no mean over both


@pytest.mark.parametrize(
    ("text", "reason"),
    [("set,image,peer\n", "lacks the columns"), ("set,image,sigma,peer\na,b,5,x\n", "line 2 has a figure")],
)
def test_a_reference_that_is_none_is_refused(tmp_path: Path, pictures: Path, text: str, reason: str) -> None:
    reference = tmp_path / "r.csv"
    reference.write_text(text)
    result = benchmark(pictures, *QUICK, "--reference", reference)
    assert result.exit_code == 3
    assert f"r.csv: {reason}" in result.stderr


def test_a_rerun_measures_only_what_is_missing(tmp_path: Path, pictures: Path, measured: list[str]) -> None:
    kept, lines = tmp_path / "r.json", tmp_path / "r.csv"
    benchmark(pictures, *QUICK, "--sigma", "5", "--images", "1", "--json", kept)
    assert len(json.loads(kept.read_text())["results"]) == 2
    measured.clear()
    again = benchmark(pictures, "--methods", "lmmse", "--sigma", "5,10", "--json", kept, "--csv", lines)
    assert again.exit_code == 0, again.stderr
    assert measured == ["1 σ 10 lmmse", "2 σ 5 lmmse", "2 σ 10 lmmse"]
    with lines.open(encoding="utf-8") as file:
        assert [(r["image"], r["noise"]) for r in csv.DictReader(file)] == [
            (image, noise) for image in "12" for noise in ("σ 5", "σ 10")
        ]


def test_noise_of_light_and_a_part_of_the_pictures(pictures: Path, measured: list[str]) -> None:
    options = ("--poisson", "--sigma", "10", "--crop-box", "8,4,40,48")
    result = benchmark(pictures, "--methods", "lmmse", *options)
    assert result.exit_code == 0, result.stderr
    assert measured == ["1 σ 10 of light lmmse", "2 σ 10 of light lmmse"]
    assert "part: left,top,width,height 8,4,40,48" in result.stdout


@pytest.mark.parametrize("sigma", ["0", "-5", "256", "a", "2.5", ""])
def test_what_is_no_noise_is_wrong_usage(pictures: Path, sigma: str) -> None:
    result = benchmark(pictures, *QUICK, f"--sigma={sigma}")
    assert result.exit_code == 2
    assert "255ths of white" in result.stderr


def test_an_unknown_method_is_wrong_usage(pictures: Path) -> None:
    assert benchmark(pictures, "--methods", "magic").exit_code == 2
