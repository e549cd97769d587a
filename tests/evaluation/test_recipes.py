"""The recipes of ARCHITECTURE.md: a peer, a mask and a part of a report, added by them and gone again."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from cli.app import app
from demosaic_ntc.cfa import Cfa
from evaluation.data.masks import KINDS, make_mask
from evaluation.data.sets import ImageSet
from evaluation.measure.benchmark import Benchmark
from evaluation.measure.case import Case, Measurement
from evaluation.measure.results import Results
from evaluation.methods.demosaicers import PEERS
from evaluation.methods.method import Method
from evaluation.report.report import PARTS
from evaluation.report.tables import DataTable, rows_of
from tests.cli.waves import save_waves

pytestmark = pytest.mark.usefixtures("thread_variables")


@pytest.fixture
def thread_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a benchmark tells the libraries of this process ends with the test."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    return save_waves(tmp_path / "waves", [(40, 48)] * 2, pace=5.0)


def benchmark(*options: object) -> Result:
    return CliRunner().invoke(app, ["benchmark", *map(str, options)])


def test_a_peer_is_one_line(pictures: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def grey(mosaic: Any, cfa: Cfa, threads: int) -> Any:
        return np.repeat(mosaic[..., None], 3, axis=2).astype(np.float32)

    with monkeypatch.context() as patch:
        patch.setitem(PEERS, "grey", ("every channel the sample", grey))
        result = benchmark("demosaic", pictures, "--methods", "grey,bilinear")
    assert result.exit_code == 0, result.stderr
    assert "method grey: every channel the sample" in result.stdout
    assert len([line for line in result.stdout.splitlines() if line.startswith("  grey ")]) == 3
    assert benchmark("demosaic", pictures, "--methods", "grey,bilinear").exit_code == 2


def test_a_mask_is_one_line(pictures: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def border(detail: str, shape: tuple[int, int], generator: np.random.Generator) -> Any:
        missing = np.ones(shape, np.bool_)
        missing[int(detail) : -int(detail), int(detail) : -int(detail)] = False
        return missing

    with monkeypatch.context() as patch:
        patch.setitem(KINDS, "border", border)
        assert make_mask("border:2", (40, 48), 0).sum() == 40 * 48 - 36 * 44
        result = benchmark("inpaint", pictures, "--masks", "border:2", "--methods", "biharmonic")
    assert result.exit_code == 0, result.stderr
    assert "border:2 (17.5%)" in result.stdout
    assert benchmark("inpaint", pictures, "--masks", "border:2").exit_code == 2


@dataclass(frozen=True)
class BrightnessPart(Benchmark):
    """How bright pictures are."""

    name = "brightness"
    keys = ("method", "settings", "sha256")

    @classmethod
    def of(cls, sets: Sequence[ImageSet]) -> "BrightnessPart":
        return cls(tuple(sets), (Method("mean", "of numpy", "peer", mean),))

    @property
    def protocol(self) -> dict[str, str]:
        return {"brightness": "the mean of all samples"}

    def measure(self, case: Case, loaded: Any) -> Measurement:
        return Measurement({"brightness": float(case.method.run(loaded))})

    def tables(self, results: Results, *, details: bool = False) -> Iterator[DataTable]:
        for each in self.sets:
            found = results.of_set(each)
            rows = rows_of(found.methods, [found.means("brightness")], [".1f"])
            yield DataTable(f"Brightness of {each.name}", ("method", "mean"), tuple(rows))


measured: list[str] = []


def mean(picture: Any) -> float:
    measured.append("one")
    return float(picture.mean())


def test_a_part_of_a_report_is_a_class_and_a_line(
    tmp_path: Path, pictures: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, options = tmp_path / "report", ("--parts", "brightness", "-o", tmp_path / "report")
    with monkeypatch.context() as patch:
        patch.setitem(PARTS, "brightness", BrightnessPart)
        result = benchmark("all", pictures, *options)
        assert result.exit_code == 0, result.stderr
        assert benchmark("all", pictures, *options).exit_code == 0
        assert len(measured) == 2  # what is there is not measured again
    rows = json.loads((folder / "results.json").read_text())["brightness"]["results"]
    shown = (folder / "tables" / "brightness-of-waves.md").read_text()
    assert f"| mean | {np.mean([row['brightness'] for row in rows]):.1f} |" in shown
    assert "brightness: brightness</dt><dd>the mean of all samples" in (folder / "index.html").read_text()
    assert benchmark("all", pictures, *options).exit_code == 2
