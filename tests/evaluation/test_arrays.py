"""Benchmarks of other arrays and of whole noisy pictures; means over parts of a set."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli.app import app
from evaluation.data.sets import ImageSet, SetImage, read_set
from evaluation.measure.demosaic import DemosaicBenchmark, QuadBenchmark, XTransBenchmark
from evaluation.measure.noise import WholeNoiseBenchmark
from tests.cli.waves import save_waves


@pytest.mark.parametrize(
    ("part", "rows", "peer"), [(XTransBenchmark, 6, "libraw-markesteijn-3"), (QuadBenchmark, 4, "bilinear")]
)
def test_each_array_has_a_part_with_those_that_know_it(
    tmp_path: Path, part: type[DemosaicBenchmark], rows: int, peer: str
) -> None:
    folder = save_waves(tmp_path / "waves", [(48, 48)], pace=5.0)
    made = part.of([read_set(folder)])
    assert made.array.period == (rows, rows)
    assert "gaussian" in [method.name for method in made.methods]
    assert peer in [method.name for method in made.methods]
    again = type(made).from_plan(json.loads(json.dumps(made.plan)))
    assert [case.key for case in again.cases] == [case.key for case in made.cases]


def test_whole_pictures_are_noisy_at_four_levels() -> None:
    pictures = tuple(SetImage(Path(f"{n}.png"), f"{n}", 512, 768) for n in range(24))
    part = WholeNoiseBenchmark.of([ImageSet("kodak", pictures)], methods="mlri")
    assert part.box is None
    assert part.sigmas == (5, 10, 15, 20)
    assert len(part.cases) == 4 * 24


def test_means_over_parts_of_a_set_are_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    folder = save_waves(tmp_path / "waves", [(40, 48)] * 10, pace=5.0)
    names = sorted(path.stem for path in folder.iterdir())
    (folder / f"{names[-1]}.png").rename(folder / "kodim24.png")
    kept = tmp_path / "kept.json"
    options = ["demosaic", folder, "--methods", "bilinear", "--json", kept]
    result = CliRunner().invoke(app, ["benchmark", *map(str, options)])
    assert result.exit_code == 0, result.stderr
    order = [picture.name for picture in read_set(folder).pictures]
    found = {row["image"]: row["cpsnr"] for row in json.loads(kept.read_text())["results"]}
    figures = [found[name] for name in order]
    others = [found[name] for name in order if name != "kodim24"]
    middle = sorted(figures)
    told = (
        sum(figures) / 10,
        (middle[4] + middle[5]) / 2,
        sum(others) / 9,
        sum(figures[:2]) / 2,
        sum(figures[2:]) / 8,
    )
    table = result.stdout.partition("over parts of the set")[2]
    line = next(line for line in table.splitlines() if line.strip().startswith("bilinear"))
    assert [float(word) for word in line.split()[1:]] == pytest.approx(told, abs=6e-4)
